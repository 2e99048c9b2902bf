# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a motion: in layers, and through time."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.through_time import end_of
from fabrik_addon.overlay.bones import is_true, owner_of
from fabrik_addon.overlay.settings import state
from fabrik_addon.rig.animation.compat import copy_action, curves_of_action, fcurves_of, give_action, set_selected
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Quaternion, Vector

from support.animated import FIRST, LAST, Frames, Motion, control, limb, move, played, size, with_motion
from support.hanging import activate, chain
from support.scenes import assert_refused, each_frame, go_live, keyed, make_empty, press, put, update
from support.skeletons import height
from support.stored import empty_file, stored

pytestmark = pytest.mark.usefixtures("not_live")

AT = 12
SMALL = 2e-5  # of matrices, in what is stored in single precision


@pytest.fixture
def motion(request: pytest.FixtureRequest) -> Motion:
    """A character with motion that is set up and live; where turns count, by quaternions and by angles (`TURNING`)."""
    return with_motion("human_mixamo", getattr(request, "param", "QUATERNION"))


TURNING = pytest.mark.parametrize("motion", ["QUATERNION", "XYZ"], indirect=True)


@pytest.fixture
def layered(motion: Motion) -> Motion:
    """A character whose hand is moved up by keys, and in a layer above that forwards at one frame."""
    mode = pose_bones(motion[0])[0].rotation_mode
    empty_file()
    return in_layers(mode)


@stored
def in_layers(mode: str) -> Motion:
    owner, names, _ = with_motion("human_mixamo", mode)
    bpy.context.scene.frame_set(AT)
    move(owner, "Arm.L", (0.0, 0.0, 0.1))
    for frame in (AT - 6, AT + 6):
        control(owner, "Arm.L").keyframe_insert("location", frame=frame)
    press("layer_add", layer="Reach")
    move(owner, "Arm.L", (0.0, -0.2, 0.0))
    for frame in (FIRST, LAST):
        control(owner, "Arm.L").keyframe_insert("location", frame=frame)
    update()
    return owner, names, played(owner, names)


def hands(owner: bpy.types.Object, names: list[str], poses: Frames, before: Frames) -> Frames:
    """How far a hand is moved in each frame, in legs: (F, 3)."""
    tip = names.index(limb(owner, "Arm.L"))
    found: Frames = (poses - before)[:, tip, :3, 3] / size(owner)
    return found


@TURNING
def test_edits_of_layers_are_added_up_by_their_shares_and_go_with_them(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered

    def lengths() -> Frames:
        found: Frames = np.linalg.norm(hands(owner, names, played(owner, names), motion[2]), axis=1)
        return found

    assert [layer.name for layer in rig_of(owner).layers] == ["Edits", "Reach"]
    assert lengths() == pytest.approx(np.hypot(0.1, 0.2), abs=2e-3)
    for layer, share, length in (("Reach", 0.0, 0.1), ("Edits", 0.0, 0.2), ("Reach", 0.5, np.hypot(0.1, 0.1))):
        rig_of(owner).layers[layer].influence = share
        assert lengths() == pytest.approx(length, abs=2e-3)
        rig_of(owner).layers[layer].influence = 1.0
    for layer in rig_of(owner).layers:
        layer.enabled = False
    assert (played(owner, names) == motion[2]).all()
    rig_of(owner).layers["Edits"].enabled = True
    press("layer_remove", layer="Reach")
    assert lengths() == pytest.approx(0.1, abs=2e-3)
    assert_refused("it is the only layer", "layer_remove", layer="Edits")


@pytest.mark.parametrize("name", ["Edits", "Reach"])
def test_choosing_one_changes_no_pose_and_takes_its_keys_along(layered: Motion, name: str) -> None:
    owner, names, poses = layered
    press("layer_choose", layer="Edits")
    press("layer_choose", layer=name)
    assert np.abs(played(owner, names) - poses).max() <= SMALL
    path = control(owner, "Arm.L").path_from_id("location")
    frames = {point.co[0] for one in fcurves_of(owner) if one.data_path == path for point in one.keyframe_points}
    assert frames == ({AT - 6, AT + 6} if name == "Edits" else {FIRST, LAST})


def test_influence_can_be_keyed(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered
    keyed(rig_of(owner).layers["Reach"], {FIRST: 0.0, LAST: 1.0}, "influence")
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way[0]) == pytest.approx(0.1, abs=2e-3)
    assert np.linalg.norm(way[-1]) == pytest.approx(np.hypot(0.1, 0.2), abs=2e-3)
    press("layer_remove", layer="Edits")
    assert {one.data_path for one in fcurves_of(owner) if "layers" in one.data_path} == {"fabrik_layers[0].influence"}
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way[[0, -1]], axis=1) == pytest.approx([0.0, 0.2], abs=2e-3)


