# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's window for `gui_check.py`: clicks, drags, and checks what changed in the data after each."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent.parent))  # Blender runs this file by its path

from gui import bodies, limb, surfaces
from gui.window import ARCHIVE, PART, WAIT, Window, check, make_leg, say

PARTS = (
    *(limb.made, limb.lived, limb.dragged, limb.dragged_as_posed, limb.dragged_without_a_chain, limb.dragged_by_a_bone),
    *(limb.snapped, limb.turned, limb.stepped, limb.baked, surfaces.at_hand, limb.beside, bodies.edited_through_time),
    *(bodies.dragged_bodies, bodies.lived_bodies, bodies.walked, surfaces.surfaces, surfaces.panels),
)


def opened(window: Window) -> Iterator[float]:
    """Install the archive and open the tab."""
    bpy.ops.extensions.package_install_files(filepath=ARCHIVE, repo="user_default", enable_on_install=True)
    check("the built archive installs and is enabled", hasattr(bpy.types.Object, "fabrik_chains"))
    make_leg()
    window.view.show_region_ui = True
    while window.region("UI").width <= 1 or window.region("UI").active_panel_category == "UNSUPPORTED":
        yield 0.1
    setattr(window.region("UI"), "active_panel_category", "FABRIK")
    with window.context():
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_all()
    window.view.region_3d.view_distance = 6.5
    yield WAIT


def steps() -> Iterator[float]:
    """Everything; each yield is a wait in seconds, in which Blender redraws and handles events."""
    window = Window()
    yield from opened(window)
    for part in PARTS:
        if PART in {"", part.__name__}:
            yield from part(window)
    say("ok: done")


def run(waits: Iterator[float]) -> float | None:
    """The next wait; at the end, or where something breaks, Blender is left."""
    try:
        return next(waits)
    except StopIteration:
        pass
    except Exception:
        say("FAILED: " + traceback.format_exc().strip().splitlines()[-1])
        traceback.print_exc()
    with contextlib.suppress(RuntimeError):
        bpy.ops.wm.quit_blender()
    return None


preferences = bpy.context.preferences
preferences.view.show_splash = False
preferences.view.smooth_view = 0
preferences.view.pie_tap_timeout = 1000  # a key that a busy machine lets go late is no drag through the pie
preferences.use_preferences_save = False
running = steps()
bpy.app.timers.register(lambda: run(running), first_interval=0.3, persistent=True)
