# SPDX-License-Identifier: GPL-3.0-or-later
"""What the goal of a chain asks, its pin, the rotation of its tip, and the body of the armature."""

from __future__ import annotations

import bpy

from ..rig.chain_bones import pose_bones
from ..rig.find import working_chain, working_rig
from ..rig.schema import EFFECTOR_ITEMS, KIND_ITEMS, ORIENTATION_ITEMS, FabrikChain, rig_of
from ..translations import iface_
from .base import FabrikPanel
from .fitting import draw_settings, draw_wrapped, radio, row_for
from .status import Icon


class FABRIK_PT_asked(FabrikPanel):
    """What the goal of the active chain asks: of which end of the tip, how strongly, and of which rotation"""

    bl_label = "Pin and Rotation"
    told_at = ("chains", "what-a-goal-asks")

    def draw(self, context: bpy.types.Context) -> None:
        chain, layout = working_chain(context), self.layout
        row = row_for(context, layout, [iface_(label) for _, label, _ in KIND_ITEMS])
        for name, _, _ in KIND_ITEMS:
            row.prop_enum(chain, "kind", name, icon=radio(chain.kind == name))
        _draw_pin(layout, chain)
        if chain.kind == "REACH":
            _draw_effector(context, layout, chain)
            _draw_rotation(context, layout, chain)
        if chain.kind == "AIM":
            layout.column().prop(chain, "aim_axis")
        draw_settings(context, layout, chain, ("weight", "soft", "stretch") if chain.kind == "REACH" else ("weight",))


def _draw_pin(layout: bpy.types.UILayout, chain: FabrikChain) -> None:
    """The button that pins, and where it holds what has no target."""
    icon: Icon = "PINNED" if chain.pin else "UNPINNED"
    button = layout.operator(
        "fabrik.pin_toggle", text="Pinned" if chain.pin else "Pin", icon=icon, depress=bool(chain.pin)
    )
    button.which = "ACTIVE"
    if chain.pin and chain.target is None:
        layout.column().prop(chain, "held_location")


def _draw_rotation(context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain) -> None:
    """The buttons that choose the rotation of the tip, and how much it counts."""
    layout.label(text="Rotation of the tip:")
    row = row_for(context, layout, [iface_(label) for _, label, _ in ORIENTATION_ITEMS])
    for name, label, _ in ORIENTATION_ITEMS:
        is_on = chain.orientation == name
        button = row.operator("fabrik.orientation_set", text=iface_(label), icon=radio(is_on), depress=is_on)
        button.chain, button.orientation = chain.name, name
    if chain.orientation != "FREE":
        draw_settings(context, layout, chain, ("orientation_weight",))


def _draw_effector(context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain) -> None:
    """The buttons that choose the end of the tip."""
    layout.label(text="End of the tip at the goal:")
    row = row_for(context, layout, [iface_(label) for _, label, _ in EFFECTOR_ITEMS])
    for name, label, _ in EFFECTOR_ITEMS:
        is_on = chain.effector == name
        button = row.operator("fabrik.effector_set", text=iface_(label), icon=radio(is_on), depress=is_on)
        button.chain, button.effector = chain.name, name


class FABRIK_PT_body(FabrikPanel):
    """The bone that moves as the body, and how the body gives way"""

    bl_label = "Body"
    told_at = ("bodies", "the-body")
    bl_options = {"DEFAULT_CLOSED"}

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
        draw_settings(context, column, owner, ("fabrik_body_stiffness", "fabrik_spine", "fabrik_balance"))
        draw_settings(context, layout, owner, ("fabrik_falloff",), texts={"fabrik_falloff": iface_("Drag Falloff")})
        column = layout.column()
        column.active = rig_of(owner).balance > 0.0
        bone = context.active_pose_bone
        if bone is not None and bone.id_data == owner:
            mass = iface_("Mass of {name}", name=bone.name)
            draw_settings(context, column, bone, ("fabrik_mass",), texts={"fabrik_mass": mass})
        column.operator_menu_enum("fabrik.balance_masses", "by", icon="EMPTY_SINGLE_ARROW")


CLASSES = (FABRIK_PT_asked, FABRIK_PT_body)
