# SPDX-License-Identifier: GPL-3.0-or-later
"""A human that walks: trunk, arms and toes get keys; those that are there stay, and all are taken away again."""

from __future__ import annotations

from math import cos, degrees, radians, sin, tan
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.walk.plan import plan_walk
from fabrik_addon.actions.walk.posture import forget_posture
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.schema.limit import limit_of
from mathutils import Quaternion, Vector

from dev.walking_rigs import make_profile
from support.scenes import each_frame, press
from support.skeletons import make_character
from support.walks import key_way, planned

FRAMES = (1, 60)
UPPER, LOWER, TOE = "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftToeBase"
HIPS, CHEST = "mixamorig:Hips", "mixamorig:Spine2"


def character(name: str = "human_mixamo", hips: str = HIPS, way: float = 2.2) -> Any:
    owner: Any = make_character(name)
    key_way(owner, hips, lambda share: (0.0, -way * share / owner.matrix_world.to_scale()[0], 0.0), FRAMES)
    return owner


def keyed(owner: Any) -> dict[str, int]:
    """By the names of bones how many keys their rotations have."""
    found: dict[str, int] = {}
    for curve in fcurves_of(owner):
        if "rotation" in curve.data_path:
            name = curve.data_path.split('"')[1]
            found[name] = found.get(name, 0) + len(curve.keyframe_points)
    return found


def along(owner: Any, bone: str) -> Vector:
    pose = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    way: Vector = (owner.matrix_world.to_3x3() @ (pose.tail - pose.head)).normalized()
    return way


def assert_arms_swing(owner: Any) -> None:
    """The left arm hangs and swings in a walk that is shown live."""
    rig_of(owner).live = True
    ways = [along(owner, UPPER) for _ in each_frame(range(*FRAMES))]
    assert max(way.z for way in ways) < -0.8
    angles = np.degrees([np.arctan2(-way.y, -way.z) for way in ways])
    assert 15.0 < angles.max() - angles.min() < 50.0


def test_arms_hang_and_swing_and_toes_stay_flat() -> None:
    owner = planned(character(), FRAMES)
    assert {UPPER, LOWER, TOE, "mixamorig:Spine", "mixamorig:Head"} <= set(keyed(owner))
    assert HIPS not in keyed(owner)
    assert_arms_swing(owner)
    assert np.quantile([abs(along(owner, TOE).z) for _ in each_frame(range(*FRAMES))], 0.5) < 0.1


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_fingers_of_hands_that_hang_are_curled_and_closed_in_a_run(side: str) -> None:
    hand, closed = f"mixamorig:{side}Hand", list[dict[str, float]]()
    for way in (0.0, 2.2, 9.0):
        owner = character(way=way)
        if way:
            planned(owner, FRAMES)
        bpy.context.scene.frame_set(40)
        tips = {one: along(owner, f"{hand}{one}3") for one in ("Index", "Pinky", "Thumb")}
        closed.append({one: degrees(tip.angle(along(owner, f"{hand}{one}1"))) for one, tip in tips.items()})
        bpy.data.objects.remove(owner)
    rest, walks, runs = closed
    assert walks["Thumb"] == pytest.approx(rest["Thumb"], abs=0.1)
    for finger, least in (("Index", 24.0), ("Pinky", 44.0)):
        assert walks[finger] >= max(rest[finger], least)
        assert runs[finger] >= 90.0


def test_keys_of_the_animator_stay() -> None:
    owner = character()
    arm = owner.pose.bones[UPPER]
    arm.rotation_mode = "QUATERNION"
    arm.keyframe_insert("rotation_quaternion", frame=1)
    planned(owner, FRAMES)
    assert keyed(owner)[UPPER] == 4
    assert keyed(owner)[LOWER] > 4


def test_a_new_plan_replaces_its_keys_but_for_those_that_were_changed() -> None:
    owner = planned(character(), FRAMES)
    before = keyed(owner)
    curve = next(one for one in fcurves_of(owner) if f'"{LOWER}"' in one.data_path and len(one.keyframe_points) > 9)
    curve.keyframe_points[5].co[1] += 0.05
    own = [tuple(point.co) for point in curve.keyframe_points]
    work = plan_walk(bpy.context, owner, FRAMES)
    assert keyed(owner) == before
    curve = next(
        one for one in fcurves_of(owner) if one.data_path == curve.data_path and one.array_index == curve.array_index
    )
    assert [tuple(point.co) for point in curve.keyframe_points] == own
    assert any(LOWER in told for told in work.done)
    forget_posture(owner)
    assert set(keyed(owner)) == {LOWER}


