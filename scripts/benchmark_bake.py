# SPDX-License-Identifier: GPL-3.0-or-later
"""Table of baking beside Blender's own bake of the same rig with its IK."""

from __future__ import annotations

import time
import tracemalloc
from importlib import import_module
from statistics import median
from typing import Any

import bpy

import addon_session
from benchmark_live import make_rig, make_targets, with_blender_ik, with_live, worst_error
from benchmark_tools import Row, table

CASES = ((8, 4, 250), (8, 10, 250), (64, 4, 250))
OPS: Any = bpy.ops


def ours(chains: int, bones: int, frames: int, check: bool) -> tuple[float, float, float]:
    """Seconds, worst tip error over the keyed frames, and the peak of memory in MB that Python knows of."""
    owner, tips = make_rig(chains, bones)
    targets = make_targets(owner, tips)
    with_live(owner, tips, targets, bones)
    owner.fabrik_live = False
    if check:
        tracemalloc.start()
    baking = import_module(f"{addon_session.MODULE}.session.bake")
    settings = baking.BakeSettings(tuple(range(1, frames + 1)), verify="EVERY" if check else "NONE")
    items = [(owner, chain) for chain in owner.fabrik.chains]
    started = time.perf_counter()
    baking.bake(bpy.context, items, settings)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1] / 1e6 if check else 0.0
    tracemalloc.stop()
    return seconds, worst_error(owner, tips, targets), peak


def blender(chains: int, bones: int, frames: int) -> tuple[float, float]:
    """Seconds and worst tip error of `nla.bake` of Blender's own IK."""
    owner, tips = make_rig(chains, bones)
    targets = make_targets(owner, tips)
    with_blender_ik(owner, tips, targets, bones)
    context: Any = bpy.context
    context.view_layer.objects.active = owner
    owner.select_set(True)
    OPS.object.mode_set(mode="POSE")
    OPS.pose.select_all(action="SELECT")
    started = time.perf_counter()
    OPS.nla.bake(frame_start=1, frame_end=frames, visual_keying=True, clear_constraints=True, bake_types={"POSE"})
    seconds = time.perf_counter() - started
    OPS.object.mode_set(mode="OBJECT")
    return seconds, worst_error(owner, tips, targets)


def bakes(rounds: int) -> Row:
    """Table 9: medians of interleaved rounds, each in a file made anew."""
    rows: list[Row] = []
    for chains, bones, frames in CASES:
        mine, theirs = [], []
        for _ in range(rounds):
            mine.append(ours(chains, bones, frames, check=False)[:2])
            theirs.append(blender(chains, bones, frames))
        _, _, peak = ours(chains, bones, frames, check=True)
        quick, slow = median(run[0] for run in mine), median(run[0] for run in theirs)
        rows.append(
            {
                "chains x bones x frames": f"{chains} x {bones} x {frames}",
                "s": quick,
                "nla.bake s": slow,
                "times as quick": slow / quick,
                "worst tip error": mine[-1][1],
                "Blender's": theirs[-1][1],
                "peak MB": peak,
            }
        )
    return table("9. Baking beside nla.bake of the same rig with Blender's IK", rows)
