# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve chains of armatures and write their poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..errors import FabrikError
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig
from ..rig.evaluating import updated
from ..rig.figure_cache import FigureCache
from ..rig.figures import ChainSet
from ..rig.following import why_unfollowed
from ..rig.keys import KeyedChannels, insert_posed_keys
from ..rig.last_solve import forget, remember
from ..rig.pose_writer import PoseWriter, places_of
from ..rig.preparing import FactsByRig, frame_of, read
from ..rig.schema import FabrikChain, rig_of
from ..rig.start_pose import is_stale
from ..texts import Text, worded
from .checking import what_is_off
from .order import Item, levels, together
from .posing import Posed, posed
from .status import Outcome, outcomes_of, refused, store


class _Written(NamedTuple):
    """Chains that are solved together and written.

    Attributes:
        chain_set: The chains.
        item: As they were solved.
        writer: That of their armature.
        place: Their index among its poses.
    """

    chain_set: ChainSet
    item: Posed
    writer: PoseWriter
    place: int


def solve_items(context: bpy.types.Context, items: Sequence[Item]) -> list[Outcome]:
    """Solve chains, write their poses and results, and key them where automatic keying is on.

    Chains that have bones in common with enabled ones, or hang on the body bone as these do, are solved with them.
    Chains that can't be solved are refused and leave their bones as they were; the others are solved all the same.

    Args:
        context: Its view layer is evaluated.
        items: Chains, each with its armature object.

    Returns:
        An outcome for each chain that was solved, in the order of solving: those that hang on others come after these.

    Raises:
        FabrikError: An armature can't be posed at all; nothing was written.
    """
    for owner in {owner.name_full: owner for owner, _ in items}.values():
        check_rig(owner, context.evaluated_depsgraph_get())
    outcomes = [one for level in levels(together(items)) for one in _solve_level(context, level)]
    for owner, outcome in outcomes:
        outcome.rig = owner.name
        chain = rig_of(owner).chains[outcome.chain]
        store(chain, outcome)
        if outcome.status == "REFUSED":
            forget(chain)
        else:
            remember(chain)
    return [outcome for _, outcome in outcomes]


_Ended = tuple[bpy.types.Object, Outcome]


def _solve_level(context: bpy.types.Context, level: Sequence[ChainSet]) -> list[_Ended]:
    """Solve chains that do not depend on each other: read all, solve all, write all, and evaluate once."""
    depsgraph = context.evaluated_depsgraph_get()
    facts = FactsByRig(frame_of(depsgraph))
    outcomes: list[_Ended] = []
    solved: dict[str, list[tuple[ChainSet, Posed]]] = {}
    for one in level:
        try:
            item = posed(*read(one, depsgraph, facts), one.owner, depsgraph, explain=True)
            solved.setdefault(one.owner.name_full, []).append((one, item))
        except FabrikError as error:
            outcomes += _refused(one, error)
    written = [one for some in solved.values() for one in _write(some)]
    return outcomes + _judged(context, written, facts) if written else outcomes


def _write(solved: Sequence[tuple[ChainSet, Posed]]) -> list[_Written]:
    """Write chains of one armature."""
    owner = solved[0][0].owner
    writer = PoseWriter([item.pose for _, item in solved], places_of(owner))
    writer.write(owner)
    return [_Written(one, item, writer, k) for k, (one, item) in enumerate(solved)]


def _refused(one: ChainSet, error: FabrikError) -> list[_Ended]:
    """The outcomes of chains that can't be solved together: of the one at fault, and of those that wait for it."""
    return [(one.owner, refused(one, chain, error)) for chain in one.chains]


def _judged(context: bpy.types.Context, solved: Sequence[_Written], facts: FactsByRig) -> list[_Ended]:
    """Compare Blender's evaluation with the solves, and key; or take the poses back that are off."""
    depsgraph = updated(context)
    found = [what_is_off(one.chain_set, one.item, depsgraph) for one in solved]
    for one, error in zip(solved, found, strict=True):
        if error is not None:
            one.writer.restore(one.chain_set.owner, one.place)
    if any(found):
        updated(context)
    ended: list[_Ended] = []
    for one, error in zip(solved, found, strict=True):
        owner = one.chain_set.owner
        if error is None:
            FigureCache.keep(one.chain_set, facts.frame, one.item.prepared)  # the channels alone are others now
        ended += (
            _refused(one.chain_set, error)
            if error is not None
            else [(owner, outcome) for outcome in _kept(context, one, facts.keyed(owner))]
        )
    return ended


def _kept(context: bpy.types.Context, one: _Written, keyed: KeyedChannels) -> list[Outcome]:
    """The outcomes of a pose that stands, and its keys."""
    owner, chains, _ = one.chain_set
    prepared = one.item.prepared
    bones = pose_bones(owner)
    written = [bones[channels.bone] for channels in prepared.channels if channels is not None]
    plain = [(bones[name], channel) for name, channel in prepared.plain_channels]
    was_keyed, is_keyed = insert_posed_keys(context, written, plain, keyed)
    outcomes = outcomes_of(one.item)
    for chain, outcome, asked in zip(chains, outcomes, prepared.asked, strict=True):
        own = [name for name in was_keyed if name in asked.bones or not prepared.is_chain]
        if own and not is_keyed:
            outcome.is_lost = True
            outcome.warnings.append(
                Text("its bone '{bone}' is keyed: key the pose, or the next frame change loses it", bone=own[0])
            )
        outcome.warnings += _notes(owner, chain, asked.bones)
    return outcomes


def _notes(owner: bpy.types.Object, chain: FabrikChain, names: Sequence[str]) -> list[str]:
    """What else the user should know of a chain that was solved."""
    found: list[str] = []
    if chain.pole is None and chain.pole_name:
        found.append(Text("its pole '{name}' was deleted", name=chain.pole_name))
    unfollowed = why_unfollowed(owner, names)
    found += [worded(unfollowed)] if unfollowed else []
    if chain.influence < 1.0:
        found.append(Text("posed at {influence:.0%} influence", influence=chain.influence))
    bones = pose_bones(owner)
    if chain.start != "REST" and is_stale(chain, [bones[name] for name in names]):
        found.append(Text("the rest pose changed after the start pose was captured"))
    return found
