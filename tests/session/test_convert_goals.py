# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees, rotations, weights, stretch and aims between chains and Blender's own constraints."""

from __future__ import annotations

from typing import cast

import bpy
import pytest
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import tip_error
from support.scenes import Bone, add_limb, make_armature, make_body, make_empty, make_line, with_legs_pinned

NEAR = 5e-3  # of a length of about 1: what Blender's own solve leaves
Poses = dict[str, Matrix]


def poses(owner: bpy.types.Object) -> Poses:
    bpy.context.view_layer.update()
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: bone.matrix.copy() for bone in evaluated.pose.bones}


def assert_same(owner: bpy.types.Object, before: Poses, most: float = NEAR) -> None:
    for name, matrix in poses(owner).items():
        assert (matrix.translation - before[name].translation).length < most, name
        assert matrix.to_quaternion().rotation_difference(before[name].to_quaternion()).angle < most, name


def with_ik(
    owner: bpy.types.Object, bone: str, place: tuple[float, float, float], count: int = 0
) -> bpy.types.KinematicConstraint:
    constraint = cast(bpy.types.KinematicConstraint, owner.pose.bones[bone].constraints.new("IK"))
    constraint.target, constraint.chain_count = make_empty(place, f"Target {bone}"), count
    bpy.context.view_layer.objects.active = owner
    return constraint


def fork() -> bpy.types.Object:
    """A spine of two bones, and two arms of two on its end."""
    return make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (0, 0, 2), connect=True),
            Bone((0, 0, 2), (0.8, -0.1, 2.3), parent=1, connect=True),
            Bone((0.8, -0.1, 2.3), (1.6, 0, 2.4), parent=2, connect=True),
            Bone((0, 0, 2), (-0.8, -0.1, 2.3), parent=1, connect=True),
            Bone((-0.8, -0.1, 2.3), (-1.6, 0, 2.4), parent=4, connect=True),
        ]
    )


