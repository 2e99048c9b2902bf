# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits through time: moves of controls that fade over frames, and leave all others; tweens and trails."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.through_time import end_of
from fabrik_addon.overlay.bones import is_true
from fabrik_addon.overlay.settings import state
from fabrik_addon.rig.animation.compat import fcurves_of, set_selected
from fabrik_addon.rig.bones import pose_bones
from mathutils import Quaternion, Vector

from support.animated import FIRST, LAST, Motion, control, limb, move, played, size
from support.hanging import chain
from support.scenes import assert_refused, each_frame, go_live, press, update
from support.skeletons import height

pytestmark = pytest.mark.usefixtures("not_live")

AT, WIDTH = 12, 5
SCENE: Any = bpy.context


@pytest.fixture
def hand(motion: Motion) -> Motion:
    """A character with motion, with the control of a hand selected in Pose mode at a frame."""
    owner = motion[0]
    selected(owner, "Arm.L")
    bpy.context.scene.frame_set(AT)
    return motion


def selected(owner: bpy.types.Object, name: str) -> None:
    """Select the control of a chain alone, and make the chain the active one."""
    bpy.ops.object.mode_set(mode="POSE")
    for bone in pose_bones(owner):
        set_selected(bone, False)
    set_selected(control(owner, name), True)
    owner.data.bones.active = control(owner, name).bone
    owner.fabrik.active_index = [one.name for one in owner.fabrik.chains].index(name)


def keys_of(owner: bpy.types.Object, name: str) -> dict[tuple[str, int], list[tuple[float, float]]]:
    path = control(owner, name).path_from_id()
    own = [curve for curve in fcurves_of(owner) if curve.data_path.startswith(f"{path}.")]
    return {
        (one.data_path, one.array_index): [(point.co[0], point.co[1]) for point in one.keyframe_points] for one in own
    }


def test_a_move_fades_over_the_frames_about_it_and_none_beyond_change(hand: Motion) -> None:
    owner, names, before = hand
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    press("time_spread", width=WIDTH)
    poses, tip = played(owner, names), names.index(limb(owner, "Arm.L"))
    frames = np.arange(FIRST, LAST + 1)
    assert (poses[np.abs(frames - AT) >= WIDTH] == before[np.abs(frames - AT) >= WIDTH]).all()
    gone = np.linalg.norm(poses[:, tip, :3, 3] - before[:, tip, :3, 3], axis=1) / np.hypot(0.1, 0.2) / size(owner)
    off = np.clip(np.abs(frames - AT) / WIDTH, 0.0, 1.0)
    assert gone == pytest.approx(1.0 - off * off * (3.0 - 2.0 * off), abs=0.01)


def test_a_second_move_is_added_to_the_keys_of_the_first(hand: Motion) -> None:
    owner, _, _ = hand
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    press("time_spread", width=WIDTH)
    bone = control(owner, "Arm.L")
    bpy.context.scene.frame_set(AT - 3)
    stood = _locations(owner)
    stands = [point for own in keys_of(owner, "Arm.L").values() for point, _ in own]
    assert {*stands} == {AT - WIDTH, AT, AT + WIDTH}
    bone.location = [value + 0.1 for value in bone.location]
    press("time_spread", width=6)
    after = _locations(owner)
    frames = np.arange(FIRST, LAST + 1)
    off = np.clip(np.abs(frames - AT + 3) / 6.0, 0.0, 1.0)
    assert after - stood == pytest.approx(0.1 * np.tile((1.0 - off * off * (3.0 - 2.0 * off))[:, None], 3), abs=0.004)
    assert (after[off >= 1.0] == stood[off >= 1.0]).all() or np.abs(after - stood)[off >= 1.0].max() <= 1e-6


def _locations(owner: bpy.types.Object) -> Any:
    path = control(owner, "Arm.L").path_from_id("location")
    curves = sorted((one for one in fcurves_of(owner) if one.data_path == path), key=lambda one: one.array_index)
    return np.array([[curve.evaluate(frame) for curve in curves] for frame in range(FIRST, LAST + 1)])


