# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs whose targets are keyed, baked and looked at."""

from __future__ import annotations

import bpy
from fabrik_addon.kernel.rotations import turn_angle
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.session.bake import BakeSettings, bake
from mathutils import Quaternion

from rigs import add_chain, make_line, tip_error

FRAMES = tuple(range(1, 21))
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


def keyed_line(mode: str = "QUATERNION", count: int = 3):
    """A line whose target runs on a curve from frame 1 to 20."""
    owner = make_line(count)
    for bone in owner.pose.bones:
        bone.rotation_mode = mode
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    for frame, place in ((1, (-0.5, 0.4, 1.9)), (10, (0.3, 1.2, 1.2)), (20, (0.7, -0.4, 1.6))):
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)
    return owner, chain


def run(owner, chain, **settings):
    return bake(bpy.context, [(owner, chain)], BakeSettings(**{"frames": FRAMES, **settings})).chains[0]


def assert_on_target(owner, chain, frames=FRAMES, most: float = 1e-5) -> None:
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        assert tip_error(owner, chain) < most, frame


def local_rotations(owner) -> list[Quaternion]:
    return [bone.matrix_basis.to_quaternion() for bone in owner.pose.bones]


def rotation_keys(owner):
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in fcurves_of(owner)
    }


def poses(owner, frames) -> dict:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = local_rotations(owner)
    return found


def assert_same(owner, before, most: float = 1e-4) -> None:
    for frame, rotations in before.items():
        bpy.context.scene.frame_set(frame)
        for seen, wanted in zip(local_rotations(owner), rotations, strict=True):
            assert turn_angle(seen.conjugated() @ wanted) < most, frame
