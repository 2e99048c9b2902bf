# SPDX-License-Identifier: GPL-3.0-or-later
"""The FABRIK tab of the 3D View's sidebar."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..errors import FabrikError, InvalidValueError
from ..kernel import LIMITS
from ..maths import IDENTITY
from ..rig.chain_bones import resolve_bones
from ..rig.checks import rig_refusal
from ..rig.find import working_chain, working_rig
from ..rig.schema import START_ITEMS, FabrikChain, limit_of, rig_of
from ..rig.start_pose import is_stale
from ..rig.versions import newer_refusal
from ..session.outcome import message_of
from ..session.telling import Told, hint_of, told_of
from ..session.wording import length_text, measure_text
from ..texts import Text, capitalised, counted
from ..translations import iface_
from . import bodies
from .base import MODES, FabrikPanel, is_wide, row_or_column
from .fitting import draw_settings, draw_wrapped, is_room_beside, operator_labels, radio, row_for
from .goal_notes import draw_goal_notes
from .live_notes import draw_notes
from .status import ICONS
from .viewing import draw_switches

NAMES = 0.31  # of the panel's width, for the names of settings of bones and goal
ROWS, ROWS_NARROW = 5, 8  # of the list; where there is no room to scroll in
ALONG = 1e-6  # more than this of an axis counts
ROLES = {"target": Text("Target"), "pole": Text("Pole")}


class FABRIK_PT_chains(FabrikPanel):
    """The armature's chains, and the buttons that solve"""

    bl_label = "Chains"
    told_at = ("chains", "the-list")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode in {*MODES, "EDIT_ARMATURE"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, owner = self.layout, working_rig(context)
        if context.mode not in MODES:
            layout.label(text="Leave Edit Mode to pose", icon="INFO")
            return
        if owner is None or owner.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            return
        if owner != context.object:
            layout.label(text=owner.name, icon="ARMATURE_DATA", translate=False)
            layout.operator("fabrik.back_to_pose", icon="POSE_HLT")
        newer = newer_refusal(owner)
        if newer:  # it may hold what can't be shown
            _draw_status(context, layout, None, newer)
            return
        chain = working_chain(context)
        if chain is not None:
            draw_switches(context, layout, owner)
        _draw_list(context, layout, owner)
        draw_goal_notes(context, layout, owner)
        if chain is None:
            column = layout.column()
            column.scale_y = 1.6
            column.operator("fabrik.character_setup", icon="OUTLINER_OB_ARMATURE")
            layout.operator("fabrik.chain_add", icon="ADD")
            layout.operator("fabrik.from_ik", icon="CON_KINEMATIC")
            layout.operator("fabrik.drag", icon="VIEW_PAN")
        else:
            row = layout.row(align=True)
            row.scale_y = 1.3
            row.operator("fabrik.solve", icon="CON_KINEMATIC")
            row.operator("fabrik.solve_all")
            layout.operator("fabrik.drag", icon="VIEW_PAN")
            draw_notes(context, layout, owner)
        refusal = rig_refusal(owner)
        if refusal or chain is not None:
            _draw_status(context, layout, chain, refusal)


class FABRIK_PT_goal(FabrikPanel):
    """The bones of the active chain, its target and its pole"""

    bl_label = "Bones and Goal"
    told_at = ("chains", "bones-and-goal")

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner = working_chain(context), working_rig(context)
        layout = self.layout
        _beside(context, layout, iface_("Tip Bone")).prop_search(chain, "tip_bone", owner.pose, "bones", text="")
        _beside(context, layout, iface_("Bones")).prop(chain, "bone_count", text="")
        layout.separator()
        _draw_goal(context, layout, chain, "target")
        if chain.target is None:
            layout.operator("fabrik.target_add", icon="EMPTY_AXIS")
        layout.separator()
        if chain.kind == "REACH":  # an aim has no use for a pole
            _draw_goal(context, layout, chain, "pole")
            if chain.pole is None:
                layout.operator("fabrik.pole_add", icon="EMPTY_AXIS")
            else:
                _beside(context, layout, iface_("Pole Angle")).prop(chain, "pole_angle", text="")
            layout.separator()
        row = row_or_column(context, layout)
        row.operator("fabrik.goal_snap", text="Goals to Pose", icon="SNAP_ON")
        row.operator("fabrik.pose_snap", text="Pose to Goals", icon="CON_KINEMATIC")


class FABRIK_PT_start(FabrikPanel):
    """The pose from which every solve of the active chain starts"""

    bl_label = "Start Pose"
    told_at = ("chains", "start-pose")

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner = working_chain(context), working_rig(context)
        layout = self.layout
        row = row_for(context, layout, [iface_(label) for _, label, _ in START_ITEMS])
        for name, _, _ in START_ITEMS:
            row.prop_enum(chain, "start", name, icon=radio(chain.start == name))
        row = row_or_column(context, layout)
        row.operator("fabrik.start_pose_capture", text="Capture", icon="POSE_HLT")
        row.operator("fabrik.start_pose_reset", text="Reset", icon="LOOP_BACK")
        layout.prop(owner, "fabrik_auto_capture")
        warning = _start_warning(owner, chain)
        if warning:
            draw_wrapped(context, layout, iface_(warning), "ERROR")
        elif chain.captured and chain.start != "REST":
            bones = counted(len(chain.captured), "1 bone", "{count} bones")
            if chain.start == "CAPTURED":
                text = iface_("Captured pose: {bones}", bones=bones)
            else:
                text = iface_("Captured pose, for bones without keys: {bones}", bones=bones)
            draw_wrapped(context, layout, text, "CHECKMARK")


class FABRIK_PT_solver(FabrikPanel):
    """How the active chain is solved"""

    bl_label = "Solver"
    told_at = ("chains", "solver")
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        draw_settings(context, layout, chain, ("influence", "tolerance", "max_passes", "restarts"))
        layout.prop(chain, "use_plain")


class FABRIK_PT_limit(FabrikPanel):
    """The joint limit of the active bone"""

    bl_label = "Joint Limit"
    told_at = ("limits", "joint-limits")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.active_pose_bone is not None and not newer_refusal(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        layout = self.layout
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        draw_settings(context, layout, bone, ("fabrik_limit",))
        _draw_limit(context, layout, bone)
        layout.operator("fabrik.limit_from_bend", icon="MOD_SIMPLEDEFORM").bones = "SELECTED"
        row = row_for(context, layout, operator_labels("limit_human", "limit_animal"))
        row.operator_menu_enum("fabrik.limit_human", "joint", icon="ARMATURE_DATA")
        row.operator_menu_enum("fabrik.limit_animal", "joint")
        row = row_or_column(context, layout)
        row.operator("fabrik.limit_copy", text="Copy to Selected")
        row.operator("fabrik.limit_mirror", text="Copy Mirrored")
        layout.operator("fabrik.limit_from_ik", text="Copy from IK Limits", icon="CON_KINEMATIC")


def _draw_list(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """The chains, and the buttons beside them."""
    is_beside = is_wide(context)  # else the names of the chains need the width
    rows = ROWS if is_beside else min(max(ROWS, len(rig_of(owner).chains)), ROWS_NARROW)
    row = layout.row() if is_beside else layout.column(align=True)
    row.template_list("FABRIK_UL_chains", "", owner, "fabrik_chains", context.scene, "fabrik_list_index", rows=rows)
    buttons = row.column(align=True) if is_beside else row.row(align=True)
    buttons.operator("fabrik.chain_add", text="", icon="ADD")
    buttons.operator("fabrik.chain_remove", text="", icon="REMOVE")
    buttons.separator()
    buttons.operator("fabrik.chain_move", text="", icon="TRIA_UP").direction = "UP"
    buttons.operator("fabrik.chain_move", text="", icon="TRIA_DOWN").direction = "DOWN"
    buttons.separator()
    buttons.menu("FABRIK_MT_chains", text="", icon="DOWNARROW_HLT")


def _draw_status(
    context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain | None, refusal: str
) -> None:
    """Why nothing can be posed, or how the last solve ended; two lines at least, so that the panels below stay put."""
    if chain is None and not refusal:
        return
    box = layout.box().column(align=True)
    if refusal:
        draw_wrapped(context, box, capitalised(iface_(refusal)), "ERROR")
    elif chain is not None:
        told = told_of(chain, context)
        draw_wrapped(context, box, capitalised(iface_(told.text)), ICONS[told.kind])
        draw_wrapped(context, box, _measure(context, chain, told), "BLANK1")
        if told.holds and chain.message:
            draw_wrapped(context, box, capitalised(iface_(message_of(chain))), "ERROR")
        hint = hint_of(chain)
        if hint and not (told.holds and hint in chain.message):
            draw_wrapped(context, box, capitalised(iface_(hint)), "ERROR")


def _measure(context: bpy.types.Context, chain: FabrikChain, told: Told) -> str:
    """How far the tip is from its goal now, or was after the last solve; "" where that is not of use."""
    if told.holds:
        return iface_(measure_text(chain, context.scene))
    if told.distance is None:
        return ""
    return iface_("{distance} off now", distance=length_text(told.distance, context.scene))


def _draw_goal(context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain, role: str) -> None:
    """A target or pole: the object, a button that picks it, and the bone where it is an armature."""
    goal: bpy.types.Object | None = getattr(chain, role)
    row = _beside(context, layout, iface_(ROLES[role]))
    row.prop(chain, role, text="")
    if goal is not None:
        row.operator("fabrik.goal_select", text="", icon="RESTRICT_SELECT_OFF").role = role
    if goal is not None and goal.type == "ARMATURE" and goal.pose is not None:
        _beside(context, layout, iface_("Bone")).prop_search(chain, f"{role}_bone", goal.pose, "bones", text="")


def _beside(context: bpy.types.Context, layout: bpy.types.UILayout, name: str) -> bpy.types.UILayout:
    """A row for a setting: its name stands before it, with less room than Blender gives, for those of goals are long;
    or above it, in a narrow sidebar."""
    if not (is_wide(context) and is_room_beside(context, [name], NAMES)):
        column = layout.column(align=True)
        column.label(text=f"{name}:", translate=False)
        return column.row(align=True)
    split = layout.split(factor=NAMES)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=name, translate=False)
    return split.row(align=True)


def _draw_limit(context: bpy.types.Context, layout: bpy.types.UILayout, bone: bpy.types.PoseBone) -> None:
    """The settings that the limit's type uses, and what is wrong with them."""
    limit = limit_of(bone)
    kind = LIMITS[limit.limit]
    shown = kind.shown(limit)
    for setting in shown:
        if setting.is_vector:
            _draw_vector(layout, bone, setting.name)
        elif setting.is_switch:
            layout.prop(bone, f"fabrik_{setting.name}")
    angles = [f"fabrik_{setting.name}" for setting in shown if not (setting.is_vector or setting.is_switch)]
    draw_settings(context, layout, bone, angles)
    if kind.twists:
        layout.prop(bone, "fabrik_use_twist")
        if limit.use_twist:
            draw_settings(context, layout, bone, ("fabrik_twist_min", "fabrik_twist_max"))
    if kind.stiffens:
        draw_settings(context, layout, bone, ("fabrik_stiffness",))
    try:
        kind.make(limit, IDENTITY)
    except InvalidValueError as error:
        draw_wrapped(context, layout, capitalised(iface_(error.reason)), "ERROR")


def _draw_vector(layout: bpy.types.UILayout, bone: bpy.types.PoseBone, name: str) -> None:
    """A vector of a limit; the axis has buttons besides, which put it along one of the bone's."""
    column = layout.column(align=True)
    if name == "axis":
        row = column.row(align=True, heading="Along")
        for i, axis in enumerate("XYZ"):
            row.operator("fabrik.limit_axis", text=axis, depress=is_along(limit_of(bone).axis, i)).axis = axis
    column.use_property_split = True
    column.use_property_decorate = False
    column.prop(bone, f"fabrik_{name}")


def is_along(axis: Sequence[float], index: int) -> bool:
    """Whether an axis points along X, Y or Z, and not against it."""
    return all(value > ALONG if i == index else abs(value) <= ALONG for i, value in enumerate(axis))


def _start_warning(owner: bpy.types.Object, chain: FabrikChain) -> str:
    """What is wrong with the start pose, or ""."""
    if chain.start == "CAPTURED" and not chain.captured:
        return Text("Nothing captured yet")
    try:
        stale = chain.start != "REST" and is_stale(chain, resolve_bones(owner, chain))
    except FabrikError:  # the status says so
        return ""
    return Text("Rest pose changed after the capture: capture again or reset") if stale else ""


CLASSES = (FABRIK_PT_chains, FABRIK_PT_goal, *bodies.CLASSES, FABRIK_PT_start, FABRIK_PT_solver, FABRIK_PT_limit)
