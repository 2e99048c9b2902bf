# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves read at many frames at once say what Blender says frame by frame, to the last bit; nothing stays behind."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.curve_samples import values_at
from fabrik_addon.rig.goals import GoalRef
from fabrik_addon.rig.plain_motion import points_at

from support.scenes import make_empty

FRAMES = {
    "a range": np.arange(-20.0, 60.0),
    "every third": np.arange(1.0, 90.0, 3.0),
    "two": np.array((4.0, 9.0)),
    "one": np.array((7.0,)),
    "sub-frames": np.arange(1.0, 30.0, 0.25),
    "far apart": np.arange(1.0, 100_000.0, 5000.0),
}
KINDS = ("plain", "cyclic", "noise", "sampled", "constant", "no keys")


def moving(kind: str = "plain", name: str = "Goal") -> bpy.types.Object:
    found = make_empty((0.1, 0.2, 0.3), name)
    for frame, place in ((-3, (0.3, 1, 0)), (4.5, (1.7, 0, -2)), (20, (0.2, 0.7, 9)), (33, (0, 0, 0.11))):
        found.location = place
        found.keyframe_insert("location", frame=frame)
    for curve in fcurves_of(found):
        if kind in ("cyclic", "noise"):
            modifier = curve.modifiers.new("CYCLES" if kind == "cyclic" else "NOISE")
            modifier.use_influence = True
        elif kind == "sampled":
            curve.convert_to_samples(0, 40)
        elif kind == "constant":
            curve.keyframe_points[1].interpolation = "CONSTANT"
            curve.keyframe_points[2].interpolation = "ELASTIC"
        elif kind == "no keys":
            curve.keyframe_points.clear()
    return found


@pytest.mark.parametrize("frames", FRAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_values(kind: str, frames: str) -> None:
    curves = [*fcurves_of(moving(kind)), *fcurves_of(moving(name="Other"))]
    actions = len(bpy.data.actions)
    found = values_at([*curves, curves[0]], FRAMES[frames])
    for curve, values in zip([*curves, curves[0]], found, strict=True):
        assert values.tolist() == [curve.evaluate(frame) for frame in FRAMES[frames].tolist()]
    assert len(bpy.data.actions) == actions


@pytest.mark.parametrize("frames", ["a range", "sub-frames"])
def test_points_are_where_blender_puts_the_object(frames: str) -> None:
    goal = moving()
    goal.delta_location = (0.7, -12.3, 1e-3)
    goal.keyframe_insert("delta_location", index=1, frame=1)
    goal.delta_location.y = 0.1
    goal.keyframe_insert("delta_location", index=1, frame=12)
    (points,) = points_at([GoalRef("target", goal, "")], FRAMES[frames])
    assert points is not None
    for frame, point in zip(FRAMES[frames].tolist(), points.tolist(), strict=True):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        evaluated = goal.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert point == list(evaluated.matrix_world.translation)


def test_an_object_that_something_else_moves() -> None:
    goal, other = moving(), make_empty((0, 0, 0), "Other")
    goal.parent = other
    assert points_at([GoalRef("target", goal, ""), GoalRef("pole", other, "")], np.array((1.0, 2.0)))[0] is None
