# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled kernel and the interpreted one answer with the same bits."""

import json
import sys
from pathlib import Path

import pytest
from fabrik_addon.kernel import loading

import kernel_answers
from kernel_answers import PARTS, Told, run_interpreted

pytestmark = [
    pytest.mark.skipif(loading.form().kind != "compiled", reason="no compiled form is loaded to be compared"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="sin, cos and atan2 are the system's own elsewhere"
    ),
]


@pytest.fixture(scope="module")
def interpreted() -> dict[str, dict[str, Told]]:
    """What the interpreted form answers."""
    found = json.loads(run_interpreted(Path(kernel_answers.__file__)))
    assert found["form"] == "interpreted"
    return {name: found[name] for name in PARTS}


@pytest.mark.parametrize("part", PARTS)
def test_both_forms_answer_with_the_same_bits(part: str, interpreted: dict[str, dict[str, Told]]) -> None:
    here, there = PARTS[part](), interpreted[part]
    assert list(here) == list(there)
    assert [name for name in here if here[name] != there[name]] == []
