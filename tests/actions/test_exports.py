# SPDX-License-Identifier: GPL-3.0-or-later
"""What is exported is what is seen, baked and live; exporters and Blender's own bake leave live posing as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import bone_heads, channels
from support.scenes import FRAMES, Rig, add_skin, each_frame, go_live, keyed_line, note_of, select, update

ADDONS = {"gltf": "io_scene_gltf2", "fbx": "io_scene_fbx"}
BAKED: dict[str, dict[str, Any]] = {"gltf": {}, "fbx": {"bake_anim_simplify_factor": 0.0}}
LIVE: dict[str, dict[str, Any]] = {  # the scene alone
    "gltf": {"export_animation_mode": "SCENE"},
    "fbx": {**BAKED["fbx"], "bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False},
}
Heads = dict[int, dict[str, Vector]]


def skinned(mode: str = "QUATERNION") -> Rig:
    """A line of four bones with a mesh on it, for which exporters switch to the rest position for a while.

    The chain has the first three bones, so that the fourth's head is its tip.
    """
    owner, chain = keyed_line(mode, 4)
    chain.tip_bone, chain.bone_count = "b2", 3
    corners = [(x, 0.0, z) for z in range(4) for x in (-0.1, 0.1)]
    faces, groups = [(i, i + 1, i + 3, i + 2) for i in (0, 2, 4)], {f"b{i}": [2 * i, 2 * i + 1] for i in range(4)}
    add_skin(owner, corners, faces, groups).parent = owner
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    return owner, chain


def heads(owner: bpy.types.Object) -> Heads:
    """World heads of the bones in each frame."""
    return {frame: bone_heads(owner) for frame in each_frame(FRAMES)}


def assert_seen(found: Heads, seen: Heads, most: float = 1e-5) -> None:
    for frame, joints in seen.items():
        for name, place in joints.items():
            assert (found[frame][name] - place).length < most, (frame, name)


@contextmanager
def exported(kind: str, path: Path, options: dict[str, Any]) -> Iterator[Path]:
    """A file of the scene, by an add-on of Blender's that is enabled meanwhile."""
    addons: Any = addon_utils
    exporters: Any = bpy.ops.export_scene
    path = path.with_suffix(".glb" if kind == "gltf" else ".fbx")
    _, was_enabled = addons.check(ADDONS[kind])
    addons.enable(ADDONS[kind])
    try:
        getattr(exporters, kind)(filepath=str(path), **options)
        yield path
    finally:
        if not was_enabled:
            addons.disable(ADDONS[kind])


@pytest.mark.parametrize("way", ["LIVE", "ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("kind", ADDONS)
def test_joints_are_where_they_were_seen(tmp_path: Path, kind: str, mode: str, way: str) -> None:
    owner, chain = skinned(mode)
    if way == "LIVE":
        go_live(owner)
    else:
        assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES, way)).all_reached
    seen = heads(owner)
    bpy.context.scene.frame_set(4)
    before = channels(owner), chain.status, chain.start, chain.enabled, rig_of(owner).live
    with exported(kind, tmp_path / "shot", LIVE[kind] if way == "LIVE" else BAKED[kind]) as path:
        update()
        chain = rig_of(owner).chains[0]
        now = channels(owner), chain.status, chain.start, chain.enabled, rig_of(owner).live
        assert now == before or way != "LIVE"
        assert bpy.context.scene.frame_current == 4
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        importers: Any = bpy.ops.import_scene
        getattr(importers, kind)(filepath=str(path), **({"anim_offset": 0.0} if (kind, way) == ("fbx", "LIVE") else {}))
    (found,) = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    assert_seen(heads(found), seen)


def test_fbx_with_all_actions_leaves_a_live_rig_as_it_was(tmp_path: Path) -> None:
    """It gives each action to each object in turn, and writes matrices back into the bones."""
    owner, _ = skinned()
    go_live(owner)
    bpy.context.scene.frame_set(4)
    before = channels(owner)
    with exported("fbx", tmp_path / "rig", {}):
        chain = rig_of(owner).chains[0]
        assert (chain.status, chain.start, rig_of(owner).live) == ("REACHED", "REST", True)
        assert bpy.context.scene.frame_current == 4
        assert not note_of(owner)
        assert channels(owner) == before


def test_blenders_own_bake() -> None:
    owner, chain = skinned()
    go_live(owner)
    seen = heads(owner)
    select(owner, "b0", "b1", "b2")
    bpy.ops.nla.bake(
        frame_start=FRAMES[0],
        frame_end=FRAMES[-1],
        visual_keying=True,
        only_selected=False,
        use_current_action=True,
        bake_types={"POSE"},
    )
    assert chain.start == "REST"
    rig_of(owner).live = False
    assert_seen(heads(owner), seen)
