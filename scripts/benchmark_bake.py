# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of baking: beside Blender's own bake and beside the plain way to write such an add-on; how it grows."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from importlib import import_module
from math import cos, sin
from random import Random
from statistics import median
from typing import Any

import bpy
from mathutils import Vector

import addon_session
from benchmark_live import LENGTH, SKIN_VERTICES, SPACING, make_rig, with_blender_ik, with_live, with_skin
from benchmark_naive import naive_bake
from benchmark_tools import Row, table

KEYED = 6  # frames from key to key of a target
NAIVE_FRAMES = 10  # that the plain add-on bakes; its time grows with them
CONTEXT: Any = bpy.context
OPS: Any = bpy.ops


@dataclass(frozen=True)
class Case:
    """A rig and a range of frames.

    Attributes:
        skinned: Whether a mesh is deformed by it.
        limited: Whether its joints but the first are hinges and its limbs have poles.
    """

    chains: int
    bones: int
    frames: int
    skinned: bool = False
    limited: bool = False

    def __str__(self) -> str:
        text = f"{self.chains} x {self.bones} x {self.frames}"
        text += f", {SKIN_VERTICES} vertices" if self.skinned else ""
        return text + (", hinges and poles" if self.limited else "")


CASES = (
    Case(8, 4, 250),
    Case(8, 10, 250),
    Case(64, 4, 1000),
    Case(8, 4, 250, skinned=True),
    Case(8, 4, 250, limited=True),
)
LONG = 500  # frames from which a case is run once


def make(case: Case) -> tuple[Any, list[str], list[Any]]:
    """A file made anew, with targets that run on circles within reach."""
    owner, tips = make_rig(case.chains, case.bones)
    random, targets = Random(5), []
    for i, tip in enumerate(tips):
        target = bpy.data.objects.new(f"target {tip}", None)
        CONTEXT.scene.collection.objects.link(target)
        phase = random.uniform(0.0, 6.0)
        for frame in range(1, case.frames + KEYED, KEYED):
            angle = phase + 0.26 * frame
            target.location = (SPACING * i + 0.3 * cos(angle), 0.4, 0.55 + 0.25 * sin(angle))
            target.keyframe_insert("location", frame=frame)
        targets.append(target)
    if case.skinned:
        with_skin(owner, tips, case.bones)
    return owner, tips, targets


def add_poles(owner: Any, tips: list[str]) -> list[Any]:
    """Poles in front of the limbs, and hinges about the axis of their bend."""
    poles = []
    for i in range(len(tips)):
        pole = bpy.data.objects.new(f"pole {i}", None)
        CONTEXT.scene.collection.objects.link(pole)
        pole.location = (SPACING * i, 4.0, 0.5)
        poles.append(pole)
    for bone in owner.pose.bones:
        if not bone.name.endswith("_0"):
            bone.fabrik_limit = "HINGE"
            bone.fabrik_axis, bone.fabrik_angle_min, bone.fabrik_angle_max = (1.0, 0.0, 0.0), -2.6, 2.6
            bone.lock_ik_y = bone.lock_ik_z = bone.use_ik_limit_x = True
            bone.ik_min_x, bone.ik_max_x = -2.6, 2.6
    return poles


def worst_error(run: Row, frames: range) -> float:
    """The worst distance of a tip from its target, as Blender evaluates it, as a share of the limb's length."""
    owner, tips, targets = run["rig"]
    worst = 0.0
    for frame in frames:
        CONTEXT.scene.frame_set(frame)
        depsgraph = CONTEXT.evaluated_depsgraph_get()
        poses = owner.evaluated_get(depsgraph).pose.bones
        for tip, target in zip(tips, targets, strict=True):
            goal: Vector = target.evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (owner.matrix_world @ poses[tip].tail - goal).length / LENGTH)
    return worst


