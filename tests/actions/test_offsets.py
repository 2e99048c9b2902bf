# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion below, goals above: motion stays to the last bit, is edited where that is asked, and takes edits on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import radians
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.rig.animation.compat import fcurves_of, remove_curves
from fabrik_addon.rig.animation.curves import read_keys
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import girdle_of, limit_of, rig_of
from mathutils import Quaternion, Vector

from support.animated import (
    FIRST,
    LAST,
    LIMBS,
    STEP,
    Frames,
    Motion,
    animated,
    control,
    in_strips,
    limb,
    move,
    played,
    played_now,
    raised,
    set_up,
    size,
    turns,
    with_motion,
)
from support.hanging import activate, chain
from support.judging import assert_one_answer, channels
from support.scenes import (
    Bone,
    add_chain,
    assert_refused,
    each_frame,
    go_live,
    go_to,
    key_automatically,
    keyed,
    make_armature,
    press,
    put,
    select,
    solved_status,
    strand,
    update,
)
from support.undoing import assert_one_step

pytestmark = pytest.mark.usefixtures("not_live")

HELD = 1e-5  # of a leg, by which what is held may be elsewhere
BENDS = (20, 14, 9, 5, 2, 0, -2, -5, -7, -5, -2, 0, 2, 6, 12, 20)  # degrees by which a knee bends


def test_motion_stays_to_the_last_bit_until_the_hips_are_lowered(motion: Motion) -> None:
    owner, names, before = motion
    assert {one.name for one in rig_of(owner).chains if one.goal == "OFFSET"} == {*LIMBS, "Body"}
    assert (played(owner, names) == before).all()
    for name in (*LIMBS, "Body"):
        assert chain(owner, name).status == "REACHED"
    assert_lowered(owner, names, before)


def assert_lowered(owner: bpy.types.Object, names: list[str], before: Frames) -> None:
    """The hips, moved down by their control, take the hands along, and the feet stay, turned as they were."""
    way = move(owner, "Body", (0.0, 0.0, -0.1))
    poses, leg = played(owner, names), size(owner)
    gone = poses[:, :, :3, 3] - before[:, :, :3, 3]
    at = {name: names.index(limb(owner, name)) for name in (*LIMBS, "Body")}
    assert np.abs(gone[:, at["Body"]] - np.array(way)).max() <= HELD * leg
    for foot in ("Leg.L", "Leg.R"):
        assert np.abs(gone[:, at[foot]]).max() <= HELD * leg
        assert turns(poses, before)[:, at[foot]].max() <= 0.1
    for hand in ("Arm.L", "Arm.R"):
        assert np.abs(gone[:, at[hand]] - np.array(way)).max() <= HELD * leg


def test_a_knee_that_passes_straight_bends_to_one_side_once_the_hips_are_lowered() -> None:
    """As captured knees do, it is bent backwards in some frames, and always a little sideways."""
    owner = animated("human_mixamo")
    shin = next(part for part in find_parts(owner).parts if part.name == "Leg.L").bones[1]
    bone = pose_bones(owner)[shin]
    axes = bone.bone.matrix_local.to_3x3().inverted() @ owner.matrix_world.to_3x3().normalized().inverted()
    sideways, forwards = axes @ Vector((1.0, 0.0, 0.0)), axes @ Vector((0.0, 1.0, 0.0))
    for k, bend in enumerate(BENDS):
        bone.rotation_quaternion = Quaternion(forwards, radians(-4.0)) @ Quaternion(sideways, radians(bend))
        bone.keyframe_insert("rotation_quaternion", frame=FIRST + k)
    owner, names, before = set_up(owner)
    move(owner, "Body", (0.0, 0.0, -0.03))
    after, thigh, span = played(owner, names), names.index(bone.parent.name), slice(0, len(BENDS))
    steps, own = (turns(poses[span][1:], poses[span][:-1])[:, thigh] for poses in (after, before))
    assert (steps - own).max() <= 8.0


