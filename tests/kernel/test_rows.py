# SPDX-License-Identifier: GPL-3.0-or-later
"""Many rows of goals are solved as each of them alone: the same code, the same bits."""

from random import Random

import pytest
from fabrik_addon.errors import ChainError, InvalidValueError
from fabrik_addon.kernel import STATUSES, Bend, Facing, Goal, Point, Rows, Settings, Solver

from support.bodies import branching, points_for, posed
from support.chains import (
    IDENTITY,
    IS_COMPILED,
    LIMIT_SLACK,
    LIMITED,
    Q4,
    V3,
    goals_for,
    random_vector,
    some,
    turn_between,
)
from support.kernel_families import Family, families

FAMILIES = families()
ROWS, MANY_JOINTS = 20, 20


def filled(solver: Solver, asked: list[list[Goal]]) -> Rows:
    """Rows with the numbers of several lists of goals."""
    rows = Rows(solver.figure, asked[0], len(asked))
    for i, goals in enumerate(asked):
        numbers = [number for goal in goals for number in goal.numbers()]
        rows.numbers[i * rows.width : (i + 1) * rows.width] = type(rows.numbers)("d", numbers)
    return rows


def rotations_of(rows: Rows, row: int) -> list[Q4]:
    """The answer of a row."""
    numbers = rows.rotations[row * 4 * rows.joints : (row + 1) * 4 * rows.joints]
    return [(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]) for i in range(0, len(numbers), 4)]


def tip_of(rows: Rows, row: int) -> V3:
    x, y, z = rows.tips[3 * row : 3 * row + 3]
    return (x, y, z)


