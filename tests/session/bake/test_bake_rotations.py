# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of bodies: rotations and aims in degrees, keys alone, and what the button says."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.errors import BoneError
from fabrik_addon.maths import q4
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.bake import BakeSettings, bake
from mathutils import Euler

from support.judging import HELD_TURN, angle_between, bake_all, tip_turn
from support.scenes import SQUAT, add_limb, keyed, make_body, squatting, update


class TestRotations:
    def test_a_hand_that_turns_with_its_target(self) -> None:
        owner = squatting()
        hand = rig_of(owner).chains["hand.L"]
        hand.orientation = "TARGET"
        for frame, turn in ((1, 0.0), (12, 0.5)):
            hand.target.rotation_euler = (turn, 0.3 * turn, turn)
            hand.target.keyframe_insert("rotation_euler", frame=frame)
        bpy.context.scene.frame_set(1)
        hand.rotation_offset = tip_turn(owner, hand)
        result = bake_all(owner)
        found = next(found for found in result.chains if found.chain == "hand.L")
        assert found.worst_tip_turn is not None
        assert found.worst_tip_turn[0] < HELD_TURN
        for frame in SQUAT:
            bpy.context.scene.frame_set(frame)
            turn = Euler(hand.target.rotation_euler).to_quaternion() @ hand.rotation_offset
            assert angle_between(tip_turn(owner, hand), q4(turn)) < HELD_TURN

    def test_a_head_that_aims(self) -> None:
        owner = make_body()
        head = add_limb(owner, "head", 2, target=(0.5, -2, 1.5))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        keyed(head, {1: (0.5, -2, 1.5), 12: (-0.8, -2, 1.9)})
        result = bake_all(owner)
        assert result.all_reached
        assert result.chains[0].worst_tip_turn is not None
        assert result.chains[0].worst_tip_turn[0] < HELD_TURN
        for frame in SQUAT:
            bpy.context.scene.frame_set(frame)
            update()
            bone = owner.pose.bones["head"]
            assert bone.matrix.to_3x3().col[2].angle(head.target.location - bone.head) < HELD_TURN

    def test_the_report_tells_degrees(self) -> None:
        owner = make_body()
        hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.3))
        add_limb(owner, "hand.R", 3, target=(-0.5, -0.3, 1.3))
        hand.orientation, hand.held_rotation = "KEEP", (0.7, 0.1, 0.7, 0.0)
        kept, free = bake_all(owner).as_json()["chains"]
        assert kept["worst_tip_turn_degrees"] < 0.1
        assert kept["worst_residual_degrees"] < 0.1
        assert free["worst_tip_turn_degrees"] is None
        assert (free["together"], free["asked"]) == ([], True)

    def test_a_rotation_that_limits_hold_back_is_no_frame_that_is_reached(self) -> None:
        owner = make_body()
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            owner.pose.bones[name].fabrik.limit = "HINGE"
        hand = add_limb(owner, "hand.L", 3, target=(0.65, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        (found,) = bake_all(owner).chains
        assert {reason for _, reason in found.unreached} == {"BLOCKED"}
        bpy.context.scene.frame_set(SQUAT[0])
        assert found.turns[0] == pytest.approx(angle_between(tip_turn(owner, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)


class TestOnlyAtKeys:
    def test_all_that_are_solved_together_are_keyed_at_the_keys_of_any(self) -> None:
        owner = squatting()
        foot = rig_of(owner).chains["foot.L"]
        index = list(rig_of(owner).chains).index(foot)
        owner.keyframe_insert(f"fabrik_chains[{index}].held_location", frame=9)
        (hand,) = bake(
            bpy.context, [(owner, rig_of(owner).chains["hand.L"])], BakeSettings(SQUAT, only_keys=True)
        ).chains[:1]
        assert hand.frames.tolist() == [1, 6, 9, 12]
        keyed = {
            point.co[0]
            for curve in fcurves_of(owner)
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


def test_two_pins_on_a_bone_are_refused_by_name_and_nothing_is_keyed() -> None:
    owner = squatting()
    again = add_limb(owner, "foot.L", 2, name="again")
    again.pin, again.held_location = True, (0, 0, 0)
    with pytest.raises(BoneError, match=r"'again' and 'foot\.L' both pin it") as refused:
        bake_all(owner)
    assert refused.value.rig == owner.name
    assert not fcurves_of(owner)
    assert all(chain.enabled for chain in rig_of(owner).chains)
