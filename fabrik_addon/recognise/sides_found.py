# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a body a limb is: from where it stands; what names tell otherwise is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..maths import dot, minus
from ..texts import Text
from .tree import Tree

DOUBTED = 0.75  # greatest confidence where names and place tell different sides, or neither tells one


class Side(NamedTuple):
    """The side of a limb.

    Attributes:
        side: `L` or `R`.
        most: The greatest confidence that a limb can have whose side is found like this.
        reasons: What is in doubt.
        is_off: Whether names tell the other side.
    """

    side: str
    most: float
    reasons: tuple[str, ...]
    is_off: bool


class Sides:
    """Finds the sides of limbs."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def of(self, bones: Sequence[int], others: Sequence[int]) -> Side:
        """The side of a limb, beside its twin."""
        told = Counter(self.tree.sides[bone] for bone in bones if self.tree.sides[bone])
        named = told.most_common(1)[0][0] if told else ""
        placed = self.tree.side_at(bones, others)
        if not placed:
            if named:
                return Side(named, 1.0 if len(told) == 1 else DOUBTED, (), False)
            side = "L" if self._is_first(bones, others) else "R"
            return Side(side, DOUBTED, (Text("nothing tells where the body faces"),), False)
        if named and named != placed:
            return Side(
                placed,
                DOUBTED,
                (Text("its names tell the side {named}, it stands on the side {placed}", named=named, placed=placed),),
                True,
            )
        if len(told) > 1:
            return Side(placed, DOUBTED, (Text("its names tell both sides"),), False)
        if not named and not others:
            return Side(placed, DOUBTED, (Text("it has neither a twin nor names that tell its side"),), False)
        return Side(placed, 1.0, (), False)

    def _is_first(self, bones: Sequence[int], others: Sequence[int]) -> bool:
        heads, lateral = self.tree.skeleton.heads, self.tree.axes.lateral
        if not others:
            return dot(heads[bones[0]], lateral) > 0.0
        return dot(minus(heads[bones[0]], heads[others[0]]), lateral) > 0.0
