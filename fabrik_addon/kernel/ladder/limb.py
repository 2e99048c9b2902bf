# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs: a ball joint, free or limited, and behind it joints with limits. Only the distance of the tip has to be met.

All joints are moved together along one parameter between the start pose and the shortest or the longest pose, which do
not depend on the target; then the first joint turns the limb onto the target. So a target that moves smoothly gives a
pose that does, and knees bend the way they bend in the start pose.
"""

from __future__ import annotations

from .. import cython
from ..figure import Figure, Pose
from ..forms import Q4, V3, Doubles
from ..limits.base import Limit
from ..vectors import (
    conjugated,
    copy_into,
    dot,
    doubles,
    length,
    minus,
    multiplied,
    plus,
    put3,
    put4,
    q4,
    rotated,
    scaled,
    turn_angle,
    unit,
    v3,
)
from .bends import is_straight, preferred_bend
from .chain import Chain
from .crossing import Falling
from .descent import Descent
from .passes import limited_forward
from .reach import Reach

EXTREME_STEPS, EXTREME_GAIN = 120, 1e-9
EXTREME_DAMPING, EXTREME_TURN, EXTREME_GIVEN_UP = 1e-2, 0.25, 1e4
SMALL_TURN = 0.06  # radians
MOST_COMBINATIONS, SWEEPS, FAR = 250, 2, 3.0  # of ends of ranges tried; radians that bring every joint to an end
WAY_SAMPLES = 24  # the nearer to the start the closer together
WAY_STEP = 1e-4  # share of the size by which the poses of a way differ at least in their reach
ROUNDING = 1e-6  # share of the size by which a reach may rise on a way along which it falls
SHOWS_BEND = 0.75  # share of the start pose's reach
PER_RADIAN = 1e-5  # how much shorter an end has to be for each radian that it is farther away
NO_BETTER = 1e-5  # share of the size
BENT_TO = 0.97  # share of its length to which a straight chain is bent before it is bent further


@cython.cclass
class Limb(Falling):
    """The way of a limb from its longest pose over its start pose to its shortest.

    Attributes:
        first: Index of the first ball joint, which turns the limb onto its target.
        poses: Poses of n rotations whose reach falls: the longest, the start, the shortest. Where the reach would not
            fall all along one of these two ways, as for a leg whose knee has to pass through straight before it bends,
            that way leads over poses in small steps from the start for as far as these go, and from there across.
        reaches: Their distances of the tip from the first ball joint.
        count_of_poses: How many there are.
        rotations: n rotations at the place that was last tried.
    """

    chain: Chain
    figure: Figure
    count: cython.int
    first: cython.int
    poses: Doubles
    angles: Doubles  # of the joints in these poses, where they turn about one axis
    reaches: Doubles
    count_of_poses: cython.int
    rotations: Doubles
    part: cython.int
    distance: cython.double

    def __init__(self, chain: Chain, reach: Reach) -> None:
        self.chain, self.figure, self.count = chain, chain.figure, chain.count
        self.first = chain.first_ball
        self.rotations = doubles(4 * chain.count)
        self.part = 0
        self.distance = 0.0
        self.lead(find_way(self, reach))

    @cython.cfunc
    def lead(self, way: list[Doubles]) -> cython.void:
        """Let the way lead through poses."""
        limit: Limit
        self.count_of_poses = len(way)
        self.poses, self.angles = doubles(4 * self.count * len(way)), doubles(self.count * len(way))
        self.reaches = doubles(len(way))
        for k, pose in enumerate(way):
            self.reaches[k] = self.reach_of(pose)
            for i in range(self.count):
                limit = self.figure.limits[i]
                put4(self.poses, k * self.count + i, q4(pose, i))
                self.angles[k * self.count + i] = limit.measure(q4(pose, i))

    @cython.cfunc
    @cython.exceptval(check=False)
    def reach_of(self, rotations: Doubles) -> cython.double:
        """The distance of the tip from the first ball joint, summed up from the tip; all joints behind it follow it."""
        i: cython.int
        arm: V3 = v3(self.figure.segments, self.count - 1)
        for i in range(self.count - 1, self.first, -1):
            turned: V3 = rotated(q4(self.figure.rest, i), rotated(q4(rotations, i), arm))
            arm = plus(v3(self.figure.segments, i - 1), turned)
        return length(arm)

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, first: cython.int, share: cython.double) -> cython.void:
        """Put joint `first` and those behind it a share of the way between the two poses of the part at hand."""
        i: cython.int
        limit: Limit
        for i in range(first, self.count):
            limit = self.figure.limits[i]
            a: cython.int = self.part * self.count + i
            b: cython.int = a + self.count
            if limit.dofs == 1:
                put4(self.rotations, i, limit.at(self.angles[a] + (self.angles[b] - self.angles[a]) * share))
            else:
                put4(self.rotations, i, limit.blend(q4(self.poses, a), q4(self.poses, b), share))

    @cython.cfunc
    @cython.exceptval(check=False)
    def excess(self, at: cython.double) -> cython.double:
        """How much too far the tip is at a share of the way between two poses."""
        self.blend(self.first + 1, at)
        return self.reach_of(self.rotations) - self.distance

    @cython.cfunc
    def match(self, distance: cython.double) -> cython.void:
        """Leave in `rotations` the pose whose tip is at a distance from the first ball joint, or nearly so."""
        k: cython.int
        last: cython.int = self.count_of_poses - 1
        if distance >= self.reaches[0]:
            self.copy_pose(0)
            return
        if distance <= self.reaches[last]:
            self.copy_pose(last)
            return
        self.part = 0
        for k in range(last):
            if self.reaches[k] > distance >= self.reaches[k + 1]:
                self.part = k
                break
        self.distance = distance
        over: cython.double = self.reaches[self.part] - distance
        self.blend(0, self.crossing(0.0, 1.0, over, self.reaches[self.part + 1] - distance))

    @cython.cfunc
    @cython.exceptval(check=False)
    def copy_pose(self, k: cython.int) -> cython.void:
        i: cython.int
        for i in range(self.count):
            put4(self.rotations, i, q4(self.poses, k * self.count + i))


@cython.cfunc
def clamp_start(figure: Figure) -> Doubles:
    """The start pose inside the limits: n rotations."""
    limit: Limit
    rotations: Doubles = doubles(4 * figure.count)
    for i in range(figure.count):
        limit = figure.limits[i]
        put4(rotations, i, limit.clamp(q4(figure.start, i)))
    return rotations


@cython.cfunc
def placed_pose(figure: Figure, rotations: Doubles) -> Pose:
    """A pose with these rotations."""
    pose: Pose = Pose(figure.count)
    copy_into(pose.rotations, rotations, 4 * figure.count)
    figure.place(pose)
    return pose


@cython.cfunc
def find_way(limb: Limb, reach: Reach) -> list[Doubles]:
    """The poses of a limb's way; see `Limb.poses`."""
    chain: Chain = limb.chain
    figure: Figure = chain.figure
    start: Doubles = clamp_start(figure)
    shortest: Doubles = extreme(chain, reach, best_ends(limb, start, 1.0), 0.0)
    longest: Doubles = longest_pose(limb, reach, start)
    outward = way_to(limb, reach, start, longest, 2.0)
    inward = way_to(limb, reach, start, shortest, 0.0)
    return [*reversed(outward), start, *inward]


