# SPDX-License-Identifier: GPL-3.0-or-later
from math import pi

import pytest
from fabrik_addon.kernel.rotations import any_perpendicular, from_rotation_vector, from_to, turn_angle
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Vector

coordinate = st.floats(-10.0, 10.0, width=32)
vectors = st.tuples(coordinate, coordinate, coordinate).map(Vector).filter(lambda v: v.length > 1e-3)


@given(vectors, vectors)
def test_from_to_turns_the_first_onto_the_second(a: Vector, b: Vector) -> None:
    turned = (from_to(a, b, Vector((1, 0, 0))) @ a).normalized()
    assert (turned - b.normalized()).length < 2e-6


@given(vectors, vectors)
def test_from_to_is_the_smallest_turn(a: Vector, b: Vector) -> None:
    assert turn_angle(from_to(a, b, Vector((1, 0, 0)))) == pytest.approx(a.angle(b), abs=2e-3)


@given(vectors, st.floats(0.0, 1e-3))
def test_from_to_is_exact_for_nearly_opposite_directions(a: Vector, off: float) -> None:
    b = -a.normalized() + any_perpendicular(a.normalized(), Vector((0, 1, 0))) * off
    turned = (from_to(a, b, Vector((1, 0, 0))) @ a).normalized()
    assert (turned - b.normalized()).length < 2e-6


def test_opposite_directions_turn_about_the_given_axis() -> None:
    turn = from_to(Vector((0, 1, 0)), Vector((0, -1, 0)), Vector((1, 0, 0)))
    assert turn_angle(turn) == pytest.approx(pi)
    assert (turn @ Vector((1, 0, 0)) - Vector((1, 0, 0))).length < 1e-6


@pytest.mark.parametrize("angle", [1e-6, 1e-4, 0.1, 3.0])
def test_small_turns_keep_their_angle(angle: float) -> None:
    assert turn_angle(from_rotation_vector(Vector((0, 0, angle)))) == pytest.approx(angle, rel=1e-5)
