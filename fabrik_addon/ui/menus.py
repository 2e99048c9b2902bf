# SPDX-License-Identifier: GPL-3.0-or-later
"""The FABRIK menu in Blender's menus Pose and Object and in their context menus, and the pie menu."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.find import working_rig
from ..translations import CONTEXT
from . import entries

PIE = "FABRIK_MT_pie"
HOMES = ("VIEW3D_MT_pose", "VIEW3D_MT_pose_context_menu", "VIEW3D_MT_object", "VIEW3D_MT_object_context_menu")


class FabrikMenu(bpy.types.Menu):
    """A menu that is made of entries."""

    bl_translation_context = CONTEXT
    parts: tuple[entries.Part, ...] = ()

    def draw(self, context: bpy.types.Context) -> None:
        entries.draw_parts(context, self.layout, self.parts)


class FABRIK_MT_main(FabrikMenu):
    """Pose limbs by inverse kinematics"""

    bl_label = "FABRIK"
    parts = entries.MAIN


class FABRIK_MT_chain(FabrikMenu):
    """Mirror, reorder, convert and remove chains"""

    bl_label = "Chain"
    parts = entries.CHAIN


class FABRIK_MT_goals(FabrikMenu):
    """Targets and poles"""

    bl_label = "Target and Pole"
    parts = entries.GOALS


class FABRIK_MT_body(FabrikMenu):
    """Pins, rotations of tips, and the bone that moves as the body"""

    bl_label = "Pins and Body"
    parts = entries.BODY


class FABRIK_MT_walker(FabrikMenu):
    """Legs that step as the body goes along its path"""

    bl_label = "Walker"
    parts = entries.WALKER


class FABRIK_MT_start_pose(FabrikMenu):
    """The pose from which every solve starts"""

    bl_label = "Start Pose"
    parts = entries.START_POSE


class FABRIK_MT_limit(FabrikMenu):
    """Joint limits of the active and the selected bones"""

    bl_label = "Joint Limit"
    parts = entries.LIMIT


class FABRIK_MT_human_joint(bpy.types.Menu):
    """Give the selected bones the range of a human joint"""

    bl_label = "Human Joint"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.operator_enum("fabrik.limit_human", "joint")


class FABRIK_MT_animal_joint(bpy.types.Menu):
    """Give the selected bones the range of a joint of an animal's leg"""

    bl_label = "Animal Joint"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.operator_enum("fabrik.limit_animal", "joint")


class FABRIK_MT_report(FabrikMenu):
    """The report of the last bake"""

    bl_label = "Bake Report"
    parts = entries.REPORT


class FABRIK_MT_steps(FabrikMenu):
    """A solve pass by pass"""

    bl_label = "Step by Step"
    parts = entries.STEPS


class FABRIK_MT_pie(bpy.types.Menu):
    """What is used most"""

    bl_label = "FABRIK"
    bl_translation_context = CONTEXT

    def draw(self, context: bpy.types.Context) -> None:
        entries.draw_parts(context, self.layout.menu_pie(), entries.PIE)


def _draw_in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Our menu at the end of one of Blender's; in Object mode only where there is a rig to work on."""
    owner = working_rig(context)
    if owner is not None and owner.type == "ARMATURE":
        menu.layout.separator()
        menu.layout.menu("FABRIK_MT_main", icon="CON_KINEMATIC")


def register() -> None:
    """Hang the menu into Blender's."""
    for name in HOMES:
        home: Any = getattr(bpy.types, name)
        home.append(_draw_in_menu)


def unregister() -> None:
    """Take it off again."""
    for name in HOMES:
        home: Any = getattr(bpy.types, name)
        home.remove(_draw_in_menu)


CLASSES = (
    FABRIK_MT_main,
    FABRIK_MT_chain,
    FABRIK_MT_goals,
    FABRIK_MT_body,
    FABRIK_MT_walker,
    FABRIK_MT_start_pose,
    FABRIK_MT_limit,
    FABRIK_MT_human_joint,
    FABRIK_MT_animal_joint,
    FABRIK_MT_report,
    FABRIK_MT_steps,
    FABRIK_MT_pie,
)
