# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into a solve of many chains and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import ChainError, InvalidValueError
from ..arrays import REAL, Array
from ..model import Chain, Status
from .group import Group

STATUSES = tuple(Status)


class ChainBatch:
    """Chains of any structure and length, prepared for solving them many times: hold on to it.

    Args:
        chains: The chains; those alike in structure are grouped.

    Raises:
        ChainError: A chain has no joints or no length.
    """

    def __init__(self, chains: Sequence[Chain]) -> None:
        by_structure: dict[object, list[int]] = {}
        for i, chain in enumerate(chains):
            if not chain.joints:
                raise ChainError(f"chain {i} has no bones")
            if not 0.0 < chain.length < np.inf:
                raise ChainError(f"the length of chain {i} is not a finite number above 0")
            by_structure.setdefault(_structure(chain), []).append(i)
        self.count = len(chains)
        self.groups: list[Group] = []
        self.group_of = np.zeros(len(chains), dtype=np.intp)
        self.place_of = np.zeros(len(chains), dtype=np.intp)
        for indices in by_structure.values():
            self.group_of[indices] = len(self.groups)
            self.place_of[indices] = np.arange(len(indices))
            members = [chains[i] for i in indices]
            sizes = np.array([chain.length for chain in members], dtype=REAL)
            self.groups.append(Group(tuple(chain.unit for chain in members), sizes))


def _structure(chain: Chain) -> object:
    joints = tuple((type(joint.limit), joint.inherits) for joint in chain.joints)
    return joints, any(joint.stiffness for joint in chain.joints)


@dataclass(frozen=True, slots=True)
class Goals:
    """Where the tips are to go, B goals.

    Attributes:
        chains: (B,) integers, which chain of the batch is to reach for each goal.
        targets: (3, B), in the solve space of the chain, relative to its root.
        poles: (3, B), or None; a column of NaN where a goal has no pole.
        pole_angles: (B,) radians, or None for zero.
    """

    chains: Array
    targets: Array
    poles: Array | None = None
    pole_angles: Array | None = None

    def check(self, count: int) -> None:
        """Refuse goals that can't be solved.

        Raises:
            InvalidValueError: Shapes don't match, a chain is not in the batch, or a number is not finite.
        """
        size = len(self.chains)
        wanted = {"targets": (3, size), "poles": (3, size), "pole_angles": (size,)}
        for name, shape in wanted.items():
            found = getattr(self, name)
            if found is not None and found.shape != shape:
                raise InvalidValueError(f"the {name} have shape {found.shape} and not {shape}")
        if size and not (self.chains.min() >= 0 and self.chains.max() < count):
            raise InvalidValueError(f"a goal is for a chain that is not among the {count}")
        if not np.isfinite(self.targets).all():
            bad = int(np.flatnonzero(~np.isfinite(self.targets).all(axis=0))[0])
            raise InvalidValueError(f"target {bad} is not a finite number")
        if self.poles is not None and (np.isinf(self.poles).any() or _partly_nan(self.poles)):
            raise InvalidValueError("a pole is not a finite number")
        if self.pole_angles is not None and not np.isfinite(self.pole_angles).all():
            raise InvalidValueError("a pole angle is not a finite number")


def _partly_nan(poles: Array) -> bool:
    missing = np.isnan(poles)
    return bool((missing.any(axis=0) != missing.all(axis=0)).any())


@dataclass(slots=True)
class Part:
    """The poses of the goals whose chains have the same structure: n rotations and n + 1 joints each.

    Attributes:
        goals: (P,) indices of the goals.
        rotations: (n, 4, P), in the rest frames of the joints.
        joints: (n + 1, 3, P), in solve space, relative to the root.
    """

    goals: Array
    rotations: Array
    joints: Array


@dataclass(slots=True)
class BatchSolution:
    """What a solve of B goals found; see `model.Solution`.

    Attributes:
        status: (B,) indices into `STATUSES`.
        residual: (B,), in units of the solve space.
        passes: (B,) integers.
        pole_error: (B,) radians.
        parts: The poses, a part for each structure of chains.
    """

    status: Array
    residual: Array
    passes: Array
    pole_error: Array
    parts: list[Part] = field(default_factory=list)

    @classmethod
    def empty(cls, count: int) -> BatchSolution:
        zero = np.zeros(count, dtype=REAL)
        return cls(np.zeros(count, dtype=np.int8), zero, np.ones(count, dtype=np.int32), zero.copy())

    def status_of(self, goal: int) -> Status:
        """How the solve of one goal ended."""
        return STATUSES[int(self.status[goal])]
