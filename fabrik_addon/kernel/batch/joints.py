# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints of chains of one structure as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, spread, taken
from ..limits.batch import LimitBatch, columns, scalars
from ..model import Chain
from ..reach import bounds


@dataclass(frozen=True, slots=True)
class Joints:
    """The joints of chains of one structure, each chain at length 1.

    The last axis has one column a chain, or one alone where all chains have the same. n joints, B chains.

    Attributes:
        segments: (n, 3, B), see `model.Joint`.
        lengths: (n, B).
        rests: (n, 4, B).
        starts: (n, 4, B).
        base: (4, B).
        readiness: (n, B), 1 minus the stiffness.
        limits: n limits.
        inherits: n booleans.
        reach: (2, B), least and greatest distance of the tip from the root without limits.
    """

    segments: Array
    lengths: Array
    rests: Array
    starts: Array
    base: Array
    readiness: Array
    limits: tuple[LimitBatch, ...]
    inherits: tuple[bool, ...]
    reach: Array

    @classmethod
    def of(cls, chains: Sequence[Chain]) -> Joints:
        """Take chains of length 1 apart into arrays."""
        by_joint = list(zip(*(chain.joints for chain in chains), strict=True))
        return cls(
            stacked([columns([joint.segment for joint in joints]) for joints in by_joint]),
            stacked([scalars([joint.segment.length for joint in joints]) for joints in by_joint]),
            stacked([columns([joint.rest for joint in joints]) for joints in by_joint]),
            stacked([columns([joint.start for joint in joints]) for joints in by_joint]),
            columns([chain.base for chain in chains]),
            stacked([scalars([1.0 - joint.stiffness for joint in joints]) for joints in by_joint]),
            tuple(joints[0].limit.stacked([joint.limit for joint in joints]) for joints in by_joint),
            tuple(joints[0].inherits for joints in by_joint),
            columns([bounds(chain.lengths) for chain in chains]),
        )

    def take(self, index: Array) -> Joints:
        """The joints of some of the chains."""
        arrays = ("segments", "lengths", "rests", "starts", "base", "readiness", "reach")
        found = {name: taken(getattr(self, name), index) for name in arrays}
        return replace(self, **found, limits=tuple(limit.take(index) for limit in self.limits))

    @property
    def is_stiff(self) -> bool:
        return bool((self.readiness < 1.0).any())


def stacked(parts: Sequence[Array]) -> Array:
    """Arrays of the joints as one; those that have a single column for all chains are spread where others are not."""
    count = max(part.shape[-1] for part in parts)
    return np.stack([part if part.shape[-1] == count else spread(part, count) for part in parts])
