# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order chains are solved."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..errors import ChainError, FabrikError
from ..rig.chain_bones import resolve_bones
from ..rig.dependencies import carriers_of
from ..rig.goals import goals_of
from ..rig.properties import FabrikChain

Item = tuple[bpy.types.Object, FabrikChain]
Bones = set[tuple[str, str]]  # full name of the armature object, name of the bone


def levels(items: Sequence[Item]) -> list[list[Item]]:
    """Group chains so that each comes after those on whose bones it hangs, with its root, target or pole.

    Chains of one group do not depend on each other and share no bone; chains that share one are solved in the order of
    the list, so that the last has its way.

    Args:
        items: Armature objects, each with one of its chains.

    Raises:
        ChainError: Chains wait for each other in a circle.
    """
    groups, waiting = ordered(items)
    if waiting:
        names = " and ".join(f"'{chain.name}' of '{owner.name}'" for owner, chain in waiting)
        raise ChainError(f"the chains {names} wait for each other", rig=waiting[0][0].name)
    return groups


def ordered(items: Sequence[Item]) -> tuple[list[list[Item]], list[Item]]:
    """The groups of `levels`, and the chains that wait for each other or for such ones."""
    bones = [_bones(owner, chain) for owner, chain in items]
    users: dict[tuple[str, str], list[int]] = {}
    for i, own in enumerate(bones):
        for bone in own:
            users.setdefault(bone, []).append(i)
    before: list[set[int]] = []  # for each chain those that come before it
    for i, ((owner, chain), own) in enumerate(zip(items, bones, strict=True)):
        above = {other for bone in bones_above(owner, chain, own) for other in users.get(bone, ()) if other != i}
        before.append(above | {other for bone in own for other in users[bone] if other < i})
    waiting = list(range(len(items)))
    groups: list[list[Item]] = []
    done: set[int] = set()
    while waiting:
        ready = [i for i in waiting if before[i] <= done]
        if not ready:
            break
        groups.append([items[i] for i in ready])
        done.update(ready)
        waiting = [i for i in waiting if i not in done]
    return groups, [items[i] for i in waiting]


def shared_bones(owner: bpy.types.Object, chains: list[FabrikChain]) -> dict[str, str]:
    """For each chain that shares a bone with one before it in the list, that bone's name."""
    taken: set[str] = set()
    shared = {}
    for chain in chains:
        names = {name for _, name in _bones(owner, chain)}
        for name in sorted(names & taken):
            shared[chain.name] = name
            break
        taken |= names
    return shared


def _bones(owner: bpy.types.Object, chain: FabrikChain) -> Bones:
    try:
        return {(owner.name_full, bone.name) for bone in resolve_bones(owner, chain)}
    except FabrikError:  # the solve itself will refuse the chain and say why
        return set()


def bones_above(owner: bpy.types.Object, chain: FabrikChain, own: Bones) -> Bones:
    """Bones that move the chain's root, target or pole without being of the chain."""
    found: Bones = set()
    for pair in own:
        if pair not in found:  # else it carries one that was looked at
            found |= carriers_of(owner, pair[1])
    for _, goal, bone in goals_of(chain):
        found |= carriers_of(goal, bone)
    return {pair for pair in found if pair[1]} - own
