# SPDX-License-Identifier: GPL-3.0-or-later
"""What one chain of a figure asks for: its goals of the kernel, and its numbers of a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, inf
from typing import NamedTuple, TypeVar

import numpy as np

from ...kernel import ASKED, SOLVE_SPACE, Bend, Facing, Goal, Help, PlacedJoints
from ...maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    Y_AXIS,
    Doubles,
    between,
    conjugated,
    cross,
    distance,
    dot,
    length,
    lengths,
    minus,
    multiplied,
    perpendicular,
    plus,
    q4,
    rotated,
    rotated_each,
    scaled,
    slerp,
    turn_about,
    unit,
    v3,
)
from ..goal_kinds import REACH, GoalKind
from ..goals import GoalArrays, GoalPoints
from .space import ChainSpace

HELD = 0.5  # of the stiffness of what carries a chain, added while the target is near: .03 to the 1.5th is 1 / 192
LET_GO_OVER = 0.05  # of a chain's length, over which that comes to nothing
MOVED = 0.1  # of a chain's length, over which a target off the start pose's effector comes to count as moved
HELPS_OVER = 0.8  # of a chain's length, over which what carries it comes to turn as readily as the limb itself
BENT = 0.05  # of an offset's length by which its knee stands off where that tells its side alone, and its pole counts
# Times that, up to which a limb with its knee back counts as straight; and from which on it does not.
LITTLE, MUCH = 0.75, 1.5
REST_COUNTS = 0.7  # of the direction of a limb at rest beside that in its start pose, for where its pole swings from
AnyShare = TypeVar("AnyShare", float, Doubles)


class ChainGoal(NamedTuple):
    """What one chain of a figure asks for.

    Attributes:
        chain: Name of the chain.
        bones: Names of its bones, root to tip.
        joints: Their indices in the figure.
        kind: What it does with its target.
        options: The numbers that this needs besides (`GoalKind.own`).
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
        swing_along: Where that bone points at rest, in those axes; of an offset rather the limb's start pose.
        is_offset: Whether target and rotation, and the pole, tell how far from the start pose the limb is to be.
        pole_at_rest: Of an offset where the pole is when its control rests, in the axes of the bone that swings.
        bend_at_rest: Of an offset the side to which the limb is to bend, in the axes of its first bone: where it is
            straight nothing else tells that.
        start: Where the start pose has the effector, in the space of the target.
        start_turn: How it has the last bone turned, in the space of the rotation.
        start_root: Where the start pose has its first joint, in the space of the target.
        start_pole: Of an offset the pole that leaves the bend of the start pose, in the axes of `pole_frame`.
        length: From there to the effector along the joints, where something depends on the start pose.
        row_at: Where its numbers begin in a row.
        goal_at: Where its goals begin among those of the figure.
    """

    chain: str
    bones: tuple[str, ...]
    joints: tuple[int, ...]
    kind: GoalKind = REACH
    options: tuple[float, ...] = ()
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
    is_offset: bool = False
    pole_at_rest: V3 = ORIGIN
    bend_at_rest: V3 = ORIGIN
    start: V3 = ORIGIN
    start_turn: Q4 = IDENTITY
    start_root: V3 = ORIGIN
    start_pole: V3 = ORIGIN
    length: float = 0.0
    pole_fades: float = 0.0
    row_at: int = 0
    goal_at: int = 0

    @property
    def width(self) -> int:
        """How many numbers of a row its goals take: 3 of the target, 4 of a rotation, 3 of a pole, 1 of what helps.

        A pole that swings takes 3 more: from where it does.
        """
        return 3 + 4 * self.turns + (6 if self.swing else 3) * self.has_pole + (self.helps < 1.0)

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
        return self.influence < 1.0 or self.helps < 1.0 or self.is_offset

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a place, and perhaps a pole, is asked for, as they stand."""
        return self.kind.is_exact and not (self.turns or self.is_offset) and self.influence >= 1.0

    @property
    def let_go(self) -> ChainGoal:
        """The same chain, which asks for nothing."""
        return self._replace(weight=0.0, turn_weight=0.0, has_pole=False)

    def kernel_goals(self, numbers: Sequence[float]) -> list[Goal]:
        """Its goals, from its numbers of a row: the target, then the rotation, the pole, and what helps."""
        found = [self.kind.goal(self, numbers[:3])]
        if self.turns:
            found.append(Facing(self.joints[-1], numbers[3:7], self.turn_weight, self.rank, frame=self.turn_frame))
        if self.has_pole:
            at = 3 + 4 * self.turns
            end, pole, along = self.joints[self.bent - 1], numbers[at : at + 3], None
            root, angle, fades = self.joints[0], self.pole_angle, self.pole_fades
            if self.swing:
                along = numbers[at + 3 : at + 6]
            weight = float(self.weight > 0.0)
            found.append(Bend(end, pole, angle, weight, root, fades=fades, frame=self.pole_frame, along=along))
        if self.helps < 1.0:
            found.append(Help(self.joints[0], numbers[-1], float(self.weight > 0.0)))
        return found

    def pole_turn(self, run: Sequence[V3]) -> float:
        """Turn of the bend away from the pole, in radians, in a pose whose joints, root to effector, stand so."""
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
        if self.is_offset:
            return self._offset(space, points)
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
                pole = (*rotated(self.swing_turn, points.pole), *self.swing_along)
            else:
                pole = space.to_chain(points.pole) if self.pole_frame == SOLVE_SPACE else points.pole
        return *target, *turn, *pole, *helped

    def _offset(self, space: ChainSpace, points: GoalPoints) -> tuple[float, ...]:
        """`numbers` of an offset: from where the start pose has the effector, moved and turned about that."""
        way, turn, pole, from_world = v3(points.target), points.turn, self.start_pole, space.to_chain_turn(IDENTITY)
        if any(way):
            way = scaled(way if self.frame != SOLVE_SPACE else space.to_chain_way(way), self.influence)
        if turn is None or turn == IDENTITY:
            turned = self.start_turn
        else:
            if self.turn_frame == SOLVE_SPACE:
                turn = multiplied(multiplied(from_world, turn), conjugated(from_world))
            turned = slerp(self.start_turn, multiplied(turn, self.start_turn), self.influence)
        if points.pole is not None and self.has_pole:
            sideways, at_rest = perpendicular(points.pole, Y_AXIS), perpendicular(self.pole_at_rest, Y_AXIS)
            angle = atan2(dot(Y_AXIS, cross(at_rest, sideways)), dot(at_rest, sideways))
            pole = rotated(turn_about(self.swing_along, angle), pole) if angle else pole
        return self._moved(plus(self.start, way), turned, pole)

    def from_origin(self, shift: V3) -> ChainGoal:
        """The same goal with the origin of chain space elsewhere."""
        if self.frame != SOLVE_SPACE:
            return self
        return self._replace(start=minus(self.start, shift), start_root=minus(self.start_root, shift))

    def pole_off(self, run: Sequence[V3], turn: Q4) -> float:
        """By how much the pole of an offset is turned about its limb from its rest where it leaves a bend, in radians.

        Args:
            run: Where the joints of the limb stand in chain space, root to effector.
            turn: How the joint in whose frame the pole stands is turned there.
        """
        limb = rotated(conjugated(turn), unit(minus(run[-1], run[0])))
        rest = rotated(between(unit(self.swing_along), limb), self.start_pole)
        off = max([perpendicular(rotated(conjugated(turn), minus(one, run[0])), limb) for one in run[1:-1]], key=length)
        return atan2(dot(limb, cross(rest, off)), dot(rest, off))

    def _moved(self, target: V3, turn: Q4, pole: V3) -> tuple[float, ...]:
        """`numbers` of an offset."""
        helped = (self._help_for(target),) if self.helps < 1.0 else ()
        bend = (*pole, *self.swing_along) if self.has_pole else ()
        return *target, *(turn if self.turns else ()), *bend, *helped

    @property
    def at_rest(self) -> tuple[float, ...]:
        """The numbers of an offset whose controls rest."""
        return self._moved(self.start, self.start_turn, self.start_pole)

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
        if self.kind.aims:
            along = rotated(self.start_turn, self.axis)
            return plus(self.start, scaled(along, length(minus(target, self.start))))
        return self.start

    def many_numbers(self, space: ChainSpace, goals: GoalArrays) -> Doubles:
        """`numbers` for F frames, (F, k), in chain space that stays the same, or in that of each frame; equal bits."""
        assert not self.is_offset, "it is solved frame by frame, with the start pose of each"
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
                parts.append(np.tile(np.array(self.swing_along), (len(goals.pole), 1)))
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


