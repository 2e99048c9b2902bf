# SPDX-License-Identifier: GPL-3.0-or-later
"""What the chains of a figure ask for: the goals of the kernel, the numbers of its rows, and how chains stand by them.

A pose is judged in F frames at once. All numbers are of one space, whichever it is: chain space for a pose that was
solved, armature space for one that Blender evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from ...kernel import SOLVE_SPACE, STATUSES, Figure, Goal, Rows, Status
from ...maths import (
    V3,
    Doubles,
    Ints,
    Places,
    conjugated,
    conjugates,
    crosses,
    dots,
    length,
    lengths,
    minus,
    multiplied,
    products,
    rotated,
    rotated_each,
    turn_angles,
)
from ..goals import GoalArrays, GoalPoints
from .chain_goal import ChainGoal, bent
from .space import ChainSpace

REACHED = STATUSES.index(Status.REACHED)


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

    Where the numbers and the goals of each are, after those before it, is filled in.
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

    @cached_property
    def has_offsets(self) -> bool:
        """Whether one of the chains is offset from its start pose."""
        return True in [one.is_offset for one in self]

    @cached_property
    def at_rest(self) -> tuple[float, ...] | None:
        """The numbers of a row while all controls rest, so that nothing is asked; None where that can't be."""
        found = list[float]()
        for one in self:
            if not one.is_offset:
                return None
            found += one.at_rest
        return tuple(found)

    def kernel_goals(self, numbers: Sequence[float]) -> list[Goal]:
        """The goals of the kernel, from the numbers of a row."""
        return [goal for one in self for goal in one.kernel_goals(one.of_row(numbers))]

    def numbers(self, space: ChainSpace, points: Sequence[GoalPoints]) -> tuple[float, ...]:
        """The numbers of a row, for goals of each chain in the world."""
        return tuple([n for one, own in zip(self, points, strict=True) for n in one.numbers(space, own)])

    def many_numbers(self, space: ChainSpace, goals: Sequence[GoalArrays]) -> Doubles:
        """`numbers` for F frames, (F, k), in chain space that stays the same, or in that of each frame; equal bits."""
        return np.concatenate([one.many_numbers(space, own) for one, own in zip(self, goals, strict=True)], axis=1)

    def started(self, figure: Figure) -> GoalTable:
        """The same, with where the start pose has the effectors of chains for which that counts."""
        if not any(one.hears_start for one in self):
            return self
        placed, found = figure.placed(figure.starts), []
        for one in self:
            last = one.joints[-1]
            start, turn = placed.heads[last] if one.at_head or one.kind.aims else placed.ends[last], placed.frames[last]
            run = [*[placed.heads[i] for i in one.joints], *(() if one.at_head else (start,))]
            whole, root = sum(length(minus(b, a)) for a, b in pairwise(run)), run[0]
            if one.frame != SOLVE_SPACE:
                frame, head = conjugated(placed.frames[one.frame]), placed.heads[one.frame]
                start, root = rotated(frame, minus(start, head)), rotated(frame, minus(root, head))
            if (one.frame if one.kind.aims else one.turn_frame) != SOLVE_SPACE:
                turn = multiplied(conjugated(placed.frames[one.frame]), turn)
            started = one._replace(start=start, start_turn=turn, start_root=root, length=whole)
            found.append(bent(started, placed) if one.is_offset and one.has_pole else started)
        return GoalTable(found)

    def kept_from(self, before: GoalTable, shift: V3) -> GoalTable:
        """The same, but that offsets are from the motion that they were from before, whatever the start pose is now.

        Args:
            before: The same chains.
            shift: From the origin of chain space then to that now.
        """
        if not self.has_offsets:
            return self
        return GoalTable(
            [was.from_origin(shift) if one.is_offset else one for one, was in zip(self, before, strict=True)]
        )

    # Columns by which a pose is judged; a chain of no weight asks for no place and no rotation.

    @cached_property
    def tips(self) -> Places:
        """(C,), the last joint of each chain."""
        return _places([one.joints[-1] for one in self])

    @cached_property
    def _reaches(self) -> Doubles:
        """(C,), 1 where a place is asked for, else 0."""
        return np.array([float(one.weight > 0.0 and not one.kind.aims) for one in self])

    @cached_property
    def _loose(self) -> list[tuple[int, ChainGoal]]:
        """The chains that may miss their targets by something, with their indices."""
        return [(c, one) for c, one in enumerate(self) if not one.kind.is_exact]

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
        aims = [c for c, one in enumerate(self) if one.kind.aims and one.weight > 0.0]
        return _places(aims), np.array([self[c].axis for c in aims]).reshape(-1, 3)

    @cached_property
    def _turned(self) -> tuple[Places, Places]:
        """(T,), the chains whose last bone is to have a rotation; (T, 4), where the numbers of these are in a row."""
        turned = [c for c, one in enumerate(self) if one.turns and not one.kind.aims and one.weight > 0.0]
        return _places(turned), _run([self[c].row_at + 3 for c in turned], 4)

    @cached_property
    def _goal_columns(self) -> tuple[Places, ...]:
        """Where the goals of the kernel are told of.

        (C,), the place that each chain asks for, and (C,), its rotation, or the place again; (T,), the chains that are
        turned or aimed, and (T,), the goals by which they are; (P,), those that have a pole, and (P,), the poles.
        """
        first = _places([one.goal_at for one in self])
        second = first + _places([one.turns for one in self])
        turned = _places([c for c, one in enumerate(self) if one.weight > 0.0 and (one.turns or one.kind.aims)])
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
        """The vectors (F, C, 3) that are missed between effectors and targets; zero where no place is asked for.

        Args:
            numbers: (F, k), what is asked for: rows as the kernel's have them.
            heads: (F, n, 3), where the heads of the joints are.
            ends: (F, n, 3), where their ends are: tails, or in a chain the head of the next joint.
            frames: (F, n, 4), unit quaternions: how the joints are turned.
        """
        effectors = np.where(self._at_head, heads[:, self.tips], ends[:, self.tips])
        found: Doubles = (self._places_of(numbers, heads, frames) - effectors) * self._reaches[:, None]
        for c, one in self._loose:
            found[:, c] = one.kind.left(one.options, found[:, c])
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
                one.weight > 0.0 and not one.kind.aims,
                one.weight > 0.0 and (one.turns or one.kind.aims),
                one.goal_at + one.turns + 1 if one.has_pole else -1,
            )
            for one in self
        ]

    def judge(self, numbers: Doubles, heads: Doubles, ends: Doubles, frames: Doubles) -> tuple[Doubles, Doubles]:
        """How a pose stands beside what chains ask for, wherever it comes from, poles left out; arrays as `off` has.

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
    return _places(firsts)[:, None] + np.arange(count)
