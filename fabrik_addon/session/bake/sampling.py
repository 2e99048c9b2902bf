# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains and their goals over a range of frames, read for baking.

Chains are read in full once, at their first frame. Of the others only their goals are read, and where their parents and
their armature carry them; where these move by nothing but their own curves not even a frame is gone to. Chains with
other settings, or another start pose, in each frame are brought to it and solved there; those that are others from
frame to frame are read and solved in each as by button.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor

import bpy
import numpy as np

from ...errors import FabrikError, place_of
from ...finite import LARGEST
from ...maths import Doubles
from ...rig.animated import Motion
from ...rig.checks import check_rig
from ...rig.dependencies import is_simulated
from ...rig.figures import ChainSet, figure_bones, lacks_goal
from ...rig.goals import GoalPoints, goals_of, held_point, read_points, read_turn, turns_tip
from ...rig.plain_motion import points_at
from ...rig.prepared import Prepared
from ...rig.preparing import FactsByRig, carried, read, resettled, restarted
from ...rig.schema import FabrikChain
from ...texts import Text
from ..frames import go_to
from ..posing import posed
from .solving import put_posed
from .track import Answers, Track


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
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


Points = dict[str, Doubles | None]  # world points of a chain's target and pole, (F, 3) each; None where unknown


def _by_curves(context: bpy.types.Context, wanted: Sequence[Wanted]) -> dict[int, Track]:
    """The chains, by their index, of which only targets and poles move, and these by their own curves."""
    depsgraph = context.evaluated_depsgraph_get()
    facts = FactsByRig(wanted[0].since)
    found: dict[int, Track] = {}
    for i, points in _points(wanted).items():
        chain_set, frames = wanted[i].chain_set, wanted[i].frames
        owner = chain_set.owner
        if any(some is None or not (np.abs(some) <= LARGEST).all() for own in points for some in own.values()):
            continue  # what is wrong, a visit tells with its frame
        with place_of(rig=owner.name):
            prepared, _ = read(chain_set, depsgraph, facts)
            if prepared.is_rigid:
                numbers = _many_numbers(chain_set, prepared, points, depsgraph)
                found[i] = Track(chain_set, prepared, frames, numbers, is_plain=True)
    return found


def _many_numbers(
    chain_set: ChainSet, prepared: Prepared, points: Sequence[Points], depsgraph: bpy.types.Depsgraph
) -> Doubles:
    """The numbers of the kernel's rows, (F, k), for goals that stand at F points each."""
    parts = []
    for chain, one, own in zip(chain_set.chains, prepared.asked, points, strict=True):
        targets, poles = own["target"], own.get("pole") if one.has_pole else None
        assert targets is not None
        if one.is_plain:
            parts.append(one.many_numbers(prepared.space, targets, poles))
            continue
        turn = read_turn(chain, depsgraph)
        ahead = [None] * len(targets) if poles is None else poles.tolist()
        pairs = zip(targets.tolist(), ahead, strict=True)
        parts.append(np.array([one.numbers(prepared.space, GoalPoints(at, pole, turn)) for at, pole in pairs]))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _points(wanted: Sequence[Wanted]) -> dict[int, list[Points]]:
    """World points of the goals of each chain, where these alone may move, by the index of those solved together."""
    together: dict[int, list[int]] = {}  # by their frames, which many chains share
    for i, one in enumerate(wanted):
        is_still = one.motion.is_same and not (one.motion.is_carried or one.motion.is_walked)
        if is_still and not any(_turns_with_target(chain) for chain in one.chain_set.chains):
            together.setdefault(id(one.frames), []).append(i)
    found: dict[int, list[Points]] = {}
    for indices in together.values():
        frames = wanted[indices[0]].frames
        chains = [(i, chain) for i in indices for chain in wanted[i].chain_set.chains]
        goals = [(i, chain, goal) for i, chain in chains for goal in goals_of(chain)]
        places: dict[tuple[int, str], Points] = {(i, chain.name): _held(chain, frames) for i, chain in chains}
        for (i, chain, goal), own in zip(goals, points_at([goal for _, _, goal in goals], frames), strict=True):
            places[i, chain.name][goal.role] = own
        for (i, _), own_places in places.items():
            found.setdefault(i, []).append(own_places)
    return found


