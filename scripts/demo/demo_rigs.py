# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigs of the demo, and the limbs on them."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, degrees, pi, radians, sin
from pathlib import Path
from random import Random

import addon_utils
import bpy
from mathutils import Vector

from blender import OPS, armature_of, limit_of


@dataclass(frozen=True)
class Hinge:
    """A hinge of a limb, by degrees from the rest pose; its axis is that of the rest pose's bend, or the one given.

    Attributes:
        bone: Name of the bone.
        low: Least angle; None for as far as straight.
        high: Greatest angle; positive bends further.
        axis: Axis in armature space, or None for that of the bend.
    """

    bone: str
    low: float | None = None
    high: float = 140.0
    axis: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Limb:
    """A chain to be made.

    Attributes:
        name: Its name.
        tip: Last bone.
        count: Number of bones.
        move: Where the target goes from the tip's rest position, as a share of the chain's length, in world space.
        hinges: Its hinges.
        pole: Whether it gets a pole.
    """

    name: str
    tip: str
    count: int
    move: tuple[float, float, float]
    hinges: tuple[Hinge, ...] = ()
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
    view: tuple[float, float, float] = (0.6, -1.0, 0.35)
    body: bool = False


def rest_hinge(owner: bpy.types.Object, hinge: Hinge) -> tuple[Vector, float, float]:
    """Axis in the bone's rest frame, least and greatest angle in radians."""
    bone = armature_of(owner).bones[hinge.bone]
    to_bone = bone.matrix_local.to_3x3().inverted()
    if hinge.axis is not None:
        return to_bone @ Vector(hinge.axis), radians(hinge.low or 0.0), radians(hinge.high)
    after = next((child.head_local for child in bone.children), bone.tail_local)
    before, along = bone.head_local - bone.parent.head_local, after - bone.head_local
    low = -degrees(before.angle(along)) if hinge.low is None else hinge.low
    return (to_bone @ before.cross(along)).normalized(), radians(low), radians(hinge.high)


def limit_hinges(owner: bpy.types.Object, limb: Limb) -> None:
    """Give the bones of a limb their hinges."""
    for hinge in limb.hinges:
        limit = limit_of(owner.pose.bones[hinge.bone])
        limit.limit = "HINGE"
        limit.axis, limit.angle_min, limit.angle_max = rest_hinge(owner, hinge)


def metarig(kind: str) -> bpy.types.Object:
    """One of Rigify's metarigs."""
    addon_utils.enable("rigify", default_set=True, persistent=True)
    with contextlib.redirect_stdout(io.StringIO()):
        getattr(OPS.object, f"armature_{kind}_metarig_add")()
    return bpy.context.object


def _gltf(path: Path) -> bpy.types.Object:
    addon_utils.enable("io_scene_gltf2", default_set=True, persistent=True)
    OPS.import_scene.gltf(filepath=str(path))
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    owner.animation_data_clear()
    for bone in owner.pose.bones:
        bone.matrix_basis.identity()
    if "Icosphere" in bpy.data.objects:
        bpy.data.objects.remove(bpy.data.objects["Icosphere"])
    return owner


Build = Callable[[bpy.types.ArmatureEditBones], None]


