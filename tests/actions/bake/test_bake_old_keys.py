# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake does with keys that are there, and what it refuses or reports, so that nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from math import pi, tau
from typing import Any, Literal

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake, bake_steps
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.animation.channels import channel_of
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Quaternion

from support.judging import assert_on_target, assert_poses, bake_chain, channels, local_rotations, poses, rotation_keys
from support.scenes import (
    FRAMES,
    SOME_MODES,
    add_chain,
    assert_refused,
    key_scale,
    keyed,
    keyed_line,
    make_empty,
    make_line,
)


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "AXIS_ANGLE", "QUATERNION"])
def test_later_keys_mean_what_they_meant_and_are_run_on_to(mode: str) -> None:
    owner, chain = keyed_line(mode, 1)
    bone = owner.pose.bones["b0"]
    path = channel_of(mode)[0]
    values = {
        "AXIS_ANGLE": (0.4 + 4 * pi, 1.0, 0.0, 0.0),
        "QUATERNION": tuple(-Quaternion((1, 0, 0), 0.4)),
    }.get(mode, (0.4 + 2 * pi, 0.0, -4 * pi))
    for frame in (30, 40):
        setattr(bone, path, values)
        bone.keyframe_insert(path, frame=frame)
    before = poses(owner, (30, 35, 40))
    bake_chain(owner, chain)
    assert_poses(owner, before)
    turned = poses(owner, range(20, 31))
    largest = max(turn_angle(turned[frame][0].conjugated() @ turned[frame + 1][0]) for frame in range(20, 30))
    whole = turn_angle(turned[20][0].conjugated() @ turned[30][0])
    assert largest < whole / 5


@pytest.mark.parametrize("inside", [(), (5,), (-20,), (5, -20)])
def test_channels_that_lack_keys_on_a_side(inside: tuple[int, ...]) -> None:
    """One channel is keyed on both sides of the range, the others inside, on one side, or not at all."""
    owner, chain = keyed_line("XYZ")
    bone = owner.pose.bones["b0"]
    bone.rotation_euler = (0.0, 0.3, -0.2)
    for frame in (-20, 60):
        bone.keyframe_insert("rotation_euler", index=0, frame=frame)
    for index, frame in ((index, frame) for index in (1, 2) for frame in inside):
        bone.keyframe_insert("rotation_euler", index=index, frame=frame)
    before = {frame: rotations[:1] for frame, rotations in poses(owner, (-20, 60)).items()}
    bake_chain(owner, chain)
    for frame, (rotation,) in before.items():
        bpy.context.scene.frame_set(frame)
        assert turn_angle(local_rotations(owner)[0].conjugated() @ rotation) < 1e-4
    assert_on_target(owner, chain)


def test_later_keys_of_channels_at_different_frames() -> None:
    owner, chain = keyed_line(count=1)
    bone = owner.pose.bones["b0"]
    for frame, sign in ((30, -1.0), (60, -1.0)):
        bone.rotation_quaternion = Quaternion((1, 0, 0), 0.3 + frame / 100) * sign
        bone.keyframe_insert("rotation_quaternion", index=1, frame=frame)
        if frame == 60:
            for index in (0, 2, 3):
                bone.keyframe_insert("rotation_quaternion", index=index, frame=frame)
    before = poses(owner, (30, 60, 70))
    bake_chain(owner, chain)
    assert_poses(owner, before)
    assert poses(owner, [20])[20][0].dot(Quaternion((1, 0, 0), 0.6)) > 0.0
    bpy.context.scene.frame_set(30)
    assert bone.rotation_quaternion.w > 0.0


