# SPDX-License-Identifier: GPL-3.0-or-later
"""What is baked is what is exported: glTF and FBX, read back by Blender's own importers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import pytest
from fabrik_addon.session.bake import BakeSettings, bake
from mathutils import Vector

from support.scenes import FRAMES, Rig, keyed_line

OPERATORS = {"io_scene_gltf2": "gltf", "io_scene_fbx": "fbx"}


@contextmanager
def enabled(name: str) -> Iterator[None]:
    """An add-on of Blender's, meanwhile."""
    addons: Any = addon_utils
    _, was_enabled = addons.check(name)
    addons.enable(name)
    try:
        yield
    finally:
        if not was_enabled:
            addons.disable(name)


def skinned(mode: str) -> Rig:
    """A line of four bones with a mesh on it; the chain has the first three, so that the fourth's head is its tip."""
    owner, chain = keyed_line(mode, 4)
    chain.tip_bone, chain.bone_count = "b2", 3
    mesh = bpy.data.meshes.new("Skin")
    corners = [(x, 0.0, z) for z in range(4) for x in (-0.1, 0.1)]
    mesh.from_pydata(corners, [], [(i, i + 1, i + 3, i + 2) for i in (0, 2, 4)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.collection.objects.link(skin)
    skin.parent = owner
    for i in range(4):
        skin.vertex_groups.new(name=f"b{i}").add([2 * i, 2 * i + 1], 1.0, "REPLACE")
    modifier: Any = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = owner
    return owner, chain


def heads(owner: bpy.types.Object) -> dict[int, list[Vector]]:
    """World heads of the bones in each frame."""
    found = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = [evaluated.matrix_world @ evaluated.pose.bones[f"b{i}"].head for i in range(4)]
    return found


def read_back(kind: str, path: Path) -> bpy.types.Object:
    """The armature of the scene, exported and imported into an empty file."""
    exporters: Any = bpy.ops.export_scene
    importers: Any = bpy.ops.import_scene
    path = path.with_suffix(".glb" if kind == "gltf" else ".fbx")
    exact = {"bake_anim_simplify_factor": 0.0} if kind == "fbx" else {}
    getattr(exporters, kind)(filepath=str(path), **exact)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    getattr(importers, kind)(filepath=str(path))
    (found,) = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    return found


@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("addon", OPERATORS)
def test_joints_are_where_they_were_seen(tmp_path: Path, addon: str, mode: str, into: str) -> None:
    owner, chain = skinned(mode)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES, into)).all_reached
    seen = heads(owner)
    with enabled(addon):
        found = heads(read_back(OPERATORS[addon], tmp_path / "shot"))
    for frame, joints in seen.items():
        for one, other in zip(joints, found[frame], strict=True):
            assert (one - other).length < 1e-5, frame
