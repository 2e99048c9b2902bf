# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows, stored with the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, IntProperty, PointerProperty

from ..rig.schema import announce
from ..translations import CONTEXT

OPTIONS = {
    "show_after": ("Pose", "The chain as it stands", True),
    "show_before": ("Start Pose", "The pose from which the chain is solved", True),
    "show_joints": ("Joints", "The joints of the chain", True),
    "show_goal": ("Target", "A cross at the target", True),
    "show_pole": ("Pole", "The pole and the plane in which the chain bends", True),
    "show_limits": ("Limits", "The ranges of the joints; red where they hold the chain back", True),
    "show_reach": ("Reach", "How far the tip comes from the root, nearest and farthest", False),
    "show_limited_reach": ("Reach within Limits", "The same with the limits held", False),
    "show_residual": ("Residual", "A line from the tip to a target that it does not reach", True),
    "show_rotation": ("Rotation", "The axes of the rotation that the tip is to have, and where it aims", True),
    "all_chains": ("All Chains", "Show all chains of the armature, not the active one alone", False),
}


def _redraw_timelines(settings: FabrikOverlay, context: bpy.types.Context) -> None:
    manager = context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "DOPESHEET_EDITOR":
                area.tag_redraw()


class FabrikOverlay(bpy.types.PropertyGroup):
    """Which parts of the overlay are shown"""

    if TYPE_CHECKING:
        show: bool
        all_chains: bool
        show_limited_reach: bool
        show_strip: bool
        show_pins: bool
        show_walk: bool
    else:
        show: BoolProperty(
            name="Overlay",
            description="Draw chains, goals and limits over the armature",
            translation_context=CONTEXT,  # Blender has a verb for it
            update=announce,
            options=set(),
        )
        show_strip: BoolProperty(
            name="Bake Strip",
            description="Show along the timeline and the dope sheet how far the last bake is off its targets: green "
            "on them, red by a tenth of the length and more",
            default=True,
            update=_redraw_timelines,
            options=set(),
        )
        show_pins: BoolProperty(
            name="Pins",
            description="Show where pins hold their bones, of all armatures and also without the overlay: filled at a "
            "place of the world, open at a target",
            default=True,
            update=announce,
            options=set(),
        )
        show_walk: BoolProperty(
            name="Planned Walk",
            description="Show of a planned walk the path, the steps of the next second with the footholds that were "
            "refused, and the polygon of the standing feet",
            default=True,
            update=announce,
            options=set(),
        )
        for _name, (_label, _description, _default) in OPTIONS.items():
            __annotations__[_name] = BoolProperty(
                name=_label, description=_description, default=_default, update=announce, options=set()
            )


def scene_settings(scene: bpy.types.Scene) -> FabrikOverlay:
    """The overlay's settings of a scene."""
    found: FabrikOverlay = getattr(scene, "fabrik_overlay")
    return found


def parts_of(settings: FabrikOverlay) -> set[str]:
    """The parts that are shown, as `shapes.shapes_of` names them."""
    parts = {name.removeprefix("show_") for name in OPTIONS if name.startswith("show_") and getattr(settings, name)}
    return parts | {"reach"} if "limited_reach" in parts else parts


def step_of(manager: bpy.types.WindowManager) -> tuple[int, bool]:
    """Index of the recorded step that is looked at, and whether steps are joints and not passes."""
    return int(getattr(manager, "fabrik_step")) - 1, bool(getattr(manager, "fabrik_by_joint"))


def set_step(manager: bpy.types.WindowManager, index: int) -> None:
    """Look at another recorded step."""
    setattr(manager, "fabrik_step", index + 1)


def register() -> None:
    """Register the settings."""
    bpy.utils.register_class(FabrikOverlay)
    pointer: Any = PointerProperty
    scene: Any = bpy.types.Scene
    scene.fabrik_overlay = pointer(type=FabrikOverlay)
    manager: Any = bpy.types.WindowManager
    number: Any = IntProperty
    switch: Any = BoolProperty
    manager.fabrik_step = number(
        name="Step", description="Step of the recorded solve", min=1, default=1, update=announce
    )
    manager.fabrik_by_joint = switch(
        name="Joint by Joint", description="Show each joint's move, not whole passes alone", update=announce
    )


def unregister() -> None:
    """Take the settings away; what is stored in files stays in them."""
    scene: Any = bpy.types.Scene
    manager: Any = bpy.types.WindowManager
    del scene.fabrik_overlay, manager.fabrik_step, manager.fabrik_by_joint
    bpy.utils.unregister_class(FabrikOverlay)
