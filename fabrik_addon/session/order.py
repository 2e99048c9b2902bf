# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains are solved together, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..errors import ChainError
from ..rig.dependencies import carriers_of
from ..rig.figures import ChainSet, figure_bones_if_any, sets_of
from ..rig.goals import goals_of
from ..rig.schema import FabrikChain, rig_of
from ..texts import Text, enumerated

Item = tuple[bpy.types.Object, FabrikChain]
Bones = set[tuple[str, str]]  # full name of the armature object, name of the bone


def together(items: Sequence[Item]) -> list[ChainSet]:
    """The sets of chains that are solved where some chains are to be: with those that are enabled beside them.

    Args:
        items: Armature objects, each with one of its chains.
    """
    owners = {owner.name_full: owner for owner, _ in items}
    found = []
    for name, owner in owners.items():
        wanted = {chain.name for found_owner, chain in items if found_owner.name_full == name}
        chains = [chain for chain in rig_of(owner).chains if chain.enabled or chain.name in wanted]
        found += [one for one in sets_of(owner, chains) if wanted.intersection(one.names)]
    return found


def levels(sets: Sequence[ChainSet]) -> list[list[ChainSet]]:
    """Group sets of chains so that each comes after those on whose bones it hangs, with its root, targets or poles.

    Those of one group do not depend on each other.

    Args:
        sets: Chains that are solved together.

    Raises:
        ChainError: Chains wait for each other in a circle.
    """
    groups, waiting = ordered(sets)
    if waiting:
        reason = Text("the chains {chains} wait for each other", chains=waiting_text(waiting))
        raise ChainError(reason, rig=waiting[0].owner.name)
    return groups


def waiting_text(waiting: Sequence[ChainSet]) -> Text:
    """Chains that wait for each other, as a message names them."""
    names = [
        Text("'{chain}' of '{armature}'", chain=name, armature=one.owner.name) for one in waiting for name in one.names
    ]
    return enumerated(names)


def ordered(sets: Sequence[ChainSet]) -> tuple[list[list[ChainSet]], list[ChainSet]]:
    """The groups of `levels`, and the sets that wait for each other or for such ones."""
    if len(sets) <= 1:
        return [[*sets]] if sets else [], []
    bones = [bones_of(one) for one in sets]
    users: dict[tuple[str, str], set[int]] = {}
    for i, own in enumerate(bones):
        for bone in own:
            users.setdefault(bone, set()).add(i)
    before = [
        {other for bone in bones_above(one, own) for other in users.get(bone, ()) if other != i}
        for i, (one, own) in enumerate(zip(sets, bones, strict=True))
    ]
    waiting = list(range(len(sets)))
    groups: list[list[ChainSet]] = []
    done: set[int] = set()
    while waiting:
        ready = [i for i in waiting if before[i] <= done]
        if not ready:
            break
        groups.append([sets[i] for i in ready])
        done.update(ready)
        waiting = [i for i in waiting if i not in done]
    return groups, [sets[i] for i in waiting]


def bones_of(one: ChainSet) -> Bones:
    """The bones of chains that are solved together; none where they can't be solved, which says why."""
    return {(one.owner.name_full, bone.name) for bone in figure_bones_if_any(one)}


def bones_above(one: ChainSet, own: Bones) -> Bones:
    """Bones that move the root, a target or a pole of chains without being of these.

    Args:
        one: The chains.
        own: Their bones.
    """
    found: Bones = set()
    for pair in own:
        if pair not in found:  # else it carries one that was looked at
            found |= carriers_of(one.owner, pair[1])
    for chain in one.chains:
        for _, goal, bone in goals_of(chain):
            found |= carriers_of(goal, bone)
    return {pair for pair in found if pair[1]} - own
