# SPDX-License-Identifier: GPL-3.0-or-later
"""What no solve can use is refused, by both forms of the kernel with the same words, and never ends the process."""

import json
from pathlib import Path

import pytest
from fabrik_addon.errors import ChainError, InvalidValueError
from fabrik_addon.kernel import Point, Solver

from dev.limbs import X
from support import kernel_bad_input, kernel_fuzz
from support.chains import IS_COMPILED, LIMITED, goals_for, some
from support.kernel_answers import run, run_interpreted
from support.kernel_bad_input import NO_CHAIN, NO_OBJECT, NO_TYPE, NO_VALUE, TAKEN, Case

only_compiled = pytest.mark.skipif(not IS_COMPILED, reason="no compiled form is loaded to be compared")
SCRIPT = Path(kernel_fuzz.__file__)


ERRORS: dict[type[Exception], dict[str, Case]] = {
    ChainError: NO_CHAIN,
    InvalidValueError: NO_VALUE,
    TypeError: NO_OBJECT | NO_TYPE,
}


@pytest.mark.parametrize(
    ("error", "case"),
    [pytest.param(error, case, id=name) for error, cases in ERRORS.items() for name, case in cases.items()],
)
def test_what_no_solve_can_use_is_refused(error: type[Exception], case: Case) -> None:
    with pytest.raises(error):
        case()


@pytest.mark.parametrize("case", TAKEN.values(), ids=TAKEN)
def test_what_looks_odd_is_taken(case: Case) -> None:
    found = case()
    assert all(abs(number) < float("inf") for number in kernel_fuzz.numbers_of(found))


@only_compiled
def test_both_forms_refuse_with_the_same_words() -> None:
    there = json.loads(run_interpreted(Path(kernel_bad_input.__file__)))
    here = kernel_bad_input.outcomes()
    assert {
        name: (here[name], there[name]) for name in here if name not in NO_OBJECT and here[name] != there[name]
    } == {}
    assert [name for name in NO_OBJECT if there[name][0] != "TypeError"] == []


def test_words_name_what_is_wrong() -> None:
    """For those that users come to see."""
    for name, words in (
        ("no joints", "the chain has no bones"),
        ("no length", "the chain has no length"),
        ("a joint that hangs on itself", "joint 1 of the figure hangs on joint 1, which does not come before it"),
        ("a goal behind the last joint", "a goal is set for joint 2, and the figure has 2"),
        ("a target of nan", "the target has a number that is not finite"),
        ("a pole that is not finite", "the pole has a number that is not finite"),
        ("a pole angle that is not finite", "the pole angle is not a finite number"),
        ("a direction of (0, 0, 0)", "the direction from which a pole swings has no length"),
        ("a rank of 5", "a goal has the rank 5, which is none"),
        ("masses of other joints", "3 masses were given for 8 joints"),
        ("a tolerance of nan", "the tolerance is not a finite number"),
        ("a segment of nan", "the bone's length has a number that is not finite"),
    ):
        assert kernel_bad_input.outcome((NO_CHAIN | NO_VALUE)[name])[1] == words


class TestArbitraryNumbers:
    """Law: numbers of any size are refused, or give a finite answer inside the limits, the same in both forms."""

    @pytest.fixture(scope="class")
    def found(self) -> list[list[str]]:
        """What comes of them in this form, in a process of its own."""
        return _outcomes({} if IS_COMPILED else {"FABRIK_INTERPRETED": "1"})

    def test_most_are_solved(self, found: list[list[str]]) -> None:
        assert sum(len(outcome) == 1 for outcome in found) > 0.6 * len(found)

    @only_compiled
    def test_both_forms_say_the_same(self, found: list[list[str]]) -> None:
        there = _outcomes({"FABRIK_INTERPRETED": "1"})
        assert [i for i, outcome in enumerate(found) if outcome != there[i]] == []


def _outcomes(variables: dict[str, str]) -> list[list[str]]:
    found: list[list[str]] = json.loads(run(SCRIPT, variables, "values", "200" if IS_COMPILED else "40"))
    return found


def test_no_argument_crashes_the_process() -> None:
    """Hypothesis tries every call with things of any type and size; a crash ends a process that is not this one."""
    run(SCRIPT, {} if IS_COMPILED else {"FABRIK_INTERPRETED": "1"}, "hostile", str(some(1500)))


class TestAfterAnError:
    """A solver, and rows, can be used on after a refusal."""

    def test_a_solver_goes_on(self) -> None:
        chain = LIMITED["leg with ankle"]
        solver, goals = Solver(chain), goals_for(chain, (0.1, 0.2, -0.7))
        wanted = Solver(chain).solve(goals)
        for bad in ([Point(9, X)], []):
            with pytest.raises(ChainError):
                solver.solve(bad)
            assert solver.solve(goals) == wanted

    def test_goals_are_not_changed_by_solving(self) -> None:
        chain = LIMITED["leg"]
        goals = goals_for(chain, (0.1, 0.2, -0.7), (0.0, -2.0, 0.0))
        before = [goal.numbers() for goal in goals]
        Solver(chain).solve(goals)
        assert [goal.numbers() for goal in goals] == before
