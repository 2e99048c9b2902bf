# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together, baked: the body bone's location, pins over time, rotations, aims, and one answer."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake, sample
from fabrik_addon.actions.bake.report import WORDS
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.maths import q4
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Vector

from support.judging import (
    HELD,
    HELD_TURN,
    angle_between,
    as_played,
    assert_feet_hold,
    assert_same,
    bake_all,
    by_button,
    chain_length,
    effector,
    evaluated_joints,
    frames_gone_to,
    shuffled,
    stored_channels,
    tip_turn,
)
from support.scenes import (
    SQUAT,
    add_limb,
    chain_bones,
    each_frame,
    items_of,
    keyed,
    keyed_line,
    make_empty,
    squatting,
    update,
)


class TestSquat:
    @pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
    def test_feet_and_goals_hold_in_every_frame_and_the_body_bone_alone_is_moved(self, mode: str) -> None:
        owner = squatting(mode)
        result = bake_all(owner)
        assert result.all_reached
        for found in result.chains:
            assert found.worst_tip_error is not None
            assert found.worst_tip_error[0] < 1e-4
            assert found.worst_violation < 1e-5
        for _ in each_frame(shuffled(SQUAT)):
            assert_feet_hold(owner)
            for name in ("hips", "hand.L"):
                chain = rig_of(owner).chains[name]
                assert (effector(owner, chain) - chain.target.location).length <= HELD
        located = [curve for curve in fcurves_of(owner) if curve.data_path.endswith(".location")]
        assert {curve.data_path for curve in located} == {'pose.bones["hips"].location'}
        assert {len(curve.keyframe_points) for curve in located} == {len(SQUAT)}
        assert all(not chain.enabled for chain in rig_of(owner).chains)

    def test_no_frame_is_gone_to_where_curves_tell_all(self, squatter: bpy.types.Object) -> None:
        with frames_gone_to() as visited:
            bake_all(squatter, verify="NONE")
        assert len(visited) == 1
        for _ in each_frame(SQUAT):
            assert_feet_hold(squatter)

    def test_one_chain_takes_the_others_along_and_says_so(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        result = bake(bpy.context, [(squatter, hand)], BakeSettings(SQUAT))
        assert [found.chain for found in result.chains] == ["hand.L", "foot.L", "foot.R", "hips"]
        assert result.chains[0].together == ["foot.L", "foot.R", "hips"]
        assert not any(chain.enabled for chain in rig_of(squatter).chains)
        assert all(chain.is_baked for chain in rig_of(squatter).chains)

    def test_frames_that_are_solved_in_rows_end_as_by_button(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        keyed(hand.target, {1: (0.5, -0.3, 1.2), 6: (1.5, -1.5, 1.4), 12: (0.2, -0.7, 0.9)})
        hand.orientation, hand.held_rotation, hand.soft = "KEEP", (0.2, 0.9, 0.1, 0.4), 0.02
        wanted = {}
        for frame in each_frame(SQUAT):
            wanted[frame] = {one.chain: one for one in solve_items(bpy.context, items_of(squatter))}
        for found in bake_all(squatter, verify="NONE").chains:
            length = sum(bone.length for bone in chain_bones(squatter, rig_of(squatter).chains[found.chain]))
            for k, frame in enumerate(SQUAT):
                outcome = wanted[frame][found.chain]
                assert WORDS[found.status[k]] == outcome.status
                assert found.residuals[k] * length == pytest.approx(outcome.residual, abs=1e-6)
                assert found.turns[k] == pytest.approx(outcome.turn_residual, abs=1e-6)
                assert found.softened[k] * length == pytest.approx(outcome.softened, abs=1e-6)

    def test_soft_reach_is_not_taken_for_something_that_moves_the_tip(self) -> None:
        owner, chain = keyed_line()
        chain.soft = 0.05
        keyed(chain.target, {1: (0.3, 0.3, 2.4), 10: (0, 0.2, 3.05), 20: (0.3, 0.3, 2.0)})
        (found,) = bake(bpy.context, [(owner, chain)], BakeSettings(SQUAT)).chains
        assert found.all_reached
        assert found.softened.max() > 0.005
        assert found.worst_tip_error is not None
        assert found.worst_tip_error[0] < 1e-4

    @pytest.mark.parametrize("into", ["NEW_ACTION", "NLA"])
    def test_into_other_actions(self, into: str, squatter: bpy.types.Object) -> None:
        wanted = by_button(squatter, SQUAT)
        bake_all(squatter, into=into)
        assert_same(as_played(squatter, SQUAT), wanted)

    @pytest.mark.parametrize(("interpolation", "share"), [("LINEAR", 0.8), ("BEZIER", 0.6)])
    def test_keys_are_left_out_within_the_bound_and_pinned_feet_stay(self, interpolation: str, share: float) -> None:
        owner = squatting()
        every = sum(found.keys for found in bake_all(owner, stays_enabled=True).chains)
        owner.animation_data_clear()
        result = bake_all(owner, clean_up=0.02, interpolation=interpolation)
        assert result.all_reached
        assert sum(found.keys for found in result.chains) < share * every
        for _ in each_frame(SQUAT):
            for side in (".L", ".R"):
                chain = rig_of(owner).chains[f"foot{side}"]
                leg = chain_length(evaluated_joints(owner, chain)[: -1 if chain.effector == "HEAD" else None])
                assert (effector(owner, chain) - Vector(chain.held_location)).length <= 1.05e-3 * leg

    def test_keys_are_left_out_beside_a_pinned_leg_that_is_locked(self) -> None:
        owner = squatting()
        rig_of(owner).body_bone = ""
        for name in ("thigh.L", "shin.L", "foot.L"):
            pose_bones(owner)[name].lock_rotation, pose_bones(owner)[name].lock_rotation_w = (True, True, True), True
        keys = {found.chain: found.keys for found in bake_all(owner, clean_up=0.02).chains}
        assert keys["foot.L"] == 0
        assert keys["hand.L"] > 0

    def test_a_broken_off_bake_leaves_pose_and_keys(self, squatter: bpy.types.Object) -> None:
        squatter.pose.bones["hips"].location = (0.1, 0.2, 0.3)
        before = stored_channels(squatter)
        target = rig_of(squatter).chains["hand.L"].target
        target.constraints.new("COPY_LOCATION").target = leader = make_empty((0, 0, 1), "Leader")
        keyed(leader, {1: 0.0, 9: 0.0, 10: float("nan")}, "location.x")
        with pytest.raises(Exception, match="in frame"):
            bake_all(squatter)
        assert stored_channels(squatter) == before
        assert squatter.animation_data is None or not fcurves_of(squatter)


@pytest.mark.parametrize("spine", [0.0, 0.5])
def test_a_body_that_is_keyed_starts_from_its_keys_in_each_row(
    spine: float, monkeypatch: pytest.MonkeyPatch, standing: bpy.types.Object
) -> None:
    add_limb(standing, "hand.L", 3, target=(0.5, -0.3, 1.2))
    rig_of(standing).spine = spine
    hips, back = standing.pose.bones["hips"], standing.pose.bones["hand.L"].parent_recursive[2]
    for frame, place, turn in ((1, (0, 0, 0), 0.0), (12, (0.05, -0.1, 0.08), 0.3)):
        hips.location, back.rotation_quaternion = place, Euler((turn, 0.0, turn)).to_quaternion()
        hips.keyframe_insert("location", frame=frame)
        back.keyframe_insert("rotation_quaternion", frame=frame)
    wanted = by_button(standing, SQUAT)
    monkeypatch.setattr(sample, "posed", None)  # no frame is solved by itself
    result = bake_all(standing)
    assert result.all_reached
    assert max(found.worst_violation for found in result.chains) < 1e-6
    assert_same(as_played(standing, SQUAT), wanted)
    assert_feet_hold(standing)


class TestRotations:
    def test_a_hand_that_turns_with_its_target(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        hand.orientation = "TARGET"
        keyed(hand.target, {1: (0.0, 0.0, 0.0), 12: (0.5, 0.15, 0.5)}, "rotation_euler")
        bpy.context.scene.frame_set(1)
        hand.rotation_offset = tip_turn(squatter, hand)
        result = bake_all(squatter)
        found = next(found for found in result.chains if found.chain == "hand.L")
        assert found.worst_tip_turn is not None
        assert found.worst_tip_turn[0] < HELD_TURN
        for _ in each_frame(SQUAT):
            turn = Euler(hand.target.rotation_euler).to_quaternion() @ hand.rotation_offset
            assert angle_between(tip_turn(squatter, hand), q4(turn)) < HELD_TURN

    def test_a_head_that_aims(self, body: bpy.types.Object) -> None:
        head = add_limb(body, "head", 2, target=(0.5, -2, 1.5))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        keyed(head.target, {1: (0.5, -2, 1.5), 12: (-0.8, -2, 1.9)})
        result = bake_all(body)
        assert result.all_reached
        assert result.chains[0].worst_tip_turn is not None
        assert result.chains[0].worst_tip_turn[0] < HELD_TURN
        for _ in each_frame(SQUAT):
            update()
            bone = body.pose.bones["head"]
            assert bone.matrix.to_3x3().col[2].angle(head.target.location - bone.head) < HELD_TURN

    def test_the_report_tells_degrees(self, body: bpy.types.Object) -> None:
        hand = add_limb(body, "hand.L", 3, target=(0.5, -0.3, 1.3))
        add_limb(body, "hand.R", 3, target=(-0.5, -0.3, 1.3))
        hand.orientation, hand.held_rotation = "KEEP", (0.7, 0.1, 0.7, 0.0)
        kept, free = bake_all(body).as_json()["chains"]
        assert kept["worst_tip_turn_degrees"] < 0.1
        assert kept["worst_residual_degrees"] < 0.1
        assert free["worst_tip_turn_degrees"] is None
        assert (free["together"], free["asked"]) == ([], True)

    def test_a_rotation_that_limits_hold_back_is_no_frame_that_is_reached(self, body: bpy.types.Object) -> None:
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            body.pose.bones[name].fabrik.limit = "HINGE"
        hand = add_limb(body, "hand.L", 3, target=(0.65, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        (found,) = bake_all(body).chains
        assert {reason for _, reason in found.unreached} == {"BLOCKED"}
        bpy.context.scene.frame_set(SQUAT[0])
        assert found.turns[0] == pytest.approx(angle_between(tip_turn(body, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)


def test_all_that_are_solved_together_are_keyed_at_the_keys_of_any(squatter: bpy.types.Object) -> None:
    foot = rig_of(squatter).chains["foot.L"]
    foot.keyframe_insert("held_location", frame=9)
    (hand,) = bake(
        bpy.context, [(squatter, rig_of(squatter).chains["hand.L"])], BakeSettings(SQUAT, only_keys=True)
    ).chains[:1]
    assert hand.frames.tolist() == [1, 6, 9, 12]
    keyed = {
        point.co[0]
        for curve in fcurves_of(squatter)
        if '"thigh.R"' in curve.data_path
        for point in curve.keyframe_points
    }
    assert keyed == {1, 6, 9, 12}


def test_the_button_names_those_that_were_baked_along(capfd: pytest.CaptureFixture[str]) -> None:
    owner = squatting()
    rig_of(owner).active_index = list(rig_of(owner).chains).index(rig_of(owner).chains["hips"])
    bpy.ops.fabrik.bake(frame_start=1, frame_end=3, chains="ACTIVE")
    said = capfd.readouterr().out
    assert "baked with those that they are solved together with: foot.L, foot.R, hand.L" in said
