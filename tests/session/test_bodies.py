# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together, by button: pins that hold, effectors, rotations, aims, ranks and the body bone."""

from __future__ import annotations

from itertools import permutations
from math import radians

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Matrix, Quaternion, Vector

from support.judging import angle_between, effector, tip_turn
from support.scenes import HEIGHT, add_limb, make_body, make_empty, pin, press, update, with_legs_pinned

HELD = 1e-4 * HEIGHT
HELD_TURN = 1e-3  # radians
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


def statuses(owner: bpy.types.Object) -> dict[str, str]:
    return {chain.name: chain.status for chain in rig_of(owner).chains}


def pose_of(owner: bpy.types.Object) -> list[list[float]]:
    update()
    return [[value for row in bone.matrix for value in row] for bone in owner.pose.bones]


def refused() -> None:
    """Solve all, which is refused and raises."""
    with pytest.raises(RuntimeError):
        press("solve_all")


def assert_feet_hold(owner: bpy.types.Object) -> None:
    for side in (".L", ".R"):
        chain = rig_of(owner).chains[f"foot{side}"]
        assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
        assert angle_between(tip_turn(owner, chain), tuple(chain.held_rotation)) <= HELD_TURN


class TestHips:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("way", [(0, 0, -0.15), (0.08, -0.1, -0.1), (0, 0, 0)])
    def test_the_feet_stay_flat_while_the_hips_sink(self, way: tuple[float, float, float], mode: str) -> None:
        owner = with_legs_pinned(make_body(mode))
        wanted = Vector(owner.pose.bones["hips"].head) + Vector(way)
        hips = add_limb(owner, "hips", 1, target=wanted)
        press("solve_all")
        update()
        assert statuses(owner) == {"foot.L": "REACHED", "foot.R": "REACHED", "hips": "REACHED"}
        assert (effector(owner, hips) - wanted).length <= HELD
        assert_feet_hold(owner)

    def test_pins_hold_where_the_hips_are_pulled_out_of_reach(self) -> None:
        owner = with_legs_pinned(make_body())
        hips = add_limb(owner, "hips", 1, target=(0, 0, 3))
        press("solve_all")
        assert_feet_hold(owner)
        assert statuses(owner)["hips"] == "BLOCKED"
        assert "gives way to the pins of 'foot.L' and 'foot.R'" in hips.message
        assert effector(owner, hips).z > 0.95

    def test_the_spine_follows_a_hand(self) -> None:
        owner = with_legs_pinned(make_body())
        hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.6, 0.8))
        before = owner.pose.bones["chest"].matrix.copy()
        press("solve_all")
        update()
        assert hand.status == "REACHED"
        assert (effector(owner, hand) - hand.target.location).length <= HELD
        assert_feet_hold(owner)
        bends = [abs(owner.pose.bones[name].rotation_quaternion.angle) for name in ("spine1", "spine2", "chest")]
        assert owner.pose.bones["chest"].matrix != before
        assert min(bends) > 0.3 * max(bends)

    def test_bones_between_stay_without_spine(self) -> None:
        owner = with_legs_pinned(make_body())
        add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
        rig_of(owner).spine = 0.0
        press("solve_all")
        assert statuses(owner)["hand.L"] == "REACHED"
        assert all(owner.pose.bones[name].rotation_quaternion.angle < 1e-5 for name in ("spine1", "spine2", "chest"))


class TestOneAnswer:
    def test_the_order_of_the_list_changes_nothing(self) -> None:
        poses = []
        for order in permutations(("hand.L", "hand.R", "head")):
            owner = with_legs_pinned(make_body())
            places = {"hand.L": (0.4, -0.5, 1.0), "hand.R": (-0.5, -0.4, 1.5), "head": (0.1, -0.3, 1.5)}
            for name in order:
                add_limb(owner, name, 2 if name == "head" else 3, target=places[name])
            press("solve_all")
            poses.append(pose_of(owner))
            bpy.data.objects.remove(owner)
        assert all(pose == poses[0] for pose in poses)

    def test_a_second_solve_changes_nothing(self) -> None:
        owner = with_legs_pinned(make_body())
        add_limb(owner, "hand.L", 3, target=(0.4, -0.5, 1.0))
        press("solve_all")
        before = pose_of(owner)
        press("solve_all")
        assert pose_of(owner) == before

    def test_one_chain_of_a_body_is_solved_with_all(self) -> None:
        owner = with_legs_pinned(make_body())
        hand = add_limb(owner, "hand.L", 3, target=(0.4, -0.7, 0.7))
        press("solve", chain=hand.name)
        assert_feet_hold(owner)
        assert set(statuses(owner).values()) == {"REACHED"}

    def test_a_moved_armature_keeps_its_pins(self) -> None:
        owner = with_legs_pinned(make_body())
        owner.matrix_world = Matrix.Translation((0.02, 0.03, -0.05)) @ Matrix.Rotation(0.1, 4, "Z")
        press("solve_all")
        assert_feet_hold(owner)

    @pytest.mark.parametrize("scale", [0.01, 100.0])
    def test_scale(self, scale: float) -> None:
        owner = make_body()
        owner.scale = (scale, scale, scale)
        update()
        with_legs_pinned(owner)
        add_limb(owner, "hand.L", 3, target=Vector((0.4, -0.5, 1.0)) * scale)
        press("solve_all")
        assert set(statuses(owner).values()) == {"REACHED"}


