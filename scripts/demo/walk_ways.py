# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyed ways of the demo's walkers: an armature follows a curve, evenly but for its beginning and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
from mathutils import Vector

FPS = 24
EASED = 1.0  # seconds until a walker goes evenly, and in which it comes to stand


class Corner(NamedTuple):
    """A point of a curve on the floor: place and forward handle, by X and Y."""

    place: tuple[float, float]
    handle: tuple[float, float]


def follow(owner: bpy.types.Object, corners: Sequence[Corner], frames: tuple[int, int]) -> None:
    """Let an armature object that looks along -Y follow a curve, headed along it, from a frame to another."""
    way = _curve(corners)
    tie = owner.constraints.new("FOLLOW_PATH")
    assert isinstance(tie, bpy.types.FollowPathConstraint)
    tie.target, tie.use_fixed_location, tie.use_curve_follow = way, True, True
    tie.forward_axis, tie.up_axis = "TRACK_NEGATIVE_Y", "UP_Z"
    for share, frame in enumerate(frames):
        tie.offset_factor = float(share)
        tie.keyframe_insert("offset_factor", frame=frame)
    from fabrik_addon.rig import compat  # noqa: PLC0415  # what is enabled by now

    for curve in compat.fcurves_of(owner):
        first, last = curve.keyframe_points
        first.handle_right_type = last.handle_left_type = "FREE"
        first.handle_right = (first.co[0] + EASED * FPS, first.co[1])
        last.handle_left = (last.co[0] - EASED * FPS, last.co[1])
        curve.update()


def _curve(corners: Sequence[Corner]) -> bpy.types.Object:
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions, line.resolution_u = "3D", 64
    spline = line.splines.new("BEZIER")
    spline.bezier_points.add(len(corners) - 1)
    for point, corner in zip(spline.bezier_points, corners, strict=True):
        place, handle = Vector((*corner.place, 0.0)), Vector((*corner.handle, 0.0))
        point.co, point.handle_left, point.handle_right = place, place - handle, place + handle
    way = bpy.data.objects.new("Way", line)
    bpy.context.scene.collection.objects.link(way)
    return way
