# SPDX-License-Identifier: GPL-3.0-or-later
"""The strip of a bake's residuals along the timeline."""

from __future__ import annotations

import pytest
from fabrik_addon.overlay.timeline import LEAST, level_colour, rectangles, runs_of_report
from fabrik_addon.session.bake import read_report

from support.judging import bake_chain
from support.scenes import keyed_line

GREEN, RED = (0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)


def test_runs_stand_where_their_frames_are() -> None:
    assert rectangles([(1, 10, 0), (11, 20, 3)], origin=100.0, per_frame=5.0, width=1000.0) == [
        (102.5, 152.5, 0),
        (152.5, 202.5, 3),
    ]


def test_what_is_out_of_view_is_left_out_and_the_worst_is_drawn_last() -> None:
    found = rectangles([(1, 10, 5), (11, 500, 0), (600, 700, 2)], origin=0.0, per_frame=1.0, width=200.0)
    assert found == [(10.5, 200.0, 0), (0.5, 10.5, 5)]


def test_a_single_bad_frame_is_seen_from_far_away() -> None:
    (left, right, _) = rectangles([(500, 500, 5)], origin=0.0, per_frame=0.001, width=200.0)[0]
    assert right - left == pytest.approx(LEAST)


def test_colours_run_from_the_best_to_the_worst() -> None:
    assert level_colour(0, GREEN, RED) == GREEN
    assert level_colour(5, GREEN, RED) == RED
    assert level_colour(2, GREEN, RED) == pytest.approx((0.4, 0.6, 0.0, 1.0))


def test_it_shows_the_last_report_of_the_armature() -> None:
    owner, chain = keyed_line()
    assert runs_of_report(owner) == []
    bake_chain(owner, chain)
    assert [bake_chain[:2] for bake_chain in runs_of_report(owner)] == [(1.0, 20.0)]
    owner.fabrik.bake_report = ""
    assert runs_of_report(owner) == []


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"format": 99}', "NaN"])
def test_a_report_that_can_not_be_read_is_none(text: str) -> None:
    owner, _ = keyed_line()
    owner.fabrik.bake_report = text
    assert read_report(owner) is None
    assert runs_of_report(owner) == []
