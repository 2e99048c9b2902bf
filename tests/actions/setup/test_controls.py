# SPDX-License-Identifier: GPL-3.0-or-later
"""What is posed by hand is drawn outside the mesh: rings about hips, chest and head, boxes about hands and feet."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.setup.controls import BODY_COLLECTION, flesh_of
from fabrik_addon.rig.bones import armature_of, pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Matrix, Vector

from support.scenes import add_skin, press, update
from support.skeletons import make_character, set_up

BODY = {
    "human_mixamo": ("mixamorig:Hips", "mixamorig:Spine2", "mixamorig:Head"),
    "human_game_engine": ("pelvis", "spine_03", "head"),
}


def drawn_at(bone: Any) -> Matrix:
    """How a bone's shape, of size 1, stands in armature space."""
    assert not bone.use_custom_shape_bone_size
    turn = Euler(bone.custom_shape_rotation_euler).to_quaternion()
    shape = Matrix.LocRotScale(Vector(bone.custom_shape_translation), turn, Vector(bone.custom_shape_scale_xyz))
    found: Matrix = bone.bone.matrix_local @ shape
    return found


def skinned(name: str) -> bpy.types.Object:
    """A character with a mesh of some points about each of its bones, that follow it alone."""
    owner = make_character(name)
    points, groups = list[Vector](), dict[str, list[int]]()
    size = max(float(bone.head.z) for bone in pose_bones(owner))
    for bone in pose_bones(owner):
        rest, radius = bone.bone.matrix_local, WIDTHS.get(bone.name, 0.015) * size
        for k in range(24):
            along = bone.bone.length * (k % 4 + 0.5) / 4.0
            point = Vector((radius * cos(k * pi / 12.0), along, 0.6 * radius * sin(k * pi / 12.0)))
            groups.setdefault(bone.name, []).append(len(points))
            points.append(rest @ point)
    add_skin(owner, points, [], groups)
    bpy.context.view_layer.objects.active = owner
    press("character_setup")
    return owner


WIDTHS = {name: width for names in BODY.values() for name, width in zip(names, (0.1, 0.1, 0.06), strict=True)}


@pytest.mark.parametrize("name", BODY)
def test_rings_and_boxes_stand_about_the_mesh(name: str) -> None:
    owner = skinned(name)
    flesh = flesh_of(bpy.context, owner)
    for bone in [pose_bones(owner)[one] for one in BODY[name]]:
        assert bone.custom_shape.name.startswith("FABRIK circle")
        ring = drawn_at(bone)
        inside = flesh[bone.name] @ np.array(ring.inverted())[:3, :3].T + np.array(ring.inverted())[:3, 3]
        about = np.hypot(inside[:, 0], inside[:, 2])
        assert np.percentile(about, 90) < 1.0, "it lies outside the body"
        assert np.percentile(about, 98) > 0.5, "and near it"
        up = (ring.to_3x3() @ Vector((0.0, 1.0, 0.0))).normalized()
        assert abs(up.z) > 0.95
    collection = armature_of(owner).collections_all[BODY_COLLECTION]
    assert {bone.name for bone in collection.bones} == {*BODY[name]}
    for chain in [rig_of(owner).chains[one] for one in ("Arm.L", "Arm.R", "Leg.L", "Leg.R")]:
        control, tip = pose_bones(owner)[chain.target_bone], pose_bones(owner)[chain.tip_bone]
        box = np.array(drawn_at(control).inverted())
        names = [tip.name, *(bone.name for bone in tip.children_recursive)]
        inside = np.concatenate([flesh[one] for one in names if one in flesh]) @ box[:3, :3].T + box[:3, 3]
        assert (np.abs(inside) <= 1.0).all(axis=1).mean() > 0.85
        assert np.abs(inside).max(axis=0).min() > 0.8


def test_shapes_of_a_rig_stay_and_setting_up_again_changes_nothing() -> None:
    owner = make_character("human_mixamo")
    own = bpy.data.objects.new("Own", None)
    head = pose_bones(owner)["mixamorig:Head"]
    head.custom_shape = own
    press("character_setup")
    assert pose_bones(owner)["mixamorig:Head"].custom_shape == own
    before = [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)]
    press("character_setup")
    assert [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)] == before


def test_removing_all_draws_bones_as_before() -> None:
    owner = make_character("human_mixamo")

    def looks() -> list[tuple[Any, ...]]:
        bones = [bone for bone in pose_bones(owner) if bone.name.startswith("mixamorig")]
        return [(bone.custom_shape, bone.use_custom_shape_bone_size, bone.color.palette) for bone in bones]

    pose_bones(owner)["mixamorig:Hips"].custom_shape_scale_xyz = (0.03, 0.04, 0.05)  # importers give each its own
    before = looks()
    sizes = [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)]
    press("character_setup")
    assert looks() != before
    press("rig_clear")
    assert looks() == before
    for found, size in zip([tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)], sizes, strict=True):
        assert found == pytest.approx(size, rel=1e-6)
    assert BODY_COLLECTION not in armature_of(owner).collections_all


def test_the_trunk_can_not_be_torn_by_moving_its_rings() -> None:
    """Chest and head are locked in place, so that G turns them; but not where their place is used, or was locked."""
    owner = make_character("human_mixamo")
    chest, head, hips = (f"mixamorig:{part}" for part in ("Spine2", "Head", "Hips"))

    def locks(name: str) -> tuple[bool, ...]:
        found: Any = pose_bones(owner)[name].lock_location
        return tuple(found)

    pose_bones(owner)[head].keyframe_insert("location", frame=1)
    pose_bones(owner)[chest].location = (1e-15, 0.0, -2e-15)  # as it is imported
    press("character_setup")
    assert locks(chest) == (True, True, True)
    assert not any(locks(head))
    assert not any(locks(hips))
    press("rig_clear")
    assert not any(locks(chest))
    pose_bones(owner)[chest].lock_location = (True, False, False)
    press("character_setup")
    assert locks(chest) == (True, False, False)
    press("rig_clear")
    assert locks(chest) == (True, False, False)


def test_without_a_mesh_rings_have_a_size_of_the_skeleton() -> None:
    owner = set_up("cmu_walk")
    update()
    bone = pose_bones(owner)[rig_of(owner).body_bone]
    assert bone.custom_shape.name.startswith("FABRIK circle")
    heads = np.array([tuple(bone.bone.head_local) for bone in pose_bones(owner)])
    size = float((heads.max(axis=0) - heads.min(axis=0)).max())
    assert bone.custom_shape_scale_xyz[0] == pytest.approx(0.1 * size, rel=0.2)
