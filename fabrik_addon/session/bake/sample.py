# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and their goals over a range of frames, read for baking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import floor

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...errors import FabrikError
from ...finite import LARGEST
from ...kernel.arrays import REAL, Array
from ...kernel.batch import STATUSES
from ...kernel.model import Chain, Goal
from ...kernel.rotations import turn_angle
from ...rig.animated import Animated
from ...rig.checks import Movers, movers_of
from ...rig.dependencies import is_simulated
from ...rig.goals import goals_of
from ...rig.keys import KeyedChannels
from ...rig.kinematics import axes_of
from ...rig.plain_motion import points_at
from ...rig.reader import Reading, read
from ...rig.writer import BoneChannels, channels_of
from ..frames import go_to
from ..order import Item
from ..solve import EXACT, is_rigid, posed

TURNED = 1e-5  # radians


@dataclass(slots=True, eq=False)
class Goals:
    """What is asked of a chain that is the same in all frames, but for how its root is turned.

    Attributes:
        chain: As measured at the first frame.
        turn: The rest frame of its root there, in armature space.
        targets: (F, 3), in armature space relative to the root, turned back by the turn of the root's rest frame.
        poles: (F, 3), or None without a pole.
    """

    chain: Chain
    turn: Quaternion
    targets: Array
    poles: Array | None


@dataclass(slots=True, eq=False)
class Answers:
    """A chain solved in F frames.

    Attributes:
        rotations: (n, 4, F), influence included.
        status: (F,) indices into the kernel's `STATUSES`.
        residual: (F,), from tip to target as a share of the length.
        violation: The worst of any limit, in radians.
    """

    rotations: Array
    status: Array
    residual: Array
    violation: float = 0.0


@dataclass(slots=True, eq=False)
class Track:
    """One chain over its F frames.

    Attributes:
        owner: The armature object.
        reading: At the first frame.
        frames: (F,), rising.
        channels: How rotations become channel values; None for a locked bone.
        goals: For a chain that is the same in all frames: what is to be solved, all frames at once.
        answers: For any other: what each frame's own solve found.
    """

    owner: bpy.types.Object
    reading: Reading
    frames: Array
    channels: list[BoneChannels | None]
    goals: Goals | None = None
    answers: Answers | None = None

    @property
    def length(self) -> float:
        """Of the chain in armature space, at the first frame."""
        return self.reading.measured(self.reading.starts).length


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A chain to be read.

    Attributes:
        item: The chain, with its armature object.
        frames: (F,), rising.
        since: The frame from which on its old keys will be replaced; its channels run on from those before.
    """

    item: Item
    frames: Array
    since: float


def sample(context: bpy.types.Context, wanted: Sequence[Wanted], still: set[str], into: list[Track]) -> Iterator[None]:
    """Read chains in every frame: by the curves of their goals alone where these tell, else as Blender evaluates them.

    Args:
        context: Its scene's frame is moved.
        wanted: Chains that do not depend on each other.
        still: Full names of the armatures that stand still but for their chains' own bones.
        into: Where the tracks are put.

    Yields:
        Nothing, after each frame that was visited.

    Raises:
        FabrikError: A chain can't be solved in some frame, which is named.
    """
    into += _started(context, wanted)
    left = [track for track in into if not (track.owner.name_full in still and _by_curves(track))]
    yield from _visited(context, [track for track in left if track.goals is not None], _take_goal)
    changing = [track for track in left if track.goals is None]
    for track in changing:
        count = len(track.frames)
        rotations = np.empty((len(track.reading.bones), 4, count), dtype=REAL)
        track.answers = Answers(rotations, np.zeros(count, dtype=np.int8), np.zeros(count))
    yield from _visited(context, changing, _take_answer)


def _visited(
    context: bpy.types.Context, tracks: Sequence[Track], take: Callable[[Track, int, Reading], None]
) -> Iterator[None]:
    """Read chains at each of their frames, as Blender evaluates it."""
    scene = context.scene
    assert scene is not None
    owners = {track.owner for track in tracks}
    places = [{float(frame): k for k, frame in enumerate(track.frames)} for track in tracks]
    wanted = {frame for place in places for frame in place}
    for frame in sorted(wanted | _steps_to(scene, tracks, max(wanted, default=0.0))):
        go_to(scene, frame)
        if frame not in wanted:
            continue
        depsgraph = context.evaluated_depsgraph_get()
        movers = {owner.name_full: movers_of(owner) for owner in owners}
        for track, place in zip(tracks, places, strict=True):
            if frame not in place:
                continue
            try:
                take(track, place[frame], _read(track, depsgraph, movers))
            except FabrikError as error:
                error.rig = error.rig or track.owner.name
                error.reason = f"in frame {frame:g}, {error.reason}"
                raise
        yield


def _steps_to(scene: bpy.types.Scene, tracks: Sequence[Track], last: float) -> set[float]:
    """The frames by which simulations that move the tracks' armatures or goals come to the last one."""
    moving = {(track.owner, track.reading.bones[0].name) for track in tracks}
    moving |= {(goal, bone) for track in tracks for _, goal, bone in goals_of(track.reading.chain)}
    if not any(is_simulated(thing, bone) for thing, bone in moving):
        return set()
    return {float(frame) for frame in range(scene.frame_start, floor(last) + 1)}


