# SPDX-License-Identifier: GPL-3.0-or-later
"""Set-up characters whose goals hang on them: where their bones stand, and whether all ways pose them alike."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Vector

from support.scenes import update

HUMANS = ("human_mixamo", "human_game_engine", "human")


def chest_of(owner: bpy.types.Object) -> str:
    """The bone on which the controls of the hands hang."""
    parent = pose_bones(owner)[chain(owner, "Arm.L").target_bone].parent
    assert parent is not None
    return parent.name


def chain(owner: bpy.types.Object, name: str) -> FabrikChain:
    return rig_of(owner).chains[name]


def activate(owner: bpy.types.Object, name: str) -> None:
    """Make a chain the active one."""
    rig_of(owner).active_index = [one.name for one in rig_of(owner).chains].index(name)


def matrices(owner: bpy.types.Object) -> dict[str, Matrix]:
    """Of all bones in the world, as evaluated."""
    found = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: found.matrix_world @ bone.matrix for bone in pose_bones(found)}


def hand(owner: bpy.types.Object, name: str = "Arm.L") -> Matrix:
    """How a hand stands in the world, as evaluated."""
    return matrices(owner)[chain(owner, name).tip_bone]


def assert_still(owner: bpy.types.Object, before: dict[str, Matrix], still: float = 2e-5, turned: float = 1e-4) -> None:
    """Bones stand where they stood, within a share of the height and of axes: what single precision leaves."""
    for name, matrix in matrices(owner).items():
        if name in before:
            assert (matrix.translation - before[name].translation).length <= still * height(owner), name
            assert np.abs(np.array(matrix.to_3x3()) - np.array(before[name].to_3x3())).max() <= turned, name


def height(owner: bpy.types.Object) -> float:
    return float(max(matrix.translation.z for matrix in matrices(owner).values()))


def drop_hips(owner: bpy.types.Object, share: float = 0.12) -> Vector:
    """Move the hips down by hand; where they were."""
    bone = pose_bones(owner)[rig_of(owner).body_bone]
    before = matrices(owner)[bone.name]
    bone.matrix = owner.matrix_world.inverted() @ Matrix.Translation((0.0, 0.0, -share * height(owner))) @ before
    update()
    return before.translation


def shift_bone(owner: bpy.types.Object, name: str, way: Vector) -> None:
    """Move a bone along a vector in armature space."""
    bone = pose_bones(owner)[name]
    bone.matrix = Matrix.Translation(way) @ bone.matrix
    update()


def put_bone(owner: bpy.types.Object, name: str, place: Sequence[float]) -> None:
    """Move a bone to a place of the world."""
    update()
    there = owner.matrix_world.inverted() @ Vector(place)
    shift_bone(owner, name, there - pose_bones(owner)[name].matrix.translation)


def reach_too_far(owner: bpy.types.Object) -> None:
    """Move the control of the left hand beyond the reach of its arm."""
    control = pose_bones(owner)[chain(owner, "Arm.L").target_bone]
    control.location += Vector((0.3, -0.3, 0.4)) * height(owner) / owner.matrix_world.to_scale()[0]
    update()
    assert chain(owner, "Arm.L").status == "TOO_FAR"
