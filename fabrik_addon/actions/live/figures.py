# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains that are solved together: where their goals are, read anew, solved, and written with what came of it."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from ...errors import InvalidValueError, are_finite, place_of
from ...kernel import STATUSES
from ...maths import IDENTITY, ULPS, multiplied, normalized, q4, v3
from ...rig.animation.animation import may_hide
from ...rig.animation.keys import KeyedChannels
from ...rig.bones import pose_bones
from ...rig.checks import check_rig
from ...rig.figure.figure import RigFigure, channels_of
from ...rig.figure.groups import ChainSet
from ...rig.figure.pose_writer import Pose, PoseWriter
from ...rig.figure.reader import FactsByRig, read
from ...rig.figure.solve import forget, is_plain, posed, read_posed
from ...rig.figure.space import RigFrame
from ...rig.figure.uneven import EXACT
from ...rig.goals import GoalPoints, edits_walk, goals_of, offset_in, pole_within, walked_to
from ...rig.schema import rig_of
from ...rig.spaces import reader_within
from ...rig.targets import check_present, kind_of
from ...rig.walk_goals import is_walked, rest_turn, walk_pose, walked_part
from ...texts import Text
from ..status import POLE_MISSED, outcomes_of, store
from .state import NOT_BARE, NUMBERS, FigureFacts, LiveFigure, LiveRig, Numbers, Reader, Seen, Source, Tips, state


def _sources(chain_set: ChainSet, figure: RigFigure, k: int) -> Iterator[Source]:
    """The places of the goals of a chain, and the rotation that the last bone is to turn with."""
    owner, chain, asked, frames = chain_set.owner, chain_set.chains[k], figure.asked[k], figure.frames(k)
    if is_walked(chain):
        edits = edits_walk(chain)
        foot = Source(None, "target", owner, walked_part(owner, chain), False, k, hangs=edits)
        yield foot
        if asked.turns:
            yield foot._replace(role="turn", offset=IDENTITY if edits else rest_turn(owner, chain.tip_bone))
    for goal in goals_of(chain):
        if goal.role == "pole" and not asked.has_pole:
            continue
        frame = frames.get(goal.role)
        if goal.role == "target" and asked.is_offset:
            place = Source(_offset_reader(frame or "", turns=False), *goal, may_hide(goal.found), k, hangs=True)
            yield place
            if asked.turns and chain.orientation == "TARGET":
                turn = _offset_reader(frame or "", turns=True)
                yield place._replace(read=turn, role="turn", offset=IDENTITY)
            continue
        if asked.is_offset and not rig_of(owner).edits:
            continue
        if asked.is_offset and frame and len(rig_of(owner).layers):
            read: Reader = partial(pole_within, frame)
        else:
            read = reader_within(frame, turns=False) if frame else kind_of(goal.found, goal.bone).read
        place = Source(read, *goal, may_hide(goal.found), k, hangs=frame is not None)
        yield place
        if goal.role == "target" and asked.turns and chain.orientation == "TARGET":
            turn = reader_within(frame, turns=True) if frame else kind_of(goal.found, goal.bone).turn
            yield place._replace(read=turn, role="turn", offset=normalized(q4(chain.rotation_offset)))


def _offset_reader(frame: str, *, turns: bool) -> Reader:
    """What reads by how much a control is moved, or turned, from its rest (`goals.offset_in`)."""
    return lambda role, found, name: offset_in(frame, found, name)[turns]


def seen_in(sources: Sequence[Source], points: Sequence[GoalPoints]) -> Seen:
    """What sources tell where goals have been read, as `points_now` would find it."""
    found: list[tuple[float, ...]] = []
    for source in sources:
        value = getattr(points[source.chain], source.role)
        assert value is not None, "it was read for the same sources"
        found.append(q4(value) if source.role == "turn" else v3(value))
    return tuple(found)


