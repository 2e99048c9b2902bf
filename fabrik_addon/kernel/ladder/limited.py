# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with limits: a limb's way, or else FABRIK with the limits carried along; least squares; restarts.

A limb on its way is nearly there. FABRIK's passes would take it to a pose farther away, so that a target that moves a
little past the edge of a limit would turn a joint a lot: they serve the other chains.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import V3, Doubles
from ..limits.base import Limit
from ..pose import Pose, copied_pose
from ..vectors import apart, clipped, conjugated, copy_into, length, minus, plus, put4, q4, rotated, scaled, v3
from .chain import Chain
from .descent import LITTLE, Descent
from .free import FINISHED
from .limb import Limb, bent, clamp_start
from .passes import backward, limited_forward
from .reach import Reach
from .starts import drawn_poses, farthest
from .way import limb_of

LIMITED_PASSES = cython.declare(cython.int, 4)  # before least squares take over: later ones gain little under limits
STRAIGHTEST = cython.declare(cython.double, 0.98)  # of its length, to which a straight chain is bent for a far target
FAR_OFF = cython.declare(cython.double, 4.0)  # a target farther away is as good as one at so many lengths
NO_LEVER = cython.declare(cython.double, 1e-6)  # length that tells no direction in which to turn a joint
APART = cython.declare(cython.double, 0.2)  # between two starts, in sizes of the figure: neighbours end alike
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
