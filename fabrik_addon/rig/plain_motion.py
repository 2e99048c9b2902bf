# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an object will stand at a frame, told from its curves alone, before Blender evaluates the frame."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from mathutils import Vector

from ..kernel.arrays import Array
from .compat import fcurves_of

PLACED_BY = ("location", "delta_location")
HIDDEN_BY = ("hide_viewport", "hide_render")


def point_at(found: bpy.types.Object, bone: str, frame: float) -> Vector | None:
    """World position of an object's origin at a frame, or None where more than its own curves decide.

    Args:
        found: A target or pole.
        bone: Name of a bone of it, or "".
        frame: Sub-frame included.
    """
    curves = _curves(found, bone)
    if curves is None:
        return None
    location, delta = Vector(found.location), Vector(found.delta_location)
    for curve in curves:
        moved = location if curve.data_path == "location" else delta
        moved[curve.array_index] = curve.evaluate(frame)
    return location + delta


def points_at(found: bpy.types.Object, bone: str, frames: Array) -> Array | None:
    """`point_at` for F frames at once: (F, 3)."""
    curves = _curves(found, bone)
    if curves is None:
        return None
    parts = {name: np.tile(np.array(getattr(found, name), dtype=np.float64), (len(frames), 1)) for name in PLACED_BY}
    times = [float(frame) for frame in frames]
    for curve in curves:
        parts[curve.data_path][:, curve.array_index] = [curve.evaluate(time) for time in times]
    return parts["location"] + parts["delta_location"]


def _curves(found: bpy.types.Object, bone: str) -> list[bpy.types.FCurve] | None:
    """The curves that place an object, or None where more than these decide."""
    if bone or found.parent is not None or found.rigid_body is not None:
        return None
    if any(not constraint.mute for constraint in found.constraints) or not _is_plain(found):
        return None
    curves = [curve for curve in fcurves_of(found) if not curve.mute]
    if any(curve.data_path in HIDDEN_BY for curve in curves):
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
    if any(driver.data_path in (*PLACED_BY, *HIDDEN_BY) for driver in data.drivers) or data.use_tweak_mode:
        return False
    if data.use_nla and any(track.strips and not track.mute for track in data.nla_tracks):
        return False
    return data.action is None or (data.action_influence == 1.0 and data.action_blend_type == "REPLACE")


def stands_still(owner: bpy.types.Object, keyed_bones: Iterable[str] = ()) -> bool:
    """Whether nothing but the user and ourselves moves an armature and its bones from frame to frame.

    Args:
        owner: The armature object.
        keyed_bones: Bones whose keys do not count.
    """
    if owner.parent is not None or owner.rigid_body is not None or not _is_plain(owner):
        return False
    data = owner.animation_data
    if data is not None and data.drivers:
        return False
    allowed = tuple(f'pose.bones["{bpy.utils.escape_identifier(name)}"].rotation_' for name in keyed_bones)
    if not all(allowed and curve.data_path.startswith(allowed) for curve in fcurves_of(owner)):
        return False
    if owner.data is None or getattr(owner.data, "animation_data", None) is not None or owner.pose is None:
        return False
    stacks = (owner.constraints, *(bone.constraints for bone in owner.pose.bones))
    return not any(not constraint.mute for stack in stacks for constraint in stack)
