# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains that are solved together: where their goals are, read anew, solved, and written with what came of it."""

from __future__ import annotations

from array import array
from binascii import b2a_base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import bpy
import numpy as np

from ...errors import InvalidValueError, are_finite
from ...kernel import STATUSES
from ...maths import Q4, ULPS
from ...rig.animation.animation import may_hide
from ...rig.animation.keys import KeyedChannels
from ...rig.bones import pose_bones
from ...rig.checks import check_rig
from ...rig.dependencies import enabled_collections
from ...rig.figure.figure import RigFigure, channels_of
from ...rig.figure.groups import ChainSet
from ...rig.figure.pose_writer import Pose, PoseWriter, write_rotations
from ...rig.figure.reader import FactsByRig, read
from ...rig.figure.solve import is_plain, posed, read_posed, store_state
from ...rig.figure.space import RigFrame
from ...rig.figure.uneven import EXACT
from ...rig.goals import GoalPoints, Values, goals_of, is_offset, read_sources, sources_of, with_values
from ...rig.schema import rig_of
from ...rig.walk_goals import is_walked
from ...texts import Text
from ..status import POLE_MISSED, outcomes_of, store
from .state import NOT_BARE, NUMBERS, FigureFacts, LiveFigure, LiveRig, Numbers, state


