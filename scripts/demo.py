# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose real rigs, limb by limb, whole and by hand, and let some walk: a table, a .blend and a picture each in out/.

  python3 scripts/demo.py              writes into out/
  python3 scripts/demo.py --readme     renews the pictures of README and manual and the tables of bench/README.md, too

Makes its own virtual environment with Blender as a Python module on first use.
"""

from __future__ import annotations

import shutil
from argparse import ArgumentParser
from pathlib import Path

from build import ensure_built
from dev.marked import write_tables
from environment import ROOT, exit_with, new_parser, run_in_blender


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    made.add_argument("--out", type=Path, default=ROOT / "out", help="folder for .blend files and pictures")
    made.add_argument("--readme", action="store_true", help="renew the pictures and tables that pages show")
    return made


def main() -> int:
    arguments = parser().parse_args()
    ensure_built()
    scripts = ROOT / "scripts"
    words = [str(scripts / "demo" / "pose_rigs.py"), str(arguments.out)]
    status, printed = run_in_blender(words)
    if arguments.readme and status == 0:
        for shown in (scripts / "pictures").glob("*.png"):  # others are of the window
            if (arguments.out / shown.name).exists():
                shutil.copy2(arguments.out / shown.name, shown)
        write_tables(scripts / "bench" / "README.md", printed)
    return status


if __name__ == "__main__":
    exit_with(main)
