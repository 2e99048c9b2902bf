# SPDX-License-Identifier: GPL-3.0-or-later
"""Mappings as text: what is written is read again, and what is broken or hostile is refused in one line."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.recognise.mapping import mapping_text, read_mapping
from fabrik_addon.recognise.part import Part, RecognisedBody

LEG = Part("LEG", "Leg.L", ("thigh", "shin", "foot"), ("THIGH", "SHIN", "FOOT"), holds_head=True)
ARM = Part("ARM", "Arm.Ä", ("左腕", "b"), ("", ""))
MAPPING = RecognisedBody("HUMAN", "hips", (LEG, ARM))


def plain() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(mapping_text(MAPPING))
    return data


def refused(text: str) -> None:
    with pytest.raises(InvalidValueError) as found:
        read_mapping(text)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 300


def test_what_is_written_is_read_again() -> None:
    assert read_mapping(mapping_text(MAPPING)) == MAPPING
    nothing = RecognisedBody("CHAINS", "", tuple[Part[str], ...]())
    assert read_mapping(mapping_text(nothing)) == nothing


@pytest.mark.parametrize(
    "text", ["", "x", "[]", "null", "1", "{}", "[" * 100_000, '{"a":' * 100_000, " " * 1_000_001, '"\\ud800"', "NaN"]
)
def test_what_is_no_mapping_is_refused(text: str) -> None:
    refused(text)


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "x\ny", "x" * 300, [1], [[]], {"a": 1}])
@pytest.mark.parametrize("field", ["fabrik_mapping", "plan", "body", "parts"])
def test_each_field_is_checked(field: str, value: object) -> None:
    data = plain()
    if (field, value) in (("parts", []), ("fabrik_mapping", 1)) and value is not True:
        return
    data[field] = value
    refused(json.dumps(data))


@pytest.mark.parametrize("value", [None, 1, True, {}, "x\ny", "x" * 300, [1], [[]], ["a", "a", "a"], ["", "", ""], []])
@pytest.mark.parametrize("field", ["name", "kind", "bones", "end"])
def test_each_field_of_a_part_is_checked(field: str, value: object) -> None:
    data = plain()
    data["parts"][0][field] = value
    refused(json.dumps(data))


def test_fields_that_nobody_knows_and_names_that_are_taken_are_refused() -> None:
    for change in ({"more": 1}, {"fabrik_mapping": 2}):
        refused(json.dumps(plain() | change))
    data = plain()
    data["parts"][1]["name"] = "Leg.L"
    refused(json.dumps(data))
    data = plain()
    data["parts"][1]["roles"] = []
    refused(json.dumps(data))


def test_spoilt_text_is_read_or_refused() -> None:
    text = mapping_text(MAPPING)
    random = Random(3)
    for _ in range(3000):
        spoilt = list(text)
        for _ in range(random.randint(1, 4)):
            spoilt[random.randrange(len(spoilt))] = random.choice('{}[]",:0aé\\\n')
        try:
            read_mapping("".join(spoilt))
        except InvalidValueError:
            continue
