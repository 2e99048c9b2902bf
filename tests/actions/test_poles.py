# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles swing with their limbs, and those of legs stand in front of the knees, over the toes."""

from __future__ import annotations

from itertools import pairwise
from math import atan2, degrees, pi, sin
from pathlib import Path

import bpy
import pytest
from fabrik_addon.actions.bends import pole_error
from fabrik_addon.actions.drag import Grip
from fabrik_addon.actions.figure_pose import FigurePose
from fabrik_addon.actions.keep_pose import unposed
from fabrik_addon.rig.animation.compat import fcurves_of, is_hidden
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.goals import goal_of, swing_frame_of
from fabrik_addon.rig.schema import carrier_of_limb, rig_of
from mathutils import Matrix, Vector

from support.hanging import HUMANS, activate, assert_still, chain, height, matrices, put_bone, shift_bone
from support.judging import bone_heads, evaluated, limb_joints, most_turn
from support.scenes import assert_refused, go_live, key_automatically, overridden, press, select, solved_status, update
from support.skeletons import forward_of, set_up
from support.skeletons import height as size_of

LIMBS = ("Leg.L", "Leg.R", "Arm.L", "Arm.R")


def pole_off(owner: bpy.types.Object, name: str) -> float:
    """By how many radians a limb bends away from its pole, as that is drawn."""
    with unposed() as depsgraph:
        found = pole_error(FigurePose.of((owner, chain(owner, name)), depsgraph), name)
    return 0.0 if found is None else abs(found)


def lift_foot(owner: bpy.types.Object, name: str, angle: float, share: float = 0.8) -> tuple[Vector, Vector]:
    """Put a foot before the hips, so far from hanging down; its hip and its knee, in the world."""
    leg = chain(owner, name)
    bones, found = resolve_bones(owner, leg), matrices(owner)
    hip = found[bones[0].name].translation
    length = (found[bones[1].name].translation - hip).length + (
        found[leg.tip_bone].translation - found[bones[1].name].translation
    ).length
    way = Vector(forward_of("")) * sin(angle) + Vector((0.0, 0.0, -1.0)) * sin(pi / 2 - angle)
    put_bone(owner, leg.target_bone, hip + way * length * share)
    return hip, matrices(owner)[bones[1].name].translation


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    owner = set_up(request.param)
    press("solve_all")
    return owner


def test_set_up_hangs_poles_on_bones_that_swing_with_their_limbs(human: bpy.types.Object) -> None:
    bones = pose_bones(human)
    for name in LIMBS:
        swing = bones[swing_frame_of(human, chain(human, name))["pole"]]
        root = resolve_bones(human, chain(human, name))[0]
        assert bones[chain(human, name).pole_bone].parent == swing
        assert swing.parent == carrier_of_limb(root)
        assert (swing.bone.head_local - root.bone.head_local).length < 1e-6 * root.bone.length
        assert is_hidden(swing)
        assert not swing.bone.use_deform
        assert pole_off(human, name) < 0.02


@pytest.mark.parametrize("angle", [0.4, 0.8, 1.2])
@pytest.mark.parametrize("kind", ["human_mixamo", "human"])
def test_a_knee_is_above_its_leg_in_a_kick(kind: str, angle: float) -> None:
    human = set_up(kind)
    go_live(human)
    for name in ("Leg.L", "Leg.R"):
        hip, knee = lift_foot(human, name, angle)
        assert chain(human, name).status == "REACHED", chain(human, name).message
        foot = matrices(human)[chain(human, name).tip_bone].translation
        line = (foot - hip).normalized()
        off = (knee - hip) - (knee - hip).dot(line) * line
        upward = Vector((0.0, 0.0, 1.0)) - line.z * line
        assert off.normalized().dot(upward.normalized()) > 0.9, (name, angle)
        assert pole_off(human, name) < 1e-3