@cython.cfunc
def way_to(limb: Limb, reach: Reach, start: Doubles, end: Doubles, distance: cython.double) -> list[Doubles]:
    """The poses of a limb's way from the start pose to one of its ends, the end last.

    Args:
        limb: Whose way it is.
        reach: Of its chain.
        start: n rotations.
        end: The same.
        distance: 0 for the way to the shortest pose, else farther than any pose reaches.
    """
    sign: cython.double = -1.0 if distance > 0.0 else 1.0
    limb.lead([start, end])
    before: cython.double = sign * limb.reach_of(start) + ROUNDING
    is_even: cython.bint = True
    for k in range(1, WAY_SAMPLES + 1):
        share: cython.double = k / WAY_SAMPLES
        now: cython.double = sign * limb.excess(share * share)
        if now > before:
            is_even = False
        before = now + ROUNDING
    found: list[Doubles] = []
    if not is_even:
        steps: list[Doubles] = []
        extreme(limb.chain, reach, start, distance, steps)
        least: cython.double = sign * limb.reach_of(start)
        for pose in steps:
            now = sign * limb.reach_of(pose)
            if now < least - WAY_STEP and now > sign * limb.reach_of(end) + WAY_STEP:
                found.append(pose)
                least = now
    return [*found, end]


@cython.cfunc
def longest_pose(limb: Limb, reach: Reach, start: Doubles) -> Doubles:
    """The pose that brings the tip farthest from the first ball joint: the straight one, where the limits allow it."""
    chain: Chain = limb.chain
    straightened: Doubles = straight_pose(chain, start)
    straight: float = sum(list(chain.figure.spans)[limb.first :])
    if limb.reach_of(straightened) >= straight - EXTREME_GAIN:
        return straightened
    starts = [start, straightened, best_ends(limb, start, -1.0)]
    far = [extreme(chain, reach, pose, 2.0) for pose in starts]
    return far[first_best([-limb.reach_of(pose) for pose in far])]


