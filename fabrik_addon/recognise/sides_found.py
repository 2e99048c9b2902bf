# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a body a limb is: from where it stands; what names tell otherwise is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..vectors import dot, minus
from .tree import Tree

DOUBTED = 0.75  # greatest confidence where names and place tell different sides, or neither tells one
MOST_OFF = 0.5  # share of the named pairs that stand on the other side, from which the facing is in doubt


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
    """Finds sides, and how far names and places of a whole skeleton agree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.is_doubted = self._share_off() >= MOST_OFF

    def of(self, bones: Sequence[int], others: Sequence[int]) -> Side:
        """The side of a limb, beside its twin."""
        told = Counter(self.tree.sides[bone] for bone in bones if self.tree.sides[bone])
        named = told.most_common(1)[0][0] if told else ""
        placed = self.tree.side_at(bones, others)
        if not placed:
            if named:
                return Side(named, 1.0, (), False)
            side = "L" if self._is_first(bones, others) else "R"
            return Side(side, DOUBTED, ("nothing tells where the body faces",), False)
        if named and named != placed:
            reason = f"its names tell the side {named}, it stands on the side {placed}"
            return Side(placed, DOUBTED if self.is_doubted else 1.0, (reason,), True)
        return Side(placed, 1.0, (), False)

    def _is_first(self, bones: Sequence[int], others: Sequence[int]) -> bool:
        heads, lateral = self.tree.skeleton.heads, self.tree.axes.lateral
        if not others:
            return dot(heads[bones[0]], lateral) > 0.0
        return dot(minus(heads[bones[0]], heads[others[0]]), lateral) > 0.0

    def _share_off(self) -> float:
        """Of the bones whose names tell a side, and that have a twin, the share that stand on the other."""
        tree = self.tree
        told = off = 0
        for bone, twin in enumerate(tree.named.twins):
            if twin > bone and tree.sides[bone] and tree.sides[bone] != tree.sides[twin]:
                placed = tree.side_at([bone], [twin])
                told += bool(placed)
                off += bool(placed) and placed != tree.sides[bone]
        return off / told if told else 0.0