def _turns_with_target(chain: FabrikChain) -> bool:
    """Whether the rotation of a target counts, which its curves are not asked for."""
    return turns_tip(chain) and chain.orientation == "TARGET"


def _held(chain: FabrikChain, frames: Doubles) -> Points:
    """Where a pin without a target holds a chain."""
    if chain.target is not None or lacks_goal(chain):
        return {"target": None}
    return {"target": np.tile(np.array(held_point(chain)), (len(frames), 1))}


def _visited(context: bpy.types.Context, wanted: dict[int, Wanted], tracks: dict[int, Track]) -> Iterator[None]:
    """Read chains at each of their frames, as Blender evaluates it."""
    scene = context.scene
    assert scene is not None
    places = {i: {frame: k for k, frame in enumerate(one.frames.tolist())} for i, one in wanted.items()}
    frames, since = {frame for place in places.values() for frame in place}, min(one.since for one in wanted.values())
    for frame in sorted(frames | _steps_to(scene, wanted.values(), max(frames, default=0.0))):
        go_to(scene, frame)
        if frame not in frames:
            continue
        visit = _Visit(context.evaluated_depsgraph_get(), frame, since)
        for i, one in wanted.items():
            if frame not in places[i]:
                continue
            try:
                if i not in tracks:
                    tracks[i] = visit.start(one)
                visit.take(one, tracks[i], places[i][frame])
            except FabrikError as error:
                error.rig = error.rig or one.chain_set.owner.name
                if places[i][frame]:
                    error.reason = Text("in frame {frame:g}, {reason}", frame=frame, reason=error.reason)
                raise
        yield


def _steps_to(scene: bpy.types.Scene, wanted: Iterable[Wanted], last: float) -> set[float]:
    """The frames by which simulations that move the chains' armatures or goals come to the last one."""
    sets = [one.chain_set for one in wanted]
    moving = {(one.owner, figure_bones(one)[0].name) for one in sets}
    moving |= {(goal, bone) for one in sets for chain in one.chains for _, goal, bone in goals_of(chain)}
    if not any(is_simulated(thing, bone) for thing, bone in moving):
        return set()
    return {float(frame) for frame in range(scene.frame_start, floor(last) + 1)}


class _Visit:
    """Chains as they are in one frame.

    Args:
        depsgraph: Evaluated for the frame.
        frame: Sub-frame included.
        since: See `Wanted`.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, frame: float, since: float) -> None:
        self.depsgraph = depsgraph
        self._facts, self._first_facts = FactsByRig(frame), FactsByRig(since)

    def start(self, one: Wanted) -> Track:
        """Chains at the first of their frames."""
        owner = one.chain_set.owner
        check_rig(owner, self.depsgraph)
        prepared, points = read(one.chain_set, self.depsgraph, self._first_facts)
        numbers = np.zeros((len(one.frames), len(prepared.numbers(points))))
        return Track(one.chain_set, prepared, one.frames, numbers)

    def take(self, one: Wanted, track: Track, k: int) -> None:
        """Keep the goals of chains at their frame k; or solve them, where they are others than at the first."""
        chain_set, owner, motion = track.chain_set, track.owner, one.motion
        check_rig(owner, self.depsgraph)
        now = self._brought(one, track.prepared)
        if now is None:
            now, points = read(chain_set, self.depsgraph, self._facts)
            track.is_one = False
        else:
            points = tuple(read_points(chain, self.depsgraph) for chain in chain_set.chains)
            if motion.is_same:
                track.numbers[k] = now.numbers(points)
                return
            track.is_one &= now.limits == track.prepared.limits
        item = posed(now, points, owner, self.depsgraph)
        track.apart[k] = Answers.room(1, track.prepared)
        put_posed(track, track.apart[k], 0, item)

    def _brought(self, one: Wanted, prepared: Prepared) -> Prepared | None:
        """Chains from the first frame brought to this one; None where they are other chains here."""
        owner, motion = one.chain_set.owner, one.motion
        found = prepared if prepared.is_rigid and not motion.changes else None
        if found is not None and motion.start_changes:
            found = restarted(found, owner, self._facts.keyed(owner))
        if found is not None:
            found = carried(found, owner, self.depsgraph)
        return resettled(found, one.chain_set) if found is not None and motion.settings_change else found