def bent(one: ChainGoal, placed: PlacedJoints) -> ChainGoal:
    """An offset with the pole that leaves the bend of the limb as it is placed; of a straight one as its root turns.

    A pole that swings turns badly where the limb points away from where it swings from. That lies between where the
    limb points as it is placed, about which its bend is kept best, and where it points at rest, away from which limbs
    seldom point.
    """
    joints = one.joints[: one.bent]
    root, end = placed.heads[joints[0]], placed.ends[joints[-1]]
    along = unit(minus(end, root))
    offs = [perpendicular(minus(placed.heads[i], root), along) for i in joints[1:]]
    off = max(offs, key=length, default=ORIGIN)
    reach = BENT * sum(length(minus(placed.ends[i], placed.heads[i])) for i in joints)
    told = min(length(off) / reach, 1.0) if reach else 0.0
    side = unit(perpendicular(rotated(placed.frames[joints[0]], one.bend_at_rest), along))
    bend = plus(scaled(unit(_forwards(off, side, reach)), told), scaled(side, 1.0 - told))
    turn = placed.frames[one.pole_frame] if one.pole_frame != SOLVE_SPACE else IDENTITY
    limb, bend = rotated(conjugated(turn), along), rotated(conjugated(turn), bend)
    start = unit(plus(limb, scaled(rotated(one.swing_turn, Y_AXIS), REST_COUNTS)))
    return one._replace(swing_along=start, start_pole=rotated(between(limb, start), bend))


def _forwards(off: V3, side: V3, reach: float) -> V3:
    """How a knee stands off its limb, on the side to which it bends where it is straightened a little beyond that.

    So a leg that is all but straight, or a little more, bends to the same side in all frames once it has to.

    Args:
        off: The knee off the line from root to end.
        side: To which the limb bends, a unit vector.
        reach: How far off a knee tells its side alone.
    """
    beyond = -dot(off, side)
    if beyond <= 0.0 or not reach:
        return off
    share = min(max((length(off) / reach - LITTLE) / (MUCH - LITTLE), 0.0), 1.0)
    back = 2.0 * beyond * (1.0 - share * share * (3.0 - 2.0 * share))
    return plus(off, scaled(side, back))
