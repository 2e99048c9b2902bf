# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus and the pie: one list of what stands in them. What is in a menu is found by Blender's search, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import bpy

from ..actions.chain_edit import working_chain, working_rig
from ..overlay.settings import scene_settings
from ..rig.schema import rig_of
from ..translations import CONTEXT, iface_, label_
from .base import Icon, Sidebar

PIE_MENU = "FABRIK_MT_pie"
HOMES = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu", "VIEW3D_MT_object", "VIEW3D_MT_object_context_menu")


Draw: TypeAlias = Callable[[bpy.types.Context, bpy.types.UILayout], None]


@dataclass(frozen=True)
class Entry:
    """An operator in a menu.

    Attributes:
        operator: Its name.
        text: What the entry says; "" for the operator's own label.
        icon: Its icon.
        options: What the operator is called with.
    """

    operator: str
    text: str = ""
    icon: Icon = "NONE"
    options: dict[str, str | bool] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it says, translated."""
        operators: Any = bpy.ops
        return label_(self.text or getattr(operators.fabrik, self.operator.removeprefix("fabrik.")).get_rna_type().name)

    def draw(self, layout: bpy.types.UILayout, *, is_icon: bool = False) -> Any:
        """Draw it as the next thing in a layout, or its icon alone; the options with which its operator is called."""
        said: Any = {"text": ""} if is_icon else {"text": self.text} if self.text else {}
        options = layout.operator(self.operator, **said, icon=self.icon)
        for name, value in self.options.items():
            setattr(options, name, value)
        return options


Part: TypeAlias = Entry | str | Draw  # what stands in one place: an operator, a menu by its class, or anything else


def line(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """A line between entries."""
    layout.separator()


def live(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The switch of the armature; an empty place in a pie, and a line in a menu, where there is none."""
    owner = working_rig(context)
    if owner is None or owner.type != "ARMATURE":
        layout.separator()
    else:
        layout.prop(owner, "fabrik_live", text="Live", icon="DECORATE_DRIVER")


