# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins are set, freed and keyed without moving anything, and hold in the scene."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions.chain_edit import keeps_rotation
from fabrik_addon.actions.pins import free, wanted_of_chains
from fabrik_addon.actions.spaces import space_name
from fabrik_addon.rig.animation.compat import fcurves_of, set_selected
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Matrix, Vector

from support.hanging import (
    activate,
    assert_still,
    chain,
    chest_of,
    drop_hips,
    hand,
    height,
    matrices,
    reach_too_far,
)
from support.judging import angle_between, assert_alike, assert_one_answer, channels, effector, tip_turn
from support.scenes import (
    add_limb,
    assert_refused,
    each_frame,
    go_live,
    key_automatically,
    keyed,
    make_body,
    make_empty,
    press,
    select,
    solved_status,
    update,
)
from support.skeletons import set_up

SAME_PLACE = 1e-5  # of a body 1.7 high, for what single precision stores and Blender evaluates

SAME_TURN = 1e-4  # radians


def posed_body(mode: str = "QUATERNION") -> bpy.types.Object:
    """A body that stands in the world somehow, in a pose."""
    owner = make_body(mode)
    owner.matrix_world = Matrix.LocRotScale((1.0, -2.0, 0.5), Euler((0.2, -0.1, 0.7)), (1.5, 1.5, 1.5))
    for name, angles in (("thigh.L", (-0.5, 0.1, 0.0)), ("shin.L", (0.9, 0.0, 0.0)), ("upper_arm.R", (0.2, 0.4, -0.3))):
        bone = owner.pose.bones[name]
        if mode == "QUATERNION":
            bone.rotation_quaternion = Euler(angles).to_quaternion()
        else:
            bone.rotation_euler = angles
    update()
    return owner


def in_pose_mode(owner: bpy.types.Object, *bones: str) -> None:
    bpy.context.view_layer.objects.active = owner
    select(owner, *bones)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("bone", ["foot.L", "hand.R", "head", "shin.L", "chest"])
def test_a_pin_on_a_bone_makes_a_chain_that_moves_nothing(bone: str, mode: str) -> None:
    owner = posed_body(mode)
    in_pose_mode(owner, bone)
    before = channels(owner)
    press("pin_toggle")
    chain = rig_of(owner).chains[0]
    assert (chain.tip_bone, chain.effector, chain.pin, chain.target) == (bone, "HEAD", True, None)
    assert channels(owner) == before
    stands, turn = effector(owner, chain), tip_turn(owner, chain)
    assert (stands - Vector(chain.held_location)).length < SAME_PLACE
    press("solve", chain=chain.name)
    assert chain.status == "REACHED"
    assert (effector(owner, chain) - stands).length < SAME_PLACE
    assert angle_between(tip_turn(owner, chain), turn) < SAME_TURN
    assert_alike(channels(owner), before, SAME_TURN)


@pytest.mark.parametrize(
    ("bone", "keeps"),
    [("foot.L", True), ("hand.R", True), ("head", True), ("shin.L", False), ("upper_arm.R", False), ("spine1", False)],
)
def test_ends_of_limbs_keep_their_rotation_and_what_lies_between_is_free(bone: str, keeps: bool) -> None:
    owner = make_body()
    assert keeps_rotation(owner, bone) == keeps
    in_pose_mode(owner, bone)
    press("pin_toggle")
    assert rig_of(owner).chains[0].orientation == ("KEEP" if keeps else "FREE")


def test_a_foot_at_the_end_of_a_chain_means_the_chain_that_then_goes_on_to_it(body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="shin.L", bone_count=2)
    in_pose_mode(body, "foot.L")
    press("pin_toggle")
    chains = rig_of(body).chains
    assert [(chain.tip_bone, chain.bone_count, chain.effector) for chain in chains] == [("foot.L", 3, "HEAD")]
    assert (chains[0].name, chains[0].orientation) == ("shin.L", "KEEP")


def test_a_whole_leg_that_is_selected_is_pinned_by_its_foot(body: bpy.types.Object) -> None:
    in_pose_mode(body, "thigh.L", "shin.L", "foot.L", "hand.R")
    press("pin_toggle")
    assert {chain.tip_bone for chain in rig_of(body).chains} == {"foot.L", "hand.R"}


@pytest.mark.parametrize(
    ("has_target", "options", "left"),
    [(False, {}, []), (False, {"which": "ACTIVE"}, [False]), (False, {"which": "ALL"}, [False]), (True, {}, [False])],
)
def test_pressed_again_what_was_made_for_a_pin_is_gone_and_all_else_stays(
    has_target: bool, options: dict[str, str], left: list[bool], body: bpy.types.Object
) -> None:
    if has_target:
        add_limb(body, "foot.L", 3, target=(0.1, 0.02, 0.08))
    in_pose_mode(body, "foot.L")
    press("pin_toggle")
    assert [chain.pin for chain in rig_of(body).chains] == [True]
    press("pin_toggle", **options)
    assert [chain.pin for chain in rig_of(body).chains] == left


