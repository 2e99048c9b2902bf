# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8, live: a frame of playback of a whole body with five targets, beside Blender's IK with the same five."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import cos, tau
from pathlib import Path
from random import Random
from statistics import median

import bpy
import numpy as np
from fabrik_addon.rig.ik_settings import write_ik_settings
from fabrik_addon.rig.joint_limits import read_limit
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from dev.humans import HEIGHT, bone_of, both
from dev.quiet import quiet

from .body_rigs import Body, bodies, built, empty_file
from .live import Writer
from .problems import Q4, drawn
from .rigs import Rig, add_ik
from .tables import Judged, Row, Table
from .timing import Scale, Timing

HUMAN = "human_game_engine"
FRAMES = 24
ORDER = range(1, FRAMES + 1)
MOST = 0.25  # of the way from the rest pose to one at random inside the limits
OVER_BLENDER = 1.5
SECONDS, LEAST_PLAYS = 0.15, 3
IDENTITY = (1.0, 0.0, 0.0, 0.0)
CONTENDERS = ("live", "blender", "body", "writing")
WHAT = {
    "live": "live: the same five chains up to the hips",
    "blender": "Blender: five IK constraints up to the hips",
    "body": "live: hips that move, feet pinned with their rotation",
    "writing": "the poses of the first row written, nothing solved",
}
CONTEXT = bpy.context


def frames(scale: Scale, folder: Path) -> Table:
    """With the skin, and without it."""
    rows = [row for with_skin in (False, True) for row in _rows(scale, folder, with_skin)]
    note = (
        f"Milliseconds of a frame of playback of {FRAMES} frames, targets of wrists, ankles and head keyed at each "
        "where poses inside the limits have them. "
        "Files are opened in turn; *over* is the median of the rounds. *Error*: the farthest of an end from its "
        "target as Blender evaluates it, a share of the height. *Orders*: frames of which a channel is another one "
        "when they are gone through backwards or in jumps. *With skin*: 3,346 vertices."
    )
    return Table("8d. A frame of playback of a body of 53 bones with five goals", note, rows)


def _rows(scale: Scale, folder: Path, with_skin: bool) -> list[Row]:
    differ: dict[str, int | None] = {}
    errors: dict[str, float | None] = {}
    writer = Writer([])
    for contender in CONTENDERS:
        owner = _made(contender, with_skin)
        is_live = contender in ("live", "body")
        errors[contender] = _worst_error(owner) if contender != "writing" else None
        differ[contender] = _orders(owner) if is_live else None
        if contender == "live":
            writer.poses += [np.frombuffer(turns, np.float32) for turns, _ in _channels(owner, ORDER).values()]
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{contender}.blend"), compress=False)
    seconds = [tuple(_seconds(folder, name, writer) for name in CONTENDERS) for _ in range(scale.of(9, 1))]
    timing = Timing(seconds)
    rows: list[Row] = []
    for i, contender in enumerate(CONTENDERS):
        at_most = OVER_BLENDER if contender == "live" else None
        count = differ[contender]
        rows.append(
            {
                "contender": WHAT[contender] + (", with skin" if with_skin else ""),
                "ms a frame": 1e3 * timing.seconds(i),
                "over Blender": Judged(timing.ratio(i, 1), at_most=at_most),
                "over writing": timing.ratio(i, 3),
                "error": errors[contender],
                "orders": None if count is None else Judged(count, at_most=0),
            }
        )
    return rows


def _made(contender: str, with_skin: bool) -> bpy.types.Object:
    """A human whose ends follow targets that are keyed at each frame."""
    empty_file()
    body = next(one for one in bodies() if one.name == HUMAN)
    owner = body.make()
    if not with_skin:
        for mesh in [found for found in bpy.data.objects if found.type == "MESH"]:
            bpy.data.objects.remove(mesh)
    ends = _ends()
    targets = _add_targets(owner, body, ends)
    if contender == "blender":
        _constrain(owner, ends, targets)
    elif contender != "writing":
        _chain(owner, ends, targets, is_body=contender == "body")
        rig_of(owner).live = True
    CONTEXT.view_layer.update()
    return owner


def _ends() -> list[str]:
    """Bones whose tails are the wrists, the ankles and the top of the head."""
    return [*both(HUMAN, "forearm"), *both(HUMAN, "shin"), bone_of(HUMAN, "head")]


