# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains from rung to rung: known answers, passes, the path of a limb, least squares, restarts."""

from __future__ import annotations

from math import sqrt

from . import cython
from .chain import CLOSED, Chain, Reach
from .descent import LITTLE, Descent
from .fabrik import backward, forward, limited_forward
from .figure import Figure, Pose, clamp_start, copied_pose
from .forms import Q4, V3, Doubles
from .limb_path import Limb, bend_direction, bends_one_way, bent, is_straight, limb_of, preferred_axis
from .limits.base import Limit
from .restarts import APART, drawn_poses, farthest
from .vectors import (
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


LIMITED_PASSES = cython.declare(cython.int, 4)  # before least squares take over: later ones gain little under limits
STRAIGHTEST = cython.declare(cython.double, 0.98)  # of its length, to which a straight chain is bent for a far target
FAR_OFF = cython.declare(cython.double, 4.0)  # a target farther away is as good as one at so many lengths
NO_LEVER = cython.declare(cython.double, 1e-6)  # length that tells no direction in which to turn a joint
POLISHED = cython.declare(cython.double, 1e-5)  # share of the error that is next to nothing for the nearest pose
CLEARLY_BETTER = cython.declare(cython.double, 0.999)  # share of the error that a restart may leave


@cython.cclass
class LimitedChain:
    """Solves a chain whose limits hold throughout; the pole is left to the caller.

    Attributes:
        limb: Its way, or None where no ball joint leads it.
    """

    chain: Chain
    figure: Figure
    reach: Reach
    descent: Descent
    limb: Limb
    drawn: list[Doubles]
    work: Pose

    def __init__(self, chain: Chain, reach: Reach, descent: Descent) -> None:
        self.chain, self.figure = chain, chain.figure
        self.reach, self.descent = reach, descent
        self.limb = limb_of(chain, reach)
        self.drawn = None
        self.work = Pose(chain.count)

    @cython.cfunc
    def solve(self) -> cython.int:
        """Reach for the chain's target; the answer is the descent's pose. Returns the passes used."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        wanted: V3 = chain.target
        distance: cython.double = length(wanted)
        passes: cython.int = 1
        if distance > 0.0:  # the point nearest to the target that the chain could reach if it had no limits
            wanted = scaled(wanted, clipped(distance, chain.inner, 1.0) / distance)
        chain.tip.target = wanted
        descent.posture.is_relaxed = False
        if chain.plain:
            self.start_at(clamp_start(self.figure), chain.first_moving)
            return self.fabrik(chain.max_passes)
        self.swing_limb()
        chain.record("swing", descent.pose.heads)
        if self.limb is None:
            passes += self.fabrik(LIMITED_PASSES)
        chain.tip.target = chain.target if distance <= FAR_OFF else scaled(chain.target, FAR_OFF / distance)
        descent.judge()
        passes += self.descend(chain.max_passes - passes)
        passes += self.restart(chain.max_passes - passes)
        chain.tip.target = chain.target
        descent.judge()
        return passes

    @cython.cfunc
    def swing_limb(self) -> cython.void:
        """Stand where only the distance of the tip is met as well as it can be, turned towards the target."""
        chain: Chain = self.chain
        target: V3 = chain.tip.target
        limb: Limb = self.limb
        if limb is None:
            start: Doubles = clamp_start(self.figure)
            distance: cython.double = length(target)
            start = bent(chain, self.reach, start, distance if distance < STRAIGHTEST else STRAIGHTEST)
            self.start_at(start, chain.first_moving)
            return
        limb.match(apart(target, self.root_of_limb()))
        self.start_at(limb.rotations, limb.first)

    @cython.cfunc
    def root_of_limb(self) -> V3:
        """Where the first ball joint stands in the start pose: the joints before it keep that."""
        if self.limb.first == 0:
            return v3(self.figure.offsets, 0)
        copy_into(self.work.rotations, clamp_start(self.figure), 4 * self.figure.count)
        self.figure.place(self.work)
        return v3(self.work.heads, self.limb.first)

    @cython.cfunc
    def start_at(self, rotations: Doubles, first: cython.int) -> cython.void:
        """Stand at allowed rotations, joint `first` turned to bring the tip towards the target."""
        work: Pose = self.work
        copy_into(work.rotations, rotations, 4 * self.figure.count)
        self.figure.place(work)
        self.swing(work, first)
        self.descent.take(work)

    @cython.cfunc
    def swing(self, pose: Pose, first: cython.int) -> cython.void:
        """Turn a joint of a placed pose to bring the tip towards the target."""
        chain: Chain = self.chain
        count: cython.int = chain.count
        if first >= count:
            return
        head: V3 = v3(pose.heads, first)
        lever: V3 = minus(v3(pose.heads, chain.carried[first]), head)
        wanted: V3 = minus(plus(lever, chain.tip.target), v3(pose.heads, count))
        if length(lever) < NO_LEVER or length(wanted) < NO_LEVER:
            return
        limit: Limit = self.figure.limits[first]
        segment: V3 = rotated(conjugated(q4(pose.frames, first)), lever)
        direction: V3 = rotated(conjugated(q4(pose.rests, first)), wanted)
        put4(pose.rotations, first, limit.aim(q4(pose.rotations, first), segment, direction))
        self.figure.place(pose)

    @cython.cfunc
    def fabrik(self, most: cython.int) -> cython.int:
        """The passes of FABRIK with limits; the best pose is kept. Returns their number."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        work: Pose = self.work
        passes: cython.int = 0
        most = most if most < chain.max_passes else chain.max_passes
        numbers: cython.int = 3 * chain.count + 3
        copy_into(work.rotations, descent.pose.rotations, 4 * chain.count)
        copy_into(chain.joints, descent.pose.heads, numbers)
        while passes < most and descent.error > chain.tolerance:
            passes += 1
            backward(chain.joints, self.figure.spans, chain.count, chain.tip.target)
            chain.record("backward", chain.joints)
            limited_forward(self.figure, work, chain.joints)
            self.swing(work, chain.first_moving)
            copy_into(chain.joints, work.heads, numbers)
            chain.record("forward", chain.joints)
            if descent.error_of(work) < descent.error:
                descent.take(work)
            elif not chain.plain:
                break
        return passes

    @cython.cfunc
    def descend(self, budget: cython.int) -> cython.int:
        """Least squares; stiffness says who turns first, not how far the limb reaches, so in the end it is left out."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        used: cython.int = descent.descend(FINISHED, budget >> 2 if chain.is_stiff else budget)
        chain.record("descend", descent.pose.heads)
        if chain.is_stiff and descent.error > chain.tolerance:
            descent.posture.is_relaxed = True
            used += descent.descend(FINISHED, budget - used)
            chain.record("descend", descent.pose.heads)
        return used

    @cython.cfunc
    def restart(self, budget: cython.int) -> cython.int:
        """Least squares from the nearest of many poses drawn inside the limits, each with its share of the budget."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        used: cython.int = 0
        if descent.error <= chain.tolerance or chain.first_moving == chain.count or not chain.restarts or budget <= 0:
            return used
        best: Pose = copied_pose(descent.pose, chain.count)
        least: cython.double = descent.error
        start: Pose
        for start in self.other_starts():
            if least <= chain.tolerance:
                break
            descent.take(start)
            used += descent.descend(FINISHED, chain.share)
            chain.record("restart", descent.pose.heads)
            if descent.error < least * CLEARLY_BETTER:
                copy_into(best.rotations, descent.pose.rotations, 4 * chain.count)
                least = descent.error
        descent.begin(best.rotations)
        descent.little = POLISHED
        used += descent.descend(FINISHED, chain.max_passes)
        descent.little = LITTLE
        return used

    @cython.cfunc
    def other_starts(self) -> list[Pose]:
        """Where FABRIK's passes take a limb, which did not need them before, and drawn poses."""
        found = self.nearest_starts()
        if self.limb is not None:
            self.swing_limb()
            self.fabrik(LIMITED_PASSES)
            found.insert(0, copied_pose(self.descent.pose, self.chain.count))
        return found

    @cython.cfunc
    def nearest_starts(self) -> list[Pose]:
        """The drawn poses that come nearest to the target when swung at it, and stand apart from each other."""
        chain: Chain = self.chain
        if self.drawn is None:
            self.drawn = drawn_poses(self.figure)
        errors = []
        for k in range(len(self.drawn)):
            self.start_at(self.drawn[k], chain.first_moving)
            errors.append((self.descent.error, k))
        chosen: list[Pose] = []
        other: Pose
        for _, k in sorted(errors):
            if len(chosen) >= chain.restarts:
                break
            self.start_at(self.drawn[k], chain.first_moving)
            is_apart: cython.bint = True
            for other in chosen:
                if farthest(self.descent.pose, other, chain.count) <= APART:
                    is_apart = False
                    break
            if is_apart:
                chosen.append(copied_pose(self.descent.pose, chain.count))
        return chosen