def _read(track: Track, depsgraph: bpy.types.Depsgraph, movers: dict[str, Movers]) -> Reading:
    return read(track.owner, track.reading.chain, depsgraph, movers=movers[track.owner.name_full])


def _started(context: bpy.types.Context, wanted: Sequence[Wanted]) -> list[Track]:
    """The chains as they are at their first frames."""
    scene = context.scene
    assert scene is not None
    found: dict[int, Track] = {}
    for first in sorted({float(one.frames[0]) for one in wanted}):
        go_to(scene, first)
        depsgraph = context.evaluated_depsgraph_get()
        known: dict[str, tuple[KeyedChannels, Animated, Movers]] = {}
        for i, one in enumerate(wanted):
            owner, chain = one.item
            if float(one.frames[0]) != first:
                continue
            if owner.name_full not in known:
                known[owner.name_full] = KeyedChannels(owner, one.since), Animated(owner), movers_of(owner)
            keyed, animated, movers = known[owner.name_full]
            try:
                reading = read(owner, chain, depsgraph, movers=movers)
                found[i] = Track(owner, reading, one.frames, channels_of(reading, keyed))
                found[i].goals = _goals(found[i], animated)
            except FabrikError as error:
                error.rig = error.rig or owner.name
                raise
    return [found[i] for i in range(len(wanted))]


def _goals(track: Track, animated: Animated) -> Goals | None:
    """Room for the goals of a chain that is the same in all frames, as far as can be told; else None."""
    reading, count = track.reading, len(track.frames)
    if reading.chain.start == "ANIMATED" or not is_rigid(reading):
        return None
    if animated.changes(reading.chain, reading.bones):
        return None
    turn = axes_of(reading.path.frames(reading.starts)[0])
    poles = np.empty((count, 3)) if reading.chain.pole is not None else None
    return Goals(reading.measured(reading.starts), turn, np.empty((count, 3)), poles)


def _by_curves(track: Track) -> bool:
    """Fill in the goals where only target and pole move, and by their own curves; whether that is so."""
    chain, reading, goals = track.reading.chain, track.reading, track.goals
    if goals is None:
        return False
    back = np.array(reading.world.to_3x3().inverted())
    away, origin = np.array(reading.world.translation), np.array(reading.origin)
    for role, goal, bone in goals_of(chain):
        into = goals.targets if role == "target" else goals.poles
        points = points_at(goal, bone, track.frames)
        if points is None or not (np.abs(points) <= LARGEST).all():  # what is wrong, a visit tells with its frame
            return False
        assert into is not None
        into[:] = (points - away) @ back.T - origin
    return True


def _take_goal(track: Track, k: int, reading: Reading) -> None:
    """Keep the goal of one frame, turned as if the root's rest frame stood as in the first frame."""
    goals = track.goals
    if goals is None:
        return
    goal = _goal(goals, reading)
    if goal is None:  # its frames are to be solved one by one
        track.goals = None
        return
    goals.targets[k] = goal.target
    if goals.poles is not None and goal.pole is not None:
        goals.poles[k] = goal.pole


def _goal(goals: Goals, reading: Reading) -> Goal | None:
    """The goal of one frame; None where the chain is not that of the first frame."""
    now = reading.measured(reading.starts)
    if any(abs(a - b) > EXACT * goals.chain.length for a, b in zip(now.lengths, goals.chain.lengths, strict=True)):
        return None
    if not is_rigid(reading):
        return None
    back = goals.turn @ axes_of(reading.path.frames(reading.starts)[0]).conjugated()
    if turn_angle(back) > TURNED and not all(joint.inherits for joint in now.joints[1:]):
        return None
    pole: Vector | None = back @ reading.goal.pole if reading.goal.pole is not None else None
    return Goal(back @ reading.goal.target, pole, reading.goal.pole_angle)


def _take_answer(track: Track, k: int, reading: Reading) -> None:
    """Solve a chain at one frame, from what it is there."""
    answers = track.answers
    assert answers is not None
    solved = posed(reading)
    answers.rotations[:, :, k] = solved.rotations
    answers.status[k] = STATUSES.index(solved.solution.status)
    answers.residual[k] = (reading.goal.target - solved.solution.joints[-1]).length / solved.chain.length
    worst = max(limit.violation(one) for limit, one in zip(reading.limits, solved.rotations, strict=True))
    answers.violation = max(answers.violation, float(worst))
