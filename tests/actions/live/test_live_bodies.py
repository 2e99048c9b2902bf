# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing of chains that are solved together: one figure, one solve a frame, one pose for all ways in."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Matrix, Quaternion, Vector

from support.judging import (
    HELD,
    HELD_TURN,
    angle_between,
    assert_alike,
    assert_feet_hold,
    channels,
    off_target,
    statuses,
    tip_turn,
)
from support.scenes import (
    add_limb,
    each_frame,
    give_action,
    go_live,
    go_to,
    key_automatically,
    keyed,
    make_body_on_root,
    make_empty,
    note_of,
    pin,
    update,
    with_legs_pinned,
)


class TestFollowing:
    def test_all_chains_follow_the_goal_of_one(self, reaching: bpy.types.Object) -> None:
        hips = reaching.pose.bones["hips"]
        for place in ((0.5, -0.6, 0.7), (0.2, -0.7, 0.4), (0.3, 0.2, 1.6)):
            before = hips.location.copy()
            rig_of(reaching).chains["hand.L"].target.location = place
            update()
            assert statuses(reaching) == dict.fromkeys(("foot.L", "foot.R", "hand.L"), "REACHED")
            assert off_target(reaching, "hand.L") <= HELD
            assert_feet_hold(reaching)
            assert hips.location != before

    def test_a_moved_goal_costs_one_solve_of_all(self, reaching: bpy.types.Object) -> None:
        reads, solves = live.state.reads, live.state.solves
        rig_of(reaching).chains["hand.L"].target.location.z -= 0.1
        update()
        assert (live.state.reads, live.state.solves) == (reads, solves + 1)

    def test_pins_hold_the_world_while_the_armature_moves(self, reaching: bpy.types.Object) -> None:
        reaching.matrix_world = Matrix.Translation((0.03, 0.02, -0.05)) @ Matrix.Rotation(0.1, 4, "Z")
        assert_feet_hold(reaching)
        holder = make_empty(name="Holder")
        reaching.parent = holder
        update()
        holder.location = (0.02, -0.02, -0.04)
        assert_feet_hold(reaching)
        assert set(statuses(reaching).values()) == {"REACHED"}

    def test_a_target_that_only_turns_turns_the_tip(self, reaching: bpy.types.Object) -> None:
        hand = rig_of(reaching).chains["hand.L"]
        hand.rotation_offset, hand.orientation = tip_turn(reaching, hand), "TARGET"
        update()
        before = channels(reaching)
        for angle in (0.4, -0.5):
            hand.target.rotation_euler = (0.0, 0.0, angle)
            update()
            turn = Quaternion((0, 0, 1), angle) @ Quaternion(hand.rotation_offset)
            assert angle_between(tip_turn(reaching, hand), tuple(turn)) <= HELD_TURN
            assert off_target(reaching, "hand.L") <= HELD
            assert channels(reaching) != before

    def test_a_pin_that_is_pulled_out_of_reach_goes_first(self, reaching: bpy.types.Object) -> None:
        rig_of(reaching).chains["hand.L"].target.location = (0.5, -0.4, 4.0)
        assert_feet_hold(reaching)
        assert statuses(reaching)["hand.L"] == "BLOCKED"
        assert "its goal is too far away; it gives way to the pins" in rig_of(reaching).chains["hand.L"].message


