# SPDX-License-Identifier: GPL-3.0-or-later
"""What was posed and not keyed, kept while frames are visited without being asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..maths import Singles
from .chain_bones import pose_bones

CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
Posed = dict[str, Singles]  # by the names of channels: of an object, or of all bones of an armature one after the other


@contextmanager
def pose_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Put back places, rotations and scales of animated objects and of their bones that a frame change takes away.

    Args:
        scene: Its frame is the same at the end; what is posed live stands as it stood.
    """
    animated = [thing for thing in scene.objects if thing.animation_data is not None and thing.is_editable]
    before = [(thing, _of_object(thing), _of_bones(thing)) for thing in animated]
    try:
        yield
    finally:
        for thing, own, bones in before:
            _put_back(thing, own, bones)


def _of_object(thing: bpy.types.Object) -> Posed:
    return {name: np.array(getattr(thing, name), dtype=np.float32) for name in CHANNELS}


def _of_bones(thing: bpy.types.Object) -> Posed:
    if thing.type != "ARMATURE":
        return {}
    bones: Any = pose_bones(thing)
    found: Posed = {name: np.empty(width * len(bones), dtype=np.float32) for name, width in CHANNELS.items()}
    for name, values in found.items():
        bones.foreach_get(name, values)
    return found


def _put_back(thing: bpy.types.Object, own: Posed, bones: Posed) -> None:
    changed = False
    for name, values in own.items():
        if not np.array_equal(np.array(getattr(thing, name), dtype=np.float32), values):
            setattr(thing, name, values)
            changed = True
    for name, values in bones.items():
        now = np.empty_like(values)
        found: Any = pose_bones(thing)
        found.foreach_get(name, now)
        if not np.array_equal(now, values):
            found.foreach_set(name, values)
            changed = True
    if changed:
        thing.update_tag(refresh={"OBJECT", "DATA"})