def test_a_turn_fades_too_by_the_way_between_rotations(hand: Motion) -> None:
    owner, _, _ = hand
    bone = control(owner, "Arm.L")
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = Quaternion((0.0, 1.0, 0.0), 0.8)
    press("time_spread", width=WIDTH)
    for frame in each_frame((AT - WIDTH, AT, AT + WIDTH)):
        assert control(owner, "Arm.L").rotation_quaternion.angle == pytest.approx(0.8 if frame == AT else 0.0, abs=1e-6)


def test_automatic_keys_of_the_tool_are_taken_back(hand: Motion) -> None:
    owner, _, _ = hand
    bpy.ops.fabrik.time_note()
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    control(owner, "Arm.L").keyframe_insert("location", frame=AT)  # as a tool of Blender's does
    press("time_spread", width=WIDTH, after_tool=True)
    for path, keys in keys_of(owner, "Arm.L").items():
        assert [frame for frame, _ in keys] == [AT - WIDTH, AT, AT + WIDTH], path
        assert keys[0][1] == keys[2][1] == 0.0


@pytest.mark.parametrize("kind", ["AUTO", "AUTO_CLAMPED"])
def test_keys_on_the_edge_keep_what_is_beyond(hand: Motion, kind: str) -> None:
    owner, _, _ = hand
    bone = control(owner, "Arm.L")
    for frame, height_at in ((2, 0.0), (7, 0.05), (12, 0.02), (17, 0.08), (22, 0.0)):
        bone.location = (0.0, 0.0, height_at)
        bone.keyframe_insert("location", frame=frame)
    for curve in fcurves_of(owner):
        if curve.data_path == bone.path_from_id("location"):
            for point in curve.keyframe_points:
                point.handle_left_type = point.handle_right_type = kind
            curve.update()
    bpy.context.scene.frame_set(7)
    stood = _locations(owner)
    bone.location.z += 0.1
    press("time_spread", width=5)
    after = _locations(owner)
    frames = np.arange(FIRST, LAST + 1)
    assert np.abs(after - stood)[np.abs(frames - 7) >= 5].max() <= 1e-7
    assert after[6, 2] - stood[6, 2] == pytest.approx(0.1)


def test_a_tool_that_was_cancelled_is_forgotten(hand: Motion) -> None:
    owner, _, _ = hand
    bpy.ops.fabrik.time_note()  # and no tool after it
    bpy.context.scene.frame_set(AT - 4)
    selected(owner, "Arm.R")
    move(owner, "Arm.R", (0.0, -0.1, 0.1))
    press("time_spread", width=3)
    assert keys_of(owner, "Arm.R")
    assert not keys_of(owner, "Arm.L")


def test_of_a_control_that_is_moved_and_turned_one_may_be_of_all_frames(hand: Motion) -> None:
    owner, _, _ = hand
    bone = control(owner, "Arm.L")
    bone.rotation_mode = "QUATERNION"
    bone.location, bone.rotation_quaternion = (0.1, 0.0, 0.0), Quaternion((0.0, 1.0, 0.0), 0.5)
    assert_refused("key it where it is to be as it was", "time_spread", width=WIDTH)
    assert not keys_of(owner, "Arm.L")


def test_a_tool_that_moves_nothing_leaves_no_keys(hand: Motion) -> None:
    owner, _, _ = hand
    bpy.ops.fabrik.time_note()
    bpy.ops.fabrik.time_spread(width=WIDTH, after_tool=True)
    assert not keys_of(owner, "Arm.L")


def test_a_spread_is_undone_in_one_step(hand: Motion) -> None:
    owner, name = hand[0], hand[0].name
    bpy.ops.ed.undo_push(message="before")
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    bpy.ops.ed.undo_push(message="moved")
    assert bpy.ops.fabrik.time_spread("EXEC_DEFAULT", True, width=WIDTH) == {"FINISHED"}
    bpy.ops.ed.undo()
    assert not keys_of(bpy.data.objects[name], "Arm.L")


def test_a_drag_through_time_keys_the_control_about_its_frame(motion: Motion) -> None:
    owner, _, _ = motion
    bpy.context.scene.frame_set(AT)
    SCENE.scene.fabrik_through_time, SCENE.scene.fabrik_time_width = True, WIDTH
    press("drag", chain="Arm.L", way=(0.0, -0.05 * height(owner), 0.08 * height(owner)))
    keys = keys_of(owner, "Arm.L")
    assert keys
    assert {frame for own in keys.values() for frame, _ in own} == {AT - WIDTH, AT, AT + WIDTH}


