# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and their goals over a range of frames, read for baking.

A chain is read in full once, at its first frame. Of the others only its goals are read, and where its parents and its
armature carry it; where these move by nothing but their own curves not even a frame is gone to. A chain that is
another one from frame to frame is read and solved in each as by button.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor

import bpy
import numpy as np

from ...errors import FabrikError, place_of
from ...finite import LARGEST
from ...kernel import STATUSES
from ...rig.animated import Animated, Motion
from ...rig.array_types import Doubles
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.checks import check_rig, movers_of
from ...rig.dependencies import is_simulated
from ...rig.goals import goals_of, read_points
from ...rig.plain_motion import points_at
from ...rig.prepared import RigFacts, carried, read, resettled
from ...rig.properties import FabrikChain
from ...rig.rotations import distance
from ..frames import go_to
from ..order import Item
from ..posing import Posed, posed
from .track import Answers, Track


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A chain to be read.

    Attributes:
        item: The chain, with its armature object.
        frames: (F,), rising.
        since: The frame from which on its old keys will be replaced; its channels run on from those before.
        motion: What moves it from frame to frame beside its goals.
    """

    item: Item
    frames: Doubles
    since: float
    motion: Motion


def motions(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> dict[str, Motion]:
    """What moves the chains of an armature that are baked together from frame to frame, beside their goals.

    Where a constraint of any bone is switched on or off, all of them may be others.
    """
    animated = Animated(owner)
    bones = {chain.name: resolve_bones(owner, chain) for chain in chains}
    moved = {*movers_of(owner).by_ik, *(bone.name for own in bones.values() for bone in own)}
    found = {chain.name: animated.motion_of(chain, bones[chain.name], moved) for chain in chains}
    names = (name for bone in pose_bones(owner) for name in animated.of_bone(bone))
    if any(name.startswith("constraints[") for name in names):
        return {name: motion._replace(changes=True, only_settings=False) for name, motion in found.items()}
    return found


def sample(context: bpy.types.Context, wanted: Sequence[Wanted], into: list[Track]) -> Iterator[None]:
    """Read chains in every frame: by the curves of their goals alone where these tell, else as Blender evaluates them.

    Args:
        context: Its scene's frame is moved.
        wanted: Chains that do not depend on each other.
        into: Where the tracks are put, in their order.

    Yields:
        Nothing, after each frame that was visited.

    Raises:
        FabrikError: A chain can't be solved in some frame, which is named where it is not the first.
    """
    tracks = _by_curves(context, wanted)
    left = {i: one for i, one in enumerate(wanted) if i not in tracks}
    yield from _visited(context, left, tracks)
    into += [tracks[i] for i in range(len(wanted))]


def _by_curves(context: bpy.types.Context, wanted: Sequence[Wanted]) -> dict[int, Track]:
    """The chains, by their index, of which only target and pole move, and these by their own curves."""
    depsgraph = context.evaluated_depsgraph_get()
    facts: dict[str, RigFacts] = {}
    found: dict[int, Track] = {}
    for i, points in _points(wanted).items():
        (owner, chain), frames = wanted[i].item, wanted[i].frames
        if any(some is None or not (np.abs(some) <= LARGEST).all() for some in points):
            continue  # what is wrong, a visit tells with its frame
        if owner.name_full not in facts:
            facts[owner.name_full] = RigFacts.of(owner, wanted[i].since)
        with place_of(rig=owner.name):
            prepared, _ = read(owner, chain, depsgraph, facts[owner.name_full])
        if prepared.is_rigid:
            targets, poles = (*points, None)[:2]
            assert targets is not None
            numbers = prepared.many_numbers(targets, poles)
            found[i] = Track(owner, chain, prepared, frames, numbers, is_plain=True)
    return found


def _points(wanted: Sequence[Wanted]) -> dict[int, list[Doubles | None]]:
    """World points of target and pole, (F, 3) each, of the chains whose goals alone may move; None where unknown."""
    together: dict[int, list[int]] = {}  # by their frames, which many chains share
    for i, one in enumerate(wanted):
        if not (one.motion.is_carried or one.motion.changes):
            together.setdefault(id(one.frames), []).append(i)
    found: dict[int, list[Doubles | None]] = {}
    for indices in together.values():
        goals = [(i, goal) for i in indices for goal in goals_of(wanted[i].item[1])]
        points = points_at([goal for _, goal in goals], wanted[indices[0]].frames)
        for (i, _), own in zip(goals, points, strict=True):
            found.setdefault(i, []).append(own)
    return found


def _visited(context: bpy.types.Context, wanted: dict[int, Wanted], tracks: dict[int, Track]) -> Iterator[None]:
    """Read chains at each of their frames, as Blender evaluates it."""
    scene = context.scene
    assert scene is not None
    places = {i: {frame: k for k, frame in enumerate(one.frames.tolist())} for i, one in wanted.items()}
    frames = {frame for place in places.values() for frame in place}
    for frame in sorted(frames | _steps_to(scene, wanted.values(), max(frames, default=0.0))):
        go_to(scene, frame)
        if frame not in frames:
            continue
        visit = _Visit(context.evaluated_depsgraph_get(), frame)
        for i, one in wanted.items():
            if frame not in places[i]:
                continue
            try:
                if i not in tracks:
                    tracks[i] = visit.start(one)
                visit.take(one, tracks[i], places[i][frame])
            except FabrikError as error:
                error.rig = error.rig or one.item[0].name
                if places[i][frame]:
                    error.reason = f"in frame {frame:g}, {error.reason}"
                raise
        yield


def _steps_to(scene: bpy.types.Scene, wanted: Iterable[Wanted], last: float) -> set[float]:
    """The frames by which simulations that move the chains' armatures or goals come to the last one."""
    moving = {(owner, resolve_bones(owner, chain)[0].name) for owner, chain in (one.item for one in wanted)}
    moving |= {(goal, bone) for one in wanted for _, goal, bone in goals_of(one.item[1])}
    if not any(is_simulated(thing, bone) for thing, bone in moving):
        return set()
    return {float(frame) for frame in range(scene.frame_start, floor(last) + 1)}


