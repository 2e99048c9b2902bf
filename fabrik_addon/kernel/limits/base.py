# SPDX-License-Identifier: GPL-3.0-or-later
"""What every joint limit can do.

A limit sees rotations of its joint in the rest frame of the bone (+Y along the bone), and nothing else: the identity is
the rest pose. It never stores the state of a solve.

The solver calls the methods named by a verb (`clamp`, `aim`, ...); Python calls those named by a participle (`clamped`,
`aimed`, ...), which do the same.

What a type must answer itself: `clamp`, `allow`, `draw` and `parts`; `aim`, `turn` and `blend` where it knows better
than to do what is asked freely and to clamp it. For a `SwingTwist` all but `parts` follow from `pull`, `allow_swing`
and `draw_direction`. What it may answer: `exceed`, faster; `prefer`, where it knows a side to bend to; `measure` and
`at`, where `dofs` is 1. What bones store of it and what is drawn of it stands above the kernel, in
`rig/limit_types.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from typing import Any

from ...errors import LARGEST, InvalidValueError
from ...messages import Message
from .. import cython
from ..forms import Q4, V3
from ..vectors import (
    IDENTITY,
    ORIGIN,
    TAU,
    X_AXIS,
    conjugated,
    from_rotation_vector,
    from_to,
    magnitude,
    multiplied,
    normalized,
    part_way,
    rotated,
    scaled,
    turn_angle,
)

AT_END = cython.declare(cython.double, 1e-9)  # radians, or of a unit vector's length: nearer than that is at the end
NO_LENGTH = 1e-6  # of an axis that points nowhere
ROTATION, VECTOR = Message("ROTATION"), Message("VECTOR")
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


@cython.cfunc
@cython.exceptval(check=False)
def towards_room(axis: V3, low: cython.double, high: cython.double, angle: cython.double) -> V3:
    """The axis, or its opposite, about which there is more room in a range from an angle; zero where there is none."""
    if high - low <= AT_END:
        return ORIGIN
    return axis if high + low - 2.0 * angle >= 0.0 else scaled(axis, -1.0)


@cython.cfunc
@cython.exceptval(check=False)
def kept_if_near(rotation: Q4, near: Q4) -> Q4:
    """A rotation as it is, to its sign and last digit, where the allowed one nearest to it is no other; else that."""
    cosine: cython.double = (
        near[0] * rotation[0] + near[1] * rotation[1] + near[2] * rotation[2] + near[3] * rotation[3]
    )
    sign: cython.double = 1.0 if cosine >= 0.0 else -1.0
    holds: cython.bint = (
        magnitude(near[0] - sign * rotation[0]) < AT_END
        and magnitude(near[1] - sign * rotation[1]) < AT_END
        and magnitude(near[2] - sign * rotation[2]) < AT_END
        and magnitude(near[3] - sign * rotation[3]) < AT_END
    )
    return rotation if holds else near


def finite_numbers(name: str | Message, values: Any, count: int) -> tuple[float, ...]:
    """So many finite numbers.

    Raises:
        InvalidValueError: They are none, or not as many.
    """
    try:
        numbers = tuple([float(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        raise InvalidValueError(Message("VALUE_IS_NO_NUMBER", name=name)) from None
    if len(numbers) != count:
        raise InvalidValueError(Message("COUNT_OF_NUMBERS", name=name, given=len(numbers), count=count))
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise InvalidValueError(Message("SETTING_HAS_NO_NUMBER", name=name))
    return numbers


def checked_range(name: str | Message, low: object, high: object) -> tuple[float, float]:
    """The ends of a range, refused where it ends before it starts.

    Raises:
        InvalidValueError: That, or an end is not a finite number.
    """
    least, greatest = finite_numbers(name, (low, high), 2)
    if least > greatest:
        raise InvalidValueError(Message("RANGE_ENDS_BEFORE_START", name=name))
    return least, greatest


def checked_axis(name: str | Message, axis: Sequence[float]) -> tuple[float, float, float]:
    """A unit vector along the axis; one of unit length comes back as it is.

    Raises:
        InvalidValueError: The axis is zero, or not finite.
    """
    x, y, z = finite_numbers(name, axis, 3)
    size = sqrt(x * x + y * y + z * z)
    if size < NO_LENGTH:
        raise InvalidValueError(Message("AXIS_ZERO", name=name))
    return (x, y, z) if abs(size - 1.0) <= UNIT else (x / size, y / size, z / size)


def limit_rotation(name: str | Message, rotation: Sequence[float]) -> tuple[float, float, float, float]:
    """A unit quaternion; one of unit length comes back as it is.

    Raises:
        InvalidValueError: The quaternion is zero, or not finite.
    """
    w, x, y, z = finite_numbers(name, rotation, 4)
    size = sqrt(w * w + x * x + y * y + z * z)
    if size < NO_LENGTH:
        raise InvalidValueError(Message("ROTATION_ZERO", name=name))
    return (w, x, y, z) if abs(size - 1.0) <= UNIT else (w / size, x / size, y / size, z / size)


@cython.cclass
class Limit:
    """A set of rotations that a joint may take.

    Attributes:
        dofs: About how many axes the joint turns: 0, 1 or 3.
        axis: For one axis, that one: unit vector in the rest frame.
    """

    dofs = cython.declare(cython.int, visibility="readonly")
    axis = cython.declare(V3, visibility="readonly")

    def __init__(self) -> None:
        self.dofs = 3
        self.axis = ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def clamp(self, rotation: Q4) -> Q4:
        """The allowed rotation nearest to one; an allowed one comes back as it is. Idempotent."""
        return rotation

    @cython.cfunc
    @cython.exceptval(check=False)
    def aim(self, rotation: Q4, segment: V3, direction: V3) -> Q4:
        """The allowed rotation that turns `segment` nearest to `direction` (rest frame), starting from `rotation`."""
        turn: Q4 = from_to(rotated(rotation, segment), direction, rotated(rotation, X_AXIS))
        return self.clamp(normalized(multiplied(turn, rotation)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def allow(self, rotation: Q4, turn: V3) -> V3:
        """The part of a small rotation vector (rest frame, radians) that the limit lets through at a rotation."""
        return turn

    @cython.cfunc
    @cython.exceptval(check=False)
    def turn(self, rotation: Q4, turn: V3) -> Q4:
        """A rotation turned by a rotation vector (rest frame, radians), as far as the limit allows."""
        return self.clamp(normalized(multiplied(from_rotation_vector(turn), rotation)))

    @cython.cfunc
    @cython.exceptval(check=False)
    def exceed(self, rotation: Q4) -> cython.double:
        """How far a rotation stands outside the limit, in radians; 0 inside."""
        return turn_angle(multiplied(conjugated(self.clamp(rotation)), rotation))

    @cython.cfunc
    @cython.exceptval(check=False)
    def draw(self, u: cython.double, v: cython.double, w: cython.double) -> Q4:
        """The allowed rotation that three numbers in [0, 1) choose."""
        return self.clamp(IDENTITY)

    @cython.cfunc
    @cython.exceptval(check=False)
    def prefer(self, rotation: Q4) -> V3:
        """Unit axis (rest frame) about which a straight chain is to be bent here; zero if the limit prefers none."""
        return ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def blend(self, start: Q4, end: Q4, factor: cython.double) -> Q4:
        """The rotation `factor` of the way from `start` (0) to `end` (1), the short way inside the limit."""
        return self.clamp(part_way(start, end, factor))

    @cython.cfunc
    @cython.exceptval(check=False)
    def measure(self, rotation: Q4) -> cython.double:
        """The angle of a rotation, for a joint that turns about one axis."""
        return 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def at(self, angle: cython.double) -> Q4:
        """The allowed rotation nearest to an angle, for a joint that turns about one axis."""
        return IDENTITY

    @property
    def is_free(self) -> bool:
        """Whether every rotation is allowed."""
        return False

    @property
    def is_fixed(self) -> bool:
        """Whether a single rotation is allowed."""
        return self.dofs == 0

    def parts(self) -> tuple[Any, ...]:
        """What the limit was made from: its constructor's arguments in their order."""
        return ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limit) and type(self) is type(other) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(part) for part in self.parts()])})"

    def clamped(self, rotation: Sequence[float]) -> Q4:
        """See `clamp`."""
        return self.clamp(given_rotation(rotation))

    def angles_of(self, rotation: Sequence[float]) -> tuple[float, ...]:
        """The angles about the axes on which the joint turns, in radians; none where it turns about no fixed ones."""
        return (self.measure(given_rotation(rotation)),) if self.dofs == 1 else ()

    def aimed(self, rotation: Sequence[float], segment: Sequence[float], direction: Sequence[float]) -> Q4:
        """See `aim`."""
        return self.aim(given_rotation(rotation), checked_point(VECTOR, segment), checked_point(VECTOR, direction))

    def allowed(self, rotation: Sequence[float], turn: Sequence[float]) -> V3:
        """See `allow`."""
        return self.allow(given_rotation(rotation), checked_point(VECTOR, turn))

    def turned(self, rotation: Sequence[float], turn: Sequence[float]) -> Q4:
        """See `turn`."""
        return self.turn(given_rotation(rotation), checked_point(VECTOR, turn))

    def violation(self, rotation: Sequence[float]) -> float:
        """See `exceed`."""
        return self.exceed(given_rotation(rotation))

    def drawn(self, u: float, v: float, w: float) -> Q4:
        """See `draw`."""
        return self.draw(u, v, w)

    def preferred_axis(self, rotation: Sequence[float]) -> V3 | None:
        """See `prefer`; None in place of zero."""
        found: V3 = self.prefer(given_rotation(rotation))
        return None if found == ORIGIN else found

    def blended(self, start: Sequence[float], end: Sequence[float], factor: float) -> Q4:
        """See `blend`."""
        return self.blend(given_rotation(start), given_rotation(end), factor)


def given_rotation(rotation: Sequence[float]) -> Q4:
    """A rotation that was handed in, as it is.

    Raises:
        InvalidValueError: It is not four finite numbers.
    """
    w, x, y, z = finite_numbers(ROTATION, rotation, 4)
    return (w, x, y, z)


def checked_point(name: str | Message, point: Sequence[float]) -> V3:
    """A point, or a vector, that was handed in.

    Raises:
        InvalidValueError: It is not three finite numbers.
    """
    x, y, z = finite_numbers(name, point, 3)
    return (x, y, z)