def test_a_hand_moved_for_some_frames_leaves_all_others_and_the_trunk_and_is_baked_so(motion: Motion) -> None:
    owner, names, before = motion
    raised(owner, way=(0.0, -0.15, 0.2))
    poses = played(owner, names)
    moving = np.array([9 < frame < 17 for frame in range(FIRST, LAST + 1)])
    assert (poses[~moving] == before[~moving]).all()
    turned = turns(poses, before)
    arm = [names.index(bone) for bone in _arm(owner, "Arm.L")]
    assert np.delete(turned, [i for i, name in enumerate(names) if _hangs_on(owner, name, arm, names)], 1).max() <= 0.01
    assert np.abs(np.diff(turned[:, arm], axis=0)).max() <= 25.0
    hand = names.index(limb(owner, "Arm.L"))
    gone = poses[12, hand, :3, 3] - before[12, hand, :3, 3]
    assert np.linalg.norm(gone) == pytest.approx(0.25 * size(owner), rel=1e-3)
    press("bake", span="RANGE", frame_start=FIRST, frame_end=LAST)
    rig_of(owner).live = False
    poses = played(owner, names)
    moving = np.array([9 < frame < 17 for frame in range(FIRST, LAST + 1)])
    assert (poses[~moving] == before[~moving]).all()
    assert np.abs(poses[moving] - before[moving]).max() > 0.1 * size(owner)


def _arm(owner: bpy.types.Object, name: str) -> list[str]:
    tip = pose_bones(owner)[limb(owner, name)]
    return [bone.name for bone in [tip, *tip.parent_recursive][: chain(owner, name).bone_count]]


def _hangs_on(owner: bpy.types.Object, name: str, arm: list[int], names: list[str]) -> bool:
    bone = pose_bones(owner)[name]
    own = {names[i] for i in arm}
    own |= {above.name for above in girdle_of(pose_bones(owner)[names[arm[-1]]])}
    return name in own or any(above.name in own for above in bone.parent_recursive)


def test_a_control_put_back_puts_its_limb_back_to_the_last_bit(motion: Motion) -> None:
    owner, names, before = motion
    bpy.context.scene.frame_set(7)
    for name in (*LIMBS, "Body"):
        move(owner, name, (0.02, -0.05, 0.04))
        control(owner, name).location = (0.0, 0.0, 0.0)
        assert (played_now(owner, names) == before[6]).all(), name


def test_motion_beyond_a_limit_stays_while_its_control_rests_whatever_the_influence() -> None:
    owner = make_armature(
        [*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), (0, 0.1, 3)), Bone((2, 0, 3), (2, 0, 4), parent=None)]
    )
    knee = pose_bones(owner)["b1"]
    limit_of(knee).limit, limit_of(knee).angle_max = "HINGE", 0.2
    keyed(knee, {1: (1, 0.2, 0, 0), 20: (1, 0.5, 0, 0)}, "rotation_quaternion")
    arm = add_chain(owner, tip="b2")
    arm.target, arm.target_bone, arm.goal, arm.influence = owner, "b3", "OFFSET", 0.5
    bpy.context.scene.frame_set(10)
    before = channels(owner)
    assert solved_status(arm) == "REACHED"
    assert channels(owner) == before
    go_live(owner)
    for frame in (11, 10):
        bpy.context.scene.frame_set(frame)
    assert channels(owner) == before
    press("bake", span="RANGE", frame_start=8, frame_end=12)
    bpy.context.scene.frame_set(10)
    assert channels(owner) == before


def test_a_control_turns_what_it_moves(motion: Motion) -> None:
    owner, names, before = motion
    bone = control(owner, "Leg.L")
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.3)
    update()
    poses, foot = played(owner, names), names.index(limb(owner, "Leg.L"))
    assert turns(poses, before)[:, foot] == pytest.approx(np.degrees(0.3), abs=0.05)
    assert np.abs(poses[:, foot, :3, 3] - before[:, foot, :3, 3]).max() <= HELD * size(owner)


