# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 4: bakes beside Blender's own, beside their floor, and beside the plain way to write such an add-on."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from typing import Any

import bpy
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session import bake as session_bake

from . import bake_floor, before
from .bake_floor import KeyedCurve
from .naive import naive_bake
from .rigs import (
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
from .tables import Group, Judged, Row, Table
from .timing import Scale, Timing

KEYED, TURN = 6, 0.26  # frames from key to key of a target, and radians a frame
NAIVE_FRAMES = 10  # that the plain add-on bakes; its time grows with them
CHECKED_FRAMES = 100  # of a bake, whose tip errors are looked at
LONG = 500  # frames from which fewer rounds are run
OVER_FLOOR, VERIFIED = 1.6, 1.5
OPS: Any = bpy.ops


@dataclass(frozen=True, slots=True)
class Case:
    """A rig and a range of frames.

    Attributes:
        as_quick: How many times as quick as `nla.bake` a bake is to be.
        is_skinned: Whether a mesh is deformed by it.
        is_limited: Whether its joints but the first are hinges and its limbs have poles.
    """

    chains: int
    bones: int
    frames: int
    as_quick: float | None = None
    is_skinned: bool = False
    is_limited: bool = False

    def __str__(self) -> str:
        text = f"{self.chains} x {self.bones} x {self.frames}"
        text += f", {SKIN_VERTICES} vertices" if self.is_skinned else ""
        return text + (", hinges and poles" if self.is_limited else "")


CASES = (
    Case(8, 4, 250, 12.0),
    Case(8, 10, 250, 12.0),
    Case(64, 4, 1000, 20.0),
    Case(8, 4, 250, 25.0, is_skinned=True),
    Case(8, 4, 250, 8.0, is_limited=True),
)


@dataclass(slots=True)
class Baked:
    """A bake that was done; its rig is good until the next file.

    Attributes:
        peak: Memory in MB that Python and numpy took at most, where it was traced.
    """

    seconds: float
    rig: Rig
    keys: int = 0
    peak: float = 0.0


def made(case: Case) -> Rig:
    """A file made anew, with targets that run on circles within reach."""
    rig = make_rig(case.chains, case.bones)
    animate(rig, case.frames, KEYED, TURN)
    if case.is_skinned:
        add_skin(rig)
    return rig


def ours(case: Case, verify: str = "NONE", is_traced: bool = False) -> Baked:
    """Our bake."""
    rig = made(case)
    with_chains(rig, add_poles(rig) if case.is_limited else [])
    CONTEXT.view_layer.update()
    settings = session_bake.BakeSettings(tuple(range(1, case.frames + 1)), verify=verify)
    if is_traced:
        tracemalloc.start()
    started = time.perf_counter()
    result = session_bake.bake(bpy.context, [(rig.owner, chain) for chain in rig_of(rig.owner).chains], settings)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1] / 1e6 if is_traced else 0.0
    tracemalloc.stop()
    return Baked(seconds, rig, sum(found.keys for found in result.chains), peak)


def blenders(case: Case) -> Baked:
    """`nla.bake` of Blender's own IK."""
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
    return Baked(seconds, rig)


def floor(case: Case, curves: list[KeyedCurve]) -> Baked:
    """Curves read and keys written, nothing solved."""
    rig = made(case)
    return Baked(bake_floor.seconds(rig, curves, case.frames), rig)


def naive(case: Case) -> Baked:
    """The plain way, measured over some frames and counted up to all."""
    rig = made(case)
    started = time.perf_counter()
    naive_bake(rig, NAIVE_FRAMES)
    return Baked((time.perf_counter() - started) * case.frames / NAIVE_FRAMES, rig)


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    cases = [case for case in CASES if not scale.is_quick or case.frames <= LONG]
    rows = [_row(case, scale.of(2 if case.frames > LONG else 5, 1)) for case in cases]
    note = (
        "Seconds. *Bake*: without verification; *verified*: Blender then evaluates every frame. *Floor*: the targets' "
        "curves sampled by Blender and the same keys written in bulk, nothing solved. *As quick as nla.bake*: of the "
        "same rig with Blender's IK; *plain way*: how many times as quick as an add-on that poses bone by bone and "
        "keys each. Each in a file made anew, in turn. *Peak MB*: what Python and numpy take above the keys themselves."
    )
    return Group("4", "Baking", [Table("4. Baking beside nla.bake of the same rig with Blender's IK", note, rows)])


def _row(case: Case, rounds: int) -> Row:
    frames = range(1, case.frames + 1, max(case.frames // CHECKED_FRAMES, 1))
    first = ours(case)  # in which nothing is measured: it finds the keys
    curves = bake_floor.keyed_curves(first.rig)
    error = worst_error(first.rig, frames)
    times: list[tuple[float, ...]] = []
    for _ in range(rounds):
        bakes = (ours(case).seconds, ours(case, "EVERY").seconds, floor(case, curves).seconds)
        theirs = blenders(case)
        times.append((*bakes, theirs.seconds))
    timing = Timing(times)
    their_error = worst_error(theirs.rig, frames)
    plain = naive(case)
    plain_error = worst_error(plain.rig, range(1, NAIVE_FRAMES + 1))
    return {
        "chains x bones x frames": str(case),
        "bake": timing.seconds(0),
        "verified": timing.seconds(1),
        "floor": timing.seconds(2),
        "nla.bake": timing.seconds(3),
        "over the floor": Judged(timing.ratio(0, 2), at_most=OVER_FLOOR),
        "as quick as nla.bake": Judged(timing.ratio(3, 0), at_least=case.as_quick),
        "before": before.BAKE[str(case)],
        "verified, as quick": Judged(timing.ratio(3, 1), at_least=VERIFIED),
        "plain way": plain.seconds / timing.seconds(0),
        "tip error": error,
        "Blender's": their_error,
        "plain's": plain_error,
        "keys": first.keys,
        "peak MB": ours(case, is_traced=True).peak,
    }
