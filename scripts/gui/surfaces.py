# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus, popovers, dialogs, redo panels, preferences and what modal operators write, photographed in several looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from blender import armature_of, rig_of
from gui.bodies import body, make_body, place
from gui.looks import FRAMES, Look, dressed
from gui.window import CONTEXT, MODULE, OPS, WAIT, Window, check, overridden

LOOKS = (
    Look(1.0, 0),
    Look(2.0, 0),
    Look(1.0, 0, "Light"),
    Look(1.0, 0, language="de_DE"),
    Look(2.0, 0, "Light", "de_DE"),
)
MENUS = (
    "pie", "main", "chain", "goals", "body", "walker", "start_pose", "limit", "human_joint", "animal_joint", "report",
    "steps", "chains",
)  # fmt: skip
NONE: dict[str, object] = {}
ODD_NAMES = {"hand": "part_a", "forearm": "part_b", "foot": "part_c", "shin": "part_d"}  # that tell of no limb


class Redone(NamedTuple):
    """An operator whose redo panel is looked at.

    Attributes:
        name: Of the operator.
        options: What it is called with.
        prepare: What it needs beforehand.
    """

    name: str
    options: dict[str, object] = NONE
    prepare: Callable[[], object] = bool


def _arm() -> Any:
    """The chain of the left arm."""
    return next(chain for chain in rig_of(body()).chains if chain.tip_bone == "hand.L")


def _add_ik() -> None:
    """An IK constraint on an arm."""
    bone = body().pose.bones["hand.R"]
    found: Any = bone.constraints.new("IK")
    found.target, found.chain_count = _arm().target, 2


def _add_short() -> None:
    """A chain without goals beside the others, the active one."""
    OPS.fabrik.chain_add(tip_bone="forearm.L", bone_count=2)


def _walk() -> None:
    """The planned walk, switched on."""
    rig_of(body()).walker.on = True


REDONE = (
    Redone("character_setup", {"controls": "EMPTIES"}),
    Redone("chain_add", {"tip_bone": "forearm.L", "bone_count": 2}),
    Redone("chain_mirror"),
    Redone("target_add", prepare=_add_short),
    Redone("pole_add", prepare=_add_short),
    Redone("solve"),
    Redone("goal_snap"),
    Redone("pose_snap"),
    Redone("start_pose_reset"),
    Redone("from_ik", prepare=_add_ik),
    Redone("to_ik", {"chains": "ACTIVE"}),
    Redone("limit_human", {"joint": "KNEE"}),
    Redone("limit_from_bend", {"bones": "SELECTED"}),
    Redone("limit_from_ik", prepare=lambda: setattr(body().pose.bones["forearm.L"], "lock_ik_x", True)),
    Redone("pin_toggle", {"which": "ACTIVE"}),
    Redone("orientation_set", {"orientation": "KEEP"}),
    Redone("body_bone_set", {"source": "FIND"}),
    Redone("balance_masses", {"by": "LENGTH"}),
    Redone("bake", {"frame_start": FRAMES[0], "frame_end": FRAMES[1], "chains": "ACTIVE"}),
    Redone("walker_add"),
    Redone("walk_plan", {"frame_start": FRAMES[0], "frame_end": FRAMES[1]}),
    Redone("walk_bake", {"into": "GOALS"}, _walk),
    Redone("walk_mark", prepare=_walk),
    Redone("drag", {"bone": "hips", "way": (0.0, 0.0, -0.1)}),
)


def _middle(window: Window) -> tuple[int, int]:
    region = window.region("WINDOW")
    return region.x + region.width // 2, region.y + region.height * 2 // 3


def _closed(window: Window, at: tuple[int, int]) -> Iterator[float]:
    yield from window.key("ESC", at)
    yield WAIT


def _shown(window: Window, name: str, show: Callable[[], object]) -> Iterator[float]:
    """Open something under the mouse, take its picture, and leave it by Esc."""
    at = _middle(window)
    yield from window.move(at)
    with window.context():
        show()
    yield WAIT
    yield from window.picture(name, away=False)
    yield from _closed(window, at)


def _menus(window: Window, name: str) -> Iterator[float]:
    for menu in MENUS:
        call = OPS.wm.call_menu_pie if menu == "pie" else OPS.wm.call_menu
        yield from _shown(window, f"{name}_menu_{menu}", partial(call, "INVOKE_DEFAULT", name=f"FABRIK_MT_{menu}"))
    panel = "FABRIK_PT_overlay"
    yield from _shown(window, f"{name}_popover_overlay", lambda: OPS.wm.call_panel("INVOKE_DEFAULT", name=panel))


def _dialogs(window: Window, name: str) -> Iterator[float]:
    """What asks before it does something; that of the set-up for a rig whose bones have names that tell nothing."""
    for operator in ("bake", "chain_remove_all"):
        call = getattr(OPS.fabrik, operator)
        yield from _shown(window, f"{name}_dialog_{operator}", partial(call, "INVOKE_DEFAULT"))
    for bone in list(armature_of(body()).bones):
        stem, _, side = bone.name.partition(".")
        bone.name = f"{ODD_NAMES.get(stem, stem)}.{side}" if side else stem
    with window.context():
        OPS.fabrik.chain_remove_all()
    yield from _shown(
        window, f"{name}_dialog_character_setup", lambda: OPS.fabrik.character_setup("INVOKE_DEFAULT", plan="HUMAN")
    )
    yield from _taken_back(window)
    for operator in ("mapping_export", "mapping_import"):
        yield from _browsed(window, f"{name}_files_{operator}", operator)


