# SPDX-License-Identifier: GPL-3.0-or-later
"""Where live chains read their goals, and the numbers of chain space that these are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import bpy

from ...errors import InvalidValueError, place_of
from ...finite import are_finite
from ...maths import Q4, multiplied, normalized, q4, v3
from ...rig.animation import may_hide
from ...rig.figures import ChainSet
from ...rig.goals import GoalPoints, goals_of
from ...rig.prepared import Prepared
from ...rig.targets import check_present, kind_of, reader_of
from ...rig.walk_goals import is_walked, rest_turn, walk_pose, walked_part
from ...texts import Text
from .known import LiveFigure, Numbers, Seen, Source


def sources_of(chain_set: ChainSet, prepared: Prepared) -> tuple[Source, ...]:
    """Where the goals of chains are read that could be prepared."""
    return tuple(source for k in range(len(chain_set.chains)) for source in _sources(chain_set, prepared, k))


def _sources(chain_set: ChainSet, prepared: Prepared, k: int) -> Iterator[Source]:
    """The places of the goals of a chain, and the rotation that the last bone is to turn with."""
    owner, chain, asked = chain_set.owner, chain_set.chains[k], prepared.asked[k]
    if is_walked(chain):
        foot = Source(None, "target", owner, walked_part(owner, chain), False, k)
        yield foot
        if asked.turns:
            yield foot._replace(role="turn", offset=rest_turn(owner, chain.tip_bone))
    for goal in goals_of(chain):
        if goal.role == "pole" and not asked.has_pole:
            continue
        place = Source(reader_of(goal.found, goal.bone), *goal, may_hide(goal.found), k)
        yield place
        if goal.role == "target" and asked.turns and chain.orientation == "TARGET":
            read = kind_of(goal.found, goal.bone).turn
            yield place._replace(read=read, role="turn", offset=normalized(q4(chain.rotation_offset)))


def seen_in(sources: Sequence[Source], points: Sequence[GoalPoints]) -> Seen:
    """What sources tell where goals have been read, as `points_now` would find it."""
    found: list[tuple[float, ...]] = []
    for source in sources:
        goals = points[source.chain]
        value = {"target": goals.target, "pole": goals.pole, "turn": goals.turn}[source.role]
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
    for reader, role, goal, bone, hides, chain, offset in known.sources:
        if hides:
            with place_of(chain=known.names[chain]):
                check_present("target" if role == "turn" else role, goal, depsgraph)
        value: Sequence[float]
        if reader is not None:
            value = reader(role, goal.evaluated_get(depsgraph), bone)
        else:
            with place_of(chain=known.names[chain]):
                value = walk_pose(goal, bone, depsgraph)[role == "turn"]
        if offset is None:
            x, y, z = value
            found.append((x, y, z))
        else:
            found.append(multiplied(q4(value), offset))
    return tuple(found)


def goals_seen(known: LiveFigure, seen: Seen) -> tuple[GoalPoints, ...]:
    """The goals of each chain, from what its sources tell."""
    if not known.sources:
        return known.fixed_goals
    found = list(known.fixed_goals)
    for source, value in zip(known.sources, seen, strict=True):
        if source.role == "target":
            found[source.chain] = found[source.chain]._replace(target=value)
        elif source.role == "pole":
            found[source.chain] = found[source.chain]._replace(pole=value)
        else:
            found[source.chain] = found[source.chain]._replace(turn=cast("Q4", value))
    return tuple(found)


def numbers_of(known: LiveFigure, seen: Seen) -> Numbers:
    """The goals of chains in their space, from what their sources tell.

    Raises:
        InvalidValueError: A goal is nowhere.
    """
    if known.is_plain:
        target = known.space.to_chain(seen[0])
        return target if len(seen) == 1 else (*target, *known.space.to_chain(seen[1]))
    asked, numbers = known.prepared.asked, list[float]()
    for one, points in zip(asked, goals_seen(known, seen), strict=True):
        numbers += one.numbers(known.space, points)
    if not are_finite(numbers):
        lost = next(one for one in asked if not are_finite(one.of_row(numbers)))
        reason = Text("where its goal stands, or how it is turned, is not a finite number")
        raise InvalidValueError(reason, chain=lost.chain)
    return tuple(numbers)
