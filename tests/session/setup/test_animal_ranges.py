# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranges of a dog's joints on Rigify's animals: judged in the animal's own directions, and by its stances."""

from __future__ import annotations

from itertools import pairwise
from math import radians
from typing import Any

import bpy
import pytest
from fabrik_addon.maths import IDENTITY, V3, cross, distance, dot, minus, perpendicular, unit, v3
from fabrik_addon.rig.channels import read_rotation
from fabrik_addon.rig.joint_limits import read_limit
from fabrik_addon.rig.limit_types import LIMITS
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Quaternion, Vector

from support.scenes import press
from support.skeletons import make_character, rename_all, rest_bones

ANIMALS = ("wolf", "cat", "horse", "basic_quadruped")
FORWARD, BACK, OUT = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)  # of the left side
SIDES = ("L", "R")
FRONT, HIND = "Front Leg", "Hind Leg"
ROUNDING = 1e-3  # radians
OFF_PLANE = 5.0  # degrees by which a turn exceeds a hinge that stands a little off the animal's plane
BONES = {  # hip, knee, hock; shoulder, elbow, wrist where it is inside the chain
    "wolf": (("thigh", "shin", "foot"), ("front_thigh", "front_shin", "front_foot")),
    "cat": (("thigh", "shin", "foot"), ("upper_arm", "forearm", "")),
    "horse": (("thigh", "lower_leg", "hind_foot"), ("upper_arm", "forearm", "forefoot")),
    "basic_quadruped": (("thigh", "shin", "foot"), ("front_thigh", "front_shin", "front_foot")),
}


def set_up(name: str) -> Any:
    owner = make_character(name)
    press("character_setup")
    return owner


def swung(owner: Any, name: str, side: V3, degrees: float) -> float:
    """By how many degrees the limit of a bone is exceeded where it is turned to a side; of the right side mirrored."""
    bone = rest_bones(owner)[name]
    along = v3((bone.tail_local - bone.head_local).normalized())
    axis = cross(along, (-side[0], side[1], side[2]) if name.endswith("R") else side)
    rest = bone.matrix_local.to_quaternion()
    turn = rest.inverted() @ Quaternion(unit(axis), radians(degrees)) @ rest
    view = limit_of(owner.pose.bones[name])
    return LIMITS[view.limit].make(view, IDENTITY).violation(turn) / radians(1.0)


def joints(owner: Any, leg: str) -> list[V3]:
    """The heads of the bones of a leg in the world, as evaluated."""
    chain = rig_of(owner).chains[leg]
    bone = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[chain.tip_bone]
    row = [bone, *bone.parent_recursive][: chain.bone_count]
    return [v3(owner.matrix_world @ one.head) for one in row[::-1]]


def bends(points: list[V3]) -> list[V3]:
    """The directions in which the inner joints stand off the line of their neighbours."""
    rows = zip(points, points[1:], points[2:], strict=False)
    return [perpendicular(minus(b, a), unit(minus(c, a))) for a, b, c in rows]


def move(owner: Any, chain: Any, shift: V3) -> None:
    """Move the target of a chain, a bone of the rig."""
    bone = owner.pose.bones[chain.target_bone]
    matrix = bone.matrix.copy()
    matrix.translation += Vector(shift)
    bone.matrix = matrix
    bpy.context.view_layer.update()


@pytest.mark.parametrize("animal", ANIMALS)
def test_the_rest_pose_is_inside_all_limits(animal: str) -> None:
    owner = set_up(animal)
    limited = [bone for bone in owner.pose.bones if limit_of(bone).limit != "FREE"]
    assert len(limited) >= 2 * (3 + 2)
    for bone in limited:
        rotation = read_rotation(bone)
        assert read_limit(bone, rotation).violation(rotation) < ROUNDING


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("animal", ANIMALS)
def test_each_joint_goes_as_far_as_that_of_a_dog(animal: str, side: str) -> None:
    owner = set_up(animal)
    (hip, knee, hock), (shoulder, elbow, wrist) = BONES[animal]
    ways = [
        (hip, FORWARD, 100, 160),
        (hip, BACK, 50, 90),
        (hip, OUT, 60, 120),
        (knee, BACK, 105, 135),
        (knee, FORWARD, 5, 25),
        (hock, FORWARD, 85, 115),
        (hock, BACK, 10, 35),
        (shoulder, FORWARD, 60, 100),
        (shoulder, BACK, 70, 120),
        (elbow, FORWARD, 85, 115),
        (elbow, BACK, 10, 45),
        (wrist, BACK, 95, 130),
        (wrist, FORWARD, 5, 25),
    ]
    for bone, way, inside, outside in ways:
        if bone:
            assert swung(owner, f"{bone}.{side}", way, inside) < OFF_PLANE, (bone, way)
            assert swung(owner, f"{bone}.{side}", way, outside) > OFF_PLANE, (bone, way)


