# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of posing, for every day, and that of rigging: chains and goals, body, start pose, solver, joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..actions import live
from ..actions.chain_edit import chain_at_hand, choose, working_chain, working_rig
from ..actions.clear import original_of
from ..actions.motion.transfer import source_for
from ..actions.spaces import space_name
from ..actions.status import ChainReport, hint_of, length_text, measure_text, message_of, report_of, waits_for
from ..errors import FabrikError, InvalidValueError
from ..maths import IDENTITY
from ..messages import Message
from ..rig.bones import pose_bones, resolve_bones
from ..rig.checks import rig_refusal
from ..rig.figure.groups import lacks_goal
from ..rig.figure.start_pose import is_stale
from ..rig.goal_kinds import GOAL_KINDS
from ..rig.goals import goal_of, is_offset
from ..rig.limit_types import LIMITS
from ..rig.schema import FabrikChain, is_scene_live, limit_of, owner_of, rig_of
from ..rig.schema.chain import EFFECTOR_ITEMS, GOAL_ITEMS, KIND_ITEMS, ORIENTATION_ITEMS, START_ITEMS
from ..rig.schema.fields import NO_OTHERS, View, whole
from ..rig.spaces import SCENE
from ..rig.versions import newer_refusal
from ..rig.walk_goals import is_of_walker
from ..texts import Text, capitalised, counted, joined, quoted
from ..translations import CONTEXT, iface_, label_
from . import menus
from .base import ICONS, MODES, FabrikPanel, Icon, RiggingPanel, Sidebar, radio
from .motion import draw_plan, draw_switches

NAMES = 0.31  # of the panel's width, for the names of settings of bones and goal
ROWS = 3, 10  # of the list, at least and at most
TROUBLES = 3  # chains of which is told that they do not hold
FINE = {"REACHED", "NONE", "BAKED", "OLD"}  # kinds of what there is to say of a chain for which the list is enough
ALONG = 1e-6  # more than this of an axis counts
ROLES = {"target": Text("Target"), "pole": Text("Pole")}


class FABRIK_MT_chains(bpy.types.Menu):
    """What is done with many chains"""

    bl_label = "Chain Specials"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        menus.draw_parts(context, self.layout, menus.LIST)


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
        told = report_of(item, context)
        name.prop(item, "name", text="", emboss=False, icon=ICONS[told.kind])
        if told.short and Sidebar(context, layout).is_wide:
            hint = row.row(align=True)
            hint.active = False
            hint.alignment = "RIGHT"
            hint.label(text=iface_(told.short))
        if item.pin:
            mark = row.row(align=True)
            mark.alignment = "RIGHT"
            mark.label(icon="PINNED")
        row.prop(item, "enabled", text="")


def _read(scene: bpy.types.Scene) -> int:
    owner = working_rig(bpy.context)
    if owner is None or owner.type != "ARMATURE":
        return 0
    return rig_of(owner).active_index if chain_at_hand(bpy.context) is not None else -1


def _write(scene: bpy.types.Scene, index: int) -> None:
    owner = working_rig(bpy.context)
    if owner is not None and owner.type == "ARMATURE":
        choose(owner, index)


class ListView(View[bpy.types.Scene]):
    """The list of chains as a scene shows it."""

    __slots__ = NO_OTHERS

    list_index = whole(
        "Active Chain",
        "Chain that the panel shows, -1 for none; choosing one makes its target or tip the active bone",
        options={"HIDDEN", "SKIP_SAVE"},
        override=set(),
        get=_read,
        set=_write,
    )


