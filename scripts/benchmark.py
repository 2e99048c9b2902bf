# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the solver beside compiled plain FABRIK, FABRIK with CCD, scipy, and Blender's own IK and bake.

  python3 scripts/benchmark.py                 prints the tables and keeps them in out/benchmark.json
  python3 scripts/benchmark.py --only 1,3      only some of the groups; the others stay as they were kept
  python3 scripts/benchmark.py --write         also renews scripts/bench/README.md and the README's figures; what other
                                               groups say there stays
  python3 scripts/benchmark.py --quick         a few of each, to see that it works; kept in out/benchmark-quick.json

Groups: 1 one solve, 2 batches, 3 live posing, 4 baking, 5 several goals, 6 passes, success, smoothness and BLOCKED,
7 kinds of limbs and growth, 8 bodies, 9 walkers. Times are medians of interleaved rounds in one process; what counts
are their ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build import ensure_built
from environment import ROOT, SetupError, blender_python, default_blender, say

GROUPS = "123456789"


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true")
    made.add_argument("--only", default="", help="groups, for example 1,3")
    made.add_argument("--write", action="store_true")
    made.add_argument("--kept", type=Path, help="file in which the tables are kept")
    return made


def main() -> int:
    wanted = parser()
    arguments = wanted.parse_args()
    if any(key not in GROUPS or len(key) != 1 for key in filter(None, arguments.only.split(","))):
        wanted.error(f"--only takes some of {', '.join(GROUPS)}")
    if arguments.quick and arguments.write:
        wanted.error("figures of a quick run are not to be written")
    try:
        ensure_built()
        python = blender_python(default_blender(), "benchmark")
    except SetupError as error:
        say(f"error: {error}")
        return 2
    kept = arguments.kept or ROOT / "out" / ("benchmark-quick.json" if arguments.quick else "benchmark.json")
    with tempfile.TemporaryDirectory(prefix="fabrik-benchmark-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONPATH": str(ROOT / "scripts")}
        command = [str(python), "-m", "bench.run", folder, "--kept", str(kept), "--only", arguments.only]
        command += [f"--{name}" for name in ("quick", "write") if getattr(arguments, name)]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
