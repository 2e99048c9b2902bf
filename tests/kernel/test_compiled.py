# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel and the interpreted one answer with the same bits."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from fabrik_addon.kernel import FORM, STATUSES

from support import kernel_answers
from support.kernel_answers import PARTS, Told, run_interpreted, solutions_of_families

pytestmark = [
    pytest.mark.skipif(FORM["kind"] != "compiled", reason="no compiled form is loaded to be compared"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="sin, cos and atan2 are the system's own elsewhere"
    ),
]


def differences(here: Told, there: Told, where: str = "") -> Iterator[str]:
    """Where what is told first differs, by the names and numbers that lead there; once for each name at the top."""
    if here == there:
        return
    if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
        found = (differences(here[name], there[name], f"{where} {name}") for name in here)
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        found = (differences(*pair, f"{where} {i}") for i, pair in enumerate(zip(here, there, strict=True)))
    else:
        yield f"{where.strip()}: {here} compiled, {there} interpreted"
        return
    every = (text for texts in found for text in texts)
    yield from every if not where else islice(every, 1)


@pytest.mark.parametrize("part", PARTS)
def test_both_forms_answer_with_the_same_bits(part: str) -> None:
    found = json.loads(run_interpreted(Path(kernel_answers.__file__), part))
    assert found["form"] == "interpreted"
    here, there = PARTS[part](), found["answers"]
    assert list(here) == list(there)
    assert list(differences(here, there)) == []


def test_the_cases_end_in_every_way() -> None:
    """All statuses, joints that hold back and what they would have to give, poles that are met and that are not."""
    solutions = solutions_of_families()
    assert {solution.status for solution in solutions} == set(STATUSES)
    for found in (
        {bool(solution.blocking) for solution in solutions},
        {None in solution.give for solution in solutions if solution.give},
        {solution.pole_error > 1e-3 for solution in solutions},
        {len(solution.statuses) > 2 for solution in solutions},
    ):
        assert found == {False, True}
