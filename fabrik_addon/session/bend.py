# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of a limb before and after it became a chain, and the angle between their bends."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees

import bpy

from ..maths import V3, cross, distance, dot, minus, perpendicular, rotated, unit
from ..rig.chain_bones import pose_bones
from ..rig.goals import GoalPoints
from ..rig.prepared import Prepared
from ..texts import Text

NEAR = 1.0  # degrees by which two bends may differ and count as the same
APART = 0.01  # share of the limb's length by which joints may differ and count as the same
STRAIGHT = 1e-4  # share of the length within which a limb shows no bend


def joints_of(owner: bpy.types.Object, names: Sequence[str], depsgraph: bpy.types.Depsgraph) -> list[V3]:
    """The joints of bones as evaluated, relative to the first, in armature space."""
    bones = pose_bones(owner.evaluated_get(depsgraph))
    poses = [bones[name] for name in names]
    points = [*(pose.head for pose in poses), poses[-1].tail]
    return [minus(point, points[0]) for point in points]


def solved_joints(prepared: Prepared, points: Sequence[GoalPoints]) -> list[list[V3]]:
    """The joints of each chain as they are solved together, relative to its first, in armature space.

    Args:
        prepared: The chains.
        points: The goals of each.
    """
    solution = prepared.solver.solve(prepared.goals_of(points), prepared.settings, explain=False)
    placed = prepared.solver.figure.placed(solution.rotations, solution.shift)
    found = []
    for one in prepared.asked:
        joints = [*(placed.heads[i] for i in one.joints), placed.ends[one.joints[-1]]]
        found.append([rotated(prepared.space.turn, minus(joint, joints[0])) for joint in joints])
    return found


def differences(joints: Sequence[V3], stood: Sequence[V3], length: float) -> list[str]:
    """What there is to say of a limb's joints and where they stood before, relative to the first."""
    apart = max(distance(a, b) for a, b in zip(joints, stood, strict=True)) / length
    turned = degrees(abs(bend_between(joints, stood) or 0.0))
    if turned > NEAR:
        return [Text("it bends {turned:.0f}° away from where it bent", turned=turned)]
    if apart > APART:
        return [Text("its joints stand up to {apart:.0%} of the length away from where they stood", apart=apart)]
    return []


def bend_between(joints: Sequence[V3], others: Sequence[V3]) -> float | None:
    """The turn about root to tip that brings a limb's inner joints nearest to another's; None if it is straight."""
    along = unit(joints[-1])
    sine = cosine = 0.0
    for a, b in zip(joints[1:-1], others[1:-1], strict=True):
        first, second = perpendicular(a, along), perpendicular(b, along)
        sine += dot(along, cross(first, second))
        cosine += dot(first, second)
    return atan2(sine, cosine) if abs(sine) + abs(cosine) > STRAIGHT**2 * dot(joints[-1], joints[-1]) else None
