# SPDX-License-Identifier: GPL-3.0-or-later
"""Who goes first in a character that was set up, and how spine, head, tail and ears are posed."""

from __future__ import annotations

from math import degrees, radians
from typing import Any, NamedTuple

import bpy
import pytest
from fabrik_addon.actions import drag as dragging
from fabrik_addon.actions.chains import limbs_of
from fabrik_addon.actions.drag import Grip, begin, drag_to
from fabrik_addon.actions.setup.setup import face_axis
from fabrik_addon.actions.spaces import space_name
from fabrik_addon.actions.status import report_of
from fabrik_addon.maths import V3, angle_between, distance, dot, minus, unit, v3
from fabrik_addon.rig.bones import bones_to, pose_bones, resolve_bones
from fabrik_addon.rig.goal_kinds import GOAL_KINDS
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from dev.humans import HUMANS, bone_of, both
from support.hanging import activate, shift_bone
from support.judging import bone_heads, bone_matrices, evaluated, limb_joints
from support.scenes import make_line, press, select, solved_status, update
from support.skeletons import forward_of, height, make_character, make_human, rest_bones, set_up
from support.stored import stored

WAYS = ((-0.4, -1.0, 0.2), (-0.3, -0.6, 0.8), (-1.0, -0.2, -0.3), (0.5, -1.0, 0.0))  # from the right shoulder
INSIDE = (0.5, 0.76, 0.9)  # shares of the arm's reach; from here on the body helps
CLAVICLES = {
    **dict.fromkeys(("human", "human_mixamo", "human_game_engine", "cmu_walk", "wolf", "cat", "horse", "bird"), 2),
    "makehuman": 4,
}
SOCKETS = {"cmu_walk": ["LHipJoint", "RHipJoint"], "human": ["pelvis.L", "pelvis.R"], "wolf": ["pelvis.L", "pelvis.R"]}


class Moved(NamedTuple):
    """How far the hips are from where they were, in lengths of a leg, and by how many degrees bones turned."""

    hips: float
    chest: float
    clavicle: float


def moved(owner: bpy.types.Object, before: dict[str, Matrix]) -> Moved:
    now, name = bone_matrices(owner), owner.name
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
    chain.target.location = owner.matrix_world @ (shoulder + Vector(way).normalized() * size * share)
    assert solved_status(chain, "solve_all") == "REACHED"
    shoulder, elbow, wrist = limb_joints(owner, chain)
    return degrees(angle_between(unit(minus(elbow, shoulder)), unit(minus(wrist, elbow))))


@stored
def on_empties(name: str) -> bpy.types.Object:
    owner = make_human(name)
    press("character_setup", controls="EMPTIES")
    return owner


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    return on_empties(str(request.param))


@pytest.fixture
def reaching(human: bpy.types.Object) -> bpy.types.Object:
    """The goals of its arms stand in the scene, so that the body can help to reach them; else they go along with it."""
    for name in ("Arm.L", "Arm.R"):
        chain = rig_of(human).chains[name]
        for goal in (chain.target, chain.pole):
            stood = goal.matrix_world.copy()
            goal.parent, goal.matrix_world = None, stood
    update()
    return human


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", INSIDE)
def test_an_arm_that_reaches_inside_its_reach_leaves_the_body(
    reaching: bpy.types.Object, way: Any, share: float
) -> None:
    before = bone_matrices(reaching)
    reach(reaching, way, share)
    found = moved(reaching, before)
    assert found.hips <= 0.0025
    assert found.chest <= 1.6
    if share == INSIDE[-1]:
        assert found.hips <= 0.0012
        assert found.chest <= 1.0


@pytest.mark.parametrize("way", WAYS)
def test_beyond_it_the_clavicle_goes_first_then_the_chest_then_the_hips(reaching: bpy.types.Object, way: Any) -> None:
    before = bone_matrices(reaching)
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
    before = bone_matrices(human)
    drag = dragging.begin(bpy.context, human, dragging.Grip(bone_of(human.name, "hips"), "HEAD"))
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
    before = bone_matrices(reaching)
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
    drag = dragging.begin(bpy.context, owner, dragging.Grip(rig_of(owner).body_bone, "HEAD"))
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
    pose_bones(owner)[rig_of(owner).chains["Arm.R"].target_bone].keyframe_insert("location", frame=1)
    press("solve_all")
    before = bone_matrices(owner)
    press("character_setup", use_defaults=True)
    for name, matrix in bone_matrices(owner).items():
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
    chain, before = rig_of(owner).chains["Front Leg.L"], bone_matrices(owner)
    leg_length = sum(bone.length for bone in bones_to(owner, chain.tip_bone, chain.bone_count)[:-1])
    shift_bone(owner, chain.target_bone, Vector((0.0, -0.2, 0.3)) * leg_length)
    assert solved_status(rig_of(owner).chains["Front Leg.L"], "solve_all") == "REACHED"
    body = rig_of(owner).body_bone
    assert (bone_matrices(owner)[body].translation - before[body].translation).length <= 1e-3 * leg_length


FACES = ("human_mixamo", "human_game_engine", "makehuman", "human", "wolf", "cat", "horse", "bird")
TAILED = ("wolf", "cat", "horse")
STILL = 1e-4  # share of the height
LOOKS = 0.999  # cosine of the angle between a face and what it looks at


