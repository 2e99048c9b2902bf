# SPDX-License-Identifier: GPL-3.0-or-later
"""What chains ask for in all frames of a bake, and how they are solved, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...errors import FabrikError, place_of
from ...kernel import STATUSES, Rows
from ...maths import Doubles, Ints, Places, axes_of
from ...rig.animation.animation import Motion
from ...rig.bones import pose_bones
from ...rig.checks import check_rig
from ...rig.dependencies import is_simulated
from ...rig.figure.figure import Prepared
from ...rig.figure.groups import ChainSet, figure_bones, lacks_goal
from ...rig.figure.judge import worst_status
from ...rig.figure.kinematics import Mount, head_of_root
from ...rig.figure.reader import FactsByRig, carried, read, resettled, restarted
from ...rig.figure.solve import Posed, is_plain, posed, posed_rigidly
from ...rig.figure.space import ChainSpace, ChainSpaces, are_spaces
from ...rig.goal_paths import GoalPaths
from ...rig.goals import GoalArrays, goals_of, read_points
from ...texts import Text
from ..frames import go_to

# Chains that are solved together over the frames of a bake: what is asked of them, and what was found.


@dataclass(slots=True, eq=False)
class Answers:
    """C chains that are solved together, of n bones, in F frames.

    Attributes:
        rotations: (F, n, 4), each in the rest frame of its bone, influence included.
        plain: (F, m, 3), the location and scale channels that are written besides (`Prepared.plain_channels`).
        status: (F, C), indices into the kernel's `STATUSES`.
        residual: (F, C), from the solved effector to the target as a share of the chain's length.
        turn: (F, C), angles in radians by which the solved tip is off the rotation, or the aim, that it is to have.
        softened: (F, C), from where soft reach put the goal to the target, a share of the chain's length.
        violation: The worst of any limit, radians.
    """

    rotations: Doubles
    plain: Doubles
    status: Ints
    residual: Doubles
    turn: Doubles
    softened: Doubles
    violation: float = 0.0

    @classmethod
    def room(cls, frames: int, prepared: Prepared) -> Answers:
        """Room for the answers of so many frames."""
        chains, count = len(prepared.asked), len(prepared.plain_channels)
        rotations, plain = np.empty((frames, len(prepared.bones), 4)), np.zeros((frames, count, 3))
        residual, turn, softened = np.zeros((3, frames, chains))
        return cls(rotations, plain, np.zeros((frames, chains), dtype=np.int32), residual, turn, softened)

    def put(self, at: slice | Places, found: Answers) -> None:
        """Put the answers of some frames among them."""
        self.rotations[at], self.plain[at], self.status[at] = found.rotations, found.plain, found.status
        self.residual[at], self.turn[at], self.softened[at] = found.residual, found.turn, found.softened
        self.violation = max(self.violation, found.violation)


@dataclass(slots=True, eq=False)
class Track:
    """Chains that are solved together over their F frames.

    Attributes:
        chain_set: The chains.
        prepared: The chains at their first frame.
        frames: (F,), rising.
        numbers: (F, k): the goals in chain space, as the kernel's rows have them, of the frames that are solved
            together.
        is_plain: Whether nothing but their goals moves them, and these move by nothing but their own curves.
        is_one: Whether their bones are the same joints in all frames, with the same limits.
        lengths: Of each chain, in armature space: what its errors are shares of.
        apart: By their index the frames that were solved by themselves, with settings or joints of their own.
    """

    chain_set: ChainSet
    prepared: Prepared
    frames: Doubles
    numbers: Doubles = field(default_factory=lambda: np.empty((0, 0)))
    is_plain: bool = False
    is_one: bool = True
    apart: dict[int, Answers] = field(default_factory=dict)
    lengths: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        figure, asked = self.prepared.solver.figure, self.prepared.asked
        own = (figure.size,) if self.prepared.is_chain else None
        self.lengths = own or tuple(sum(figure.lengths[i] for i in one.joints) for one in asked)

    def ask(self, goals: Sequence[GoalArrays], space: ChainSpace | ChainSpaces) -> None:
        """Take what the chains ask for in all frames.

        Args:
            goals: Of each chain, in the world.
            space: Chain space, where it stays the same, or in each frame.
        """
        pairs = zip(self.prepared.asked, goals, strict=True)
        self.numbers = np.concatenate([one.many_numbers(space, own) for one, own in pairs], axis=1)

    @property
    def owner(self) -> bpy.types.Object:
        """The armature object."""
        return self.chain_set.owner

    def room(self) -> Answers:
        """Room for the answers of all frames."""
        return Answers.room(len(self.frames), self.prepared)

    def joints_of(self, k: int) -> list[int]:
        """The joints of one of the chains, and those of no chain, which carry all of them."""
        asked = self.prepared.asked
        others = {i for j, one in enumerate(asked) if j != k for i in one.joints}
        own = set(asked[k].joints)
        return [i for i in range(len(self.prepared.bones)) if i in own or i not in others]

    def way_to(self, k: int) -> int:
        """How many bones of the figure carry the tip of one of the chains, with the root's own move."""
        parents, joint, count = self.prepared.bodies.parents, self.prepared.asked[k].joints[-1], 0
        while joint >= 0:
            joint, count = parents[joint], count + 1
        return count + (self.prepared.root is not None)

    def forget(self) -> None:
        """Let go of what is not needed once the chains are keyed."""
        self.numbers = np.empty((0, self.numbers.shape[1]))
        self.apart.clear()


