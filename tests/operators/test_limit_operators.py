# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators on joint limits."""

from __future__ import annotations

import re
from math import atan, radians
from random import Random

import bpy
import pytest
from fabrik_addon.actions.setup.ranges import DOG_JOINTS, HUMAN_JOINTS, JointRange
from fabrik_addon.kernel import Limit
from fabrik_addon.rig.limit_types import LIMITS, limit_outline, limit_settings
from fabrik_addon.ui.gizmos import HANDLES
from mathutils import Quaternion, Vector

from support.limit_examples import EXAMPLES as BY_TYPE
from support.scenes import Bone, assert_refused, make_armature, make_line, press, put, select

EXAMPLES = [limit for limits in BY_TYPE.values() for limit in limits]
REST = 2.0 * atan(0.1)  # by which the line zigzags, in radians
# By operator its joints, one of them, and what that allows as it is and flipped: a knee may straighten, and bend by 135
# degrees from straight; a hock may not go on past straight.
JOINTS = {
    "limit_human": (HUMAN_JOINTS, "KNEE", ((-REST, radians(135) - REST), (-radians(135), 0))),
    "limit_animal": (DOG_JOINTS, "HOCK", ((-REST, radians(100)), (-radians(100), REST))),
}


def two_arms(roll: float = -0.4, names: tuple[str, str] = ("arm.L", "arm.R")) -> bpy.types.Object:
    """A bone at each side, the left one selected; the right one has a roll of its own."""
    sides = zip((1.0, -1.0), (0.4, roll), names, strict=True)
    owner = make_armature([Bone((x / 2, 0, 0), (x, 0.3, -1), own, None, name=name) for x, own, name in sides])
    select(owner, names[0])
    return owner


@pytest.mark.parametrize("joint", [*HUMAN_JOINTS.values(), *DOG_JOINTS.values()], ids=lambda joint: joint.label)
def test_the_tooltip_of_a_joint_says_its_ranges(joint: JointRange) -> None:
    ranges = [joint.flexion, joint.side, joint.twist if any(joint.twist) else None]
    told = [float(number) for number in re.findall(r"(-?[\d.]+)°", joint.description)]
    assert told == [angle for pair in ranges if pair is not None for angle in pair]
    assert ("the straight limb" in joint.description) == joint.from_straight