def points_now(known: LiveFigure, depsgraph: bpy.types.Depsgraph) -> Seen:
    """Where the goals of chains stand, as evaluated; that they are visible was found when the chains were read.

    Raises:
        AbsentTargetError: One is not, in this frame.
        FabrikError: The walk can't be read.
    """
    found: list[tuple[float, ...]] = []
    for reader, role, goal, bone, hides, chain, offset, edits in known.sources:
        if hides:
            with place_of(chain=known.names[chain]):
                check_present("target" if role == "turn" else role, goal, depsgraph)
        value: Sequence[float]
        if reader is not None:
            value = reader(role, goal.evaluated_get(depsgraph), bone)
        else:
            with place_of(chain=known.names[chain]):
                edited = walked_to(rig_of(goal).chains[known.names[chain]], depsgraph) if edits else None
                value = (edited or walk_pose(goal, bone, depsgraph))[role == "turn"]
        if offset is None:
            x, y, z = value
            found.append((x, y, z))
        else:
            w, x, y, z = value
            found.append(multiplied((w, x, y, z), offset))
    return tuple(found)


def goals_seen(known: LiveFigure, seen: Seen) -> tuple[GoalPoints, ...]:
    """The goals of each chain, from what its sources tell."""
    if not known.sources:
        return known.fixed_goals
    found = list(known.fixed_goals)
    for source, value in zip(known.sources, seen, strict=True):
        changed: Any = {source.role: value}
        found[source.chain] = found[source.chain]._replace(**changed)
    return tuple(found)


