# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of posing, for every day, and that of rigging: chains and goals, body, start pose, solver, joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.props import IntProperty

from ..actions import live
from ..actions.chain_edit import chain_at_hand, choose, working_chain, working_rig
from ..actions.clear import original_of
from ..actions.motion.transfer import source_for
from ..actions.spaces import space_name
from ..actions.status import Told, hint_of, length_text, measure_text, message_of, told_of, waits_for
from ..errors import FabrikError, InvalidValueError
from ..maths import IDENTITY
from ..messages import Message
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import rig_refusal
from ..rig.figure.start_pose import is_stale
from ..rig.goals import goal_of, is_offset
from ..rig.limit_types import LIMITS
from ..rig.schema import FabrikChain, is_scene_live, limit_of, rig_of
from ..rig.schema.chain import EFFECTOR_ITEMS, GOAL_ITEMS, KIND_ITEMS, ORIENTATION_ITEMS, START_ITEMS
from ..rig.spaces import SCENE
from ..rig.versions import newer_refusal
from ..texts import Text, capitalised, counted, joined
from ..translations import CONTEXT, iface_
from .base import (
    ICONS,
    MODES,
    FabrikPanel,
    Icon,
    RiggingPanel,
    draw_settings,
    draw_wrapped,
    is_room_beside,
    is_wide,
    operator_labels,
    radio,
    row_for,
    row_or_column,
)
from .menus import LIST, draw_parts
from .motion import draw_plan, draw_switches

Items = Sequence[tuple[str, str, str]]  # of an `EnumProperty`

NAMES = 0.31  # of the panel's width, for the names of settings of bones and goal
ROWS = 3, 10  # of the list, at least and at most
TROUBLES = 3  # chains of which is told that they do not hold
FINE = {"REACHED", "NONE", "BAKED", "OLD"}  # kinds of what there is to say of a chain for which the list is enough
ALONG = 1e-6  # more than this of an axis counts
ROLES = {"target": Text("Target"), "pole": Text("Pole")}


class FABRIK_UL_chains(bpy.types.UIList):
    """Name, last status and switch of each chain"""

    def draw_item(  # type: ignore[override]  # noqa: PLR0913, PLR0917  # Blender counts the arguments
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: FabrikChain,
        icon: int,
        active_data: Any,
        active_property: str,
    ) -> None:
        row = layout.row(align=True)
        name = row.row(align=True)
        name.active = item.enabled
        told = told_of(item, context)
        name.prop(item, "name", text="", emboss=False, icon=ICONS[told.kind])
        if told.short and is_wide(context):
            hint = row.row(align=True)
            hint.active = False
            hint.alignment = "RIGHT"
            hint.label(text=iface_(told.short))
        if item.pin:
            mark = row.row(align=True)
            mark.alignment = "RIGHT"
            mark.label(icon="PINNED")
        row.prop(item, "enabled", text="")


class FABRIK_MT_chains(bpy.types.Menu):
    """What is done with many chains"""

    bl_label = "Chain Specials"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        draw_parts(context, self.layout, LIST)


def _read(scene: bpy.types.Scene) -> int:
    owner = working_rig(bpy.context)
    if owner is None or owner.type != "ARMATURE":
        return 0
    return rig_of(owner).active_index if chain_at_hand(bpy.context) is not None else -1


def _write(scene: bpy.types.Scene, index: int) -> None:
    owner = working_rig(bpy.context)
    if owner is not None and owner.type == "ARMATURE":
        choose(owner, index)


def register() -> None:
    """Register the property."""
    scene: Any = bpy.types.Scene
    number: Any = IntProperty
    scene.fabrik_list_index = number(
        name="Active Chain",
        description="Chain that the panel shows, -1 for none; choosing one makes its target or tip the active bone",
        options={"HIDDEN", "SKIP_SAVE"},
        get=_read,
        set=_write,
    )


def unregister() -> None:
    """Take it away."""
    scene: Any = bpy.types.Scene
    del scene.fabrik_list_index


