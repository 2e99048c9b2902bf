# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of both sides of an armature, and what is of one of them as the mirror image for the other.

A rotation in the rest frame of a bone is a turn in armature space, whose mirror image is one in the rest frame of the
other bone, whatever the roll of both. Where Blender mirrored the bone itself, turns about its X stay and those about Y
and Z change their sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError
from ...recognise.words import side_of
from ...rig.bones import armature_of, pose_bones
from ...rig.control_bones import is_control
from ...rig.skeleton import twin_names

ALIKE = 0.9998  # cosine of the angle up to which axes are mirrored, or a plane square to an axis: about a degree
ROUNDING = 2e-6
APART = 1e-3  # share of a bone's length up to which joints count as mirrored
IN_MIDDLE = 0.02  # share of the armature's width that a bone may be off the plane and count as in the middle


class BonePair(NamedTuple):
    """A bone, and that of the other side; the same one in the middle.

    Attributes:
        bone: The bone.
        other: That of the other side.
        mirror: From points of armature space to their mirror images, (4, 4).
    """

    bone: bpy.types.PoseBone
    other: bpy.types.PoseBone
    mirror: Matrix

    @property
    def turn(self) -> Matrix:
        """From axes of turns in the bone's rest frame to those of their mirror images in the other's.

        Where the frames are mirror images, or turned against those by right angles, no rounding is left in it.
        """
        rest, other = (one.bone.matrix_local.to_3x3().normalized() for one in (self.bone, self.other))
        return _whole(other.transposed() @ self.mirror.to_3x3() @ rest * -1.0)

    @property
    def is_mirrored(self) -> bool:
        """Whether the two lie at rest as mirror images, up to their roll."""
        return _is_image(self.bone.bone, self.other.bone, self.mirror)

    def rotation(self, rotation: Quaternion) -> Quaternion:
        """The mirror image of a rotation, each in the rest frame of its bone."""
        return Quaternion((rotation[0], *self.turn @ Vector(rotation[1:])))

    @property
    def place(self) -> Matrix:
        """From location channels to those of the mirror image, (3, 3)."""
        here, there = (
            one.bone.matrix_local.to_3x3().normalized() if one.bone.use_local_location else Matrix.Identity(3)
            for one in (self.bone, self.other)
        )
        return _whole(there.transposed() @ self.mirror.to_3x3() @ here)

    @property
    def size(self) -> Matrix:
        """From scale channels to those of the mirror image, (3, 3); where the rolls are askew, as near as can be."""
        return Matrix([[value * value for value in row] for row in self.turn])


def _whole(axes: Matrix) -> Matrix:
    """A matrix (3, 3) without the rounding, where its numbers are whole."""
    whole = Matrix([[float(round(value)) for value in row] for row in axes])
    off = max(abs(a - b) for row, exact in zip(axes, whole, strict=True) for a, b in zip(row, exact, strict=True))
    return whole if off < ROUNDING else axes


def sides_of(owner: bpy.types.Object) -> dict[str, BonePair]:
    """By the names of an armature's bones each with that of the other side, and those in the middle with themselves.

    The other side is found by names, and where none of them tells a side by how the bones stand. In the middle begin
    bones without another side, whose names tell none.
    """
    bones, rests = pose_bones(owner), armature_of(owner).bones
    twins = twin_names(owner, [bone.name for bone in bones if is_control(bone)])
    normal, middle = _plane_of(rests, twins)
    mirror = _mirror_at(normal, middle)
    off = {bone.name: abs(bone.head_local.dot(normal) - middle) for bone in rests}
    far = IN_MIDDLE * max(off.values(), default=0.0)
    found = {}
    for bone in bones:
        if bone.name in twins:
            found[bone.name] = BonePair(bone, bones[twins[bone.name]], mirror)
        elif off[bone.name] <= far and not side_of(bone.name):
            found[bone.name] = BonePair(bone, bone, mirror)
    return found


def pair_of(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> BonePair:
    """A bone and that of the other side.

    Raises:
        BoneError: There is none.
    """
    found = sides_of(owner).get(bone.name)
    if found is None or found.other == bone:
        raise BoneError("there is no bone of the other side", rig=owner.name, bone=bone.name)
    return found


Plane = tuple[Vector, float]  # its unit normal, and how far it is from the origin along that


def _plane_of(rests: bpy.types.bpy_prop_collection[bpy.types.Bone], twins: Mapping[str, str]) -> Plane:
    """The plane of an armature's mirror: X = 0, unless more of its pairs of bones mirror each other at another one."""
    pairs = [(rests[name], rests[other]) for name, other in twins.items() if name < other]
    planes = [(Vector((1.0, 0.0, 0.0)), 0.0), *([_between(pairs)] if pairs else [])]
    mirrors = [_mirror_at(*plane) for plane in planes]
    fits = [sum(_is_image(one, other, mirror) for one, other in pairs) for mirror in mirrors]
    return planes[fits.index(max(fits))]


def _between(pairs: Sequence[tuple[bpy.types.Bone, bpy.types.Bone]]) -> Plane:
    """The plane between pairs of bones; square to an axis, and through the origin, where it nearly is."""
    ways = [one.head_local - other.head_local for one, other in pairs]
    widest = max(ways, key=lambda way: way.length)
    normal = sum((way if way.dot(widest) >= 0.0 else -way for way in ways), Vector()).normalized()
    axis = max(range(3), key=lambda i: abs(normal[i]))
    if abs(normal[axis]) > ALIKE:
        normal = Vector([float(i == axis) for i in range(3)])
    middles = sorted((one.head_local + other.head_local).dot(normal) / 2.0 for one, other in pairs)
    middle = middles[len(middles) // 2]
    return normal, middle if abs(middle) > APART * widest.length else 0.0


def _mirror_at(normal: Vector, middle: float) -> Matrix:
    """The mirror at a plane, (4, 4)."""
    axes = Matrix([[float(i == k) - 2.0 * normal[i] * normal[k] for k in range(3)] for i in range(3)])
    return Matrix.Translation(normal * (2.0 * middle)) @ axes.to_4x4()


def _is_image(one: bpy.types.Bone, other: bpy.types.Bone, mirror: Matrix) -> bool:
    """Whether two bones lie at rest as mirror images, up to their roll."""
    ends = ((one.head_local, other.head_local), (one.tail_local, other.tail_local))
    return all((mirror @ a - b).length <= APART * one.length for a, b in ends)
