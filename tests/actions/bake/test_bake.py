# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking chains to keys, judged by Blender's own evaluation of every frame."""

from __future__ import annotations

from itertools import pairwise

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain

from support.judging import assert_on_target, bake_chain, frames_gone_to, tip_error
from support.scenes import (
    FRAMES,
    SOME_MODES,
    Bone,
    add_chain,
    go_to,
    keyed,
    keyed_line,
    keyed_turns,
    make_armature,
    make_line,
    on_moving_parents,
)


@pytest.mark.parametrize("mode", SOME_MODES)
def test_every_frame_stands_on_its_target_and_channels_run_on_without_jumps(mode: str) -> None:
    owner, chain = keyed_line(mode)
    result = bake_chain(owner, chain)
    assert result.unreached == []
    assert result.worst_tip_error[0] < 1e-5
    assert_on_target(owner, chain)
    assert not chain.enabled
    for curve in fcurves_of(owner):
        if mode == "AXIS_ANGLE" and curve.array_index > 0:
            continue  # the axis of a small turn may be any
        values = [point.co[1] for point in curve.keyframe_points]
        assert all(abs(b - a) < 0.7 for a, b in pairwise(values)), curve.data_path


def test_a_moving_armature_a_posed_parent_and_a_constrained_target() -> None:
    owner, chain = on_moving_parents()
    assert bake_chain(owner, chain).worst_tip_error[0] < 1e-5
    assert_on_target(owner, chain)


def test_a_channel_that_stays_gets_one_key(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b2"].fabrik.limit = "LOCKED"
    bake_chain(owner, chain)
    counts = {len(curve.keyframe_points) for curve in fcurves_of(owner) if '"b2"' in curve.data_path}
    assert counts == {1}


@pytest.mark.parametrize(
    ("what", "wanted"), [("nothing", 0), ("another bone", 0), ("a bone above", 20), ("target", 20)]
)
def test_frames_are_gone_to_only_where_something_else_moves(what: str, wanted: int) -> None:
    owner, chain = keyed_line(count=4)
    chain.tip_bone, chain.bone_count = "b2", 2
    bone = owner.pose.bones["b3" if what == "another bone" else "b0"]
    if what == "target":
        chain.target.constraints.new("LIMIT_LOCATION")
    elif what != "nothing":
        keyed_turns(bone, {1: 0.0, 20: 0.3})
    with frames_gone_to() as visited:
        bake_chain(owner, chain, verify="NONE")
    assert len(visited) == wanted + 1
    assert_on_target(owner, chain)


@pytest.mark.parametrize("what", ["the target", "what carries the target", "what carries the armature"])
def test_what_is_simulated_is_come_to_step_by_step(what: str, line: bpy.types.Object) -> None:
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.3, 0.4, 2.8))
    ball = bpy.context.object
    bpy.ops.rigidbody.object_add()
    chain = add_chain(line, (0.3, 0.4, 1.8))
    if what == "the target":
        chain.target = ball
    else:
        (line if "armature" in what else chain.target).parent = ball
        chain.target.location = (0.6, 0.8, 4.3) if "armature" in what else (0, 0, 0)
    bpy.context.scene.frame_start = 1
    assert bake_chain(line, chain, frames=(6, 9, 12)).unreached == []
    go_to(*range(1, 13))
    assert ball.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z < 2.5
    assert tip_error(line, chain) < 1e-5


def test_chains_that_hang_on_each_other_are_baked_in_order() -> None:
    owner = make_line(6)
    spine = add_chain(owner, (0.2, 0.8, 2.5), tip="b2", count=3)
    keyed(spine.target, {1: 0.2, 20: 0.9}, "location.x")
    arm = add_chain(owner, (0.6, 1.5, 3.6), tip="b5", count=3)
    names = [spine.name, arm.name]
    results = bake(bpy.context, [(owner, owner.fabrik.chains[name]) for name in names], BakeSettings(FRAMES)).chains
    assert [result.chain for result in results] == names
    for chain, result in zip(owner.fabrik.chains, results, strict=True):
        unreached = dict(result.unreached)
        assert "MOVED" not in unreached.values()
        assert len(unreached) < len(FRAMES) / 2
        assert_on_target(owner, chain, [frame for frame in FRAMES if frame not in unreached])


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
def test_keys_outside_the_range_stay(interpolation: str, owner: bpy.types.Object, chain: FabrikChain) -> None:
    bone = owner.pose.bones["b0"]
    for frame in (-20, 5, 90):
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bake_chain(owner, chain, interpolation=interpolation)
    curve = next(c for c in fcurves_of(owner) if '"b0"' in c.data_path and c.array_index == 1)
    frames = [point.co[0] for point in curve.keyframe_points]
    assert frames == [-20.0, *map(float, FRAMES), 90.0]
    assert {point.interpolation for point in curve.keyframe_points[1:-1]} == {interpolation}
    assert_on_target(owner, chain)


def test_a_new_action_leaves_the_old_one(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b0"].keyframe_insert("location", frame=3)
    old = owner.animation_data.action
    bake_chain(owner, chain, into="NEW_ACTION")
    assert owner.animation_data.action != old
    assert old.use_fake_user
    assert {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)} == {"location", "rotation_quaternion"}
    assert_on_target(owner, chain)
    owner.animation_data.action = old
    assert {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)} == {"location"}


def test_the_operator_bakes_the_enabled_chains_and_puts_the_frame_back(owner: bpy.types.Object) -> None:
    bpy.context.scene.frame_set(7)
    assert bpy.ops.fabrik.bake(frame_start=2, frame_end=12, step=5) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 7
    frames = {point.co[0] for curve in fcurves_of(owner) for point in curve.keyframe_points}
    assert frames == {2.0, 7.0, 12.0}


def test_many_chains_are_reported_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_armature(
        [Bone((x, 0, z), (x, 0.2 * (z % 2), z + 1), parent=None if z == 0 else -1) for x in range(6) for z in range(2)]
    )
    for i in range(6):
        add_chain(owner, (i, 0.5, 40.0 if i == 5 else 1.4), tip=f"b{2 * i + 1}", count=2)
    bpy.ops.fabrik.bake(frame_start=1, frame_end=3)
    said = [line for line in capfd.readouterr().out.splitlines() if "chains" in line and "keys" in line]
    assert len(said) == 1
    assert "not reached by b11" in said[0]


@pytest.mark.parametrize("verify", ["EVERY", "NONE"])
@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_a_chain_of_no_influence_asks_for_nothing_that_could_be_missed(
    verify: str, is_keyed: bool, together: bool, owner: bpy.types.Object, chain: FabrikChain
) -> None:
    if together:
        owner.fabrik.body_bone = "b0"
    chain.target.location.z = 40.0
    chain.target.keyframe_insert("location", frame=20)
    for frame, value in ((18, 1.0), (19, 0.0)) if is_keyed else ((1, 0.0),):
        chain.influence = value
        if is_keyed:
            owner.keyframe_insert("fabrik_chains[0].influence", frame=frame)
    bpy.context.scene.frame_set(1)
    result = bake_chain(owner, chain, verify=verify)
    assert [frame for frame, _ in result.unreached if frame >= 19 or not is_keyed] == []
    assert result.residuals[18:].max() == 0.0
