# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose real rigs, limb by limb and whole, and let two walk: a table, and a .blend and a picture each in out/.

  python3 scripts/demo.py              writes into out/
  python3 scripts/demo.py --readme     renews the pictures of README and manual and the tables of bench/README.md, too

Makes its own virtual environment with Blender as a Python module on first use.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build import ensure_built
from dev.demo_tables import write_tables
from environment import ROOT, SetupError, blender_python, default_blender, say

README_PICTURES = (
    "body_sit", "body_squat", "body_reach", "body_look", "human", "wolf", "spider", "tentacle", "walk_spider",
    "walk_human",
)  # fmt: skip
MANUAL_PICTURES = tuple(f"character_{name}" for name in ("mixamo", "game_engine", "wolf", "spider", "centipede"))


def parser() -> argparse.ArgumentParser:
    """The parser of the arguments."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=Path, default=ROOT / "out", help="folder for .blend files and pictures")
    made.add_argument("--rigs", type=Path, default=ROOT.parent / "shared" / "rigs", help="folder with cesium_man.gltf")
    made.add_argument("--readme", action="store_true", help="renew the pictures and tables that pages show")
    return made


def main() -> int:
    arguments = parser().parse_args()
    try:
        ensure_built()
        python = blender_python(default_blender())
    except SetupError as error:
        say(f"error: {error}")
        return 2
    with tempfile.TemporaryDirectory(prefix="fabrik-demo-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONPATH": str(ROOT / "scripts")}
        command = [
            str(python),
            str(ROOT / "scripts" / "demo" / "pose_rigs.py"),
            str(arguments.out),
            str(arguments.rigs),
            folder,
        ]
        status, printed = run_and_keep(command, environment)
    if arguments.readme and status == 0:
        for name in (*README_PICTURES, *MANUAL_PICTURES):
            shutil.copy2(arguments.out / f"{name}.png", ROOT / "scripts" / "pictures" / f"{name}.png")
        write_tables(ROOT / "scripts" / "bench" / "README.md", printed)
    return status


def run_and_keep(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command whose output is shown as it comes; its status, and all that it printed."""
    printed: list[str] = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            printed.append(line)
    return process.returncode, "".join(printed)


if __name__ == "__main__":
    sys.exit(main())
