# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one armature to another: the same whatever roll, scale and facing, and feet that stay in place."""

from __future__ import annotations

from math import nan, radians

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.marks import contacts_of
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from mathutils import Matrix, Vector

from support.animated import (
    FIRST,
    LAST,
    animated,
    choose,
    places,
    played,
    size,
    transfer,
    ways,
    without_motion,
)
from support.scenes import assert_refused, keyed, update
from support.shifting import STANDS, shifting
from support.skeletons import make_character

FRAMES = range(FIRST, LAST + 1)
LOCAL = 1e-3  # radians; channels are single precision


def test_limbs_point_where_those_of_another_skeleton_do() -> None:
    source = animated("human_mixamo")
    wanted = ways(source)
    owner = without_motion("human_game_engine")
    transfer(source, owner, keep_contacts=False)
    assert np.abs(ways(owner) - wanted).max() < 0.01


@pytest.mark.parametrize("change", ["turned", "small", "rolled", "lying"])
def test_the_same_skeleton_moves_the_same(change: str) -> None:
    source = animated("human_game_engine")
    wanted, upright = ways(source), Matrix()
    owner = without_motion("human_game_engine")
    if change == "turned":
        owner.rotation_euler.z += radians(90.0)
        upright = Matrix.Rotation(radians(-90.0), 4, "Z")
    elif change == "small":
        owner.scale *= 0.01
    elif change == "lying":  # as where an importer takes the wrong axis to be up
        source.matrix_world = Matrix.Rotation(radians(90.0), 4, "X") @ source.matrix_world
    else:
        choose(owner)
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in owner.data.edit_bones:
            bone.roll += 0.7
        bpy.ops.object.mode_set(mode="OBJECT")
    update()
    transfer(source, owner, keep_contacts=False)
    assert np.abs(ways(owner, upright) - wanted).max() < LOCAL


def driven(owner: bpy.types.Object) -> None:
    """Let the bones of a character follow others that have its motion, as in control rigs."""
    choose(owner)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = owner.data.edit_bones
    names = [bone.name for bone in bones]
    for bone in bones:
        bone.name, bone.use_deform = f"DRV_{bone.name}", False
    for name in names:
        other, bone = bones[f"DRV_{name}"], bones.new(name)
        bone.head, bone.tail, bone.roll, bone.use_deform = other.head, other.tail, other.roll, True
        if other.parent is not None:
            bone.parent = bones[other.parent.name.removeprefix("DRV_")]
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in names:
        constraint = owner.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = owner, f"DRV_{name}"
    update()


def test_of_a_control_rig_the_bones_that_deform_are_read() -> None:
    source = animated("human_mixamo")
    wanted = ways(source)
    driven(source)
    owner = without_motion("human_game_engine")
    transfer(source, owner, keep_contacts=False)
    assert np.abs(ways(owner) - wanted).max() < 0.01


def test_hips_go_as_far_as_legs_are_long() -> None:
    source = animated("human_mixamo")
    hips = pose_bones(source)[find_parts(source).body]
    ahead = hips.bone.matrix_local.to_3x3().inverted() @ (source.matrix_world.to_3x3().inverted() @ Vector((0, -1, 0)))
    for frame, way in ((FIRST, 0.0), (LAST, 2.0)):
        bpy.context.scene.frame_set(frame)
        hips.location += ahead * way
        hips.keyframe_insert("location", frame=frame)
    owner = without_motion("human_game_engine")
    transfer(source, owner, keep_contacts=False)
    went, goes = (places(one, find_parts(one).body) for one in (source, owner))
    ratio = size(owner) * owner.scale[0] / (size(source) * source.scale[0])
    assert (goes[-1] - goes[0])[1] == pytest.approx(ratio * (went[-1] - went[0])[1], rel=0.01)


