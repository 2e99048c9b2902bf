# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains written, with what came of them: all of an armature at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...rig import pose_writer
from ...rig.chain_bones import pose_bones
from ...rig.last_solve import forget
from ...rig.schema import FabrikChain, rig_of
from ...rig.writer import plain_write
from ..outcome import Outcome, store
from .batch import Batch
from .known import LiveFigure, LiveRig, state


def write(rig: LiveRig, figures: list[LiveFigure]) -> None:
    """Write chains that were solved for other goals, and what came of them.

    Args:
        rig: An armature.
        figures: Chains of it by those that are solved together.

    Raises:
        TypeError: The armature has other bones or chains than when it was looked up.
    """
    plain = _quaternion_figures(rig, figures)
    if plain:
        _batch_of(rig, plain).write(pose_bones(rig.owner))
        _tell(rig, plain)
        for known in plain:
            if not known.is_turned_only:
                _write_plain(rig, known)
    if len(plain) < len(figures):
        for known in figures:
            if known not in plain:
                _write_each(rig, known)
    _store(rig, figures)


def write_new(rig: LiveRig, figures: list[LiveFigure]) -> list[LiveFigure]:
    """`write` what does not stand so yet; which chains did not."""
    plain, changed = _quaternion_figures(rig, figures), list[LiveFigure]()
    if plain:
        are_new = _batch_of(rig, plain).write_new(pose_bones(rig.owner))
        changed = [known for known, is_new in zip(plain, are_new, strict=True) if _write_plain(rig, known) or is_new]
        if any(are_new):
            _tell(rig, changed)
    changed += [known for known in figures if known not in plain and _write_each(rig, known)]
    _store(rig, figures)
    return changed


def _quaternion_figures(rig: LiveRig, figures: list[LiveFigure]) -> list[LiveFigure]:
    """The chains that are written at once: of bones that are turned by quaternions alone, where they are many."""
    plain = [known for known in figures if known.near is not None]
    return plain if len(rig.bones) <= pose_writer.BULK * sum([len(known.places) for known in plain]) else []


def _batch_of(rig: LiveRig, figures: list[LiveFigure]) -> Batch:
    """What is needed to write chains at once, kept for as long as they are the same ones."""
    batch = rig.batch
    if batch is None or batch.key != figures:
        near = [known.near for known in figures if known.near is not None]
        places = [known.places for known in figures]
        batch = rig.batch = Batch(figures, [known.rotations for known in figures], near, places, len(rig.bones))
    return batch


def _tell(rig: LiveRig, figures: Sequence[LiveFigure]) -> None:
    """Let Blender evaluate chains that were written at once."""
    pose_writer.tell(rig.owner)
    state.counts.writes += sum([len(known.places) for known in figures])


def _write_plain(rig: LiveRig, known: LiveFigure) -> bool:
    """What is written of chains beside rotations: where a body bone goes, and stretch; whether it did not stand so."""
    prepared, count = known.prepared, 0
    if known.is_turned_only:
        return False
    bones = pose_bones(rig.owner)
    values = prepared.plain_values(prepared.row.shift, prepared.row.factors)
    for (bone, name), own in zip(prepared.plain_channels, values, strict=True):
        one = plain_write(bones[bone], name, own)
        if one.is_new:
            setattr(bones[bone], name, one.values)
            count += 1
    state.counts.writes += count
    return count > 0


def _write_each(rig: LiveRig, known: LiveFigure) -> bool:
    """Chains written bone by bone; whether one did not stand so."""
    prepared = known.prepared
    writes = prepared.writes(rig.owner, known.rotations.tolist(), prepared.row.shift, prepared.row.factors)
    count = pose_writer.write(rig.owner, writes, rig.bones)
    state.counts.writes += count
    return count > 0


def _store(rig: LiveRig, figures: Sequence[LiveFigure]) -> None:
    """Keep what came of chains; where only numbers changed, those of all chains of the armature at once."""
    if not figures:
        return
    kept = rig_of(rig.owner).chains
    others = set[str]()
    for known in figures:
        stored = known.stored
        for k, outcome in enumerate(known.outcomes):
            index = rig.indices[outcome.chain]
            if stored[k] is not outcome:
                _store_words(kept[outcome.chain], outcome, stored[k])
                stored[k] = outcome
            rig.residuals[index] = outcome.residual
            if rig.passes[index] != outcome.passes:
                rig.passes[index] = outcome.passes
                others.add("passes")
            if rig.turn_residuals[index] != outcome.turn_residual:
                rig.turn_residuals[index] = outcome.turn_residual
                others.add("turn_residual")
            if rig.softened[index] != outcome.softened:
                rig.softened[index] = outcome.softened
                others.add("softened")
    kept.foreach_set("residual", rig.residuals)
    if others:
        _store_numbers(rig, others)


def _store_numbers(rig: LiveRig, names: Iterable[str]) -> None:
    """Keep numbers of all chains of an armature."""
    numbers = {"passes": rig.passes, "turn_residual": rig.turn_residuals, "softened": rig.softened}
    for name in names:
        rig_of(rig.owner).chains.foreach_set(name, numbers[name])


def _store_words(chain: FabrikChain, outcome: Outcome, stored: Outcome | None) -> None:
    """Keep what came of a chain where it is not the same but for numbers."""
    if stored is None or not outcome.says(stored):
        store(chain, outcome)
        forget(chain)
