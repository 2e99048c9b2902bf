# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranges of human joints, judged in the character's own directions: forward, up, out to its side."""

from __future__ import annotations

from math import radians
from typing import NamedTuple

import bpy
import pytest
from fabrik_addon.kernel import LIMITS
from fabrik_addon.session.human_joints import HUMAN_JOINTS
from mathutils import Quaternion, Vector

from rigs import select
from skeletons import forward_of, make_character

UP = Vector((0, 0, 1))


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
        self.forward = Vector(forward_of(name))
        self.out = UP.cross(self.forward) * (1 if side == 0 else -1)
        self.side = side

    def give(self, joint: str, bones: tuple[str, str]) -> str:
        """Give a human joint to a bone on the side; returns the bone."""
        select(self.owner, bones[self.side])
        bpy.ops.fabrik.limit_human(joint=joint)
        return bones[self.side]

    def along(self, bone: str) -> Vector:
        """Where a bone points in the world at rest: to the joint below, if there is one."""
        rest = self.owner.data.bones[bone]
        end = rest.children[0].head_local if len(rest.children) == 1 else rest.tail_local
        return (self.owner.matrix_world.to_3x3() @ (end - rest.head_local)).normalized()

    def exceeds(self, bone: str, axis: Vector, degrees: float) -> float:
        """By how many degrees the limit is exceeded where a bone is turned about an axis of the world."""
        rest = (self.owner.matrix_world @ self.owner.data.bones[bone].matrix_local).to_quaternion()
        turn = rest.inverted() @ Quaternion(axis, radians(degrees)) @ rest
        limit = self.owner.pose.bones[bone].fabrik
        return float(LIMITS[limit.limit].make(limit, Quaternion()).violation(turn)) / radians(1.0)

    def swung(self, bone: str, side: Vector, degrees: float) -> float:
        """The same for a turn towards a side."""
        return self.exceeds(bone, self.along(bone).cross(side).normalized(), degrees)


@pytest.mark.parametrize(("name", "side"), SIDES)
def test_each_joint_bends_farther_to_the_one_side_than_to_the_other(name: str, side: int) -> None:
    """Also where the bone's own axes, along which the ranges lie, are rolled by up to 45 degrees."""
    body = Body(name, side)
    hip = body.give("HIP", body.joints.hips)
    assert body.swung(hip, body.forward, 80) + 15 < body.swung(hip, -body.forward, 80)
    arm = body.give("SHOULDER", body.joints.shoulders)
    assert body.swung(arm, body.forward, 100) + 15 < body.swung(arm, -body.forward, 100)
    foot = body.give("ANKLE", body.joints.ankles)
    toes_down = body.forward.cross(-UP)
    assert body.exceeds(foot, toes_down, 50) + 10 < body.exceeds(foot, toes_down, -50)


@pytest.mark.parametrize("side", [0, 1])
def test_a_hip_swings_far_forward_and_little_back(side: int) -> None:
    body = Body("human", side)
    bone = body.give("HIP", body.joints.hips)
    for way, inside, outside in ((body.forward, 100, 150), (-body.forward, 20, 60), (body.out, 35, 70)):
        assert body.swung(bone, way, inside) < 1.0
        assert body.swung(bone, way, outside) > 5.0
    assert body.swung(bone, -body.out, 20) < 1.0
    assert body.swung(bone, -body.out, 60) > 5.0


@pytest.mark.parametrize("side", [0, 1])
def test_an_arm_goes_up_and_forward_and_little_back(side: int) -> None:
    body = Body("human", side)
    bone = body.give("SHOULDER", body.joints.shoulders)
    for way, inside in ((UP, 110), (-UP, 55), (body.forward, 100), (-body.forward, 30)):
        assert body.swung(bone, way, inside) < 1.0
    assert body.swung(bone, -body.forward, 80) > 5.0


@pytest.mark.parametrize(("name", "side"), [(name, side) for name, side in SIDES if name != "cesium_man"])
def test_an_arm_turns_inwards_less_than_outwards(name: str, side: int) -> None:
    """Not with Cesium Man: his arm's bones do not point along the arm, so that their twist is no turn of it."""
    body = Body(name, side)
    bone = body.give("SHOULDER", body.joints.shoulders)
    axis = body.along(bone)
    inwards = 1.0 if axis.cross(body.forward).dot(-UP - body.out) > 0.0 else -1.0  # what is in front goes there
    assert body.exceeds(bone, axis, inwards * 65) < 1.0
    assert body.exceeds(bone, axis, inwards * 85) > 5.0
    assert body.exceeds(bone, axis, -inwards * 85) < 1.0
    assert body.exceeds(bone, axis, -inwards * 110) > 5.0


@pytest.mark.parametrize("side", [0, 1])
def test_toes_go_down_far_and_up_little(side: int) -> None:
    body = Body("human", side)
    bone = body.give("ANKLE", body.joints.ankles)
    toes_down = body.forward.cross(-UP)
    assert body.exceeds(bone, toes_down, 45) < 1.0
    assert body.exceeds(bone, toes_down, 75) > 5.0
    assert body.exceeds(bone, toes_down, -15) < 1.0
    assert body.exceeds(bone, toes_down, -45) > 5.0


def pointing(bone: bpy.types.Bone) -> Vector:
    return (bone.tail_local - bone.head_local).normalized()


@pytest.mark.parametrize(("name", "side"), [("human", 0), ("human", 1), ("human_mixamo", 0), ("human_mixamo", 1)])
def test_a_hand_bends_to_its_palm_and_its_little_finger(name: str, side: int) -> None:
    body = Body(name, side)
    bone = body.give("WRIST", body.joints.wrists)
    below = body.owner.data.bones[bone].children_recursive
    tips = [found for found in below if not found.children and "thumb" not in found.name.lower()]
    thumb = next(found for found in below if "thumb" in found.name.lower())
    hand = body.owner.data.bones[bone]
    along = pointing(hand)
    curl = sum((pointing(found) - pointing(found.parent) for found in tips), Vector())
    palm = (curl - along * curl.dot(along)).normalized()
    beside = thumb.tail_local - hand.head_local
    beside = (beside - along * beside.dot(along) - palm * beside.dot(palm)).normalized()
    to_thumb, to_little = body.swung(bone, beside, 40), body.swung(bone, -beside, 40)
    assert to_little + 5.0 < to_thumb
    assert body.swung(bone, palm, 75) + 5.0 < body.swung(bone, -palm, 75)


BONES = {"KNEE": "shin", "ELBOW": "forearm", "SHOULDER": "upper_arm", "HIP": "thigh", "WRIST": "hand", "ANKLE": "foot"}


@pytest.mark.parametrize("joint", HUMAN_JOINTS)
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
    limit = bone.fabrik
    used = LIMITS[limit.limit].make(limit, Quaternion()).settings()
    return [float(number) for value in used.values() if not isinstance(value, str) for number in numbers_of(value)]


def numbers_of(value: float | tuple[float, ...]) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)
