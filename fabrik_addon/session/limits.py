# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the joint limit of a bone to others, as it is; `mirror_bones` mirrors it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

from ..rig.schema import LIMIT_SETTINGS, limit_of


def copy_limit(source: bpy.types.PoseBone, targets: Iterable[bpy.types.PoseBone]) -> int:
    """Give the limit of one bone to others; returns how many were changed."""
    values = {name: _value(source, name) for name in LIMIT_SETTINGS}
    others = [bone for bone in targets if bone != source]
    for bone in others:
        _set(bone, values)
    return len(others)


def _value(bone: bpy.types.PoseBone, name: str) -> Any:
    value = getattr(limit_of(bone), name)
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _set(bone: bpy.types.PoseBone, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(limit_of(bone), name, value)
