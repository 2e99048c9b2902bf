# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of two bones by the law of cosines."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, atan2, cos, hypot, sqrt

from mathutils import Quaternion, Vector

from .limits import Free, Hinge
from .model import Chain
from .rotations import turn_about


def two_bones(lengths: Sequence[float], distance: float, along: Vector, bend: Vector) -> list[Vector]:
    """Joints of two bones whose tip stands at `distance` from the root.

    Args:
        lengths: 2 lengths.
        distance: Between |a - b| and a + b.
        along: Unit vector from root to tip.
        bend: Unit vector at right angles to `along`, the side of the inner joint.
    """
    first, second = lengths
    if distance <= 0.0:
        middle = along * first
    else:
        foot = (first * first - second * second + distance * distance) / (2.0 * distance)
        foot = min(max(foot, -first), first)
        middle = along * foot + bend * sqrt(max(first * first - foot * foot, 0.0))
    return [Vector(), middle, along * distance]


def is_hinged_limb(chain: Chain) -> bool:
    """True for two bones, the first free and the second a hinge: a leg or an arm."""
    return (
        len(chain.joints) == 2
        and isinstance(chain.joints[0].limit, Free)
        and isinstance(chain.joints[1].limit, Hinge)
        and chain.joints[1].inherits
    )


def hinged_limb(chain: Chain, distance: float) -> Quaternion | None:
    """The rotation of the hinge that puts the tip of a limb at `distance` from its root.

    In the rest frame of the hinge the root stands at r and the segment s turns about the axis, so that
    |s(angle) - r|^2 = c0 + c1 cos(angle) + c2 sin(angle). Of the two angles the one in the range is taken, the nearer
    to the start where both are; where neither is, the end of the range that comes nearest.

    Args:
        chain: See `is_hinged_limb`.
        distance: Of the target from the root.

    Returns:
        A rotation within the limit, or None where the hinge does not change the distance.
    """
    root, joint = chain.joints
    hinge = joint.limit
    assert isinstance(hinge, Hinge)
    to_root = joint.rest.conjugated() @ -root.segment
    segment = hinge.zero @ joint.segment
    along_axis = hinge.axis * segment.dot(hinge.axis)
    across = segment - along_axis
    swept = hinge.axis.cross(across)
    c0 = across.length_squared + (along_axis - to_root).length_squared
    c1, c2 = -2.0 * across.dot(to_root), -2.0 * swept.dot(to_root)
    size = hypot(c1, c2)
    if size <= 1e-9 * c0:
        return None
    middle = atan2(c2, c1)
    opening = acos(min(max((distance * distance - c0) / size, -1.0), 1.0))
    start = hinge.angle(joint.start)

    def miss(angle: float) -> tuple[float, float]:
        reach = sqrt(max(c0 + size * cos(angle - middle), 0.0))
        return round(abs(reach - distance), 6), abs(angle - start)

    angles = [hinge.angle(turn_about(hinge.axis, middle + side * opening) @ hinge.zero) for side in (1.0, -1.0)]
    candidates = [min(max(angle, hinge.angle_min), hinge.angle_max) for angle in angles]
    return hinge.at(min([*candidates, hinge.angle_min, hinge.angle_max], key=miss))