def test_button_live_and_bake_edit_a_motion_alike(motion: Motion) -> None:
    owner, *_ = motion
    move(owner, "Body", (0.0, 0.0, -0.06))
    move(owner, "Arm.R", (0.05, -0.1, 0.1))
    assert_one_answer(owner, (4, 11, 22))


def test_set_up_may_replace_the_motion_as_before() -> None:
    owner = animated("human_mixamo")
    press("character_setup", use_motion=False)
    assert {one.goal for one in rig_of(owner).chains} == {"PLACE"}
    assert "Body" not in rig_of(owner).chains


@pytest.mark.parametrize("name", [*LIMBS, "Body"])
def test_switching_between_offset_and_place_moves_nothing_at_that_frame(motion: Motion, name: str) -> None:
    owner, names, _ = motion
    bpy.context.scene.frame_set(8)
    move(owner, "Body", (0.0, 0.0, -0.05))
    move(owner, "Arm.L", (0.0, -0.1, 0.15))
    control(owner, "Leg.R").location.x += 0.02 * size(owner)
    before = played_now(owner, names)
    activate(owner, name)
    press("goal_kind", goal="PLACE")
    assert chain(owner, name).goal == "PLACE"
    assert np.abs(played_now(owner, names) - before).max() <= 2e-5 * size(owner)
    press("goal_kind", goal="OFFSET")
    assert np.abs(played_now(owner, names) - before).max() <= 2e-5 * size(owner)


def test_the_switch_of_the_rig_plays_the_motion_and_keeps_the_edits(motion: Motion) -> None:
    owner, names, before = motion
    move(owner, "Body", (0.0, 0.0, -0.1))
    owner.pose.bones[chain(owner, "Arm.L").pole_bone].location.z += 0.2 * size(owner)
    edited = played(owner, names)
    rig_of(owner).edits = False
    assert (played(owner, names) == before).all()
    rig_of(owner).edits = True
    assert np.abs(played(owner, names) - edited).max() <= 1e-6 * size(owner)


@pytest.mark.parametrize("is_automatic", [False, True])
def test_a_bone_posed_by_hand_takes_its_control_along(motion: Motion, is_automatic: bool) -> None:
    """By keys, the motion below is not touched."""
    owner, names, before = motion
    key_automatically(on=is_automatic)
    bpy.context.scene.frame_set(8)
    bpy.ops.object.mode_set(mode="POSE")
    bone, hand = pose_bones(owner)[_arm(owner, "Arm.L")[0 if is_automatic else -1]], names.index(limb(owner, "Arm.L"))
    stood, turn = played_now(owner, names), Quaternion((1.0, 0.0, 0.0), 0.2)
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = bone.rotation_quaternion @ turn
    else:
        bone.rotation_euler = (bone.rotation_euler.to_quaternion() @ turn).to_euler("XYZ", bone.rotation_euler)
    update()
    assert is_automatic or control(owner, "Arm.L").location.length > 0.05 * size(owner)
    there = played_now(owner, names)
    go_to(9, 8)
    again = played_now(owner, names)
    assert np.abs(again[hand, :3, 3] - there[hand, :3, 3]).max() <= 1e-4 * size(owner)
    turned = turns(again[None], stood[None])[0, names.index(bone.name)]
    assert not is_automatic or turned == pytest.approx(np.degrees(0.2), abs=0.1)
    rig_of(owner).edits = False
    update()
    assert (played(owner, names) == before).all() or not is_automatic


