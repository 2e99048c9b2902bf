# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user reads, in the language that is chosen in Blender's preferences, by Blender's own calls.

Blender translates labels, descriptions and literal texts of a layout by itself, once they are registered. What is put
together from several parts goes through the calls here, which have the names that Blender's own scripts use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import bpy

from ..messages import Message
from ..texts import Text

# The context in which labels of operators, panels and menus are looked up. In one of Blender's own contexts Blender's
# words would come first, and some of them mean another thing: its pin is one of UV maps.
CONTEXT = "FABRIK"
# By language, then by context and English text; "*" is Blender's context for all that has none. Each language is a file
# beside this one, by the name that Blender has for it: labels of operators, panels, menus and buttons, and all else.
LANGUAGES: dict[str, dict[tuple[str, str], str]] = {}
for _path in sorted(Path(__file__).parent.glob("*.json")):
    _said: dict[str, dict[str, str]] = json.loads(_path.read_text(encoding="utf-8"))
    _texts = {("*", text): told for text, told in _said["texts"].items()}
    LANGUAGES[_path.stem] = _texts | {(CONTEXT, label): told for label, told in _said["labels"].items()}

Call = Callable[[str], str]
# The stubs say that these return nothing.
_interface: Call = getattr(bpy.app.translations, "pgettext_iface")
_label: Callable[[str, str], str] = getattr(bpy.app.translations, "pgettext_iface")
_report: Call = getattr(bpy.app.translations, "pgettext_rpt")
_tooltip: Call = getattr(bpy.app.translations, "pgettext_tip")


def iface_(text: str | Message, /, **fields: object) -> str:
    """A text of the interface, where Blender's preferences say that the interface is translated.

    Args:
        text: The template, or a text or message that knows its own.
        fields: What comes into the template.
    """
    return _told(_interface, text, fields)


def rpt_(text: str | Message, /, **fields: object) -> str:
    """The text of a report, where reports are translated; as `iface_`."""
    return _told(_report, text, fields)


def tip_(text: str | Message, /, **fields: object) -> str:
    """The text of a tooltip, where tooltips are translated; as `iface_`."""
    return _told(_tooltip, text, fields)


def label_(text: str) -> str:
    """The label of an operator, panel or menu, as Blender shows it."""
    return _label(text, CONTEXT)


def name_(prop: bpy.types.Property) -> str:
    """The name of a property, as Blender shows it."""
    return _label(prop.name, prop.translation_context)


def _told(call: Call, text: str | Message, fields: Mapping[str, object]) -> str:
    """A text in the user's language: template and fields are looked up by one of Blender's calls, then put together."""
    if isinstance(text, Text | Message):
        return _told(call, text.template, {**text.fields, **fields})
    told = call(text)
    if not fields:
        return told
    words = {name: _told(call, one, {}) if isinstance(one, Text | Message) else one for name, one in fields.items()}
    return told.format(**words)
