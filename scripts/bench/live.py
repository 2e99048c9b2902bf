# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame of playback with targets that move, posed live, beside Blender's own IK and beside writing alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, tau
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import bpy
import numpy as np
from fabrik_addon.rig.figure.joint_limits import read_limit, write_ik_settings
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from dev.humans import HEIGHT, bone_of, both
from dev.quiet import quiet
from rigs import add_empty, empty_file

from .body_rigs import bodies, built
from .limb_rigs import (
    CONTEXT,
    LENGTH,
    SKIN_VERTICES,
    Rig,
    add_skin,
    animate,
    key_others,
    make_rig,
    with_blender_ik,
    with_chains,
    worst_error,
)
from .problems import Q4, drawn
from .tables import Judged, Row, Table, at_most
from .timing import Scale, Timing

FRAMES = 24
ORDER = range(1, FRAMES + 1)
SECONDS, LEAST_PLAYS = 0.15, 3  # for which a contender plays in each round, at least
HUMAN = "human_game_engine"
MOST = 0.25  # of the way from the rest pose to one at random inside the limits, that its targets go
LIVE, BLENDER, WRITING, BODY = "live", "blender", "writing", "body"
IDENTITY: Q4 = (1.0, 0.0, 0.0, 0.0)
AIM = 1.2  # over Blender's IK
GOALS = {
    "1 x 4": 0.9,
    "8 x 10": 0.45,
    "64 x 4": 0.55,
    "64 x 10": 0.5,
    "character of 53 bones": 0.25,
}
WRITING_GOALS = {"8 x 4 in 300 bones, others unkeyed": 1.1}  # over writing, which itself is slow there


@dataclass(frozen=True, slots=True)
class Case:
    """A rig that is played.

    Attributes:
        name: Of its row.
        make: Makes it in a file of its own, with targets that move.
        length: What its errors are shares of.
        contenders: Who plays it: `LIVE` first, since `WRITING` writes its poses.
    """

    name: str
    make: Callable[[], Rig]
    length: float = LENGTH
    contenders: tuple[str, ...] = (LIVE, BLENDER, WRITING)


def _limbs(chains: int, bones: int, more: str = "", others: int = 0) -> Case:
    def make() -> Rig:
        rig = make_rig(chains, bones, others)
        animate(rig, FRAMES, 1, tau / FRAMES)
        if "vertices" in more:
            add_skin(rig)
        if "others keyed" in more:
            key_others(rig, FRAMES)
        return rig

    return Case(f"{chains} x {bones}{more}", make)


def _character(*, with_skin: bool) -> Case:
    def make() -> Rig:
        empty_file()
        body = next(one for one in bodies() if one.name == HUMAN)
        owner = body.make()
        for mesh in [found for found in bpy.data.objects if found.type == "MESH" and not with_skin]:
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
            placed = found.figure.placed([limit.clamped(_q4(Quaternion().slerp(q, share))) for limit, q in pairs])
            for tip, target in zip(tips, rig.targets, strict=True):
                target.location = Vector(placed.ends[found.index[tip]]) + found.origin
                target.keyframe_insert("location", frame=frame)
        return rig

    more = ", with skin" if with_skin else ""
    return Case(f"character of 53 bones{more}", make, HEIGHT, (LIVE, BLENDER, WRITING, BODY))


def _q4(turn: Quaternion) -> Q4:
    w, x, y, z = turn
    return (w, x, y, z)


CASES = (
    _limbs(1, 4),
    _limbs(1, 10),
    _limbs(8, 4),
    _limbs(8, 10),
    _limbs(64, 4),
    _limbs(64, 10),
    _limbs(8, 4, f", {SKIN_VERTICES} vertices"),
    _limbs(8, 4, " in 300 bones, others keyed", 268),
    _limbs(8, 4, " in 300 bones, others unkeyed", 268),
)
CHARACTERS = (_character(with_skin=False), _character(with_skin=True))


@dataclass(slots=True, eq=False)
class Writer:
    """Writes poses that were found before ahead of each frame by the quickest means, and solves nothing."""

    poses: list[NDArray[np.float32]] = field(default_factory=list)
    owner: Any = None

    def __call__(self, scene: bpy.types.Scene, _: object = None) -> None:
        """Ahead of a frame."""
        self.owner.pose.bones.foreach_set("rotation_quaternion", self.poses[scene.frame_current - 1])
        self.owner.update_tag(refresh={"DATA"})

    def hold(self, rig: Rig) -> None:
        """Write into a rig from now on."""
        self.owner = rig.owner
        bpy.app.handlers.frame_change_pre.append(self)

    def let_go(self) -> None:
        """Write no more."""
        if self in bpy.app.handlers.frame_change_pre:
            bpy.app.handlers.frame_change_pre.remove(self)


