# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror Chain brings pins, rotations and aims to the other side as mirror images."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Matrix, Vector

from support.scenes import add_limb, make_body, pin, press, update

SAME = 1e-5  # of a body 1.7 high, and of matrices
ROLL = 0.4
SCALES = [(1.0, 1.0, 1.0), (1.5, 1.5, 1.5), (-1.0, 1.0, 1.0)]


def made(scale: tuple[float, float, float]) -> bpy.types.Object:
    """A body somewhere in the world, its left arm posed, its right arm rolled otherwise."""
    owner = make_body()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in owner.data.edit_bones:
        bone.roll = ROLL if bone.name.endswith(".R") else 0.0
    bpy.ops.object.mode_set(mode="OBJECT")
    owner.matrix_world = Matrix.LocRotScale((1.0, -2.0, 0.5), Euler((0.2, -0.1, 0.7)), scale)
    for name, angles in (
        ("upper_arm.L", (0.4, 0.3, -0.2)),
        ("forearm.L", (0.8, 0.0, 0.1)),
        ("hand.L", (0.2, 0.5, 0.3)),
    ):
        owner.pose.bones[name].rotation_quaternion = Euler(angles).to_quaternion()
    update()
    return owner


def assert_mirrored(owner: bpy.types.Object) -> None:
    """The right arm stands as the mirror image of the left one."""
    update()
    mirror = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
    for name in ("upper_arm", "forearm", "hand"):
        here, there = (owner.pose.bones[f"{name}{side}"] for side in (".L", ".R"))
        assert (mirror @ here.head - there.head).length < 1e-4
        assert (mirror @ here.tail - there.tail).length < 1e-4
        rests = (bone.bone.matrix_local.to_3x3() for bone in (here, there))
        turned, other = (
            bone.matrix.to_3x3() @ rest.inverted() for bone, rest in zip((here, there), rests, strict=True)
        )
        flip = mirror.to_3x3()
        for row, wanted in zip(other, flip @ turned @ flip, strict=True):
            assert tuple(row) == pytest.approx(tuple(wanted), abs=1e-3)


def mirror(owner: bpy.types.Object) -> FabrikChain:
    bpy.context.view_layer.objects.active = owner
    rig_of(owner).active_index = 0
    press("chain_mirror")
    return rig_of(owner).chains["hand.R"]


@pytest.mark.parametrize("scale", SCALES)
def test_a_pinned_hand_with_its_rotation(scale: tuple[float, float, float]) -> None:
    owner = made(scale)
    pin(owner, add_limb(owner, "hand.L", 3))
    press("start_pose_capture")
    other = mirror(owner)
    assert (other.pin, other.orientation, other.effector) == (True, "KEEP", "HEAD")
    press("solve", chain=other.name)
    assert other.status == "REACHED"
    assert_mirrored(owner)


@pytest.mark.parametrize("scale", SCALES)
def test_a_hand_that_turns_with_its_target(scale: tuple[float, float, float]) -> None:
    owner = made(scale)
    hand = owner.pose.bones["hand.L"]
    chain = add_limb(owner, "hand.L", 3, target=owner.matrix_world @ hand.head)
    chain.target.name = "grip.L"
    chain.target.rotation_euler = (0.3, 0.2, 0.9)
    update()
    press("start_pose_capture")
    press("orientation_set", orientation="TARGET")
    other = mirror(owner)
    assert other.target is not None
    assert other.target != chain.target
    assert other.orientation == "TARGET"
    press("solve", chain=other.name)
    assert other.status == "REACHED"
    assert_mirrored(owner)


def test_an_axis_that_aims() -> None:
    owner = made((1.0, 1.0, 1.0))
    chain = add_limb(owner, "hand.L", 2, target=(2.0, -3.0, 1.0))
    chain.kind, chain.aim_axis = "AIM", (0.6, 0.64, 0.48)
    other = mirror(owner)
    assert other.kind == "AIM"
    axes = [owner.data.bones[found.tip_bone].matrix_local.to_3x3() @ Vector(found.aim_axis) for found in (chain, other)]
    assert (Vector((-axes[0].x, axes[0].y, axes[0].z)) - axes[1]).length < SAME


def test_numbers_come_along_and_what_was_never_held_is_held_by_none() -> None:
    owner = made((1.0, 1.0, 1.0))
    chain = add_limb(owner, "hand.L", 3, target=(0.5, 0.0, 1.2))
    numbers = {"weight": 0.5, "orientation_weight": 0.25, "stretch": 1.5, "soft": 0.0625}
    for name, value in numbers.items():
        setattr(chain, name, value)
    other = mirror(owner)
    assert {name: getattr(other, name) for name in numbers} == numbers
    assert not any(other.is_property_set(name) for name in ("held_location", "held_rotation", "rotation_offset"))


def test_a_duplicate_keeps_what_the_original_holds() -> None:
    owner = made((1.0, 1.0, 1.0))
    pin(owner, add_limb(owner, "hand.L", 3))
    rig_of(owner).body_bone = "hips"
    copy = owner.copy()
    bpy.context.collection.objects.link(copy)
    here, there = (rig_of(found).chains[0] for found in (owner, copy))
    assert tuple(there.held_location) == tuple(here.held_location)
    assert tuple(there.held_rotation) == tuple(here.held_rotation)
    assert rig_of(copy).body_bone == "hips"
    there.held_location = (0.0, 0.0, 0.0)
    assert tuple(here.held_location) != (0.0, 0.0, 0.0)
