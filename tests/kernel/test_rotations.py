# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest turn from one direction to another, seen through a free joint that is aimed."""

from math import pi

import pytest
from fabrik_addon.kernel import FREE
from hypothesis import given
from hypothesis import strategies as st

from support.chains import (
    IDENTITY,
    V3,
    X,
    Y,
    angle_between,
    apart,
    cross,
    length,
    plus,
    rotated,
    scaled,
    turn_angle,
    unit,
)

coordinate = st.floats(-10.0, 10.0)
vectors = st.tuples(coordinate, coordinate, coordinate).filter(lambda vector: length(vector) > 1e-3)


@given(vectors, vectors)
def test_the_first_is_turned_onto_the_second(a: V3, b: V3) -> None:
    assert apart(unit(rotated(FREE.aimed(IDENTITY, a, b), a)), unit(b)) < 1e-9


@given(vectors, vectors)
def test_the_turn_is_the_smallest(a: V3, b: V3) -> None:
    assert turn_angle(FREE.aimed(IDENTITY, a, b)) == pytest.approx(angle_between(a, b), abs=1e-6)


@given(vectors, st.floats(0.0, 1e-3))
def test_nearly_opposite_directions_are_met_exactly(a: V3, off: float) -> None:
    beside = cross(unit(a), Y if abs(unit(a)[1]) < 0.9 else X)
    b = plus(scaled(unit(a), -1.0), scaled(unit(beside), off))
    assert apart(unit(rotated(FREE.aimed(IDENTITY, a, b), a)), unit(b)) < 1e-9


def test_opposite_directions_turn_about_the_x_axis_of_the_bone() -> None:
    turn = FREE.aimed(IDENTITY, (0, 1, 0), (0, -1, 0))
    assert turn_angle(turn) == pytest.approx(pi)
    assert apart(rotated(turn, X), X) < 1e-12


def test_no_direction_turns_nothing() -> None:
    for segment, direction in (((0, 0, 0), X), (X, (0, 0, 0))):
        assert FREE.aimed(IDENTITY, segment, direction) == IDENTITY


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-4, 0.1, 3.0])
def test_turns_keep_their_angle(angle: float) -> None:
    assert turn_angle(FREE.turned(IDENTITY, (0, 0, angle))) == pytest.approx(angle, rel=1e-9)
