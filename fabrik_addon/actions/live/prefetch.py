# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains posed before a frame is evaluated: those that nothing moves but their goals, which move by their own curves.

So the frame is evaluated once. Where the curves do not tell the truth, since something was changed that nobody told us
of, that is found after the evaluation, and the chain is read anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...finite import are_finite
from ...rig.animation.animation import keeps_turn, points_ahead
from ...rig.schema import Changes
from .figures import follow, numbers_of, write
from .state import MISSING, Foreseen, LiveFigure, Source, state

BLOCK = 12  # frames for which curves are evaluated at once
MOST = 512  # frames of which the goals of a chain are kept


def ahead(scene: bpy.types.Scene) -> None:
    """Pose the chains whose goals move by their own curves alone, before the frame is evaluated."""
    if scene.name_full != state.scene or Changes.count != state.heard or state.order is None:
        return
    if not getattr(scene, "fabrik_live"):
        return
    frame = scene.frame_current_final
    try:
        for rig in state.rigs:
            posed = [known for known in rig.figures.values() if _follows(known, frame)]
            if posed:
                write(rig, posed)
    except MISSING:  # all is looked up anew at the frame
        state.forget()


def _follows(known: LiveFigure, frame: float) -> bool:
    """Solve chains for a frame that is to come; whether they stand elsewhere then, as far as that can be foreseen."""
    foreseen = known.foreseen
    if foreseen is None or not (known.sources and known.is_fresh and known.facts.only_goals_move):
        return False
    if not known.prepared.is_rigid:
        return False
    found = foreseen.get(frame)
    if found is None:
        _foresee(known, foreseen, frame)
        found = foreseen.get(frame)
        if found is None:
            return False
    numbers, points = found
    if numbers == known.numbers:
        return False
    follow(known, numbers, points)
    return True


def _foresee(known: LiveFigure, foreseen: Foreseen, frame: float) -> None:
    """Find where the goals of chains will stand at a frame, and at those about it."""
    is_whole = frame == int(frame)
    frames = [float(int(frame) // BLOCK * BLOCK + k) for k in range(BLOCK)] if is_whole else [frame]
    paths: list[Sequence[tuple[float, ...]]] = []
    for source, seen in zip(known.sources, known.points, strict=True):
        points = _path(source, seen, frames)
        if points is None:
            known.foreseen = None
            return
        paths.append(points)
    if len(foreseen) >= MOST:
        foreseen.clear()
    for at, points_at in zip(frames, zip(*paths, strict=True), strict=True):
        if all(are_finite(point) for point in points_at):
            foreseen[at] = numbers_of(known, points_at), points_at


def _path(source: Source, seen: tuple[float, ...], frames: Sequence[float]) -> Sequence[tuple[float, ...]] | None:
    """What a source will tell at some frames, or None where more than its own curves decide."""
    if source.read is None:
        return None
    if source.role == "turn":
        return [seen] * len(frames) if keeps_turn(source.found, source.bone) else None
    return points_ahead(source.found, source.bone, frames)
