# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton to be recognised, read from an armature, its soles, and names of sides."""

from __future__ import annotations

import re
from collections.abc import Collection

import bpy
from mathutils import Vector

from ..maths import Z_AXIS, rotated, unit, v3
from ..recognise.limbs import find_twins
from ..recognise.skeleton import Skeleton
from .animation.compat import is_selected
from .bones import armature_of, pose_bones

# The name of the other side.

FLIPPED = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
FLIPPED |= {"l": "r", "r": "l", "L": "R", "R": "L"}
APART = "[ ._-]"
# As in mixamorig:LeftArm and Bip01 L Foot.
INNER = re.compile(rf"left|right|Left|Right|LEFT|RIGHT|(?<={APART})[LRlr](?={APART})")

BEHIND = 0.3  # of the way from ankle to ball: how far the heel is behind the ankle where no bone tells

ENDS = (".L", ".R", "_L", "_R", "-L", "-R", ".l", ".r", "_l", "_r", "-l", "-r")


def flipped_name(name: str) -> str:
    """The name of the other side; the same name where it has no side."""
    found = bpy.utils.flip_name(name)
    return found if found != name else INNER.sub(lambda match: FLIPPED[match.group()], name, count=1)


def sided_name(chain: str, role: str) -> str:
    """A name with the role before side and number, so that Blender's mirror tools find the other side: arm.target.L."""
    stem, dot, number = chain.rpartition(".")
    stem, number = (stem, dot + number) if number.isdigit() and stem else (chain, "")
    return f"{stem[:-2]}.{role}{stem[-2:]}{number}" if stem.endswith(ENDS) else f"{stem}.{role}{number}"


# The bones of an armature in its rest pose as plain data.


def read_skeleton(owner: bpy.types.Object, without: Collection[str] = ()) -> Skeleton:
    """The bones of an armature object; `up` is where the world's Z axis points.

    What hangs on bones that are left out by name hangs on the next one above.
    """
    bones = [bone for bone in armature_of(owner).bones if bone.name not in without]  # parents before children
    number = {bone.name: i for i, bone in enumerate(bones)}
    parents = [
        next((number[above.name] for above in bone.parent_recursive if above.name in number), -1) for bone in bones
    ]
    columns = (bone.matrix_local.to_3x3().col for bone in bones)
    turn = owner.matrix_world.to_quaternion().inverted()
    return Skeleton(
        names=[bone.name for bone in bones],
        parents=parents,
        heads=[v3(bone.head_local) for bone in bones],
        tails=[v3(bone.tail_local) for bone in bones],
        flagged=[bone.use_connect for bone in bones],
        axes=[(v3(x), v3(y), v3(z)) for x, y, z in columns],
        up=unit(rotated((turn[0], turn[1], turn[2], turn[3]), Z_AXIS)),
    )


def twin_names(owner: bpy.types.Object, controls: Collection[str] = ()) -> dict[str, str]:
    """The names of an armature's bones that have one on the other side, each with the name of that.

    By Blender's rule for names, and by what recognition finds; of controls, which are no part of the skeleton, by names
    alone.
    """
    skeleton, names = read_skeleton(owner, controls), pose_bones(owner).keys()
    twins = zip(skeleton.names, find_twins(skeleton), strict=True)
    found = {name: skeleton.names[twin] for name, twin in twins if twin >= 0}
    found |= {name: flipped for name in names if (flipped := flipped_name(name)) != name and flipped in names}
    return {name: other for name, other in found.items() if found.get(other) == name}


def selected_numbers(owner: bpy.types.Object, skeleton: Skeleton) -> set[int]:
    """Numbers of the bones that are selected in Pose mode."""
    bones = pose_bones(owner)
    return {i for i, name in enumerate(skeleton.names) if is_selected(bones[name])}


def sole_at_rest(
    owner: bpy.types.Object, tip: bpy.types.Bone, joint: Vector, controls: Collection[str]
) -> tuple[Vector, Vector, bpy.types.Bone, Vector]:
    """Heel, ball, the bone of the toes and their tip, of a foot with this ankle, in armature space.

    The ground is as low as the lowest of its bones; the heel is behind the ankle.
    """
    below = [tip, *(bone for bone in tip.children_recursive if bone.name not in controls)]
    up = (owner.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))).normalized()
    ground = min(up.dot(place) for bone in below for place in (bone.head_local, bone.tail_local))

    def on_ground(place: Vector) -> Vector:
        return place - up * (up.dot(place) - ground)

    ankle = on_ground(joint)
    toes = max((bone for bone in below if bone.parent == tip), key=lambda bone: _ahead(bone, ankle, up), default=tip)
    ball = on_ground(toes.head_local if toes != tip else tip.tail_local)
    return ankle - BEHIND * (ball - ankle), ball, toes, on_ground(toes.tail_local)


def _ahead(bone: bpy.types.Bone, ankle: Vector, up: Vector) -> float:
    """How far the end of a bone at rest is from the ankle, along the ground."""
    way = bone.tail_local - ankle
    return float((way - up * up.dot(way)).length)