def _browsed(window: Window, name: str, operator: str) -> Iterator[float]:
    """The file browser of an operator, in place of the 3D View."""
    with window.context():
        getattr(OPS.fabrik, operator)("INVOKE_DEFAULT")
    yield 2.0 * WAIT
    browser = next(area for area in window.window.screen.areas if area.type == "FILE_BROWSER")
    at = browser.x + browser.width // 2, browser.y + browser.height // 2
    yield from window.move(at)
    yield WAIT
    yield from window.grab(name)
    space: Any = browser.spaces.active
    region = next(region for region in browser.regions if region.type == "WINDOW")
    with overridden(window=window.window, area=browser, region=region, space_data=space):
        bpy.ops.file.cancel()
    yield 2.0 * WAIT


def _taken_back(window: Window) -> Iterator[float]:
    """Back to the last step that was kept."""
    with window.context():
        OPS.ed.undo_push(message="to be undone")
        bpy.ops.ed.undo()
    yield WAIT


def _redo_panels(window: Window, name: str) -> Iterator[float]:
    for one in REDONE:
        with window.context():
            one.prepare()
            done = getattr(OPS.fabrik, one.name)("EXEC_DEFAULT", True, **one.options)
        check(f"{one.name} is done, to look at its options", "FINISHED" in done)
        yield from _shown(window, f"{name}_redo_{one.name}", lambda: OPS.screen.redo_last("INVOKE_DEFAULT"))
        with window.context():
            bpy.ops.ed.undo()
        yield WAIT


def _modals(window: Window, name: str) -> Iterator[float]:
    """Header and status bar while something is dragged, waited for, or led."""
    hand = window.seen(place("hand.R").lerp(place("hand.R", "tail"), 0.1))
    for operator, at in (("drag_pick", hand), ("drag", hand), ("walk_by_hand", window.seen(place("hips")))):
        yield from window.move(at)
        with window.context():
            getattr(OPS.fabrik, operator)("INVOKE_DEFAULT")
        yield WAIT
        there = (at[0] - 30, at[1] + 20)
        yield from window.move(there)
        yield WAIT
        yield from window.picture(f"{name}_modal_{operator}", away=False)
        yield from _closed(window, there)


def _preferences(window: Window, name: str) -> Iterator[float]:
    """The extension's own, from their top to their end, in place of the 3D View."""
    area = window.area
    at = area.x + area.width * 2 // 3, area.y + area.height // 2
    preferences: Any = CONTEXT.preferences
    preferences.active_section = "ADDONS"
    CONTEXT.window_manager.addon_search = "FABRIK"
    area.type = "PREFERENCES"
    yield WAIT
    with overridden(window=window.window, area=area):
        bpy.ops.preferences.addon_expand(module=MODULE)
    yield from window.move(at)
    for page in range(1, 5):
        yield WAIT
        yield from window.grab(f"{name}_preferences_{page}")
        for _ in range(8):
            yield from window.events(("WHEELDOWNMOUSE", "PRESS"), at=at)
    with overridden(window=window.window, area=area):
        bpy.ops.preferences.addon_expand(module=MODULE)
    area.type = "VIEW_3D"
    yield WAIT


def _heard(look: Look) -> None:
    """Our words in the language are said: Blender looks in its own dictionary first, where some mean another thing."""
    told: Any = bpy.app.translations.pgettext_iface
    ours = import_module(f"{MODULE}.translations").LANGUAGES[look.language]
    other = {text: told(text, context) for (context, text), own in ours.items() if told(text, context) != own}
    check(f"Blender says all our {len(ours)} words ({look.language}) {other or ''}", not other)


def _tooltips(window: Window, name: str) -> Iterator[float]:
    """Of two buttons and a switch of the sidebar."""
    for button in ("Live", "Overlay", "Solve"):
        at = window.button(button)
        yield from window.move((at[0], at[1] + 3))
        yield from window.move(at)
        yield 1.5
        yield from window.picture(f"{name}_tooltip_{button.lower()}", away=False)
        yield from window.move(_middle(window))
        yield WAIT


def _begin(window: Window) -> Iterator[float]:
    """A character with goals, joint limits, a baked arm and a planned walk; every surface begins with it."""
    yield from make_body(window)
    owner = body()
    with window.context():
        OPS.fabrik.character_setup(controls="EMPTIES", use_walker=True)
    hips = owner.pose.bones["hips"]
    for frame, way in zip(FRAMES, (0.0, 0.6), strict=True):
        hips.location.z = way
        hips.keyframe_insert("location", frame=frame)
    CONTEXT.scene.frame_set(1)
    armature_of(owner).bones.active = armature_of(owner).bones["forearm.L"]
    arm = _arm()
    rig_of(owner).active_index = list(rig_of(owner).chains).index(arm)
    arm.target.location += Vector((-0.1, -0.1, 0.2))
    with window.context():
        OPS.fabrik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1], chains="ACTIVE")
        OPS.fabrik.walk_plan(frame_start=FRAMES[0], frame_end=FRAMES[1])
        rig_of(owner).walker.on = False
        rig_of(owner).live = False
        for chain in rig_of(owner).chains:
            chain.enabled = chain.pin or chain.target is not None
        OPS.ed.undo_push(message="a character")
    yield WAIT


def surfaces(window: Window) -> Iterator[float]:
    """All of them in all looks."""
    preferences: Any = CONTEXT.preferences
    preferences.view.filebrowser_display_type = "SCREEN"
    yield from _begin(window)
    for look in LOOKS:
        if not (yield from dressed(window, look)):
            continue
        if look.language != "en_US":
            _heard(look)
        for part in (_menus, _dialogs, _redo_panels, _modals, _tooltips, _preferences):
            yield from part(window, look.name)