# All frames of chains solved by the solver that button and live use, row by row.

PORTION = 4096  # frames of a chain that are solved without a word on how far it is
BODY_PORTION = 64  # the same of a body


def solve_track(track: Track, answers: Answers) -> Iterator[float]:
    """Solve the frames of chains; those that were solved one by one are put among them.

    Args:
        track: The chains.
        answers: Where the answers to all F frames are put.

    Yields:
        The share of the frames that is solved, from time to time.
    """
    together = np.ones(len(track.frames), dtype=bool)
    for k, own in track.apart.items():
        answers.put(slice(k, k + 1), own)
        together[k] = False
    places = np.flatnonzero(together)
    is_chain = is_plain(track.prepared)
    portion, solved = (PORTION, _chain_solved) if is_chain else (BODY_PORTION, _body_solved)
    for first in range(0, len(places), portion):
        if first:
            yield first / len(places)
        some = places[first : first + portion]
        is_run = some[-1] - some[0] == len(some) - 1  # without a gap, which is quicker to put
        answers.put(slice(some[0], some[-1] + 1) if is_run else some, solved(track, track.numbers[some]))


def _chain_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of a chain to goals in chain space, a row for each frame."""
    prepared = track.prepared
    rows = _rows_solved(prepared, numbers)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(rows, prepared.influence)
    count, size = len(numbers), prepared.length
    residual = (_doubles(rows.residual) / size)[:, None]
    softened = _doubles(rows.softened).reshape(count, -1)[:, :1] / size
    plain, turn = np.zeros((count, 0, 3)), np.zeros((count, 1))
    rotations, status = _doubles(rows.rotations).reshape(count, -1, 4), _ints(rows.status)[:, None]
    return Answers(rotations, plain, status, residual, turn, softened, prepared.solver.worst_violation(rows))


def _body_solved(track: Track, numbers: Doubles) -> Answers:
    """The answers of chains that are solved together, or ask for more than a place, to goals in chain space."""
    prepared, count = track.prepared, len(numbers)
    found = Answers.room(count, prepared)
    if prepared.influence < 1.0 or prepared.weighed is not None:
        # the influence counts for the lengths of a chain that stretches, too; and what supports a body is in no row
        for k, row in enumerate(numbers.tolist()):
            put_posed(track, found, k, posed_rigidly(prepared, row))
        return found
    rows = _rows_solved(prepared, numbers)
    found.rotations[:] = _doubles(rows.rotations).reshape(count, -1, 4)
    found.violation = prepared.solver.worst_violation(rows)
    if prepared.plain_channels:
        shifts, factors = _doubles(rows.shifts).reshape(count, 3), _doubles(rows.factors).reshape(count, -1)
        found.plain[:] = prepared.many_plain_values(shifts, factors)
    status, residual, turn, softened = _of_goals(rows, count)
    found.status[:] = worst_status(prepared.asked, status, residual)
    for j, one in enumerate(prepared.asked):
        first = one.goal_at
        found.softened[:, j] = softened[:, first] / track.lengths[j]
        if one.weight > 0.0 and not one.aims:
            found.residual[:, j] = residual[:, first] / track.lengths[j]
        if one.weight > 0.0 and (one.turns or one.aims):
            found.turn[:, j] = turn[:, first + one.turns]
    return found


def _rows_solved(prepared: Prepared, numbers: Doubles) -> Rows:
    """Rows of the kernel's, solved."""
    rows = prepared.rows_of(len(numbers))
    _doubles(rows.numbers)[:] = numbers.ravel()
    prepared.solver.solve_many(rows, prepared.settings)
    return rows


