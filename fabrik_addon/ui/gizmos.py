# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in the 3D View: the ends of the active bone's limit, and the turn of the bend about the pole."""

from __future__ import annotations

from math import degrees
from typing import Any

import bpy
from mathutils import Matrix, Vector

from ..actions.chain_edit import working_chain, working_rig
from ..actions.figure_pose import tip_of
from ..errors import FabrikError
from ..kernel import Limit
from ..maths import IDENTITY, V3, v3
from ..overlay.settings import areas_of, scene_settings
from ..overlay.shapes import theme_colours
from ..overlay.view import placed_limit
from ..rig.bones import names_if_any
from ..rig.checks import edit_refusal
from ..rig.limit_types import LIMITS, limit_outline, setting_at
from ..rig.schema import LIMIT_SETTINGS, limit_of, rig_of
from ..translations import iface_, name_

HANDLES = 6  # the most that a limit of any type has, as of an ellipse and a twist; a test asks the examples
HANDLE_SIZE, DIAL_SIZE = 0.08, 0.4  # scales of Blender's gizmos
FIRST = 10.0  # bias in what is selected where gizmos overlap
ASK = 0.1  # seconds between two looks at whether the mouse was let go
BACK = 1e-5  # share of the bone's length within which a handle is back where it was


class Drags:
    """Drags of handles, which Blender neither undoes nor, where the bone turns meanwhile, takes back itself.

    Attributes:
        is_on: Whether one is going on.
    """

    is_on = False

    @classmethod
    def note(cls) -> bool:
        """Note that a handle was moved; whether for the first time in this drag."""
        if cls.is_on:
            return False
        cls.is_on = True
        bpy.app.timers.register(cls._ended, first_interval=ASK)
        return True

    @staticmethod
    def tell(what: str, angle: float) -> None:
        """Show the angle in the header of the view, as Blender does for what is turned."""
        area = bpy.context.area
        if area is not None and area.type == "VIEW_3D":
            area.header_text_set(f"{what}: {degrees(angle):.1f}°")

    @classmethod
    def _ended(cls) -> float | None:
        """Timer: look whether the mouse was let go, and then make the whole drag one step to undo."""
        manager = bpy.context.window_manager
        windows = manager.windows if manager else ()
        if any("gizmo" in found.bl_idname.lower() for window in windows for found in window.modal_operators):
            return ASK
        cls.is_on = False
        for area in areas_of("VIEW_3D"):
            area.header_text_set(None)
        bpy.ops.ed.undo_push(message=iface_("Drag Handle"))
        return None


