# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that hang on bones and objects, for good or by keys: all ways pose them alike, and nothing moves then."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import acos, degrees, radians
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions import drag as dragging
from fabrik_addon.actions.live.state import state
from fabrik_addon.actions.spaces import space_name, switch_spaces
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of, swing_frame_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.hanging import (
    activate,
    chain,
    chest_of,
    drop_hips,
    height,
    matrices,
    put_bone,
    reach_too_far,
)
from support.judging import assert_one_answer, single_channels
from support.scenes import assert_refused, each_frame, go_live, keyed, make_empty, press, reload, solved_status, update
from support.skeletons import set_up

SINGLE = 4e-6  # of the height, what single precision leaves of a place
STAYS = 1e-6


pytestmark = pytest.mark.usefixtures("not_live")


def in_chest(owner: bpy.types.Object, bone: str) -> Matrix:
    found = matrices(owner)
    return found[chest_of(owner)].inverted() @ found[bone]


def test_hands_hang_on_the_chest_and_feet_do_not(human: bpy.types.Object) -> None:
    bones = pose_bones(human)
    for side in "LR":
        arm, leg = chain(human, f"Arm.{side}"), chain(human, f"Leg.{side}")
        assert chest_of(human) in [bone.name for bone in bones[arm.tip_bone].parent_recursive]
        assert bones[arm.pole_bone].parent.parent.name == chest_of(human)
        assert rig_of(human).body_bone not in [bone.name for bone in bones[leg.target_bone].parent_recursive]


def test_a_hand_moved_inside_its_reach_bends_the_arm_alone(human: bpy.types.Object) -> None:
    press("solve_all")
    arm = chain(human, "Arm.L")
    before, tall = matrices(human), height(human)
    pose_bones(human)[arm.target_bone].location += Vector((0.02, -0.1, 0.05)) * tall
    assert solved_status(arm, "solve_all") == "REACHED"
    after = matrices(human)
    goes_along = {arm.target_bone, arm.pole_bone, *swing_frame_of(human, arm).values()}
    still = [name for name in before if name not in goes_along and not is_below(human, name, arm)]
    for name in still:
        assert (after[name].translation - before[name].translation).length <= SINGLE * tall, name
        assert np.abs(np.array(after[name]) - np.array(before[name])).max() <= 1e-5 * tall, name


def is_below(owner: bpy.types.Object, name: str, arm: FabrikChain) -> bool:
    """Whether a bone is of an arm, with what carries that from the chest on, or hangs on it."""
    bones = pose_bones(owner)
    line = [bones[arm.tip_bone], *bones[arm.tip_bone].parent_recursive]
    first = line[[bone.name for bone in line].index(chest_of(owner)) - 1]
    return first in [bones[name], *bones[name].parent_recursive]


def test_hands_go_along_and_feet_stay_when_the_hips_go_down(human: bpy.types.Object) -> None:
    press("solve_all")
    hands = {side: in_chest(human, chain(human, f"Arm.{side}").tip_bone) for side in "LR"}
    feet = {side: matrices(human)[chain(human, f"Leg.{side}").tip_bone] for side in "LR"}
    tall, body = height(human), rig_of(human).body_bone
    wanted = matrices(human)[body].translation - Vector((0.0, 0.0, 0.12 * tall))
    held = dragging.begin(bpy.context, human, dragging.Grip(body, "HEAD"))
    dragging.drag_to(bpy.context, held, wanted)
    dragging.finish(bpy.context, held)
    assert (wanted - matrices(human)[body].translation).length <= 1e-3 * tall
    for side in "LR":
        hand = in_chest(human, chain(human, f"Arm.{side}").tip_bone)
        assert (hand.translation - hands[side].translation).length <= 1e-4 * tall / human.scale.x
        assert hand.to_quaternion().rotation_difference(hands[side].to_quaternion()).angle <= radians(0.1)
        foot = matrices(human)[chain(human, f"Leg.{side}").tip_bone]
        assert (foot.translation - feet[side].translation).length <= 1e-4 * tall


