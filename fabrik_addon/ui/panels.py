# SPDX-License-Identifier: GPL-3.0-or-later
"""The FABRIK tab of the 3D View's sidebar."""

from __future__ import annotations

from textwrap import wrap

import bpy

from ..errors import FabrikError
from ..rig.chain_bones import resolve_bones
from ..rig.checks import rig_refusal
from ..rig.properties import FabrikChain, limit_of, rig_of
from ..rig.start_pose import is_stale
from .status import ICONS, status_text

CHARACTER_WIDTH = 7.0  # of the interface font, in pixels at scale 1; for breaking long messages


class FabrikPanel(bpy.types.Panel):
    """A panel of the tab, shown for the chains of an active armature."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "FABRIK"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _active(context) is not None


class FABRIK_PT_chains(FabrikPanel):
    """The armature's chains, and the buttons that solve"""

    bl_label = "Chains"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode in {"OBJECT", "POSE"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, owner = self.layout, context.object
        if owner is None or owner.type != "ARMATURE":
            layout.label(text="Select an armature", icon="INFO")
            return
        reason = rig_refusal(owner)
        if reason:
            _wrapped(context, layout, f"Can't be posed: {reason}", "ERROR")
        row = layout.row()
        row.template_list("FABRIK_UL_chains", "", owner, "fabrik_chains", owner, "fabrik_active_index", rows=4)
        column = row.column(align=True)
        column.operator("fabrik.chain_add", text="", icon="ADD")
        column.operator("fabrik.chain_remove", text="", icon="REMOVE")
        column.separator()
        column.operator("fabrik.chain_move", text="", icon="TRIA_UP").direction = "UP"
        column.operator("fabrik.chain_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        if not rig_of(owner).chains:
            layout.operator("fabrik.chain_add", icon="ADD")
            return
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("fabrik.solve", icon="CON_KINEMATIC")
        row.operator("fabrik.solve_all")
        chain = _active(context)
        if chain is not None:
            _draw_status(context, layout, chain)


class FABRIK_PT_goal(FabrikPanel):
    """The bones of the active chain, its target and its pole"""

    bl_label = "Chain"

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner = _active(context), context.object
        assert chain is not None
        assert owner is not None
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop_search(chain, "tip_bone", owner.pose, "bones")
        layout.prop(chain, "bone_count")
        layout.separator()
        _draw_goal(layout, chain, "target")
        if chain.target is None:
            layout.operator("fabrik.target_add", icon="EMPTY_AXIS")
        layout.separator()
        _draw_goal(layout, chain, "pole")
        if chain.pole is None:
            layout.operator("fabrik.pole_add", icon="EMPTY_AXIS")
        else:
            layout.prop(chain, "pole_angle")


class FABRIK_PT_solver(FabrikPanel):
    """How the active chain is solved"""

    bl_label = "Solver"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        chain = _active(context)
        assert chain is not None
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("influence", "tolerance", "max_passes"):
            layout.prop(chain, name)


class FABRIK_PT_start(FabrikPanel):
    """The pose from which every solve of the active chain starts"""

    bl_label = "Start Pose"

    def draw(self, context: bpy.types.Context) -> None:
        chain, owner = _active(context), context.object
        assert chain is not None
        assert owner is not None
        layout = self.layout
        layout.row().prop(chain, "start", expand=True)
        row = layout.row(align=True)
        row.operator("fabrik.start_pose_capture", icon="POSE_HLT")
        row.operator("fabrik.start_pose_reset", icon="LOOP_BACK")
        try:
            stale = is_stale(chain, resolve_bones(owner, chain))
        except FabrikError as error:
            _wrapped(context, layout, str(error), "ERROR")
            return
        if stale:
            _wrapped(context, layout, "The rest pose changed since: capture or reset the start pose", "ERROR")


class FABRIK_PT_limit(FabrikPanel):
    """The joint limit of the active bone"""

    bl_label = "Joint Limit"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.active_pose_bone is not None

    def draw(self, context: bpy.types.Context) -> None:
        bone = context.active_pose_bone
        assert bone is not None
        layout = self.layout
        layout.label(text=bone.name, icon="BONE_DATA")
        layout.use_property_split = True
        layout.prop(bone, "fabrik_limit")
        if limit_of(bone).limit == "HINGE":
            layout.prop(bone, "fabrik_axis")
            row = layout.row(align=True)
            for axis in "XYZ":
                row.operator("fabrik.limit_axis", text=axis).axis = axis
            column = layout.column(align=True)
            column.prop(bone, "fabrik_angle_min")
            column.prop(bone, "fabrik_angle_max")
            if limit_of(bone).angle_min > limit_of(bone).angle_max:
                layout.label(text="The least angle is above the greatest", icon="ERROR")
        layout.operator("fabrik.limit_from_ik", icon="CON_KINEMATIC")


def _active(context: bpy.types.Context) -> FabrikChain | None:
    owner = context.object
    if owner is None or owner.type != "ARMATURE" or context.mode not in {"OBJECT", "POSE"}:
        return None
    return rig_of(owner).active


def _draw_goal(layout: bpy.types.UILayout, chain: FabrikChain, role: str) -> None:
    """A target or pole: the object, and the bone where it is an armature."""
    layout.prop(chain, role)
    goal: bpy.types.Object | None = getattr(chain, role)
    if goal is not None and goal.type == "ARMATURE" and goal.pose is not None:
        layout.prop_search(chain, f"{role}_bone", goal.pose, "bones", text="Bone")


def _draw_status(context: bpy.types.Context, layout: bpy.types.UILayout, chain: FabrikChain) -> None:
    box = layout.box().column(align=True)
    if chain.status == "REFUSED":
        _wrapped(context, box, chain.message, ICONS["REFUSED"])
        return
    _wrapped(context, box, status_text(chain), ICONS[chain.status])
    if chain.status != "NONE":
        units = context.scene.unit_settings
        length = bpy.utils.units.to_string(units.system, "LENGTH", chain.residual * units.scale_length, precision=5)
        residual = f"{chain.residual:.2g}" if units.system == "NONE" or chain.residual < 1e-5 else length
        box.label(text=f"{residual} from the target, {chain.passes} passes", icon="BLANK1")


def _wrapped(context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: str) -> None:
    """Text over as many lines as the width of the sidebar wants."""
    scale = context.preferences.system.ui_scale
    width = context.region.width if context.region else 300
    characters = max(16, int(width / (CHARACTER_WIDTH * scale)) - 8)
    column = layout.column(align=True)
    for i, line in enumerate(wrap(text, characters)):
        column.label(text=line, icon=icon if i == 0 else "BLANK1")  # type: ignore[arg-type]


CLASSES = (FABRIK_PT_chains, FABRIK_PT_goal, FABRIK_PT_limit, FABRIK_PT_start, FABRIK_PT_solver)
