# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that hang on a bone of their own figure stand in its frame, for button, live posing, drag and bake alike."""

from __future__ import annotations

from math import acos, degrees, radians
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions import drag as dragging
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import swing_frame_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.hanging import assert_one_answer, chain, chest_of, drop_hips, height, matrices, posed
from support.scenes import each_frame, go_live, keyed, press, solved_status, update

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
        body = rig_of(human).body_bone
        assert body not in [bone.name for bone in bones[leg.target_bone].parent_recursive]


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
    held = dragging.begin(bpy.context, human, dragging.Taken(body, "HEAD"))
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
    from fabrik_addon.actions.live.state import state

    go_live(human)
    drop_hips(human, 0.05)
    writes, before = state.counts.writes, posed(human)
    for _ in range(5):
        bpy.context.view_layer.depsgraph.update()
        human.update_tag()
        update()
    assert state.counts.writes == writes
    assert (posed(human) == before).all()


def test_a_dragged_hand_stays_where_it_is_left(human: bpy.types.Object) -> None:
    go_live(human)
    arm = chain(human, "Arm.L")
    tall, hand = height(human), matrices(human)[arm.tip_bone].translation.copy()
    wanted = hand + Vector((-0.05, -0.15, 0.1)) * tall
    held = dragging.begin(bpy.context, human, dragging.Taken.tip_of(arm))
    for k in range(1, 6):
        dragging.drag_to(bpy.context, held, hand.lerp(wanted, k / 5))
        update()
    dragging.finish(bpy.context, held)
    assert (matrices(human)[arm.tip_bone].translation - wanted).length <= 2e-4 * tall
    before = posed(human)
    human.update_tag()
    update()
    assert np.abs(posed(human) - before).max() <= STAYS


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
    far = bpy.data.objects.new("Far", None)
    bpy.context.scene.collection.objects.link(far)
    far.location = stood[arm.tip_bone].translation + Vector((0.0, -1.0, 0.6)) * leg
    arm.target, arm.target_bone, arm.orientation = far, "", "FREE"
    rig_of(human).body_stays = True
    press("solve_all")
    after = matrices(human)[body]
    assert arm.status != "REACHED"
    assert (after.translation - stood[body].translation).length <= 1e-4 * leg
    assert tilt(stood[body], after) <= 0.01
    far.location = stood[arm.tip_bone].translation
    control = pose_bones(human)[foot.target_bone]
    place = control.matrix.copy()
    low = stood[foot.tip_bone].translation + Vector((0.0, 0.0, -0.2 * leg))
    place.translation = human.matrix_world.inverted() @ low
    control.matrix = place
    assert solved_status(foot, "solve_all") == "REACHED"
    assert (after.translation - matrices(human)[body].translation).length > 0.02 * leg, "the pin pulls the body along"


@pytest.mark.parametrize("turn", [90.0, 180.0, -37.0])
@pytest.mark.parametrize("what", ["object", "parent"])
def test_a_character_that_is_turned_keeps_its_pose(human: bpy.types.Object, what: str, turn: float) -> None:
    """Feet and knees come along, too: their controls stand in the armature."""
    go_live(human)
    pose_bones(human)[chain(human, "Arm.L").target_bone].location += Vector((0.0, -0.1, 0.1)) * height(human)
    update()
    before, stood, tall = posed(human), matrices(human), height(human)
    moved = human
    if what == "parent":
        moved = bpy.data.objects.new("Cart", None)
        bpy.context.scene.collection.objects.link(moved)
        human.parent = moved
    moved.rotation_mode = "XYZ"
    moved.rotation_euler.z += radians(turn)
    update()
    moved.location += Vector((1.0, 2.0, 0.0))
    update()
    assert {chain(human, name).status for name in ("Arm.L", "Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}
    assert np.abs(posed(human) - before).max() <= 2e-6
    to = Matrix.Translation((1.0, 2.0, 0.0)) @ Matrix.Rotation(radians(turn), 4, "Z")
    for name, matrix in matrices(human).items():
        assert ((to @ stood[name]).translation - matrix.translation).length <= 1e-5 * tall, name


def test_a_foot_control_that_is_turned_turns_the_foot(human: bpy.types.Object) -> None:
    go_live(human)
    leg = chain(human, "Leg.L")
    before = matrices(human)[leg.tip_bone]
    control = pose_bones(human)[leg.target_bone]
    control.rotation_mode = "XYZ"
    control.rotation_euler.z += radians(17.0)
    after = matrices(human)[leg.tip_bone]
    turned = before.to_quaternion().rotation_difference(after.to_quaternion())
    assert 2.0 * acos(min(1.0, abs(turned.w))) == pytest.approx(radians(17.0), abs=1e-3)
    assert (after.translation - before.translation).length <= 1e-4 * height(human)