class TestGroups:
    def test_a_chain_switched_off_and_on_parts_and_joins(self, reaching: bpy.types.Object) -> None:
        hand = rig_of(reaching).chains["hand.L"]
        hand.enabled = False
        update()
        stood = channels(reaching)
        hand.target.location.z -= 0.2
        update()
        assert channels(reaching) == stood
        hand.enabled = True
        assert off_target(reaching, "hand.L") <= HELD
        assert_feet_hold(reaching)

    def test_an_animated_switch_is_heard_from_frame_to_frame(self, reaching: bpy.types.Object) -> None:
        hand = rig_of(reaching).chains["hand.L"]
        keyed(hand, {1: True, 5: False, 10: True}, "enabled")
        keyed(hand.target, {1: (0.5, -0.4, 1.2), 12: (0.4, -0.6, 0.8)})
        scene = bpy.context.scene
        for frame, is_on in ((2, True), (6, False), (11, True), (7, False), (3, True)):
            scene.frame_set(frame)
            update()
            assert rig_of(reaching).chains["hand.L"].enabled == is_on
            assert (off_target(reaching, "hand.L") <= HELD) == is_on
            assert_feet_hold(reaching)

    def test_the_other_chains_wait_for_one_whose_target_is_hidden(self, reaching: bpy.types.Object) -> None:
        hand = rig_of(reaching).chains["hand.L"]
        hand.target.hide_viewport = True
        update()
        assert set(statuses(reaching).values()) == {"REFUSED"}
        assert "live posing waits" in hand.message
        assert "waits for 'hand.L'" in rig_of(reaching).chains["foot.L"].message
        assert all(chain.enabled for chain in rig_of(reaching).chains)
        hand.target.hide_viewport = False
        update()
        assert set(statuses(reaching).values()) == {"REACHED"}

    def test_all_wait_for_a_body_bone_that_is_not_there(self, reaching: bpy.types.Object) -> None:
        for name, status in (("pelvis", "REFUSED"), ("hips", "REACHED")):
            rig_of(reaching).body_bone = name
            update()
            assert set(statuses(reaching).values()) == {status}
            assert all(chain.enabled for chain in rig_of(reaching).chains)
        rig_of(reaching).body_bone = "pelvis"
        update()
        assert "live posing waits: the armature has no bone 'pelvis'" in rig_of(reaching).chains[0].message

    def test_a_second_pin_of_a_foot_is_switched_off_and_the_others_go_on(self, reaching: bpy.types.Object) -> None:
        pin(reaching, add_limb(reaching, "foot.L", 2, name="second"))
        update()
        assert [chain.name for chain in rig_of(reaching).chains if not chain.enabled] == ["second"]
        assert "both pin it" in rig_of(reaching).chains["second"].message
        rig_of(reaching).chains["hand.L"].target.location.z -= 0.2
        assert_feet_hold(reaching)
        assert off_target(reaching, "hand.L") <= HELD

    def test_a_chain_that_can_not_be_solved_is_left_out_at_once(self, reaching: bpy.types.Object) -> None:
        reaching.pose.bones["forearm.L"].constraints.new("COPY_ROTATION").target = make_empty((0, 0, 0))
        reaching.location.z -= 0.05
        update()
        assert [chain.name for chain in rig_of(reaching).chains if not chain.enabled] == ["hand.L"]
        assert "forearm.L" in rig_of(reaching).chains["hand.L"].message
        assert_feet_hold(reaching)
        assert statuses(reaching)["foot.L"] == "REACHED"


class TestFrames:
    def test_pins_hold_while_the_armature_is_animated(self, reaching: bpy.types.Object) -> None:
        for frame in (1, 10):
            reaching.rotation_euler.z = 0.02 * frame
            reaching.keyframe_insert("rotation_euler", frame=frame)
            keyed(reaching, {frame: (0.004 * frame, -0.006 * frame, -0.01 * frame)})
        update()
        reads = None
        for _ in each_frame((2, 10, 5, 1)):
            assert_feet_hold(reaching)
            assert off_target(reaching, "hand.L") <= HELD
            assert reads in (None, live.state.reads)  # it is carried, and read once
            reads = live.state.reads

    @pytest.mark.parametrize("is_keyed", [True, False])
    def test_pins_hold_below_a_bone_that_moves(self, is_keyed: bool) -> None:
        owner = make_body_on_root()
        with_legs_pinned(owner)
        add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
        rig_of(owner).live = True
        root = owner.pose.bones["root"]
        root.rotation_mode = "XYZ"
        for frame in (1, 10):
            root.rotation_euler.y, root.location.x = 0.01 * frame, 0.01 * frame
            if is_keyed:
                root.keyframe_insert("rotation_euler", frame=frame)
                root.keyframe_insert("location", frame=frame)
            assert_feet_hold(owner)
        for _ in each_frame((4, 10, 2) if is_keyed else ()):
            assert_feet_hold(owner)
            assert off_target(owner, "hand.L") <= HELD

    def test_automatic_keying_keys_the_body_where_that_is_moved_and_no_limb(self, reaching: bpy.types.Object) -> None:
        give_action(reaching)
        key_automatically()
        bpy.context.scene.frame_set(7)
        rig_of(reaching).chains["hand.L"].target.location.z -= 0.3
        update()
        assert not fcurves_of(reaching)
        reaching.pose.bones["hips"].location.y -= 0.1
        update()
        paths = {curve.data_path for curve in fcurves_of(reaching)}
        assert paths == {'pose.bones["hips"].location', 'pose.bones["hips"].rotation_quaternion'}
        assert {key.co[0] for curve in fcurves_of(reaching) for key in curve.keyframe_points} == {7.0}
        assert rig_of(reaching).body_stays
        posed = channels(reaching)
        go_to(8, 7)
        assert_alike(channels(reaching), posed, 1e-5)


