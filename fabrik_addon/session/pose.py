# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve chains of armatures and write their poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..errors import FabrikError
from ..rig import pose_writer
from ..rig.chain_bones import pose_bones
from ..rig.checks import check_rig
from ..rig.following import why_unfollowed
from ..rig.keys import insert_auto_keys
from ..rig.last_solve import forget, remember
from ..rig.prepared import RigFacts, frame_of, read
from ..rig.properties import FabrikChain, rig_of
from ..rig.start_pose import is_stale
from ..rig.writer import ChannelWrite
from .checking import what_is_off
from .judging import Judged, judge_final
from .order import Item, levels, shared_bones
from .outcome import Outcome, outcome_of, refused, store
from .posing import Posed, posed


class _Written(NamedTuple):
    """A chain that is solved and written."""

    owner: bpy.types.Object
    chain: FabrikChain
    item: Posed
    writes: list[ChannelWrite]


class _Ended(NamedTuple):
    """How a chain ended, and how it was written where it was."""

    owner: bpy.types.Object
    outcome: Outcome
    written: _Written | None


def solve_items(context: bpy.types.Context, items: Sequence[Item]) -> list[Outcome]:
    """Solve chains, write their poses and results, and key them where automatic keying is on.

    A chain that can't be solved is refused and leaves its bones as they were; the others are solved all the same.

    Args:
        context: Its view layer is evaluated.
        items: Chains, each with its armature object.

    Returns:
        An outcome for each chain, in the order of solving: those that hang on others come after these.

    Raises:
        FabrikError: An armature can't be posed at all; nothing was written.
    """
    owners = {owner.name_full: owner for owner, _ in items}
    shared: dict[tuple[str, str], str] = {}
    for name, owner in owners.items():
        check_rig(owner, context.evaluated_depsgraph_get())
        own = shared_bones(owner, [chain for found, chain in items if found == owner])
        shared |= {(name, chain): bone for chain, bone in own.items()}
    ended = [one for level in levels(items) for one in _solve_level(context, level)]
    outcomes = []
    for owner, outcome in _final(context, ended, len(items)):
        bone = shared.get((owner.name_full, outcome.chain), "")
        if bone and outcome.status != "REFUSED":
            outcome.warnings.append(f"its bone '{bone}' is also of a chain solved before it")
        outcome.rig = owner.name
        chain = rig_of(owner).chains[outcome.chain]
        store(chain, outcome)
        if outcome.status == "REFUSED":
            forget(chain)
        else:
            remember(chain)
        outcomes.append(outcome)
    return outcomes


def _final(context: bpy.types.Context, ended: Sequence[_Ended], count: int) -> list[tuple[bpy.types.Object, Outcome]]:
    """The outcomes on the final pose, which is that of a single chain anyway."""
    written = [one for one in ended if one.written is not None]
    if count > 1:
        judged = judge_final([_judged_of(one) for one in written], context.evaluated_depsgraph_get())
        final = {id(one): outcome for one, outcome in zip(written, judged, strict=True)}
        return [(one.owner, final.get(id(one), one.outcome)) for one in ended]
    return [(one.owner, one.outcome) for one in ended]


def _judged_of(one: _Ended) -> Judged:
    assert one.written is not None, "only those are judged"
    _, chain, item, _ = one.written
    prepared = item.prepared
    return Judged(
        one.owner, chain, prepared.bones, prepared.space, item.joints[-1], item.target, item.length, one.outcome
    )


def _solve_level(context: bpy.types.Context, level: Sequence[Item]) -> list[_Ended]:
    """Solve chains that do not depend on each other: read all, solve all, write all, and evaluate once."""
    depsgraph = context.evaluated_depsgraph_get()
    facts: dict[str, RigFacts] = {}
    outcomes: list[_Ended] = []
    solved: list[_Written] = []
    for owner, chain in level:
        if owner.name_full not in facts:
            facts[owner.name_full] = RigFacts.of(owner, frame_of(depsgraph))
        try:
            item = posed(*read(owner, chain, depsgraph, facts[owner.name_full]), owner, depsgraph, explain=True)
            solved.append(_Written(owner, chain, item, item.prepared.writes(owner, item.rotations)))
        except FabrikError as error:
            outcomes.append(_Ended(owner, refused(owner, chain, error), None))
    if not solved:
        return outcomes
    for name in {one.owner.name_full for one in solved}:
        own = [one for one in solved if one.owner.name_full == name]
        pose_writer.write(own[0].owner, [write for one in own for write in one.writes])
    return outcomes + _judged(context, solved, facts)


def _judged(context: bpy.types.Context, solved: Sequence[_Written], facts: dict[str, RigFacts]) -> list[_Ended]:
    """Compare Blender's evaluation with the solves, and key; or take the poses back that are off."""
    depsgraph = _updated(context)
    found = [what_is_off(one.owner, one.chain, one.item, depsgraph) for one in solved]
    for one, error in zip(solved, found, strict=True):
        if error is not None:
            pose_writer.restore(one.owner, one.writes)
    if any(found):
        _updated(context)
    return [
        _Ended(one.owner, refused(one.owner, one.chain, error), None)
        if error
        else _Ended(one.owner, _kept(context, one, facts[one.owner.name_full]), one)
        for one, error in zip(solved, found, strict=True)
    ]


def _kept(context: bpy.types.Context, one: _Written, facts: RigFacts) -> Outcome:
    """The outcome of a pose that stands, and its keys."""
    chain, item, names = one.chain, one.item, one.item.prepared.bones
    outcome = outcome_of(chain.name, item.solution, names, item.residual, item.uneven)
    bones = pose_bones(one.owner)
    written = [bones[write.bone] for write in one.writes]
    was_keyed = [bone.name for bone in written if facts.keyed.has(bone)]
    if not insert_auto_keys(context, written, facts.keyed) and was_keyed:
        outcome.is_lost = True
        outcome.warnings.append(f"its bone '{was_keyed[0]}' is keyed: key the pose, or the next frame change loses it")
    if chain.pole is None and chain.pole_name:
        outcome.warnings.append(f"its pole '{chain.pole_name}' was deleted")
    unfollowed = why_unfollowed(one.owner, names)
    if unfollowed:
        outcome.warnings.append(unfollowed)
    if chain.influence < 1.0:
        outcome.warnings.append(f"posed at {chain.influence:.0%} influence")
    if chain.start != "REST" and is_stale(chain, [bones[name] for name in names]):
        outcome.warnings.append("the rest pose changed after the start pose was captured")
    return outcome


def _updated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()