def ours(case: Case, verify: str = "NONE", traced: bool = False) -> Row:
    """Seconds, keys, worst tip error, and the peak of memory in MB that Python and numpy take."""
    owner, tips, targets = make(case)
    poles = add_poles(owner, tips) if case.limited else []
    with_live(owner, tips, targets, case.bones)
    owner.fabrik_live = False
    for chain, pole in zip(owner.fabrik_chains, poles, strict=False):
        chain.pole = pole
    baking = import_module(f"{addon_session.MODULE}.session.bake")
    settings = baking.BakeSettings(tuple(range(1, case.frames + 1)), verify=verify)
    if traced:
        tracemalloc.start()
    started = time.perf_counter()
    result = baking.bake(bpy.context, [(owner, chain) for chain in owner.fabrik.chains], settings)
    seconds = time.perf_counter() - started
    peak = tracemalloc.get_traced_memory()[1] / 1e6 if traced else 0.0
    tracemalloc.stop()
    keys = sum(found.keys for found in result.chains)
    return {"s": seconds, "keys": keys, "peak": peak, "rig": (owner, tips, targets)}


def blenders(case: Case) -> Row:
    """Seconds of `nla.bake` of Blender's own IK."""
    owner, tips, targets = make(case)
    with_blender_ik(owner, tips, targets, case.bones)
    if case.limited:
        for tip, pole in zip(tips, add_poles(owner, tips), strict=True):
            constraint = owner.pose.bones[tip].constraints[0]
            constraint.pole_target, constraint.pole_angle = pole, 1.5708
    CONTEXT.view_layer.objects.active = owner
    owner.select_set(True)
    OPS.object.mode_set(mode="POSE")
    OPS.pose.select_all(action="SELECT")
    started = time.perf_counter()
    OPS.nla.bake(frame_start=1, frame_end=case.frames, visual_keying=True, clear_constraints=True, bake_types={"POSE"})
    seconds = time.perf_counter() - started
    OPS.object.mode_set(mode="OBJECT")
    return {"s": seconds, "rig": (owner, tips, targets)}


def naive(case: Case) -> Row:
    """Seconds of the plain way, measured over some frames and counted up to all."""
    owner, tips, targets = make(case)
    started = time.perf_counter()
    naive_bake(owner, tips, targets, case.bones, NAIVE_FRAMES)
    return {"s": (time.perf_counter() - started) * case.frames / NAIVE_FRAMES, "rig": (owner, tips, targets)}


def bakes(rounds: int, quick: bool) -> Row:
    """Table 9: medians of interleaved rounds, each in a file made anew; quick leaves the long case out."""
    cases = [case for case in CASES if not quick or case.frames <= LONG]
    return table("9. Baking beside nla.bake of the same rig with Blender's IK", [_row(case, rounds) for case in cases])


def _row(case: Case, rounds: int) -> Row:
    mine, theirs = [], []
    frames = range(1, case.frames + 1, max(case.frames // 100, 1))
    for _ in range(1 if case.frames > LONG else rounds):
        mine.append(ours(case))
        error = worst_error(mine[-1], frames)
        theirs.append(blenders(case))
        their_error = worst_error(theirs[-1], frames)
    quick, slow = median(run["s"] for run in mine), median(run["s"] for run in theirs)
    plain = naive(case)
    plain_error = worst_error(plain, range(1, NAIVE_FRAMES + 1))
    return {
        "chains x bones x frames": str(case),
        "s": quick,
        "verified s": ours(case, "EVERY")["s"],
        "nla.bake s": slow,
        "ratio": slow / quick,
        "plain way": plain["s"] / quick,
        "tip error": error,
        "Blender's": their_error,
        "plain's": plain_error,
        "keys": mine[-1]["keys"],
        "peak MB": ours(case, traced=True)["peak"],
    }


GROWTH = (
    *(Case(64, 4, frames) for frames in (250, 1000, 4000, 10000)),
    *(Case(chains, 4, 250) for chains in (8, 64, 250, 1000)),
)
QUICK_GROWTH = (Case(8, 4, 250), Case(8, 4, 1000), Case(64, 4, 250))


def growth(quick: bool) -> Row:
    """Table 10: time a key, and memory above Blender's own keys, with frames and with chains."""
    rows = []
    for case in QUICK_GROWTH if quick else GROWTH:
        found = ours(case)
        rows.append(
            {
                "chains x bones x frames": str(case),
                "s": found["s"],
                "us a key": found["s"] / found["keys"] * 1e6,
                "peak MB": ours(case, traced=True)["peak"],
            }
        )
    return table("10. Growth of baking with frames and with chains", rows)
