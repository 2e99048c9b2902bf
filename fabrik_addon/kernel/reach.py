# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a free chain reaches, the poses at the ends of its reach, and moving along between them.

Near full stretch plain FABRIK needs thousands of passes, because a pass gains a share of a distance that shrinks with
the square of the bend. Moving all bones together along one parameter meets the distance in a few Newton steps.
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Sequence
from math import hypot, pi, sqrt

from mathutils import Vector

from .crossing import crossing
from .rotations import X_AXIS, from_to

MATCH_STEPS = 24
CURL_STEPS = 12
CLOSED = 1e-6  # distance of the tip from the root that tells no direction, as a share of the length


def bounds(lengths: Sequence[float]) -> tuple[float, float]:
    """Least and greatest distance of the tip from the root: max(0, 2 Lmax - sum L) and sum L."""
    total = sum(lengths)
    return max(0.0, 2.0 * max(lengths) - total), total


def stretched(lengths: Sequence[float], direction: Vector) -> list[Vector]:
    """Joints of the chain laid straight along the unit vector `direction`."""
    return from_directions(lengths, [direction] * len(lengths))


def folded(lengths: Sequence[float], direction: Vector) -> list[Vector]:
    """Joints of the chain folded to its least reach: the longest bone along `direction`, all others against it."""
    return from_directions(lengths, [direction * sign for sign in fold_signs(lengths)])


def fold_signs(lengths: Sequence[float]) -> list[float]:
    """+1 for the longest bone, -1 for the others."""
    longest = max(range(len(lengths)), key=lengths.__getitem__)
    return [1.0 if i == longest else -1.0 for i in range(len(lengths))]


def from_directions(lengths: Sequence[float], directions: Sequence[Vector]) -> list[Vector]:
    """Joints from the root at the origin along unit directions."""
    joints = [Vector()]
    for length, direction in zip(lengths, directions, strict=True):
        joints.append(joints[-1] + direction * length)
    return joints


def curled(
    lengths: Sequence[float], directions: Sequence[Vector], distance: float, along: Vector, bend: Vector
) -> list[Vector]:
    """Joints of a chain that is curled by equal turns until its tip is at `distance` from the root.

    Bone k is turned by k times one angle in the plane of `along` and `bend`, so a straight chain becomes an arc of
    equal turns and a chain that bends one way everywhere keeps doing so. The angle is the first in [0, 2 pi / n] where
    the reach comes down to the distance, found by scanning and false position.

    Args:
        lengths: n lengths.
        directions: n unit vectors.
        distance: Wanted distance of the tip from the root, below the reach of the given directions.
        along: Unit vector from root to target, where the tip is laid.
        bend: Unit vector at right angles to `along`, on whose side the inner joints stand.

    Returns:
        n + 1 joints; the nearest that curling comes, where it does not come down to the distance.
    """
    normal = along.cross(bend)
    flat = [complex(u.dot(along), u.dot(bend)) for u in directions]
    height = sum(length * u.dot(normal) for length, u in zip(lengths, directions, strict=True))

    spans = [length * z for length, z in zip(lengths, flat, strict=True)]
    spans.reverse()

    def excess(turn: float) -> float:
        total, factor = 0j, exp(-1j * turn)
        for span in spans:
            total = total * factor + span
        return hypot(abs(total), height) - distance

    most = 2.0 * pi / len(lengths)
    scan = [most * k / CURL_STEPS for k in range(CURL_STEPS + 1)]
    values = [excess(scan[0])]
    for turn in scan[1:]:
        values.append(excess(turn))
        if values[-1] <= 0.0:
            break
    k = len(values) - 1
    if values[k] <= 0.0:
        found = crossing(excess, (scan[k - 1], scan[k]), (values[k - 1], values[k]))
    else:
        found = scan[min(range(1, k + 1), key=values.__getitem__)]
    turned = []
    for k, (u, z) in enumerate(zip(directions, flat, strict=True)):
        w = z * exp(-1j * found * k)
        turned.append(along * w.real + bend * w.imag + normal * u.dot(normal))
    return turned_onto(from_directions(lengths, turned), along)


