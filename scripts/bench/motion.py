# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that are kept, edited, cleaned and brought to another skeleton: what that costs, and what is exact."""

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
from dev.humans import SINGLE, TWIN, bone_of, make_human
from dev.quiet import quiet
from rigs import empty_file

from .tables import Judged, Row, Table
from .timing import Scale, play, timed

HUMAN, OTHER = "human_game_engine", "human_mixamo"
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
    return [
        Table("11. Clips that are kept, edited and cleaned", note, rows),
        Table("11. A clip on another skeleton", TRANSFER_NOTE, _transfer_rows(scale.of(525, 72))),
    ]


TRANSFER_NOTE = (
    "The walk of one human on another, whose rest pose, axes and proportions differ: by Blender's Copy Rotation in the "
    "owner's orientation with Copy Location of the hips, baked by `nla.bake`; by Transfer Motion without contacts, and "
    "with them. Slide: how far a foot moves from a frame to the next where the motion is marked to have it flat on the "
    "ground, in the mean and at most. Off the ground: the most that its ankle is higher or lower there than at rest. "
    "All are shares of a leg."
)


def _transfer_rows(frames: int) -> list[Row]:
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        source = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        owner: Any = make_human(OTHER)
    feet = [bone_of(OTHER, "foot", side) for side in "LR"]
    bones, data = owner.pose.bones, owner.data.bones
    thigh, foot = data[bone_of(OTHER, "thigh", "L")], data[feet[0]]
    leg, rest = float((thigh.head_local - foot.head_local).length), float((owner.matrix_world @ foot.head_local).z)
    span = {"span": "RANGE", "frame_start": 1, "frame_end": frames}

    def transfer(**options: Any) -> None:
        for one in CONTEXT.scene.objects:
            one.select_set(one in (source, owner))
        CONTEXT.view_layer.objects.active = owner
        OPS.fabrik.motion_transfer(**span, **options)

    def copy() -> None:
        for part in (*SINGLE, *TWIN):
            for side in ("",) if part in SINGLE else "LR":
                kinds = ("COPY_ROTATION", "COPY_LOCATION") if part == "hips" else ("COPY_ROTATION",)
                for kind in kinds:
                    made: Any = bones[bone_of(OTHER, part, side)].constraints.new(kind)
                    made.target, made.subtarget = source, bone_of(HUMAN, part, side)
                    made.target_space, made.owner_space = "LOCAL_OWNER_ORIENT", "LOCAL"
        bpy.ops.object.mode_set(mode="POSE")
        options: Any = {"visual_keying": True, "clear_constraints": True, "bake_types": {"POSE"}}
        bpy.ops.nla.bake(frame_start=1, frame_end=frames, only_selected=False, **options)
        bpy.ops.object.mode_set(mode="OBJECT")

    def row(way: str, seconds: float) -> Row:
        poses = _poses(owner, feet, frames)
        steps = np.concatenate([_steps(poses, i)[on] for i, on in enumerate(flat)]) / leg
        off = max(float(np.abs(poses[1:, i, 2][on] - rest).max()) for i, on in enumerate(flat)) / leg
        kept = way == WAYS[-1]
        return {
            "way": way,
            "slide": float(steps.mean()),
            "at most": Judged(float(steps.max()), at_most=STILL) if kept else float(steps.max()),
            "off the ground": Judged(off, at_most=STILL) if kept else off,
            "seconds / Copy Rotation": seconds / copied,
        }

    with quiet():
        kept = timed(transfer)
        flat = [_flat(owner, name, frames) for name in feet]
        owner.animation_data_clear()
        copied = timed(copy)
        rows = [row(WAYS[0], copied)]
        owner.animation_data_clear()
        limbs = timed(lambda: transfer(keep_contacts=False))
        rows.append(row(WAYS[1], limbs))
        owner.animation_data_clear()
        kept = min(kept, timed(transfer))
        rows.append(row(WAYS[2], kept))
    return rows


WAYS = ("Copy Rotation", "Transfer, without contacts", "Transfer Motion")


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
