# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks that are edited by controls and contacts, and what trunk, arms and toes do in them."""

from __future__ import annotations

from math import cos, degrees, radians, sin, tan
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.marks import ANYWHERE, Contact, contacts_of
from fabrik_addon.actions.walk.plan import plan_walk
from fabrik_addon.actions.walk.posture import forget_posture
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.maths import Doubles, distance
from fabrik_addon.motion.contacts import FLAT, HEEL, TOE
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.schema.limit import limit_of
from mathutils import Euler, Quaternion, Vector

from dev.walkers import at_foot
from dev.walking_rigs import ahead, make_profile
from support.animated import choose, control
from support.judging import effector, walk_plan, worst_foot
from support.scenes import each_frame, go_live, keyed, make_body, make_empty, press, select, update
from support.skeletons import make_character
from support.stored import stored
from support.walks import WALK, key_way, legs_of, planned, told, walking

HIPS, FEET = "mixamorig:Hips", ("mixamorig:LeftFoot", "mixamorig:RightFoot")
SPAN = (1, 60)
FRAMES = range(3, 58, 3)
LOWER, ASIDE = Vector((0.0, 0.0, -0.08)), Vector((0.05, 0.0, 0.03))  # of what a leg's length is about .9


def character(way: float = 2.2) -> Any:
    owner: Any = make_character("human_mixamo")
    key_way(owner, HIPS, lambda share: (0.0, -way * share / owner.matrix_world.to_scale()[0], 0.0), SPAN)
    return owner


@pytest.fixture
@stored
def owner() -> bpy.types.Object:
    """A character that is set up, and walks over level ground, live."""
    made: bpy.types.Object = character(1.2)
    press("character_setup", use_walker=True)
    press("walk_plan", span="SCENE")
    rig_of(made).live = True
    return made


def move(owner: bpy.types.Object, name: str, way: Vector) -> None:
    """Move the control of a chain by a way of the world."""
    bone = control(owner, name)
    bone.location = (owner.matrix_world.to_3x3() @ bone.bone.matrix_local.to_3x3()).inverted() @ way
    update()


def played() -> Doubles:
    """(F, 3, 3), where hips and feet are in each frame."""
    owner = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    found = []
    for _ in each_frame(FRAMES):
        bones = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        found.append([owner.matrix_world @ bones[name].head for name in (HIPS, *FEET)])
    return np.array(found)


def test_controls_of_a_walk_are_at_its_bones(owner: bpy.types.Object) -> None:
    rig = rig_of(owner)
    assert {rig.chains[name].goal for name in ("Body", "Leg.L", "Leg.R")} == {"OFFSET"}
    assert control(owner, "Body").custom_shape_transform == pose_bones(owner)[HIPS]
    assert control(owner, "Leg.L").custom_shape_transform == pose_bones(owner)[FEET[0]]
    press("walker_remove")
    assert rig.chains["Leg.L"].goal == "PLACE"
    assert control(owner, "Leg.L").custom_shape_transform is None


def test_hips_are_lowered_and_turned_and_feet_stay_and_all_comes_back(owner: bpy.types.Object) -> None:
    before = played()
    move(owner, "Body", LOWER)
    after = played()
    assert np.abs(after[:, 0] - before[:, 0] - LOWER).max() <= 0.01  # where limits hold it off in the walk itself
    assert np.median(np.abs(after[:, 0] - before[:, 0] - LOWER)) <= 1e-5
    assert np.abs(after[:, 1:] - before[:, 1:]).max() <= 0.01
    assert np.median(np.abs(after[:, 1:] - before[:, 1:])) <= 1e-5
    move(owner, "Body", Vector())
    assert (played() == before).all()
    bpy.context.scene.frame_set(FRAMES[3])
    stood = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[HIPS].matrix.to_quaternion()
    bone = control(owner, "Body")
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = Euler((0.0, 0.3, 0.0))
    update()
    turned = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[HIPS].matrix.to_quaternion()
    assert stood.rotation_difference(turned).angle == pytest.approx(0.3, abs=0.02)


