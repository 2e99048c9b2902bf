# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of motion, for characters that have some, and of bakes; and what stands beside Blender's motion paths."""

from __future__ import annotations

from typing import Any

import bpy

from ..actions.bake import read_report
from ..actions.chain_edit import chain_at_hand, working_chain, working_rig
from ..actions.motion.transfer import source_for
from ..actions.status import STATUS_TEXTS
from ..overlay.settings import scene_settings, state
from ..rig.animation.compat import fcurves_of
from ..rig.bones import pose_bones
from ..rig.goals import goal_of, is_offset
from ..rig.schema import rig_of
from ..rig.schema.limit import CONTACT
from ..texts import counted
from ..translations import iface_
from .base import FabrikPanel, check, draw_settings, draw_wrapped, operator_labels, radio, row_after, row_for

PATHS = ("OBJECT_PT_motion_paths", "DATA_PT_motion_paths")  # panels of Blender's own


def has_motion(owner: bpy.types.Object) -> bool:
    """Whether an armature plays anything, or has controls that edit what it plays."""
    data = owner.animation_data
    plays = data is not None and (len(data.nla_tracks) > 0 or bool(fcurves_of(owner)))
    return plays or any(map(is_offset, rig_of(owner).chains))


def draw_contacts(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """What is done with single contacts, and whether they are drawn along timelines."""
    assert context.scene is not None
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


CLASSES = (FABRIK_PT_motion, FABRIK_PT_bake)