@dataclass(slots=True)
class Files:
    """One file for each contender of a case, opened again in each round.

    Attributes:
        rig: The rig of the last one; the others have the same names.
        errors: Worst tip error of each contender.
        orders: Frames of which a channel is another one when they are gone through backwards or in jumps.
    """

    folder: Path
    case: Case
    rig: Rig = field(init=False)
    names: tuple[str, list[str]] = ("", [])
    writer: Writer = field(default_factory=Writer)
    errors: dict[str, float] = field(default_factory=dict)
    orders: int = 0

    def make(self) -> None:
        """Make the files."""
        for contender in self.case.contenders:
            self.rig = self.case.make()
            self.names = self.rig.names
            _give(contender, self.rig)
            CONTEXT.view_layer.update()
            if contender == LIVE:
                forwards = _channels(self.rig, list(ORDER))
                self.writer.poses += [np.frombuffer(turns, np.float32) for turns, _ in forwards.values()]
                self.orders = _differing(self.rig, forwards)
            if contender == WRITING:
                self.writer.hold(self.rig)
            self.errors[contender] = worst_error(self.rig, ORDER, self.case.length)
            self.writer.let_go()
            with quiet():
                bpy.ops.wm.save_as_mainfile(filepath=self._path(contender), compress=False)

    def seconds(self) -> tuple[float, ...]:
        """Seconds of a frame of each contender: the file opened, played once, and then played again and again."""
        return tuple(self._played(contender) for contender in self.case.contenders)

    def _played(self, contender: str) -> float:
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=self._path(contender), load_ui=False)
        if contender == WRITING:
            self.writer.hold(self.rig.again(self.names))
        _play()
        times: list[float] = []
        while len(times) < LEAST_PLAYS or sum(times) < SECONDS:
            started = time.perf_counter()
            _play()
            times.append(time.perf_counter() - started)
        self.writer.let_go()
        return median(times) / FRAMES

    def _path(self, contender: str) -> str:
        return str(self.folder / f"{contender}.blend")


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


def _play() -> None:
    for frame in ORDER:
        CONTEXT.scene.frame_set(frame)


def _differing(rig: Rig, forwards: dict[int, tuple[bytes, bytes]]) -> int:
    """Frames whose channels are others backwards or in jumps than forwards."""
    order = list(ORDER)
    backwards = _channels(rig, order[::-1])
    Random(2).shuffle(order)
    jumps = _channels(rig, order)
    return sum(forwards[frame] != backwards[frame] or forwards[frame] != jumps[frame] for frame in order)


def _channels(rig: Rig, order: list[int]) -> dict[int, tuple[bytes, bytes]]:
    """The rotations and locations of all bones by frame."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for frame in order:
        CONTEXT.scene.frame_set(frame)
        bones = rig.owner.pose.bones
        turns: NDArray[np.float32] = np.empty(4 * len(bones), dtype=np.float32)
        places: NDArray[np.float32] = np.empty(3 * len(bones), dtype=np.float32)
        bones.foreach_get("rotation_quaternion", turns)
        bones.foreach_get("location", places)
        found[frame] = turns.tobytes(), places.tobytes()
    return found


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    note = (
        "Milliseconds of a frame of playback, targets keyed at each frame. *Writing*: the poses that live posing found "
        "are written ahead of each frame in one call and evaluated, nothing is solved: *floor* is its share of "
        "Blender's time, below which no add-on comes. Files are opened in turn; *over* is the median of the rounds. "
        "*Error*: the farthest of a tip from its target, a share of the length. *Orders*: frames of which a channel "
        "is another one when they are gone through backwards or in jumps."
    )
    limbs = [_row(scale, case) for case in CASES[:: scale.of(1, 4)]]
    character = (
        f"{note} Targets of wrists, ankles and head, where poses inside the limits have them; chains up to the hips, "
        "as Blender's constraints. *Body*: hips that move, feet pinned with their rotation."
    )
    return [
        Table("3a. A frame of playback of limbs beside Blender's IK", note, limbs),
        Table(
            "3b. A frame of playback of a character with five goals beside Blender's IK",
            character,
            [_row(scale, case) for case in CHARACTERS[: scale.of(2, 1)]],
        ),
    ]


def _row(scale: Scale, case: Case) -> Row:
    files = Files(scale.folder, case)
    files.make()
    timing = Timing([files.seconds() for _ in range(scale.of(9, 1))])
    milliseconds = {name: 1e3 * timing.seconds(i) for i, name in enumerate(case.contenders)}
    row: Row = {
        "chains x bones": case.name,
        **milliseconds,
        "over Blender": at_most(timing.ratio(0, 1), case.name, None if case.name in WRITING_GOALS else AIM, GOALS),
        "floor": timing.ratio(2, 1),
        "over writing": at_most(timing.ratio(0, 2), case.name, None, WRITING_GOALS),
        "error": files.errors[LIVE],
        "Blender's": files.errors[BLENDER],
        "orders": Judged(files.orders, at_most=0),
    }
    return row | ({"body over Blender": timing.ratio(3, 1)} if BODY in case.contenders else {})
