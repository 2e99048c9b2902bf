# SPDX-License-Identifier: GPL-3.0-or-later
"""A pin set by hand holds in the scene, whatever carried the target till then; freed, that carries it again."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions.spaces import space_name
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.hanging import assert_one_answer, assert_still, chain, chest_of, drop_hips, hand, height, matrices
from support.scenes import each_frame, go_live, key_automatically, keyed, press, select, solved_status, update
from support.skeletons import set_up

TURNED = 1e-3  # radians: a solve that turns a joint by 2e-4 counts as leaving it, and several stand on each other
STILL = 2e-4  # of the height, the same for what they carry


pytestmark = pytest.mark.usefixtures("not_live")


@pytest.fixture
def human(human: bpy.types.Object) -> bpy.types.Object:
    """With nothing but the control of its left hand selected."""
    select(human, chain(human, "Arm.L").target_bone)
    return human


def carrier(owner: bpy.types.Object) -> str:
    """What the hand's target hangs on."""
    return space_name(goals_of(chain(owner, "Arm.L"))[0])


def test_a_pinned_hand_stays_in_the_scene_until_it_is_freed(human: bpy.types.Object) -> None:
    go_live(human)
    chest, before = chest_of(human), matrices(human)
    press("pin_toggle")
    assert_still(human, before, STILL, TURNED)
    assert chain(human, "Arm.L").pin
    assert carrier(human) == "FABRIK Scene"
    drop_hips(human, 0.05)
    assert chain(human, "Arm.L").status == "REACHED"
    assert (hand(human).translation - before[chain(human, "Arm.L").tip_bone].translation).length <= 1e-4 * height(human)
    human.location.x += 0.02 * height(human)
    update()
    assert (hand(human).translation - before[chain(human, "Arm.L").tip_bone].translation).length <= 1e-4 * height(human)
    before = matrices(human)
    press("pin_toggle")
    assert_still(human, before, STILL, TURNED)
    assert not chain(human, "Arm.L").pin
    assert carrier(human) == chest
    assert len(pose_bones(human)[chain(human, "Arm.L").target_bone].constraints) == 1
    drop_hips(human, 0.05)
    moved = (hand(human).translation - before[chain(human, "Arm.L").tip_bone].translation).z
    assert moved == pytest.approx(-0.05 * height(human), rel=0.1)


@pytest.mark.parametrize("space", ["ARMATURE", "BODY", "SCENE"])
def test_a_freed_hand_hangs_where_it_hung_before(human: bpy.types.Object, space: str) -> None:
    rig_of(human).active_index = [one.name for one in rig_of(human).chains].index("Arm.L")
    press("goal_space", space=space, roles="TARGET")
    before, stood = carrier(human), matrices(human)
    press("pin_toggle")
    assert carrier(human) == "FABRIK Scene"
    press("pin_toggle")
    assert carrier(human) == before
    assert_still(human, stood, STILL, TURNED)


def test_targets_outside_the_rig_stay_what_they_are() -> None:
    human = set_up("human_mixamo", controls="EMPTIES")
    target = chain(human, "Arm.L").target
    assert target is not None
    select(human, chain(human, "Arm.L").tip_bone)
    before, carried_by = matrices(human), carrier(human)
    press("pin_toggle")
    assert carrier(human) == "FABRIK Scene"
    press("pin_toggle")
    assert carrier(human) == carried_by
    assert_still(human, before, STILL, TURNED)
    chain(human, "Arm.L").target = loose = bpy.data.objects.new("Loose", None)
    bpy.context.collection.objects.link(loose)
    loose.location = before[chain(human, "Arm.L").tip_bone].translation
    press("pin_toggle")
    assert not loose.constraints
    assert chain(human, "Arm.L").pin


def test_what_can_not_be_taken_off_is_pinned_where_it_is_carried(human: bpy.types.Object) -> None:
    pose_bones(human)[chain(human, "Arm.L").target_bone].lock_location = (True, False, False)
    press("pin_toggle")
    assert chain(human, "Arm.L").pin
    assert carrier(human) == chest_of(human)


def test_a_pin_with_keys_holds_in_the_scene_between_them(human: bpy.types.Object) -> None:
    """Pinned at 10 and freed at 20, while the hips sink all the way."""
    scene = bpy.context.scene
    assert scene is not None
    body = pose_bones(human)[rig_of(human).body_bone]
    rig_of(human).body_stays = True
    axes, down = body.bone.matrix_local.to_3x3().inverted(), Vector((0.0, 0.0, -0.05 * height(human)))
    stood = Vector(body.location)
    keyed(body, {frame: stood + axes @ down * share for frame, share in ((1, 0.0), (30, 1.0))})
    scene.frame_set(10)
    go_live(human)
    key_automatically()
    press("pin_toggle")
    scene.frame_set(20)
    press("pin_toggle")
    key_automatically(on=False)
    places = {frame: hand(human).translation.z for frame in each_frame((25, 9, 14, 10, 19, 1, 20, 30))}
    tall = height(human)
    for frame in (14, 19):
        assert abs(places[frame] - places[10]) <= 1e-4 * tall, frame
    assert places[9] - places[1] == pytest.approx(-0.05 * tall * 8 / 29, rel=0.7)
    assert places[9] < places[1] - 0.002 * tall
    assert places[30] < places[20] - 0.005 * tall
    assert_one_answer(human, (25, 9, 14, 20))


