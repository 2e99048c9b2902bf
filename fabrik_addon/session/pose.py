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
from ..rig.keys import insert_auto_keys
from ..rig.prepared import RigFacts, frame_of, read
from ..rig.properties import FabrikChain, rig_of
from ..rig.start_pose import is_stale
from ..rig.writer import ChannelWrite
from .checking import what_is_off
from .order import Item, levels, shared_bones
from .outcome import Outcome, outcome_of, refused, store, warn_of_scale
from .posing import Posed, posed


class _Written(NamedTuple):
    """A chain that is solved and written."""

    owner: bpy.types.Object
    chain: FabrikChain
    item: Posed
    writes: list[ChannelWrite]


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
    outcomes = []
    for level in levels(items):
        for owner, outcome in _solve_level(context, level):
            bone = shared.get((owner.name_full, outcome.chain), "")
            if bone and outcome.status != "REFUSED":
                outcome.warnings.append(f"its bone '{bone}' is also of a chain solved before it")
            outcome.rig = owner.name
            store(rig_of(owner).chains[outcome.chain], outcome)
            outcomes.append(outcome)
    return outcomes


def _solve_level(context: bpy.types.Context, level: Sequence[Item]) -> list[tuple[bpy.types.Object, Outcome]]:
    """Solve chains that do not depend on each other: read all, solve all, write all, and evaluate once."""
    depsgraph = context.evaluated_depsgraph_get()
    facts: dict[str, RigFacts] = {}
    outcomes: list[tuple[bpy.types.Object, Outcome]] = []
    solved: list[_Written] = []
    for owner, chain in level:
        if owner.name_full not in facts:
            facts[owner.name_full] = RigFacts.of(owner, frame_of(depsgraph))
        try:
            item = posed(*read(owner, chain, depsgraph, facts[owner.name_full]), owner, depsgraph, explain=True)
            solved.append(_Written(owner, chain, item, item.prepared.writes(owner, item.rotations)))
        except FabrikError as error:
            outcomes.append((owner, refused(owner, chain, error)))
    if not solved:
        return outcomes
    for name in {one.owner.name_full for one in solved}:
        own = [one for one in solved if one.owner.name_full == name]
        pose_writer.write(own[0].owner, [write for one in own for write in one.writes])
    return outcomes + _judged(context, solved, facts)


def _judged(
    context: bpy.types.Context, solved: Sequence[_Written], facts: dict[str, RigFacts]
) -> list[tuple[bpy.types.Object, Outcome]]:
    """Compare Blender's evaluation with the solves, and key; or take the poses back that are off."""
    depsgraph = _updated(context)
    found = [what_is_off(one.owner, one.chain, one.item, depsgraph) for one in solved]
    for one, error in zip(solved, found, strict=True):
        if error is not None:
            pose_writer.restore(one.owner, one.writes)
    if any(found):
        _updated(context)
    return [
        (one.owner, refused(one.owner, one.chain, error) if error else _kept(context, one, facts[one.owner.name_full]))
        for one, error in zip(solved, found, strict=True)
    ]


def _kept(context: bpy.types.Context, one: _Written, facts: RigFacts) -> Outcome:
    """The outcome of a pose that stands, and its keys."""
    chain, item, names = one.chain, one.item, one.item.prepared.bones
    outcome = outcome_of(chain.name, item.solution, names, item.residual)
    warn_of_scale(outcome, item.uneven)
    bones = pose_bones(one.owner)
    written = [bones[write.bone] for write in one.writes]
    was_keyed = [bone.name for bone in written if facts.keyed.has(bone)]
    if not insert_auto_keys(context, written, facts.keyed) and was_keyed:
        outcome.is_lost = True
        outcome.warnings.append(f"its bone '{was_keyed[0]}' is keyed: key the pose, or the next frame change loses it")
    if chain.influence < 1.0:
        outcome.warnings.append(f"posed at {chain.influence:.0%} influence")
    if chain.start != "REST" and is_stale(chain, [bones[name] for name in names]):
        outcome.warnings.append("the rest pose changed after the start pose was captured")
    return outcome


def _updated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()