@cython.cfunc
def straight_pose(chain: Chain, start: Doubles) -> Doubles:
    """The start pose, laid out behind the first ball joint as straight as the limits let it."""
    figure: Figure = chain.figure
    pose: Pose = placed_pose(figure, start)
    first = chain.first_ball
    wanted: Doubles = doubles(3 * chain.count + 3)
    copy_into(wanted, pose.heads, 3 * first + 3)
    along: V3 = unit(minus(v3(pose.heads, chain.count), v3(pose.heads, first)))
    for i in range(first, chain.count):
        put3(wanted, i + 1, plus(v3(wanted, i), scaled(along, figure.spans[i])))
    limited_forward(figure, pose, wanted)
    copy_into(pose.rotations, start, 4 * first + 4)
    return pose.rotations


def first_best(values: list[float]) -> int:
    """Index of the first value that none is less than by more than rounding: mirrored ends must not take turns."""
    least = min(values)
    return next(i for i, value in enumerate(values) if value <= least + NO_BETTER)


@cython.cfunc
def best_ends(limb: Limb, start: Doubles, sign: cython.double) -> Doubles:
    """The limited joints at whichever ends of their ranges bring the tip nearest to the first ball joint.

    With `sign` -1 instead of 1, farthest from it.
    """
    figure: Figure = limb.figure
    choices = [ends_of(figure, start, i) if i > limb.first else [q4(start, i)] for i in range(limb.count)]
    ways = 1
    for found in choices:
        ways = min(ways * len(found), MOST_COMBINATIONS + 1)
    best: Doubles = doubles(4 * limb.count)
    copy_into(best, start, 4 * limb.count)
    if ways <= MOST_COMBINATIONS:
        ranks = []
        for number in range(ways):
            choose(best, choices, number)
            ranks.append(rank_of(limb, start, best, sign))
        choose(best, choices, first_best(ranks))
        return best
    for _ in range(SWEEPS):
        for i in range(limb.count - 1, -1, -1):
            ranks = []
            for choice in choices[i]:
                put4(best, i, choice)
                ranks.append(rank_of(limb, start, best, sign))
            put4(best, i, choices[i][first_best(ranks)])
    return best


@cython.cfunc
def choose(rotations: Doubles, choices: list[list[Q4]], number: cython.int) -> cython.void:
    """Put each joint to one of its choices; the last joint's change from number to number, then the one before."""
    left = number
    for i in range(len(choices) - 1, -1, -1):
        left, own = divmod(left, len(choices[i]))
        put4(rotations, i, choices[i][own])


