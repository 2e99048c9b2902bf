# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose goals or hips are keyed: what buttons do at a frame leaves the others, and the pose at hand."""

from __future__ import annotations

from math import radians
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.hanging import activate, chain, chest_of, height, matrices
from support.judging import as_played, assert_same, evaluated_joints
from support.scenes import (
    assert_refused,
    go_live,
    go_to,
    key_automatically,
    keyed,
    live_line,
    make_empty,
    press,
    squatting,
    update,
)
from support.skeletons import set_up
from support.walks import legs_of, walking

NEAR = 1e-3  # of the height of a character


def with_keyed_hips() -> tuple[bpy.types.Object, float, str]:
    """A character, its height, and its body bone."""
    owner = set_up("human_mixamo")
    tall, body = height(owner), rig_of(owner).body_bone
    keyed(pose_bones(owner)[body], {1: (0, 0, 0), 12: Vector((0.01, -0.03, 0.01)) * tall})
    return owner, tall, body


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("what", ["hips", "chest"])
def test_keyed_hips_stay_where_they_were_dragged_until_the_frame_changes(what: str, is_live: bool) -> None:
    owner, tall, body = with_keyed_hips()
    key_automatically(on=False)
    go_to(8)
    if is_live:
        go_live(owner)
    else:
        press("solve_all")
    before = matrices(owner)[body].translation
    drag = begin(bpy.context, owner, Grip(body, "HEAD") if what == "hips" else Grip(chest_of(owner), "TAIL"))
    drag_to(bpy.context, drag, drag.place + Vector((0.05, -0.04, -0.06)) * tall)
    update()
    there = matrices(owner)[body].translation
    assert (there - before).length > 0.01 * tall
    finish(bpy.context, drag)
    update()
    assert (matrices(owner)[body].translation - there).length <= NEAR * tall
    if not is_live:
        press("solve_all")
        assert (matrices(owner)[body].translation - there).length <= NEAR * tall


def test_what_keys_of_the_body_let_turn_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    owner = set_up("cmu_walk")
    go_live(owner)
    control = pose_bones(owner)[chain(owner, "Arm.L").target_bone]
    control.location += Vector((0.3, 0.3, 0.6))  # out of reach, so that it pulls on the body
    update()
    before = matrices(owner)
    press("key", chains="ALL")
    go_to(1)
    ways = [(before[name].to_quaternion(), matrix.to_quaternion()) for name, matrix in matrices(owner).items()]
    assert max(a.rotation_difference(b).angle for a, b in ways) > radians(0.3)
    assert "the next solve turns it by up to" in capfd.readouterr().out


def test_goals_that_a_live_limb_follows_are_brought_to_where_it_is_in_each_frame() -> None:
    owner, item = live_line()
    keyed(item.target, {1: (0.2, -0.4, 1.9), 12: (0.5, 0.4, 1.2)})
    go_to(1)
    before = evaluated_joints(owner, item)[-1]
    go_to(12)
    press("goal_snap", span="RANGE", frame_start=1, frame_end=12)
    go_to(1)
    assert (evaluated_joints(owner, item)[-1] - before).length <= 1e-3


def test_keys_of_hips_are_heard_after_limbs_were_keyed_over_a_range() -> None:
    owner, tall, _ = with_keyed_hips()
    go_live(owner)
    before = {}
    for frame in (1, 4, 8, 12):
        go_to(frame)
        before[frame] = matrices(owner)
    activate(owner, "Leg.L")
    press("pose_snap", span="RANGE", frame_start=1, frame_end=12)
    for frame, stood in before.items():
        go_to(frame)
        found = matrices(owner)
        assert max((found[name].translation - place.translation).length for name, place in stood.items()) <= NEAR * tall


@pytest.mark.parametrize("chains", ["ACTIVE", "ALL"])
def test_limbs_that_are_keyed_along_with_one_start_from_these_keys(chains: str) -> None:
    owner = squatting()
    go_live(owner)
    before = as_played(owner, range(1, 13))
    press("pose_snap", chains=chains, span="RANGE", frame_start=1, frame_end=12)
    assert_same(as_played(owner, range(1, 13)), before)


@pytest.mark.parametrize("space", ["SCENE", "BODY"])
def test_what_a_space_from_a_frame_on_moves_later_is_told(space: str, capfd: pytest.CaptureFixture[str]) -> None:
    owner = set_up("human_mixamo")
    bone = pose_bones(owner)[chain(owner, "Arm.L").target_bone]
    first, into = bone.matrix.copy(), owner.matrix_world.to_3x3().inverted()
    for frame, way in ((1, (0.0, 0.0, 0.0)), (8, (-0.25, -0.36, -0.1)), (12, (-0.2, -0.3, 0.05))):
        bone.matrix = Matrix.Translation(into @ (Vector(way) * height(owner))) @ first
        update()
        bone.keyframe_insert("location", frame=frame)
    go_to(8)
    press("solve_all")
    activate(owner, "Arm.L")
    capfd.readouterr()
    press("goal_space", space=space, roles="TARGET", use_key=True)
    assert "next solve" in capfd.readouterr().out


@pytest.mark.parametrize("limb", ["Arm.L", "Leg.R"])
def test_a_prop_is_not_held_both_ways(limb: str) -> None:
    owner = set_up("human_mixamo")
    keyed(make_empty((0.3, -0.4, 1.0), "Prop"), {1: (0.3, -0.4, 1.0), 12: (0.5, -0.5, 1.3)})
    activate(owner, limb)
    go_to(12)
    press("grab", object="Prop")
    go_to(1)
    assert_refused("the other way from frame 12 on", "grab", way="OBJECT", object="Prop")


@pytest.mark.parametrize(
    ("operator", "options"), [("orientation_set", {"orientation": "KEEP"}), ("effector_set", {"effector": "TAIL"})]
)
def test_the_tip_of_a_leg_that_walks_is_not_asked_for_something_else(operator: str, options: dict[str, Any]) -> None:
    owner = walking("human")
    assert_refused("a planned walk moves it", operator, chain=legs_of(owner)[0].name, **options)
