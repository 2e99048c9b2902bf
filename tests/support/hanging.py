# SPDX-License-Identifier: GPL-3.0-or-later
"""Set-up characters whose goals hang on them: where their bones stand, and whether all ways pose them alike."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from support.scenes import go_live, press, update

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
    rig_of(owner).active_index = rig_of(owner).chains.find(name)


def matrices(owner: bpy.types.Object) -> dict[str, Matrix]:
    """Of all bones in the world, as evaluated."""
    found = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: found.matrix_world @ bone.matrix for bone in pose_bones(found)}


def height(owner: bpy.types.Object) -> float:
    return float(max(matrix.translation.z for matrix in matrices(owner).values()))


def drop_hips(owner: bpy.types.Object, share: float = 0.12) -> Vector:
    """Move the hips down by hand; where they were."""
    bone = pose_bones(owner)[rig_of(owner).body_bone]
    before = matrices(owner)[bone.name]
    bone.matrix = owner.matrix_world.inverted() @ Matrix.Translation((0.0, 0.0, -share * height(owner))) @ before
    update()
    return before.translation


def posed(owner: bpy.types.Object) -> NDArray[np.float64]:
    """The rotation of all bones, in single precision as stored."""
    return np.array([[*bone.rotation_quaternion, *bone.location] for bone in pose_bones(owner)])


def assert_one_answer(owner: bpy.types.Object, frames: Iterable[int]) -> None:
    """Button, live posing and a bake give the same pose in some frames, in whatever order."""
    scene = bpy.context.scene
    assert scene is not None
    found: dict[str, list[NDArray[np.float64]]] = {"button": [], "live": [], "bake": []}
    for frame in frames:
        scene.frame_set(frame)
        press("solve_all")
        found["button"].append(posed(owner))
    go_live(owner)
    for frame in frames:
        scene.frame_set(frame)
        found["live"].append(posed(owner))
    rig_of(owner).live = False
    press("bake", span="RANGE", frame_start=1, frame_end=max(frames))
    for frame in frames:
        scene.frame_set(frame)
        found["bake"].append(posed(owner))
    for way in ("live", "bake"):
        for frame, one, other in zip(frames, found["button"], found[way], strict=True):
            assert np.abs(one - other).max() <= 2e-6, (way, frame)
