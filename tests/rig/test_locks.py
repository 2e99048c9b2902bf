# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation locks are limits: all locked is held, two of three a hinge."""

from __future__ import annotations

from math import radians
from typing import Any

import pytest
from fabrik_addon.rig.bones import pose_bones
from mathutils import Euler

from support.judging import channels, tip_error
from support.scenes import add_chain, assert_refused, make_line, press, put, solved_status

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@pytest.mark.parametrize("mode", ORDERS)
@pytest.mark.parametrize("free", [0, 2])
def test_two_locked_euler_channels_are_a_hinge(mode: str, free: int) -> None:
    owner = make_line(4, bend=0.3)
    bone = pose_bones(owner)["b1"]
    bone.rotation_mode = mode
    bone.rotation_euler = (0.2, -0.3, 0.4)
    bone.lock_rotation = [i != free for i in range(3)]
    before = list(bone.rotation_euler)
    chain = add_chain(owner, (0.8, 0.9, 2.2))
    assert solved_status(chain) == "REACHED", chain.message
    assert tip_error(owner, chain) < 1.1e-4
    for i in range(3):
        assert (bone.rotation_euler[i] == before[i]) == (i != free)


def test_locked_hinge_narrowed_by_the_bones_own() -> None:
    owner = make_line(2, bend=0.0)
    bone = pose_bones(owner)["b1"]
    bone.rotation_mode = "XYZ"
    bone.lock_rotation = (False, True, True)
    bone.fabrik.limit = "HINGE"
    bone.fabrik.angle_min, bone.fabrik.angle_max = radians(-20), radians(20)
    chain = add_chain(owner, (0, 0.3, 0.5))
    assert solved_status(chain) == "BLOCKED"
    assert [b.name for b in chain.blocking_bones] == ["b1"]
    assert abs(bone.rotation_euler.x) <= radians(20) + 1e-5


def test_quaternion_with_two_components_locked_at_zero_is_a_hinge() -> None:
    owner = make_line(4, bend=0.3)
    bone = pose_bones(owner)["b1"]
    bone.lock_rotation = (False, True, True)
    chain = add_chain(owner, (0.4, 0.9, 2.2))
    assert solved_status(chain) == "REACHED"
    assert tuple(bone.rotation_quaternion)[2:] == pytest.approx((0, 0), abs=1e-6)


HINGE_Z = {"limit": "HINGE", "axis": (0.0, 0.0, 1.0)}
OFF_ZERO: dict[str, object] = {"rotation_euler": (0.0, radians(0.7), 0.0)}


@pytest.mark.parametrize(
    ("mode", "locks", "pose", "limit", "word"),
    [
        ("XYZ", (False, True, True), {}, HINGE_Z, "the hinge's axis is not the rotation channel"),
        ("XYZ", (False, True, True), OFF_ZERO, {"limit": "HINGE"}, "the hinge's axis is not"),
    ],
)
def test_a_hinge_that_is_not_that_of_the_limit_is_refused_by_name(
    mode: str, locks: tuple[bool, bool, bool], pose: dict[str, object], limit: dict[str, object], word: str
) -> None:
    owner = make_line(3)
    bone = pose_bones(owner)["b1"]
    put(bone, rotation_mode=mode, lock_rotation=locks, **pose)
    put(bone.fabrik, **limit)
    add_chain(owner, (0.4, 0.9, 1.2))
    assert_refused(f"bone 'b1': .*{word}", "solve")


def test_axis_angle_hinge_writes_its_angle_alone() -> None:
    owner = make_line(2)
    bone: Any = pose_bones(owner)["b1"]
    bone.rotation_mode, bone.rotation_axis_angle = "AXIS_ANGLE", (0.3, 0, 0, 2)
    bone.lock_rotation = (True, True, True)
    chain = add_chain(owner, (0, 0, 0))
    found: list[tuple[float, ...]] = []
    for point in ((0.4, 0.4, 1.2), (0, 0, 2.5), (0.4, 0.4, 1.2)):
        chain.target.location = point
        press("solve")
        found.append(tuple(bone.rotation_axis_angle))
        assert found[-1][1:] == (0, 0, 2)
    assert found[0] == found[2]


def test_small_angles_of_axis_angle_bones_are_exact() -> None:
    owner = make_line(10, bend=0.02)
    for bone in pose_bones(owner):
        bone.rotation_mode = "AXIS_ANGLE"
    chain = add_chain(owner, (0, 0, 0))
    for off in (1e-3, 1e-5, 1e-7):
        chain.target.location = (0.05, 0.02, 10 * (1 - off))
        press("solve")
        assert tip_error(owner, chain) < 1.1e-4 or chain.status == "TOO_FAR"


@pytest.mark.parametrize(("values", "free"), [((0.2, radians(90), 0.5), 0), ((radians(170), 0.1, radians(170)), 1)])
def test_locked_channels_at_gimbal_and_beyond(values: tuple[float, float, float], free: int) -> None:
    owner = make_line(3)
    bone = pose_bones(owner)["b1"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", values
    bone.lock_rotation = [i != free for i in range(3)]
    before = list(bone.rotation_euler)
    chain = add_chain(owner, (0.3, 0.8, 1.2))
    press("solve")
    assert chain.status in {"REACHED", "BLOCKED"}
    assert all(bone.rotation_euler[i] == before[i] for i in range(3) if i != free)


def test_quaternion_locked_as_euler_does_not_drift() -> None:
    owner = make_line(3, bend=0.2)
    bone = pose_bones(owner)["b1"]
    bone.rotation_quaternion = Euler((0.3, 0.2, 0.1)).to_quaternion()
    bone.lock_rotation, bone.lock_rotations_4d = (False, True, True), False
    chain = add_chain(owner, (0, 0, 0))
    found: list[list[tuple[float, ...]]] = []
    for point in ((0.3, 0.5, 1.5), (-0.6, 0.2, 1.2), (0.3, 0.5, 1.5)):
        chain.target.location = point
        press("solve")
        found.append(channels(owner))
    assert found[0] == found[2]
