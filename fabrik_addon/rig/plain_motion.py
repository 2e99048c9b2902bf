# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an object will stand at a frame, told from its curves alone, before Blender evaluates the frame."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Vector

from ..maths import V3, Doubles, v3
from .compat import curves_of_action, fcurves_of, strips_of
from .curve_samples import values_at
from .goals import GoalRef

PLACED_BY = ("location", "delta_location")
TURNED_BY = ("rotation", "delta_rotation", "scale", "delta_scale")
HIDDEN_BY = ("hide_viewport", "hide_render")
CHANGED_BY = (*HIDDEN_BY, "constraints[")  # what makes it be elsewhere, or not at all


def points_ahead(found: bpy.types.Object, bone: str, frames: Sequence[float]) -> list[V3] | None:
    """World positions of an object's origin at some frames, or None where more than its own curves decide.

    Args:
        found: A target or pole.
        bone: Name of a bone of it, or "".
        frames: Sub-frames included.
    """
    curves = _curves(found, bone)
    if curves is None:
        return None
    location, delta = Vector(found.location), Vector(found.delta_location)
    points = []
    for frame in frames:
        for curve in curves:
            moved = location if curve.data_path == "location" else delta
            moved[curve.array_index] = curve.evaluate(frame)
        points.append(v3(location + delta))
    return points


def points_at(goals: Sequence[GoalRef], frames: Doubles) -> list[Doubles | None]:
    """`points_ahead` for many goals, each at F frames: (F, 3), the same numbers.

    Args:
        goals: Targets and poles.
        frames: (F,), rising.
    """
    placing = [_curves(goal.found, goal.bone) for goal in goals]
    moving = [curve for curves in placing for curve in curves or ()]
    values = dict(zip((curve.as_pointer() for curve in moving), values_at(moving, frames), strict=True))
    found: list[Doubles | None] = []
    for goal, curves in zip(goals, placing, strict=True):
        parts = {
            name: np.tile(np.array(getattr(goal.found, name), dtype=np.float32), (len(frames), 1)) for name in PLACED_BY
        }
        for curve in curves or ():
            parts[curve.data_path][:, curve.array_index] = values[curve.as_pointer()]
        # in single precision, as Blender adds them
        found.append((parts["location"] + parts["delta_location"]).astype(np.float64) if curves is not None else None)
    return found


def keeps_turn(found: bpy.types.Object, bone: str) -> bool:
    """Whether an object, of which `points_ahead` knows where it will stand, is never turned or scaled there."""
    if _curves(found, bone) is None:
        return False
    data = found.animation_data
    curves = [*fcurves_of(found), *data.drivers] if data is not None else []
    return not any(curve.data_path.startswith(TURNED_BY) for curve in curves)


def may_hide(found: bpy.types.Object) -> bool:
    """Whether keys, strips or a driver disable an object in some frames."""
    data = found.animation_data
    if data is None:
        return False
    curves = [*fcurves_of(found), *data.drivers]
    curves += [curve for strip in strips_of(data) for curve in curves_of_action(strip.action)]
    return any(curve.data_path in HIDDEN_BY for curve in curves)


def _curves(found: bpy.types.Object, bone: str) -> list[bpy.types.FCurve] | None:
    """The curves that place an object, or None where more than these decide."""
    if bone or found.parent is not None or found.rigid_body is not None:
        return None
    if any(not constraint.mute for constraint in found.constraints) or not _is_plain(found):
        return None
    curves = [curve for curve in fcurves_of(found) if not curve.mute]
    if any(curve.data_path.startswith(CHANGED_BY) for curve in curves):
        return None
    placing = [curve for curve in curves if curve.data_path in PLACED_BY]
    if any(curve.group is not None and curve.group.mute for curve in placing):
        return None  # whether these play depends on the version
    return placing


def _is_plain(found: bpy.types.Object) -> bool:
    """No drivers, and an action that counts in full, without strips beside it."""
    data = found.animation_data
    if data is None:
        return True
    if data.use_tweak_mode or any(driver.data_path.startswith((*PLACED_BY, *CHANGED_BY)) for driver in data.drivers):
        return False
    if data.use_nla and any(track.strips and not track.mute for track in data.nla_tracks):
        return False
    return data.action is None or (data.action_influence == 1.0 and data.action_blend_type == "REPLACE")
