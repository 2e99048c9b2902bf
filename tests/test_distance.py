# SPDX-License-Identifier: GPL-3.0-or-later
"""How far it is from a press to a pose: calls of the add-on's functions, modules, readings of a figure, and its size.

Every number is a ceiling. A change that brings one down lowers it here; something new that needs more makes its room
first, or raises it and says for what. Calls are counted one by one; how much time they take does not matter. They are
those of Python 3.11: later ones do not call comprehensions. They are rounded up a little, for Python goes through sets
in another order in each run. `-s` shows what was counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from cProfile import Profile
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import bpy
import fabrik_addon
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.recognise.find import recognise
from fabrik_addon.recognise.words import words_of
from fabrik_addon.rig.figure import reader
from mathutils import Vector

from dev.walking_rigs import ahead
from support.scenes import add_chain, keyed, make_line, many_limbs, press, update
from support.skeletons import make_character
from support.walks import key_way

# Calls of functions of the add-on, but for the kernel; modules that these are in; full readings of a figure.
CALLS = {
    "solve one leg": (451, 39, 0),
    "live frame, 8 limbs by curves": (74, 14, 0),
    "live frame, character": (120, 19, 0),
    "drag of the hips: begin": (1_310, 34, 1),
    "drag of the hips: step": (80, 19, 0),
    "drag of the hips: end": (3_380, 48, 1),
    "set up character": (47_585, 64, 2),
    "plan walk, 250 frames": (142_960, 88, 5),
    "bake, 8 limbs, a chain and frame": (4, 52, 8),
    "bake, character, a frame": (39, 54, 1),
}
SIZE = {
    "files": 216,
    "lines": 59_805,
    "record types": 163,
    'files that compare "AIM"': 0,
    'files that compare "HEAD"': 5,
}
READING = reader._figure.__name__  # of the function that reads a figure in full, from bones to solver
LIMBS = 8
BAKED = WALKED = 250  # frames

SOURCES = Path(__file__).parents[1] / "fabrik_addon"
LOADED = str(Path(fabrik_addon.__file__).parent)
INTERPRETED = str(Path(LOADED, "kernel"))  # which is compiled elsewhere, and then calls nothing that could be counted


class Distance(NamedTuple):
    """What one use went through."""

    calls: int
    modules: int
    readings: int


def is_counted(path: str) -> bool:
    """Whether a file is one of the add-on, and not of the kernel."""
    return path.startswith(LOADED) and not path.startswith(INTERPRETED)


def distance_of(use: Callable[[], object], times: int = 1) -> Distance:
    """What a use goes through, handlers that Blender calls meanwhile included; calls each of `times`, readings all."""
    profile = Profile(builtins=False)
    profile.enable()
    try:
        use()
    finally:
        profile.disable()
    found = Counter[CodeType]()
    for entry in profile.getstats():
        code = entry.code
        if isinstance(code, CodeType) and is_counted(code.co_filename):
            found[code] += entry.callcount
    readings = sum(count for code, count in found.items() if code.co_name == READING)
    return Distance(found.total() // times, len({code.co_filename for code in found}), readings)


def leg() -> Iterator[tuple[str, Distance]]:
    """The second press on a leg of three bones."""
    owner = make_line(3)
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    press("solve")
    chain.target.location.x = 0.2
    update()
    yield "solve one leg", distance_of(lambda: press("solve"))


def keyed_limbs() -> bpy.types.Object:
    """Limbs beside each other, whose targets move by their own curves; live."""
    owner = many_limbs(LIMBS)
    for chain in owner.fabrik.chains:
        place = chain.target.location.copy()
        keyed(chain.target, {1: place})
        keyed(chain.target, {BAKED: place + Vector((0.2, -0.6, 0.1))})
    update()
    return owner


def limbs() -> Iterator[tuple[str, Distance]]:
    """A frame of playback, and a bake."""
    owner, scene = keyed_limbs(), bpy.context.scene
    for frame in (2, 3, 4):
        scene.frame_set(frame)
    yield "live frame, 8 limbs by curves", distance_of(lambda: scene.frame_set(5))
    owner.fabrik.live = False
    update()
    bake = distance_of(lambda: press("bake", frame_start=1, frame_end=BAKED), LIMBS * BAKED)
    yield "bake, 8 limbs, a chain and frame", bake


def keyed_character() -> bpy.types.Object:
    """Arms and legs of a human on moving hips, whose control bones are keyed; live."""
    owner = make_character("human_mixamo")
    press("character_setup")
    chains = owner.fabrik.chains
    for name in [chain.name for chain in chains if not chain.name.startswith(("Arm", "Leg"))]:
        chains.remove(chains.find(name))
    for i, chain in enumerate(chains):
        bone = owner.pose.bones[chain.target_bone]
        for frame, size in ((1, 0.0), (20, 0.05), (BAKED, -0.05)):
            bone.location = (size, -size, size * (i + 1) / 4.0)
            bone.rotation_quaternion = (1.0, size, 0.0, 0.0)
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    owner.fabrik.live = True
    update()
    return owner


def character() -> Iterator[tuple[str, Distance]]:
    """A frame of playback, a drag, and a bake."""
    owner, scene = keyed_character(), bpy.context.scene
    for frame in (2, 3, 4):
        scene.frame_set(frame)
    yield "live frame, character", distance_of(lambda: scene.frame_set(5))
    owner.fabrik.live = False
    update()
    yield from drag(owner)
    yield "bake, character, a frame", distance_of(lambda: press("bake", frame_start=1, frame_end=BAKED), BAKED)


def drag(owner: bpy.types.Object) -> Iterator[tuple[str, Distance]]:
    """The hips of a body taken, moved twice, and let go."""
    context, held = bpy.context, list[Any]()
    hips = Grip(owner.fabrik.body_bone, "TAIL")
    yield "drag of the hips: begin", distance_of(lambda: held.append(begin(context, owner, hips)))
    (one,) = held
    drag_to(context, one, one.place + Vector((0.02, 0.0, -0.04)))
    further = one.place + Vector((0.03, 0.0, -0.05))
    yield "drag of the hips: step", distance_of(lambda: drag_to(context, one, further))
    yield "drag of the hips: end", distance_of(lambda: finish(context, one))


def set_up() -> Iterator[tuple[str, Distance]]:
    """Set Up Character on an imported human; its names are split into words before, as any earlier test may do."""
    for bone in make_character("human_mixamo").pose.bones:
        words_of(bone.name)
    recognise.cache_clear()
    yield "set up character", distance_of(lambda: press("character_setup"))


def walk() -> Iterator[tuple[str, Distance]]:
    """The walk of that human planned, along its keyed hips."""
    owner = make_character("human_mixamo")
    press("character_setup", use_walker=True)
    key_way(owner, owner.fabrik.body_bone, ahead(4.0), (1, WALKED))
    update()
    yield "plan walk, 250 frames", distance_of(lambda: press("walk_plan", frame_start=1, frame_end=WALKED))


@pytest.mark.parametrize("use", [leg, limbs, character, set_up, walk])
def test_calls_modules_and_readings_stay_few(use: Callable[[], Iterator[tuple[str, Distance]]]) -> None:
    for name, found in use():
        shown = f"{name:<40}{found.calls:>9,} calls{found.modules:>5} modules{found.readings:>5} readings"
        sys.stdout.write(f"{shown}\n")
        assert all(one <= most for one, most in zip(found, CALLS[name], strict=True)), (name, found, CALLS[name])


def sources() -> dict[str, str]:
    """The text of each module of the add-on by its dotted name."""
    return {
        ".".join(path.relative_to(SOURCES).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in sorted(SOURCES.rglob("*.py"))
    }


def is_record(node: ast.AST) -> bool:
    """Whether a statement makes a type that is there to hold fields."""
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [ast.unparse(one) for one in (*node.decorator_list, *node.bases)]
    return any(re.match(r"(typing\.)?NamedTuple|(dataclasses\.)?dataclass", mark) for mark in marks)


def compared(node: ast.AST) -> set[object]:
    """The constants with which an expression or a case compares something."""
    is_comparison = isinstance(node, ast.Compare | ast.MatchValue)
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)} if is_comparison else set()


def is_part(module: str) -> bool:
    """Whether a module means the part of a body by "HEAD", and not the end of a bone."""
    return module.startswith("recognise.")


def size() -> dict[str, int]:
    """How large the add-on is, and how scattered."""
    texts = sources()
    nodes = {name: [*ast.walk(ast.parse(text))] for name, text in texts.items()}
    words = [set[object]().union(*map(compared, own)) for own in nodes.values()]
    return {
        "files": len(texts),
        "lines": sum(len(text.splitlines()) for text in texts.values()),
        "record types": sum(is_record(node) for own in nodes.values() for node in own),
        'files that compare "AIM"': sum("AIM" in found for found in words),
        'files that compare "HEAD"': sum(
            "HEAD" in found for name, found in zip(texts, words, strict=True) if not is_part(name)
        ),
    }


def test_the_add_on_stays_small() -> None:
    found = size()
    for name, count in found.items():
        sys.stdout.write(f"{name:<40}{count:>9,}\n")
    assert {name: count for name, count in found.items() if count > SIZE[name]} == {}
