# SPDX-License-Identifier: GPL-3.0-or-later
"""How a limb bends, and how that compares with where it stood before."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees

import bpy
from mathutils import Vector

from ..rig.chain_bones import pose_bones

NEAR = 1.0  # degrees of a bend that count as the same
APART = 0.01  # share of the length
STRAIGHT = 1e-4  # share of the length within which a limb shows no bend


def joints_of(owner: bpy.types.Object, names: Sequence[str], depsgraph: bpy.types.Depsgraph) -> list[Vector]:
    """The joints of bones as evaluated, relative to the first, in armature space."""
    poses = [pose_bones(owner.evaluated_get(depsgraph))[name] for name in names]
    points = [*(pose.head.copy() for pose in poses), poses[-1].tail.copy()]
    return [point - points[0] for point in points]


def differences(joints: Sequence[Vector], stood: Sequence[Vector], length: float) -> list[str]:
    """What there is to say of a limb's joints and where they stood before, relative to the first."""
    apart = max((a - b).length for a, b in zip(joints, stood, strict=True)) / length
    turned = degrees(abs(bend_between(joints, stood) or 0.0))
    if turned > NEAR:
        return [f"it bends {turned:.0f}° away from where it bent"]
    if apart > APART:
        return [f"its joints stand up to {apart:.0%} of the length away from where they stood"]
    return []


def bend_between(joints: Sequence[Vector], others: Sequence[Vector]) -> float | None:
    """The turn about root to tip that brings a limb's inner joints nearest to another's; None if it is straight."""
    along = joints[-1].normalized()
    sine = cosine = 0.0
    for a, b in zip(joints[1:-1], others[1:-1], strict=True):
        first, second = a - along * a.dot(along), b - along * b.dot(along)
        sine += along.dot(first.cross(second))
        cosine += first.dot(second)
    return atan2(sine, cosine) if abs(sine) + abs(cosine) > STRAIGHT**2 * joints[-1].length_squared else None
