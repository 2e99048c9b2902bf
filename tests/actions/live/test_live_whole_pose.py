# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole pose laid over a live character, of which the pose knows no control: it stands, and all goals come along."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.judging import bone_matrices, channels, statuses
from support.scenes import go_live, go_to, key_automatically, key_bones, note_of, select, update
from support.skeletons import height, set_up

CHARACTERS = ("human_mixamo", "human_game_engine", "cmu_walk", "basic_human")
SAME, TURNED = 1e-5, 1e-4  # of the height, and radians
Channels = dict[str, tuple[float, ...]]  # rotation and location channels of bones by their names


def deforming(owner: bpy.types.Object) -> list[str]:
    """Names of the bones that are no controls."""
    return [bone.name for bone in pose_bones(owner) if bone.bone.use_deform]


def character(name: str, controls: str = "BONES", *, limited: bool = False) -> bpy.types.Object:
    """A character that was set up, live, by default without the joint limits of a human."""
    owner: bpy.types.Object = set_up(name, controls=controls)
    for bone in pose_bones(owner) if not limited else ():
        limit_of(bone).limit = "FREE"
    go_live(owner)
    return owner


def posed(owner: bpy.types.Object, seed: int) -> tuple[Channels, dict[str, Matrix]]:
    """A pose of all bones but the controls: its channels, and how it stands without goals; the character stays."""
    random, bones = Random(seed), pose_bones(owner)
    rig_of(owner).live = False
    update()
    stood, found = {bone.name: read(bone) for bone in bones}, Channels()
    for name in deforming(owner):
        bone = bones[name]
        axis = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        turn = Quaternion(stood[name][:4]) @ Quaternion(axis, random.uniform(-0.35, 0.35))
        place = Vector(stood[name][4:])
        if name == rig_of(owner).body_bone:
            place += Vector([random.uniform(-0.1, 0.1) * bone.bone.length for _ in range(3)])
        write(bone, (*turn, *place))
        found[name] = read(bone)
    matrices = bone_matrices(owner)
    for bone in bones:
        write(bone, stood[bone.name])
    update()
    go_live(owner)
    return found, matrices


def read(bone: bpy.types.PoseBone) -> tuple[float, ...]:
    """The rotation of a bone, and its location channels."""
    return (*Quaternion(bone.matrix_basis.to_quaternion()), *Vector(bone.location))


def write(bone: bpy.types.PoseBone, values: tuple[float, ...]) -> None:
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion, bone.location = values[:4], values[4:]


def by_script(owner: bpy.types.Object, pose: Channels) -> None:
    for name, values in pose.items():
        write(pose_bones(owner)[name], values)


def by_asset(owner: bpy.types.Object, pose: Channels) -> None:
    """As the pose library applies an asset."""
    action, twin = bpy.data.actions.new("Pose"), owner.copy()
    bpy.context.collection.objects.link(twin)
    rig_of(twin).live = False
    give_action(twin.animation_data_create(), action)
    by_script(twin, pose)
    for name in pose:
        pose_bones(twin)[name].keyframe_insert("rotation_quaternion", frame=1)
        pose_bones(twin)[name].keyframe_insert("location", frame=1)
    bpy.data.objects.remove(twin)
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    update()
    owner.pose.apply_pose_from_action(action, evaluation_time=1)


def by_paste(owner: bpy.types.Object, pose: Channels) -> None:
    """Copied from another character of the same bones."""
    twin = owner.copy()
    bpy.context.collection.objects.link(twin)
    rig_of(twin).live = False
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    by_script(twin, pose)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = twin
    select(twin, *pose)
    bpy.ops.pose.copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(twin)
    bpy.context.view_layer.objects.active = owner
    select(owner, *pose)
    bpy.ops.pose.paste(flipped=False)


WAYS: dict[str, Callable[[bpy.types.Object, Channels], None]] = {
    "script": by_script,
    "asset": by_asset,
    "paste": by_paste,
}


def assert_pose(owner: bpy.types.Object, matrices: dict[str, Matrix]) -> None:
    """All bones but the controls stand as the pose has them, and stay there."""
    update()
    wanted, size = {name: matrices[name] for name in deforming(owner)}, height(owner)
    scale = owner.matrix_world.to_scale().x
    for _ in range(2):
        found = {name: matrix for name, matrix in bone_matrices(owner).items() if name in wanted}
        for name, matrix in found.items():
            assert (matrix.translation - wanted[name].translation).length * scale < SAME * size, name
            turn = matrix.to_quaternion().rotation_difference(wanted[name].to_quaternion())
            assert abs(turn.to_axis_angle()[1]) < TURNED, name
        owner.update_tag()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("name", CHARACTERS)
def test_the_pose_stands_and_pinned_feet_come_along(name: str, controls: str, way: str) -> None:
    owner = character(name, controls)
    pose, matrices = posed(owner, 1)
    WAYS[way](owner, pose)
    assert_pose(owner, matrices)
    asked = [chain for chain in rig_of(owner).chains if goals_of(chain)]
    assert {chain.status for chain in asked} == {"REACHED"}
    assert any(chain.pin for chain in asked)
    assert "were posed by hand, which is the start pose now" in note_of(owner)
    rig_of(owner).live = False
    bpy.ops.fabrik.solve_all()
    assert_pose(owner, matrices)


