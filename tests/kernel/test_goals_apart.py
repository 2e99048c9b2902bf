# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that hang on joints of their own: what one of them misses takes nothing from the others."""

from __future__ import annotations

from math import pi
from random import Random

import pytest
from fabrik_addon.kernel import PIN, Facing, Figure, Goal, Point, Solver, Status

from support.bodies import HUMAN, INDEX, WALKING_HUMAN, posed
from support.chains import ORIGIN, X, multiplied, turn_about

PELVIS, LEFT, RIGHT = (INDEX[name] for name in ("pelvis", "foot.L", "foot.R"))
CASES = 12


def feet_of(figure: Figure, random: Random) -> list[Goal]:
    """The hips as in a pose, the right foot too; the left one turned farther than its ankle and hip let it."""
    placed = figure.placed(posed(random, figure, 0.4))
    too_far = multiplied(turn_about(X, 0.5 * pi), placed.frames[LEFT])
    return [
        Point(PELVIS, placed.heads[PELVIS], offset=ORIGIN, rank=PIN),
        Facing(PELVIS, placed.frames[PELVIS], rank=PIN),
        Point(LEFT, placed.heads[LEFT], offset=ORIGIN),
        Facing(LEFT, too_far),
        Point(RIGHT, placed.heads[RIGHT], offset=ORIGIN),
        Facing(RIGHT, placed.frames[RIGHT]),
    ]


@pytest.mark.parametrize("figure", [HUMAN, WALKING_HUMAN], ids=["fixed", "moving"])
def test_a_foot_that_is_blocked_leaves_the_other_where_it_is_to_be(figure: Figure) -> None:
    random = Random(3)
    solver = Solver(figure)
    for _ in range(CASES):
        solution = solver.solve(feet_of(figure, random))
        assert Status.BLOCKED in solution.statuses[2:4]
        assert solution.statuses[4:] == (Status.REACHED, Status.REACHED)
