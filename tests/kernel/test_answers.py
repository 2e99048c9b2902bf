# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer depends on figure, goals and settings alone, and changes as little as these do; each failed once."""

from __future__ import annotations

from itertools import pairwise, product
from math import degrees, radians
from random import Random

import pytest
from fabrik_addon.kernel import (
    FREE,
    HINT,
    PIN,
    Balance,
    Bend,
    Cone,
    Facing,
    Figure,
    Goal,
    Help,
    Hinge,
    Joint,
    Point,
    Settings,
    Solver,
    Status,
    Twist,
)
from fabrik_addon.maths import (
    V3,
    any_perpendicular,
    cross,
    distance,
    dot,
    lerp,
    minus,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)

from dev.limbs import X, Y, Z, hinge
from support.bodies import branching
from support.chains import LIMITED, largest_turn, random_direction, random_rotations, rotations_of, rows_of, solve, some

UP_TO = (0.9999, 1.0001, 1.2)  # times the length of a chain, at which a target is


@pytest.mark.parametrize("inherits", product((True, False), repeat=3))
def test_a_free_chain_is_stretched_whichever_bones_inherit_rotation(inherits: tuple[bool, ...]) -> None:
    """Its limb may begin behind the first joint, and least squares have to lay out the rest."""
    joints = [Joint((0.0, 1.0, 0.0), (1.0, 0.1, 0.05, 0.0), inherits=one) for one in inherits]
    solver = Solver(Figure(joints))
    for share in UP_TO:
        solution = solve(solver, scaled(unit((1.0, 2.0, 0.5)), 3.0 * share))
        assert solution.residual <= max(0.0, 3.0 * (share - 1.0)) + 1e-3


def same_alone(figure: Figure, asked: list[list[Goal]], settings: Settings = Settings()) -> None:  # noqa: B008
    """The last of some rows is solved as by itself."""
    rows, alone = rows_of(figure, asked), rows_of(figure, asked[-1:])
    Solver(figure).solve_many(rows, settings)
    Solver(figure).solve_many(alone, settings)
    last = len(asked) - 1
    assert rotations_of(rows, last) == rotations_of(alone, 0)
    assert (rows.residual[last], rows.passes[last]) == (alone.residual[0], alone.passes[0])


@pytest.mark.parametrize("given", [-0.5, 0.5])
def test_how_far_the_body_helped_before_is_forgotten(given: float) -> None:
    figure = Figure([Joint((0.0, 1.0, 0.0), stiffness=0.7)] * 6, (-1, 0, 1, 2, 1, 4))
    pin = Point(5, plus(figure.placed(figure.starts).ends[5], (0.6, -0.4, 0.3)), rank=PIN)
    for seed in range(some(100)):
        random = Random(seed)
        far, near = (scaled(random_direction(random), size) for size in (6.0, random.uniform(1.0, 3.5)))
        same_alone(figure, [[pin, Point(3, place), Help(3, given)] for place in (far, near)])


def test_the_side_on_which_a_limb_bends_is_that_of_the_start_at_hand() -> None:
    """Rows that one solver used may go to another, whose figure starts elsewhere."""
    figure = branching()
    goals: list[Goal] = [Point(4, (1.0, 2.5, 0.3)), Point(7, (-1.0, 2.5, 0.3)), Bend(4, (0.0, 2.0, 4.0), root=2)]
    started = figure.started(random_rotations(Random(4), figure))
    rows, fresh = rows_of(figure, [goals]), rows_of(figure, [goals])
    Solver(figure).solve_many(rows)
    Solver(started).solve_many(rows)
    Solver(started).solve_many(fresh)
    assert rotations_of(rows, 0) == rotations_of(fresh, 0)


def test_settings_that_are_refused_change_nothing() -> None:
    solver, target, usual = Solver(LIMITED["leg"]), (1.5, 0.0, 0.0), Settings()
    before = solve(solver, target, settings=usual)
    with pytest.raises(TypeError):
        solve(solver, target, settings=Settings._make((0.9, "many", False, 8, True)))
    assert solve(solver, target, settings=usual) == before


def test_no_joint_jumps_where_a_goal_of_a_body_goes_out_of_reach() -> None:
    """Just inside other starts were tried, and just outside none: joints turned by a hundred degrees."""
    jumps = []
    for seed in range(some(100)):
        random = Random(seed)
        limits = [random.choice((FREE, hinge(X, -40, 100), hinge(Z, -60, 60), Cone.circular(0.8))) for _ in range(6)]
        figure = Figure([Joint((0.0, 1.0, 0.0), limit=limit) for limit in limits], (-1, 0, 1, 2, 1, 4))
        solver, way = Solver(figure), random_direction(random)
        other = Point(5, figure.placed(random_rotations(random, figure)).ends[5])
        a, b = (solver.solve([Point(3, scaled(way, 4.0 * share)), other]) for share in (0.99998, 1.00002))
        jumps.append(degrees(largest_turn(a, b)))
    assert max(jumps) < 45.0