class FABRIK_PT_posing(FabrikPanel):
    """What is used every day, for the limb that is selected or for the whole character"""

    bl_label = "Posing"
    told_at = ("chains", "the-list")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode in {*MODES, "EDIT_ARMATURE"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, owner, sidebar = self.layout, working_rig(context), Sidebar(context, self.layout)
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
            _draw_status(sidebar, None, newer)
            return
        chain = working_chain(context)
        if chain is not None:
            draw_switches(sidebar, owner)
            rows = min(max(ROWS[0], len(rig_of(owner).chains)), ROWS[1])
            at = owner, "fabrik_chains", context.scene, "fabrik_list_index"
            layout.template_list("FABRIK_UL_chains", "", *at, rows=rows, maxrows=rows)
        _draw_goal_notes(sidebar, owner)
        if chain is None:
            column = layout.column()
            column.scale_y = 1.6
            menus.SET_UP.draw(column)
            menus.draw_parts(context, layout, (menus.ADD, menus.CONVERT[0], menus.DRAG))
            if source_for(context, owner) is not None:
                menus.TRANSFER.draw(layout)
            menus.FROM_FILES.draw(layout)
        else:
            chain = chain_at_hand(context)
            _draw_buttons(sidebar, owner, chain)
            if len(rig_of(owner).walker.legs):
                draw_plan(sidebar, owner)
            _draw_notes(sidebar, owner)
        refusal = rig_refusal(owner)
        if refusal or chain is not None:
            _draw_status(sidebar, chain, refusal)
        else:
            _draw_troubles(sidebar, owner)


def _draw_goal_notes(sidebar: Sidebar, owner: bpy.types.Object) -> None:
    """Tell of an armature that follows the goals of the one of which it is a duplicate, with the way out."""
    original = original_of(owner, sidebar.context.view_layer.objects)
    if original is None:
        return
    column = sidebar.box()
    column.wrapped(iface_("Follows the goals of {name}", name=original.name), "INFO")
    menus.SINGLE_USER.draw(column.layout)


def _draw_notes(sidebar: Sidebar, owner: bpy.types.Object) -> None:
    """What was done by hand to the live chains of an armature and what came of it, and which keys are not heard."""
    rig = rig_of(owner)
    if not rig.live:
        return
    for note in live.notes_of(owner):
        sidebar.box().wrapped(iface_(note), "INFO")
    unseen = live.goals_not_rendered(owner, sidebar.context.view_layer)
    if unseen:
        text = iface_("Disabled in renders, which may show limbs as they stood before: {goals}", goals=quoted(unseen))
        sidebar.wrapped(text, "INFO")
    overwritten = live.overwriting_keys(owner)
    if overwritten:
        text = iface_("{chains}: Live goes over the keys of the bones", chains=", ".join(overwritten))
        sidebar.wrapped(text, "INFO")
        for name in overwritten:
            sidebar.layout.prop_enum(
                rig.chains[name], "start", "ANIMATED", text=iface_("Start {chain} from Keys", chain=name)
            )


def _draw_buttons(sidebar: Sidebar, owner: bpy.types.Object, chain: FabrikChain | None) -> None:
    """The buttons of every day: for a chain, or without one for the whole character."""
    layout, context = sidebar.layout, sidebar.context
    if chain is None:
        layout.label(text=label_("Whole Character"), icon="ARMATURE_DATA", translate=False)
    else:
        layout.label(text=chain.name, icon="BONE_DATA", translate=False)
    if not (rig_of(owner).live and is_scene_live(context.scene)):
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("fabrik.solve_all" if chain is None else "fabrik.solve", icon="CON_KINEMATIC")
    row = sidebar.row_for([menus.DRAG.label, menus.PIN.label])
    menus.DRAG.draw(row)
    _draw_pin(context, row, chain)
    word = label_("Key All" if chain is None else "Key")
    row = sidebar.row_for([word, menus.BAKE.label])
    key = row.operator("fabrik.key", text=word, icon="KEY_HLT", translate=False)
    key.chains = "ALL" if chain is None else "ACTIVE"
    menus.BAKE.draw(row)
    if chain is not None:
        target = goal_of(chain, "target")
        if target is not None:
            carrier = space_name(target)
            carrier = iface_("Scene") if carrier == SCENE else carrier
            space = _beside(sidebar, label_("Space"))
            space.menu("FABRIK_MT_space", text=carrier or iface_("Free"), translate=False, icon="CON_CHILDOF")
            if chain.start == "ANIMATED" or is_offset(chain):
                word = next(label for name, label, _ in GOAL_ITEMS if name == chain.goal)
                kind = _beside(sidebar, iface_("Goal"))
                kind.operator_menu_enum("fabrik.goal_kind", "goal", text=iface_(word), translate=False)
        sidebar.settings(chain, ("influence",))


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


def _draw_troubles(sidebar: Sidebar, owner: bpy.types.Object) -> None:
    """What is wrong with chains of the whole character; those that wait for one of these say nothing of their own."""
    own = [chain for chain in rig_of(owner).chains if chain.enabled or chain.status == "REFUSED"]
    every = {chain.name: (waits_for(chain), report_of(chain, sidebar.context)) for chain in own}
    wrong = {name: one for name, one in every.items() if one[1].kind not in FINE}
    told = [(name, one) for name, (before, one) in wrong.items() if before not in wrong]
    column = sidebar.box() if told else sidebar
    for name, one in told[:TROUBLES]:
        column.wrapped(iface_(joined(": ", (name, one.text))), ICONS[one.kind])
    if len(told) > TROUBLES:
        column.layout.label(text=iface_("and {count} more", count=len(told) - TROUBLES), translate=False)


def _draw_status(sidebar: Sidebar, chain: FabrikChain | None, refusal: Message | None) -> None:
    """Why nothing can be posed, or how the last solve ended; two lines at least, so that the panels below stay put."""
    if chain is None and not refusal:
        return
    box = sidebar.box()
    if refusal:
        box.wrapped(capitalised(iface_(refusal)), "ERROR")
        return
    told = report_of(chain, sidebar.context)
    box.wrapped(capitalised(iface_(told.text)), ICONS[told.kind])
    box.wrapped(_measure(sidebar.context.scene, chain, told), "BLANK1")
    if lacks_goal(chain) and not is_of_walker(chain, rig_of(owner_of(chain)).walker):
        box.layout.operator("fabrik.target_add", icon="EMPTY_AXIS")
    if told.holds and chain.message:
        box.wrapped(capitalised(iface_(message_of(chain))), "ERROR")
    hint = hint_of(chain)
    if hint and not (told.holds and hint in chain.message):
        box.wrapped(capitalised(iface_(hint)), "ERROR")


def _measure(scene: bpy.types.Scene, chain: FabrikChain, told: ChainReport) -> str:
    """How far the tip is from its goal now, or was after the last solve; "" where that is not of use."""
    if told.holds:
        return iface_(measure_text(chain, scene))
    if told.distance is None:
        return ""
    return iface_("{distance} off now", distance=length_text(told.distance, scene))


class FABRIK_PT_rigging(FabrikPanel):
    """What is set up once: the list of chains is edited, and all settings stand below it"""

    bl_label = "Rigging"
    bl_order = 1  # below the report of a bake
    bl_options = {"DEFAULT_CLOSED"}
    told_at = ("chains", "the-list")
    needs_chain = False

    def draw(self, context: bpy.types.Context) -> None:
        layout, chain = self.layout, working_chain(context)
        row = Sidebar(context, layout).row_or_column()
        if chain is not None:
            row.prop(chain, "name", text="")
        buttons = row.row(align=True)
        for entry in (menus.ADD, menus.REMOVE, *menus.MOVE):
            entry.draw(buttons, is_icon=True)
        buttons.menu("FABRIK_MT_chains", text="", icon="DOWNARROW_HLT")
        layout.prop(context.scene, "fabrik_live", text="Live in This Scene")


class FABRIK_PT_goal(RiggingPanel):
    """The bones of the active chain, its target and its pole"""

    bl_label = "Bones and Goal"
    told_at = ("chains", "bones-and-goal")

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner = working_chain(context), working_rig(context)
        layout, sidebar = self.layout, Sidebar(context, self.layout)
        _beside(sidebar, iface_("Tip Bone")).prop_search(chain, "tip_bone", owner.pose, "bones", text="")
        _beside(sidebar, iface_("Bones")).prop(chain, "bone_count", text="")
        layout.separator()
        _draw_goal(sidebar, chain, "target")
        if chain.target is None:
            layout.operator("fabrik.target_add", icon="EMPTY_AXIS")
        layout.separator()
        if not chain.aims:  # an aim has no use for a pole
            _draw_goal(sidebar, chain, "pole")
            if chain.pole is None:
                layout.operator("fabrik.pole_add", icon="EMPTY_AXIS")
            else:
                _beside(sidebar, iface_("Pole Angle")).prop(chain, "pole_angle", text="")
                _beside(sidebar, iface_("Fades")).prop(chain, "pole_fades", text="")
            layout.separator()
        row = sidebar.row_or_column()
        row.operator("fabrik.goal_snap", text="Goals to Pose", icon="SNAP_ON")
        row.operator("fabrik.pose_snap", text="Pose to Goals", icon="CON_KINEMATIC")


def _draw_goal(sidebar: Sidebar, chain: FabrikChain, role: str) -> None:
    """A target or pole: the object, a button that picks it, and the bone where it is an armature."""
    goal: bpy.types.Object | None = getattr(chain, role)
    row = _beside(sidebar, iface_(ROLES[role]))
    row.prop(chain, role, text="")
    if goal is not None:
        row.operator("fabrik.goal_select", text="", icon="RESTRICT_SELECT_OFF").role = role
    if goal is not None and goal.type == "ARMATURE" and goal.pose is not None:
        _beside(sidebar, iface_("Bone")).prop_search(chain, f"{role}_bone", goal.pose, "bones", text="")


def _beside(sidebar: Sidebar, name: str) -> bpy.types.UILayout:
    """A row for a setting: its name stands before it, with less room than Blender gives, for those of goals are long;
    or above it, in a narrow sidebar."""
    if not (sidebar.is_wide and sidebar.has_room([name], NAMES)):
        column = sidebar.layout.column(align=True)
        column.label(text=f"{name}:", translate=False)
        return column.row(align=True)
    split = sidebar.layout.split(factor=NAMES)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=name, translate=False)
    return split.row(align=True)


