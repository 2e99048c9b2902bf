# SPDX-License-Identifier: GPL-3.0-or-later
"""From the mouse to a rotation: about the axis of the view, about an axis of the world, or as a ball under the hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi

from mathutils import Matrix, Vector

from ..maths import Q4, V3, X_AXIS, Y_AXIS, Z_AXIS, multiplied, turn_about, v3

A_PIXEL = 0.01  # radians by which a ball turns for a pixel at scale 1
NO_PLACE = 2.0  # pixels round the pivot in which the mouse tells no direction
AXES = (X_AXIS, Y_AXIS, Z_AXIS)


def angle_about(pivot: Sequence[float], before: Sequence[float], after: Sequence[float]) -> float:
    """The angle by which the mouse went round a pivot, against the clock; in (-pi, pi].

    Args:
        pivot: In the region, in pixels.
        before: Where the mouse was.
        after: Where it is.
    """
    a, b = (Vector(place) - Vector(pivot) for place in (before, after))
    if a.length <= NO_PLACE or b.length <= NO_PLACE:
        return 0.0
    angle = atan2(b.y, b.x) - atan2(a.y, a.x)
    return pi - (pi - angle) % (2.0 * pi)


def turn_of_view(view: Matrix, angle: float, axis: int | None) -> Q4:
    """The rotation in the world for an angle against the clock as it is seen.

    Args:
        view: From the world to the view, as Blender's `view_matrix`.
        angle: Radians.
        axis: Index of the world's axis about which it turns; None for that of the view.
    """
    towards: V3 = v3(view.to_3x3().transposed().col[2])
    if axis is None:
        return turn_about(towards, angle)
    is_away = towards[axis] < 0.0
    return turn_about(AXES[axis], -angle if is_away else angle)


def turn_of_ball(view: Matrix, step: Sequence[float], scale: float) -> Q4:
    """The rotation in the world for a step of the mouse over a ball.

    Args:
        view: From the world to the view.
        step: Pixels to the right, and up.
        scale: Of the user interface.
    """
    axes = view.to_3x3().transposed()
    right, up = v3(axes.col[0]), v3(axes.col[1])
    factor = A_PIXEL / scale
    return multiplied(turn_about(up, step[0] * factor), turn_about(right, -step[1] * factor))
