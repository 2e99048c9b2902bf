# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranges of a human's and a dog's joints, and to which side joints of real characters bend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import acos, pi, radians
from random import Random
from typing import Any, NamedTuple

import bpy
import pytest
from fabrik_addon.kernel import Limit
from fabrik_addon.maths import IDENTITY, V3, Z_AXIS, cross, distance, dot, minus, perpendicular, plus, scaled, unit, v3
from fabrik_addon.rig.limit_types import LIMITS, limit_settings
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.hanging import shift_bone
from support.judging import evaluated_joints, limb_joints
from support.scenes import add_chain, assert_refused, edited, select, solved_status
from support.skeletons import forward_of, make_character, rename_all, rest_bones, set_up

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


# Of each joint of a human: a way, how many degrees it goes that way, and how many are too many; none where all may go.
SWINGS: dict[str, list[tuple[str, float, float | None]]] = {
    "HIP": [("forward", 100, 150), ("back", 20, 60), ("out", 35, 70), ("inwards", 20, 60)],
    "SHOULDER": [("up", 110, None), ("down", 55, None), ("forward", 100, None), ("back", 30, 80)],
    "ANKLE": [("down", 45, 75), ("up", 15, 45)],
}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("joint", SWINGS)
def test_a_joint_of_a_human_swings_as_far_as_it_does_and_no_farther(joint: str, side: int) -> None:
    body = Body("human", side)
    bone = body.give(joint, both(f"{BONES[joint]}.{{}}"))
    ways = {"forward": body.forward, "back": body.back, "out": body.out, "inwards": body.inwards}
    for way, inside, outside in SWINGS[joint]:
        to = ways.get(way, UP if way == "up" else DOWN)
        axis = (
            scaled(body.toes_down, 1.0 if way == "down" else -1.0) if joint == "ANKLE" else cross(body.along(bone), to)
        )
        assert body.exceeds(bone, axis, inside) < 1.0, way
        if outside is not None:
            assert body.exceeds(bone, axis, outside) > 5.0, way


@pytest.mark.parametrize(
    ("joint", "inwards", "outwards"), [("SHOULDER", (65, 85), (85, 110)), ("ANKLE", (30, 50), (10, 30))]
)
@pytest.mark.parametrize(("name", "side"), [(name, side) for name, side in SIDES if name != "cesium_man"])
def test_an_arm_turns_outwards_more_and_a_sole_inwards(
    name: str, side: int, joint: str, inwards: tuple[int, int], outwards: tuple[int, int]
) -> None:
    """By so many degrees, and not by so many; without such a sole hips could not sway over feet that are planted.

    Not with Cesium Man: his arm's bones do not point along the arm, so that their twist is no turn of it.
    """
    body = Body(name, side)
    bone = body.give(joint, body.joints.shoulders if joint == "SHOULDER" else body.joints.ankles)
    along = body.along(bone)
    if joint == "SHOULDER":  # where what is in front, or below, goes
        way = dot(cross(along, body.forward), plus(DOWN, body.inwards))
    else:
        way = dot(cross(along, DOWN), body.inwards)
    for (most, too_far), sign in ((inwards, 1.0), (outwards, -1.0)):
        turn = sign if way > 0.0 else -sign
        assert body.exceeds(bone, along, turn * most) < 1.0
        assert body.exceeds(bone, along, turn * too_far) > 5.0


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
    names = both(f"{BONES[joint]}.{{}}")
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


ANIMALS = ("wolf", "cat", "horse", "basic_quadruped")

FORWARD, BACK, OUT = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)  # of the left side

ANIMAL_SIDES = ("L", "R")

FRONT, HIND = "Front Leg", "Hind Leg"

OFF_PLANE = 5.0  # degrees by which a turn exceeds a hinge that stands a little off the animal's plane

ANIMAL_BONES = {  # hip, knee, hock; shoulder, elbow, wrist where it is inside the chain
    "wolf": (("thigh", "shin", "foot"), ("front_thigh", "front_shin", "front_foot")),
    "cat": (("thigh", "shin", "foot"), ("upper_arm", "forearm", "")),
    "horse": (("thigh", "lower_leg", "hind_foot"), ("upper_arm", "forearm", "forefoot")),
    "basic_quadruped": (("thigh", "shin", "foot"), ("front_thigh", "front_shin", "front_foot")),
}


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
    return limb_joints(owner, rig_of(owner).chains[leg])


def bends(points: list[V3]) -> list[V3]:
    """The directions in which the inner joints stand off the line of their neighbours."""
    rows = zip(points, points[1:], points[2:], strict=False)
    return [perpendicular(minus(b, a), unit(minus(c, a))) for a, b, c in rows]


