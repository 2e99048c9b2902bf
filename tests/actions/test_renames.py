# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains follow renamed bones and go without a trace; duplicated characters get goals of their own."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.clear import original_of
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.renames import follow_renames
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Vector

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import (
    Bone,
    add_chain,
    add_limb,
    armature,
    assert_refused,
    edited,
    go_live,
    keyed,
    live_line,
    make_armature,
    make_empty,
    make_line,
    overridden,
    press,
    reaching_line,
    reload,
    select,
    solved_status,
    update,
)
from support.skeletons import make_character
from support.walks import walking


def in_pose_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    for old, new in names.items():
        armature(owner).bones[old].name = new
    bpy.context.view_layer.update()


def in_edit_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    with edited(owner) as bones:
        for old, new in names.items():
            bones[old].name = new


def seen_in_edit_mode(owner: bpy.types.Object, names: dict[str, str]) -> None:
    """As by hand: Blender evaluates after each, and then the bone is reshaped as well."""
    with edited(owner) as bones:
        for old, new in names.items():
            bones[old].name = new
            bpy.context.view_layer.update()
            bones[new].tail.x += 0.05


def by_a_script(owner: bpy.types.Object, names: dict[str, str]) -> None:
    """Nothing is evaluated until an operator runs."""
    for old, new in names.items():
        armature(owner).bones[old].name = new


WAYS = (in_pose_mode, in_edit_mode, seen_in_edit_mode, by_a_script)
Way = Callable[[bpy.types.Object, dict[str, str]], None]


@pytest.mark.parametrize("way", WAYS)
def test_tip_captured_and_blocking_names_follow(way: Way) -> None:
    owner = make_line(3, bend=0.2)
    for name in ("b1", "b2"):
        limit = limit_of(pose_bones(owner)[name])
        limit.limit, limit.angle_min, limit.angle_max = "HINGE", radians(-20), radians(5)
    chain = add_chain(owner, (0.0, 0.4, 0.9))
    pose_bones(owner)["b0"].rotation_quaternion = (0.9, 0.1, 0.2, 0.0)
    press("start_pose_capture")
    assert solved_status(chain) == "BLOCKED"
    captured = [tuple(item.rotation) for item in chain.captured]
    blocking = [bone.name for bone in chain.blocking_bones]
    assert "b1" in blocking
    assert "b1 would" in chain.message
    way(owner, {"b1": "knee", "b2": "foot"})
    follow_renames([owner])
    assert (chain.tip_bone, chain.status, chain.name) == ("foot", "BLOCKED", "b2")
    assert [item.name for item in chain.captured] == ["b0", "knee", "foot"]
    assert [tuple(item.rotation) for item in chain.captured] == captured
    renamed = {"b1": "knee", "b2": "foot"}
    assert [bone.name for bone in chain.blocking_bones] == [renamed.get(name, name) for name in blocking]
    assert "knee would" in chain.message
    assert solved_status(chain) == "BLOCKED"
    assert ("rest pose changed" in chain.message) == (way is seen_in_edit_mode)  # there it did


@pytest.mark.parametrize("way", [in_pose_mode, in_edit_mode, by_a_script])
def test_bones_that_are_goals_follow(way: Way) -> None:
    other = make_armature([Bone((0.5, 0.5, 2.0), (0.5, 0.5, 2.5)), Bone((0, 3, 1), (0, 3, 2), parent=None)], "Goals")
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner)
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = other, "b0", other, "b1"
    press("solve")
    bpy.context.view_layer.objects.active = other
    way(other, {"b0": "hand.target", "b1": "hand.pole"})
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = owner
    press("solve")
    assert (chain.target_bone, chain.pole_bone, chain.status) == ("hand.target", "hand.pole", "REACHED")
    assert chain.tip_bone == "b2"  # the rig's own bones of those names are others


