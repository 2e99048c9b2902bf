# SPDX-License-Identifier: GPL-3.0-or-later
"""What the chains of a figure ask for: their goals, as the kernel takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import InvalidValueError
from ...finite import are_finite
from ...kernel import ASKED, PIN, Aim, Bend, Facing, Goal, Point
from ...maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Doubles,
    length,
    minus,
    plus,
    q4,
    rotated,
    scaled,
    slerp,
    v3,
)
from ...messages import Message
from ..goals import GoalArrays, GoalPoints, turns_tip
from ..schema import FabrikChain
from ..walk_goals import is_walked_body
from .space import ChainSpace, ChainSpaces

NUMBERS = {
    "influence": Message("INFLUENCE"),
    "pole_angle": Message("POLE_ANGLE"),
    "weight": Message("WEIGHT"),
    "orientation_weight": Message("ORIENTATION_WEIGHT"),
    "stretch": Message("STRETCH"),
    "soft": Message("SOFT"),
}


class Asked(NamedTuple):
    """What one chain of a figure asks for.

    Attributes:
        chain: Name of the chain.
        bones: Names of its bones, root to tip.
        joints: Their indices in the figure.
        aims: Whether an axis of the last bone is to point at a place, else the effector is to come to it.
        at_head: Whether the head of the last bone is the effector, else its tail.
        turns: Whether the last bone is to have a rotation.
        has_pole: Whether it is to bend towards a pole.
        pole_angle: Turn of the bend away from the pole, radians.
        weight: Of the goal, among those of its rank.
        turn_weight: Of the rotation, likewise.
        rank: A rank of the kernel.
        axis: That which is aimed, in the axes of the last bone.
        soft: Share of the chain's length.
        stretch: Greatest factor of the chain's length.
        influence: How far the goal is from where the start pose has the effector to where it stands, 0 to 1; 1 for a
            chain that is solved by itself, of which each joint is blended (`Prepared.influence`).
        start: Where the start pose has the effector, in chain space.
        start_turn: How it has the last bone turned there.
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
    pole_angle: float = 0.0
    weight: float = 1.0
    turn_weight: float = 1.0
    rank: int = ASKED
    axis: V3 = (0.0, 1.0, 0.0)
    soft: float = 0.0
    stretch: float = 1.0
    influence: float = 1.0
    start: V3 = ORIGIN
    start_turn: Q4 = IDENTITY
    row_at: int = 0
    goal_at: int = 0

    @property
    def width(self) -> int:
        """How many numbers of a row its goals take: 3 of the target, 4 of a rotation, 3 of a pole."""
        return 3 + 4 * self.turns + 3 * self.has_pole

    @property
    def goal_count(self) -> int:
        """How many goals of the kernel it asks for."""
        return 1 + self.turns + self.has_pole

    def of_row(self, numbers: Sequence[float]) -> Sequence[float]:
        """Its own of the numbers of a row."""
        return numbers[self.row_at : self.row_at + self.width]

    @property
    def wanted(self) -> range:
        """Its goals among those of the figure that can be missed: the place and the rotation, but not the pole."""
        return range(self.goal_at, self.goal_at + self.goal_count - self.has_pole)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a place, and perhaps a pole, is asked for, as they stand."""
        return not self.aims and not self.turns and self.influence >= 1.0

    def goals(self, numbers: Sequence[float]) -> list[Goal]:
        """Its goals, from its numbers of a row: the target, then the rotation, then the pole."""
        last, found = self.joints[-1], list[Goal]()
        if self.aims:
            found.append(Aim(last, self.axis, numbers[:3], self.weight, self.rank))
        else:
            offset = ORIGIN if self.at_head else None
            of_run = {"soft": self.soft, "stretch": self.stretch}
            found.append(Point(last, numbers[:3], self.weight, offset, self.rank, root=self.joints[0], **of_run))
        if self.turns:
            found.append(Facing(last, numbers[3:7], self.turn_weight, self.rank))
        if self.has_pole:
            end = self.joints[-2] if self.at_head else last
            found.append(Bend(end, numbers[-3:], self.pole_angle, root=self.joints[0]))
        return found

    def numbers(self, space: ChainSpace, points: GoalPoints) -> tuple[float, ...]:
        """The numbers of a row for goals in the world."""
        target = space.to_chain(points.target)
        if self.influence < 1.0:
            start = self._start_for(target)
            target = plus(start, scaled(minus(target, start), self.influence))
        turn: tuple[float, ...] = ()
        if self.turns:
            assert points.turn is not None, "it was read with the target"
            turn = space.to_chain_turn(points.turn)
            if self.influence < 1.0:
                turn = slerp(self.start_turn, turn, self.influence)
        pole = space.to_chain(points.pole) if points.pole is not None and self.has_pole else ()
        return *target, *turn, *pole

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
            goals: In the world.
        """
        parts = [space.many_to_chain(goals.target)]
        if self.influence < 1.0:
            starts = np.array([self._start_for(v3(target)) for target in parts[0].tolist()])
            parts[0] = starts + (parts[0] - starts) * self.influence
        if self.turns:
            assert goals.turn is not None, "it was read with the target"
            turns = space.many_to_chain_turns(goals.turn)
            if self.influence < 1.0:
                turns = np.array([slerp(self.start_turn, q4(turn), self.influence) for turn in turns.tolist()])
            parts.append(turns)
        if goals.pole is not None and self.has_pole:
            parts.append(space.many_to_chain(goals.pole))
        return np.concatenate(parts, axis=1)


