# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking chains to keys, judged by Blender: where keys go, and what of the user's animation stays."""

from __future__ import annotations

from itertools import pairwise
from math import cos, radians, sin
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.actions.bake import BakeSettings, bake, bake_steps
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.animation.compat import fcurves_of, slot_of
from fabrik_addon.rig.schema import FabrikChain

from support.judging import assert_on_target, assert_poses, bake_chain, frames_gone_to, poses, tip_error
from support.scenes import (
    FRAMES,
    SOME_MODES,
    Bone,
    Rig,
    add_chain,
    assert_refused,
    each_frame,
    go_live,
    go_to,
    keyed,
    keyed_line,
    keyed_turns,
    make_armature,
    make_line,
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


def test_a_channel_that_stays_gets_one_key(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b2"].fabrik.limit = "LOCKED"
    bake_chain(owner, chain)
    assert {len(curve.keyframe_points) for curve in fcurves_of(owner) if '"b2"' in curve.data_path} == {1}


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


def onto_track(owner: bpy.types.Object) -> None:
    """Push the action down onto a track."""
    data = owner.animation_data
    strip = data.nla_tracks.new().strips.new("old", 1, data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = data.action_slot
    data.action = None


class TestTracks:
    def test_the_armatures_own_action_plays_meanwhile(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed(owner, {1: 0.0, 20: 0.6}, "location.x")
        action = owner.animation_data.action
        result = bake_chain(owner, chain, into="NLA")
        assert owner.animation_data.action == action
        assert result.unreached == []
        assert_on_target(owner, chain)

    def test_chains_that_hang_on_each_other(self) -> None:
        owner = make_line(6)
        spine = add_chain(owner, (0.2, 0.8, 2.5), tip="b2", count=3)
        keyed(spine.target, {1: 0.2, 20: 0.9}, "location.x")
        arm = add_chain(owner, (0.6, 1.5, 3.6), tip="b5", count=3)
        steps = bake_steps(bpy.context, [(owner, spine), (owner, arm)], BakeSettings(FRAMES, into="NLA"))
        assert len(list(steps)) > 20
        (track,) = owner.animation_data.nla_tracks
        assert len(track.strips) == 1
        assert owner.animation_data.action is None
        assert_on_target(owner, spine)

    def test_the_strip_starts_at_its_first_key(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        result = bake_chain(owner, chain, into="NLA", only_keys=True, frames=tuple(range(-5, 30)))
        (strip,) = owner.animation_data.nla_tracks[0].strips
        assert (strip.frame_start, strip.frame_end) == (1.0, 20.0)
        assert result.unreached == []
        assert_on_target(owner, chain, [1, 10, 20])

    def test_other_strips_play_on_outside_the_range(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed_turns(owner.pose.bones["b0"], {1: 0.0, 60: 1.0})
        onto_track(owner)
        before = poses(owner, (30, 50))
        bake_chain(owner, chain, into="NLA")
        assert_poses(owner, before)
        assert_on_target(owner, chain)

    def test_a_static_target_holds_its_strip_open(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        chain.target.animation_data_clear()
        keyed_turns(owner.pose.bones["b0"], {1: 0.0, 60: 1.0})
        onto_track(owner)
        assert bake_chain(owner, chain, into="NLA").unreached == []
        (strip,) = owner.animation_data.nla_tracks[1].strips
        assert (strip.frame_start, strip.frame_end, strip.extrapolation) == (1.0, 20.0, "NOTHING")
        assert_on_target(owner, chain)

    def test_a_muted_track_is_not_minded(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
        onto_track(owner)
        owner.animation_data.nla_tracks[0].mute = True
        bake_chain(owner, chain, into="NLA")
        assert owner.animation_data.nla_tracks[1].strips[0].extrapolation == "HOLD"


def test_a_swing_there_and_back_is_not_taken_for_none() -> None:
    owner = make_line(1, bend=0.0)
    owner.pose.bones[0].rotation_mode = "XYZ"
    chain = add_chain(owner, (0, 0, 1))
    frames = tuple(range(1, 22))
    for frame in frames:
        u = (frame - 1) / 20
        angle = radians(20) * 4 * u * (1 - u)
        chain.target.location = (0, sin(angle), cos(angle))
        chain.target.keyframe_insert("location", frame=frame)
    bake_chain(owner, chain, frames=frames, interpolation="BEZIER", clean_up=radians(0.5))
    assert_on_target(owner, chain, frames, most=radians(0.51))


class TestRefusals:
    def test_a_root_that_hangs_on_a_chain_that_is_not_baked(self) -> None:
        owner = make_line(6)
        add_chain(owner, (0.2, 0.8, 2.5), tip="b2", count=3).name = "spine"
        arm = add_chain(owner, (0.6, 1.5, 3.6), tip="b5", count=3)
        with pytest.raises(FabrikError, match="its root or its goal hangs on the chain 'spine' of 'Rig'"):
            bake_chain(owner, arm)

    def test_a_range_that_is_too_long_is_not_even_counted(self) -> None:
        keyed_line()
        assert_refused("more than 1000000 frames", "bake", frame_start=1, frame_end=2_000_000_000)

    @pytest.mark.parametrize("role", ["target", "pole"])
    @pytest.mark.parametrize("verify", ["EVERY", "NONE"])
    def test_goals_that_vanish_half_way(self, role: str, verify: str) -> None:
        owner, chain = keyed_line()
        chain.pole = add_chain(owner, (0.5, -4, 1)).target
        owner.fabrik.chains.remove(1)
        keyed(getattr(chain, role), {1: False, 8: True}, "hide_viewport")
        bpy.context.scene.frame_set(1)
        with pytest.raises(FabrikError, match=f"in frame 8, the {role} '.*' is not in the view layer"):
            bake_chain(owner, chain, verify=verify)
        assert not fcurves_of(owner)

    def test_a_broken_chain_that_is_not_selected_is_left_out(self, owner: bpy.types.Object) -> None:
        add_chain(owner, (0.4, 0.5, 1.0), tip="b0", count=1).tip_bone = "gone"
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="SELECT")
        assert bpy.ops.fabrik.bake(frame_start=1, frame_end=3, chains="SELECTED") == {"FINISHED"}


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("degrees", [0.5, 4.0, 10.0])
@pytest.mark.parametrize("is_keyed", [False, True])
def test_keys_are_not_left_out_where_a_limit_would_be_left(interpolation: str, degrees: float, is_keyed: bool) -> None:
    """Also where a setting of the chain is read anew in each frame."""
    owner, chain = keyed_line(count=2)
    if is_keyed:
        keyed(chain, {1: 4e-5, 20: 9e-5}, "tolerance")
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -1.0, 1.0
    chain.target.animation_data_clear()
    frames = tuple(range(1, 41))
    for frame in frames:
        angle = 2.2 * sin(frame / 6)
        chain.target.location = (0, 1.6 * sin(angle), 1.6 * cos(angle))
        chain.target.keyframe_insert("location", frame=frame)
    result = bake_chain(owner, chain, frames=frames, clean_up=radians(degrees), interpolation=interpolation)
    worst = 0.0
    for _ in each_frame(frames):
        for bone in owner.pose.bones:
            worst = max(worst, abs(bone.matrix_basis.to_euler().x) - 1.0)
    assert worst < 2e-4
    assert result.worst_violation == pytest.approx(max(worst, 0.0), abs=2e-4)
    assert 0 < result.keys < 0.7 * 2 * 2 * len(frames)


def test_a_second_bake_waits_for_the_first(owner: bpy.types.Object, chain: FabrikChain) -> None:
    steps = bake_steps(bpy.context, [(owner, chain)], BakeSettings(FRAMES))
    next(steps)
    with pytest.raises(FabrikError, match="a bake is going on"):
        bake_chain(owner, chain)
    steps.close()
    assert bake_chain(owner, chain).keys


def test_a_tolerance_that_is_wide_is_not_taken_for_a_move(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.tolerance, chain.use_plain = 0.05, True
    assert bake_chain(owner, chain).unreached == []


def test_influence_shows_in_the_residuals(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.influence = 0.5
    result = bake_chain(owner, chain)
    assert result.worst_tip_error is None
    assert result.residuals.max() > 0.1


def test_flags_of_rest_bones_may_be_animated(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed(owner.data.bones["b1"], {1: True, 10: False}, "use_inherit_rotation")
    bpy.context.scene.frame_set(1)
    assert bake_chain(owner, chain).unreached == []
    assert_on_target(owner, chain, most=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"frames": ()}, "no frame to bake"),
        ({"frames": (3, 2)}, "do not rise"),
        ({"frames": (1, float("nan"))}, "do not rise"),
        ({"frames": (1, 2_000_000)}, "no frame 2000000: Blender's run from"),
        ({"into": "TRASH"}, "'TRASH' is none of ACTION, NEW_ACTION, NLA"),
        ({"verify": "ALL"}, "is none of EVERY"),
        ({"clean_up": 1.0}, "not between 0 and 30"),
        ({"clean_up": float("nan")}, "not between 0 and 30"),
    ],
)
def test_settings_that_are_none(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FabrikError, match=message):
        BakeSettings(**{"frames": FRAMES, **wrong})


def test_a_single_frame_is_told_as_such(owner: bpy.types.Object, chain: FabrikChain) -> None:
    assert bake_chain(owner, chain, frames=(7,)).worst_turn == (0.0, 7.0)


slots_only = pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have slots from 4.4 on")


def two_rigs() -> tuple[Rig, Rig]:
    """Two armatures whose action is the same; the first is keyed where it stands."""
    owner, chain = keyed_line()
    other = make_line(3)
    other.name = "Other"
    follower = add_chain(other, (0.4, -0.5, 1.9))
    owner.keyframe_insert("location", frame=1)
    other.animation_data_create().action = owner.animation_data.action
    return (owner, chain), (other, follower)


def give_slot(owner: bpy.types.Object, slot: Any) -> None:
    if hasattr(owner.animation_data, "action_slot"):
        setattr(owner.animation_data, "action_slot", slot)


@pytest.mark.parametrize("together", [True, False])
def test_one_slot_is_refused_by_name(together: bool) -> None:
    first, second = two_rigs()
    give_slot(second[0], slot_of(first[0]))
    before = len(fcurves_of(first[0]))
    with pytest.raises(FabrikError, match=r"'Rig': its action '.*' also moves 'Other': bake into a new one"):
        bake(bpy.context, [first, second] if together else [first], BakeSettings(FRAMES))
    assert len(fcurves_of(first[0])) == before


@pytest.mark.parametrize("into", ["NEW_ACTION", "NLA"])
def test_one_slot_is_baked_apart(into: str) -> None:
    first, second = two_rigs()
    give_slot(second[0], slot_of(first[0]))
    bake(bpy.context, [first, second], BakeSettings(FRAMES, into))
    for owner, chain in (first, second):
        assert_on_target(owner, chain)
    if into == "NEW_ACTION":
        assert first[0].animation_data.action != second[0].animation_data.action


@slots_only
@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("name", ["Rig", "Other"])
def test_an_armature_without_a_slot_gets_one_of_its_own(name: str, into: str) -> None:
    """Although the slot of the other one has its name."""
    first, second = two_rigs()
    slot_of(first[0]).name_display = name
    give_slot(second[0], None)
    bake(bpy.context, [first, second], BakeSettings(FRAMES, into))
    for owner, chain in (first, second):
        assert_on_target(owner, chain)
    assert not [curve for curve in fcurves_of(second[0]) if curve.data_path == "location"]
    assert len([curve for curve in fcurves_of(first[0]) if curve.data_path == "location"]) == 3


def two_chains() -> Rig:
    """A line of two chains, of which the first is to be baked."""
    owner, chain = keyed_line(count=4)
    chain.tip_bone, chain.bone_count = "b1", 2
    add_chain(owner, (0.5, 0.3, 3.0), tip="b3", count=2)
    go_live(owner)
    return owner, chain


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_baked_chain_is_known_until_it_is_enabled_again(
    is_enabled: bool, owner: bpy.types.Object, chain: FabrikChain
) -> None:
    chain.enabled = is_enabled
    assert not chain.is_baked
    bake_chain(owner, chain)
    assert (chain.enabled, chain.is_baked) == (False, True)
    chain.enabled = False
    assert chain.is_baked
    chain.enabled = True
    assert not chain.is_baked
    chain.enabled = False
    assert not chain.is_baked


def test_live_is_off_where_no_chain_is_left(owner: bpy.types.Object, chain: FabrikChain) -> None:
    go_live(owner)
    solves = live.state.solves
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES)).rested == ["Rig"]
    assert live.state.solves == solves  # it rests meanwhile
    assert not owner.fabrik.live


def test_live_goes_on_for_the_chains_that_are_left() -> None:
    owner, chain = two_chains()
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES)).rested == []
    assert owner.fabrik.live
    assert [one.is_baked for one in owner.fabrik.chains] == [True, False]
    other = owner.fabrik.chains[1]
    other.target.location = (0.7, 0.9, 2.6)
    bpy.context.view_layer.update()
    assert other.status == "REACHED"


def test_a_refused_bake_leaves_all_on() -> None:
    owner, chain = two_chains()
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
    fcurves_of(owner)[0].lock = True
    with pytest.raises(FabrikError, match="is locked"):
        bake_chain(owner, chain)
    assert (chain.enabled, chain.is_baked, owner.fabrik.live) == (True, False, True)
