# SPDX-License-Identifier: GPL-3.0-or-later
"""How far from the dragged bone the others follow: joints are the stiffer, the more bones away they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pow

from ...kernel import Solver
from ...rig.prepared import Prepared

A_BONE = 0.5  # share of a joint's readiness to turn that full falloff leaves the next one farther away


def bones_away(parents: Sequence[int], dragged: int) -> list[int]:
    """How many bones lie between each joint of a figure and the dragged one, along the tree.

    Args:
        parents: For each of n joints the one on which it hangs, which comes before it; -1 for the root.
        dragged: Index of a joint.
    """
    way = [dragged]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    found = [0] * len(parents)
    for i, parent in enumerate(parents):
        found[i] = way.index(i) if i in way else found[parent] + 1
    return found


def stiffness_at(own: float, away: int, falloff: float) -> float:
    """The stiffness of a joint in a drag, 0 to 1.

    Args:
        own: Its own stiffness.
        away: How many bones it is from the dragged one.
        falloff: 0 for that of its own, 1 for the most.
    """
    return 1.0 - (1.0 - own) * pow(A_BONE, falloff * away)


def with_falloff(prepared: Prepared, dragged: int, falloff: float) -> Prepared:
    """A figure whose joints are stiffer the farther they are from a dragged one.

    Args:
        prepared: The figure, with the stiffness of its own.
        dragged: Index of the joint.
        falloff: 0 to 1.
    """
    if falloff <= 0.0:
        return prepared
    away = bones_away(prepared.bodies.parents, dragged)
    joints = tuple(
        joint._replace(stiffness=stiffness_at(joint.stiffness, count, falloff))
        for joint, count in zip(prepared.joints, away, strict=True)
    )
    bodies = prepared.bodies._replace(joints=joints)
    return replace(prepared, bodies=bodies, solver=Solver(bodies.figure()))
