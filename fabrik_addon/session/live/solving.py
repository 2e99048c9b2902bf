# SPDX-License-Identifier: GPL-3.0-or-later
"""One live chain: read anew, or solved for goals that moved. Nothing is written here."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from struct import Struct
from typing import Any

import bpy
import numpy as np

from ...kernel import STATUSES, Solution, Status
from ...rig.array_types import Doubles
from ...rig.chain_bones import pose_bones
from ...rig.chain_space import RigFrame
from ...rig.checks import check_rig
from ...rig.goals import goals_of
from ...rig.kept_start import read_kept
from ...rig.keys import KeyedChannels
from ...rig.plain_motion import may_hide
from ...rig.prepared import Prepared, RigFacts, read
from ...rig.properties import FabrikChain
from ...rig.rotations import Q4, V3, minus, v3
from ...rig.row import Row
from ...rig.targets import reader_of, resolve_point
from ...rig.writer import BoneChannels, channels_of
from ..measuring import EXACT, ULPS
from ..outcome import POLE_MISSED, Outcome, outcome_of, warn_of_pole
from ..posing import posed
from .known import LiveChain, LiveRig, Numbers, Source, state
from .tips import Tips

WORDS = tuple(status.value for status in STATUSES)
BLOCKED = STATUSES.index(Status.BLOCKED)
MANY = 16  # chains from which on their tips are read at once
PUT = {3: Struct("3d").pack_into, 6: Struct("6d").pack_into}  # numbers into a row


def read_anew(
    rig: LiveRig,
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph,
    facts: RigFacts,
    starts: Sequence[Q4] | None = None,
) -> LiveChain:
    """Read a chain and solve it.

    Args:
        rig: Its armature; what was known of the chain tells how it stood.
        chain: The chain.
        depsgraph: Evaluated.
        facts: Of the armature at the frame.
        starts: n rotations from which to solve in place of its start pose.

    Raises:
        FabrikError: It can't be solved.
    """
    state.reads += 1
    check_rig(rig.owner, depsgraph)
    before = rig.chains.get(chain.name)
    prepared, points = read(rig.owner, chain, depsgraph, facts, before=before.prepared if before is not None else None)
    if starts is not None and len(starts) == len(prepared.bones):
        prepared = prepared.started(starts)
        prepared = replace(prepared, row=Row.of(prepared.rows_of(1)))
    known = LiveChain(
        chain.name,
        prepared,
        tuple(Source(reader_of(goal.found, goal.bone), *goal, may_hide(goal.found)) for goal in goals_of(chain)),
        rig.ways[chain.name],
        prepared.space,
        *_channels(prepared.channels, rig),
        np.frombuffer(prepared.row.rotations).reshape(-1, 4),
        (EXACT * prepared.length) ** 2,
        start=read_kept(chain),
    )
    if before is not None:
        known.outcome, known.numbers = before.outcome, before.numbers
    numbers, places = prepared.numbers(points), tuple(v3(point) for point in points if point is not None)
    if prepared.is_rigid:
        follow(known, numbers, places)
        return known
    item = posed(prepared, points, rig.owner, depsgraph)
    _note(known, numbers, places)
    known.outcome = outcome_of(known.name, item.solution, prepared.bones, item.residual, item.uneven)
    _keep(prepared, item.rotations, item.joints[-1])
    return known


def _channels(channels: Sequence[BoneChannels | None], rig: LiveRig) -> tuple[list[int], Doubles | None]:
    """Where the bones of a chain that are written are in the armature, and what their quaternions continue."""
    own = [one for one in channels if one is not None]
    places = [rig.bones[one.bone] for one in own]
    if len(own) < len(channels) or any(one.mode != "QUATERNION" or one.hinge is not None for one in own):
        return places, None
    return places, np.array([one.near for one in own], dtype=np.float64)


def renew_channels(known: LiveChain, rig: LiveRig, keyed: KeyedChannels) -> None:
    """Let the channels of a chain run on from the keys of another frame."""
    bones, prepared = pose_bones(rig.owner), known.prepared
    channels = channels_of([bones[name] for name in prepared.bones], prepared.starts, prepared.limits, keyed)
    known.prepared = replace(prepared, channels=channels)
    known.places, known.near = _channels(channels, rig)
    rig.batch = None


def renew_space(known: LiveChain, frame: RigFrame, poses: Any) -> bool:
    """Bring a chain where its armature and its parents are now; whether it is still the same chain there.

    Args:
        known: The chain.
        frame: How the armature object stands.
        poses: The evaluated pose bones.
    """
    root = poses.get(known.prepared.bones[0])
    space = known.prepared.space_at(frame, root) if root is not None else None
    if space is None:
        return False
    if space != known.space:
        known.space, known.foreseen = space, {}
    return True


def stands(known: LiveChain, poses: Any) -> bool:
    """Whether the tip of a chain stands where it was solved, as evaluated: nothing else changed the chain.

    Args:
        known: The chain.
        poses: The evaluated pose bones.
    """
    tip = poses.get(known.prepared.bones[-1])
    if tip is None:
        return False
    x, y, z = tip.tail
    a, b, c = known.space.to_armature(known.prepared.row.tip)
    off: float = (x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c)
    return off <= known.near_enough or off <= (ULPS * max(abs(a), abs(b), abs(c))) ** 2


def as_foreseen(rig: LiveRig, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether nothing but their goals moves the chains of an armature, and all stand as they were posed for these."""
    evaluated = rig.owner.evaluated_get(depsgraph)
    if len(rig.chains) < len(rig.ways) or evaluated.matrix_world != rig.world:
        return False
    chains = list(rig.chains.values())
    for known in chains:
        if not (known.is_fresh and known.ways.are_none and known.prepared.is_rigid):
            return False
        if any(source.may_hide for source in known.sources) or points_now(known, depsgraph) != known.points:
            return False
    return _all_stand(rig, chains, pose_bones(evaluated))


