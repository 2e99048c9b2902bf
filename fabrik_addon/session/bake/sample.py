# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and their goals over a range of frames, read for baking.

Chains are read in full once, at their first frame. Of the others only their goals are read, and where their parents and
their armature carry them; where these move by nothing but their own curves not even a frame is gone to. Chains with
other settings, or another start pose, in each frame are brought to it and solved there; those that are others from
frame to frame are read and solved in each as by button.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import FabrikError, place_of
from ...maths import Doubles, axes_of
from ...rig.animation import Motion
from ...rig.chain_bones import pose_bones
from ...rig.chain_space import ChainSpaces, are_spaces
from ...rig.checks import check_rig
from ...rig.dependencies import is_simulated
from ...rig.figures import ChainSet, figure_bones, lacks_goal
from ...rig.goal_paths import GoalPaths
from ...rig.goals import GoalArrays, goals_of, read_points
from ...rig.kinematics import head_of_root
from ...rig.mount import Mount
from ...rig.prepared import Prepared
from ...rig.preparing import FactsByRig, carried, read, resettled, restarted
from ...texts import Text
from ..frames import go_to
from ..posing import posed
from .solving import put_posed
from .track import Answers, Track


class Wanted(NamedTuple):
    """One figure to sample: in which frames, and from which frame on its old keys are replaced.

    Attributes:
        chain_set: Chains that are solved together.
        frames: (F,), rising.
        since: The frame from which on their old keys will be replaced; their channels run on from those before. The
            same for all of a bake.
        motion: What moves them from frame to frame beside their goals.
    """

    chain_set: ChainSet
    frames: Doubles
    since: float
    motion: Motion


def sample(context: bpy.types.Context, wanted: Sequence[Wanted], into: list[Track]) -> Iterator[None]:
    """Read chains in every frame: by the curves of their goals alone where these tell, else as Blender evaluates them.

    Args:
        context: Its scene's frame is moved.
        wanted: Chains that do not depend on each other.
        into: Where the tracks are put, in their order.

    Yields:
        Nothing, after each frame that was visited.

    Raises:
        FabrikError: Chains can't be solved in some frame, which is named where it is not the first.
    """
    tracks = _by_curves(context, wanted)
    left = {i: one for i, one in enumerate(wanted) if i not in tracks}
    if left:
        yield from _visited(context, left, tracks)
    into += [tracks[i] for i in range(len(wanted))]


def _by_curves(context: bpy.types.Context, wanted: Sequence[Wanted]) -> dict[int, Track]:
    """The chains, by their index, of which only targets and poles move, and these by their own curves."""
    depsgraph = context.evaluated_depsgraph_get()
    facts = FactsByRig(wanted[0].since)
    found: dict[int, Track] = {}
    still = {i: one for i, one in enumerate(wanted) if one.motion.is_same and not _is_moved(one.motion)}
    for indices in _together({i: one for i, one in still.items() if not any(map(lacks_goal, one.chain_set.chains))}):
        frames = wanted[indices[0]].frames
        places = [(i, chain) for i in indices for chain in wanted[i].chain_set.chains]
        goals = GoalPaths([chain for _, chain in places], (), len(frames))
        known = goals.read_curves(frames, depsgraph)
        for i in indices:
            own = [c for c, (k, _) in enumerate(places) if k == i]
            if not known.issuperset(own):
                continue  # what is wrong, a visit tells with its frame
            chain_set = wanted[i].chain_set
            with place_of(rig=chain_set.owner.name):
                prepared, _ = read(chain_set, depsgraph, facts)
                if prepared.is_rigid:
                    found[i] = Track(chain_set, prepared, frames, is_plain=True)
                    found[i].ask([goals.of(c) for c in own], prepared.space)
    return found


def _is_moved(motion: Motion) -> bool:
    """Whether more moves chains than their goals."""
    return motion.is_carried or motion.is_walked


def _together(wanted: Mapping[int, Wanted]) -> list[list[int]]:
    """The indices of those that have the same frames."""
    found: dict[int, list[int]] = {}
    for i, one in wanted.items():
        found.setdefault(id(one.frames), []).append(i)
    return [*found.values()]


