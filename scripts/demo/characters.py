# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters before and after one click: set up, then posed by dragging the body and moving a few targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import cos, radians, sin
from pathlib import Path

import bpy
from bodies import drag, update
from fabrik_addon.maths import V3, v3
from fabrik_addon.rig.schema.chain import FabrikChain
from mathutils import Vector
from picture import BODY, PIN, Drawing, save

from blender import OPS, quiet, rig_of
from dev.humans import HUMANS, make_human
from environment import say
from rigs import BoneRow, empty_file, end_of, make_armature, metarig, row_of_bones

LEG_JOINTS = ((0.15, 0.0), (0.35, 0.1), (0.8, 0.5), (1.15, -0.1))  # distance from the body, and height above it
HEADER = f"{'character':<22} {'chains':>6} {'pinned':>6} {'reached':>8} {'feet moved':>11}"
PIXELS = (490, 455)
FOOT = 0.08  # share of the greatest side up to which a bone is of a foot that stands
ROUND = 0.09  # the same, by which the floor is larger than what stands on it
IN_PLACE = 1e-3  # of the size, that a pinned foot may move
SPIDER_LEGS, CENTIPEDE_LEGS = 4, 8  # on each side


@dataclass(frozen=True)
class Character:
    """A character, and how it is posed after its set-up; ways are shares of its greatest side.

    Attributes:
        name: Of its picture.
        make: Makes the armature object, the active one, in an empty file.
        body: By how much the body is dragged.
        goals: By how much the targets of chains are moved from where they then are.
        freed: Chains whose pins are taken away before that, since their feet are lifted.
        look: Where the head looks, from where its target is made; None where it goes along.
        view: Direction from which it is looked at.
    """

    name: str
    make: Callable[[], bpy.types.Object]
    body: V3
    goals: dict[str, V3] = field(default_factory=dict)
    freed: tuple[str, ...] = ()
    look: V3 | None = None
    view: V3 = (1.0, -1.0, 0.3)


def _spider() -> bpy.types.Object:
    """A body on eight legs; its bones are called Bone.001 and so on, as nobody named them."""
    bones = {"Bone.001": BoneRow("", (0.0, 0.35, 0.5), (0.0, -0.35, 0.5))}
    for i in range(SPIDER_LEGS):
        _add_legs(bones, "Bone.001", (0.0, radians(70.0 - 46.0 * i)), 1.0)
    return make_armature("spider", bones)


def _centipede() -> bpy.types.Object:
    """A row of segments, each with two legs."""
    names = [f"Bone.{i + 1:03d}" for i in range(CENTIPEDE_LEGS)]
    bones = row_of_bones(names, [(0.0, 1.6 - 0.4 * i, 0.3) for i in range(CENTIPEDE_LEGS + 1)])
    for i, name in enumerate(names):
        _add_legs(bones, name, (1.4 - 0.4 * i, 0.0), 0.55)
    return make_armature("centipede", bones)


def _add_legs(bones: dict[str, BoneRow], parent: str, root: tuple[float, float], size: float) -> None:
    """Legs on both sides of a bone, at a place along the body, turned to the front by an angle."""
    (y, angle), height = root, bones[parent].head[2]
    for side in (1.0, -1.0):
        x, front = side * cos(angle), -sin(angle)
        points = [(size * r * x, y + size * r * front, height + size * z) for r, z in LEG_JOINTS]
        points.append((1.25 * size * x, y + 1.25 * size * front, 0.0))
        bones |= row_of_bones([f"Bone.{len(bones) + i:03d}" for i in range(1, len(points))], points, parent)


CHARACTERS = (
    Character(
        "character_mixamo",
        lambda: make_human("human_mixamo"),
        (0.05, 0.08, -0.22),
        {"Arm.L": (-0.18, -0.1, 0.2), "Arm.R": (0.15, -0.18, 0.06)},
        look=(0.35, 0.0, 0.35),
    ),
    Character(
        "character_game_engine",
        lambda: make_human(HUMANS[0]),
        (0.03, 0.0, -0.02),
        {"Arm.L": (-0.05, 0.2, -0.02), "Arm.R": (0.1, -0.2, 0.25), "Leg.L": (0.0, -0.14, 0.16)},
        freed=("Leg.L",),
        view=(1.0, -0.7, 0.25),
    ),
    Character(
        "character_wolf",
        lambda: metarig("wolf"),
        (0.0, 0.0, -0.05),
        {"Front Leg.L": (0.0, -0.12, 0.14)},
        freed=("Front Leg.L",),
        look=(0.3, 0.0, 0.05),
        view=(1.0, -0.55, 0.25),
    ),
    Character(
        "character_spider",
        _spider,
        (0.06, -0.12, -0.1),
        {"Leg 1.L": (0.0, -0.06, 0.25)},
        freed=("Leg 1.L",),
        view=(0.6, -1.0, 0.35),
    ),
    Character(
        "character_centipede",
        _centipede,
        (0.04, -0.05, 0.05),
        {"Leg 1.L": (0.0, 0.0, 0.12), "Leg 1.R": (0.0, -0.06, 0.05)},
        freed=("Leg 1.L", "Leg 1.R"),
        view=(0.8, -1.0, 0.4),
    ),
)


