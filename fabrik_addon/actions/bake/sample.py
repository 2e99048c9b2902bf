# SPDX-License-Identifier: GPL-3.0-or-later
"""What chains ask for in all frames of a bake, and how they are solved, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import floor, isfinite

import bpy
import numpy as np

from ...errors import FabrikError, place_of
from ...kernel import Free, Limit, Rows
from ...maths import ORIGIN, Doubles, Places, v3
from ...rig.animation.animation import Motion
from ...rig.bones import pose_bones
from ...rig.checks import check_goal, check_rig
from ...rig.dependencies import is_simulated
from ...rig.figure.figure import BoneChannels, RigFigure
from ...rig.figure.goal_table import Result
from ...rig.figure.groups import ChainSet, figure_bones, lacks_goal
from ...rig.figure.joint_limits import restarted_limits, way_up
from ...rig.figure.reader import FactsByRig, carried, frames_in, read, read_figure, read_goals, resettled, restarted
from ...rig.figure.solve import SolvedFigure, is_plain, posed, posed_rigidly
from ...rig.figure.space import ChainSpace, RigFrame
from ...rig.goal_paths import GoalPaths
from ...rig.goals import GoalArrays, goals_of
from ..frames import go_to, in_frame, scene_of
from .report import ChainBake

# Chains that are solved together over the frames of a bake: what is asked of them, and what was found.
#
# They are read in full once, at their first frame. Of the others only their goals are read, where their parents and
# their armature carry them, and their start pose where keys make it; where nothing moves them but the curves of their
# goals not even a frame is gone to. Every frame is a row of the kernel's. Chains with other settings in each frame, and
# those that are others from frame to frame, are solved in each as by button.

PORTION = 4096  # frames of a chain that are solved without a word on how far it is
BODY_PORTION = 64  # the same of a body


class Track:
    """Chains that are solved together, of n bones, over their F frames.

    Args:
        chain_set: The chains.
        frames: (F,), rising.
        since: The frame from which on their old keys will be replaced; their channels run on from those before. The
            same for all of a bake.
        motion: What moves them from frame to frame beside their goals.

    Attributes:
        owner: The armature object.
        is_plain: Whether nothing but their goals moves them, and these move by nothing but their own curves.
        is_one: Whether their bones are the same joints in all frames, with the same limits.
        lengths: Of each chain, in armature space: what its errors are shares of.
        results: How each chain went.
        numbers: (F, k): the goals in chain space, as the kernel's rows have them, of the frames that are solved
            together.
        apart: The frames that were solved by themselves, with settings or joints of their own.
        channels: By such a frame those of the bones, of which some have locks: keys may have what is locked stand
            otherwise in each.
        rotations: (F, n, 4), as solved, each in the rest frame of its bone, influence included.
        plain: (F, m, 3), the location and scale channels that are written besides (`RigFigure.plain_channels`).
        rests: (F,), whether nothing is asked of the chains, so that they stand as keys play them.
        played: By the indices of bones that start from their keys (F, width), the channels as these play.
        violation: The worst of any limit, radians.
    """

    def __init__(self, chain_set: ChainSet, frames: Doubles, since: float, motion: Motion) -> None:
        self.chain_set, self.frames, self.since, self.motion = chain_set, frames, since, motion
        self.owner = chain_set.owner
        self.is_plain, self.is_one = False, True
        self.lengths: tuple[float, ...] = ()
        self.results: list[ChainBake] = []
        self.numbers: Doubles = np.empty((0, 0))
        self.apart = np.zeros(len(frames), dtype=bool)
        self.channels: dict[int, tuple[BoneChannels | None, ...]] = {}
        self._figure: RigFigure | None = None
        self.rotations: Doubles = np.empty((0, 0, 4))
        self.plain: Doubles = np.empty((0, 0, 3))
        self.rests = np.zeros(len(frames), dtype=bool)
        self.played: dict[int, Doubles] = {}
        self.violation = 0.0
        self._spaces: list[ChainSpace] = []  # in each frame, where more than the goals moves
        self._starts: Doubles = np.zeros((0, 0, 4))  # the start pose, where keys make it
        self._locations: Doubles = np.zeros((0, 3))  # that of the root
        self._held = np.zeros((0, 0), dtype=np.intc)  # whether a joint stays at it
        self._influences: Doubles = np.ones(0)  # how far each bone turns from start to solution (`RigFigure.influence`)

    @property
    def figure(self) -> RigFigure:
        """The chains at their first frame, which was read."""
        assert self._figure is not None, "it was read"
        return self._figure

    def begin(self, figure: RigFigure) -> None:
        """Take the chains as they are at their first frame."""
        lengths, asked, count, size = figure.solver.figure.lengths, figure.goals, len(self.frames), len(figure.bones)
        self._figure = figure
        self._influences = np.full(count, figure.influence)
        self.rotations, self.plain = np.empty((count, size, 4)), np.zeros((count, len(figure.plain_channels), 3))
        offset = figure.start.played if asked.has_offsets else ()
        self.played = {i: np.zeros((count, len(values))) for i, values in offset}
        own = (figure.length,) if figure.is_chain else None
        self.lengths = own or tuple(sum(lengths[i] for i in one.joints) for one in asked)
        for name in figure.chains:
            status, (missed, turns, softened) = np.zeros(count, dtype=np.int32), np.zeros((3, count))
            others = [other for other in figure.chains if other != name]
            self.results.append(ChainBake(self.owner.name, name, self.frames, status, missed, turns, softened, others))
        if self._restarts:
            self._starts, self._locations = np.zeros((count, size, 4)), np.zeros((count, 3))
            self._held = np.zeros((count, size), dtype=np.intc)
        if self.motion.is_carried or self._restarts:
            self._spaces = [figure.space] * count

    @property
    def goes_by_rows(self) -> bool:
        """Whether the goals of all its frames are asked for as rows of the same chains."""
        return not (self.motion.changes or (self.motion.settings and not self._is_blended))

    @property
    def _is_blended(self) -> bool:
        """Whether a chain changes in nothing but how far its bones turn, so that this goes beside the rows."""
        return self.chain_set.is_one and self.motion.settings == {"influence"}

    @property
    def _restarts(self) -> bool:
        """Whether nothing but their start pose changes, so that it goes into the rows."""
        figure = self.figure
        if not self.motion.start_changes or not self.goes_by_rows or not figure.is_even:
            return False
        is_whole = figure.influence >= 1.0 and not self._is_blended
        if figure.weighed is not None or not (is_whole or is_plain(figure)):
            return False
        return not any(one.hears_start for one in figure.goals)  # else their goals start from it, too

    def ask(self, goals: Sequence[GoalArrays]) -> None:
        """Take what the chains ask for in all frames; of each chain, in the world."""
        space = ChainSpace.over(self._spaces) if self._spaces else self.figure.space
        self.numbers = self.figure.goals.many_numbers(space, goals)

    def read(self, k: int, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> None:
        """Read the chains in frame k, but for the goals of those that go by rows.

        Raises:
            FabrikError: They can't be solved in it.
        """
        with place_of(rig=self.owner.name):
            if self._figure is None or self.owner.hide_viewport:
                check_rig(self.owner, depsgraph)
            if self._figure is None:
                self.begin(figure_for(self.chain_set, depsgraph, FactsByRig(self.since)))
            if not self._stays_same(k, depsgraph, facts):
                self._solve_apart(k, depsgraph, facts)

    def _stays_same(self, k: int, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> bool:
        """Note what carries the chains in frame k, and where they start; False where they are other chains there."""
        if not self.figure.is_rigid or not self.goes_by_rows:
            return False
        if self.motion.start_changes and not (self._restarts and self._restart(k, facts)):
            return False
        if self._is_blended:
            self._influences[k] = self.chain_set.chains[0].influence
            if not isfinite(self._influences[k]):
                return False
        return not self._spaces or self._carry(k, depsgraph)

    def _restart(self, k: int, facts: FactsByRig) -> bool:
        """Note where the chains start in frame k; False where the keys make no start pose, which is told elsewhere."""
        figure = self.figure
        try:
            start = figure.start.at(self.owner, facts.keyed(self.owner))
            limits = restarted_limits(self.owner, figure.bones, figure.limits, start)
        except FabrikError:
            return False
        for i, (limit, turn) in enumerate(zip(limits, start.rotations, strict=True)):
            self._starts[k, i], self._held[k, i] = limit.clamped(turn), limit.is_fixed
        self._locations[k] = start.location
        self.is_one &= limits == figure.limits
        return True

    def _carry(self, k: int, depsgraph: bpy.types.Depsgraph) -> bool:
        """Note where armature and parents have the chains; False where the parent makes them another figure."""
        figure, evaluated = self.figure, self.owner.evaluated_get(depsgraph)
        location = v3(self._locations[k].tolist()) if len(self._locations) else None
        root = pose_bones(evaluated)[figure.bones[0]]
        space = figure.space_at(RigFrame.of(evaluated.matrix_world), root, location)
        if space is not None:
            self._spaces[k] = space
        return space is not None

    def _solve_apart(self, k: int, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> None:
        """Solve the chains in frame k, where they are others than at the first."""
        check_rig(self.owner, depsgraph)
        now = self._brought(depsgraph, facts)
        if now is None:
            now, points = read(self.chain_set, depsgraph, facts)
            self.is_one = False
        else:
            points = read_goals(self.chain_set, now, depsgraph, {})
            self.is_one &= now.limits == self.figure.limits
        self.apart[k] = True
        if any(one is not None and one.locks is not None for one in now.channels):
            self.channels[k] = now.channels
        self._put(k, posed(now, points, self.owner, depsgraph))

    def _brought(self, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> RigFigure | None:
        """Chains from the first frame brought to this one; None where they are other chains here."""
        owner, motion, figure = self.owner, self.motion, self.figure
        found = figure if figure.is_rigid and not motion.changes else None
        if found is not None and motion.start_changes:
            found = restarted(found, owner, facts.keyed(owner))
        if found is not None:
            found = carried(found, owner, depsgraph)
        return resettled(found, self.chain_set) if found is not None and motion.settings else found

    def solve(self) -> Iterator[float]:
        """Solve the frames that are solved together, by the solver that button and live use.

        Yields:
            The share of the frames that is solved, from time to time.
        """
        places = np.flatnonzero(~self.apart)
        figure = self._for_rows()
        portion = PORTION if is_plain(figure) else BODY_PORTION
        for first in range(0, len(places), portion):
            if first:
                yield first / len(places)
            some = places[first : first + portion]
            is_run = some[-1] - some[0] == len(some) - 1  # without a gap, which is quicker to put
            self._solve(figure, slice(some[0], some[-1] + 1) if is_run else some)

    def _for_rows(self) -> RigFigure:
        """The chains with which rows are solved: where these say where joints start and stay, limits don't."""
        figure = self.figure
        if not len(self._starts):
            return figure
        limits: list[Limit] = [Free() if limit.is_fixed else limit for limit in figure.limits]
        found = figure.restarted(figure.start, limits)
        return found if found.root is None else replace(found, root=replace(found.root, location=ORIGIN))

    def _solve_rows(self, figure: RigFigure, at: slice | Places) -> Rows:
        """Rows of the kernel's for some of the frames, solved."""
        numbers = self.numbers[at]
        rows = figure.rows_of(len(numbers))
        np.frombuffer(rows.numbers)[:] = numbers.ravel()
        if len(self._starts):
            np.frombuffer(rows.starts)[:] = self._starts[at].ravel()
            np.frombuffer(rows.stays, dtype=np.intc)[:] = self._held[at].ravel()
        figure.solver.solve_many(rows, figure.settings)
        return rows

    def _solve(self, figure: RigFigure, at: slice | Places) -> None:
        """Solve the chains in some of the frames, by their indices."""
        if figure.weighed is not None:  # what supports a body, and which way is up, is in no row
            for k in np.arange(len(self.frames))[at].tolist():
                now = replace(figure, space=self._spaces[k]) if self._spaces else figure
                self._put(k, posed_rigidly(now, tuple(self.numbers[k].tolist())))
            return
        rows, influences = self._solve_rows(figure, at), self._influences[at]
        self._put_result(at, figure.goals.result_of(rows), influences)
        if influences.min(initial=1.0) < 1.0:
            figure.solver.blend_rows(rows, influences.tolist())
        self.rotations[at] = np.frombuffer(rows.rotations).reshape(rows.count, -1, 4)
        self.violation = max(self.violation, figure.solver.worst_violation(rows))
        if figure.plain_channels:
            shifts, factors = (np.frombuffer(own).reshape(rows.count, -1) for own in (rows.shifts, rows.factors))
            self.plain[at] = figure.many_plain_values(shifts, factors)
        if figure.root is not None and len(self._locations):
            self.plain[at, 0] += self._locations[at]

    def _put(self, k: int, item: SolvedFigure) -> None:
        """Put in what was found in frame k by itself."""
        self.rotations[k], self.rests[k] = item.rotations, item.rests
        for i, values in item.figure.start.played if self.played else ():
            self.played[i][k] = values
        turned = zip(item.figure.limits, item.rotations.tolist(), strict=True)
        self.violation = max(self.violation, *[limit.violation(turn) for limit, turn in turned])
        if item.figure.plain_channels:
            self.plain[k] = item.figure.plain_values(item.shift, item.factors)
        self._put_result(slice(k, k + 1), item.result, np.array([item.figure.influence]))

    def _put_result(self, at: slice | Places, result: Result, influences: Doubles) -> None:
        """Put in how chains ended, lengths as shares of theirs; one of no influence asks for nothing."""
        asks = influences > 0.0
        for c, (own, length) in enumerate(zip(self.results, self.lengths, strict=True)):
            own.status[at], own.turns[at] = result.status[:, c] * asks, result.turn[:, c] * asks
            own.residuals[at] = result.missed[:, c] / length * asks
            own.softened[at] = result.softened[:, c] / length * asks

    def joints_of(self, c: int) -> list[int]:
        """The joints of one of the chains, and those of no chain, which carry all of them."""
        asked = self.figure.goals
        others = {i for j, one in enumerate(asked) if j != c for i in one.joints}
        own = set(asked[c].joints)
        return [i for i in range(len(self.figure.bones)) if i in own or i not in others]

    def way_to(self, c: int) -> int:
        """How many bones of the figure carry the tip of one of the chains, with the root's own move."""
        way = way_up(self.figure.bodies.parents, self.figure.goals[c].joints[-1])
        return len(way) + (self.figure.root is not None)

    def forget(self) -> None:
        """Let go of what is not needed once the chains are keyed."""
        self.numbers = self.rotations = self.plain = np.empty((0, 0))
        self.played, self._spaces = {}, []


