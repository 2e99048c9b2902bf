# SPDX-License-Identifier: GPL-3.0-or-later
"""What the header and the status bar say while something is dragged."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import degrees
from typing import NamedTuple

import bpy

from ..session.dragging import Drag, Dragged
from ..session.wording import STATUS_TEXTS, length_text

REACHED, BLOCKED = "REACHED", "BLOCKED"
BY_PINS = "Held back by pins or limits"


class Mode(Enum):
    """What the mouse does; the value is what the status bar says of it."""

    MOVE = "off"
    TURN = "about the view"
    BALL = "as a ball"

    @property
    def after(self) -> Mode:
        """The next one."""
        modes = list(Mode)
        return modes[(modes.index(self) + 1) % len(modes)]


class Shown(NamedTuple):
    """What is told of a drag beside the drag itself.

    Attributes:
        way: How far the end is dragged.
        mode: What the mouse does.
        axis: Index of the axis that is kept to, or None.
        falloff: Of the armature.
        anchored: Whether the root stays.
        note: A sentence more, or "".
    """

    way: Sequence[float]
    mode: Mode
    axis: int | None
    falloff: float
    anchored: bool
    note: str


def keys_text(drag: Drag, shown: Shown) -> str:
    """All keys, for the status bar."""
    switches = {
        "T With Rotation": "on" if drag.with_turn else "off",
        "R Turn": shown.mode.value,
        "Wheel PageUp/Down Falloff": f"{shown.falloff:.1f}",
        "A Anchored Root": "on" if shown.anchored else "off",
    }
    return "   ".join(
        (
            "LMB Enter Confirm",
            "RMB Esc Cancel",
            "X Y Z Along",
            *(f"{key}: {value}" for key, value in switches.items()),
            "P Pin or Free",
            "G Grab Another",
            "Shift Precise",
            "Ctrl Snap",
        )
    )


def header_text(drag: Drag, dragged: Dragged, shown: Shown, scene: bpy.types.Scene) -> str:
    """What is dragged and how far, how far it is from where it should be, and which goals do not hold."""
    way = [f"D{axis}: {length_text(value, scene)}" for axis, value in zip("xyz", shown.way, strict=True)]
    along = [] if shown.axis is None else [f"along {'XYZ'[shown.axis]}"]
    missed = [f"{length_text(dragged.residual, scene)} off"] if dragged.status else []
    if dragged.status not in {"", REACHED}:
        is_held = dragged.status == BLOCKED and bool(drag.scope.holding)
        missed = [f"{BY_PINS if is_held else STATUS_TEXTS[dragged.status]}, {missed[0]}"]
    turned = [f"{degrees(dragged.turn_residual):.1f}° off"] if drag.with_turn and dragged.status else []
    given = [f"not held: {', '.join(dragged.missed)}"] if dragged.missed else []
    note = [shown.note] if shown.note else []
    return f"{name_of(drag)}   " + "   ".join([*way, *along, *missed, *turned, *given, *note])


def name_of(drag: Drag) -> str:
    """The armature, and the chain or the bone that is dragged."""
    bone, end, chain = drag.scope.taken
    place = bone if end == "TAIL" else f"head of {bone}"
    what = place if not chain else chain if chain == bone else f"{chain} ({bone})"
    return f"{drag.rig}: {what}"
