# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures for the tests, and Blender's own evaluation of them, which is the judge."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from fabrik_addon.maths import distance
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Vector

Point = Sequence[float]


class Bone(NamedTuple):
    """A bone to be made; it hangs on the bone before it in the list unless `parent` says otherwise."""

    head: Point
    tail: Point
    roll: float = 0.0
    parent: int | None = -1
    connect: bool = False


def make_armature(bones: Sequence[Bone], name: str = "Rig") -> bpy.types.Object:
    """An armature object with bones b0, b1, ...; active, in Object mode."""
    data = bpy.data.armatures.new(name)
    owner = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    made: list[bpy.types.EditBone] = []
    for i, bone in enumerate(bones):
        new = data.edit_bones.new(f"b{i}")
        new.head, new.tail, new.roll = bone.head, bone.tail, bone.roll
        parent = i - 1 if bone.parent == -1 else bone.parent
        if parent is not None and parent >= 0:
            new.parent = made[parent]
            new.use_connect = bone.connect
        made.append(new)
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner


def make_line(count: int, length: float = 1.0, bend: float = 0.1) -> bpy.types.Object:
    """A chain of connected bones up along Z that zigzags by `bend` along Y; its X axes are the axes of the bend."""
    points = [(0.0, bend * length * (i % 2), i * length) for i in range(count + 1)]
    return make_armature([Bone(points[i], points[i + 1], connect=i > 0) for i in range(count)])


def make_empty(location: Point, name: str = "Target") -> bpy.types.Object:
    """An empty in the scene."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    empty.location = location
    return empty


def add_chain(owner: bpy.types.Object, target: Point | None = None, tip: str = "", count: int = 0) -> FabrikChain:
    """A chain by the operator, with an empty as its target."""
    bpy.context.view_layer.objects.active = owner
    bpy.ops.fabrik.chain_add(tip_bone=tip or owner.pose.bones[-1].name, bone_count=count)
    chain: FabrikChain = owner.fabrik.chains[-1]
    if target is not None:
        chain.target = make_empty(target)
    return chain


def run(name: str, *arguments: object, **options: object) -> set[str]:
    """Call an operator of ours."""
    operator: Callable[..., set[str]] = getattr(bpy.ops.fabrik, name)
    return operator(*arguments, **options)


def armature(owner: bpy.types.Object) -> bpy.types.Armature:
    """The data of an armature object."""
    data = owner.data
    assert isinstance(data, bpy.types.Armature)
    return data


def chain_bones(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """The original pose bones of a chain, root to tip."""
    tip = owner.pose.bones[chain.tip_bone]
    bones = [tip, *tip.parent_recursive]
    return bones[: chain.bone_count or len(bones)][::-1]


def evaluated_joints(owner: bpy.types.Object, chain: FabrikChain) -> list[Vector]:
    """World positions of all heads and the tip's tail, as Blender evaluates them."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = owner.evaluated_get(depsgraph)
    bones = [evaluated.pose.bones[bone.name] for bone in chain_bones(owner, chain)]
    return [evaluated.matrix_world @ point for point in [*(bone.head for bone in bones), bones[-1].tail]]


def chain_length(joints: Sequence[Vector]) -> float:
    """Sum of the distances between joints."""
    return sum(distance(a, b) for a, b in itertools.pairwise(joints))


def tip_error(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """Distance of the evaluated tip from the evaluated target, as a share of the chain's length."""
    joints = evaluated_joints(owner, chain)
    target = chain.target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
    return distance(joints[-1], target) / chain_length(joints)


def channels(owner: bpy.types.Object) -> list[tuple[float, ...]]:
    """All rotation channels of all bones, for comparing bit by bit."""
    bones: Iterable[Any] = owner.pose.bones
    return [
        (*bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle, *bone.location, *bone.scale)
        for bone in bones
    ]


def select(owner: bpy.types.Object, *names: str) -> None:
    """Pose mode with exactly the named bones selected, the first one active."""
    bpy.ops.object.mode_set(mode="POSE")
    for bone in owner.pose.bones:
        selectable = bone if hasattr(bone, "select") else bone.bone
        selectable.select = bone.name in names
    owner.data.bones.active = owner.data.bones[names[0]] if names else None


def press(name: str, **options: object) -> None:
    """Run an operator of the add-on."""
    getattr(bpy.ops.fabrik, name)(**options)


def overridden(owner: bpy.types.Object, folder: Path) -> bpy.types.Object:
    """A library override of an armature, the active object of a scene with nothing else; its file is in a folder."""
    name = owner.name
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        into.objects = [name]
    override = bpy.data.objects[name].override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(override)
    bpy.context.view_layer.objects.active = override
    return override
