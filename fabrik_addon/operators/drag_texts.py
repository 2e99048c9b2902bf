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
from ..texts import Text, joined
from ..translations import iface_

REACHED, BLOCKED = "REACHED", "BLOCKED"
BY_PINS = Text("Held back by pins or limits")


class Mode(Enum):
    """What the mouse does; the value is what the status bar says of it."""

    MOVE = Text("off")
    TURN = Text("about the view")
    BALL = Text("as a ball")

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


def keys_of(drag: Drag, shown: Shown) -> tuple[Text, ...]:
    """What each key does, for the status bar."""
    on, off = Text("on"), Text("off")
    return (
        Text("LMB Enter Confirm"),
        Text("RMB Esc Cancel"),
        Text("X Y Z Along"),
        Text("T With Rotation: {state}", state=on if drag.with_turn else off),
        Text("R Turn: {state}", state=shown.mode.value),
        Text("Wheel PageUp/Down Falloff: {value:.1f}", value=shown.falloff),
        Text("A Anchored Root: {state}", state=on if shown.anchored else off),
        Text("P Pin or Free"),
        Text("G Grab Another"),
        Text("Shift Precise"),
        Text("Ctrl Snap"),
    )


def header_text(drag: Drag, dragged: Dragged, shown: Shown, scene: bpy.types.Scene) -> str:
    """What is dragged and how far, how far it is from where it should be, and which goals do not hold."""
    words: list[str] = [name_of(drag)]
    words += [f"D{axis}: {length_text(value, scene)}" for axis, value in zip("xyz", shown.way, strict=True)]
    words += [] if shown.axis is None else [Text("along {axis}", axis="XYZ"[shown.axis])]
    missed = Text("{distance} off", distance=length_text(dragged.residual, scene))
    if dragged.status not in {"", REACHED}:
        is_held = dragged.status == BLOCKED and bool(drag.scope.holding)
        missed = joined(", ", [BY_PINS if is_held else STATUS_TEXTS[dragged.status], missed])
    words += [missed] if dragged.status else []
    if drag.with_turn and dragged.status:
        words.append(Text("{angle:.1f}° off", angle=degrees(dragged.turn_residual)))
    words += [Text("not held: {names}", names=", ".join(dragged.missed))] if dragged.missed else []
    words += [shown.note] if shown.note else []
    return iface_(joined("   ", words))


def name_of(drag: Drag) -> Text:
    """The armature, and the chain or the bone that is dragged."""
    bone, end, chain = drag.scope.taken
    place = bone if end == "TAIL" else Text("head of {bone}", bone=bone)
    what = place if not chain else chain if chain == bone else f"{chain} ({bone})"
    return joined(": ", [drag.rig, what])
