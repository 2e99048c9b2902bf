# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of motion, bakes, walkers and a solve step by step, and the switches of live posing and the overlay.

That of motion is for characters that have some.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy

from ..actions.bake import read_report
from ..actions.chain_edit import chain_at_hand, working_chain, working_rig
from ..actions.motion.transfer import source_for
from ..actions.status import STATUS_TEXTS
from ..actions.walk.plan import planned_frames, refused_ahead, what_is_old
from ..gait.gaits import CLIP
from ..overlay.settings import OPTIONS, scene_settings, state
from ..overlay.view import caption, current_step
from ..rig.animation.compat import fcurves_of
from ..rig.bones import pose_bones
from ..rig.goals import goal_of, is_offset
from ..rig.schema import PREFIX, Changes, is_scene_live, rig_of
from ..rig.schema.limit import CONTACT
from ..texts import capitalised, counted
from ..translations import CONTEXT, iface_
from . import menus
from .base import FabrikPanel, RiggingPanel, Sidebar, check, radio
from .menus import draw_row


def has_motion(owner: bpy.types.Object) -> bool:
    """Whether an armature plays anything, or has controls that edit what it plays."""
    data = owner.animation_data
    plays = data is not None and (len(data.nla_tracks) > 0 or bool(fcurves_of(owner)))
    return plays or any(map(is_offset, rig_of(owner).chains))


def draw_contacts(sidebar: Sidebar) -> None:
    """What is done with single contacts, and whether they are drawn along timelines."""
    settings = scene_settings(sidebar.context.scene)
    row = sidebar.row_for([menus.MARK.label, menus.STAND.label, iface_("Contacts")])
    menus.MARK.draw(row)
    row.operator_menu_enum(menus.STAND.operator, "at", icon=menus.STAND.icon)
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
        sidebar, owner, chain = Sidebar(context, self.layout), working_rig(context), chain_at_hand(context)
        scene = context.scene
        if source_for(context, owner) is not None:
            menus.TRANSFER.draw(self.layout)
        if not has_motion(owner):
            return
        if any(map(is_offset, rig_of(owner).chains)):
            row = sidebar.row_for([iface_("Edits"), menus.APPLY.label])
            row.prop(owner, "fabrik_edits", icon="ACTION_TWEAK", toggle=True)
            menus.APPLY.draw(row)
            _draw_layers(self.layout, owner)
        row = sidebar.row_for([iface_("Through Time"), iface_("Width")])
        row.prop(scene, "fabrik_through_time", icon=check(getattr(scene, "fabrik_through_time")), toggle=True)
        row.prop(scene, "fabrik_time_width")
        draw_row(sidebar, replace(menus.TWEEN, options={"chains": "ALL" if chain is None else "ACTIVE"}), menus.SPREAD)
        if chain is not None and goal_of(chain, "target") is not None and not is_offset(chain):
            draw_row(sidebar, *menus.SWITCHES)
        self.layout.separator()
        row = sidebar.row_for([menus.SHOW_TRAILS.label, menus.HIDE_TRAILS.label])
        menus.SHOW_TRAILS.draw(row)
        if state.trails:
            menus.HIDE_TRAILS.draw(row)
        draw_row(sidebar, *menus.CONTACTS)
        draw_contacts(sidebar)
        is_edited = chain is not None and is_offset(chain)
        if is_edited and chain.pin and chain.tip_bone in pose_bones(owner):  # a leg whose foot stands
            sidebar.settings(pose_bones(owner)[chain.tip_bone], (CONTACT,), keys=True)
        self.layout.separator()
        draw_row(sidebar, *menus.EDIT_CLIP)
        draw_row(sidebar, *menus.COPY_CLIP)


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
            _draw_report(Sidebar(context, self.layout), report)


def _draw_report(sidebar: Sidebar, report: dict[str, Any]) -> None:
    """What came of the last bake: a line for each chain, those that missed frames first."""
    chains = sorted(report["chains"], key=lambda chain: -chain["unreached_count"])
    count = len(chains)
    keys = sum(chain["keys"] for chain in chains)
    text = iface_("{chains}, {keys} keys", chains=counted(count, "1 chain", "{count} chains"), keys=keys)
    header = sidebar.row_after(text, BUTTONS, "NONE")
    settings = scene_settings(sidebar.context.scene)
    header.prop(settings, "show_strip", text="", icon="HIDE_OFF" if settings.show_strip else "HIDE_ON")
    for entry in menus.REPORT:
        entry.draw(header, is_icon=True)
    active = working_chain(sidebar.context).name
    shown = sorted(chains, key=lambda chain: chain["chain"] != active)[:1]
    shown += [chain for chain in chains if chain not in shown][: SHOWN - 1]
    for chain in shown:
        _draw_chain(sidebar.box(), chain)
    if count > len(shown):
        sidebar.layout.label(text=iface_("and {count} more", count=count - len(shown)))