def _visited(context: bpy.types.Context, wanted: Mapping[int, Wanted], tracks: dict[int, Track]) -> Iterator[None]:
    """Read chains at each of their frames, as Blender evaluates it."""
    scene = context.scene
    assert scene is not None
    together = _together(wanted)
    groups = [_Group([wanted[i] for i in indices]) for indices in together]
    frames = {frame for group in groups for frame in group.at}
    for frame in sorted(frames | _steps_to(scene, wanted.values(), max(frames, default=0.0))):
        go_to(scene, frame)
        if frame in frames:
            visit = _Visit(context.evaluated_depsgraph_get(), frame, FactsByRig(frame))
            for group in groups:
                group.read(visit)
            yield
    for group, indices in zip(groups, together, strict=True):
        group.finish(context)
        tracks |= dict(zip(indices, group.tracks, strict=True))


def _steps_to(scene: bpy.types.Scene, wanted: Iterable[Wanted], last: float) -> set[float]:
    """The frames by which simulations that move the chains' armatures or goals come to the last one."""
    sets = [one.chain_set for one in wanted]
    moving = {(one.owner, figure_bones(one)[0].name) for one in sets}
    moving |= {(goal, bone) for one in sets for chain in one.chains for _, goal, bone in goals_of(chain)}
    if not any(is_simulated(thing, bone) for thing, bone in moving):
        return set()
    return {float(frame) for frame in range(scene.frame_start, floor(last) + 1)}


class _Visit(NamedTuple):
    """A frame that is gone to.

    Attributes:
        depsgraph: Evaluated for it.
        frame: Sub-frame included.
        facts: Of the armatures in it.
    """

    depsgraph: bpy.types.Depsgraph
    frame: float
    facts: FactsByRig


class _Group:
    """Figures that are read in the same frames: the goals of all that stay the same chains at once.

    Args:
        wanted: The figures.

    Attributes:
        at: The places of the frames.
        tracks: What is read of each figure.
    """

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        frames = wanted[0].frames
        self.at = {frame: k for k, frame in enumerate(frames.tolist())}
        self._figures = [_Figure(one) for one in wanted]
        same = [(i, chain) for i, one in enumerate(wanted) if one.motion.is_same for chain in one.chain_set.chains]
        self._goals = GoalPaths([chain for _, chain in same], (), len(frames))
        self._columns = [[c for c, (k, _) in enumerate(same) if k == i] for i in range(len(wanted))]

    @property
    def tracks(self) -> list[Track]:
        return [figure.track for figure in self._figures if figure.track is not None]

    def read(self, visit: _Visit) -> None:
        """Read a frame, if it is one of these figures'.

        Raises:
            FabrikError: Chains can't be solved in it.
        """
        k = self.at.get(visit.frame)
        if k is None:
            return
        try:
            for figure in self._figures:
                figure.read(k, visit)
            self._goals.read(k, visit.depsgraph)
        except FabrikError as error:
            if k:  # in the first frame it would be so without a bake, too
                _name_frame(error, visit.frame)
            raise

    def finish(self, context: bpy.types.Context) -> None:
        """Bring the goals of all frames into the spaces of their chains.

        Raises:
            FabrikError: An armature has no extent in some frame.
        """
        for figure, columns in zip(self._figures, self._columns, strict=True):
            bad = figure.bad_frame()
            if bad is not None and context.scene is not None:
                go_to(context.scene, bad)
                try:
                    check_rig(figure.owner, context.evaluated_depsgraph_get())
                except FabrikError as error:
                    _name_frame(error, bad)
                    raise
            if columns:
                figure.ask([self._goals.of(c) for c in columns])


def _name_frame(error: FabrikError, frame: float) -> None:
    """Let an error say in which frame it is so."""
    error.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=error.reason)


