# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a figure as the kernel's joints, and whether these are the same in every pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..kernel import Figure, Joint, Limit, Locked
from ..maths import IDENTITY, Q4, V3, X_AXIS, Z_AXIS, length, multiplied, turn_about
from .chain_bones import pose_bones
from .figures import ChainSet
from .joint_limits import read_limit, read_stiffness
from .keys import KeyedChannels
from .kinematics import BoneTree, Segment
from .schema import rig_of
from .start_pose import Start, read_starts

RIGID = 2e-5  # share of the longest bone by which lengths may differ between poses
BENT = 0.7  # radians by which all joints are turned to see whether lengths depend on the pose


def path_of(owner: bpy.types.Object, bones: Sequence[str], depsgraph: bpy.types.Depsgraph) -> BoneTree:
    """The bones of a chain, root to tip, as Blender evaluated them; good until the next evaluation."""
    poses = pose_bones(owner.evaluated_get(depsgraph))
    return BoneTree.of([poses[name] for name in bones])


class JointSettings(NamedTuple):
    """What is set for the n bones of a figure, beside their rest data."""

    starts: list[Q4]
    limits: list[Limit]
    stiffness: list[float]


class Joints(NamedTuple):
    """The bones of a figure as the kernel takes them.

    Attributes:
        joints: n joints.
        parents: For each the index of its parent, -1 for the root.
        heads: For each where it stands in the frame of its parent; None in a chain, and for the root.
        is_chain: Whether it is a chain that is solved by itself.
        moves: Whether the root can be moved.
    """

    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    heads: tuple[V3 | None, ...]
    is_chain: bool = True
    moves: bool = False

    def figure(self) -> Figure:
        """The kernel's figure."""
        return Figure(self.joints, self.parents, self.heads, moves=self.moves)

    def started(self, rotations: Sequence[Q4], limits: Sequence[Limit] | None = None) -> Joints:
        """The same bones with another start pose.

        Args:
            rotations: n rotations, which are brought inside the limits.
            limits: The n limits, where these go with the start pose; None to keep those that they have.
        """
        limits = [joint.limit for joint in self.joints] if limits is None else limits
        bones = zip(self.joints, rotations, limits, strict=True)
        joints = [joint._replace(start=limit.clamped(turn), limit=limit) for joint, turn, limit in bones]
        return self._replace(joints=tuple(joints))


def read_settings(
    chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], keyed: KeyedChannels
) -> tuple[JointSettings, Start]:
    """Read start pose, limits and stiffness of the bones of a figure.

    The body bone is as stiff as the armature says. Of the bones between it and the chains `spine` says how readily they
    give way; at zero they stay as they start.

    Args:
        chain_set: The chains.
        bones: Their bones, each after its parent.
        keyed: The curves of the armature at the frame.

    Returns:
        The settings, and where the body bone starts.

    Raises:
        FabrikError: One makes no sense.
    """
    start = read_starts(chain_set, bones, keyed)
    limits = [_read_limit(chain_set.owner, bone, start, i) for i, bone in enumerate(bones)]
    stiffness = [read_stiffness(bone) for bone in bones]
    rig = rig_of(chain_set.owner)
    for i, bone in enumerate(bones):
        if bone.name == chain_set.body:
            stiffness[i] = max(stiffness[i], rig.body_stiffness)
        elif start.is_between[i]:
            stiffness[i] = max(stiffness[i], 1.0 - rig.spine)
    inside = [limit.clamped(turn) for limit, turn in zip(limits, start.rotations, strict=True)]
    return JointSettings(inside, limits, stiffness), start


def restarted_limits(
    owner: bpy.types.Object, bones: Sequence[str], limits: Sequence[Limit], start: Start
) -> list[Limit]:
    """The limits of a figure with another start pose: a bone that does not turn is held there.

    Args:
        owner: The armature object.
        bones: Names of the n bones.
        limits: Their limits with the start pose that they had.
        start: The other start pose.

    Raises:
        FabrikError: One makes no sense.
    """
    pose = pose_bones(owner)
    return [
        _read_limit(owner, pose[name], start, i) if limit.is_fixed else limit
        for i, (name, limit) in enumerate(zip(bones, limits, strict=True))
    ]


def _read_limit(owner: bpy.types.Object, bone: bpy.types.PoseBone, start: Start, i: int) -> Limit:
    """The limit of a bone of a figure, whose index there is i."""
    turn = start.rotations[i]
    limit = read_limit(bone, turn)
    return Locked(limit.clamped(turn)) if start.is_between[i] and rig_of(owner).spine <= 0.0 else limit


def joints_of(tree: BoneTree, settings: JointSettings, is_even: bool, moves: bool = False) -> tuple[Joints, bool]:
    """The bones as the kernel sees them, and whether they are the same in every pose.

    Where they are, they are measured in the rest pose, so that they do not differ by rounding with the start pose; else
    at the start pose. To tell, they are measured in two bent poses besides.

    Args:
        tree: The bones, mounted.
        settings: What is set for them.
        is_even: Whether no scale on the way differs between axes, so that they are the same in every pose for sure.
        moves: Whether the root can be moved.
    """
    at_rest = tree.segments([IDENTITY] * len(tree.links))
    if is_even:
        return _joined(tree, at_rest, settings, moves), True
    spans = _spans(at_rest)
    for axis in (X_AXIS, Z_AXIS):
        bent = tree.segments([multiplied(turn_about(axis, BENT), start) for start in settings.starts])
        if any(abs(a - b) > RIGID * max(spans) for a, b in zip(_spans(bent), spans, strict=True)):
            return _joined(tree, tree.segments(settings.starts), settings, moves), False
    return _joined(tree, at_rest, settings, moves), True


def _spans(segments: Sequence[Segment]) -> list[float]:
    """The lengths of bones, and the distances of heads from those before them."""
    return [length(one) for segment in segments for one in (segment.vector, segment.head or segment.vector)]


def _joined(tree: BoneTree, segments: Sequence[Segment], settings: JointSettings, moves: bool) -> Joints:
    bones = zip(segments, *settings, strict=True)
    joints = tuple(
        Joint(bone.vector, bone.rest, start, limit, bone.inherits, stiff) for bone, start, limit, stiff in bones
    )
    return Joints(joints, tree.parents, tuple(segment.head for segment in segments), tree.is_chain, moves)