def test_a_foot_is_put_elsewhere_for_some_frames_and_baked_as_it_plays(owner: bpy.types.Object) -> None:
    before, bone = played(), control(owner, "Leg.L")
    for frame, way in ((20, Vector()), (26, ASIDE), (34, ASIDE), (40, Vector())):
        move(owner, "Leg.L", way)
        bone.keyframe_insert("location", frame=frame)
    after = played()
    on, off = [FRAMES.index(frame) for frame in (27, 30, 33)], [FRAMES.index(frame) for frame in (3, 12, 18, 42, 54)]
    assert (after[off] == before[off]).all()
    assert np.abs(after[on, 1] - before[on, 1] - ASIDE).max() <= 0.01
    press("walk_bake", into="BONES")
    rig_of(owner).live = False
    assert np.abs(played() - after).max() <= 1e-5


def test_goals_of_a_walk_that_is_edited_are_baked_as_it_plays(owner: bpy.types.Object) -> None:
    move(owner, "Body", LOWER)
    move(owner, "Leg.L", ASIDE)
    before = played()
    press("walk_bake", into="GOALS", tolerance=1e-3)
    assert {rig_of(owner).chains[name].goal for name in ("Body", "Leg.L", "Leg.R")} == {"PLACE"}
    assert np.abs(played() - before).max() <= 0.012


def test_a_control_that_is_moved_already_keeps_its_place_as_a_goal() -> None:
    made = character(1.2)
    press("character_setup", use_walker=True)
    move(made, "Leg.L", ASIDE)
    rig_of(made).chains["Leg.R"].target, rig_of(made).chains["Leg.R"].target_bone = make_empty(name="Other"), ""
    press("walk_plan", span="SCENE")
    assert {rig_of(made).chains[name].goal for name in ("Leg.L", "Leg.R")} == {"PLACE"}


@pytest.mark.parametrize(
    ("taken", "name", "index"),
    [
        ({"chain": "Leg.L"}, "Leg.L", 1),
        ({"bone": FEET[0], "end": "HEAD"}, "Leg.L", 1),
        ({"bone": HIPS, "end": "HEAD"}, "Body", 0),
    ],
)
def test_what_walks_is_dragged_by_its_control(
    owner: bpy.types.Object, taken: dict[str, str], name: str, index: int
) -> None:
    scene, way = bpy.context.scene, Vector((0.04, 0.0, -0.03 if index == 0 else 0.06))
    scene.frame_set(FRAMES[5])
    before = played()[5]
    scene.frame_set(FRAMES[5])
    press("drag", way=way, **taken)
    world = owner.matrix_world.to_3x3() @ control(owner, name).bone.matrix_local.to_3x3()
    assert (world @ control(owner, name).location - way).length <= 1e-4
    after = played()[5]
    assert np.abs(after[index] - before[index] - way).max() <= 0.01
    assert np.abs(after[2] - before[2]).max() <= 0.01


def test_hips_that_had_a_control_before_keep_it_when_the_walk_is_forgotten() -> None:
    made = character(1.2)
    press("character_setup", use_motion=True)
    before = {one.name: (one.goal, one.target_bone) for one in rig_of(made).chains}
    press("walker_add")
    press("walk_plan", span="SCENE")
    press("walker_remove")
    after = {one.name: (one.goal, one.target_bone if one.target is not None else "") for one in rig_of(made).chains}
    assert {name: after[name] for name in before if before[name][1]} == {n: own for n, own in before.items() if own[1]}


HELD = 1e-3  # the tolerance of the chains


@pytest.fixture
def walker() -> bpy.types.Object:
    owner = walking("human")
    go_live(owner)
    select(owner)
    return owner


def contact(owner: bpy.types.Object, number: int = 1, leg: int = 0) -> Contact:
    """A contact of a leg, by its number in time."""
    bone = legs_of(owner)[leg].tip_bone
    return [one for one in contacts_of(owner) if one.bone == bone][number]


def hold(owner: bpy.types.Object, frame: int, leg: int = 0) -> None:
    """Go to a frame with a leg active."""
    rig = rig_of(owner)
    rig.active_index = [*rig.chains].index(legs_of(owner)[leg])
    bpy.context.scene.frame_set(frame)
    update()


def plan(*, keep: bool = True) -> None:
    press("walk_plan", frame_start=WALK[0], frame_end=WALK[1], span="RANGE", keep_contacts=keep)
    update()


def frames_on_ground(owner: bpy.types.Object, leg: int) -> list[int]:
    return [frame for frame in range(WALK[0], WALK[1] + 1) if feet_at(walk_plan(owner), frame)[leg].is_planted]