def everything(owner: bpy.types.Object) -> tuple[object, ...]:
    """What a pose and its goals consist of."""
    chains = [(tuple(one.held_location), tuple(one.rotation_offset), one.start) for one in rig_of(owner).chains]
    objects = sorted(
        (found.name, *(value for row in found.matrix_basis for value in row)) for found in bpy.data.objects
    )
    return channels(owner), chains, objects


@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
def test_one_undo_brings_all_back_and_redo_does_it_again(controls: str) -> None:
    owner = character("human_mixamo", controls)
    pose, matrices = posed(owner, 2)
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    update()
    bpy.ops.ed.undo_push(message="before")
    before, name = everything(owner), owner.name
    by_script(owner, pose)
    live.state.paused = True
    bpy.ops.ed.undo_push(message="pose")
    live.state.paused = False
    owner.update_tag()
    assert_pose(owner, matrices)
    bpy.ops.ed.undo()
    update()
    owner = bpy.data.objects[name]
    assert everything(owner) == before
    bpy.ops.ed.redo()
    assert_pose(bpy.data.objects[name], matrices)


@pytest.mark.parametrize("has_action", [False, True])
def test_pasted_poses_that_are_keyed_by_themselves_stand_in_their_frames(has_action: bool) -> None:
    owner = character("human_mixamo")
    poses = {frame: posed(owner, frame) for frame in (1, 10)}
    if has_action:
        owner.keyframe_insert("location", frame=1)
    key_automatically()
    for frame, (pose, matrices) in poses.items():
        go_to(frame)
        by_paste(owner, pose)
        assert_pose(owner, matrices)
    keyed = {curve.data_path for curve in fcurves_of(owner)}
    for chain in rig_of(owner).chains:
        for goal in goals_of(chain):
            assert pose_bones(owner)[goal.bone].path_from_id("location") in keyed
    for frame in (10, 1, 10):
        go_to(frame)
        assert_pose(owner, poses[frame][1])


def test_a_keyed_pose_is_pasted_beside_keys_that_live_posing_goes_over() -> None:
    owner = character("human_mixamo")
    (first, stood), (pose, matrices) = posed(owner, 3), posed(owner, 4)
    by_paste(owner, first)
    update()
    key_bones(owner)
    update()
    assert {chain.start for chain in rig_of(owner).chains if goals_of(chain)} == {"CAPTURED"}
    key_automatically()
    go_to(12)
    assert_pose(owner, stood)
    by_paste(owner, pose)
    assert_pose(owner, matrices)
    go_to(1, 12)
    assert_pose(owner, matrices)


def test_a_keyed_pose_is_pasted_over_another_key() -> None:
    owner = character("human_mixamo")
    first, other = posed(owner, 3), posed(owner, 4)
    key_automatically()
    for pose, matrices in (first, other, first):
        by_paste(owner, pose)
        assert_pose(owner, matrices)


def test_controls_that_are_pasted_with_the_bones_stay_where_these_are() -> None:
    """A pose that was copied from a live character: controls and bones belong together."""
    owner = character("human_mixamo")
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    copied = list[Channels]()
    for seed in (5, 6):
        by_script(owner, posed(owner, seed)[0])
        update()
        copied.append({bone.name: read(bone) for bone in pose_bones(owner)})
    first, matrices = copied[0], bone_matrices(owner)
    by_script(owner, first)
    update()
    for bone in pose_bones(owner):
        assert read(bone) == pytest.approx(first[bone.name], abs=1e-5), bone.name
    by_script(owner, copied[1])
    assert_pose(owner, matrices)


def test_limits_that_stop_a_bone_are_told() -> None:
    owner = character("human_mixamo", limited=True)
    shins = [pose_bones(owner)[f"mixamorig:{side}Leg"] for side in ("Left", "Right")]
    for bone in shins:
        bone.rotation_mode = "QUATERNION"
    update()
    pose = {name: read(pose_bones(owner)[name]) for name in deforming(owner)}
    for bone in (*shins, pose_bones(owner)["mixamorig:LeftUpLeg"]):
        pose[bone.name] = (*Quaternion(pose[bone.name][:4]) @ Quaternion((0, 1, 0), 0.5), *pose[bone.name][4:])
    by_script(owner, pose)
    update()
    assert "joint limits stop 'mixamorig:LeftLeg', 'mixamorig:RightLeg'" in note_of(owner)
    assert set(statuses(owner).values()) <= {"REACHED", "NONE"}


def test_bones_of_several_limbs_turned_at_once_are_no_whole_pose() -> None:
    owner = character("human_mixamo")
    feet = [f"mixamorig:{side}Foot" for side in ("Left", "Right")]
    before = bone_matrices(owner)
    for side in ("Left", "Right"):
        bone = pose_bones(owner)[f"mixamorig:{side}UpLeg"]
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0, 1, 0), 0.2)
    found, size = bone_matrices(owner), height(owner)
    for name in feet:
        assert (found[name].translation - before[name].translation).length < 1e-4 * size
