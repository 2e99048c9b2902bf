# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass of a body, and what supports it: the pinned tips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import InvalidValueError
from ..finite import are_finite
from ..kernel import HINT, PIN, Balance, Goal
from ..maths import ORIGIN, V3, plus, q4, rotated, scaled, v3
from ..messages import Message
from .asked import Asked
from .chain_bones import pose_bones
from .channels import read_rotation
from .control_bones import control_names
from .figures import ChainSet
from .kinematics import Link
from .schema import limit_of, rig_of


class Support(NamedTuple):
    """Where a pinned tip supports a body.

    Attributes:
        chain: Which of the chains that are solved together pins it.
        foot: From the effector to the other end of the tip bone, in that bone's frame; None where only the effector's
            place is held.
    """

    chain: int
    foot: V3 | None


class Weighed(NamedTuple):
    """The masses of a figure's joints, with all that hangs on them, and what supports them.

    Attributes:
        masses: Of the n joints; only their shares count.
        places: n points, where they stand in the joints' frames, relative to their heads.
        supports: Of the pinned chains.
        weight: Of the goal among hints.
    """

    masses: tuple[float, ...]
    places: tuple[V3, ...]
    supports: tuple[Support, ...]
    weight: float

    def goal(self, asked: Sequence[Asked], numbers: Sequence[float], up: V3) -> Goal:
        """The goal that the centre of mass stands above the pinned tips.

        Args:
            asked: What each chain asks for.
            numbers: Of a row, in chain space.
            up: Direction in chain space.
        """
        points: list[V3] = []
        for chain, foot in self.supports:
            own = asked[chain].of_row(numbers)
            place = v3(own[:3])
            points.append(place)
            if foot is not None:
                points.append(plus(place, rotated(q4(own[3:7]), foot)))
        return Balance(self.masses, points, up, self.places, self.weight, HINT)


def weigh(
    chain_set: ChainSet, asked: Sequence[Asked], bones: Sequence[bpy.types.PoseBone], segments: Sequence[V3]
) -> Weighed | None:
    """Weigh the bones of a body; None where it is not to keep its balance, or nothing is pinned.

    A bone carries the share that is set for it, else one by its length. What hangs on a bone of the figure without
    being of it counts with that bone, as its channels have it. The masses do not depend on the pose at hand, so that a
    solve has the same answer from every pose.

    Args:
        chain_set: The chains.
        asked: What each asks for.
        bones: The figure's n bones, evaluated.
        segments: n vectors, the bones in their own axes.

    Raises:
        InvalidValueError: A mass is not a finite number.
    """
    balance = rig_of(chain_set.owner).balance
    supports = _supports(asked, segments)
    if balance <= 0.0 or not supports:
        return None
    joints = {bone.name: i for i, bone in enumerate(bones)}
    owner: Any = bones[0].id_data  # the evaluated armature
    poses = pose_bones(owner)
    masses, moments, hanging = [0.0] * len(bones), [ORIGIN] * len(bones), dict[str, Matrix]()
    for name, mass in _masses(chain_set.owner).items():
        joint = _carrier(poses[name], joints)
        if joint is not None:
            own = scaled(segments[joint], 0.5)
            place = own if name in joints else _centre(poses[name], bones[joint], hanging)
            masses[joint] += mass
            moments[joint] = plus(moments[joint], scaled(place, mass))
    if not any(masses):
        return None
    places = [scaled(moment, 1.0 / mass) if mass else ORIGIN for moment, mass in zip(moments, masses, strict=True)]
    return Weighed(tuple(masses), tuple(places), tuple(supports), balance)


def _centre(bone: bpy.types.PoseBone, carrier: bpy.types.PoseBone, hanging: dict[str, Matrix]) -> V3:
    """The middle of a bone that hangs on another, at any remove, in that one's frame."""
    rest = carrier.bone.matrix_local.to_3x3()
    middle = _pose(bone, carrier, hanging) @ Vector((0.0, 0.5 * bone.bone.length, 0.0))
    return v3(rest.inverted() @ middle)


def _pose(bone: bpy.types.PoseBone, carrier: bpy.types.PoseBone, hanging: dict[str, Matrix]) -> Matrix:
    """The matrix of a bone in armature space by its channels, with the bone that carries it at rest at the origin."""
    if bone == carrier:
        return carrier.bone.matrix_local.to_3x3().to_4x4() @ Matrix.LocRotScale(None, None, carrier.scale)
    if bone.name not in hanging:
        assert bone.parent is not None, "it hangs on the carrier"
        above = _pose(bone.parent, carrier, hanging)
        hanging[bone.name] = Link.of(bone).pose(above, Quaternion(read_rotation(bone)))
    return hanging[bone.name]


def _supports(asked: Sequence[Asked], segments: Sequence[V3]) -> list[Support]:
    found = []
    for k, one in enumerate(asked):
        if one.rank == PIN and one.kind == "REACH" and one.weight > 0.0:
            tip = segments[one.joints[-1]]
            away = tip if one.at_head else scaled(tip, -1.0)
            found.append(Support(k, away if one.turns else None))
    return found


def _masses(owner: bpy.types.Object) -> dict[str, float]:
    """The masses of the bones that deform, or of all where none does; by the bones' names."""
    controls = control_names(owner)
    bones = [bone for bone in pose_bones(owner) if bone.name not in controls]
    bones = [bone for bone in bones if bone.bone.use_deform] or bones
    whole = sum(bone.bone.length for bone in bones) or 1.0
    found = {}
    for bone in bones:
        mass = limit_of(bone).mass
        if not are_finite([mass]):
            raise InvalidValueError(Message("MASS_NOT_FINITE"), bone=bone.name)
        found[bone.name] = mass or bone.bone.length / whole
    return found


def _carrier(bone: bpy.types.PoseBone, joints: dict[str, int]) -> int | None:
    """The joint that carries a bone: its own, or that of the nearest bone above it that has one."""
    found: bpy.types.PoseBone | None = bone
    while found is not None and found.name not in joints:
        found = found.parent
    return None if found is None else joints[found.name]