@pytest.mark.parametrize("name", ["human", "human_mixamo", "human_game_engine"])
def test_a_hand_that_pulled_the_body_is_freed_and_nothing_moves(name: str) -> None:
    owner = set_up(name)
    select(owner, chain(owner, "Arm.L").target_bone)
    go_live(owner)
    press("pin_toggle")
    owner.location.x -= 0.05 * height(owner)
    update()
    assert chain(owner, "Arm.L").status == "REACHED"
    before = matrices(owner)
    press("pin_toggle")
    for one in rig_of(owner).chains:
        before.pop(one.pole_bone, None)  # those of limbs that are nearly straight are brought to the bend
    assert_still(owner, before, STILL, TURNED)


def test_both_hands_are_pinned_with_keys(human: bpy.types.Object) -> None:
    go_live(human)
    bpy.context.scene.frame_set(10)
    key_automatically()
    select(human, *[chain(human, name).tip_bone for name in ("Arm.L", "Arm.R")])
    press("pin_toggle")
    assert [chain(human, name).pin for name in ("Arm.L", "Arm.R")] == [True, True]
    for frame, expected in ((9, False), (10, True), (30, True)):
        bpy.context.scene.frame_set(frame)
        assert [chain(human, name).pin for name in ("Arm.L", "Arm.R")] == [expected, expected], frame


def test_a_pin_before_a_later_switch_ends_with_that(human: bpy.types.Object) -> None:
    """In the armature from 20 on; then pinned at 5: till 19 in the scene, and from 20 on as before."""
    scene = bpy.context.scene
    assert scene is not None
    go_live(human)
    chest = chest_of(human)
    rig_of(human).active_index = [one.name for one in rig_of(human).chains].index("Arm.L")
    scene.frame_set(20)
    press("goal_space", space="ARMATURE", roles="TARGET", use_key=True)
    armature, places = carrier(human), {}
    for frame in each_frame((4, 20, 30)):
        places[frame] = hand(human).translation.copy()
    scene.frame_set(5)
    key_automatically()
    press("pin_toggle")
    key_automatically(on=False)
    for frame, expected in ((4, chest), (5, "FABRIK Scene"), (19, "FABRIK Scene"), (20, armature), (30, armature)):
        scene.frame_set(frame)
        update()
        assert carrier(human) == expected, frame
        assert chain(human, "Arm.L").status == "REACHED", frame
        if frame in places:
            assert (hand(human).translation - places[frame]).length <= STILL * height(human), frame


def test_a_target_with_keys_is_held_where_it_is_carried_without_automatic_keying(human: bpy.types.Object) -> None:
    control = pose_bones(human)[chain(human, "Arm.L").target_bone]
    for frame in (1, 40):
        control.keyframe_insert("location", frame=frame)
    press("pin_toggle")
    assert chain(human, "Arm.L").pin
    assert carrier(human) == chest_of(human)
    press("pin_toggle")
    assert not chain(human, "Arm.L").pin
    assert carrier(human) == chest_of(human)


def test_a_target_out_of_reach_comes_to_the_hand_that_is_pinned(human: bpy.types.Object) -> None:
    go_live(human)
    control = pose_bones(human)[chain(human, "Arm.L").target_bone]
    control.location += Vector((0.3, -0.3, 0.4)) * height(human) / human.matrix_world.to_scale()[0]
    update()
    assert chain(human, "Arm.L").status == "TOO_FAR"
    before = hand(human).copy()
    press("pin_toggle")
    assert chain(human, "Arm.L").status == "REACHED"
    assert (hand(human).translation - before.translation).length <= 1e-3 * height(human)


def test_the_scene_that_was_chosen_while_pinned_stays(human: bpy.types.Object) -> None:
    press("pin_toggle")
    rig_of(human).active_index = [one.name for one in rig_of(human).chains].index("Arm.L")
    press("goal_space", space="SCENE", roles="TARGET")
    press("pin_toggle")
    assert not chain(human, "Arm.L").pin
    assert carrier(human) == "FABRIK Scene"


def test_a_pin_whose_scene_is_gone_is_freed(human: bpy.types.Object) -> None:
    chest = chest_of(human)
    press("pin_toggle")
    bpy.data.objects.remove(bpy.data.objects["FABRIK Scene"])
    press("pin_toggle")
    assert carrier(human) == chest
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REACHED"


def test_the_pin_of_a_duplicate_is_told_and_freed(human: bpy.types.Object) -> None:
    """It hangs beside the original, which Blender does not change when it duplicates."""
    chest = chest_of(human)
    press("pin_toggle")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    human.select_set(True)
    bpy.ops.object.duplicate()
    other = bpy.context.view_layer.objects.active
    assert other is not None
    assert other != human
    select(other, chain(other, "Arm.L").target_bone)
    press("solve", chain="Arm.L")
    assert "or another armature's" in chain(other, "Arm.L").message
    press("pin_toggle")
    assert space_name(goals_of(chain(other, "Arm.L"))[0]) == chest
    press("solve", chain="Arm.L")
    assert chain(other, "Arm.L").status == "REACHED"


def test_a_mirrored_pin_holds_in_the_scene_too(human: bpy.types.Object) -> None:
    rig_of(human).active_index = [one.name for one in rig_of(human).chains].index("Arm.L")
    press("pin_toggle")
    press("chain_mirror")
    assert chain(human, "Arm.R").pin
    assert space_name(goals_of(chain(human, "Arm.R"))[0]) == "FABRIK Scene"
