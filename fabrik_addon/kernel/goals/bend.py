# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of joints is to bend towards a place: the pole."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, sqrt
from typing import SupportsFloat, SupportsIndex, cast

from ...errors import LARGEST, InvalidValueError
from .. import cython
from ..figure import Figure, Pose
from ..forms import Q4, V3, Doubles
from ..limits.base import checked_point
from ..vectors import (
    IDENTITY,
    ORIGIN,
    angle_about,
    conjugated,
    cross,
    dot,
    from_to,
    larger,
    length,
    magnitude,
    minus,
    multiplied,
    perpendicular,
    q4,
    rotated,
    scaled,
    turn_about,
    unit,
    v3,
)
from .base import HINT, OTHER, SOLVE_SPACE, TIP, TURNS_RUN, UNMOVED, Goal
from .point import Point

STRAIGHT = cython.declare(cython.double, 0.4)  # share of where an angle counts in full up to which a run is straight
OPPOSED = cython.declare(cython.double, 1e-3)  # sizes, for a run that points away from where its pole swings from
NO_BEND = cython.declare(cython.double, 1e-6)  # distance of a joint or pole from the run's line that tells no side


@cython.cclass
class Bend(Goal):
    """The joints between the root of a run and the end of its last segment are to bend towards a pole.

    A chain with a target is turned about the line from its root to its tip, which leaves the tip where it is. Among
    several goals the inner joint that stands farthest off the line as the run starts is pulled over to the pole's side:
    of an animal's leg, whose joints bend to and fro, always the same one.

    Args:
        effector: Index of the last joint of the run.
        pole: The place.
        angle: Radians by which the bend is turned away from the pole, right-handed about root to tip.
        fades: How far the knee stands off the line, as a share of the run's length, where the angle counts in full; the
            deeper the bend, the less of it counts, and a knee comes under its pole. The straighter the run, the less
            counts the pole, for a straight knee tells no side: its root is turned about the line as it starts. (A chain
            of which nothing else is asked but a place for its tip is turned to its pole in full.) 0: all counts alike
            in all poses.
        weight: How much the goal counts beside others.
        root: Index of the first joint of the run.
        rank: Before which other goals it is met.
        frame: Index of the joint in whose frame the pole is, or `SOLVE_SPACE`.
        along: The direction from which the pole swings with the limb: the pole is then a vector from the run's root,
            both in the axes of the joint `frame`, and is turned by the least rotation that brings this direction onto
            the run's. It is told after the pole in a row. None for a pole that does not.
    """

    pole: V3
    rest_along: V3
    swings: cython.bint
    angle = cython.declare(cython.double, visibility="readonly")
    fades = cython.declare(cython.double, visibility="readonly")
    start: Q4  # of the root, inside its limit
    first: cython.int  # place of the root on the path
    bent: cython.int  # place there of the joint that is bent as the run starts
    reach: cython.double  # length of the run, in sizes of the figure
    turn_side: V3  # of a pole that swings, where the knee goes by a turn about the run ...
    spin: V3  # ... and how far the pole turns about it by a move of its end at right angles, as told

    def __init__(  # noqa: PLR0913 - each is a number of the goal
        self,
        effector: SupportsIndex,
        pole: Sequence[float],
        angle: SupportsFloat = 0.0,
        weight: SupportsFloat = 1.0,
        root: SupportsIndex = 0,
        rank: SupportsIndex = HINT,
        *,
        fades: SupportsFloat = 0.0,
        frame: SupportsIndex = SOLVE_SPACE,
        along: Sequence[float] | None = None,
    ) -> None:
        self._ask(effector, weight, rank, "pole", 3 if along is None else 6, frame, root)
        self.pole = checked_point("pole", pole)
        self.swings = along is not None
        self.rest_along = ORIGIN if along is None else checked_point("direction of a run", along)
        if self.swings and length(self.rest_along) <= 0.0:
            raise InvalidValueError("the direction from which a pole swings has no length")
        angle = float(angle)
        if not abs(angle) <= LARGEST:
            raise InvalidValueError("the pole angle is not a finite number")
        self.angle, self.fades = angle, float(fades)
        if not 0.0 <= self.fades <= 1.0:
            raise InvalidValueError("the share of a run at which its pole angle fades is not between 0 and 1")
        self.start = IDENTITY
        self.first = 0
        self.bent = 0
        self.reach = 0.0
        self.turn_side = self.spin = ORIGIN

    def numbers(self) -> tuple[float, ...]:
        x, y, z = self.pole
        if not self.swings:
            return x, y, z
        u, v, w = self.rest_along
        return x, y, z, u, v, w

    def angle_for(self, off: float, reach: float) -> float:
        """The pole angle for a knee that stands so far off the line of a run of so great a length."""
        return self.angle * fade_of(off, self.fades * reach)

    def tells_side(self, off: float, reach: float) -> bool:
        """Whether the pole counts for a knee that stands so far off the line: not for one that is as good as straight.

        Args:
            off: The distance.
            reach: Length of the run.
        """
        return told_by(off, self.fades * reach) > 0.0

    def copied(self) -> Goal:
        return Bend(
            self.effector,
            self.pole,
            self.angle,
            self.weight,
            self.root,
            self.rank,
            fades=self.fades,
            frame=self.frame,
            along=self.rest_along if self.swings else None,
        )

    def standing(self, turn: Q4, along: V3) -> V3:
        """Where a pole that swings stands from the root of its run, in solve space.

        Args:
            turn: How the joint in whose axes it is turned there.
            along: The direction of the run there.
        """
        return self.swung(turn, along)

    def bound(self, figure: Figure) -> Goal:
        found: Bend = cast(Bend, Goal.bound(self, figure))
        way = list(found.path)
        if self.root not in way:
            raise InvalidValueError(f"joint {self.root}, from which on a pole bends, does not lead to {self.effector}")
        found.first = way.index(self.root)
        run: Point = cast(Point, Point(self.effector, ORIGIN, soft=1.0, root=self.root).bound(figure))
        found.reach = run.reach
        return found

    def role(self, last: int) -> int:
        return TURNS_RUN if self.root == 0 and self.effector == last and self.frame == SOLVE_SPACE else OTHER

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, figure: Figure, start: Pose) -> cython.void:
        self.start, self.bent = q4(start.rotations, self.root), self.farthest(start)

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        pole: V3 = (row[at] * factor, row[at + 1] * factor, row[at + 2] * factor)
        self.pole = pole if self.swings else minus(pole, origin)
        if self.swings:
            self.rest_along = (row[at + 3], row[at + 4], row[at + 5])

    @cython.cfunc
    @cython.exceptval(check=False)
    def swung(self, turn: Q4, along: V3) -> V3:
        """See `standing`."""
        pole: V3 = rotated(turn, self.pole)
        return rotated(from_to(rotated(turn, self.rest_along), along, pole), pole)

    @cython.cfunc
    @cython.exceptval(check=False)
    def away(self, pose: Pose) -> V3:
        """The way from the root of the run to the pole."""
        if self.swings:
            return self.swung(q4(pose.frames, self.frame) if self.frame >= 0 else IDENTITY, self.along(pose))
        return minus(self.out_of(pose, self.pole), v3(pose.heads, self.root))

    @cython.cfunc
    @cython.exceptval(check=False)
    def along(self, pose: Pose) -> V3:
        """The direction from the root of the run to its end."""
        return unit(minus(v3(pose.ends, self.effector), v3(pose.heads, self.root)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def off(self, pose: Pose, k: cython.int) -> V3:
        """How a joint of the path stands off the line from the root of the run to its end."""
        along: V3 = self.along(pose)
        return perpendicular(minus(v3(pose.heads, self.path[k]), v3(pose.heads, self.root)), along)

    @cython.cfunc
    @cython.exceptval(check=False)
    def farthest(self, pose: Pose) -> cython.int:
        """The place on the path of the joint that stands farthest off the line; the first where none does."""
        best: cython.int = self.first
        most: cython.double = NO_BEND
        for k in range(self.first + 1, len(self.path)):
            off: cython.double = length(self.off(pose, k))
            if off > most:
                best = k
                most = off
        return best

    @cython.cfunc
    @cython.exceptval(check=False)
    def knee(self, pose: Pose) -> cython.int:
        """The place on the path of the joint that is bent; the first where none is.

        It is the one that is bent as the run starts, unless that is straight there or in this pose.
        """
        if self.bent > self.first and length(self.off(pose, self.bent)) > NO_BEND:
            return self.bent
        return self.farthest(pose)

    @cython.cfunc
    @cython.exceptval(check=False)
    def angle_in(self, pose: Pose) -> cython.double:
        """The pole angle for a pose."""
        return self.angle * fade_of(length(self.off(pose, self.knee(pose))), self.fades * self.reach)

    @cython.cfunc
    @cython.exceptval(check=False)
    def missing(self, pose: Pose) -> V3:
        along: V3 = self.along(pose)
        off: V3 = self.off(pose, self.knee(pose))
        turn: cython.double = self.turn_left(pose)
        if self.swings:  # all that turns the knee about the line counts, and nothing else: so it comes from behind, too
            return scaled(unit(cross(along, off)), turn * length(off) * self.weight)
        return scaled(minus(rotated(turn_about(along, turn), off), off), self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_left(self, pose: Pose) -> cython.double:
        """The angle in radians by which the knee has to be turned about the line; 0 where none tells a side."""
        knee: cython.int = self.knee(pose)
        along: V3 = self.along(pose)
        side: V3 = perpendicular(self.away(pose), along)
        if knee == self.first or length(side) <= NO_BEND:
            return 0.0
        off: V3 = self.off(pose, knee)
        told: cython.double = told_by(length(off), self.fades * self.reach)
        turned: V3 = rotated(turn_about(along, self.angle * fade_of(length(off), self.fades * self.reach)), unit(side))
        turn: cython.double = told * angle_about(along, off, turned)
        return turn - (1.0 - told) * self.twist(pose, along) if told < 1.0 else turn

    @cython.cfunc
    @cython.exceptval(check=False)
    def twist(self, pose: Pose, along: V3) -> cython.double:
        """How far the root is turned about the line from how it starts, in radians."""
        turn: Q4 = multiplied(q4(pose.rotations, self.root), conjugated(self.start))
        axis: V3 = rotated(conjugated(q4(pose.rests, self.root)), along)
        if turn[0] < 0.0:
            turn = (-turn[0], -turn[1], -turn[2], -turn[3])
        return 2.0 * atan2(dot((turn[1], turn[2], turn[3]), axis), turn[0])

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn_missed(self, pose: Pose) -> cython.double:
        if self.weight <= 0.0:
            return 0.0
        return magnitude(self.turn_left(pose))

    @cython.cfunc
    @cython.exceptval(check=False)
    def shift(self, pose: Pose, axis: V3) -> V3:
        knee: cython.int = self.knee(pose)
        if knee == self.first or self.swings:
            return ORIGIN
        along: V3 = self.along(pose)
        side: V3 = perpendicular(self.away(pose), along)
        distance: cython.double = length(side)
        if distance <= NO_BEND:
            return ORIGIN
        off: cython.double = length(self.off(pose, knee))
        # of the pole's side, which goes the other way
        change: V3 = perpendicular(perpendicular(axis, along), unit(side))
        return scaled(
            rotated(turn_about(along, self.angle * fade_of(off, self.fades * self.reach)), change),
            self.weight * off / distance,
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, pose: Pose) -> cython.void:
        if not self.swings:
            return
        along: V3 = self.along(pose)
        off: V3 = self.off(pose, self.knee(pose))
        turn: Q4 = q4(pose.frames, self.frame) if self.frame >= 0 else IDENTITY
        rest: V3 = rotated(turn, unit(self.rest_along))
        span: cython.double = length(minus(v3(pose.ends, self.effector), v3(pose.heads, self.root)))
        told: cython.double = length(off) * told_by(length(off), self.fades * self.reach)
        self.turn_side = unit(cross(along, off))
        # a direction that is turned least onto another turns about that by (rest x along) / (1 + rest . along)
        opposed: cython.double = larger((1.0 + dot(rest, along)) * span, OPPOSED)
        self.spin = scaled(cross(rest, along), -told / opposed)

    @cython.cfunc
    @cython.exceptval(check=False)
    def move(self, pose: Pose, k: cython.int, axis: V3) -> V3:
        knee: cython.int = self.knee(pose)
        if self.carried[k] == UNMOVED or (k >= knee and not self.swings):
            return ORIGIN
        shift: V3 = self.knee_moved(pose, k, axis, knee) if k < knee else ORIGIN
        if not self.swings:
            return scaled(shift, self.weight)
        root: V3 = v3(pose.heads, self.root)
        end: V3 = self.swept(pose, k, axis, v3(pose.ends, self.effector))
        if k < self.first:
            moved: V3 = cross(axis, minus(root, v3(pose.heads, self.path[k])))
            shift = minus(shift, moved)
            end = minus(end, moved)
        way: V3 = minus(v3(pose.ends, self.effector), root)
        end = perpendicular(end, unit(way))
        knee_at: V3 = minus(v3(pose.heads, self.path[knee]), root)
        beside: cython.double = dot(knee_at, way) / larger(dot(way, way), NO_BEND)
        turned: cython.double = dot(self.turn_side, minus(shift, scaled(end, beside))) - dot(self.spin, end)
        return scaled(self.turn_side, turned * self.weight)

    @cython.cfunc
    @cython.exceptval(check=False)
    def knee_moved(self, pose: Pose, k: cython.int, axis: V3, knee: cython.int) -> V3:
        """How the knee moves by a small turn of joint k of the path, before it."""
        point: V3 = v3(pose.heads, self.path[knee])
        for i in range(k + 1, knee + 1):
            if self.carried[k] != TIP and self.path[i] == self.carried[k]:
                point = v3(pose.heads, self.carried[k])
                break
        return cross(axis, minus(point, v3(pose.heads, self.path[k])))


@cython.cfunc
@cython.exceptval(check=False)
def fade_of(off: cython.double, full: cython.double) -> cython.double:
    """How much of a pole angle counts where a knee stands some way off the line, by where all of it does."""
    if full <= 0.0:
        return 1.0
    share: cython.double = off / full
    share = share * share
    return sqrt(sqrt(2.0 / (1.0 + share * share)))


@cython.cfunc
@cython.exceptval(check=False)
def told_by(off: cython.double, full: cython.double) -> cython.double:
    """How much of a pole counts where a knee stands some way off the line, by where its angle does in full."""
    if off >= full:
        return 1.0
    share: cython.double = (off / full - STRAIGHT) / (1.0 - STRAIGHT)
    return share * share * (3.0 - 2.0 * share) if share > 0.0 else 0.0
