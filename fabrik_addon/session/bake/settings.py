# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """What to bake.

    Attributes:
        frames: The frames, rising.
        into: "ACTION" for the armature's action, "NEW_ACTION" for a copy of it, "NLA" for a new track.
        interpolation: "LINEAR" or "BEZIER".
        verify: "EVERY" to let Blender evaluate every frame afterwards and compare, "SAMPLE" some of them, or "NONE".
        only_keys: Whether each chain is keyed only where its target or pole has a key.
        clean_up: Angle in radians by which a joint may be off at a frame so that keys can be left out; 0 keeps all.
        stays_enabled: Whether the chains are still to be solved afterwards.
    """

    frames: tuple[float, ...]
    into: str = "ACTION"
    interpolation: str = "LINEAR"
    verify: str = "EVERY"
    only_keys: bool = False
    clean_up: float = 0.0
    stays_enabled: bool = False
