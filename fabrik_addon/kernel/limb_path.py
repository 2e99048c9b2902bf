# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the way of a limb: its longest and its shortest pose, and how to come there from the start pose."""

from __future__ import annotations

from typing import cast

from . import cython
from .chain import Chain, ZeroSearch
from .descent import Descent
from .fabrik import limited_forward
from .figure import Figure, Pose, clamp_start, placed_pose
from .forms import Q4, V3, Doubles
from .goals.point import Point
from .limits.base import Limit
from .vectors import (
    ORIGIN,
    X_AXIS,
    Y_AXIS,
    any_perpendicular,
    conjugated,
    copy_into,
    cross,
    dot,
    doubles,
    length,
    minus,
    multiplied,
    perpendicular,
    plus,
    put3,
    put4,
    q4,
    rotated,
    scaled,
    smaller,
    turn_about,
    turn_angle,
    unit,
    v3,
    way_between,
)

ONE_WAY = cython.declare(cython.double, 1e-4)  # turn back, in radians, that still counts as none
AT_REST = cython.declare(cython.double, 1e-6)  # radians that are no turn
STRAIGHT_WITHIN = cython.declare(cython.double, 1e-3)  # distance of a joint from the chord that counts as none


@cython.cfunc
@cython.exceptval(check=False)
def is_straight(joints: Doubles, count: cython.int) -> cython.bint:
    """True where every joint of a chain of size 1 lies on one line through its root."""
    far: V3 = ORIGIN
    for i in range(1, count + 1):
        if dot(v3(joints, i), v3(joints, i)) > dot(far, far):
            far = v3(joints, i)
    chord: V3 = unit(far)
    for i in range(1, count + 1):
        if length(perpendicular(v3(joints, i), chord)) > STRAIGHT_WITHIN:
            return False
    return True


@cython.cfunc
@cython.exceptval(check=False)
def bend_direction(joints: Doubles, first: cython.int, count: cython.int) -> V3:
    """The side on which the joints behind `first` stand: unit vector at right angles to the line from it to the tip.

    It is the mean offset of the joints from the line; zero for a chain that is straight, closed, or as much on one
    side as on the other.
    """
    root: V3 = v3(joints, first)
    chord: V3 = unit(minus(v3(joints, count), root))
    if dot(chord, chord) == 0.0:
        return ORIGIN
    mean: V3 = ORIGIN
    for i in range(first + 1, count):
        mean = plus(mean, perpendicular(minus(v3(joints, i), root), chord))
    if length(mean) <= 0.5 * STRAIGHT_WITHIN:
        return ORIGIN
    return unit(perpendicular(unit(mean), chord))


@cython.cfunc
@cython.exceptval(check=False)
def bends_one_way(joints: Doubles, count: cython.int, along: V3, bend: V3) -> cython.bint:
    """True where every joint turns to the same side, that of `bend`, or not at all."""
    normal: V3 = cross(bend, along)
    before: V3 = unit(minus(v3(joints, 1), v3(joints, 0)))
    for i in range(1, count):
        span: V3 = unit(minus(v3(joints, i + 1), v3(joints, i)))
        if dot(cross(before, span), normal) < -ONE_WAY:
            return False
        before = span
    return True


@cython.cfunc
def preferred_axis(figure: Figure, pose: Pose, first_moving: cython.int) -> V3:
    """The axis, in solve space, about which a straight chain bends when nothing else tells.

    The first inner joint whose limit names an axis decides; else it is the X axis of the first moving bone.
    """
    for i in range(1, figure.count):
        limit: Limit = figure.limits[i]
        axis: V3 = limit.prefer(q4(pose.rotations, i))
        if dot(axis, axis) > 0.0:
            return rotated(q4(pose.rests, i), axis)
    return rotated(q4(pose.frames, first_moving if first_moving < figure.count else figure.count - 1), X_AXIS)


@cython.cfunc
def preferred_bend(figure: Figure, pose: Pose, first_moving: cython.int, along: V3) -> V3:
    """The side to which a straight chain bends by a positive turn about its `preferred_axis`."""
    return any_perpendicular(along, cross(along, preferred_axis(figure, pose, first_moving)))


@cython.cfunc
def carried_normal(figure: Figure, reference: Pose, first: cython.int, first_moving: cython.int) -> V3:
    """The normal of the bend of a reference pose, in the frame of joint `first`.

    Carried along by that frame it tells the side to which a solved pose bends. It stays where it is however far the
    chain bends in its plane or stretches out, while the joints' own offsets change sides where knee and ankle bend
    against each other, and vanish at full stretch.
    """
    count: cython.int = figure.count
    along: V3 = unit(minus(v3(reference.heads, count), v3(reference.heads, first)))
    if dot(along, along) == 0.0:
        along = Y_AXIS
    bend: V3 = bend_direction(reference.heads, first, count)
    if dot(bend, bend) == 0.0:
        bend = preferred_bend(figure, reference, first_moving, along)
    return rotated(conjugated(q4(reference.frames, first)), cross(bend, along))