def test_the_tools_are_there_only_through_time(hand: Motion) -> None:
    assert not bpy.ops.fabrik.move_through_time.poll()
    SCENE.scene.fabrik_through_time = True
    assert bpy.ops.fabrik.move_through_time.poll()
    assert bpy.ops.fabrik.turn_through_time.poll()


def test_a_place_without_keys_tells_not_from_where_it_was_moved(human: bpy.types.Object) -> None:
    selected(human, "Arm.L")
    control(human, "Arm.L").location = (0.1, 0.0, 0.0)
    assert_refused("has no keys: key it where it is to be as it was", "time_spread", width=WIDTH)


# Tweens.


def test_a_tween_of_a_hand_swings_about_its_shoulder(human: bpy.types.Object) -> None:
    go_live(human)
    selected(human, "Arm.L")
    bone, tall = control(human, "Arm.L"), height(human)
    for frame, way in ((1, (0.0, 0.0, 0.0)), (21, (-0.1, -0.15, -0.15))):
        bpy.context.scene.frame_set(frame)
        bone.location = [tall * one for one in way]
        bone.keyframe_insert("location", frame=frame)
    far = [_from_shoulder(human, frame).length for frame in (1, 21)]
    bpy.context.scene.frame_set(11)
    press("goals_tween", share=0.5)
    assert _from_shoulder(human, 11).length == pytest.approx(sum(far) / 2.0, rel=1e-3)
    press("goals_tween", share=0.0)
    assert (_from_shoulder(human, 11) - _from_shoulder(human, 1)).length <= 1e-3 * tall


def _from_shoulder(owner: bpy.types.Object, frame: int) -> Vector:
    bpy.context.scene.frame_set(frame)
    posed = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    own = [
        bone.name
        for bone in [pose_bones(owner)[limb(owner, "Arm.L")], *pose_bones(owner)[limb(owner, "Arm.L")].parent_recursive]
    ]
    root = pose_bones(posed)[own[chain(owner, "Arm.L").bone_count - 1]].head
    return Vector(pose_bones(posed)[chain(owner, "Arm.L").target_bone].head - root)


def test_a_tween_leaves_channels_where_they_are_at_the_keys(human: bpy.types.Object) -> None:
    selected(human, "Arm.L")
    bone, tall = control(human, "Arm.L"), height(human)
    for frame, up in ((1, 0.0), (21, -0.15)):
        bone.location = (0.0, 0.0, up * tall)
        bone.keyframe_insert("location", index=2, frame=frame)
    bpy.context.scene.frame_set(11)
    press("goals_tween", share=0.5)
    for _ in each_frame((1, 21)):
        assert [*control(human, "Arm.L").location][:2] == [0.0, 0.0]


def test_without_keys_on_both_sides_there_is_no_tween(hand: Motion) -> None:
    assert_refused("no goal has keys before and after this frame", "goals_tween")


# Trails.


def test_a_trail_tells_where_a_live_hand_is_and_when_it_is_old(hand: Motion) -> None:
    owner, _, _ = hand
    move(owner, "Body", (0.0, 0.0, -0.05))
    press("trails_show", span="RANGE", frame_start=FIRST, frame_end=LAST)
    (trail,) = state.trails.values()
    assert bpy.context.scene.frame_current == AT
    for frame in each_frame((FIRST, AT, LAST)):
        place = end_of(owner, trail.taken, bpy.context.evaluated_depsgraph_get())
        assert trail.at(frame) == pytest.approx(place, abs=1e-6)
    bpy.context.scene.frame_set(AT)
    assert is_true(bpy.context, trail)
    move(owner, "Arm.L", (0.0, 0.0, 0.2))
    update()
    assert not is_true(bpy.context, trail)
    press("time_spread", width=WIDTH)  # which follows it anew
    (trail,) = state.trails.values()
    assert is_true(bpy.context, trail)
    bpy.ops.fabrik.trails_hide()
    assert not state.trails