class TestRotations:
    def test_a_hand_follows_the_rotation_of_its_target(self) -> None:
        owner = make_body()
        hand = add_limb(owner, "hand.L", 3, target=(0.6, -0.2, 1.3))
        update()
        hand.orientation, hand.rotation_offset = "TARGET", tip_turn(owner, hand)
        for angle in (0.0, 0.4, 0.9):
            hand.target.rotation_euler = (0.0, 0.0, angle)
            update()
            press("solve_all")
            turn = Quaternion((0, 0, 1), angle) @ Quaternion(hand.rotation_offset)
            assert angle_between(tip_turn(owner, hand), tuple(turn)) <= HELD_TURN
            assert (effector(owner, hand) - hand.target.location).length <= HELD
            assert hand.status == "REACHED"

    def test_a_rotation_that_limits_hold_back_is_told_in_degrees(self) -> None:
        owner = make_body()
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            limit = owner.pose.bones[name].fabrik
            limit.limit = "CONE"
            for side in ("cone_x_max", "cone_x_min", "cone_z_max", "cone_z_min"):
                if hasattr(limit, side):
                    setattr(limit, side, radians(20))
        hand = add_limb(owner, "hand.L", 3, target=(0.69, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        press("solve_all")
        assert hand.status == "BLOCKED"
        assert hand.turn_residual == pytest.approx(angle_between(tip_turn(owner, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)
        assert hand.turn_residual > 0.2


class TestAim:
    def test_head_and_neck_share_the_turn(self) -> None:
        owner = make_body()
        look = add_limb(owner, "head", 2, target=(0.8, -1.0, 1.4))
        look.kind, look.aim_axis = "AIM", (0.0, 0.0, 1.0)
        axis = owner.pose.bones["head"].z_axis
        look.aim_axis = owner.pose.bones["head"].matrix.to_3x3().inverted() @ Vector((0, -1, 0))
        press("solve_all")
        update()
        head = owner.pose.bones["head"]
        along = head.matrix.to_3x3() @ Vector(look.aim_axis)
        assert along.angle(look.target.location - head.head) <= 1e-3
        assert look.status == "REACHED"
        bends = [owner.pose.bones[name].rotation_quaternion.angle for name in ("chest", "head")]
        assert min(bends) > 0.5 * max(bends)
        assert axis.length

    def test_an_axis_of_zero_is_refused(self) -> None:
        owner = make_body()
        look = add_limb(owner, "head", 2, target=(0.8, -1.0, 1.4))
        look.kind, look.aim_axis = "AIM", (0, 0, 0)
        refused()
        assert look.status == "REFUSED"
        assert "aim axis is zero" in look.message


class TestRefusals:
    def test_two_pins_on_one_bone(self) -> None:
        owner = with_legs_pinned(make_body())
        pin(owner, add_limb(owner, "foot.L", 2, name="again"))
        before = pose_of(owner)
        refused()
        assert "'again' and 'foot.L' both pin it" in rig_of(owner).chains["foot.L"].message
        assert set(statuses(owner).values()) == {"REFUSED"}
        assert pose_of(owner) == before

    def test_a_body_bone_that_is_not_there(self) -> None:
        owner = with_legs_pinned(make_body())
        rig_of(owner).body_bone = "pelvis"
        refused()
        assert "no bone 'pelvis'" in rig_of(owner).chains[0].message

    def test_a_body_bone_that_is_not_above_the_chains_takes_no_part(self) -> None:
        owner = with_legs_pinned(make_body(), body="head")
        press("solve_all")
        assert set(statuses(owner).values()) == {"REACHED"}

    def test_a_constraint_between_body_and_chain_is_named(self) -> None:
        owner = with_legs_pinned(make_body())
        add_limb(owner, "hand.L", 3, target=(0.4, -0.5, 1.0))
        owner.pose.bones["spine2"].constraints.new("COPY_ROTATION").target = make_empty((0, 0, 0))
        refused()
        assert "spine2" in rig_of(owner).chains["hand.L"].message
        assert set(statuses(owner).values()) == {"REFUSED"}

    def test_a_pinned_place_that_is_nowhere(self) -> None:
        owner = with_legs_pinned(make_body())
        rig_of(owner).chains["foot.L"].held_location = (float("nan"), 0, 0)
        before = pose_of(owner)
        refused()
        assert pose_of(owner) == before
        assert "not a finite number" in rig_of(owner).chains["foot.L"].message
        assert "solved together with 'foot.L'" in rig_of(owner).chains["foot.R"].message

    def test_a_connected_body_bone_only_turns(self) -> None:
        owner = make_body()
        with_legs_pinned(owner)
        owner.pose.bones["hips"].lock_location = (True, False, False)
        add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
        press("solve_all")
        assert tuple(owner.pose.bones["hips"].location) == (0, 0, 0)
        assert_feet_hold(owner)
