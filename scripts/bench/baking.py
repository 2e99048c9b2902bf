# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes beside Blender's own, and beside their floor: targets' curves read and keys written, nothing solved."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from typing import Any, TypeAlias

import bpy
import numpy as np
from fabrik_addon.actions import bake
from fabrik_addon.rig.animation.compat import curves_of_action, ensure_curve, fcurves_of
from fabrik_addon.rig.schema import rig_of
from numpy.typing import NDArray

from blender import OPS

from .limb_rigs import (
    CONTEXT,
    SKIN_VERTICES,
    Rig,
    add_poles,
    add_skin,
    animate,
    make_rig,
    with_blender_ik,
    with_chains,
    worst_error,
)
from .tables import Judged, Row, Table, at_most
from .timing import Scale, Timing

KEYED, TURN = 6, 0.26  # frames from key to key of a target, and radians a frame
CHECKED_FRAMES = 100  # of a bake, whose tip errors are looked at
LONG = 500  # frames from which fewer rounds are run
LINEAR = 1  # as Blender numbers it
NEAR = 1e-3  # of the length, within which tips come as Blender evaluates them
FLOOR_GOAL, VERIFIED = 2.6, 1.5
FASTER = 7.0  # than nla.bake


@dataclass(frozen=True, slots=True)
class Case:
    """A rig and a range of frames.

    Attributes:
        is_skinned: Whether a mesh is deformed by it.
        is_limited: Whether its joints but the first are hinges and its limbs have poles.
    """

    chains: int
    bones: int
    frames: int
    is_skinned: bool = False
    is_limited: bool = False

    def __str__(self) -> str:
        text = f"{self.chains} x {self.bones} x {self.frames}"
        text += f", {SKIN_VERTICES} vertices" if self.is_skinned else ""
        return text + (", hinges and poles" if self.is_limited else "")


CASES = (
    Case(8, 4, 250),
    Case(8, 10, 250),
    Case(64, 4, 1000),
    Case(8, 4, 250, is_skinned=True),
    Case(8, 4, 250, is_limited=True),
)
FLOOR_GOALS = {str(case): FLOOR_GOAL for case in CASES}


@dataclass(slots=True)
class Baked:
    """A bake of ours that was done; its rig is good until the next file.

    Attributes:
        peak: Memory in MB that Python and numpy took at most, where it was traced.
    """

    seconds: float
    rig: Rig
    keys: int = 0
    peak: float = 0.0


KeyedCurve: TypeAlias = tuple[str, int, str, NDArray[np.float32]]  # path, index, group, frames and values in turn


def made(case: Case) -> Rig:
    """A file made anew, with targets that run on circles within reach."""
    rig = make_rig(case.chains, case.bones)
    animate(rig, case.frames, KEYED, TURN)
    if case.is_skinned:
        add_skin(rig)
    return rig


def baked(case: Case, verify: str = "NONE", is_traced: bool = False) -> Baked:
    """Our bake."""
    rig = made(case)
    with_chains(rig, add_poles(rig) if case.is_limited else [])
    CONTEXT.view_layer.update()
    settings = bake.BakeSettings(tuple(range(1, case.frames + 1)), verify=verify)
    if is_traced:
        tracemalloc.start()
    started = time.perf_counter()
    result = bake.bake(bpy.context, [(rig.owner, chain) for chain in rig_of(rig.owner).chains], settings)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1] / 1e6 if is_traced else 0.0
    tracemalloc.stop()
    return Baked(seconds, rig, sum(found.keys for found in result.chains), peak)


def blenders(case: Case) -> tuple[float, Rig]:
    """Seconds of `nla.bake` of Blender's own IK, and its rig."""
    rig = made(case)
    with_blender_ik(rig, add_poles(rig) if case.is_limited else [])
    CONTEXT.view_layer.objects.active = rig.owner
    rig.owner.select_set(True)
    OPS.object.mode_set(mode="POSE")
    OPS.pose.select_all(action="SELECT")
    started = time.perf_counter()
    OPS.nla.bake(frame_start=1, frame_end=case.frames, visual_keying=True, clear_constraints=True, bake_types={"POSE"})
    seconds = time.perf_counter() - started
    OPS.object.mode_set(mode="OBJECT")
    return seconds, rig


