# SPDX-License-Identifier: GPL-3.0-or-later
"""Showing which bone a click would take, and dragging one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..errors import FabrikError
from ..overlay import hover
from ..rig.checks import rig_refusal
from ..rig.find import working_rig
from ..rig.schema import rig_of
from ..session.dragging import pin_bone
from ..texts import Text
from ..translations import iface_, rpt_
from .base import RigOperator
from .picking import Picked, View, pick, view_under_mouse
from .status_bar import tell_keys

if TYPE_CHECKING:
    from .base import Returned

DONE = {"RIGHTMOUSE", "ESC", "RET", "NUMPAD_ENTER"}
KEYS = (Text("LMB Drag Bone under the Mouse"), Text("P Pin or Free It"), Text("RMB Esc Enter Done"))


class Hovering:
    """State of showing the bone under the mouse.

    Attributes:
        is_on: Whether bones are shown as the mouse comes over them.
    """

    is_on = False


def show(picked: Picked | None) -> None:
    """Show a bone in all 3D Views, or none."""
    found = None if picked is None else hover.Hovered(picked.owner.name, picked.bone, picked.end, _text(picked))
    if hover.show(found):
        redraw()


def _text(picked: Picked) -> str:
    """What stands beside a bone: its name, and whether it is pinned."""
    place = picked.bone if picked.end == "TAIL" else iface_("head of {bone}", bone=picked.bone)
    is_pinned = any(chain.pin and chain.tip_bone == picked.bone for chain in rig_of(picked.owner).chains)
    return iface_("{bone} (pinned)", bone=place) if is_pinned else place


def redraw() -> None:
    """Draw all 3D Views anew."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def wait_for_bone() -> None:
    """Show the bone under the mouse from now on, and wait for the click."""
    operators: Any = bpy.ops
    operators.fabrik.drag_pick("INVOKE_DEFAULT")


class FABRIK_OT_drag_pick(RigOperator):
    """Show the bone under the mouse, and drag those that are clicked, one after the other"""

    bl_idname = "fabrik.drag_pick"
    bl_label = "Drag Bones"
    bl_options = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if Hovering.is_on:
            return {"CANCELLED"}
        Hovering.is_on = True
        context.window_manager.modal_handler_add(self)
        tell_keys(context, KEYS)
        self._look(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        try:
            return self._handled(context, event)
        except BaseException:
            self.cancel(context)
            raise

    def cancel(self, context: bpy.types.Context) -> None:
        """Show nothing any more; Blender asks for it where the window is closed, too."""
        Hovering.is_on = False
        show(None)
        if context.workspace is not None:  # gone where another file is loaded
            context.workspace.status_text_set(None)

    def _handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if rig_refusal(working_rig(context)):
            self.cancel(context)
            return {"CANCELLED", "PASS_THROUGH"}
        view = view_under_mouse(context, event)
        if view is None:
            show(None)
            return {"PASS_THROUGH"}
        if event.value == "PRESS" and event.type in DONE:
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            tell_keys(context, KEYS)  # a drag had its own
        picked = self._look(context, event)
        if event.value != "PRESS" or event.type not in {"LEFTMOUSE", "P"}:
            return {"PASS_THROUGH"}
        if picked is not None:
            self._do(context, view, picked, event.type)
        return {"RUNNING_MODAL"}

    def _do(self, context: bpy.types.Context, view: View, picked: Picked, key: str) -> None:
        """Drag a bone, or pin it."""
        if key == "LEFTMOUSE":
            self._drag(context, view, picked)
            return
        try:
            told = pin_bone(context, picked.owner, picked.bone)
        except FabrikError as error:
            self.report({"ERROR"}, rpt_(error.text))
            return
        bpy.ops.ed.undo_push(message=iface_("Pin"))
        show(picked)
        tell_keys(context, (told, *KEYS))
        redraw()

    def _look(self, context: bpy.types.Context, event: bpy.types.Event) -> Picked | None:
        """Show what is under the mouse."""
        view = view_under_mouse(context, event)
        picked = pick(context, view, view.mouse(event)) if view is not None else None
        show(picked)
        return picked

    def _drag(self, context: bpy.types.Context, view: View, picked: Picked) -> None:
        """Drag a bone; until that ends it gets all events."""
        assert view.area is not None
        seen: Any = context.temp_override(area=view.area, region=view.region)
        operators: Any = bpy.ops
        with seen:
            operators.fabrik.drag(
                "INVOKE_DEFAULT", rig=picked.owner.name, chain=picked.chain, bone=picked.bone, end=picked.end
            )


CLASSES = (FABRIK_OT_drag_pick,)