def given_a_target(owner: Any, name: str, **options: object) -> tuple[FabrikChain, dict[str, Vector]]:
    """Give a chain a target by one click, by which nothing moves; the chain, and where bones stood."""
    before = bone_heads(owner)
    activate(owner, name)
    press("target_add", **options)
    press("solve_all")
    now = bone_heads(owner)
    assert max((now[bone] - before[bone]).length for bone in before) < STILL * height(owner)
    return rig_of(owner).chains[name], before


def move_target(owner: Any, name: str, way: Vector) -> Vector:
    """Move the target of a chain, an empty; returns where it is in the world."""
    chain = rig_of(owner).chains[name]
    chain.target.location += way
    bpy.context.view_layer.update()
    return chain.target.matrix_world.translation.copy()


def assert_feet_stay(owner: Any, before: dict[str, Vector]) -> None:
    now = bone_heads(owner)
    for chain in rig_of(owner).chains:
        if chain.pin:
            assert (now[chain.tip_bone] - before[chain.tip_bone]).length < 1e-3 * height(owner)


def face_of(owner: Any, chain: FabrikChain) -> V3:
    """Where a head that aims looks in the world."""
    head = evaluated(owner).pose.bones[chain.tip_bone]
    return unit(v3(owner.matrix_world.to_3x3() @ head.matrix.to_3x3() @ Vector(chain.aim_axis)))


@pytest.mark.parametrize("name", FACES)
def test_the_panel_says_how_to_pose_them(name: str) -> None:
    owner = set_up(name)
    for chain in rig_of(owner).chains:
        if chain.name.partition(".")[0] in ("Spine", "Head", "Tail", "Ear"):
            told = report_of(chain, bpy.context)
            assert not chain.enabled
            assert (told.short, told.text) == (
                "no target",
                str(GOAL_KINDS["AIM" if chain.name == "Head" else "REACH"].idle),
            )
        else:
            assert report_of(chain, bpy.context).short != "no target"


@pytest.mark.parametrize("name", FACES)
def test_a_head_looks_at_its_target_by_one_click(name: str) -> None:
    owner = set_up(name)
    chain, before = given_a_target(owner, "Head", kind="EMPTY")
    assert (chain.kind, chain.enabled) == ("AIM", True)
    forward = Vector(forward_of(name))
    assert dot(face_of(owner, chain), v3(forward)) > 0.9
    off = 0.3 * (chain.target.matrix_world.translation - before[chain.tip_bone]).length
    target = move_target(owner, "Head", off * (forward.cross((0.0, 0.0, 1.0)) + Vector((0.0, 0.0, 0.3))))
    assert solved_status(chain, "solve_all") == "REACHED"
    face, eyes = face_of(owner, chain), bone_heads(owner)[chain.tip_bone]
    assert dot(face, unit(minus(v3(target), v3(eyes)))) > LOOKS
    assert dot(face, v3(forward)) > 0.7
    assert_feet_stay(owner, before)


@pytest.mark.parametrize(("name", "part"), [*((name, "Spine") for name in FACES), *((name, "Tail") for name in TAILED)])
def test_spine_and_tail_reach_their_targets_by_one_click(name: str, part: str) -> None:
    owner = set_up(name)
    # clavicles do not let a chest go so far sideways between two hands that are held
    for chain in rig_of(owner).chains:
        chain.enabled = chain.enabled and not chain.name.startswith("Arm")
    chain, before = given_a_target(owner, part, kind="EMPTY")
    target = move_target(owner, part, Vector((0.05 * height(owner), 0.0, -0.03 * height(owner))))
    assert solved_status(chain, "solve_all") == "REACHED"
    tip = evaluated(owner).pose.bones[chain.tip_bone]
    assert distance(v3(owner.matrix_world @ tip.tail), v3(target)) < 1e-3 * height(owner)
    assert_feet_stay(owner, before)


@pytest.mark.parametrize("name", ["human_mixamo", "wolf", "cat"])
def test_their_bones_are_dragged_and_the_feet_stay(name: str) -> None:
    owner = set_up(name)
    for part in ("Spine", "Head", "Tail", "Ear.L"):
        chain = rig_of(owner).chains.get(part)
        if chain is None:
            continue
        tip, size = resolve_bones(owner, chain)[-1].name, height(owner)
        before = bone_heads(owner)
        drag = begin(bpy.context, owner, Grip(tip))
        found = drag_to(bpy.context, drag, drag.place + Vector((0.04 * size, 0.0, -0.02 * size)))
        assert found.status == "REACHED", part
        assert (bone_heads(owner)[tip] - before[tip]).length > 1e-4 * size
        assert_feet_stay(owner, before)
        drag.restore()


def test_a_head_is_pinned_where_it_is() -> None:
    owner = set_up("human_mixamo")
    select(owner, rig_of(owner).chains["Head"].tip_bone)
    before = bone_heads(owner)
    press("pin_toggle")
    chain = rig_of(owner).chains["Head"]
    assert (chain.kind, chain.pin, chain.enabled) == ("REACH", True, True)
    assert solved_status(chain, "solve_all") == "REACHED"
    assert max((bone_heads(owner)[bone] - before[bone]).length for bone in before) < STILL * height(owner)


@pytest.mark.parametrize(("controls", "is_bone"), [("BONES", True), ("EMPTIES", False)])
def test_targets_are_made_as_the_rig_has_them(controls: str, is_bone: bool) -> None:
    owner = make_character("human_mixamo")
    press("character_setup", controls=controls)
    chain, _ = given_a_target(owner, "Head")
    assert (chain.target == owner) == is_bone
    assert chain.status == "REACHED"


def test_where_nothing_tells_the_front_there_is_no_face() -> None:
    assert face_axis(limbs_of(make_line(3)), "b2") is None