def test_a_live_chain_goes_on() -> None:
    owner, chain = reaching_line((0.5, 0.5, 2.0), bend=0.2)
    go_live(owner)
    for way in (in_pose_mode, in_edit_mode):
        way(owner, {name: f"x{name}" for name in [bone.name for bone in pose_bones(owner)]})
        assert chain.enabled
        chain.target.location.y += 0.2
        bpy.context.view_layer.update()
        assert (chain.status, chain.tip_bone in pose_bones(owner)) == ("REACHED", True)
        assert tip_error(owner, chain) < 1e-5


@pytest.mark.parametrize("way", [in_pose_mode, in_edit_mode, by_a_script])
def test_names_that_are_swapped(way: Way) -> None:
    bones = [Bone((0, 0, 0), (0, 0, 1)), Bone((1, 0, 1), (2, 0, 1), parent=0), Bone((-1, 0, 1), (-2, 0, 1), parent=0)]
    owner = make_armature(bones)
    left, right = (add_chain(owner, (x, 0, 2), tip, 1) for x, tip in ((1.5, "b1"), (-1.5, "b2")))
    left, right = rig_of(owner).chains
    way(owner, {"b1": "between", "b2": "b1", "between": "b2"})
    follow_renames([owner])
    assert (left.tip_bone, right.tip_bone) == ("b2", "b1")


def test_bones_in_one_place_are_told_apart() -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), *[Bone((0, 0, 1), (0, 0.1, 2), parent=0)] * 4])
    chain = add_chain(owner, (0, 1, 1), "b3", 1)
    in_edit_mode(owner, {f"b{i}": f"DEF-b{i}" for i in range(5)})
    assert chain.tip_bone == "DEF-b3"


def test_bones_in_one_place_that_can_not_be_told_apart_are_refused_by_name() -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), *[Bone((0, 0, 1), (0, 0.1, 2), parent=0)] * 3])
    chain = add_chain(owner, (0, 1, 1), "b3", 1)
    with edited(owner) as edit:
        edit.remove(edit["b1"])
        for name in ("b2", "b3"):
            made = edit.new(f"new {name}")
            made.head, made.tail, made.roll = edit[name].head.copy(), edit[name].tail.copy(), edit[name].roll
            edit.remove(edit[name])
    assert chain.tip_bone == "b3"
    assert_refused("the armature has no bone 'b3'", "solve")


def test_a_bone_that_is_reshaped_keeps_its_chain() -> None:
    owner = make_line(4, bend=0.0)
    chain = add_chain(owner, (0, 1, 2), "b2", 2)
    with edited(owner) as bones:
        for bone in bones:  # each lies now where the next one lay
            bone.head.z, bone.tail.z = bone.head.z + 1, bone.tail.z + 1
    assert chain.tip_bone == "b2"
    with edited(owner) as bones:
        copy = bones.new("copy")  # lies where b2 lay, which goes away
        old = bones["b2"]
        copy.head, copy.tail, copy.roll = old.head.copy(), old.tail.copy(), old.roll
        old.tail.y += 0.5
    assert chain.tip_bone == "b2"


def test_renamed_while_bones_are_added_and_removed() -> None:
    owner = make_line(4)
    chain = add_chain(owner, (0, 1, 2), "b2", 2)
    with edited(owner) as edit:
        edit.remove(edit["b3"])
        extra = edit.new("extra")
        extra.head, extra.tail = (3, 0, 0), (3, 0, 1)
        edit["b2"].name = "tip"
    assert chain.tip_bone == "tip"


def test_a_bone_that_is_gone_is_refused_by_name_and_found_when_it_is_back() -> None:
    owner, chain = reaching_line((0, 1, 2))
    with edited(owner) as edit:
        head, tail = edit["b2"].head.copy(), edit["b2"].tail.copy()
        edit.remove(edit["b2"])
    assert_refused("the armature has no bone 'b2'", "solve")
    bpy.ops.object.mode_set(mode="EDIT")
    again = edit.new("b2")
    again.head, again.tail, again.parent = head, tail, edit["b1"]
    bpy.ops.object.mode_set(mode="OBJECT")
    press("solve")
    assert (chain.tip_bone, chain.status) == ("b2", "REACHED")


