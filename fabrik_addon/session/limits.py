# SPDX-License-Identifier: GPL-3.0-or-later
"""Give joint limits to bones: from another bone, or mirrored to the other side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..errors import BoneError
from ..rig.limit_properties import LIMIT_PROPERTIES, limit_of


def copy_limit(source: bpy.types.PoseBone, targets: Iterable[bpy.types.PoseBone]) -> int:
    """Give the limit of one bone to others; returns how many were changed."""
    values = {name: _value(source, name) for name in LIMIT_PROPERTIES}
    others = [bone for bone in targets if bone != source]
    for bone in others:
        _set(bone, values)
    return len(others)


def mirror_limit(bone: bpy.types.PoseBone, owner: bpy.types.Object) -> bpy.types.PoseBone:
    """Give the limit of a bone to the bone of the other side, mirrored as Blender pastes a flipped pose.

    Turns about X stay as they are, those about Y and Z change their sign.

    Raises:
        BoneError: By Blender's naming there is no bone of the other side.
    """
    other = owner.pose.bones.get(bpy.utils.flip_name(bone.name)) if owner.pose else None
    if other is None or other == bone:
        raise BoneError("there is no bone of the other side", rig=owner.name, bone=bone.name)
    values = {name: _value(bone, name) for name in LIMIT_PROPERTIES}
    x, y, z = values["axis"]
    values["axis"] = (x, -y, -z)
    for name in ("cone_z", "twist"):
        low, high = values[f"{name}_min"], values[f"{name}_max"]
        values[f"{name}_min"], values[f"{name}_max"] = -high, -low
    _set(other, values)
    return other


def _value(bone: bpy.types.PoseBone, name: str) -> Any:
    value = getattr(limit_of(bone), name)
    return tuple(value) if name == "axis" else value


def _set(bone: bpy.types.PoseBone, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(limit_of(bone), name, value)
