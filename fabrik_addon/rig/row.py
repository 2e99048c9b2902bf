# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of one solve as the kernel's buffers hold them."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

from ..kernel import Rows


class Row(NamedTuple):
    """One row of goals and answers, to solve in; see the kernel's `Rows`.

    Attributes:
        rows: The kernel's.
        numbers: In: those of the chains' goals one after the other (`asked.Asked.numbers`).
        rotations: Out: n x 4.
        status: Out: one index into `STATUSES`.
        residual: Out: one distance from tip to target, in units of chain space.
        passes: Out: one.
        pole_error: Out: one angle.
        tip: Out: 3 numbers, in chain space: the end of the last bone, a view of the kernel's.
        shift: Out: 3 numbers, the vector in chain space by which the root stands elsewhere than it starts.
        softened: Out: of each goal how far soft reach put the place that it asks for.
        factors: Out: of each goal by how much the bones on the way to it are longer.
    """

    rows: Rows
    numbers: array[float]
    rotations: array[float]
    status: array[int]
    residual: array[float]
    passes: array[int]
    pole_error: array[float]
    tip: Any
    shift: array[float]
    softened: array[float]
    factors: array[float]

    @classmethod
    def of(cls, rows: Rows) -> Row:
        """The views of the kernel's only row."""
        found: Any = rows
        out = found.rotations, found.status, found.residual, found.passes, found.pole_error
        tip = memoryview(found.ends)[-3:]
        return cls(rows, found.numbers, *out, tip, found.shifts, found.softened, found.factors)