def test_channels_that_are_not_written_are_left_alone() -> None:
    owner, chain = keyed_line("XYZ")
    bone = owner.pose.bones["b1"]
    setattr(bone, "lock_rotation", (False, True, True))
    for frame, angle in ((1, 0.0), (60, 4 * pi)):
        bone.rotation_euler = (0.0, angle, 0.0)
        bone.keyframe_insert("rotation_euler", index=1, frame=frame)
    bake_chain(owner, chain)
    curve = next(found for found in fcurves_of(owner) if '"b1"' in found.data_path and found.array_index == 1)
    assert curve.evaluate(60) == pytest.approx(4 * pi)


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION"])
def test_a_range_baked_after_another_leaves_that_as_it_was(into: str, is_static: bool) -> None:
    owner, chain = keyed_line()
    chain.target.animation_data_clear()
    path = [(1, (0, 0.5, 1.9)), (10, (0, 0.5, 1.9) if is_static else (0, 1.2, 1.2))]
    keyed(chain.target, dict((*path, (11, (0.9, 0.3, 1.4)), (20, (0.9, 0.3, 1.4)))))
    bake_chain(owner, chain, frames=tuple(range(1, 11)))
    before = poses(owner, range(1, 11))
    chain.enabled = True
    bake_chain(owner, chain, frames=tuple(range(11, 21)), into=into)
    assert_poses(owner, before)
    assert_on_target(owner, chain, range(1, 21))


def test_keys_that_are_removed_are_not_run_on_from(owner: bpy.types.Object, chain: FabrikChain) -> None:
    bone = owner.pose.bones["b0"]
    turn = Quaternion((1, 0, 0), 0.5)
    keyed(bone, {-5: turn, 5: -turn}, "rotation_quaternion")
    chain.target.animation_data_clear()
    for frame in (10, 20):
        chain.target.keyframe_insert("location", frame=frame)
    bake_chain(owner, chain, only_keys=True)
    turned = poses(owner, (-5, 10))
    whole = turn_angle(turned[-5][0].conjugated() @ turned[10][0])
    bpy.context.scene.frame_set(2)
    assert turn_angle(turned[-5][0].conjugated() @ local_rotations(owner)[0]) < whole


def test_all_of_the_range_are_replaced(owner: bpy.types.Object, chain: FabrikChain) -> None:
    for frame in (-1, 3, 25, 28, 50):
        owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=frame)
    bake_chain(owner, chain, only_keys=True, frames=tuple(range(41)))
    curve = next(curve for curve in fcurves_of(owner) if '"b0"' in curve.data_path)
    assert [point.co[0] for point in curve.keyframe_points] == [-1.0, 1.0, 10.0, 20.0, 50.0]


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have slots from 4.4 on")
def test_slots_are_as_they_were_where_it_is_given_up(owner: bpy.types.Object, chain: FabrikChain) -> None:
    other = make_line(1)
    other.name = "Other"
    other.keyframe_insert("location", frame=1)
    action = other.animation_data.action
    data = owner.animation_data_create()
    data.action, data.action_slot = action, None
    before = [slot.identifier for slot in action.slots]
    steps = bake_steps(bpy.context, [(owner, chain)], BakeSettings(FRAMES))
    while next(steps) <= 0.5:
        pass
    assert len(action.slots) == len(before) + 1
    steps.close()
    assert [slot.identifier for slot in action.slots] == before
    assert data.action == action
    assert data.action_slot is None


def test_what_is_gone_keeps_nothing_else_from_being_given_up() -> None:
    first, second = keyed_line(), keyed_line()
    owner, chain = second
    assert first[0].name < owner.name
    pose = [tuple(bone.rotation_quaternion) for bone in owner.pose.bones]
    steps = bake_steps(bpy.context, [first, second], BakeSettings(FRAMES, into="NEW_ACTION"))
    while next(steps) <= 0.55:
        pass
    assert owner.animation_data.action
    bpy.data.objects.remove(first[0])
    with pytest.raises(ReferenceError):
        steps.close()
    assert owner.animation_data is None
    assert not [action for action in bpy.data.actions if action.name.startswith(owner.name)]
    assert [tuple(bone.rotation_quaternion) for bone in owner.pose.bones] == pose
    assert chain.enabled


BESIDE = (-20, -10, 30, 40)

REPLACED = (1, 7, 20)


STOPS = (0.0, 0.5, 0.95)  # shares of the work after which it is given up


