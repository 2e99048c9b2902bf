# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armatures are live, what moves their chains, and in which order these are solved."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Sequence

import bpy

from ...errors import FabrikError
from ...rig.animated import Animated, Motion
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.checks import movers_of
from ...rig.goals import goals_of
from ...rig.properties import FabrikChain, name_all, rig_of
from ...rig.versions import newer_refusal
from ...rig.visibility import scenes_of
from ..order import ordered
from ..outcome import Outcome, store
from .known import LiveChain, LiveRig, Ways, state

log = logging.getLogger(__name__)


def look(scene: bpy.types.Scene) -> None:
    """Look up the live armatures and the order of their chains; those that wait for each other switch off."""
    before = {rig.owner: rig for rig in state.rigs}
    owners = live_armatures(scene)
    items = []
    for owner in owners:
        name_all(owner)
        items += [(owner, chain) for chain in rig_of(owner).chains if chain.enabled]
    groups, waiting = ordered(items)
    names = " and ".join(f"'{chain.name}' of '{owner.name}'" for owner, chain in waiting)
    for owner, chain in waiting:
        switch_off(owner, chain, FabrikError(f"the chains {names} wait for each other"))
    rigs = {owner: _looked_up(owner, before.get(owner)) for owner in owners}
    state.rigs = list(rigs.values())
    state.order = [[(rigs[owner], chain.name) for owner, chain in level] for level in groups]
    state.watched = {*owners, *(goal.found for _, chain in items for goal in goals_of(chain))}


def live_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The live armatures of a scene and of its background sets; of those of newer versions the panel tells."""
    scenes = [one for one in scenes_of(scene) if getattr(one, "fabrik_live")]
    found = dict.fromkeys(found for one in scenes for found in one.objects if found.type == "ARMATURE")
    return [owner for owner in found if rig_of(owner).live and not newer_refusal(owner)]


def _looked_up(owner: bpy.types.Object, before: LiveRig | None) -> LiveRig:
    """A live armature; its chains that were read stay so as long as nothing else changes them."""
    chains = rig_of(owner).chains
    residuals, passes = array("f", [0.0]) * len(chains), array("i", [0]) * len(chains)
    chains.foreach_get("residual", residuals)
    chains.foreach_get("passes", passes)
    bones = {bone.name: i for i, bone in enumerate(pose_bones(owner))}
    ways = _ways(owner, [chain for chain in chains if chain.enabled])
    rig = LiveRig(owner, {}, ways, {chain.name: i for i, chain in enumerate(chains)}, bones, residuals, passes)
    for name, known in before.chains.items() if before is not None else ():
        if name in ways:
            known.ways, known.foreseen = ways[name], {}
            known.is_fresh = known.is_fresh and _has_places(known, rig)
            rig.chains[name] = known
    return rig


def _has_places(known: LiveChain, rig: LiveRig) -> bool:
    """Whether the bones of a chain are where they were in the armature."""
    names = [channels.bone for channels in known.prepared.channels if channels is not None]
    return [rig.bones.get(name) for name in names] == known.places


def _ways(owner: bpy.types.Object, chains: Sequence[FabrikChain]) -> dict[str, Ways]:
    """What moves the chains of an armature beside their goals."""
    animated, by_ik = Animated(owner), movers_of(owner).by_ik
    bones: dict[str, list[bpy.types.PoseBone]] = {}
    for chain in chains:
        try:
            bones[chain.name] = resolve_bones(owner, chain)
        except FabrikError:  # the chain can't be read, which says why
            bones[chain.name] = []
    users: dict[str, set[str]] = {}
    for name, own in bones.items():
        for bone in own:
            users.setdefault(bone.name, set()).add(name)
    found, moved = {}, {*by_ik, *users}  # what is above a chain is none of its own bones
    for chain in chains:
        own = bones[chain.name]
        motion = animated.motion_of(chain, own, moved) if own else Motion()
        found[chain.name] = Ways.of(motion, any(len(users[bone.name]) > 1 for bone in own))
    return found


def switch_off(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> None:
    """Take a chain that can't be solved out of live posing, and say why where the user sees it."""
    error.rig, error.chain = owner.name, chain.name
    log.warning("switched off, %s", error)
    chain.enabled = False
    state.order = None
    store(chain, Outcome(chain.name, "REFUSED", reason=f"switched off while live: {error.local}"))


def switch_rig_off(rig: LiveRig, error: Exception) -> None:
    """Switch live posing off for an armature that fails in a way not foreseen, and say so where the user sees it."""
    log.error("live posing of '%s' failed and is switched off", rig.owner.name, exc_info=error)
    found = rig_of(rig.owner)
    found.live = False
    state.order = None
    reason = f"live posing failed and is switched off: {type(error).__name__} {error}".strip()
    for chain in found.chains:
        if chain.enabled:
            store(chain, Outcome(chain.name, "REFUSED", reason=reason))
