# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs to a bone, given to the bone of the other side: rotations and joint limits, whatever the roll.

A rotation in the rest frame of a bone is a turn in armature space, whose mirror image is one in the rest frame of the
other bone. Where Blender mirrored the bone itself, turns about its X stay and those about Y and Z change their sign.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import BoneError, InvalidValueError
from ..maths import IDENTITY, axes_of
from ..rig.chain_bones import pose_bones
from ..rig.limit_types import limit_settings, mirrored_limit
from ..rig.schema import limit_of
from ..rig.sides import flipped_name
from ..texts import Text
from .chain_edit import copy_limit

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0))  # armature space
ALIKE = 0.9998  # cosine of the angle up to which axes count as mirrored: about a degree
ROUNDING = 2e-6
APART = 1e-3  # share of a bone's length up to which joints count as mirrored


class BonePair(NamedTuple):
    """A bone, and that of the other side; the same one in the middle."""

    bone: bpy.types.PoseBone
    other: bpy.types.PoseBone

    @property
    def turn(self) -> Matrix:
        """From axes of turns in the bone's rest frame to those of their mirror images in the other's.

        Where the frames are mirror images, or turned against those by right angles, no rounding is left in it.
        """
        rest, other = (one.bone.matrix_local.to_3x3().normalized() for one in self)
        found = other.transposed() @ MIRROR @ rest * -1.0
        whole = Matrix([[float(round(value)) for value in row] for row in found])
        off = max(abs(a - b) for row, exact in zip(found, whole, strict=True) for a, b in zip(row, exact, strict=True))
        return whole if off < ROUNDING else found

    @property
    def is_mirrored(self) -> bool:
        """Whether the two lie at rest as mirror images, up to their roll."""
        here, there = self.bone.bone, self.other.bone
        ends = ((here.head_local, there.head_local), (here.tail_local, there.tail_local))
        return all((MIRROR @ a - b).length <= APART * here.length for a, b in ends)

    def rotation(self, rotation: Quaternion) -> Quaternion:
        """The mirror image of a rotation, each in the rest frame of its bone."""
        axis = self.turn @ Vector(rotation[1:])
        return Quaternion((rotation[0], *axis))


def pair_of(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> BonePair:
    """A bone and that of the other side, by their names.

    Raises:
        BoneError: There is none.
    """
    other = pose_bones(owner).get(flipped_name(bone.name))
    if other is None or other == bone:
        raise BoneError("there is no bone of the other side", rig=owner.name, bone=bone.name)
    return BonePair(bone, other)


def mirror_limit_to(pair: BonePair) -> str:
    """Give the joint limit of a bone to that of the other side, mirrored; what could not be mirrored, or ""."""
    copy_limit(pair.bone, [pair.other])
    limit = limit_of(pair.other)
    limit.twist_min, limit.twist_max = -limit.twist_max, -limit.twist_min  # also where it is not in use
    if limit.type.is_of_blender:
        return _mirror_ik(pair)
    try:
        found = limit.type.make(limit_of(pair.bone), IDENTITY)
    except InvalidValueError as error:
        return Text("the limit of '{bone}' is copied as it is: {why}", bone=pair.bone.name, why=error.reason)
    mirrored = mirrored_limit(found, axes_of(pair.turn))
    if mirrored is None:
        return Text("the roll of '{other}' is no mirror image, so its limit is not, either", other=pair.other.name)
    before = limit_settings(found)
    for name, value in limit_settings(mirrored).items():
        if value != before.get(name):  # the others are as they were copied
            setattr(limit, name, [round(one, 6) + 0.0 for one in value] if isinstance(value, tuple) else value)
    return ""


def _mirror_ik(pair: BonePair) -> str:
    """The settings for Blender's own IK, where these are the limit."""
    here, there = pair
    for axis, sign in (("x", 1.0), ("y", -1.0), ("z", -1.0)):
        low, high = getattr(here, f"ik_min_{axis}"), getattr(here, f"ik_max_{axis}")
        low, high = (low, high) if sign > 0.0 else (-high, -low)
        setattr(there, f"ik_min_{axis}", low)
        setattr(there, f"ik_max_{axis}", high)
        for name in (f"lock_ik_{axis}", f"use_ik_limit_{axis}", f"ik_stiffness_{axis}"):
            setattr(there, name, getattr(here, name))
    if pair.turn[0][0] < ALIKE:
        return Text(
            "the roll of '{there}' is no mirror image, so its limits for Blender's IK are not, either", there=there.name
        )
    return ""