def _all_stand(rig: LiveRig, chains: Sequence[LiveChain], poses: Any) -> bool:
    """`stands` for rigid chains of an armature."""
    if len(chains) < MANY:
        return all(stands(known, poses) for known in chains)
    spaces, tips = [known.space for known in chains], rig.tips
    if tips is None or tips.key != (chains, spaces):
        views = [np.frombuffer(known.prepared.row.tip) for known in chains]
        places = [rig.bones[known.prepared.bones[-1]] for known in chains]
        near_enough = [known.near_enough for known in chains]
        tips = rig.tips = Tips((chains, spaces), views, places, near_enough, len(rig.bones))
    return tips.stand(poses)


def points_now(known: LiveChain, depsgraph: bpy.types.Depsgraph) -> tuple[V3, ...]:
    """Where the goals of a chain stand, as evaluated; that they are visible was found when the chain was read.

    Raises:
        AbsentTargetError: One is not, in this frame.
    """
    found = []
    for read_point, role, goal, bone, hides in known.sources:
        point = (
            resolve_point(role, goal, bone, depsgraph)
            if hides
            else read_point(role, goal.evaluated_get(depsgraph), bone)
        )
        x, y, z = point
        found.append((x, y, z))
    return tuple(found)


def numbers_of(known: LiveChain, points: Sequence[V3]) -> Numbers:
    """The goals of a chain in its space, from where they stand in the world."""
    target = known.space.to_chain(points[0])
    return target if len(points) == 1 else (*target, *known.space.to_chain(points[1]))


def follow(known: LiveChain, numbers: Numbers, points: tuple[V3, ...]) -> None:
    """Solve a rigid chain for goals that moved.

    Args:
        known: The chain.
        numbers: The goals in chain space.
        points: The same in the world.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    _note(known, numbers, points)
    prepared = known.prepared
    row, outcome = prepared.row, known.outcome
    if outcome.status == WORDS[BLOCKED]:  # it may be so again, and then has to say by what
        _solve_blocked(known)
        return
    PUT[len(numbers)](row.numbers, 0, *numbers)
    prepared.solver.solve_many(row.rows, prepared.settings)
    status, pole_error = row.status[0], row.pole_error[0]
    if status == BLOCKED:
        _solve_blocked(known)
        return
    size = known.space.rig.size
    residual = row.residual[0] * size if size else known.space.world_length(minus(numbers, row.tip))
    if outcome.status == WORDS[status] and outcome.is_bare and pole_error <= POLE_MISSED:
        outcome.residual, outcome.passes = residual, row.passes[0]
    else:
        known.outcome = Outcome(known.name, WORDS[status], residual, row.passes[0])
        warn_of_pole(known.outcome, pole_error)
    if prepared.influence < 1.0:
        prepared.solver.blend_rows(row.rows, prepared.influence)
        row.tip[:] = array("d", prepared.solver.figure.placed(known.rotations.tolist()).joints[-1])


def _note(known: LiveChain, numbers: Numbers, points: tuple[V3, ...]) -> None:
    """Note what a chain is to stand for."""
    state.solves += 1
    known.before, known.numbers, known.points = known.numbers or numbers, numbers, points


def _solve_blocked(known: LiveChain) -> None:
    """Solve a rigid chain, and find out what holds it back."""
    prepared = known.prepared
    solution: Solution = prepared.solver.solve(prepared.goals_at(known.numbers), prepared.settings, explain=False)
    residual = known.space.world_length(minus(known.numbers, solution.joints[-1]))
    known.outcome = outcome_of(known.name, solution, prepared.bones, residual)
    rotations, tip = solution.rotations, solution.joints[-1]
    if prepared.influence < 1.0:
        rotations = prepared.solver.blended(rotations, prepared.influence)
        tip = prepared.solver.figure.placed(rotations).joints[-1]
    _keep(prepared, rotations, tip)


def _keep(prepared: Prepared, rotations: Sequence[Q4], tip: V3) -> None:
    """Leave a pose in the row of a chain."""
    prepared.row.rotations[:] = array("d", [number for rotation in rotations for number in rotation])
    prepared.row.tip[:] = array("d", tip)