def test_pinned_by_its_target(body: bpy.types.Object) -> None:
    for name in ("foot.L", "foot.R"):
        chain = add_limb(body, name, 3)
        pin(body, chain)
        chain.target = make_empty(chain.held_location, f"Goal {name}")
    rig_of(body).body_bone = "hips"
    go_live(body)
    goal = rig_of(body).chains["foot.L"].target
    goal.location.z += 0.2
    assert off_target(body, "foot.L") <= HELD
    assert off_target(body, "foot.R") <= HELD


class TestByHand:
    def test_a_bone_between_body_and_limbs_is_kept(self, reaching: bpy.types.Object) -> None:
        bone = reaching.pose.bones["spine2"]
        bone.rotation_quaternion = bone.rotation_quaternion @ Euler((0.3, 0, 0)).to_quaternion()
        wanted = bone.rotation_quaternion.copy()
        update()
        kept = rig_of(reaching).body_captured["spine2"]
        assert Quaternion(kept.rotation).rotation_difference(wanted).angle < 1e-6
        assert {chain.start for chain in rig_of(reaching).chains} == {"CAPTURED"}
        assert off_target(reaching, "hand.L") <= HELD
        assert_feet_hold(reaching)

    def test_the_moved_body_is_kept(self, reaching: bpy.types.Object) -> None:
        hips = reaching.pose.bones["hips"]
        hips.location.y -= 0.1
        wanted = hips.location.copy()
        update()
        assert (Vector(rig_of(reaching).body_captured["hips"].location) - wanted).length < 1e-6
        assert_feet_hold(reaching)
        assert off_target(reaching, "hand.L") <= HELD

    @pytest.mark.parametrize("name", ["hips", "spine1", "upper_arm.L", "hand.L", "thigh.R"])
    def test_little_by_little(self, name: str, reaching: bpy.types.Object) -> None:
        before = [bone.tail.copy() for bone in reaching.pose.bones]
        for i in range(3):
            bone = reaching.pose.bones[name]
            bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((1.0, 0.3, 0.2), 2e-4)
            update()
            pairs = zip(before, reaching.pose.bones, strict=True)
            assert max((a - b.tail).length for a, b in pairs) < 2e-3 * (i + 1)

    @pytest.mark.parametrize("kind", ["off", "keyed"])
    def test_it_holds_for_its_frame_alone(self, kind: str, reaching: bpy.types.Object) -> None:
        rig_of(reaching).auto_capture = kind != "off"
        for bone in reaching.pose.bones if kind == "keyed" else ():
            for frame in (1, 20):
                bone.keyframe_insert("rotation_quaternion", frame=frame)
                bone.keyframe_insert("location", frame=frame)
        update()
        stood = channels(reaching)
        reaching.pose.bones["hips"].location.y -= 0.1
        reaching.pose.bones["forearm.L"].rotation_quaternion = (1, 0, 0, 0.2)
        goal = rig_of(reaching).chains["hand.L"].target
        before = goal.location.copy()
        update()
        assert channels(reaching) != stood
        assert goal.location != before
        assert_feet_hold(reaching)
        assert {chain.start for chain in rig_of(reaching).chains} == {"REST"}
        assert "posed by hand, which holds until the frame changes" in note_of(reaching)
        goal.location = before
        go_to(5, 1)
        assert_alike(channels(reaching), stood, 1e-5)

    def test_of_two_arms_only_the_goal_of_the_posed_one_comes_along(self, reaching: bpy.types.Object) -> None:
        add_limb(reaching, "hand.R", 3, target=(-0.5, -0.4, 1.2))
        update()
        chains = rig_of(reaching).chains
        before = {name: chains[name].target.location.copy() for name in ("hand.L", "hand.R")}
        reaching.pose.bones["forearm.L"].rotation_quaternion = (1, 0, 0, 0.2)
        update()
        assert (chains["hand.L"].target.location - before["hand.L"]).length > 0.01
        assert chains["hand.R"].target.location == before["hand.R"]
        for name in before:
            assert off_target(reaching, name) <= HELD
        assert_feet_hold(reaching)

    def test_it_is_told_until_the_body_moves_on(self, reaching: bpy.types.Object) -> None:
        for join in (False, True):
            reaching.pose.bones["hips"].location.y -= 0.03
            update()
            assert "'hips' was posed by hand" in note_of(reaching)
            if join:
                add_limb(reaching, "hand.R", 3, target=(-0.5, -0.4, 1.2))
            else:
                rig_of(reaching).chains["hand.L"].target.location.z -= 0.1
            update()
            assert not note_of(reaching)