def test_feet_are_marked_as_long_as_they_stand_and_planned_again_it_is_the_same_walk(walker: bpy.types.Object) -> None:
    for leg in (0, 1):
        bone = legs_of(walker)[leg].tip_bone
        own = [one for one in contacts_of(walker) if one.bone == bone]
        assert [frame for one in own for frame in range(one.first, one.last + 1)] == frames_on_ground(walker, leg)
        assert {one.place for one in own} == {ANYWHERE}
        inner = own[1].kinds
        assert inner[0] == HEEL
        assert FLAT in inner
        assert inner[-1] == TOE
    assert told(walker) == ""
    before, marks = walk_plan(walker), contacts_of(walker)
    plan()
    assert walk_plan(walker) == before
    assert contacts_of(walker) == marks


def test_one_that_was_moved_in_time_is_old_then_met_and_kept(walker: bpy.types.Object) -> None:
    one = contact(walker)
    press("contact_move", bone=one.bone, frame=one.first, start=3, end=4)
    assert "contacts" in told(walker)
    plan()
    assert told(walker) == ""
    moved = contact(walker)
    assert (moved.first, moved.last) == (one.first + 3, one.last + 4)
    assert any(moved.place)
    assert set(range(moved.first, moved.last + 1)) <= set(frames_on_ground(walker, 0))
    before = walk_plan(walker)
    plan()
    again = contact(walker)
    assert (again.first, again.last) == (moved.first, moved.last)
    assert np.abs(np.subtract(again.place, moved.place)).max() <= 1e-6
    for frame in range(*WALK):
        pairs = zip(feet_at(before, frame), feet_at(walk_plan(walker), frame), strict=True)
        assert max(distance(a.ankle, b.ankle) for a, b in pairs) <= 1e-5


def test_one_that_was_put_on_the_cursor_stands_there(walker: bpy.types.Object) -> None:
    one = contact(walker)
    middle = (one.first + one.last) // 2
    hold(walker, middle)
    stood = effector(walker, legs_of(walker)[0])
    press("contact_place", at="FOOT")
    plan()
    hold(walker, middle)
    assert (effector(walker, legs_of(walker)[0]) - stood).length <= HELD
    here = Vector((stood.x + 0.06, stood.y - 0.05, 0.0))
    bpy.context.scene.cursor.location = here
    press("contact_place", at="CURSOR")
    plan()
    hold(walker, middle)
    assert worst_foot(walker, middle) <= HELD
    sole = feet_at(walk_plan(walker), middle)[0]
    foot = walk_plan(walker).legs[0]
    under = 0.5 * (Vector(at_foot(sole, foot.heel)) + Vector(at_foot(sole, foot.ball)))
    assert (under - here).length <= HELD
    press("contact_place", at="MOTION")
    plan()
    hold(walker, middle)
    assert (effector(walker, legs_of(walker)[0]) - stood).length <= HELD


def test_without_those_set_by_hand_it_is_planned_as_at_first(walker: bpy.types.Object) -> None:
    before, one = walk_plan(walker), contact(walker)
    press("contact_move", bone=one.bone, frame=one.first, start=3, end=4)
    plan(keep=False)
    assert walk_plan(walker) == before
    assert contact(walker) == one


def test_one_that_is_out_of_reach_is_named(walker: bpy.types.Object, capsys: pytest.CaptureFixture[str]) -> None:
    before, one = walk_plan(walker), contact(walker)
    hold(walker, one.first + 2)
    bpy.context.scene.cursor.location = (5.0, 0.0, 0.0)
    press("contact_place", at="CURSOR")
    plan()
    assert f"leg '{legs_of(walker)[0].name}' can't stand" in capsys.readouterr().out
    assert walk_plan(walker).steps == before.steps
    assert contact(walker) == one


def test_contacts_of_a_walk_are_neither_found_nor_cleaned(walker: bpy.types.Object) -> None:
    for name in ("contacts_find", "contacts_clean"):
        with pytest.raises(RuntimeError, match="Plan Walk"):
            press(name)


def test_a_foothold_on_a_board_that_moves_goes_along() -> None:
    owner = make_body()
    key_way(owner, "hips", ahead(2.0))
    board = make_profile([(-3.0, 0.0), (9.0, 0.0)])
    keyed(board, {WALK[0]: (0.0, 0.0, 0.0), WALK[1]: (0.3, 0.0, 0.0)})
    planned(owner)
    select(owner)
    go_live(owner)
    one = contact(owner)
    assert rig_of(owner).grounds[one.ground - 1].found == board
    hold(owner, one.first + 4)
    press("contact_place", at="FOOT")
    place = contact(owner).place
    plan()
    assert contact(owner).ground == one.ground
    assert np.abs(np.subtract(contact(owner).place, place)).max() <= 1e-5