def test_one_answer_by_button_live_and_bake(human: bpy.types.Object) -> None:
    arm, tall = chain(human, "Arm.R"), height(human)
    control = pose_bones(human)[arm.target_bone]
    places = [Vector((0.0, 0.0, 0.0)), Vector((-0.05, -0.12, 0.1)) * tall, Vector((0.02, -0.2, 0.25)) * tall]
    keyed(control, dict(zip((1, 5, 9), places, strict=True)))
    assert_one_answer(human, (1, 3, 5, 8, 9, 3))


def test_live_does_nothing_where_nothing_moves(human: bpy.types.Object) -> None:
    go_live(human)
    drop_hips(human, 0.05)
    writes, before = state.writes, single_channels(human)
    for _ in range(5):
        bpy.context.view_layer.depsgraph.update()
        human.update_tag()
        update()
    assert state.writes == writes
    assert (single_channels(human) == before).all()


def test_a_dragged_hand_stays_where_it_is_left(human: bpy.types.Object) -> None:
    go_live(human)
    arm = chain(human, "Arm.L")
    tall, hand = height(human), matrices(human)[arm.tip_bone].translation.copy()
    wanted = hand + Vector((-0.05, -0.15, 0.1)) * tall
    held = dragging.begin(bpy.context, human, dragging.Grip.tip_of(arm))
    for k in range(1, 6):
        dragging.drag_to(bpy.context, held, hand.lerp(wanted, k / 5))
        update()
    dragging.finish(bpy.context, held)
    assert (matrices(human)[arm.tip_bone].translation - wanted).length <= 2e-4 * tall
    before = single_channels(human)
    human.update_tag()
    update()
    assert np.abs(single_channels(human) - before).max() <= STAYS


def test_a_hand_on_the_own_hip_goes_with_it(human: bpy.types.Object) -> None:
    """The target is a bone of the figure itself."""
    arm, body = chain(human, "Arm.L"), rig_of(human).body_bone
    hip = pose_bones(human)[chain(human, "Leg.L").tip_bone].parent.parent.name
    arm.target, arm.target_bone, arm.orientation = human, hip, "FREE"
    assert solved_status(arm, "solve_all") == "REACHED", arm.message
    go_live(human)
    bone = pose_bones(human)[body]
    bone.matrix = bone.matrix @ Quaternion((0.0, 1.0, 0.0), 0.2).to_matrix().to_4x4()
    found = matrices(human)
    assert (found[arm.tip_bone].translation - found[hip].translation).length <= 2e-4 * height(human)


def test_what_hangs_by_more_than_parents_is_refused_by_name_and_the_others_go_on(human: bpy.types.Object) -> None:
    left = chain(human, "Arm.L")
    control = pose_bones(human)[left.target_bone]
    tie: Any = control.constraints.new("COPY_LOCATION")
    tie.target, tie.subtarget = human, chain(human, "Arm.R").tip_bone
    go_live(human)
    assert not left.enabled
    assert "moves with" in left.message
    assert chain(human, "Arm.R").enabled
    assert chain(human, "Leg.L").enabled


def leg_length(owner: bpy.types.Object) -> float:
    """Of thigh and shin together, in the world."""
    tip = pose_bones(owner)[chain(owner, "Leg.L").tip_bone]
    return float(sum(bone.length for bone in tip.parent_recursive[:2]) * owner.matrix_world.to_scale().x)


def tilt(before: Matrix, after: Matrix) -> float:
    """The angle in degrees by which a bone is turned."""
    turned = before.to_quaternion().rotation_difference(after.to_quaternion())
    return degrees(2.0 * acos(min(1.0, abs(turned.w))))


def test_hips_that_are_put_down_by_hand_stay_there(human: bpy.types.Object) -> None:
    """Live: feet hold, hands go along with the chest, and the chest stays upright."""
    go_live(human)
    body, leg = rig_of(human).body_bone, leg_length(human)
    before, tall = matrices(human), height(human)
    wanted = drop_hips(human) - Vector((0.0, 0.0, 0.12 * tall))
    after = matrices(human)
    assert rig_of(human).body_stays
    assert (after[body].translation - wanted).length <= 1e-3 * leg
    assert tilt(before[body], after[body]) <= 0.1
    assert tilt(before[chest_of(human)], after[chest_of(human)]) <= 5.0
    for name in ("Leg.L", "Leg.R"):
        foot = chain(human, name).tip_bone
        assert (after[foot].translation - before[foot].translation).length <= 1e-4 * leg
    for name in ("Arm.L", "Arm.R"):
        hand, chest = chain(human, name).tip_bone, chest_of(human)
        now, was = (found[chest].inverted() @ found[hand] for found in (after, before))
        assert (now.translation - was.translation).length * human.matrix_world.to_scale().x <= 0.02 * leg


