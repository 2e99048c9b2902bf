# SPDX-License-Identifier: GPL-3.0-or-later
"""The preferences of the extension, and its shortcuts."""

from __future__ import annotations

import tomllib
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from random import Random
from timeit import repeat
from typing import Any

import bpy
import rna_keymap_ui

from ..actions.chains import GOAL_KINDS, Defaults
from ..kernel import FORM, Figure, Joint, Point, Rows, Settings, Solver
from ..rig.schema.fields import HIDDEN, Options, choice, real, text, whole
from ..texts import PACKAGE, Text
from ..translations import CONTEXT, iface_
from .menus import DRAG, PIE_MENU, PIN, Entry

KEYMAPS = {"Pose": Text("Pose"), "Object Mode": Text("Object Mode"), "Dopesheet": Text("Dope Sheet")}
SPACES = {"Dopesheet": "DOPESHEET_EDITOR"}  # of keymaps that are of one kind of editor
BUILT_IN = Defaults()
FORMS = {"compiled": Text("compiled"), "interpreted": Text("interpreted")}
SHAPES = (
    ("PLAIN_AXES", "Plain Axes", "Three lines"),
    ("CUBE", "Cube", "A wire cube"),
    ("SPHERE", "Sphere", "A wire sphere"),
    ("CIRCLE", "Circle", "A circle"),
    ("CONE", "Cone", "A wire cone"),
)


CALL_PIE = Entry("wm.call_menu_pie", options={"name": PIE_MENU})
MOVE_CONTACT = Entry("fabrik.contact_move")
MOVE, TURN = Entry("fabrik.move_through_time"), Entry("fabrik.turn_through_time")
# Name of Blender's keymap, the key, whether with Ctrl and Shift, what it calls. With these they are free in both modes,
# in Blender's keymap, the industry compatible one and that of 2.7x, from 4.2 to 5.2; alone they go over Blender's own
# tools, while Through Time is on, and over what is drawn in its editors.
SHORTCUTS = (
    ("Pose", "G", True, DRAG), ("Pose", "P", True, PIN), ("Pose", "F", True, CALL_PIE), ("Pose", "G", False, MOVE),
    ("Pose", "R", False, TURN), ("Object Mode", "F", True, CALL_PIE), ("Object Mode", "G", False, MOVE),
    ("Object Mode", "R", False, TURN), ("Dopesheet", "LEFTMOUSE", False, MOVE_CONTACT),
)  # fmt: skip

ROOT = Path(__file__).parents[1]
COMPILED_AT = ROOT / "compiled_at.txt"  # the address of the compiled one, if this was built with it
AT_LEISURE = 1.0  # seconds after Blender has begun


def register(back: ExitStack) -> None:
    """Add the shortcuts, and tell of an update; in background there is no keymap, and nobody to be told."""
    if not bpy.app.background:
        bpy.app.timers.register(tell_update, first_interval=AT_LEISURE)
        back.callback(_stay_silent)
    manager: Any = bpy.context.window_manager
    configuration = manager.keyconfigs.addon if manager is not None else None
    if configuration is None:
        return
    for name, key, modified, entry in SHORTCUTS:
        keymap = configuration.keymaps.new(name=name, space_type=SPACES.get(name, "EMPTY"))
        item = keymap.keymap_items.new(entry.operator, key, "PRESS", ctrl=modified, shift=modified)
        for option, value in entry.options.items():
            setattr(item.properties, option, value)
        back.callback(keymap.keymap_items.remove, item)


def _stay_silent() -> None:
    if bpy.app.timers.is_registered(tell_update):
        bpy.app.timers.unregister(tell_update)


def tell_update() -> None:
    """Say once, after an update, that there is a newer version, and where the manual tells what changed."""
    context = bpy.context
    addon: Any = context.preferences.addons.get(PACKAGE)
    if addon is None:  # switched on for this process alone
        return
    version, manager = news_of(addon.preferences), context.window_manager
    if version and manager is not None:
        seen: Any = context.temp_override(window=manager.windows[0])
        with seen:
            manager.popup_menu(_draw_update, title=iface_("FABRIK Posing is now {version}", version=version))


def news_of(own: FABRIK_AP_preferences) -> str:
    """The version to tell of, "" for none: what is installed first is no news, nor is what was told."""
    version: str = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    before, own.seen_version = own.seen_version, version
    if before == version:
        return ""
    bpy.context.preferences.is_dirty = True  # so that Blender saves it
    return version if before else ""


def _draw_update(menu: bpy.types.UIPopupMenu, _context: bpy.types.Context) -> None:
    button: Any = menu.layout.operator("fabrik.manual", text="What Changed", icon="HELP")
    button.page = "changelog"


SORTED = 20_000  # whole numbers
COMPILED = 0.0016  # of the time of sorting these, that of a compiled solve: on x64, by Python 3.11 and 3.13
SOLVES, ROUNDS = 16, 5


