# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a tip in the viewport."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_location_3d
from mathutils import Vector

from ..errors import FabrikError
from ..rig.find import working_chain, working_rig
from ..rig.properties import FabrikChain, rig_of
from ..session import live
from ..session.drag import Drag, begin, drag_to, finish, tip_of
from ..session.wording import STATUS_TEXTS, length_text
from .base import ChainOperator
from .snapping import snapped

if TYPE_CHECKING:
    from .base import Returned

NEAR = 60.0  # pixels within which a tip counts as under the mouse
PRECISE = 0.1
MODIFIERS = {"LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"}
CONFIRM, CANCEL = {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "SPACE"}, {"RIGHTMOUSE", "ESC"}
KEYS = "   ".join(
    ("LMB Enter Confirm", "RMB Esc Cancel", "X Y Z Along", "A Anchored Root: {anchored}", "Shift Precise", "Ctrl Snap")
)


class FABRIK_OT_drag(ChainOperator):
    """Drag the tip under the mouse, or that of the active chain; no target is needed"""

    bl_idname = "fabrik.drag"
    bl_label = "Drag Tip"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "GRAB_CURSOR"}

    _drag: Drag
    _moved: Vector
    _mouse: Vector
    _axis: int | None
    _anchored: bool
    _heeds_keys: bool

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if context.space_data is None or context.space_data.type != "VIEW_3D" or context.region_data is None:
            self.report({"ERROR"}, "the tip is dragged in a 3D View")
            return {"CANCELLED"}
        owner = working_rig(context)
        try:
            chain = self._chain_under_mouse(context, owner, event)
            self._drag = begin(context, owner, chain)
        except FabrikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        rig_of(owner).active_index = [other.name for other in rig_of(owner).chains].index(chain.name)
        self._moved, self._mouse = Vector(), Vector((event.mouse_region_x, event.mouse_region_y))
        self._axis, self._anchored = None, True
        self._heeds_keys = not (event.ctrl or event.shift)  # those of the shortcut have to be let go first
        context.window_manager.modal_handler_add(self)
        self._tell(context, Vector(), "")
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> Returned:
        self.report({"ERROR"}, "the tip is dragged with the mouse in a 3D View")
        return {"CANCELLED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        try:
            return self._handled(context, event)
        except FabrikError as error:
            self._drag.restore()
            self.report({"ERROR"}, str(error))
            return self._ended(context, {"CANCELLED"})

    def _handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type in CANCEL and event.value == "PRESS":
            self._drag.restore()
            return self._ended(context, {"CANCELLED"})
        if event.type in CONFIRM and event.value == "PRESS":
            finish(context, self._drag)
            return self._ended(context, {"FINISHED"})
        self._heeds_keys = self._heeds_keys or not (event.ctrl or event.shift)
        if event.value == "PRESS" and event.type in {"X", "Y", "Z", "A"}:
            if event.type == "A":
                self._anchored = not self._anchored
            else:
                axis = "XYZ".index(event.type)
                self._axis = None if self._axis == axis else axis
        elif event.type == "MOUSEMOVE":
            self._moved += self._step(context, event)
        elif event.type not in MODIFIERS:
            return {"RUNNING_MODAL"}
        way = self._constrained(context, event)
        status = drag_to(context, self._drag, self._drag.tip + way, self._anchored)
        self._tell(context, way, status)
        return {"RUNNING_MODAL"}

    def _step(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """How far the mouse moved since the last event, in the plane of the view through the tip."""
        mouse = Vector((event.mouse_region_x, event.mouse_region_y))
        a, b = (
            region_2d_to_location_3d(context.region, context.region_data, place, self._drag.tip)
            for place in (self._mouse, mouse)
        )
        self._mouse = mouse
        return (b - a) * (PRECISE if event.shift and self._heeds_keys else 1.0)

    def _constrained(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """The whole way, snapped where snapping is on, along the axis that is chosen."""
        way = self._moved.copy()
        if (event.ctrl and self._heeds_keys) != context.scene.tool_settings.use_snap:
            owner, fine = bpy.data.objects[self._drag.rig], event.shift and self._heeds_keys
            way = snapped(context, owner, self._mouse, self._drag.tip, way, fine)
        if self._axis is not None:
            way = Vector([value if i == self._axis else 0.0 for i, value in enumerate(way)])
        return way

    def _chain_under_mouse(
        self, context: bpy.types.Context, owner: bpy.types.Object, event: bpy.types.Event
    ) -> FabrikChain:
        mouse, depsgraph = Vector((event.mouse_region_x, event.mouse_region_y)), context.evaluated_depsgraph_get()
        found: list[tuple[float, str]] = []
        for chain in rig_of(owner).chains:
            try:
                tip = tip_of(owner, chain, depsgraph)
            except FabrikError:
                continue
            seen = location_3d_to_region_2d(context.region, context.region_data, tip)
            if seen is not None and (seen - mouse).length <= NEAR * context.preferences.system.ui_scale:
                found.append(((seen - mouse).length, chain.name))
        return rig_of(owner).chains[min(found)[1]] if found else working_chain(context)

    def _tell(self, context: bpy.types.Context, way: Vector, status: str) -> None:
        """How far the tip is dragged, and whether it gets there."""
        context.workspace.status_text_set(KEYS.format(anchored="on" if self._anchored else "off"))
        parts = [f"D{axis}: {length_text(value, context.scene)}" for axis, value in zip("xyz", way, strict=True)]
        along = [] if self._axis is None else [f"along {'XYZ'[self._axis]}"]
        missed = [STATUS_TEXTS[status]] if status not in {"", "REACHED"} else []
        context.area.header_text_set(f"{self._drag.chain}   " + "   ".join([*parts, *along, *missed]))

    def _ended(self, context: bpy.types.Context, result: Returned) -> Returned:
        context.workspace.status_text_set(None)
        context.area.header_text_set(None)
        live.accept()
        return result


CLASSES = (FABRIK_OT_drag,)
