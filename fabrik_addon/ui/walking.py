# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of walkers."""

from __future__ import annotations

import bpy

from ..actions.chain_edit import working_rig
from ..actions.walk.plan import planned_frames, refused_ahead, what_is_old
from ..gait.gaits import CLIP
from ..overlay.settings import state
from ..rig.bones import pose_bones
from ..rig.schema import PREFIX, Changes, rig_of
from ..texts import capitalised
from ..translations import iface_
from .base import RiggingPanel, draw_settings, draw_wrapped, row_or_column
from .motion import draw_contacts

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
    assert context.scene is not None
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


CLASSES = (FABRIK_PT_walker, FABRIK_PT_walk_details, FABRIK_PT_walk_leg)
