# SPDX-License-Identifier: GPL-3.0-or-later
"""To which side joints bend: each limb of real characters is posed, and looked at as Blender evaluates it."""

from __future__ import annotations

from math import acos, pi, radians
from random import Random
from typing import NamedTuple

import bpy
import pytest
from fabrik_addon.maths import V3, distance, dot, minus, perpendicular, plus, scaled, unit, v3
from fabrik_addon.rig.schema import FabrikChain, limit_of
from mathutils import Matrix

from support.judging import evaluated_joints
from support.scenes import add_chain, assert_refused, edited, select
from support.skeletons import forward_of, make_character, rename_all

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
CASES = [
    Case("human", "shin.{}", *KNEE),
    Case("human", "forearm.{}", *ELBOW),
    Case("basic_human", "shin.{}", *KNEE),
    Case("basic_human", "forearm.{}", *ELBOW),
    Case("basic_quadruped", "shin.{}", *KNEE),
    Case("basic_quadruped", "foot.{}", *HOCK),
    Case("basic_quadruped", "front_shin.{}", *ELBOW),
    Case("wolf", "shin.{}", *KNEE),
    Case("wolf", "foot.{}", *HOCK),
    Case("wolf", "front_shin.{}", *ELBOW),
    Case("cat", "shin.{}", *KNEE),
    Case("cat", "foot.{}", *HOCK),
    Case("cat", "forearm.{}", *ELBOW),
    Case("horse", "lower_leg.{}", *KNEE),
    Case("horse", "hind_foot.{}", *HOCK),
    Case("horse", "forearm.{}", *ELBOW),
    Case("bird", "shin.{}", 2, -1),  # as Rigify draws it: the shin goes down and forward, the joint is the heel
    Case("human_mixamo", "mixamorig:{}Leg", *KNEE),
    Case("human_mixamo", "mixamorig:{}ForeArm", *ELBOW),
    Case("human_game_engine", "calf_{}", *KNEE),
    Case("human_game_engine", "lowerarm_{}", *ELBOW),
    Case("makehuman", "lowerleg01.{}", 3, 1, "KNEE"),
    Case("makehuman", "lowerarm01.{}", 3, -1, "ELBOW"),
    Case("cmu_walk", "{}ForeArm", *ELBOW),
    Case("cmu_walk", "{}Leg", *KNEE),
    *(Case("cesium_man", bone, *KNEE) for bone in ("Node_4", "Node_8")),
    *(Case("cesium_man", bone, *ELBOW) for bone in ("Node_14", "Node_17")),
]
SIDES = {"human_mixamo": ("Left", "Right"), "cmu_walk": ("Left", "Right"), "human_game_engine": ("l", "r")}
JOINTS = [
    pytest.param(case, case.bone.format(side), id=f"{case.character}-{case.bone.format(side)}")
    for case in CASES
    for side in (SIDES.get(case.character, ("L", "R")) if "{}" in case.bone else ("",))
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