def sample(context: bpy.types.Context, tracks: Sequence[Track]) -> Iterator[None]:
    """Read chains in every frame: by the curves of their goals alone where these tell, else as Blender evaluates them.

    The scene's frame is moved; the chains do not depend on each other.

    Yields:
        Nothing, after each frame that was visited.

    Raises:
        FabrikError: Chains can't be solved in some frame, which is named where it is not the first.
    """
    known = _by_curves(context, [track for track in tracks if _moves_with_goals_alone(track)])
    left = [track for track in tracks if track not in known]
    if left:
        yield from _visited(context, left)


def _moves_with_goals_alone(track: Track) -> bool:
    """Whether nothing but their targets and poles moves chains."""
    motion = track.motion
    if not motion.is_same or motion.is_carried or motion.is_walked:
        return False
    return not any(map(lacks_goal, track.chain_set.chains))


def _by_curves(context: bpy.types.Context, tracks: Sequence[Track]) -> set[Track]:
    """Those of some chains of which targets and poles move by their own curves, which are read."""
    depsgraph, found = context.evaluated_depsgraph_get(), set[Track]()
    facts = FactsByRig(tracks[0].since if tracks else 0.0)
    for own in _together(tracks):
        goals = _Goals(own, len(own[0].frames))
        known = goals.paths.read_curves(own[0].frames, depsgraph)
        for track in own:
            if not known.issuperset(goals.columns[track]):
                continue  # what is wrong, a visit tells with its frame
            with place_of(rig=track.owner.name):
                figure = figure_for(track.chain_set, depsgraph, facts)
                if figure.is_rigid:
                    track.is_plain = True
                    track.begin(figure)
                    track.ask(goals.of(track))
                    found.add(track)
    return found