@cache
def slowness() -> float:
    """How many times as long as a compiled one a solve takes here, of a chain of four bones.

    Where there is no compiled solver it can't be measured beside it. So its time is taken from that of other compiled
    code, which sorts numbers.
    """
    figure = Figure([Joint((0.0, 1.0, 0.0), (1.0, 0.1, 0.0, 0.05)) for _ in range(4)])
    rows = Rows(figure, [Point(3, (0.0, 0.0, 0.0))], SOLVES)
    for k in range(SOLVES):
        memoryview(rows.numbers)[3 * k : 3 * k + 3] = array("d", (0.5, 2.0 + 0.08 * k, 0.9))
    numbers = Random(0).sample(range(SORTED), SORTED)
    solve = partial(Solver(figure).solve_many, rows, Settings())
    return _seconds(solve) / SOLVES / (COMPILED * _seconds(partial(sorted, numbers)))


def _seconds(work: Callable[[], object]) -> float:
    """The least that a work takes."""
    return min(repeat(work, number=1, repeat=ROUNDS))


def draw_solver(layout: bpy.types.UILayout) -> None:
    """In which form the solver runs, how much slower that is, and where the compiled one is."""
    kind, reason = FORMS[FORM["kind"]], FORM["reason"]
    form = Text("{kind} ({reason})", kind=kind, reason=Text(reason)) if reason else kind
    row = layout.row()
    row.label(text=iface_("Solver: {form}", form=form))
    row.operator("fabrik.manual", icon="HELP")
    if FORM["kind"] == "compiled":
        return
    row = layout.row()
    row.label(text=iface_("It takes {times:.0f} times as long as compiled, on this machine", times=slowness()))
    if COMPILED_AT.is_file():
        address: Any = row.operator("wm.url_open", text="Get It Compiled", icon="URL")
        address.url = COMPILED_AT.read_text(encoding="utf-8").strip()


def draw_shortcuts(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """The shortcuts as the user has them, to be changed."""
    configuration: Any = context.window_manager.keyconfigs.user
    column = layout.column()
    shown = ""
    for name, _, _, entry in SHORTCUTS:
        if name != shown:
            shown = name
            column.label(text=f"{iface_(KEYMAPS[shown])}:")
        keymap = configuration.keymaps.get(name)
        found = item_of(keymap, entry) if keymap is not None else None
        if found is None:
            column.label(text="Removed: restore it in Blender's preferences, Keymap", icon="INFO")
            continue
        column.context_pointer_set("keymap", keymap)
        rna_keymap_ui.draw_kmi([], configuration, keymap, found, column, 0)


def item_of(keymap: Any, entry: Entry) -> Any:
    """The user's item for a shortcut, whatever its key is now; None where it was removed."""
    for item in keymap.keymap_items:
        same = item.idname == entry.operator
        if same and all(getattr(item.properties, name) == value for name, value in entry.options.items()):
            return item
    return None


class FABRIK_AP_preferences(Options, bpy.types.AddonPreferences):
    """Settings of things to be made"""

    bl_idname = PACKAGE

    tolerance = real(
        "Tolerance",
        "Distance from tip to target that counts as reached, as a share of the chain's length",
        min=1e-6,
        max=0.1,
        precision=6,
        default=BUILT_IN.tolerance,
    )
    max_passes = whole("Max Passes", "Greatest number of passes", min=1, default=BUILT_IN.max_passes)
    soft = real(
        "Soft",
        "Slows limbs of new chains down before they are fully stretched. A share of the chain's length; 0: off",
        min=0.0,
        soft_max=0.1,
        max=1.0,
        precision=3,
        default=BUILT_IN.soft,
    )
    start = choice(
        (
            ("REST", "Rest", "The armature's rest pose"),
            ("ANIMATED", "Animated", "The keyed pose of the frame; the rest pose for bones without keys"),
        ),
        "Start Pose",
        "Pose from which new chains start each solve",
    )
    goal_kind = choice(
        GOAL_KINDS,
        "Made As",
        "What new targets and poles are, until you choose in Add Target",
        translation_context=CONTEXT,  # in Blender's words empty is without content
    )
    target_shape = choice(SHAPES, "Target Shape", "How new targets are drawn", default=BUILT_IN.target_shape)
    pole_shape = choice(SHAPES, "Pole Shape", "How new poles are drawn", default=BUILT_IN.pole_shape)
    target_size = real(
        "Target Size",
        "Size of new targets, as a share of the chain's length; poles are drawn a little smaller",
        min=0.001,
        soft_max=1.0,
        default=BUILT_IN.target_size,
    )

    seen_version = text("Seen Version", "The version of which was told", options=HIDDEN)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.label(text="New Chains")
        for name in ("tolerance", "max_passes", "soft", "start"):
            layout.prop(self, name)
        layout.label(text="New Targets and Poles")
        for name in ("goal_kind", "target_shape", "pole_shape", "target_size"):
            layout.prop(self, name)
        layout.label(text="Shortcuts")
        draw_shortcuts(context, layout)
        draw_solver(layout)
