# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator is at hand in the menus, has tooltips, says why it is disabled, and takes no key that is taken."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import bpy
import pytest
from fabrik_addon.overlay.settings import FabrikOverlay
from fabrik_addon.overlay.shapes import lines_of, text_width
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.ui import menus, panels, preferences

from support.scenes import add_chain, make_line

# Not in the menus, and why.
LEFT_OUT = {
    "report_frame": "a button beside each frame of the report",
    "drag_pick": "started by Drag Bone where that is called from a menu",
    "limit_human": "its joints are drawn one by one",
    "limit_animal": "its joints are drawn one by one",
    "time_note": "a part of the tools that move controls through time",
    "move_through_time": "G, while Through Time is on",
    "turn_through_time": "R, while Through Time is on",
    "contact_move": "a bar in the timeline is dragged",
    "layer_choose": "a button before each layer",
    "layer_remove": "a button behind each layer",
}
WITHOUT_WORDS = {"move_through_time", "turn_through_time"}  # Blender lets no tool that is made of others tell why
PRESETS = ("Blender", "Industry_Compatible", "Blender_27x")


def all_parts() -> Iterator[menus.Part]:
    for cls in menus.FabrikMenu.__subclasses__():
        yield from cls.parts
    yield from menus.PIE


def all_entries() -> list[menus.Entry]:
    return [part for part in all_parts() if isinstance(part, menus.Entry)]


class Operator(Protocol):
    """What Blender's callable for an operator can do."""

    def __call__(self) -> set[str]: ...
    def poll(self) -> bool: ...
    def get_rna_type(self) -> bpy.types.Struct: ...


def operator(name: str) -> Operator:
    found: Operator = getattr(bpy.ops.fabrik, name.removeprefix("fabrik."))
    return found


def test_every_operator_is_in_a_menu() -> None:
    found = {entry.operator.removeprefix("fabrik.") for entry in all_entries()}
    assert found | set(LEFT_OUT) == set(dir(bpy.ops.fabrik)), "add it to ui/menus.py"
    assert not found & set(LEFT_OUT)


def test_every_entry_calls_an_operator_with_options_that_it_has() -> None:
    icons = bpy.types.UILayout.bl_rna.functions["operator"].parameters["icon"].enum_items.keys()
    for entry in all_entries():
        properties = operator(entry.operator).get_rna_type().properties
        for name, value in entry.options.items():
            assert name in properties, entry
            assert properties[name].type != "ENUM" or value in properties[name].enum_items, entry
        assert entry.icon in icons, entry


def test_entries_of_one_menu_are_told_apart() -> None:
    for cls in menus.FabrikMenu.__subclasses__():
        found = [part for part in cls.parts if isinstance(part, menus.Entry)]
        texts = [entry.text or operator(entry.operator).get_rna_type().name for entry in found]
        assert len(set(texts)) == len(texts)


def test_every_menu_is_reached_from_the_main_one() -> None:
    reached = {"FABRIK_MT_main"}
    for part in all_parts():
        if isinstance(part, str):
            assert hasattr(bpy.types, part)
            reached.add(part)
    assert {cls.__name__ for cls in menus.FabrikMenu.__subclasses__()} == reached


def test_the_arrow_beside_the_list_has_only_what_the_menus_have() -> None:
    found = list(all_entries())
    assert all(part in found for part in menus.LIST if isinstance(part, menus.Entry))


def test_blenders_menus_have_ours_once() -> None:
    for name in menus.HOMES:
        home: Any = getattr(bpy.types, name)
        drawn = [function for function in home._dyn_ui_initialize() if "fabrik" in function.__module__]
        assert len(drawn) == 1


def test_the_pie_has_its_eight_places() -> None:
    assert len(menus.PIE) == 8
    assert menus.line not in menus.PIE


