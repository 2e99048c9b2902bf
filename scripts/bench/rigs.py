# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for live posing and baking: separate limbs in one armature, targets that move, and who is to follow them."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin, tau
from random import Random

import bpy
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Vector

SPACING = 3.0
LENGTH = 1.0  # of each limb
SKIN_VERTICES = 40000
BEND = 2.6  # radians to which hinges turn either way
RIGHT_ANGLE = 1.5707963
CONTEXT = bpy.context


@dataclass(frozen=True, slots=True)
class Rig:
    """An armature with limbs and a target for each; good until the next file.

    Attributes:
        owner: The armature object.
        tips: Names of the limbs' last bones.
        targets: Objects.
        bones: Of each limb.
    """

    owner: bpy.types.Object
    tips: list[str]
    targets: list[bpy.types.Object]
    bones: int


def make_rig(chains: int, bones: int, others: int = 0) -> Rig:
    """A file made anew with an armature of limbs that bend a little.

    Args:
        chains: Number of limbs.
        bones: Of each limb.
        others: Bones besides, in rows of ten, which no limb has.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    data = bpy.data.armatures.new("rig")
    owner = bpy.data.objects.new("rig", data)
    CONTEXT.scene.collection.objects.link(owner)
    CONTEXT.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    step = LENGTH / bones
    for chain in range(chains):
        ends = [Vector((SPACING * chain, 0.1 * step * (i % 2), step * i)) for i in range(bones + 1)]
        _add_bones(data, [f"c{chain}_{i}" for i in range(bones)], ends)
    for row in range(0, others, 10):
        names = [f"other_{i}" for i in range(row, min(row + 10, others))]
        _add_bones(data, names, [Vector((SPACING * row / 10, 5.0, 0.1 * i)) for i in range(len(names) + 1)])
    bpy.ops.object.mode_set(mode="OBJECT")
    tips = [f"c{chain}_{bones - 1}" for chain in range(chains)]
    targets = [_empty(f"target {tip}") for tip in tips]
    return Rig(owner, tips, targets, bones)


def _add_bones(data: bpy.types.Armature, names: list[str], ends: list[Vector]) -> None:
    parent: bpy.types.EditBone | None = None
    for i, name in enumerate(names):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = ends[i], ends[i + 1]
        bone.parent, bone.use_connect = parent, parent is not None
        parent = bone


def _empty(name: str) -> bpy.types.Object:
    empty = bpy.data.objects.new(name, None)
    CONTEXT.scene.collection.objects.link(empty)
    return empty


def animate(rig: Rig, frames: int, step: int, turn: float) -> None:
    """Key the targets along circles within reach.

    Args:
        rig: Whose targets move.
        frames: Up to which they are keyed.
        step: Frames from key to key.
        turn: Radians a frame.
    """
    random = Random(5)
    for i, target in enumerate(rig.targets):
        phase = random.uniform(0.0, 6.0)
        for frame in range(1, frames + step, step):
            angle = phase + turn * frame
            target.location = (SPACING * i + 0.3 * cos(angle), 0.4, 0.55 + 0.25 * sin(angle))
            target.keyframe_insert("location", frame=frame)


def animate_round(rig: Rig, frames: int) -> None:
    """Key the targets at each frame, once round."""
    animate(rig, frames, 1, tau / frames)


def key_others(rig: Rig, frames: int) -> None:
    """Key the bones that no limb has, at both ends of a range of frames."""
    for bone in rig.owner.pose.bones:
        if bone.name.startswith("other_"):
            for frame, angle in ((1, 0.0), (frames, 0.3)):
                bone.rotation_quaternion = (cos(angle), sin(angle), 0.0, 0.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)


def add_poles(rig: Rig) -> list[bpy.types.Object]:
    """Poles before the limbs, and hinges about the axis of their bend, for us and for Blender."""
    poles = []
    for i in range(len(rig.tips)):
        pole = _empty(f"pole {i}")
        pole.location = (SPACING * i, 4.0, 0.5)
        poles.append(pole)
    for bone in rig.owner.pose.bones:
        if not bone.name.endswith("_0"):
            limit = limit_of(bone)
            limit.limit = "HINGE"
            limit.axis, limit.angle_min, limit.angle_max = (1.0, 0.0, 0.0), -BEND, BEND
            bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
            bone.ik_min_x, bone.ik_max_x = -BEND, BEND
    return poles


def add_skin(rig: Rig) -> None:
    """A mesh that the limbs deform."""
    mesh = bpy.data.meshes.new("skin")
    random = Random(1)
    each, bones = SKIN_VERTICES // len(rig.tips), rig.bones
    points = [
        Vector((SPACING * chain + random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), LENGTH * k / each))
        for chain in range(len(rig.tips))
        for k in range(each)
    ]
    mesh.from_pydata(points, [], [])
    skin = bpy.data.objects.new("skin", mesh)
    CONTEXT.scene.collection.objects.link(skin)
    deform = skin.modifiers.new("rig", "ARMATURE")
    assert isinstance(deform, bpy.types.ArmatureModifier)
    deform.object = rig.owner
    for chain in range(len(rig.tips)):
        for i in range(bones):
            group = skin.vertex_groups.new(name=f"c{chain}_{i}")
            first = chain * each
            group.add(list(range(first + each * i // bones, first + each * (i + 1) // bones)), 1.0, "REPLACE")


def add_ik(bone: bpy.types.PoseBone) -> bpy.types.KinematicConstraint:
    """Blender's own IK on a bone."""
    constraint = bone.constraints.new("IK")
    assert isinstance(constraint, bpy.types.KinematicConstraint)
    return constraint


def with_blender_ik(rig: Rig, poles: list[bpy.types.Object]) -> None:
    """Let Blender's own IK follow the targets."""
    for i, (tip, target) in enumerate(zip(rig.tips, rig.targets, strict=True)):
        constraint = add_ik(rig.owner.pose.bones[tip])
        constraint.target, constraint.chain_count, constraint.use_tail = target, rig.bones, True
        if poles:
            constraint.pole_target, constraint.pole_angle = poles[i], RIGHT_ANGLE


def with_chains(rig: Rig, poles: list[bpy.types.Object]) -> None:
    """Make a chain of each limb."""
    for i, (tip, target) in enumerate(zip(rig.tips, rig.targets, strict=True)):
        chain = rig_of(rig.owner).chains.add()
        chain.name, chain.tip_bone, chain.bone_count, chain.target = tip, tip, rig.bones, target
        if poles:
            chain.pole = poles[i]


def worst_error(rig: Rig, frames: range) -> float:
    """The worst distance of a tip from its target, as Blender evaluates it, as a share of the limb's length."""
    worst = 0.0
    for frame in frames:
        CONTEXT.scene.frame_set(frame)
        depsgraph = CONTEXT.evaluated_depsgraph_get()
        poses = rig.owner.evaluated_get(depsgraph).pose.bones
        for tip, target in zip(rig.tips, rig.targets, strict=True):
            goal: Vector = target.evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (rig.owner.matrix_world @ poses[tip].tail - goal).length / LENGTH)
    return worst


def found_again(rig_names: tuple[str, list[str], list[str], int]) -> Rig:
    """The rig of a file that was opened again."""
    owner, tips, targets, bones = rig_names
    return Rig(bpy.data.objects[owner], tips, [bpy.data.objects[name] for name in targets], bones)


def names_of(rig: Rig) -> tuple[str, list[str], list[str], int]:
    """What `found_again` finds it by."""
    return rig.owner.name, rig.tips, [target.name for target in rig.targets], rig.bones
