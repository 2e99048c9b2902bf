# SPDX-License-Identifier: GPL-3.0-or-later
"""What carries a limb is to help it before the limb is straight."""

from __future__ import annotations

from typing import SupportsFloat, SupportsIndex, cast

from ...errors import InvalidValueError
from .. import cython
from ..figure import Figure, Pose
from ..forms import V3, Doubles
from ..vectors import clipped, larger
from .base import HINT, Goal, listed


@cython.cclass
class Help(Goal):
    """The joints that carry a limb give way more readily, or less, than their stiffness says.

    It has no place where it is met: it says how the others are. With it an elbow stays bent while the trunk goes along,
    and whoever asks for it says how much for which target, so that the answer changes smoothly with that.

    Args:
        root: Index of the first joint of the limb.
        share: How much of the stiffness of what carries that does not count, up to 1; below 0, to -1, it counts more.
            Its number in a row. Of joints that carry several limbs the greatest counts.
        weight: 0 for none of it.
    """

    share = cython.declare(cython.double, visibility="readonly")
    given: cython.double  # the share of the row at hand

    def __init__(self, root: SupportsIndex, share: SupportsFloat, weight: SupportsFloat = 1.0) -> None:
        self._ask(root, weight, HINT, "help", 1)
        self.share = self.given = float(share)
        if not -1.0 <= self.share <= 1.0:
            raise InvalidValueError("the share of stiffness that does not count is not between -1 and 1")

    def numbers(self) -> tuple[float, ...]:
        return (self.share,)

    def copied(self) -> Goal:
        return Help(self.effector, self.share, self.weight)

    def bound(self, figure: Figure) -> Goal:
        found: Help = cast(Help, Goal.bound(self, figure))
        found.path = listed({*found.path} - {self.effector})  # the limb itself is as it was
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def load(self, row: Doubles, at: cython.Py_ssize_t, factor: cython.double, origin: V3) -> cython.void:
        self.given = clipped(row[at], -1.0, 1.0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin(self, figure: Figure, start: Pose) -> cython.void:
        for k in range(len(self.path) if self.weight > 0.0 else 0):
            figure.eases[self.path[k]] = larger(figure.eases[self.path[k]], self.given)
