# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between Blender 4.2 and 5.2, all in one place."""

from __future__ import annotations

from typing import Any

import bpy


def fcurves_of(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves of the object's action: of its slot from 4.4 on, of the whole action before."""
    data: Any = owner.animation_data
    action = data.action if data else None
    if action is None:
        return []
    if not hasattr(action, "slots"):
        return list(action.fcurves)
    if data.action_slot is None:
        return []
    bags = (strip.channelbag(data.action_slot) for layer in action.layers for strip in layer.strips)
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone is selected: kept on the pose bone from 5.0 on, on the bone before."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone
    return bool(owner.select)
