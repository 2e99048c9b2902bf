# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated values brought from the evaluated armature to the original, as Blender does it in the viewport alone.

While rendering, the originals keep what the viewport showed last. What is written to one there is copied to the
evaluated armature with all its channels, so these have to be of the frame.
"""

from __future__ import annotations

from typing import Any

import bpy

from .animated_paths import animated_paths


def flush_animation(owner: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Give an armature the animated values of its bones, its chains and its body that a depsgraph evaluated."""
    evaluated: Any = owner.evaluated_get(depsgraph)
    original: Any = owner
    for path in sorted(set(animated_paths(owner, with_muted=True))):
        holder, _, name = path.rpartition(".")
        if not path.startswith(("pose.bones[", "fabrik_")) or "[" in name:
            continue
        try:
            source, target = (thing.path_resolve(holder) if holder else thing for thing in (evaluated, original))
            value, before = getattr(source, name), getattr(target, name)
        except (ValueError, AttributeError):  # a curve of something that is gone
            continue
        if _plain(value) != _plain(before):
            setattr(target, name, value)


def _plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