SITUATIONS: dict[str, Callable[[], object]] = {
    "no object at all": lambda: None,
    "a mesh": bpy.ops.mesh.primitive_plane_add,
    "no chain": lambda: make_line(3),
    "edited": lambda: (add_chain(make_line(3)), bpy.ops.object.mode_set(mode="EDIT")),
    "disabled": lambda: setattr(add_chain(make_line(3)), "enabled", False),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_operator_that_is_disabled_says_why(situation: str) -> None:
    SITUATIONS[situation]()
    for name in dir(bpy.ops.fabrik):
        if name in WITHOUT_WORDS:
            assert not operator(name).poll()
            continue
        if operator(name).poll():
            assert name == "manual" or situation not in {"no object at all", "a mesh"}
            continue
        with pytest.raises(RuntimeError, match=r"poll\(\) ") as refused:
            operator(name)()
        assert "context is incorrect" not in str(refused.value), name
        reason = str(refused.value).split("poll() ", 1)[1].removeprefix("failed, ").strip()
        assert len(reason) > 10, name
        assert reason[0].isupper(), name


@pytest.mark.parametrize(
    ("axis", "lit"),
    [((1, 0, 0), "X"), ((0, 2, 0), "Y"), ((0, 0, 0.1), "Z"), ((-1, 0, 0), ""), ((1, 0.1, 0), ""), ((0, 0, 0), "")],
)
def test_the_button_of_the_axis_that_is_set_is_lit(axis: tuple[float, ...], lit: str) -> None:
    assert "".join(name for i, name in enumerate("XYZ") if panels.is_along(axis, i)) == lit


def test_shortcuts_take_no_key_of_blenders() -> None:
    manager: Any = bpy.context.window_manager
    active = manager.keyconfigs.active.name
    wanted = {(keymap, key) for keymap, key, modified, _ in preferences.SHORTCUTS if modified}
    above = ("3D View", "3D View Generic", "Object Non-modal", "Screen", "Window", "Frames", "User Interface")
    wanted |= {(name, key) for _, key in wanted for name in above}
    try:
        for preset in PRESETS:
            folder = next(iter(bpy.utils.preset_paths("keyconfig")))
            assert bpy.utils.keyconfig_set(os.path.join(folder, f"{preset}.py"))  # noqa: PTH118  # Blender wants a text
            maps = manager.keyconfigs.active.keymaps
            assert len(maps) > 50
            taken = [
                (preset, found.name, item.idname)
                for found in maps
                for item in found.keymap_items
                if (found.name, item.type) in wanted and (item.any or (item.ctrl and item.shift and not item.alt))
            ]
            assert not taken
    finally:
        manager.keyconfigs.active = manager.keyconfigs[active]


# Each operator and option says what it is, under a name of its own; texts are broken by the room that there is.


# But for those of a joint limit, of which each type shows its own: hinge and cone both have Min and Max.
OWNERS = {"Object": bpy.types.Object, "Chain": FabrikChain, "Overlay": FabrikOverlay}


def options_of(rna: Any) -> list[Any]:
    return [prop for prop in rna.properties if prop.identifier != "rna_type"]


def names_twice(properties: Iterable[Any]) -> list[str]:
    """The names that more than one of the shown properties has."""
    shown = {prop.identifier: prop.name for prop in properties if not prop.is_hidden}
    names = Counter(shown.values())
    return [name for name, count in names.items() if count > 1]


def test_an_operator_and_its_options_have_tooltips_and_different_names() -> None:
    for name in dir(bpy.ops.fabrik):
        rna = getattr(bpy.ops.fabrik, name).get_rna_type()
        told = {name: rna.description}
        for option in options_of(rna):
            assert option.name, (name, option.identifier)
            told[option.identifier] = option.description
            if option.type == "ENUM":
                told |= {f"{option.identifier} {item.identifier}": item.description for item in option.enum_items}
        for what, text in told.items():  # Blender puts the full stop
            assert text[:1].isupper(), (name, what)
            assert not text.endswith("."), (name, what)
        assert not names_twice(options_of(rna)), name


@pytest.mark.parametrize("name", OWNERS)
def test_settings_beside_each_other_have_different_names(name: str) -> None:
    found: Any = OWNERS[name].bl_rna.properties
    assert not names_twice(prop for prop in found if name != "Object" or prop.identifier.startswith("fabrik"))


TEXT = "Held back by limits: upper_arm.L, chest, forearm.L"


@pytest.mark.parametrize("room", [1, 3, 7, 12, 20, 100])
def test_no_line_is_wider_than_the_room_and_nothing_is_lost(room: int) -> None:
    lines = lines_of(TEXT, room, len)
    assert all(len(line) <= room for line in lines)
    assert "".join(lines).replace(" ", "") == TEXT.replace(" ", "")


def test_words_that_have_room_stay_whole_and_lines_are_full() -> None:
    lines = lines_of(TEXT, 20, len)
    assert lines == ["Held back by limits:", "upper_arm.L, chest,", "forearm.L"]


def test_there_is_a_line_where_there_is_no_text() -> None:
    assert lines_of("", 20, len) == [""]


def test_a_text_is_as_wide_as_blender_draws_it_at_its_scale() -> None:
    narrow, wide = text_width(bpy.context, "iii"), text_width(bpy.context, "WWW")
    assert 0.0 < narrow < wide
    assert text_width(bpy.context, "WWWWWW") == pytest.approx(2.0 * wide, rel=0.1)