@cython.cfunc
def ends_of(figure: Figure, start: Doubles, i: cython.int) -> list[Q4]:
    """The rotation of a joint in the start pose, and those at the ends of its range about each of its axes."""
    limit: Limit = figure.limits[i]
    rotation: Q4 = q4(start, i)
    found = [rotation]
    if limit.is_free or limit.dofs == 0:
        return found
    axes = [limit.axis] if limit.dofs == 1 else [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    for axis in axes:
        found += [limit.turn(rotation, scaled(axis, FAR)), limit.turn(rotation, scaled(axis, -FAR))]
    return found


@cython.cfunc
def rank_of(limb: Limb, start: Doubles, pose: Doubles, sign: cython.double) -> cython.double:
    """The less, the better a pose is as an end of the way."""
    i: cython.int
    away: cython.double = 0.0
    for i in range(limb.count):
        away += turn_angle(multiplied(conjugated(q4(start, i)), q4(pose, i)))
    return sign * limb.reach_of(pose) + PER_RADIAN * away


@cython.cfunc
def extreme(
    chain: Chain, reach: Reach, start: Doubles, distance: cython.double, steps: list[Doubles] | None = None
) -> Doubles:
    """Steps of least squares from a pose towards a distance alone, the first ball joint and those before it held.

    Args:
        chain: n joints.
        reach: Of the same.
        start: n rotations.
        distance: Of the tip from the first ball joint.
        steps: Is given the pose after each step, where it is wanted.

    Returns:
        The last of them.
    """
    figure: Figure = chain.figure
    first: cython.int = chain.first_ball
    rotations: Doubles = bent(chain, reach, start, BENT_TO) if distance == 0.0 else start
    kept: V3 = chain.tip.target
    descent: Descent = Descent(figure, [chain.tip])
    descent.held = first + 1
    descent.begin(rotations)
    damping: cython.double = EXTREME_DAMPING
    for _ in range(EXTREME_STEPS):
        root: V3 = v3(descent.pose.heads, first)
        span: V3 = minus(v3(descent.pose.heads, chain.count), root)
        if length(span) < 1e-4 or damping > EXTREME_GIVEN_UP:
            break
        chain.tip.target = plus(root, scaled(unit(span), distance))
        descent.judge()
        before: cython.double = descent.error
        if not descent.step(damping, EXTREME_TURN if steps is None else SMALL_TURN):
            damping = damping * 4.0
            continue
        if steps is not None:
            taken: Doubles = doubles(4 * chain.count)
            copy_into(taken, descent.pose.rotations, 4 * chain.count)
            steps.append(taken)
        if descent.error > before - EXTREME_GAIN:
            break
    chain.tip.target = kept
    return descent.pose.rotations


@cython.cfunc
def bent(chain: Chain, reach: Reach, rotations: Doubles, distance: cython.double) -> Doubles:
    """Bend a straight chain by equal turns, as far as its limits let it, to about a distance; others come back."""
    figure: Figure = chain.figure
    pose: Pose = placed_pose(figure, rotations)
    along: V3 = unit(v3(pose.heads, chain.count))
    if chain.count < 2 or dot(along, along) == 0.0 or not is_straight(pose.heads, chain.count):
        return rotations
    wanted: Doubles = doubles(3 * chain.count + 3)
    reach.point_all(along)
    reach.curl(wanted, distance, along, preferred_bend(figure, pose, chain.first_moving, along))
    limited_forward(figure, pose, wanted)
    return pose.rotations


@cython.cfunc
def reference_pose(chain: Chain, limb: Limb | None) -> Pose:
    """A pose that shows to which side the chain bends: of a limb, one on its way from the start to the shortest pose.

    The start pose itself may be as good as straight, and its joints' offsets then tell of the foot, not of the knee.

    Args:
        chain: n joints.
        limb: Its way, or None where it is no limb.
    """
    start: Pose = placed_pose(chain.figure, clamp_start(chain.figure))
    if limb is None:
        return start
    limb.match(SHOWS_BEND * length(minus(v3(start.heads, chain.count), v3(start.heads, limb.first))))
    return placed_pose(chain.figure, limb.rotations)
