# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs by tables of bones, and their limits, for tests, benchmark and demo; the extension has to be enabled."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from math import cos, pi, radians, sin
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import addon_utils
import bpy
from mathutils import Matrix, Vector

from blender import OPS, limit_of

if TYPE_CHECKING:
    from fabrik_addon.rig.schema import FabrikChain

SPIDER_LEGS = [f"{side}{i}" for side in "LR" for i in range(1, 5)]
SPIDER_ANGLES = (60.0, 20.0, -20.0, -62.0)  # degrees of the legs of a side from straight out, the foremost one first
SPIDER_PARTS = ("coxa", "femur", "tibia", "tarsus")
SPIDER_JOINTS = ((0.25, 0.55), (0.4, 0.6), (0.95, 1.05), (1.45, 0.55), (1.65, 0.0))  # distance from the middle, height
SPIDER_RANGES = {"coxa": (-40.0, 40.0), "femur": (-60.0, 60.0), "tibia": (-70.0, 60.0), "tarsus": (-30.0, 80.0)}
UP = Vector((0.0, 0.0, 1.0))
DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
CREATURES, SKELETONS = DATA / "creatures", DATA / "skeletons"
FOX = CREATURES / "fox.glb"  # with its own walk
FOX_CYCLE = CREATURES / "fox_walk_and_run.json"


class BoneRow(NamedTuple):
    """A bone of a table, which stands below its parent's."""

    parent: str  # name of the bone above; "" for none
    head: Sequence[float]  # in armature space
    tail: Sequence[float]  # in armature space
    is_connected: bool = True  # whether its head is its parent's tail
    roll: float = 0.0  # radians
    z_axis: Sequence[float] | None = None  # where its Z axis points, in place of a roll


def empty_file() -> None:
    """Begin anew."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def make_armature(name: str, bones: Mapping[str, BoneRow]) -> bpy.types.Object:
    """An armature of the open file with the bones of a table; the active object, in Object mode."""
    data = bpy.data.armatures.new(name)
    owner = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, row in bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.roll = row.head, row.tail, row.roll
        if row.z_axis:
            bone.align_roll(Vector(row.z_axis))
        if row.parent:
            bone.parent, bone.use_connect = data.edit_bones[row.parent], row.is_connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner


def skeleton(name: str) -> bpy.types.Object:
    """A character that was imported once and is kept as a table, where it stood; the active object."""
    told = json.loads((SKELETONS / f"{name}.json").read_text(encoding="utf-8"))
    rows = {
        bone: BoneRow(parent, head, tail, is_connected, z_axis=z_axis)
        for bone, parent, head, tail, z_axis, is_connected in told["bones"]
    }
    owner = make_armature(name, rows)
    owner.matrix_world = Matrix(told["world"])
    bpy.context.view_layer.update()
    return owner


def row_of_bones(names: Sequence[str], joints: Sequence[Sequence[float]], parent: str = "") -> dict[str, BoneRow]:
    """The table of a limb: bones from joint to joint, the first of them below `parent` without touching it."""
    above = [parent, *names[:-1]]
    rows = zip(names, above, joints, joints[1:], strict=False)
    return {name: BoneRow(up, head, tail, i > 0) for i, (name, up, head, tail) in enumerate(rows)}


def add_empty(name: str, place: Sequence[float] = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    """An empty of the open file's scene."""
    empty = bpy.data.objects.new(name, None)
    empty.location = place
    bpy.context.scene.collection.objects.link(empty)
    return empty


def add_ik(bone: bpy.types.PoseBone, target: bpy.types.Object, count: int) -> bpy.types.KinematicConstraint:
    """Blender's own IK on a bone's tail, for so many bones."""
    constraint = bone.constraints.new("IK")
    assert isinstance(constraint, bpy.types.KinematicConstraint)
    constraint.target, constraint.use_tail, constraint.chain_count = target, True, count
    return constraint


def bend_axis(bone: bpy.types.PoseBone) -> Vector:
    """The axis in armature space about which a bone goes on from its parent at rest."""
    rest = bone.bone
    return (rest.parent.tail_local - rest.parent.head_local).cross(rest.tail_local - rest.head_local).normalized()


def give_hinge(bone: bpy.types.PoseBone, low: float, high: float, axis: Vector) -> None:
    """A hinge by degrees from the rest pose, about an axis in armature space."""
    limit = limit_of(bone)
    limit.limit, limit.axis = "HINGE", bone.bone.matrix_local.to_3x3().inverted() @ axis
    limit.angle_min, limit.angle_max = radians(low), radians(high)


def give_cone(bone: bpy.types.PoseBone, swing: float, twist: float) -> None:
    """A round cone by degrees, twist limited to both sides."""
    limit = limit_of(bone)
    limit.limit, limit.use_twist, limit.cone_max = "CONE", True, radians(swing)
    limit.twist_min, limit.twist_max = radians(-twist), radians(twist)


def import_gltf(path: Path) -> bpy.types.Object:
    """The armature of a glTF file, imported into the open one by Blender's own importer; the active object."""
    addon_utils.enable("io_scene_gltf2", default_set=True, persistent=True)
    OPS.import_scene.gltf(filepath=str(path))
    owner = next(found for found in bpy.data.objects if found.type == "ARMATURE")
    if "Icosphere" in bpy.data.objects:  # the importer's shape for bones
        bpy.data.objects.remove(bpy.data.objects["Icosphere"])
    bpy.context.view_layer.objects.active = owner
    return owner


def end_of(chain: FabrikChain) -> Vector:
    """Where the effector of a chain stands in the world, as Blender evaluates it."""
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object)
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = evaluated.pose.bones[chain.tip_bone]
    return evaluated.matrix_world @ (tip.head if chain.effector == "HEAD" else tip.tail)


def metarig(kind: str) -> bpy.types.Object:
    """One of Rigify's metarigs, the active object."""
    addon_utils.enable("rigify", default_set=True, persistent=True)
    with contextlib.redirect_stdout(io.StringIO()):
        getattr(OPS.object, f"armature_{kind}_metarig_add")()
    return bpy.context.object


def make_spider() -> bpy.types.Object:
    """A body and eight legs of four bones with hinges, "coxa.L1" to "tarsus.R4"; it looks along -Y."""
    bones = {"body": BoneRow("", (0.0, -0.35, 0.55), (0.0, 0.35, 0.55))}
    for leg in SPIDER_LEGS:
        angle = radians(SPIDER_ANGLES[int(leg[1]) - 1])
        angle = angle if leg[0] == "L" else pi - angle
        joints = [(r * cos(angle), r * sin(angle), z) for r, z in SPIDER_JOINTS]
        bones |= row_of_bones([f"{part}.{leg}" for part in SPIDER_PARTS], joints, "body")
    owner = make_armature("spider", bones)
    for bone in owner.pose.bones:
        part = bone.name.partition(".")[0]
        if part in SPIDER_RANGES:
            give_hinge(bone, *SPIDER_RANGES[part], UP if part == "coxa" else bend_axis(bone))
    return owner
