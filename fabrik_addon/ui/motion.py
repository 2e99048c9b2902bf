# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of motion, for characters that have some; and what stands beside Blender's own motion paths."""

from __future__ import annotations

import bpy

from ..actions.chain_edit import chain_at_hand, working_rig
from ..actions.motion.transfer import source_for
from ..overlay.settings import scene_settings, state
from ..rig.animation.compat import fcurves_of
from ..rig.bones import pose_bones
from ..rig.goals import goal_of, is_offset
from ..rig.schema import FabrikChain, rig_of
from ..rig.schema.limit import CONTACT
from ..translations import iface_
from .base import FabrikPanel, check, draw_settings, draw_wrapped, operator_labels, radio, row_for

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
        if chain is not None and _is_leg(owner, chain):
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


def _is_leg(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether a chain is a leg whose foot stands: an edited one that is pinned."""
    return is_offset(chain) and chain.pin and chain.tip_bone in pose_bones(owner)


def draw_beside_paths(panel: bpy.types.Panel, context: bpy.types.Context) -> None:
    """That Blender's motion paths see nothing of live posing, and what does."""
    owner = context.object
    if owner is None or owner.type != "ARMATURE" or not rig_of(owner).live:
        return
    text = iface_("Motion paths don't see what live posing does: trails do")
    draw_wrapped(context, panel.layout, text, "INFO")
    panel.layout.operator("fabrik.trails_show", icon="ANIM_DATA")


CLASSES = (FABRIK_PT_motion,)
