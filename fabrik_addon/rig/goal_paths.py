# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the goals of chains stand over many frames, as arrays: read of all goals at once in each frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise

import bpy
import numpy as np

from ..errors import LARGEST, FabrikError, place_of
from ..maths import IDENTITY, Doubles, Places, products
from .animation.animation import paths_at
from .checks import check_has_goal
from .dependencies import is_evaluated
from .goals import IN_THE_WORLD, Frames, GoalArrays, GoalRef, read_points, read_sources, sources_of
from .schema.chain import FabrikChain, owner_of
from .targets import Kind, Named, kind_of


class GoalPaths:
    """Where the goals of C chains stand in F frames, as arrays: read of all goals at once in each frame.

    Args:
        chains: The chains, with something that they ask for.
        changing: Indices of those with settings that change from frame to frame, so that each frame is asked anew.
        frames: F.
        spaces: For each of the chains in whose frames its goals stand; () where all are wanted in the world.

    Raises:
        FabrikError: What a chain has stored of its goals makes no sense.

    Attributes:
        sources: Those of the other chains.
        values: (F, w), what they tell, one after the other: places, and rotations without the sources' offsets.
    """

    def __init__(
        self, chains: Sequence[FabrikChain], changing: Collection[int], frames: int, spaces: Sequence[Frames] = ()
    ) -> None:
        self._chains, self._frames, self._spaces = chains, frames, spaces or [IN_THE_WORLD] * len(chains)
        self._changing = {c: GoalArrays(*(np.zeros((frames, width)) for width in (3, 3, 4))) for c in changing}
        lasting = [c for c in range(len(chains)) if c not in changing]
        asked = {c: sources_of(chains[c], self._spaces[c], c) for c in lasting}
        self._held = {c: held for c, (held, _) in asked.items()}
        found = [one for _, own in asked.values() for one in own]
        self._offsets = [one.offset for one in found]
        self.sources = [one._replace(offset=None if one.offset is None else IDENTITY) for one in found]
        ends = [0, *accumulate([3 if one.offset is None else 4 for one in found])]
        self._columns = [np.arange(*pair) for pair in pairwise(ends)]
        self.values = np.zeros((frames, ends[-1]))
        self._objects = {one.found for one in found if one.read is not None}
        others = [i for i, one in enumerate(found) if one.frame != ""]
        self._others = [self.sources[i] for i in others]
        self._other_columns = np.concatenate([np.arange(0), *[self._columns[i] for i in others]])
        self._placed, self._turned = self._by_kind("target", "pole"), self._by_kind("turn")

    def _by_kind(self, *roles: str) -> list[tuple[Kind, Places, list[Named]]]:
        """What is read of the world for some roles, by its kind, with its columns."""
        found: dict[Kind, list[int]] = {}
        for i, one in enumerate(self.sources):
            if one.frame == "" and one.role in roles:
                found.setdefault(kind_of(one.found, one.bone), []).append(i)
        return [
            (kind, np.array([self._columns[i] for i in own]), [self.sources[i][1:3] for i in own])
            for kind, own in found.items()
        ]

    def read(self, k: int, depsgraph: bpy.types.Depsgraph, free: Collection[int] = ()) -> None:
        """Read the goals of all chains, but of those that are free, in the frame whose place among the F is k.

        Raises:
            FabrikError: A goal can't be read.
        """
        is_read = self._read_all(self.values[k], depsgraph)
        for c in self._changing if is_read else range(len(self._chains)):  # where one can't be read, it says why
            if c in free:
                continue
            owner = owner_of(self._chains[c])
            with place_of(rig=owner.name):
                check_has_goal(owner, self._chains[c])
                points = read_points(self._chains[c], depsgraph, frames=self._spaces[c])
            for path, value in zip(self._changing.get(c, ()), points, strict=False):
                if path is not None and value is not None:
                    path[k] = value

    def _read_all(self, row: Doubles, depsgraph: bpy.types.Depsgraph) -> bool:
        """Read all sources into a row of the values; False where one is disabled, deleted, not there, or nowhere."""
        try:
            for kind, columns, found in self._placed:
                row[columns] = kind.read_all(depsgraph, found)
            for kind, columns, found in self._turned:
                row[columns] = kind.turn_all(depsgraph, found)
            if self._others:
                row[self._other_columns] = np.concatenate(read_sources(self._others, depsgraph))
            for one in self._objects:
                if one.hide_viewport or (one.library is not None and _is_absent(one, depsgraph)):
                    return False
        except (KeyError, ReferenceError, FabrikError):
            return False
        return bool((np.abs(row) <= LARGEST).all())

    def read_curves(self, frames: Doubles, depsgraph: bpy.types.Depsgraph) -> set[int]:
        """Read the goals in all frames (F,), rising, by their own curves; the chains, by indices, that these tell."""
        unread = [one for one in self.sources if one.frame is None or _is_absent(one.found, depsgraph)]
        unknown = {*self._changing, *[one.k for one in unread]}
        places = [i for i, one in enumerate(self.sources) if one.role != "turn"]
        turned = [n for n, i in enumerate(places) if [one.role for one in self.sources[i + 1 : i + 2]] == ["turn"]]
        goals = [GoalRef(*self.sources[i][:3]) for i in places]
        paths = paths_at(goals, turned, frames, depsgraph, [self.sources[i].frame or "" for i in places])
        for i, path in zip(places, paths, strict=True):
            if path is not None:
                found = [part for part in path if part is not None]
                own = np.concatenate(self._columns[i : i + len(found)])
                self.values[:, own] = np.concatenate(found, axis=1)
            if path is None or not (np.abs(self.values[:, own]) <= LARGEST).all():
                unknown.add(self.sources[i].k)
        return {*range(len(self._chains))} - unknown

    def of(self, c: int) -> GoalArrays:
        """Where the goals of one of the chains stand."""
        if c in self._changing:
            return self._changing[c]
        held = self._held[c]
        target, *others = [None if one is None else np.tile(np.array(one), (self._frames, 1)) for one in held]
        assert target is not None, "there is a place, whether it counts or not"
        found = dict[str, Doubles]()
        for source, columns, offset in zip(self.sources, self._columns, self._offsets, strict=True):
            if source.k == c:
                value = self.values[:, columns]
                found[source.role] = value if offset is None else products(value, np.array(offset))
        return GoalArrays(target, *others)._replace(**found)


def _is_absent(found: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a linked object is not evaluated, where Blender gives what its library has; a local one is an error."""
    return found.library is not None and not is_evaluated(found, depsgraph)
