# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that was written, beside what Blender made of it."""

from __future__ import annotations

import bpy

from ..errors import BoneError, FabrikError, TargetError
from ..rig.chain_bones import pose_bones
from ..rig.properties import FabrikChain
from ..rig.rotations import distance
from ..rig.targets import resolve_point
from .measuring import ULPS
from .posing import Posed

PROMISED = 1e-4  # share of the length within which evaluated joints must stand where they were solved


def what_is_off(
    owner: bpy.types.Object, chain: FabrikChain, item: Posed, depsgraph: bpy.types.Depsgraph
) -> FabrikError | None:
    """Why a written pose is not the one that was solved; None where it is.

    Args:
        owner: The armature object.
        chain: The chain.
        item: As it was solved.
        depsgraph: Evaluated with the pose.
    """
    return _moved_bone(owner, item, depsgraph) or _moved_target(chain, item, depsgraph)


def _moved_bone(owner: bpy.types.Object, item: Posed, depsgraph: bpy.types.Depsgraph) -> BoneError | None:
    """An error naming the first bone that Blender evaluated elsewhere than it was solved."""
    evaluated = pose_bones(owner.evaluated_get(depsgraph))
    poses = [evaluated[name] for name in item.prepared.bones]
    seen = [*((pose.name, pose.head) for pose in poses), (poses[-1].name, poses[-1].tail)]
    for (bone, point), joint in zip(seen, item.joints, strict=True):
        wanted = item.prepared.space.to_armature(joint)
        allowed = max(PROMISED * item.length, ULPS * max(abs(value) for value in wanted))
        if not distance(point, wanted) <= allowed:
            return BoneError("something else moves it: it does not stand where it was solved", bone=bone)
    return None


def _moved_target(chain: FabrikChain, item: Posed, depsgraph: bpy.types.Depsgraph) -> TargetError | None:
    """An error where posing the chain, or one solved with it, moved its target: no pose would ever settle."""
    assert chain.target is not None
    point = resolve_point("target", chain.target, chain.target_bone, depsgraph)
    allowed = max(PROMISED * item.length, ULPS * max(abs(value) for value in point))
    if distance(item.prepared.space.to_chain(point), item.target) <= allowed:
        return None
    return TargetError("the target moved while the chain was posed: it hangs on the chain, or on one solved with it")
