# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging a tip in the viewport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, StringProperty
from bpy_extras.view3d_utils import region_2d_to_location_3d
from mathutils import Vector

from ..errors import ChainError, FabrikError, RigError
from ..rig.find import working_chain, working_rig
from ..rig.properties import rig_of
from ..session import live
from ..session.drag import Drag, Dragged, begin, begin_limb, drag_to, finish, pull_refusal
from ..session.letting_go import LetGo
from ..session.wording import STATUS_TEXTS, length_text
from .base import RigOperator
from .picking import Picked, View, pick, view_of
from .snapping import snapped

if TYPE_CHECKING:
    from .base import Returned

PRECISE = 0.1
MODIFIERS = {"LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"}
CONFIRM, CANCEL = {"LEFTMOUSE", "RET", "NUMPAD_ENTER", "SPACE"}, {"RIGHTMOUSE", "ESC"}
KEYS = "   ".join(
    ("LMB Enter Confirm", "RMB Esc Cancel", "X Y Z Along", "A Anchored Root: {anchored}", "Shift Precise", "Ctrl Snap")
)


class FABRIK_OT_drag(RigOperator):
    """Drag the tip of the chain under the mouse, or the limb that the bone under it ends; no target is needed. \
The pose stays as it is let go: it becomes the start pose, and target and pole are brought to it"""

    bl_idname = "fabrik.drag"
    bl_label = "Drag Tip"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "GRAB_CURSOR"}

    if TYPE_CHECKING:
        rig: str
        chain: str
        bone: str
        way: Any
        anchored: bool
    else:
        rig: StringProperty(
            name="Armature", description="Armature object; empty for the active one", options={"SKIP_SAVE"}
        )
        chain: StringProperty(name="Chain", description="Chain whose tip is dragged", options={"SKIP_SAVE"})
        bone: StringProperty(
            name="Bone",
            description="Without a chain: the bone whose tail is dragged, with the limb that it ends",
            options={"SKIP_SAVE"},
        )
        way: FloatVectorProperty(
            name="Way",
            description="How far the tip is dragged, in the world",
            subtype="TRANSLATION",
            options={"SKIP_SAVE"},
        )
        anchored: BoolProperty(
            name="Anchored Root",
            description="Keep the root where it is; else the whole chain is pulled along",
            default=True,
            options={"SKIP_SAVE"},
        )

    _drag: Drag
    _view: View
    _moved: Vector
    _mouse: Vector
    _axis: int | None
    _heeds_keys: bool
    _note: str

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        view = view_of(context)
        if view is None:
            self.report({"ERROR"}, "the tip is dragged in a 3D View")
            return {"CANCELLED"}
        self._view, self._mouse = view, view.mouse(event)
        try:
            picked = self._picked(context)
            if picked is None:  # a warning, for an error would put a panel under the mouse
                self.report({"WARNING"}, "no bone is under the mouse: point at the tip of a chain, or at a bone")
                return {"CANCELLED"}
            self._drag = _begun(context, picked)
        except FabrikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.rig, self.chain, self.bone = picked.owner.name, picked.chain, picked.bone
        self._moved, self._axis, self._note = Vector(), None, self._drag.note
        self._heeds_keys = not (event.ctrl or event.shift)  # those of the shortcut have to be let go first
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("HAND")
        self._tell(context, Dragged("", 0.0))
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, owner: bpy.types.Object) -> Returned:
        if not (self.chain or self.bone):
            self.report(
                {"ERROR"}, "the tip is dragged with the mouse in a 3D View, unless chain or bone and way are given"
            )
            return {"CANCELLED"}
        found = bpy.data.objects.get(self.rig) if self.rig else owner
        if found is None or found.type != "ARMATURE":
            raise RigError(f"there is no armature object '{self.rig}'")
        drag = _begun(context, Picked(found, self.chain, self.bone))
        try:
            drag_to(context, drag, drag.tip + Vector(self.way), self.anchored)
        except FabrikError:
            drag.restore()
            raise
        self._finished(finish(context, drag), drag)
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        try:
            return self._handled(context, event)
        except FabrikError as error:
            self.cancel(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except BaseException:
            self.cancel(context)
            raise

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave all as it was; Blender asks for it where the window is closed, too."""
        self._drag.restore()
        self._ended(context, {"CANCELLED"})

    def _handled(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        if event.type in CANCEL and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if event.type in CONFIRM and event.value == "PRESS":
            return self._confirmed(context)
        self._heeds_keys = self._heeds_keys or not (event.ctrl or event.shift)
        if event.value == "PRESS" and event.type in {"X", "Y", "Z", "A"}:
            self._switch(event.type)
        elif event.type == "MOUSEMOVE":
            self._moved += self._step(event)
        elif event.type not in MODIFIERS:
            return {"RUNNING_MODAL"}
        self.way = self._constrained(context, event)
        self._tell(context, drag_to(context, self._drag, self._drag.tip + Vector(self.way), self.anchored))
        return {"RUNNING_MODAL"}

    def _confirmed(self, context: bpy.types.Context) -> Returned:
        """Let go; a tip that was not moved is as good as never taken."""
        if not Vector(self.way).length:
            self.cancel(context)
            return {"CANCELLED"}
        self._finished(finish(context, self._drag), self._drag)
        return self._ended(context, {"FINISHED"})

    def _finished(self, found: LetGo, drag: Drag) -> None:
        """Report what came of a drag."""
        text = f"{_name_of(drag)}: {'; '.join([*found.done, *found.warnings])}"
        if found.done or found.warnings:
            self.report({"WARNING"} if found.warnings else {"INFO"}, text)

    def _switch(self, key: str) -> None:
        """Keep to an axis or leave it, or let go of the root, where that may move."""
        if key != "A":
            axis = "XYZ".index(key)
            self._axis = None if self._axis == axis else axis
            return
        self._note = pull_refusal(self._drag) if self.anchored else ""
        self.anchored = not self.anchored or bool(self._note)

    def _step(self, event: bpy.types.Event) -> Vector:
        """How far the mouse moved since the last event, in the plane of the view through the tip."""
        mouse, tip = self._view.mouse(event), self._drag.tip
        a, b = (
            region_2d_to_location_3d(self._view.region, self._view.data, place, tip) for place in (self._mouse, mouse)
        )
        self._mouse = mouse
        return (b - a) * (PRECISE if event.shift and self._heeds_keys else 1.0)

    def _constrained(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """The whole way, snapped where snapping is on, along the axis that is chosen."""
        way = self._moved.copy()
        if (event.ctrl and self._heeds_keys) != context.scene.tool_settings.use_snap:
            owner, fine = bpy.data.objects[self._drag.rig], event.shift and self._heeds_keys
            seen: Any = context.temp_override(region=self._view.region)  # the sidebar's where its button was pressed
            with seen:
                way = snapped(context, owner, self._mouse, self._drag.tip, way, fine)
        if self._axis is not None:
            way = Vector([value if i == self._axis else 0.0 for i, value in enumerate(way)])
        return way

    def _picked(self, context: bpy.types.Context) -> Picked | None:
        """What is under the mouse; from a button of the sidebar, the active chain.

        Raises:
            ChainError: There is none.
        """
        if self._view.is_under_mouse:
            return pick(context, self._view, self._mouse)
        owner, chain = working_rig(context), working_chain(context)
        if owner is None or chain is None:
            raise ChainError("there is no active chain: point at a bone in the 3D View and press the shortcut")
        return Picked(owner, chain.name, chain.tip_bone)

    def _tell(self, context: bpy.types.Context, dragged: Dragged) -> None:
        """What is dragged and how far, and how far it is from where it should be."""
        context.workspace.status_text_set(KEYS.format(anchored="on" if self.anchored else "off"))
        parts = [f"D{axis}: {length_text(value, context.scene)}" for axis, value in zip("xyz", self.way, strict=True)]
        along = [] if self._axis is None else [f"along {'XYZ'[self._axis]}"]
        missed = []
        if dragged.status not in {"", "REACHED"}:
            missed = [f"{STATUS_TEXTS[dragged.status]}, {length_text(dragged.residual, context.scene)} off"]
        elif dragged.status:
            missed = [f"{length_text(dragged.residual, context.scene)} off"]
        note = [self._note] if self._note else []
        context.area.header_text_set(f"{_name_of(self._drag)}   " + "   ".join([*parts, *along, *missed, *note]))

    def _ended(self, context: bpy.types.Context, result: Returned) -> Returned:
        context.workspace.status_text_set(None)
        if context.area is not None:  # gone where its window is closed
            context.area.header_text_set(None)
        if context.window is not None:
            context.window.cursor_modal_restore()
        live.accept()
        return result

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        for name in ("way", "anchored"):
            self.layout.prop(self, name)


def _begun(context: bpy.types.Context, picked: Picked) -> Drag:
    """A drag of what was picked; its chain becomes the active one.

    Raises:
        FabrikError: It can't be dragged.
    """
    owner, name, bone = picked
    if not name:
        return begin_limb(context, owner, bone)
    rig = rig_of(owner)
    names = [chain.name for chain in rig.chains]
    if name not in names:
        raise ChainError("there is no such chain", rig=owner.name, chain=name)
    drag = begin(context, owner, rig.chains[name])
    rig.active_index = names.index(name)
    return drag


def _name_of(drag: Drag) -> str:
    """The armature, and the chain or the limb that is dragged."""
    what = drag.chain if drag.loose is not None or drag.chain == drag.bone else f"{drag.chain} ({drag.bone})"
    return f"{drag.rig}: {what}"


CLASSES = (FABRIK_OT_drag,)
