# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace sees every pass and changes nothing."""

from itertools import pairwise
from random import Random

import pytest
from fabrik_addon.kernel import Settings, Solver, Trace

from support.chains import LIMITED, apart, goals_for, random_chain, random_direction, random_vector, scaled, some


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("plain", [False, True])
def test_tracing_changes_nothing_and_keeps_the_lengths(limited: bool, plain: bool) -> None:
    random, settings = Random(1), Settings(plain=plain)
    for _ in range(some(20)):
        chain = LIMITED["spider leg"] if limited else random_chain(random, 5, curl=2.0)
        target = scaled(random_direction(random), chain.size * 0.7)
        goals, trace = goals_for(chain, target, random_vector(random)), Trace()
        solution = Solver(chain).solve(goals, settings, trace)
        assert solution == Solver(chain).solve(goals, settings)
        assert trace.steps[0].name == "start"
        assert trace.steps[-1].name == "end"
        for step in trace.steps:
            for (a, b), span in zip(pairwise(step.joints), chain.lengths, strict=True):
                assert apart(a, b) == pytest.approx(span / chain.size, rel=1e-6)
        for a, b in zip(trace.steps[-1].joints, solution.joints, strict=True):
            assert apart(scaled(a, chain.size), b) <= 1e-12 * chain.size
        for a, b in zip(trace.steps[0].joints, chain.placed(chain.starts).joints, strict=True):
            assert apart(scaled(a, chain.size), b) <= 1e-12 * chain.size


def test_passes_are_named() -> None:
    random, names = Random(2), set()
    for _ in range(20):
        chain, trace = random_chain(random, 5, curl=2.0), Trace()
        Solver(chain).solve(goals_for(chain, scaled(random_direction(random), chain.size * 0.8)), Settings(), trace)
        names |= {step.name for step in trace.steps}
    assert {"start", "swing", "backward", "forward", "end"} <= names


def test_least_squares_and_restarts_are_named() -> None:
    chain, trace = LIMITED["spider leg"], Trace()
    Solver(chain).solve(goals_for(chain, (-1.5, 0.3, 0.8)), Settings(), trace)
    assert {"swing", "descend", "restart"} <= {step.name for step in trace.steps}


def test_a_trace_goes_on_from_solve_to_solve() -> None:
    chain, trace = LIMITED["leg"], Trace()
    solver = Solver(chain)
    for _ in range(2):
        solver.solve(goals_for(chain, (0.1, 0.2, -0.7)), Settings(), trace)
    assert [step.name for step in trace.steps].count("end") == 2