def test_keyed_hips_are_where_their_keys_have_them(human: bpy.types.Object) -> None:
    """All keys of the hips are lowered by a tenth of a leg: the hips go down by just that, at every frame."""
    body, leg = pose_bones(human)[rig_of(human).body_bone], leg_length(human)
    rig_of(human).body_stays = True
    axes = (human.matrix_world @ body.bone.matrix_local).to_3x3().inverted()
    for frame, shift in ((1, 0.0), (10, 0.02), (20, -0.03)):
        body.location = axes @ Vector((shift * leg, 0.0, -abs(shift) * leg))
        body.keyframe_insert("location", frame=frame)
    go_live(human)
    frames, stood = (1, 5, 10, 14, 20), {}
    for frame in each_frame(frames):
        stood[frame] = matrices(human)[body.name].translation.copy()
    down = axes @ Vector((0.0, 0.0, -0.1 * leg))
    for curve in fcurves_of(human):
        if curve.data_path == body.path_from_id("location"):
            for point in curve.keyframe_points:
                point.co.y += down[curve.array_index]
            curve.update()
    human.update_tag()
    for frame in each_frame(frames):
        off = matrices(human)[body.name].translation - stood[frame] + Vector((0.0, 0.0, 0.1 * leg))
        assert off.length <= 1e-3 * leg, frame


def test_a_body_that_stays_helps_no_hand_and_gives_way_to_pins(human: bpy.types.Object) -> None:
    press("solve_all")
    body, arm, foot = rig_of(human).body_bone, chain(human, "Arm.L"), chain(human, "Leg.L")
    leg, stood = leg_length(human), matrices(human)
    far = make_empty(stood[arm.tip_bone].translation + Vector((0.0, -1.0, 0.6)) * leg, "Far")
    arm.target, arm.target_bone, arm.orientation = far, "", "FREE"
    rig_of(human).body_stays = True
    press("solve_all")
    after = matrices(human)[body]
    assert arm.status != "REACHED"
    assert (after.translation - stood[body].translation).length <= 1e-4 * leg
    assert tilt(stood[body], after) <= 0.01
    far.location = stood[arm.tip_bone].translation
    put_bone(human, foot.target_bone, stood[foot.tip_bone].translation + Vector((0.0, 0.0, -0.2 * leg)))
    assert solved_status(foot, "solve_all") == "REACHED"
    assert (after.translation - matrices(human)[body].translation).length > 0.02 * leg, "the pin pulls the body along"