def numbers_of(known: LiveFigure, seen: Values) -> Numbers:
    """The goals of chains in their space, from what their sources tell.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    if known.is_plain:
        target = known.space.to_chain(seen[0])
        return target if len(seen) == 1 else (*target, *known.space.to_chain(seen[1]))
    asked, numbers = known.figure.goals, list[float]()
    for one, points in zip(asked, with_values(known.fixed_goals, known.sources, seen), strict=True):
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
    before, rig.numbers = rig.numbers, {name: [*own] for name, own in rig.numbers.items()}
    rig.left, rig.standing = rig.left.copy(), None
    _conclude(rig, figures)
    counts = rig.writer.write(rig.owner, rig.left)
    state.writes += sum(counts)
    keep(rig, before)
    return [known for known, count in zip(figures, counts, strict=True) if count]


def _conclude(rig: LiveRig, figures: Sequence[LiveFigure]) -> None:
    """Note how chains ended, and take their influence off; words are made where they are others than those stored.

    Those that are written anew over what keys play were not solved again.
    """
    residuals, turns, softened, passes = rig.numbers.values()
    for known in figures:
        if known.is_concluded:
            continue
        known.is_concluded = True
        row, scale = known.figure.row, known.space.rig.size
        is_told = known.posed is None and scale > 0.0
        if is_told:
            for told, (code, missed, turn, pole, soft), name in zip(
                known.told, known.figure.goals.ended(row), known.names, strict=True
            ):
                if code != told or pole > POLE_MISSED:
                    is_told = False
                    break
                at = rig.indices[name]
                residuals[at], turns[at], softened[at] = missed * scale, turn, soft * scale
                passes[at] = row.passes[0]
        if not is_told:
            _tell(rig, known)
        elif known.figure.influence < 1.0 and not known.rests:
            known.figure.solver.blend_rows(row, [known.figure.influence])


def keep(rig: LiveRig, before: Mapping[str, Sequence[float]]) -> None:
    """Keep in the file what live posing left in the channels, and the numbers of how chains ended that are others.

    Without bytes of 0: up to Blender 4.5 these end Blender in an export to Alembic, which writes what is kept, too.
    """
    rig.record.left = b2a_base64(rig.digest + rig.left.tobytes(), newline=False)
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
            store_state(chains[outcome.chain], None)
        for name, own in rig.numbers.items():
            own[rig.indices[outcome.chain]] = getattr(outcome, name)
    known.words, known.told = outcomes, [WORDS.index(one.status) if one.is_bare else NOT_BARE for one in outcomes]


def rest_where_off(rig: LiveRig, frame: float) -> None:
    """Put the bones of chains that keys have switched off to where these start, as at influence 0; keyed bones play."""
    chains, bones, turns = rig_of(rig.owner).chains, pose_bones(rig.owner), dict[str, Q4]()
    keyed = KeyedChannels(rig.owner, frame)
    for known in rig.figures.values():
        for one in known.figure.goals:
            if one.chain in chains and not chains[one.chain].enabled:
                starts = zip(one.bones, [known.figure.starts[joint] for joint in one.joints], strict=True)
                turns |= {name: turn for name, turn in starts if name in bones and not keyed.has(bones[name])}
    write_rotations(rig.owner, turns)


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


def goals_not_rendered(owner: bpy.types.Object, layer: bpy.types.ViewLayer) -> list[str]:
    """Names of objects that live chains follow, and which are disabled in renders.

    There Blender does not move them, unless something that is rendered hangs on them.
    """
    homes = {*enabled_collections(layer.layer_collection, switch="hide_render")}
    chains = [one for one in rig_of(owner).chains if one.enabled and one.influence > 0.0]
    followed = [one for one in chains if not is_offset(one) and not is_walked(one)]
    goals = {goal.found for one in followed for goal in goals_of(one)}
    return sorted(found.name for found in goals if found.hide_render or homes.isdisjoint(found.users_collection))


# Live chains that are solved together: read anew, or solved for goals that moved. Nothing is written here.

WORDS = tuple(status.value for status in STATUSES)


def read_anew(rig: LiveRig, chain_set: ChainSet, depsgraph: bpy.types.Depsgraph, facts: FactsByRig) -> LiveFigure:
    """Read chains that are solved together, and solve them; what was known of them tells how they stood.

    Raises:
        FabrikError: They can't be solved.
    """
    state.reads += 1
    check_rig(rig.owner, depsgraph)
    before = rig.figures.get(chain_set.names)
    figure, goals = read(chain_set, depsgraph, facts, before=before.figure if before is not None else None)
    figure = figure.with_goals(figure.goals)  # a row of its own, which keeps the pose in which the chains stand
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
    seen: Values = tuple([getattr(goals[one.k], one.role) for one in known.sources])  # as these told it
    if figure.is_rigid:
        follow(known, numbers_of(known, seen), seen)
        return known
    state.solves += 1
    item = known.posed = posed(figure, goals, chain_set.owner, depsgraph)
    known.numbers, known.points, known.rests = item.numbers, seen, item.rests
    known.rotations[:], known.ends[:] = item.rotations, item.ends
    known.shift[:], known.factors[:] = item.shift, item.factors
    return known


def let_go(known: LiveFigure, figure: RigFigure, names: Collection[str], chain_set: ChainSet) -> LiveFigure:
    """Chains that start as a figure does while a tool poses them, some of which ask for nothing; not solved yet."""
    asked = [one.let_go if one.chain in names else one for one in figure.goals]
    return _known(known.facts, chain_set, figure.with_goals(asked), known.fixed_goals)


def _known(facts: FigureFacts, chain_set: ChainSet, figure: RigFigure, goals: tuple[GoalPoints, ...]) -> LiveFigure:
    """Chains as they were read, not solved yet."""
    found = [one for k, chain in enumerate(chain_set.chains) for one in sources_of(chain, figure.frames(k), k)[1]]
    found = [one for one in found if one.role != "pole" or figure.goals[one.k].has_pole]
    hiding = {thing for thing in {one.found for one in found if one.may_hide} if may_hide(thing)}
    sources = tuple([one._replace(may_hide=one.may_hide and one.found in hiding) for one in found])
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
        is_plain(figure) and not figure.goals[0].swing and bool(sources) and sources[0].role == "target",
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
        asked = known.figure.goals
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


def as_foreseen(rig: LiveRig, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the goals of an armature are where they were foreseen, and all its chains stand as they were posed."""
    layout, evaluated = rig.layout, rig.owner.evaluated_get(depsgraph)
    if layout is None or rig.standing is None or evaluated.matrix_world != rig.world:
        return False
    if layout.figures != [*rig.figures.values()]:
        return False
    points, tips = rig.standing
    return read_sources(layout.sources, depsgraph) == points and layout.stand(tips, pose_bones(evaluated))


def follow(known: LiveFigure, numbers: Numbers, points: Values) -> None:
    """Solve rigid chains for goals that moved: their numbers in chain space, and as they were seen.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    state.solves += 1
    figure = known.figure
    known.numbers, known.points, known.rests = numbers, points, numbers == figure.goals.at_rest
    known.is_concluded = False
    if figure.weighed is not None and figure.space is not known.space:
        figure = replace(figure, space=known.space)
    figure.solved(numbers)