UPPER, FOREARM, TOES = "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftToeBase"
CHEST = "mixamorig:Spine2"


def rotation_counts(owner: Any) -> dict[str, int]:
    """By the names of bones how many keys their rotations have."""
    found: dict[str, int] = {}
    for curve in fcurves_of(owner):
        if "rotation" in curve.data_path:
            name = curve.data_path.split('"')[1]
            found[name] = found.get(name, 0) + len(curve.keyframe_points)
    return found


def along(owner: Any, bone: str) -> Vector:
    pose = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    way: Vector = (owner.matrix_world.to_3x3() @ (pose.tail - pose.head)).normalized()
    return way


def assert_arms_swing(owner: Any) -> None:
    """The left arm hangs and swings in a walk that is shown live."""
    rig_of(owner).live = True
    ways = [along(owner, UPPER) for _ in each_frame(range(*SPAN))]
    assert max(way.z for way in ways) < -0.8
    angles = np.degrees([np.arctan2(-way.y, -way.z) for way in ways])
    assert 15.0 < angles.max() - angles.min() < 50.0


def test_arms_hang_and_swing_and_toes_stay_flat() -> None:
    owner = planned(character(), SPAN)
    assert {UPPER, FOREARM, TOES, "mixamorig:Spine", "mixamorig:Head"} <= set(rotation_counts(owner))
    assert HIPS not in rotation_counts(owner)
    assert_arms_swing(owner)
    assert np.quantile([abs(along(owner, TOES).z) for _ in each_frame(range(*SPAN))], 0.5) < 0.1


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_fingers_of_hands_that_hang_are_curled_and_closed_in_a_run(side: str) -> None:
    hand, closed = f"mixamorig:{side}Hand", list[dict[str, float]]()
    for way in (0.0, 2.2, 9.0):
        owner = character(way)
        if way:
            planned(owner, SPAN)
        bpy.context.scene.frame_set(40)
        tips = {one: along(owner, f"{hand}{one}3") for one in ("Index", "Pinky", "Thumb")}
        closed.append({one: degrees(tip.angle(along(owner, f"{hand}{one}1"))) for one, tip in tips.items()})
        bpy.data.objects.remove(owner)
    rest, walks, runs = closed
    assert walks["Thumb"] == pytest.approx(rest["Thumb"], abs=0.1)
    for finger, least in (("Index", 24.0), ("Pinky", 44.0)):
        assert walks[finger] >= max(rest[finger], least)
        assert runs[finger] >= 90.0


def test_keys_of_the_animator_stay() -> None:
    owner = character()
    arm = owner.pose.bones[UPPER]
    arm.rotation_mode = "QUATERNION"
    arm.keyframe_insert("rotation_quaternion", frame=1)
    planned(owner, SPAN)
    assert rotation_counts(owner)[UPPER] == 4
    assert rotation_counts(owner)[FOREARM] > 4


def test_a_new_plan_replaces_its_keys_but_for_those_that_were_changed() -> None:
    owner = planned(character(), SPAN)
    before = rotation_counts(owner)
    curve = next(one for one in fcurves_of(owner) if f'"{FOREARM}"' in one.data_path and len(one.keyframe_points) > 9)
    curve.keyframe_points[5].co[1] += 0.05
    own = [tuple(point.co) for point in curve.keyframe_points]
    work = plan_walk(bpy.context, owner, SPAN)
    assert rotation_counts(owner) == before
    curve = next(
        one for one in fcurves_of(owner) if one.data_path == curve.data_path and one.array_index == curve.array_index
    )
    assert [tuple(point.co) for point in curve.keyframe_points] == own
    assert any(FOREARM in told for told in work.done)
    forget_posture(owner)
    assert set(rotation_counts(owner)) == {FOREARM}


def test_the_arms_of_a_character_that_was_set_up_swing_and_are_edited() -> None:
    owner = character()
    choose(owner)
    press("character_setup")
    planned(owner, SPAN)
    chain = rig_of(owner).chains["Arm.L"]
    assert chain.goal == "OFFSET"
    assert {UPPER, FOREARM} <= set(rotation_counts(owner))
    scene = bpy.context.scene
    assert_arms_swing(owner)
    assert all(
        limit_of(owner.pose.bones[bone]).limit == "HINGE" for bone in (FOREARM, FOREARM.replace("Left", "Right"))
    )
    scene.frame_set(20)
    before = along(owner, FOREARM)
    owner.pose.bones[chain.target_bone].location.z += 0.1
    scene.frame_set(20)
    assert along(owner, FOREARM).angle(before) > 0.2
    owner.pose.bones[chain.target_bone].location.z = 0.0
    forget_posture(owner)
    assert (chain.goal, chain.start) == ("PLACE", "REST")
    assert owner.pose.bones[chain.target_bone].custom_shape_transform is None


