# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving one chain and all chains of an armature."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.maths import turn_angle
from mathutils import Quaternion

from support.judging import channels, tip_error
from support.scenes import Bone, add_chain, make_armature, make_empty, make_line


def fork() -> bpy.types.Object:
    """A spine of two bones and two arms of two bones each on top of it."""
    return make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (0, 0, 2)),
            Bone((0, 0, 2), (1, 0.1, 2), parent=1),
            Bone((1, 0.1, 2), (2, 0, 2)),
            Bone((0, 0, 2), (-1, 0.1, 2), parent=1),
            Bone((-1, 0.1, 2), (-2, 0, 2)),
        ]
    )


def test_chains_that_hang_on_others_are_solved_after_them() -> None:
    owner = fork()
    arm = add_chain(owner, (1.0, 0.9, 2.0), tip="b3", count=2)
    other = add_chain(owner, (-1.0, 0.9, 2.2), tip="b5", count=2)
    spine = add_chain(owner, (0.4, 0.3, 1.8), tip="b1", count=2)
    bpy.ops.fabrik.solve_all()
    for chain in (arm, other, spine):
        assert owner.fabrik.chains[chain.name].status == "REACHED"
        assert tip_error(owner, owner.fabrik.chains[chain.name]) < 1e-4


def test_target_on_a_bone_that_another_chain_moves() -> None:
    owner = fork()
    follower = add_chain(owner, tip="b5", count=2)
    follower.target, follower.target_bone = owner, "b3"
    leader = add_chain(owner, (0.8, 0.9, 2.4), tip="b3", count=2)
    bpy.ops.fabrik.solve_all()
    assert owner.fabrik.chains[leader.name].status == "REACHED"
    wanted = owner.pose.bones["b3"].head
    chain = owner.fabrik.chains[follower.name]
    assert (owner.pose.bones["b5"].tail - wanted).length == pytest.approx(chain.residual, abs=1e-5)


def test_chains_in_a_circle_are_refused() -> None:
    owner = fork()
    a, b = add_chain(owner, tip="b3", count=2), add_chain(owner, tip="b5", count=2)
    a = owner.fabrik.chains[a.name]
    a.target, a.target_bone, b.target, b.target_bone = owner, "b5", owner, "b3"
    before = channels(owner)
    with pytest.raises(RuntimeError, match="'b3' of 'Rig' and 'b5' of 'Rig' wait for each other"):
        bpy.ops.fabrik.solve_all()
    assert channels(owner) == before


def test_chains_that_share_bones_are_solved_together() -> None:
    owner = fork()
    add_chain(owner, (1.0, 0.5, 2.0), tip="b3")
    add_chain(owner, (-1.0, 0.5, 2.0), tip="b5")
    bpy.ops.fabrik.solve_all()
    assert [chain.status for chain in owner.fabrik.chains] == ["REACHED", "REACHED"]
    assert max(tip_error(owner, chain) for chain in owner.fabrik.chains) <= 1e-4


def test_disabled_chains_are_left_out() -> None:
    owner = make_line(3)
    chain = add_chain(owner, (0.5, 0.5, 2.0))
    chain.enabled = False
    assert not bpy.ops.fabrik.solve_all.poll()
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"


def test_results_are_kept_with_the_chain() -> None:
    owner = make_line(2, bend=0.0)
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.angle_min, owner.pose.bones["b1"].fabrik.angle_max = 0.0, radians(30)
    owner.scale = (2, 2, 2)
    chain = add_chain(owner, (0, 0, 1.0))
    bpy.ops.fabrik.solve()
    assert chain.status == "BLOCKED"
    assert "b1" in chain.blocking_bones
    assert chain.residual == pytest.approx(4 * 0.9659258 - 1.0, rel=1e-3)  # 2 bones of 2, 30 degrees: 4 cos 15
    chain.target.location = (0, 0, 9)
    bpy.ops.fabrik.solve()
    assert (chain.status, len(chain.blocking_bones)) == ("TOO_FAR", 0)
    assert chain.residual == pytest.approx(5.0, rel=1e-4)


def test_influence_blends_from_start_to_solution() -> None:
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner, (1.0, 0.8, 1.5))
    turns = []
    for influence in (0.0, 0.25, 0.5, 0.75, 1.0):
        chain.influence = influence
        bpy.ops.fabrik.solve()
        turns.append([turn_angle(Quaternion(values[:4])) for values in channels(owner)])
        assert chain.status == "REACHED"
    assert max(turns[0]) < 1e-6
    for i in range(5):
        for now, whole in zip(turns[i], turns[4], strict=True):
            assert now == pytest.approx(whole * i / 4, abs=1e-4)


