# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges that bend to the side to which a limb bends at rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import pi
from typing import Any

import bpy

from ..maths import V3
from ..recognise.joint_bends import begins_limb, bend_of, is_second_half, own_axis
from ..recognise.limbs import Limbs
from ..rig.schema import limit_of
from ..texts import Text


@dataclass(slots=True)
class BendReport:
    """What `hinges_from_bend` did, by the names of bones.

    Attributes:
        hinges: Which are hinges now.
        locked: Which are the second half of a bone, and hold still now.
        refused: Which have no axis that could be told, with the reason; they keep the limit that they had.
    """

    hinges: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def hinges_from_bend(
    owner: bpy.types.Object, limbs: Limbs, names: Sequence[str], most: float, *, are_inner: bool
) -> BendReport:
    """Make bones hinges that bend to the side to which they are bent at rest.

    A straight knee or elbow bends as anatomy has it, where the bones tell which one it is and where the body faces.
    Where neither tells an axis the bone is refused by name, and its limit stays.

    Args:
        owner: An armature object.
        limbs: Of its skeleton.
        names: Names of its bones.
        most: Greatest bend in radians, from straight.
        are_inner: Whether they are known to bend, as all bones of a chain but the first; else the first bones of limbs
            are refused.
    """
    number = {name: i for i, name in enumerate(limbs.skeleton.names)}
    report = BendReport()
    plans: list[tuple[str, dict[str, Any]]] = []
    for name in names:
        bone = number[name]
        if is_second_half(limbs, bone):
            plans.append((name, {"limit": "LOCKED"}))
            report.locked.append(name)
            continue
        is_first = begins_limb(limbs, bone) and not are_inner
        found = None if is_first else bend_of(limbs, bone)
        if found is None:
            report.refused.append((name, _reason(limbs, bone, is_first)))
            continue
        ends = (0.0, max(most, found.angle))
        plans.append((name, hinge_settings(own_axis(limbs, bone, found.axis), ends, found.angle)))
        report.hinges.append(name)
    give_limits(owner, plans)
    return report


def hinge_settings(axis: V3, ends: tuple[float, float], rest: float) -> dict[str, Any]:
    """The settings of a hinge, about the positive side of the axis along which it lies.

    Args:
        axis: Unit axis in the bone's rest frame; a positive turn bends the joint further.
        ends: Least and greatest bend in radians, from straight.
        rest: The bend at rest.
    """
    low, high = max(ends[0] - rest, -2.0 * pi), ends[1] - rest
    if max(axis, key=abs) < 0.0:
        axis, low, high = (-axis[0], -axis[1], -axis[2]), -high, -low
    return {"limit": "HINGE", "axis": tuple(value + 0.0 for value in axis), "angle_min": low, "angle_max": high}


def give_limits(owner: bpy.types.Object, plans: Iterable[tuple[str, dict[str, Any]]]) -> None:
    """Write settings of limits onto bones, by name."""
    assert owner.pose is not None, "the object is no armature"
    for name, settings in plans:
        view = limit_of(owner.pose.bones[name])
        for setting, value in settings.items():
            setattr(view, setting, value)


def _reason(limbs: Limbs, bone: int, is_first: bool) -> str:
    if is_first:
        return Text("no bend where a limb begins: give it a cone, or the range of a human hip or shoulder")
    if limbs.axes.forward is None:
        return Text("straight at rest, and nothing tells where the body faces: bend it a little in Edit Mode")
    return Text("straight at rest, and neither name nor place tell a knee or elbow: bend it a little in Edit Mode")
