# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a bake, and how it is told as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import degrees
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel import STATUSES
from ...maths import Doubles, Ints

Report = dict[str, Any]
WORDS = (*(status.value for status in STATUSES), "MOVED")  # how a frame ended, by number
REACHED, MOVED = 0, len(STATUSES)
LEVELS = 5  # of the residual strip, a decade each
FINEST = 1e-5  # share of the length that is level 0
ROUNDING = 1e-6  # of a decade: a residual that is a level's end but for rounding is of that level


@dataclass(slots=True, eq=False)
class ChainBake:
    """How the bake of one chain went.

    Attributes:
        rig: Name of the armature object.
        chain: Its name.
        frames: (F,) that were solved, rising.
        status: (F,) how each ended: a status of the kernel, or MOVED where Blender's evaluation has the tip elsewhere
            than it was solved; numbers into `WORDS`.
        residuals: (F,) distances from effector to target as shares of the length, as evaluated by Blender where that
            was done, else as solved.
        turns: (F,) angles in radians by which the tip is off the rotation, or the aim, that it is to have, likewise.
        softened: (F,) distances from where soft reach put the goal to the target, shares of the length.
        together: Names of the chains that are solved with it.
        is_asked: Whether it was asked for, and not only baked since it is solved with one that was.
        keys: Number of keys written.
        worst_tip_error: Of the frames that were reached, as Blender evaluates them, a share of the chain's length, and
            its frame; None where nothing was evaluated, or where the influence keeps the tip from its target.
        worst_tip_turn: The same of the tip's rotation, or of its aim, in radians; None where none is asked for, too.
        worst_violation: Of any limit, in radians.
        worst_turn: The largest turn of a joint between frames, in radians, and the frame to which it leads.
    """

    rig: str
    chain: str
    frames: Doubles
    status: Ints
    residuals: Doubles
    turns: Doubles
    softened: Doubles
    together: list[str] = field(default_factory=list)
    is_asked: bool = True
    keys: int = 0
    worst_tip_error: tuple[float, float] | None = None
    worst_tip_turn: tuple[float, float] | None = None
    worst_violation: float = 0.0
    worst_turn: tuple[float, float] = (0.0, 0.0)

    @property
    def all_reached(self) -> bool:
        return bool((self.status == REACHED).all())

    @property
    def unreached(self) -> list[tuple[float, str]]:
        """The frames in which the tip does not come to its target, each with the reason."""
        return [(float(self.frames[k]), WORDS[self.status[k]]) for k in np.flatnonzero(self.status != REACHED)]

    def as_json(self) -> Report:
        """What can be written as JSON; angles in degrees, frames that follow each other as one entry."""
        error, frame = self.worst_tip_error or (None, None)
        turn, turn_frame = self.worst_tip_turn or (None, None)
        runs = [run for run in runs_of(self.frames, self.status) if run[2] != REACHED]
        return {
            "chain": self.chain,
            "together": self.together,
            "asked": self.is_asked,
            "frames": len(self.frames),
            "keys": self.keys,
            "unreached": [{"first": first, "last": last, "status": WORDS[status]} for first, last, status in runs],
            "unreached_count": int(np.count_nonzero(self.status != REACHED)),
            "worst_residual": float(self.residuals.max()),
            "worst_residual_frame": float(self.frames[self.residuals.argmax()]),
            "worst_residual_degrees": degrees(float(self.turns.max())),
            "worst_residual_degrees_frame": float(self.frames[self.turns.argmax()]),
            "worst_softened": float(self.softened.max()),
            "worst_tip_error": error,
            "worst_tip_error_frame": frame,
            "worst_tip_turn_degrees": None if turn is None else degrees(turn),
            "worst_tip_turn_frame": turn_frame,
            "worst_violation_degrees": degrees(self.worst_violation),
            "worst_turn_degrees": degrees(self.worst_turn[0]),
            "worst_turn_frame": self.worst_turn[1],
        }


@dataclass(slots=True)
class BakeResult:
    """What came of the chains of one bake.

    Attributes:
        verify: How much of it Blender evaluated; see `BakeSettings`.
        chains: Of all armatures: those that were asked for, then those that are solved with them.
        rested: Names of the armatures whose live posing was switched off, since none of their chains is enabled now.
        notes: What to look out for.
    """

    verify: str
    chains: list[ChainBake]
    rested: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def all_reached(self) -> bool:
        return all(found.all_reached for found in self.chains)

    def of(self, rig: str) -> BakeResult:
        """The part of one armature."""
        return BakeResult(self.verify, [found for found in self.chains if found.rig == rig])

    def as_json(self) -> Report:
        """The chains, and the strip: runs of frames with the level of the worst residual of any chain.

        A radian that a tip is off its rotation counts as its length that it is off its place.
        """
        frames = all_frames(self.chains)
        worst = np.zeros(len(frames))
        for found in self.chains:
            places = np.searchsorted(frames, found.frames)
            worst[places] = np.maximum(worst[places], np.maximum(found.residuals, found.turns))
        return {
            "verify": self.verify,
            "chains": [found.as_json() for found in self.chains],
            "strip": [list(run) for run in runs_of(frames, levels_of(worst))],
        }


def all_frames(chains: Iterable[ChainBake]) -> Doubles:
    """The frames at which any of the chains was solved, rising; many share theirs."""
    found: Doubles = np.unique(np.concatenate([*{id(chain.frames): chain.frames for chain in chains}.values()]))
    return found


def levels_of(residuals: Doubles) -> NDArray[np.int8]:
    """Residuals as the strip's levels: 0 up to 1e-5 of the length, 1 up to 1e-4, and so on."""
    decades = np.ceil(np.log10(np.maximum(residuals, FINEST) / FINEST) - ROUNDING)
    found: NDArray[np.int8] = np.minimum(decades, LEVELS).astype(np.int8)
    return found


def runs_of(frames: Doubles, values: NDArray[np.integer[Any]]) -> Iterator[tuple[float, float, int]]:
    """Neighbouring frames that have the same value, as (first, last, value)."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1))
    ends = np.concatenate((starts[1:], [len(frames)]))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield float(frames[start]), float(frames[end - 1]), int(values[start])
