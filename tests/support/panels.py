# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels show, without a window."""

from __future__ import annotations

from typing import Any

import bpy
from fabrik_addon.ui.panels import FABRIK_PT_posing

CONTROLS = {
    "operator",
    "prop",
    "prop_enum",
    "prop_search",
    "menu",
    "popover",
    "prop_decorator",
    "operator_menu_enum",
    "template_list",
}


class Drawn:
    """A layout that takes note of what stands in it.

    Attributes:
        controls: Each by what draws it, what it is called with, and its options; for an operator those that are set.
        labels: The texts between them.
    """

    def __init__(self) -> None:
        self.controls: list[tuple[str, tuple[Any, ...], Any]] = []
        self.labels: list[str] = []
        self.use_property_split = False

    def label(self, text: str = "", **options: object) -> None:
        self.labels.append(text)

    def row(self, **options: object) -> Drawn:
        return self

    column = box = split = row

    def separator(self) -> None:
        """Nothing to note."""

    def __getattr__(self, name: str) -> Any:
        assert name in CONTROLS, name

        def note(*arguments: Any, **options: Any) -> Any:
            made: Any = type("Options", (), {})() if name == "operator" else options
            self.controls.append((name, arguments, made))
            return made

        return note

    def buttons(self) -> dict[str, Any]:
        """The operators on buttons by their names, each with its options."""
        return {what[0].removeprefix("fabrik."): options for kind, what, options in self.controls if kind == "operator"}

    def settings(self) -> set[str]:
        return {what[1] for kind, what, _ in self.controls if kind in {"prop", "prop_enum"}}


def drawn(kind: Any = FABRIK_PT_posing) -> Drawn:
    """What a panel shows now."""
    layout = Drawn()
    panel: Any = type("Panel", (), {"layout": layout})()
    assert kind.poll(bpy.context)
    kind.draw(panel, bpy.context)
    return layout