def overlay(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The switch of the overlay."""
    layout.prop(scene_settings(context.scene), "show", icon="OVERLAY")


def through_time(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The switch of edits through time."""
    layout.prop(context.scene, "fabrik_through_time", icon="PROP_ON")


def begin(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The button to begin with: set up the character, or add a chain where there are some."""
    (SET_UP if working_chain(context) is None else ADD).draw(layout)


def draw_row(sidebar: Sidebar, *entries: Entry) -> None:
    """Draw entries beside each other, or below one another where there is no room."""
    row = sidebar.row_for([entry.label for entry in entries])
    for entry in entries:
        entry.draw(row)


def draw_parts(context: bpy.types.Context, layout: bpy.types.UILayout, parts: Sequence[Part]) -> None:
    """Draw parts one below the other, or one a place of a pie."""
    for part in parts:
        if isinstance(part, Entry):
            part.draw(layout)
        elif isinstance(part, str):
            layout.menu(part)
        else:
            part(context, layout)


DRAG = Entry("fabrik.drag", icon="VIEW_PAN")
SOLVE = Entry("fabrik.solve", icon="CON_KINEMATIC")
SET_UP = Entry("fabrik.character_setup", icon="OUTLINER_OB_ARMATURE")
ADD = Entry("fabrik.chain_add", icon="ADD")
BAKE = Entry("fabrik.bake", icon="KEYFRAME_HLT")
KEYS = (
    Entry("fabrik.key", "Key Pose", "KEY_HLT", {"chains": "ALL"}),
    Entry("fabrik.key", "Key Limb", options={"chains": "ACTIVE"}),
)
FLIP = Entry("fabrik.flip_pose", icon="MOD_MIRROR"), Entry("fabrik.mirror_pose")
GOALS_TO_POSE = Entry("fabrik.goal_snap", "Goals to Pose", "SNAP_ON")
MIRROR = Entry("fabrik.chain_mirror", icon="MOD_MIRROR")
MOVE = (
    Entry("fabrik.chain_move", "Move Chain Up", "TRIA_UP", {"direction": "UP"}),
    Entry("fabrik.chain_move", "Move Chain Down", "TRIA_DOWN", {"direction": "DOWN"}),
)
REMOVE = Entry("fabrik.chain_remove", icon="REMOVE")
REMOVE_ALL = Entry("fabrik.chain_remove_all", icon="X")
CLEAR = Entry("fabrik.rig_clear", icon="TRASH")
SINGLE_USER = Entry("fabrik.goals_single_user", icon="DUPLICATE")
APPLY = Entry("fabrik.edits_apply", icon="CHECKMARK")
CONTACTS = Entry("fabrik.contacts_find", icon="VIEWZOOM"), Entry("fabrik.contacts_clean", icon="BRUSH_DATA")
MARK, STAND = Entry("fabrik.contact_mark", icon="MARKER_HLT"), Entry("fabrik.contact_place", icon="PINNED")
SPREAD, TWEEN = Entry("fabrik.time_spread", icon="PROP_ON"), Entry("fabrik.goals_tween", icon="IPO_EASE_IN_OUT")
SHOW_TRAILS, HIDE_TRAILS = Entry("fabrik.trails_show", icon="ANIM_DATA"), Entry("fabrik.trails_hide", icon="X")
EDIT_CLIP = Entry("fabrik.motion_smooth", icon="MOD_SMOOTH"), Entry("fabrik.motion_mirror", icon="MOD_MIRROR")
COPY_CLIP = Entry("fabrik.motion_copy", icon="COPYDOWN"), Entry("fabrik.motion_paste", icon="PASTEDOWN")
TRANSFER = Entry("fabrik.motion_transfer", icon="ARMATURE_DATA")
FROM_FILES = Entry("fabrik.motion_from_files", icon="FILE_FOLDER")
SWITCHES = Entry("fabrik.limb_to_ik", icon="CON_KINEMATIC"), Entry("fabrik.limb_to_fk", icon="BONE_DATA")
PIN = Entry("fabrik.pin_toggle", icon="PINNED")
HINGES = Entry("fabrik.limit_from_bend", "Hinges from Bend of Chain", "NONE", {"bones": "CHAIN"})
CONVERT = Entry("fabrik.from_ik", icon="CON_KINEMATIC"), Entry("fabrik.to_ik", icon="CONSTRAINT_BONE")
SNAP_ALL = (
    Entry("fabrik.goal_snap", "All Goals to Pose", "NONE", {"chains": "ALL"}),
    Entry("fabrik.pose_snap", "Pose to All Goals", "NONE", {"chains": "ALL"}),
)

MAPPING = Entry("fabrik.mapping_export", icon="EXPORT"), Entry("fabrik.mapping_import", icon="IMPORT")
REPORT = Entry("fabrik.report_copy", icon="COPYDOWN"), Entry("fabrik.report_clear", icon="X")
RECORD, PLAY = Entry("fabrik.record", icon="REC"), Entry("fabrik.steps_play", icon="PLAY")
BACK = (
    Entry("fabrik.step", "First Step", "REW", {"to": "FIRST"}),
    Entry("fabrik.step", "Step Back", "FRAME_PREV", {"to": "BACK"}),
)
ON = (
    Entry("fabrik.step", "Step Forward", "FRAME_NEXT", {"to": "FORWARD"}),
    Entry("fabrik.step", "Last Step", "FF", {"to": "LAST"}),
)
CYCLE = Entry("fabrik.cycle_export", icon="EXPORT"), Entry("fabrik.cycle_import", icon="IMPORT")
# Behind the arrow beside the list: all of it stands in the menus above, too.
LIST: Sequence[Part] = (MIRROR, line, *CONVERT, line, *SNAP_ALL, SINGLE_USER, line, HINGES, line, REMOVE_ALL, CLEAR)
# From the left against the clock as Blender fills a pie: west, east, south, north, and the corners from the north-west.
PIE: Sequence[Part] = (SOLVE, DRAG, BAKE, live, begin, overlay, GOALS_TO_POSE, PIN)


class FabrikMenu(bpy.types.Menu):
    """A menu that is made of entries."""

    bl_translation_context = CONTEXT
    parts: Sequence[Part] = ()

    def draw(self, context: bpy.types.Context) -> None:
        draw_parts(context, self.layout, self.parts)


class FABRIK_MT_main(FabrikMenu):
    """Pose limbs by inverse kinematics"""

    bl_label = "FABRIK"
    parts = (
        DRAG,
        SOLVE,
        Entry("fabrik.solve_all"),
        live,
        overlay,
        line,
        SET_UP,
        ADD,
        *KEYS,
        BAKE,
        line,
        *FLIP,
        line,
        "FABRIK_MT_chain",
        "FABRIK_MT_goals",
        "FABRIK_MT_space",
        "FABRIK_MT_motion",
        "FABRIK_MT_body",
        "FABRIK_MT_walker",
        "FABRIK_MT_start_pose",
        "FABRIK_MT_limit",
        "FABRIK_MT_report",
        "FABRIK_MT_steps",
        line,
        Entry("fabrik.manual", icon="HELP"),
    )


class FABRIK_MT_chain(FabrikMenu):
    """Mirror, reorder, convert and remove chains"""

    bl_label = "Chain"
    parts = (
        MIRROR,
        *MOVE,
        line,
        *CONVERT,
        line,
        *MAPPING,
        line,
        REMOVE,
        REMOVE_ALL,
        CLEAR,
    )


class FABRIK_MT_goals(FabrikMenu):
    """Targets and poles"""

    bl_label = "Target and Pole"
    parts = (
        Entry("fabrik.target_add", icon="EMPTY_AXIS"),
        Entry("fabrik.pole_add", icon="EMPTY_AXIS"),
        line,
        Entry("fabrik.goal_select", "Select Target", "RESTRICT_SELECT_OFF", {"role": "target"}),
        Entry("fabrik.goal_select", "Select Pole", "NONE", {"role": "pole"}),
        Entry("fabrik.back_to_pose", icon="POSE_HLT"),
        line,
        GOALS_TO_POSE,
        Entry("fabrik.pose_snap", "Pose to Goals"),
        *SNAP_ALL,
        line,
        *SWITCHES,
        line,
        SINGLE_USER,
    )


class FABRIK_MT_motion(FabrikMenu):
    """Edits over motion, and contacts of feet"""

    bl_label = "Motion"
    parts = (
        Entry("fabrik.goal_kind", "Target Tells a Place", "NONE", {"goal": "PLACE"}),
        Entry("fabrik.goal_kind", "Target Tells an Offset from the Motion", "NONE", {"goal": "OFFSET"}),
        APPLY,
        Entry("fabrik.layer_add", icon="ADD"),
        line,
        through_time,
        SPREAD,
        TWEEN,
        SHOW_TRAILS,
        HIDE_TRAILS,
        line,
        *CONTACTS,
        MARK,
        STAND,
        line,
        *EDIT_CLIP,
        *COPY_CLIP,
        Entry("fabrik.motion_paste", "Paste Motion Flipped", "NONE", {"flipped": True}),
        TRANSFER,
        FROM_FILES,
    )


class FABRIK_MT_body(FabrikMenu):
    """Pins, rotations of tips, and the bone that moves as the body"""

    bl_label = "Pins and Body"
    parts = (
        PIN,
        Entry("fabrik.pin_toggle", "Pin Active Chain", "NONE", {"which": "ACTIVE"}),
        Entry("fabrik.pin_toggle", "Pin All Enabled Chains", "NONE", {"which": "ALL", "action": "PIN"}),
        Entry("fabrik.pin_toggle", "Free All Enabled Chains", "UNPINNED", {"which": "ALL", "action": "FREE"}),
        line,
        Entry("fabrik.orientation_set", "Keep Rotation of Tip", "ORIENTATION_GLOBAL", {"orientation": "KEEP"}),
        Entry("fabrik.orientation_set", "Turn Tip with Target", "NONE", {"orientation": "TARGET"}),
        Entry("fabrik.orientation_set", "Free Rotation of Tip", "NONE", {"orientation": "FREE"}),
        line,
        Entry("fabrik.effector_set", "Goal for Head of Tip", "NONE", {"effector": "HEAD"}),
        Entry("fabrik.effector_set", "Goal for Tail of Tip", "NONE", {"effector": "TAIL"}),
        line,
        Entry("fabrik.body_bone_set", "Find Body Bone", "ARMATURE_DATA", {"source": "FIND"}),
        Entry("fabrik.body_bone_set", "Active Bone as Body Bone", "NONE", {"source": "ACTIVE"}),
        Entry("fabrik.body_bone_set", "No Body Bone", "NONE", {"source": "NONE"}),
        line,
        Entry("fabrik.balance_masses", "Fill Masses of a Human", "NONE", {"by": "PARTS"}),
        Entry("fabrik.balance_masses", "Fill Masses by Length", "NONE", {"by": "LENGTH"}),
        Entry("fabrik.balance_masses", "Clear Masses", "NONE", {"by": "NONE"}),
    )


class FABRIK_MT_space(FabrikMenu):
    """What target and pole of the chain go along with, and what a hand holds"""

    bl_label = "Space"
    parts = (
        Entry("fabrik.goal_space", "Goals on What Carries the Limb", "CON_CHILDOF", {"space": "LIMB"}),
        Entry("fabrik.goal_space", "Pole on the Limb Itself", "NONE", {"space": "SWING"}),
        Entry("fabrik.goal_space", "Goals on Body Bone", "NONE", {"space": "BODY"}),
        Entry("fabrik.goal_space", "Goals on Selected Bone", "NONE", {"space": "SELECTED"}),
        Entry("fabrik.goal_space", "Goals on Other Object", "NONE", {"space": "OBJECT"}),
        Entry("fabrik.goal_space", "Goals in the Armature", "ARMATURE_DATA", {"space": "ARMATURE"}),
        Entry("fabrik.goal_space", "Goals in the Scene", "SCENE_DATA", {"space": "SCENE"}),
        line,
        Entry("fabrik.grab", "Grab Object with Hand", "VIEW_PAN", {"way": "HAND"}),
        Entry("fabrik.release", "Release Hand", "NONE", {"way": "HAND"}),
        Entry("fabrik.grab", "Give Object to Hand", "OBJECT_DATA", {"way": "OBJECT"}),
        Entry("fabrik.release", "Take Object from Hand", "NONE", {"way": "OBJECT"}),
    )


class FABRIK_MT_walker(FabrikMenu):
    """Legs that step as the body goes along its path"""

    bl_label = "Walker"
    parts = (
        Entry("fabrik.walker_add", icon="ADD"),
        Entry("fabrik.walk_style", icon="PRESET"),
        *CYCLE,
        Entry("fabrik.walk_plan", icon="PLAY"),
        Entry("fabrik.walk_by_hand", icon="VIEW_PAN"),
        Entry("fabrik.walk_by_hand", "Walk by Hand and Record", "REC", {"record": True}),
        Entry("fabrik.walk_bake", "Bake Walk into Goals", "KEYFRAME_HLT", {"into": "GOALS"}),
        Entry("fabrik.walk_bake", "Bake Walk into Bones", "NONE", {"into": "BONES"}),
        Entry("fabrik.walk_mark", icon="MARKER_HLT"),
        Entry("fabrik.walker_remove", icon="X"),
    )


class FABRIK_MT_start_pose(FabrikMenu):
    """The pose from which every solve starts"""

    bl_label = "Start Pose"
    parts = (
        Entry("fabrik.start_pose_capture", icon="POSE_HLT"),
        Entry("fabrik.start_pose_capture", "Capture Start Pose of All Chains", "NONE", {"use_all": True}),
        Entry("fabrik.start_pose_reset", icon="LOOP_BACK"),
        Entry("fabrik.start_pose_reset", "Reset Start Pose of All Chains", "NONE", {"use_all": True}),
        line,
    )


class FABRIK_MT_limit(FabrikMenu):
    """Joint limits of the active and the selected bones"""

    bl_label = "Joint Limit"
    parts = (
        "FABRIK_MT_human_joint",
        "FABRIK_MT_animal_joint",
        line,
        Entry("fabrik.limit_from_bend", "Hinge from Bend", "MOD_SIMPLEDEFORM", {"bones": "SELECTED"}),
        HINGES,
        Entry("fabrik.limit_axis", "Hinge Axis X", "NONE", {"axis": "X"}),
        Entry("fabrik.limit_axis", "Hinge Axis Y", "NONE", {"axis": "Y"}),
        Entry("fabrik.limit_axis", "Hinge Axis Z", "NONE", {"axis": "Z"}),
        line,
        Entry("fabrik.limit_copy", icon="COPYDOWN"),
        Entry("fabrik.limit_mirror"),
        Entry("fabrik.limit_from_ik", icon="CON_KINEMATIC"),
    )


class FABRIK_MT_human_joint(FabrikMenu):
    """Give the selected bones the range of a human joint"""

    bl_label = "Human Joint"
    parts = (lambda _, layout: layout.operator_enum("fabrik.limit_human", "joint"),)


class FABRIK_MT_animal_joint(FabrikMenu):
    """Give the selected bones the range of a joint of an animal's leg"""

    bl_label = "Animal Joint"
    parts = (lambda _, layout: layout.operator_enum("fabrik.limit_animal", "joint"),)


class FABRIK_MT_report(FabrikMenu):
    """The report of the last bake"""

    bl_label = "Bake Report"
    parts = REPORT


class FABRIK_MT_steps(FabrikMenu):
    """A solve pass by pass"""

    bl_label = "Step by Step"
    parts = (RECORD, PLAY, *BACK, *ON, Entry("fabrik.record_clear", icon="X"))


class FABRIK_MT_pie(bpy.types.Menu):
    """What is used most"""

    bl_label = "FABRIK"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        draw_parts(context, self.layout.menu_pie(), PIE)


PATHS = ("OBJECT_PT_motion_paths", "DATA_PT_motion_paths")  # panels of Blender's own


def draw_beside_paths(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    """That Blender's motion paths see nothing of live posing, and what does."""
    owner = context.object
    if owner is not None and owner.type == "ARMATURE" and rig_of(owner).live:
        text = iface_("Motion paths don't see what live posing does: trails do")
        Sidebar(context, panel.layout).wrapped(text, "INFO")
        SHOW_TRAILS.draw(panel.layout)


def _draw_in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Our menu at the end of one of Blender's; in Object mode only where there is a rig to work on."""
    owner = working_rig(context)
    if owner is not None and owner.type == "ARMATURE":
        menu.layout.separator()
        menu.layout.menu("FABRIK_MT_main", icon="CON_KINEMATIC")
        if menu.bl_idname == "VIEW3D_MT_pose":
            draw_parts(context, menu.layout, FLIP)


DRAWN = dict.fromkeys(HOMES, _draw_in_menu) | dict.fromkeys(PATHS, draw_beside_paths)  # at the ends of Blender's own
