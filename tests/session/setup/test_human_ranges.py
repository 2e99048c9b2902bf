# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranges of human joints, judged in the character's own directions: forward, up, out to its side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import radians
from typing import NamedTuple

import bpy
import pytest
from fabrik_addon.kernel import Limit
from fabrik_addon.maths import IDENTITY, V3, Z_AXIS, cross, dot, minus, perpendicular, plus, scaled, unit, v3
from fabrik_addon.rig.limit_types import LIMITS, limit_settings
from fabrik_addon.rig.schema import limit_of
from mathutils import Quaternion

from support.scenes import select
from support.skeletons import forward_of, make_character, rest_bones

UP, DOWN = Z_AXIS, scaled(Z_AXIS, -1.0)


class Joints(NamedTuple):
    """Bones of the left side and of the right."""

    hips: tuple[str, str]
    shoulders: tuple[str, str]
    ankles: tuple[str, str]
    wrists: tuple[str, str]


def both(name: str, left: str = "L", right: str = "R") -> tuple[str, str]:
    return name.format(left), name.format(right)


CHARACTERS = {
    "human": Joints(both("thigh.{}"), both("upper_arm.{}"), both("foot.{}"), both("hand.{}")),
    "human_mixamo": Joints(
        *(both(f"mixamorig:{{}}{name}", "Left", "Right") for name in ("UpLeg", "Arm", "Foot", "Hand"))
    ),
    "human_game_engine": Joints(*(both(f"{name}_{{}}", "l", "r") for name in ("thigh", "upperarm", "foot", "hand"))),
    "cmu_walk": Joints(*(both(f"{{}}{name}", "Left", "Right") for name in ("UpLeg", "Arm", "Foot", "Hand"))),
    "cesium_man": Joints(("Node_7", "Node_3"), ("Node_16", "Node_13"), ("Node_9", "Node_5"), ("Node_18", "Node_15")),
}
SIDES = [(name, side) for name in CHARACTERS for side in (0, 1)]


class Body:
    """A character with its directions in the world."""

    def __init__(self, name: str, side: int) -> None:
        self.owner = make_character(name)
        self.joints = CHARACTERS[name]
        self.forward = forward_of(name)
        self.back = scaled(self.forward, -1.0)
        self.out = scaled(cross(UP, self.forward), 1.0 if side == 0 else -1.0)
        self.inwards = scaled(self.out, -1.0)
        self.toes_down = cross(self.forward, DOWN)
        self.side = side

    def give(self, joint: str, bones: tuple[str, str]) -> str:
        """Give a human joint to a bone on the side; returns the bone."""
        select(self.owner, bones[self.side])
        bpy.ops.fabrik.limit_human(joint=joint)
        return bones[self.side]

    def along(self, name: str) -> V3:
        """Where a bone points in the world at rest: to the joint below, if there is one."""
        bone = rest_bones(self.owner)[name]
        end = bone.children[0].head_local if len(bone.children) == 1 else bone.tail_local
        return unit(v3(self.owner.matrix_world.to_3x3() @ (end - bone.head_local)))

    def exceeds(self, name: str, axis: V3, degrees: float) -> float:
        """By how many degrees the limit is exceeded where a bone is turned about an axis of the world."""
        rest = (self.owner.matrix_world @ rest_bones(self.owner)[name].matrix_local).to_quaternion()
        turn = rest.inverted() @ Quaternion(unit(axis), radians(degrees)) @ rest
        return self.limit(name).violation(turn) / radians(1.0)

    def limit(self, name: str) -> Limit:
        """The kernel's limit of a bone."""
        view = limit_of(self.owner.pose.bones[name])
        return LIMITS[view.limit].make(view, IDENTITY)

    def swung(self, name: str, side: V3, degrees: float) -> float:
        """The same for a turn towards a side."""
        return self.exceeds(name, cross(self.along(name), side), degrees)


@pytest.mark.parametrize(("name", "side"), SIDES)
def test_each_joint_bends_farther_to_the_one_side_than_to_the_other(name: str, side: int) -> None:
    """Also where the bone's own axes, along which the ranges lie, are rolled by up to 45 degrees."""
    body = Body(name, side)
    hip = body.give("HIP", body.joints.hips)
    assert body.swung(hip, body.forward, 80) + 15 < body.swung(hip, body.back, 80)
    arm = body.give("SHOULDER", body.joints.shoulders)
    assert body.swung(arm, body.forward, 100) + 15 < body.swung(arm, body.back, 100)
    foot = body.give("ANKLE", body.joints.ankles)
    assert body.exceeds(foot, body.toes_down, 50) + 10 < body.exceeds(foot, body.toes_down, -50)


@pytest.mark.parametrize("side", [0, 1])
def test_a_hip_swings_far_forward_and_little_back(side: int) -> None:
    body = Body("human", side)
    bone = body.give("HIP", body.joints.hips)
    for way, inside, outside in ((body.forward, 100, 150), (body.back, 20, 60), (body.out, 35, 70)):
        assert body.swung(bone, way, inside) < 1.0
        assert body.swung(bone, way, outside) > 5.0
    assert body.swung(bone, body.inwards, 20) < 1.0
    assert body.swung(bone, body.inwards, 60) > 5.0


