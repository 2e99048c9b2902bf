# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve found."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .forms import Q4, V3


class Status(StrEnum):
    """How a solve ended."""

    REACHED = "REACHED"  # the effector is at its goal, within the tolerance
    TOO_FAR = "TOO_FAR"  # the goal is farther than the chain is long
    TOO_NEAR = "TOO_NEAR"  # the goal is nearer than the longest bone lets the tip come
    BLOCKED = "BLOCKED"  # limits, or other goals, hold the figure back


STATUSES = tuple(Status)  # rows of numbers name a status by its index in these
REACHED, TOO_FAR, TOO_NEAR, BLOCKED = range(4)  # the indices


class Solution(NamedTuple):
    """What a solve found.

    Attributes:
        status: How it ended; with several goals, REACHED where all are, else that of the one that misses most.
        rotations: n rotations, each in the rest frame of its joint.
        joints: n + 1 points in solve space: the joints, and the end of the last one's segment.
        residual: Greatest distance from a goal, in units of the solve space.
        passes: Sweeps that were used, 1 at least.
        blocking: Indices of the joints whose limits hold the figure back, the strongest first.
        give: For each of the first three of these, the radians by which its limit would have to give for the goals to
            be met with all other limits held; None where that alone would not do.
        pole_error: Angle in radians between the bend and where the pole wants it; 0 without a pole.
        statuses: How each goal ended.
        residuals: What each goal misses, in units of the solve space; a radian of a rotation counts .15 of the
            figure's size.
        turns: The radians by which each goal of a rotation, an axis or a bend is missed; 0 for places.
        softened: How far the place that each goal asks for stands from where it was put, by soft reach.
        factors: By how much the joints on the way to each goal were stretched; `joints` are stretched ones.
        shift: Vector by which the root stands elsewhere than the figure has it, in solve space.
        ends: n points in solve space, the ends of the segments.
        frames: n unit quaternions, the frames of the joints in solve space.
    """

    status: Status
    rotations: list[Q4]
    joints: list[V3]
    residual: float
    passes: int
    blocking: tuple[int, ...]
    give: tuple[float | None, ...]
    pole_error: float
    statuses: tuple[Status, ...]
    residuals: tuple[float, ...]
    turns: tuple[float, ...]
    softened: tuple[float, ...]
    factors: tuple[float, ...]
    shift: V3
    ends: list[V3]
    frames: list[Q4]