def numbers_of(known: LiveFigure, seen: Seen) -> Numbers:
    """The goals of chains in their space, from what their sources tell.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    if known.is_plain:
        target = known.space.to_chain(seen[0])
        return target if len(seen) == 1 else (*target, *known.space.to_chain(seen[1]))
    asked, numbers = known.figure.asked, list[float]()
    for one, points in zip(asked, goals_seen(known, seen), strict=True):
        numbers += one.numbers(known.space, points)
    if not are_finite(numbers):
        lost = next(one for one in asked if not are_finite(one.of_row(numbers)))
        reason = Text("where its goal stands, or how it is turned, is not a finite number")
        raise InvalidValueError(reason, chain=lost.chain)
    return tuple(numbers)


# Live chains written, with what came of them: all of an armature at once.

FIGURE, RESTS = attrgetter("figure"), attrgetter("rests")


def write(rig: LiveRig, figures: Sequence[LiveFigure]) -> list[LiveFigure]:
    """Write chains that were solved for other goals, and what came of them; which did not stand so yet.

    Raises:
        TypeError: The armature has other bones or chains than when it was looked up.
    """
    key = [*zip(map(id, map(FIGURE, figures)), map(RESTS, figures), strict=True)]
    if rig.writer is None or rig.writer.key != key:
        poses = [Pose(one.figure, one.rotations, one.shift, one.factors, one.rests) for one in figures]
        rig.writer = PoseWriter(poses, rig.bones)
    before = {name: [*own] for name, own in rig.numbers.items()}
    _conclude(rig, figures)
    counts = rig.writer.write(rig.owner, rig.left)
    state.counts.writes += sum(counts)
    keep(rig, before)
    return [known for known, count in zip(figures, counts, strict=True) if count]


def _conclude(rig: LiveRig, figures: Sequence[LiveFigure]) -> None:
    """Note how chains ended, and take their influence off; words are made where they are others than those stored."""
    residuals, turns, softened, passes = rig.numbers.values()
    for known in figures:
        row, scale = known.figure.row, known.space.rig.size
        is_told = known.posed is None and scale > 0.0
        if is_told:
            for told, (code, missed, turn, pole, soft), name in zip(
                known.told, known.figure.asked.ended(row), known.names, strict=True
            ):
                if code != told or pole > POLE_MISSED:
                    is_told = False
                    break
                at = rig.indices[name]
                residuals[at], turns[at], softened[at] = missed * scale, turn, soft * scale
                passes[at] = row.passes[0]
        if not is_told:
            _tell(rig, known)
        elif known.figure.influence < 1.0:
            known.figure.solver.blend_rows(row, known.figure.influence)


def keep(rig: LiveRig, before: Mapping[str, Sequence[float]]) -> None:
    """Keep in the file what live posing left in the channels, and the numbers of how chains ended that are others."""
    rig.record.left = rig.digest + rig.left.tobytes()
    for name, own in rig.numbers.items():
        if own != before[name]:
            rig_of(rig.owner).chains.foreach_set(name, array(NUMBERS[name], own))


def _tell(rig: LiveRig, known: LiveFigure) -> None:
    """Store in words how chains ended that are solved together, and keep the numbers, as far as they are others."""
    item = known.posed
    if item is None:
        figure = replace(known.figure, space=known.space)
        item = read_posed(figure, known.numbers, figure.row)
    chains, outcomes = rig_of(rig.owner).chains, outcomes_of(item)
    for k, outcome in enumerate(outcomes):
        if not known.words or not outcome.says(known.words[k]):
            store(chains[outcome.chain], outcome)
            forget(chains[outcome.chain])
        for name, own in rig.numbers.items():
            own[rig.indices[outcome.chain]] = getattr(outcome, name)
    known.words, known.told = outcomes, [WORDS.index(one.status) if one.is_bare else NOT_BARE for one in outcomes]


def overwriting_keys(owner: bpy.types.Object) -> list[str]:
    """Names of live chains whose bones have keys that these do not start from: live posing overwrites the keys."""
    chains = rig_of(owner).chains
    return [
        name
        for rig in state.rigs
        if rig.owner == owner
        for facts in rig.facts.values()
        for name in facts.keyed
        if name in chains and chains[name].start != "ANIMATED"
    ]


# Live chains that are solved together: read anew, or solved for goals that moved. Nothing is written here.

WORDS = tuple(status.value for status in STATUSES)
MANY = 16  # chains from which on their tips are read at once


def read_anew(rig: LiveRig, chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> LiveFigure:
    """Read chains that are solved together, and solve them; what was known of them tells how they stood.

    Raises:
        FabrikError: They can't be solved.
    """
    state.counts.reads += 1
    check_rig(rig.owner, depsgraph)
    before = rig.figures.get(chain_set.names)
    figure, goals = read(chain_set, depsgraph, facts, before=before.figure if before is not None else None)
    figure = figure.asking(figure.asked)  # a row of its own, which keeps the pose in which the chains stand
    known = _known(rig.facts[chain_set.names], chain_set, figure, goals)
    bones, keyed = pose_bones(rig.owner), facts.keyed(rig.owner)
    known.keys = keyed.count(bones[name] for name in figure.bones)[1] if known.facts.keyed else 0
    return solved(known, chain_set, depsgraph)


def solved(known: LiveFigure, chain_set: ChainSet, depsgraph: bpy.types.Depsgraph) -> LiveFigure:
    """Solve chains that were read.

    Raises:
        FabrikError: They can't be solved.
    """
    figure, goals = known.figure, known.fixed_goals
    seen = seen_in(known.sources, goals)
    if figure.is_rigid:
        follow(known, numbers_of(known, seen), seen)
        return known
    state.counts.solves += 1
    item = known.posed = posed(figure, goals, chain_set.owner, depsgraph)
    known.numbers, known.points, known.rests = item.numbers, seen, item.rests
    known.rotations[:], known.ends[:] = item.rotations, item.ends
    known.shift[:], known.factors[:] = item.shift, item.factors
    return known


def let_go(known: LiveFigure, figure: RigFigure, names: Collection[str], chain_set: ChainSet) -> LiveFigure:
    """Chains that start as a figure does while a tool poses them, some of which ask for nothing; not solved yet."""
    asked = [one.let_go if one.chain in names else one for one in figure.asked]
    return _known(known.facts, chain_set, figure.asking(asked), known.fixed_goals)


def _known(facts: FigureFacts, chain_set: ChainSet, figure: RigFigure, goals: tuple[GoalPoints, ...]) -> LiveFigure:
    """Chains as they were read, not solved yet."""
    sources = tuple(one for k in range(len(chain_set.chains)) for one in _sources(chain_set, figure, k))
    return LiveFigure(
        chain_set.names,
        figure,
        sources,
        goals,
        facts,
        figure.space,
        np.frombuffer(figure.row.rotations).reshape(-1, 4),
        np.frombuffer(figure.row.shifts),
        np.frombuffer(figure.row.factors),
        np.frombuffer(figure.row.ends).reshape(-1, 3),
        (EXACT * figure.length) ** 2,
        is_plain(figure) and not figure.asked[0].swing and bool(sources) and sources[0].role == "target",
        any(source.may_hide for source in sources),
        told=[NOT_BARE] * len(chain_set.names),
    )


def renew_channels(known: LiveFigure, rig: LiveRig, keyed: KeyedChannels) -> None:
    """Let the channels of chains run on from the keys of another frame."""
    bones, figure = pose_bones(rig.owner), known.figure
    channels = channels_of([bones[name] for name in figure.bones], figure.starts, keyed, figure.start.carried)
    if channels == figure.channels:
        return
    known.figure = replace(figure, channels=channels)
    rig.writer = None


def renew_space(known: LiveFigure, frame: RigFrame, poses: Any) -> bool:
    """Bring chains where their armature and its parents are now; whether they are still the same chains there."""
    root = poses.get(known.figure.bones[0])
    space = known.figure.space_at(frame, root) if root is not None else None
    if space is None:
        return False
    if space != known.space:
        known.space, known.foreseen = space, {}
    return True


def stand(figures: Iterable[LiveFigure], poses: Any) -> bool:
    """Whether the tips of chains stand where they were solved, as evaluated: nothing else changed the chains."""
    for known in figures:
        a, b, c, d, e, f, g, h, i = known.space.rows
        u, v, w = known.space.origin
        asked = known.figure.asked
        for one, (x, y, z) in zip(asked, known.ends[asked.tips].tolist(), strict=True):
            bone = poses.get(one.bones[-1])
            if bone is None:
                return False
            p, q, r = bone.tail
            there = u + (a * x + b * y + c * z), v + (d * x + e * y + f * z), w + (g * x + h * y + i * z)
            off: float = (p - there[0]) ** 2 + (q - there[1]) ** 2 + (r - there[2]) ** 2
            if off > known.near_enough and off > (ULPS * max(map(abs, there))) ** 2:
                return False
    return True


def as_foreseen(rig: LiveRig, depsgraph: bpy.types.Depsgraph, seen: dict[LiveFigure, Seen]) -> bool:
    """Whether nothing but their goals moves the chains of an armature, and all stand as they were posed for these.

    Where goals stand is noted in `seen`.
    """
    evaluated = rig.owner.evaluated_get(depsgraph)
    if len(rig.figures) < len(rig.facts) or evaluated.matrix_world != rig.world:
        return False
    figures = list(rig.figures.values())
    for known in figures:
        if not (known.is_fresh and known.facts.only_goals_move and known.figure.is_rigid) or known.may_hide:
            return False
        seen[known] = points_now(known, depsgraph)
        if seen[known] != known.points:
            return False
    poses = pose_bones(evaluated)
    if len(figures) < MANY:
        return stand(figures, poses)
    spaces, tips = [known.space for known in figures for _ in known.names], rig.tips
    if tips is None or tips.key != (figures, spaces):
        ends, joints = [known.ends for known in figures], [known.figure.asked.tips for known in figures]
        places = [rig.bones[one.bones[-1]] for known in figures for one in known.figure.asked]
        near_enough = [known.near_enough for known in figures for _ in known.names]
        tips = rig.tips = Tips((figures, spaces), ends, joints, places, near_enough, len(rig.bones))
    return tips.stand(poses)


def follow(known: LiveFigure, numbers: Numbers, points: Seen) -> None:
    """Solve rigid chains for goals that moved: their numbers in chain space, and as they were seen.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    state.counts.solves += 1
    figure = known.figure
    known.numbers, known.points, known.rests = numbers, points, numbers == figure.asked.at_rest
    if figure.weighed is not None and figure.space is not known.space:
        figure = replace(figure, space=known.space)
    figure.solved(numbers)
