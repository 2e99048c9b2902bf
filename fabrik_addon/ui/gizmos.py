# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in the 3D View: the ends of the active bone's limit, and the turn of the bend about the pole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import FabrikError
from ..kernel.limits import LIMITS
from ..overlay.collect import placed_limit
from ..overlay.colours import theme_colours
from ..overlay.settings import scene_settings
from ..rig.checks import edit_refusal
from ..rig.find import working_chain, working_rig
from ..rig.limit_properties import LIMIT_PROPERTIES, limit_of
from ..session.drag import tip_of

HANDLES = 6  # the most that a limit has: an ellipse and a twist
HANDLE_SIZE, DIAL_SIZE = 0.08, 0.4
FIRST = 10.0


class LimitEnd:
    """One end of the active bone's limit: where it stands in the world, and what it means to put it elsewhere."""

    def __init__(self, index: int) -> None:
        self.index = index

    def name(self) -> str:
        """The setting of this handle, or "" where the limit has fewer."""
        bone = bpy.context.active_pose_bone
        kind = LIMITS[limit_of(bone).limit] if bone else None
        if bone is None or kind is None:
            return ""
        names = [name for name in _ends(bone) if name in LIMIT_PROPERTIES]
        return names[self.index] if self.index < len(names) else ""

    def get(self) -> Vector:
        """The end in world space."""
        found = _placed()
        return found[0] @ found[1].outline().ends[self.name()] if found and self.name() else Vector()

    def set(self, point: Any) -> None:
        """Bring the end to the side of a point of the world."""
        found, bone, name = _placed(), bpy.context.active_pose_bone, self.name()
        if found and bone is not None and name:
            matrix, limit = found
            setattr(limit_of(bone), name, limit.setting_at(name, matrix.inverted() @ Vector(point)))


def _placed() -> tuple[Matrix, Any] | None:
    """The frame of the active bone's limit in the world, at the bone's length, and the limit itself."""
    owner, bone = bpy.context.object, bpy.context.active_pose_bone
    if owner is None or bone is None:
        return None
    try:
        limit = LIMITS[limit_of(bone).limit].make(limit_of(bone), Quaternion())
    except FabrikError:
        return None
    return placed_limit(owner, bone, bpy.context.evaluated_depsgraph_get()), limit


def _ends(bone: bpy.types.PoseBone) -> dict[str, Vector]:
    found = _placed()
    return found[1].outline().ends if found and limit_of(bone).limit != "BONE_IK" else {}


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
        return bool(shown and bone is not None and not edit_refusal(context.object) and _ends(bone))

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
        read, write = _pole_angle()
        self.dial.target_set_handler("offset", get=read, set=write)
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


def _pole_angle() -> tuple[Callable[[], float], Callable[[float], None]]:
    def read() -> float:
        chain = working_chain(bpy.context)
        return chain.pole_angle if chain is not None else 0.0

    def write(value: float) -> None:
        chain = working_chain(bpy.context)
        if chain is not None:
            chain.pole_angle = value

    return read, write


CLASSES = (FABRIK_GGT_limit, FABRIK_GGT_pole)
