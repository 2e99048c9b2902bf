# SPDX-License-Identifier: GPL-3.0-or-later
"""What a status of chains that are solved together is about: pins, rotations and aims, too; and when it is old."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.status import Told, told_of
from mathutils import Matrix

from support.judging import tip_turn
from support.scenes import add_limb, keyed, make_body, update, with_legs_pinned

PLACES = ((0.5, -0.4, 1.2), (0.3, -0.6, 0.8))


def body() -> bpy.types.Object:
    """Pinned feet, a hand that turns with its target, a head that looks at one, and a body bone."""
    owner = with_legs_pinned(make_body())
    hand = add_limb(owner, "hand.L", 3, target=PLACES[0])
    update()
    hand.rotation_offset, hand.orientation = tip_turn(owner, hand), "TARGET"
    look = add_limb(owner, "head", 2, target=(0.6, -1.5, 1.4))
    look.kind, look.aim_axis = "AIM", (0.0, 0.0, 1.0)
    return owner


def told(owner: bpy.types.Object) -> dict[str, Told]:
    update()
    return {chain.name: told_of(chain, bpy.context) for chain in rig_of(owner).chains}


def texts(owner: bpy.types.Object) -> dict[str, str]:
    return {name: one.text for name, one in told(owner).items() if one.kind == "OLD"}


@pytest.fixture
def solved() -> bpy.types.Object:
    owner = body()
    bpy.ops.fabrik.solve_all()
    assert {one.kind for one in told(owner).values()} == {"REACHED"}
    return owner


def _turn_target(owner: bpy.types.Object) -> None:
    rig_of(owner).chains["hand.L"].target.rotation_euler.z = 0.3


def _move_aim(owner: bpy.types.Object) -> None:
    rig_of(owner).chains["head"].target.location.x -= 0.8


def _move_hips(owner: bpy.types.Object) -> None:
    owner.pose.bones["hips"].location.y += 0.1


def _turn_toes(owner: bpy.types.Object) -> None:
    bone = owner.pose.bones["foot.L"]
    bone.rotation_quaternion = bone.rotation_quaternion @ Matrix.Rotation(0.3, 4, "Y").to_quaternion()


def _move_armature(owner: bpy.types.Object) -> None:
    owner.location.x += 0.2


TARGET, POSE, ARMATURE = "The target moved since", "The pose was changed since", "The armature moved since"
CHANGES: dict[str, tuple[Callable[[bpy.types.Object], None], dict[str, str]]] = {
    "a target turns": (_turn_target, {"hand.L": TARGET}),
    "an aim moves": (_move_aim, {"head": TARGET}),
    "a tip turns": (_turn_toes, {"foot.L": POSE}),
    "the armature moves": (_move_armature, dict.fromkeys(("foot.L", "foot.R", "hand.L", "head"), ARMATURE)),
    "the body moves": (_move_hips, dict.fromkeys(("foot.L", "foot.R", "hand.L", "head"), ARMATURE)),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_it_says_what_moved_since(solved: bpy.types.Object, name: str) -> None:
    change, expected = CHANGES[name]
    change(solved)
    assert texts(solved) == expected
    bpy.ops.fabrik.solve_all()
    assert texts(solved) == {}


def test_live_it_is_true_in_every_frame() -> None:
    owner = body()
    hand = rig_of(owner).chains["hand.L"]
    for frame, place in zip((1, 10), PLACES, strict=True):
        keyed(hand.target, {frame: place})
        hand.target.rotation_euler.x = 0.05 * frame
        hand.target.keyframe_insert("rotation_euler", frame=frame)
    rig_of(owner).live = True
    for frame in (1, 5, 10, 3):
        bpy.context.scene.frame_set(frame)
        assert texts(owner) == {}
    hand.target.location = (0.5, -0.4, 5.0)
    update()
    assert texts(owner) == {}
    assert hand.status == "BLOCKED"