def built(name: str, build: Build) -> bpy.types.Object:
    """An armature of the open file, the active object, with the bones that are built in its edit mode."""
    data = bpy.data.armatures.new(name)
    owner = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    build(data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner


LEG_NAMES = [f"{side}{i}" for side in "LR" for i in range(1, 5)]


def _leg_angle(name: str) -> float:
    """Direction of a spider's leg in the plane, from the left to the back."""
    angle = radians((60, 20, -20, -62)[int(name[1]) - 1])
    return angle if name[0] == "L" else pi - angle


def spider(bones: bpy.types.ArmatureEditBones) -> None:
    """A body and eight legs of four bones; it looks along -Y."""
    body = bones.new("body")
    body.head, body.tail = (0, -0.35, 0.55), (0, 0.35, 0.55)
    for name in LEG_NAMES:
        outwards = Vector((cos(_leg_angle(name)), sin(_leg_angle(name)), 0))
        points = [
            Vector((0, 0, 0.55)) + outwards * r + Vector((0, 0, z))
            for r, z in ((0.25, 0.0), (0.4, 0.05), (0.95, 0.5), (1.45, 0.0), (1.65, -0.55))
        ]
        parent = body
        for part, (head, tail) in zip(("coxa", "femur", "tibia", "tarsus"), itertools.pairwise(points), strict=True):
            bone = bones.new(f"{part}.{name}")
            bone.head, bone.tail, bone.parent = head, tail, parent
            bone.use_connect = part != "coxa"
            parent = bone


def spider_limbs() -> tuple[Limb, ...]:
    random = Random(8)
    limbs = []
    for name in LEG_NAMES:
        move = (random.uniform(-0.12, 0.12), random.uniform(-0.12, 0.12), random.uniform(0.0, 0.3))
        hinges = (
            Hinge(f"coxa.{name}", -40, 40, axis=(0, 0, 1)),
            Hinge(f"femur.{name}", -60, 60),
            Hinge(f"tibia.{name}", -70, 60),
            Hinge(f"tarsus.{name}", -30, 80),
        )
        limbs.append(Limb(f"leg {name}", f"tarsus.{name}", 4, move, hinges))
    return tuple(limbs)


def _tentacle(bones: bpy.types.ArmatureEditBones) -> None:
    parent: bpy.types.EditBone | None = None
    for i in range(60):
        bone = bones.new(f"tentacle.{i:02d}")
        bone.head, bone.tail = (0, 0, i / 20), (0, 0, (i + 1) / 20)
        bone.parent, bone.use_connect = parent, parent is not None
        parent = bone


def _human_limbs() -> tuple[Limb, ...]:
    moves = {"L": ((-0.63, -0.7, 0.08), (0.0, -0.47, 0.37)), "R": ((0.58, 0.44, -0.18), (0.0, 0.43, 0.2))}
    limbs = []
    for side, (arm, leg) in moves.items():
        limbs.append(Limb(f"arm.{side}", f"forearm.{side}", 2, arm, (Hinge(f"forearm.{side}"),), pole=True))
        limbs.append(Limb(f"leg.{side}", f"shin.{side}", 2, leg, (Hinge(f"shin.{side}"),), pole=True))
    return tuple(limbs)


def _wolf_limbs() -> tuple[Limb, ...]:
    moves = {
        "front": {"L": (0.0, -0.38, 0.25), "R": (0.0, 0.3, 0.08)},
        "hind": {"L": (0.0, 0.3, 0.12), "R": (0.0, -0.45, 0.12)},
    }
    limbs = []
    for end, prefix in (("front", "front_"), ("hind", "")):
        for side, move in moves[end].items():
            hinges = (Hinge(f"{prefix}shin.{side}", high=100), Hinge(f"{prefix}foot.{side}", -45, 25))
            limbs.append(Limb(f"{end} leg.{side}", f"{prefix}foot.{side}", 3, move, hinges))
    return tuple(limbs)


def _character_limbs() -> tuple[Limb, ...]:
    return (
        Limb("arm.L", "Node_17", 2, (0.6, -0.5, 0.4), (Hinge("Node_17"),), pole=True),
        Limb("arm.R", "Node_14", 2, (-0.15, 0.2, -0.15), (Hinge("Node_14"),), pole=True),
        Limb("leg.L", "Node_8", 2, (0.5, 0.0, 0.45), (Hinge("Node_8"),), pole=True),
        Limb("leg.R", "Node_4", 2, (-0.45, 0.0, 0.15), (Hinge("Node_4"),), pole=True),
    )


def demo_rigs(folder: Path) -> list[DemoRig]:
    """The rigs; the glTF character where its file is in `folder`."""
    rigs = [
        DemoRig("human", lambda: metarig("human"), _human_limbs(), (1.0, -0.9, 0.3)),
        DemoRig("wolf", lambda: metarig("wolf"), _wolf_limbs(), (1.0, -0.45, 0.25)),
        DemoRig("spider", lambda: built("spider", spider), spider_limbs(), (0.5, -1.0, 0.7)),
        DemoRig(
            "tentacle",
            lambda: built("tentacle", _tentacle),
            (Limb("tentacle", "tentacle.59", 0, (0.0, -0.5, -0.55)),),
            (1.0, -0.5, 0.3),
        ),
    ]
    character = folder / "cesium_man.gltf"
    if character.exists():
        make = lambda: _gltf(character)  # noqa: E731
        rigs.insert(2, DemoRig("character", make, _character_limbs(), (1.0, -0.8, 0.3), body=True))
    return rigs
