# SPDX-License-Identifier: GPL-3.0-or-later
"""Real characters as armatures: Rigify's metarigs, and imported ones kept as plain data in `data/skeletons/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from fabrik_addon.maths import V3
from mathutils import Vector

import rigs
from dev import humans
from support.processes import blender_script, run_process
from support.scenes import press
from support.stored import stored

METARIGS = ("human", "basic_human", "basic_quadruped", "bird", "cat", "horse", "shark", "wolf")
IMPORTED = ("human_mixamo", "human_game_engine", "makehuman", "cesium_man", "cmu_walk")


def make_character(name: str) -> bpy.types.Object:
    """A metarig, or an imported character; active, in Object mode."""
    return _metarig(name) if name in METARIGS else rigs.skeleton(name)


@stored
def _metarig(name: str) -> bpy.types.Object:
    owner = rigs.metarig(name)
    owner.name = name
    return owner


@stored
def make_human(name: str) -> bpy.types.Object:
    """One of the two skinned humans, imported."""
    return humans.make_human(name)


@stored
def set_up(name: str, **options: Any) -> bpy.types.Object:
    """A character, set up by the button."""
    owner = make_character(name)
    press("character_setup", **options)
    return owner


def height(owner: bpy.types.Object) -> float:
    """How large a character is in the world."""
    size: float = (owner.matrix_world.to_3x3() @ Vector(owner.dimensions)).length
    return max(size, 1e-9)


def rest_bones(owner: bpy.types.Object) -> bpy.types.bpy_prop_collection[bpy.types.Bone]:
    """The bones of an armature object at rest."""
    assert isinstance(owner.data, bpy.types.Armature)
    return owner.data.bones


def forward_of(name: str) -> V3:
    """Where a character faces, in the world: Cesium Man along +X, all others along -Y."""
    return (1.0, 0.0, 0.0) if name == "cesium_man" else (0.0, -1.0, 0.0)


def rename_all(owner: bpy.types.Object) -> dict[str, str]:
    """Give all bones names that tell nothing; returns the new name of each."""
    bones = rest_bones(owner)
    names = [bone.name for bone in bones]
    for i, name in enumerate(names):
        bones[name].name = f"zz{i}"
    new = {name: f"Bone.{i + 1:03d}" for i, name in enumerate(names)}
    for i, name in enumerate(names):
        bones[f"zz{i}"].name = new[name]
    return new


GENERATE = """
import bpy, addon_utils, os, sys
addon_utils.enable("rigify", default_set=True, persistent=True)
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
getattr(bpy.ops.object, f"armature_{sys.argv[-2]}_metarig_add")()
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.pose.rigify_generate()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
os._exit(0)
"""


def generate_rig(folder: Path, kind: str = "basic_human") -> Path:
    """A file in a folder with the rig that Rigify generates of a metarig, in a process of its own."""
    path = folder / "rig.blend"
    script = folder / "generate.py"
    script.write_text(GENERATE)
    done = run_process([*blender_script(script), kind, path])
    assert done.returncode == 0, done.stderr
    return path
