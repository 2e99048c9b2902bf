# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the solver beside plain FABRIK, FABRIK with CCD, scalar code compiled by numba, and Blender's own IK.

  python3 scripts/benchmark.py                 prints tables, writes out/benchmark.json
  python3 scripts/benchmark.py --quick         the same with fewer samples, under a minute

Times are medians of interleaved rounds in one process and are given as ratios; machines differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from environment import ROOT, SetupError, blender_python, default_blender, say


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "benchmark.json")
    arguments = parser.parse_args()
    try:
        python = blender_python(default_blender(), ["test", "benchmark"], "bench")
    except SetupError as error:
        say(f"error: {error}")
        return 2
    with tempfile.TemporaryDirectory(prefix="fabrik-benchmark-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder}
        command = [str(python), str(ROOT / "scripts" / "benchmark_run.py"), str(arguments.out), folder]
        command += ["quick"] if arguments.quick else []
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
