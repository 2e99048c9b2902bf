# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as channels of every rotation mode, and back, as Blender reads them."""

from __future__ import annotations

from math import cos, pi, radians, sin
from random import Random

import bpy
import pytest
from fabrik_addon.maths import conjugated, multiplied, normalized, turn_angle
from fabrik_addon.rig.channels import stored, to_rotation, to_values

from support.scenes import Bone, make_armature

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
NAMES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def random_rotation(random: Random) -> tuple[float, float, float, float]:
    return normalized([random.gauss(0.0, 1.0) for _ in range(4)])


@pytest.mark.parametrize("mode", MODES)
def test_blender_turns_the_bone_as_asked(mode: str) -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0.3, 1), 0.4)])
    bone, random = owner.pose.bones["b0"], Random(1)
    bone.rotation_mode = mode
    near = [1.0, 0.0, 0.0, 0.0] if mode in NAMES else [0.0, 0.0, 0.0]
    for _ in range(40):
        rotation = random_rotation(random)
        near = to_values(mode, rotation, near)
        setattr(bone, NAMES.get(mode, "rotation_euler"), near)
        bpy.context.view_layer.update()
        seen = (bone.bone.matrix_local.inverted() @ bone.matrix).to_quaternion()
        assert turn_angle(multiplied(conjugated(seen), rotation)) < 3e-6
        assert turn_angle(multiplied(conjugated(to_rotation(mode, near, "b0")), rotation)) < 1e-7


@pytest.mark.parametrize("mode", MODES)
def test_small_steps_make_small_steps_of_the_channels(mode: str) -> None:
    random = Random(2)
    for _ in range(20):
        axis = normalized([0.0, *(random.gauss(0.0, 1.0) for _ in range(3))])[1:]
        start = random_rotation(random)
        near = to_values(mode, start, [1.0, 0.0, 0.0, 0.0] if mode in NAMES else [0.0, 0.0, 0.0])
        for k in range(1, 800):  # several whole turns
            angle = radians(2.0) * k
            turn = (cos(0.5 * angle), *(part * sin(0.5 * angle) for part in axis))
            values = to_values(mode, multiplied(turn, start), near)
            if mode == "QUATERNION":
                assert max(abs(a - b) for a, b in zip(values, near, strict=True)) < radians(2.0)
            elif mode == "AXIS_ANGLE":
                assert abs(values[0] - near[0]) < pi
            else:
                assert sum(abs(a - b) for a, b in zip(values, near, strict=True)) < 1.2 * pi
            near = values


def test_nothing_is_lost_before_blender_rounds() -> None:
    random = Random(3)
    for mode in MODES:
        rotation = random_rotation(random)
        values = to_values(mode, rotation, [1.0, 0.0, 0.0, 0.0] if mode in NAMES else [0.0, 0.0, 0.0])
        assert turn_angle(multiplied(conjugated(to_rotation(mode, values, "")), rotation)) < 1e-7
        assert max(abs(a - b) for a, b in zip(stored(values), values, strict=True)) < 3e-7
