# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains from rung to rung: known answers, passes, the path of a limb, least squares, restarts."""

from __future__ import annotations

from . import cython
from .chain import Chain, Reach
from .descent import LITTLE, Descent
from .fabrik import backward, forward, limited_forward
from .figure import Pose, clamp_start, copied_pose, placed_pose
from .forms import Q4, V3, Doubles
from .limb_path import Limb, bent, limb_of
from .limits.base import Limit
from .restarts import Restarts
from .vectors import (
    X_AXIS,
    apart,
    clipped,
    conjugated,
    copy_into,
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
    v3,
)

FINISHED = cython.declare(cython.double, 1e-6)  # error at which least squares stop
SHORT = cython.declare(cython.double, 0.02)  # share of the limb's path from its start that FABRIK's passes close
FABRIK_PASSES = cython.declare(cython.int, 4)  # before least squares take over: later ones gain little
FREE_PASSES = cython.declare(cython.int, 8)  # of a chain without limits, whose passes are short
GAINING = cython.declare(cython.double, 0.5)  # share of the error that a pass of those may leave
STRAIGHTEST = cython.declare(cython.double, 0.98)  # of its length, to which a straight chain is bent for a far target
FAR_OFF = cython.declare(cython.double, 4.0)  # a target farther away is as good as one at so many lengths
TWO = cython.declare(cython.int, 2)  # bones, whose path leads to the target itself
NO_LEVER = cython.declare(cython.double, 1e-6)  # length that tells no direction in which to turn a joint
POLISHED = cython.declare(cython.double, 1e-5)  # share of the error that is next to nothing for the nearest pose
CLEARLY_BETTER = cython.declare(cython.double, 0.999)  # share of the error that a restart may leave, less the tolerance


