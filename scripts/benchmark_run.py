# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender's Python for `benchmark.py`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import bpy

import addon_session
import benchmark_bake as bake
import benchmark_batches as batches
import benchmark_live as live
import benchmark_single as single
import benchmark_smoothness as smooth
from benchmark_tools import Row, load_kernel
from environment import say


def main(out: Path, user: Path, quick: bool) -> None:
    addon_session.enable(user / "repository")
    kernel = load_kernel()
    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}, {'quick' if quick else 'full'}")
    runs: tuple[tuple[str, Callable[[], Row]], ...] = (
        ("convergence", lambda: single.convergence(kernel, 30 if quick else 200)),
        ("the paper's table", lambda: single.paper(kernel, 50 if quick else 200)),
        ("success under limits", lambda: single.success(kernel, 50 if quick else 2000, 25 if quick else 200)),
        ("cost", lambda: single.cost(kernel, 9 if quick else 101)),
        ("cost of limited legs", lambda: single.limited_cost(kernel, 15 if quick else 101)),
        ("batches", lambda: batches.batches(kernel, 2048, 3 if quick else 21)),
        ("growth", lambda: single.growth(kernel, 7 if quick else 51)),
        ("growth of batches", lambda: batches.growth_of_batches(kernel, 3 if quick else 21)),
        ("smoothness", lambda: smooth.smoothness(kernel, 60 if quick else 120)),
        ("blocked, checked", lambda: single.blocked(kernel, 12 if quick else 200, 4 if quick else 12)),
        ("live posing", lambda: live.live(3 if quick else 9)),
        ("baking", lambda: bake.bakes(1 if quick else 5, quick)),
        ("growth of baking", lambda: bake.growth(quick)),
    )
    tables = []
    for i, (title, run) in enumerate(runs):
        say(f"[{i + 1}/{len(runs)}] {title}")
        tables.append(run())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"blender": bpy.app.version_string, "tables": tables}, indent=1), encoding="utf-8")
    print(f"\nwritten to {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "quick" in sys.argv[3:])
    sys.stdout.flush()
    os._exit(0)
