# SPDX-License-Identifier: GPL-3.0-or-later
"""To which side a chain bends, and to which side a straight one is to be bent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mathutils import Quaternion, Vector

from .model import Chain
from .orientation import place
from .rotations import X_AXIS, Y_AXIS, any_perpendicular, perpendicular

ONE_WAY = 1e-4  # turn back, in radians, that still counts as none
STRAIGHT = 1e-3  # greatest distance of a joint from the chord, as a share of the length, that counts as straight


def is_straight(joints: Sequence[Vector], length: float) -> bool:
    """True where every joint lies on the line from root to tip, or all on one line where those two coincide."""
    chord = max(joints, key=lambda joint: joint.length_squared).normalized()
    return all(perpendicular(joint, chord).length <= STRAIGHT * length for joint in joints)


def bend_direction(joints: Sequence[Vector], length: float) -> Vector | None:
    """The side on which the inner joints stand: unit vector at right angles to the chord from root to tip.

    It is the mean offset of the joints from the chord; None for a chain that is straight, closed, or as much on one
    side as on the other.
    """
    chord = joints[-1].normalized()
    if not chord.length_squared:
        return None
    mean = Vector()
    for joint in joints[1:-1]:
        mean += perpendicular(joint, chord)
    if mean.length <= STRAIGHT * length * 0.5:
        return None
    return perpendicular(mean.normalized(), chord).normalized()


def bends_one_way(joints: Sequence[Vector], along: Vector, bend: Vector) -> bool:
    """True where every joint turns to the same side, that of `bend`, or not at all."""
    normal = bend.cross(along)
    spans = [(b - a).normalized() for a, b in pairwise(joints)]
    return all(a.cross(b).dot(normal) >= -ONE_WAY for a, b in pairwise(spans))


def preferred_axis(chain: Chain, frames: Sequence[Quaternion]) -> Vector:
    """The axis about which a straight chain bends when nothing else tells.

    The first inner joint whose limit names an axis decides; else it is the X axis of the first moving bone.

    Args:
        chain: n joints.
        frames: n frames of the straight pose, in solve space.
    """
    for joint, frame in list(zip(chain.joints, frames, strict=True))[1:]:
        local = joint.limit.bend_axis(joint.start)
        if local is not None:
            return frame @ joint.start.conjugated() @ local
    return frames[min(chain.first_moving, len(frames) - 1)] @ X_AXIS


def preferred_bend(chain: Chain, frames: Sequence[Quaternion], along: Vector) -> Vector:
    """The side to which a straight chain bends by a positive turn about its `preferred_axis`.

    Args:
        chain: n joints.
        frames: n frames of the straight pose, in solve space.
        along: Unit vector from root to tip.
    """
    return any_perpendicular(along, along.cross(preferred_axis(chain, frames)))


def carried_bend(
    chain: Chain, reference: Sequence[Quaternion], pose: tuple[Sequence[Vector], Sequence[Quaternion]], first: int
) -> Vector:
    """The side to which a solved pose bends: that of a reference pose, carried along by the frame of joint `first`.

    What is carried is the normal of the bend. It stays where it is however far the chain bends in its plane or
    stretches out, while the joints' own offsets change sides where knee and ankle bend against each other, and vanish
    at full stretch.

    Args:
        chain: n joints.
        reference: n rotations of a pose that shows how the chain bends.
        pose: The n + 1 solved joints and the n frames.
        first: Joint from which on the chain bends.

    Returns:
        Unit vector at right angles to the line from joint `first` to the tip.
    """
    joints, frames = pose
    now = (joints[-1] - joints[first]).normalized()
    return any_perpendicular(now, now.cross(frames[first] @ carried_normal(chain, reference, first)))


def carried_normal(chain: Chain, reference: Sequence[Quaternion], first: int) -> Vector:
    """The normal of the bend of a reference pose, in the frame of joint `first`: see `carried_bend`."""
    joints, frames = place(chain, reference)
    rest = [joint - joints[first] for joint in joints[first:]]
    along = rest[-1].normalized() if rest[-1].length else Y_AXIS
    bend = bend_direction(rest, chain.length)
    bend = preferred_bend(chain, frames, along) if bend is None else bend
    return frames[first].conjugated() @ bend.cross(along)
