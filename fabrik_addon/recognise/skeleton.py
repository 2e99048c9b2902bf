# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a skeleton at rest as plain data: names, parents, heads, tails and axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..maths import V3, Z_AXIS, distance, mean

Limb = tuple[int, ...]  # the bones of a limb, root to tip, each the parent of the next
JOINED = 1e-3  # share of the length of the bone above within which a head stands at its tail


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Bones at rest, each with a number; a parent comes before its children.

    Attributes:
        names: Their names.
        parents: Number of each bone's parent, -1 for none.
        heads: In armature space.
        tails: In armature space.
        flagged: Whether the bone is marked as connected to its parent.
        axes: X, Y and Z axis of each bone in armature space; empty where they are not wanted.
        up: What the scene holds to be up, in armature space.
        has_drawn_tails: Whether somebody placed the tails: importers of joints guess them, and mark no bone as
            connected.
        children: Numbers of each bone's children.
        extent: The longest side of the box around all joints.
    """

    names: Sequence[str]
    parents: Sequence[int]
    heads: Sequence[V3]
    tails: Sequence[V3]
    flagged: Sequence[bool] = ()
    axes: Sequence[tuple[V3, V3, V3]] = ()
    up: V3 = Z_AXIS
    has_drawn_tails: bool = field(init=False, compare=False)
    children: list[list[int]] = field(init=False, compare=False)
    extent: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("names", "parents", "heads", "tails", "flagged", "axes"):  # so that it can be looked up
            object.__setattr__(self, name, tuple(getattr(self, name)))
        children: list[list[int]] = [[] for _ in self.names]
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(bone)
        points = [*self.heads, *self.tails]
        sides = [max(p[k] for p in points) - min(p[k] for p in points) for k in range(3)] if points else []
        object.__setattr__(self, "has_drawn_tails", any(self.flagged))
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "extent", max(sides, default=0.0))

    def end(self, bone: int) -> V3:
        """Where a bone ends: its tail; where tails are guessed, the middle of the joints below, its head if none."""
        below = self.children[bone]
        if self.has_drawn_tails or any(self.is_joined(child) for child in below):
            return self.tails[bone]
        if not below:
            return self.heads[bone]
        return mean(self.heads[child] for child in below)

    def way_up(self, bone: int) -> Iterator[int]:
        """A bone and those above it."""
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def length(self, bone: int) -> float:
        """Length of a bone."""
        return distance(self.heads[bone], self.tails[bone])

    def is_joined(self, bone: int) -> bool:
        """Whether a bone's head stands at its parent's tail, marked as connected or not."""
        parent = self.parents[bone]
        return parent >= 0 and distance(self.tails[parent], self.heads[bone]) <= JOINED * self.length(parent)

    def stands_on_head(self, bone: int) -> bool:
        """Whether a bone's head stands on its parent's, so that the parent is no segment of a limb."""
        parent = self.parents[bone]
        return distance(self.heads[parent], self.heads[bone]) <= JOINED * self.length(parent)