def test_the_arms_of_a_character_that_was_set_up_swing_and_are_edited() -> None:
    owner = character()
    bpy.context.view_layer.objects.active = owner
    owner.select_set(True)
    press("character_setup")
    planned(owner, FRAMES)
    chain = rig_of(owner).chains["Arm.L"]
    assert chain.goal == "OFFSET"
    assert {UPPER, LOWER} <= set(keyed(owner))
    scene = bpy.context.scene
    assert_arms_swing(owner)
    assert all(limit_of(owner.pose.bones[bone]).limit == "HINGE" for bone in (LOWER, LOWER.replace("Left", "Right")))
    scene.frame_set(20)
    before = along(owner, LOWER)
    owner.pose.bones[chain.target_bone].location.z += 0.1
    scene.frame_set(20)
    assert along(owner, LOWER).angle(before) > 0.2
    owner.pose.bones[chain.target_bone].location.z = 0.0
    forget_posture(owner)
    assert (chain.goal, chain.start) == ("PLACE", "REST")
    assert owner.pose.bones[chain.target_bone].custom_shape_transform is None


def test_an_arm_whose_control_was_moved_stays_where_it_was_put() -> None:
    owner = character()
    bpy.context.view_layer.objects.active = owner
    owner.select_set(True)
    press("character_setup")
    chain = rig_of(owner).chains["Arm.L"]
    owner.pose.bones[chain.target_bone].location.z += 0.1
    work = plan_walk(bpy.context, planned(owner, FRAMES), FRAMES)
    assert chain.goal == "PLACE"
    assert UPPER not in keyed(owner)
    assert any(UPPER in told for told in work.done)


@pytest.mark.parametrize("without", ["arm_swing", "gait"])
def test_without_it_nothing_is_keyed(without: str) -> None:
    owner = planned(character(), FRAMES)
    assert keyed(owner)
    walker = rig_of(owner).walker
    if without == "gait":
        walker.gait = "BIPED_WALK"
    else:
        walker.arm_swing = 0.0
    plan_walk(bpy.context, owner, FRAMES)
    assert not keyed(owner)


def turned(owner: Any, bone: str, way: tuple[float, float, float]) -> Vector:
    """Where a direction of the world has gone with a bone, from its rest pose."""
    pose = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    world = owner.matrix_world.to_quaternion()
    turn = world @ pose.matrix.to_quaternion() @ pose.bone.matrix_local.to_quaternion().inverted() @ world.inverted()
    return turn @ Vector(way)


def test_the_trunk_leans_into_a_curve_and_the_head_looks_ahead() -> None:
    owner, radius, rate, frames = make_character("human_mixamo"), 2.0, 0.6, (1, 73)
    hips, size = owner.pose.bones[HIPS], owner.matrix_world.to_scale()[0]
    hips.rotation_mode, rest = "QUATERNION", hips.bone.matrix_local.to_quaternion()
    angles = [rate * frame / 24.0 for frame in range(frames[1])]
    places = [radius / size * Vector((1.0 - cos(angle), -sin(angle), 0.0)) for angle in angles]
    key_way(owner, HIPS, lambda share: places[round(share * (frames[1] - 1))], frames)
    for frame, angle in enumerate(angles, 1):
        hips.rotation_quaternion = rest.inverted() @ Quaternion((0.0, 0.0, 1.0), angle) @ rest
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    planned(owner, frames)
    rig_of(owner).live = True
    inwards, ahead = [], []
    for frame in range(20, 48):  # a cycle
        bpy.context.scene.frame_set(frame)
        facing = Quaternion((0.0, 0.0, 1.0), angles[frame - 1]) @ Vector((0.0, -1.0, 0.0))
        look = turned(owner, "mixamorig:Head", (0.0, -1.0, 0.0))
        ahead.append(facing.xy.angle_signed(look.xy))
        inwards.append(turned(owner, CHEST, (0.0, 0.0, 1.0)).dot(Vector((0.0, 0.0, 1.0)).cross(facing)))
    assert np.degrees(np.mean(inwards)) == pytest.approx(4.2, abs=1.5)
    assert np.abs(np.degrees(ahead)) == pytest.approx(np.full(28, 8.6), abs=3.0)
    assert np.mean(ahead) < 0.0  # to the left, as `angle_signed` has it


def test_the_trunk_leans_forward_uphill_alone() -> None:
    leans = []
    for rise in (0.0, 15.0, -15.0):
        make_profile([(-3.0, 0.0), (0.9, 0.0), (9.0, 8.1 * tan(radians(rise)))])
        owner = planned(character(), FRAMES)
        rig_of(owner).live = True
        found = []
        for _ in each_frame(range(36, 58)):
            found.append(turned(owner, CHEST, (0.0, 0.0, 1.0)).y)
        leans.append(-np.degrees(np.mean(found)))
        for one in list(bpy.data.objects):
            bpy.data.objects.remove(one)
    assert leans[1] - leans[0] == pytest.approx(4.5, abs=1.5)
    assert leans[2] - leans[0] == pytest.approx(0.0, abs=1.5)
