# SPDX-License-Identifier: GPL-3.0-or-later
"""Try the extension in a real Blender with its window: install the built zip, click, drag, check the data after each.

  python3 scripts/gui_check.py --blender PATH                     pictures go to out/gui/
  python3 scripts/gui_check.py --blender PATH --grab "import -window root"
                                                                  takes pictures by a command, a file name behind it
  python3 scripts/gui_check.py --blender PATH --part surfaces     all menus, dialogs, redo panels and preferences alone,
                                                                  by scale, theme and language; panels: the sidebar

Needs a display (`xvfb-run -s "-screen 0 1280x800x24"` makes one). Exits with 1 where a check fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from build import build, ensure_built
from dev.compiling import here
from environment import ROOT, exit_with, new_parser, say

STEPS = ROOT / "scripts" / "gui" / "steps.py"
SECONDS = 3600  # a busy machine takes several times as long as one at rest
SHOWN = ("3_live", "4_blocked", "5_dragging", "7_steps", "11_bake_report", "12_pie")


def parser() -> ArgumentParser:
    """The parser of the arguments."""
    made = new_parser(__doc__)
    made.add_argument("--blender", required=True, help="a Blender with a window, 4.2 or newer")
    made.add_argument("--out", type=Path, default=ROOT / "out" / "gui")
    made.add_argument("--grab", default="", help="command that takes a picture of the screen")
    made.add_argument("--part", default="", help="one part alone: surfaces or panels, to look at their pictures")
    made.add_argument("--readme", action="store_true", help="copy the pictures of the README to scripts/pictures/")
    return made


def main() -> int:
    arguments = parser().parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    ensure_built()
    with tempfile.TemporaryDirectory(prefix="fabrik-gui-") as folder:
        archive = build(here(), Path(folder))
        report = Path(folder) / "report.txt"
        command = [arguments.blender, "--window-geometry", "0", "0", "1280", "800", "--enable-event-simulate"]
        command += ["--factory-startup", "--python", str(STEPS), "--", str(archive), str(arguments.out), str(report)]
        command += [arguments.grab, arguments.part]
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(Path(folder) / "user")}
        # Mesa maps the index of its cache; another Mesa that starts meanwhile shortens a shared one: a bus error.
        environment["MESA_SHADER_CACHE_DIR"] = str(Path(folder) / "shaders")
        try:
            done = subprocess.run(command, env=environment, check=False, timeout=SECONDS, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            say(f"error: Blender did not end within {SECONDS} s")
            return 1
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    for line in lines:
        say(line)
    failed = [line for line in lines if not line.startswith("ok")]
    ended = bool(lines) and lines[-1] == "ok: done"
    tail = "" if ended else f", and it did not come to its end: Blender ended with {done.returncode}"
    say(f"{len(lines) - len(failed)} checks passed, {len(failed)} failed{tail}")
    if arguments.readme and ended and not failed:
        for name in SHOWN:
            shutil.copy2(arguments.out / f"{name}.png", ROOT / "scripts" / "pictures" / f"{name}.png")
    return 0 if ended and not failed else 1


if __name__ == "__main__":
    exit_with(main)
