# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets rigs walk over ground, judges each frame by Blender's evaluation, saves and draws them."""

from __future__ import annotations

from pathlib import Path

import bpy
from walk_judge import Judged, judge
from walk_pictures import add_camera, save_walk
from walk_scenes import WALKS, walk

from dev.quiet import quiet
from environment import say

HEADER = (
    f"{'walk':<12} {'legs':>4} {'frames':>6} {'steps':>5} {'reached':>8} {'slip/frame':>10} {'/stance':>8} {'sunk':>8}"
    f" {'hover':>8} {'turn/frame':>11} {'supported':>9}"
)
# By figure the most that it may be: shares of a leg's reach, and degrees
MOST = {"slip": 1e-4, "drift": 1e-3, "sunk": 0.01, "hover": 0.005, "turn": 15.0}


def walk_rigs(out: Path) -> int:
    """Let all walkers walk; returns how many figures miss what they are to be."""
    failed = 0
    print(f"\n{HEADER}")
    for scene in WALKS:
        say(f"walk: {scene.name}")
        with quiet():
            owner = walk(scene)
            add_camera(owner, scene.view, scene.extent, scene.above)
            save_walk(scene.shown, scene.size, out / f"{scene.name}.png")
            bpy.ops.wm.save_as_mainfile(filepath=str(out / f"{scene.name}.blend"), compress=True)
            judged = judge(owner)
        _print_row(scene.name, judged)
        for miss in _misses(judged):
            say(f"      {miss}")
            failed += 1
    print(
        "\nreached: standing feet; slip: of the points of a sole that stand; sunk, hover: a sole below and above its"
        " ground, at its worst;\nlengths are shares of the leg's reach; supported: frames in which the middle of the"
        " hips is above the standing soles"
    )
    return failed


def _print_row(name: str, judged: Judged) -> None:
    print(
        f"{name:<12} {judged.legs:>4} {judged.frames:>6} {judged.steps:>5} {judged.reached / judged.stances:>8.1%}"
        f" {judged.slip:>10.1e} {judged.drift:>8.1e} {judged.sunk:>8.1e} {judged.hover:>8.1e} {judged.turn:>7.1f} deg"
        f" {judged.supported / judged.frames:>9.1%}",
        flush=True,
    )


def _misses(judged: Judged) -> list[str]:
    """Which figures miss what they are to be, and where they are worst."""
    found = [
        f"{name} is {getattr(judged, name):.1e}, and was to be at most {most:g}: {judged.where[name]}"
        for name, most in MOST.items()
        if getattr(judged, name) > most
    ]
    if judged.reached < judged.stances:
        found.append(f"{judged.stances - judged.reached} of {judged.stances} standing feet are not reached")
    return found
