# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together over the frames of a bake: what is asked of them, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...maths import Doubles, Ints, Places
from ...rig.chain_space import ChainSpace, ChainSpaces
from ...rig.figures import ChainSet
from ...rig.goals import GoalArrays
from ...rig.prepared import Prepared


@dataclass(slots=True, eq=False)
class Answers:
    """C chains that are solved together, of n bones, in F frames.

    Attributes:
        rotations: (F, n, 4), each in the rest frame of its bone, influence included.
        plain: (F, m, 3), the location and scale channels that are written besides (`Prepared.plain_channels`).
        status: (F, C), indices into the kernel's `STATUSES`.
        residual: (F, C), from the solved effector to the target as a share of the chain's length.
        turn: (F, C), angles in radians by which the solved tip is off the rotation, or the aim, that it is to have.
        softened: (F, C), from where soft reach put the goal to the target, a share of the chain's length.
        violation: The worst of any limit, radians.
    """

    rotations: Doubles
    plain: Doubles
    status: Ints
    residual: Doubles
    turn: Doubles
    softened: Doubles
    violation: float = 0.0

    @classmethod
    def room(cls, frames: int, prepared: Prepared) -> Answers:
        """Room for the answers of so many frames."""
        chains, count = len(prepared.asked), len(prepared.plain_channels)
        rotations, plain = np.empty((frames, len(prepared.bones), 4)), np.zeros((frames, count, 3))
        residual, turn, softened = np.zeros((3, frames, chains))
        return cls(rotations, plain, np.zeros((frames, chains), dtype=np.int32), residual, turn, softened)

    def put(self, at: slice | Places, found: Answers) -> None:
        """Put the answers of some frames among them."""
        self.rotations[at], self.plain[at], self.status[at] = found.rotations, found.plain, found.status
        self.residual[at], self.turn[at], self.softened[at] = found.residual, found.turn, found.softened
        self.violation = max(self.violation, found.violation)


@dataclass(slots=True, eq=False)
class Track:
    """Chains that are solved together over their F frames.

    Attributes:
        chain_set: The chains.
        prepared: The chains at their first frame.
        frames: (F,), rising.
        numbers: (F, k): the goals in chain space, as the kernel's rows have them, of the frames that are solved
            together.
        is_plain: Whether nothing but their goals moves them, and these move by nothing but their own curves.
        is_one: Whether their bones are the same joints in all frames, with the same limits.
        lengths: Of each chain, in armature space: what its errors are shares of.
        apart: By their index the frames that were solved by themselves, with settings or joints of their own.
    """

    chain_set: ChainSet
    prepared: Prepared
    frames: Doubles
    numbers: Doubles = field(default_factory=lambda: np.empty((0, 0)))
    is_plain: bool = False
    is_one: bool = True
    apart: dict[int, Answers] = field(default_factory=dict)
    lengths: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        figure, asked = self.prepared.solver.figure, self.prepared.asked
        own = (figure.size,) if self.prepared.is_chain else None
        self.lengths = own or tuple(sum(figure.lengths[i] for i in one.joints) for one in asked)

    def ask(self, goals: Sequence[GoalArrays], space: ChainSpace | ChainSpaces) -> None:
        """Take what the chains ask for in all frames.

        Args:
            goals: Of each chain, in the world.
            space: Chain space, where it stays the same, or in each frame.
        """
        pairs = zip(self.prepared.asked, goals, strict=True)
        self.numbers = np.concatenate([one.many_numbers(space, own) for one, own in pairs], axis=1)

    @property
    def owner(self) -> bpy.types.Object:
        """The armature object."""
        return self.chain_set.owner

    def room(self) -> Answers:
        """Room for the answers of all frames."""
        return Answers.room(len(self.frames), self.prepared)

    def joints_of(self, k: int) -> list[int]:
        """The joints of one of the chains, and those of no chain, which carry all of them."""
        asked = self.prepared.asked
        others = {i for j, one in enumerate(asked) if j != k for i in one.joints}
        own = set(asked[k].joints)
        return [i for i in range(len(self.prepared.bones)) if i in own or i not in others]

    def way_to(self, k: int) -> int:
        """How many bones of the figure carry the tip of one of the chains, with the root's own move."""
        parents, joint, count = self.prepared.bodies.parents, self.prepared.asked[k].joints[-1], 0
        while joint >= 0:
            joint, count = parents[joint], count + 1
        return count + (self.prepared.root is not None)

    def forget(self) -> None:
        """Let go of what is not needed once the chains are keyed."""
        self.numbers = np.empty((0, self.numbers.shape[1]))
        self.apart.clear()