def test_of_some_that_are_pinned_the_others_are_pinned_too(body: bpy.types.Object) -> None:
    in_pose_mode(body, "foot.L")
    press("pin_toggle")
    held = tuple(rig_of(body).chains[0].held_location)
    body.location.x += 1.0
    update()
    in_pose_mode(body, "foot.L", "foot.R")
    press("pin_toggle")
    assert [chain.pin for chain in rig_of(body).chains] == [True, True]
    assert tuple(rig_of(body).chains[0].held_location) == held


def two_bodies() -> list[bpy.types.Object]:
    """Two bodies in Pose mode together, a hand of each selected."""
    owners = [make_body(), make_body()]
    bpy.ops.object.select_all(action="DESELECT")
    for owner in owners:
        owner.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for owner in owners:
        for bone in owner.pose.bones:
            set_selected(bone, bone.name == "hand.L")
    return owners


def test_bones_of_all_armatures_in_pose_mode_are_pinned_and_freed() -> None:
    owners = two_bodies()
    press("pin_toggle")
    assert [[chain.tip_bone for chain in rig_of(owner).chains] for owner in owners] == [["hand.L"], ["hand.L"]]
    press("pin_toggle")
    assert [len(rig_of(owner).chains) for owner in owners] == [0, 0]


def test_where_one_armature_refuses_none_is_changed() -> None:
    owners = two_bodies()
    first = owners[0] if bpy.context.object == owners[1] else owners[1]
    for name in ("one", "two"):
        add_limb(first, "hand.L", 3, target=(0.7, 0.0, 1.4), name=name)
    rig_of(first).chains["two"].pin = True
    assert_refused("the chain 'two' pins it already", "pin_toggle", action="PIN")
    assert [len(rig_of(owner).chains) for owner in owners if owner != first] == [0]
    assert not rig_of(first).chains["one"].pin


def test_all_enabled_chains_are_pinned_and_freed(body: bpy.types.Object) -> None:
    chains = [add_limb(body, tip, 3, target=(0.0, 0.0, 0.0)) for tip in ("foot.L", "foot.R", "hand.L")]
    chains[2].enabled = False
    press("pin_toggle", which="ALL")
    assert [chain.pin for chain in rig_of(body).chains] == [True, True, False]
    press("pin_toggle", which="ALL", action="FREE")
    assert [chain.pin for chain in rig_of(body).chains] == [False, False, False]


def test_a_bone_made_as_a_target_means_its_chain_and_one_made_as_a_pole_is_refused(body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="shin.L", bone_count=2, use_target=True, use_pole=True, kind="BONE")
    chain = rig_of(body).chains[0]
    in_pose_mode(body, chain.pole_bone)
    assert_refused("was made as a pole", "pin_toggle")
    assert not chain.pin
    in_pose_mode(body, chain.target_bone)
    press("pin_toggle")
    assert [(one.tip_bone, one.pin) for one in rig_of(body).chains] == [("shin.L", True)]


def test_with_nothing_to_pin_it_says_what_to_do(body: bpy.types.Object) -> None:
    in_pose_mode(body)
    assert_refused("no bone is selected", "pin_toggle")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_refused("in Pose mode bones are pinned without one", "pin_toggle")


def test_a_script_that_pins_holds_what_stands_and_later_keeps_what_is_stored() -> None:
    owner = posed_body()
    chain = add_limb(owner, "foot.L", 3)
    update()
    chain.pin = True
    assert (effector(owner, chain) - Vector(chain.held_location)).length < SAME_PLACE
    held = tuple(chain.held_location)
    chain.pin = False
    owner.location.x += 1.0
    update()
    chain.pin = True
    assert tuple(chain.held_location) == held


def test_a_pin_whose_target_is_taken_away_holds_where_it_stands(body: bpy.types.Object) -> None:
    chain = add_limb(body, "foot.L", 3, target=(0.1, 0.02, 0.08))
    update()
    chain.pin = True
    chain.target.location.z += 0.2
    press("solve")
    stands = effector(body, chain)
    chain.target = None
    assert (stands - Vector(chain.held_location)).length < SAME_PLACE
    assert solved_status(chain) == "REACHED"
    assert (effector(body, chain) - stands).length < 1e-4


