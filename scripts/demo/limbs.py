# SPDX-License-Identifier: GPL-3.0-or-later
"""Real rigs posed limb by limb: made, posed, judged by Blender's evaluation, saved and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import degrees
from pathlib import Path
from random import Random

import bpy
from fabrik_addon.maths import V3
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.schema.chain import FabrikChain
from mathutils import Vector
from picture import draw_rig, save

from blender import OPS, armature_of, quiet, rig_of
from environment import say
from rigs import SPIDER_LEGS, empty_file, give_hinge, import_gltf, make_armature, make_spider, metarig, row_of_bones

HEADER = (
    f"{'rig':<10} {'chain':<12} {'bones':>5}  {'status':<9} {'tip error':>10} {'passes':>6} {'limit violation':>16}"
)
KNEE = (None, 140.0)  # degrees: from straight on


@dataclass(frozen=True)
class Limb:
    """A chain to be made.

    Attributes:
        name: Its name.
        tip: Last bone.
        count: Number of bones.
        move: Where the target goes from the tip's rest position, as a share of the chain's length, in world space.
        hinges: By bone the least and greatest angle from the rest pose about the axis of its bend there, in degrees;
            positive bends further, and None is as far as straight.
        pole: Whether it gets a pole.
    """

    name: str
    tip: str
    count: int
    move: V3
    hinges: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    pole: bool = False


@dataclass(frozen=True)
class DemoRig:
    """A rig of the demo.

    Attributes:
        name: Of its files.
        make: Makes the armature object, the active one, in an empty file.
        limbs: Its chains.
        view: Direction from which it is looked at.
        body: Draw the skin, too.
    """

    name: str
    make: Callable[[], bpy.types.Object]
    limbs: tuple[Limb, ...]
    view: V3
    body: bool = False


def _gltf(path: Path) -> bpy.types.Object:
    owner = import_gltf(path)
    owner.animation_data_clear()
    for bone in owner.pose.bones:
        bone.matrix_basis.identity()
    return owner


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


def _character_limbs() -> tuple[Limb, ...]:
    return (
        Limb("arm.L", "Node_17", 2, (0.6, -0.5, 0.4), {"Node_17": KNEE}, pole=True),
        Limb("arm.R", "Node_14", 2, (-0.15, 0.2, -0.15), {"Node_14": KNEE}, pole=True),
        Limb("leg.L", "Node_8", 2, (0.5, 0.0, 0.45), {"Node_8": KNEE}, pole=True),
        Limb("leg.R", "Node_4", 2, (-0.45, 0.0, 0.15), {"Node_4": KNEE}, pole=True),
    )


def demo_rigs(folder: Path) -> list[DemoRig]:
    """The rigs; the glTF character where its file is in `folder`."""
    rigs = [
        DemoRig("human", lambda: metarig("human"), _human_limbs(), (1.0, -0.9, 0.3)),
        DemoRig("wolf", lambda: metarig("wolf"), _wolf_limbs(), (1.0, -0.45, 0.25)),
        DemoRig("spider", make_spider, _spider_limbs(), (0.5, -1.0, 0.7)),
        DemoRig(
            "tentacle",
            _tentacle,
            (Limb("tentacle", "tentacle.59", 0, (0.0, -0.5, -0.55)),),
            (1.0, -0.5, 0.3),
        ),
    ]
    character = folder / "cesium_man.gltf"
    if character.exists():
        make = lambda: _gltf(character)  # noqa: E731
        rigs.insert(2, DemoRig("character", make, _character_limbs(), (1.0, -0.8, 0.3), body=True))
    return rigs


def pose_limbs(out: Path, rigs: Path) -> int:
    """Pose every rig; returns how many chains did not reach their targets, or stand outside a limit."""
    print(HEADER)
    failed = 0
    found = demo_rigs(rigs)
    for i, rig in enumerate(found):
        say(f"[{i + 1}/{len(found)}] {rig.name}")
        with quiet():
            owner = _pose(rig, out)
        failed += _print_rows(rig, owner)
    print("\ntip error: share of the chain's length, as Blender evaluates it")
    return failed


def _pose(rig: DemoRig, out: Path) -> bpy.types.Object:
    empty_file()
    owner = rig.make()
    bpy.context.view_layer.objects.active = owner
    for limb in rig.limbs:
        _add(owner, limb)
    bpy.context.view_layer.update()
    before = draw_rig(owner, rig.body)
    OPS.fabrik.solve_all()
    after = draw_rig(owner, rig.body)
    bpy.ops.object.mode_set(mode="POSE")
    owner.show_in_front = True
    save(out / rig.name, [before, after], rig.view)
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


def _print_rows(rig: DemoRig, owner: bpy.types.Object) -> int:
    failed = 0
    for chain in rig_of(owner).chains:
        joints = _joints(owner, chain)
        error = (joints[-1] - chain.target.matrix_world.translation).length / _length(joints)
        violation = worst_violation(owner, resolve_bones(owner, chain))
        failed += chain.status != "REACHED" or violation > 0.01
        print(
            f"{rig.name:<10} {chain.name:<12} {len(joints) - 1:>5}  {chain.status:<9} {error:>10.1e} {chain.passes:>6}"
            f" {violation:>12.5f} deg",
            flush=True,
        )
    return failed
