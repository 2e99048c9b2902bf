# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that bones pose from a frame on, and no goal, and goals again from a later one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import read_report
from fabrik_addon.rig.animation.channels import rotation_path
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.control_bones import control_names
from mathutils import Quaternion

from support.animated import Frames, played
from support.hanging import activate, chain
from support.scenes import assert_refused, go_live, keyed_turns, press, update
from support.skeletons import height

pytestmark = pytest.mark.usefixtures("not_live")

END, TO_FK, TO_IK = 40, 20, 30
FRAMES = range(1, END + 1)
SAME = 2e-5  # of matrices whose numbers are of the size of the character


def reaching(owner: bpy.types.Object) -> list[str]:
    """Let a hand go forward and down by keys of its target; the bones that are no controls."""
    goal, size = pose_bones(owner)[chain(owner, "Arm.L").target_bone], height(owner)
    for frame, way in ((1, (0.0, 0.0, 0.0)), (TO_FK, (-0.05, -0.1, -0.1)), (END, (-0.1, -0.15, 0.0))):
        goal.location = [size * one for one in way]
        goal.keyframe_insert("location", frame=frame)
    activate(owner, "Arm.L")
    go_live(owner)
    return [bone.name for bone in pose_bones(owner) if bone.name not in control_names(owner)]


def switched(to: str, frame: int) -> None:
    bpy.context.scene.frame_set(frame)
    press(f"limb_to_{to}")


def test_a_limb_goes_to_fk_and_back_without_a_pop(human: bpy.types.Object) -> None:
    names = reaching(human)
    before = played(human, names, FRAMES)
    switched("fk", TO_FK)
    fk = played(human, names, FRAMES)
    assert np.abs(fk[:TO_FK] - before[:TO_FK]).max() <= SAME
    assert np.abs(fk[TO_FK:] - fk[TO_FK - 1]).max() <= SAME  # its bones have no later key
    switched("ik", TO_IK)
    back = played(human, names, FRAMES)
    assert np.abs(back[:TO_IK] - fk[:TO_IK]).max() <= SAME
    assert np.abs(back[TO_IK:] - back[TO_IK - 1]).max() > 0.01  # the goal goes on by its own keys
    assert fastest(back[TO_IK - 2 :]) <= 2.0 * fastest(before)


def fastest(poses: Frames) -> float:
    return float(np.abs(np.diff(poses, axis=0)).max())


def test_a_pose_by_hand_in_fk_is_taken_over_by_the_goal(human: bpy.types.Object) -> None:
    names = reaching(human)
    switched("fk", TO_FK)
    bpy.context.scene.frame_set(TO_IK)
    arm = pose_bones(human)[pose_bones(human)[chain(human, "Arm.L").tip_bone].parent.name]
    arm.rotation_mode = "QUATERNION"
    arm.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.3) @ arm.rotation_quaternion
    arm.keyframe_insert("rotation_quaternion", frame=TO_IK)
    update()
    fk = played(human, names, [TO_IK])
    switched("ik", TO_IK)
    assert np.abs(played(human, names, [TO_IK]) - fk).max() <= 20 * SAME


def test_the_motion_of_bones_before_stays_where_one_was_posed_without_a_key(human: bpy.types.Object) -> None:
    names = reaching(human)
    switched("fk", TO_FK)
    tip = pose_bones(human)[chain(human, "Arm.L").tip_bone]
    tip.rotation_mode = "QUATERNION"
    keyed_turns(tip, {TO_FK: 0.1, END: 0.9}, (0.0, 0.0, 1.0))
    before = played(human, names, FRAMES)
    bpy.context.scene.frame_set(TO_IK)
    tip.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.7)
    press("limb_to_ik")
    assert np.abs(played(human, names, FRAMES)[: TO_IK - 1] - before[: TO_IK - 1]).max() <= SAME


def test_a_limb_with_a_locked_curve_is_refused(human: bpy.types.Object) -> None:
    reaching(human)
    tip = pose_bones(human)[chain(human, "Arm.L").tip_bone]
    tip.keyframe_insert(rotation_path(tip).rpartition(".")[2], frame=1)
    next(curve for curve in fcurves_of(human) if curve.data_path == rotation_path(tip)).lock = True
    bpy.context.scene.frame_set(TO_FK, subframe=0.5)
    assert_refused("Arm.L.*the curve of .* is locked", "limb_to_fk")
    assert bpy.context.scene.frame_subframe == 0.5
    assert chain(human, "Arm.L").influence == 1.0


def test_frames_that_bones_pose_are_not_judged(human: bpy.types.Object) -> None:
    reaching(human)
    goal = pose_bones(human)[chain(human, "Arm.L").target_bone]
    goal.location = (0.0, 0.0, 3.0 * height(human))  # out of reach
    goal.keyframe_insert("location", frame=TO_FK + 2)
    switched("fk", TO_FK + 1)
    goal.keyframe_insert("location", frame=END)
    press("bake", span="RANGE", frame_start=1, frame_end=END, chains="ALL")
    report = read_report(human)
    (arm,) = [one for one in report["chains"] if one["chain"] == "Arm.L"]
    assert all(run["last"] <= TO_FK for run in arm["unreached"])


def test_what_can_not_be_switched_is_told(human: bpy.types.Object) -> None:
    reaching(human)
    bpy.context.scene.frame_set(TO_FK)
    assert_refused("all influence at this frame already", "limb_to_ik")
    switched("fk", TO_FK)
    assert_refused("no influence at this frame", "limb_to_fk")
