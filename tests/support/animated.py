# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters whose bones are keyed, as those of clips and mocap are, and where their bones stand frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, sin

import bpy
import numpy as np
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.recognise.part import ROLES
from fabrik_addon.rig.animation.channels import channel_of
from fabrik_addon.rig.bones import pose_bones, resolve_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from support.hanging import chain
from support.judging import bone_heads, evaluated
from support.scenes import each_frame, go_live, press, set_rotation, update
from support.skeletons import make_character
from support.stored import stored

FIRST, LAST, STEP = 1, 25, 3
LIMBS = ("Leg.L", "Leg.R", "Arm.L", "Arm.R")
SIDEWAYS = Vector((1.0, 0.0, 0.0))
SWINGS = {"Leg": (0.45, 0.5), "Arm": (0.4, 0.35)}  # radians: of the limb's first joint, and least bend of its second
Frames = NDArray[np.float64]
Motion = tuple[bpy.types.Object, list[str], Frames]  # a character, its bones, where these stood in each frame before


@stored
def animated(name: str, mode: str = "QUATERNION") -> bpy.types.Object:
    """A character that strides in place: legs and arms swing, knees and elbows bend, the body bobs and sways."""
    owner = make_character(name)
    found = find_parts(owner)
    for bone in pose_bones(owner):
        bone.rotation_mode = mode
    for frame in range(FIRST, LAST + 1, STEP):
        phase = 2.0 * pi * (frame - FIRST) / (LAST - FIRST)
        for part in found.parts:
            kind, _, side = part.name.partition(".")
            if kind in SWINGS:
                swing, bend = SWINGS[kind]
                way = (1.0 if side == "L" else -1.0) * (1.0 if kind == "Leg" else -1.0)
                down = -1.1 * way if kind == "Arm" else 0.0  # arms hang beside the body, not in a T
                turn_at_rest(owner, part.bones[0], SIDEWAYS, way * swing * sin(phase))
                folds = bend if kind == "Leg" else -bend
                turn_at_rest(owner, part.bones[1], SIDEWAYS, folds * (1.2 + sin(phase)))
                turn_at_rest(owner, part.bones[-1], SIDEWAYS, 0.2 * sin(phase) + 0.1 * down)
        body = pose_bones(owner)[found.body]
        turn_at_rest(owner, found.body, Vector((0.0, 0.0, 1.0)), 0.1 * sin(phase))
        put_from_rest(owner, found.body, Vector((0.0, 0.0, 0.02 * sin(2.0 * phase))))
        for bone in pose_bones(owner):
            bone.keyframe_insert(channel_of(bone.rotation_mode)[0], frame=frame)
        body.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(FIRST)
    return owner


def _into(owner: bpy.types.Object) -> Matrix:
    """From axes of the world into those of the armature."""
    return owner.matrix_world.to_3x3().normalized().inverted()


def turn_at_rest(owner: bpy.types.Object, name: str, axis: Vector, angle: float) -> None:
    """Turn a bone about an axis of the world, as it is at rest."""
    bone = pose_bones(owner)[name]
    own = bone.bone.matrix_local.to_3x3().inverted() @ (_into(owner) @ axis)
    set_rotation(bone, Quaternion(own.normalized(), angle))


def size(owner: bpy.types.Object) -> float:
    """Length of a leg at rest, in armature space: of its chain, or as it is recognised before it has one."""
    name, chains = "Leg.L", rig_of(owner).chains
    if name in chains:
        bones = resolve_bones(owner, chains[name])
    else:
        part = next(part for part in find_parts(owner).parts if part.name == name)
        bones = [pose_bones(owner)[bone] for bone in part.bones]
    return float((bones[0].bone.head_local - bones[-1].bone.head_local).length)


@stored
def with_motion(name: str, mode: str = "QUATERNION") -> Motion:
    """Such a character, set up and live; its own bones, and where these stood in each frame before."""
    return set_up(animated(name, mode))


def set_up(owner: bpy.types.Object) -> Motion:
    """A character with motion, set up and live; its own bones, and where these stood in each frame before.

    Leaving edit mode rounds rest bones anew, so it is visited before these frames are read.
    """
    for to in ("EDIT", "OBJECT", "EDIT", "OBJECT"):
        bpy.ops.object.mode_set(mode=to)
    names = [bone.name for bone in pose_bones(owner)]
    before = played(owner, names)
    press("character_setup")
    go_live(owner)
    return owner, names, before


def played(owner: bpy.types.Object, names: Sequence[str], frames: Iterable[int] = range(FIRST, LAST + 1)) -> Frames:
    """The matrices of bones in frames, as evaluated: (F, n, 4, 4)."""
    return np.array([played_now(owner, names) for _ in each_frame(frames)])


def played_now(owner: bpy.types.Object, names: Sequence[str]) -> Frames:
    """The same at the frame, (n, 4, 4)."""
    bones = pose_bones(evaluated(owner))
    found = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix", found)
    columns = found.reshape(-1, 4, 4)[[bones.find(name) for name in names]]
    return columns.transpose(0, 2, 1).astype(np.float64)


