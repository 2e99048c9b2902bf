# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on the rotation of bones."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import bpy

from .channels import channel_of, rotation_path
from .compat import fcurves_of


class KeyedChannels:
    """The curves of an armature's bones at one frame; good until the next evaluation.

    Attributes:
        frame: Sub-frame included.
    """

    def __init__(self, owner: bpy.types.Object, frame: float) -> None:
        self.frame = frame
        self.curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(owner)}

    def curves_of(self, bone: bpy.types.PoseBone) -> list[bpy.types.FCurve | None]:
        """The curve of each rotation channel of a bone."""
        if not self.curves:
            return [None] * channel_of(bone.rotation_mode)[1]
        path = rotation_path(bone)
        return [self.curves.get((path, i)) for i in range(channel_of(bone.rotation_mode)[1])]

    def previous(self, bone: bpy.types.PoseBone, otherwise: list[float]) -> list[float]:
        """Channel values at the last key up to the frame; `otherwise` for channels without one."""
        values = list(otherwise)
        for i, curve in enumerate(self.curves_of(bone)):
            points: Any = curve.keyframe_points if curve else ()
            count = bisect_right(points, self.frame, key=lambda point: point.co[0])
            if curve and count:
                values[i] = curve.evaluate(points[count - 1].co[0])
        return values

    def has(self, bone: bpy.types.PoseBone, channel: str = "") -> bool:
        """Whether a channel of the bone is keyed, by default its rotation."""
        path = f"{bone.path_from_id()}.{channel or channel_of(bone.rotation_mode)[0]}"
        return bool(self.curves) and any((path, i) in self.curves for i in range(4))


def insert_auto_keys(context: bpy.types.Context, bones: list[bpy.types.PoseBone], keyed: KeyedChannels) -> int:
    """Key the rotation of bones where automatic keying is on, by the user's own preferences for it.

    Returns:
        The number of bones that were keyed.
    """
    paths = [(bone, channel_of(bone.rotation_mode)[0]) for bone in bones]
    return _insert(context, paths, keyed)


def insert_location_keys(context: bpy.types.Context, bone: bpy.types.PoseBone, keyed: KeyedChannels) -> int:
    """Key the location of a bone where automatic keying is on; see `insert_auto_keys`."""
    return _insert(context, [(bone, "location")], keyed)


def insert_object_keys(context: bpy.types.Context, found: bpy.types.Object) -> None:
    """Key the location of an object where automatic keying is on."""
    assert context.scene is not None
    assert context.preferences is not None
    edit: Any = context.preferences.edit
    is_keyed = any(curve.data_path == "location" for curve in fcurves_of(found))
    if context.scene.tool_settings.use_keyframe_insert_auto and (is_keyed or not edit.use_keyframe_insert_available):
        found.keyframe_insert("location", group="Object Transforms")


def _insert(context: bpy.types.Context, wanted: list[tuple[bpy.types.PoseBone, str]], keyed: KeyedChannels) -> int:
    assert context.scene is not None
    assert context.preferences is not None
    tools = context.scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    edit: Any = context.preferences.edit
    options: Any = set()
    if edit.use_keyframe_insert_available:
        options.add("INSERTKEY_AVAILABLE")
        wanted = [(bone, path) for bone, path in wanted if keyed.has(bone, path)]
    if edit.use_auto_keyframe_insert_needed:
        options.add("INSERTKEY_NEEDED")
    if tools.auto_keying_mode == "REPLACE_KEYS":
        options.add("INSERTKEY_REPLACE")
    count = 0
    for bone, path in wanted:
        count += bool(bone.keyframe_insert(path, group=bone.name, options=options, keytype=tools.keyframe_type))
    return count
