# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb whose target and pole are bones, and how such goals stand."""

from __future__ import annotations

import bpy
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Matrix, Quaternion, Vector

from support.rigs import (
    Bone,
    add_chain,
    armature,
    evaluated_joints,
    make_armature,
)

LENGTH = 3.0
CLOSE = 1e-5  # share of the length


def limb(*, other_rig: bool = False) -> tuple[bpy.types.Object, FabrikChain, bpy.types.Object]:
    """A posed limb of three bones, and the armature that has the bones "target" and "pole" beside it.

    These hang on "hold", which is turned, moved and scaled.
    """
    bones = [Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, -0.1, 2)), Bone((0, -0.1, 2), (0, 0, 3))]
    goals = [
        Bone((2, 0, 0), (2, 0.5, 0.5), 0.4),
        Bone((1, 1, 2), (1.2, 1.3, 2.4), 1.1, parent=len(bones) if not other_rig else 0, connect=False),
        Bone((-1, -2, 1), (-1, -2.3, 1.4), 0.2, parent=len(bones) if not other_rig else 0, connect=False),
    ]
    goals[0] = Bone(goals[0].head, goals[0].tail, goals[0].roll, parent=None)
    owner = make_armature(bones if other_rig else [*bones, *goals])
    holder = make_armature(goals, "Other") if other_rig else owner
    first = 0 if other_rig else len(bones)
    for number, name in enumerate(("hold", "target", "pole")):
        armature(holder).bones[f"b{first + number}"].name = name
    for thing in {owner, holder}:
        thing.matrix_world = Matrix.LocRotScale(
            Vector((3, -2, 1)), Matrix.Rotation(0.7, 3, (1, 2, 3)), Vector((2, 2, 2))
        )
    hold = pose_bones(holder)["hold"]
    hold.location, hold.rotation_quaternion, hold.scale = (0.3, 0.1, -0.2), (0.8, 0.3, -0.4, 0.2), (0.5, 0.5, 0.5)
    for name, x in (("b0", 0.3), ("b1", 0.6), ("b2", -0.2)):
        pose_bones(owner)[name].rotation_quaternion = (1, x, 0.1, 0)
    for name in ("target", "pole"):
        armature(holder).bones[name].use_deform = False
        pose_bones(holder)[name].rotation_quaternion = Quaternion((1, 2, 3), 0.9)
    chain = add_chain(owner, tip="b2", count=3)
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = holder, "target", holder, "pole"
    bpy.context.view_layer.update()
    return owner, chain, holder


def head(holder: bpy.types.Object, bone: str) -> Vector:
    evaluated = holder.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.matrix_world @ evaluated.pose.bones[bone].head


def moved(owner: bpy.types.Object, chain: FabrikChain, before: list[Vector]) -> float:
    """How far the joint that moved most did, as a share of the length."""
    bpy.context.view_layer.update()
    off: list[float] = [(a - b).length for a, b in zip(evaluated_joints(owner, chain), before, strict=True)]
    return max(off) / (2.0 * LENGTH)


def keys_of(found: bpy.types.Object, bone: str) -> set[float]:
    path = f'pose.bones["{bone}"].location'
    return {point.co[0] for curve in fcurves_of(found) if curve.data_path == path for point in curve.keyframe_points}