class TestFromIk:
    def test_constraints_that_share_bones_become_chains_that_are_solved_together(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        owner = fork()
        first, second = with_ik(owner, "b3", (1.3, -0.8, 2.0)), with_ik(owner, "b5", (-1.2, -0.9, 1.8))
        before = poses(owner)
        assert bpy.ops.fabrik.from_ik() == {"FINISHED"}
        assert first.mute
        assert second.mute
        assert [chain.bone_count for chain in rig_of(owner).chains] == [4, 4]
        assert_same(owner, before, 1e-4)
        assert bpy.ops.fabrik.solve_all() == {"FINISHED"}
        assert_same(owner, before, 0.02)
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
        assert "still moves" not in capfd.readouterr().out

    def test_the_rotation_of_the_target_and_weights_come_along(self) -> None:
        owner = make_line(3)
        constraint = with_ik(owner, "b2", (0.3, 0.9, 1.9))
        constraint.target.rotation_euler = (0.9, 0.2, -0.3)
        constraint.use_rotation, constraint.orient_weight, constraint.weight = True, 0.8, 0.6
        before = poses(owner)
        bpy.ops.fabrik.from_ik()
        (chain,) = rig_of(owner).chains
        assert (chain.orientation, tuple(chain.rotation_offset)) == ("TARGET", (1, 0, 0, 0))
        assert chain.orientation_weight == pytest.approx(0.8)
        assert chain.weight == pytest.approx(0.6)
        bpy.ops.fabrik.solve()
        assert chain.status == "REACHED"
        tip = poses(owner)["b2"]
        assert tip_error(owner, chain) < 1e-5
        assert tip.to_quaternion().rotation_difference(constraint.target.rotation_euler.to_quaternion()).angle < 2e-3
        assert_same(owner, before, 0.05)

    def test_without_a_rotation_none_is_asked(self) -> None:
        owner = make_line(3)
        with_ik(owner, "b2", (0.3, 0.9, 1.9))
        bpy.ops.fabrik.from_ik()
        assert rig_of(owner).chains[0].orientation == "FREE"


class TestToIk:
    def made(
        self, owner: bpy.types.Object, chain: FabrikChain, capfd: pytest.CaptureFixture[str]
    ) -> tuple[bpy.types.KinematicConstraint, str]:
        """The constraint that is made of a chain, and what is said."""
        capfd.readouterr()
        rig_of(owner).active_index = list(rig_of(owner).chains).index(chain)
        bpy.ops.fabrik.to_ik(chains="ACTIVE")
        said = capfd.readouterr().out
        found = [one for bone in owner.pose.bones for one in bone.constraints if not one.mute]
        return cast(bpy.types.KinematicConstraint, found[0] if found else None), said

    def test_a_rotation_that_follows_its_target(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 3, target=(0.3, 0.9, 1.9))
        chain.effector, chain.weight, chain.orientation_weight = "TAIL", 0.5, 0.7
        chain.rotation_offset, chain.orientation = (1, 0, 0, 0), "TARGET"
        chain.target.rotation_euler = (0.9, 0.2, -0.3)
        bpy.context.view_layer.update()
        constraint, said = self.made(owner, chain, capfd)
        assert constraint.use_rotation
        assert constraint.weight == pytest.approx(0.5)
        assert constraint.orient_weight == pytest.approx(0.7)
        assert "offset" not in said
        chain.enabled = True
        constraint.mute = True
        chain.rotation_offset = Quaternion((1, 0, 0), 0.5)
        _, said = self.made(owner, chain, capfd)
        assert "the offset of its rotation" in said

    def test_what_it_can_not_do_is_said(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 3, target=(0.3, 0.9, 1.9))
        chain.effector, chain.pin, chain.soft, chain.stretch = "TAIL", True, 0.01, 1.5
        chain.held_rotation, chain.orientation = (1, 0, 0, 0), "KEEP"
        for bone in owner.pose.bones:
            bone.bone.inherit_scale = "NONE"
        constraint, said = self.made(owner, chain, capfd)
        assert constraint.use_stretch
        for text in ("it is pinned", "soft", "the end of its stretch at 1.5", "the rotation that it keeps"):
            assert text in said

    def test_the_head_of_a_bone_comes_to_the_target(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 3, target=(0.3, 0.9, 1.2))
        bpy.ops.fabrik.solve(chain=chain.name)
        before = poses(owner)["b2"].translation
        constraint, said = self.made(owner, chain, capfd)
        assert (constraint.use_tail, constraint.chain_count) == (False, 2)
        assert (poses(owner)["b2"].translation - before).length < NEAR
        assert (before - chain.target.location).length < 1e-3
        bpy.ops.fabrik.from_ik()
        assert [(one.name, one.effector) for one in rig_of(owner).chains] == [(chain.name, "HEAD")]
        assert "the way from" not in said

    def test_a_pole_is_dropped_where_bones_are_shared(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(4)
        chain = add_limb(owner, "b3", 4, target=(0.3, 0.9, 2.4))
        chain.pole = make_empty((0.0, 3.0, 1.0), "Pole")
        add_limb(owner, "b1", 2, target=(0.1, 0.6, 0.8))
        _, said = self.made(owner, chain, capfd)
        assert "its pole, which Blender's IK drops" in said

    def test_chains_of_a_body(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = with_legs_pinned(make_body())
        hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
        hand.pole = make_empty((0.5, 2, 1.2), "Pole")
        _, said = self.made(owner, hand, capfd)
        assert "that the body bone 'hips' comes along" in said
        assert "its pole" not in said
        _, said = self.made(owner, rig_of(owner).chains["foot.L"], capfd)
        assert "left as it is, it is pinned without a target" in said


class TestAims:
    @pytest.mark.parametrize("axis", ["TRACK_X", "TRACK_Y", "TRACK_NEGATIVE_Z"])
    def test_a_damped_track_and_its_chain_turn_alike(self, axis: str) -> None:
        owner = make_line(2)
        bone = owner.pose.bones["b1"]
        bone.rotation_quaternion = Quaternion((0.3, 0.4, 0.2), 0.5)
        constraint = cast(bpy.types.DampedTrackConstraint, bone.constraints.new("DAMPED_TRACK"))
        constraint.target, constraint.track_axis = make_empty((1.2, 0.7, 1.8)), axis
        bpy.context.view_layer.objects.active = owner
        bpy.context.view_layer.update()
        before = poses(owner)
        assert bpy.ops.fabrik.from_ik(use_aims=True) == {"FINISHED"}
        assert constraint.mute
        (chain,) = rig_of(owner).chains
        assert (chain.kind, chain.bone_count) == ("AIM", 1)
        bpy.ops.fabrik.solve()
        assert_same(owner, before, 1e-3)
        # and back: from the start pose both take the same turn to wherever the target goes
        bpy.ops.fabrik.to_ik()
        assert not constraint.mute
        assert constraint.track_axis == axis
        assert_same(owner, before, 1e-3)
        chain.target.location = (0.4, -1.0, 2.2)
        wanted = poses(owner)
        constraint.mute, chain.enabled = True, True
        bpy.ops.fabrik.solve()
        assert_same(owner, wanted, 1e-3)

    def test_without_the_option_tracks_stay(self) -> None:
        owner = make_line(2)
        constraint = cast(bpy.types.DampedTrackConstraint, owner.pose.bones["b1"].constraints.new("DAMPED_TRACK"))
        constraint.target = make_empty((1, 0, 2))
        bpy.context.view_layer.objects.active = owner
        with pytest.raises(RuntimeError, match="no bone has an IK constraint"):
            bpy.ops.fabrik.from_ik()
        assert not constraint.mute

    def test_a_place_along_a_bone_is_left_as_it_is(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner, other = make_line(2), make_line(2)
        constraint = cast(bpy.types.DampedTrackConstraint, owner.pose.bones["b1"].constraints.new("DAMPED_TRACK"))
        constraint.target, constraint.subtarget, constraint.head_tail = other, "b0", 0.5
        bpy.context.view_layer.objects.active = owner
        bpy.ops.fabrik.from_ik(use_aims=True)
        assert not constraint.mute
        assert "a place along a bone" in capfd.readouterr().out

    def test_an_aim_that_bones_share_stays_a_chain(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 2, target=(1, 1, 3))
        chain.kind = "AIM"
        assert bpy.ops.fabrik.to_ik() == {"CANCELLED"}
        assert "several bones share its aim" in capfd.readouterr().out
        assert chain.enabled
