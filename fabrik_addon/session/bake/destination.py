# SPDX-License-Identifier: GPL-3.0-or-later
"""The action that a bake writes into: made, played where it is wanted, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.compat import curves_of_action, give_action, lacks_slot, remove_slots, slot_names, slot_of, strips_of


class Destination:
    """Where the keys of one armature go.

    While chains are read the armature has the action that it had, so that all else in it plays; a track is written
    beside it.

    Args:
        owner: The armature object.
        into: "ACTION" for its action, "NEW_ACTION" for a copy of it, "NLA" for a new action on a new track.
    """

    def __init__(self, owner: bpy.types.Object, into: str) -> None:
        self.owner, self.into = owner, into
        self._was_bare = owner.animation_data is None
        data = owner.animation_data or owner.animation_data_create()
        assert data is not None
        self._before, self._slot = data.action, slot_of(owner)
        self._slots = slot_names(self._before)
        self._made: bpy.types.Action | None = None
        self._track: bpy.types.NlaTrack | None = None
        if into == "NEW_ACTION" and self._before is not None and not lacks_slot(owner):
            data.action = self._made = self._before.copy()
            self._made.name = f"{self._before.name} Bake"
        elif into != "ACTION" or self._before is None:
            self._made = bpy.data.actions.new(f"{self._before.name if self._before else owner.name} Bake")
            if into != "NLA":
                data.action = self._made

    @property
    def _data(self) -> bpy.types.AnimData:
        assert self.owner.animation_data is not None
        return self.owner.animation_data

    @property
    def is_own(self) -> bool:
        """Whether keys go into the action that the armature had."""
        return self._made is None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Meanwhile the action to write into is the armature's."""
        if self.into != "NLA":
            yield
            return
        give_action(self._data, self._made)
        try:
            yield
        finally:
            self._give_back()

    def play(self, paths: set[str], span: tuple[float, float]) -> None:
        """Let the keys that are written play: on the track, for as long as they count.

        Args:
            paths: The data paths that are keyed. Where other tracks have one of them, the new track plays over them
                for its own frames alone, else it holds its ends as an action does.
            span: First and last frame that are baked; a channel that stays has a single key.
        """
        if self.into != "NLA" or self._made is None:
            return
        if self._track is None:
            self._track = self._data.nla_tracks.new()
            self._track.name = self._made.name
        for old in list(self._track.strips):
            self._track.strips.remove(old)
        first, last = span
        strip = self._track.strips.new(self._made.name, int(first), self._made)
        give_action(strip, self._made)
        if last > first:
            strip.action_frame_start, strip.action_frame_end = first, last
            strip.frame_start_raw, strip.frame_end_raw = first, last
        others = (found for found in strips_of(self._data) if found.action != self._made)
        is_keyed = any(curve.data_path in paths for other in others for curve in curves_of_action(other.action))
        strip.extrapolation = "NOTHING" if is_keyed else "HOLD"

    def finish(self) -> None:
        """Keep the action that the armature had from being lost, where nothing uses it any more."""
        if self._before is not None and self._before.is_editable and self._data.action != self._before:
            self._before.use_fake_user = True

    def take_back(self) -> None:
        """Remove what was made; the armature has what it had."""
        if self._track is not None:
            self._data.nla_tracks.remove(self._track)
            self._track = None
        self._give_back()
        remove_slots(self._before, slot_names(self._before) - self._slots)
        if self._made is not None:
            bpy.data.actions.remove(self._made)
            self._made = None
        if self._was_bare:
            self.owner.animation_data_clear()

    def _give_back(self) -> None:
        data = self._data
        if data.action != self._before:
            data.action = self._before
        if slot_of(self.owner) != self._slot:
            setattr(data, "action_slot", self._slot)
