# SPDX-License-Identifier: GPL-3.0-or-later
"""Saves a rig that Rigify generated of the basic human; run by itself, so that nothing of Rigify stays in the tests.

What comes after `--` is the path of the file.
"""

from __future__ import annotations

import os
import sys

import bpy

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