def figure_for(chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> RigFigure:
    """Chains as they were read, whose goals may move them; where these stand is read elsewhere.

    Raises:
        FabrikError: They can't be solved, or a goal moves with them.
    """
    figure = read_figure(chain_set, depsgraph, facts)
    for k, chain in enumerate(chain_set.chains):
        with place_of(chain=chain.name):
            check_goal(chain_set.owner, chain, figure.bones, figure.frames(k))
    return figure


def _together(tracks: Iterable[Track]) -> list[list[Track]]:
    """Those that have the same frames."""
    found: dict[int, list[Track]] = {}
    for track in tracks:
        found.setdefault(id(track.frames), []).append(track)
    return [*found.values()]


class _Goals:
    """Where the goals of chains stand that go by rows in the same frames, and by tracks the `columns` of their own."""

    def __init__(self, tracks: Sequence[Track], frames: int) -> None:
        own = [(track, chain) for track in tracks for chain in track.chain_set.chains]
        within = [one for track in tracks for one in frames_in(track.chain_set)]
        self.paths = GoalPaths([chain for _, chain in own], (), frames, within)
        self.columns = {track: [c for c, (other, _) in enumerate(own) if other is track] for track in tracks}

    def of(self, track: Track) -> list[GoalArrays]:
        """Those of the chains of a track."""
        return [self.paths.of(c) for c in self.columns[track]]


def _visited(context: bpy.types.Context, tracks: Sequence[Track]) -> Iterator[None]:
    """Read chains at each of their frames, as Blender evaluates it."""
    scene = scene_of(context)
    groups = [({frame: k for k, frame in enumerate(own[0].frames.tolist())}, own) for own in _together(tracks)]
    goals = [_Goals([track for track in own if track.goes_by_rows], len(places)) for places, own in groups]
    frames = {frame for places, _ in groups for frame in places}
    for frame in sorted(frames | _steps_to(scene, tracks, max(frames, default=0.0))):
        go_to(scene, frame)
        if frame not in frames:
            continue
        depsgraph, facts = context.evaluated_depsgraph_get(), FactsByRig(frame)
        for (places, own), paths in zip(groups, goals, strict=True):
            if frame in places:
                with in_frame(frame) if places[frame] else nullcontext():  # at the first it is so without a bake, too
                    for track in own:
                        track.read(places[frame], depsgraph, facts)
                    paths.paths.read(places[frame], depsgraph)
        yield
    for paths in goals:
        for track in paths.columns:
            if not track.apart.all():
                track.ask(paths.of(track))


def _steps_to(scene: bpy.types.Scene, tracks: Iterable[Track], last: float) -> set[float]:
    """The frames by which simulations that move the chains' armatures or goals come to the last one."""
    sets = [track.chain_set for track in tracks]
    moving = {(one.owner, figure_bones(one)[0].name) for one in sets}
    moving |= {(goal, bone) for one in sets for chain in one.chains for _, goal, bone in goals_of(chain)}
    if not any(is_simulated(thing, bone) for thing, bone in moving):
        return set()
    return {float(frame) for frame in range(scene.frame_start, floor(last) + 1)}