def test_undo_takes_names_back_and_redo_brings_them_again() -> None:
    owner = reaching_line((0, 1, 2))[0]
    select(owner, "b2")
    bpy.ops.ed.undo_push(message="before")
    in_pose_mode(owner, {"b2": "tip"})
    bpy.ops.ed.undo_push(message="renamed")
    for step, name in ((bpy.ops.ed.undo, "b2"), (bpy.ops.ed.redo, "tip"), (bpy.ops.ed.undo, "b2")):
        step()
        owner = bpy.data.objects["Rig"]
        assert rig_of(owner).chains[0].tip_bone == name
        assert name in pose_bones(owner)


def test_renamed_by_a_script_and_saved(tmp_path: Path) -> None:
    by_a_script(reaching_line((0, 1, 2))[0], {"b2": "tip"})
    reload(tmp_path)
    assert rig_of(bpy.data.objects["Rig"]).chains[0].tip_bone == "tip"


def test_objects_that_share_an_armature_follow_alike() -> None:
    owner, chain = reaching_line((0, 1, 2))
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    in_pose_mode(owner, {"b2": "tip"})
    assert (chain.tip_bone, rig_of(other).chains[0].tip_bone) == ("tip", "tip")


def test_live_chains_that_share_an_armature_with_one_in_edit_mode_go_on() -> None:
    owner, chain = live_line()
    two = owner.copy()
    bpy.context.collection.objects.link(two)
    two.location.x, two.fabrik.chains[0].target = 3.0, make_empty((3.3, -0.5, 1.9), "Other")
    go_live(two)
    with edited(owner) as bones:
        bones["b1"].name = "elbow"
        update()
    assert two.fabrik.live
    two.fabrik.chains[0].target.location.z = 1.6
    update()
    assert max(tip_error(two, two.fabrik.chains[0]), tip_error(owner, chain)) < 1e-4


def test_nothing_is_kept_with_armatures_that_have_no_chains(line: bpy.types.Object) -> None:
    make_empty((0, 0, 0))
    in_pose_mode(line, {"b2": "tip"})
    follow_renames(bpy.data.objects)
    assert line.fabrik_bone_names == ""


def test_bones_that_lie_alike_and_change_their_order_keep_their_names() -> None:
    """A bone that is given another parent stands elsewhere in the order of the pose; nothing was renamed by it."""
    sides = [Bone((x, -1.0, 1.0), (x, -1.0, 1.2), parent=0, connect=False) for x in (0.5, -0.5, 1.0, -1.0)]
    owner = make_armature([Bone((0, 0, 0), (0, 0.2, 1)), Bone((0, 0.2, 1), (0, 0, 2), parent=0), *sides])
    names = [bone.name for bone in pose_bones(owner)]
    chain = add_chain(owner, tip=names[1], count=2)
    goals = [bone.name for bone in pose_bones(owner) if bone.name not in names[:2]]
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = owner, goals[0], owner, goals[1]
    follow_renames([owner])
    for name in (goals[2], goals[0], goals[1], goals[3]):
        with edited(owner) as bones:
            bones[name].parent = None
        bpy.context.view_layer.update()
        follow_renames([owner])
    assert (chain.target_bone, chain.pole_bone) == (goals[0], goals[1])


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
    make_empty(name="Shared").constraints.new("COPY_LOCATION").target = own
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
    assert made != owner
    return made


def original(owner: bpy.types.Object) -> bpy.types.Object | None:
    return original_of(owner, bpy.context.view_layer.objects)


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_line(3, bend=0.2)
    add_chain(owner, (0.5, 0.6, 2.0)).pole = make_empty((1, 3, 1), "Pole")
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
