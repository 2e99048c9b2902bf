# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove FABRIK takes away what was made, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.control_bones import COLLECTION, MARK, is_control, made_empties
from fabrik_addon.rig.versions import bring_all_up_to_date

from support.hanging import chain
from support.scenes import assert_refused, edited, make_empty, make_line, press, select, turned, update
from support.skeletons import make_character, rest_bones, set_up


@pytest.fixture(autouse=True)
def nothing_else_is_left() -> Iterator[None]:
    """All but the character, and what a test made itself, is gone in the end."""
    yield
    for owner in (one for one in bpy.data.objects if one.type == "ARMATURE"):
        assert not made_empties(owner)


def made_bones(owner: bpy.types.Object) -> set[str]:
    """The bones that an armature has beside those of the human, by how they are called."""
    words = (".target", ".pole", ".swing", "prop")
    return {bone.name for bone in rest_bones(owner) if any(word in bone.name for word in words)}


def put_into(owner: bpy.types.Object, *names: str) -> None:
    """Put bones into the collection of the controls."""
    data: Any = owner.data
    home = data.collections_all.get(COLLECTION) or data.collections.new(COLLECTION)
    for name in names:
        home.assign(data.bones[name])


def test_own_bones_among_the_controls_stay() -> None:
    owner = set_up("human")
    with edited(owner) as bones:
        own = bones.new("prop")
        own.head, own.tail = (1.0, 0.0, 1.0), (1.0, 0.0, 1.2)
    put_into(owner, "prop", "hand.L")
    press("rig_clear")
    assert made_bones(owner) == {"prop"}


def test_a_hand_in_a_collection_of_that_name_is_found() -> None:
    owner = make_character("human")
    put_into(owner, "hand.L")
    press("character_setup")
    assert chain(owner, "Arm.L").tip_bone == "hand.L"
    press("rig_clear")


def test_controls_are_known_wherever_they_are_put() -> None:
    owner = set_up("human")
    data: Any = owner.data
    data.collections_all[COLLECTION].name = "Mine"
    press("rig_clear")
    assert not made_bones(owner)
    assert not [one for bone in owner.pose.bones for one in bone.constraints]


def test_what_a_file_without_marks_has_is_marked() -> None:
    owner = set_up("human", controls="EMPTIES")
    owner.fabrik.active_index = owner.fabrik.chains.find("Leg.L")
    press("goal_space", space="SWING", roles="POLE")
    own = made_bones(owner)
    assert own
    things: list[Any] = [*rest_bones(owner), *made_empties(owner)]
    for thing in things:
        thing.pop(MARK, None)
    mine = make_empty(name="Arm.target.L mine")
    chain(owner, "Arm.L").target = mine
    bring_all_up_to_date(bpy.data.objects)
    assert {bone.name for bone in owner.pose.bones if is_control(bone)} == own
    press("rig_clear")
    assert not made_bones(owner)
    assert [one for one in bpy.data.objects if one.type == "EMPTY"] == [bpy.data.objects["Arm.target.L"], mine]
    bpy.data.objects.remove(bpy.data.objects["Arm.target.L"])  # which no chain had any more


def test_bones_of_what_shares_the_data_stay_as_long_as_they_are_used() -> None:
    owner = set_up("human")
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    used = {one.target_bone for one in owner.fabrik.chains if one.target}
    bpy.context.view_layer.objects.active = other
    press("character_setup")
    press("rig_clear")
    assert used <= made_bones(owner)
    bpy.context.view_layer.objects.active = owner
    press("solve_all")
    press("rig_clear")
    assert not made_bones(owner)


def test_empties_go_though_chains_were_renamed_or_removed() -> None:
    owner = set_up("human", controls="EMPTIES")
    chain(owner, "Arm.L").name = "Left hand"
    owner.fabrik.active_index = owner.fabrik.chains.find("Leg.R")
    press("chain_remove")
    own, copied = make_empty(name="Arm.target.R.001"), chain(owner, "Leg.L").target.copy()
    bpy.context.collection.objects.link(copied)
    copied.name = "My Locator"
    chain(owner, "Arm.R").target = own
    press("rig_clear")
    assert {one.name for one in bpy.data.objects if one.type == "EMPTY"} == {own.name, copied.name}


