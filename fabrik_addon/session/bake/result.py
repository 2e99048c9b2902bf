# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a bake, and how it is told as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, degrees, log10
from typing import Any

Report = dict[str, Any]
LEVELS = 5  # of the residual strip, a decade each
FINEST = 1e-5  # share of the length that is level 0


@dataclass(slots=True)
class ChainBake:
    """How the bake of one chain went.

    Attributes:
        rig: Name of the armature object.
        chain: Its name.
        frames: Number of frames that were solved.
        keys: Number of keys written.
        unreached: Frames in which the tip does not come to the target, each with the kernel's status, or MOVED where
            Blender's evaluation has it elsewhere than it was solved.
        worst_tip_error: Of the frames that were reached, as Blender evaluates them, a share of the chain's length, and
            its frame; None where nothing was evaluated, or where the influence keeps the tip from its target.
        worst_violation: Of any limit, in radians.
        worst_turn: The largest turn of a joint between frames, in radians, and the frame to which it leads.
        residuals: For each frame the distance from tip to target as a share of the length, evaluated by Blender where
            that was checked, else as solved.
    """

    rig: str
    chain: str
    frames: int = 0
    keys: int = 0
    unreached: list[tuple[float, str]] = field(default_factory=list)
    worst_tip_error: tuple[float, float] | None = None
    worst_violation: float = 0.0
    worst_turn: tuple[float, float] = (0.0, 0.0)
    residuals: dict[float, float] = field(default_factory=dict)

    def as_json(self) -> Report:
        """What can be written as JSON; angles in degrees, frames that follow each other as one entry."""
        error, frame = self.worst_tip_error or (None, None)
        runs = runs_of(sorted(self.residuals), dict(self.unreached))
        return {
            "chain": self.chain,
            "frames": self.frames,
            "keys": self.keys,
            "unreached": [{"first": first, "last": last, "status": status} for first, last, status in runs],
            "unreached_count": len(self.unreached),
            "worst_tip_error": error,
            "worst_tip_error_frame": frame,
            "worst_violation_degrees": degrees(self.worst_violation),
            "worst_turn_degrees": degrees(self.worst_turn[0]),
            "worst_turn_frame": self.worst_turn[1],
        }


@dataclass(slots=True)
class BakeResult:
    """What came of the chains of one bake.

    Attributes:
        verify: How much of it Blender evaluated; see `BakeSettings`.
        chains: Of all armatures.
    """

    verify: str
    chains: list[ChainBake]

    @property
    def all_reached(self) -> bool:
        return not any(found.unreached for found in self.chains)

    def of(self, rig: str) -> BakeResult:
        """The part of one armature."""
        return BakeResult(self.verify, [found for found in self.chains if found.rig == rig])

    def as_json(self) -> Report:
        """The chains, and the strip: runs of frames with the level of the worst residual of any chain."""
        worst: dict[float, float] = {}
        for found in self.chains:
            for frame, residual in found.residuals.items():
                worst[frame] = max(residual, worst.get(frame, 0.0))
        levels = {frame: level_of(residual) for frame, residual in worst.items()}
        return {
            "verify": self.verify,
            "chains": [found.as_json() for found in self.chains],
            "strip": [list(run) for run in runs_of(sorted(levels), levels)],
        }


def level_of(residual: float) -> int:
    """A residual as one of the strip's levels: 0 up to 1e-5 of the length, 1 up to 1e-4, and so on."""
    return 0 if residual <= FINEST else min(LEVELS, ceil(log10(residual / FINEST) - 1e-9))


def runs_of(frames: Sequence[float], values: dict[float, Any]) -> Iterator[tuple[float, float, Any]]:
    """Neighbouring frames that have the same value, as (first, last, value); frames without a value end a run."""
    run: list[float] = []
    for frame in frames:
        if run and (frame not in values or values[frame] != values[run[0]]):
            yield run[0], run[-1], values[run[0]]
            run = []
        if frame in values:
            run.append(frame)
    if run:
        yield run[0], run[-1], values[run[0]]
