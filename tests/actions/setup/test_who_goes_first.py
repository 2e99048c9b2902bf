# SPDX-License-Identifier: GPL-3.0-or-later
"""Who goes first in a character that was set up: the limb, then its clavicle, then the chest, then the hips."""

from __future__ import annotations

from math import degrees, radians
from typing import Any, NamedTuple

import bpy
import pytest
from fabrik_addon.actions import drag as dragging
from fabrik_addon.actions.spaces import space_name
from fabrik_addon.maths import angle_between, minus, unit
from fabrik_addon.rig.bones import bones_to, pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from dev.humans import HUMANS, bone_of, both, make_human
from support.judging import evaluated, limb_joints
from support.scenes import press, solved_status, update
from support.skeletons import make_character, rest_bones, set_up

WAYS = ((-0.4, -1.0, 0.2), (-0.3, -0.6, 0.8), (-1.0, -0.2, -0.3), (0.5, -1.0, 0.0))  # from the right shoulder
INSIDE = (0.5, 0.76, 0.9)  # shares of the arm's reach; from here on the body helps
CLAVICLES = {
    "human": 2,
    "human_mixamo": 2,
    "human_game_engine": 2,
    "makehuman": 4,
    "cmu_walk": 2,
    "wolf": 2,
    "cat": 2,
    "horse": 2,
    "bird": 2,
}
SOCKETS = {"cmu_walk": ["LHipJoint", "RHipJoint"], "human": ["pelvis.L", "pelvis.R"], "wolf": ["pelvis.L", "pelvis.R"]}


class Moved(NamedTuple):
    """How far the hips are from where they were, in lengths of a leg, and by how many degrees bones turned."""

    hips: float
    chest: float
    clavicle: float


def matrices(owner: bpy.types.Object) -> dict[str, Matrix]:
    update()
    return {bone.name: bone.matrix.copy() for bone in pose_bones(evaluated(owner))}


def moved(owner: bpy.types.Object, before: dict[str, Matrix]) -> Moved:
    now, name = matrices(owner), owner.name
    hips, chest, clavicle = bone_of(name, "hips"), bone_of(name, "chest"), bone_of(name, "clavicle", "R")
    turns = {bone: (now[bone] @ before[bone].inverted()).to_quaternion() for bone in (chest, clavicle)}
    way = now[hips].translation - before[hips].translation
    own = turns[chest].inverted() @ turns[clavicle]
    return Moved(
        way.length / leg(owner),
        *(degrees(Quaternion().rotation_difference(turn).angle) for turn in (turns[chest], own)),
    )


def leg(owner: bpy.types.Object) -> float:
    rest = rest_bones(owner)
    ends = [rest[bone_of(owner.name, part, "L")].head_local for part in ("thigh", "shin", "foot")]
    return float((ends[0] - ends[1]).length + (ends[1] - ends[2]).length)


def reach(owner: bpy.types.Object, way: tuple[float, float, float], share: float) -> float:
    """Put the target of the right hand off from where its shoulder is at rest, by a share of the arm's length.

    Returns:
        The bend of the elbow, in degrees.
    """
    chain = rig_of(owner).chains["Arm.R"]
    rest = rest_bones(owner)
    shoulder, elbow, wrist = (
        rest[bone_of(owner.name, part, "R")].head_local for part in ("upper arm", "forearm", "hand")
    )
    size = (shoulder - elbow).length + (elbow - wrist).length
    assert chain.target is not None
    chain.target.location = owner.matrix_world @ (shoulder + Vector(way).normalized() * size * share)
    assert solved_status(chain, "solve_all") == "REACHED"
    shoulder, elbow, wrist = limb_joints(owner, chain)
    return degrees(angle_between(unit(minus(elbow, shoulder)), unit(minus(wrist, elbow))))


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    owner = make_human(str(request.param))
    press("character_setup", controls="EMPTIES")
    return owner