def _draw_chain(column: Sidebar, chain: dict[str, Any]) -> None:
    missed = chain["unreached_count"]
    column.wrapped(iface_("{chain}: {keys} keys, {frames} frames", **chain), "ERROR" if missed else "CHECKMARK")
    if chain["worst_tip_error"] is not None:
        text = iface_("Tip error {error:.1e}", error=chain["worst_tip_error"])
        _draw_place(column, text, chain["worst_tip_error_frame"])
    if chain.get("worst_tip_turn_degrees") is not None:
        text = iface_("Rotation off by {angle:.2g}°", angle=chain["worst_tip_turn_degrees"])
        _draw_place(column, text, chain["worst_tip_turn_frame"])
    if chain["worst_violation_degrees"] > LEFT:
        column.wrapped(iface_("Limits left by {angle:.2g}°", angle=chain["worst_violation_degrees"]), "BLANK1")
    text = iface_("Largest turn {angle:.3g}°", angle=chain["worst_turn_degrees"])
    _draw_place(column, text, chain["worst_turn_frame"])
    for run in chain["unreached"][:RUNS]:
        first, last = run["first"], run["last"]
        span = f"{first:g}" if first == last else iface_("{first:g} to {last:g}", first=first, last=last)
        _draw_place(column, f"{span}: {iface_(STATUS_TEXTS[run['status']])}", first)
    if len(chain["unreached"]) > RUNS:
        column.wrapped(iface_("{count} frames not reached in all", count=missed), "BLANK1")


def _draw_place(column: Sidebar, text: str, frame: float) -> None:
    """What there is to say, and a button that goes to its frame."""
    button = column.row_after(text, FRAME, "BLANK1").row(align=True)
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
        sidebar = Sidebar(context, layout)
        draw_plan(sidebar, owner)
        row = layout.row(align=True)
        row.operator("fabrik.walk_by_hand", icon="VIEW_PAN").record = False
        row.operator("fabrik.walk_by_hand", text="", icon="REC").record = True
        own = {BY_HAND: ("duty",), CLIP: ("clip", "fast_clip")}.get(walker.gait, ())
        first = ("gait", *own, "terrain")
        sidebar.settings(owner, [PREFIX + name for name in first], keys=True)
        row = layout.row(align=True)
        row.operator_menu_enum("fabrik.walk_style", "style", icon="PRESET")
        for entry in menus.CYCLE:
            entry.draw(row, is_icon=True)
        sidebar.settings(owner, [PREFIX + name for name in STYLE], keys=True)
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
        for names in DETAILS:
            Sidebar(context, self.layout).settings(working_rig(context), [PREFIX + name for name in names], keys=True)


_known: dict[object, str] = {}  # what was found at the last redraw, by whose walk it is and the count of changes


def _what_is_old(owner: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """`what_is_old`, which goes through all keys and the ground, anew where anything changed since the last redraw."""
    asked = (owner.session_uid, scene.session_uid, rig_of(owner).walker.inputs, state.revision, Changes.count)
    if asked not in _known:
        _known.clear()
        _known[asked] = what_is_old(owner, scene)
    return _known[asked]


def draw_plan(sidebar: Sidebar, owner: bpy.types.Object) -> None:
    """The button that plans, the switch, and what is planned."""
    frames, layout, scene = planned_frames(owner), sidebar.layout, sidebar.context.scene
    row = layout.row(align=True)
    row.operator("fabrik.walk_plan", icon="FILE_REFRESH" if frames else "PLAY")
    if frames is None:
        layout.label(text="Not planned yet", icon="INFO")
        return
    row.prop(owner, f"{PREFIX}on", text="", icon="HIDE_OFF" if rig_of(owner).walker.on else "HIDE_ON")
    draw_contacts(sidebar)
    old = _what_is_old(owner, scene)
    if old:
        sidebar.wrapped(capitalised(iface_(old)), "ERROR")
    else:
        layout.label(text=iface_("Frames {first} to {last}", first=frames[0], last=frames[1]), icon="CHECKMARK")
    refused = refused_ahead(owner, scene.frame_current_final)
    if refused:
        sidebar.wrapped(iface_(refused), "CANCEL")


class FABRIK_PT_walk_leg(WalkerPart):
    """The legs of the walker"""

    bl_label = "Legs"
    told_at = ("walkers", "legs")

    def draw(self, context: bpy.types.Context) -> None:
        owner, sidebar = working_rig(context), Sidebar(context, self.layout)
        walker, chains = rig_of(owner).walker, rig_of(owner).chains
        for leg in walker.legs:
            box = self.layout.box()
            chain = chains.get(leg.name)
            is_there = chain is not None and chain.tip_bone in pose_bones(owner)
            box.label(text=leg.name, icon="BONE_DATA" if is_there else "ERROR", translate=False)
            row = sidebar.row_or_column(box)
            row.prop(leg, "group")
            sub = row.row(align=True)
            sub.active = walker.gait == BY_HAND
            sub.prop(leg, "offset")
            sidebar.row_or_column(box).prop(leg, "home")


def draw_switches(sidebar: Sidebar, owner: bpy.types.Object) -> None:
    """Live posing of this armature, that of the scene where it is off, and the overlay."""
    both, scene = sidebar.row_or_column(), sidebar.context.scene
    row = both.row(align=True)
    live = row.row(align=True)
    live.active = is_scene_live(scene)
    live.prop(owner, "fabrik_live", text="Live", icon=check(rig_of(owner).live), toggle=True)
    if not live.active:
        row.prop(scene, "fabrik_live", text="", icon="PAUSE")
    both.separator()
    row = both.row(align=True)
    settings = scene_settings(scene)
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
        menus.RECORD.draw(layout)
        found = current_step(manager)
        if found is None:
            return
        row = layout.row(align=True)
        for entry in (*menus.BACK, menus.PLAY, *menus.ON):
            entry.draw(row, is_icon=True)
        row.operator("fabrik.record_clear", text="Exit", icon="X")
        layout.prop(manager, "fabrik_by_joint")
        layout.prop(manager, "fabrik_step", slider=False)
        Sidebar(context, layout).wrapped(iface_(caption(context.scene, found)), "NONE")
