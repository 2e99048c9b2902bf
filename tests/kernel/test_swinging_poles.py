# SPDX-License-Identifier: GPL-3.0-or-later
"""A pole that swings with its limb: a kick keeps the knee over the toes, and no pole is in the way of its limb."""

from __future__ import annotations

from math import cos, pi, sin

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import PIN, Bend, Figure, Joint, Point, Settings, Solution, Solver, Status
from fabrik_addon.maths import (
    IDENTITY,
    Q4,
    V3,
    angle_between,
    cross,
    dot,
    length,
    minus,
    perpendicular,
    plus,
    rotated,
    turn_about,
    unit,
)

EXACT = Settings(1e-7)
DOWN: V3 = (0.0, 0.0, -1.0)
AHEAD: V3 = (0.0, -0.6, -0.5)  # of the hip, before the knee


def leg() -> Figure:
    """A thigh and a shin, which hang straight down."""
    return Figure([Joint((0.0, 0.0, -0.5)), Joint((0.0, 0.0, -0.5))])


def body(turn: Q4 = IDENTITY) -> Figure:
    """The same leg on hips that may move and turn, and another."""
    sides = ((0.1, 0.0, 0.0), (-0.1, 0.0, 0.0))
    joints = [Joint((0.0, 0.0, 0.3), start=turn, stiffness=0.9), *[Joint((0.0, 0.0, -0.5)) for _ in range(4)]]
    return Figure(joints, [-1, 0, 1, 0, 3], [None, sides[0], None, sides[1], None], moves=True)


def kneed(solution: Solution) -> tuple[V3, V3]:
    """The line of a leg, and how its knee stands off that."""
    hip, knee, foot = solution.joints
    along = unit(minus(foot, hip))
    return along, perpendicular(minus(knee, hip), along)


def kick(angle: float, side: float = 0.0, reach: float = 0.85) -> V3:
    """A place of the foot so far before the hip, and so far to the side, from hanging down, in radians."""
    return (reach * sin(side), -reach * sin(angle) * cos(side), -reach * cos(angle) * cos(side))


@pytest.mark.parametrize("angle", [0.0, 0.4, 0.9, pi / 2, 2.2, -0.5])
def test_the_knee_stays_on_the_side_of_the_toes_in_a_kick(angle: float) -> None:
    solution = Solver(leg()).solve([Point(1, kick(angle)), Bend(1, AHEAD, along=DOWN)], EXACT)
    assert solution.status == Status.REACHED
    along, off = kneed(solution)
    toes = (0.0, -cos(angle), sin(angle))  # forward, swung up with the leg
    assert angle_between(unit(off), toes) < 1e-9
    assert solution.pole_error < 1e-9
    assert abs(dot(along, toes)) < 1e-9


def test_a_pole_that_stands_still_bends_a_kick_under_itself() -> None:
    """What the swing is for: seen from a leg that points forward, the place before the knee is below it."""
    solution = Solver(leg()).solve([Point(1, kick(pi / 2)), Bend(1, AHEAD)], EXACT)
    _, off = kneed(solution)
    assert off[2] < -0.1


def test_no_place_of_the_foot_before_the_body_lets_the_knee_jump() -> None:
    solver, before = Solver(leg()), None
    for k in range(200):
        angle = 2.4 * k / 199
        off = unit(kneed(solver.solve([Point(1, kick(angle, 0.3)), Bend(1, AHEAD, along=DOWN)], EXACT))[1])
        if before is not None:
            assert angle_between(off, before) < 0.03, k  # the foot goes by 0.012
        before = off


def test_a_body_bends_its_legs_as_each_does_alone() -> None:
    figure = body()
    solver = Solver(figure)
    for angle in (0.2, 0.8, 1.4):
        alone = Solver(leg()).solve([Point(1, kick(angle)), Bend(1, AHEAD, along=DOWN)], EXACT)
        goals = [
            Point(0, (0.0, 0.0, 0.0), offset=(0.0, 0.0, 0.0), rank=PIN),
            Point(2, plus((0.1, 0.0, 0.0), kick(angle)), root=1),
            Point(4, plus((-0.1, 0.0, 0.0), kick(0.0)), root=3),
            Bend(2, AHEAD, root=1, along=DOWN, frame=0),
            Bend(4, AHEAD, root=3, along=DOWN, frame=0),
        ]
        solution = solver.solve(goals, EXACT)
        assert solution.status == Status.REACHED
        placed = figure.placed(solution.rotations, solution.shift)
        along = unit(minus(placed.ends[2], placed.heads[1]))
        off = perpendicular(minus(placed.heads[2], placed.heads[1]), along)
        hips = placed.frames[0]
        expected = rotated(hips, kneed(alone)[1])
        assert angle_between(unit(off), unit(perpendicular(expected, along))) < 0.02


def test_a_pole_swings_from_the_axes_that_the_limb_hangs_on() -> None:
    """The hips are turned: what is before the knee turns with them, and swings from there."""
    spun = turn_about((0.0, 0.0, 1.0), 0.7)
    figure = body(spun)
    stood = figure.placed(figure.starts)
    foot = plus(stood.heads[1], rotated(spun, kick(0.9)))
    goals = [Point(2, foot, root=1), Bend(2, AHEAD, root=1, along=DOWN, frame=0)]
    solution = Solver(figure).solve(goals, EXACT)
    assert solution.status == Status.REACHED
    placed = figure.placed(solution.rotations, solution.shift)
    along = unit(minus(placed.ends[2], placed.heads[1]))
    off = unit(perpendicular(minus(placed.heads[2], placed.heads[1]), along))
    lateral = rotated(placed.frames[0], (1.0, 0.0, 0.0))
    assert abs(dot(off, lateral)) < 0.02  # the knee stays in the plane of the kick
    assert length(cross(along, off)) == pytest.approx(1.0)


def test_a_direction_without_length_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="no length"):
        Bend(1, AHEAD, along=(0.0, 0.0, 0.0))
    with pytest.raises(InvalidValueError, match="direction of a run"):
        Bend(1, AHEAD, along=(float("nan"), 0.0, 0.0))


def test_a_foot_on_its_own_hip_tells_no_side() -> None:
    """Of a leg of equal bones alone, and of a body: the pose is finite, and the same twice."""
    goals = [Point(2, (0.1, 0.0, 0.0), root=1), Bend(2, AHEAD, root=1, along=DOWN, frame=0)]
    for _ in range(2):
        solution = Solver(body()).solve([Point(0, (0.0, 0.0, 0.0), offset=(0.0, 0.0, 0.0), rank=PIN), *goals], EXACT)
        assert all(-1.0 <= value <= 1.0 for rotation in solution.rotations for value in rotation)
    alone = Solver(leg()).solve([Point(1, (0.0, 0.0, 0.0)), Bend(1, AHEAD, along=DOWN)], EXACT)
    assert all(-1.0 <= value <= 1.0 for rotation in alone.rotations for value in rotation)
