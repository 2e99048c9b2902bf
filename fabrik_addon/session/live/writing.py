# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains written, with what came of them: all of an armature at once."""

from __future__ import annotations

from collections.abc import Sequence

from ...rig import pose_writer
from ...rig.chain_bones import pose_bones
from ...rig.last_solve import forget
from ...rig.properties import rig_of
from ..outcome import Outcome, store
from .batch import Batch
from .known import LiveChain, LiveRig, state


def write(rig: LiveRig, chains: list[LiveChain]) -> None:
    """Write chains that were solved for other goals, and what came of them.

    Args:
        rig: An armature.
        chains: Chains of it that share no bone.

    Raises:
        TypeError: The armature has other bones or chains than when it was looked up.
    """
    plain = _quaternion_chains(rig, chains)
    if plain:
        _batch_of(rig, plain).write(pose_bones(rig.owner))
        _tell(rig, plain)
    if len(plain) < len(chains):
        for known in chains:
            if known not in plain:
                _write_each(rig, known)
    _store(rig, chains)


def write_new(rig: LiveRig, chains: list[LiveChain]) -> list[LiveChain]:
    """`write` what does not stand so yet; which chains did not."""
    plain, changed = _quaternion_chains(rig, chains), list[LiveChain]()
    if plain:
        are_new = _batch_of(rig, plain).write_new(pose_bones(rig.owner))
        changed = [known for known, is_new in zip(plain, are_new, strict=True) if is_new]
    if changed:
        _tell(rig, changed)
    changed += [known for known in chains if known not in plain and _write_each(rig, known)]
    _store(rig, chains)
    return changed


def _quaternion_chains(rig: LiveRig, chains: list[LiveChain]) -> list[LiveChain]:
    """The chains that are written at once: of bones that are turned by quaternions alone, where they are many."""
    plain = [known for known in chains if known.near is not None]
    return plain if len(rig.bones) <= pose_writer.BULK * sum([len(known.places) for known in plain]) else []


def _batch_of(rig: LiveRig, chains: list[LiveChain]) -> Batch:
    """What is needed to write chains at once, kept for as long as they are the same ones."""
    batch = rig.batch
    if batch is None or batch.key != chains:
        near = [known.near for known in chains if known.near is not None]
        places = [known.places for known in chains]
        batch = rig.batch = Batch(chains, [known.rotations for known in chains], near, places, len(rig.bones))
    return batch


def _tell(rig: LiveRig, chains: Sequence[LiveChain]) -> None:
    """Let Blender evaluate chains that were written at once."""
    pose_writer.tell(rig.owner)
    state.writes += sum([len(known.places) for known in chains])


def _write_each(rig: LiveRig, known: LiveChain) -> bool:
    """A chain written bone by bone; whether one did not stand so."""
    writes = known.prepared.writes(rig.owner, known.rotations.tolist())
    count = pose_writer.write(rig.owner, writes, rig.bones)
    state.writes += count
    return count > 0


def _store(rig: LiveRig, chains: Sequence[LiveChain]) -> None:
    """Keep what came of chains with them, but for those that others may move away again (`judging`)."""
    store_all(rig, [(known, known.outcome) for known in chains if not known.ways.shares])


def store_all(rig: LiveRig, ended: Sequence[tuple[LiveChain, Outcome]]) -> None:
    """Keep what came of chains; where only numbers changed, those of all chains of the armature at once."""
    if not ended:
        return
    kept, residuals, passes, are_others = rig_of(rig.owner).chains, rig.residuals, rig.passes, False
    for known, outcome in ended:
        stored, index = known.stored, rig.indices[known.name]
        if stored is not outcome:
            if stored is None or not outcome.says(stored):
                store(kept[known.name], outcome)
                forget(kept[known.name])
            known.stored = outcome
        residuals[index] = outcome.residual
        if passes[index] != outcome.passes:
            passes[index], are_others = outcome.passes, True
    kept.foreach_set("residual", residuals)
    if are_others:
        kept.foreach_set("passes", passes)
