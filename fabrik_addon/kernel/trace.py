# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorders: what looks over the solver's shoulder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mathutils import Vector


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded pass.

    Attributes:
        name: What was done: start, swing, bend, backward, forward, match, descend, restart, pole.
        joints: n + 1 points in solve space, relative to the root.
    """

    name: str
    joints: tuple[Vector, ...]


class Recorder:
    """Sees every pass and keeps none."""

    def record(self, name: str, joints: Sequence[Vector]) -> None:
        """Take note of the joints after the pass `name`."""


@dataclass(slots=True)
class ListRecorder(Recorder):
    """Keeps every pass in a list."""

    steps: list[Step] = field(default_factory=list)

    def record(self, name: str, joints: Sequence[Vector]) -> None:
        self.steps.append(Step(name, tuple(joint.copy() for joint in joints)))


SILENT = Recorder()