def control(owner: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    """The control of a chain."""
    return pose_bones(owner)[chain(owner, name).target_bone]


def move(owner: bpy.types.Object, name: str, way: Sequence[float]) -> Vector:
    """Move the control of a chain along a vector of the world, in legs; the same in armature space."""
    there = put_from_rest(owner, chain(owner, name).target_bone, Vector(way))
    update()
    return there


def put_from_rest(owner: bpy.types.Object, name: str, way: Vector) -> Vector:
    """Put a bone so far from its rest pose along a vector of the world, in legs; the same in armature space."""
    bone = pose_bones(owner)[name]
    there = size(owner) * (_into(owner) @ way)
    bone.location = bone.bone.matrix_local.to_3x3().inverted() @ there
    return there


def turns(poses: Frames, before: Frames) -> Frames:
    """Angles in degrees between rotations, (F, n)."""
    axes = [
        found[..., :3, :3] / np.linalg.norm(found[..., :3, :3], axis=-2, keepdims=True) for found in (poses, before)
    ]
    apart = np.linalg.norm(axes[0] - axes[1], axis=(-2, -1))
    found: Frames = np.degrees(2.0 * np.arcsin(np.clip(apart / np.sqrt(8.0), 0.0, 1.0)))
    return found


def limb(owner: bpy.types.Object, name: str) -> str:
    """The last bone of a chain."""
    return str(rig_of(owner).chains[name].tip_bone)


def in_strips(owner: bpy.types.Object) -> None:
    """Push the action down into a strip, over which half of another one turns the trunk."""
    data = owner.animation_data
    action = data.action
    data.action = None
    base = data.nla_tracks.new()
    strip = base.strips.new("walk", FIRST, action)
    bone = next(one for one in pose_bones(owner) if one.name.lower().endswith(("spine1", "spine_02")))
    over = bpy.data.actions.new("over")
    owner.animation_data.action = over
    name = channel_of(bone.rotation_mode)[0]
    for frame, angle in ((FIRST, 0.0), (LAST, 0.4)):
        set_rotation(bone, Quaternion((0.0, 1.0, 0.0), angle))
        bone.keyframe_insert(name, frame=frame)
    data.action = None
    top = data.nla_tracks.new().strips.new("over", FIRST, over)
    top.blend_type, top.influence = "COMBINE" if name.endswith("quaternion") else "ADD", 0.5
    top.use_animated_influence = False
    assert strip.action == action


def raised(
    owner: bpy.types.Object,
    frames: tuple[int, int, int] = (9, 13, 17),
    way: Sequence[float] = (0.0, -0.1, 0.2),
) -> Frames:
    """Raise a hand in the middle one of three frames by keys of its control; how the bones are played then."""
    first, middle, last = frames
    for frame, share in ((min(FIRST, first), 0.0), (first, 0.0), (middle, 1.0), (last, 0.0)):
        bpy.context.scene.frame_set(frame)
        move(owner, "Arm.L", share * Vector(way))
        control(owner, "Arm.L").keyframe_insert("location", frame=frame)
    return played(owner, [bone.name for bone in pose_bones(owner)])


def transfer(source: bpy.types.Object, owner: bpy.types.Object, **options: object) -> None:
    """Press *Transfer Motion* with both selected."""
    choose(owner, source)
    press("motion_transfer", **options)


def choose(owner: bpy.types.Object, *others: bpy.types.Object) -> None:
    """Select an object, which is active, and others."""
    for one in bpy.context.scene.objects:
        one.select_set(one in (owner, *others))
    bpy.context.view_layer.objects.active = owner


def without_motion(name: str) -> bpy.types.Object:
    """A character that stands at rest beside another one."""
    owner = make_character(name)
    update()
    return owner


def places(owner: bpy.types.Object, bone: str, frames: Iterable[int] = range(FIRST, LAST + 1)) -> Frames:
    """Where the head of a bone is, (F, 3), in the world."""
    return joints(owner, [bone], frames)[:, 0]


def joints(owner: bpy.types.Object, names: Sequence[str], frames: Iterable[int] = range(FIRST, LAST + 1)) -> Frames:
    """Where the heads of bones are, (F, n, 3), in the world."""
    heads = (bone_heads(owner) for _ in each_frame(frames))
    return np.array([[found[name] for name in names] for found in heads])


def ways(owner: bpy.types.Object, upright: Matrix | None = None) -> Frames:
    """Directions of both halves of arms and legs, (F, 8, 3), in the world, or as seen from there."""
    parts = {part.name: part for part in find_parts(owner).parts}
    limbs = [parts[name] for name in LIMBS]
    flat = [part.bones[part.roles.index(role)] for part in limbs for role in ROLES[part.kind]]
    poses = played(owner, flat, range(FIRST, LAST + 1))
    turn = np.array((upright or Matrix()).to_3x3() @ owner.matrix_world.to_3x3().normalized())
    heads = (poses[:, :, :3, 3] @ turn.T).reshape(len(poses), len(LIMBS), 3, 3)
    steps = np.diff(heads, axis=2).reshape(len(poses), -1, 3)
    found: Frames = steps / np.linalg.norm(steps, axis=2, keepdims=True)
    return found