@pytest.fixture
def reaching(human: bpy.types.Object) -> bpy.types.Object:
    """The goals of its arms stand in the scene, so that the body can help to reach them; else they go along with it."""
    for name in ("Arm.L", "Arm.R"):
        chain = rig_of(human).chains[name]
        for goal in (chain.target, chain.pole):
            assert goal is not None
            stood = goal.matrix_world.copy()
            goal.parent, goal.matrix_world = None, stood
    update()
    return human


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", INSIDE)
def test_an_arm_that_reaches_inside_its_reach_leaves_the_body(
    reaching: bpy.types.Object, way: Any, share: float
) -> None:
    before = matrices(reaching)
    reach(reaching, way, share)
    found = moved(reaching, before)
    assert found.hips <= 0.0025
    assert found.chest <= 1.6
    if share == INSIDE[-1]:
        assert found.hips <= 0.0012
        assert found.chest <= 1.0


@pytest.mark.parametrize("way", WAYS)
def test_beyond_it_the_clavicle_goes_first_then_the_chest_then_the_hips(reaching: bpy.types.Object, way: Any) -> None:
    before = matrices(reaching)
    elbow = reach(reaching, way, 1.02)
    found = moved(reaching, before)
    assert found.clavicle >= 1.7 * found.chest
    assert elbow > 12.0  # it is not locked when the clavicle turns
    assert found.hips <= 0.0055
    reach(reaching, way, 1.1)
    farther = moved(reaching, before)
    assert farther.clavicle > found.clavicle
    assert farther.chest > found.chest
    reach(reaching, way, 1.3)
    farthest = moved(reaching, before)
    assert farthest.chest > farther.chest
    assert farthest.hips > farther.hips


def test_the_chest_stays_upright_while_the_hips_sink(human: bpy.types.Object) -> None:
    rig_of(human).live = True
    before = matrices(human)
    drag = dragging.begin(bpy.context, human, dragging.Taken(bone_of(human.name, "hips"), "HEAD"))
    for step in range(1, 11):
        dragging.drag_to(bpy.context, drag, drag.place + Vector((0.0, 0.0, -0.025 * step * leg(human))))
        update()
    dragging.finish(bpy.context, drag)
    found = moved(human, before)
    assert found.hips == pytest.approx(0.25, abs=1e-4)
    assert found.chest <= 0.1


@pytest.mark.parametrize(("name", "count"), CLAVICLES.items())
def test_clavicles_are_of_their_limb(name: str, count: int) -> None:
    owner = set_up(name)
    assert rig_of(owner).body_stiffness == 1.0
    assert rig_of(owner).spine == pytest.approx(0.001)
    stiffness = [limit_of(bone).stiffness for bone in pose_bones(owner) if limit_of(bone).of_limb]
    assert stiffness == [pytest.approx(0.773)] * count


def test_a_body_bone_of_ones_own_keeps_its_settings() -> None:
    owner = make_human("human_mixamo")
    press("character_setup")
    rig = rig_of(owner)
    rig.body_stiffness, rig.spine = 0.25, 0.75
    for bone in both(owner.name, "clavicle"):
        limit_of(pose_bones(owner)[bone]).stiffness = 0.0
    press("character_setup")
    assert (rig.body_stiffness, rig.spine) == (0.25, 0.75)
    assert not any(limit_of(bone).stiffness for bone in pose_bones(owner))


def test_spine_says_nothing_of_a_bone_that_is_of_a_limb(reaching: bpy.types.Object) -> None:
    rig_of(reaching).spine = 0.0
    before = matrices(reaching)
    clavicle = pose_bones(reaching)[bone_of(reaching.name, "clavicle", "R")]
    reach(reaching, WAYS[0], 1.05)
    assert moved(reaching, before).clavicle > 5.0
    limit_of(clavicle).of_limb = False
    reach(reaching, WAYS[0], 1.05)
    assert moved(reaching, before).clavicle < 1e-3