@pytest.mark.parametrize("space", ["ARMATURE", "SCENE", "LIMB", "BODY"])
def test_another_space_moves_nothing_and_leaves_what_rests_at_rest(motion: Motion, space: str) -> None:
    owner, names, before = motion
    activate(owner, "Arm.R")
    press("goal_space", space=space, roles="TARGET")
    assert (played(owner, names) == before).all()
    bpy.context.scene.frame_set(8)
    move(owner, "Body", (0.0, 0.0, -0.08))
    move(owner, "Arm.L", (0.02, -0.1, 0.1))
    stood = played_now(owner, names)
    activate(owner, "Arm.L")
    press("goal_space", space=space, roles="TARGET")
    there, arm = played_now(owner, names), [names.index(bone) for bone in _arm(owner, "Arm.L")]
    inside = [i for i, one in enumerate(names) if _hangs_on(owner, one, arm, names)]
    assert np.abs(np.delete(there - stood, inside, 0)[:, :3, 3]).max() <= 0.001 * size(owner)
    hand = names.index(limb(owner, "Arm.L"))
    assert np.abs(there[hand] - stood[hand]).max() <= 2e-5 * size(owner)
    assert np.abs(there - stood).max() <= 0.01 * size(owner)  # what helps an arm is seen from what it is carried by


def test_a_chain_that_can_not_tell_an_offset_is_refused_by_name() -> None:
    owner = animated("human_mixamo")
    press("character_setup", controls="EMPTIES")
    activate(owner, "Arm.L")
    assert_refused(r"Arm\.L.*control bone of its own armature", "goal_kind", goal="OFFSET")
    assert chain(owner, "Arm.L").goal == "PLACE"


def test_drags_of_hips_and_hands_move_their_controls(motion: Motion) -> None:
    owner, names, _ = motion
    bpy.context.scene.frame_set(8)
    for name, up in (("Body", -0.05), ("Arm.L", 0.05)):
        stood, bone = played_now(owner, names), limb(owner, name)
        way = Vector((0.0, -0.04, up)) * size(owner)
        press("drag", bone=bone, way=tuple(owner.matrix_world.to_3x3() @ way), end="HEAD")
        there = played_now(owner, names)
        at = names.index(bone)
        assert there[at, :3, 3] - stood[at, :3, 3] == pytest.approx(np.array(way), abs=1e-3 * size(owner)), name
        assert control(owner, name).location.length == pytest.approx(way.length, rel=0.02), name
        go_to(9, 8)
        assert np.abs(played_now(owner, names)[at, :3, 3] - there[at, :3, 3]).max() <= 1e-3 * size(owner), name


@pytest.mark.parametrize("live", [False, True])
def test_hips_that_are_dragged_by_their_tail_move_their_control(live: bool) -> None:
    owner, names, _ = with_motion("human_mixamo")
    rig_of(owner).live = live
    bpy.context.scene.frame_set(8)
    update()
    stood, hips = played_now(owner, names), names.index(limb(owner, "Body"))
    press("drag", bone=limb(owner, "Body"), way=(0.0, -0.1, -0.1))
    update()
    if not live:
        press("solve_all")
    assert np.abs(played_now(owner, names)[hips] - stood[hips])[:3, 3].max() >= 0.01 * size(owner)
    assert control(owner, "Body").location.length >= 0.01 * size(owner)


def test_goals_to_pose_lets_controls_rest_where_the_motion_stands(motion: Motion) -> None:
    owner, names, before = motion
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    rig_of(owner).live = False
    press("goal_snap", chains="ALL", span="RANGE", frame_start=FIRST, frame_end=LAST)
    rig_of(owner).live = True
    assert (played(owner, names) == before).all()


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_motion_of_strips_is_kept_and_edited_as_that_of_an_action(mode: str) -> None:
    owner = animated("human_mixamo", mode)
    in_strips(owner)
    owner, names, before = set_up(owner)
    assert "Body" in rig_of(owner).chains
    assert (played(owner, names) == before).all()
    assert_lowered(owner, names, before)
    bpy.context.scene.frame_set(9)
    live = played_now(owner, names)
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    move(owner, "Arm.L", (0.0, 0.0, 0.0))
    assert np.abs(played_now(owner, names) - live).max() <= 1e-6
    rig_of(owner).live = False
    bpy.context.scene.frame_set(9)
    for _ in range(2):  # the second starts from the motion, too, and not from what the first one wrote
        press("solve_all")
        assert np.abs(played_now(owner, names) - live).max() <= 1e-5 * size(owner)
    move(owner, "Body", (0.0, 0.0, 0.0))
    press("solve_all")
    assert np.abs(played_now(owner, names) - before[8]).max() <= 1e-6
    rig_of(owner).live = True
    assert (played(owner, names) == before).all()


