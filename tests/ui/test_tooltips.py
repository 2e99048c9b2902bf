# SPDX-License-Identifier: GPL-3.0-or-later
"""Each operator and option says what it is, under a name of its own; texts are broken by the room that there is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import bpy
import pytest
from fabrik_addon.overlay.settings import FabrikOverlay
from fabrik_addon.overlay.shapes import lines_of, text_width
from fabrik_addon.rig.schema import FabrikChain

OPERATORS = sorted(dir(bpy.ops.fabrik))

# But for those of a joint limit, of which each type shows its own: hinge and cone both have Min and Max.
OWNERS = {"Object": bpy.types.Object, "Chain": FabrikChain, "Overlay": FabrikOverlay}


def rna_of(operator: str) -> Any:
    return getattr(bpy.ops.fabrik, operator).get_rna_type()


def options_of(rna: Any) -> list[Any]:
    return [prop for prop in rna.properties if prop.identifier != "rna_type"]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_and_its_options_have_tooltips(name: str) -> None:
    rna = rna_of(name)
    told = {name: rna.description}
    for option in options_of(rna):
        told[option.identifier] = option.description
        if option.type == "ENUM":
            told |= {f"{option.identifier} {item.identifier}": item.description for item in option.enum_items}
    assert not [what for what, text in told.items() if not text]
    for text in told.values():  # Blender puts the full stop
        assert text[0].isupper(), text
        assert not text.endswith("."), text


@pytest.mark.parametrize("name", OPERATORS)
def test_the_options_of_an_operator_have_different_names(name: str) -> None:
    names = Counter(option.name for option in options_of(rna_of(name)) if not option.is_hidden)
    assert not [found for found, count in names.items() if count > 1]


@pytest.mark.parametrize("name", OWNERS)
def test_settings_beside_each_other_have_different_names(name: str) -> None:
    found: Any = OWNERS[name].bl_rna.properties
    shown = {prop.identifier: prop.name for prop in found if not prop.is_hidden}
    names = Counter(label for one, label in shown.items() if name != "Object" or one.startswith("fabrik"))
    assert not [one for one, count in names.items() if count > 1]


TEXT = "Held back by limits: upper_arm.L, chest, forearm.L"


@pytest.mark.parametrize("room", [1, 3, 7, 12, 20, 100])
def test_no_line_is_wider_than_the_room_and_nothing_is_lost(room: int) -> None:
    lines = lines_of(TEXT, room, len)
    assert all(len(line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == TEXT.replace(" ", "")


def test_words_that_have_room_stay_whole_and_lines_are_full() -> None:
    lines = lines_of(TEXT, 20, len)
    assert lines == ["Held back by limits:", "upper_arm.L, chest,", "forearm.L"]


def test_there_is_a_line_where_there_is_no_text() -> None:
    assert lines_of("", 20, len) == [""]


def test_a_text_is_as_wide_as_blender_draws_it_at_its_scale() -> None:
    narrow, wide = text_width(bpy.context, "iii"), text_width(bpy.context, "WWW")
    assert 0.0 < narrow < wide
    assert text_width(bpy.context, "WWWWWW") == pytest.approx(2.0 * wide, rel=0.1)