def asked_of(family: Family, count: int, seed: int = 5) -> list[list[Goal]]:
    """Goals for some rows of a family."""
    random = Random(seed)
    return [family.ask(random, family.figure, case) for case in range(count)]


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_are_solved_as_each_alone(name: str) -> None:
    """Law: equal bits, for every limit of the registry and every family of figures."""
    family = FAMILIES[name]
    solver, alone = Solver(family.figure), Solver(family.figure)
    asked = asked_of(family, some(ROWS if family.figure.count < MANY_JOINTS else ROWS // 2))
    rows = filled(solver, asked)
    solver.solve_many(rows, family.settings)
    for i, goals in enumerate(asked):
        single = alone.solve(goals, family.settings, explain=False)
        assert rotations_of(rows, i) == single.rotations
        assert STATUSES[rows.status[i]] is single.status
        assert (rows.residual[i], rows.passes[i]) == (single.residual, single.passes)
        assert rows.pole_error[i] == single.pole_error
        assert tip_of(rows, i) == single.joints[-1]
    assert solver.worst_violation(rows) <= LIMIT_SLACK
    assert solver.worst_violation(rows) == max(solver.violation(rotations_of(rows, i)) for i in range(len(asked)))


@pytest.mark.parametrize("name", ["spider leg", "free chain of 10", "leg with ankle, pole", "two hands, limits"])
def test_the_answer_does_not_depend_on_the_company(name: str) -> None:
    family = FAMILIES[name]
    solver = Solver(family.figure)
    asked = asked_of(family, 9 if IS_COMPILED else 3)
    together = filled(solver, asked)
    solver.solve_many(together, family.settings)
    backwards = filled(solver, asked[::-1])
    solver.solve_many(backwards, family.settings)
    for i in range(len(asked)):
        assert rotations_of(together, i) == rotations_of(backwards, len(asked) - 1 - i)
    solver.solve_many(together, family.settings)
    assert rotations_of(together, 0) == rotations_of(backwards, len(asked) - 1)


def test_one_row_is_used_again_and_again() -> None:
    chain, random = LIMITED["shoulder"], Random(2)
    solver, alone = Solver(chain), Solver(chain)
    rows = Rows(chain, goals_for(chain, (1.0, 0.0, 0.0)), 1)
    for _ in range(some(30)):
        target = random_vector(random)
        rows.numbers[0], rows.numbers[1], rows.numbers[2] = target
        solver.solve_many(rows)
        assert rotations_of(rows, 0) == alone.solve(goals_for(chain, target)).rotations


def test_numbers_stand_in_the_order_of_the_goals() -> None:
    figure = branching()
    goals = [Facing(4, IDENTITY), Point(7, (1.0, 2.0, 3.0)), Bend(4, (4.0, 5.0, 6.0))]
    rows = Rows(figure, goals, 3)
    assert rows.width == 10
    rows.fill(goals, 1)
    assert list(rows.numbers[10:20]) == [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert (rows.count, len(rows.numbers), len(rows.rotations)) == (3, 30, 3 * 4 * figure.count)
    assert (len(rows.status), len(rows.residual), len(rows.passes), len(rows.pole_error)) == (3, 3, 3, 3)
    assert len(rows.tips) == 9


def test_buffers_can_be_viewed_from_outside() -> None:
    """As numpy does: doubles and ints that lie in a row, live."""
    chain = LIMITED["leg"]
    rows = Rows(chain, goals_for(chain, (0.0, 0.0, -0.5)), 2)
    numbers: memoryview[float] = memoryview(rows.numbers).cast("B").cast("d")
    status = memoryview(rows.status)
    assert (memoryview(rows.numbers).format, numbers.readonly, status.format) == ("d", False, "i")
    for k, number in enumerate((0.1, 0.2, -0.6, 0.0, 0.0, -3.0)):
        numbers[k] = number
    Solver(chain).solve_many(rows)
    assert [STATUSES[index] for index in status] == ["REACHED", "TOO_FAR"]


def test_weights_and_angles_are_those_of_the_template() -> None:
    figure, random = branching(), Random(3)
    places = points_for(figure, posed(random, figure), (4, 7))
    light = [Point(4, (0.3, 0.1, 0.2), weight=0.3), Point(4, (0.0, 0.4, 0.2), weight=2.0)]
    rows = Rows(figure, light, 1)
    rows.fill(places)
    solver = Solver(figure)
    solver.solve_many(rows)
    wanted = [Point(4, places[0].numbers(), weight=0.3), Point(4, places[1].numbers(), weight=2.0)]
    assert rotations_of(rows, 0) == solver.solve(wanted).rotations


class TestInfluence:
    @pytest.mark.parametrize("name", LIMITED)
    def test_rows_are_blended_as_each_alone(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        asked = asked_of(family, 4)
        rows = filled(solver, asked)
        solver.solve_many(rows)
        solved = list(rows.rotations)
        for influence in (0.0, 0.25, 0.7, 1.0):
            rows.rotations[:] = type(rows.rotations)("d", solved)
            wanted = [solver.blended(rotations_of(rows, i), influence) for i in range(len(asked))]
            solver.blend_rows(rows, influence)
            assert [rotations_of(rows, i) for i in range(len(asked))] == wanted
            assert solver.worst_violation(rows) <= LIMIT_SLACK

    @pytest.mark.parametrize("name", LIMITED)
    def test_none_is_the_start_pose_and_all_the_answer(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        solution = solver.solve(asked_of(family, 1)[0])
        assert solver.blended(solution.rotations, 1.0) == solution.rotations
        for limit, start, none in zip(
            family.figure.joint_limits, family.figure.starts, solver.blended(solution.rotations, 0.0), strict=True
        ):
            assert turn_between(limit.clamped(start), none) < 1e-7

    @pytest.mark.parametrize("name", ["leg", "shoulder", "spider leg", "free chain of 4"])
    def test_the_way_is_gone_evenly(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        turns = solver.solve(asked_of(family, 1)[0]).rotations
        ways = [solver.blended(turns, 0.1 * i) for i in range(11)]
        for a, b, c in zip(ways, ways[1:], ways[2:], strict=False):
            for p, q, r in zip(a, b, c, strict=True):
                assert turn_between(q, r) <= 2.5 * turn_between(p, q) + 1e-6


class TestBadRows:
    chain = LIMITED["leg"]
    goals = goals_for(chain, (0.0, 0.0, -0.7), (0.0, -1.0, 0.0))

    def test_no_rows(self) -> None:
        rows = Rows(self.chain, self.goals, 0)
        Solver(self.chain).solve_many(rows)
        assert (rows.count, len(rows.status), len(rows.rotations)) == (0, 0, 0)

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1e300])
    def test_a_number_that_is_not_finite(self, bad: float) -> None:
        for number, name in ((7, "target"), (10, "pole")):
            rows = Rows(self.chain, self.goals, 3)
            rows.numbers[number] = bad
            with pytest.raises(InvalidValueError, match=f"{name}.* 1"):
                Solver(self.chain).solve_many(rows)

    def test_rows_of_another_figure(self) -> None:
        rows = Rows(LIMITED["tail"], goals_for(LIMITED["tail"], (0.0, 1.0, 0.0)), 2)
        with pytest.raises(ChainError):
            Solver(self.chain).solve_many(rows)

    @pytest.mark.parametrize("count", [-1, 1 << 40])
    def test_fewer_than_none_and_more_than_memory_holds(self, count: int) -> None:
        with pytest.raises(ChainError):
            Rows(self.chain, self.goals, count)

    def test_a_goal_on_no_joint(self) -> None:
        for effector in (-1, 2, 1 << 20):
            with pytest.raises(ChainError, match=str(effector)):
                Rows(self.chain, [Point(effector, (0.0, 0.0, 1.0))], 1)

    def test_no_goals(self) -> None:
        with pytest.raises(ChainError):
            Rows(self.chain, [], 1)

    def test_the_settings_are_those_of_the_call(self) -> None:
        """A solver that has been used with other settings, and is used with them again."""
        chain = LIMITED["spider leg"]
        solver, goals = Solver(chain), goals_for(chain, (0.8, 0.9, 0.2))
        settings = [Settings(), Settings(max_passes=2, restarts=0), Settings(tolerance=0.2)]
        first = [Solver(chain).solve(goals, each) for each in settings]
        assert [solver.solve(goals, each) for each in reversed(settings)] == first[::-1]