def test_an_action_that_others_play_is_copied_before_controls_are_keyed() -> None:
    owner = animated("human_mixamo")
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    action = owner.animation_data.action
    press("character_setup")
    assert owner.animation_data.action != action
    assert other.animation_data.action == action
    names = [bone.name for bone in pose_bones(other)]
    before = played(other, names)
    go_live(owner)
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    control(owner, "Arm.L").keyframe_insert("location", frame=9)
    assert (played(other, names) == before).all()
    assert not [one for one in fcurves_of(other) if "target" in one.data_path]


ALL = {"bones": "ALL", "span": "RANGE", "frame_start": FIRST, "frame_end": LAST}
UNDONE: dict[str, dict[str, Any]] = {
    "goal_kind": {"goal": "PLACE"},
    "edits_apply": {},
    "motion_smooth": ALL,
    "motion_mirror": {**ALL, "only_keys": False},
    "time_spread": {"width": 5},
}


@pytest.mark.parametrize("name", UNDONE)
def test_motion_is_undone_in_one_step(name: str) -> None:
    owner = with_motion("human_mixamo")[0]
    called = owner.name
    activate(owner, "Arm.L")
    select(owner, control(owner, "Arm.L").name)
    move(owner, "Arm.L", (0.0, -0.1, 0.1))

    def told() -> tuple[object, ...]:
        now = bpy.data.objects[called]
        keys = [(curve.data_path, curve.array_index, read_keys(curve).points.tobytes()) for curve in fcurves_of(now)]
        arm = chain(now, "Arm.L")
        return arm.goal, arm.start, keys, [tuple(bone.location) for bone in pose_bones(now)]

    assert_one_step(told, name, **UNDONE[name])


