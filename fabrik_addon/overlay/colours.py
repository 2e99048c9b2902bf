# SPDX-License-Identifier: GPL-3.0-or-later
"""The colours of the overlay, from the user's theme."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import bpy

Colour = tuple[float, float, float, float]
# Name of a colour, the part of the theme, the colour in it, how opaque it is drawn.
FROM_THEME = {
    "after": ("view_3d", "bone_pose_active", 1.0),
    "before": ("view_3d", "bone_pose", 0.5),
    "target": ("user_interface", "axis_y", 1.0),
    "pole": ("user_interface", "axis_z", 0.9),
    "pole_plane": ("user_interface", "axis_z", 0.08),
    "limit": ("user_interface", "gizmo_a", 0.9),
    "limit_face": ("user_interface", "gizmo_a", 0.08),
    "blocked": ("user_interface", "axis_x", 1.0),
    "blocked_face": ("user_interface", "axis_x", 0.15),
    "reach": ("user_interface", "gizmo_secondary", 0.5),
    "limited_reach": ("user_interface", "gizmo_a", 0.5),
    "residual": ("view_3d", "object_active", 1.0),
    "hover": ("user_interface", "gizmo_hi", 1.0),
    "hover_end": ("view_3d", "object_active", 1.0),
    "pin": ("user_interface", "gizmo_primary", 1.0),
    "pin_face": ("user_interface", "gizmo_primary", 0.4),
    "turn_x": ("user_interface", "axis_x", 1.0),
    "turn_y": ("user_interface", "axis_y", 1.0),
    "turn_z": ("user_interface", "axis_z", 1.0),
    "step": ("user_interface", "gizmo_hi", 1.0),
    "text": ("user_interface", "wcol_regular.text_sel", 1.0),
}


def theme_colours(preferences: bpy.types.Preferences) -> dict[str, Colour]:
    """All colours by their names."""
    theme: Any = preferences.themes[0]
    found = {}
    for name, (part, colour, alpha) in FROM_THEME.items():
        red, green, blue = tuple(attrgetter(f"{part}.{colour}")(theme))[:3]
        found[name] = (red, green, blue, alpha)
    return found