@pytest.mark.parametrize(("name", "sockets"), SOCKETS.items())
def test_hip_sockets_never_turn(name: str, sockets: list[str]) -> None:
    owner = set_up(name)
    stood = {bone: pose_bones(owner)[bone].matrix_basis.to_quaternion() for bone in sockets}
    hips = rig_of(owner).body_bone
    drag = dragging.begin(bpy.context, owner, dragging.Taken(hips, "HEAD"))
    dragging.drag_to(bpy.context, drag, drag.place + Vector((0.1, 0.1, -0.1)) * owner.dimensions.z)
    dragging.finish(bpy.context, drag)
    update()
    for bone in sockets:
        turned = stood[bone].rotation_difference(pose_bones(evaluated(owner))[bone].matrix_basis.to_quaternion())
        assert abs(turned.angle) < radians(0.01)


def test_without_names_sockets_and_clavicles_are_told_by_their_place() -> None:
    owner = make_character("cmu_walk")
    names = [bone.name for bone in pose_bones(owner)]
    for i, name in enumerate(names):
        rest_bones(owner)[name].name = f"Bone.{i:03d}"
    press("character_setup")
    now = {name: pose_bones(owner)[f"Bone.{i:03d}"] for i, name in enumerate(names)}
    for name in SOCKETS["cmu_walk"]:
        assert limit_of(now[name]).limit == "LOCKED"
    for name in ("LeftShoulder", "RightShoulder"):
        assert limit_of(now[name]).of_limb


def test_a_character_of_before_is_given_the_defaults_of_now_where_that_is_asked_for() -> None:
    """Hands that stood in the armature hang on the chest, and nothing moves; keyed ones stay, and are told."""
    owner = set_up("human_mixamo")
    rig = rig_of(owner)
    for index, name in ((rig.chains.find("Arm.L"), "Arm.L"), (rig.chains.find("Arm.R"), "Arm.R")):
        rig.active_index = index
        press("goal_space", space="ARMATURE")
        rig_of(owner).chains[name].body_helps = 1.0
    rig.body_stiffness, rig.spine = 0.0, 0.5
    rig_of(owner).chains["Leg.L"].orientation = "KEEP"
    press("solve_all")
    press("character_setup")
    assert space_name(goals_of(rig_of(owner).chains["Arm.L"])[0]) == ""
    assert rig_of(owner).body_stiffness == 0.0
    control = pose_bones(owner)[rig_of(owner).chains["Arm.R"].target_bone]
    control.keyframe_insert("location", frame=1)
    press("solve_all")
    before = matrices(owner)
    press("character_setup", use_defaults=True)
    for name, matrix in matrices(owner).items():
        assert (matrix.translation - before[name].translation).length < 1e-5
    left, right = (goals_of(rig_of(owner).chains[name])[0] for name in ("Arm.L", "Arm.R"))
    assert space_name(left) == "mixamorig:Spine2"
    assert space_name(right) == ""
    assert rig_of(owner).body_stiffness == 1.0
    assert rig_of(owner).chains["Arm.L"].body_helps == pytest.approx(0.9)
    assert rig_of(owner).chains["Leg.L"].orientation == "TARGET"


@pytest.mark.parametrize("name", ["wolf", "cat", "horse"])
def test_an_animal_that_lifts_a_front_paw_stands_still(name: str) -> None:
    """Its other paw stands nearly straight, and needs no help while nothing is asked of it."""
    owner = set_up(name)
    helps = {chain.name: round(chain.body_helps, 6) for chain in rig_of(owner).chains if "Leg" in chain.name}
    assert helps == {"Front Leg.L": 0.9, "Front Leg.R": 0.9, "Hind Leg.L": 1.0, "Hind Leg.R": 1.0}
    press("solve_all")
    chain, before = rig_of(owner).chains["Front Leg.L"], matrices(owner)
    leg_length = sum(bone.length for bone in bones_to(owner, chain.tip_bone, chain.bone_count)[:-1])
    control = pose_bones(owner)[chain.target_bone]
    place = control.matrix.copy()
    place.translation += Vector((0.0, -0.2, 0.3)) * leg_length
    control.matrix = place
    assert solved_status(rig_of(owner).chains["Front Leg.L"], "solve_all") == "REACHED"
    body = rig_of(owner).body_bone
    moved = (matrices(owner)[body].translation - before[body].translation).length
    assert moved <= 1e-3 * leg_length
