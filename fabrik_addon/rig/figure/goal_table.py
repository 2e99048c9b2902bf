# SPDX-License-Identifier: GPL-3.0-or-later
"""What the chains of a figure ask for: the goals of the kernel, the numbers of its rows, and how chains stand by them.

A pose is judged in F frames at once. All numbers are of one space, whichever it is: chain space for a pose that was
solved, armature space for one that Blender evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from ...kernel import ASKED, SOLVE_SPACE, STATUSES, Aim, Bend, Facing, Figure, Goal, Help, Point, Rows, Status
from ...maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Y_AXIS,
    Doubles,
    Ints,
    Places,
    conjugated,
    conjugates,
    crosses,
    distance,
    dots,
    length,
    lengths,
    minus,
    multiplied,
    perpendicular,
    plus,
    products,
    q4,
    rotated,
    rotated_each,
    scaled,
    slerp,
    turn_angles,
    unit,
    v3,
)
from ..goals import GoalArrays, GoalPoints
from .space import ChainSpace, ChainSpaces

REACHED = STATUSES.index(Status.REACHED)
HELD = 0.5  # of the stiffness of what carries a chain, added while the target is near: .03 to the 1.5th is 1 / 192
LET_GO_OVER = 0.05  # of a chain's length, over which that comes to nothing
MOVED = 0.1  # of a chain's length, over which a target off the start pose's effector comes to count as moved
HELPS_OVER = 0.8  # of a chain's length, over which what carries it comes to turn as readily as the limb itself
AnyShare = TypeVar("AnyShare", float, Doubles)


class ChainGoal(NamedTuple):
    """What one chain of a figure asks for.

    Attributes:
        chain: Name of the chain.
        bones: Names of its bones, root to tip.
        joints: Their indices in the figure.
        aims: Whether an axis of the last bone is to point at a place, else the effector is to come to it.
        at_head: Whether the head of the last bone is the effector, else its tail.
        turns: Whether the last bone is to have a rotation.
        has_pole: Whether it is to bend towards a pole.
        bent: How many of its bones reach from its root to its effector, and bend.
        pole_angle: Turn of the bend away from the pole, radians.
        pole_fades: How far the knee stands off, as a share of the run's length, where that counts in full; 0 for all
            poses.
        weight: Of the goal, among those of its rank.
        turn_weight: Of the rotation, likewise.
        rank: A rank of the kernel.
        axis: That which is aimed, in the axes of the last bone.
        soft: Share of the chain's length.
        stretch: Greatest factor of the chain's length.
        helps: Share of the chain's length from which on what carries it helps to reach; 1 where that is not asked for.
        influence: How far the goal is from where the start pose has the effector to where it stands, 0 to 1; 1 for a
            chain that is solved by itself, of which each joint is blended (`RigFigure.influence`).
        frame: Index of the joint in whose frame the target stands, or `SOLVE_SPACE` for chain space.
        turn_frame: The same of the rotation.
        pole_frame: The same of the pole.
        swing: Name of the bone that swings with the limb and carries the pole, in whose axes that is a vector from the
            limb's root; "" for a pole that stands in `pole_frame`.
        swing_turn: Rotation from the axes of that bone at rest into those of `pole_frame`.
        swing_along: Where that bone points at rest, in those axes.
        start: Where the start pose has the effector, in the space of the target.
        start_turn: How it has the last bone turned, in the space of the rotation.
        start_root: Where the start pose has its first joint, in the space of the target.
        length: From there to the effector along the joints, where something depends on the start pose.
        row_at: Where its numbers begin in a row.
        goal_at: Where its goals begin among those of the figure.
    """

    chain: str
    bones: tuple[str, ...]
    joints: tuple[int, ...]
    aims: bool = False
    at_head: bool = False
    turns: bool = False
    has_pole: bool = False
    bent: int = 0
    pole_angle: float = 0.0
    weight: float = 1.0
    turn_weight: float = 1.0
    rank: int = ASKED
    axis: V3 = (0.0, 1.0, 0.0)
    soft: float = 0.0
    stretch: float = 1.0
    helps: float = 1.0
    influence: float = 1.0
    frame: int = SOLVE_SPACE
    turn_frame: int = SOLVE_SPACE
    pole_frame: int = SOLVE_SPACE
    swing: str = ""
    swing_turn: Q4 = IDENTITY
    swing_along: V3 = Y_AXIS
    start: V3 = ORIGIN
    start_turn: Q4 = IDENTITY
    start_root: V3 = ORIGIN
    length: float = 0.0
    pole_fades: float = 0.0
    row_at: int = 0
    goal_at: int = 0

    @property
    def width(self) -> int:
        """How many numbers of a row its goals take: 3 of the target, 4 of a rotation, 3 of a pole, 1 of what helps."""
        return 3 + 4 * self.turns + 3 * self.has_pole + (self.helps < 1.0)

    @property
    def goal_count(self) -> int:
        """How many goals of the kernel it asks for."""
        return 1 + self.turns + self.has_pole + (self.helps < 1.0)

    def of_row(self, numbers: Sequence[float]) -> Sequence[float]:
        """Its own of the numbers of a row."""
        return numbers[self.row_at : self.row_at + self.width]

    @property
    def hears_start(self) -> bool:
        """Whether it depends on the start pose what it asks for."""
        return self.influence < 1.0 or self.helps < 1.0

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a place, and perhaps a pole, is asked for, as they stand."""
        return not self.aims and not self.turns and self.influence >= 1.0

    def goals(self, numbers: Sequence[float]) -> list[Goal]:
        """Its goals, from its numbers of a row: the target, then the rotation, the pole, and what helps."""
        last, found = self.joints[-1], list[Goal]()
        if self.aims:
            found.append(Aim(last, self.axis, numbers[:3], self.weight, self.rank, frame=self.frame))
        else:
            offset = ORIGIN if self.at_head else None
            found.append(
                Point(
                    last,
                    numbers[:3],
                    self.weight,
                    offset,
                    self.rank,
                    soft=self.soft,
                    root=self.joints[0],
                    stretch=self.stretch,
                    frame=self.frame,
                )
            )
        if self.turns:
            found.append(Facing(last, numbers[3:7], self.turn_weight, self.rank, frame=self.turn_frame))
        if self.has_pole:
            end, pole = self.joints[self.bent - 1], numbers[3 + 4 * self.turns :][:3]
            root, angle, fades = self.joints[0], self.pole_angle, self.pole_fades
            along = self.swing_along if self.swing else None
            found.append(Bend(end, pole, angle, root=root, fades=fades, frame=self.pole_frame, along=along))
        if self.helps < 1.0:
            found.append(Help(self.joints[0], numbers[-1], float(self.weight > 0.0)))
        return found

    def pole_turn(self, run: Sequence[V3]) -> float:
        """Turn of the bend away from the pole, in radians, in a pose.

        Args:
            run: Where its joints stand there, root to effector.
        """
        if not (self.pole_fades and self.pole_angle):
            return self.pole_angle
        along, off = unit(minus(run[-1], run[0])), 0.0
        for joint in run[1:-1]:
            off = max(off, length(perpendicular(minus(joint, run[0]), along)))
        reach = sum(length(minus(b, a)) for a, b in pairwise(run))
        return Bend(0, ORIGIN, self.pole_angle, fades=self.pole_fades).angle_for(off, reach)

    def pole_from(self, pole: Sequence[float], run: Sequence[V3]) -> V3:
        """Where the pole of a chain that is solved by itself is in chain space.

        Args:
            pole: Its numbers of a row.
            run: Where its joints stand there, root to effector.
        """
        if not self.swing:
            return v3(pole)
        along = minus(run[-1], run[0])
        return plus(run[0], Bend(0, pole, along=self.swing_along).standing(IDENTITY, along))

    def numbers(self, space: ChainSpace, points: GoalPoints) -> tuple[float, ...]:
        """The numbers of a row for goals, where these stand (`goals.GoalPoints`)."""
        target = space.to_chain(points.target) if self.frame == SOLVE_SPACE else points.target
        helped = (self._help_for(target),) if self.helps < 1.0 else ()
        if self.influence < 1.0:
            target = v3(target)
            start = self._start_for(target)
            target = plus(start, scaled(minus(target, start), self.influence))
        turn: tuple[float, ...] = ()
        if self.turns:
            assert points.turn is not None, "it was read with the target"
            turn = space.to_chain_turn(points.turn) if self.turn_frame == SOLVE_SPACE else points.turn
            if self.influence < 1.0:
                turn = slerp(self.start_turn, turn, self.influence)
        pole: Sequence[float] = ()
        if points.pole is not None and self.has_pole:
            if self.swing:
                pole = rotated(self.swing_turn, points.pole)
            else:
                pole = space.to_chain(points.pole) if self.pole_frame == SOLVE_SPACE else points.pole
        return *target, *turn, *pole, *helped

    def _help_for(self, target: Sequence[float]) -> float:
        """How much of its stiffness what carries the limb gives up: the more, the farther the target is from it.

        In the limb's own reach that is less than none, so that what carries the limb stays where it is; and so it is
        where the target is at the start pose's effector, for a limb that is not moved needs no help. It is seen from
        where the start pose has the limb's root, so that the answer hangs on the target alone.
        """
        reach = self.length or inf
        over = distance(target, self.start_root) / reach - self.helps
        away = distance(target, self.start) / reach
        far, past = min(max(over / HELPS_OVER, 0.0), 1.0), min(max(over / LET_GO_OVER, 0.0), 1.0)
        return _given_up(far, past, min(max(away / MOVED, 0.0), 1.0))

    def _start_for(self, target: V3) -> V3:
        """Where the goal counts as being at influence 0, in chain space: at the effector of the start pose.

        For an aim that is a point on the axis of the start pose, as far away as the target is.
        """
        if self.aims:
            along = rotated(self.start_turn, self.axis)
            return plus(self.start, scaled(along, length(minus(target, self.start))))
        return self.start

    def many_numbers(self, space: ChainSpace | ChainSpaces, goals: GoalArrays) -> Doubles:
        """`numbers` for F frames, (F, k); equal bits.

        Args:
            space: Chain space, where it stays the same, or in each frame.
            goals: Where they stand.
        """
        parts = [space.many_to_chain(goals.target) if self.frame == SOLVE_SPACE else goals.target]
        targets = parts[0]
        if self.influence < 1.0:
            starts = np.array([self._start_for(v3(target)) for target in parts[0].tolist()])
            parts[0] = starts + (parts[0] - starts) * self.influence
        if self.turns:
            assert goals.turn is not None, "it was read with the target"
            turns = space.many_to_chain_turns(goals.turn) if self.turn_frame == SOLVE_SPACE else goals.turn
            if self.influence < 1.0:
                turns = np.array([slerp(self.start_turn, q4(turn), self.influence) for turn in turns.tolist()])
            parts.append(turns)
        if goals.pole is not None and self.has_pole:
            if self.swing:
                parts.append(rotated_each(np.array(self.swing_turn), goals.pole))
            else:
                parts.append(space.many_to_chain(goals.pole) if self.pole_frame == SOLVE_SPACE else goals.pole)
        if self.helps < 1.0:
            reach = self.length or inf
            over = lengths(targets - np.array(self.start_root)) / reach - self.helps
            away = lengths(targets - np.array(self.start)) / reach
            shares = [np.clip(one, 0.0, 1.0) for one in (over / HELPS_OVER, over / LET_GO_OVER, away / MOVED)]
            parts.append(_given_up(*shares)[:, None])
        return np.concatenate(parts, axis=1)


