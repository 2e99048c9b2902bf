# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback of live posing and bakes, beside Blender's own and beside their floor, for which nothing is solved."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import cos, tau
from random import Random
from statistics import median
from typing import Any, TypeAlias

import bpy
import numpy as np
from fabrik_addon.actions import bake, live
from fabrik_addon.maths import IDENTITY, Singles, q4
from fabrik_addon.rig.animation.compat import curves_of_action, ensure_curve, fcurves_of
from fabrik_addon.rig.figure.joint_limits import read_limit, write_ik_settings
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector

from blender import OPS
from dev.humans import HEIGHT, bone_of, both
from rigs import add_empty, empty_file

from .armatures import (
    CONTEXT,
    LENGTH,
    SKIN_VERTICES,
    Rig,
    add_poles,
    add_skin,
    animate,
    bodies,
    built,
    channels,
    key_others,
    make_rig,
    with_blender_ik,
    with_chains,
    worst_error,
)
from .problems import drawn
from .tables import Judged, Row, Scale, Table, Timing, at_most, play, timed

FRAMES = 24
ORDER = range(1, FRAMES + 1)
SECONDS, LEAST_PLAYS = 0.15, 3  # for which a contender plays in each round, at least
HUMAN = "human_game_engine"
MOST = 0.25  # of the way from the rest pose to one at random inside the limits, that its targets go
LIVE, BLENDER, WRITING, ANEW, BODY = "live", "blender", "writing", "anew", "body"
AIM = 1.2  # over Blender's IK
GOALS = {"1 x 4": 0.9, "8 x 10": 0.45, "64 x 4": 0.55, "64 x 10": 0.5, "character of 53 bones": 0.25}
GOALS |= {"8 x 4": 1.2, "8 x 4 in 300 bones, others keyed": 1.2}
WRITING_GOALS = {"8 x 4 in 300 bones, others unkeyed": 1.1}  # over writing, which itself is slow there


def _limbs(chains: int, bones: int, *, others: int = 0, are_keyed: bool = False, is_skinned: bool = False) -> Rig:
    """Limbs in a file of their own, with targets that move; other bones, perhaps keyed; perhaps a mesh to deform."""
    rig = make_rig(chains, bones, others)
    animate(rig, FRAMES, 1, tau / FRAMES)
    if is_skinned:
        add_skin(rig)
    if are_keyed:
        key_others(rig, FRAMES)
    return rig


def _character(*, is_skinned: bool) -> Rig:
    """A human in a file of its own, with targets that move."""
    empty_file()
    body = next(one for one in bodies() if one.name == HUMAN)
    owner = body.make()
    for mesh in [found for found in bpy.data.objects if found.type == "MESH" and not is_skinned]:
        bpy.data.objects.remove(mesh)
    tips = [*both(HUMAN, "forearm"), *both(HUMAN, "shin"), bone_of(HUMAN, "head")]
    ways = [[tip, *(bone.name for bone in owner.pose.bones[tip].parent_recursive)] for tip in tips]
    counts = [way.index(body.hips) + 1 for way in ways]
    rig = Rig(owner, tips, [add_empty(f"target {tip}") for tip in tips], counts)
    found = built(owner, body, moves=False)
    random = Random(4)
    far = [Quaternion(drawn(random, limit)) for limit in found.figure.joint_limits]
    for frame in ORDER:
        share = MOST * (0.5 - 0.5 * cos(tau * frame / FRAMES))
        pairs = zip(found.figure.joint_limits, far, strict=True)
        placed = found.figure.placed([limit.clamped(q4(Quaternion().slerp(q, share))) for limit, q in pairs])
        for tip, target in zip(tips, rig.targets, strict=True):
            target.location = Vector(placed.ends[found.index[tip]]) + found.origin
            target.keyframe_insert("location", frame=frame)
    return rig


CASES = {  # what is played by the name of its row, and makes it
    **{f"{chains} x {bones}": partial(_limbs, chains, bones) for chains in (1, 8, 64) for bones in (4, 10)},
    f"8 x 4, {SKIN_VERTICES} vertices": partial(_limbs, 8, 4, is_skinned=True),
    "8 x 4 in 300 bones, others keyed": partial(_limbs, 8, 4, others=268, are_keyed=True),
    "8 x 4 in 300 bones, others unkeyed": partial(_limbs, 8, 4, others=268),
}
CHARACTERS = {
    "character of 53 bones": partial(_character, is_skinned=False),
    "character of 53 bones, with skin": partial(_character, is_skinned=True),
}


