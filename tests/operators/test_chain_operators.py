# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding the chains of whole characters and of several armatures, and removing them all."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from fabrik_addon.rig.schema import limit_of

from support.scenes import add_chain, assert_refused, make_line, press, select
from support.skeletons import make_character


def chains(owner: bpy.types.Object) -> list[tuple[str, int]]:
    return [(chain.tip_bone, chain.bone_count) for chain in owner.fabrik.chains]


def select_all(owner: bpy.types.Object) -> None:
    select(owner, *(bone.name for bone in owner.data.bones))


class TestWholeCharacters:
    def test_a_human_has_six_chains_and_the_small_ones_on_demand(self, capfd: pytest.CaptureFixture[str]) -> None:
        owner = make_character("human")
        select_all(owner)
        bpy.ops.fabrik.chain_add()
        assert len(owner.fabrik.chains) == 6
        assert {("shin.L", 2), ("forearm.R", 2), ("spine.003", 3), ("spine.006", 3)} <= set(chains(owner))
        told = capfd.readouterr().out
        assert "Added 6 chains: spine.003, spine.006, " in told
        assert "small limbs are left out: tick Small Limbs to add them, too" in told
        bpy.ops.fabrik.chain_add(use_small=True)
        added = chains(owner)[6:]
        assert {("f_index.03.L", 3), ("toe.R", 2), ("eye.L", 1)} <= set(added)
        assert not set(chains(owner)[:6]) & set(added)  # what was there already is not added again

    def test_all_there_already_is_told(self) -> None:
        owner = make_character("basic_human")
        select_all(owner)
        bpy.ops.fabrik.chain_add()
        assert_refused("each of the 6 limbs has a chain already", "chain_add")
        assert len(owner.fabrik.chains) == 6

    def test_an_imported_leg_has_its_bones(self) -> None:
        owner = make_character("human_mixamo")
        select(owner, "mixamorig:LeftFoot")
        bpy.ops.fabrik.chain_add(use_target=True)
        assert chains(owner) == [("mixamorig:LeftFoot", 3)]
        bpy.ops.fabrik.solve()
        assert owner.fabrik.chains[0].status == "REACHED"


def test_several_chains_are_one_report_that_warns_last_and_says_nothing_twice(
    capfd: pytest.CaptureFixture[str],
) -> None:
    owner = make_line(4)
    add_chain(owner, (0, 0, 99), tip="b3", count=1)
    add_chain(owner, (0.4, -0.5, 1.0), tip="b1", count=2)
    far, near = owner.fabrik.chains
    capfd.readouterr()
    assert press("solve_all") == {"FINISHED"}
    said = capfd.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["Warning"]
    assert 0 < said[0].index(f"{near.name}: On target") < said[0].index(f"; {far.name}: ")


def test_options_of_one_character_are_not_those_of_the_next() -> None:
    operators: Any = bpy.ops.fabrik
    for name, option in (
        ("chain_mirror", "use_all"),
        ("character_setup", "use_walker"),
        ("character_setup", "plan"),
        ("target_add", "use_all"),
        ("start_pose_capture", "use_all"),
        ("start_pose_reset", "use_all"),
        ("start_pose_reset", "use_pose"),
    ):
        assert getattr(operators, name).get_rna_type().properties[option].is_skip_save, name


class TestSeveralArmatures:
    def two_in_pose_mode(self) -> tuple[bpy.types.Object, bpy.types.Object]:
        first, second = make_line(3), make_line(4)
        first.select_set(True)
        second.select_set(True)
        bpy.ops.object.mode_set(mode="POSE")
        assert (first.mode, second.mode) == ("POSE", "POSE")
        select(first, "b2")
        select(second, "b1", "b2")
        return first, second

    def test_each_gets_its_chains(self) -> None:
        first, second = self.two_in_pose_mode()
        bpy.ops.fabrik.chain_add(use_target=True)
        assert (chains(first), chains(second)) == ([("b2", 3)], [("b2", 2)])
        assert all(owner.fabrik.chains[0].target for owner in (first, second))

    def test_a_named_tip_is_of_the_active_one(self) -> None:
        first, second = self.two_in_pose_mode()
        bpy.context.view_layer.objects.active = second
        bpy.ops.fabrik.chain_add(tip_bone="b3", bone_count=2)
        assert (chains(first), chains(second)) == ([], [("b3", 2)])

    def test_one_that_can_not_be_posed_is_left_out_by_name(self, capfd: pytest.CaptureFixture[str]) -> None:
        first, second = self.two_in_pose_mode()
        second.data.pose_position = "REST"
        bpy.context.view_layer.objects.active = first
        bpy.ops.fabrik.chain_add()
        assert (chains(first), chains(second)) == ([("b2", 3)], [])
        assert f"{second.name} is left out: " in capfd.readouterr().out


class TestRemoveAll:
    def test_chains_go_and_goals_stay(self, line: bpy.types.Object) -> None:
        for count in (1, 2, 3):
            add_chain(line, (0, 0.5, 1), "b2", count)
        bpy.ops.fabrik.chain_remove_all()
        assert (len(line.fabrik.chains), line.fabrik.active_index) == (0, 0)
        assert sum(found.type == "EMPTY" for found in bpy.data.objects) == 3
        assert not bpy.ops.fabrik.chain_remove_all.poll()


def test_add_chain_with_a_target_tells_what_the_next_solve_moves(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3)
    hinge = owner.pose.bones["b1"]
    limit_of(hinge).limit, limit_of(hinge).angle_min = "HINGE", 0.0
    hinge.rotation_quaternion = (0.9, -0.4, 0, 0)
    select(owner, "b2")
    press("chain_add")
    assert "exceeds" not in capfd.readouterr().out
    press("chain_remove")
    press("chain_add", use_target=True)
    assert "'b1' exceeds its joint limit" in capfd.readouterr().out


def test_poles_for_all_where_no_chain_can_bend() -> None:
    owner = make_line(1)
    select(owner, "b0")
    press("chain_add")
    assert_refused("has one bone alone", "pole_add", use_all=True)


def test_the_end_is_chosen_before_there_is_a_target_without_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3)
    add_chain(owner)
    capfd.readouterr()
    press("effector_set", effector="HEAD")
    assert owner.fabrik.chains[0].effector == "HEAD"
    assert capfd.readouterr().out.startswith("Info: ")