@TURNING
def test_turns_are_added_up_and_a_goal_comes_along_in_the_layer_at_hand(layered: Motion) -> None:
    owner, _, _ = layered
    bone = control(owner, "Arm.L")
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.4)
    bone.keyframe_insert("rotation_quaternion", frame=FIRST)
    press("layer_add")
    bpy.context.scene.frame_set(AT)
    update()
    hand = limb(owner, "Arm.L")
    stood = pose_bones(owner)[hand].matrix.copy()
    control(owner, "Arm.L").rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.3)
    update()
    turned = pose_bones(owner)[hand].matrix.to_quaternion().rotation_difference(stood.to_quaternion()).angle
    assert turned == pytest.approx(0.3, abs=1e-3)
    rig_of(owner).layers["Layer"].influence = 0.5
    activate(owner, "Arm.L")
    update()
    rig_of(owner).live = False
    turned_by_hand(owner, hand)
    pose = np.array(pose_bones(owner)[hand].matrix)
    press("goal_snap")
    go_live(owner)
    assert np.abs(np.array(pose_bones(owner)[hand].matrix) - pose).max() <= 2e-3 * size(owner)


def turned_by_hand(owner: bpy.types.Object, name: str) -> None:
    """Turn a bone by a fifth of a radian, without a goal."""
    bone = pose_bones(owner)[name]
    bone.matrix = bone.matrix @ Quaternion((0.0, 0.0, 1.0), 0.2).to_matrix().to_4x4()
    update()


def test_no_goal_is_moved_in_a_layer_that_is_off_and_that_is_told(layered: Motion) -> None:
    owner, names, _ = layered
    rig_of(owner).layers["Reach"].enabled = False
    stood = played(owner, names)
    activate(owner, "Arm.L")
    assert_refused("moves nothing while the layer of edits at hand is off", "goal_snap")
    turned_by_hand(owner, limb(owner, "Arm.L"))  # which brings goals along, as far as they move anything
    assert np.abs(played(owner, names) - stood).max() <= SMALL


def test_a_pole_that_is_an_object_has_one_layer_alone(motion: Motion) -> None:
    owner, names, before = motion
    one = rig_of(owner).chains["Arm.L"]
    pole = make_empty(name="Pole")
    pole.parent, pole.parent_type = owner, "BONE"
    pole.parent_bone = pose_bones(owner)[one.pole_bone].parent.name
    update()
    pole.matrix_world = owner.matrix_world @ pose_bones(owner)[one.pole_bone].matrix
    update()
    pole.matrix_parent_inverse, pole.matrix_basis = pole.matrix_parent_inverse @ pole.matrix_basis, Matrix()  # at rest
    update()
    one.pole, one.pole_bone = pole, ""
    assert np.abs(played(owner, names) - before).max() <= SMALL
    press("layer_add")
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    control(owner, "Arm.L").keyframe_insert("location", frame=AT)
    assert np.linalg.norm(hands(owner, names, played(owner, names), before), axis=1).min() > 0.2
    press("edits_apply")


@TURNING
def test_applied_edits_are_those_of_all_layers_that_count(layered: Motion) -> None:
    owner, names, poses = layered
    press("edits_apply")
    assert np.abs(played(owner, names) - poses).max() <= 1e-3 * size(owner)
    assert not any("location" in one.data_path and "Arm.L" in one.data_path for one in fcurves_of(owner))


def test_applied_edits_leave_those_of_layers_that_are_off(motion: Motion, layered: Motion) -> None:
    owner, names, _ = layered
    rig_of(owner).layers["Edits"].enabled = False
    alone = played(owner, names)
    press("edits_apply")
    assert np.abs(played(owner, names) - alone).max() <= 1e-3 * size(owner)
    rig_of(owner).layers["Edits"].enabled = True
    way = hands(owner, names, played(owner, names), motion[2])
    assert np.linalg.norm(way, axis=1) == pytest.approx(np.hypot(0.1, 0.2), abs=5e-3)


def test_keys_in_other_actions_of_the_character_are_put_aside_too(layered: Motion) -> None:
    owner, names, poses = layered
    other = owner.animation_data.action.copy()
    other.use_fake_user = True
    press("layer_choose", layer="Edits")
    owner.animation_data.action = other
    assert np.abs(played(owner, names) - poses).max() <= SMALL


def test_a_layer_that_goes_takes_its_keys_out_of_other_actions_too(layered: Motion) -> None:
    owner, names, _ = layered
    for layer, influence in zip(rig_of(owner).layers, (0.0, 1.0), strict=True):
        layer.influence = influence
        layer.keyframe_insert("influence", frame=1)
    stood, other = played(owner, names), owner.animation_data.action.copy()
    press("layer_remove", layer="Edits")
    assert np.abs(played(owner, names) - stood).max() <= SMALL
    owner.animation_data.action = other
    assert np.abs(played(owner, names) - stood).max() <= SMALL


