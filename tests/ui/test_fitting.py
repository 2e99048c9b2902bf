# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the panels are broken by the room that there is."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.overlay.shapes import lines_of, text_width

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