def pose_characters(out: Path) -> int:
    """Set all of them up, pose and draw them; returns how many chains did not reach, and feet that moved."""
    failed = 0
    print(f"\n{HEADER}")
    for character in CHARACTERS:
        say(f"character: {character.name}")
        with quiet():
            owner = _made(character)
            stage = _stage(owner)
            before = _drawn(stage(), owner, [])
            OPS.fabrik.character_setup(controls="EMPTIES")
            planted = _pinned(owner)
            _pose(character, owner)
            after = _drawn(stage(), owner, _enabled(owner))
            save(out / character.name, [before, after], character.view)
        failed += _print_row(character.name, owner, planted)
    return failed


def _made(character: Character) -> bpy.types.Object:
    empty_file()
    owner = character.make()
    bpy.context.view_layer.objects.active = owner
    update()
    return owner


def _pose(character: Character, owner: bpy.types.Object) -> None:
    """Drag the body bone as the mouse does, then move targets and solve."""
    size = _size(owner)
    for name in character.freed:
        rig_of(owner).chains[name].pin = False
    body = owner.pose.bones[rig_of(owner).body_bone]
    drag(owner, body.name, v3(owner.matrix_world @ body.head + size * Vector(character.body)))
    for name, way in character.goals.items():
        rig_of(owner).chains[name].target.location += size * Vector(way)
    if character.look is not None:
        rig_of(owner).active_index = [chain.name for chain in rig_of(owner).chains].index("Head")
        OPS.fabrik.target_add(kind="EMPTY")
        rig_of(owner).chains["Head"].target.location += size * Vector(character.look)
    update()
    OPS.fabrik.solve_all()
    update()


def _stage(owner: bpy.types.Object) -> Callable[[], Drawing]:
    """What makes drawings of a character before and after it is posed, on a floor on which all feet stand."""
    size = _size(owner)
    points = [owner.matrix_world @ point for bone in owner.pose.bones for point in (bone.head, bone.tail)]
    flat = [Vector((point.x, point.y, 0.0)) for point in points if point.z < FOOT * size]
    middle = (Vector(map(min, *flat)) + Vector(map(max, *flat))) / 2.0
    radius = max((point - middle).length for point in flat) / size + ROUND
    return partial(Drawing, floor=middle, floor_radius=radius, extent=size, pixels=PIXELS)


def _size(owner: bpy.types.Object) -> float:
    size: float = max(owner.dimensions)
    return size


def _enabled(owner: bpy.types.Object) -> list[FabrikChain]:
    return [chain for chain in rig_of(owner).chains if chain.enabled]


def _pinned(owner: bpy.types.Object) -> dict[str, Vector]:
    """Where the tips of pinned chains are."""
    return {chain.name: end_of(chain) for chain in rig_of(owner).chains if chain.pin}


def _print_row(name: str, owner: bpy.types.Object, planted: dict[str, Vector]) -> int:
    chains, size = _enabled(owner), _size(owner)
    reached = [chain for chain in chains if chain.status == "REACHED"]
    held = [chain for chain in chains if chain.pin]
    moved = max((end_of(chain) - planted[chain.name]).length / size for chain in held)
    print(f"{name:<22} {len(chains):>6} {len(held):>6} {len(reached):>8} {moved:>11.1e}", flush=True)
    return len(chains) - len(reached) + int(moved > IN_PLACE)


def _drawn(drawing: Drawing, owner: bpy.types.Object, chains: list[FabrikChain]) -> Drawing:
    """A character as Blender evaluates it now: its skin where it has one, else its bones, those of chains coloured.

    A ring is drawn where a chain is pinned, and a frame at its target with a line to it.
    """
    drawing.add_skins(BODY)
    if not drawing.skins:
        drawing.add_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()), chains)
    for chain in chains:
        if chain.pin:
            drawing.points.append((end_of(chain), PIN, "ring"))
        elif chain.target is not None:
            drawing.add_goal(end_of(chain), chain.target.matrix_world.translation.copy(), "frame")
    return drawing
