# SPDX-License-Identifier: GPL-3.0-or-later
"""A pin set by hand holds in the scene, whatever carried the target till then; freed, that carries it again."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.goals import space_name
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Vector

from support.hanging import HUMANS, assert_one_answer, chain, chest_of, drop_hips, height, matrices
from support.scenes import go_live, key_automatically, press, select, update
from support.skeletons import set_up

TURNED = 1e-3  # radians: a solve that turns a joint by 2e-4 counts as leaving it, and several stand on each other
STILL = 2e-4  # of the height, the same for what they carry


@pytest.fixture(autouse=True)
def not_live() -> Iterator[None]:
    yield
    for owner in bpy.data.objects:
        if owner.type == "ARMATURE":
            rig_of(owner).live = False


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    """A character as it is set up, in Pose mode, with nothing but the control of the left hand selected."""
    owner = set_up(str(request.param))
    select(owner, chain(owner, "Arm.L").target_bone)
    return owner


def carrier(owner: bpy.types.Object) -> str:
    """What the hand's target hangs on."""
    return space_name(goals_of(chain(owner, "Arm.L"))[0])


def hand(owner: bpy.types.Object) -> Matrix:
    return matrices(owner)[chain(owner, "Arm.L").tip_bone]


def assert_still(owner: bpy.types.Object, before: dict[str, Matrix]) -> None:
    tall = height(owner)
    for name, matrix in matrices(owner).items():
        assert (matrix.translation - before[name].translation).length <= STILL * tall, name
        assert np.abs(np.array(matrix.to_3x3()) - np.array(before[name].to_3x3())).max() <= TURNED, name


def test_a_pinned_hand_stays_in_the_scene_until_it_is_freed(human: bpy.types.Object) -> None:
    go_live(human)
    chest, before = chest_of(human), matrices(human)
    press("pin_toggle")
    assert_still(human, before)
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
    assert_still(human, before)
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
    assert_still(human, stood)


def test_targets_outside_the_rig_stay_what_they_are() -> None:
    human = set_up("human_mixamo", controls="EMPTIES")
    target = chain(human, "Arm.L").target
    assert target is not None
    select(human, chain(human, "Arm.L").tip_bone)
    before = matrices(human)
    press("pin_toggle")
    assert carrier(human) == "FABRIK Scene"
    press("pin_toggle")
    assert carrier(human) in before
    assert_still(human, before)
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
    for frame, share in ((1, 0.0), (30, 1.0)):
        body.location = stood + axes @ down * share
        body.keyframe_insert("location", frame=frame)
    scene.frame_set(10)
    go_live(human)
    key_automatically()
    press("pin_toggle")
    scene.frame_set(20)
    press("pin_toggle")
    key_automatically(on=False)
    places = {}
    for frame in (25, 9, 14, 10, 19, 1, 20, 30):
        scene.frame_set(frame)
        places[frame] = hand(human).translation.z
    tall = height(human)
    for frame in (14, 19):
        assert abs(places[frame] - places[10]) <= 1e-4 * tall, frame
    assert places[9] - places[1] == pytest.approx(-0.05 * tall * 8 / 29, rel=0.7)
    assert places[9] < places[1] - 0.002 * tall
    assert places[30] < places[20] - 0.005 * tall
    assert_one_answer(human, (25, 9, 14, 20))