class TestAutomaticKeying:
    def keys(self, owner: bpy.types.Object) -> set[str]:
        from fabrik_addon.rig.compat import fcurves_of

        return {curve.data_path for curve in fcurves_of(owner)}

    def test_keys_the_rotation_of_the_chain_alone(self) -> None:
        owner = make_line(4)
        owner.pose.bones["b2"].rotation_mode = "XYZ"
        add_chain(owner, (0.5, 0.5, 2.9), count=2)
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        bpy.context.preferences.edit.use_keyframe_insert_available = False  # 5.2 has it on
        bpy.ops.fabrik.solve()
        paths = {'pose.bones["b2"].rotation_euler', 'pose.bones["b3"].rotation_quaternion'}
        assert self.keys(owner) == paths

    def test_keys_only_what_is_keyed_where_the_user_wants_that(self) -> None:
        owner = make_line(4)
        owner.pose.bones["b2"].keyframe_insert("rotation_quaternion", frame=1)
        add_chain(owner, (0.5, 0.5, 2.9))
        bpy.context.scene.frame_set(5)
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        bpy.context.preferences.edit.use_keyframe_insert_available = True
        bpy.ops.fabrik.solve()
        assert self.keys(owner) == {'pose.bones["b2"].rotation_quaternion'}

    def test_no_keys_without_it(self) -> None:
        owner = make_line(3)
        add_chain(owner, (0.5, 0.5, 2.0))
        bpy.ops.fabrik.solve()
        assert self.keys(owner) == set()

    def test_keyed_bones_are_warned_of(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_line(3)
        owner.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)
        add_chain(owner, (0.5, 0.5, 2.0))
        bpy.ops.fabrik.solve()
        assert "its bone 'b1' is keyed" in capfd.readouterr().out


def test_several_rigs_keep_their_own_chains() -> None:
    first, second = make_line(3), make_line(3)
    second.location = (5, 0, 0)
    one, two = add_chain(first, (0.5, 0.5, 2.0)), add_chain(second, (5.5, 0.5, 2.0))
    assert len(first.fabrik.chains) == len(second.fabrik.chains) == 1
    bpy.ops.fabrik.solve_all()
    assert (one.status, two.status) == ("NONE", "REACHED")


def test_moving_pole_keeps_the_tip() -> None:
    owner = make_line(3, bend=0.1)
    chain = add_chain(owner, (1.0, 0.5, 1.8))
    chain.pole = make_empty((0, 3, 1), "Pole")
    for x in (-3, 0, 3):
        chain.pole.location.x = x
        bpy.ops.fabrik.solve()
        assert tip_error(owner, chain) < 1e-4


def test_target_that_hangs_on_another_chain_at_a_remove() -> None:
    owner = fork()
    follower = add_chain(owner, tip="b5", count=2)
    leader = add_chain(owner, (0.8, 0.9, 2.4), tip="b3", count=2)
    middle, target = make_empty((0, 0, 0), "Middle"), make_empty((-1.0, 0.8, 0.2), "End")
    middle.parent, middle.parent_type, middle.parent_bone = owner, "BONE", "b3"
    target.parent = middle
    follower = owner.fabrik.chains[follower.name]
    follower.target = target
    bpy.context.view_layer.update()
    bpy.ops.fabrik.solve_all()
    assert owner.fabrik.chains[leader.name].status == "REACHED"
    error = tip_error(owner, follower)
    assert follower.status in {"REACHED", "TOO_FAR"}
    assert abs(error * 2.01 - follower.residual) < 0.05


def test_chain_whose_root_copies_another_chains_bone_comes_after_it() -> None:
    owner = make_armature(
        [
            Bone((0, 0, 0), (0, 0.1, 1)),
            Bone((0, 0.1, 1), (0, 0, 2)),
            Bone((2, 0, 0), (2, 0, 0.5), parent=None),
            Bone((2, 0, 0.5), (2, 0.1, 1.5)),
            Bone((2, 0.1, 1.5), (2, 0, 2.5)),
        ]
    )
    constraint = owner.pose.bones["b2"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = owner, "b0"
    follower = add_chain(owner, (2.5, 0.5, 1.5), tip="b4", count=2)
    add_chain(owner, (0.8, 0.6, 1.0), tip="b1", count=2)
    bpy.ops.fabrik.solve_all()
    follower = owner.fabrik.chains[follower.name]
    assert follower.status == "REACHED"
    assert tip_error(owner, follower) < 1e-4


def test_chains_that_scripts_left_without_names_get_them() -> None:
    owner = make_line(3)
    target = make_empty((0.5, 0.5, 1.0))
    for _ in range(2):
        chain = owner.fabrik.chains.add()
        chain.tip_bone, chain.bone_count, chain.target = "b2", 0, target
    bpy.ops.fabrik.solve_all()
    assert [(chain.name, chain.status) for chain in owner.fabrik.chains] == [("b2", "REACHED"), ("b2.001", "REACHED")]


def test_a_missed_pole_and_partial_influence_are_told() -> None:
    owner = make_line(3)
    for bone in owner.pose.bones:
        bone.fabrik.limit = "HINGE"
    chain = add_chain(owner, (0, 0.5, 2.0))
    chain.pole, chain.influence = make_empty((5, 0, 1), "Pole"), 0.5
    bpy.ops.fabrik.solve()
    assert "the pole is missed by" in chain.message
    assert "posed at 50% influence" in chain.message


def test_tight_tolerance_is_kept_where_scales_are_uneven() -> None:
    owner = make_line(4, bend=0.2)
    owner.pose.bones["b1"].scale = (1.3, 1.0, 0.8)
    chain = add_chain(owner, (0.8, 0.9, 2.2))
    chain.tolerance = 1e-6
    bpy.ops.fabrik.solve()
    assert chain.status != "REACHED" or tip_error(owner, chain) < 4e-6
