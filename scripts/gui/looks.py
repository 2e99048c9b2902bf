# SPDX-License-Identifier: GPL-3.0-or-later
"""How Blender looks while it is photographed: scale, theme and language."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import bpy

from gui.window import CONTEXT, WAIT, Window

FRAMES = (1, 20)  # of what is baked and planned to be looked at


class Look(NamedTuple):
    """How Blender looks: scale and width of the sidebar, theme, language."""

    scale: float
    width: int
    theme: str = "Dark"
    language: str = "en_US"

    @property
    def name(self) -> str:
        """What the names of its pictures begin with."""
        told = f"{self.language[:2]}_{self.theme.lower()}_{self.scale:g}"
        return f"panels_{told}_{self.width}" if self.width else told


def _theme(name: str) -> None:
    """One of the two themes that Blender comes with."""
    if name == "Dark":
        bpy.ops.preferences.reset_default_theme()
        return
    paths = [Path(path) / f"Blender_{name}.xml" for path in bpy.utils.preset_paths("interface_theme")]
    path = next(path for path in paths if path.exists())
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")


def dressed(window: Window, look: Look) -> Generator[float, None, bool]:
    """Let Blender look so; False where it has no such language."""
    view: Any = CONTEXT.preferences.view
    if bpy.app.translations.locales:
        view.language = look.language
    elif look.language != "en_US":
        return False
    view.ui_scale = look.scale
    view.use_translate_interface = view.use_translate_tooltips = look.language != "en_US"
    view.use_translate_reports = look.language != "en_US"
    _theme(look.theme)
    yield 2.0 * WAIT
    return True
