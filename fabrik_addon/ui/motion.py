# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of motion, bakes, walkers and a solve step by step, and the switches of live posing and the overlay.

That of motion is for characters that have some. Beside Blender's motion paths stands what these don't see.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..actions.bake import read_report
from ..actions.chain_edit import chain_at_hand, working_chain, working_rig
from ..actions.motion.transfer import source_for
from ..actions.status import STATUS_TEXTS, length_text
from ..actions.walk.plan import planned_frames, refused_ahead, what_is_old
from ..gait.gaits import CLIP
from ..overlay.settings import OPTIONS, scene_settings, state
from ..overlay.steps import STEP_TEXTS, current_step
from ..rig.animation.compat import fcurves_of
from ..rig.bones import pose_bones
from ..rig.goals import goal_of, is_offset
from ..rig.schema import PREFIX, Changes, is_scene_live, rig_of
from ..rig.schema.limit import CONTACT
from ..texts import capitalised, counted
from ..translations import CONTEXT, iface_
from .base import (
    FabrikPanel,
    Icon,
    RiggingPanel,
    check,
    draw_settings,
    draw_wrapped,
    operator_labels,
    radio,
    row_after,
    row_for,
    row_or_column,
)

PATHS = ("OBJECT_PT_motion_paths", "DATA_PT_motion_paths")  # panels of Blender's own


def has_motion(owner: bpy.types.Object) -> bool:
    """Whether an armature plays anything, or has controls that edit what it plays."""
    data = owner.animation_data
    plays = data is not None and (len(data.nla_tracks) > 0 or bool(fcurves_of(owner)))
    return plays or any(map(is_offset, rig_of(owner).chains))