@pytest.mark.parametrize("kind", ["bend", "facing"])
def test_what_a_limit_would_have_to_give_does_not_hang_on_hints(kind: str) -> None:
    figure = Figure([Joint((0.0, 1.0, 0.0), limit=limit) for limit in (FREE, hinge(X, -20, 20), FREE)])
    goals: list[Goal] = [Point(2, (0.4, 0.6, 0.2)), Facing(0, (1.0, 0.0, 0.0, 0.0), 1e-3)]
    hint = Bend(2, (5.0, 1.0, 0.0), rank=HINT) if kind == "bend" else Facing(2, (0.0, 1.0, 0.0, 0.0), rank=HINT)
    bare, hinted = Solver(figure).solve(goals), Solver(figure).solve([*goals, hint])
    assert bare.status is hinted.status is Status.BLOCKED
    assert None not in bare.give
    assert [give is None for give in hinted.give] == [give is None for give in bare.give]


def test_a_pole_turns_a_joint_with_next_to_no_room_evenly() -> None:
    """Where the range was narrower than the steps in which it was looked for, the turn came and went."""
    shoulder = Cone(0.0, 1.2, 1.2, 1.2, 1.2, Twist(radians(-2), radians(2)))
    chain = Figure.from_points([(0, 0, 0), (0, 0.3, 1), (0, 0, 2)], [shoulder, hinge(X, -150, 0)])
    solver, found = Solver(chain), []
    for i in range(720):
        pole = scaled(rotated(turn_about(Z, radians(0.5 * i)), Y), 5.0)
        found.append(solve(solver, (0.1, 0.2, 1.7), pole))
    turns = [degrees(largest_turn(*pair)) for pair in pairwise(found)]
    assert sum(turn > 1.0 for turn in turns) <= 1  # from one end of the range to the other, where both are as near


def test_what_is_too_far_even_stretched_is_told_so() -> None:
    """Joints before the root of a goal keep their lengths."""
    chain = Figure([Joint((0.0, 1.0, 0.0))] * 3)
    solution = Solver(chain).solve([Point(2, (0.0, 7.0, 0.0), root=2, stretch=3.0)])
    assert solution.status is Status.TOO_FAR


def test_more_than_all_stiffness_is_all_and_more_than_all_help_is_all() -> None:
    def answer(stiffness: float, help_: float) -> object:
        figure = Figure([Joint((0.0, 1.0, 0.0), stiffness=stiffness)] * 6, (-1, 0, 1, 2, 1, 4))
        goals: list[Goal] = [Point(3, (1.5, 2.0, 1.0)), Point(5, (-1.5, 2.0, 1.0)), Help(3, 1.0)]
        rows = rows_of(figure, [goals])
        rows.numbers[6] = help_
        Solver(figure).solve_many(rows)
        return rotations_of(rows, 0)

    assert answer(1.5, 50.0) == answer(1.0, 1.0)


def test_what_a_hinge_allows_comes_back_to_the_last_digit() -> None:
    random, limit = Random(3), Hinge(unit((0.3, 1.0, -0.2)), -1.2, 2.0)
    for _ in range(some(2000)):
        rotation = turn_about(limit.axis, random.uniform(-1.2, 2.0))
        for own in (rotation, tuple(-one for one in rotation)):
            assert limit.clamped(own) == own
        outside = limit.clamped(turn_about(random_direction(random), random.uniform(-3.0, 3.0)))
        assert limit.clamped(outside) == outside


def off_hull(place: V3, points: list[V3], up: V3) -> float:
    """How far a place is from what its supports span, all in a plane, by every side and triangle of them."""

    def off_side(a: V3, b: V3) -> float:
        side = minus(b, a)
        size = dot(side, side)
        return distance(place, lerp(a, b, min(max(dot(minus(place, a), side) / size, 0.0), 1.0) if size else 0.0))

    for a, b, c in product(points, repeat=3):
        turns = [dot(up, cross(minus(q, p), minus(place, p))) for p, q in ((a, b), (b, c), (c, a))]
        if dot(up, cross(minus(b, a), minus(c, a))) > 1e-9 and min(turns) >= -1e-12:
            return 0.0
    return min(off_side(a, b) for a in points for b in points)


def test_balance_is_kept_over_supports_in_line_and_on_a_grid() -> None:
    """Rounding told a point between two others to be a corner, and a corner to be none."""
    figure, random, wrong = Figure([Joint((0.0, 1.0, 0.0), limit=FREE)]), Random(2), []
    for _ in range(some(1500)):
        up = random_direction(random)
        side = any_perpendicular(up, random_direction(random))
        across, count = cross(up, side), random.randrange(2, 8)
        flat = random.random() < 0.5
        places = [(0.1 * random.randrange(5), 0.0 if flat else 0.1 * random.randrange(3)) for _ in range(count)]
        points = [plus(scaled(side, u), scaled(across, v)) for u, v in places]
        end = figure.placed(figure.starts).ends[0]
        centre = scaled(end, 0.5)
        shifted = [plus(point, minus(centre, lerp(points[0], points[-1], random.random()))) for point in points]
        solution = Solver(figure).solve([Balance([1.0], shifted, up)], Settings(max_passes=0))
        here = minus(centre, scaled(up, dot(up, centre)))
        wanted = off_hull(here, [minus(point, scaled(up, dot(up, point))) for point in shifted], up)
        if abs(solution.residual - wanted) > 1e-6:
            wrong.append((places, solution.residual, wanted))
    assert not wrong
