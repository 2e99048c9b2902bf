# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for live posing and baking: separate limbs in one armature, targets that move, and who is to follow them."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from random import Random
from typing import Any

import bpy
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Vector

from rigs import BoneRow, add_empty, add_ik, empty_file, make_armature, row_of_bones

SPACING = 3.0
LENGTH = 1.0  # of each limb
SKIN_VERTICES = 40000
BEND = 2.6  # radians to which hinges turn either way
CONTEXT: Any = bpy.context


@dataclass(frozen=True, slots=True)
class Rig:
    """An armature with limbs and a target for each; good until the next file.

    Attributes:
        owner: The armature object.
        tips: Names of the limbs' last bones, whose tails are to reach.
        targets: Objects.
        counts: Of each limb's bones.
    """

    owner: Any
    tips: list[str]
    targets: list[Any]
    counts: list[int]


def make_rig(chains: int, bones: int, others: int = 0) -> Rig:
    """A file made anew with an armature of limbs that bend a little.

    Args:
        chains: Number of limbs.
        bones: Of each limb.
        others: Bones besides, in rows of ten, which no limb has.
    """
    empty_file()
    step, table = LENGTH / bones, dict[str, BoneRow]()
    for chain in range(chains):
        ends = [(SPACING * chain, 0.1 * step * (i % 2), step * i) for i in range(bones + 1)]
        table |= row_of_bones([f"c{chain}_{i}" for i in range(bones)], ends)
    for row in range(0, others, 10):
        names = [f"other_{i}" for i in range(row, min(row + 10, others))]
        table |= row_of_bones(names, [(SPACING * row / 10, 5.0, 0.1 * i) for i in range(len(names) + 1)])
    tips = [f"c{chain}_{bones - 1}" for chain in range(chains)]
    return Rig(make_armature("rig", table), tips, [add_empty(f"target {tip}") for tip in tips], [bones] * chains)


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


def key_others(rig: Rig, frames: int) -> None:
    """Key the bones that no limb has, at both ends of a range of frames."""
    for bone in rig.owner.pose.bones:
        if bone.name.startswith("other_"):
            for frame, angle in ((1, 0.0), (frames, 0.3)):
                bone.rotation_quaternion = (cos(angle), sin(angle), 0.0, 0.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)


def add_poles(rig: Rig) -> list[Any]:
    """Poles before the limbs, and hinges about the axis of their bend, for us and for Blender."""
    for bone in rig.owner.pose.bones:
        if not bone.name.endswith("_0"):
            limit = limit_of(bone)
            limit.limit = "HINGE"
            limit.axis, limit.angle_min, limit.angle_max = (1.0, 0.0, 0.0), -BEND, BEND
            bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
            bone.ik_min_x, bone.ik_max_x = -BEND, BEND
    return [add_empty(f"pole {i}", (SPACING * i, 4.0, 0.5)) for i in range(len(rig.tips))]


def add_skin(rig: Rig) -> None:
    """A mesh that the limbs deform."""
    mesh = bpy.data.meshes.new("skin")
    random, chains, bones = Random(1), len(rig.tips), rig.counts[0]
    each = SKIN_VERTICES // chains
    mesh.from_pydata(
        [
            Vector((SPACING * chain + random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), LENGTH * k / each))
            for chain in range(chains)
            for k in range(each)
        ],
        [],
        [],
    )
    skin = bpy.data.objects.new("skin", mesh)
    CONTEXT.scene.collection.objects.link(skin)
    deform: Any = skin.modifiers.new("rig", "ARMATURE")
    deform.object = rig.owner
    for chain in range(chains):
        for i in range(bones):
            first = chain * each
            span = range(first + each * i // bones, first + each * (i + 1) // bones)
            skin.vertex_groups.new(name=f"c{chain}_{i}").add(list(span), 1.0, "REPLACE")


def with_blender_ik(rig: Rig, poles: list[Any]) -> None:
    """Let Blender's own IK follow the targets."""
    for i, (tip, target, count) in enumerate(zip(rig.tips, rig.targets, rig.counts, strict=True)):
        constraint = add_ik(rig.owner.pose.bones[tip], target, count)
        if poles:
            constraint.pole_target, constraint.pole_angle = poles[i], 0.5 * pi


def with_chains(rig: Rig, poles: list[Any]) -> None:
    """Make a chain of each limb."""
    for i, (tip, target, count) in enumerate(zip(rig.tips, rig.targets, rig.counts, strict=True)):
        chain = rig_of(rig.owner).chains.add()
        chain.name, chain.tip_bone, chain.bone_count, chain.target = tip, tip, count, target
        if poles:
            chain.pole = poles[i]


def worst_error(rig: Rig, frames: range, length: float = LENGTH) -> float:
    """The worst distance of a tip from its target, as Blender evaluates it, as a share of a length."""
    worst = 0.0
    for frame in frames:
        CONTEXT.scene.frame_set(frame)
        depsgraph = CONTEXT.evaluated_depsgraph_get()
        poses = rig.owner.evaluated_get(depsgraph).pose.bones
        for tip, target in zip(rig.tips, rig.targets, strict=True):
            goal: Vector = target.evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (rig.owner.matrix_world @ poses[tip].tail - goal).length / length)
    return worst