def draw_goal_notes(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """Tell of an armature that follows the goals of the one of which it is a duplicate, with the way out."""
    if context.view_layer is None:
        return
    original = original_of(owner, context.view_layer.objects)
    if original is None:
        return
    column = layout.box().column(align=True)
    draw_wrapped(context, column, iface_("Follows the goals of {name}", name=original.name), "INFO")
    column.operator("fabrik.goals_single_user", icon="DUPLICATE")


def draw_notes(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """What was done by hand to the live chains of an armature and what came of it, and which keys are not heard."""
    rig = rig_of(owner)
    if not rig.live:
        return
    for note in live.notes_of(owner):
        draw_wrapped(context, layout.box().column(align=True), iface_(note), "INFO")
    overwritten = live.overwriting_keys(owner)
    if overwritten:
        text = iface_("{chains}: Live goes over the keys of the bones", chains=", ".join(overwritten))
        draw_wrapped(context, layout, text, "INFO")
        for name in overwritten[:TROUBLES]:
            layout.prop_enum(rig.chains[name], "start", "ANIMATED", text=iface_("Start {chain} from Keys", chain=name))


class FABRIK_PT_asked(RiggingPanel):
    """What the goal of the active chain asks: of which end of the tip, how strongly, and of which rotation"""

    bl_label = "Pin and Rotation"
    told_at = ("chains", "what-a-goal-asks")

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        row = row_for(context, layout, [iface_(label) for _, label, _ in KIND_ITEMS])
        for name, _, _ in KIND_ITEMS:
            row.prop_enum(chain, "kind", name, icon=radio(chain.kind == name))
        _draw_pin(context, layout, chain)
        if chain.pin and chain.target is None:
            layout.column().prop(chain, "held_location")
        if not chain.aims:
            layout.label(text="End of the tip at the goal:")
            _draw_choice(context, layout, chain, "effector", EFFECTOR_ITEMS)
            layout.label(text="Rotation of the tip:")
            _draw_choice(context, layout, chain, "orientation", ORIENTATION_ITEMS)
            if chain.orientation != "FREE":
                draw_settings(context, layout, chain, ("orientation_weight",))
        if chain.aims:
            layout.column().prop(chain, "aim_axis")
        draw_settings(
            context, layout, chain, ("weight",) if chain.aims else ("weight", "soft", "stretch", "body_helps")
        )


def _draw_pin(context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain | None) -> None:
    """The button that pins a chain; without one the selected bones, or all chains."""
    if chain is not None:
        icon: Icon = "PINNED" if chain.pin else "UNPINNED"
        button = layout.operator(
            "fabrik.pin_toggle", text="Pinned" if chain.pin else "Pin", icon=icon, depress=bool(chain.pin)
        )
        button.which = "ACTIVE"
    elif context.selected_pose_bones:
        layout.operator("fabrik.pin_toggle", icon="UNPINNED").which = "SELECTED"
    else:
        are_pinned = all(one.pin for one in rig_of(working_rig(context)).chains if one.enabled)
        button = layout.operator("fabrik.pin_toggle", text="Free All" if are_pinned else "Pin All", icon="UNPINNED")
        button.which, button.action = "ALL", "FREE" if are_pinned else "PIN"


def _draw_choice(
    context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain, option: str, items: Items
) -> None:
    """The buttons that choose an option of the tip by the operator of its name."""
    row = row_for(context, layout, [iface_(label) for _, label, _ in items])
    for name, label, _ in items:
        is_on = getattr(chain, option) == name
        button = row.operator(f"fabrik.{option}_set", text=iface_(label), icon=radio(is_on), depress=is_on)
        button.chain = chain.name
        setattr(button, option, name)


class FABRIK_PT_body(RiggingPanel):
    """The bone that moves as the body, and how the body gives way"""

    bl_label = "Body"
    told_at = ("bodies", "the-body")

    def draw(self, context: bpy.types.Context) -> None:
        owner, layout = working_rig(context), self.layout
        name = rig_of(owner).body_bone
        row = layout.row(align=True)
        row.prop_search(owner, "fabrik_body_bone", owner.pose, "bones", text="")
        row.operator("fabrik.body_bone_set", text="", icon="VIEWZOOM").source = "FIND"
        if name and name not in pose_bones(owner):
            draw_wrapped(context, layout, iface_("There is no bone {name}", name=name), "ERROR")
        column = layout.column()
        column.active = bool(name)
        draw_settings(
            context, column, owner, ("fabrik_body_stays", "fabrik_body_stiffness", "fabrik_spine", "fabrik_balance")
        )
        draw_settings(context, layout, owner, ("fabrik_falloff",), texts={"fabrik_falloff": iface_("Drag Falloff")})
        column = layout.column()
        column.active = rig_of(owner).balance > 0.0
        bone = context.active_pose_bone
        if bone is not None and bone.id_data == owner:
            mass = iface_("Mass of {name}", name=bone.name)
            draw_settings(context, column, bone, ("fabrik_mass",), texts={"fabrik_mass": mass})
        column.operator_menu_enum("fabrik.balance_masses", "by", icon="EMPTY_SINGLE_ARROW")


class FABRIK_PT_posing(FabrikPanel):
    """What is used every day, for the limb that is selected or for the whole character"""

    bl_label = "Posing"
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
            rows = min(max(ROWS[0], len(rig_of(owner).chains)), ROWS[1])
            at = owner, "fabrik_chains", context.scene, "fabrik_list_index"
            layout.template_list("FABRIK_UL_chains", "", *at, rows=rows, maxrows=rows)
        draw_goal_notes(context, layout, owner)
        if chain is None:
            column = layout.column()
            column.scale_y = 1.6
            column.operator("fabrik.character_setup", icon="OUTLINER_OB_ARMATURE")
            layout.operator("fabrik.chain_add", icon="ADD")
            layout.operator("fabrik.from_ik", icon="CON_KINEMATIC")
            layout.operator("fabrik.drag", icon="VIEW_PAN")
            if source_for(context, owner) is not None:
                layout.operator("fabrik.motion_transfer", icon="ARMATURE_DATA")
            layout.operator("fabrik.motion_from_files", icon="FILE_FOLDER")
        else:
            chain = chain_at_hand(context)
            _draw_buttons(context, layout, owner, chain)
            if len(rig_of(owner).walker.legs):
                draw_plan(context, layout, owner)
            draw_notes(context, layout, owner)
        refusal = rig_refusal(owner)
        if refusal or chain is not None:
            _draw_status(context, layout, chain, refusal)
        else:
            _draw_troubles(context, layout, owner)


class FABRIK_PT_rigging(FabrikPanel):
    """What is set up once: the list of chains is edited, and all settings stand below it"""

    bl_label = "Rigging"
    bl_order = 1  # below the report of a bake
    bl_options = {"DEFAULT_CLOSED"}
    told_at = ("chains", "the-list")
    needs_chain = False

    def draw(self, context: bpy.types.Context) -> None:
        layout, chain = self.layout, working_chain(context)
        row = row_or_column(context, layout)
        if chain is not None:
            row.prop(chain, "name", text="")
        buttons = row.row(align=True)
        buttons.operator("fabrik.chain_add", text="", icon="ADD")
        buttons.operator("fabrik.chain_remove", text="", icon="REMOVE")
        buttons.operator("fabrik.chain_move", text="", icon="TRIA_UP").direction = "UP"
        buttons.operator("fabrik.chain_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        buttons.menu("FABRIK_MT_chains", text="", icon="DOWNARROW_HLT")
        layout.prop(context.scene, "fabrik_live", text="Live in This Scene")


class FABRIK_PT_goal(RiggingPanel):
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
        if not chain.aims:  # an aim has no use for a pole
            _draw_goal(context, layout, chain, "pole")
            if chain.pole is None:
                layout.operator("fabrik.pole_add", icon="EMPTY_AXIS")
            else:
                _beside(context, layout, iface_("Pole Angle")).prop(chain, "pole_angle", text="")
                _beside(context, layout, iface_("Fades")).prop(chain, "pole_fades", text="")
            layout.separator()
        row = row_or_column(context, layout)
        row.operator("fabrik.goal_snap", text="Goals to Pose", icon="SNAP_ON")
        row.operator("fabrik.pose_snap", text="Pose to Goals", icon="CON_KINEMATIC")


class FABRIK_PT_start(RiggingPanel):
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


class FABRIK_PT_solver(RiggingPanel):
    """How the active chain is solved"""

    bl_label = "Solver"
    told_at = ("chains", "solver")

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        draw_settings(context, layout, chain, ("tolerance", "max_passes", "restarts"))
        layout.prop(chain, "use_plain")
        if chain.status not in {"NONE", "REFUSED"}:
            layout.label(text=iface_(counted(chain.passes, "1 pass", "{count} passes")), translate=False)


class FABRIK_PT_limit(RiggingPanel):
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


def _draw_buttons(
    context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object, chain: FabrikChain | None
) -> None:
    """The buttons of every day: for a chain, or without one for the whole character."""
    if chain is None:
        layout.label(text="Whole Character", icon="ARMATURE_DATA")
    else:
        layout.label(text=chain.name, icon="BONE_DATA", translate=False)
    if not (rig_of(owner).live and is_scene_live(context.scene)):
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("fabrik.solve_all" if chain is None else "fabrik.solve", icon="CON_KINEMATIC")
    row = row_for(context, layout, operator_labels("drag", "pin_toggle"))
    row.operator("fabrik.drag", icon="VIEW_PAN")
    _draw_pin(context, row, chain)
    row = row_for(context, layout, operator_labels("pin_toggle", "bake"))
    key = row.operator("fabrik.key", text="Key All" if chain is None else "Key", icon="KEY_HLT")
    key.chains = "ALL" if chain is None else "ACTIVE"
    row.operator("fabrik.bake", icon="KEYFRAME_HLT")
    if chain is not None:
        target = goal_of(chain, "target")
        if target is not None:
            carrier = space_name(target)
            carrier = iface_("Scene") if carrier == SCENE else carrier
            space = _beside(context, layout, iface_("Space"))
            space.menu("FABRIK_MT_space", text=carrier or iface_("Free"), translate=False, icon="CON_CHILDOF")
            if chain.start == "ANIMATED" or is_offset(chain):
                word = next(label for name, label, _ in GOAL_ITEMS if name == chain.goal)
                kind = _beside(context, layout, iface_("Goal"))
                kind.operator_menu_enum("fabrik.goal_kind", "goal", text=iface_(word), translate=False)
        draw_settings(context, layout, chain, ("influence",))


def _draw_troubles(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """What is wrong with chains of the whole character; those that wait for one of these say nothing of their own."""
    every = {chain.name: (waits_for(chain), told_of(chain, context)) for chain in rig_of(owner).chains if chain.enabled}
    wrong = {name: one for name, one in every.items() if one[1].kind not in FINE}
    told = [(name, one) for name, (before, one) in wrong.items() if before not in wrong]
    column = layout.box().column(align=True) if told else layout
    for name, one in told[:TROUBLES]:
        draw_wrapped(context, column, iface_(joined(": ", (name, one.text))), ICONS[one.kind])
    if len(told) > TROUBLES:
        column.label(text=iface_("and {count} more", count=len(told) - TROUBLES), translate=False)


def _draw_status(
    context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain | None, refusal: Message | None
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
        layout.prop(bone, "fabrik_of_limb")
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


CLASSES = (
    FABRIK_MT_chains, FABRIK_UL_chains, FABRIK_PT_posing, FABRIK_PT_rigging, FABRIK_PT_goal, FABRIK_PT_asked,
    FABRIK_PT_start, FABRIK_PT_limit, FABRIK_PT_body, FABRIK_PT_solver,
)  # fmt: skip