class FABRIK_PT_asked(RiggingPanel):
    """What the goal of the active chain asks: of which end of the tip, how strongly, and of which rotation"""

    bl_label = "Pin and Rotation"
    told_at = ("chains", "what-a-goal-asks")

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        sidebar = Sidebar(context, layout)
        sidebar.choices(chain, "kind", KIND_ITEMS)
        _draw_pin(context, layout, chain)
        if chain.pin and chain.target is None:
            layout.column().prop(chain, "held_location")
        kind = GOAL_KINDS[chain.kind]
        if not kind.aims:
            sidebar.wrapped(iface_("End of the tip at the goal:"), "NONE")
            _draw_choice(sidebar, chain, "effector", EFFECTOR_ITEMS)
            sidebar.wrapped(iface_("Rotation of the tip:"), "NONE")
            _draw_choice(sidebar, chain, "orientation", ORIENTATION_ITEMS)
            if chain.orientation != "FREE":
                sidebar.settings(chain, ("orientation_weight",))
        vectors = [name for name in kind.settings if getattr(chain.bl_rna.properties[name], "is_array", False)]
        for name in vectors:
            layout.column().prop(chain, name)
        unheard = {"soft"} if is_offset(chain) else set()  # a motion goes as far as it goes
        sidebar.settings(chain, [name for name in kind.settings if name not in {*vectors, *unheard}])