@cython.cclass
class Rungs(Restarts):
    """Solves a chain whose limits hold throughout, rung by rung; the pole is left to the caller.

    Attributes:
        limb: Its way, or None where no ball joint leads it.
    """

    chain: Chain
    reach: Reach
    limb: Limb
    work: Pose
    started: Pose  # the start pose, inside the limits

    def __init__(self, chain: Chain, reach: Reach, descent: Descent) -> None:
        Restarts.__init__(self, descent, 1.0)
        self.chain, self.reach = chain, reach
        self.limb = limb_of(chain, reach)
        self.work = Pose(chain.count)
        self.started = placed_pose(chain.figure, clamp_start(chain.figure))

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
        is_within: cython.bint = distance < 1.0 and (distance > chain.inner or chain.inner == 0.0)
        self.swing_limb(chain.fabrik and chain.is_free and is_within and chain.count > TWO)
        chain.record("swing", descent.pose.heads)
        if chain.fabrik and (self.limb is None or chain.is_free):
            passes += self.fabrik(FABRIK_PASSES)
        chain.tip.target = chain.target if distance <= FAR_OFF else scaled(chain.target, FAR_OFF / distance)
        descent.judge()
        if is_within or not chain.is_free:
            passes += self.descend(chain.max_passes - passes)
            passes += self.restart(chain.max_passes - passes)
        chain.tip.target = chain.target
        descent.judge()
        return passes

    @cython.cfunc
    def swing_limb(self, is_short: cython.bint) -> cython.void:
        """Stand where only the distance of the tip is met as well as it can be, turned towards the target.

        Args:
            is_short: Whether to stop a little before that on the limb's path, where FABRIK's passes take over. What is
                left is a share of the way from the start, so that a target a hair away gives a pose a hair away. A
                chain that bends one way goes on to the end: the passes would bend it to and fro.
        """
        chain: Chain = self.chain
        target: V3 = chain.tip.target
        limb: Limb = self.limb
        distance: cython.double = length(target)
        if limb is None:
            start: Doubles = clamp_start(self.figure)
            start = bent(chain, self.reach, start, distance if distance < STRAIGHTEST else STRAIGHTEST)
            self.start_at(start, chain.first_moving)
            return
        distance = apart(target, self.root_of_limb())
        if is_short and not limb.curls and limb.reaches[limb.count_of_poses - 1] < distance < limb.reaches[0]:
            distance += SHORT * (limb.start_reach - distance)
        limb.match(distance)
        if chain.is_free:
            self.turn_whole(limb.rotations)
        self.aim_limb(limb)
        copy_into(self.work.rotations, limb.rotations, 4 * chain.count)
        self.figure.place(self.work)
        self.descent.take_placed(self.work)

    @cython.cfunc
    def turn_whole(self, rotations: Doubles) -> cython.void:
        """Turn the first ball joint of a free chain as the start pose as a whole turns towards the target.

        What the joint turns besides is little then, so that where the two ways of a half turn are as long depends on
        the start pose alone.
        """
        start: Pose = self.started
        first: cython.int = self.limb.first
        root: V3 = v3(start.heads, first)
        tip: V3 = minus(v3(start.heads, self.chain.count), root)
        turn: Q4 = from_to(tip, minus(self.chain.tip.target, root), rotated(q4(start.frames, first), X_AXIS))
        frame: Q4 = multiplied(turn, multiplied(q4(start.rests, first), q4(rotations, first)))
        put4(rotations, first, normalized(multiplied(conjugated(q4(start.rests, first)), frame)))

    @cython.cfunc
    def aim_limb(self, limb: Limb) -> cython.void:
        """Turn the first ball joint of a limb to bring the tip towards the target; nothing needs to be placed yet."""
        first: cython.int = limb.first
        arm: V3 = limb.arm_of(limb.rotations)
        away: V3 = minus(self.chain.tip.target, self.root_of_limb())
        if length(arm) < NO_LEVER or length(away) < NO_LEVER:
            return
        limit: Limit = self.figure.limits[first]
        direction: V3 = rotated(conjugated(q4(self.started.rests, first)), away)
        put4(limb.rotations, first, limit.aim(q4(limb.rotations, first), arm, direction))

    @cython.cfunc
    def root_of_limb(self) -> V3:
        """Where the first ball joint stands in the start pose: the joints before it keep that."""
        return v3(self.started.heads, self.limb.first)

    @cython.cfunc
    def start_at(self, rotations: Doubles, first: cython.int) -> cython.void:
        """Stand at allowed rotations, joint `first` turned to bring the tip towards the target."""
        work: Pose = self.work
        copy_into(work.rotations, rotations, 4 * self.figure.count)
        self.figure.place(work)
        self.swing(work, first)
        self.descent.take_placed(work)

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
        """The passes of FABRIK; the best pose is kept. Returns their number."""
        chain: Chain = self.chain
        descent: Descent = self.descent
        work: Pose = self.work
        passes: cython.int = 0
        numbers: cython.int = 3 * chain.count + 3
        copy_into(work.rotations, descent.pose.rotations, 4 * chain.count)
        copy_into(chain.joints, descent.pose.heads, numbers)
        if chain.is_free:
            passes = self.free_passes(chain.max_passes if chain.plain else FREE_PASSES)
            limited_forward(self.figure, work, chain.joints)
            if descent.error_of(work) < descent.error:
                descent.take_placed(work)
            return passes
        most = most if most < chain.max_passes else chain.max_passes
        while passes < most and descent.error > chain.tolerance:
            passes += 1
            backward(chain.joints, self.figure.spans, chain.count, chain.tip.target)
            chain.record("backward", chain.joints)
            limited_forward(self.figure, work, chain.joints)
            self.swing(work, chain.first_moving)
            copy_into(chain.joints, work.heads, numbers)
            chain.record("forward", chain.joints)
            if descent.error_of(work) < descent.error:
                descent.take_placed(work)
            elif not chain.plain:
                break
        return passes

    @cython.cfunc
    def free_passes(self, most: cython.int) -> cython.int:
        """The passes without limits on the chain's joints alone, while each gains enough. Returns their number."""
        chain: Chain = self.chain
        count: cython.int = chain.count
        passes: cython.int = 0
        most = most if most < chain.max_passes else chain.max_passes
        enough: cython.double = chain.tolerance if chain.plain else FINISHED
        error: cython.double = apart(v3(chain.joints, count), chain.tip.target)
        while passes < most and error > enough:
            passes += 1
            backward(chain.joints, self.figure.spans, count, chain.tip.target)
            chain.record("backward", chain.joints)
            forward(chain.joints, self.figure.spans, count)
            chain.record("forward", chain.joints)
            before: cython.double = error
            error = apart(v3(chain.joints, count), chain.tip.target)
            if not chain.plain and error > GAINING * before:
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
            if descent.error < least * CLEARLY_BETTER - chain.tolerance or descent.error <= chain.tolerance:
                best = copied_pose(descent.pose, chain.count)
                least = descent.error
        descent.begin(best.rotations)
        descent.little = POLISHED
        used += descent.descend(FINISHED, chain.max_passes)
        descent.little = LITTLE
        return used

    @cython.cfunc
    def other_starts(self) -> list[Pose]:
        """Where FABRIK's passes take a limb from the end of its path, and drawn poses."""
        found = self.nearest(self.chain.restarts)
        if self.limb is not None:
            self.swing_limb(False)
            self.fabrik(FABRIK_PASSES)
            found.insert(0, copied_pose(self.descent.pose, self.chain.count))
        return found

    @cython.cfunc
    def approach(self, k: cython.int) -> cython.void:
        """Swing a drawn pose at the target."""
        pose: Pose = self.drawn[k]
        copy_into(pose.rotations, self.rotations[k], 4 * self.figure.count)
        self.figure.place(pose)
        self.swing(pose, self.chain.first_moving)
