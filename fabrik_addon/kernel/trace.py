# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve did, pass by pass."""

from __future__ import annotations

from typing import NamedTuple

from . import cython
from .forms import V3, Doubles
from .vectors import v3


class Step(NamedTuple):
    """One recorded pass.

    Attributes:
        name: What was done: start, swing, bend, backward, forward, match, solved, descend, restart, end.
        joints: n + 1 points in solve space, relative to the root, for a figure of size 1.
    """

    name: str
    joints: tuple[V3, ...]


@cython.cclass
class Trace:
    """Keeps every pass of a solve that it is handed to.

    Attributes:
        steps: The passes so far.
    """

    steps = cython.declare(list, visibility="readonly")

    def __init__(self) -> None:
        self.steps = []

    @cython.cfunc
    def record(self, name: str, joints: Doubles, count: cython.int) -> cython.void:
        """Take note of n + 1 joints after a pass."""
        self.steps.append(Step(name, tuple([v3(joints, i) for i in range(count + 1)])))