@pytest.mark.parametrize("side", [0, 1])
def test_an_arm_goes_up_and_forward_and_little_back(side: int) -> None:
    body = Body("human", side)
    bone = body.give("SHOULDER", body.joints.shoulders)
    for way, inside in ((UP, 110), (DOWN, 55), (body.forward, 100), (body.back, 30)):
        assert body.swung(bone, way, inside) < 1.0
    assert body.swung(bone, body.back, 80) > 5.0


@pytest.mark.parametrize(("name", "side"), [(name, side) for name, side in SIDES if name != "cesium_man"])
def test_an_arm_turns_inwards_less_than_outwards(name: str, side: int) -> None:
    """Not with Cesium Man: his arm's bones do not point along the arm, so that their twist is no turn of it."""
    body = Body(name, side)
    bone = body.give("SHOULDER", body.joints.shoulders)
    axis = body.along(bone)
    front = cross(axis, body.forward)  # where what is in front goes
    inwards = 1.0 if dot(front, plus(DOWN, body.inwards)) > 0.0 else -1.0
    assert body.exceeds(bone, axis, inwards * 65) < 1.0
    assert body.exceeds(bone, axis, inwards * 85) > 5.0
    assert body.exceeds(bone, axis, -inwards * 85) < 1.0
    assert body.exceeds(bone, axis, -inwards * 110) > 5.0


@pytest.mark.parametrize("side", [0, 1])
def test_toes_go_down_far_and_up_little(side: int) -> None:
    body = Body("human", side)
    bone = body.give("ANKLE", body.joints.ankles)
    assert body.exceeds(bone, body.toes_down, 45) < 1.0
    assert body.exceeds(bone, body.toes_down, 75) > 5.0
    assert body.exceeds(bone, body.toes_down, -15) < 1.0
    assert body.exceeds(bone, body.toes_down, -45) > 5.0


@pytest.mark.parametrize(("name", "side"), [(name, side) for name, side in SIDES if name != "cesium_man"])
def test_a_sole_turns_inwards_more_than_outwards(name: str, side: int) -> None:
    """Without that hips could not sway over feet that are planted."""
    body = Body(name, side)
    bone = body.give("ANKLE", body.joints.ankles)
    along = body.along(bone)
    sole = cross(along, DOWN)  # where what is below goes
    inwards = 1.0 if dot(sole, body.inwards) > 0.0 else -1.0
    assert body.exceeds(bone, along, inwards * 30) < 1.0
    assert body.exceeds(bone, along, inwards * 50) > 5.0
    assert body.exceeds(bone, along, -inwards * 10) < 1.0
    assert body.exceeds(bone, along, -inwards * 30) > 5.0


def pointing(bone: bpy.types.Bone) -> V3:
    return unit(minus(bone.tail_local, bone.head_local))


@pytest.mark.parametrize(("name", "side"), [("human", 0), ("human", 1), ("human_mixamo", 0), ("human_mixamo", 1)])
def test_a_hand_bends_to_its_palm_and_its_little_finger(name: str, side: int) -> None:
    body = Body(name, side)
    bone = body.give("WRIST", body.joints.wrists)
    hand = rest_bones(body.owner)[bone]
    below = hand.children_recursive
    tips = [found for found in below if not found.children and "thumb" not in found.name.lower()]
    thumb = next(found for found in below if "thumb" in found.name.lower())
    along = pointing(hand)
    curl = reduce(plus, (minus(pointing(found), pointing(found.parent)) for found in tips))
    palm = unit(perpendicular(curl, along))
    beside = unit(perpendicular(perpendicular(minus(thumb.tail_local, hand.head_local), along), palm))
    to_thumb, to_little = body.swung(bone, beside, 40), body.swung(bone, scaled(beside, -1.0), 40)
    assert to_little + 5.0 < to_thumb
    assert body.swung(bone, palm, 75) + 5.0 < body.swung(bone, scaled(palm, -1.0), 75)


# Of joints that Rigify draws alike on both sides; its fingers are not.
BONES = {"KNEE": "shin", "ELBOW": "forearm", "SHOULDER": "upper_arm", "HIP": "thigh", "WRIST": "hand", "ANKLE": "foot"}


@pytest.mark.parametrize("joint", BONES)
def test_both_sides_are_mirrored(joint: str) -> None:
    """By Blender's own way to mirror poses, as Copy Mirrored has it."""
    owner = make_character("human")
    part = {
        "KNEE": "shin",
        "ELBOW": "forearm",
        "SHOULDER": "upper_arm",
        "HIP": "thigh",
        "WRIST": "hand",
        "ANKLE": "foot",
    }
    names = both(f"{part.get(joint, 'f_index.02')}.{{}}")
    select(owner, *names)
    bpy.ops.fabrik.limit_human(joint=joint)
    right = settings_of(owner.pose.bones[names[1]])
    select(owner, names[0])
    bpy.ops.fabrik.limit_mirror()
    assert settings_of(owner.pose.bones[names[1]]) == pytest.approx(right, abs=1e-3)


def settings_of(bone: bpy.types.PoseBone) -> list[float]:
    view = limit_of(bone)
    used = limit_settings(LIMITS[view.limit].make(view, IDENTITY))
    return [number for name in used if name != "limit" for number in numbers_of(getattr(view, name))]


def numbers_of(value: float | Sequence[float]) -> list[float]:
    return [value] if isinstance(value, int | float) else list(value)
