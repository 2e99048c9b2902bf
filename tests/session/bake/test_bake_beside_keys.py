# SPDX-License-Identifier: GPL-3.0-or-later
"""Random keys around a bake: their poses stay, the ways to them are short, and a refused bake leaves every bit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from math import tau
from typing import Any

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.compat import fcurves_of, groups_of
from fabrik_addon.session.bake import BakeSettings, bake_steps
from mathutils import Quaternion

from support.judging import assert_poses, bake_chain, local_rotations, poses
from support.scenes import FRAMES, SOME_MODES, keyed_line, make_line

BESIDE = (-20, -10, 30, 40)
REPLACED = (1, 7, 20)
PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
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
            bone.keyframe_insert(PATHS.get(mode, "rotation_euler"), frame=frame)
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
def test_quaternions_stay_on_one_side(seed: int) -> None:
    owner, chain = keyed_line()
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
    groups = [(group.name, [curve.data_path for curve in group.channels]) for group in groups_of(owner)]
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


def test_the_keys_of_one_armature_where_another_fails_at_last() -> None:
    owner, chain = keyed_line()
    key_at_random(owner, "QUATERNION", 2)
    decorate(owner, 2)
    other = make_line(3)
    other.name, other.location.x = "Other", 2.0
    follower = other.fabrik.chains.add()
    follower.tip_bone, follower.target, follower.target_bone = "b2", owner, "b2"
    for frame, hidden in ((1, False), (8, True)):
        owner.hide_viewport = hidden
        owner.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    before = all_told(owner)
    steps = bake_steps(bpy.context, [(owner, chain), (other, follower)], BakeSettings(FRAMES))
    with pytest.raises(FabrikError, match="frame 8"):
        list(steps)
    assert all_told(owner) == before
    assert other.animation_data is None
