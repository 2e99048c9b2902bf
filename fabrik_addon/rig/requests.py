# SPDX-License-Identifier: GPL-3.0-or-later
"""What all chains of a figure ask for together, as goals and as room for rows of goals."""

from __future__ import annotations

from collections.abc import Sequence

from ..kernel import Figure, Goal, Rows
from ..maths import V3, Z_AXIS
from .asked import Asked
from .balance import Weighed


def placed(asked: Sequence[Asked], figure: Figure) -> tuple[Asked, ...]:
    """What chains ask for, with where the start pose has their effectors where that counts."""
    if all(one.influence >= 1.0 for one in asked):
        return tuple(asked)
    placed = figure.placed(figure.starts)
    found = []
    for one in asked:
        last = one.joints[-1]
        at_head = one.at_head or one.kind == "AIM"
        start = placed.heads[last] if at_head else placed.ends[last]
        found.append(one._replace(start=start, start_turn=placed.frames[last]))
    return tuple(found)


def rows_for(figure: Figure, asked: Sequence[Asked], weighed: Weighed | None, count: int) -> Rows:
    """Room for rows of goals; their places come with the rows."""
    return Rows(figure, goals_for(asked, _nowhere(asked), weighed, Z_AXIS), count)


def goals_for(asked: Sequence[Asked], numbers: Sequence[float], weighed: Weighed | None, up: V3) -> list[Goal]:
    """What chains ask for, from the numbers of a row, and that they keep their balance."""
    found = list[Goal]()
    for one in asked:
        found += one.goals(one.of_row(numbers))
    return found if weighed is None else [*found, weighed.goal(asked, numbers, up)]


def _nowhere(asked: Sequence[Asked]) -> list[float]:
    """Placeholder numbers to make `Rows` with; every row is overwritten before it is solved."""
    return [1.0] * sum([one.width for one in asked])
