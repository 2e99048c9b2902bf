# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains without limits: known answers, FABRIK passes, reach match."""

from __future__ import annotations

from math import sqrt

from .. import cython
from ..figure import Figure
from ..forms import Q4, V3, Doubles
from ..pose import Pose
from ..vectors import (
    IDENTITY,
    ORIGIN,
    X_AXIS,
    any_perpendicular,
    apart,
    clipped,
    conjugated,
    copy_into,
    cross,
    dot,
    doubles,
    from_to,
    larger,
    length,
    minus,
    multiplied,
    normalized,
    plus,
    put3,
    put4,
    q4,
    rotated,
    scaled,
    unit,
    v3,
)
from .bends import bend_direction, bends_one_way, is_straight, preferred_axis
from .chain import Chain
from .descent import Descent
from .passes import backward, forward
from .reach import CLOSED, Reach

ROUNDS = cython.declare(cython.int, 3)  # of passes and reach match, before least squares
FREE_PASSES = cython.declare(cython.int, 4)  # before the reach match finishes what is left
FINISHED = cython.declare(cython.double, 1e-6)  # error at which least squares stop


@cython.cclass
class FreeChain:
    """Solves a chain without limits; the pole is left to the caller.

    Attributes:
        laid: n + 1 joints of the start pose.
        straight: Whether they show no bend.
        side: To which side they bend; zero where they do not tell.
        axis: The axis about which the chain bends where they do not.
        x_axis: The X axis of the first bone.
        swings: Whether the start pose can be turned as a whole.
    """

    chain: Chain
    reach: Reach
    descent: Descent
    laid: Doubles
    straight: cython.bint
    side: V3
    axis: V3
    x_axis: V3
    swings: cython.bint
    swung: Doubles  # the start pose turned towards the target
    swing: Q4
    along: V3
    bend: V3
    best: Doubles

    def __init__(self, chain: Chain, reach: Reach, descent: Descent) -> None:
        self.chain, self.reach, self.descent = chain, reach, descent
        count = chain.count
        start: Pose = Pose(count)
        copy_into(start.rotations, chain.figure.start, 4 * count)
        chain.figure.place(start)
        self.laid = start.heads
        self.swung, self.best = doubles(3 * count + 3), doubles(3 * count + 3)
        self.straight = is_straight(self.laid, count)
        self.side = ORIGIN if self.straight else bend_direction(self.laid, 0, count)
        self.axis = preferred_axis(chain.figure, start, chain.first_moving)
        self.x_axis = rotated(q4(start.frames, 0), X_AXIS)
        self.swings = chain.swings and length(v3(self.laid, count)) > CLOSED
        self.swing = IDENTITY
        self.along = self.bend = ORIGIN

    @cython.cfunc
    def solve(self) -> cython.int:
        """Reach for the chain's target; the answer is the descent's pose. Returns the passes used."""
        chain: Chain = self.chain
        count: cython.int = chain.count
        passes: cython.int = 1
        self.swing_start()
        chain.record("swing", self.swung)
        if not self.known_answer():
            if chain.plain:
                copy_into(chain.joints, self.swung, 3 * count + 3)
                passes = self.fabrik(chain.max_passes)
            else:
                passes = self.iterate()
        chain.record("solved", chain.joints)
        self.orient()
        if not chain.plain and self.descent.error > chain.tolerance and self.is_within_reach():
            passes += self.descent.descend(FINISHED, chain.max_passes - passes)
        return passes

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_within_reach(self) -> cython.bint:
        distance: cython.double = length(self.chain.target)
        return distance < 1.0 and (distance > self.chain.inner or self.chain.inner == 0.0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def swing_start(self) -> cython.void:
        """Turn the start pose as a whole towards the target and find its bend."""
        i: cython.int
        tip: V3 = v3(self.laid, self.chain.count)
        along: V3 = unit(self.chain.target)
        if dot(along, along) == 0.0:
            along = unit(tip)
        if dot(along, along) == 0.0:
            along = unit(v3(self.laid, 1))
        if dot(along, along) == 0.0:
            along = X_AXIS
        self.along = along
        self.swing = from_to(tip, along, self.x_axis) if self.swings else IDENTITY
        for i in range(self.chain.count + 1):
            put3(self.swung, i, rotated(self.swing, v3(self.laid, i)))
        side: V3 = rotated(self.swing, self.side)
        if dot(side, side) == 0.0:
            side = cross(along, rotated(self.swing, self.axis))
        self.bend = any_perpendicular(along, side)

    @cython.cfunc
    @cython.exceptval(check=False)
    def known_answer(self) -> cython.bint:
        """Lay out the answer where it needs no search: ends of the reach, one bone, two bones."""
        chain: Chain = self.chain
        distance: cython.double = length(chain.target)
        if distance >= 1.0:
            self.reach.lay(chain.joints, self.along, False)
        elif distance <= chain.inner and chain.inner > 0.0:
            self.reach.lay(chain.joints, self.along, True)
        elif chain.count == 2:
            self.two_bones(distance)
        else:
            return False
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def two_bones(self, distance: cython.double) -> cython.void:
        """Two bones by the law of cosines, the tip at a distance that they reach."""
        first: cython.double = self.reach.lengths[0]
        second: cython.double = self.reach.lengths[1]
        foot: cython.double = first
        if distance > 0.0:
            foot = (first * first - second * second + distance * distance) / (2.0 * distance)
            foot = clipped(foot, -first, first)
        height: cython.double = sqrt(larger(first * first - foot * foot, 0.0))
        put3(self.chain.joints, 0, ORIGIN)
        put3(self.chain.joints, 1, plus(scaled(self.along, foot), scaled(self.bend, height)))
        put3(self.chain.joints, 2, scaled(self.along, distance))

    @cython.cfunc
    def iterate(self) -> cython.int:
        """FABRIK passes, each few followed by a reach match, until the tip is there."""
        chain: Chain = self.chain
        joints: Doubles = chain.joints
        numbers: cython.int = 3 * chain.count + 3
        k: cython.int
        passes: cython.int = 0
        copy_into(joints, self.swung, numbers)
        self.bend_one_way(joints)
        chain.record("bend", joints)
        copy_into(self.best, joints, numbers)
        for k in range(ROUNDS):
            least: cython.double = apart(v3(self.best, chain.count), chain.target)
            if passes >= chain.max_passes or least <= chain.tolerance:
                break
            left: cython.int = chain.max_passes - passes
            passes += self.fabrik(left if left < FREE_PASSES else FREE_PASSES)
            passes += self.reach.match(joints, chain.target)
            chain.record("match", joints)
            if apart(v3(joints, chain.count), chain.target) < least:
                copy_into(self.best, joints, numbers)
        copy_into(joints, self.best, numbers)
        return passes

    @cython.cfunc
    def fabrik(self, most: cython.int) -> cython.int:
        """FABRIK's passes, backward and forward, until the tip is within the tolerance; returns their number."""
        chain: Chain = self.chain
        k: cython.int
        for k in range(most):
            if apart(v3(chain.joints, chain.count), chain.target) <= chain.tolerance:
                return k
            backward(chain.joints, self.reach.lengths, chain.count, chain.target)
            chain.record("backward", chain.joints)
            forward(chain.joints, self.reach.lengths, chain.count)
            chain.record("forward", chain.joints)
        return most

    @cython.cfunc
    @cython.exceptval(check=False)
    def bend_one_way(self, joints: Doubles) -> cython.void:
        """Curl up or stretch a chain that is straight, or bends one way everywhere.

        FABRIK's passes would push such a chain together from its tip, and leave a long one bent to and fro near the
        root and a short one bent to the other side.
        """
        distance: cython.double = length(self.chain.target)
        if self.straight:
            self.reach.point_all(self.along)
            self.reach.curl(joints, distance, self.along, self.bend)
        elif not bends_one_way(self.swung, self.chain.count, self.along, self.bend):
            return
        elif length(v3(self.swung, self.chain.count)) < distance:
            self.reach.match(joints, self.chain.target)
        else:
            self.reach.point_as(self.swung)
            self.reach.curl(joints, distance, self.along, self.bend)

    @cython.cfunc
    def orient(self) -> cython.void:
        """Local rotations that put the chain onto the solved joints.

        The start pose is turned by the swing as a whole; from there each bone is turned by the smallest rotation onto
        its solved direction, root to tip, so that no twist is invented and the same joints always give the same
        rotations.
        """
        chain: Chain = self.chain
        figure: Figure = chain.figure
        pose: Pose = self.descent.pose
        i: cython.int
        put3(pose.heads, 0, ORIGIN)
        for i in range(chain.count):
            rest: Q4 = figure.rest_of(pose, i)
            carried: Q4 = multiplied(rest, q4(figure.start, i))
            if i == 0:
                carried = multiplied(self.swing, carried)
            span: V3 = minus(v3(chain.joints, i + 1), v3(chain.joints, i))
            turn: Q4 = from_to(rotated(carried, v3(figure.segments, i)), span, rotated(carried, X_AXIS))
            put4(pose.rotations, i, normalized(multiplied(conjugated(rest), multiplied(turn, carried))))
            figure.put_joint(pose, i, rest)
            put3(pose.heads, i + 1, v3(pose.ends, i))
        self.descent.judge()