def test_what_is_deleted_leaves_the_file() -> None:
    """No empty keeps the armature for which it was made."""
    owner = make_line(3)
    select(owner, "b2")
    press("chain_add", use_target=True, kind="EMPTY")
    bpy.ops.object.mode_set(mode="OBJECT")
    for found in bpy.data.objects:
        found.select_set(True)
    bpy.ops.object.delete()
    assert not [one.name for one in bpy.data.objects if one.users]


def test_an_armature_whose_bones_can_not_be_edited_keeps_all() -> None:
    owner = set_up("human")
    owner.hide_viewport = True
    update()
    count, owner.fabrik.active_index = len(owner.fabrik.chains), owner.fabrik.chains.find("Leg.L")
    assert_refused("disabled in the viewport", "rig_clear")
    assert_refused("disabled in the viewport", "goal_space", space="SCENE")
    assert (len(owner.fabrik.chains), owner.fabrik.body_bone) == (count, "spine")
    owner.hide_viewport = False
    update()
    press("rig_clear")


def test_marks_of_a_walk_go_after_its_walker() -> None:
    owner = set_up("human", use_walker=True)
    owner.keyframe_insert("location", frame=1)
    owner.location.y = -2.0
    owner.keyframe_insert("location", frame=40)
    press("walk_plan", span="RANGE", frame_start=1, frame_end=40)
    press("walk_mark", footprints="EMPTIES", use_markers=True)
    own = bpy.context.scene.timeline_markers.new("human jumps", frame=3)
    count = len(bpy.context.scene.timeline_markers)
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    press("rig_clear")
    assert len(bpy.context.scene.timeline_markers) == count > 1
    bpy.context.view_layer.objects.active = owner
    press("walker_remove")
    press("rig_clear")
    assert [one.name for one in bpy.context.scene.timeline_markers] == [own.name]
    assert not [one for one in bpy.data.objects if one.type == "EMPTY"]


def test_control_bones_stay_that_something_else_hangs_on() -> None:
    """The limb of an IK constraint that was made of a chain would turn away, and what a bone carries fall down."""
    owner = set_up("human")
    for name in ("Leg.L", "Arm.R"):
        owner.fabrik.active_index = owner.fabrik.chains.find(name)
        press("to_ik", chains="ACTIVE")
        press("chain_remove")
    prop = make_empty(name="Prop")
    prop.parent, prop.parent_type, prop.parent_bone = owner, "BONE", "Leg.target.R"
    for bone in owner.pose.bones:
        for one in bone.constraints if bone.name.startswith("forearm") else ():
            one.mute = True
    update()
    update()
    before, place = {bone.name: bone.matrix.copy() for bone in owner.pose.bones}, prop.matrix_world.copy()
    press("rig_clear")
    update()
    assert made_bones(owner) == {
        *("Leg.target.L", "Leg.pole.L", "Leg.swing.L", "Arm.target.R", "Arm.pole.R", "Arm.swing.R", "Leg.target.R")
    }
    assert {bone.name: bone.matrix for bone in owner.pose.bones}.items() <= before.items()
    assert prop.matrix_world == place


def test_what_is_undone_after_all_was_removed_puts_no_goal_back() -> None:
    """Goals that came along with a bone that was turned go back by undo alone where that is undone."""
    owner = set_up("human")
    owner.fabrik.live = True
    bpy.ops.ed.undo_push(message="live")
    turned(owner, "upper_arm.R")
    update()
    bpy.ops.ed.undo_push(message="turned")
    press("to_ik", "EXEC_DEFAULT", True)
    press("rig_clear", "EXEC_DEFAULT", True)
    name, stood = owner.name, owner.pose.bones["Arm.target.R"].location.copy()
    assert stood.length > 0.0
    for message in ("cleared", "more"):
        bpy.ops.ed.undo_push(message=message)
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].pose.bones["Arm.target.R"].location == stood
