# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning a chain about root to tip so that it bends towards its pole."""

from __future__ import annotations

from mathutils import Vector

from .model import Goal
from .rotations import angle_about, perpendicular, turn_about

NEAR_AXIS = 1e-3  # distance of the pole from the line root to tip, as a share of the length, below which it fades


def pole_side(goal: Goal, along: Vector, length: float, kept: Vector) -> Vector:
    """The direction, at right angles to `along`, in which the chain is to bend.

    Near the axis the pole tells no direction: there its say fades and the bend is `kept`.

    Args:
        goal: With a pole.
        along: Unit vector from root to tip.
        length: Length of the chain, in the units of the goal.
        kept: Unit vector, the bend without a pole.
    """
    assert goal.pole is not None
    side = perpendicular(goal.pole, along)
    distance = side.length
    near = NEAR_AXIS * length
    if distance < near:
        side = side + kept * (near - distance)
    side = turn_about(along, goal.pole_angle) @ side
    return perpendicular(side.normalized(), along).normalized()


def pole_turn(bend: Vector, side: Vector, along: Vector) -> float:
    """Angle about `along` that brings the bend to the side where the pole wants it."""
    return angle_about(along, bend, side) or 0.0