@cython.cfunc
@cython.exceptval(check=False)
def carried_bend(pose: Pose, count: cython.int, first: cython.int, normal: V3) -> V3:
    """The side to which a solved pose bends, from the normal that the frame of joint `first` carries.

    A unit vector at right angles to the line from joint `first` to the tip.
    """
    now: V3 = unit(minus(v3(pose.heads, count), v3(pose.heads, first)))
    return any_perpendicular(now, cross(now, rotated(q4(pose.frames, first), normal)))


SHOWS_BEND = 0.75  # share of the start pose's reach


@cython.cclass
class Limb(ZeroSearch):
    """The way of a limb from its longest pose over its start pose to its shortest; `find_way` finds it.

    Attributes:
        first: Index of the first ball joint, which turns the limb onto its target.
        poses: Poses of n rotations whose reach falls: the longest, the start, the shortest. Where the reach would not
            fall all along one of these two ways, as for a leg whose knee has to pass through straight before it bends,
            that way leads over poses in small steps from the start for as far as these go, and from there across.
        reaches: Their distances of the tip from the first ball joint.
        leads_past_start: Whether the start pose is not among them.
        curls: Whether it is a chain that bends one way, and goes on to all along its path.
        rotations: n rotations at the place that was last tried.
    """

    chain: Chain
    figure: Figure
    count: cython.int
    first: cython.int
    poses: Doubles
    angles: Doubles  # of the joints in these poses, where they turn about one axis
    turns: Doubles  # by which they turn from each pose to the next: angle and axis, as `way_between` tells
    reaches: Doubles
    leads_past_start: cython.bint
    curls: cython.bint
    rotations: Doubles
    part: cython.int
    distance: cython.double

    def __init__(self, chain: Chain) -> None:
        self.chain, self.figure, self.count = chain, chain.figure, chain.count
        self.first = chain.first_ball
        self.rotations = doubles(4 * chain.count)
        self.part = 0
        self.distance = 0.0
        self.leads_past_start = False
        self.curls = False
        self.poses = self.angles = self.turns = self.reaches = doubles(0)

    @cython.cfunc
    def lead(self, way: list[Doubles]) -> cython.void:
        """Take over the poses of the way, and find their reaches and the angles of their hinges.

        Args:
            way: n rotations each, the reach falling from pose to pose.
        """
        self.poses, self.angles = doubles(4 * self.count * len(way)), doubles(self.count * len(way))
        self.reaches, self.turns = doubles(len(way)), doubles(4 * self.count * len(way))
        for k, pose in enumerate(way):
            self.reaches[k] = self.reach_of(pose)
            for i in range(self.count):
                limit: Limit = self.figure.limits[i]
                put4(self.poses, k * self.count + i, q4(pose, i))
                self.angles[k * self.count + i] = limit.measure(q4(pose, i))
                if k > 0:
                    put4(self.turns, (k - 1) * self.count + i, way_between(q4(way[k - 1], i), q4(pose, i)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def reach_of(self, rotations: Doubles) -> cython.double:
        """The distance of the tip from the first ball joint."""
        return length(self.arm_of(rotations))

    @cython.cfunc
    @cython.exceptval(check=False)
    def arm_of(self, rotations: Doubles) -> V3:
        """From the first ball joint to the tip, in the joint's frame; all joints behind it follow it."""
        arm: V3 = v3(self.figure.segments, self.count - 1)
        for i in range(self.count - 1, self.first, -1):
            turned: V3 = rotated(q4(self.figure.rest, i), rotated(q4(rotations, i), arm))
            arm = plus(v3(self.figure.segments, i - 1), turned)
        return arm

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, first: cython.int, share: cython.double) -> cython.void:
        """Put joint `first` and those behind it a share of the way between the two poses of the part at hand."""
        for i in range(first, self.count):
            a: cython.int = self.part * self.count + i
            b: cython.int = a + self.count
            if self.chain.is_free:
                turn: Q4 = q4(self.turns, a)
                way: Q4 = turn_about((turn[1], turn[2], turn[3]), turn[0] * share)
                put4(self.rotations, i, multiplied(q4(self.poses, a), way))
                continue
            limit: Limit = self.figure.limits[i]
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
        last: cython.int = len(self.reaches) - 1
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
        for i in range(self.count):
            put4(self.rotations, i, q4(self.poses, k * self.count + i))


@cython.cfunc
def curled(chain: Chain, rotations: Doubles, distance: cython.double, also_bent: cython.bint) -> Doubles:
    """Bend a straight chain by equal turns, as far as its limits let it, to about a distance; others come back.

    Args:
        chain: n joints.
        rotations: n of them.
        distance: Of the tip from the root.
        also_bent: Whether one that bends one way is curled on, too.
    """
    pose: Pose = placed_pose(chain.figure, rotations)
    along: V3 = unit(v3(pose.heads, chain.count))
    if chain.count < 2 or dot(along, along) == 0.0:
        return rotations
    bend: V3 = bend_direction(pose.heads, 0, chain.count)
    if is_straight(pose.heads, chain.count):
        bend = preferred_bend(chain.figure, pose, chain.first_moving, along)
        for i in range(chain.count):
            put3(chain.directions, i, along)
    elif also_bent and bends_one_way(pose.heads, chain.count, along, bend):
        chain.point_as(pose.heads)
    else:
        return rotations
    wanted: Doubles = doubles(3 * chain.count + 3)
    chain.curl(wanted, distance, along, bend)
    limited_forward(chain.figure, pose, wanted)
    return pose.rotations


@cython.cfunc
def reference_pose(chain: Chain, limb: Limb | None, start: Pose) -> Pose:
    """A pose that shows to which side the chain bends: of a limb, one on its way from the start to the shortest pose.

    The start pose itself may be as good as straight, and its joints' offsets then tell of the foot, not of the knee.

    Args:
        chain: n joints.
        limb: Its way, or None where it is no limb.
        start: The start pose, inside the limits.
    """
    if limb is None:
        return start
    limb.match(SHOWS_BEND * length(minus(v3(start.heads, chain.count), v3(start.heads, limb.first))))
    return placed_pose(chain.figure, limb.rotations)


EXTREME_STEPS, EXTREME_GAIN = 120, 1e-9
EXTREME_DAMPING, EXTREME_STIFFENED, EXTREME_GIVEN_UP = 1e-2, 4.0, 1e4
EXTREME_TURN = 0.25  # radians
FOLDED = 1e-4  # distance of the tip from the first ball joint that tells no direction
OUT_OF_REACH = 2.0  # a distance that no pose of a chain of size 1 reaches
SMALL_TURN = 0.06  # radians
MOST_COMBINATIONS, SWEEPS = 250, 2  # of ends of ranges; rounds over the joints
FAR = 3.0  # radians that bring a joint to an end of its range
WAY_SAMPLES = 24  # the nearer to the start the closer together
WAY_STEP = 1e-6  # share of the size by which the poses of a way differ at least in their reach
ROUNDING = 1e-6  # share of the size by which a reach may rise on a way along which it falls
PER_RADIAN = 1e-5  # how much shorter an end has to be for each radian that it is farther away
CURLED_UP = 0.05  # share of the size to which a chain that bends one way is curled up
NO_BETTER = 1e-5  # share of the size by which a pose is not better than another
DRAWN_STRAIGHT = 0.9  # of its greatest reach: a chain whose start pose has as much is drawn straight at once
BENT_TO = 0.97  # share of its length to which a straight chain is bent before it is bent further


@cython.cfunc
def limb_of(chain: Chain) -> Limb | None:
    """The limb that a chain is; None where no ball joint leads it."""
    if chain.first_ball < 0:
        return None
    limb: Limb = Limb(chain)
    limb.lead(find_way(limb))
    return limb


@cython.cfunc
def find_way(limb: Limb) -> list[Doubles]:
    """The poses of a limb's way; see `Limb.poses`.

    A start pose that was made lies on the way, whatever comes of it, so that a goal a hair away gives a pose a hair
    away. The rest pose does where the reach falls evenly from there; where it lies in a fold, as that of a leg whose
    knee has to pass through straight before it bends, the way past it is smooth for every goal.
    """
    chain: Chain = limb.chain
    start: Doubles = clamp_start(chain.figure)
    shortest: Doubles = shortest_pose(limb, start)
    longest: Doubles = longest_pose(limb, start)
    is_at_rest: cython.bint = all([turn_angle(own) <= AT_REST for own in chain.figure.starts])
    if is_at_rest and not is_even(limb, start, shortest, 1.0):
        limb.leads_past_start = True
        return [longest, shortest]
    outward = way_to(limb, start, longest, OUT_OF_REACH)
    return [*reversed(outward), start, *way_to(limb, start, shortest, 0.0)]


@cython.cfunc
def way_to(limb: Limb, start: Doubles, end: Doubles, distance: cython.double) -> list[Doubles]:
    """The poses of a limb's way from the start pose to one of its ends, the end last.

    It leads straight to the end where the reach changes evenly then; else in small steps for as far as these go, and
    from there across.

    Args:
        limb: Whose way it is.
        start: n rotations.
        end: The same.
        distance: 0 for the way to the shortest pose, `OUT_OF_REACH` for that to the longest.
    """
    sign: cython.double = -1.0 if distance > 0.0 else 1.0
    if is_even(limb, start, end, sign):
        return [end]
    steps: list[Doubles] = []
    extreme(limb.chain, start, distance, steps)
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
def shortest_pose(limb: Limb, start: Doubles) -> Doubles:
    """The pose that brings the tip nearest to the first ball joint; a chain that bends one way is curled up."""
    chain: Chain = limb.chain
    if chain.is_free and chain.count > 2 and chain.inner == 0.0:
        curl: Doubles = curled(chain, start, CURLED_UP, True)
        limb.curls = limb.reach_of(curl) <= CURLED_UP + ROUNDING
        if limb.curls:
            return curl
    drawn: Doubles = extreme(chain, best_ends(limb, start, 1.0), 0.0)
    folded: Doubles = straight_pose(chain, drawn, True)
    return folded if limb.reach_of(folded) < limb.reach_of(drawn) else drawn


@cython.cfunc
def longest_pose(limb: Limb, start: Doubles) -> Doubles:
    """The pose that brings the tip farthest from the first ball joint; of several the one to which the start leads."""
    chain: Chain = limb.chain
    straight: float = sum(list(chain.figure.spans)[limb.first :]) - EXTREME_GAIN
    drawn: Doubles = straight_pose(chain, start)
    if limb.reach_of(drawn) >= straight and limb.reach_of(start) >= DRAWN_STRAIGHT * straight:
        return drawn  # from a start that is bent more, joints would turn otherwise than they come to it step by step
    reached: Doubles = extreme(chain, start, OUT_OF_REACH)
    straightened: Doubles = straight_pose(chain, reached)
    if limb.reach_of(straightened) >= straight:
        return straightened
    starts = [drawn, best_ends(limb, start, -1.0)]
    far = [reached, *(extreme(chain, pose, OUT_OF_REACH) for pose in starts)]
    return far[first_best([-limb.reach_of(pose) for pose in far])]


@cython.cfunc
def straight_pose(chain: Chain, start: Doubles, is_folded: cython.bint = False) -> Doubles:
    """A pose, laid out behind the first ball joint as straight as the limits let it.

    Folded, all bones lie against the longest.
    """
    figure: Figure = chain.figure
    pose: Pose = placed_pose(figure, start)
    first = chain.first_ball
    wanted: Doubles = doubles(3 * chain.count + 3)
    copy_into(wanted, pose.heads, 3 * first + 3)
    along: V3 = unit(minus(v3(pose.heads, chain.count), v3(pose.heads, first)))
    spans = list(figure.spans)
    longest: cython.int = spans.index(max(spans[first:]), first)
    for i in range(first, chain.count):
        size: cython.double = -figure.spans[i] if is_folded and i != longest else figure.spans[i]
        put3(wanted, i + 1, plus(v3(wanted, i), scaled(along, size)))
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
    away: cython.double = 0.0
    for i in range(limb.count):
        away += turn_angle(multiplied(conjugated(q4(start, i)), q4(pose, i)))
    return sign * limb.reach_of(pose) + PER_RADIAN * away


@cython.cfunc
def extreme(chain: Chain, start: Doubles, distance: cython.double, steps: list[Doubles] | None = None) -> Doubles:
    """Steps of least squares from a pose towards a distance alone, the first ball joint and those before it held.

    Args:
        chain: n joints.
        start: n rotations.
        distance: Of the tip from the first ball joint.
        steps: Is given the pose after each step, where it is wanted.

    Returns:
        The last of them.
    """
    first: cython.int = chain.first_ball
    tip: Point = cast(Point, Point(chain.count - 1, ORIGIN).bound(chain.figure))
    descent: Descent = Descent(chain.figure, [tip], None, first + 1)
    descent.take(placed_pose(chain.figure, curled(chain, start, BENT_TO, False) if distance == 0.0 else start))
    damping: cython.double = EXTREME_DAMPING
    for _ in range(EXTREME_STEPS):
        root: V3 = v3(descent.pose.heads, first)
        span: V3 = minus(v3(descent.pose.heads, chain.count), root)
        if length(span) < FOLDED or damping > EXTREME_GIVEN_UP:
            break
        tip.target = plus(root, scaled(unit(span), distance))
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
    return descent.pose.rotations