@pytest.mark.parametrize("name", ["human_game_engine", "cesium_man"])
def test_feet_stand_still_where_those_of_the_source_do(name: str) -> None:
    source = shifting()
    owner = without_motion(name)
    transfer(source, owner)
    found = contacts_of(owner)
    assert len(found) == len(STANDS)
    for contact, (first, last) in zip(found, STANDS.values(), strict=True):
        assert abs(contact.first - first) <= 1
        assert abs(contact.last - last) <= 1
        frames = zip(range(contact.first, contact.last + 1), contact.kinds, strict=True)
        stood = places(owner, contact.bone, [frame for frame, kind in frames if kind == FLAT])
        assert len(stood) > 5
        assert np.ptp(stood, axis=0).max() < 1e-5
        rest = owner.matrix_world @ pose_bones(owner)[contact.bone].bone.head_local
        assert stood[:, 2] == pytest.approx(rest.z, abs=1e-4)


def test_no_contact_is_kept_where_none_is_wanted() -> None:
    source = shifting()
    owner = without_motion("human_game_engine")
    transfer(source, owner, keep_contacts=False)
    assert not contacts_of(owner)


def test_hips_that_hang_on_a_turned_root_stand_where_they_are_to() -> None:
    source = animated("human_mixamo")
    owner = without_motion("human_game_engine")
    transfer(source, owner)
    hips = find_parts(owner).body
    wanted = played(owner, [hips], FRAMES)
    root = pose_bones(owner)[hips].parent
    assert root is not None
    owner.animation_data_clear()
    for bone in pose_bones(owner):
        bone.matrix_basis = Matrix()
    root.matrix_basis = Matrix.LocRotScale(Vector((0.2, 0.3, -0.1)), Matrix.Rotation(0.8, 3, "X"), None)
    update()
    transfer(source, owner)
    assert np.abs(played(owner, [hips], FRAMES) - wanted).max() < 1e-3 * size(owner)


def test_a_pose_at_the_end_that_is_none_of_the_motion_is_left_out() -> None:
    source = animated("human_mixamo")
    for bone in pose_bones(source):
        bone.rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=FIRST - 1)
    owner = without_motion("human_game_engine")
    transfer(source, owner)
    turns = [curve for curve in fcurves_of(owner) if "rotation" in curve.data_path]
    assert min(point.co[0] for curve in turns for point in curve.keyframe_points) == FIRST


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("rest", "no motion"),
        ("wolf", "another kind of body"),
        ("nan", "is no number"),
        ("one frame", "too few"),
        ("name", "no armature object 'Nobody'"),
        ("itself", "choose another one"),
    ],
)
def test_what_cannot_be_brought_is_refused_and_changes_nothing(case: str, text: str) -> None:
    source = make_character("human_mixamo") if case == "rest" else animated("human_mixamo")
    owner = without_motion("wolf" if case == "wolf" else "human_game_engine")
    options: dict[str, object] = {}
    if case == "nan":
        source.location.x = nan
    elif case == "one frame":
        options = {"span": "RANGE", "frame_start": 3, "frame_end": 3}
    elif case == "name":
        options = {"source": "Nobody"}
    elif case == "itself":
        options = {"source": owner.name}
    choose(owner, source)
    assert_refused(text, "motion_transfer", **options)
    assert owner.animation_data is None or owner.animation_data.action is None


def test_animals_turn_their_limbs_from_their_own_stance() -> None:
    source, owner = make_character("wolf"), make_character("horse")
    thighs = [
        next(part.bones[0] for part in find_parts(one).parts if part.name == "Hind Leg.L") for one in (source, owner)
    ]
    bone = pose_bones(source)[thighs[0]]
    bone.rotation_mode = "XYZ"
    keyed(bone, {frame: (angle, 0.1, angle) for frame, angle in ((FIRST, -0.4), (LAST, 0.5))}, "rotation_euler")
    transfer(source, owner, keep_contacts=False)
    turns = []
    for one, name in zip((source, owner), thighs, strict=True):
        rest = np.array(pose_bones(one)[name].bone.matrix_local.to_3x3())
        turns.append(played(one, [name], FRAMES)[:, 0, :3, :3] @ rest.T)
    assert np.abs(turns[1] - turns[0]).max() < LOCAL
    assert np.abs(turns[1] - np.eye(3)).max() > 0.3