def _of_goals(rows: Rows, count: int) -> tuple[Ints, Doubles, Doubles, Doubles]:
    """How each goal ended, what it misses, by what angle, and what soft reach left: (F, G) each."""
    numbers = (rows.goal_residual, rows.goal_turn, rows.softened)
    residual, turn, softened = (_doubles(buffer).reshape(count, -1) for buffer in numbers)
    return _ints(rows.goal_status).reshape(count, -1), residual, turn, softened


def put_posed(track: Track, answers: Answers, k: int, item: Posed) -> None:
    """Put what was found for chains in one frame among the answers."""
    answers.rotations[k] = item.rotations
    if item.prepared.plain_channels:
        answers.plain[k] = item.prepared.plain_values(item.shift, item.factors)
    for j, (one, own) in enumerate(zip(item.prepared.asked, item.ended, strict=True)):
        answers.status[k, j] = STATUSES.index(own.status)
        answers.residual[k, j] = own.missed / track.lengths[j]
        answers.turn[k, j] = own.turn_residual
        answers.softened[k, j] = item.solution.softened[one.goal_at] / track.lengths[j]
    answers.violation = max(answers.violation, item.prepared.solver.violation(item.rotations))


def _doubles(buffer: Any) -> Doubles:
    """A buffer of the kernel's as an array, which shares its memory."""
    found: Doubles = np.frombuffer(buffer)
    return found


def _ints(buffer: Any) -> Ints:
    """The same of whole numbers."""
    found: Ints = np.frombuffer(buffer, dtype=np.intc)
    return found


# Chains and their goals over a range of frames, read for baking.
#
# Chains are read in full once, at their first frame. Of the others only their goals are read, and where their parents
# and their armature carry them; where these move by nothing but their own curves not even a frame is gone to. Chains
# with other settings, or another start pose, in each frame are brought to it and solved there; those that are others
# from frame to frame are read and solved in each as by button.


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
            at_hand = context.evaluated_depsgraph_get(), FactsByRig(frame)
            for group in groups:
                group.read(*at_hand)
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

    def read(self, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> None:
        """Read the frame of the facts, if it is one of these figures'.

        Raises:
            FabrikError: Chains can't be solved in it.
        """
        k = self.at.get(facts.frame)
        if k is None:
            return
        try:
            for figure in self._figures:
                figure.read(k, depsgraph, facts)
            self._goals.read(k, depsgraph)
        except FabrikError as error:
            if k:  # in the first frame it would be so without a bake, too
                _name_frame(error, facts.frame)
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

    def read(self, k: int, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> None:
        """Read the chains in frame k, but for the goals of those that stay the same.

        Raises:
            FabrikError: They can't be solved in it.
        """
        wanted, track = self._wanted, self.track
        if track is None or self.owner.hide_viewport:
            with place_of(rig=self.owner.name):
                check_rig(self.owner, depsgraph)
        if track is None:
            with place_of(rig=self.owner.name):
                prepared, _ = read(wanted.chain_set, depsgraph, FactsByRig(wanted.since))
            track = self.track = Track(wanted.chain_set, prepared, wanted.frames)
        is_same = wanted.motion.is_same and track.prepared.is_rigid
        if not is_same or (wanted.motion.is_carried and not self._carry(k, track.prepared, depsgraph)):
            with place_of(rig=self.owner.name):
                self._solve(k, track, depsgraph, facts)

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

    def _solve(self, k: int, track: Track, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> None:
        """Solve the chains in frame k, where they are others than at the first."""
        chain_set = self._wanted.chain_set
        check_rig(self.owner, depsgraph)
        now = self._brought(track.prepared, depsgraph, facts)
        if now is None:
            now, points = read(chain_set, depsgraph, facts)
            track.is_one = False
        else:
            points = tuple(read_points(chain, depsgraph) for chain in chain_set.chains)
            track.is_one &= now.limits == track.prepared.limits
        item = posed(now, points, self.owner, depsgraph)
        track.apart[k] = Answers.room(1, track.prepared)
        put_posed(track, track.apart[k], 0, item)

    def _brought(self, prepared: Prepared, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> Prepared | None:
        """Chains from the first frame brought to this one; None where they are other chains here."""
        owner, motion = self.owner, self._wanted.motion
        found = prepared if prepared.is_rigid and not motion.changes else None
        if found is not None and motion.start_changes:
            found = restarted(found, owner, facts.keyed(owner))
        if found is not None:
            found = carried(found, owner, depsgraph)
        return resettled(found, self._wanted.chain_set) if found is not None and motion.settings_change else found
