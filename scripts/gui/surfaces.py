# SPDX-License-Identifier: GPL-3.0-or-later
"""All that is drawn: pie, search, list, help and preferences used, and everything photographed in several looks."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse

import addon_utils
import bpy
from mathutils import Vector

from blender import OPS, armature_of, limit_of, overlay_of, rig_of

from .bodies import body, make_body, place
from .window import CONTEXT, MODULE, WAIT, Window, check, leg, make_leg, overridden, pose_of

ROWS = 76, 98  # pixels below the sidebar's top at scale 1 at which the first rows of the list stand


def _leg() -> bpy.types.Object:
    """A leg with a chain of thigh and shin and a chain of the foot, both with targets out of place."""
    owner = make_leg()
    for tip, count in (("shin", 2), ("foot", 1)):
        OPS.fabrik.chain_add(tip_bone=tip, bone_count=count, use_target=True)
    rig_of(owner).chains["shin"].target.location = (0.0, -0.5, 0.6)
    OPS.fabrik.chain_move(direction="UP")
    return owner


def _type(window: Window, text: str, at: tuple[int, int]) -> Iterator[float]:
    for letter in text:
        kind = "SPACE" if letter == " " else letter.upper()
        window.simulate(type=kind, value="PRESS", unicode=letter, x=at[0], y=at[1])
        window.simulate(type=kind, value="RELEASE", x=at[0], y=at[1])
        yield 0.05


def at_hand(window: Window) -> Iterator[float]:
    """All of it."""
    with window.context():
        owner = _leg()
        bpy.ops.view3d.view_axis(type="RIGHT")
    overlay_of(CONTEXT.scene).show = False
    yield from window.scroll("UP")
    for part in (_piled, _searched, _listed, _helped, _preferred):
        yield from part(window, owner)


def _piled(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """The pie by its key, and Solve in it."""
    rig_of(owner).active_index = [chain.name for chain in rig_of(owner).chains].index("shin")
    at = window.middle(0.33)
    yield from window.move(at)
    yield from window.press(at, "F", ctrl=True, shift=True)
    yield from window.picture("12_pie", away=False)
    yield from window.click_at((at[0] - 120, at[1]))
    chain = rig_of(leg()).chains["shin"]
    check(f"Solve in the pie solves ({chain.status})", chain.status == "REACHED")
    yield from window.do(lambda: OPS.fabrik.goal_select(role="target"))
    chain.target.location.z += 0.1
    before = pose_of(owner)
    yield WAIT
    yield from window.press(at, "F", ctrl=True, shift=True)
    yield from window.click_at((at[0] - 120, at[1]))
    check("and in Object Mode, with the target active", pose_of(leg()) != before)
    with window.context():
        CONTEXT.view_layer.objects.active = leg()
        bpy.ops.object.mode_set(mode="POSE")


def _searched(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """An operator of a submenu, found by its name."""
    at = window.middle(0.33)
    armature_of(owner).bones.active = armature_of(owner).bones["shin"]
    limit_of(owner.pose.bones["shin"]).limit = "HINGE"
    yield from window.move(at)
    yield from window.do(lambda: OPS.wm.search_menu("INVOKE_DEFAULT"))
    yield from _type(window, "hinge axis z", at)
    yield WAIT
    yield from window.picture("14_search", away=False)
    yield from window.press(at, "RET")
    axis = tuple(limit_of(leg().pose.bones["shin"]).axis)
    check(f"what stands in a menu is found by the search ({axis})", axis == (0.0, 0.0, 1.0))


def _listed(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """A click on a bone switches the list, a click in the list picks the bone."""
    for bone, chain in (("foot", "foot"), ("thigh", "shin"), ("foot", "foot")):
        found = leg()
        pose: Any = found.pose.bones[bone]
        yield from window.click_at(window.seen(found.matrix_world @ Vector((pose.head + pose.tail) / 2)))
        now = leg()
        check(f"the bone {bone} is clicked", armature_of(now).bones.active.name == bone)
        check(f"and the list shows {chain}", rig_of(now).active.name == chain)
    index = rig_of(leg()).active_index
    side, scale = window.region("UI"), CONTEXT.preferences.system.ui_scale
    yield from window.click_at((side.x + int(side.width * 0.3), int(side.y + side.height - ROWS[1 - index] * scale)))
    now = leg()
    check("a click in the list chooses the other chain", rig_of(now).active.name == "shin")
    check("and its tip is the active bone", armature_of(now).bones.active.name == "shin")
    selected = [bone.name for bone in CONTEXT.selected_pose_bones]
    check(f"and the only selected one ({selected})", selected == ["shin"])
    yield from window.picture("15_list")
    yield from window.undo()
    now = leg()
    both = armature_of(now).bones.active.name, rig_of(now).active.name
    check(f"the click is undone in one step, list and bone {both}", both == ("foot", "foot"))


def _helped(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """F1 over a button, and the question mark of a panel, lead to files that are there."""
    opened: list[str] = []
    browser: Any = webbrowser
    usual, browser.open = browser.open, lambda url, *_, **__: opened.append(url)
    try:
        for name, button in (("F1", "Solve"), ("the question mark", "Posing ?")):
            at = window.button(button)
            yield from window.move((at[0], at[1] + 3))
            yield from window.move(at)
            yield WAIT
            if name == "F1":
                yield from window.key("F1", at)
            else:
                yield from window.click_at(at)
            yield WAIT
            files = [Path(unquote(urlparse(url).path)) for url in opened]
            check(f"{name} opens one page, that is there {[file.name for file in files]}", len(files) == 1)
            check("and is HTML of the extension", all(file.is_file() and file.suffix == ".html" for file in files))
            opened.clear()
    finally:
        browser.open = usual


def _preferred(window: Window, owner: bpy.types.Object) -> Iterator[float]:
    """The preferences in a window of their own, in which nothing is wrong."""
    yield from window.do(lambda: OPS.preferences.addon_show(module=MODULE))
    yield 1.0
    manager = bpy.context.window_manager
    check("the preferences have a window", len(manager.windows) == 2)
    warnings: Any = addon_utils
    warnings._is_first_reset()
    told = warnings._extensions_warnings_get()
    check(f"and warn of nothing {dict(told)}", not told)
    form: Mapping[str, str] = import_module(f"{MODULE}.kernel").FORM
    check(f"the solver is {form}", form["kind"] == "compiled")
    other = next(found for found in manager.windows if found != window.window)
    with overridden(window=other):
        OPS.wm.window_close()
    yield WAIT


# ---- pictures in several looks

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


LOOKS = (
    Look(1.0, 0),
    Look(2.0, 0),
    Look(1.0, 0, "Light"),
    Look(1.0, 0, language="de_DE"),
    Look(2.0, 0, "Light", "de_DE"),
)
MENUS = (  # ours, and that of Blender's own in which they stand
    "pie", "main", "chain", "goals", "body", "walker", "start_pose", "limit", "human_joint", "animal_joint", "report",
    "steps", "chains", "VIEW3D_MT_pose",
)  # fmt: skip
ODD_NAMES = {"hand": "part_a", "forearm": "part_b", "foot": "part_c", "shin": "part_d"}  # that tell of no limb


def _arm(side: str = "L") -> Any:
    """The chain of an arm."""
    return next(chain for chain in rig_of(body()).chains if chain.tip_bone == f"hand.{side}")


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


REDONE: dict[str, dict[str, object]] = {  # operators whose redo panels are looked at, and what they are called with
    "character_setup": {"controls": "EMPTIES"},
    "chain_add": {"tip_bone": "forearm.L", "bone_count": 2},
    "chain_mirror": {},
    "flip_pose": {"bones": "ALL"},
    "target_add": {},
    "pole_add": {},
    "solve": {},
    "goal_snap": {},
    "pose_snap": {},
    "start_pose_reset": {},
    "from_ik": {},
    "to_ik": {"chains": "ACTIVE"},
    "limit_human": {"joint": "KNEE"},
    "limit_from_bend": {"bones": "SELECTED"},
    "limit_from_ik": {},
    "pin_toggle": {"which": "ACTIVE"},
    "orientation_set": {"orientation": "KEEP"},
    "body_bone_set": {"source": "FIND"},
    "balance_masses": {"by": "LENGTH"},
    "bake": {"frame_start": FRAMES[0], "frame_end": FRAMES[1], "chains": "ACTIVE"},
    "walker_add": {},
    "walk_plan": {"frame_start": FRAMES[0], "frame_end": FRAMES[1]},
    "walk_bake": {"into": "GOALS"},
    "walk_mark": {},
    "drag": {"bone": "hips", "way": (0.0, 0.0, -0.1)},
}
PREPARED: dict[str, Callable[[], object]] = {  # what some of them need beforehand
    "target_add": _add_short,
    "pole_add": _add_short,
    "from_ik": _add_ik,
    "limit_from_ik": lambda: setattr(body().pose.bones["forearm.L"], "lock_ik_x", True),
    "walk_bake": _walk,
    "walk_mark": _walk,
}


def _shown(window: Window, name: str, show: Callable[[], object]) -> Iterator[float]:
    """Open something under the mouse, take its picture, and leave it by Esc."""
    at = window.middle(y=0.67)
    yield from window.move(at)
    with window.context():
        show()
    yield WAIT
    yield from window.picture(name, away=False)
    yield from window.cancel(at)


def _menus(window: Window, name: str) -> Iterator[float]:
    for menu in MENUS:
        call = OPS.wm.call_menu_pie if menu == "pie" else OPS.wm.call_menu
        full = menu if menu.startswith("VIEW3D") else f"FABRIK_MT_{menu}"
        yield from _shown(window, f"{name}_menu_{menu}", partial(call, "INVOKE_DEFAULT", name=full))
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
    yield from window.do(OPS.fabrik.chain_remove_all)
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
    yield from window.push("to be undone")
    yield from window.undo()


def _redo_panels(window: Window, name: str) -> Iterator[float]:
    for operator, options in REDONE.items():
        with window.context():
            PREPARED.get(operator, bool)()
            done = getattr(OPS.fabrik, operator)("EXEC_DEFAULT", True, **options)
        check(f"{operator} is done, to look at its options", "FINISHED" in done)
        yield from _shown(window, f"{name}_redo_{operator}", lambda: OPS.screen.redo_last("INVOKE_DEFAULT"))
        yield from window.undo()


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
        yield from window.cancel(there)


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
        yield from window.move(window.middle(y=0.67))
        yield WAIT


def _character(window: Window, prepare: Callable[[], object]) -> Iterator[float]:
    """A character with goals, a baked arm and a planned walk; what is prepared comes before the bake."""
    yield from make_body(window)
    owner = body()
    yield from window.do(lambda: OPS.fabrik.character_setup(controls="EMPTIES", use_walker=True))
    hips = owner.pose.bones["hips"]
    for frame, way in zip(FRAMES, (0.0, 0.6), strict=True):
        hips.location.z = way
        hips.keyframe_insert("location", frame=frame)
    CONTEXT.scene.frame_set(1)
    armature_of(owner).bones.active = armature_of(owner).bones["forearm.L"]
    rig_of(owner).active_index = list(rig_of(owner).chains).index(_arm())
    prepare()
    with window.context():
        OPS.fabrik.bake(frame_start=FRAMES[0], frame_end=FRAMES[1], chains="ACTIVE")
        OPS.fabrik.walk_plan(frame_start=FRAMES[0], frame_end=FRAMES[1])
        rig_of(owner).walker.on = False
        for chain in rig_of(owner).chains:
            chain.enabled = chain.pin or chain.target is not None


def _moved(side: str, way: tuple[float, float, float]) -> None:
    """Move the target of an arm."""
    _arm(side).target.location += Vector(way)


def surfaces(window: Window) -> Iterator[float]:
    """All of them in all looks."""
    preferences: Any = CONTEXT.preferences
    preferences.view.filebrowser_display_type = "SCREEN"
    yield from _character(window, lambda: _moved("L", (-0.1, -0.1, 0.2)))
    with window.context():
        rig_of(body()).live = False
        OPS.ed.undo_push(message="a character")
    yield WAIT
    for look in LOOKS:
        if not (yield from dressed(window, look)):
            continue
        if look.language != "en_US":
            _heard(look)
        for part in (_menus, _dialogs, _redo_panels, _modals, _tooltips, _preferences):
            yield from part(window, look.name)


NARROW = 190  # pixels at scale 1 of the narrowest sidebar, its tabs included
WIDE = 300
PAGE = 0.85  # of the height of the sidebar that is scrolled from picture to picture
PAGES = 24  # more than there are
PANEL_LOOKS = (
    Look(1.0, NARROW),
    Look(1.0, WIDE, "Light"),
    Look(1.0, NARROW, "Light"),
    Look(2.0, NARROW),
    Look(2.0, NARROW, "Light"),
    Look(1.0, NARROW, language="de_DE"),
    Look(2.0, NARROW, language="de_DE"),
    Look(1.0, WIDE, language="de_DE"),
)


def _opened_panels() -> None:
    """Register the panels of the tab anew, none closed."""
    ui = import_module(f"{MODULE}.ui")
    panels = [found for found in ui.CLASSES if getattr(found, "bl_category", "") == "FABRIK"]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    for panel in panels:  # by another name, since the sidebar keeps by their names which ones are closed
        panel.bl_idname = f"{panel.__name__}_open"
        if getattr(panel, "bl_parent_id", ""):
            panel.bl_parent_id += "_open"
        panel.bl_options = set(getattr(panel, "bl_options", ())) - {"DEFAULT_CLOSED"}
        bpy.utils.register_class(panel)


def _blocked() -> None:
    """An arm that its limits hold back, and another that reaches; the overlay shows them."""
    bones, rig = body().pose.bones, rig_of(body())
    hinge = limit_of(bones["forearm.L"])
    hinge.limit, hinge.angle_min, hinge.angle_max = "HINGE", -0.1, 0.1
    limit_of(bones["upper_arm.L"]).limit = "LOCKED"
    rig.spine, rig.body_stiffness = 0.0, 1.0
    _moved("L", (-0.4, -0.1, 0.5))
    _moved("R", (0.1, -0.1, 0.1))
    overlay_of(CONTEXT.scene).show = True


def _made_wide(window: Window, width: int) -> Iterator[float]:
    """Drag the edge of the sidebar until it has a width."""
    side = window.region("UI")
    yield from window.pull((side.x - 1, side.y + side.height // 2), (1 + side.width - width, 0), 4)


def _pages(window: Window, name: str) -> Iterator[float]:
    """Pictures of the tab from its top to its end."""
    side = window.region("UI")
    at: Callable[[float, float], tuple[float, float]] = getattr(side.view2d, "region_to_view")
    context = {"window": window.window, "area": window.area, "region": side}
    with overridden(**context):
        bpy.ops.view2d.pan(deltay=100000)
    for page in range(1, PAGES + 1):
        yield from window.picture(f"{name}_{page}")
        before = at(0, 0)[1]
        with overridden(**context):
            bpy.ops.view2d.pan(deltay=-int(PAGE * side.height))
        yield WAIT
        if abs(at(0, 0)[1] - before) < 1.0:
            return


def panels(window: Window) -> Iterator[float]:
    """The panels in all looks."""
    _opened_panels()
    yield from _character(window, _blocked)
    yield from window.do(OPS.fabrik.solve_all)
    found = {chain.status for chain in rig_of(body()).chains}
    check(f"a chain is reached and one is blocked ({', '.join(sorted(found))})", {"REACHED", "BLOCKED"} <= found)
    for look in PANEL_LOOKS:
        if not (yield from dressed(window, look)):
            continue
        setattr(window.region("UI"), "active_panel_category", "FABRIK")
        yield from _made_wide(window, int(look.width * look.scale))
        got = window.region("UI").width / look.scale
        check(f"the sidebar is as wide as wanted ({look.name}: {got:.0f})", abs(got - look.width) < 12)
        yield from _pages(window, look.name)
