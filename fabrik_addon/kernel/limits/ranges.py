# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of angles, as several limits have them, and the checks of the numbers that a limit is made from."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from typing import Any

from ...errors import InvalidValueError
from ...finite import LARGEST
from ...texts import Text
from .. import cython
from ..vectors import TAU, magnitude

AT_END = cython.declare(cython.double, 1e-9)  # radians, or of a unit vector's length: nearer than that is at the end
NO_LENGTH = 1e-6  # of an axis that points nowhere
UNIT = 1e-15  # a vector whose length is so near to 1 is kept: made unit again and again, its last digits never settle


@cython.cfunc
@cython.exceptval(check=False)
def turned_towards(angle: cython.double, other: cython.double) -> cython.double:
    """The angle that means the same as `angle`, within half a turn of another; as it is where it is already."""
    turns: cython.double = (angle - other) / TAU
    if not magnitude(turns) > 0.5:  # so said, it holds for what is no number too
        return angle
    return angle - TAU * floor(turns + 0.5)


@cython.cfunc
@cython.exceptval(check=False)
def unwrapped(angle: cython.double, low: cython.double, high: cython.double) -> cython.double:
    """The angle that means the same, within half a turn of the middle of the range."""
    return turned_towards(angle, 0.5 * (low + high))


def finite_numbers(name: str, values: Any, count: int) -> tuple[float, ...]:
    """So many finite numbers.

    Raises:
        InvalidValueError: They are none, or not as many.
    """
    try:
        numbers = tuple([float(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        raise InvalidValueError(Text("the {name} has a value that is no number", name=Text(name))) from None
    if len(numbers) != count:
        given = len(numbers)
        text = Text("the {name} has {given} numbers, and needs {count}", name=Text(name), given=given, count=count)
        raise InvalidValueError(text)
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise InvalidValueError(Text("the {name} has a number that is not finite", name=Text(name)))
    return numbers


def check_range(name: str, low: object, high: object) -> tuple[float, float]:
    """The ends of a range, refused where it ends before it starts.

    Raises:
        InvalidValueError: That, or an end is not a finite number.
    """
    least, greatest = finite_numbers(name, (low, high), 2)
    if least > greatest:
        raise InvalidValueError(Text("the {name}'s least angle is above its greatest", name=Text(name)))
    return least, greatest


def checked_axis(name: str, axis: Sequence[float]) -> tuple[float, float, float]:
    """A unit vector along the axis; one of unit length comes back as it is.

    Raises:
        InvalidValueError: The axis is zero, or not finite.
    """
    x, y, z = finite_numbers(name, axis, 3)
    size = sqrt(x * x + y * y + z * z)
    if size < NO_LENGTH:
        raise InvalidValueError(Text("the {name}'s axis is zero", name=Text(name)))
    return (x, y, z) if abs(size - 1.0) <= UNIT else (x / size, y / size, z / size)


def limit_rotation(name: str, rotation: Sequence[float]) -> tuple[float, float, float, float]:
    """A unit quaternion; one of unit length comes back as it is.

    Raises:
        InvalidValueError: The quaternion is zero, or not finite.
    """
    w, x, y, z = finite_numbers(name, rotation, 4)
    size = sqrt(w * w + x * x + y * y + z * z)
    if size < NO_LENGTH:
        raise InvalidValueError(Text("the {name}'s rotation is zero", name=Text(name)))
    return (w, x, y, z) if abs(size - 1.0) <= UNIT else (w / size, x / size, y / size, z / size)


def set_end(name: str, angle: float, low: float, high: float) -> float:
    """An end of a range brought to an angle: the turn nearest to where the end stood, and not beyond the other end.

    Args:
        name: Of the setting, ending in "min" or "max".
        angle: In radians; whole turns do not count.
        low: Least angle so far.
        high: Greatest angle so far.
    """
    if name.endswith("min"):
        return min(turned_towards(angle, low), high)
    return max(turned_towards(angle, high), low)
