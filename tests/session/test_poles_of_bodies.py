# SPDX-License-Identifier: GPL-3.0-or-later
"""A pole that is made for a chain of a body leaves the pose of the whole body."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Vector

from support.scenes import HEIGHT, add_limb, make_body, pin, press, update

LIMBS = [("shin.R", 3), ("shin.R", 2), ("foot.R", 4), ("hand.L", 5), ("hand.L", 7), ("head", 5)]


def posed_body() -> bpy.types.Object:
    """A body with a pinned foot, whose hips move with what is below them; the knee of the other leg is bent."""
    owner = make_body()
    owner.pose.bones["thigh.R"].rotation_quaternion = Euler((-0.5, 0.0, 0.1)).to_quaternion()
    owner.pose.bones["shin.R"].rotation_quaternion = Euler((0.9, 0.0, 0.0)).to_quaternion()
    pin(owner, add_limb(owner, "foot.L", 3))
    rig_of(owner).body_bone = "hips"
    update()
    return owner


def places(owner: bpy.types.Object) -> list[Vector]:
    """Where the bones end in the world, as Blender evaluates them."""
    update()
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [evaluated.matrix_world @ bone.tail for bone in evaluated.pose.bones]


def moved(owner: bpy.types.Object, before: list[Vector]) -> float:
    """How far a bone is from where it was, at most, as a share of the height."""
    farthest: float = max((now - was).length for now, was in zip(places(owner), before, strict=True))
    return farthest / HEIGHT


@pytest.mark.parametrize("angle", [0.0, 0.7])
@pytest.mark.parametrize(("tip", "count"), LIMBS)
def test_a_pole_that_is_added_moves_nothing(tip: str, count: int, angle: float) -> None:
    owner = posed_body()
    press("chain_add", tip_bone=tip, bone_count=count, use_target=True)
    chain = rig_of(owner).active
    chain.pole_angle = angle
    press("solve_all")
    before = places(owner)
    press("pole_add")
    press("solve_all")
    assert {one.status for one in rig_of(owner).chains} == {"REACHED"}
    assert moved(owner, before) < 1e-4


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize(("tip", "count"), LIMBS)
def test_a_chain_that_is_made_with_its_pole_moves_nothing(tip: str, count: int, is_live: bool) -> None:
    owner = posed_body()
    rig_of(owner).live = is_live
    before = places(owner)
    press("chain_add", tip_bone=tip, bone_count=count, use_target=True, use_pole=True)
    press("solve_all")
    assert {one.status for one in rig_of(owner).chains} == {"REACHED"}
    assert moved(owner, before) < 1e-4