def _add_targets(owner: bpy.types.Object, body: Body, ends: Sequence[str]) -> list[bpy.types.Object]:
    """Empties where the ends are in poses inside the limits that go round once, the hips in their place."""
    targets = [bpy.data.objects.new(f"target {end}", None) for end in ends]
    for target in targets:
        CONTEXT.scene.collection.objects.link(target)
    found = built(owner, body, moves=False)
    random = Random(4)
    far = [Quaternion(drawn(random, limit)) for limit in found.figure.joint_limits]
    for frame in ORDER:
        share = MOST * (0.5 - 0.5 * cos(tau * frame / FRAMES))
        turns = [Quaternion().slerp(turn, share) for turn in far]
        pairs = zip(found.figure.joint_limits, turns, strict=True)
        placed = found.figure.placed([limit.clamped(_q4(turn)) for limit, turn in pairs])
        for end, target in zip(ends, targets, strict=True):
            target.location = Vector(placed.ends[found.index[end]]) + found.origin
            target.keyframe_insert("location", frame=frame)
    return targets


def _q4(turn: Quaternion) -> Q4:
    w, x, y, z = turn
    return (w, x, y, z)


def _constrain(owner: bpy.types.Object, ends: Sequence[str], targets: Sequence[bpy.types.Object]) -> None:
    """Blender's own IK, with the limits that it knows."""
    hips = bone_of(HUMAN, "hips")
    for end, target in zip(ends, targets, strict=True):
        bone = owner.pose.bones[end]
        way: list[bpy.types.PoseBone] = [bone, *bone.parent_recursive]
        constraint = add_ik(bone)
        constraint.target, constraint.use_tail = target, True
        constraint.chain_count = [found.name for found in way].index(hips) + 1
    for bone in owner.pose.bones:
        write_ik_settings(bone, read_limit(bone, IDENTITY), 0.0)


def _chain(owner: bpy.types.Object, ends: Sequence[str], targets: Sequence[bpy.types.Object], *, is_body: bool) -> None:
    """Chains of ours: the same ones, or those of a body whose hips move and whose feet keep their rotation."""
    hips = bone_of(HUMAN, "hips")
    if is_body:
        rig_of(owner).body_bone = hips
    for end, target in zip(ends, targets, strict=True):
        way = [end, *(bone.name for bone in owner.pose.bones[end].parent_recursive)]
        chain = rig_of(owner).chains.add()
        chain.name, chain.tip_bone, chain.target = end, end, target
        chain.bone_count = 2 if is_body else way.index(hips) + 1
        if is_body and end in both(HUMAN, "shin"):
            foot = owner.pose.bones[end].children[0]
            chain.tip_bone, chain.bone_count, chain.effector = foot.name, 3, "HEAD"
            chain.held_rotation = (owner.matrix_world @ foot.matrix).to_quaternion()
            chain.pin, chain.orientation = True, "KEEP"


def _worst_error(owner: bpy.types.Object) -> float:
    worst = 0.0
    for frame in ORDER:
        CONTEXT.scene.frame_set(frame)
        depsgraph = CONTEXT.evaluated_depsgraph_get()
        poses = owner.evaluated_get(depsgraph).pose.bones
        for end in _ends():
            target = bpy.data.objects[f"target {end}"].evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (owner.matrix_world @ poses[end].tail - target).length / HEIGHT)
    return worst


def _orders(owner: bpy.types.Object) -> int:
    """Frames whose channels are others backwards or in jumps than forwards."""
    order = list(ORDER)
    forwards, backwards = _channels(owner, order), _channels(owner, order[::-1])
    Random(2).shuffle(order)
    jumps = _channels(owner, order)
    return sum(forwards[frame] != backwards[frame] or forwards[frame] != jumps[frame] for frame in order)


def _channels(owner: bpy.types.Object, order: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    """The rotations and locations of all bones by frame."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for frame in order:
        CONTEXT.scene.frame_set(frame)
        bones = owner.pose.bones
        turns: NDArray[np.float32] = np.empty(4 * len(bones), dtype=np.float32)
        places: NDArray[np.float32] = np.empty(3 * len(bones), dtype=np.float32)
        bones.foreach_get("rotation_quaternion", turns)
        bones.foreach_get("location", places)
        found[frame] = turns.tobytes(), places.tobytes()
    return found


def _seconds(folder: Path, contender: str, writer: Writer) -> float:
    """Seconds of a frame: the file opened, played once, and then played again and again."""
    with quiet():
        bpy.ops.wm.open_mainfile(filepath=str(folder / f"{contender}.blend"), load_ui=False)
    if contender == "writing":
        writer.hold(Rig(bpy.data.objects[HUMAN], [], [], 0))
    _play()
    times: list[float] = []
    while len(times) < LEAST_PLAYS or sum(times) < SECONDS:
        started = time.perf_counter()
        _play()
        times.append(time.perf_counter() - started)
    if contender == "writing":
        writer.let_go()
    return median(times) / FRAMES


def _play() -> None:
    for frame in ORDER:
        CONTEXT.scene.frame_set(frame)