def key_at_random(owner: bpy.types.Object, mode: str, seed: int) -> None:
    """Keys of any rotation, on any side and with any number of turns, before, in and behind the frames of a bake."""
    chance = random.Random(seed)
    for bone in owner.pose.bones:
        for frame in sorted((*BESIDE, *REPLACED)):
            turn = Quaternion([chance.gauss(0.0, 1.0) for _ in range(4)]).normalized()
            if mode == "QUATERNION":
                bone.rotation_quaternion = turn
            elif mode == "AXIS_ANGLE":
                axis, angle = turn.to_axis_angle()
                bone.rotation_axis_angle = (angle + tau * chance.randrange(-2, 3), *axis)
            else:
                angles = turn.to_euler(mode)
                setattr(bone, "rotation_euler", [angle + tau * chance.randrange(-2, 3) for angle in angles])
            bone.keyframe_insert(channel_of(mode)[0], frame=frame)
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def turns_between(owner: bpy.types.Object, first: int, last: int) -> Iterator[tuple[float, float]]:
    """For each bone the turn from frame to frame, and how far it turns on the way."""
    steps = []
    for k in range(21):
        frame = first + (last - first) * k / 20
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        steps.append(local_rotations(owner))
    for own in zip(*steps, strict=True):
        way = sum(turn_angle(one.conjugated() @ other) for one, other in pairwise(own))
        yield turn_angle(own[0].conjugated() @ own[-1]), way


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clean_up", [0.0, 0.02])
@pytest.mark.parametrize("mode", [mode for mode in (*SOME_MODES, "XZY", "YXZ") if mode != "AXIS_ANGLE"])
def test_the_way_from_and_to_the_keys_beside_is_short(mode: str, clean_up: float, seed: int) -> None:
    owner, chain = keyed_line(mode)
    key_at_random(owner, mode, seed)
    before = poses(owner, (*BESIDE, -15, 35))
    bake_chain(owner, chain, clean_up=clean_up)
    assert_poses(owner, before)
    for first, last in ((-10, 1), (20, 30)):
        for whole, way in turns_between(owner, first, last):
            assert way < 1.6 * whole + 0.3


@pytest.mark.parametrize("seed", range(4))
def test_quaternions_stay_on_one_side(seed: int, owner: bpy.types.Object, chain: FabrikChain) -> None:
    key_at_random(owner, "QUATERNION", seed)
    bake_chain(owner, chain)
    for bone in owner.pose.bones:
        path = f"{bone.path_from_id()}.rotation_quaternion"
        curves = [curve for curve in fcurves_of(owner) if curve.data_path == path]
        frames = [-10, *FRAMES, 30]
        rotations = [Quaternion([curve.evaluate(frame) for curve in curves]) for frame in frames]
        assert all(one.dot(other) > 0.0 for one, other in pairwise(rotations))


def decorate(owner: bpy.types.Object, seed: int) -> None:
    """Any interpolation, easing, kind, handles, numbers and selection of all keys."""
    chance = random.Random(seed)
    handles = ("FREE", "ALIGNED", "VECTOR", "AUTO", "AUTO_CLAMPED")
    for curve in fcurves_of(owner):
        curve.extrapolation = chance.choice(("CONSTANT", "LINEAR"))
        curve.auto_smoothing = chance.choice(("NONE", "CONT_ACCEL"))
        curve.hide, curve.select = chance.random() < 0.3, chance.random() < 0.5
        for point in curve.keyframe_points:
            point.interpolation = chance.choice(("CONSTANT", "LINEAR", "BEZIER", "SINE", "BACK", "BOUNCE", "ELASTIC"))
            point.easing = chance.choice(("AUTO", "EASE_IN", "EASE_OUT", "EASE_IN_OUT"))
            point.type = chance.choice(("KEYFRAME", "BREAKDOWN", "MOVING_HOLD", "EXTREME", "JITTER"))
            point.handle_left_type, point.handle_right_type = chance.choices(handles, k=2)
            point.handle_left = point.co[0] - chance.uniform(0.1, 2.0), chance.uniform(-2.0, 2.0)
            point.handle_right = point.co[0] + chance.uniform(0.1, 2.0), chance.uniform(-2.0, 2.0)
            point.amplitude, point.back, point.period = (chance.uniform(0.0, 3.0) for _ in range(3))
            point.select_control_point, point.select_left_handle = chance.random() < 0.5, chance.random() < 0.5


