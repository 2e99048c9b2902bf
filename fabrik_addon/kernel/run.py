# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose tip one goal alone asks to a place: put there by the path of its limb, and by FABRIK's passes."""

from __future__ import annotations

from . import cython
from .chain import Chain
from .fabrik import backward, forward, limited_forward
from .figure import Figure, Pose, clamp_start, copy_pose, placed_pose
from .forms import Q4, V3, Doubles
from .limb_path import Limb, bend_direction, curled, limb_of
from .limits.base import Limit
from .pole import PoleTurn
from .rows import Effort
from .vectors import (
    ORIGIN,
    X_AXIS,
    apart,
    clipped,
    conjugated,
    copy_into,
    dot,
    doubles,
    from_to,
    length,
    minus,
    multiplied,
    normalized,
    plus,
    put4,
    q4,
    rotated,
    scaled,
    smaller,
    v3,
)

SHORT = cython.declare(cython.double, 0.02)  # share of the limb's path from its start that FABRIK's passes close
FABRIK_PASSES = cython.declare(cython.int, 4)  # before least squares take over: later ones gain little
FREE_PASSES = cython.declare(cython.int, 8)  # of a chain without limits, whose passes are short
GAINING = cython.declare(cython.double, 0.5)  # share of the error that a pass of those may leave
NEARLY = cython.declare(cython.double, 0.03)  # error from which on a little curl closes what they leave
ENOUGH = cython.declare(cython.double, 1e-6)  # error at which those end
STRAIGHTEST = cython.declare(cython.double, 0.98)  # of its length, to which a straight chain is bent for a far target
TWO = cython.declare(cython.int, 2)  # bones, whose path leads to the target itself
NO_LEVER = cython.declare(cython.double, 1e-6)  # length that tells no direction in which to turn a joint


