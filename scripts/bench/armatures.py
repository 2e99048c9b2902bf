# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that are posed live, baked and solved: limbs and their moving targets, bodies and their limits.

Limbs are separate ones in one armature, and who is to follow the targets; bodies are two skinned humans, a wolf and a
spider, as armatures and as figures of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from random import Random
from typing import Any

import bpy
import numpy as np
from fabrik_addon.kernel import Figure, Joint
from fabrik_addon.maths import IDENTITY, Singles, q4, v3
from fabrik_addon.rig.figure.joint_limits import read_limit, write_ik_settings
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Vector

from blender import quiet
from dev.humans import bone_of, give_ranges, make_human, named
from rigs import (
    BoneRow,
    add_empty,
    add_ik,
    bend_axis,
    empty_file,
    give_cone,
    give_hinge,
    make_armature,
    make_spider,
    metarig,
    row_of_bones,
)

SPACING = 3.0
LENGTH = 1.0  # of each limb
SKIN_VERTICES = 40000
BEND = 2.6  # radians to which hinges turn either way
CONTEXT: Any = bpy.context


@dataclass(frozen=True, slots=True)
class Rig:
    """An armature with limbs and a target for each; good until the next file."""

    owner: Any  # the armature object
    tips: list[str]  # names of the limbs' last bones, whose tails are to reach
    targets: list[Any]  # objects
    counts: list[int]  # of each limb's bones


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
            write_ik_settings(bone, read_limit(bone, IDENTITY), 0.0)
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


def channels(owner: Any, frames: Iterable[int]) -> dict[int, Singles]:
    """Rotation, location and scale of all bones by frame: (B, 10)."""
    found: dict[int, Singles] = {}
    for frame in frames:
        CONTEXT.scene.frame_set(frame)
        numbers = [(*bone.rotation_quaternion, *bone.location, *bone.scale) for bone in owner.pose.bones]
        found[frame] = np.array(numbers, dtype=np.float32)
    return found


# ---- bodies

BALL = (40.0, 30.0)  # degrees of swing and twist, of the wolf's hips and shoulders
SPINE = (15.0, 10.0)
BENDS = (-45.0, 70.0)  # from the rest pose, about the axis of the bend that a leg of the wolf has there


@dataclass(frozen=True, slots=True)
class Body:
    """A kind of body."""

    name: str  # of its rows
    make: Callable[[], Any]  # makes its armature, with limits, in an empty file
    hips: str  # the bone that can be moved
    five: Sequence[str]  # bones whose ends are goals
    twelve: Sequence[str]  # the same, where there are more of them
    turned: Sequence[str] = ()  # six bones that are to have places and rotations, or none
    whole: bool = False  # whether all bones are joints of the figure, and not just those on the way to the goals


@dataclass(slots=True)
class Built:
    """A body as the kernel has it."""

    figure: Figure  # its joints; the solve space is armature space, moved to the head of the hips
    index: dict[str, int]  # the joint of each bone
    height: float  # how far it extends upwards at rest; what errors are shares of
    origin: Vector  # head of the hips in armature space


def bodies() -> list[Body]:
    """All bodies."""
    feet = [f"{name}.{side}" for name in ("front_toe", "toe") for side in "LR"]
    more = [f"{name}.{side}" for name in ("front_thigh", "thigh") for side in "LR"] + [
        "spine",
        "spine.008",
        "spine.002",
    ]
    head, wolf = "spine.011", ["spine.011", *feet]
    tips = [f"tarsus.{side}{i}" for i in range(1, 5) for side in "LR"]
    return [
        *(_human(name) for name in ("human_game_engine", "human_mixamo")),
        Body("wolf", _make_wolf, "spine.004", wolf, [*wolf, *more], [head, "spine.008", *feet]),
        Body("spider", make_spider, "body", tips[:5], [*tips, *(f"tibia.{side}{i}" for i in (1, 3) for side in "LR")]),
    ]


def _human(name: str) -> Body:
    def make() -> Any:
        with quiet():
            owner = make_human(name)
            give_ranges(owner)
        return owner

    def bones(*parts: str) -> list[str]:
        return [bone for part in parts for bone in named(name, part)]

    return Body(
        name,
        make,
        bone_of(name, "hips"),
        five=bones("head", "hand", "foot"),
        twelve=bones("head", "chest", "upper arm", "hand", "thigh", "foot", "toe"),
        turned=bones("head", "chest", "hand", "foot"),
        whole=True,
    )


def _make_wolf() -> Any:
    """The wolf; legs are hinges about the axis of their bend at rest, hips and shoulders and spine are cones."""
    owner: Any = metarig("wolf")
    for bone in owner.pose.bones:
        part = bone.name.split(".")[0].removeprefix("front_")
        if part in ("shin", "foot", "toe"):
            give_hinge(bone, *BENDS, bend_axis(bone))
        elif part in ("thigh", "shoulder"):
            give_cone(bone, *BALL)
        elif part == "spine" and bone.parent is not None:
            give_cone(bone, *SPINE)
    return owner


def built_anew(body: Body) -> Built:
    """A body in an empty file, whose hips can be moved."""
    empty_file()
    return built(body.make(), body)


def built(owner: Any, body: Body, *, moves: bool = True) -> Built:
    """The figure of a body: its hips, and all bones below them that lead to one of its goals, or just all.

    Args:
        owner: The armature.
        body: What it is.
        moves: Whether the hips can be moved.
    """
    ends = [bone.name for bone in owner.pose.bones] if body.whole else [*body.twelve, *body.turned]
    below = {name for end in ends for name in _way(owner, end, body.hips)}
    bones: list[bpy.types.PoseBone] = [bone for bone in owner.pose.bones if bone.name in below]  # parents come first
    index = {bone.name: i for i, bone in enumerate(bones)}
    joints, parents, heads = [], [], []
    for bone in bones:
        above = bone.bone.parent if bone.name != body.hips else None
        local = above.matrix_local.inverted() @ bone.bone.matrix_local if above else bone.bone.matrix_local
        rest = q4(local.to_quaternion())
        joints.append(Joint((0.0, bone.bone.length, 0.0), rest, limit=read_limit(bone, IDENTITY)))
        parents.append(index[above.name] if above else -1)
        heads.append(v3(local.translation) if above else None)
    heights = [point.z for bone in bones for point in (bone.bone.head_local, bone.bone.tail_local)]
    origin = owner.data.bones[body.hips].head_local.copy()
    return Built(Figure(joints, parents, heads, moves=moves), index, max(heights) - min(heights), origin)


def _way(owner: Any, end: str, hips: str) -> Iterable[str]:
    """The bones from an end to the hips, both included; none where it does not hang below them."""
    bone = owner.pose.bones[end]
    names = [found.name for found in (bone, *bone.parent_recursive)]
    return names[: names.index(hips) + 1] if hips in names else ()
