# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that was written, beside what Blender made of it."""

from __future__ import annotations

import bpy
import numpy as np

from ..errors import BoneError, FabrikError, TargetError
from ..maths import ULPS, distance
from ..rig.chain_bones import pose_bones
from ..rig.figures import ChainSet
from ..rig.schema import FabrikChain
from ..rig.targets import resolve_point
from ..texts import Text
from .posing import Posed

PROMISED = 1e-4  # share of the length within which evaluated joints must stand where they were solved


def what_is_off(chain_set: ChainSet, item: Posed, depsgraph: bpy.types.Depsgraph) -> FabrikError | None:
    """Why a written pose is not the one that was solved; None where it is.

    Args:
        chain_set: The chains.
        item: As they were solved.
        depsgraph: Evaluated with the pose.
    """
    moved = _moved_bone(chain_set.owner, item, depsgraph)
    if moved is not None:
        return moved
    for k, chain in enumerate(chain_set.chains):
        error = _moved_target(chain, k, item, depsgraph)
        if error is not None:
            return error
    return None


def _moved_bone(owner: bpy.types.Object, item: Posed, depsgraph: bpy.types.Depsgraph) -> BoneError | None:
    """An error naming the first bone that Blender evaluated elsewhere than it was solved."""
    evaluated, prepared = pose_bones(owner.evaluated_get(depsgraph)), item.prepared
    poses, n = [evaluated[name] for name in prepared.bones], len(prepared.bones)
    ending = [n - 1] if prepared.is_chain else sorted({*range(n)} - _not_grown(item) | {n - 1})
    seen = np.array([pose.head for pose in poses] + [poses[i].tail for i in ending], dtype=np.float64)
    there = prepared.space.many_to_armature(np.array([*item.heads, *[item.ends[i] for i in ending]]))
    off = np.sqrt(((seen - there) ** 2).sum(axis=1))
    are_there = off <= np.maximum(PROMISED * item.length, ULPS * np.abs(there).max(axis=1))
    if are_there.all():
        return None
    bone = prepared.bones[[*range(n), *ending][int(np.argmin(are_there))]]
    return BoneError(Text("something else moves it: it does not stand where it was solved"), bone=bone)


def _not_grown(item: Posed) -> set[int]:
    """Indices of the bones that a stretch leaves as long as they are: it moves the next one's head away instead."""
    prepared = item.prepared
    moved = [one.bone for own in prepared.grown for one in own if one.name == "location"]
    return {prepared.bodies.parents[prepared.bones.index(name)] for name in moved}


def _moved_target(chain: FabrikChain, k: int, item: Posed, depsgraph: bpy.types.Depsgraph) -> TargetError | None:
    """An error where posing the chains, or some solved with them, moved a target: no pose would ever settle."""
    if chain.target is None or item.prepared.asked[k].influence < 1.0:
        return None
    point = resolve_point("target", chain.target, chain.target_bone, depsgraph)
    allowed = max(PROMISED * item.length, ULPS * max(abs(value) for value in point))
    if distance(item.prepared.space.to_chain(point), item.targets[k]) <= allowed:
        return None
    return TargetError(
        Text("the target moved while the chain was posed: it hangs on the chain, or on one solved with it"),
        chain=chain.name,
    )
