# SPDX-License-Identifier: GPL-3.0-or-later
"""The action that a bake writes into."""

from __future__ import annotations

from typing import Any

import bpy


def begin_action(owner: bpy.types.Object, into: str) -> bpy.types.Action | None:
    """Give the armature the action to bake into; the one that it had."""
    data = owner.animation_data or owner.animation_data_create()
    assert data is not None
    before = data.action
    if before is None:
        data.action = bpy.data.actions.new(f"{owner.name} Bake")
    elif into != "ACTION":
        data.action = before.copy() if into == "NEW_ACTION" else bpy.data.actions.new(before.name)
        data.action.name = f"{before.name} Bake"
    return before


def to_track(owner: bpy.types.Object, before: bpy.types.Action | None, first: float) -> None:
    """Move the baked action to a track of its own, and give the armature back the action it had."""
    data: Any = owner.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    track = data.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, int(first), action)
    if slot is not None:
        strip.action_slot = slot
    data.action = before


def keep_action(action: bpy.types.Action | None, owner: bpy.types.Object) -> None:
    """Keep an action that nothing uses any more from being lost."""
    data = owner.animation_data
    if action is not None and action.is_editable and data is not None and data.action != action:
        action.use_fake_user = True


def take_back_action(owner: bpy.types.Object, before: bpy.types.Action | None) -> None:
    """Give the armature back the action it had, and remove the one that was made."""
    data = owner.animation_data
    if data is None or data.action == before or data.action is None:
        return
    made = data.action
    data.action = before
    bpy.data.actions.remove(made)