@cython.cclass
class Run:
    """Puts a chain of size 1, its root at the origin, where the path of its limb and FABRIK's passes lead.

    Attributes:
        chain: n joints.
        limb: Its path, or None where no ball joint leads it.
        pole: What turns it to a pole; see `pole_turn`.
        start: The start pose, inside the limits.
        is_final: Whether no step of least squares would bring the tip nearer than it was put.
        rotations: Of the poses from which it starts again where it is missed; None before they are drawn (`Restarts`).
        drawn: These poses.
    """

    chain: Chain
    figure: Figure
    effort: Effort
    limb: Limb
    pole: PoleTurn
    start: Pose
    work: Pose
    joints: Doubles
    target: V3  # the point nearest to the target that the chain could reach if it had no limits
    is_final: cython.bint
    rotations: list[Doubles]
    drawn: list[Pose]

    def __init__(self, figure: Figure, effort: Effort) -> None:
        self.chain = Chain(figure)
        self.figure, self.effort = figure, effort
        self.limb = limb_of(self.chain)
        self.pole = None
        self.start = placed_pose(figure, clamp_start(figure))
        self.work = Pose(figure.count)
        self.joints = doubles(3 * figure.count + 3)
        self.target = ORIGIN
        self.is_final = False
        self.rotations = self.drawn = None

    @cython.cfunc
    def pole_turn(self) -> PoleTurn:
        """What turns the chain to a pole, made when it is first asked for."""
        if self.pole is None:
            self.pole = PoleTurn(self.chain, self.limb, self.start)
        return self.pole

    @cython.cfunc
    def put(self, pose: Pose, place: V3) -> cython.int:
        """Put the tip at a place, or near it.

        Args:
            pose: Becomes the pose, placed.
            place: Where to.

        Returns:
            The passes used.
        """
        chain: Chain = self.chain
        effort: Effort = self.effort
        distance: cython.double = length(place)
        self.target = scaled(place, clipped(distance, chain.inner, 1.0) / distance) if distance > 0.0 else place
        is_within: cython.bint = distance < 1.0 and (distance > chain.inner or chain.inner == 0.0)
        is_led: cython.bint = chain.first_ball == 0 or chain.count == 1  # as a whole: else joints before the limb rest
        self.is_final = effort.is_plain or (chain.is_free and is_led and not is_within)
        if effort.is_plain:
            self.start_at(pose, self.start.rotations)
            return self.passes(pose, effort.passes)
        self.swing_limb(pose, effort.with_fabrik and chain.is_free and is_within and chain.count > TWO)
        effort.record("swing", pose.heads, chain.count)
        used: cython.int = 1
        if effort.with_fabrik and (self.limb is None or chain.is_free):
            used += self.passes(pose, FABRIK_PASSES)
        self.is_final = self.is_final or (is_within and self.missed(pose.heads) <= ENOUGH)
        return used

    @cython.cfunc
    def put_otherwise(self, pose: Pose) -> cython.void:
        """Put the tip at the same place by FABRIK's passes from the end of the limb's path."""
        self.swing_limb(pose, False)
        self.passes(pose, FABRIK_PASSES)

    @cython.cfunc
    def swing_limb(self, pose: Pose, is_short: cython.bint) -> cython.void:
        """Stand where only the distance of the tip is met as well as it can be, turned towards the target.

        Args:
            pose: Becomes the pose, placed.
            is_short: Whether to stop a little before that on the limb's path, where FABRIK's passes take over. What is
                left is a share of the way from the start, so that a target a hair away gives a pose a hair away. A
                chain that bends one way goes on to the end: the passes would bend it to and fro.
        """
        chain: Chain = self.chain
        limb: Limb = self.limb
        distance: cython.double = length(self.target)
        if limb is None:
            self.start_at(pose, curled(chain, self.start.rotations, smaller(distance, STRAIGHTEST), False))
            return
        distance = apart(self.target, self.root_of_limb())
        if is_short and not limb.curls and limb.reaches[len(limb.reaches) - 1] < distance < limb.reaches[0]:
            distance += SHORT * (limb.reach_of(self.start.rotations) - distance)
        limb.match(distance)
        if chain.is_free:
            self.turn_whole(limb.rotations)
        self.aim_limb(limb)
        copy_into(pose.rotations, limb.rotations, 4 * chain.count)
        self.figure.place(pose)

    @cython.cfunc
    def turn_whole(self, rotations: Doubles) -> cython.void:
        """Turn the first ball joint of a free chain as the start pose as a whole turns towards the target.

        What the joint turns besides is little then, so that where the two ways of a half turn are as long depends on
        the start pose alone.
        """
        start: Pose = self.start
        first: cython.int = self.limb.first
        root: V3 = v3(start.heads, first)
        tip: V3 = minus(v3(start.heads, self.chain.count), root)
        turn: Q4 = from_to(tip, minus(self.target, root), rotated(q4(start.frames, first), X_AXIS))
        frame: Q4 = multiplied(turn, multiplied(q4(start.rests, first), q4(rotations, first)))
        put4(rotations, first, normalized(multiplied(conjugated(q4(start.rests, first)), frame)))

    @cython.cfunc
    def aim_limb(self, limb: Limb) -> cython.void:
        """Turn the first ball joint of a limb to bring the tip towards the target; nothing needs to be placed yet."""
        first: cython.int = limb.first
        arm: V3 = limb.arm_of(limb.rotations)
        away: V3 = minus(self.target, self.root_of_limb())
        if length(arm) < NO_LEVER or length(away) < NO_LEVER:
            return
        limit: Limit = self.figure.limits[first]
        direction: V3 = rotated(conjugated(q4(self.start.rests, first)), away)
        put4(limb.rotations, first, limit.aim(q4(limb.rotations, first), arm, direction))

    @cython.cfunc
    def root_of_limb(self) -> V3:
        """Where the first ball joint stands in the start pose: the joints before it keep that."""
        return v3(self.start.heads, self.limb.first)

    @cython.cfunc
    def start_at(self, pose: Pose, rotations: Doubles) -> cython.void:
        """Stand at allowed rotations, the first joint that moves turned to bring the tip towards the target."""
        copy_into(pose.rotations, rotations, 4 * self.figure.count)
        self.figure.place(pose)
        self.swing(pose)

    @cython.cfunc
    def swing(self, pose: Pose) -> cython.void:
        """Turn the first joint that moves, of a placed pose, to bring the tip towards the target."""
        chain: Chain = self.chain
        count: cython.int = chain.count
        first: cython.int = chain.first_moving
        if first >= count:
            return
        head: V3 = v3(pose.heads, first)
        lever: V3 = minus(v3(pose.heads, chain.carried), head)
        wanted: V3 = minus(plus(lever, self.target), v3(pose.heads, count))
        if length(lever) < NO_LEVER or length(wanted) < NO_LEVER:
            return
        limit: Limit = self.figure.limits[first]
        segment: V3 = rotated(conjugated(q4(pose.frames, first)), lever)
        direction: V3 = rotated(conjugated(q4(pose.rests, first)), wanted)
        put4(pose.rotations, first, limit.aim(q4(pose.rotations, first), segment, direction))
        self.figure.place(pose)

    @cython.cfunc
    @cython.exceptval(check=False)
    def missed(self, joints: Doubles) -> cython.double:
        """How far the tip, the last of n + 1 joints, is from the target."""
        return apart(v3(joints, self.chain.count), self.target)

    @cython.cfunc
    def passes(self, pose: Pose, most: cython.int) -> cython.int:
        """The passes of FABRIK while each gains enough; the best pose is kept. Returns their number.

        Those of a chain without limits move its joints alone, and its bones are laid along these at last.
        """
        chain: Chain = self.chain
        effort: Effort = self.effort
        work: Pose = self.work
        count: cython.int = chain.count
        passes: cython.int = 0
        enough: cython.double = ENOUGH if chain.is_free and not effort.is_plain else effort.tolerance
        share: cython.double = GAINING if chain.is_free else 1.0
        if chain.is_free:
            most = effort.passes if effort.is_plain else FREE_PASSES
        copy_into(work.rotations, pose.rotations, 4 * count)
        copy_into(self.joints, pose.heads, 3 * count + 3)
        error: cython.double = self.missed(self.joints)
        while passes < most and passes < effort.passes and error > enough:
            passes += 1
            backward(self.joints, self.figure.spans, count, self.target)
            effort.record("backward", self.joints, count)
            if chain.is_free:
                forward(self.joints, self.figure.spans, count)
            else:
                limited_forward(self.figure, work, self.joints)
                self.swing(work)
                copy_into(self.joints, work.heads, 3 * count + 3)
            effort.record("forward", self.joints, count)
            before: cython.double = error
            error = self.missed(self.joints)
            if not chain.is_free and error < self.missed(pose.heads):
                copy_pose(pose, work, count)
            if not effort.is_plain and error >= share * before:
                break
        if chain.is_free:
            bend: V3 = bend_direction(self.joints, 0, count) if ENOUGH < error < NEARLY else ORIGIN
            if dot(bend, bend) > 0.0 and not effort.is_plain:
                chain.close(self.joints, self.target, bend)
                effort.record("curl", self.joints, count)
            limited_forward(self.figure, work, self.joints)
            if self.missed(work.heads) < self.missed(pose.heads):
                copy_pose(pose, work, count)
        return passes
