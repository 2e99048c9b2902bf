# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass over pinned feet, by Blender's evaluation of the bones."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.maths import IDENTITY
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.figures import sets_of
from fabrik_addon.rig.preparing import read
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.posing import posed
from mathutils import Vector

from support.judging import effector
from support.scenes import HEIGHT, add_limb, make_body, press, update, with_legs_pinned

FRONT, BACK = -0.15, 0.02  # of the feet along Y: balls and ankles


def centre(owner: bpy.types.Object) -> Vector:
    """The centre of mass of a body whose bones weigh by their lengths, or by their shares."""
    update()
    whole = sum(bone.bone.length for bone in pose_bones(owner))
    weights = [bone.fabrik.mass or bone.bone.length / whole for bone in pose_bones(owner)]
    middles = [0.5 * (bone.head + bone.tail) for bone in pose_bones(owner)]
    return sum((w * m for w, m in zip(weights, middles, strict=True)), Vector()) / sum(weights)


def reach(balance: float, target: tuple[float, float, float] = (0.3, -0.75, 1.1)) -> bpy.types.Object:
    owner = with_legs_pinned(make_body())
    for side, x in ((".L", 1), (".R", -1)):
        add_limb(owner, f"hand{side}", 3, target=(x * target[0], *target[1:]))
    rig_of(owner).balance = balance
    press("solve_all")
    return owner


def test_a_body_that_leans_forward_stays_over_its_feet() -> None:
    off, kept = reach(0.0), reach(1.0)
    assert centre(off).y < FRONT - 0.01
    assert FRONT - 1e-3 <= centre(kept).y <= BACK + 1e-3
    for owner in (off, kept):
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
        for chain in rig_of(owner).chains:
            wanted = chain.target.location if chain.target else Vector(chain.held_location)
            assert (effector(owner, chain) - wanted).length <= 1e-4 * HEIGHT


def test_what_is_balanced_is_left_as_it_is() -> None:
    poses = []
    for balance in (0.0, 1.0):
        owner = reach(balance, (0.3, -0.3, 1.2))
        update()
        poses.append([list(bone.head) for bone in pose_bones(owner)])
    for a, b in zip(*poses, strict=True):
        assert a == pytest.approx(b, abs=5e-4)


def test_a_heavy_head_shifts_the_body_backwards() -> None:
    light = reach(1.0)
    owner = with_legs_pinned(make_body())
    pose_bones(owner)["head"].fabrik.mass = 2.0
    for side, x in ((".L", 1), (".R", -1)):
        add_limb(owner, f"hand{side}", 3, target=(x * 0.3, -0.75, 1.1))
    rig_of(owner).balance = 1.0
    press("solve_all")
    assert centre(owner).y >= FRONT - 2e-3
    assert pose_bones(owner)["head"].head.y > pose_bones(light)["head"].head.y + 0.01


def test_a_mass_that_is_no_number_is_refused() -> None:
    owner = with_legs_pinned(make_body())
    rig_of(owner).balance = 1.0
    pose_bones(owner)["chest"].fabrik.mass = float("nan")
    with pytest.raises(RuntimeError, match="mass is not a finite number"):
        press("solve_all")


def test_what_supports_it_is_the_same_where_another_chain_gets_a_rotation() -> None:
    owner = with_legs_pinned(make_body())
    add_limb(owner, "hand.L", 3, target=(0.3, -0.75, 1.1), name="arm")  # before the feet
    rig_of(owner).balance = 1.0
    update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    (chain_set,) = sets_of(owner, rig_of(owner).chains)
    prepared, points = read(chain_set, depsgraph)
    first, *others = prepared.asked
    turning = prepared.asking([first._replace(turns=True, turn_weight=0.0), *others])
    plain = posed(prepared, points, owner, depsgraph)
    found = posed(turning, [points[0]._replace(turn=IDENTITY), *points[1:]], owner, depsgraph)
    assert found.shift == pytest.approx(plain.shift, abs=1e-6)
    for a, b in zip(found.rotations, plain.rotations, strict=True):
        assert a == pytest.approx(b, abs=1e-6)
