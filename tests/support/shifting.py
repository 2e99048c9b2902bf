# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that shifts from foot to foot, and slides a little on the ground."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from support.animated import control, put_from_rest
from support.scenes import go_live, press
from support.skeletons import make_character
from support.stored import stored

FRAMES = range(1, 61)
STANDS = {"Leg.L": (1, 25), "Leg.R": (31, 60)}  # first and last frame in which a foot is on the ground
RATE = 30
SLIDE = 0.003  # of a leg, by which a foot that stands slides to and fro
LIFT = 6  # frames in which it comes up
STILL = 1e-4  # of a leg, by which a foot that stands still may move in a frame


@stored
def shifting() -> bpy.types.Object:
    """Such a character; its bones are keyed, and it is set up over that."""
    owner = make_character("human_mixamo")
    scene = bpy.context.scene
    assert scene is not None
    scene.render.fps, scene.frame_end = RATE, FRAMES[-1]
    press("character_setup")
    for frame in FRAMES:
        for name, (first, last) in STANDS.items():
            one, off = control(owner, name), min(max(first - frame, frame - last, 0) / LIFT, 1.0)
            wave = SLIDE * np.sin(0.9 * frame) if off == 0.0 else 0.0
            put_from_rest(owner, one.name, Vector((0.0, wave - 0.1 * off, 0.12 * off)))
            one.keyframe_insert("location", frame=frame)
    press("bake", span="SCENE", chains="ALL")
    press("rig_clear")
    for to in ("EDIT", "OBJECT", "EDIT", "OBJECT"):
        bpy.ops.object.mode_set(mode=to)
    press("character_setup")
    go_live(owner)
    return owner
