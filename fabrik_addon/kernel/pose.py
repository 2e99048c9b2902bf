# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of a figure stand."""

from __future__ import annotations

from typing import NamedTuple

from . import cython
from .forms import Q4, V3, Doubles
from .vectors import copy_into, doubles


class PlacedJoints(NamedTuple):
    """Where a pose puts the joints of a figure, in solve space.

    Attributes:
        heads: n points, the joints.
        ends: n points, the ends of their segments.
        frames: n unit quaternions.
    """

    heads: list[V3]
    ends: list[V3]
    frames: list[Q4]

    @property
    def joints(self) -> list[V3]:
        """The n + 1 points of a chain, from the root to the tip."""
        return [*self.heads, self.ends[len(self.ends) - 1]]


@cython.cclass
class Pose:
    """Rotations of the n joints of a figure, and where they put it.

    Attributes:
        rotations: n quaternions, each in the rest frame of its joint.
        rests: n rest frames in solve space.
        frames: n frames in solve space.
        heads: n + 1 points in solve space: the joints, and the end of the last one's segment.
        ends: n points, the ends of the segments.
        shift: Vector by which the root of a figure that moves stands elsewhere.
    """

    rotations: Doubles
    rests: Doubles
    frames: Doubles
    heads: Doubles
    ends: Doubles
    shift: Doubles

    def __init__(self, count: int) -> None:
        self.rotations = doubles(4 * count)
        self.rests = doubles(4 * count)
        self.frames = doubles(4 * count)
        self.heads = doubles(3 * count + 3)
        self.ends = doubles(3 * count)
        self.shift = doubles(3)


@cython.cfunc
def copied_pose(pose: Pose, count: cython.int) -> Pose:
    """A pose of n joints with the same rotations, placed likewise."""
    copy: Pose = Pose(count)
    copy_pose(copy, pose, count)
    return copy


@cython.cfunc
@cython.exceptval(check=False)
def copy_pose(target: Pose, source: Pose, count: cython.int) -> cython.void:
    """Stand as a placed pose of n joints does."""
    copy_into(target.rotations, source.rotations, 4 * count)
    copy_into(target.rests, source.rests, 4 * count)
    copy_into(target.frames, source.frames, 4 * count)
    copy_into(target.heads, source.heads, 3 * count + 3)
    copy_into(target.ends, source.ends, 3 * count)
    copy_into(target.shift, source.shift, 3)
