# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains made of Blender's own IK constraints, and these made of chains, pose as the others did, as far as they can."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, radians
from typing import Any, cast

import bpy
import pytest
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Quaternion

from support.judging import apart, assert_bones_stay, bone_matrices, evaluated_joints, tip_error
from support.scenes import (
    Point,
    add_chain,
    add_limb,
    assert_refused,
    make_armature,
    make_empty,
    make_line,
    make_rig,
    press,
    put,
    strand,
)
from support.skeletons import make_character


def leg(pole_angle: float = 0.0) -> tuple[bpy.types.Object, bpy.types.KinematicConstraint]:
    """A leg with Blender's IK, a pole, and a knee that is locked to one axis."""
    owner = make_rig("leg and foot")[0]
    constraint: Any = owner.pose.bones["b1"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty((0.2, -0.4, 0.6)), 2
    constraint.pole_target, constraint.pole_angle = make_empty((0.4, -4, 1), "Pole"), pole_angle
    bpy.context.view_layer.objects.active = owner
    bpy.context.view_layer.update()
    return owner, constraint


def test_settings_are_carried_over() -> None:
    owner, constraint = leg()
    constraint.influence = 0.5
    bone = owner.pose.bones["b1"]
    bone.lock_ik_y = bone.lock_ik_z = True
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -2.0, 2.0
    bone.ik_stiffness_x = 0.3
    bpy.ops.fabrik.from_ik()
    (chain,) = owner.fabrik.chains
    assert (chain.tip_bone, chain.bone_count, chain.influence) == ("b1", 2, 0.5)
    assert chain.target == constraint.target
    assert chain.pole == constraint.pole_target
    assert chain.orientation == "FREE"
    assert bone.fabrik.limit == "BONE_IK"
    assert bone.fabrik.stiffness == pytest.approx(0.3)


def test_only_selected_bones_where_wanted_and_no_muted_constraints() -> None:
    owner, constraint = leg()
    constraint.mute = True
    assert_refused("no bone has an IK constraint", "from_ik")
    constraint.mute = False
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    assert_refused("no bone has an IK constraint", "from_ik", use_selected=True)
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.fabrik.from_ik(use_selected=True)
    assert len(owner.fabrik.chains) == 1


def follow_vertices(constraint: bpy.types.KinematicConstraint) -> None:
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.collection.objects.link(mesh)
    mesh.vertex_groups.new(name="g")
    constraint.target, constraint.subtarget = mesh, "g"


# What is done to a constraint, what is said of it, and whether a chain becomes of it.
NOT_ALIKE: list[tuple[Callable[[bpy.types.KinematicConstraint], object], str, bool]] = [
    (lambda ik: ik.keyframe_insert("mute", frame=1), "it is switched on and off", False),
    (lambda ik: put(ik, use_location=False, use_rotation=True), "it keeps a distance or turns alone", False),
    (follow_vertices, "is a vertex group", False),
    (
        lambda ik: put(ik.id_data.pose.bones["b0"].constraints.new("LIMIT_ROTATION"), name="Mine"),
        "the constraint 'Mine' still moves a bone of it",
        True,
    ),
    (lambda ik: ik.keyframe_insert("influence", frame=1), "its influence is animated", True),
    (
        lambda ik: put(ik.id_data.pose.bones["b0"], ik_stretch=0.5),
        "but for its stretch has an end at 2 times the length",
        True,
    ),
    (lambda ik: ik.id_data.pose.bones["b2"].constraints.new("IK"), "left as it is, it has no target", True),
]


@pytest.mark.parametrize(("change", "said", "is_chain"), NOT_ALIKE)
def test_a_constraint_that_a_chain_is_not_like_is_left_as_it_is_or_told(
    change: Callable[[bpy.types.KinematicConstraint], object],
    said: str,
    is_chain: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    owner, constraint = leg()
    change(constraint)
    if is_chain:
        press("from_ik")
    else:
        assert_refused(said, "from_ik")
    assert bool(owner.fabrik.chains) == is_chain
    muted = [one for bone in owner.pose.bones for one in bone.constraints if one.mute]
    assert muted == ([constraint] if is_chain else [])
    assert said in capfd.readouterr().out


def test_a_keyed_limb_that_stands_elsewhere_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3, bend=0.4)
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
    constraint = owner.pose.bones["b2"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty((0.5, -1.0, 1.2)), 3
    constraint.pole_target = make_empty((0.4, -4, 1), "Pole")
    bpy.ops.fabrik.from_ik()
    assert "from where" in capfd.readouterr().out


def test_the_chain_that_was_disabled_is_taken_again() -> None:
    owner, constraint = leg()
    bpy.ops.fabrik.from_ik()
    (chain,) = owner.fabrik.chains
    chain.name, chain.tolerance = "mine", 1e-5
    bpy.ops.fabrik.to_ik()
    assert not constraint.mute
    bpy.ops.fabrik.from_ik()
    assert [(found.name, found.enabled) for found in owner.fabrik.chains] == [("mine", True)]
    assert owner.fabrik.chains[0].tolerance == pytest.approx(1e-5)


NEAR = 5e-3  # of a length of about 1: what Blender's own solve leaves


def with_ik(
    owner: bpy.types.Object, bone: str, place: tuple[float, float, float], count: int = 0
) -> bpy.types.KinematicConstraint:
    constraint = cast(bpy.types.KinematicConstraint, owner.pose.bones[bone].constraints.new("IK"))
    constraint.target, constraint.chain_count = make_empty(place, f"Target {bone}"), count
    bpy.context.view_layer.objects.active = owner
    return constraint


def tracked(place: Point) -> tuple[bpy.types.Object, bpy.types.DampedTrackConstraint]:
    """A bone with a constraint of Blender's that aims it."""
    owner = make_line(2)
    constraint = cast(bpy.types.DampedTrackConstraint, owner.pose.bones["b1"].constraints.new("DAMPED_TRACK"))
    constraint.target = make_empty(place)
    bpy.context.view_layer.objects.active = owner
    return owner, constraint


class TestFromIk:
    def test_constraints_that_share_bones_become_chains_that_are_solved_together(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        arms = [strand((0, 0, 2), (x, -0.1, 2.3), (2 * x, 0, 2.4), parent=1) for x in (0.8, -0.8)]
        joined = [bone._replace(connect=True) for arm in arms for bone in arm]
        owner = make_armature([*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2)), *joined])
        first, second = with_ik(owner, "b3", (1.3, -0.8, 2.0)), with_ik(owner, "b5", (-1.2, -0.9, 1.8))
        before = bone_matrices(owner)
        assert bpy.ops.fabrik.from_ik() == {"FINISHED"}
        assert first.mute
        assert second.mute
        assert [chain.bone_count for chain in rig_of(owner).chains] == [4, 4]
        assert_bones_stay(owner, before, 1e-4, 1e-4)
        assert bpy.ops.fabrik.solve_all() == {"FINISHED"}
        assert_bones_stay(owner, before, 0.02, 0.02)
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
        assert "still moves" not in capfd.readouterr().out

    def test_the_rotation_of_the_target_and_weights_come_along(self, line: bpy.types.Object) -> None:
        constraint = with_ik(line, "b2", (0.3, 0.9, 1.9))
        constraint.target.rotation_euler = (0.9, 0.2, -0.3)
        constraint.use_rotation, constraint.orient_weight, constraint.weight = True, 0.8, 0.6
        before = bone_matrices(line)
        bpy.ops.fabrik.from_ik()
        (chain,) = rig_of(line).chains
        assert (chain.orientation, tuple(chain.rotation_offset)) == ("TARGET", (1, 0, 0, 0))
        assert chain.orientation_weight == pytest.approx(0.8)
        assert chain.weight == pytest.approx(0.6)
        bpy.ops.fabrik.solve()
        assert chain.status == "REACHED"
        tip = bone_matrices(line)["b2"]
        assert tip_error(line, chain) < 1e-5
        assert tip.to_quaternion().rotation_difference(constraint.target.rotation_euler.to_quaternion()).angle < 2e-3
        assert_bones_stay(line, before, 0.05, 0.05)


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

    def test_what_it_can_not_do_is_said(self, capfd: pytest.CaptureFixture[str], line: bpy.types.Object) -> None:
        chain = add_limb(line, "b2", 3, target=(0.3, 0.9, 1.9))
        chain.effector, chain.pin, chain.soft, chain.stretch = "TAIL", True, 0.01, 1.5
        chain.held_rotation, chain.orientation = (1, 0, 0, 0), "KEEP"
        for bone in line.pose.bones:
            bone.bone.inherit_scale = "NONE"
        constraint, said = self.made(line, chain, capfd)
        assert constraint.use_stretch
        for text in ("it is pinned", "soft", "the end of its stretch at 1.5", "the rotation that it keeps"):
            assert text in said

    def test_the_head_of_a_bone_comes_to_the_target(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 3, target=(0.3, 0.9, 1.2))
        bpy.ops.fabrik.solve(chain=chain.name)
        before = bone_matrices(owner)["b2"].translation
        constraint, said = self.made(owner, chain, capfd)
        assert (constraint.use_tail, constraint.chain_count) == (False, 2)
        assert (bone_matrices(owner)["b2"].translation - before).length < NEAR
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

    def test_chains_of_a_body(self, capfd: pytest.CaptureFixture[str], standing: bpy.types.Object) -> None:
        hand = add_limb(standing, "hand.L", 3, target=(0.5, -0.3, 1.2))
        hand.pole = make_empty((0.5, 2, 1.2), "Pole")
        _, said = self.made(standing, hand, capfd)
        assert "that the body bone 'hips' comes along" in said
        assert "its pole" not in said
        standing.fabrik.active_index = standing.fabrik.chains.find("foot.L")
        assert_refused("left as it is, it is pinned without a target", "to_ik", chains="ACTIVE")


class TestAims:
    @pytest.mark.parametrize("axis", ["TRACK_X", "TRACK_Y", "TRACK_NEGATIVE_Z"])
    def test_a_damped_track_and_its_chain_turn_alike(self, axis: str) -> None:
        owner, constraint = tracked((1.2, 0.7, 1.8))
        constraint.track_axis = axis
        owner.pose.bones["b1"].rotation_quaternion = Quaternion((0.3, 0.4, 0.2), 0.5)
        before = bone_matrices(owner)
        assert bpy.ops.fabrik.from_ik(use_aims=True) == {"FINISHED"}
        assert constraint.mute
        (chain,) = rig_of(owner).chains
        assert (chain.kind, chain.bone_count) == ("AIM", 1)
        bpy.ops.fabrik.solve()
        assert_bones_stay(owner, before, 1e-3, 1e-3)
        # and back: from the start pose both take the same turn to wherever the target goes
        bpy.ops.fabrik.to_ik()
        assert not constraint.mute
        assert constraint.track_axis == axis
        assert_bones_stay(owner, before, 1e-3, 1e-3)
        chain.target.location = (0.4, -1.0, 2.2)
        wanted = bone_matrices(owner)
        constraint.mute, chain.enabled = True, True
        bpy.ops.fabrik.solve()
        assert_bones_stay(owner, wanted, 1e-3, 1e-3)

    def test_tracks_stay_that_are_not_asked_for_or_at_a_place_along_a_bone(self) -> None:
        _, constraint = tracked((1, 0, 2))
        assert_refused("no bone has an IK constraint", "from_ik")
        assert not constraint.mute
        active = bpy.context.view_layer.objects.active
        constraint.target, constraint.subtarget, constraint.head_tail = make_line(2), "b0", 0.5
        bpy.context.view_layer.objects.active = active
        assert_refused("a place along a bone", "from_ik", use_aims=True)
        assert not constraint.mute

    def test_an_aim_that_bones_share_stays_a_chain(self) -> None:
        owner = make_line(3)
        chain = add_limb(owner, "b2", 2, target=(1, 1, 3))
        chain.kind = "AIM"
        assert_refused("several bones share its aim", "to_ik")
        assert chain.enabled


def leg_with_chain(pole: Point = (0.4, -4, 1)) -> tuple[bpy.types.Object, FabrikChain]:
    owner = make_rig("leg and foot")[0]
    chain = add_chain(owner, (0.2, -0.4, 0.6), tip="b1", count=2)
    chain.pole = make_empty(pole, "Pole")
    bpy.ops.fabrik.solve()
    return owner, chain


@pytest.mark.parametrize("angle", [0, 30, 90, -90, 180])
@pytest.mark.parametrize("pole", [(0.4, -4, 1), (3, 2, 0.5)])
def test_the_pose_stays(angle: float, pole: Point) -> None:
    owner, chain = leg_with_chain(pole)
    chain.pole_angle = radians(angle)
    bpy.ops.fabrik.solve()
    stood = evaluated_joints(owner, chain)
    assert bpy.ops.fabrik.to_ik() == {"FINISHED"}
    (constraint,) = owner.pose.bones["b1"].constraints
    assert not chain.enabled
    assert (constraint.target, constraint.pole_target, constraint.chain_count) == (chain.target, chain.pole, 2)
    assert apart(owner, chain, stood) < 5e-3
    assert all(bone.rotation_quaternion.w > 0.9999 for bone in owner.pose.bones)


@pytest.mark.parametrize("use_tail", [True, False])
def test_there_and_back(use_tail: bool) -> None:
    owner = leg_with_chain()[0]
    owner.fabrik.chains.clear()
    for bone in owner.pose.bones:
        bone.rotation_quaternion = (1, 0, 0, 0)
    constraint = owner.pose.bones["b1" if use_tail else "b2"].constraints.new("IK")
    constraint.use_tail, constraint.chain_count = use_tail, 2
    constraint.target = make_empty((0.2, -0.4, 0.6))
    constraint.pole_target, constraint.pole_angle = make_empty((0.4, -4, 1), "Pole"), 0.7
    bpy.ops.fabrik.from_ik()
    (chain,) = owner.fabrik.chains
    stood = evaluated_joints(owner, chain)
    constraint.pole_angle = 0.0
    bpy.ops.fabrik.to_ik()
    assert not constraint.mute
    assert constraint.chain_count == 2
    assert apart(owner, chain, stood) < 5e-3
    assert sum(len(bone.constraints) for bone in owner.pose.bones) == 1
    assert tip_error(owner, chain) < 5e-3


@pytest.mark.parametrize("effector", ["TAIL", "HEAD"])
def test_no_bone_above_the_chain_is_turned(effector: str) -> None:
    owner = make_line(5)
    owner.pose.bones["b2"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    chain = add_chain(owner, (0.4, 0.5, 4.0), tip="b4", count=3)
    chain.effector = effector
    bpy.ops.fabrik.to_ik()
    chain.target.location.z -= 0.4
    bpy.context.view_layer.update()
    for name, is_turned in (("b0", False), ("b1", False), ("b2", True), ("b3", True)):  # by more than its channels
        bone = owner.pose.bones[name]
        local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        assert (abs(local.to_quaternion().dot(bone.rotation_quaternion)) <= 1.0 - 1e-6) == is_turned, name


def test_limits_and_stiffness_are_carried_over() -> None:
    owner, _ = leg_with_chain()
    knee = owner.pose.bones["b1"]
    knee.fabrik.limit, knee.fabrik.axis = "HINGE", (-1, 0, 0)
    knee.fabrik.angle_min, knee.fabrik.angle_max = radians(-10), radians(120)
    knee.fabrik.stiffness = 0.4
    bpy.ops.fabrik.to_ik()
    assert (knee.lock_ik_x, knee.lock_ik_y, knee.lock_ik_z) == (False, True, True)
    assert (knee.use_ik_limit_x, knee.use_ik_limit_y) == (True, False)
    assert knee.ik_min_x == pytest.approx(radians(-120))
    assert knee.ik_max_x == pytest.approx(radians(10))
    assert knee.ik_stiffness_x == pytest.approx(0.4)


def test_a_ball_joint_reads_back_as_it_was() -> None:
    owner, _ = leg_with_chain()
    bone = owner.pose.bones["b1"]
    view = limit_of(bone)
    view.limit, view.use_ellipse, view.use_twist = "CONE", True, True
    view.cone_x_min, view.cone_x_max, view.cone_z_min, view.cone_z_max = -1.8, 0.5, -0.3, 0.4
    view.twist_min, view.twist_max = -0.2, 0.6
    bpy.ops.fabrik.to_ik()
    view.limit = "FREE"
    bpy.ops.object.mode_set(mode="POSE")
    owner.data.bones.active = owner.data.bones["b1"]
    bpy.ops.fabrik.limit_from_ik()
    assert view.limit == "CONE"
    assert (view.cone_x_min, view.cone_x_max) == pytest.approx((-1.8, 0.5))
    assert (view.cone_z_min, view.cone_z_max) == pytest.approx((-0.3, 0.4))
    assert (view.twist_min, view.twist_max) == pytest.approx((-0.2, 0.6))


def test_a_limit_of_the_twist_alone_is_one_of_y(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg_with_chain()
    bone = owner.pose.bones["b1"]
    view = limit_of(bone)
    view.limit, view.use_twist, view.twist_min, view.twist_max = "FREE", True, -0.2, 0.6
    capfd.readouterr()
    bpy.ops.fabrik.to_ik()
    assert "limit" not in capfd.readouterr().out
    assert (bone.use_ik_limit_x, bone.use_ik_limit_y, bone.use_ik_limit_z) == (False, True, False)
    assert (bone.ik_min_y, bone.ik_max_y) == pytest.approx((-0.2, 0.6))
    view.use_twist = False
    bpy.ops.object.mode_set(mode="POSE")
    owner.data.bones.active = owner.data.bones["b1"]
    bpy.ops.fabrik.limit_from_ik()
    assert (view.limit, view.use_twist) == ("CONE", True), "which is wide open"
    assert (view.cone_x_min, view.cone_x_max) == pytest.approx((-pi, pi))
    assert (view.cone_z_min, view.cone_z_max) == pytest.approx((-pi, pi))
    assert (view.twist_min, view.twist_max) == pytest.approx((-0.2, 0.6))


def bend(owner: bpy.types.Object, low: float, high: float, axis: Point = (1, 0, 0)) -> None:
    """Make the knee a hinge."""
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.axis, knee.angle_min, knee.angle_max = "HINGE", axis, low, high


SAID: dict[str, tuple[Callable[[bpy.types.Object], object], str]] = {
    "a cone at the root": (
        lambda o: setattr(o.pose.bones["b0"].fabrik, "limit", "CONE"),
        "b0: its limit, which Blender's IK does not hold at the root with a pole",
    ),
    "an axis of its own": (
        lambda o: bend(o, -1.0, 1.0, (1, 0, 1)),
        "b1: a limit about an axis that is none of the bone's",
    ),
    "without rest": (lambda o: bend(o, 0.3, 1.2), "b1: a range of X without the rest pose in it"),
    "beyond half a turn": (
        lambda o: bend(o, radians(-206), radians(17)),
        "b1: the part of its range of X beyond 180°",
    ),
    "keyed": (
        lambda o: o.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1),
        "b0 is keyed, and Blender's IK starts from its keys",
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_what_cannot_be_carried_back_is_said(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg_with_chain()
    spoil, text = SAID[what]
    spoil(owner)
    bpy.ops.fabrik.to_ik()
    assert text in capfd.readouterr().out


def test_a_chain_without_a_target_is_left_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg_with_chain()
    other = add_chain(owner, tip="b2", count=1)
    other.target = None
    bpy.ops.fabrik.to_ik()
    assert f"{other.name}: left as it is, no target is set" in capfd.readouterr().out
    assert other.enabled


def test_keyed_limbs_that_go_on_to_a_foot_come_back_from_ik() -> None:
    owner = make_character("human_mixamo")
    press("character_setup", use_pins=False)
    rig_of(owner).body_bone = ""
    for chain in rig_of(owner).chains:
        chain.start = "ANIMATED"
    for bone in pose_bones(owner):
        bone.keyframe_insert("rotation_quaternion", frame=1)
    stood = bone_matrices(owner)
    press("to_ik")
    assert press("from_ik") == {"FINISHED"}
    press("solve_all")
    assert_bones_stay(owner, stood, 1e-2, 0.02)


@pytest.mark.parametrize("keyed", [False, True])
def test_poles_that_swing_wait_for_no_limb_that_waits_for_them(
    *, keyed: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """They hang on what carries the limb, and point to its target; where they swing in other frames alone, too."""
    owner = make_character("human")
    press("character_setup")
    if keyed:
        rig_of(owner).active_index = rig_of(owner).chains.find("Leg.L")
        press("goal_space", space="ARMATURE", roles="POLE", use_key=True)
    before = bone_matrices(owner)
    press("to_ik")
    bpy.context.view_layer.update()
    assert "dependency cycle" not in "".join(capfd.readouterr())
    assert pose_bones(owner)["foot.L"].constraints
    limbs = {
        name: matrix for name, matrix in before.items() if name.startswith(("shin", "forearm", "thigh", "upper_arm"))
    }
    assert_bones_stay(owner, limbs, 1e-3, radians(1.0))