def _given_up(far: AnyShare, past: AnyShare, away: AnyShare) -> AnyShare:
    """The stiffness that what carries a limb gives up, from shares of 0 to 1 of the widths over which that changes."""
    helped = far * far * (3.0 - 2.0 * far) + HELD * (past * past * (3.0 - 2.0 * past))
    return away * away * (3.0 - 2.0 * away) * helped - HELD


class Result(NamedTuple):
    """How C chains ended in F frames.

    Attributes:
        status: (F, C), indices into the kernel's `STATUSES`; of a place and a rotation that of the one that is not met,
            or is missed most.
        missed: (F, C), from the effector to where it was to go, soft reach heeded; 0 where no place is asked for.
        turn: (F, C), angles in radians by which the last bone is off the rotation, or the aim, that it is to have.
        pole: (F, C), angles in radians between the bend and where the pole wants it; 0 without a pole.
        softened: (F, C), how far from the target soft reach put the place that counts.
    """

    status: Ints
    missed: Doubles
    turn: Doubles
    pole: Doubles
    softened: Doubles


class GoalTable(tuple[ChainGoal, ...]):
    """What C chains ask for that are solved together: a row for each, and the same by columns, made once.

    Args:
        chains: What each asks for; where its numbers and its goals are, after those before it, is filled in.
    """

    def __new__(cls, chains: Iterable[ChainGoal]) -> Self:
        found: list[ChainGoal] = []
        row_at = goal_at = 0
        for one in chains:
            found.append(one._replace(row_at=row_at, goal_at=goal_at))
            row_at, goal_at = row_at + one.width, goal_at + one.goal_count
        return super().__new__(cls, found)

    @property
    def width(self) -> int:
        """How many numbers a row of these goals has."""
        return sum([one.width for one in self])

    def goals(self, numbers: Sequence[float]) -> list[Goal]:
        """The goals of the kernel, from the numbers of a row."""
        return [goal for one in self for goal in one.goals(one.of_row(numbers))]

    def numbers(self, space: ChainSpace, points: Sequence[GoalPoints]) -> tuple[float, ...]:
        """The numbers of a row, for goals of each chain in the world."""
        return tuple([n for one, own in zip(self, points, strict=True) for n in one.numbers(space, own)])

    def many_numbers(self, space: ChainSpace | ChainSpaces, goals: Sequence[GoalArrays]) -> Doubles:
        """`numbers` for F frames, (F, k); equal bits.

        Args:
            space: Chain space, where it stays the same, or in each frame.
            goals: Of each chain, in the world.
        """
        return np.concatenate([one.many_numbers(space, own) for one, own in zip(self, goals, strict=True)], axis=1)

    def started(self, figure: Figure) -> GoalTable:
        """The same, with where the start pose has the effectors of chains for which that counts."""
        if not any(one.hears_start for one in self):
            return self
        placed, found = figure.placed(figure.starts), []
        for one in self:
            last = one.joints[-1]
            start, turn = placed.heads[last] if one.at_head or one.aims else placed.ends[last], placed.frames[last]
            run = [*[placed.heads[i] for i in one.joints], *(() if one.at_head else (start,))]
            whole, root = sum(length(minus(b, a)) for a, b in pairwise(run)), run[0]
            if one.frame != SOLVE_SPACE:
                frame, head = conjugated(placed.frames[one.frame]), placed.heads[one.frame]
                start, root = rotated(frame, minus(start, head)), rotated(frame, minus(root, head))
            if (one.frame if one.aims else one.turn_frame) != SOLVE_SPACE:
                turn = multiplied(conjugated(placed.frames[one.frame]), turn)
            found.append(one._replace(start=start, start_turn=turn, start_root=root, length=whole))
        return GoalTable(found)

    # Columns by which a pose is judged; a chain of no weight asks for no place and no rotation.

    @cached_property
    def tips(self) -> Places:
        """(C,), the last joint of each chain."""
        return _places([one.joints[-1] for one in self])

    @cached_property
    def _reaches(self) -> Doubles:
        """(C,), 1 where a place is asked for, else 0."""
        return np.array([float(one.weight > 0.0 and not one.aims) for one in self])

    @cached_property
    def _at_head(self) -> Any:
        """(C, 1), whether the head of the last joint is the effector, else its end."""
        return np.array([one.at_head for one in self], dtype=bool)[:, None]

    @cached_property
    def _targets(self) -> Places:
        """(C, 3), where the numbers of the targets are in a row."""
        return _run([one.row_at for one in self], 3)

    @cached_property
    def _aiming(self) -> tuple[Places, Doubles]:
        """(A,), the chains that aim; (A, 3), the axis that each of these aims, in the axes of its last bone."""
        aims = [c for c, one in enumerate(self) if one.aims and one.weight > 0.0]
        return _places(aims), np.array([self[c].axis for c in aims]).reshape(-1, 3)

    @cached_property
    def _turned(self) -> tuple[Places, Places]:
        """(T,), the chains whose last bone is to have a rotation; (T, 4), where the numbers of these are in a row."""
        turned = [c for c, one in enumerate(self) if one.turns and not one.aims and one.weight > 0.0]
        return _places(turned), _run([self[c].row_at + 3 for c in turned], 4)

    @cached_property
    def _goal_columns(self) -> tuple[Places, ...]:
        """Where the goals of the kernel are told of.

        (C,), the place that each chain asks for, and (C,), its rotation, or the place again; (T,), the chains that are
        turned or aimed, and (T,), the goals by which they are; (P,), those that have a pole, and (P,), the poles.
        """
        first = _places([one.goal_at for one in self])
        second = first + _places([one.turns for one in self])
        turned = _places([c for c, one in enumerate(self) if one.weight > 0.0 and (one.turns or one.aims)])
        bent = _places([c for c, one in enumerate(self) if one.has_pole])
        return first, second, turned, second[turned], bent, second[bent] + 1

    @cached_property
    def _within(self) -> tuple[Places, Places]:
        """(W,), the chains whose targets stand in the frame of a joint; (W,), these joints."""
        own = [c for c, one in enumerate(self) if one.frame != SOLVE_SPACE]
        return _places(own), _places([self[c].frame for c in own])

    @cached_property
    def _turned_within(self) -> tuple[Places, Places]:
        """Of `_turned` the places of those whose rotations stand in the frame of a joint, and these joints."""
        own = [k for k, c in enumerate(self._turned[0].tolist()) if self[c].turn_frame != SOLVE_SPACE]
        return _places(own), _places([self[self._turned[0][k]].turn_frame for k in own])

    def _places_of(self, numbers: Doubles, heads: Doubles, frames: Doubles) -> Doubles:
        """The targets, (F, C, 3), wherever they stand."""
        found: Doubles = numbers[:, self._targets]
        own, joints = self._within
        if len(own):
            found[:, own] = heads[:, joints] + rotated_each(frames[:, joints], found[:, own])
        return found

    def off(self, numbers: Doubles, heads: Doubles, ends: Doubles, frames: Doubles) -> Doubles:
        """The vectors (F, C, 3) from effectors to targets; zero for a chain that asks for no place.

        Args:
            numbers: (F, k), what is asked for: rows as the kernel's have them.
            heads: (F, n, 3), where the heads of the joints are.
            ends: (F, n, 3), where their ends are: tails, or in a chain the head of the next joint.
            frames: (F, n, 4), unit quaternions: how the joints are turned.
        """
        effectors = np.where(self._at_head, heads[:, self.tips], ends[:, self.tips])
        found: Doubles = (self._places_of(numbers, heads, frames) - effectors) * self._reaches[:, None]
        return found

    def result(self, states: Ints, missed: Doubles, turns: Doubles, softened: Doubles) -> Result:
        """How chains ended, by what the kernel tells of each of its goals, (F, G) each.

        Args:
            states: Indices into `STATUSES`.
            missed: What each goal misses.
            turns: The radians by which each goal of a rotation, an axis or a bend is missed.
            softened: How far the place that each asks for stands from where it was put.
        """
        first, second, turned, turn_goals, bent, poles = self._goal_columns
        status, off = states[:, first], missed[:, first]
        turn, pole = np.zeros((2, *off.shape))
        if len(turned):
            other = states[:, second]
            takes_other = (other != REACHED) & ((status == REACHED) | (missed[:, second] > off))
            status = np.where(takes_other, other, status)
            turn[:, turned] = turns[:, turn_goals]
        if len(bent):
            pole[:, bent] = turns[:, poles]
        return Result(status, off * self._reaches, turn, pole, softened[:, first])

    def result_of(self, rows: Rows) -> Result:
        """How chains ended whose rows were solved."""
        parts = rows.goal_residual, rows.goal_turn, rows.softened
        numbers = [np.frombuffer(part).reshape(rows.count, -1) for part in parts]
        return self.result(np.frombuffer(rows.goal_status, np.int32).reshape(rows.count, -1), *numbers)

    def ended(self, row: Rows) -> list[tuple[int, float, float, float, float]]:
        """`result_of` a single row as plain numbers, chain by chain, which for few chains is quicker; equal bits."""
        states, missed, turns, softened = row.goal_status, row.goal_residual, row.goal_turn, row.softened
        found = []
        for first, second, reaches, turned, pole in self._plain_columns:
            status: int = states[first]
            if second != first and states[second] != REACHED:
                status = status if status != REACHED and missed[second] <= missed[first] else states[second]
            turn, bend = turns[second] if turned else 0.0, turns[pole] if pole >= 0 else 0.0
            found.append((status, missed[first] if reaches else 0.0, turn, bend, softened[first]))
        return found

    @cached_property
    def _plain_columns(self) -> list[tuple[int, int, bool, bool, int]]:
        """Of each chain what `_goal_columns` has of all: place, rotation, whether either counts, and pole or -1."""
        return [
            (
                one.goal_at,
                one.goal_at + one.turns,
                one.weight > 0.0 and not one.aims,
                one.weight > 0.0 and (one.turns or one.aims),
                one.goal_at + one.turns + 1 if one.has_pole else -1,
            )
            for one in self
        ]

    def judge(self, numbers: Doubles, heads: Doubles, ends: Doubles, frames: Doubles) -> tuple[Doubles, Doubles]:
        """How a pose stands beside what chains ask for, wherever it comes from; poles are left out.

        Args:
            numbers: See `off`.
            heads: See `off`.
            ends: See `off`.
            frames: See `off`.

        Returns:
            (F, C), from the effectors to the targets; and (F, C), the angles in radians by which last bones are off
            the rotations, or the aims, that they are to have.
        """
        missed = lengths(self.off(numbers, heads, ends, frames))
        turn = np.zeros(missed.shape)
        aims, axes = self._aiming
        if len(aims):
            aiming = self.tips[aims]
            along = rotated_each(frames[:, aiming], axes)
            wanted = self._places_of(numbers, heads, frames)[:, aims] - heads[:, aiming]
            turn[:, aims] = np.arctan2(lengths(crosses(along, wanted)), dots(along, wanted))
        turned, at = self._turned
        if len(turned):
            wanted, (own, joints) = numbers[:, at], self._turned_within
            if len(own):
                wanted[:, own] = products(frames[:, joints], wanted[:, own])
            turn[:, turned] = turn_angles(products(conjugates(frames[:, self.tips[turned]]), wanted))
        return missed, turn


def _places(values: Sequence[int] | Sequence[bool]) -> Places:
    """Indices as an array."""
    return np.array(values, dtype=np.intp)


def _run(firsts: Sequence[int], count: int) -> Places:
    """(m, count): as many indices from each of m on."""
    found: Places = _places(firsts)[:, None] + np.arange(count)
    return found
