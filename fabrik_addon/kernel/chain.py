# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain of size 1: what is known of it, and how its reach changes as it curls."""

from __future__ import annotations

from math import cos, sin, sqrt

from . import cython
from .figure import Figure
from .forms import Q4, V3, Doubles
from .vectors import (
    ORIGIN,
    PI,
    X_AXIS,
    cross,
    dot,
    doubles,
    from_to,
    length,
    magnitude,
    minus,
    plus,
    put3,
    rotated,
    scaled,
    unit,
    v3,
)

CROSSING_STEPS = cython.declare(cython.int, 40)
CROSSED = cython.declare(cython.double, 1e-8)  # value at which to stop; also the width of the bracket
BISECT_AFTER = cython.declare(cython.int, 3)  # steps in which the bracket has not come down to a half


@cython.cclass
class ZeroSearch:
    """A function of one number that comes down to zero."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def excess(self, at: cython.double) -> cython.double:
        """Its value."""
        return -at

    @cython.cfunc
    @cython.exceptval(check=False)
    def crossing(
        self, low: cython.double, high: cython.double, over: cython.double, under: cython.double
    ) -> cython.double:
        """Where it comes down to zero, between `low`, where it is `over` > 0, and `high`, where it is `under` <= 0."""
        side: cython.int = 0
        slow: cython.int = 0
        width: cython.double = 2.0 * (high - low)
        for step in range(CROSSING_STEPS):
            span: cython.double = over - under
            slow = slow + 1 if high - low > 0.5 * width else 0
            width = high - low
            middle: cython.double = 0.5 * (low + high)
            if span > 0.0 and slow < BISECT_AFTER:
                middle = low + width * over / span
            value: cython.double = self.excess(middle)
            if magnitude(value) <= CROSSED or width <= CROSSED:
                return middle
            if value > 0.0:
                if side > 0:
                    under = under * (1.0 - value / over if value < over else 0.5)
                low = middle
                over = value
                side = 1
            else:
                if side < 0:
                    over = over * (1.0 - value / under if value > under else 0.5)
                high = middle
                under = value
                side = -1
        return 0.5 * (low + high)


CURL_STEPS = cython.declare(cython.int, 12)
CLOSING = cython.declare(cython.double, 2.0)  # radians over n that joints curl at first for a distance off by 1
WIDER = cython.declare(cython.double, 3.0)  # times that, if the tip is not there yet
MOST_CLOSED = cython.declare(cython.double, 1.0)  # radians over n that they curl at most
CLOSED = cython.declare(cython.double, 1e-6)  # distance of the tip from the root that tells no direction


@cython.cclass
class Chain(ZeroSearch):
    """A figure of size 1 without branches, and what its rungs need to know of it.

    Attributes:
        figure: n joints.
        count: n.
        inner: Least distance of the tip from the root without limits; the greatest is 1.
        first_moving: Index of the first joint that is not fixed; n where all are.
        carried: Index of the last point that turns rigidly with that: n for the tip, else the head of the next bone
            that does not inherit rotation.
        first_ball: Index of the first joint that turns every way and has joints behind it, all of which follow it;
            -1 where there is none.
        is_free: Whether no joint has a limit or stiffness.
    """

    figure: Figure
    count: cython.int
    inner: cython.double
    first_moving: cython.int
    carried: cython.int
    first_ball: cython.int
    is_free: cython.bint
    directions: Doubles
    across: Doubles  # of each bone the part along the line, and the part towards the bend
    height: cython.double  # of the tip off the plane in which the chain curls
    distance: cython.double

    def __init__(self, figure: Figure) -> None:
        count = figure.count
        self.figure, self.count = figure, count
        self.inner = max(0.0, 2.0 * max(figure.spans) - 1.0)
        limits = figure.limits
        self.first_moving = next((i for i in range(count) if not limits[i].is_fixed), count)
        self.carried = next((i for i in range(self.first_moving + 1, count) if not figure.inherits[i]), count)
        self.is_free = not figure.is_stiff and all(limit.is_free for limit in limits)
        follow = [all(figure.inherits[j] for j in range(i + 1, count)) for i in range(count)]
        self.first_ball = next((i for i in range(count - 1) if limits[i].dofs == 3 and follow[i]), -1)
        self.directions, self.across = doubles(3 * count), doubles(2 * count)
        self.height = self.distance = 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def point_as(self, joints: Doubles) -> cython.void:
        """Let the bones point as those between n + 1 joints do."""
        for i in range(self.count):
            put3(self.directions, i, unit(minus(v3(joints, i + 1), v3(joints, i))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def excess(self, at: cython.double) -> cython.double:
        """How much too far the tip is when bone k is turned by k times an angle."""
        cosine: cython.double = cos(at)
        sine: cython.double = -sin(at)
        x: cython.double = 0.0
        y: cython.double = 0.0
        for k in range(self.count - 1, -1, -1):
            turned: cython.double = x * cosine - y * sine + self.across[2 * k]
            y = x * sine + y * cosine + self.across[2 * k + 1]
            x = turned
        return sqrt(x * x + y * y + self.height * self.height) - self.distance

    @cython.cfunc
    @cython.exceptval(check=False)
    def curl(self, joints: Doubles, distance: cython.double, along: V3, bend: V3) -> cython.void:
        """Curl the chain by equal turns until its tip is at a distance from the root, in the direction `along`.

        Bone k is turned by k times one angle in the plane of `along` and `bend`, so a straight chain becomes an arc of
        equal turns and a chain that bends one way everywhere keeps doing so. The angle is the first in [0, 2 pi / n]
        where the reach comes down to the distance; the nearest that curling comes, where it does not.

        Args:
            joints: Becomes the n + 1 joints.
            distance: Below the reach of the directions (`point_as`).
            along: Unit vector from root to target.
            bend: Unit vector at right angles to it, on whose side the inner joints stand.
        """
        self.project(distance, along, bend)
        self.bend_by(joints, self.turn_to_distance(), along, bend)
        self.turn_onto(joints, along)

    @cython.cfunc
    @cython.exceptval(check=False)
    def close(self, joints: Doubles, target: V3, bend: V3) -> cython.void:
        """Bring the tip of joints that are near a target onto it: they curl or uncurl a little, by equal turns.

        Args:
            joints: n + 1 joints; they stay as they are where no little turn brings the tip to the target's distance.
            target: Relative to the root.
            bend: Unit vector at right angles to the line from root to tip, on whose side the inner joints stand.
        """
        self.point_as(joints)
        along: V3 = unit(v3(joints, self.count))
        self.project(length(target), along, bend)
        before: cython.double = self.excess(0.0)
        at: cython.double = 0.0
        step: cython.double = CLOSING * before / self.count
        value: cython.double = before
        while magnitude(at) < MOST_CLOSED / self.count and value * before > 0.0:
            before = value
            at += step
            step *= WIDER
            value = self.excess(at)
        if value * before > 0.0:
            return
        last: cython.double = at - step / WIDER
        found: cython.double = self.crossing(last, at, before, value) if before > 0.0 else at
        if before < 0.0:
            found = self.crossing(at, last, value, before)
        self.bend_by(joints, found, along, bend)
        self.turn_onto(joints, target)

    @cython.cfunc
    @cython.exceptval(check=False)
    def project(self, distance: cython.double, along: V3, bend: V3) -> cython.void:
        """Find the parts of the bones in the plane in which they curl, for `excess` over a distance."""
        normal: V3 = cross(along, bend)
        self.height = 0.0
        self.distance = distance
        for k in range(self.count):
            own: V3 = v3(self.directions, k)
            self.across[2 * k] = self.figure.spans[k] * dot(own, along)
            self.across[2 * k + 1] = self.figure.spans[k] * dot(own, bend)
            self.height += self.figure.spans[k] * dot(own, normal)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_to_distance(self) -> cython.double:
        """The angle of `curl`, by scanning and false position."""
        step: cython.double = 2.0 * PI / (self.count * CURL_STEPS)
        best: cython.double = step
        before: cython.double = self.excess(0.0)
        least: cython.double = before + 1.0
        for k in range(1, CURL_STEPS + 1):
            value: cython.double = self.excess(step * k)
            if value <= 0.0:
                return self.crossing(step * (k - 1), step * k, before, value)
            if value < least:
                least = value
                best = step * k
            before = value
        return best

    @cython.cfunc
    @cython.exceptval(check=False)
    def bend_by(self, joints: Doubles, turn: cython.double, along: V3, bend: V3) -> cython.void:
        """Lay out the joints with bone k turned by k times an angle."""
        normal: V3 = cross(along, bend)
        cosine: cython.double = cos(turn)
        sine: cython.double = -sin(turn)
        x: cython.double = 1.0
        y: cython.double = 0.0
        put3(joints, 0, ORIGIN)
        for k in range(self.count):
            a: cython.double = self.across[2 * k]
            b: cython.double = self.across[2 * k + 1]
            level: V3 = plus(scaled(along, a * x - b * y), scaled(bend, a * y + b * x))
            off: cython.double = self.figure.spans[k] * dot(v3(self.directions, k), normal)
            put3(joints, k + 1, plus(v3(joints, k), plus(level, scaled(normal, off))))
            turned: cython.double = x * cosine - y * sine
            y = x * sine + y * cosine
            x = turned

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_onto(self, joints: Doubles, target: V3) -> cython.void:
        """Turn the joints about the root so that the tip lies in the direction of a target; a closed chain stays."""
        tip: V3 = v3(joints, self.count)
        if length(tip) < CLOSED:
            return
        turn: Q4 = from_to(tip, target, X_AXIS)
        for i in range(1, self.count + 1):
            put3(joints, i, rotated(turn, v3(joints, i)))