@contextmanager
def writing(owner: Any, poses: list[Singles]) -> Iterator[None]:
    """Write poses that were found before ahead of each frame by the quickest means, and solve nothing."""

    def write(scene: bpy.types.Scene, _: object = None) -> None:
        owner.pose.bones.foreach_set("rotation_quaternion", poses[scene.frame_current - 1])
        owner.update_tag(refresh={"DATA"})

    bpy.app.handlers.frame_change_pre.append(write)
    yield
    bpy.app.handlers.frame_change_pre.remove(write)


def _give(contender: str, rig: Rig) -> None:
    """Give a rig who is to follow its targets."""
    if contender == BLENDER:
        with_blender_ik(rig, [])
        for bone in rig.owner.pose.bones:
            write_ik_settings(bone, read_limit(bone, IDENTITY), 0.0)
    elif contender != WRITING:
        with_chains(rig, [])
        if contender == BODY:
            _make_body(rig)
        rig_of(rig.owner).live = True


def _make_body(rig: Rig) -> None:
    """Shorten the chains to limbs of a body whose hips move and whose feet keep their rotation."""
    rig_of(rig.owner).body_bone = bone_of(HUMAN, "hips")
    for chain in rig_of(rig.owner).chains:
        chain.bone_count = 2
        if chain.tip_bone in both(HUMAN, "shin"):
            foot = rig.owner.pose.bones[chain.tip_bone].children[0]
            chain.tip_bone, chain.bone_count, chain.effector = foot.name, 3, "HEAD"
            chain.held_rotation = (rig.owner.matrix_world @ foot.matrix).to_quaternion()
            chain.pin, chain.orientation = True, "KEEP"


NOTE = (
    "Milliseconds of a frame of playback, targets keyed at each frame. *Writing*: the poses that live posing found "
    "are written ahead of each frame in one call and evaluated, nothing is solved: *floor* is its share of "
    "Blender's time, below which no add-on comes. Files are opened in turn and played once before; *over* is the "
    "median of the rounds. *Anew*: live posing that forgets before each round what it played. *Error*: the farthest "
    "of a tip from its target, a share of the length."
)


def limbs(scale: Scale) -> Table:
    """Limbs that are posed live."""
    contenders = LIVE, BLENDER, WRITING, ANEW
    rows = [_row(scale, *case, contenders) for case in list(CASES.items())[:: scale.of(1, 4)]]
    return Table("3a. A frame of playback of limbs beside Blender's IK", NOTE, rows)


def characters(scale: Scale) -> Table:
    """A character that is posed live."""
    note = (
        f"{NOTE} Targets of wrists, ankles and head, where poses inside the limits have them; chains up to the hips, "
        "as Blender's constraints. *Body*: hips that move, feet pinned with their rotation."
    )
    contenders = LIVE, BLENDER, WRITING, ANEW, BODY
    rows = [_row(scale, *case, contenders, HEIGHT) for case in list(CHARACTERS.items())[: scale.of(2, 1)]]
    return Table("3b. A frame of playback of a character with five goals beside Blender's IK", note, rows)


def _row(scale: Scale, name: str, make: Callable[[], Rig], contenders: Sequence[str], length: float = LENGTH) -> Row:
    """One file for each contender, made once and opened again in each round.

    Args:
        scale: How many rounds.
        name: Of the row.
        make: Makes the rig that is played.
        contenders: Who plays it: `LIVE` first, since `WRITING` writes its poses.
        length: What its errors are shares of.
    """
    poses, errors = list[Singles](), dict[str, float]()  # rotations by frame as live posing finds them

    def followed(contender: str, owner: Any) -> AbstractContextManager[None]:
        """While the targets are followed: live posing and Blender do so by themselves."""
        return writing(owner, poses) if contender == WRITING else nullcontext()

    def played(contender: str) -> float:
        """Seconds of a frame: the file opened, played once, and then played again and again."""
        with followed(contender, scale.opened(contender)):
            play(ORDER)
            times: list[float] = []
            while len(times) < LEAST_PLAYS or sum(times) < SECONDS:
                for rig in live.state.rigs if contender == ANEW else ():
                    rig.played.clear()
                times.append(timed(lambda: play(ORDER)))
        return median(times) / FRAMES

    for contender in contenders:
        rig = make()
        _give(contender, rig)
        CONTEXT.view_layer.update()
        if contender == LIVE:
            poses += [found[:, :4].ravel() for found in channels(rig.owner, ORDER).values()]
        with followed(contender, rig.owner):
            errors[contender] = worst_error(rig, ORDER, length)
        scale.save(contender)
    timing = Timing([tuple(map(played, contenders)) for _ in range(scale.of(9, 1))])
    milliseconds = {contender: 1e3 * timing.seconds(i) for i, contender in enumerate(contenders)}
    row: Row = {
        "chains x bones": name,
        **milliseconds,
        "over Blender": at_most(timing.ratio(0, 1), name, None if name in WRITING_GOALS else AIM, GOALS),
        "anew, over Blender": timing.ratio(3, 1),
        "floor": timing.ratio(2, 1),
        "over writing": at_most(timing.ratio(0, 2), name, None, WRITING_GOALS),
        "error": errors[LIVE],
        "Blender's": errors[BLENDER],
    }
    return row | ({"body over Blender": timing.ratio(4, 1)} if BODY in contenders else {})


