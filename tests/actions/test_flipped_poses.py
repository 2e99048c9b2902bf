# SPDX-License-Identifier: GPL-3.0-or-later
"""Flip Pose and Mirror Pose: the mirror image in armature space, whatever the roll, with Live on and off."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import bpy
import pytest
from fabrik_addon.actions.mirror.pose import BonePair, sides_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.control_bones import control_names
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import limit_of, rig_of
from fabrik_addon.rig.targets import resolve_point
from mathutils import Matrix, Quaternion, Vector

from support.judging import assert_bones_stay, bone_matrices
from support.scenes import (
    SOME_MODES,
    armature,
    assert_refused,
    edited,
    go_live,
    go_to,
    key_automatically,
    linked,
    make_body,
    overridden,
    press,
    select,
    update,
)
from support.skeletons import height, make_character, rename_all, set_up

CHARACTERS = (
    "human_mixamo",
    "human_game_engine",
    "makehuman",
    "cesium_man",
    "cmu_walk",
    "basic_human",
    "human",
    "wolf",
)
SAME, TURNED = 2e-5, 2e-4  # of the height, and radians: what single precision leaves over a chain of bones


def pose_at_random(owner: bpy.types.Object, seed: int, most: float = 0.4) -> None:
    """Turn all bones but the controls, and move the hips; without limits, so that any pose will do."""
    random = Random(seed)
    bone: bpy.types.PoseBone
    for bone in pose_bones(owner):
        limit_of(bone).limit = "FREE"
        if not bone.bone.use_deform and bone.name in control_names(owner):
            continue
        axis = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        turn = bone.matrix_basis.to_quaternion() @ Quaternion(axis, random.uniform(-most, most))
        bone.rotation_mode = SOME_MODES[len(bone.name) % len(SOME_MODES)]
        bone.matrix_basis = Matrix.LocRotScale(bone.location, turn, bone.scale)
        if bone.parent is None:
            bone.location = [random.uniform(-0.2, 0.2) * bone.bone.length for _ in range(3)]
    update()


def pole_of(owner: bpy.types.Object, chain: str) -> Vector:
    """Where the pole of a chain stands in armature space."""
    goal = next(goal for goal in goals_of(rig_of(owner).chains[chain]) if goal.role == "pole")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return owner.matrix_world.inverted() @ resolve_point("pole", goal.found, goal.bone, depsgraph)


def images(owner: bpy.types.Object, names: Iterable[str] = ()) -> dict[str, Matrix]:
    """By name how each bone that has another side, or is in the middle, has to stand in a flipped pose.

    The mirror image of a pose of a bone, as a motion of armature space away from its rest, is that of the other one.
    """
    sides, stands, found = sides_of(owner), bone_matrices(owner), dict[str, Matrix]()
    for name in names or sides:
        pair: BonePair = sides[name]
        rest, other = pair.bone.bone.matrix_local, pair.other.bone.matrix_local
        found[pair.other.name] = pair.mirror @ stands[name] @ rest.inverted() @ pair.mirror @ other
    return found


def assert_stands(owner: bpy.types.Object, wanted: dict[str, Matrix]) -> None:
    """Bones stand as wanted; a second evaluation leaves them.

    Where the rests of an armature are no mirror images, as those of scanned people, they turn as wanted.
    """
    near = SAME * height(owner) / owner.matrix_world.to_scale().x
    are_alike = all(pair.is_mirrored for pair in sides_of(owner).values())
    for _ in range(2):
        found = bone_matrices(owner)
        for name, matrix in wanted.items():
            off = (found[name].translation - matrix.translation).length
            assert off < near or not are_alike, name
            turn = found[name].to_quaternion().rotation_difference(matrix.to_quaternion())
            assert abs(turn.to_axis_angle()[1]) < TURNED, name
        owner.update_tag()


def assert_as_before(owner: bpy.types.Object, before: dict[str, Matrix]) -> None:
    """Bones stand where they stood, whatever their rests."""
    assert_bones_stay(owner, before, SAME * height(owner) / owner.matrix_world.to_scale().x, TURNED)


def without(owner: bpy.types.Object, wanted: dict[str, Matrix]) -> dict[str, Matrix]:
    """What is wanted of bones that are no goals."""
    return {name: matrix for name, matrix in wanted.items() if name not in control_names(owner)}


@pytest.mark.parametrize("name", CHARACTERS)
def test_a_character_is_paired(name: str) -> None:
    """Also where no two bones lie as mirror images, as in a skeleton measured of an actor."""
    owner = make_character(name)
    sides = sides_of(owner)
    assert {bone.name for bone in pose_bones(owner)} == set(sides)
    pairs = [pair for pair in sides.values() if pair.bone != pair.other]
    assert len(pairs) > 0.5 * len(sides)
    assert sum(pair.is_mirrored for pair in pairs) > (-1 if name == "cmu_walk" else 0.7 * len(pairs))


@pytest.mark.parametrize("name", CHARACTERS)
def test_a_flipped_pose_is_the_mirror_image(name: str) -> None:
    """Bones that lie at rest as mirror images stand as such; where the rests differ, they turn as such."""
    owner = make_character(name)
    select(owner)
    pose_at_random(owner, 1)
    wanted = images(owner)
    assert press("flip_pose", bones="ALL") == {"FINISHED"}
    assert_stands(owner, wanted)


@pytest.mark.parametrize("name", ["human_mixamo", "cesium_man", "human_game_engine"])
def test_what_has_no_names_is_paired_by_how_it_stands(name: str) -> None:
    owner = make_character(name)
    before = {one: pair.other.name for one, pair in sides_of(owner).items()}
    new = rename_all(owner)
    found = {one: pair.other.name for one, pair in sides_of(owner).items()}
    told = {new[one]: new[other] for one, other in before.items()}
    same = [one for one in told if found.get(one) == told[one]]
    assert len(same) > 0.9 * len(told)


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("goals", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("name", ["human_mixamo", "human_game_engine", "cmu_walk", "basic_human"])
def test_goals_come_along_and_the_pose_holds(name: str, goals: str, is_live: bool) -> None:
    owner: bpy.types.Object = set_up(name, controls=goals)
    rig_of(owner).live = False
    select(owner)
    pose_at_random(owner, 2)
    press("goal_snap", chains="ALL")
    rig_of(owner).live = is_live
    update()
    wanted, stood = without(owner, images(owner)), without(owner, bone_matrices(owner))
    poles = {side: pole_of(owner, f"Arm.{side}") for side in "LR"}
    press("flip_pose", bones="ALL")
    assert_stands(owner, wanted)
    if all(pair.is_mirrored for pair in sides_of(owner).values()):
        mirror = sides_of(owner)[rig_of(owner).body_bone].mirror
        for side, other in ("LR", "RL"):
            assert (pole_of(owner, f"Arm.{side}") - mirror @ poles[other]).length < 1e-3 * height(owner)
    flipped = without(owner, bone_matrices(owner))
    press("solve_all")
    assert_as_before(owner, flipped)
    press("flip_pose", bones="ALL")
    assert_as_before(owner, stood)
    press("solve_all")
    assert_as_before(owner, stood)
    go_live(owner)
    assert_as_before(owner, stood)


def test_one_side_is_given_to_the_other() -> None:
    owner: bpy.types.Object = set_up("human_mixamo")
    select(owner)
    pose_at_random(owner, 3)
    go_live(owner)
    left = ("LeftArm", "LeftForeArm", "LeftHand", "LeftHandThumb1")
    names = [f"mixamorig:{name}" for name in left]
    before = [tuple(pose_bones(owner)[name].matrix_basis.to_quaternion()) for name in names]
    select(owner, *names)
    press("mirror_pose")
    sides = sides_of(owner)
    for name, turn in zip(names, before, strict=True):
        pair = sides[name]
        assert tuple(pair.bone.matrix_basis.to_quaternion()) == pytest.approx(turn, abs=1e-5)
        image = pair.rotation(Quaternion(turn))
        assert image.rotation_difference(pair.other.matrix_basis.to_quaternion()).angle < TURNED
    spine = pose_bones(owner)["mixamorig:Spine"].matrix_basis.copy()
    press("mirror_pose", bones="ALL")
    assert pose_bones(owner)["mixamorig:Spine"].matrix_basis == spine


def test_a_control_stands_for_its_limb() -> None:
    owner: bpy.types.Object = set_up("human_mixamo")
    select(owner)
    pose_at_random(owner, 4)
    press("goal_snap", chains="ALL")
    go_live(owner)
    sides = sides_of(owner)
    arm = [f"mixamorig:Left{part}" for part in ("Arm", "ForeArm", "Hand")]
    turns = {name: pose_bones(owner)[name].matrix_basis.to_quaternion() for name in arm}
    select(owner, rig_of(owner).chains["Arm.L"].target_bone)
    press("mirror_pose")
    for name, turn in turns.items():
        other = sides[name].other.matrix_basis.to_quaternion()
        assert sides[name].rotation(turn).rotation_difference(other).angle < TURNED


def test_both_sides_selected_the_active_bone_tells_which_is_taken() -> None:
    owner = make_character("human_mixamo")
    pose_at_random(owner, 5)
    arms = ["mixamorig:LeftArm", "mixamorig:RightArm"]
    select(owner, *arms)
    armature(owner).bones.active = armature(owner).bones["mixamorig:Spine"]
    assert_refused("make a bone of the side to take the active one", "mirror_pose")
    armature(owner).bones.active = armature(owner).bones[arms[1]]
    stood = pose_bones(owner)[arms[1]].matrix_basis.copy()
    press("mirror_pose")
    assert pose_bones(owner)[arms[1]].matrix_basis == stood
    image = sides_of(owner)[arms[1]].rotation(stood.to_quaternion())
    assert image.rotation_difference(pose_bones(owner)[arms[0]].matrix_basis.to_quaternion()).angle < TURNED


def test_locked_channels_stay_and_that_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_body("XYZ")
    pose_bones(owner)["upper_arm.L"].rotation_euler = (0.3, 0.2, -0.4)
    pose_bones(owner)["thigh.L"].rotation_euler = (0.3, 0.2, -0.4)
    for name, lock in (("upper_arm.R", (False, True, False)), ("thigh.R", (True, True, True))):
        pose_bones(owner)[name].lock_rotation = lock
    hips = pose_bones(owner)["hips"]
    hips.location, hips.lock_location = (0.2, 0.1, 0.0), (True, False, False)
    press("flip_pose", bones="ALL")
    assert pose_bones(owner)["upper_arm.R"].rotation_euler.y == 0.0
    assert tuple(pose_bones(owner)["upper_arm.R"].rotation_euler) != (0.0, 0.0, 0.0)
    assert tuple(pose_bones(owner)["thigh.R"].rotation_euler) == (0.0, 0.0, 0.0)
    assert hips.location.x == pytest.approx(0.2)
    assert "locked channels stay as they are: 'hips', 'upper_arm.R', 'thigh.R'" in capfd.readouterr().out


def test_a_bone_without_another_side_stays_and_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_body()
    with edited(owner) as bones:
        sword = bones.new("sword")
        sword.head, sword.tail, sword.parent = (0.85, 0, 1.45), (1.4, 0, 1.45), bones["hand.L"]
    pose_bones(owner)["sword"].rotation_quaternion = (0.9, 0.3, 0.1, 0.2)
    update()
    before = pose_bones(owner)["sword"].matrix_basis.copy()
    press("flip_pose", bones="ALL")
    assert pose_bones(owner)["sword"].matrix_basis == before
    assert "without another side: 'sword'" in capfd.readouterr().out
    select(owner, "sword")
    assert_refused("no bone that is meant has another side", "flip_pose")


def test_poses_flipped_with_automatic_keying_stand_in_their_frames() -> None:
    owner: bpy.types.Object = set_up("human_mixamo")
    select(owner)
    go_live(owner)
    key_automatically()
    flipped = dict[int, dict[str, Matrix]]()
    for frame in (1, 10):
        go_to(frame)
        pose_at_random(owner, frame)
        wanted = without(owner, images(owner))
        press("flip_pose", bones="ALL")
        assert_stands(owner, wanted)
        flipped[frame] = without(owner, bone_matrices(owner))
    for frame in (10, 1, 10):
        go_to(frame)
        assert_as_before(owner, flipped[frame])


def test_keyed_bones_hold_until_the_frame_changes_and_that_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    owner: bpy.types.Object = set_up("human_mixamo")
    select(owner)
    pose_at_random(owner, 6)
    for bone in pose_bones(owner):
        for path in ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle"):
            bone.keyframe_insert(path, frame=1)
    for chain in rig_of(owner).chains:
        chain.start = "ANIMATED"
    press("goal_snap", chains="ALL")
    for name in control_names(owner):
        pose_bones(owner)[name].keyframe_insert("location", frame=1)
        pose_bones(owner)[name].keyframe_insert("rotation_quaternion", frame=1)
    go_live(owner)
    wanted, stood = without(owner, images(owner)), without(owner, bone_matrices(owner))
    press("flip_pose", bones="ALL")
    assert_stands(owner, wanted)
    assert "is keyed: key the pose, or the next frame change loses it" in capfd.readouterr().out
    go_to(2, 1)
    assert_as_before(owner, stood)


def test_several_armatures_at_once() -> None:
    owners = [make_body(), make_body()]
    wanted = []
    bpy.ops.object.mode_set(mode="OBJECT")
    for seed, owner in enumerate(owners):
        pose_at_random(owner, seed)
        wanted.append(images(owner))
        owner.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    assert {owner.mode for owner in owners} == {"POSE"}
    press("flip_pose", bones="ALL")
    for owner, pose in zip(owners, wanted, strict=True):
        assert_stands(owner, pose)


def test_a_linked_armature_is_refused_and_an_override_is_flipped(tmp_path: Path) -> None:
    owner = overridden(make_body(), tmp_path)
    pose_at_random(owner, 7)
    wanted = images(owner)
    press("flip_pose", bones="ALL")
    assert_stands(owner, wanted)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    make_body()
    body: bpy.types.Object = linked(tmp_path, "objects", "Body")
    bpy.context.collection.objects.link(body)
    bpy.context.view_layer.objects.active = body
    assert not bpy.ops.fabrik.flip_pose.poll()