def test_a_pole_goes_along_with_its_hand_and_its_channels_stay(human: bpy.types.Object) -> None:
    go_live(human)
    key_automatically()
    arm = chain(human, "Arm.L")
    pole, before = pose_bones(human)[arm.pole_bone], matrices(human)
    control = pose_bones(human)[arm.target_bone]
    control.location += Vector((-0.05, -0.12, 0.2)) * height(human) / human.matrix_world.to_scale().x
    update()
    assert chain(human, "Arm.L").status == "REACHED"
    assert pole.location.length == 0.0
    assert (matrices(human)[pole.name].translation - before[pole.name].translation).length > 0.02 * height(human)
    assert not [curve for curve in fcurves_of(human) if f'"{pole.name}"' in curve.data_path]
    assert pole_off(human, "Arm.L") < 2e-3


def test_a_pole_that_is_moved_bends_the_limb_to_where_it_is_drawn(human: bpy.types.Object) -> None:
    go_live(human)
    lift_foot(human, "Leg.L", 0.3)
    way = Vector((0.05, 0.0, 0.1)) * height(human) / human.matrix_world.to_scale().x
    pole = pose_bones(human)[chain(human, "Leg.L").pole_bone]
    place = pole.matrix.translation + way
    shift_bone(human, pole.name, way)
    assert pole_off(human, "Leg.L") < 1e-3
    assert (pole.matrix.translation - place).length < 1e-3 * place.length


@pytest.mark.parametrize("space", ["LIMB", "ARMATURE", "SCENE", "BODY"])
def test_a_pole_is_taken_off_its_limb_and_put_back_with_nothing_moving(human: bpy.types.Object, space: str) -> None:
    go_live(human)
    lift_foot(human, "Leg.L", 0.3)
    activate(human, "Leg.L")
    before = matrices(human)
    press("goal_space", space=space, roles="POLE")
    assert "pole" not in swing_frame_of(human, chain(human, "Leg.L"))
    assert_still(human, before)
    press("goal_space", space="SWING")
    assert swing_frame_of(human, chain(human, "Leg.L"))
    assert_still(human, before)
    count = len(pose_bones(human))
    press("goal_space", space="ARMATURE", roles="POLE")
    press("goal_space", space="SWING", roles="POLE")
    assert len(pose_bones(human)) == count, "there is a bone that swings already"
    assert_still(human, before)


def test_a_pole_that_is_an_empty_swings_too(human: bpy.types.Object) -> None:
    press("rig_clear")
    press("character_setup", controls="EMPTIES")
    press("solve_all")
    activate(human, "Leg.L")
    before = matrices(human)
    press("goal_space", space="SWING")
    press("solve_all")
    assert swing_frame_of(human, chain(human, "Leg.L"))
    assert_still(human, before)
    assert pole_off(human, "Leg.L") < 0.02


