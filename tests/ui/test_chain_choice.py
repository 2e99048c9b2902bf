# SPDX-License-Identifier: GPL-3.0-or-later
"""The chain that the panel shows follows the active bone, and a chain that is picked in the list picks its tip."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from fabrik_addon.rig.animation.compat import is_selected
from fabrik_addon.rig.schema import rig_of

from support.judging import channels
from support.scenes import Bone, armature, make_armature, reload, select


@pytest.fixture
def owner() -> bpy.types.Object:
    """A trunk, b0, with an arm of two bones at each side, b1 b2 and b3 b4, a chain for each; and b5, of no chain."""
    bones = [
        Bone((0, 0, 0), (0, 0, 1), parent=None),
        Bone((0, 0, 1), (1, 0.1, 1), parent=0),
        Bone((1, 0.1, 1), (2, 0, 1), parent=1),
        Bone((0, 0, 1), (-1, 0.1, 1), parent=0),
        Bone((-1, 0.1, 1), (-2, 0, 1), parent=3),
        Bone((0, 0, 1), (0, 0, 2), parent=0),
    ]
    owner = make_armature(bones)
    for tip in ("b2", "b4"):
        bpy.ops.fabrik.chain_add(tip_bone=tip, bone_count=2)
    select(owner, "b5")
    seen()
    return owner


def seen() -> None:
    """Let Blender's handlers see what was done, as they do after each click."""
    bpy.context.view_layer.objects.active.data.update_tag()
    bpy.context.view_layer.update()


def picked(owner: bpy.types.Object) -> tuple[str, set[str]]:
    """The active bone and the selected ones."""
    return armature(owner).bones.active.name, {bone.name for bone in owner.pose.bones if is_selected(bone)}


def pick_row(index: int) -> None:
    """What a click in the list does."""
    setattr(bpy.context.scene, "fabrik_list_index", index)


def row() -> int:
    """The row that the list shows as picked."""
    found: int = getattr(bpy.context.scene, "fabrik_list_index")
    return found


@pytest.mark.parametrize(("bone", "chain"), [("b1", "b2"), ("b2", "b2"), ("b3", "b4"), ("b4", "b4")])
def test_the_list_follows_the_active_bone(bone: str, chain: str, owner: bpy.types.Object) -> None:
    rig_of(owner).active_index = int(chain == "b2")
    select(owner, bone)
    seen()
    assert rig_of(owner).active.name == chain
    assert row() == rig_of(owner).active_index


def test_a_bone_of_no_chain_leaves_the_list(owner: bpy.types.Object) -> None:
    select(owner, "b1")
    seen()
    for bone in ("b5", "b0"):
        select(owner, bone)
        seen()
        assert rig_of(owner).active.name == "b2"


def test_the_chain_that_is_shown_stays_where_it_has_the_bone(owner: bpy.types.Object) -> None:
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=3)
    bpy.ops.fabrik.chain_add(tip_bone="b1", bone_count=1)
    for index in (2, 0):
        rig_of(owner).active_index = index
        select(owner, "b2")
        seen()
        assert rig_of(owner).active_index == index
        select(owner, "b5")
        seen()
    rig_of(owner).active_index = 1
    select(owner, "b1")
    seen()
    assert rig_of(owner).active_index == 3, "the one whose tip it is, where the one that is shown has it not"


def test_a_script_that_sets_the_active_chain_has_its_way(owner: bpy.types.Object) -> None:
    select(owner, "b1")
    seen()
    before = picked(owner)
    rig_of(owner).active_index = 1
    seen()
    assert rig_of(owner).active_index == 1
    assert picked(owner) == before


def test_no_bone_is_active(owner: bpy.types.Object) -> None:
    rig_of(owner).active_index = 1
    armature(owner).bones.active = None
    seen()
    assert rig_of(owner).active_index == 1


def test_following_has_nothing_evaluated(owner: bpy.types.Object) -> None:
    rig_of(owner).active_index = 0
    select(owner, "b3")
    updates: list[str] = []

    def note(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        updates.extend(update.id.name for update in depsgraph.updates)

    seen()
    assert rig_of(owner).active.name == "b4"
    bpy.app.handlers.depsgraph_update_post.append(note)
    try:
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(note)
    assert not updates


@pytest.mark.parametrize("index", [0, 1])
def test_a_row_that_is_picked_picks_the_tip(index: int, owner: bpy.types.Object) -> None:
    before = channels(owner)
    pick_row(index)
    tip = ("b2", "b4")[index]
    assert rig_of(owner).active_index == index
    assert picked(owner) == (tip, {tip})
    seen()
    assert rig_of(owner).active_index == index
    assert picked(owner) == (tip, {tip})
    assert channels(owner) == before


def test_a_row_leaves_the_selection_where_the_active_bone_is_of_its_chain(owner: bpy.types.Object) -> None:
    select(owner, "b3", "b1", "b2")
    seen()
    pick_row(1)
    assert picked(owner) == ("b3", {"b1", "b2", "b3"})


def test_a_row_in_object_mode_picks_no_bone(owner: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    before = picked(owner)
    pick_row(0)
    assert rig_of(owner).active_index == 0
    assert picked(owner) == before


def test_a_row_whose_tip_is_hidden_or_gone_picks_no_bone(owner: bpy.types.Object) -> None:
    bone = owner.pose.bones["b2"]
    setattr(bone if hasattr(bone, "hide") else bone.bone, "hide", True)
    before = picked(owner)
    pick_row(0)
    assert rig_of(owner).active_index == 0
    assert picked(owner) == before
    rig_of(owner).chains[1].tip_bone = "nothing"
    pick_row(1)
    assert rig_of(owner).active_index == 1
    assert picked(owner) == before


def test_a_row_beyond_the_list_changes_nothing(owner: bpy.types.Object) -> None:
    before = rig_of(owner).active_index, picked(owner)
    pick_row(7)
    assert (rig_of(owner).active_index, picked(owner)) == before


@pytest.mark.usefixtures("owner")
def test_the_row_is_not_stored() -> None:
    pick_row(0)
    assert "fabrik_list_index" not in list(bpy.context.scene.keys())
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = empty
    assert row() == 0
    pick_row(1)


def test_a_file_that_is_opened_shows_the_chain_it_was_saved_with(tmp_path: Path, owner: bpy.types.Object) -> None:
    select(owner, "b1")
    seen()
    rig_of(owner).active_index = 1
    reload(tmp_path)
    seen()
    owner = bpy.context.view_layer.objects.active
    assert picked(owner)[0] == "b1"
    assert rig_of(owner).active_index == 1


def test_undo_leaves_bone_and_list_together(owner: bpy.types.Object) -> None:
    for bone in ("b1", "b3"):
        select(owner, bone)
        bpy.ops.ed.undo_push(message=f"Select {bone}")
        seen()
    assert rig_of(owner).active.name == "b4"
    bpy.ops.ed.undo()
    seen()
    undone = bpy.context.view_layer.objects.active
    assert (picked(undone)[0], rig_of(undone).active.name) == ("b1", "b2")