def test_a_pin_without_keys_says_why_automatic_keying_leaves_it_so(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_body()
    key_automatically(only_available=True)
    in_pose_mode(owner, "foot.L")
    press("pin_toggle")
    assert not fcurves_of(owner)
    said = capfd.readouterr().out.splitlines()
    assert len(said) == 1  # a second report would hide it in the status bar
    assert said[0].startswith("Warning: Pinned foot.L; ")
    assert "; 'foot.L' not keyed: automatic keying has Only Insert Available on" in said[0]
    owner.keyframe_insert(rig_of(owner).chains[0].path_from_id("pin"))
    press("pin_toggle")
    assert "not keyed" not in capfd.readouterr().out
    assert len(rig_of(owner).chains) == 1


def test_between_two_plants_a_foot_is_held_where_it_was_planted(body: bpy.types.Object) -> None:
    key_automatically()
    in_pose_mode(body, "foot.L")
    places = {}
    for frame, x, action in ((10, 0.0, "PIN"), (20, 0.0, "FREE"), (30, 1.0, "PIN"), (40, 1.0, "FREE")):
        bpy.context.scene.frame_set(frame)
        body.location.x = x
        press("pin_toggle", action=action)
        places[frame] = tuple(rig_of(body).chains[0].held_location)
    paths = {curve.data_path for curve in fcurves_of(body)}
    assert paths == {f"fabrik_chains[0].{name}" for name in ("pin", "held_location", "held_rotation")}
    found = {}
    for frame in each_frame((9, 10, 15, 19, 20, 29, 30, 39, 40)):
        chain = rig_of(body).chains[0]
        found[frame] = (chain.pin, tuple(chain.held_location))
    assert [found[frame][0] for frame in found] == [False, True, True, True, False, False, True, True, False]
    for frame in (10, 15, 19):
        assert found[frame][1] == places[10]
    for frame in (30, 39):
        assert found[frame][1] == places[30]
    assert places[30][0] - places[10][0] == pytest.approx(1.0)


def test_what_is_keyed_is_told_where_nothing_keys_it(body: bpy.types.Object) -> None:
    key_automatically()
    in_pose_mode(body, "foot.L")
    press("pin_toggle")
    key_automatically(on=False)
    bpy.context.scene.frame_set(5)
    press("pin_toggle")
    assert [chain.pin for chain in rig_of(body).chains] == [False]  # the chain stays, for its keys


@pytest.mark.parametrize("out_of_reach", [False, True])
def test_what_is_freed_and_pulled_by_others_is_told(out_of_reach: bool, body: bpy.types.Object) -> None:
    for name in ("foot.L", "foot.R", "hand.L"):
        chain = add_limb(body, name, 3)
        update()
        chain.target = make_empty(effector(body, chain))
        chain.pin = name != "hand.L"
    rig_of(body).body_bone = "hips"
    if out_of_reach:
        rig_of(body).chains["hand.L"].target.location += Vector((0.5, 0.0, 1.5))
    press("solve_all")
    before = channels(body)
    told = free(bpy.context, body, wanted_of_chains(body, [rig_of(body).chains["foot.L"]]))
    assert told.freed == ["foot.L"]
    assert channels(body) == before
    assert any("foot.L" in note and "the next solve turns it" in note for note in told.notes) == out_of_reach
    press("solve_all")
    moved = max(
        abs(a - b) for now, was in zip(channels(body), before, strict=True) for a, b in zip(now, was, strict=True)
    )
    assert (moved > 1e-3) == out_of_reach


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
    activate(human, "Arm.L")
    press("goal_space", space=space, roles="TARGET")
    before, stood = carrier(human), matrices(human)
    press("pin_toggle")
    assert carrier(human) == "FABRIK Scene"
    press("pin_toggle")
    assert carrier(human) == before
    assert_still(human, stood, STILL, TURNED)


def test_targets_outside_the_rig_stay_what_they_are() -> None:
    human = set_up("human_mixamo", controls="EMPTIES")
    select(human, chain(human, "Arm.L").tip_bone)
    before, carried_by = matrices(human), carrier(human)
    press("pin_toggle")
    assert carrier(human) == "FABRIK Scene"
    press("pin_toggle")
    assert carrier(human) == carried_by
    assert_still(human, before, STILL, TURNED)
    chain(human, "Arm.L").target = loose = make_empty(before[chain(human, "Arm.L").tip_bone].translation, "Loose")
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


def test_a_pin_before_a_later_switch_ends_with_that(human: bpy.types.Object) -> None:
    """In the armature from 20 on; then pinned at 5: till 19 in the scene, and from 20 on as before."""
    scene = bpy.context.scene
    go_live(human)
    chest = chest_of(human)
    activate(human, "Arm.L")
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
    reach_too_far(human)
    before = hand(human).copy()
    press("pin_toggle")
    assert chain(human, "Arm.L").status == "REACHED"
    assert (hand(human).translation - before.translation).length <= 1e-3 * height(human)


def test_the_scene_that_was_chosen_while_pinned_stays(human: bpy.types.Object) -> None:
    press("pin_toggle")
    activate(human, "Arm.L")
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
    assert other != human
    select(other, chain(other, "Arm.L").target_bone)
    press("solve", chain="Arm.L")
    assert "or another armature's" in chain(other, "Arm.L").message
    press("pin_toggle")
    assert space_name(goals_of(chain(other, "Arm.L"))[0]) == chest
    press("solve", chain="Arm.L")
    assert chain(other, "Arm.L").status == "REACHED"


def test_a_mirrored_pin_holds_in_the_scene_too(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    press("pin_toggle")
    press("chain_mirror")
    assert chain(human, "Arm.R").pin
    assert space_name(goals_of(chain(human, "Arm.R"))[0]) == "FABRIK Scene"
