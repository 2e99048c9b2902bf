# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a goal that gives way softly has to stand for the effector to come to a place."""

from __future__ import annotations

from itertools import pairwise
from math import log

import bpy
from mathutils import Vector

from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.schema import FabrikChain

FARTHEST = 5.0  # widths of the soft zone beyond its beginning: nearer to full stretch no goal brings a limb
LEAST_LEFT = 1e-9  # widths that count as left to full stretch, so that there is a logarithm


def hard_place(owner: bpy.types.Object, chain: FabrikChain, place: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The point of the world that a goal is to have, so that the effector comes to a place.

    That is the place itself, unless the chain gives way softly and is nearly straight. The kernel brings a goal at a
    distance d of the first joint, beyond d_a = L - s, down to L - s exp(-(d - d_a) / s), where L is the length of the
    chain and s its soft share of that; this is the way back. A chain that may stretch comes to its goal itself.

    Args:
        owner: The armature object.
        chain: A chain of it, with the pose at hand.
        place: Where the effector is to come to, in the world.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain has no such bones.
    """
    if chain.soft <= 0.0 or chain.stretch > 1.0 or chain.kind == "AIM":
        return place
    evaluated = owner.evaluated_get(depsgraph)
    bones = [pose_bones(evaluated)[bone.name] for bone in resolve_bones(owner, chain)]
    joints = [evaluated.matrix_world @ bone.head for bone in bones]
    joints += [evaluated.matrix_world @ bones[-1].tail] if chain.effector == "TAIL" else []
    reach = sum((b - a).length for a, b in pairwise(joints))
    away, width = (place - joints[0]).length, chain.soft * reach
    if width <= 0.0 or away <= reach - width:
        return place
    over = min(-log(max(reach - away, LEAST_LEFT * width) / width), FARTHEST)
    return joints[0] + (place - joints[0]) * ((reach - width + over * width) / away)
