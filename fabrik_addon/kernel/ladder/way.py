# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the way of a limb: its longest and its shortest pose, and how to come there from the start pose."""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import Q4, V3, Doubles
from ..limits.base import Limit
from ..pose import Pose
from ..vectors import (
    conjugated,
    copy_into,
    doubles,
    length,
    minus,
    multiplied,
    plus,
    put3,
    put4,
    q4,
    scaled,
    smaller,
    turn_angle,
    unit,
    v3,
)
from .chain import Chain
from .descent import Descent
from .limb import Limb, bent, clamp_start, placed_pose
from .passes import limited_forward
from .reach import Reach

EXTREME_STEPS, EXTREME_GAIN = 120, 1e-9
EXTREME_DAMPING, EXTREME_STIFFENED, EXTREME_GIVEN_UP = 1e-2, 4.0, 1e4
EXTREME_TURN = 0.25  # radians
FOLDED = 1e-4  # distance of the tip from the first ball joint that tells no direction
OUT_OF_REACH = 2.0  # a distance that no pose of a chain of size 1 reaches
SMALL_TURN = 0.06  # radians
MOST_COMBINATIONS, SWEEPS, FAR = (
    250,
    2,
    3.0,
)  # of ends of ranges; rounds over the joints; radians that bring one to an end
WAY_SAMPLES = 24  # the nearer to the start the closer together
WAY_STEP = 1e-6  # share of the size by which the poses of a way differ at least in their reach
ROUNDING = 1e-6  # share of the size by which a reach may rise on a way along which it falls
PER_RADIAN = 1e-5  # how much shorter an end has to be for each radian that it is farther away
NO_BETTER = 1e-5  # share of the size by which a pose is not better than another
BENT_TO = 0.97  # share of its length to which a straight chain is bent before it is bent further


@cython.cfunc
def limb_of(chain: Chain, reach: Reach) -> Limb | None:
    """The limb that a chain is; None where no ball joint leads it."""
    if chain.first_ball < 0:
        return None
    limb: Limb = Limb(chain)
    limb.lead(find_way(limb, reach))
    return limb


@cython.cfunc
def find_way(limb: Limb, reach: Reach) -> list[Doubles]:
    """The poses of a limb's way; see `Limb.poses`.

    A start pose that was made lies on the way, whatever comes of it, so that a goal a hair away gives a pose a hair
    away. The rest pose does where the reach falls evenly from there; where it lies in a fold, as that of a leg whose
    knee has to pass through straight before it bends, the way past it is smooth for every goal.
    """
    chain: Chain = limb.chain
    start: Doubles = clamp_start(chain.figure)
    shortest: Doubles = extreme(chain, reach, best_ends(limb, start, 1.0), 0.0)
    longest: Doubles = longest_pose(limb, reach, start)
    if chain.figure.starts_at_rest() and not is_even(limb, start, shortest, 1.0):
        limb.leads_past_start = True
        return [longest, shortest]
    outward = way_to(limb, reach, start, longest, OUT_OF_REACH)
    return [*reversed(outward), start, *way_to(limb, reach, start, shortest, 0.0)]


@cython.cfunc
def way_to(limb: Limb, reach: Reach, start: Doubles, end: Doubles, distance: cython.double) -> list[Doubles]:
    """The poses of a limb's way from the start pose to one of its ends, the end last.

    It leads straight to the end where the reach changes evenly then; else in small steps for as far as these go, and
    from there across.

    Args:
        limb: Whose way it is.
        reach: Of its chain.
        start: n rotations.
        end: The same.
        distance: 0 for the way to the shortest pose, `OUT_OF_REACH` for that to the longest.
    """
    sign: cython.double = -1.0 if distance > 0.0 else 1.0
    if is_even(limb, start, end, sign):
        return [end]
    steps: list[Doubles] = []
    extreme(limb.chain, reach, start, distance, steps)
    found: list[Doubles] = []
    least: cython.double = sign * limb.reach_of(start)
    for pose in steps:
        now: cython.double = sign * limb.reach_of(pose)
        if now < least - WAY_STEP and now > sign * limb.reach_of(end) + WAY_STEP:
            found.append(pose)
            least = now
    return [*found, end]


@cython.cfunc
def is_even(limb: Limb, start: Doubles, end: Doubles, sign: cython.double) -> cython.bint:
    """Whether a limb's reach falls all along the way between two poses, or with -1 rises."""
    limb.lead([start, end])
    least: cython.double = sign * limb.reaches[0]
    for k in range(1, WAY_SAMPLES + 1):
        share: cython.double = k / WAY_SAMPLES
        now: cython.double = sign * limb.excess(share * share)
        if now > least + ROUNDING:
            return False
        least = smaller(least, now)
    return True


@cython.cfunc
def longest_pose(limb: Limb, reach: Reach, start: Doubles) -> Doubles:
    """The pose that brings the tip farthest from the first ball joint; of several the one to which the start leads."""
    chain: Chain = limb.chain
    straight: float = sum(list(chain.figure.spans)[limb.first :])
    reached: Doubles = extreme(chain, reach, start, OUT_OF_REACH)
    straightened: Doubles = straight_pose(chain, reached)
    if limb.reach_of(straightened) >= straight - EXTREME_GAIN:
        return straightened
    starts = [straight_pose(chain, start), best_ends(limb, start, -1.0)]
    far = [reached, *(extreme(chain, reach, pose, OUT_OF_REACH) for pose in starts)]
    return far[first_best([-limb.reach_of(pose) for pose in far])]


@cython.cfunc
def straight_pose(chain: Chain, start: Doubles) -> Doubles:
    """A pose, laid out behind the first ball joint as straight as the limits let it."""
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
    """Index of the first value within NO_BETTER of the least: of mirrored poses rounding is not to choose."""
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
        if length(span) < FOLDED or damping > EXTREME_GIVEN_UP:
            break
        chain.tip.target = plus(root, scaled(unit(span), distance))
        descent.judge()
        before: cython.double = descent.error
        if not descent.step(damping, EXTREME_TURN if steps is None else SMALL_TURN):
            damping = damping * EXTREME_STIFFENED
            continue
        if steps is not None:
            taken: Doubles = doubles(4 * chain.count)
            copy_into(taken, descent.pose.rotations, 4 * chain.count)
            steps.append(taken)
        if descent.error > before - EXTREME_GAIN:
            break
    chain.tip.target = kept
    return descent.pose.rotations