@pytest.mark.parametrize("is_alike", [False, True], ids=["named otherwise", "named alike"])
def test_layers_leave_the_actions_of_another_armature_alone(motion: Motion, is_alike: bool) -> None:
    """Which it does not play at present; a copy's slots are called as those of the one that it was copied from."""
    owner = motion[0]
    twin = owner.copy()
    twin.data = owner.data.copy()
    bpy.context.collection.objects.link(twin)
    if is_alike:
        copy_action(twin)
    else:
        twin.animation_data_clear()
        twin.name = "Twin"
    bone = control(twin, "Arm.L")
    bone.keyframe_insert("location", frame=1)
    action, path = twin.animation_data.action, bone.path_from_id("location")
    played = {curve.data_path for curve in curves_of_action(action)}
    give_action(twin.animation_data, bpy.data.actions.new("another"))
    press("layer_add", layer="Wave")
    assert path in played
    assert {curve.data_path for curve in curves_of_action(action)} == played


WIDTH = 5


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
    activate(owner, name)


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


@TURNING
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


KINDS: dict[str, dict[str, str]] = {
    "VECTOR": {"handle_left_type": "VECTOR", "handle_right_type": "VECTOR"},
    **{kind: {"handle_left_type": kind, "handle_right_type": kind} for kind in ("AUTO", "AUTO_CLAMPED")},
    **{kind: {"interpolation": kind} for kind in ("SINE", "ELASTIC", "LINEAR")},
}


@pytest.mark.parametrize("extrapolation", ["LINEAR", "CONSTANT"])
@pytest.mark.parametrize("at", [7, 13, 20])  # the last one is beyond all keys
@pytest.mark.parametrize("kind", KINDS)
def test_keys_on_the_edge_keep_what_is_beyond(hand: Motion, kind: str, at: int, extrapolation: str) -> None:
    owner, _, _ = hand
    bone = control(owner, "Arm.L")
    for frame, height_at in ((2, 0.0), (7, 0.05), (11, 0.02), (14, 0.08)):
        bone.location = (0.0, 0.0, height_at)
        bone.keyframe_insert("location", frame=frame)
    for curve in fcurves_of(owner):
        if curve.data_path == bone.path_from_id("location"):
            for point in curve.keyframe_points:
                put(point, **KINDS[kind])
            setattr(curve, "extrapolation", extrapolation)
            curve.update()
    bpy.context.scene.frame_set(at)
    stood = _locations(owner)
    bone.location.z += 0.1
    press("time_spread", width=4)
    after = _locations(owner)
    frames = np.arange(FIRST, LAST + 1)
    assert np.abs(after - stood)[np.abs(frames - at) >= 4].max() <= 1e-6
    assert after[at - FIRST, 2] - stood[at - FIRST, 2] == pytest.approx(0.1)


def test_channels_without_keys_stay_where_those_with_keys_are_moved(hand: Motion) -> None:
    owner, names, _ = hand
    move(owner, "Arm.L", (0.0, -0.1, 0.3))
    for frame in (FIRST, LAST):
        control(owner, "Arm.L").keyframe_insert("location", index=0, frame=frame)
    stood = played(owner, names)
    bpy.context.scene.frame_set(AT)
    control(owner, "Arm.L").location.x += 0.05 * size(owner)
    press("time_spread", width=4)
    is_beyond = np.abs(np.arange(FIRST, LAST + 1) - AT) >= 4
    assert np.abs(played(owner, names) - stood)[is_beyond].max() <= SMALL


def test_keys_that_another_armature_plays_too_are_left(hand: Motion) -> None:
    owner = hand[0]
    control(owner, "Arm.L").keyframe_insert("location", frame=AT)
    twin = owner.copy()
    bpy.context.collection.objects.link(twin)
    control(owner, "Arm.L").location.z += 0.1
    assert_refused(f"is also played by '{twin.name}'", "time_spread", width=4)


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


def test_a_drag_through_time_keys_the_control_about_its_frame(motion: Motion) -> None:
    owner, _, _ = motion
    bpy.context.scene.frame_set(AT)
    bpy.context.scene.fabrik_through_time, bpy.context.scene.fabrik_time_width = True, WIDTH
    press("drag", chain="Arm.L", way=(0.0, -0.05 * height(owner), 0.08 * height(owner)))
    keys = keys_of(owner, "Arm.L")
    assert keys
    assert {frame for own in keys.values() for frame, _ in own} == {AT - WIDTH, AT, AT + WIDTH}


def test_the_tools_are_there_only_through_time(hand: Motion) -> None:
    assert not bpy.ops.fabrik.move_through_time.poll()
    bpy.context.scene.fabrik_through_time = True
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
    bpy.context.scene.frame_set(AT, subframe=0.5)
    assert_refused("no goal has keys before and after this frame", "goals_tween")
    assert bpy.context.scene.frame_subframe == 0.5


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
    other, owner.name = owner.copy(), "Renamed"
    other.name = trail.rig
    assert owner_of(trail) is None
    bpy.ops.fabrik.trails_hide()
    assert not state.trails
