# SPDX-License-Identifier: GPL-3.0-or-later
"""Poles that swing with their limbs: where they are drawn they count, and a knee stays over the toes in a kick."""

from __future__ import annotations

from math import pi, sin
from pathlib import Path

import bpy
import pytest
from fabrik_addon.actions.bends import pole_error
from fabrik_addon.actions.figure_pose import FigurePose
from fabrik_addon.actions.keep_pose import unposed
from fabrik_addon.rig.animation.compat import fcurves_of, is_hidden
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.goals import goal_of, swing_frame_of
from fabrik_addon.rig.schema import carrier_of_limb
from mathutils import Vector

from support.hanging import HUMANS, activate, assert_still, chain, height, matrices
from support.scenes import assert_refused, go_live, key_automatically, overridden, press, select, solved_status, update
from support.skeletons import forward_of, set_up

LIMBS = ("Leg.L", "Leg.R", "Arm.L", "Arm.R")


def pole_off(owner: bpy.types.Object, name: str) -> float:
    """By how many radians a limb bends away from its pole, as that is drawn."""
    with unposed() as depsgraph:
        found = pole_error(FigurePose.of((owner, chain(owner, name)), depsgraph), name)
    return 0.0 if found is None else abs(found)


def lift_foot(owner: bpy.types.Object, name: str, angle: float, share: float = 0.8) -> tuple[Vector, Vector]:
    """Put a foot before the hips, so far from hanging down; its hip and its knee, in the world."""
    leg = chain(owner, name)
    bones, control = resolve_bones(owner, leg), pose_bones(owner)[leg.target_bone]
    found = matrices(owner)
    hip = found[bones[0].name].translation
    length = (found[bones[1].name].translation - hip).length + (
        found[leg.tip_bone].translation - found[bones[1].name].translation
    ).length
    way = Vector(forward_of("")) * sin(angle) + Vector((0.0, 0.0, -1.0)) * sin(pi / 2 - angle)
    place = found[control.name].copy()
    place.translation = hip + way * length * share
    control.matrix = owner.matrix_world.inverted() @ place
    update()
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
    pole = pose_bones(human)[chain(human, "Leg.L").pole_bone]
    place = pole.matrix.copy()
    place.translation += Vector((0.05, 0.0, 0.1)) * height(human) / human.matrix_world.to_scale().x
    pole.matrix = place
    update()
    assert pole_off(human, "Leg.L") < 1e-3
    assert (pole.matrix.translation - place.translation).length < 1e-3 * place.translation.length


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
    assert pole is not None
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
    swing = swing_frame_of(owner, chain(owner, "Leg.R"))["pole"]
    assert swing.endswith(".R")
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
    owner = overridden(bpy.context.object, tmp_path)
    activate(owner, "Leg.L")
    assert_refused("linked", "goal_space", space="SWING")


def test_a_pole_on_the_bone_of_another_limb_is_refused_by_name(human: bpy.types.Object) -> None:
    swing = swing_frame_of(human, chain(human, "Leg.R"))["pole"]
    activate(human, "Arm.L")
    press("goal_space", bone=swing, roles="POLE")
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REFUSED"
    assert f"the pole moves with '{swing}'" in chain(human, "Arm.L").message
    assert {chain(human, name).status for name in ("Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}