def told(thing: Any) -> dict[str, Any]:
    """All simple properties of a key, a curve or a group."""
    values = {each.identifier: getattr(thing, each.identifier) for each in thing.bl_rna.properties}
    values = {name: tuple(value) if hasattr(value, "to_tuple") else value for name, value in values.items()}
    return {name: value for name, value in values.items() if isinstance(value, str | int | float | tuple)}


def all_told(owner: bpy.types.Object) -> Any:
    """All that is to be known of an armature's keys."""
    curves = fcurves_of(owner)
    keys = [[told(point) for point in curve.keyframe_points] for curve in curves]
    groups = [(curve.data_path, curve.group.name if curve.group is not None else "") for curve in curves]
    return [told(curve) for curve in curves], keys, groups


@pytest.mark.parametrize("clean_up", [0.0, 0.02])
@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION"])
@pytest.mark.parametrize("mode", SOME_MODES)
@pytest.mark.parametrize("stop", STOPS)
def test_a_bake_that_is_given_up_leaves_every_bit(mode: str, into: str, clean_up: float, stop: float) -> None:
    owner, chain = keyed_line(mode)
    key_at_random(owner, mode, 1)
    decorate(owner, 1)
    points = fcurves_of(owner)[0].keyframe_points
    points.remove(points[-1])  # so that one channel lacks a key that the others have
    before, action = all_told(owner), owner.animation_data.action
    actions = len(bpy.data.actions)
    assert before[1]
    settings = BakeSettings(FRAMES, into, "BEZIER", clean_up=clean_up)
    steps = bake_steps(bpy.context, [(owner, chain)], settings)
    while next(steps) <= stop:
        pass
    steps.close()
    assert all_told(owner) == before
    assert owner.animation_data.action == action
    assert len(bpy.data.actions) == actions


def test_the_keys_of_one_armature_where_another_fails_at_last(owner: bpy.types.Object, chain: FabrikChain) -> None:
    key_at_random(owner, "QUATERNION", 2)
    decorate(owner, 2)
    other = make_line(3)
    other.name, other.location.x = "Other", 2.0
    follower = other.fabrik.chains.add()
    follower.tip_bone, follower.target, follower.target_bone = "b2", owner, "b2"
    keyed(owner, {1: False, 8: True}, "hide_viewport")
    bpy.context.scene.frame_set(1)
    before = all_told(owner)
    steps = bake_steps(bpy.context, [(owner, chain), (other, follower)], BakeSettings(FRAMES))
    with pytest.raises(FabrikError, match="frame 8"):
        list(steps)
    assert all_told(owner) == before
    assert other.animation_data is None


def first_curve(owner: bpy.types.Object, path: str = "rotation_quaternion", **options: Any) -> Any:
    """The first of the curves of a bone that is keyed."""
    for frame in (5, 30):
        owner.pose.bones["b0"].keyframe_insert(path, frame=frame, **options)
    return fcurves_of(owner)[0]