# ---- baking

KEYED, TURN = 6, 0.26  # frames from key to key of a target, and radians a frame
CHECKED_FRAMES = 100  # of a bake, whose tip errors are looked at
LONG = 500  # frames from which fewer rounds are run
LINEAR = 1  # as Blender numbers it
NEAR = 1e-3  # of the length, within which tips come as Blender evaluates them
FLOOR_GOAL, VERIFIED = 2.6, 1.5
FASTER, FASTER_GOALS = 7.0, {"8 x 4 x 250", "8 x 4 x 250, hinges and poles"}  # than nla.bake


@dataclass(frozen=True, slots=True)
class Bake:
    """A rig and a range of frames."""

    chains: int
    bones: int
    frames: int
    is_skinned: bool = False  # whether a mesh is deformed by it
    is_limited: bool = False  # whether its joints but the first are hinges and its limbs have poles

    def __str__(self) -> str:
        text = f"{self.chains} x {self.bones} x {self.frames}"
        text += f", {SKIN_VERTICES} vertices" if self.is_skinned else ""
        return text + (", hinges and poles" if self.is_limited else "")


BAKES = (
    Bake(8, 4, 250),
    Bake(8, 10, 250),
    Bake(64, 4, 1000),
    Bake(8, 4, 250, is_skinned=True),
    Bake(8, 4, 250, is_limited=True),
)


@dataclass(slots=True)
class Baked:
    """A bake of ours that was done; its rig is good until the next file."""

    seconds: float
    rig: Rig
    keys: int = 0
    peak: float = 0.0  # memory in MB that Python and numpy took at most, where it was traced


KeyedCurve: TypeAlias = tuple[str, int, str, Singles]  # path, index, group, frames and values in turn


def made(case: Bake) -> Rig:
    """A file made anew, with targets that run on circles within reach."""
    rig = make_rig(case.chains, case.bones)
    animate(rig, case.frames, KEYED, TURN)
    if case.is_skinned:
        add_skin(rig)
    return rig


def baked(case: Bake, verify: str = "NONE", is_traced: bool = False) -> Baked:
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


def blenders(case: Bake) -> tuple[float, Rig]:
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


def floor(case: Bake, curves: list[KeyedCurve]) -> float:
    """Seconds in which curves of the targets are read and keys written, both by the quickest means."""
    rig = made(case)
    started = time.perf_counter()
    for target in rig.targets:
        _read(target, case.frames)
    _write(rig, curves)
    return time.perf_counter() - started


def _read(target: Any, frames: int) -> Singles:
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


def baking(scale: Scale) -> Table:
    """Bakes of limbs."""
    cases = [case for case in BAKES if not scale.is_quick or case.frames <= LONG]
    rows = [_bake_row(case, scale.of(2 if case.frames > LONG else 5, 1)) for case in cases]
    note = (
        "Seconds. *Bake*: without verification; *verified*: Blender then evaluates every frame. *Floor*: the targets' "
        "curves sampled by Blender and the same keys written in bulk, nothing solved. *Over nla.bake*: how many times "
        "as quick as that with the same rig and Blender's IK. Each in a file made anew, in turn. *Peak MB*: what "
        "Python and numpy take above the keys themselves."
    )
    return Table("4. Baking beside nla.bake of the same rig with Blender's IK", note, rows)


def _bake_row(case: Bake, rounds: int) -> Row:
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
        "over the floor": Judged(timing.ratio(0, 2), at_most=FLOOR_GOAL, is_goal=True),
        "over nla.bake": Judged(timing.ratio(3, 0), at_least=FASTER, is_goal=str(case) in FASTER_GOALS),
        "verified, over nla.bake": Judged(timing.ratio(3, 1), at_least=VERIFIED),
        "tip error": Judged(error, at_most=NEAR),
        "Blender's": worst_error(rig, frames),
        "keys": first.keys,
        "peak MB": baked(case, is_traced=True).peak,
    }
