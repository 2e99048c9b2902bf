# SPDX-License-Identifier: GPL-3.0-or-later
"""A frame of playback with targets that move, posed live, beside Blender's own IK and beside writing alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from math import cos, tau
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
from .problems import Q4, drawn, q4
from .tables import Judged, Row, Table, at_most
from .timing import Scale, Timing, play, timed

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
            placed = found.figure.placed([limit.clamped(q4(Quaternion().slerp(q, share))) for limit, q in pairs])
            for tip, target in zip(tips, rig.targets, strict=True):
                target.location = Vector(placed.ends[found.index[tip]]) + found.origin
                target.keyframe_insert("location", frame=frame)
        return rig

    more = ", with skin" if with_skin else ""
    return Case(f"character of 53 bones{more}", make, HEIGHT, (LIVE, BLENDER, WRITING, BODY))


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


@contextmanager
def writing(owner: Any, poses: list[NDArray[np.float32]]) -> Iterator[None]:
    """Write poses that were found before ahead of each frame by the quickest means, and solve nothing."""

    def write(scene: bpy.types.Scene, _: object = None) -> None:
        owner.pose.bones.foreach_set("rotation_quaternion", poses[scene.frame_current - 1])
        owner.update_tag(refresh={"DATA"})

    bpy.app.handlers.frame_change_pre.append(write)
    yield
    bpy.app.handlers.frame_change_pre.remove(write)


@dataclass(slots=True)
class Files:
    """One file for each contender of a case, opened again in each round.

    Attributes:
        poses: Rotations of all bones by frame, as live posing finds them.
        errors: Worst tip error of each contender.
        orders: Frames of which a channel is another one when they are gone through backwards or in jumps.
    """

    scale: Scale
    case: Case
    poses: list[NDArray[np.float32]] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    orders: int = 0

    def make(self) -> None:
        """Make the files."""
        for contender in self.case.contenders:
            rig = self.case.make()
            _give(contender, rig)
            CONTEXT.view_layer.update()
            if contender == LIVE:
                forwards = _channels(rig, list(ORDER))
                self.poses += [np.frombuffer(turns, np.float32) for turns, _ in forwards.values()]
                self.orders = _differing(rig, forwards)
            with self._followed(contender, rig.owner):
                self.errors[contender] = worst_error(rig, ORDER, self.case.length)
            self.scale.save(contender)

    def seconds(self) -> tuple[float, ...]:
        """Seconds of a frame of each contender: the file opened, played once, and then played again and again."""
        return tuple(self._played(contender) for contender in self.case.contenders)

    def _followed(self, contender: str, owner: Any) -> AbstractContextManager[None]:
        """While the targets are followed: live posing and Blender do so by themselves."""
        return writing(owner, self.poses) if contender == WRITING else nullcontext()

    def _played(self, contender: str) -> float:
        with self._followed(contender, self.scale.opened(contender)):
            play(ORDER)
            times: list[float] = []
            while len(times) < LEAST_PLAYS or sum(times) < SECONDS:
                times.append(timed(lambda: play(ORDER)))
        return median(times) / FRAMES


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
    files = Files(scale, case)
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
