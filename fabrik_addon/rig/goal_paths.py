# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the goals of chains stand over many frames, as arrays: read of all goals at once in each frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import bpy
import numpy as np

from ..errors import LARGEST, FabrikError, place_of
from ..maths import Doubles, axes_of, products
from .animation.animation import paths_at
from .goals import (
    IN_THE_WORLD,
    Frames,
    GoalArrays,
    checked_turn,
    goals_of,
    held_point,
    is_offset,
    read_points,
    turns_tip,
    turns_with_target,
)
from .schema.chain import FabrikChain, owner_of
from .spaces import within
from .targets import KINDS, Kind, Named, kind_of
from .walk_goals import is_walked


class GoalPaths:
    """Where the goals of C chains stand in F frames.

    Args:
        chains: The chains, with something that they ask for.
        changing: Indices of those with settings that change from frame to frame, so that each frame is asked anew.
        frames: F.
        spaces: For each of the chains in whose frames its goals stand; () where all are wanted in the world.

    Attributes:
        goals: m targets and poles of chains that go by these alone.
        turned: Indices of those whose rotation counts.
        places: (F, m, 3), where they stand.
        turns: (F, m, 4), how they are turned; zeros where that does not count.
    """

    def __init__(
        self, chains: Sequence[FabrikChain], changing: Collection[int], frames: int, spaces: Sequence[Frames] = ()
    ) -> None:
        self._chains, self._frames, self._spaces = chains, frames, spaces or [IN_THE_WORLD] * len(chains)
        alone = [c for c, chain in enumerate(chains) if c in changing or is_walked(chain) or is_offset(chain)]
        pairs = [(c, goal) for c, chain in enumerate(chains) if c not in alone for goal in goals_of(chain)]
        self._columns = {(c, goal.role): i for i, (c, goal) in enumerate(pairs)}
        self.goals = [goal for _, goal in pairs]
        self._frame_of = [self._spaces[c].get(goal.role, "") for c, goal in pairs]
        self.turned = [i for (c, role), i in self._columns.items() if role == "target" and turns_with_target(chains[c])]
        self.places, self.turns = np.zeros((frames, len(pairs), 3)), np.zeros((frames, len(pairs), 4))
        self._alone = {c: GoalArrays(*(np.zeros((frames, width)) for width in (3, 3, 4))) for c in alone}
        self._objects = {goal.found for goal in self.goals}
        self._placed = self._by_kind(range(len(pairs)))
        self._hanging = [i for i, frame in enumerate(self._frame_of) if frame]
        self._rotated = self._by_kind(self.turned)

    def _by_kind(self, indices: Sequence[int]) -> list[tuple[Kind, list[int], list[Named]]]:
        """Goals by their kinds: their indices, and the goals."""
        kinds = {i: kind_of(self.goals[i].found, self.goals[i].bone) for i in indices}
        own = [(kind, [i for i in indices if kinds[i] is kind and not self._frame_of[i]]) for kind in KINDS]
        return [(kind, some, [self.goals[i][1:] for i in some]) for kind, some in own if some]

    def read(self, k: int, depsgraph: bpy.types.Depsgraph, free: Collection[int] = ()) -> None:
        """Read the goals of all chains, but of those that are free, in the frame whose place among the F is k.

        Raises:
            FabrikError: A goal can't be read.
        """
        is_read = self._read_all(k, depsgraph)
        for c in self._alone if is_read else range(len(self._chains)):  # where one can't be read, it says why
            if c in free:
                continue
            with place_of(rig=owner_of(self._chains[c]).name):
                points = read_points(self._chains[c], depsgraph, frames=self._spaces[c])
            if c in self._alone:
                for path, value in zip(self._alone[c], points, strict=True):
                    if path is not None and value is not None:
                        path[k] = value

    def read_curves(self, frames: Doubles, depsgraph: bpy.types.Depsgraph) -> set[int]:
        """Read the goals in all frames (F,), rising, by their own curves; the chains, by indices, that these tell."""
        unknown = set(self._alone)
        for i, path in enumerate(paths_at(self.goals, self.turned, frames, depsgraph, self._frame_of)):
            if path is not None:
                self.places[:, i] = path[0]
                self.turns[:, i] = path[1] if path[1] is not None else 0.0
            if path is None or not (np.abs(path[0]) <= LARGEST).all() or not np.isfinite(self.turns[:, i]).all():
                unknown |= {c for (c, _), column in self._columns.items() if column == i}
        return {*range(len(self._chains))} - unknown

    def _read_all(self, k: int, depsgraph: bpy.types.Depsgraph) -> bool:
        """Read the goals of those that go by these alone; False where one is disabled, not there, or nowhere."""
        try:
            for kind, indices, goals in self._placed:
                self.places[k, indices] = kind.read_all(depsgraph, goals)
            for kind, indices, goals in self._rotated:
                self.turns[k, indices] = kind.turn_all(depsgraph, goals)
            for i in self._hanging:
                role, found, bone = self.goals[i]
                matrix = within(self._frame_of[i], role, found.evaluated_get(depsgraph), bone)
                self.places[k, i], self.turns[k, i] = matrix.translation, axes_of(matrix)
        except (KeyError, FabrikError):
            return False
        for found in self._objects:
            if found.hide_viewport:
                return False
        return bool((np.abs(self.places[k]) <= LARGEST).all() and np.isfinite(self.turns[k]).all())

    def of(self, c: int) -> GoalArrays:
        """Where the goals of one of the chains stand.

        Raises:
            InvalidValueError: What a pin holds is not finite, or no rotation.
        """
        if c in self._alone:
            return self._alone[c]
        chain, target, pole = self._chains[c], self._columns.get((c, "target")), self._columns.get((c, "pole"))
        turn: Doubles | None = None
        if turns_tip(chain) and chain.orientation == "KEEP":
            turn = self._tiled(checked_turn(chain, chain.held_rotation))
        elif turns_tip(chain) and target is not None:
            turn = products(self.turns[:, target], np.array(checked_turn(chain, chain.rotation_offset)))
        points = self.places[:, target] if target is not None else self._tiled(held_point(chain))
        return GoalArrays(points, self.places[:, pole] if pole is not None else None, turn)

    def _tiled(self, values: Sequence[float]) -> Doubles:
        """The same numbers in all frames."""
        return np.tile(np.array(values), (self._frames, 1))
