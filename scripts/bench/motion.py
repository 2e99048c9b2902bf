# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that are kept, edited and cleaned: what that costs beside playing and reading them, and what is exact."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector
from numpy.typing import NDArray

from blender import OPS
from dev.clips import stretch_way, walking_clip
from dev.humans import bone_of
from dev.quiet import quiet
from rigs import empty_file

from .tables import Judged, Row, Table
from .timing import Scale, play, timed

HUMAN = "human_game_engine"
FPS = 24
TOO_FAR = 1.06  # by which the hips go farther than the steps
LOWER = 0.1  # metres by which the hips are lowered
STILL, HELD = 1e-4, 1e-5  # of a leg
FIND, CLEAN = 2.0, 1.5  # times as long as reading the clip's poses
CONTEXT: Any = bpy.context


def measured(scale: Scale) -> list[Table]:
    """The table of the group."""
    rows = [_row(scale, frames) for frames in (scale.of(96, 48), scale.of(525, 72))]
    note = (
        "A human whose bones are keyed in each frame, set up and live. Kept: frames in which no channel differs. Rest: "
        "a frame of playback with all controls at rest beside the same without live posing; edited: the same with the "
        "hips lowered for the whole clip, and how far feet are then from where they were. Finding and cleaning "
        "contacts beside going through the frames and reading the bones. Slide: the most that a foot that is marked "
        "as flat moves from a frame to the next, before and after. Distances are shares of a leg."
    )
    return [Table("11. Clips that are kept, edited and cleaned", note, rows)]


def _row(scale: Scale, frames: int) -> Row:
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        owner = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        stretch_way(owner, bone_of(HUMAN, "hips"), TOO_FAR, fcurves_of(owner))
        names = [bone.name for bone in owner.pose.bones]
        before = _channels(owner, names, frames)
        slid = _poses(owner, names, frames)
        CONTEXT.scene.frame_set(1)
        OPS.fabrik.character_setup()
    rig, leg = rig_of(owner), _leg(owner)
    rig.live = True
    kept = (_channels(owner, names, frames) == before).all(axis=1).mean()
    span, some = (1, frames), min(frames, 48)
    resting = scale.interleaved(lambda: _play(owner, False, some), lambda: _play(owner, True, some))
    body = owner.pose.bones[rig.chains["Body"].target_bone]
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -LOWER))
    edited = scale.interleaved(lambda: _play(owner, False, some), lambda: _play(owner, True, some))
    feet = [names.index(rig.chains[name].tip_bone) for name in ("Leg.L", "Leg.R")]
    held = np.abs((_poses(owner, names, frames) - slid)[:, feet]).max() / leg
    body.location = (0.0, 0.0, 0.0)
    read = timed(lambda: _poses(owner, names, frames))
    with quiet():
        found = timed(lambda: OPS.fabrik.contacts_find(span="RANGE", frame_start=span[0], frame_end=span[1]))
        cleaned = timed(lambda: OPS.fabrik.contacts_clean(span="RANGE", frame_start=span[0], frame_end=span[1]))
    still = _poses(owner, names, frames)
    flat = [_flat(owner, names[foot], frames) for foot in feet]
    slides = [
        max(float(_steps(poses, foot)[on].max()) for foot, on in zip(feet, flat, strict=True)) / leg
        for poses in (slid, still)
    ]
    return {
        "frames": frames,
        "kept %": Judged(100.0 * float(kept), at_least=100.0),
        "rest / alone": resting.ratio(1, 0),
        "edited / alone": edited.ratio(1, 0),
        "feet off": Judged(float(held), at_most=HELD),
        "find / read": Judged(found / read, at_most=FIND),
        "clean / read": Judged(cleaned / read, at_most=CLEAN),
        "slide before": slides[0],
        "slide after": Judged(slides[1], at_most=STILL),
    }


def _leg(owner: Any) -> float:
    """The length of a leg at rest."""
    bones = owner.data.bones
    thigh, foot = bones[bone_of(HUMAN, "thigh", "L")], bones[bone_of(HUMAN, "foot", "L")]
    return float((thigh.head_local - foot.head_local).length)


def _play(owner: Any, live: bool, frames: int) -> None:
    rig_of(owner).live = live
    play(range(1, frames + 1))


def _poses(owner: Any, names: list[str], frames: int) -> NDArray[np.float64]:
    """Where the heads of bones are, (F, n, 3), in the world."""
    found = []
    for frame in range(1, frames + 1):
        CONTEXT.scene.frame_set(frame)
        posed = owner.evaluated_get(CONTEXT.evaluated_depsgraph_get())
        found.append([posed.matrix_world @ posed.pose.bones[name].head for name in names])
    return np.array(found, dtype=np.float64)


def _channels(owner: Any, names: list[str], frames: int) -> NDArray[np.float64]:
    """All channels of bones, (F, k)."""
    found = []
    for frame in range(1, frames + 1):
        CONTEXT.scene.frame_set(frame)
        bones = [owner.pose.bones[name] for name in names]
        found.append([value for bone in bones for value in (*bone.rotation_quaternion, *bone.location, *bone.scale)])
    return np.array(found)


def _flat(owner: Any, name: str, frames: int) -> NDArray[np.bool_]:
    """From which frames to the next a foot stays flat, (F - 1,)."""
    path = owner.pose.bones[name].path_from_id("fabrik_contact")
    (curve,) = [one for one in fcurves_of(owner) if one.data_path == path]
    marks: NDArray[np.bool_] = np.array([round(curve.evaluate(frame)) == FLAT for frame in range(1, frames + 1)])
    return np.logical_and(marks[1:], marks[:-1])


def _steps(poses: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """How far a bone moves from each frame to the next, (F - 1,)."""
    return np.asarray(np.linalg.norm(np.diff(poses[:, i], axis=0), axis=1))