class _Figure:
    """Chains that are solved together, as they are read frame by frame.

    Args:
        wanted: The chains.

    Attributes:
        track: What is read; None before the first frame.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted, self.owner = wanted, wanted.chain_set.owner
        self.track: Track | None = None
        count = len(wanted.frames) if wanted.motion.is_carried else 0
        self._worlds, self._world_turns = np.zeros((count, 4, 4)), np.zeros((count, 4))
        self._origins, self._parents = np.zeros((count, 3)), np.zeros((count, 4))

    def read(self, k: int, visit: _Visit) -> None:
        """Read the chains in frame k, but for the goals of those that stay the same.

        Raises:
            FabrikError: They can't be solved in it.
        """
        wanted, track = self._wanted, self.track
        if track is None or self.owner.hide_viewport:
            with place_of(rig=self.owner.name):
                check_rig(self.owner, visit.depsgraph)
        if track is None:
            with place_of(rig=self.owner.name):
                prepared, _ = read(wanted.chain_set, visit.depsgraph, FactsByRig(wanted.since))
            track = self.track = Track(wanted.chain_set, prepared, wanted.frames)
        is_same = wanted.motion.is_same and track.prepared.is_rigid
        if not is_same or (wanted.motion.is_carried and not self._carry(k, track.prepared, visit.depsgraph)):
            with place_of(rig=self.owner.name):
                self._solve(k, track, visit)

    def _carry(self, k: int, prepared: Prepared, depsgraph: bpy.types.Depsgraph) -> bool:
        """Note where armature and parents have the chains; False where the parent makes them another figure."""
        evaluated = self.owner.evaluated_get(depsgraph)
        root, world = pose_bones(evaluated)[prepared.bones[0]], evaluated.matrix_world
        self._worlds[k], self._world_turns[k] = world, axes_of(world)
        self._origins[k] = root.head if prepared.root is None else head_of_root(root, prepared.root.location)
        if root.parent is None:
            return True
        self._parents[k] = root.parent.matrix.to_quaternion()
        return Mount.of(root.parent.matrix, prepared.keeps_axes) == prepared.mount

    def bad_frame(self) -> float | None:
        """The first frame in which the armature has no extent; None where it always has."""
        bad = np.flatnonzero(~are_spaces(self._worlds))
        return float(self._wanted.frames[bad[0]]) if len(bad) and not self._is_apart else None

    @property
    def _is_apart(self) -> bool:
        """Whether each frame was solved by itself."""
        return self.track is None or len(self.track.apart) == len(self._wanted.frames)

    def ask(self, goals: Sequence[GoalArrays]) -> None:
        """Take what the chains ask for in all frames."""
        track = self.track
        assert track is not None, "it was read"
        if self._wanted.motion.is_carried and not self._is_apart:
            turns = track.prepared.hang.turns(self._parents)
            track.ask(goals, ChainSpaces.of(self._worlds, self._world_turns, self._origins, turns))
        else:
            track.ask(goals, track.prepared.space)

    def _solve(self, k: int, track: Track, visit: _Visit) -> None:
        """Solve the chains in frame k, where they are others than at the first."""
        chain_set, depsgraph = self._wanted.chain_set, visit.depsgraph
        check_rig(self.owner, depsgraph)
        now = self._brought(track.prepared, visit)
        if now is None:
            now, points = read(chain_set, depsgraph, visit.facts)
            track.is_one = False
        else:
            points = tuple(read_points(chain, depsgraph) for chain in chain_set.chains)
            track.is_one &= now.limits == track.prepared.limits
        item = posed(now, points, self.owner, depsgraph)
        track.apart[k] = Answers.room(1, track.prepared)
        put_posed(track, track.apart[k], 0, item)

    def _brought(self, prepared: Prepared, visit: _Visit) -> Prepared | None:
        """Chains from the first frame brought to this one; None where they are other chains here."""
        owner, motion = self.owner, self._wanted.motion
        found = prepared if prepared.is_rigid and not motion.changes else None
        if found is not None and motion.start_changes:
            found = restarted(found, owner, visit.facts.keyed(owner))
        if found is not None:
            found = carried(found, owner, visit.depsgraph)
        return resettled(found, self._wanted.chain_set) if found is not None and motion.settings_change else found