@pytest.mark.parametrize("animal", ANIMALS)
def test_knees_and_elbows_never_bend_to_the_other_side(animal: str) -> None:
    owner = set_up(animal)
    for bones, part, way in ((BONES[animal][0], 1, FORWARD), (BONES[animal][1], 1, BACK)):
        bone = rest_bones(owner)[f"{bones[part]}.L"]
        above = unit(v3(bone.head_local - bone.parent.head_local))
        below = unit(v3(bone.tail_local - bone.head_local))
        straight = Vector(above).angle(Vector(below)) / radians(1.0)
        assert swung(owner, bone.name, way, straight + 5.0) > 4.0


# Shares of the length of a leg by which a foot is brought from where it stands: up, and forwards, back or out.
STANCES = ((0.0, 0.0, 0.15), (0.0, -0.15, 0.1), (0.0, 0.15, 0.1), (0.08, 0.0, 0.05), (0.0, -0.2, 0.25))


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("animal", ANIMALS)
def test_feet_go_where_those_of_an_animal_go_and_knees_stay_on_their_side(animal: str, stance: V3) -> None:
    owner = set_up(animal)
    for leg in (FRONT, HIND):
        rest = joints(owner, f"{leg}.L")
        length = sum(distance(a, b) for a, b in pairwise(rest))
        chain = rig_of(owner).chains[f"{leg}.L"]
        move(owner, chain, (stance[0] * length, stance[1] * length, stance[2] * length))
        press("solve_all")
        assert chain.status == "REACHED"
        assert dot(bends(rest)[0], bends(joints(owner, f"{leg}.L"))[0]) > 0.0  # knee and elbow


@pytest.mark.parametrize("animal", ANIMALS)
@pytest.mark.parametrize("way", [FORWARD, BACK, OUT, (0.0, 0.0, -1.0)])
def test_feet_stay_while_the_body_sways(animal: str, way: V3) -> None:
    owner = set_up(animal)
    rig = rig_of(owner)
    feet = {chain.name: joints(owner, chain.name) for chain in rig.chains if "Leg" in chain.name}
    body = owner.pose.bones[rig.body_bone]
    matrix = body.matrix.copy()
    matrix.translation += 0.06 * owner.dimensions.z * Vector(way)
    body.matrix = matrix
    bpy.context.view_layer.update()
    press("start_pose_capture", use_all=True)
    press("solve_all")
    for name, rest in feet.items():
        now = joints(owner, name)
        assert rig.chains[name].status == "REACHED"
        assert distance(now[-1], rest[-1]) < 1e-3 * owner.dimensions.z
        assert dot(bends(rest)[0], bends(now)[0]) > 0.0


def test_without_names_the_joints_are_the_same() -> None:
    named = set_up("wolf")
    wanted = [limit_of(bone).limit for bone in named.pose.bones if not bone.name.endswith(("Target", "Pole"))]
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    owner = make_character("wolf")
    rename_all(owner)
    press("character_setup")
    legs = {bone.name for bone in owner.pose.bones if limit_of(bone).limit == "HINGE"}
    assert len(legs) == wanted.count("HINGE")


@pytest.mark.parametrize("character", ["bird"])
def test_what_is_no_quadruped_keeps_other_ranges(character: str) -> None:
    """A bird stands on two legs; its knees are hinges from straight."""
    owner = set_up(character)
    view = limit_of(owner.pose.bones["shin.L"])
    assert view.limit == "HINGE"
    assert abs(view.angle_max - view.angle_min) > radians(130.0)
