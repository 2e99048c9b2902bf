# SPDX-License-Identifier: GPL-3.0-or-later
"""The body bone is found or chosen without moving anything; the shares of mass are filled in."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler

from support.judging import channels
from support.scenes import add_limb, make_body, make_line, pin, press, select, update

SAME = 1e-4
LIMBS = (("foot.L", 3), ("foot.R", 3), ("hand.L", 3), ("hand.R", 3))


def body_with(*tips: str) -> bpy.types.Object:
    owner = make_body()
    for tip, count in LIMBS:
        if tip in tips:
            add_limb(owner, tip, count)
    return owner


@pytest.mark.parametrize(
    ("tips", "found"),
    [
        (("foot.L", "foot.R"), "hips"),
        (("foot.L", "hand.R"), "hips"),
        (("hand.L", "hand.R"), "hips"),
        (("hand.L",), "hips"),
    ],
)
def test_the_hips_are_found_by_their_name(tips: tuple[str, ...], found: str) -> None:
    owner = body_with(*tips)
    press("body_bone_set")
    assert rig_of(owner).body_bone == found


def test_without_such_a_name_the_nearest_bone_above_all_that_deforms_is_found() -> None:
    owner = body_with("hand.L", "hand.R")
    owner.pose.bones["hips"].name = "b0"
    owner.pose.bones["chest"].bone.use_deform = False
    press("body_bone_set")
    assert rig_of(owner).body_bone == "spine2"


def test_a_bone_that_can_be_moved_comes_before_one_that_only_turns() -> None:
    owner = body_with("hand.L", "hand.R")
    owner.pose.bones["hips"].name = "b0"
    for name in ("chest", "spine2"):
        owner.pose.bones[name].lock_location = (True, True, True)
    press("body_bone_set")
    assert rig_of(owner).body_bone == "spine1"


def test_a_disabled_chain_does_not_count() -> None:
    owner = body_with("hand.L", "foot.L")
    owner.pose.bones["hips"].name = "b0"
    rig_of(owner).chains["foot.L"].enabled = False
    press("body_bone_set")
    assert rig_of(owner).body_bone == "chest"


def test_the_active_bone_is_taken_and_none_takes_it_away() -> None:
    owner = body_with("foot.L", "foot.R")
    select(owner, "hips")
    press("body_bone_set", source="ACTIVE")
    assert rig_of(owner).body_bone == "hips"
    press("body_bone_set", source="NONE")
    assert rig_of(owner).body_bone == ""


def test_the_pose_at_hand_becomes_the_start_so_that_nothing_moves() -> None:
    owner = body_with()
    for name, angles in (("hips", (0.2, 0.1, 0.0)), ("spine1", (0.3, 0.0, 0.0)), ("thigh.L", (-0.4, 0.0, 0.0))):
        owner.pose.bones[name].rotation_quaternion = Euler(angles).to_quaternion()
    owner.pose.bones["hips"].location = (0.1, -0.2, 0.05)
    update()
    select(owner, "foot.L", "foot.R", "hand.L")
    press("pin_toggle")
    press("body_bone_set")
    before = channels(owner)
    press("solve_all")
    update()
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    for now, was in zip(channels(owner), before, strict=True):
        assert now == pytest.approx(was, abs=SAME)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("head", "no chain begins with it or hangs on it"), ("nothing", "the armature has no bone 'nothing'")],
)
def test_a_bone_above_no_chain_is_refused_by_name(name: str, reason: str) -> None:
    owner = body_with("foot.L")
    with pytest.raises(RuntimeError, match=reason):
        press("body_bone_set", bone=name)
    assert rig_of(owner).body_bone == ""


def test_with_no_active_bone_and_with_no_chain_it_says_so() -> None:
    owner = body_with("foot.L")
    owner.data.bones.active = None
    with pytest.raises(RuntimeError, match="no bone is active"):
        press("body_bone_set", source="ACTIVE")
    rig_of(owner).chains[0].enabled = False
    with pytest.raises(RuntimeError, match="no chain is enabled"):
        press("body_bone_set")
    press("chain_remove")
    with pytest.raises(RuntimeError, match="There is no chain"):
        press("body_bone_set")


def test_it_follows_its_bone_when_that_is_renamed() -> None:
    owner = body_with("foot.L", "foot.R")
    for chain in rig_of(owner).chains:
        pin(owner, chain)
    press("body_bone_set")
    press("start_pose_capture", use_all=True)
    owner.pose.bones["hips"].name = "pelvis"
    owner.update_tag()
    update()
    press("solve_all")
    assert rig_of(owner).body_bone == "pelvis"
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    assert "hips" not in rig_of(owner).body_captured


def masses(owner: bpy.types.Object) -> dict[str, float]:
    return {bone.name: bone.fabrik.mass for bone in owner.pose.bones}


def test_masses_of_human_parts_add_up_to_those_of_de_leva() -> None:
    owner = make_body()
    press("balance_masses", by="PARTS")
    found = masses(owner)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-5)
    whole = 0.0681 + 0.312 + 0.1182 + 2 * (0.0263 + 0.015 + 0.0059 + 0.1447 + 0.0457 + 0.0133)
    assert found["thigh.L"] == pytest.approx(0.1447 / whole, rel=1e-5)
    assert found["hand.R"] == pytest.approx(0.0059 / whole, rel=1e-5)
    trunk = sum(found[name] for name in ("spine1", "spine2", "chest"))
    assert trunk == pytest.approx(0.312 / whole, rel=1e-5)


def test_a_root_that_is_of_no_part_has_next_to_none() -> None:
    owner = make_body()
    bpy.ops.object.mode_set(mode="EDIT")
    root = owner.data.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    owner.data.edit_bones["hips"].parent = root
    bpy.ops.object.mode_set(mode="OBJECT")
    press("balance_masses", by="PARTS")
    found = masses(owner)
    assert 0.0 < found["root"] < 1e-5
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-4)


def test_masses_by_length_and_cleared() -> None:
    owner = make_line(4)
    press("balance_masses", by="LENGTH")
    assert list(masses(owner).values()) == pytest.approx([0.25] * 4)
    press("balance_masses", by="NONE")
    assert set(masses(owner).values()) == {0.0}


def test_names_that_tell_nothing_are_refused_and_nothing_is_changed() -> None:
    owner = make_line(4)
    owner.pose.bones["b0"].fabrik.mass = 0.5
    with pytest.raises(
        RuntimeError, match="no bone's name says that it is one of these: forearm, shin, thigh, upper arm"
    ):
        press("balance_masses", by="PARTS")
    assert masses(owner)["b0"] == 0.5
