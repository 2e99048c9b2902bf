# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig of the basic human that Rigify generates, in a process of its own, so that nothing of it stays in the tests.

Run by itself it saves the rig; what comes after `--` is the path of the file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bpy


def generate_rig(folder: Path) -> Path:
    """A file in a folder with the rig."""
    path = folder / "rig.blend"
    background = [bpy.app.binary_path, "--background", "--factory-startup", "--python"]
    command = background if bpy.app.binary_path else [sys.executable]
    subprocess.run([*command, __file__, "--", str(path)], check=True, capture_output=True)
    return path


if __name__ == "__main__":
    import addon_utils  # which is found from here on

    addon_utils.enable("rigify", default_set=True, persistent=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    getattr(bpy.ops.object, "armature_basic_human_metarig_add")()
    bpy.ops.object.mode_set(mode="OBJECT")
    getattr(bpy.ops.pose, "rigify_generate")()
    bpy.ops.wm.save_as_mainfile(filepath=sys.argv[sys.argv.index("--") + 1])
    sys.stdout.flush()
    os._exit(0)
