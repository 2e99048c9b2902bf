# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain over the frames of a bake: what is asked of it, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

from ...rig.array_types import Doubles, Ints, Places
from ...rig.prepared import Prepared
from ...rig.properties import FabrikChain


@dataclass(slots=True, eq=False)
class Answers:
    """A chain solved in F frames.

    Attributes:
        rotations: (F, n, 4), each in the rest frame of its bone, influence included.
        status: (F,), indices into the kernel's `STATUSES`.
        residual: (F,), from the solved tip to the target as a share of the chain's length.
        violation: The worst of any limit, radians.
    """

    rotations: Doubles
    status: Ints
    residual: Doubles
    violation: float = 0.0

    @classmethod
    def room(cls, frames: int, bones: int) -> Answers:
        """Room for the answers of so many frames."""
        return cls(np.empty((frames, bones, 4)), np.zeros(frames, dtype=np.int32), np.zeros(frames))

    def put(self, at: slice | Places, found: Answers) -> None:
        """Put the answers of some frames among them."""
        self.rotations[at], self.status[at], self.residual[at] = found.rotations, found.status, found.residual
        self.violation = max(self.violation, found.violation)


@dataclass(slots=True, eq=False)
class Track:
    """One chain over its F frames.

    Attributes:
        owner: The armature object.
        chain: The chain.
        prepared: The chain at its first frame.
        frames: (F,), rising.
        numbers: (F, 3), or (F, 6) with a pole: the goals in chain space, of the frames that are solved together.
        is_plain: Whether nothing but its goals moves it, and these move by nothing but their own curves.
        is_one: Whether its bones are the same joints in all frames, with the same limits.
        apart: By their index the frames that were solved by themselves, with settings or joints of their own.
    """

    owner: bpy.types.Object
    chain: FabrikChain
    prepared: Prepared
    frames: Doubles
    numbers: Doubles
    is_plain: bool = False
    is_one: bool = True
    apart: dict[int, Answers] = field(default_factory=dict)

    def forget(self) -> None:
        """Let go of what is not needed once the chain is keyed."""
        self.numbers = np.empty((0, self.numbers.shape[1]))
        self.apart.clear()
