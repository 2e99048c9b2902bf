# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains made of Blender's own IK constraints pose as these did."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from typing import Any

import bpy
import pytest
from mathutils import Vector

from support.judging import tip_error
from support.scenes import Bone, make_armature, make_empty, make_line


def leg(pole_angle: float = 0.0) -> tuple[bpy.types.Object, bpy.types.KinematicConstraint]:
    """A leg with Blender's IK, a pole, and a knee that is locked to one axis."""
    owner = make_armature(
        [Bone((0, 0, 2), (0, -0.1, 1)), Bone((0, -0.1, 1), (0, 0, 0), connect=True), Bone((0, 0, 0), (0, -0.4, 0))]
    )
    constraint: Any = owner.pose.bones["b1"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty((0.2, -0.4, 0.6)), 2
    constraint.pole_target, constraint.pole_angle = make_empty((0.4, -4, 1), "Pole"), pole_angle
    bpy.context.view_layer.objects.active = owner
    bpy.context.view_layer.update()
    return owner, constraint


def knee(owner: bpy.types.Object) -> Vector:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return evaluated.pose.bones["b1"].head.copy()


@pytest.mark.parametrize("angle", [0, 30, 90, -90, 180])
def test_the_pose_stays_where_blender_left_it(angle: float) -> None:
    owner, constraint = leg(radians(angle))
    stood = knee(owner)
    assert bpy.ops.fabrik.from_ik() == {"FINISHED"}
    assert constraint.mute
    bpy.ops.fabrik.solve_all()
    bpy.context.view_layer.update()
    chain = owner.fabrik.chains[0]
    assert chain.status == "REACHED"
    assert tip_error(owner, chain) < 1e-4
    assert (knee(owner) - stood).length < 2e-3


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
    assert bone.fabrik.limit == "BONE_IK"
    assert bone.fabrik.stiffness == pytest.approx(0.3)


def test_without_tail_the_chain_ends_at_the_parent() -> None:
    owner, constraint = leg()
    constraint.use_tail = False
    bpy.ops.fabrik.from_ik()
    assert (owner.fabrik.chains[0].tip_bone, owner.fabrik.chains[0].bone_count) == ("b0", 1)


def test_what_cannot_be_carried_over_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner, constraint = leg()
    owner.pose.bones["b0"].ik_stretch = 0.5
    lonely = owner.pose.bones["b2"].constraints.new("IK")
    bpy.ops.fabrik.from_ik()
    assert constraint.mute
    assert not lonely.mute
    said = capfd.readouterr().out
    assert "but for its stretch has an end at 2 times the length" in said
    assert "left as it is, it has no target" in said


def test_only_selected_bones_where_wanted() -> None:
    owner, _ = leg()
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="no bone has an IK constraint"):
        bpy.ops.fabrik.from_ik(use_selected=True)
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.fabrik.from_ik(use_selected=True)
    assert len(owner.fabrik.chains) == 1


def test_muted_constraints_are_left_alone() -> None:
    owner = make_line(2)
    owner.pose.bones["b1"].constraints.new("IK").mute = True
    with pytest.raises(RuntimeError, match="no bone has an IK constraint"):
        bpy.ops.fabrik.from_ik()


def keyed_mute(constraint: bpy.types.KinematicConstraint) -> None:
    constraint.keyframe_insert("mute", frame=1)


def turns_only(constraint: bpy.types.KinematicConstraint) -> None:
    constraint.use_location, constraint.use_rotation = False, True


def vertex_group(constraint: bpy.types.KinematicConstraint) -> None:
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.collection.objects.link(mesh)
    mesh.vertex_groups.new(name="g")
    constraint.target, constraint.subtarget = mesh, "g"


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (keyed_mute, "it is switched on and off"),
        (turns_only, "it keeps a distance or turns alone"),
        (vertex_group, "is a vertex group"),
    ],
)
def test_constraints_that_are_no_chain_are_left_as_they_are(
    what: Callable[[bpy.types.KinematicConstraint], None], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    owner, constraint = leg()
    what(constraint)
    assert bpy.ops.fabrik.from_ik() == {"CANCELLED"}
    assert not constraint.mute
    assert not owner.fabrik.chains
    assert reason in capfd.readouterr().out


def test_another_constraint_on_a_bone_of_the_limb_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner, _ = leg()
    owner.pose.bones["b0"].constraints.new("LIMIT_ROTATION").name = "Mine"
    bpy.ops.fabrik.from_ik()
    assert "the constraint 'Mine' still moves a bone of it" in capfd.readouterr().out


def test_an_influence_that_is_keyed_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    _, constraint = leg()
    constraint.keyframe_insert("influence", frame=1)
    bpy.ops.fabrik.from_ik()
    assert "its influence is animated" in capfd.readouterr().out


def test_a_keyed_limb_that_stands_elsewhere_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3, bend=0.4)
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=1)
    constraint = owner.pose.bones["b2"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty((0.5, -1.0, 1.2)), 3
    constraint.pole_target = make_empty((0.4, -4, 1), "Pole")
    bpy.context.view_layer.update()
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
