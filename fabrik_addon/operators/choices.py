# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains and which frames: options that operators share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..errors import ChainError
from ..rig.chain_bones import bones_if_any
from ..rig.compat import is_selected
from ..rig.schema import name_all, rig_of
from ..rig.versions import check_not_newer
from ..session.frames import frames_between, keys_of_bones, span_of
from ..session.order import Item
from ..texts import Text

CHAINS = (
    ("ALL", "All Enabled", "All enabled chains of the active armature and of the other selected ones"),
    ("ACTIVE", "Active", "The active chain"),
    ("SELECTED", "Selected", "Enabled chains with a selected bone, of the same armatures"),
)
SPANS = (
    ("RANGE", "Start to End", "The frames that are given"),
    ("SCENE", "Scene", "The frames of the scene"),
    ("PREVIEW", "Preview", "The preview range, or the frames of the scene where none is set"),
)
FRAME = ("FRAME", "This Frame", "The current frame alone")


def chains_property(default: str) -> Any:
    """The option that chooses chains."""
    return EnumProperty(name="Chains", description="Which chains", items=CHAINS, default=default)


def items_of(context: bpy.types.Context, owner: bpy.types.Object, which: str) -> list[Item]:
    """The chains that are chosen, each with its armature.

    Args:
        context: Tells which other armatures are selected.
        owner: The armature that is worked on.
        which: "ALL", "ACTIVE" or "SELECTED".

    Raises:
        ChainError: There are none.
        RigError: The data of one of the armatures is of a newer version of the extension.
    """
    others = [found for found in context.selected_objects if found.type == "ARMATURE" and found != owner]
    owners = [owner, *(found for found in others if found.is_editable and len(rig_of(found).chains))]
    for found in owners:
        check_not_newer(found)
        name_all(found)
    active = rig_of(owner).active
    if which == "ACTIVE":
        if active is None:
            raise ChainError("there is no active chain", rig=owner.name)
        return [(owner, active)]
    items = [(found, chain) for found in owners for chain in rig_of(found).chains if chain.enabled]
    if which == "SELECTED":
        items = [item for item in items if any(map(is_selected, bones_if_any(*item)))]
    if not items:
        reason = Text("no chain is enabled") if which == "ALL" else Text("no enabled chain has a selected bone")
        raise ChainError(reason, rig=owner.name)
    return items


class SpanOptions:
    """The options that choose a range of frames."""

    if TYPE_CHECKING:
        span: str
        frame_start: int
        frame_end: int
    else:
        span: EnumProperty(name="Frames", description="Which frames", items=SPANS)
        frame_start: IntProperty(name="Start", description="First frame", default=1)
        frame_end: IntProperty(name="End", description="Last frame", default=250)

    def take_span(self, context: bpy.types.Context) -> None:
        """Begin with what plays: the preview range where one is set, else the scene's."""
        self.span = "PREVIEW" if context.scene.use_preview_range else "SCENE"
        self.frame_start, self.frame_end = span_of(context.scene, self.span, 0, 0)

    def frames(self, context: bpy.types.Context, step: int = 1) -> tuple[int, ...]:
        """The frames.

        Raises:
            InvalidValueError: The range ends before it starts.
        """
        return frames_between(*span_of(context.scene, self.span, self.frame_start, self.frame_end), step)

    def draw_span(self, layout: bpy.types.UILayout) -> None:
        """The options; start and end only where they count."""
        layout.prop(self, "span")
        column = layout.column(align=True)
        column.enabled = self.span == "RANGE"
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")


class SnapOptions(SpanOptions):
    """`SpanOptions`, for this frame alone too, or at keys; and the chains, at first the active one."""

    if TYPE_CHECKING:
        chains: str
        only_keys: bool
        layout: bpy.types.UILayout
    else:
        chains: chains_property("ACTIVE")
        span: EnumProperty(name="Frames", description="Which frames", items=(FRAME, *SPANS))
        only_keys: BoolProperty(name="Only at Keys", description="Only at frames of the range that have keys")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "chains")
        self.draw_span(layout)
        column = layout.column()
        column.enabled = self.span != "FRAME"
        column.prop(self, "only_keys")


def frames_of_bones(item: Item, frames: tuple[int, ...]) -> tuple[float, ...]:
    """The frames of a range at which bones of a chain have keys.

    Raises:
        ChainError: There are none.
    """
    owner, chain = item
    found = keys_of_bones(owner, chain, frames[0], frames[-1])
    if not found:
        reason = Text("none of its bones has a key from frame {first} to {last}", first=frames[0], last=frames[-1])
        raise ChainError(reason, rig=owner.name, chain=chain.name)
    return tuple(found)
