# SPDX-License-Identifier: GPL-3.0-or-later
"""Each operator and option says what it is, under a name of its own; texts are broken by the room that there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import bpy
import pytest
from fabrik_addon.overlay.settings import FabrikOverlay
from fabrik_addon.overlay.shapes import lines_of, text_width
from fabrik_addon.rig.schema import FabrikChain

# But for those of a joint limit, of which each type shows its own: hinge and cone both have Min and Max.
OWNERS = {"Object": bpy.types.Object, "Chain": FabrikChain, "Overlay": FabrikOverlay}


def options_of(rna: Any) -> list[Any]:
    return [prop for prop in rna.properties if prop.identifier != "rna_type"]


def names_twice(properties: Iterable[Any]) -> list[str]:
    """The names that more than one of the shown properties has."""
    shown = {prop.identifier: prop.name for prop in properties if not prop.is_hidden}
    names = Counter(shown.values())
    return [name for name, count in names.items() if count > 1]


def test_an_operator_and_its_options_have_tooltips_and_different_names() -> None:
    for name in dir(bpy.ops.fabrik):
        rna = getattr(bpy.ops.fabrik, name).get_rna_type()
        told = {name: rna.description}
        for option in options_of(rna):
            assert option.name, (name, option.identifier)
            told[option.identifier] = option.description
            if option.type == "ENUM":
                told |= {f"{option.identifier} {item.identifier}": item.description for item in option.enum_items}
        for what, text in told.items():  # Blender puts the full stop
            assert text[:1].isupper(), (name, what)
            assert not text.endswith("."), (name, what)
        assert not names_twice(options_of(rna)), name


@pytest.mark.parametrize("name", OWNERS)
def test_settings_beside_each_other_have_different_names(name: str) -> None:
    found: Any = OWNERS[name].bl_rna.properties
    assert not names_twice(prop for prop in found if name != "Object" or prop.identifier.startswith("fabrik"))


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
