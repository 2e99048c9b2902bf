# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armatures are live, what moves their chains, and in which order these are solved."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import bpy

from ...errors import FabrikError
from ...rig.animation import GROUPING, Animated
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.checks import movers_of
from ...rig.figures import ChainSet, sets_of
from ...rig.goals import goals_of
from ...rig.schema import FabrikChain, name_all, rig_of
from ...rig.versions import newer_refusal
from ...rig.visibility import scenes_of
from ...texts import Text
from ..order import ordered, waiting_text
from .known import FigureFacts, LiveFigure, LiveRig, Names, state
from .refusing import switch_off


def look(scene: bpy.types.Scene) -> None:
    """Look up the live armatures and the order of their chains; those that wait for each other switch off."""
    before = {rig.owner: rig for rig in state.rigs}
    owners = live_armatures(scene)
    sets: list[ChainSet] = []
    for owner in owners:
        name_all(owner)
        sets += sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled])
    levels, waiting = ordered(sets)
    text = waiting_text(waiting)
    for one in waiting:
        for chain in one.chains:
            reason = Text("the chains {chains} wait for each other", chains=text)
            switch_off(one.owner, chain, FabrikError(reason))
    rigs = {
        owner: _looked_up(owner, [one for one in sets if one.owner == owner], before.get(owner)) for owner in owners
    }
    state.rigs = list(rigs.values())
    state.order = [[(rigs[one.owner], one.names) for one in level] for level in levels]
    state.watched = {*owners, *(goal.found for one in sets for chain in one.chains for goal in goals_of(chain))}


def live_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The live armatures of a scene and of its background sets; of those of newer versions the panel tells."""
    scenes = [one for one in scenes_of(scene) if getattr(one, "fabrik_live")]
    found = dict.fromkeys(found for one in scenes for found in one.objects if found.type == "ARMATURE")
    return [owner for owner in found if rig_of(owner).live and not newer_refusal(owner)]


def _looked_up(owner: bpy.types.Object, sets: Sequence[ChainSet], before: LiveRig | None) -> LiveRig:
    """A live armature; its chains that were read stay so as long as nothing else changes them."""
    chains, animated = rig_of(owner).chains, Animated(owner)
    count = len(chains)
    residuals, turns, softened = (array("f", [0.0]) * count for _ in range(3))
    passes = array("i", [0]) * count
    for name, numbers in (("residual", residuals), ("turn_residual", turns), ("softened", softened)):
        chains.foreach_get(name, numbers)
    chains.foreach_get("passes", passes)
    bones = {bone.name: i for i, bone in enumerate(pose_bones(owner))}
    facts, grouped_by = _facts_of(animated, sets, owner), grouping_of(owner) if animated.regroups() else None
    indices = {chain.name: i for i, chain in enumerate(chains)}
    rig = LiveRig(owner, {}, facts, grouped_by, indices, bones, residuals, turns, softened, passes)
    for names, known in before.figures.items() if before is not None else ():
        if names in facts and facts[names].body == known.facts.body:
            known.facts, known.foreseen = facts[names], {}
            known.is_fresh = known.is_fresh and _has_places(known, rig)
            rig.figures[names] = known
    return rig


def grouping_of(owner: bpy.types.Object) -> tuple[object, ...]:
    """The settings of the chains of an armature on which it depends which are solved together."""
    return tuple(getattr(chain, name) for chain in rig_of(owner).chains for name in GROUPING)


def _has_places(known: LiveFigure, rig: LiveRig) -> bool:
    """Whether the bones of chains are where they were in the armature."""
    return all(name in rig.bones for name in known.prepared.bones)


def _facts_of(animated: Animated, sets: Sequence[ChainSet], owner: bpy.types.Object) -> dict[Names, FigureFacts]:
    """The chains of an armature by those that are solved together, and what moves them beside their goals."""
    motions, found = animated.motions_of(sets, movers_of(owner).by_ik), {}
    for one in sets:
        motion = motions[one.names]
        keyed = [chain.name for chain in one.chains if _is_keyed(animated, owner, chain)]
        found[one.names] = FigureFacts(one.body, motion, not any(motion), tuple(keyed))
    return found


def _is_keyed(animated: Animated, owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether the rotation of a bone of a chain is animated."""
    try:
        return animated.are_turned(resolve_bones(owner, chain))
    except FabrikError:  # what is wrong is told when it is read
        return False
