# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the solver beside compiled plain FABRIK, scipy, numpy, and Blender's own IK and bake.

  python3 scripts/benchmark.py                 measures all groups and prints their tables
  python3 scripts/benchmark.py --group 1 3     only some of the groups, of which scripts/bench/groups.py has the list
  python3 scripts/benchmark.py --write         also renews scripts/bench/README.md and the README's figures; what other
                                               groups say there stays
  python3 scripts/benchmark.py --quick         a few of each, to see that it works

Times are medians of interleaved rounds in one process; what counts are their ratios. Exits with 1 where an aim is
missed; goals that are not reached yet are named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from bench.groups import GROUPS
from build import ensure_built
from environment import ROOT, SetupError, blender_python, default_blender, say


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true")
    made.add_argument("--group", nargs="+", choices=list(GROUPS), default=list(GROUPS), metavar="N")
    made.add_argument("--write", action="store_true")
    return made


def main() -> int:
    wanted = parser()
    arguments = wanted.parse_args()
    if arguments.quick and arguments.write:
        wanted.error("figures of a quick run are not to be written")
    try:
        ensure_built()
        python = blender_python(default_blender(), "benchmark")
    except SetupError as error:
        say(f"error: {error}")
        return 2
    with tempfile.TemporaryDirectory(prefix="fabrik-benchmark-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONPATH": str(ROOT / "scripts")}
        command = [str(python), "-m", "bench.run", folder, "--group", *arguments.group]
        command += [f"--{name}" for name in ("quick", "write") if getattr(arguments, name)]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
