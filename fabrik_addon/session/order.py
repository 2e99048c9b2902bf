# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order the chains of one armature are solved."""

from __future__ import annotations

import bpy

from ..errors import ChainError, FabrikError
from ..rig.chain_bones import resolve_bones
from ..rig.dependencies import bones_behind
from ..rig.properties import FabrikChain


def levels(owner: bpy.types.Object, chains: list[FabrikChain]) -> list[list[FabrikChain]]:
    """Group chains so that each comes after those on whose bones it hangs, with its root, target or pole.

    Chains of one group do not depend on each other and share no bone; chains that share one are solved in the order of
    the list, so that the last has its way.

    Raises:
        ChainError: Chains wait for each other in a circle.
    """
    bones = {chain.name: _names(owner, chain) for chain in chains}
    above = {chain.name: _names_above(owner, chain, bones[chain.name]) for chain in chains}
    waiting = list(chains)
    groups: list[list[FabrikChain]] = []
    while waiting:
        ready = [
            chain
            for i, chain in enumerate(waiting)
            if not any(above[chain.name] & bones[other.name] for other in waiting if other != chain)
            and not any(bones[chain.name] & bones[other.name] for other in waiting[:i])
        ]
        if not ready:
            names = " and ".join(f"'{chain.name}'" for chain in waiting)
            raise ChainError(f"the chains {names} wait for each other", rig=owner.name)
        groups.append(ready)
        waiting = [chain for chain in waiting if chain not in ready]
    return groups


def shared_bones(owner: bpy.types.Object, chains: list[FabrikChain]) -> dict[str, str]:
    """For each chain that shares a bone with one before it in the list, that bone's name."""
    taken: set[str] = set()
    shared = {}
    for chain in chains:
        names = _names(owner, chain)
        for name in sorted(names & taken):
            shared[chain.name] = name
            break
        taken |= names
    return shared


def _names(owner: bpy.types.Object, chain: FabrikChain) -> set[str]:
    try:
        return {bone.name for bone in resolve_bones(owner, chain)}
    except FabrikError:  # the solve itself will refuse the chain and say why
        return set()


def _names_above(owner: bpy.types.Object, chain: FabrikChain, own: set[str]) -> set[str]:
    """Bones that move the chain's root, target or pole without being of the chain."""
    found: set[str] = set()
    for name in own:
        found |= bones_behind(owner, owner, name)
    for goal, bone in ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone)):
        if goal is not None:
            found |= bones_behind(owner, goal, bone)
    return found - own
