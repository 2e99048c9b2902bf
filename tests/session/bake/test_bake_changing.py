# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are not the same in all frames: each frame is solved by itself, as by button, and baked all the same."""

from __future__ import annotations

from collections.abc import Callable
from math import radians

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.session.bake import BakeSettings, bake
from mathutils import Quaternion

from support.judging import assert_on_target, bake_chain, local_rotations
from support.scenes import FRAMES, add_chain, keyed_line, make_line

FRAME_VALUES = ((1, 0.4), (20, 0.9))


def keyed(owner: bpy.types.Object, bone: bpy.types.PoseBone, path: str) -> None:
    """A number of the bone, keyed."""
    for frame, value in FRAME_VALUES:
        setattr(bone, path, value)
        owner.keyframe_insert(f"{bone.path_from_id()}.{path}", frame=frame)


def keyed_setting(owner: bpy.types.Object, chain: FabrikChain, name: str, factor: float) -> None:
    for frame, value in FRAME_VALUES:
        setattr(chain, name, value * factor)
        owner.keyframe_insert(f"fabrik_chains[0].{name}", frame=frame)


def keyed_rotation(bone: bpy.types.PoseBone) -> None:
    for frame, value in FRAME_VALUES:
        bone.rotation_quaternion = Quaternion((1, 0, 0), value)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def limit(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    bone.fabrik.limit, bone.fabrik.angle_min = "HINGE", -2.8
    keyed(owner, bone, "fabrik_angle_max")


def influence(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    keyed_setting(owner, chain, "influence", 1.0)


def tolerance(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    keyed_setting(owner, chain, "tolerance", 1e-4)


def scale(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    for frame, value in FRAME_VALUES:
        bone.scale = (value, value, value)
        bone.keyframe_insert("scale", frame=frame)


def lopsided_scale(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    owner.pose.bones["b0"].scale = (1.4, 1.0, 0.8)


def ik_range(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    bone.fabrik.limit, bone.use_ik_limit_x = "BONE_IK", True
    keyed(owner, bone, "ik_max_x")


def animated_start(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    chain.start = "ANIMATED"
    keyed_rotation(bone)


def locked(owner: bpy.types.Object, chain: FabrikChain, bone: bpy.types.PoseBone) -> None:
    setattr(bone, "lock_rotation", (True, True, True))
    keyed_rotation(bone)


Change = Callable[[bpy.types.Object, FabrikChain, bpy.types.PoseBone], None]
CHANGES: tuple[Change, ...] = (limit, influence, tolerance, scale, lopsided_scale, ik_range, animated_start, locked)


@pytest.mark.parametrize("what", CHANGES, ids=lambda what: what.__name__)
def test_it_is_what_solving_each_frame_gives(what: Change) -> None:
    owner, chain = keyed_line()
    what(owner, chain, owner.pose.bones["b1"])
    wanted, reached = {}, []
    for frame in (1, 7, 13, 20):
        bpy.context.scene.frame_set(frame)
        bpy.ops.fabrik.solve()
        wanted[frame] = local_rotations(owner)
        if chain.status == "REACHED":
            reached.append(frame)
    bpy.context.scene.frame_set(1)
    result = bake_chain(owner, chain)
    for frame, rotations in wanted.items():
        bpy.context.scene.frame_set(frame)
        for seen, solved in zip(local_rotations(owner), rotations, strict=True):
            assert turn_angle(seen.conjugated() @ solved) < 2e-3, frame
    assert result.worst_violation < 1e-4
    if what is not influence:
        missed = dict(result.unreached)
        assert_on_target(owner, chain, [f for f in reached if f not in missed], most=2e-4)
        assert not set(reached) & set(missed)


def test_influence_that_falls_is_not_taken_for_a_move() -> None:
    owner, chain = keyed_line()
    for frame, value in ((1, 1.0), (20, 0.3)):
        chain.influence = value
        owner.keyframe_insert("fabrik_chains[0].influence", frame=frame)
    bpy.context.scene.frame_set(1)
    assert bake_chain(owner, chain).unreached == []


def test_limits_hold_where_keys_are_left_out_beside_a_keyed_setting() -> None:
    owner, chain = keyed_line(count=2)
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -0.4, 0.4
    keyed_setting(owner, chain, "tolerance", 1e-4)
    bpy.context.scene.frame_set(1)
    bake_chain(owner, chain, clean_up=radians(8.0))
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert all(abs(bone.matrix_basis.to_euler().x) < 0.4 + 2e-4 for bone in owner.pose.bones)


def test_a_parent_whose_scale_is_animated() -> None:
    owner = make_line(4)
    chain = add_chain(owner, (0.4, 0.4, 2.4), tip="b3", count=3)
    for frame, value in ((1, 1.0), (20, 1.3)):
        owner.pose.bones["b0"].scale = (value, value, value)
        owner.pose.bones["b0"].keyframe_insert("scale", frame=frame)
    result = bake_chain(owner, chain)
    assert result.unreached == []
    assert_on_target(owner, chain)


def test_a_still_chain_and_a_changing_one_in_one_bake() -> None:
    owner, chain = keyed_line(count=4)
    chain.bone_count, chain.tip_bone = 2, "b1"
    other = add_chain(owner, (0.5, 0.3, 3.0), tip="b3", count=2)
    other.influence = 0.5
    owner.keyframe_insert("fabrik_chains[1].influence", frame=1)
    other.influence = 1.0
    owner.keyframe_insert("fabrik_chains[1].influence", frame=20)
    result = bake(bpy.context, [(owner, chain), (owner, other)], BakeSettings(FRAMES))
    assert [found.chain for found in result.chains] == [chain.name, other.name]
    assert all(found.keys for found in result.chains)


@pytest.mark.parametrize("what", ["enabled", "bone_count"])
def test_a_chain_whose_making_is_animated_is_refused(what: str) -> None:
    owner, chain = keyed_line()
    owner.keyframe_insert(f"fabrik_chains[0].{what}", frame=3)
    with pytest.raises(FabrikError, match=f"'{what}' is animated"):
        bake_chain(owner, chain)
    assert not any("rotation" in curve.data_path for curve in fcurves_of(owner))


def test_a_rotation_mode_that_is_animated_is_refused() -> None:
    owner, chain = keyed_line()
    owner.pose.bones["b1"].keyframe_insert("rotation_mode", frame=3)
    with pytest.raises(FabrikError, match="bone 'b1': its rotation mode is animated"):
        bake_chain(owner, chain)