class TestLimits:
    @pytest.mark.parametrize("axis", "xyz")
    def test_two_ik_locks_are_a_hinge(self, axis: str, line: bpy.types.Object) -> None:
        select(line, "b1")
        bone = line.pose.bones["b1"]
        for other in "xyz":
            setattr(bone, f"lock_ik_{other}", other != axis)
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", -0.5)
        setattr(bone, f"ik_max_{axis}", 1.5)
        bpy.ops.fabrik.limit_from_ik()
        limit = bone.fabrik
        assert (limit.limit, tuple(limit.axis)) == ("HINGE", tuple(float(a == axis) for a in "xyz"))
        assert (limit.angle_min, limit.angle_max) == (-0.5, 1.5)

    def test_no_settings_change_nothing_and_all_locked_is_locked(self, line: bpy.types.Object) -> None:
        select(line, "b0", "b1")
        line.pose.bones["b0"].fabrik.limit = "HINGE"
        for axis in "xyz":
            setattr(line.pose.bones["b1"], f"lock_ik_{axis}", True)
        bpy.ops.fabrik.limit_from_ik()
        assert [line.pose.bones[name].fabrik.limit for name in ("b0", "b1")] == ["HINGE", "LOCKED"]

    def test_swing_and_twist_come_along(self, line: bpy.types.Object) -> None:
        select(line, "b1")
        bone = line.pose.bones["b1"]
        bone.use_ik_limit_x = bone.use_ik_limit_y = True
        bone.ik_min_x, bone.ik_max_x, bone.ik_min_y, bone.ik_max_y = -0.5, 1.0, -0.2, 0.3
        bone.ik_stiffness_x = 0.6
        bpy.ops.fabrik.limit_from_ik()
        limit = bone.fabrik
        assert (limit.limit, limit.use_ellipse, limit.use_twist) == ("CONE", True, True)
        assert (limit.cone_x_min, limit.cone_x_max, limit.twist_max) == pytest.approx((-0.5, 1.0, 0.3))
        assert limit.stiffness == pytest.approx(0.2)

    def test_bones_without_any_are_told(self, line: bpy.types.Object) -> None:
        select(line, "b1")
        assert_refused("bone 'b1': it has no IK locks or limits", "limit_from_ik")

    def test_axis_button(self, line: bpy.types.Object) -> None:
        select(line, "b1")
        limit = line.pose.bones["b1"].fabrik
        assert_refused("The limit of b1 has no axis", "limit_axis", axis="Z")
        assert tuple(limit.axis) == (1, 0, 0)
        limit.limit = "HINGE"
        bpy.ops.fabrik.limit_axis(axis="Z")
        assert tuple(limit.axis) == (0, 0, 1)

    def test_copy_to_selected(self) -> None:
        owner = make_line(4)
        select(owner, "b1", "b2", "b3")
        limit = owner.pose.bones["b1"].fabrik
        limit.limit, limit.cone_max, limit.use_twist, limit.stiffness = "CONE", 0.7, True, 0.25
        bpy.ops.fabrik.limit_copy()
        for name in ("b2", "b3"):
            other = owner.pose.bones[name].fabrik
            assert (other.limit, other.use_twist) == ("CONE", True)
            assert (other.cone_max, other.stiffness) == pytest.approx((0.7, 0.25))
        assert owner.pose.bones["b0"].fabrik.limit == "FREE"

    @pytest.mark.parametrize("example", EXAMPLES, ids=repr)
    def test_mirrored_limits_hold_what_blender_pastes_flipped(self, example: Limit) -> None:
        left, right = two_arms().pose.bones
        limit = left.fabrik
        put(limit, **limit_settings(example))
        assert bpy.ops.fabrik.limit_mirror() == {"FINISHED"}
        mirrored = right.fabrik.type.make(right.fabrik, Quaternion())  # pasting copies properties, too
        random = Random(1)
        for _ in range(10):
            made = limit.type.make(limit, Quaternion())
            left.rotation_quaternion = made.drawn(random.random(), random.random(), random.random())
            bpy.ops.pose.copy()
            bpy.ops.pose.paste(flipped=True)
            assert mirrored.violation(right.rotation_quaternion.normalized()) < 1e-4

    @pytest.mark.parametrize("roll", [-0.4, 0.0, 1.1])
    def test_mirrored_limits_hold_the_mirror_image_whatever_names_and_roll(self, roll: float) -> None:
        left, right = two_arms(roll, ("mixamorig:LeftArm", "mixamorig:RightArm")).pose.bones
        limit = left.fabrik
        limit.limit, limit.axis, limit.angle_min, limit.angle_max = "HINGE", (0.5, 0.4, 0.8), -0.3, 1.0
        bpy.ops.fabrik.limit_mirror()
        assert right.fabrik.limit == "HINGE"
        assert (right.fabrik.angle_min, right.fabrik.angle_max) == pytest.approx((-0.3, 1.0))
        for angle in (-0.3, 0.2, 1.0):
            for bone in (left, right):
                bone.rotation_quaternion = Quaternion(bone.fabrik.axis, angle)
            bpy.context.view_layer.update()
            across = Vector((-left.tail.x, left.tail.y, left.tail.z))
            assert (right.tail - across).length < 1e-5

    @pytest.mark.parametrize("example", EXAMPLES, ids=repr)
    def test_there_is_a_handle_for_each_end_of_its_outline(self, example: Limit) -> None:
        assert len(limit_outline(example).ends) <= HANDLES

    def test_blenders_paste_brings_back_a_limit_as_it_was_copied(self) -> None:
        owner = make_line(2)
        select(owner, "b1")
        limit = owner.pose.bones["b1"].fabrik
        limit.limit, limit.angle_max = "HINGE", 1.0
        bpy.ops.pose.copy()
        limit.limit, limit.angle_max = "CONE", 0.5
        bpy.ops.pose.paste()
        assert (limit.limit, limit.angle_max) == ("HINGE", 1.0)

    @pytest.mark.parametrize(("is_set", "after"), [(False, ("HINGE", 0.5)), (True, ("FREE", 0.5))])
    def test_blenders_flipped_paste_copies_limits_as_they_are(self, is_set: bool, after: tuple[str, float]) -> None:
        left, right = (bone.fabrik for bone in two_arms().pose.bones)
        left.limit, left.angle_max = "HINGE", 0.5
        if is_set:
            right.angle_max = 0.25
        bpy.ops.pose.copy()
        bpy.ops.pose.paste(flipped=True)
        assert (right.limit, right.angle_max) == after  # of a bone with settings, those alone that both have

    @pytest.mark.parametrize("flip", [False, True])
    @pytest.mark.parametrize("name", JOINTS)
    def test_joints_make_limits(self, name: str, flip: bool) -> None:
        owner = make_line(2)
        limit = owner.pose.bones["b1"].fabrik
        joints, last, ends = JOINTS[name]
        for joint in (*joints, last):
            select(owner, "b1")
            press(name, joint=joint, use_flip=flip)
            assert LIMITS[limit.limit].make(limit, Quaternion()).violation(Quaternion()) < 1e-6
        assert (limit.angle_min, limit.angle_max) == pytest.approx(ends[flip])

    def test_unknown_attribute_of_a_limit(self) -> None:
        limit = make_line(1).pose.bones["b0"].fabrik
        with pytest.raises(AttributeError, match="no 'angle_max_x'"):
            limit.angle_max_x = 1.0
        with pytest.raises(AttributeError, match="it has limit, axis"):
            _ = limit.nothing