def draw_contacts(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """What is done with single contacts, and whether they are drawn along timelines."""
    settings = scene_settings(context.scene)
    row = row_for(context, layout, [*operator_labels("contact_mark", "contact_place"), iface_("Contacts")])
    row.operator("fabrik.contact_mark", icon="MARKER_HLT")
    row.operator_menu_enum("fabrik.contact_place", "at", icon="PINNED")
    row.prop(settings, "show_contacts", icon=check(settings.show_contacts), toggle=True)


class FABRIK_PT_motion(FabrikPanel):
    """What is done with motion: edits over it, contacts, trails, and the way from goals to bones and back"""

    bl_label = "Motion"
    told_at = ("motion", "motion-below-goals-above")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and (
            has_motion(working_rig(context)) or source_for(context, working_rig(context)) is not None
        )

    def draw(self, context: bpy.types.Context) -> None:
        layout, owner, chain = self.layout, working_rig(context), chain_at_hand(context)
        scene = context.scene
        if source_for(context, owner) is not None:
            layout.operator("fabrik.motion_transfer", icon="ARMATURE_DATA")
        if not has_motion(owner):
            return
        if any(map(is_offset, rig_of(owner).chains)):
            row = row_for(context, layout, [iface_("Edits"), *operator_labels("edits_apply")])
            row.prop(owner, "fabrik_edits", icon="ACTION_TWEAK", toggle=True)
            row.operator("fabrik.edits_apply", icon="CHECKMARK")
            _draw_layers(layout, owner)
        row = row_for(context, layout, [iface_("Through Time"), iface_("Width")])
        row.prop(scene, "fabrik_through_time", icon=check(getattr(scene, "fabrik_through_time")), toggle=True)
        row.prop(scene, "fabrik_time_width")
        row = row_for(context, layout, operator_labels("goals_tween", "time_spread"))
        row.operator("fabrik.goals_tween", icon="IPO_EASE_IN_OUT").chains = "ALL" if chain is None else "ACTIVE"
        row.operator("fabrik.time_spread", icon="PROP_ON")
        if chain is not None and goal_of(chain, "target") is not None and not is_offset(chain):
            row = row_for(context, layout, operator_labels("limb_to_ik", "limb_to_fk"))
            row.operator("fabrik.limb_to_ik", icon="CON_KINEMATIC")
            row.operator("fabrik.limb_to_fk", icon="BONE_DATA")
        layout.separator()
        row = row_for(context, layout, operator_labels("trails_show", "trails_hide"))
        row.operator("fabrik.trails_show", icon="ANIM_DATA")
        if state.trails:
            row.operator("fabrik.trails_hide", icon="X")
        row = row_for(context, layout, operator_labels("contacts_find", "contacts_clean"))
        row.operator("fabrik.contacts_find", icon="VIEWZOOM")
        row.operator("fabrik.contacts_clean", icon="BRUSH_DATA")
        draw_contacts(context, layout)
        is_edited = chain is not None and is_offset(chain)
        if is_edited and chain.pin and chain.tip_bone in pose_bones(owner):  # a leg whose foot stands
            draw_settings(context, layout, pose_bones(owner)[chain.tip_bone], (CONTACT,), keys=True)
        layout.separator()
        row = row_for(context, layout, operator_labels("motion_smooth", "motion_mirror"))
        row.operator("fabrik.motion_smooth", icon="MOD_SMOOTH")
        row.operator("fabrik.motion_mirror", icon="MOD_MIRROR")
        row = row_for(context, layout, operator_labels("motion_copy", "motion_paste"))
        row.operator("fabrik.motion_copy", icon="COPYDOWN")
        row.operator("fabrik.motion_paste", icon="PASTEDOWN")


def _draw_layers(layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """The layers of edits, the one above the others on top, and the button that makes them."""
    rig = rig_of(owner)
    column = layout.column(align=True)
    column.enabled = rig.edits
    for layer in reversed([*rig.layers]):
        row = column.row(align=True)
        row.operator("fabrik.layer_choose", text="", icon=radio(layer.key == rig.layer)).layer = layer.name
        row.prop(layer, "name", text="")
        row.prop(layer, "influence", text="")
        row.prop(layer, "enabled", text="", icon=check(layer.enabled))
        if len(rig.layers) > 1:
            row.operator("fabrik.layer_remove", text="", icon="X").layer = layer.name
    column.operator("fabrik.layer_add", icon="ADD")


def draw_beside_paths(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    """That Blender's motion paths see nothing of live posing, and what does."""
    owner = context.object
    if owner is None or owner.type != "ARMATURE" or not rig_of(owner).live:
        return
    text = iface_("Motion paths don't see what live posing does: trails do")
    draw_wrapped(context, panel.layout, text, "INFO")
    panel.layout.operator("fabrik.trails_show", icon="ANIM_DATA")


SHOWN = 8  # chains of which the panel tells
LEFT = 1e-3  # degrees beyond a limit that are not told: what rounding makes of it
RUNS = 3  # runs of frames of a chain of which it tells
# Pixels at scale 1.
UNIT = 20.0  # of the interface
BUTTONS = 3 * UNIT  # behind what is told of all chains
FRAME = 2.5 * UNIT  # the button with a frame


class FABRIK_PT_bake(FabrikPanel):
    """What came of the last bake: how its keys play"""

    bl_label = "Bake Report"
    told_at = ("baking", "the-report")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bool(rig_of(working_rig(context)).bake_report)

    def draw(self, context: bpy.types.Context) -> None:
        report = read_report(working_rig(context))
        if report is not None:
            _draw_report(context, self.layout, report)


def _draw_report(context: bpy.types.Context, layout: bpy.types.UILayout, report: dict[str, Any]) -> None:
    """What came of the last bake: a line for each chain, those that missed frames first."""
    chains = sorted(report["chains"], key=lambda chain: -chain["unreached_count"])
    count = len(chains)
    keys = sum(chain["keys"] for chain in chains)
    text = iface_("{chains}, {keys} keys", chains=counted(count, "1 chain", "{count} chains"), keys=keys)
    header = row_after(context, layout, text, BUTTONS, "NONE")
    settings = scene_settings(context.scene)
    header.prop(settings, "show_strip", text="", icon="HIDE_OFF" if settings.show_strip else "HIDE_ON")
    header.operator("fabrik.report_copy", text="", icon="COPYDOWN")
    header.operator("fabrik.report_clear", text="", icon="X")
    active = working_chain(context).name
    shown = sorted(chains, key=lambda chain: chain["chain"] != active)[:1]
    shown += [chain for chain in chains if chain not in shown][: SHOWN - 1]
    for chain in shown:
        _draw_chain(context, layout.box().column(align=True), chain)
    if count > len(shown):
        layout.label(text=iface_("and {count} more", count=count - len(shown)))


def _draw_chain(context: bpy.types.Context, column: bpy.types.UILayout, chain: dict[str, Any]) -> None:
    missed = chain["unreached_count"]
    text = iface_(
        "{chain}: {keys} keys, {frames} frames", chain=chain["chain"], keys=chain["keys"], frames=chain["frames"]
    )
    draw_wrapped(context, column, text, "ERROR" if missed else "CHECKMARK")
    if chain["worst_tip_error"] is not None:
        text = iface_("Tip error {error:.1e} of length", error=chain["worst_tip_error"])
        _draw_place(context, column, text, chain["worst_tip_error_frame"])
    if chain.get("worst_tip_turn_degrees") is not None:
        text = iface_("Rotation off by {angle:.2g}°", angle=chain["worst_tip_turn_degrees"])
        _draw_place(context, column, text, chain["worst_tip_turn_frame"])
    if chain["worst_violation_degrees"] > LEFT:
        text = iface_("Limits left by {angle:.2g}°", angle=chain["worst_violation_degrees"])
        draw_wrapped(context, column, text, "BLANK1")
    text = iface_("Largest turn {angle:.3g}°", angle=chain["worst_turn_degrees"])
    _draw_place(context, column, text, chain["worst_turn_frame"])
    for run in chain["unreached"][:RUNS]:
        first, last = run["first"], run["last"]
        span = f"{first:g}" if first == last else iface_("{first:g} to {last:g}", first=first, last=last)
        _draw_place(context, column, f"{span}: {iface_(STATUS_TEXTS[run['status']])}", first)
    if len(chain["unreached"]) > RUNS:
        draw_wrapped(context, column, iface_("{count} frames not reached in all", count=missed), "BLANK1")


def _draw_place(context: bpy.types.Context, column: bpy.types.UILayout, text: str, frame: float) -> None:
    """What there is to say, and a button that goes to its frame."""
    row = row_after(context, column, text, FRAME, "BLANK1")
    button = row.row(align=True)
    button.ui_units_x = FRAME / UNIT
    button.operator("fabrik.report_frame", text=f"{frame:g}").frame = frame


STYLE = ("pace", "stride_scale", "step_width", "body_height", "bounce", "body_sway", "arm_swing", "lean", "energy")
DETAILS = (
    ("step_height", "clearance", "swing_curve"),
    ("body_carry", "body_tilt", "foot_tilt", "heel_toe"),
    ("prediction", "step_trigger"),
    ("gravity", "acceleration", "slope_max", "ground_height"),
)
BY_HAND = "CUSTOM"


class FABRIK_PT_walker(RiggingPanel):
    """Legs that step as the body goes along its path"""

    bl_label = "Walker"
    told_at = ("walkers", "walkers")
    needs_chain = False

    def draw(self, context: bpy.types.Context) -> None:
        owner, layout = working_rig(context), self.layout
        walker = rig_of(owner).walker
        if not len(walker.legs):
            layout.operator("fabrik.walker_add", icon="ADD")
            return
        draw_plan(context, layout, owner)
        row = layout.row(align=True)
        row.operator("fabrik.walk_by_hand", icon="VIEW_PAN").record = False
        row.operator("fabrik.walk_by_hand", text="", icon="REC").record = True
        own = {BY_HAND: ("duty",), CLIP: ("clip", "fast_clip")}.get(walker.gait, ())
        first = ("gait", *own, "terrain")
        draw_settings(context, layout, owner, [PREFIX + name for name in first], keys=True)
        row = layout.row(align=True)
        row.operator_menu_enum("fabrik.walk_style", "style", icon="PRESET")
        row.operator("fabrik.cycle_export", text="", icon="EXPORT")
        row.operator("fabrik.cycle_import", text="", icon="IMPORT")
        draw_settings(context, layout, owner, [PREFIX + name for name in STYLE], keys=True)
        layout.operator_menu_enum("fabrik.walk_bake", "into", icon="KEYFRAME_HLT")
        layout.operator("fabrik.walk_mark", icon="MARKER_HLT")
        layout.operator("fabrik.walker_remove", icon="X")


class WalkerPart(RiggingPanel):
    """A part of the panel of a walker."""

    bl_parent_id = "FABRIK_PT_walker"
    needs_chain = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and len(rig_of(working_rig(context)).walker.legs) > 0


class FABRIK_PT_walk_details(WalkerPart):
    """All else that decides how it walks"""

    bl_label = "Details"
    told_at = ("walkers", "settings")

    def draw(self, context: bpy.types.Context) -> None:
        owner = working_rig(context)
        for names in DETAILS:
            draw_settings(context, self.layout, owner, [PREFIX + name for name in names], keys=True)


_known: dict[object, str] = {}  # what was found at the last redraw, by whose walk it is and the count of changes


def _what_is_old(owner: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """`what_is_old`, which goes through all keys and the ground, anew where anything changed since the last redraw."""
    asked = (owner.session_uid, scene.session_uid, rig_of(owner).walker.inputs, state.revision, Changes.count)
    if asked not in _known:
        _known.clear()
        _known[asked] = what_is_old(owner, scene)
    return _known[asked]


def draw_plan(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """The button that plans, the switch, and what is planned."""
    frames = planned_frames(owner)
    row = layout.row(align=True)
    row.operator("fabrik.walk_plan", icon="FILE_REFRESH" if frames else "PLAY")
    if frames is None:
        layout.label(text="Not planned yet", icon="INFO")
        return
    row.prop(owner, f"{PREFIX}on", text="", icon="HIDE_OFF" if rig_of(owner).walker.on else "HIDE_ON")
    draw_contacts(context, layout)
    old = _what_is_old(owner, context.scene)
    if old:
        draw_wrapped(context, layout, capitalised(iface_(old)), "ERROR")
    else:
        text = iface_("Frames {first} to {last}", first=frames[0], last=frames[1])
        layout.label(text=text, icon="CHECKMARK")
    refused = refused_ahead(owner, context.scene.frame_current_final)
    if refused:
        draw_wrapped(context, layout, iface_(refused), "CANCEL")


class FABRIK_PT_walk_leg(WalkerPart):
    """The legs of the walker"""

    bl_label = "Legs"
    told_at = ("walkers", "legs")

    def draw(self, context: bpy.types.Context) -> None:
        owner, layout = working_rig(context), self.layout
        walker, chains = rig_of(owner).walker, rig_of(owner).chains
        for leg in walker.legs:
            box = layout.box()
            chain = chains.get(leg.name)
            is_there = chain is not None and chain.tip_bone in pose_bones(owner)
            box.label(text=leg.name, icon="BONE_DATA" if is_there else "ERROR", translate=False)
            row = row_or_column(context, box)
            row.prop(leg, "group")
            sub = row.row(align=True)
            sub.active = walker.gait == BY_HAND
            sub.prop(leg, "offset")
            row_or_column(context, box).prop(leg, "home")


WAYS: tuple[tuple[str, Icon], ...] = (
    ("FIRST", "REW"),
    ("BACK", "FRAME_PREV"),
    ("", "PLAY"),
    ("FORWARD", "FRAME_NEXT"),
    ("LAST", "FF"),
)


def draw_switches(context: bpy.types.Context, layout: bpy.types.UILayout, owner: bpy.types.Object) -> None:
    """Live posing of this armature, that of the scene where it is off, and the overlay."""
    both = row_or_column(context, layout)
    row = both.row(align=True)
    live = row.row(align=True)
    live.active = is_scene_live(context.scene)
    live.prop(owner, "fabrik_live", text="Live", icon=check(rig_of(owner).live), toggle=True)
    if not live.active:
        row.prop(context.scene, "fabrik_live", text="", icon="PAUSE")
    both.separator()
    row = both.row(align=True)
    settings = scene_settings(context.scene)
    row.prop(settings, "show", icon=check(settings.show), toggle=True)
    arrow = row.row(align=True)
    arrow.ui_units_x = 1.0
    arrow.popover("FABRIK_PT_overlay", text="")


class FABRIK_PT_overlay(bpy.types.Panel):
    """Which parts of the overlay are shown"""

    bl_label = "FABRIK Overlay"
    bl_translation_context = CONTEXT
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_options = {"INSTANCED"}

    def draw(self, context: bpy.types.Context) -> None:
        settings = scene_settings(context.scene)
        column = self.layout.column(align=True)
        column.prop(settings, "show_pins")
        column.separator()
        column.prop(settings, "show")
        column = column.column(align=True)
        column.active = settings.show
        column.prop(settings, "show_walk")
        for name in OPTIONS:
            column.prop(settings, name)


class FABRIK_PT_steps(RiggingPanel):
    """A recorded solve of the active chain, pass by pass"""

    bl_label = "Step by Step"
    told_at = ("steps", "step-by-step")

    def draw(self, context: bpy.types.Context) -> None:
        layout, manager = self.layout, context.window_manager
        layout.operator("fabrik.record", icon="REC")
        found = current_step(manager)
        if found is None:
            return
        recording, step, index, count = found
        row = layout.row(align=True)
        for to, icon in WAYS:
            if to:
                row.operator("fabrik.step", text="", icon=icon).to = to
            else:
                row.operator("fabrik.steps_play", text="", icon=icon)
        row.operator("fabrik.record_clear", text="Exit", icon="X")
        layout.prop(manager, "fabrik_by_joint")
        layout.prop(manager, "fabrik_step", slider=False)
        text = iface_(
            "{chain}: {number} of {count}, {step}",
            chain=recording.chain,
            number=index + 1,
            count=count,
            step=STEP_TEXTS[step.name],
        )
        draw_wrapped(context, layout, text, "NONE")
        layout.label(text=iface_("{distance} off", distance=length_text(step.error, context.scene)))


CLASSES = (
    FABRIK_PT_motion,
    FABRIK_PT_bake,
    FABRIK_PT_walker,
    FABRIK_PT_walk_details,
    FABRIK_PT_walk_leg,
    FABRIK_PT_overlay,
    FABRIK_PT_steps,
)