def strip_of_another(owner: bpy.types.Object, chain: FabrikChain) -> None:
    first_curve(owner, "location")
    other = make_line(3)
    other.name = "Other"
    strip = other.animation_data_create().nla_tracks.new().strips.new("s", 1, owner.animation_data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = owner.animation_data.action_slot


def broken_driver(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.parent = holder = make_empty(name="Holder")
    holder.driver_add("location", 0).driver.expression = "no_such_function(frame)"
    bpy.context.view_layer.update()


def solo(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.keyframe_insert("location", frame=1)
    data = owner.animation_data
    data.nla_tracks.new().strips.new("old", 1, data.action)
    data.action, data.nla_tracks[0].is_solo = None, True


def key_of_chain(name: str, owner: bpy.types.Object, _: FabrikChain) -> None:
    owner.keyframe_insert(f"fabrik_chains[0].{name}", frame=3)


REFUSED: dict[str, tuple[Callable[[bpy.types.Object, FabrikChain], object], str]] = {
    "time is remapped": (lambda o, c: setattr(bpy.context.scene.render, "frame_map_new", 200), "time is remapped"),
    "a deleted target": (lambda o, c: bpy.data.objects.remove(c.target), "its target 'Target' was deleted"),
    "muted": (lambda o, c: setattr(first_curve(o), "mute", True), "muted"),
    "modified": (lambda o, c: first_curve(o).modifiers.new("NOISE"), "muted or modified"),
    "locked": (lambda o, c: setattr(first_curve(o), "lock", True), "is locked"),
    "samples": (lambda o, c: first_curve(o).convert_to_samples(1, 31), "holds samples"),
    "a muted group": (
        lambda o, c: setattr(first_curve(o, "location", group="b0").group, "mute", True),
        "the channels of 'b0' are muted",
    ),
    "over the track": (lambda o, c: first_curve(o), "would play over the track"),
    "influence": (
        lambda o, c: (first_curve(o), setattr(o.animation_data, "action_influence", 0.5)),
        "is mixed with NLA strips",
    ),
    "no tracks": (lambda o, c: setattr(o.animation_data_create(), "use_nla", False), "are switched off"),
    **{f"solo, {into}": (solo, "plays solo") for into in ("ACTION", "NEW_ACTION", "NLA")},
    "a strip of another armature": (strip_of_another, "also moves 'Other'"),
    "rest position is keyed": (
        lambda o, c: o.data.keyframe_insert("pose_position", frame=1),
        "pose position is animated",
    ),
    **{
        f"{name} is keyed": (partial(key_of_chain, name), f"'{name}' is animated") for name in ("enabled", "bone_count")
    },
    "rotation mode is keyed": (
        lambda o, c: o.pose.bones["b1"].keyframe_insert("rotation_mode", frame=3),
        "bone 'b1': its rotation mode is animated",
    ),
    "a broken driver": (broken_driver, "the driver of 'location' of 'Holder', which moves the target, can't be"),
}
INTO = {"over the track": "NLA", "no tracks": "NLA", "solo, NEW_ACTION": "NEW_ACTION", "solo, NLA": "NLA"}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_be_baked_is_refused_and_nothing_is_changed(what: str) -> None:
    owner, chain = keyed_line()
    spoil, message = REFUSED[what]
    spoil(owner, chain)
    before, stood = rotation_keys(owner), channels(owner)
    with pytest.raises(FabrikError, match=message):
        bake_chain(owner, chain, into=INTO.get(what, "ACTION"))
    assert (rotation_keys(owner), channels(owner)) == (before, stood)


class TestRefusals:
    def test_a_range_that_ends_before_it_starts(self, owner: bpy.types.Object) -> None:
        before = channels(owner)
        assert_refused("ends at frame 3, before it starts at 9", "bake", frame_start=9, frame_end=3)
        assert channels(owner) == before

    @pytest.mark.parametrize("frame", [1, 6])
    def test_an_armature_that_has_no_scale_in_some_frames(self, frame: int, owner: bpy.types.Object) -> None:
        key_scale(owner, {1: 1.0, 5: 0.0, 9: 1.0})
        bpy.context.scene.frame_set(frame)
        before = rotation_keys(owner)
        where = "in frame 5, " if frame == 1 else ""
        assert_refused(f"'Rig': {where}its scale is zero along an axis", "bake", frame_start=1, frame_end=20)
        assert rotation_keys(owner) == before


class TestNothingIsSilentlyWrong:
    def test_a_channel_that_stays_beside_keys_outside_the_range(self) -> None:
        owner, chain = keyed_line()
        chain.target.animation_data_clear()
        bone = owner.pose.bones["b0"]
        bone.rotation_quaternion = Quaternion((1, 0, 0), 1.0)
        for frame in (-10, 40):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        bake_chain(owner, chain)
        assert_on_target(owner, chain)

    @pytest.mark.parametrize("kind", ["COPY_ROTATION", "IK"])
    def test_a_constraint_that_is_switched_on_half_way(self, kind: Literal["COPY_ROTATION", "IK"]) -> None:
        owner, chain = keyed_line(count=4)
        chain.tip_bone, chain.bone_count = "b2", 3
        constraint = owner.pose.bones["b3" if kind == "IK" else "b1"].constraints.new(kind)
        constraint.target = make_empty((1, 1, 1), "Leader")
        keyed(constraint, {1: True, 6: False}, "mute")
        bpy.context.scene.frame_set(1)
        with pytest.raises(FabrikError, match="in frame 6"):
            bake_chain(owner, chain, verify="NONE")
        assert not any("rotation" in curve.data_path for curve in fcurves_of(owner))

    @pytest.mark.parametrize("whose", ["target", "armature"])
    def test_a_constraint_of_an_object_that_is_switched_on_half_way(self, whose: str) -> None:
        owner, chain = keyed_line()
        constraint = (chain.target if whose == "target" else owner).constraints.new("COPY_LOCATION")
        constraint.target, constraint.mute = make_empty((0.2, 0.9, 1.5), "Leader"), True
        constraint.keyframe_insert("mute", frame=1)
        constraint.mute = False
        constraint.keyframe_insert("mute", frame=6)
        bpy.context.scene.frame_set(1)
        assert "MOVED" not in dict(bake_chain(owner, chain).unreached).values()

    @pytest.mark.parametrize("is_plain", [True, False])
    def test_something_that_moves_the_tip_is_reported(self, is_plain: bool) -> None:
        owner, chain = keyed_line()
        if not is_plain:
            chain.target.constraints.new("LIMIT_LOCATION")

        def move(scene: bpy.types.Scene, _: bpy.types.Depsgraph) -> None:
            bones = {curve.data_path for curve in fcurves_of(owner)}
            owner.location.x = 0.3 if bones and scene.frame_current > 5 else 0.0

        handlers: Any = bpy.app.handlers.frame_change_pre
        handlers.append(move)
        try:
            result = bake_chain(owner, chain)
        finally:
            handlers.remove(move)
        assert {status for _, status in result.unreached} == {"MOVED"}
        assert result.unreached[0][0] == 6

    @pytest.mark.parametrize("is_blended", [True, False])
    def test_a_target_that_is_deleted_half_way(self, is_blended: bool) -> None:
        owner, chain = keyed_line()
        keyed(owner, {1: 0.0, 20: 0.1}, "location.x")
        if is_blended:
            keyed(chain, {1: 0.2, 20: 1.0}, "influence")

        def delete(scene: bpy.types.Scene, _: bpy.types.Depsgraph) -> None:
            if scene.frame_current == 9 and chain.target:
                bpy.data.objects.remove(chain.target)

        handlers: Any = bpy.app.handlers.frame_change_post
        handlers.append(delete)
        try:
            with pytest.raises(FabrikError, match=r"in frame 9, its target .* was deleted"):
                bake_chain(owner, chain)
        finally:
            handlers.remove(delete)
        assert not any("rotation" in curve.data_path for curve in fcurves_of(owner))

    def test_the_current_frame_stays_below_zero_too(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.context.scene.frame_set(-3, subframe=0.5)
        bake_chain(owner, chain)
        assert bpy.context.scene.frame_current_final == -2.5

    def test_a_pose_without_keys_comes_back_where_a_later_chain_fails(self) -> None:
        owner = make_line(4)
        first = add_chain(owner, (0.2, 0.9, 1.4), tip="b1", count=2)
        second = add_chain(owner, (0.4, 1.0, 2.8), tip="b3", count=2)
        second.target.constraints.new("COPY_LOCATION").target = leader = make_empty((0, 0, 2), "Leader")
        keyed(leader, {1: 0.0, 4: float("nan")}, "location.x")
        before = channels(owner)
        with pytest.raises(FabrikError, match="in frame"):
            bake(bpy.context, [(owner, first), (owner, second)], BakeSettings(FRAMES))
        assert channels(owner) == before

    def test_a_goal_on_a_chain_that_is_not_baked(self, owner: bpy.types.Object) -> None:
        other = make_line(3)
        other.name, other.location.x = "Other", 2.0
        follower = add_chain(other)
        follower.target, follower.target_bone = owner, "b2"
        with pytest.raises(FabrikError, match="hangs on the chain 'b2' of 'Rig': bake that first"):
            bake(bpy.context, [(other, follower)], BakeSettings(FRAMES))
        bake_chain(owner, owner.fabrik.chains[0])
        bake(bpy.context, [(other, other.fabrik.chains[0])], BakeSettings(FRAMES))