def test_muted_curves_are_not_played_by_a_solve() -> None:
    owner = animated("human_mixamo")
    for curve in fcurves_of(owner):
        curve.mute = "LeftArm" in curve.data_path
    pose_bones(owner)["mixamorig:LeftArm"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    owner, names, before = set_up(owner)
    assert np.abs(played(owner, names) - before).max() <= 1e-5


def test_solve_with_automatic_keys_leaves_the_motion_alone(motion: Motion) -> None:
    owner, names, before = motion
    rig_of(owner).live = False
    key_automatically()
    bpy.context.scene.frame_set(8)
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    press("solve_all")
    first = played_now(owner, names)
    for _ in range(2):
        press("solve_all")
        assert np.abs(played_now(owner, names) - first).max() <= 1e-6
    move(owner, "Arm.L", (0.0, 0.0, 0.0))
    assert (played(owner, names) == before).all()


def test_edits_that_are_off_keep_their_controls() -> None:
    owner = with_motion("human_mixamo")[0]
    bpy.context.scene.frame_set(8)
    move(owner, "Arm.L", (0.0, -0.1, 0.2))
    there = tuple(control(owner, "Arm.L").location)
    rig_of(owner).edits = False
    bpy.ops.object.mode_set(mode="POSE")
    pose_bones(owner)[_arm(owner, "Arm.L")[-1]].rotation_quaternion @= Quaternion((1.0, 0.0, 0.0), 0.3)
    update()
    assert tuple(control(owner, "Arm.L").location) == there
    activate(owner, "Arm.L")
    assert_refused("switched off", "goal_kind", goal="PLACE")
    assert tuple(control(owner, "Arm.L").location) == there


@pytest.mark.parametrize("name", ["Leg.L", "Arm.L", "Body"])
def test_a_control_that_a_constraint_moves_is_refused_by_name(name: str) -> None:
    owner = with_motion("human_mixamo")[0]
    rig_of(owner).live = False
    constraint = control(owner, name).constraints.new("LIMIT_LOCATION")
    update()
    activate(owner, name)
    assert solved_status(chain(owner, name)) == "REFUSED"
    assert chain(owner, name).message.startswith("a constraint moves its target")
    constraint.mute = True
    assert solved_status(chain(owner, name)) == "REACHED"


def test_elbows_that_bend_aside_stay_where_another_control_is_moved_a_little() -> None:
    owner = animated("human_mixamo")
    upper = pose_bones(owner)["mixamorig:LeftArm"]
    for frame in each_frame(range(FIRST, LAST + 1, STEP)):
        upper.rotation_quaternion = upper.rotation_quaternion @ Quaternion((0.0, 1.0, 0.0), 2.0)
        upper.keyframe_insert("rotation_quaternion", frame=frame)
    owner, names, before = set_up(owner)
    move(owner, "Leg.R", (1e-6, 0.0, 0.0))
    assert np.abs(played(owner, names) - before)[..., :3, 3].max() <= 1e-3 * size(owner)


def test_applied_edits_are_the_motion_and_the_controls_rest(motion: Motion) -> None:
    owner, names, before = motion
    raised(owner, way=(0.0, -0.15, 0.2))
    edited = played(owner, names)
    press("edits_apply")
    assert tuple(control(owner, "Arm.L").location) == (0.0, 0.0, 0.0)
    assert not [one for one in fcurves_of(owner) if chain(owner, "Arm.L").target_bone in one.data_path]
    poses, leg = played(owner, names), size(owner)
    assert np.abs(poses - edited).max() <= 1e-5 * leg
    assert (poses[[0, 5, 20, 24]] == before[[0, 5, 20, 24]]).all()
    assert rig_of(owner).live
    assert all(chain(owner, name).enabled for name in LIMBS)
    assert_refused("nothing to apply", "edits_apply")


def with_keys(owner: bpy.types.Object, **values: object) -> None:
    """Let all keys go on in some way."""
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            put(point, **values)
        curve.update()


def with_keys_of(owner: bpy.types.Object, kept: str) -> None:
    """Take the keys of all other bones away."""
    remove_curves([curve for curve in fcurves_of(owner) if kept not in curve.data_path])


def at_random(owner: bpy.types.Object, seed: int) -> None:
    """Let every key go on in a way of its own."""
    chosen = np.random.default_rng(seed)
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.interpolation = str(chosen.choice(["BEZIER", "LINEAR", "CONSTANT", "SINE", "BOUNCE"]))
            point.handle_left_type = point.handle_right_type = str(chosen.choice(["AUTO", "AUTO_CLAMPED", "FREE"]))
        curve.update()


CHANGES: dict[str, Callable[[bpy.types.Object], None]] = {
    **{easing: partial(with_keys, interpolation=easing) for easing in ("SINE", "BACK", "ELASTIC")},
    "arms alone keyed": partial(with_keys_of, kept="Arm"),
    "legs alone keyed": partial(with_keys_of, kept="Leg"),
    "strips": in_strips,
}
HANDLES = ("AUTO", "AUTO_CLAMPED", "ALIGNED", "VECTOR")
CHANGES |= {kind: partial(with_keys, handle_left_type=kind, handle_right_type=kind) for kind in HANDLES}
CHANGES |= {f"any, {seed}": partial(at_random, seed=seed) for seed in range(4)}


def frames_for(change: str) -> list[tuple[int, int, int]]:
    """In which frames a hand is raised, from which on, and till when."""
    if change in HANDLES:
        return [(4, 8, 12), (5, 9, 13), (7, 11, 15)]
    return [(6, 9, 12) if change.startswith("any") else (9, 13, 17)]


@pytest.mark.parametrize(
    ("change", "frames"), [(change, frames) for change in CHANGES for frames in frames_for(change)]
)
def test_edits_are_applied_where_keys_are_as_they_may_be(change: str, frames: tuple[int, int, int]) -> None:
    owner = animated("human_mixamo")
    CHANGES[change](owner)
    press("character_setup")
    go_live(owner)
    edited = raised(owner, frames)
    names = [bone.name for bone in pose_bones(owner)]
    own = [i for i, name in enumerate(names) if not pose_bones(owner)[name].bone.name.endswith(("target.L", "pole.L"))]
    press("edits_apply")
    for live in (True, False):
        rig_of(owner).live = live
        update()
        off = np.abs(played(owner, names) - edited)[:, own, :3, 3]
        assert off.max() <= 2e-5 * size(owner), (live, off.max(axis=(1, 2)) / size(owner))
    assert tuple(control(owner, "Arm.L").location) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["LINEAR", "CONSTANT"])
