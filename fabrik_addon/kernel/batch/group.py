# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of one structure, and what is found out about them once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import X_COLUMN, Array, dot, length, perpendicular, rotated, taken, unit
from ..bend import STRAIGHT, carried_normal, is_straight, preferred_bend
from ..limb import clamped_start, limb_path, reference_pose
from ..limited import drawn_poses
from ..limits.batch import columns
from ..model import Chain
from ..orientation import place as place_one
from ..pole import turning_joint
from ..rotations import Y_AXIS
from .joints import Joints, stacked
from .pose import place

PATH_POSES = 3


@dataclass(frozen=True, slots=True)
class Start:
    """Start poses of chains at length 1, before they are turned to their targets.

    Attributes:
        points: (n + 1, 3, B).
        x_axis: The X axis of the first joint, (3, B).
        straight: Whether the points lie on a line, (B,).
        offset: The side on which the inner points stand, (3, B).
        shows: Whether there is such a side, (B,).
    """

    points: Array
    x_axis: Array
    straight: Array
    offset: Array
    shows: Array

    @classmethod
    def of(cls, joints: Joints) -> Start:
        """Lay out the start poses."""
        points, frames = place(joints, joints.starts)
        farthest = dot(points, points).argmax(axis=0)
        line = unit(np.take_along_axis(points, farthest[None, None], axis=0)[0])
        straight = (length(perpendicular(points, line)) <= STRAIGHT).all(axis=0)
        chord = unit(points[-1])
        mean = perpendicular(points[1:-1], chord).sum(axis=0)
        shows = (length(mean) > STRAIGHT * 0.5) & (length(points[-1]) > 0.0)
        return cls(points, rotated(frames[0], X_COLUMN), straight, unit(perpendicular(unit(mean), chord)), shows)

    def take(self, index: Array) -> Start:
        """The poses of some of the chains."""
        names = ("points", "x_axis", "straight", "offset", "shows")
        return Start(*(taken(getattr(self, name), index) for name in names))


@dataclass(frozen=True, eq=False)
class Group:
    """Chains of one structure: as many joints, the same types of limits, the same joints that inherit rotation.

    Attributes:
        chains: The chains at length 1.
        sizes: (C,), their lengths.
    """

    chains: tuple[Chain, ...]
    sizes: Array

    def alone(self, index: int) -> Group:
        """One of the chains as a group, whose arrays have a single column."""
        if len(self.chains) == 1:
            return self
        if index not in self._alone:
            self._alone[index] = Group((self.chains[index],), self.sizes[index : index + 1])
        return self._alone[index]

    def drawn(self, index: int) -> Array:
        """Poses of one chain drawn inside its limits, from which restarts are chosen: (n, 4, D)."""
        if index not in self._drawn:
            self._drawn[index] = _rotations(drawn_poses(self.chains[index]))
        return self._drawn[index]

    @cached_property
    def _drawn(self) -> dict[int, Array]:
        return {}

    @cached_property
    def _alone(self) -> dict[int, Group]:
        return {}

    @cached_property
    def joints(self) -> Joints:
        return Joints.of(self.chains)

    @property
    def example(self) -> Chain:
        """A chain that tells of the structure."""
        return self.chains[0]

    @cached_property
    def start(self) -> Start:
        """The start poses as they are laid out."""
        return Start.of(self.joints)

    @cached_property
    def path(self) -> Array:
        """Of limbs: the poses of `limb.limb_path`, (3, n, 4, C); the last one twice where there are two."""
        poses = [limb_path(chain) for chain in self.chains]
        full = [[*found, *[found[-1]] * (PATH_POSES - len(found))] for found in poses]
        return stacked([_rotations([pose[k] for pose in full]) for k in range(PATH_POSES)])

    @cached_property
    def clamped(self) -> Array:
        """The start poses inside their limits, (n, 4, C)."""
        return _rotations([clamped_start(chain) for chain in self.chains])

    @cached_property
    def laid(self) -> tuple[Array, Array, Array]:
        """For the start poses inside their limits: straight or not (C), along (3, C), the side to bend to (3, C)."""
        straight, along, sides = [], [], []
        for chain in self.chains:
            pose = clamped_start(chain)
            joints, frames = place_one(chain, pose)
            chord = joints[-1].normalized() if joints[-1].length else Y_AXIS
            standing = replace(
                chain, joints=tuple(replace(j, start=start) for j, start in zip(chain.joints, pose, strict=True))
            )
            straight.append(bool(is_straight(joints, chain.length) and joints[-1].length and len(chain.joints) > 1))
            along.append(chord)
            sides.append(preferred_bend(standing, frames, chord))
        return np.array(straight), columns(along), columns(sides)

    @cached_property
    def turning(self) -> tuple[int, bool]:
        """Index of the joint at which the chain is turned to its pole, and whether it can turn every way."""
        found = turning_joint(self.example)
        return (min(self.example.first_moving, len(self.example.joints) - 2), False) if found is None else (found, True)

    @cached_property
    def normals(self) -> Array:
        """The normal of the bend in the frame of the joint `turning`, (3, C)."""
        first = self.turning[0]
        return columns([carried_normal(chain, reference_pose(chain), first) for chain in self.chains])


def _rotations(poses: Sequence[Sequence[object]]) -> Array:
    return stacked([columns(same) for same in zip(*poses, strict=True)])
