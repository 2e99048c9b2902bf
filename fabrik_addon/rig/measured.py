# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of prepared chains stand as Blender will evaluate them, whether or not their figure is rigid."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..kernel import Figure
from ..maths import ORIGIN, Q4, V3, plus
from .chain_bones import pose_bones
from .kinematics import BoneTree
from .prepared import Prepared


def measured_at(prepared: Prepared, tree: BoneTree, rotations: Sequence[Q4]) -> Figure:
    """The figure of chains that are not rigid, measured at a pose.

    Args:
        prepared: The chains.
        tree: Their bones, from `mounted_path`.
        rotations: n rotations.
    """
    segments = tree.segments(rotations)
    pairs = zip(prepared.joints, segments, strict=True)
    joints = tuple(joint._replace(segment=bone.vector, rest=bone.rest) for joint, bone in pairs)
    return prepared.bodies._replace(joints=joints, heads=tuple(bone.head for bone in segments)).figure()


def mounted_path(prepared: Prepared, owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> BoneTree:
    """The bones as they are measured; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    tree = BoneTree.of([poses[name] for name in prepared.bones], prepared.instead, is_chain=prepared.is_chain)
    return tree.mounted(prepared.mount)


def ends_at(
    prepared: Prepared,
    rotations: Sequence[Q4],
    shift: V3,
    owner: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
) -> tuple[list[V3], list[V3]]:
    """The n heads and the n ends of a pose that is not stretched in chain space, as Blender will evaluate them.

    In a chain the end of a bone is the head of the next one, and of the last one its tail; else it is the bone's tail.

    Args:
        prepared: The chains.
        rotations: n rotations.
        shift: Vector of chain space by which the root stands elsewhere than it starts.
        owner: Their armature object.
        depsgraph: With which they were prepared.
    """
    if prepared.is_rigid:
        placed = prepared.solver.figure.placed(rotations, shift)
        return placed.heads, placed.ends
    heads, tails = mounted_path(prepared, owner, depsgraph).placed(rotations)
    ends = [*heads[1:], tails[-1]] if prepared.is_chain else tails
    return [plus(head, shift) for head in heads], [plus(end, shift) for end in ends]


def joints_at(
    prepared: Prepared, rotations: Sequence[Q4], owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> list[V3]:
    """The n + 1 joints of a pose of a chain in chain space, as Blender will evaluate them; see `ends_at`."""
    heads, ends = ends_at(prepared, rotations, ORIGIN, owner, depsgraph)
    return [*heads, ends[-1]]
