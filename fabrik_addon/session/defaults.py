# SPDX-License-Identifier: GPL-3.0-or-later
"""What new chains, targets and poles are made with: the user's preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ..kernel import DEFAULT_MAX_PASSES, DEFAULT_TOLERANCE
from ..package import NAME

GOAL_KINDS = (
    ("EMPTY", "Empty", "An empty in the scene, beside the armature"),
    ("BONE", "Bone", "A control bone in the armature, in the bone collection FABRIK"),
)


@dataclass(frozen=True, slots=True)
class Defaults:
    """Settings of things to be made; see the preferences for their meaning."""

    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    soft: float = 0.0
    start: str = "REST"
    goal_kind: str = "EMPTY"
    target_shape: str = "CUBE"
    pole_shape: str = "SPHERE"
    target_size: float = 0.08


def read_defaults(context: bpy.types.Context) -> Defaults:
    """The user's preferences; the built-in ones where the add-on is not enabled as an extension."""
    assert context.preferences is not None
    addon = context.preferences.addons.get(NAME)
    stored: Any = addon.preferences if addon else None
    if stored is None:
        return Defaults()
    return Defaults(**{name: getattr(stored, name) for name in Defaults.__dataclass_fields__})
