# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether something stands where it does in all frames: neither it nor what it hangs on moves by animation."""

from __future__ import annotations

from typing import Any

import bpy

from .compat import curves_of_action, fcurves_of, strips_of
from .dependencies import bone_in, ties_behind


def is_still(found: bpy.types.Object, bone: str) -> bool:
    """Whether nothing that moves an object, or a bone of it, is animated, at any remove.

    Args:
        found: A target, a pole, or an armature object.
        bone: Name of a bone of it, or "".
    """
    return not any(
        _is_animated(thing, name) or _data_is_animated(thing) or thing.rigid_body is not None
        for thing, name in ties_behind(found, bone)
    )


def has_motion(curve: bpy.types.FCurve) -> bool:
    """Whether a curve may have different values in different frames: a single key holds one."""
    return len(curve.keyframe_points) > 1 or len(curve.modifiers) > 0 or len(curve.sampled_points) > 0


def _is_animated(thing: bpy.types.Object, bone: str) -> bool:
    """Whether an object moves by animation, or where a bone is named, that bone."""
    data = thing.animation_data
    if data is None:
        return False
    if strips_of(data, with_muted=True):
        return True
    paths = [curve.data_path for curve in fcurves_of(thing) if has_motion(curve)]
    paths += [driver.data_path for driver in data.drivers]
    return any(bone_in(path) == bone for path in paths)


def _data_is_animated(thing: bpy.types.Object) -> bool:
    data: Any = getattr(thing.data, "animation_data", None)
    if data is None:
        return False
    if len(data.drivers) or strips_of(data, with_muted=True):
        return True
    return data.action is not None and any(has_motion(curve) for curve in curves_of_action(data.action))
