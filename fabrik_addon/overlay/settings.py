# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows, stored with the scene, and what it keeps between two redraws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import bpy

from ..actions.drag import Grip
from ..actions.motion.through_time import Trail
from ..actions.solve import Recording
from ..rig.schema import announce
from ..rig.schema.fields import NO_KEYS, NO_OTHERS, Options, View, pointer, switch, whole
from ..translations import CONTEXT

Shown: TypeAlias = tuple[str, Grip, str]  # an armature object by its name, which end of which bone, and what it says


@dataclass(slots=True)
class OverlayState:
    """What the overlay keeps between two redraws.

    Attributes:
        revision: Rises with all that may have changed the picture.
        recording: The recorded solve that is looked at, or None.
        shown: The bone under the mouse, or that is dragged; None for nothing.
        trails: Of ends of bones, by what tells them apart.
    """

    revision: int = 0
    recording: Recording | None = None
    shown: Shown | None = None
    trails: dict[tuple[str, str], Trail] = field(default_factory=dict)

    def forget(self) -> None:
        """Keep nothing of what is shown."""
        self.recording = self.shown = None
        self.trails.clear()


state = OverlayState()
TIMELINES = "DOPESHEET_EDITOR"  # and dope sheets

OPTIONS = (  # what the overlay shows of a chain
    "show_after", "show_before", "show_joints", "show_goal", "show_pole", "show_limits", "show_reach",
    "show_limited_reach", "show_residual", "show_rotation", "all_chains",
)  # fmt: skip


def redraw(kind: str = "VIEW_3D") -> None:
    """Draw all editors of a kind anew."""
    for area in areas_of(kind):
        area.tag_redraw()


def areas_of(kind: str) -> Iterator[bpy.types.Area]:
    """The areas of all windows that show editors of a kind."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        yield from (area for area in window.screen.areas if area.type == kind)


def _shown(name: str, description: str, default: bool = True, **options: Any) -> bool:
    """Whether something is shown, which is not keyed."""
    return switch(name, description, default=default, options=NO_KEYS, **{"update": announce, **options})


class FabrikOverlay(Options, bpy.types.PropertyGroup):
    """Which parts of the overlay are shown"""

    show = _shown(
        "Overlay",
        "Draw chains, goals and limits over the armature",
        default=False,
        translation_context=CONTEXT,  # Blender has a verb for it
    )
    show_strip = _shown(
        "Bake Strip",
        "Show along the timeline and the dope sheet how far the last bake is off its targets: green on them, red by a "
        "tenth of the length and more",
        update=lambda settings, context: redraw(TIMELINES),
    )
    show_contacts = _shown(
        "Contacts",
        "Show along the timeline and the dope sheet when feet are on the ground, as bars to be dragged",
        update=lambda settings, context: redraw(TIMELINES),
    )
    show_pins = _shown(
        "Pins",
        "Show where pins hold their bones, of all armatures and also without the overlay: filled at a place of the "
        "world, open at a target",
    )
    show_walk = _shown(
        "Planned Walk",
        "Show of a planned walk the path, the footprints, the steps of the next second with the footholds that were "
        "refused, and the polygon of the standing feet",
    )
    show_after = _shown("Pose", "The chain as it stands")
    show_before = _shown("Start Pose", "The pose from which the chain is solved")
    show_joints = _shown("Joints", "The joints of the chain")
    show_goal = _shown("Target", "A cross at the target")
    show_pole = _shown("Pole", "The pole and the plane in which the chain bends")
    show_limits = _shown("Limits", "The ranges of the joints; red where they hold the chain back")
    show_reach = _shown("Reach", "How far the tip comes from the root, nearest and farthest", default=False)
    show_limited_reach = _shown("Reach within Limits", "The same with the limits held", default=False)
    show_residual = _shown("Residual", "A line from the tip to a target that it does not reach")
    show_rotation = _shown("Rotation", "The axes of the rotation that the tip is to have, and where it aims")
    all_chains = _shown("All Chains", "Show all chains of the armature, not the active one alone", default=False)


class OverlayView(View[bpy.types.Scene]):
    """What the overlay shows in a scene."""

    __slots__ = NO_OTHERS

    overlay = pointer(FabrikOverlay, "", "", override=set())


def scene_settings(scene: bpy.types.Scene) -> FabrikOverlay:
    """The overlay's settings of a scene."""
    found: FabrikOverlay = getattr(scene, "fabrik_overlay")
    return found


def parts_of(settings: FabrikOverlay) -> set[str]:
    """The parts that are shown, as `shapes.shapes_of` names them."""
    parts = {name.removeprefix("show_") for name in OPTIONS if name.startswith("show_") and getattr(settings, name)}
    return parts | {"reach"} if "limited_reach" in parts else parts


class StepView(View[bpy.types.WindowManager], update=announce):
    """Which step of a recorded solve is looked at."""

    __slots__ = NO_OTHERS

    step = whole("Step", "Step of the recorded solve", min=1, default=1)
    by_joint = switch("Joint by Joint", "Show each joint's move, not whole passes alone")


def step_of(manager: bpy.types.WindowManager) -> tuple[int, bool]:
    """Index of the recorded step that is looked at, and whether steps are joints and not passes."""
    view = StepView(manager)
    return view.step - 1, view.by_joint


def set_step(manager: bpy.types.WindowManager, index: int) -> None:
    """Look at another recorded step."""
    StepView(manager).step = index + 1
    redraw()


VIEWS = (OverlayView, bpy.types.Scene), (StepView, bpy.types.WindowManager)
