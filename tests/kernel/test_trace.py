# SPDX-License-Identifier: GPL-3.0-or-later
"""A recorder sees every pass and changes nothing."""

from itertools import pairwise
from random import Random

import pytest
from fabrik_addon.kernel import Goal, solve
from fabrik_addon.kernel.trace import ListRecorder

from chains import LIMITED, random_chain, random_vector


@pytest.mark.parametrize("limited", [False, True])
def test_recording_changes_nothing_and_keeps_the_lengths(limited: bool) -> None:
    random = Random(1)
    for _ in range(20):
        chain = LIMITED["spider leg"] if limited else random_chain(random, 5, curl=2.0)
        goal = Goal(random_vector(random).normalized() * chain.length * 0.7, random_vector(random))
        recorder = ListRecorder()
        solution = solve(chain, goal, recorder=recorder)
        assert solution.rotations == solve(chain, goal).rotations
        assert recorder.steps[0].name == "start"
        assert recorder.steps[-1].name == "end"
        for step in recorder.steps:
            for (a, b), length in zip(pairwise(step.joints), chain.unit.lengths, strict=True):
                assert (b - a).length == pytest.approx(length, rel=1e-4)
        assert [joint * chain.length for joint in recorder.steps[-1].joints] == solution.joints


def test_passes_are_named() -> None:
    random, names = Random(2), set()
    for _ in range(20):
        chain, recorder = random_chain(random, 5, curl=2.0), ListRecorder()
        solve(chain, Goal(random_vector(random).normalized() * chain.length * 0.8), recorder=recorder)
        names |= {step.name for step in recorder.steps}
    assert {"start", "backward", "forward", "match", "end"} <= names
