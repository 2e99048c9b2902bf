# SPDX-License-Identifier: GPL-3.0-or-later
"""Real rigs posed limb by limb, and characters before and after one click: made, posed, judged, saved and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import cos, degrees, radians, sin
from pathlib import Path
from random import Random
from typing import TypeAlias

import bpy
from fabrik_addon.maths import V3
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.schema.chain import FabrikChain
from mathutils import Vector
from picture import BODY, PIN, Drawing, draw_rig, save

from blender import OPS, armature_of, quiet, rig_of
from dev.humans import HUMANS, make_human
from environment import say
from rigs import (
    SPIDER_LEGS,
    BoneRow,
    empty_file,
    end_of,
    give_hinge,
    make_armature,
    make_spider,
    metarig,
    row_of_bones,
)

HEADER = (
    f"{'rig':<10} {'chain':<12} {'bones':>5}  {'status':<9} {'tip error':>10} {'passes':>6} {'limit violation':>16}"
)
KNEE = (None, 140.0)  # degrees: from straight on


@dataclass(frozen=True)
class Limb:
    """A chain to be made."""

    name: str  # its name
    tip: str  # last bone
    count: int  # number of bones
    move: V3  # where the target goes from the tip's rest position, as a share of the chain's length, in world space
    # by bone the least and greatest angle from the rest pose about the axis of its bend there, in degrees; positive
    # bends further, and None is as far as straight
    hinges: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    pole: bool = False  # whether it gets a pole


DemoRig: TypeAlias = tuple[Callable[[], bpy.types.Object], Sequence[Limb], V3]  # makes it in an empty file; view


def _spider_limbs() -> tuple[Limb, ...]:
    random, limbs = Random(8), []
    for leg in SPIDER_LEGS:
        move = (random.uniform(-0.12, 0.12), random.uniform(-0.12, 0.12), random.uniform(0.0, 0.3))
        limbs.append(Limb(f"leg {leg}", f"tarsus.{leg}", 4, move))
    return tuple(limbs)


def _tentacle() -> bpy.types.Object:
    names = [f"tentacle.{i:02d}" for i in range(60)]
    return make_armature("tentacle", row_of_bones(names, [(0, 0, i / 20) for i in range(61)]))


def _human_limbs() -> tuple[Limb, ...]:
    moves = {"L": ((-0.63, -0.7, 0.08), (0.0, -0.47, 0.37)), "R": ((0.58, 0.44, -0.18), (0.0, 0.43, 0.2))}
    limbs = []
    for side, (arm, leg) in moves.items():
        limbs.append(Limb(f"arm.{side}", f"forearm.{side}", 2, arm, {f"forearm.{side}": KNEE}, pole=True))
        limbs.append(Limb(f"leg.{side}", f"shin.{side}", 2, leg, {f"shin.{side}": KNEE}, pole=True))
    return tuple(limbs)


def _wolf_limbs() -> tuple[Limb, ...]:
    moves = {
        "front": {"L": (0.0, -0.38, 0.25), "R": (0.0, 0.3, 0.08)},
        "hind": {"L": (0.0, 0.3, 0.12), "R": (0.0, -0.45, 0.12)},
    }
    limbs = []
    for end, prefix in (("front", "front_"), ("hind", "")):
        for side, move in moves[end].items():
            hinges = {f"{prefix}shin.{side}": (None, 100.0), f"{prefix}foot.{side}": (-45.0, 25.0)}
            limbs.append(Limb(f"{end} leg.{side}", f"{prefix}foot.{side}", 3, move, hinges))
    return tuple(limbs)


RIGS: dict[str, DemoRig] = {  # what makes each, its chains, and where it is looked at from
    "human": (partial(metarig, "human"), _human_limbs(), (1.0, -0.9, 0.3)),
    "wolf": (partial(metarig, "wolf"), _wolf_limbs(), (1.0, -0.45, 0.25)),
    "spider": (make_spider, _spider_limbs(), (0.5, -1.0, 0.7)),
    "tentacle": (_tentacle, (Limb("tentacle", "tentacle.59", 0, (0.0, -0.5, -0.55)),), (1.0, -0.5, 0.3)),
}


def pose_limbs(out: Path) -> int:
    """Pose every rig; returns how many chains did not reach their targets, or stand outside a limit."""
    print(HEADER)
    failed = 0
    for i, (name, rig) in enumerate(RIGS.items(), 1):
        say(f"[{i}/{len(RIGS)}] {name}")
        with quiet():
            owner = _pose(out / name, *rig)
        failed += _print_rows(name, owner)
    print("\ntip error: share of the chain's length, as Blender evaluates it")
    return failed


def _pose(file: Path, make: Callable[[], bpy.types.Object], limbs: Sequence[Limb], view: V3) -> bpy.types.Object:
    empty_file()
    owner = make()
    bpy.context.view_layer.objects.active = owner
    for limb in limbs:
        _add(owner, limb)
    bpy.context.view_layer.update()
    before = draw_rig(owner)
    OPS.fabrik.solve_all()
    after = draw_rig(owner)
    bpy.ops.object.mode_set(mode="POSE")
    owner.show_in_front = True
    save(file, [before, after], view)
    return owner


def _add(owner: bpy.types.Object, limb: Limb) -> None:
    for name, (low, high) in limb.hinges.items():
        axis, bent = _bend(armature_of(owner).bones[name])
        give_hinge(owner.pose.bones[name], -bent if low is None else low, high, axis)
    OPS.fabrik.chain_add(tip_bone=limb.tip, bone_count=limb.count, use_target=True, use_pole=limb.pole)
    chain = rig_of(owner).chains[-1]
    chain.target.location += Vector(limb.move) * _length(_joints(owner, chain))
    chain.name = limb.name


def _bend(bone: bpy.types.Bone) -> tuple[Vector, float]:
    """The axis in armature space about which the limb goes on at rest, and by how many degrees."""
    after = next((child.head_local for child in bone.children), bone.tail_local)
    before, along = bone.head_local - bone.parent.head_local, after - bone.head_local
    return before.cross(along).normalized(), degrees(before.angle(along))


def update() -> None:
    """Evaluate."""
    bpy.context.view_layer.update()


def worst_violation(owner: bpy.types.Object, bones: Iterable[bpy.types.PoseBone]) -> float:
    """How far any of some bones stands outside its limit, in degrees, by its evaluated matrix."""
    worst = 0.0
    for bone in bones:
        local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        rotation = local.to_quaternion()
        worst = max(worst, read_limit(bone, rotation).violation(rotation))
    return degrees(worst)


def _joints(owner: bpy.types.Object, chain: FabrikChain) -> list[Vector]:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = resolve_bones(evaluated, chain)
    return [evaluated.matrix_world @ point for point in [*(bone.head for bone in bones), bones[-1].tail]]


def _length(joints: Sequence[Vector]) -> float:
    return float(sum((b - a).length for a, b in pairwise(joints)))


def _print_rows(name: str, owner: bpy.types.Object) -> int:
    failed = 0
    for chain in rig_of(owner).chains:
        joints = _joints(owner, chain)
        error = (joints[-1] - chain.target.matrix_world.translation).length / _length(joints)
        violation = worst_violation(owner, resolve_bones(owner, chain))
        failed += chain.status != "REACHED" or violation > 0.01
        print(
            f"{name:<10} {chain.name:<12} {len(joints) - 1:>5}  {chain.status:<9} {error:>10.1e} {chain.passes:>6}"
            f" {violation:>12.5f} deg",
            flush=True,
        )
    return failed


# ---- characters

LEG_JOINTS = ((0.15, 0.0), (0.35, 0.1), (0.8, 0.5), (1.15, -0.1))  # distance from the body, and height above it
CHARACTER_HEADER = f"{'character':<22} {'chains':>6} {'pinned':>6} {'reached':>8} {'feet moved':>11}"
PIXELS = (490, 455)
FOOT = 0.08  # share of the greatest side up to which a bone is of a foot that stands
ROUND = 0.09  # the same, by which the floor is larger than what stands on it
IN_PLACE = 1e-3  # of the size, that a pinned foot may move
SPIDER_PAIRS, CENTIPEDE_PAIRS = 4, 8  # on each side


@dataclass(frozen=True)
class Character:
    """A character, and how it is posed after its set-up; ways are shares of its greatest side."""

    name: str  # of its picture
    make: Callable[[], bpy.types.Object]  # makes the armature object, the active one, in an empty file
    body: V3  # by how much the body is dragged
    # by how much the targets of chains are moved from where they then are
    goals: dict[str, V3] = field(default_factory=dict)
    freed: tuple[str, ...] = ()  # chains whose pins are taken away before that, since their feet are lifted
    look: V3 | None = None  # where the head looks, from where its target is made; None where it goes along
    view: V3 = (1.0, -1.0, 0.3)  # direction from which it is looked at


def _spider() -> bpy.types.Object:
    """A body on eight legs; its bones are called Bone.001 and so on, as nobody named them."""
    bones = {"Bone.001": BoneRow("", (0.0, 0.35, 0.5), (0.0, -0.35, 0.5))}
    for i in range(SPIDER_PAIRS):
        _add_legs(bones, "Bone.001", (0.0, radians(70.0 - 46.0 * i)), 1.0)
    return make_armature("spider", bones)


def _centipede() -> bpy.types.Object:
    """A row of segments, each with two legs."""
    names = [f"Bone.{i + 1:03d}" for i in range(CENTIPEDE_PAIRS)]
    bones = row_of_bones(names, [(0.0, 1.6 - 0.4 * i, 0.3) for i in range(CENTIPEDE_PAIRS + 1)])
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
    print(f"\n{CHARACTER_HEADER}")
    for character in CHARACTERS:
        say(f"character: {character.name}")
        with quiet():
            owner = _made(character)
            stage = _stage(owner)
            before = _drawn(stage(), owner, [])
            OPS.fabrik.character_setup(controls="EMPTIES")
            planted = _pinned(owner)
            _pose_character(character, owner)
            after = _drawn(stage(), owner, _enabled(owner))
            save(out / character.name, [before, after], character.view)
        failed += _print_character(character.name, owner, planted)
    return failed


def _made(character: Character) -> bpy.types.Object:
    empty_file()
    owner = character.make()
    bpy.context.view_layer.objects.active = owner
    update()
    return owner


def _pose_character(character: Character, owner: bpy.types.Object) -> None:
    """Drag the body bone as the mouse does, then move targets and solve."""
    size = _size(owner)
    for name in character.freed:
        rig_of(owner).chains[name].pin = False
    body = owner.pose.bones[rig_of(owner).body_bone]
    OPS.fabrik.drag(bone=body.name, end="HEAD", way=size * Vector(character.body))
    update()
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


def _print_character(name: str, owner: bpy.types.Object, planted: dict[str, Vector]) -> int:
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