def test_what_can_not_swing_is_refused_and_leaves_nothing(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    press("goal_space", space="LIMB", roles="POLE")
    names = [bone.name for bone in pose_bones(human)]
    assert_refused("a pole alone can swing", "goal_space", space="SWING", roles="TARGET")
    pole = goal_of(chain(human, "Arm.L"), "pole")
    pose_bones(human)[pole.bone].lock_location = (True, True, True)
    assert_refused("locked", "goal_space", space="SWING")
    assert [bone.name for bone in pose_bones(human)] == names


def test_the_other_side_gets_a_bone_of_its_own_that_swings() -> None:
    owner = set_up("human_mixamo")
    go_live(owner)
    lift_foot(owner, "Leg.L", 0.9)
    activate(owner, "Leg.R")
    press("chain_remove")
    for bone in ("Leg.target.R", "Leg.pole.R", "Leg.swing.R"):
        select(owner, bone)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.context.object.data.edit_bones.remove(bpy.context.object.data.edit_bones[bone])
        bpy.ops.object.mode_set(mode="POSE")
    activate(owner, "Leg.L")
    press("chain_mirror")
    assert swing_frame_of(owner, chain(owner, "Leg.R"))["pole"].endswith(".R")
    left, right = (matrices(owner)[chain(owner, name).pole_bone].translation for name in ("Leg.L", "Leg.R"))
    assert (Vector((-left.x, left.y, left.z)) - right).length < 0.02 * height(owner)
    assert pole_off(owner, "Leg.R") < 2e-3


def test_new_defaults_let_poles_of_before_swing_and_tell_of_keyed_ones(human: bpy.types.Object) -> None:
    for name in ("Leg.L", "Arm.L"):
        activate(human, name)
        press("goal_space", space="LIMB", roles="POLE")
    pose_bones(human)[chain(human, "Arm.L").pole_bone].keyframe_insert("location", frame=1)
    press("solve_all")
    before = matrices(human)
    press("character_setup", use_defaults=True)
    press("solve_all")
    assert_still(human, before)
    assert swing_frame_of(human, chain(human, "Leg.L"))
    assert not swing_frame_of(human, chain(human, "Arm.L"))


def test_blenders_own_constraint_takes_the_pole_over(human: bpy.types.Object) -> None:
    """Its pole waits for the target, not for the limb, so that nothing runs in a circle."""
    lift_foot(human, "Leg.L", 0.8)
    press("solve_all")
    before = matrices(human)
    activate(human, "Leg.L")
    press("to_ik")
    found = matrices(human)
    for bone in resolve_bones(human, chain(human, "Leg.L")):
        assert (found[bone.name].translation - before[bone.name].translation).length < 0.02 * height(human), bone.name
    for _ in range(3):
        human.update_tag()
        again = matrices(human)
        assert all((again[name].translation - found[name].translation).length < 1e-4 for name in found)


def test_linked_armature_data_is_told_that_it_can_have_none(tmp_path: Path) -> None:
    set_up("human_mixamo", controls="EMPTIES")
    activate(overridden(bpy.context.object, tmp_path), "Leg.L")
    assert_refused("linked", "goal_space", space="SWING")


def test_a_pole_on_the_bone_of_another_limb_is_refused_by_name(human: bpy.types.Object) -> None:
    swing = swing_frame_of(human, chain(human, "Leg.R"))["pole"]
    activate(human, "Arm.L")
    press("goal_space", bone=swing, roles="POLE")
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REFUSED"
    assert f"the pole moves with '{swing}'" in chain(human, "Arm.L").message
    assert {chain(human, name).status for name in ("Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}


PEOPLE = ("human", "basic_human", "human_mixamo", "human_game_engine", "makehuman", "cesium_man", "cmu_walk")
DRAWN = PEOPLE[:5]  # whose sides are mirror images, and whose feet have ends that somebody drew
STEPS, SMOOTH = 60, 10.0  # of a drag, and degrees by which a bone may turn in one
BESIDE = 0.03  # share of the size_of by which a pole may stand beside the toes


def pole_of(owner: bpy.types.Object, leg: str) -> Vector:
    chain = rig_of(owner).chains[leg]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[chain.pole_bone].head
    return found


def toes_of(owner: bpy.types.Object, leg: str) -> Vector:
    foot = resolve_bones(owner, rig_of(owner).chains[leg])[-1]
    found: Vector = owner.matrix_world @ pose_bones(evaluated(owner))[foot.name].tail
    return found


def knee_of(owner: bpy.types.Object, leg: str) -> Vector:
    """The joint that stands farthest off the line from hip to ankle."""
    joints = [Vector(joint) for joint in limb_joints(owner, rig_of(owner).chains[leg])]
    along = (joints[-1] - joints[0]).normalized()
    return max(joints[1:-1], key=lambda joint: (joint - joints[0]).cross(along).length)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("leg", ["Leg.L", "Leg.R"])
def test_a_pole_stands_ahead_of_the_knee(name: str, leg: str) -> None:
    owner = set_up(name)
    away = pole_of(owner, leg) - knee_of(owner, leg)
    forward = Vector(forward_of(name))
    assert away.dot(forward) > 0.1 * size_of(owner)
    assert degrees(away.angle(forward)) < 30.0


@pytest.mark.parametrize("name", DRAWN)
def test_it_stands_over_the_toes_and_the_other_one_is_its_mirror_image(name: str) -> None:
    owner = set_up(name)
    left, right = pole_of(owner, "Leg.L"), pole_of(owner, "Leg.R")
    for leg, pole in (("Leg.L", left), ("Leg.R", right)):
        ankle, toes = Vector(limb_joints(owner, rig_of(owner).chains[leg])[-1]), toes_of(owner, leg)
        assert min(abs(knee_of(owner, leg).x), abs(toes.x)) - BESIDE * size_of(owner) < abs(pole.x)
        assert abs(pole.x) < abs(ankle.x) + BESIDE * size_of(owner)
        assert (pole - ankle).y * (toes - ankle).y > 0.0
    assert (left - Vector((-right.x, right.y, right.z))).length < 1e-3 * size_of(owner)
    ways = [pole - knee_of(owner, leg) for leg, pole in (("Leg.L", left), ("Leg.R", right))]
    assert abs(degrees(atan2(ways[0].x, -ways[0].y) - atan2(-ways[1].x, -ways[1].y))) < 0.5


@pytest.mark.parametrize("name", DRAWN)
def test_knees_go_over_the_toes_in_a_crouch(name: str) -> None:
    """The hips go straight down: knees stand over the feet, mirror images, and no knee turns by much at once."""
    owner = set_up(name)
    go_live(owner)
    body = pose_bones(owner)[rig_of(owner).body_bone]
    stood = owner.matrix_world @ pose_bones(evaluated(owner))[body.name].matrix
    hip, ankle = (Vector(limb_joints(owner, rig_of(owner).chains["Leg.L"])[k]) for k in (0, -1))
    before = 0.0
    for step in range(1, 11):
        down = Matrix.Translation(Vector((0.0, 0.0, -0.045 * step * (hip - ankle).length)))
        body.matrix = owner.matrix_world.inverted() @ down @ stood
        update()
        knees = {leg: knee_of(owner, leg) for leg in ("Leg.L", "Leg.R")}
        assert abs(knees["Leg.L"].x + knees["Leg.R"].x) < 2e-3 * size_of(owner)
        ankles = Vector(limb_joints(owner, rig_of(owner).chains["Leg.L"])[-1])
        away = knees["Leg.L"] - hip
        outwards = degrees(atan2(away.x if hip.x > 0.0 else -away.x, abs(away.y)))
        assert step == 1 or abs(outwards - before) < 15.0
        before = outwards
    left, toes = knees["Leg.L"], toes_of(owner, "Leg.L")
    over = min(abs(ankles.x), abs(toes.x))
    assert abs(left.x) > over - 0.025 * size_of(owner), "knees do not come together"
    assert abs(left.x) < max(abs(ankles.x), abs(toes.x)) + 0.02 * size_of(owner)


def test_goals_come_to_a_crouch_and_the_pose_stays() -> None:
    """The pole angle of a deep bend is another than that of the rest pose, for whatever brings a pole to a pose."""
    owner = set_up("human_mixamo")
    go_live(owner)
    body = pose_bones(owner)[rig_of(owner).body_bone]
    stood = owner.matrix_world @ pose_bones(evaluated(owner))[body.name].matrix
    body.matrix = owner.matrix_world.inverted() @ Matrix.Translation(Vector((0.0, 0.0, -0.2 * size_of(owner)))) @ stood
    before = bone_heads(owner)
    press("goal_snap", chains="ALL")
    now = bone_heads(owner)
    joints = [bone.name for name in ("Leg.L", "Leg.R") for bone in resolve_bones(owner, rig_of(owner).chains[name])]
    assert max((now[bone] - before[bone]).length for bone in joints) < 1e-4 * size_of(owner)


@pytest.mark.parametrize(
    ("limb", "way"),
    [
        ("", (-0.85, 0.0, 0.53)),
        ("", (0.0, -0.53, 0.85)),
        ("Leg.L", (0.0, 0.53, -0.85)),
        ("Arm.L", (0.85, 0.0, 0.53)),
    ],
)
@pytest.mark.parametrize("name", ["human_mixamo", "human_game_engine"])
def test_a_limb_that_is_drawn_straight_is_not_twisted(name: str, limb: str, way: tuple[float, float, float]) -> None:
    """A straight knee tells no side, so no pole turns the thigh then: no step of a drag of the hips or an end does."""
    owner = set_up(name)
    leg, chain = rig_of(owner).chains["Leg.L"], rig_of(owner).chains.get(limb)
    size = sum((b - a).length for a, b in pairwise(map(Vector, limb_joints(owner, leg))))
    hips = Grip(rig_of(owner).body_bone, "HEAD")
    taken = Grip(chain.tip_bone, chain.effector, chain.name) if chain is not None else hips
    assert most_turn(owner, taken, lambda share: Vector(way) * 0.5 * size * share, STEPS) < SMOOTH
