# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains written, with what came of them: all of an armature at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...rig.last_solve import forget
from ...rig.pose_writer import Pose, PoseWriter
from ...rig.schema import FabrikChain, rig_of
from ..status import Outcome, store
from .known import LiveFigure, LiveRig, state


def write(rig: LiveRig, figures: list[LiveFigure]) -> list[LiveFigure]:
    """Write chains that were solved for other goals, and what came of them; which did not stand so yet.

    Args:
        rig: An armature.
        figures: Chains of it by those that are solved together.

    Raises:
        TypeError: The armature has other bones or chains than when it was looked up.
    """
    key = [id(known.prepared) for known in figures]
    if rig.writer is None or [id(pose.prepared) for pose in rig.writer.poses] != key:
        poses = [Pose(known.prepared, known.rotations, known.shift, known.factors) for known in figures]
        rig.writer = PoseWriter(poses, rig.bones)
    counts = rig.writer.write(rig.owner)
    state.counts.writes += sum(counts)
    _store(rig, figures)
    return [known for known, count in zip(figures, counts, strict=True) if count]


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
