# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that are kept, edited, cleaned and brought to another skeleton: what that costs, and what is exact."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from blender import OPS, quiet
from dev.humans import (
    SINGLE,
    TWIN,
    bone_of,
    both,
    flat_steps,
    make_human,
    named,
    played,
    stretch_way,
    transfer,
    walking_clip,
    ways,
)
from rigs import empty_file

from .armatures import channels
from .tables import Judged, Row, Scale, Table, play, timed

HUMAN, OTHER = "human_game_engine", "human_mixamo"
FPS = 24
TOO_FAR = 1.06  # by which the hips go farther than the steps
LOWER = 0.1  # metres by which the hips are lowered
STILL, HELD = 1e-4, 1e-5  # of a leg
FIND, CLEAN = 2.0, 1.5  # times as long as reading the clip's poses
CONTEXT: Any = bpy.context


def clips(scale: Scale) -> Table:
    """Clips that are set up, posed, and cleaned."""
    note = (
        "A human whose bones are keyed in each frame, set up and live. Kept: frames in which no channel differs. Rest: "
        "a frame of playback with all controls at rest beside the same without live posing; edited: the same with the "
        "hips lowered for the whole clip, and how far feet are then from where they were. Finding and cleaning "
        "contacts beside going through the frames and reading the bones. Slide: the most that a foot that is marked "
        "as flat moves from a frame to the next, before and after. Distances are shares of a leg."
    )
    rows = [_row(scale, frames) for frames in (scale.of(96, 48), scale.of(525, 72))]
    return Table("11. Clips that are kept, edited and cleaned", note, rows)


def transfers(scale: Scale) -> Table:
    """A walk that is brought to another human."""
    note = (
        "The walk of one human on another, whose rest pose, axes and proportions differ: by Blender's Copy Rotation in "
        "the owner's orientation with Copy Location of the hips, baked by `nla.bake`; by Transfer Motion without "
        "contacts, and with them. Slide: how far a foot moves from a frame to the next where the motion is marked to "
        "have it flat on the ground, in the mean and at most. Off the ground: the most that its ankle is higher or "
        "lower there than at rest. All are shares of a leg."
    )
    frames = scale.of(525, 72)
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        source = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        owner: Any = make_human(OTHER)
    feet, bones = both(OTHER, "foot"), owner.pose.bones
    rest = float((owner.matrix_world @ owner.data.bones[feet[0]].head_local).z)
    leg, span = _leg(owner, OTHER), {"span": "RANGE", "frame_start": 1, "frame_end": frames}

    def copy() -> None:
        for part in (*SINGLE, *TWIN):
            kinds = ("COPY_ROTATION", "COPY_LOCATION") if part == "hips" else ("COPY_ROTATION",)
            for own, other in zip(named(OTHER, part), named(HUMAN, part), strict=True):
                for kind in kinds:
                    made: Any = bones[own].constraints.new(kind)
                    made.target, made.subtarget = source, other
                    made.target_space, made.owner_space = "LOCAL_OWNER_ORIENT", "LOCAL"
        bpy.ops.object.mode_set(mode="POSE")
        options: Any = {"visual_keying": True, "clear_constraints": True, "bake_types": {"POSE"}}
        bpy.ops.nla.bake(frame_start=1, frame_end=frames, only_selected=False, **options)
        bpy.ops.object.mode_set(mode="OBJECT")

    def row(way: str, seconds: float) -> Row:
        poses = played(owner, feet)
        steps = np.concatenate([ways(poses[:, i])[on] for i, on in enumerate(flat)]) / leg
        off = max(float(np.abs(poses[1:, i, 2][on] - rest).max()) for i, on in enumerate(flat)) / leg
        kept = way == WAYS[-1]
        return {
            "way": way,
            "slide": float(steps.mean()),
            "at most": Judged(float(steps.max()), at_most=STILL) if kept else float(steps.max()),
            "off the ground": Judged(off, at_most=STILL) if kept else off,
            "seconds / Copy Rotation": seconds / copied,
        }

    def transferred(**options: bool) -> float:
        owner.animation_data_clear()
        return timed(lambda: transfer(source, owner, **span, **options))

    with quiet():
        kept = transferred()
        flat = [flat_steps(owner, name) for name in feet]
        owner.animation_data_clear()
        copied = timed(copy)
        rows = [row(WAYS[0], copied), row(WAYS[1], transferred(keep_contacts=False))]
        rows.append(row(WAYS[2], min(kept, transferred())))
    return Table("11. A clip on another skeleton", note, rows)


WAYS = ("Copy Rotation", "Transfer, without contacts", "Transfer Motion")


def _row(scale: Scale, frames: int) -> Row:
    with quiet():
        empty_file()
        CONTEXT.scene.render.fps = FPS
        owner = walking_clip(HUMAN, (9, frames - 8), (1, frames))
        stretch_way(owner, bone_of(HUMAN, "hips"), TOO_FAR)
        names = [bone.name for bone in owner.pose.bones]
        before = channels(owner, range(1, frames + 1), names)
        slid = played(owner, names)
        CONTEXT.scene.frame_set(1)
        OPS.fabrik.character_setup()
    rig, leg = rig_of(owner), _leg(owner, HUMAN)
    rig.live = True
    now = channels(owner, range(1, frames + 1), names)
    kept = np.mean([(now[frame] == then).all() for frame, then in before.items()])
    span, some = {"span": "RANGE", "frame_start": 1, "frame_end": frames}, min(frames, 48)
    playing = (lambda: _play(owner, False, some)), (lambda: _play(owner, True, some))
    resting = scale.interleaved(*playing)
    body = owner.pose.bones[rig.chains["Body"].target_bone]
    body.location = body.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -LOWER))
    edited = scale.interleaved(*playing)
    feet = [names.index(rig.chains[name].tip_bone) for name in ("Leg.L", "Leg.R")]
    held = np.abs((played(owner, names) - slid)[:, feet]).max() / leg
    body.location = (0.0, 0.0, 0.0)
    read = timed(lambda: played(owner, names))
    with quiet():
        found = timed(lambda: OPS.fabrik.contacts_find(**span))
        cleaned = timed(lambda: OPS.fabrik.contacts_clean(**span))
    still, flat = played(owner, names), [flat_steps(owner, names[foot]) for foot in feet]
    slides = [
        max(float(ways(poses[:, foot])[on].max()) for foot, on in zip(feet, flat, strict=True)) / leg
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


def _leg(owner: Any, human: str) -> float:
    """The length of a leg at rest."""
    thigh, foot = (owner.data.bones[bone_of(human, part, "L")] for part in ("thigh", "foot"))
    return float((thigh.head_local - foot.head_local).length)


def _play(owner: Any, live: bool, frames: int) -> None:
    rig_of(owner).live = live
    play(range(1, frames + 1))