class LimitEnd:
    """One end of the active bone's limit: where it stands in the world, and what it means to put it elsewhere."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.start: tuple[Vector, float] = (Vector(), 0.0)  # where it stood and its value before the drag

    def name(self) -> str:
        """The setting of this handle, or "" where the limit has fewer."""
        bone = bpy.context.active_pose_bone
        names = [name for name in _ends(bone) if name in LIMIT_SETTINGS] if bone is not None else []
        return names[self.index] if self.index < len(names) else ""

    def get(self) -> Vector:
        """The end in world space."""
        found = _placed()
        return found[0] @ Vector(limit_outline(found[1]).ends[self.name()]) if found and self.name() else Vector()

    def set(self, point: Any) -> None:
        """Bring the end to the side of a point of the world."""
        found, bone, name = _placed(), bpy.context.active_pose_bone, self.name()
        if not found or bone is None or not name:
            return
        matrix, limit = found
        if Drags.note():
            self.start = self.get(), getattr(limit_of(bone), name)
        point_now, value = Vector(point), self.start[1]
        if (point_now - self.start[0]).length > BACK * matrix.to_scale().x:
            value = setting_at(limit, name, v3(matrix.inverted() @ point_now))
        setattr(limit_of(bone), name, value)
        label = name_(bone.bl_rna.properties[f"fabrik_{name}"])
        kind = iface_(LIMITS[limit_of(bone).limit].label)
        Drags.tell(f"{bone.name}   {kind}   {label}", getattr(limit_of(bone), name))


def _placed() -> tuple[Matrix, Limit] | None:
    """The frame of the active bone's limit in the world, at the bone's length, and the limit itself."""
    owner, bone = bpy.context.object, bpy.context.active_pose_bone
    if owner is None or bone is None:
        return None
    try:
        limit = LIMITS[limit_of(bone).limit].make(limit_of(bone), IDENTITY)
    except FabrikError:
        return None
    return placed_limit(owner, bone, bpy.context.evaluated_depsgraph_get()), limit


def _ends(bone: bpy.types.PoseBone) -> dict[str, V3]:
    found = _placed()
    return limit_outline(found[1]).ends if found and not limit_of(bone).type.is_of_blender else {}


class FABRIK_GGT_limit(bpy.types.GizmoGroup):
    """The ends of the active bone's limit"""

    bl_label = "FABRIK Joint Limit"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    handles: list[tuple[Any, LimitEnd]]
    shown: list[Vector]

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        settings, bone = scene_settings(context.scene), context.active_pose_bone
        shown = settings.show and getattr(settings, "show_limits") and context.mode == "POSE"
        if not shown or bone is None or edit_refusal(context.object):
            return False
        owner, active = working_rig(context), working_chain(context)
        chains = list(rig_of(owner).chains) if settings.all_chains else [active] if active else []
        is_drawn = any(bone.name in names_if_any(owner, chain) for chain in chains)
        return is_drawn and bool(_ends(bone))

    def setup(self, context: bpy.types.Context) -> None:
        self.handles = []
        for i in range(HANDLES):
            gizmo: Any = self.gizmos.new("GIZMO_GT_move_3d")
            end = LimitEnd(i)
            gizmo.draw_options, gizmo.draw_style = {"FILL", "ALIGN_VIEW"}, "RING_2D"
            gizmo.scale_basis, gizmo.use_draw_modal = HANDLE_SIZE, True
            gizmo.select_bias = FIRST  # before the pole's dial where both are under the mouse
            self.handles.append((gizmo, end))
        self.refresh(context)

    def draw_prepare(self, context: bpy.types.Context) -> None:
        if [end.get() for _, end in self.handles] != self.shown and not any(
            gizmo.is_modal for gizmo, _ in self.handles
        ):
            self.refresh(context)

    def refresh(self, context: bpy.types.Context) -> None:
        colours = theme_colours(context.preferences)
        self.shown = [end.get() for _, end in self.handles]
        for gizmo, end in self.handles:
            gizmo.target_set_handler("offset", get=end.get, set=end.set)  # Blender asks for the place only then
            gizmo.hide = not end.name()
            gizmo.color, gizmo.alpha = colours["limit"][:3], 1.0
            gizmo.color_highlight, gizmo.alpha_highlight = colours["step"][:3], 1.0


class FABRIK_GGT_pole(bpy.types.GizmoGroup):
    """The turn of the active chain's bend away from its pole"""

    bl_label = "FABRIK Pole Angle"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    dial: Any

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        settings = scene_settings(context.scene)
        if not (settings.show and getattr(settings, "show_pole")) or context.mode not in {"OBJECT", "POSE"}:
            return False
        chain = working_chain(context)
        return chain is not None and chain.pole is not None and not edit_refusal(working_rig(context))

    def setup(self, context: bpy.types.Context) -> None:
        self.dial = self.gizmos.new("GIZMO_GT_dial_3d")
        self.dial.target_set_handler("offset", get=_read_angle, set=_write_angle)
        self.dial.draw_options, self.dial.scale_basis = {"ANGLE_VALUE"}, DIAL_SIZE
        self.dial.use_draw_modal = self.dial.use_draw_value = True
        self.refresh(context)

    def refresh(self, context: bpy.types.Context) -> None:
        owner, chain = working_rig(context), working_chain(context)
        try:
            depsgraph = context.evaluated_depsgraph_get()
            root, tip = tip_of(owner, chain, depsgraph, root=True), tip_of(owner, chain, depsgraph)
        except FabrikError:
            self.dial.hide = True
            return
        along = (tip - root).to_track_quat("Z", "Y")
        self.dial.hide = False
        self.dial.matrix_basis = Matrix.LocRotScale((root + tip) * 0.5, along, None)
        colours = theme_colours(context.preferences)
        self.dial.color, self.dial.alpha = colours["pole"][:3], 0.7
        self.dial.color_highlight, self.dial.alpha_highlight = colours["step"][:3], 1.0

    def draw_prepare(self, context: bpy.types.Context) -> None:
        self.refresh(context)


def _read_angle() -> float:
    chain = working_chain(bpy.context)
    return chain.pole_angle if chain is not None else 0.0


def _write_angle(value: float) -> None:
    chain = working_chain(bpy.context)
    if chain is not None:
        Drags.note()
        chain.pole_angle = value
        Drags.tell(f"{chain.name}   {iface_('Pole Angle')}", value)
