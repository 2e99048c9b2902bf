# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb that is pulled like a rope: each joint follows the next, and the root comes along."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...kernel import Solver
from ...maths import rotated
from ...rig.chain_bones import pose_bones
from ...rig.channels import read_rotation
from ...rig.joints import path_of
from ...rig.measured import measured_at, mounted_path
from ...rig.pose_writer import Pose, write_pose
from ...rig.prepared import Prepared
from ...texts import Text


def root_refusal(root: bpy.types.PoseBone) -> str:
    """Why a bone can't be let go, so that the limb that begins with it is pulled along; or ""."""
    locks: Any = root.lock_location
    if root.parent is not None and root.bone.use_connect:
        return Text("'{root}' is connected to its parent, so the chain can't be pulled along", root=root.name)
    if root.parent is not None:
        return Text(
            "'{root}' hangs on '{parent}', which would stay behind, so the chain can't be pulled along",
            root=root.name,
            parent=root.parent.name,
        )
    return (
        Text("'{root}' is locked in its location, so the chain can't be pulled along", root=root.name)
        if any(locks)
        else ""
    )


def pull(owner: bpy.types.Object, prepared: Prepared, depsgraph: bpy.types.Depsgraph, point: Vector) -> None:
    """Pull a chain by its tip, and write it.

    Args:
        owner: The armature object.
        prepared: A chain that is solved by itself, where it is carried now.
        depsgraph: Evaluated.
        point: Where the tip goes, in world space.
    """
    bones = [pose_bones(owner)[name] for name in prepared.bones]
    stood = [read_rotation(bone) for bone in bones]
    solver = prepared.solver
    if not prepared.is_rigid:
        solver = Solver(measured_at(prepared, mounted_path(prepared, owner, depsgraph), stood))
    rotations, shift = solver.pulled(stood, prepared.space.to_chain(point))
    write_pose(owner, Pose(prepared, np.array(rotations)))
    tree = path_of(owner, prepared.bones, depsgraph)
    moved = Vector(rotated(prepared.space.turn, shift))
    bones[0].location = bones[0].location + tree.links[0].location_axes(tree.parent).inverted() @ moved
