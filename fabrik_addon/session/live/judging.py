# SPDX-License-Identifier: GPL-3.0-or-later
"""How live chains stand that have bones in common, after all of them were written."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import bpy

from ...rig.properties import rig_of
from ...rig.rotations import v3
from ..judging import Judged, judge_final
from .known import Item, LiveRig
from .writing import store_all


def judge(rigs: Collection[LiveRig], levels: Sequence[Sequence[Item]], depsgraph: bpy.types.Depsgraph) -> None:
    """Keep what came of chains that share bones, as their final pose shows it.

    Args:
        rigs: Armatures with such chains.
        levels: All live chains in the order of solving.
        depsgraph: Evaluated with the pose of all of them.
    """
    ordered = [(rig, rig.chains[name]) for level in levels for rig, name in level if rig in rigs and name in rig.chains]
    solved = [
        Judged(
            rig.owner,
            rig_of(rig.owner).chains[known.name],
            known.prepared.bones,
            known.space,
            v3(known.prepared.row.tip),
            v3(known.numbers[:3]),
            known.prepared.length,
            known.outcome,
        )
        for rig, known in ordered
    ]
    outcomes = judge_final(solved, depsgraph)
    for rig in rigs:
        ended = [(known, outcome) for (found, known), outcome in zip(ordered, outcomes, strict=True) if found is rig]
        store_all(rig, [(known, outcome) for known, outcome in ended if known.ways.shares])