def test_an_arm_whose_control_was_moved_stays_where_it_was_put() -> None:
    owner = character()
    choose(owner)
    press("character_setup")
    chain = rig_of(owner).chains["Arm.L"]
    owner.pose.bones[chain.target_bone].location.z += 0.1
    work = plan_walk(bpy.context, planned(owner, SPAN), SPAN)
    assert chain.goal == "PLACE"
    assert UPPER not in rotation_counts(owner)
    assert any(UPPER in told for told in work.done)


@pytest.mark.parametrize("without", ["arm_swing", "gait"])
def test_without_it_nothing_is_keyed(without: str) -> None:
    owner = planned(character(), SPAN)
    assert rotation_counts(owner)
    walker = rig_of(owner).walker
    if without == "gait":
        walker.gait = "BIPED_WALK"
    else:
        walker.arm_swing = 0.0
    plan_walk(bpy.context, owner, SPAN)
    assert not rotation_counts(owner)


def turned(owner: Any, bone: str, way: tuple[float, float, float]) -> Vector:
    """Where a direction of the world has gone with a bone, from its rest pose."""
    pose = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    world = owner.matrix_world.to_quaternion()
    turn = world @ pose.matrix.to_quaternion() @ pose.bone.matrix_local.to_quaternion().inverted() @ world.inverted()
    return turn @ Vector(way)


def test_the_trunk_leans_into_a_curve_and_the_head_looks_ahead() -> None:
    owner, radius, rate, frames = make_character("human_mixamo"), 2.0, 0.6, (1, 73)
    hips, size = owner.pose.bones[HIPS], owner.matrix_world.to_scale()[0]
    hips.rotation_mode, rest = "QUATERNION", hips.bone.matrix_local.to_quaternion()
    angles = [rate * frame / 24.0 for frame in range(frames[1])]
    places = [radius / size * Vector((1.0 - cos(angle), -sin(angle), 0.0)) for angle in angles]
    key_way(owner, HIPS, lambda share: places[round(share * (frames[1] - 1))], frames)
    for frame, angle in enumerate(angles, 1):
        hips.rotation_quaternion = rest.inverted() @ Quaternion((0.0, 0.0, 1.0), angle) @ rest
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    planned(owner, frames)
    rig_of(owner).live = True
    inwards, ahead = [], []
    for frame in range(20, 48):  # a cycle
        bpy.context.scene.frame_set(frame)
        facing = Quaternion((0.0, 0.0, 1.0), angles[frame - 1]) @ Vector((0.0, -1.0, 0.0))
        look = turned(owner, "mixamorig:Head", (0.0, -1.0, 0.0))
        ahead.append(facing.xy.angle_signed(look.xy))
        inwards.append(turned(owner, CHEST, (0.0, 0.0, 1.0)).dot(Vector((0.0, 0.0, 1.0)).cross(facing)))
    assert np.degrees(np.mean(inwards)) == pytest.approx(4.2, abs=1.5)
    assert np.abs(np.degrees(ahead)) == pytest.approx(np.full(28, 8.6), abs=3.0)
    assert np.mean(ahead) < 0.0  # to the left, as `angle_signed` has it


def test_the_trunk_leans_forward_uphill_alone() -> None:
    leans = []
    for rise in (0.0, 15.0, -15.0):
        make_profile([(-3.0, 0.0), (0.9, 0.0), (9.0, 8.1 * tan(radians(rise)))])
        owner = planned(character(), SPAN)
        rig_of(owner).live = True
        found = []
        for _ in each_frame(range(36, 58)):
            found.append(turned(owner, CHEST, (0.0, 0.0, 1.0)).y)
        leans.append(-np.degrees(np.mean(found)))
        for one in list(bpy.data.objects):
            bpy.data.objects.remove(one)
    assert leans[1] - leans[0] == pytest.approx(4.5, abs=1.5)
    assert leans[2] - leans[0] == pytest.approx(0.0, abs=1.5)
