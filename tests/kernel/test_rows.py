# SPDX-License-Identifier: GPL-3.0-or-later
"""Many rows of goals are solved as each of them alone: the same code, the same bits."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from random import Random

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import PIN, STATUSES, Bend, Facing, Goal, Point, Rows, Settings, Solver, Status
from fabrik_addon.maths import IDENTITY, V3, distance, plus

from support.bodies import WALKING_HUMAN, branching, points_for, posed
from support.chains import (
    IS_COMPILED,
    LIMIT_SLACK,
    LIMITED,
    blended,
    goals_for,
    random_vector,
    rotations_of,
    rows_of,
    some,
    turn_between,
    violation,
)
from support.kernel_families import Family, families

FAMILIES = families()
ROWS, MANY_JOINTS = 20, 20
SOME_FAMILIES = list(FAMILIES) if IS_COMPILED else list(FAMILIES)[::10]


def tip_of(rows: Rows, row: int) -> V3:
    x, y, z = rows.ends[3 * (row + 1) * rows.joints - 3 : 3 * (row + 1) * rows.joints]
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
    rows = rows_of(family.figure, asked)
    solver.solve_many(rows, family.settings)
    for i, goals in enumerate(asked):
        single = alone.solve(goals, family.settings, explain=False)
        assert rows.solution(i) == single
    assert solver.worst_violation(rows) <= LIMIT_SLACK
    assert solver.worst_violation(rows) == max(
        violation(family.figure, rotations_of(rows, i)) for i in range(len(asked))
    )


@pytest.mark.parametrize("name", SOME_FAMILIES)
def test_the_answer_does_not_depend_on_the_company(name: str) -> None:
    family = FAMILIES[name]
    solver = Solver(family.figure)
    asked = asked_of(family, 9 if IS_COMPILED else 3)
    together = rows_of(family.figure, asked)
    solver.solve_many(together, family.settings)
    backwards = rows_of(family.figure, asked[::-1])
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
    assert list(rows.numbers[10:20]) == [1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert (rows.count, len(rows.numbers), len(rows.rotations)) == (3, 30, 3 * 4 * figure.count)
    assert (len(rows.status), len(rows.residual), len(rows.passes), len(rows.pole_error)) == (3, 3, 3, 3)
    assert (len(rows.heads), len(rows.ends), len(rows.frames)) == (
        9 * figure.count,
        9 * figure.count,
        12 * figure.count,
    )


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
    rows.numbers[:] = array("d", [*places[0].numbers(), *places[1].numbers()])
    solver = Solver(figure)
    solver.solve_many(rows)
    wanted = [Point(4, places[0].numbers(), weight=0.3), Point(4, places[1].numbers(), weight=2.0)]
    assert rotations_of(rows, 0) == solver.solve(wanted).rotations


def flat(rows: Rows, vectors: Sequence[Sequence[float]]) -> array[float]:
    """Vectors or quaternions one after the other, as they are put into a buffer of rows."""
    made: array[float] = type(rows.numbers)("d", [number for vector in vectors for number in vector])
    return made


class TestWhatStandsInARow:
    """Start pose, place of the root, weights, ranks and joints that stay, row by row."""

    @pytest.mark.parametrize("name", SOME_FAMILIES)
    def test_a_start_pose_of_a_row_counts_as_that_of_a_figure(self, name: str) -> None:
        """Law: equal bits, also between rows that start as the figure does."""
        family = FAMILIES[name]
        figure, random = family.figure, Random(7)
        asked = asked_of(family, 3)
        starts = posed(random, figure)
        solver = Solver(figure)
        rows = rows_of(family.figure, asked)
        rows.starts[4 * figure.count : 8 * figure.count] = flat(rows, starts)
        solver.solve_many(rows, family.settings)
        own, other = Solver(figure), Solver(figure.started(starts))
        for i, goals in enumerate(asked):
            single = (other if i == 1 else own).solve(goals, family.settings, explain=False)
            assert rotations_of(rows, i) == single.rotations
            assert rows.status[i] == STATUSES.index(single.status)

    @pytest.mark.parametrize("name", ["leg with ankle, pole", "two hands, limits", "free chain of 10"])
    def test_the_root_starts_elsewhere(self, name: str) -> None:
        """Goals that are moved with the root are met by the same rotations."""
        family = FAMILIES[name]
        figure, away = family.figure, (0.4, -0.2, 0.7)
        asked = asked_of(family, 2)
        there, here = rows_of(figure, asked), rows_of(figure, asked)
        for k in range(len(asked)):
            there.roots[3 * k : 3 * k + 3] = flat(there, [away])
            at = k * there.width
            for goal in asked[k]:
                if goal.width == 3:
                    x, y, z = there.numbers[at : at + 3]
                    there.numbers[at : at + 3] = flat(there, [plus((x, y, z), away)])
                at += goal.width
        Solver(figure).solve_many(here, family.settings)
        Solver(figure).solve_many(there, family.settings)
        for k in range(len(asked)):
            for a, b in zip(rotations_of(here, k), rotations_of(there, k), strict=True):
                assert turn_between(a, b) < 1e-6
            solution = there.solution(k)
            assert solution.shift == pytest.approx(away)
            for now, then in zip(here.solution(k).joints, solution.joints, strict=True):
                assert distance(plus(now, away), then) < 1e-6 * figure.size

    def test_a_body_whose_root_moves_is_pulled_back_to_where_it_starts(self) -> None:
        here, away = WALKING_HUMAN.placed(WALKING_HUMAN.starts, (0.0, 0.3, 0.1)), (0.0, 0.3, 0.1)
        goals = [Point(3, here.ends[3])]
        rows = rows_of(WALKING_HUMAN, [goals])
        rows.roots[:] = flat(rows, [away])
        Solver(WALKING_HUMAN).solve_many(rows)
        solution = rows.solution()
        assert solution.shift == pytest.approx(away, abs=1e-9)
        assert max(turn_between(a, b) for a, b in zip(solution.rotations, WALKING_HUMAN.starts, strict=True)) < 1e-9

    def test_weights_and_ranks_are_of_the_row(self) -> None:
        """Law: as goals that are made with them, to the last bit; a weight of 0 asks for nothing."""
        figure, random = branching(), Random(3)
        places = points_for(figure, posed(random, figure), (4, 7))
        first, second = (goal.numbers() for goal in places)
        rows = rows_of(figure, [places] * 3)
        rows.weights[2:6] = flat(rows, [(0.3, 2.0, 1.0, 0.0)])
        rows.ranks[2] = PIN
        solver = Solver(figure)
        solver.solve_many(rows)
        wanted: list[list[Goal]] = [
            places,
            [Point(4, first, weight=0.3, rank=PIN), Point(7, second, weight=2.0)],
            [Point(4, first), Point(7, second, weight=0.0)],
        ]
        for k, goals in enumerate(wanted):
            assert rows.solution(k) == Solver(figure).solve(goals, explain=False)

    def test_a_target_without_weight_leaves_a_chain_where_it_starts(self) -> None:
        chain = LIMITED["leg"]
        rows = rows_of(chain, [goals_for(chain, (0.3, 0.2, -0.6))] * 2)
        rows.weights[0] = 0.0
        Solver(chain).solve_many(rows)
        assert rotations_of(rows, 0) == blended(chain, chain.starts, 0.0)
        assert rows.residual[1] < 1e-4 < distance(tip_of(rows, 0), (0.3, 0.2, -0.6))

    @pytest.mark.parametrize("name", ["leg with ankle, pole", "two hands, limits", "spider leg", "free chain of 10"])
    def test_joints_stay_at_their_start(self, name: str) -> None:
        """Those that are told to, in their row alone, and the others go on without them."""
        family = FAMILIES[name]
        figure = family.figure
        asked = asked_of(family, 3)
        solver = Solver(figure)
        rows, free = rows_of(family.figure, asked), rows_of(family.figure, asked)
        rows.stays[figure.count + 1] = 1
        solver.solve_many(rows, family.settings)
        Solver(figure).solve_many(free, family.settings)
        for k in (0, 2):
            assert rotations_of(rows, k) == rotations_of(free, k)
        assert rotations_of(rows, 1)[1] == blended(figure, figure.starts, 0.0)[1]
        assert rotations_of(rows, 1) != rotations_of(free, 1)
        assert solver.worst_violation(rows) <= LIMIT_SLACK

    @pytest.mark.parametrize("name", SOME_FAMILIES)
    def test_heads_ends_and_frames_are_those_of_the_pose(self, name: str) -> None:
        """What forward kinematics makes of a row's rotations, blended too."""
        family = FAMILIES[name]
        figure = family.figure
        solver, asked = Solver(figure), asked_of(family, 2)
        rows = rows_of(family.figure, asked)
        solver.solve_many(rows, family.settings)
        for _ in range(2):
            for k in range(2):
                solution = rows.solution(k)
                if max(solution.factors) > 1.0:
                    continue
                placed = figure.placed(solution.rotations, solution.shift)
                pairs = [
                    *zip(solution.joints, placed.heads, strict=False),
                    *zip(solution.ends, placed.ends, strict=True),
                ]
                assert max(distance(a, b) for a, b in pairs) <= 1e-12 * figure.size
                assert max(turn_between(a, b) for a, b in zip(solution.frames, placed.frames, strict=True)) < 1e-7
            solver.blend_rows(rows, [0.4, 0.4])

    @pytest.mark.parametrize("name", ["cone arm", "leg", "two hands, limits", "spider leg"])
    def test_what_blocks_is_told_of_rows_as_of_one(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        asked = asked_of(family, 12)
        rows = rows_of(family.figure, asked)
        solver.solve_many(rows, family.settings, explain=True)
        for k, goals in enumerate(asked):
            assert rows.solution(k) == Solver(family.figure).solve(goals, family.settings)
            told = rows.blocking[k * rows.joints : (k + 1) * rows.joints]
            assert set(told) == {-1} or rows.status[k] == STATUSES.index(Status.BLOCKED)


class TestInfluence:
    @pytest.mark.parametrize("name", LIMITED)
    def test_rows_are_blended_as_each_alone(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        asked = asked_of(family, 4)
        rows = rows_of(family.figure, asked)
        solver.solve_many(rows)
        solved = list(rows.rotations)
        for influences in ((0.0, 0.25, 0.7, 1.0), (0.7, 0.7, 0.0, 1.0)):
            rows.rotations[:] = type(rows.rotations)("d", solved)
            wanted = [blended(family.figure, rotations_of(rows, i), share) for i, share in enumerate(influences)]
            solver.blend_rows(rows, influences)
            assert [rotations_of(rows, i) for i in range(len(asked))] == wanted
            assert solver.worst_violation(rows) <= LIMIT_SLACK

    @pytest.mark.parametrize("name", ["leg", "shoulder", "spider leg", "free chain of 4"])
    def test_the_way_is_gone_evenly(self, name: str) -> None:
        family = FAMILIES[name]
        solver = Solver(family.figure)
        turns = solver.solve(asked_of(family, 1)[0]).rotations
        ways = [blended(family.figure, turns, 0.1 * i) for i in range(11)]
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

    def test_the_settings_are_those_of_the_call(self) -> None:
        """A solver that has been used with other settings, and is used with them again."""
        chain = LIMITED["spider leg"]
        solver, goals = Solver(chain), goals_for(chain, (0.8, 0.9, 0.2))
        settings = [Settings(), Settings(max_passes=2, restarts=0), Settings(tolerance=0.2)]
        first = [Solver(chain).solve(goals, each) for each in settings]
        assert [solver.solve(goals, each) for each in reversed(settings)] == first[::-1]