@pytest.mark.parametrize("side", ANIMAL_SIDES)
@pytest.mark.parametrize("animal", ANIMALS)
def test_each_joint_goes_as_far_as_that_of_a_dog(animal: str, side: str) -> None:
    owner = set_up(animal)
    (hip, knee, hock), (shoulder, elbow, wrist) = ANIMAL_BONES[animal]
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
    for bones, part, way in (
        (ANIMAL_BONES[animal][0], 1, FORWARD),
        (ANIMAL_BONES[animal][1], 1, BACK),
    ):
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
        shift_bone(owner, chain.target_bone, length * Vector(stance))
        assert solved_status(chain, "solve_all") == "REACHED"
        assert dot(bends(rest)[0], bends(joints(owner, f"{leg}.L"))[0]) > 0.0  # knee and elbow


@pytest.mark.parametrize("character", ["bird"])
def test_what_is_no_quadruped_keeps_other_ranges(character: str) -> None:
    """A bird stands on two legs; its knees are hinges from straight."""
    owner = set_up(character)
    view = limit_of(owner.pose.bones["shin.L"])
    assert view.limit == "HINGE"
    assert abs(view.angle_max - view.angle_min) > radians(130.0)


NEARER = 0.75  # share of its rest distance from root to tip to which a limb is pulled together
SHOWS = 0.03  # share of the limb's length by which a joint stands off the line between its neighbours


class Case(NamedTuple):
    """A joint of a character.

    Attributes:
        character: Its name.
        bone: The bone below the joint, for the left side; {} stands for the side.
        count: Bones of the limb down to it.
        side: 1 where the joint points forward, -1 where it points back.
        human: The human joint that it is, or "".
    """

    character: str
    bone: str
    count: int
    side: int
    human: str = ""


KNEE, ELBOW = (2, 1, "KNEE"), (2, -1, "ELBOW")
HOCK = (3, -1, "")  # the heel of an animal
# By character the bones below its joints, and which these are.
BONES_BELOW: dict[str, list[tuple[str, tuple[int, int, str]]]] = {
    **{name: [("shin.{}", KNEE), ("forearm.{}", ELBOW)] for name in ("human", "basic_human")},
    **{name: [("shin.{}", KNEE), ("foot.{}", HOCK), ("front_shin.{}", ELBOW)] for name in ("basic_quadruped", "wolf")},
    "cat": [("shin.{}", KNEE), ("foot.{}", HOCK), ("forearm.{}", ELBOW)],
    "horse": [("lower_leg.{}", KNEE), ("hind_foot.{}", HOCK), ("forearm.{}", ELBOW)],
    "bird": [("shin.{}", (2, -1, ""))],  # as Rigify draws it: it goes down and forward, and the joint is the heel
    "human_mixamo": [("mixamorig:{}Leg", KNEE), ("mixamorig:{}ForeArm", ELBOW)],
    "human_game_engine": [("calf_{}", KNEE), ("lowerarm_{}", ELBOW)],
    "makehuman": [("lowerleg01.{}", (3, 1, "KNEE")), ("lowerarm01.{}", (3, -1, "ELBOW"))],
    "cmu_walk": [("{}ForeArm", ELBOW), ("{}Leg", KNEE)],
    "cesium_man": [("Node_4", KNEE), ("Node_8", KNEE), ("Node_14", ELBOW), ("Node_17", ELBOW)],
}
CASES = [Case(character, bone, *joint) for character, below in BONES_BELOW.items() for bone, joint in below]
SIDE_NAMES = {"human_mixamo": ("Left", "Right"), "cmu_walk": ("Left", "Right"), "human_game_engine": ("l", "r")}
JOINTS = [
    pytest.param(case, case.bone.format(side), id=f"{case.character}-{case.bone.format(side)}")
    for case in CASES
    for side in (SIDE_NAMES.get(case.character, ("L", "R")) if "{}" in case.bone else ("",))
]
HUMAN_JOINTS = [found for found in JOINTS if found.values[0].human]


def joints_of(owner: bpy.types.Object, chain: FabrikChain) -> list[V3]:
    return [v3(joint) for joint in evaluated_joints(owner, chain)]


def assert_bends(owner: bpy.types.Object, tip: str, count: int, side: V3) -> None:
    """Pull a limb together by a target nearer to its root: its last joint stands off to a side."""
    chain = add_chain(owner, (0, 0, 0), tip, count)
    joints = joints_of(owner, chain)
    chain.target.location = plus(joints[0], scaled(minus(joints[-1], joints[0]), NEARER))
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    a, b, c = joints_of(owner, chain)[-3:]
    off = perpendicular(minus(b, a), unit(minus(c, a)))  # from the line between its neighbours
    assert dot(off, side) > SHOWS * (distance(a, b) + distance(b, c))
    assert dot(unit(off), side) > 0.3  # to that side more than to any other


@pytest.mark.parametrize(("case", "bone"), JOINTS)
def test_hinges_from_bend(case: Case, bone: str) -> None:
    owner = make_character(case.character)
    add_chain(owner, None, bone, case.count)
    select(owner, bone)
    bpy.ops.fabrik.limit_from_bend(bones="CHAIN")
    assert limit_of(owner.pose.bones[bone]).limit == "HINGE"
    assert_bends(owner, bone, case.count, scaled(forward_of(case.character), case.side))