def match(
    lengths: Sequence[float], joints: Sequence[Vector], target: Vector, settled: float
) -> tuple[list[Vector], int]:
    """Bring the tip of a free chain onto the target by moving all bones together, then turning the whole.

    Every direction u_i becomes u_i + t c_i, made unit, where c_i is the chord from root to tip; t > 0 stretches the
    chain and t < 0 curls it. A bone longer than all others together is curled by folding the others against it. Newton
    steps are taken on 1/sqrt(reach at infinity - reach), which is nearly linear in t near full stretch, kept in a
    bracket.

    Args:
        lengths: n lengths, none zero.
        joints: n + 1 joints, root at the origin.
        target: Point at a distance that the chain can reach.
        settled: Error of the distance at which to stop.

    Returns:
        The n + 1 joints and the number of evaluations. The tip may stay off where curling alone can't come down to
        the distance.
    """
    spans = [joints[i + 1] - joints[i] for i in range(len(lengths))]
    directions = [span.normalized() for span in spans]
    chord = joints[-1].normalized()
    if not chord.length_squared:
        return list(joints), 0
    distance = target.length
    inner, outer = bounds(lengths)
    if joints[-1].length > distance and inner > 0.0:
        path = _Path(lengths, directions, [chord * sign for sign in fold_signs(lengths)], inner)
        t, count = path.meet(distance, settled)
    elif joints[-1].length > distance:
        path = _Path(lengths, directions, [chord] * len(lengths), outer)
        t, count = path.curl(distance, settled)
    else:
        path = _Path(lengths, directions, [chord] * len(lengths), outer)
        t, count = path.meet(distance, settled)
    return turned_onto(from_directions(lengths, path.at(t)), target), count


def turned_onto(joints: Sequence[Vector], target: Vector) -> list[Vector]:
    """The joints turned about the root so that the tip lies in the direction of the target; a closed chain stays."""
    if joints[-1].length < CLOSED:
        return list(joints)
    turn = from_to(joints[-1], target, X_AXIS)
    return [turn @ joint for joint in joints]


class _Path:
    """Directions moved together towards `pulls`, and the reach along the way."""

    def __init__(
        self, lengths: Sequence[float], directions: Sequence[Vector], pulls: Sequence[Vector], limit: float
    ) -> None:
        self.lengths = lengths
        self.directions = directions
        self.pulls = pulls
        self.limit = limit  # the reach for t to infinity

    def at(self, t: float) -> list[Vector]:
        return [(u + c * t).normalized() for u, c in zip(self.directions, self.pulls, strict=True)]

    def reach(self, t: float) -> tuple[float, float]:
        """Reach at t, and its derivative."""
        tip, rate = Vector(), Vector()
        for length, u, c in zip(self.lengths, self.directions, self.pulls, strict=True):
            moved = u + c * t
            size = moved.length or 1e-12
            moved /= size
            tip += moved * length
            rate += (c - moved * c.dot(moved)) * (length / size)
        reach = tip.length
        return reach, tip.dot(rate) / (reach or 1.0)

    def meet(self, distance: float, settled: float) -> tuple[float, int]:
        """Find t >= 0 where the reach is `distance`, which lies between the reach at 0 and `limit`."""
        gap = abs(self.limit - distance)
        goal = 1.0 / sqrt(max(gap, 1e-14))
        t, low, high = 0.0, 0.0, None
        for count in range(1, MATCH_STEPS + 1):
            reach, rate = self.reach(t)
            if abs(reach - distance) <= settled:
                return t, count
            left = max(abs(self.limit - reach), 1e-14)
            if left > gap:
                low = t
            else:
                high = t
            slope = 0.5 * abs(rate) * left**-1.5
            guess = t + (goal - left**-0.5) / slope if slope > 0.0 else t
            if guess <= low or (high is not None and guess >= high):
                guess = 2.0 * low + 1.0 if high is None else 0.5 * (low + high)
            t = guess
        return t, MATCH_STEPS

    def curl(self, distance: float, settled: float) -> tuple[float, int]:
        """Find t in (-1, 0] where the reach comes down to `distance`; the lowest seen where it does not."""
        low, high = -1.0, 0.0
        t = 0.0
        for count in range(1, MATCH_STEPS + 1):
            reach, rate = self.reach(t)
            if abs(reach - distance) <= settled:
                return t, count
            if reach > distance:
                high = t
            else:
                low = t
            guess = t - (reach - distance) / rate if abs(rate) > 1e-12 else t
            if not low < guess < high:
                guess = 0.5 * (low + high)
            t = guess
        return t, MATCH_STEPS
