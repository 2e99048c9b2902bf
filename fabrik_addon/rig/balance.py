# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass of a body, and what supports it: the pinned tips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..errors import InvalidValueError
from ..finite import are_finite
from ..kernel import HINT, PIN, Balance, Goal
from .asked import Asked
from .chain_bones import pose_bones
from .control_bones import control_names
from .figures import ChainSet
from .limit_properties import limit_of
from .properties import rig_of
from .rotations import ORIGIN, V3, axes_of, conjugated, minus, plus, q4, rotated, scaled, v3


class Support(NamedTuple):
    """Where a pinned tip supports a body.

    Attributes:
        at: Where the chain's numbers begin in a row.
        foot: From the effector to the other end of the tip bone, in that bone's frame; None where only the effector's
            place is held.
    """

    at: int
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

    def goal(self, numbers: Sequence[float], up: V3) -> Goal:
        """The goal that the centre of mass stands above the pinned tips.

        Args:
            numbers: Of a row, in chain space.
            up: Direction in chain space.
        """
        points: list[V3] = []
        for at, foot in self.supports:
            place = v3(numbers[at : at + 3])
            points.append(place)
            if foot is not None:
                points.append(plus(place, rotated(q4(numbers[at + 3 : at + 7]), foot)))
        return Balance(self.masses, points, up, self.places, self.weight, HINT)


def weigh(
    chain_set: ChainSet, asked: Sequence[Asked], bones: Sequence[str], depsgraph: bpy.types.Depsgraph
) -> Weighed | None:
    """Weigh the bones of a body; None where it is not to keep its balance, or nothing is pinned.

    A bone carries the share that is set for it, else one by its length. What hangs on a bone of the figure without
    being of it counts with that bone, as it stands.

    Args:
        chain_set: The chains.
        asked: What each asks for.
        bones: Names of the figure's n bones.
        depsgraph: Evaluated.

    Raises:
        InvalidValueError: A mass is not a finite number.
    """
    balance = rig_of(chain_set.owner).balance
    supports = _supports(asked, chain_set, depsgraph)
    if balance <= 0.0 or not supports:
        return None
    poses = pose_bones(chain_set.owner.evaluated_get(depsgraph))
    joints = {name: i for i, name in enumerate(bones)}
    masses, moments = [0.0] * len(bones), [ORIGIN] * len(bones)
    for name, mass in _masses(chain_set.owner).items():
        joint = _carrier(poses[name], joints)
        if joint is not None:
            pose, carrier = poses[name], poses[bones[joint]]
            centre = scaled(plus(v3(pose.head), v3(pose.tail)), 0.5)
            place = rotated(conjugated(axes_of(carrier.matrix)), minus(centre, carrier.head))
            masses[joint] += mass
            moments[joint] = plus(moments[joint], scaled(place, mass))
    if not any(masses):
        return None
    places = [scaled(moment, 1.0 / mass) if mass else ORIGIN for moment, mass in zip(moments, masses, strict=True)]
    return Weighed(tuple(masses), tuple(places), tuple(supports), balance)


def _supports(asked: Sequence[Asked], chain_set: ChainSet, depsgraph: bpy.types.Depsgraph) -> list[Support]:
    found, at = [], 0
    bones = chain_set.owner.evaluated_get(depsgraph)
    for one in asked:
        if one.rank == PIN and one.kind == "REACH" and one.weight > 0.0:
            tip = pose_bones(bones)[one.bones[-1]]
            away = minus(tip.tail, tip.head) if one.at_head else minus(tip.head, tip.tail)
            found.append(Support(at, rotated(conjugated(axes_of(tip.matrix)), away) if one.turns else None))
        at += one.width
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
            raise InvalidValueError("its mass is not a finite number", bone=bone.name)
        found[bone.name] = mass or bone.bone.length / whole
    return found


def _carrier(bone: bpy.types.PoseBone, joints: dict[str, int]) -> int | None:
    """The joint that carries a bone: its own, or that of the nearest bone above it that has one."""
    found: bpy.types.PoseBone | None = bone
    while found is not None and found.name not in joints:
        found = found.parent
    return None if found is None else joints[found.name]