def _draw_choice(sidebar: Sidebar, chain: FabrikChain, option: str, items: Sequence[tuple[str, str, str]]) -> None:
    """The buttons that choose an option of the tip by the operator of its name."""
    row = sidebar.row_for([iface_(label) for _, label, _ in items])
    for name, label, _ in items:
        is_on = getattr(chain, option) == name
        button = row.operator(f"fabrik.{option}_set", text=iface_(label), icon=radio(is_on), depress=is_on)
        button.chain = chain.name
        setattr(button, option, name)


class FABRIK_PT_start(RiggingPanel):
    """The pose from which every solve of the active chain starts"""

    bl_label = "Start Pose"
    told_at = ("chains", "start-pose")

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner, sidebar = working_chain(context), working_rig(context), Sidebar(context, self.layout)
        sidebar.choices(chain, "start", START_ITEMS)
        row = sidebar.row_or_column()
        row.operator("fabrik.start_pose_capture", text="Capture", icon="POSE_HLT")
        row.operator("fabrik.start_pose_reset", text="Reset", icon="LOOP_BACK")
        self.layout.prop(owner, "fabrik_auto_capture")
        warning = _start_warning(owner, chain)
        if warning:
            sidebar.wrapped(iface_(warning), "ERROR")
        elif chain.captured and chain.start != "REST":
            bones = counted(len(chain.captured), "1 bone", "{count} bones")
            if chain.start == "CAPTURED":
                text = iface_("Captured pose: {bones}", bones=bones)
            else:
                text = iface_("Captured pose, for bones without keys: {bones}", bones=bones)
            sidebar.wrapped(text, "CHECKMARK")


def _start_warning(owner: bpy.types.Object, chain: FabrikChain) -> str:
    """What is wrong with the start pose, or ""."""
    if chain.start == "CAPTURED" and not chain.captured:
        return Text("Nothing captured yet")
    try:
        stale = chain.start != "REST" and is_stale(chain, resolve_bones(owner, chain))
    except FabrikError:  # the status says so
        return ""
    return Text("Rest pose changed after the capture: capture again or reset") if stale else ""