def keyed_curves(rig: Rig) -> list[KeyedCurve]:
    """All curves of a rig that was baked."""
    found: list[KeyedCurve] = []
    for curve in fcurves_of(rig.owner):
        stored: Any = curve.keyframe_points
        points = np.empty(2 * len(stored), dtype=np.float32)
        stored.foreach_get("co", points)
        group = curve.group.name if curve.group is not None else ""
        found.append((curve.data_path, curve.array_index, group, points))
    return found


def floor(case: Case, curves: list[KeyedCurve]) -> float:
    """Seconds in which curves of the targets are read and keys written, both by the quickest means."""
    rig = made(case)
    started = time.perf_counter()
    for target in rig.targets:
        _read(target, case.frames)
    _write(rig, curves)
    return time.perf_counter() - started


def _read(target: Any, frames: int) -> NDArray[np.float32]:
    """The places of a target at all frames, (3, frames), sampled from a copy of its action."""
    copy = target.animation_data.action.copy()
    places = np.empty((3, frames), dtype=np.float32)
    for curve in curves_of_action(copy):
        sampled: Any = curve
        sampled.convert_to_samples(1, frames + 1)  # up to the frame before that one
        pairs = np.empty(2 * len(sampled.sampled_points), dtype=np.float32)
        sampled.sampled_points.foreach_get("co", pairs)
        places[curve.array_index] = pairs[1 : 2 * frames : 2]
    bpy.data.actions.remove(copy)
    return places


def _write(rig: Rig, curves: list[KeyedCurve]) -> None:
    """Make the curves, and their keys in bulk."""
    data = rig.owner.animation_data_create()
    data.action = bpy.data.actions.new("floor")
    for path, index, group, keys in curves:
        curve: Any = ensure_curve(rig.owner, path, index, group)
        points, count = curve.keyframe_points, len(keys) // 2
        points.add(count)
        points.foreach_set("co", keys)
        points.foreach_set("interpolation", np.full(count, LINEAR, dtype=np.uint8))
        curve.update()
    data.action = data.action
    rig.owner.update_tag(refresh={"TIME"})


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    cases = [case for case in CASES if not scale.is_quick or case.frames <= LONG]
    rows = [_row(case, scale.of(2 if case.frames > LONG else 5, 1)) for case in cases]
    note = (
        "Seconds. *Bake*: without verification; *verified*: Blender then evaluates every frame. *Floor*: the targets' "
        "curves sampled by Blender and the same keys written in bulk, nothing solved. *Over nla.bake*: how many times "
        "as quick as that with the same rig and Blender's IK. Each in a file made anew, in turn. *Peak MB*: what "
        "Python and numpy take above the keys themselves."
    )
    return [Table("4. Baking beside nla.bake of the same rig with Blender's IK", note, rows)]


def _row(case: Case, rounds: int) -> Row:
    frames = range(1, case.frames + 1, max(case.frames // CHECKED_FRAMES, 1))
    first = baked(case)  # in which nothing is measured: it finds the keys
    curves, error = keyed_curves(first.rig), worst_error(first.rig, frames)
    times: list[tuple[float, ...]] = []
    for _ in range(rounds):
        bakes = (baked(case).seconds, baked(case, "EVERY").seconds, floor(case, curves))
        theirs, rig = blenders(case)
        times.append((*bakes, theirs))
    timing = Timing(times)
    return {
        "chains x bones x frames": str(case),
        "bake": timing.seconds(0),
        "verified": timing.seconds(1),
        "floor": timing.seconds(2),
        "nla.bake": timing.seconds(3),
        "over the floor": at_most(timing.ratio(0, 2), str(case), None, FLOOR_GOALS),
        "over nla.bake": Judged(timing.ratio(3, 0), at_least=FASTER),
        "verified, over nla.bake": Judged(timing.ratio(3, 1), at_least=VERIFIED),
        "tip error": Judged(error, at_most=NEAR),
        "Blender's": worst_error(rig, frames),
        "keys": first.keys,
        "peak MB": baked(case, is_traced=True).peak,
    }
