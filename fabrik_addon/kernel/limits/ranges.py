# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of angles, as several limits have them."""

from __future__ import annotations

from collections.abc import Sequence
from math import tau

from mathutils import Vector

from ...errors import InvalidValueError
from ...finite import are_finite

AT_END = 1e-6  # radians


def unwrapped(angle: float, low: float, high: float) -> float:
    """The angle that means the same, within half a turn of the middle of the range."""
    middle = 0.5 * (low + high)
    return angle - tau * round((angle - middle) / tau)


def clamped(angle: float, low: float, high: float) -> float:
    """The angle in the range that is nearest to one near the range."""
    return min(max(angle, low), high)


def check_range(name: str, low: float, high: float) -> None:
    """Refuse a range that ends before it starts.

    Raises:
        InvalidValueError: That, or an end is not a finite number.
    """
    if not are_finite((low, high)):
        raise InvalidValueError(f"the {name} has a number that is not finite")
    if low > high:
        raise InvalidValueError(f"the {name}'s least angle is above its greatest")


def checked_axis(name: str, axis: Sequence[float]) -> Vector:
    """A unit vector along the axis.

    Raises:
        InvalidValueError: The axis is zero, or not finite.
    """
    vector = Vector(axis)
    if not are_finite(vector):
        raise InvalidValueError(f"the {name} has a number that is not finite")
    if vector.length < 1e-6:
        raise InvalidValueError(f"the {name}'s axis is zero")
    return vector.normalized()


def set_end(name: str, angle: float, ends: tuple[float, float]) -> float:
    """An end of a range brought to an angle: the turn nearest to where the end stood, and not beyond the other end.

    Args:
        name: Of the setting, ending in "min" or "max".
        angle: In radians; whole turns do not count.
        ends: Least and greatest angle so far.
    """
    low, high = ends
    stood = low if name.endswith("min") else high
    angle -= tau * round((angle - stood) / tau)
    return min(angle, high) if name.endswith("min") else max(angle, low)