@pytest.mark.parametrize("turn", [90.0, 180.0, -37.0])
@pytest.mark.parametrize("what", ["object", "parent"])
def test_a_character_that_is_turned_keeps_its_pose(human: bpy.types.Object, what: str, turn: float) -> None:
    """Feet and knees come along, too: their controls stand in the armature."""
    go_live(human)
    pose_bones(human)[chain(human, "Arm.L").target_bone].location += Vector((0.0, -0.1, 0.1)) * height(human)
    update()
    before, stood, tall = single_channels(human), matrices(human), height(human)
    moved = human
    if what == "parent":
        moved = make_empty(name="Cart")
        human.parent = moved
    moved.rotation_mode = "XYZ"
    moved.rotation_euler.z += radians(turn)
    update()
    moved.location += Vector((1.0, 2.0, 0.0))
    update()
    assert {chain(human, name).status for name in ("Arm.L", "Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}
    assert np.abs(single_channels(human) - before).max() <= 2e-6
    to = Matrix.Translation((1.0, 2.0, 0.0)) @ Matrix.Rotation(radians(turn), 4, "Z")
    for name, matrix in matrices(human).items():
        assert ((to @ stood[name]).translation - matrix.translation).length <= 1e-5 * tall, name


@pytest.mark.parametrize("kind", ["BONES", "EMPTIES"])
def test_goals_are_hung_elsewhere_and_nothing_moves(kind: str) -> None:
    """From the chest into the armature, onto the hips, onto the other hand, and back."""
    human = set_up("human_mixamo", controls=kind)
    go_live(human)
    drop_hips(human, 0.06)
    arm, tall = chain(human, "Arm.L"), height(human)
    activate(human, "Arm.L")
    stood, control = matrices(human), arm.target_bone
    other = chain(human, "Arm.R").tip_bone
    for options in ({"space": "ARMATURE"}, {"space": "BODY"}, {"bone": other}, {"space": "LIMB"}):
        press("goal_space", **options)
        assert chain(human, "Arm.L").status == "REACHED", (options, chain(human, "Arm.L").message)
        for name, matrix in matrices(human).items():
            assert np.abs(np.array(matrix) - np.array(stood[name])).max() <= 1e-5 * tall, (options, name)
    arm = chain(human, "Arm.L")
    found = space_name(goals_of(arm)[0])
    assert found == space_name(goals_of(chain(human, "Arm.R"))[0])
    assert found in [bone.name for bone in pose_bones(human)[arm.tip_bone].parent_recursive]
    assert not control or len(pose_bones(human)[control].constraints) == 1


def test_a_hand_in_the_armature_stays_when_the_hips_sink(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    press("goal_space", space="ARMATURE")
    go_live(human)
    hand = chain(human, "Arm.L").tip_bone
    before = matrices(human)[hand].translation.copy()
    drop_hips(human, 0.04)
    assert chain(human, "Arm.L").status == "REACHED"
    assert (matrices(human)[hand].translation - before).length <= 1e-4 * height(human)


def test_where_goals_can_not_hang_is_refused_by_name(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    arm = chain(human, "Arm.L")
    assert_refused("would move with itself", "goal_space", bone=arm.tip_bone)
    assert_refused("has no bone 'Wing'", "goal_space", bone="Wing")
    assert_refused("there is no object 'Nothing'", "grab", object="Nothing")
    pose_bones(human)[arm.target_bone].lock_location = (True, False, False)
    assert_refused("locked", "goal_space", space="ARMATURE")
    assert {chest_of(human), swing_frame_of(human, arm)["pole"]} == {
        pose_bones(human)[bone].parent.name for bone in (arm.target_bone, arm.pole_bone)
    }
    assert not pose_bones(human)[arm.target_bone].constraints


@pytest.mark.parametrize("pressed", ["grab", "release"])
def test_a_foot_that_walks_holds_on_to_nothing(human: bpy.types.Object, pressed: str) -> None:
    press("walker_add")
    press("walk_plan", frame_start=1, frame_end=12)
    activate(human, "Leg.L")
    make_empty(name="Cup")
    assert_refused(r"Leg\.L.*it goes as its walk says, and can't hold on", pressed, object="Cup")


def test_a_hand_that_does_not_reach_its_target_grabs_where_it_is(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    make_empty(name="Cup")
    go_live(human)
    reach_too_far(human)
    before = matrices(human)
    press("grab", object="Cup")
    assert chain(human, "Arm.L").status == "REACHED"
    helped = 6e-3  # the arm is straight, and the body helps it from nine tenths of its reach on
    for name, most in ((chain(human, "Arm.L").tip_bone, 1e-3), (rig_of(human).body_bone, helped)):
        assert (matrices(human)[name].translation - before[name].translation).length <= most * height(human), name


def test_an_elbow_stays_bent_while_the_body_helps(human: bpy.types.Object) -> None:
    """A hand in the armature goes straight ahead: the elbow bends less and less, and what carries the arm helps."""
    activate(human, "Arm.L")
    assert chain(human, "Arm.L").body_helps == pytest.approx(0.9)
    press("goal_space", space="ARMATURE", roles="TARGET")
    press("solve_all")
    arm, stood = chain(human, "Arm.L"), matrices(human)
    arm.orientation = "FREE"
    bones = [pose_bones(human)[arm.tip_bone], *pose_bones(human)[arm.tip_bone].parent_recursive][: arm.bone_count]
    names = [bone.name for bone in bones][::-1]
    run = [stood[name].translation for name in names]
    reach = sum(float((b - a).length) for a, b in pairwise(run))
    control, before = pose_bones(human)[arm.target_bone], 0.0
    place = human.matrix_world @ control.matrix
    for share in (0.8, 0.95, 1.0, 1.05, 1.1):
        there = run[0] + Vector((0.45, -0.88, 0.1)).normalized() * share * reach
        moved = Matrix.Translation(there - place.translation) @ place
        found, went = dict[float, float](), dict[float, float]()
        for helps in (1.0, 0.9):
            arm.body_helps = helps
            control.matrix = human.matrix_world.inverted() @ moved
            press("solve_all")
            assert arm.status == "REACHED", share
            now = matrices(human)
            found[helps] = float((now[names[0]].translation - now[names[-1]].translation).length) / reach
            went[helps] = float((now[names[0]].translation - stood[names[0]].translation).length)
        if share == 0.8:
            assert went[0.9] <= 0.6 * went[1.0], "there what carries the arm stays, which gave a little"
        else:
            assert found[0.9] <= found[1.0]
        if share in {1.05, 1.1}:
            assert found[0.9] < min(found[1.0] - 0.004, 0.986)
        assert found[0.9] > before - 1e-6
        before = found[0.9]


def prop_at(place: Vector, name: str = "Prop") -> bpy.types.Object:
    """An empty at a place of the world, that moves and turns from frame 10 to 30."""
    found = make_empty(place, name)
    found.rotation_mode = "XYZ"
    for frame, away, turn in ((10, 0.0, 0.0), (30, -0.05, 0.6)):
        found.location = place + Vector((away, -away, away))
        found.rotation_euler = (turn, 0.0, -turn)
        found.keyframe_insert("location", frame=frame)
        found.keyframe_insert("rotation_euler", frame=frame)
    return found


def poses_at(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, dict[str, Matrix]]:
    return {frame: matrices(owner) for frame in each_frame(frames)}


def furthest(one: dict[str, Matrix], other: dict[str, Matrix]) -> float:
    """How far a bone is from where it was at most; the trunk helps a hand of the world by a thousandth of its way."""
    return max(float((one[name].translation - other[name].translation).length) for name in one)


@pytest.mark.parametrize("kind", ["BONES", "EMPTIES"])
def test_a_hand_grabs_a_prop_and_lets_it_go_and_nothing_moves_at_either_frame(kind: str) -> None:
    human = set_up("human_mixamo", controls=kind)
    activate(human, "Arm.L")
    go_live(human)
    arm, tall = chain(human, "Arm.L"), height(human)
    holder = pose_bones(human)[arm.target_bone] if arm.target_bone else arm.target
    stood = holder.location.z
    for frame, up in ((1, 0.0), (40, 0.02), (50, 0.05)):
        holder.location.z = stood + up * tall / (human.scale.x if arm.target_bone else 1.0)
        holder.keyframe_insert("location", frame=frame)
    hand = arm.tip_bone
    bpy.context.scene.frame_set(10)
    prop = prop_at(matrices(human)[hand].translation + Vector((0.02, -0.05, 0.0)) * tall)
    before = poses_at(human, range(1, 51))
    bpy.context.scene.frame_set(10)
    press("grab", object="Prop")
    held = poses_at(human, range(1, 51))
    for frame in (*range(1, 11), 40, 50):
        assert furthest(held[frame], before[frame]) <= (2e-5 if frame < 10 else 5e-3) * tall, frame
        assert (held[frame][hand].translation - before[frame][hand].translation).length <= 2e-5 * tall, frame
    grip = in_prop(prop, hand, human, 10)
    for frame in (11, 20, 29, 30, 39):  # up to the next key, that is brought along
        assert (in_prop(prop, hand, human, frame).translation - grip.translation).length <= 1e-5 * tall
    bpy.context.scene.frame_set(30)
    press("release")
    for frame, poses in poses_at(human, range(1, 31)).items():
        assert furthest(poses, held[frame]) <= (2e-5 if frame < 30 else 5e-3) * tall, frame
        assert (poses[hand].translation - held[frame][hand].translation).length <= 2e-5 * tall, frame
    let_go = poses_at(human, (40, 50))
    for frame, poses in let_go.items():
        assert furthest(poses, before[frame]) <= 2e-5 * tall, frame  # hung on the chest again
    assert chain(human, "Arm.L").status == "REACHED"


def in_prop(prop: bpy.types.Object, bone: str, owner: bpy.types.Object, frame: int) -> Matrix:
    bpy.context.scene.frame_set(frame)
    return prop.matrix_world.inverted() @ matrices(owner)[bone]


def test_one_answer_with_keyed_spaces_by_button_live_and_bake(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    arm, tall = chain(human, "Arm.L"), height(human)
    body = pose_bones(human)[rig_of(human).body_bone]
    keyed(body, {frame: Vector((0.0, -down, -down)) * tall / human.scale.x for frame, down in ((1, 0.0), (30, 0.08))})
    bpy.context.scene.frame_set(8)
    press("goal_space", space="ARMATURE", use_key=True)
    bpy.context.scene.frame_set(16)
    press("goal_space", space="BODY", use_key=True)
    assert arm.status != "REFUSED"
    assert_one_answer(human, (1, 5, 8, 12, 16, 20, 25, 9, 3))


def test_a_prop_in_the_hand_carries_the_other_hand(human: bpy.types.Object) -> None:
    """The right hand holds a staff, the left hand holds on to it: they keep their distance wherever the right goes."""
    go_live(human)
    tall = height(human)
    right, left = chain(human, "Arm.R"), chain(human, "Arm.L")
    places = {name: matrices(human)[chain(human, name).tip_bone].translation.copy() for name in ("Arm.L", "Arm.R")}
    staff = make_empty(places["Arm.R"], "Staff")
    for name in ("Arm.L", "Arm.R"):  # both hands before the body
        control = pose_bones(human)[chain(human, name).target_bone]
        way = Matrix.Translation(Vector((-0.04 if name == "Arm.L" else 0.04, -0.08, 0.03)) * tall)
        control.matrix = human.matrix_world.inverted() @ way @ human.matrix_world @ control.matrix
    update()
    activate(human, "Arm.R")
    press("grab", way="OBJECT", object="Staff")
    activate(human, "Arm.L")
    press("grab", object="Staff")
    assert max(left.residual, right.residual) <= 1e-4 * tall
    grip = in_prop(staff, left.tip_bone, human, 1)
    stood = matrices(human)[right.tip_bone].translation.copy()
    control = pose_bones(human)[right.target_bone]
    control.location += Vector((0.02, 0.04, 0.05)) * tall / human.scale.x
    control.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(1)
    assert (matrices(human)[right.tip_bone].translation - stood).length > 0.03 * tall
    assert (in_prop(staff, left.tip_bone, human, 1).translation - grip.translation).length <= 1e-4 * tall
    assert max(chain(human, name).residual for name in ("Arm.L", "Arm.R")) <= 1e-4 * tall
    activate(human, "Arm.R")
    assert_refused("would move with itself", "grab", object="Staff")


def test_a_foot_in_the_frame_of_another_character_goes_with_that() -> None:
    """A rider's foot in a stirrup: the other character is posed first, moves as an object, and both are live."""
    horse, rider = set_up("human_mixamo"), set_up("human_game_engine")
    for owner in (horse, rider):
        go_live(owner)
    tall = height(rider)
    activate(rider, "Leg.L")
    leg = chain(rider, "Leg.L")
    leg.pin = False
    foot, carrier = leg.tip_bone, chain(horse, "Leg.R").tip_bone
    bpy.context.view_layer.objects.active = rider
    press("goal_space", space="OBJECT", roles="TARGET", object=horse.name, other_bone=carrier)
    stood = matrices(rider)[foot]
    before = matrices(horse)[carrier]
    control = pose_bones(horse)[chain(horse, "Leg.R").target_bone]
    chain(horse, "Leg.R").pin = False
    control.location += Vector((0.0, 0.05, 0.04)) * tall / horse.scale.x
    update()
    horse.location += Vector((0.03, 0.02, 0.05)) * tall
    moved = matrices(horse)[carrier] @ before.inverted()
    wanted = moved @ stood
    assert (moved.translation.length) > 0.01 * tall
    assert (matrices(rider)[foot].translation - wanted.translation).length <= 1e-4 * tall
    rider.location += Vector((0.05, 0.0, 0.0)) * tall
    assert (matrices(rider)[foot].translation - wanted.translation).length <= 1e-4 * tall


def test_spaces_outlive_saving_purging_and_other_characters(tmp_path: Path) -> None:
    """Anchors are looked at by constraints alone, which keep nothing."""
    owner = set_up("human_mixamo")
    owner.location, owner.rotation_euler = (1.0, 0.5, 0.0), (0.0, 0.0, 0.5)
    prop_at(Vector((1.2, 0.1, 1.0)))
    activate(owner, "Arm.R")
    press("grab", object="Prop")
    activate(owner, "Leg.L")
    press("goal_space", space="SCENE")
    set_up("human_game_engine")
    press("rig_clear")
    bpy.ops.outliner.orphans_purge()
    bpy.context.scene.frame_set(1)
    stood = matrices(owner)
    reload(tmp_path)
    owner = bpy.data.objects["human_mixamo"]
    assert furthest(matrices(owner), stood) <= 1e-5
    bpy.context.view_layer.objects.active = owner
    press("rig_clear")
    assert not [one.name for one in bpy.data.objects if one.name.startswith(("FABRIK Anchor", "FABRIK Scene"))]


def test_a_hand_whose_prop_is_gone_is_told_and_released(human: bpy.types.Object) -> None:
    prop = prop_at(Vector((0.4, -0.3, 1.0)))
    activate(human, "Arm.L")
    assert_refused("is held by nothing", "release")
    press("grab", object="Prop")
    assert_refused("release it first", "grab", way="OBJECT", object="Prop")
    bpy.data.objects.remove(prop)
    press("solve")
    assert "what the target hung on is gone" in chain(human, "Arm.L").message
    press("release")
    assert space_name(goals_of(chain(human, "Arm.L"))[0]) == space_name(goals_of(chain(human, "Arm.R"))[0])


def test_a_chest_that_is_scaled_carries_its_hands(human: bpy.types.Object) -> None:
    go_live(human)
    pose_bones(human)[chest_of(human)].scale = (1.0, 1.1, 1.0)
    update()
    assert {chain(human, name).status for name in ("Arm.L", "Arm.R")} <= {"REACHED", "TOO_FAR", "BLOCKED"}
    assert all(chain(human, name).enabled for name in ("Arm.L", "Arm.R"))


def test_keys_that_another_character_plays_are_not_changed(human: bpy.types.Object) -> None:
    activate(human, "Arm.L")
    control = pose_bones(human)[chain(human, "Arm.L").target_bone]
    control.keyframe_insert("location", frame=1)
    bpy.context.collection.objects.link(human.copy())
    prop_at(Vector((0.4, -0.3, 1.0)))
    assert_refused("make its action single user", "grab", object="Prop")
    assert not control.constraints


def test_a_goal_is_left_where_it_hangs_already_and_finds_back_to_its_first_space(human: bpy.types.Object) -> None:
    goal, bone = goals_of(chain(human, "Arm.L"))[0], pose_bones(human)[chain(human, "Arm.L").target_bone]
    assert switch_spaces(bpy.context, [(goal, (human, chest_of(human)))], keyed=False) == ([], [])
    assert bone.parent.name == chest_of(human)
    assert not bone.constraints
    activate(human, "Arm.L")
    first = space_name(goals_of(chain(human, "Arm.L"))[0])
    for options in ({"space": "ARMATURE"}, {"space": "BODY"}):
        press("goal_space", **options)
        assert space_name(goals_of(chain(human, "Arm.L"))[0]) != first
    press("goal_space", space="FIRST")
    assert space_name(goals_of(chain(human, "Arm.L"))[0]) == first
