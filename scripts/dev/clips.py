# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip as those that are captured or bought: a human whose bones are keyed in each frame, and nothing else of it."""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from blender import OPS

from .humans import bone_of, give_ranges, make_human

STRIDES = 0.0455  # metres a frame that the hips go, at 24 frames a second


def walking_clip(human: str, walked: tuple[int, int], frames: tuple[int, int]) -> Any:
    """A human that walks straight ahead, baked into its bones.

    Args:
        human: Name of the skeleton.
        walked: Frames between which its hips go.
        frames: Of the scene.
    """
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = frames
    owner: Any = make_human(human)
    give_ranges(owner)
    hips = owner.pose.bones[bone_of(human, "hips")]
    back = hips.bone.matrix_local.to_3x3().inverted()
    for frame, way in zip(walked, (0.0, STRIDES * (walked[1] - walked[0])), strict=True):
        hips.location = back @ Vector((0.0, -way, 0.0))
        hips.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="POSE")
    OPS.fabrik.walker_add()
    OPS.fabrik.walk_plan(span="SCENE")
    OPS.fabrik.walk_bake(into="BONES")
    OPS.fabrik.rig_clear()
    for mode in ("EDIT", "OBJECT") * 2:  # to leave it rounds rest bones, as the set-up does that makes controls
        bpy.ops.object.mode_set(mode=mode)
    return owner


def stretch_way(owner: Any, hips: str, factor: float, curves: Any) -> None:
    """Let the hips of a clip go farther, by a factor, than its steps, so that its feet slide."""
    path = owner.pose.bones[hips].path_from_id("location")
    for curve in curves:
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.co[1] *= factor
            curve.update()
