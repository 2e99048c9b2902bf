# SPDX-License-Identifier: GPL-3.0-or-later
"""How an object is placed and moved, as far as it can be seen without going through the frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from .compat import curves_of_action, fcurves_of

PLACEMENT = (
    "location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale",
    "delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale",
)  # fmt: skip


def carriers_of(thing: bpy.types.Object, seen: set[str]) -> Iterator[bpy.types.Object]:
    """An object, its parents, and what the constraints of these look at.

    Args:
        thing: The object.
        seen: Full names of those that are passed over; all that are found are added.
    """
    if thing.name_full in seen:
        return
    seen.add(thing.name_full)
    yield thing
    targets = [getattr(constraint, "target", None) for constraint in thing.constraints if not constraint.mute]
    for other in (thing.parent, *targets):
        if isinstance(other, bpy.types.Object):
            yield from carriers_of(other, seen)


def placement_text(thing: bpy.types.Object) -> str:
    """Those channels by which an object is placed that nothing animates, so that they are the same in every frame.

    Nothing of an object with NLA strips: which channels these move is not read.
    """
    data = thing.animation_data
    if data is None or (data.action is None and not data.drivers and not data.nla_tracks):
        return repr([tuple(row) for row in thing.matrix_basis])
    if data.nla_tracks:
        return ""
    moved = {curve.data_path for curve in (*fcurves_of(thing), *data.drivers)}
    return repr([tuple(getattr(thing, name)) for name in PLACEMENT if name not in moved])


def line_parts(thing: bpy.types.Object) -> Iterator[bytes]:
    """The points of a curve that is followed, and how it is gone along; nothing for other objects."""
    data: Any = thing.data
    if thing.type != "CURVE":
        return
    for spline in data.splines:
        points = spline.bezier_points if spline.type == "BEZIER" else spline.points
        yield repr([tuple(point.co) for point in points]).encode()
    if data.animation_data is not None and data.animation_data.action is not None:
        yield from (key_bytes(curve) for curve in curves_of_action(data.animation_data.action))


def key_bytes(curve: bpy.types.FCurve) -> bytes:
    """What a curve animates, and its keys."""
    points = curve.keyframe_points
    numbers = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", numbers)
    handles = [np.empty(2 * len(points), dtype=np.float32) for _ in range(2)]
    points.foreach_get("handle_left", handles[0])
    points.foreach_get("handle_right", handles[1])
    modes = "".join(point.interpolation for point in points)
    return f"{curve.data_path}[{curve.array_index}]{curve.mute}{modes}".encode() + b"".join(
        some.tobytes() for some in (numbers, *handles)
    )