def ask(
    chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], places: dict[str, int], is_one: bool, is_let_go: bool
) -> Asked:
    """What a chain asks for; where it starts, and where it is among the others, is filled in later.

    Args:
        chain: The chain.
        bones: Its bones, root to tip.
        places: The index in the figure of each of its bones by name.
        is_one: Whether it is solved by itself.
        is_let_go: Whether it asks for nothing in this frame (`groups.is_let_go`).

    Raises:
        InvalidValueError: A setting is not a finite number, or the axis to aim is zero.
    """
    numbers = {name: getattr(chain, name) for name in NUMBERS}
    if not are_finite(numbers.values()):
        lost = next(told for name, told in NUMBERS.items() if not are_finite([numbers[name]]))
        raise InvalidValueError(Message("SETTING_NOT_FINITE", name=lost), chain=chain.name)
    aims, turns, axis = chain.aims, turns_tip(chain), v3(chain.aim_axis)
    if aims and (not are_finite(axis) or length(axis) <= 0.0):
        raise InvalidValueError(Message("AIM_AXIS_NOT_FINITE"), chain=chain.name)
    at_head = not aims and chain.at_head
    names, influence = [bone.name for bone in bones], 1.0 if is_one else chain.influence
    asks = influence > 0.0 and not is_let_go
    is_alone = is_one and not (aims or at_head or turns)  # nothing weighs against it
    return Asked(
        chain.name,
        tuple(names),
        tuple([places[name] for name in names]),
        aims,
        at_head,
        turns,
        chain.pole is not None and not aims and len(bones) > at_head,
        chain.pole_angle,
        chain.weight if asks and not is_alone else float(asks),
        chain.orientation_weight * chain.weight if asks else 0.0,
        PIN if chain.pin or is_walked_body(chain) else ASKED,
        axis,
        chain.soft,
        chain.stretch,
        influence,
    )


def lined_up(asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """What the chains of a figure ask for, each with where its numbers and its goals are, after those before it."""
    found: list[Asked] = []
    row_at = goal_at = 0
    for one in asked:
        found.append(one._replace(row_at=row_at, goal_at=goal_at))
        row_at, goal_at = row_at + one.width, goal_at + one.goal_count
    return tuple(found)
