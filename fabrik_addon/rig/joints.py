# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain as the kernel's joints, and whether these are the same in every pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..kernel import Joint, Limit
from .chain_bones import pose_bones
from .joint_limits import read_limit, read_stiffness
from .keys import KeyedChannels
from .kinematics import BonePath, Segment
from .properties import FabrikChain
from .rotations import IDENTITY, Q4, X_AXIS, Z_AXIS, length, multiplied, turn_about
from .start_pose import read_start

RIGID = 2e-5  # share of the longest bone by which lengths may differ between poses
BENT = 0.7  # radians


def path_of(owner: bpy.types.Object, bones: Sequence[str], depsgraph: bpy.types.Depsgraph) -> BonePath:
    """Bones, root to tip, as Blender evaluated them; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    return BonePath.of([poses[name] for name in bones])


class JointSettings(NamedTuple):
    """What is set for the n bones of a chain, beside their rest data."""

    starts: list[Q4]
    limits: list[Limit]
    stiffness: list[float]


def read_settings(
    owner: bpy.types.Object, chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels
) -> JointSettings:
    """Read start pose, limits and stiffness of the bones of a chain.

    Args:
        owner: The armature object.
        chain: One of its chains.
        bones: Its bones, root to tip.
        keyed: The curves of the armature at the frame.

    Raises:
        FabrikError: One makes no sense.
    """
    starts = read_start(owner, chain, bones, keyed)
    limits = [read_limit(bone, start) for bone, start in zip(bones, starts, strict=True)]
    inside = [limit.clamped(start) for limit, start in zip(limits, starts, strict=True)]
    return JointSettings(inside, limits, [read_stiffness(bone) for bone in bones])


def joints_of(path: BonePath, settings: JointSettings, is_even: bool) -> tuple[tuple[Joint, ...], bool]:
    """The bones as the kernel sees them, and whether they are the same in every pose.

    Where they are, they are measured in the rest pose, so that they do not differ by rounding with the start pose; else
    at the start pose. To tell, they are measured in two bent poses besides.

    Args:
        path: The bones, mounted.
        settings: What is set for them.
        is_even: Whether no scale on the way differs between axes, so that they are the same in every pose for sure.
    """
    at_rest = path.segments([IDENTITY] * len(path.links))
    if is_even:
        return _joined(at_rest, settings), True
    lengths = [length(segment.vector) for segment in at_rest]
    for axis in (X_AXIS, Z_AXIS):
        bent = path.segments([multiplied(turn_about(axis, BENT), start) for start in settings.starts])
        if any(abs(length(a.vector) - b) > RIGID * max(lengths) for a, b in zip(bent, lengths, strict=True)):
            return _joined(path.segments(settings.starts), settings), False
    return _joined(at_rest, settings), True


def _joined(segments: Sequence[Segment], settings: JointSettings) -> tuple[Joint, ...]:
    bones = zip(segments, *settings, strict=True)
    return tuple(
        Joint(bone.vector, bone.rest, start, limit, bone.inherits, stiff) for bone, start, limit, stiff in bones
    )