@pytest.mark.parametrize(("case", "bone"), HUMAN_JOINTS)
def test_human_joints(case: Case, bone: str) -> None:
    owner = make_character(case.character)
    select(owner, bone)
    bpy.ops.fabrik.limit_human(joint=case.human)
    assert_bends(owner, bone, case.count, scaled(forward_of(case.character), case.side))


def straighten(owner: bpy.types.Object, bone: str) -> None:
    """Move a joint onto the line between its neighbours in the rest pose, with all that stands there."""
    with edited(owner) as bones:
        joint = bones[bone]
        above = joint.parent
        whole = joint.tail - above.head
        at = above.head + whole * (above.length / (above.length + joint.length))
        above.tail = joint.head = at


def turned(owner: bpy.types.Object, turn: Matrix) -> None:
    """Turn the bones inside the armature."""
    owner.data.transform(turn)
    bpy.context.view_layer.update()


STRAIGHT = [
    ("basic_human", "shin.{}", 1),
    ("basic_human", "forearm.{}", -1),
    ("basic_quadruped", "shin.{}", 1),
    ("basic_quadruped", "front_shin.{}", -1),
]


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize(("character", "bone", "side"), STRAIGHT)
def test_straight_limbs_bend_by_anatomy(character: str, bone: str, side: int, is_named: bool, quarter: int) -> None:
    owner = make_character(character)
    names = [bone.format(side) for side in "LR"]
    for name in names:
        straighten(owner, name)
    turn = Matrix.Rotation(quarter * pi / 2.0, 4, "Z")
    turned(owner, turn)
    if not is_named:
        new = rename_all(owner)
        names = [new[name] for name in names]
    select(owner, *names)
    bpy.ops.fabrik.limit_from_bend()
    for name in names:
        assert_bends(owner, name, 2, scaled(v3(turn.to_3x3().col[1]), -side))


@pytest.mark.parametrize("seed", range(4))
def test_roll_and_scale_do_not_matter(seed: int) -> None:
    owner = make_character("basic_human")
    random = Random(seed)
    with edited(owner) as bones:
        for joint in bones:
            joint.roll += random.uniform(-pi, pi)
    turned(owner, Matrix.Scale(random.choice((0.01, 100.0)), 4))
    select(owner, "shin.L", "shin.R")
    bpy.ops.fabrik.limit_human(joint="KNEE")
    for name in ("shin.L", "shin.R"):
        assert_bends(owner, name, 2, (0.0, -1.0, 0.0))


def test_a_knee_may_straighten_and_no_more() -> None:
    owner = make_character("human_mixamo")
    chain = add_chain(owner, (0, 0, 0), "mixamorig:LeftLeg", 2)
    bpy.ops.fabrik.limit_from_bend(bones="CHAIN", bend_max=radians(120))
    root, knee, ankle = joints_of(owner, chain)
    reach = distance(root, knee) + distance(knee, ankle)
    for share in (0.9999, 1.2):
        chain.target.location = plus(root, scaled(unit(minus(ankle, root)), reach * share))
        bpy.ops.fabrik.solve()
        assert bend(joints_of(owner, chain)) < radians(3.0)
    chain.target.location = root
    bpy.ops.fabrik.solve()
    assert bend(joints_of(owner, chain)) == pytest.approx(radians(120), abs=0.02)


def bend(joints: list[V3]) -> float:
    a, b, c = joints
    return acos(dot(unit(minus(b, a)), unit(minus(c, b))))


def test_what_can_not_be_told_is_refused_by_name_and_keeps_its_limit() -> None:
    owner = make_character("basic_human")
    straighten(owner, "spine.002")
    select(owner, "spine.002", "thigh.L", "shin.L")
    limit_of(owner.pose.bones["spine.002"]).limit = limit_of(owner.pose.bones["thigh.L"]).limit = "CONE"
    bpy.ops.fabrik.limit_from_bend()
    assert limit_of(owner.pose.bones["shin.L"]).limit == "HINGE"
    assert limit_of(owner.pose.bones["spine.002"]).limit == limit_of(owner.pose.bones["thigh.L"]).limit == "CONE"
    select(owner, "spine.002", "thigh.L")
    assert_refused(r"'spine.002': straight at rest(.|\n)*'thigh.L': no bend where", "limit_from_bend")


def test_second_halves_hold_still() -> None:
    owner = make_character("makehuman")
    add_chain(owner, None, "lowerleg02.L", 4)
    bpy.ops.fabrik.limit_from_bend(bones="CHAIN")
    limits = [limit_of(owner.pose.bones[name]).limit for name in ("upperleg02.L", "lowerleg01.L", "lowerleg02.L")]
    assert limits == ["LOCKED", "HINGE", "LOCKED"]