class FABRIK_PT_limit(RiggingPanel):
    """The joint limit of the active bone"""

    bl_label = "Joint Limit"
    told_at = ("limits", "joint-limits")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.active_pose_bone is not None and not newer_refusal(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        layout, sidebar = self.layout, Sidebar(context, self.layout)
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        sidebar.settings(bone, ("fabrik_limit",))
        _draw_limit(sidebar, bone)
        layout.operator("fabrik.limit_from_bend", icon="MOD_SIMPLEDEFORM").bones = "SELECTED"
        row = sidebar.row_for([menus.Entry(name).label for name in ("fabrik.limit_human", "fabrik.limit_animal")])
        row.operator_menu_enum("fabrik.limit_human", "joint", icon="ARMATURE_DATA")
        row.operator_menu_enum("fabrik.limit_animal", "joint")
        row = sidebar.row_or_column()
        row.operator("fabrik.limit_copy", text="Copy to Selected")
        row.operator("fabrik.limit_mirror", text="Copy Mirrored")
        layout.operator("fabrik.limit_from_ik", text="Copy from IK Limits", icon="CON_KINEMATIC")


def _draw_limit(sidebar: Sidebar, bone: bpy.types.PoseBone) -> None:
    """The settings that the limit's type uses, and what is wrong with them."""
    layout, limit = sidebar.layout, limit_of(bone)
    kind = LIMITS[limit.limit]
    shown = kind.shown(limit)
    for setting in shown:
        if setting.is_vector:
            _draw_vector(sidebar, bone, setting.name)
        elif setting.is_switch:
            layout.prop(bone, f"fabrik_{setting.name}")
    angles = [f"fabrik_{setting.name}" for setting in shown if not (setting.is_vector or setting.is_switch)]
    sidebar.settings(bone, angles)
    if kind.twists:
        layout.prop(bone, "fabrik_use_twist")
        if limit.use_twist:
            sidebar.settings(bone, ("fabrik_twist_min", "fabrik_twist_max"))
    if kind.stiffens:
        sidebar.settings(bone, ("fabrik_stiffness",))
        layout.prop(bone, "fabrik_of_limb")
    try:
        kind.make(limit, IDENTITY)
    except InvalidValueError as error:
        sidebar.wrapped(capitalised(iface_(error.reason)), "ERROR")


def _draw_vector(sidebar: Sidebar, bone: bpy.types.PoseBone, name: str) -> None:
    """A vector of a limit; the axis has buttons besides, which put it along one of the bone's."""
    if name == "axis":
        row = _beside(sidebar, iface_("Along"))
        for i, axis in enumerate("XYZ"):
            row.operator("fabrik.limit_axis", text=axis, depress=is_along(limit_of(bone).axis, i)).axis = axis
    column = sidebar.layout.column(align=True)
    column.use_property_split = True
    column.use_property_decorate = False
    column.prop(bone, f"fabrik_{name}")


def is_along(axis: Sequence[float], index: int) -> bool:
    """Whether an axis points along X, Y or Z, and not against it."""
    return all(value > ALONG if i == index else abs(value) <= ALONG for i, value in enumerate(axis))


class FABRIK_PT_body(RiggingPanel):
    """The bone that moves as the body, and how the body gives way"""

    bl_label = "Body"
    told_at = ("bodies", "the-body")

    def draw(self, context: bpy.types.Context) -> None:
        owner, layout, sidebar = working_rig(context), self.layout, Sidebar(context, self.layout)
        name = rig_of(owner).body_bone
        row = layout.row(align=True)
        row.prop_search(owner, "fabrik_body_bone", owner.pose, "bones", text="")
        row.operator("fabrik.body_bone_set", text="", icon="VIEWZOOM").source = "FIND"
        if name and name not in pose_bones(owner):
            sidebar.wrapped(iface_("There is no bone {name}", name=name), "ERROR")
        column = layout.column()
        column.active = bool(name)
        column.prop(owner, "fabrik_body_stays")
        own = ("fabrik_body_stiffness", "fabrik_spine", "fabrik_balance")
        Sidebar(context, column).settings(owner, own)
        sidebar.settings(owner, ("fabrik_falloff",), texts={"fabrik_falloff": iface_("Drag Falloff")})
        column = layout.column()
        column.active = rig_of(owner).balance > 0.0
        bone = context.active_pose_bone
        if bone is not None and bone.id_data == owner:
            mass = iface_("Mass of {name}", name=bone.name)
            Sidebar(context, column).settings(bone, ("fabrik_mass",), texts={"fabrik_mass": mass})
        column.operator_menu_enum("fabrik.balance_masses", "by", icon="EMPTY_SINGLE_ARROW")


class FABRIK_PT_solver(RiggingPanel):
    """How the active chain is solved"""

    bl_label = "Solver"
    told_at = ("chains", "solver")

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        Sidebar(context, layout).settings(chain, ("tolerance", "max_passes", "restarts"))
        layout.prop(chain, "use_plain")
        if chain.status not in {"NONE", "REFUSED"}:
            layout.label(text=iface_(counted(chain.passes, "1 pass", "{count} passes")), translate=False)