@pytest.mark.parametrize("frames", [(28, 32, 36), (-9, -5, -2)])
def test_edits_are_applied_beyond_the_keys(kind: str, frames: tuple[int, int, int]) -> None:
    owner = animated("human_mixamo")
    for curve in fcurves_of(owner):
        curve.extrapolation = kind
    press("character_setup")
    go_live(owner)
    raised(owner, frames)
    around, names = range(-20, 60), [bone.name for bone in pose_bones(owner)]
    edited = played(owner, names, around)
    press("edits_apply")
    own = [i for i, name in enumerate(names) if "target" not in name]
    off = np.abs(played(owner, names, around) - edited)[:, own, :3, 3].max(axis=(1, 2)) / size(owner)
    assert off.max() <= 1e-4, off


def test_edits_outside_the_scenes_frames_are_applied_too(motion: Motion) -> None:
    owner, names, _ = motion
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 15
    move(owner, "Body", (0.0, 0.0, -0.1))
    edited = played(owner, names)
    press("edits_apply")
    assert np.abs(played(owner, names) - edited)[:, :, :3, 3].max() <= 2e-5 * size(owner)


@pytest.mark.parametrize("way", ["bake", "pose_snap"])
def test_what_is_baked_is_motion_and_its_controls_rest(
    motion: Motion, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    owner, names, _ = motion
    move(owner, "Body", (0.0, 0.0, -0.1))
    edited = played(owner, names)
    capfd.readouterr()
    press(way, chains="ALL", span="RANGE", frame_start=FIRST, frame_end=LAST)
    assert "not reached" not in capfd.readouterr().out
    assert rig_of(owner).bake_report
    for one in rig_of(owner).chains:
        one.enabled = one.goal == "OFFSET"
    go_live(owner)
    assert np.abs(played(owner, names) - edited)[:, :, :3, 3].max() <= 2e-5 * size(owner)


def test_a_refused_apply_leaves_the_action_alone() -> None:
    owner, names, before = with_motion("human_mixamo")
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    bpy.context.collection.objects.link(owner.copy())
    keys = [read_keys(curve).points.tobytes() for curve in fcurves_of(owner)]
    assert_refused("also moves", "edits_apply")
    assert [read_keys(curve).points.tobytes() for curve in fcurves_of(owner)] == keys
    move(owner, "Arm.L", (0.0, 0.0, 0.0))
    assert (played(owner, names) == before).all()


def test_a_keyed_goal_is_not_applied_but_named() -> None:
    owner = with_motion("human_mixamo")[0]
    arm = chain(owner, "Arm.L")
    owner.keyframe_insert(f"fabrik_chains[{rig_of(owner).chains.find('Arm.L')}].goal", frame=1)
    move(owner, "Arm.L", (0.0, -0.1, 0.1))
    assert_refused(r"Arm\.L.*Goal is keyed", "edits_apply")
    assert arm.goal == "OFFSET"
