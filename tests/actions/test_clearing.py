# SPDX-License-Identifier: GPL-3.0-or-later
"""Removing FABRIK from an armature, and giving duplicated characters goals of their own, without moving anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.clear import original_of
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import add_chain, add_limb, assert_refused, keyed, make_empty, make_line, overridden, press, update
from support.skeletons import make_character
from support.walks import walking


def stored(owner: Any) -> list[str]:
    """Names of our properties that are set on an armature object or its bones."""
    things = (owner, *owner.pose.bones)
    names = [prop.identifier for prop in owner.bl_rna.properties] + [
        prop.identifier for prop in bpy.types.PoseBone.bl_rna.properties
    ]
    ours = [name for name in names if name.startswith("fabrik_")]
    there = [(thing, name) for thing in things for name in ours if hasattr(thing, name)]
    return [name for thing, name in there if thing.is_property_set(name) and getattr(thing, name) is not None]


def pose(owner: bpy.types.Object, names: list[str]) -> list[tuple[float, ...]]:
    update()
    return [tuple(value for row in owner.pose.bones[name].matrix for value in row) for name in names]


@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
def test_a_character_is_as_before_it_was_set_up(controls: str) -> None:
    owner = make_character("human_mixamo")
    names = [bone.name for bone in owner.pose.bones]
    objects = set(bpy.data.objects.keys())
    press("character_setup", controls=controls, use_walker=True)
    rig_of(owner).live = True
    owner.pose.bones[names[2]].rotation_quaternion = (0.9, 0.3, 0.0, 0.1)
    stood = pose(owner, names)
    press("rig_clear")
    assert not stored(owner)
    assert [bone.name for bone in owner.pose.bones] == names
    assert set(bpy.data.objects.keys()) == objects
    assert "FABRIK" not in owner.data.collections_all
    assert pose(owner, names) == stood
    assert not bpy.ops.fabrik.rig_clear.poll()
    press("character_setup")
    assert len(rig_of(owner).chains) == 6


def test_goals_of_others_and_their_keys_stay(line: bpy.types.Object) -> None:
    thing = make_empty((0.0, 1.0, 2.0), "Ball")
    chain = add_limb(line, "b2", 3)
    chain.target = thing
    own = make_empty((0.0, 1.0, 1.0), f"{chain.name}.pole")
    chain.pole = own
    shared = make_empty((0.0, 0.0, 0.0), "Shared")
    shared.constraints.new("COPY_LOCATION").target = own
    line.keyframe_insert(chain.path_from_id("influence"), frame=1)
    line.keyframe_insert("location", frame=1)
    press("rig_clear")
    assert {thing.name, own.name} <= set(bpy.data.objects.keys())
    assert {curve.data_path for curve in fcurves_of(line)} == {"location"}


def test_marks_of_a_walk_go_as_well() -> None:
    owner = walking("spider")
    bpy.context.view_layer.objects.active = owner
    press("walk_mark", footprints="CURVE", use_markers=True)
    assert len(bpy.context.scene.timeline_markers)
    press("rig_clear")
    assert not len(bpy.context.scene.timeline_markers)
    assert not [one for one in bpy.data.objects if one.type == "CURVE"]
    assert not stored(owner)


def test_chains_of_a_library_are_refused(tmp_path: Path, body: bpy.types.Object) -> None:
    add_limb(body, "hand.L", 3, target=(0.7, 0.0, 1.4))
    override = overridden(body, tmp_path)
    assert_refused("come from the library file", "rig_clear")
    assert len(rig_of(override).chains) == 1


def duplicated(owner: bpy.types.Object, linked: bool = False) -> bpy.types.Object:
    """As by Shift D or Alt D, with nothing but the armature selected."""
    bpy.ops.object.select_all(action="DESELECT")
    owner.select_set(True)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.duplicate(linked=linked)
    made = bpy.context.object
    assert made is not None
    assert made != owner
    return made


def original(owner: bpy.types.Object) -> bpy.types.Object | None:
    return original_of(owner, bpy.context.view_layer.objects)


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner, (0.5, 0.6, 2.0))
    chain.pole = make_empty((1, 3, 1), "Pole")
    press("solve")
    return owner


@pytest.mark.parametrize("linked", [False, True])
def test_a_duplicate_follows_its_original_until_it_has_goals_of_its_own(linked: bool, owner: bpy.types.Object) -> None:
    copy = duplicated(owner, linked)
    assert (original(copy), original(owner)) == (owner, None)
    chain, mine = rig_of(copy).chains[0], rig_of(owner).chains[0]
    before = channels(copy), channels(owner)
    press("goals_single_user")
    assert (original(copy), original(owner)) == (None, None)
    assert (mine.target.name, mine.pole.name) == ("Target", "Pole")
    assert (chain.target.name, chain.pole.name) == ("Target.001", "Pole.001")
    assert (channels(copy), channels(owner)) == before
    assert (chain.status, mine.status) == ("REACHED", "REACHED")
    chain.target.location.x -= 0.4
    press("solve")
    assert tip_error(copy, chain) < 1e-4
    assert channels(owner) == before[1]
    assert_refused("no other armature has its goals", "goals_single_user")


def test_goals_that_were_duplicated_with_it_are_its_own(owner: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy is not None
    assert copy != owner
    assert (original(copy), original(owner)) == (None, None)


def test_parents_collections_and_keys_are_copied_and_nothing_jumps(owner: bpy.types.Object) -> None:
    chain = rig_of(owner).chains[0]
    home = bpy.data.collections.new("Goals")
    bpy.context.scene.collection.children.link(home)
    home.objects.link(chain.target)
    bpy.context.collection.objects.unlink(chain.target)
    pole = chain.pole
    pole.parent, pole.parent_type, pole.parent_bone = owner, "BONE", "b0"
    bpy.context.view_layer.update()
    pole.matrix_world.translation = (1, 3, 1)
    chain.target.parent = pole
    keyed(chain.target, {1: 0.2, 11: 0.7}, "location.x")
    bpy.context.scene.frame_set(6)
    copy = duplicated(owner)
    copy.location = (5, 1, 0)
    bpy.context.view_layer.update()
    places = chain.target.matrix_world.translation.copy(), pole.matrix_world.translation.copy()
    press("goals_single_user")
    mine = rig_of(copy).chains[0]
    assert (mine.pole.parent, mine.pole.parent_bone, mine.target.parent) == (copy, "b0", mine.pole)
    assert [found.name for found in mine.target.users_collection] == ["Goals"]
    assert mine.target.animation_data.action != chain.target.animation_data.action
    for goal, place in zip((mine.target, mine.pole), places, strict=True):
        assert (goal.matrix_world.translation - place).length < 1e-5
    moved = mine.target.matrix_world.translation.copy()
    bpy.context.scene.frame_set(11)
    assert (mine.target.matrix_world.translation - moved).length > 0.1
    copy.location.x += 1.0
    bpy.context.view_layer.update()
    assert (mine.pole.matrix_world.translation - (places[1] + Vector((1, 0, 0)))).length < 1e-5


def test_control_bones_of_the_original_become_its_own() -> None:
    owner = make_line(3, bend=0.2)
    add_chain(owner)
    press("target_add", kind="BONE")
    copy = duplicated(owner)
    assert rig_of(copy).chains[0].target == copy  # Blender sees to it
    assert original(copy) is None
    copy.location.x = 3.0
    rig_of(copy).chains[0].target = owner
    bpy.context.view_layer.update()
    assert (original(copy), original(owner)) == (owner, None)
    joints = evaluated_joints(copy, rig_of(copy).chains[0])
    press("goals_single_user")
    chain = rig_of(copy).chains[0]
    assert (chain.target, chain.target_bone) == (copy, "b2.target")
    assert evaluated_joints(copy, chain) == joints
    assert original(copy) is None


def test_of_goals_that_are_bones_and_empties_the_empties_are_told_of(owner: bpy.types.Object) -> None:
    rig_of(owner).chains[0].pole = None
    press("pole_add", kind="BONE")
    copy = duplicated(owner)
    assert (original(copy), original(owner)) == (owner, None)
    press("goals_single_user")
    chain = rig_of(copy).chains[0]
    assert (chain.target.name, chain.pole, chain.pole_bone) == ("Target.001", copy, "b2.pole")
    assert original(copy) is None


def test_two_characters_that_share_one_goal_of_several_are_no_duplicates(owner: bpy.types.Object) -> None:
    copy = duplicated(owner)
    rig_of(copy).chains[0].pole = make_empty((0, 4, 0), "Other")
    assert original(copy) is None
    assert press("goals_single_user") == {"FINISHED"}
    assert rig_of(copy).chains[0].target.name == "Target.001"
    assert rig_of(copy).chains[0].pole.name == "Other"


def test_a_goal_on_a_third_rig_stays_and_is_told() -> None:
    third = make_line(1)
    third.name = "Third"
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner)
    chain.target, chain.target_bone = third, "b0"
    chain.pole = make_empty((1, 3, 1), "Pole")
    copy = duplicated(owner)
    assert original(copy) == owner
    press("goals_single_user")
    mine = rig_of(copy).chains[0]
    assert (mine.target, mine.pole.name) == (third, "Pole.001")


def test_live_on_nothing_moves(owner: bpy.types.Object) -> None:
    rig_of(owner).live = True
    copy = duplicated(owner)
    joints = evaluated_joints(copy, rig_of(copy).chains[0])
    press("goals_single_user")
    chain = rig_of(copy).chains[0]
    assert max((a - b).length for a, b in zip(joints, evaluated_joints(copy, chain), strict=True)) < 1e-6
    chain.target.location.x -= 0.3
    assert tip_error(copy, chain) < 1e-4