class _Visit:
    """Chains as they are in one frame.

    Args:
        depsgraph: Evaluated for the frame.
        frame: Sub-frame included.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, frame: float) -> None:
        self.depsgraph, self.frame = depsgraph, frame
        self._facts: dict[tuple[str, float], RigFacts] = {}

    def start(self, one: Wanted) -> Track:
        """A chain at the first of its frames."""
        owner, chain = one.item
        check_rig(owner, self.depsgraph)
        prepared, points = read(owner, chain, self.depsgraph, self._facts_of(owner, one.since))
        numbers = np.zeros((len(one.frames), len(prepared.numbers(points))))
        return Track(owner, chain, prepared, one.frames, numbers)

    def take(self, one: Wanted, track: Track, k: int) -> None:
        """Keep the goals of a chain at its frame k; or solve it, where it is another chain than at the first."""
        owner, chain, motion = track.owner, track.chain, one.motion
        check_rig(owner, self.depsgraph)
        is_same = track.prepared.is_rigid and (motion.only_settings or not motion.changes)
        now = carried(track.prepared, owner, self.depsgraph) if is_same else None
        if now is None:
            now, points = read(owner, chain, self.depsgraph, self._facts_of(owner, self.frame))
            track.is_one = False
        else:
            points = read_points(chain, self.depsgraph)
            if not motion.changes:
                track.numbers[k] = now.numbers(points)
                return
            now = resettled(now, chain)
        track.apart[k] = _answers(posed(now, points, owner, self.depsgraph))

    def _facts_of(self, owner: bpy.types.Object, frame: float) -> RigFacts:
        """What is gathered once for all chains of an armature."""
        key = owner.name_full, frame
        if key not in self._facts:
            self._facts[key] = RigFacts.of(owner, frame)
        return self._facts[key]


def _answers(own: Posed) -> Answers:
    """What was found for a chain in one frame."""
    found = Answers.room(1, len(own.rotations))
    found.rotations[0] = own.rotations
    found.status[0] = STATUSES.index(own.solution.status)
    found.residual[0] = distance(own.target, own.solution.joints[-1]) / own.length
    found.violation = own.prepared.solver.violation(own.rotations)
    return found
