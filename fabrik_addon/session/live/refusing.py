# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains that can't be solved: told why, and switched off where that is not but for a while."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import bpy

from ...errors import AbsentTargetError, FabrikError, RigError
from ...rig.chain_bones import resolve_bones
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from ..status import Outcome, store
from .known import LiveRig, Names, state

log = logging.getLogger(__name__)


def refuse(rig: LiveRig, names: Names, error: FabrikError, is_seen: bool) -> bool:
    """Tell why chains can't be solved together: for a while, in edit mode, rest position, hidden; or at all.

    Those at fault are switched off, unless it is but for a while; then all of them wait.

    Args:
        rig: The armature.
        names: Of the chains.
        error: What is wrong.
        is_seen: Whether it is the viewport that is evaluated, and not a render.

    Returns:
        Whether one was switched off that has others beside it, which can be solved without it.
    """
    found = [chain for chain in map(rig_of(rig.owner).chains.get, names) if chain is not None]
    if not isinstance(error, RigError | AbsentTargetError):
        at_fault = _at_fault(rig.owner, found, error)
        for chain in at_fault:
            switch_off(rig.owner, chain, error)
        return len(at_fault) < len(found)
    for chain in found if is_seen else ():
        reason = Text("live posing waits: {reason}", reason=error.local)
        if error.chain not in {"", chain.name}:
            reason = Text(
                "live posing waits for '{chain}', which is solved together with it: {reason}",
                chain=error.chain,
                reason=error.local,
            )
        store(chain, Outcome(chain.name, "REFUSED", reason=reason))
    return False


def _at_fault(owner: bpy.types.Object, chains: Sequence[FabrikChain], error: FabrikError) -> Sequence[FabrikChain]:
    """The chain that an error names, unless it names a bone that this one does not have: then all that have it."""
    named = [chain for chain in chains if chain.name == error.chain]
    having = [chain for chain in chains if error.bone in _bones_of(owner, chain)] if error.bone else named
    if named and (not error.bone or named[0] in having):
        return named
    return having or chains


def _bones_of(owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
    """Names of the bones of a chain; none where it can't be read."""
    try:
        return [bone.name for bone in resolve_bones(owner, chain)]
    except FabrikError:
        return []


def switch_off(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> None:
    """Take a chain that can't be solved out of live posing, and say why where the user sees it."""
    error.rig, error.chain = owner.name, chain.name
    log.warning("switched off, %s", error)
    chain.enabled = False
    state.order = None
    store(chain, Outcome(chain.name, "REFUSED", reason=Text("switched off while live: {reason}", reason=error.local)))


def switch_rig_off(owner: bpy.types.Object, error: Exception) -> None:
    """Switch live posing off for an armature that fails in a way not foreseen, and say so where the user sees it."""
    log.error("live posing of '%s' failed and is switched off", owner.name, exc_info=error)
    found = rig_of(owner)
    found.live = False
    state.order = None
    reason = Text(
        "live posing failed and is switched off: {name} {error}", name=type(error).__name__, error=error
    ).strip()
    for chain in found.chains:
        if chain.enabled:
            store(chain, Outcome(chain.name, "REFUSED", reason=reason))
