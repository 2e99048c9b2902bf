# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of posing and its list: few controls, of the limb that is selected; the rest is below; and preferences."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon import ui
from fabrik_addon.actions.status import report_of
from fabrik_addon.rig.animation.compat import fcurves_of, is_selected
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.ui import preferences
from fabrik_addon.ui.panels import FABRIK_PT_rigging

import addon_session
from build import ROOT
from support.hanging import activate
from support.judging import assert_alike, channels
from support.panels import Drawn, drawn
from support.scenes import (
    Bone,
    armature,
    assert_refused,
    go_live,
    go_to,
    make_armature,
    make_empty,
    press,
    reload,
    select,
    update,
)
from support.skeletons import set_up
from support.walks import walking

MOST = 12


@pytest.fixture
def human() -> bpy.types.Object:
    """A human that was set up, nothing selected."""
    set_up("human_mixamo")
    owner = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    return owner


def seen() -> None:
    """Let Blender's handlers see what was done, as they do after each click."""
    bpy.context.view_layer.objects.active.data.update_tag()
    bpy.context.view_layer.update()


def take(owner: bpy.types.Object, *bones: str) -> None:
    select(owner, *bones)
    seen()


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize("bone", ["", "Arm.target.L"])
def test_a_fresh_character_shows_a_dozen_controls_at_most(human: bpy.types.Object, bone: str, is_live: bool) -> None:
    if bone:
        take(human, bone)
    rig_of(human).live = is_live
    update()
    found = drawn()
    help_button = 1
    assert len(found.controls) + help_button <= MOST, found.controls
    assert {"drag", "pin_toggle", "key", "bake"} <= set(found.buttons())
    assert "fabrik_live" in found.settings()


def test_it_solves_only_where_live_is_off(human: bpy.types.Object) -> None:
    scene: Any = bpy.context.scene
    assert "solve_all" in drawn().buttons()
    take(human, "Arm.target.L")
    assert "solve" in drawn().buttons()
    go_live(human)
    assert not {"solve", "solve_all"} & set(drawn().buttons())
    scene.fabrik_live = False
    found = drawn()
    assert "solve" in found.buttons()
    assert len([what for kind, what, _ in found.controls if kind == "prop" and what[1] == "fabrik_live"]) == 2


@pytest.mark.parametrize(
    ("bone", "chain"),
    [("Arm.target.R", "Arm.R"), ("Leg.pole.L", "Leg.L"), ("mixamorig:LeftForeArm", "Arm.L"), ("mixamorig:Hips", "")],
)
def test_it_speaks_of_the_limb_that_is_selected(human: bpy.types.Object, bone: str, chain: str) -> None:
    take(human, bone)
    found = drawn()
    row = getattr(bpy.context.scene, "fabrik_list_index")
    assert found.buttons()["key"].chains == ("ACTIVE" if chain else "ALL")
    assert found.buttons()["pin_toggle"].which == ("ACTIVE" if chain else "SELECTED")
    assert ("influence" in found.settings()) == bool(chain)
    if chain:
        assert rig_of(human).active.name == chain == rig_of(human).chains[row].name
        assert chain in found.labels
    else:
        assert row == -1


def test_with_nothing_selected_it_speaks_of_the_whole_character(human: bpy.types.Object) -> None:
    found = drawn()
    assert "Whole Character" in found.labels
    buttons = found.buttons()
    assert (buttons["key"].chains, buttons["pin_toggle"].which, buttons["pin_toggle"].action) == ("ALL", "ALL", "PIN")
    assert "solve" not in buttons
    assert "solve_all" in buttons
    press("pin_toggle", which="ALL", action="PIN")
    assert drawn().buttons()["pin_toggle"].action == "FREE"


def test_an_empty_that_is_a_goal_shows_its_limb() -> None:
    set_up("human_mixamo", controls="EMPTIES")
    owner = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, role in (("Arm.R", "target"), ("Leg.L", "pole"), ("Arm.L", "target")):
        goal = getattr(rig_of(owner).chains[name], role)
        bpy.context.view_layer.objects.active = goal
        owner.update_tag()
        update()
        assert rig_of(owner).active.name == name
        assert name in drawn().labels


def test_a_row_that_is_picked_picks_the_target_of_the_limb(human: bpy.types.Object) -> None:
    index = [chain.name for chain in rig_of(human).chains].index("Arm.R")
    setattr(bpy.context.scene, "fabrik_list_index", index)
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["Arm.target.R"]
    assert "Arm.R" in drawn().labels


def test_troubles_are_told_of_the_whole_character(human: bpy.types.Object) -> None:
    go_live(human)
    human.pose.bones["Arm.target.L"].location.x += 5.0
    update()
    assert "Arm.L:Targettoofar" in "".join(drawn().labels).replace(" ", "")  # over several lines


def test_what_live_posing_switched_off_is_told_of_the_whole_character(human: bpy.types.Object) -> None:
    bone = human.pose.bones["mixamorig:LeftForeArm"].fabrik
    bone.limit, bone.angle_min, bone.angle_max = "HINGE", 1.0, 0.5
    go_live(human)
    arm = rig_of(human).chains["Arm.L"]
    assert not arm.enabled
    assert "Arm.L:switchedoff" in "".join(drawn().labels).replace(" ", "").replace("Arm.L:Switched", "Arm.L:switched")
    bone.angle_max = 1.5
    assert report_of(arm, bpy.context).text == "Switched off: tick it to pose it"


def test_a_limb_whose_bones_are_gone_says_so_and_one_without_a_target_has_the_button_for_it(
    human: bpy.types.Object,
) -> None:
    chains = rig_of(human).chains
    chains["Spine"].enabled = True
    activate(human, "Spine")
    take(human, chains["Spine"].tip_bone)
    assert "target_add" in drawn().buttons()
    activate(human, "Arm.L")
    chains["Arm.L"].tip_bone = "Gone"
    with pytest.raises(RuntimeError):
        press("solve")
    labels = drawn().labels
    assert "Arm.L" in labels
    assert "Gone" in "".join(labels)


def test_what_stops_the_whole_character_is_told_once(human: bpy.types.Object) -> None:
    human.pose.bones["mixamorig:LeftHand"].constraints.new("COPY_ROTATION").target = human
    with pytest.raises(RuntimeError):
        press("solve_all")
    told = "".join(drawn().labels).replace(" ", "")
    assert told.count("LeftHand") == 1
    assert "Arm.L:bone" in told


@pytest.mark.parametrize("name", ["human_mixamo", "wolf", "cat"])
def test_limbs_come_first_in_the_list(name: str) -> None:
    set_up(name)
    chains = rig_of(bpy.context.view_layer.objects.active).chains
    has_target = [chain.target is not None for chain in chains]
    assert any(has_target)
    assert has_target == sorted(has_target, reverse=True), [chain.name for chain in chains]


def test_the_list_shows_all_chains_of_a_character(human: bpy.types.Object) -> None:
    rows = [options for kind, _, options in drawn().controls if kind == "template_list"]
    assert [(one["rows"], one["maxrows"]) for one in rows] == [(len(rig_of(human).chains),) * 2]


def below(kind: Any) -> Iterator[Any]:
    """A panel and those below it."""
    yield kind
    for other in ui.CLASSES:
        if getattr(other, "bl_parent_id", "") == kind.__name__:
            yield from below(other)


def test_the_rest_is_below_one_panel_that_is_closed_at_first(human: bpy.types.Object) -> None:
    tab = [kind for kind in ui.CLASSES if getattr(kind, "bl_category", "") == "FABRIK"]
    top = [kind for kind in tab if not getattr(kind, "bl_parent_id", "")]
    assert [kind.__name__ for kind in top if kind.poll(bpy.context)] == ["FABRIK_PT_posing", "FABRIK_PT_rigging"]
    rest = list(below(FABRIK_PT_rigging))
    assert {*tab} == {*top, *rest}
    assert all("DEFAULT_CLOSED" in kind.bl_options for kind in rest)


def test_a_walk_is_planned_from_the_panel_of_every_day() -> None:
    owner = walking("human")
    select(owner)
    assert "walk_plan" in drawn().buttons()


def keyed_frames(owner: bpy.types.Object) -> dict[str, set[float]]:
    """By the paths of curves the frames of their keys."""
    found: dict[str, set[float]] = {}
    for curve in fcurves_of(owner):
        found.setdefault(curve.data_path, set()).update(key.co[0] for key in curve.keyframe_points)
    return found


def test_a_limb_is_keyed_by_its_goals(human: bpy.types.Object) -> None:
    take(human, "Arm.target.L")
    press("key", chains="ACTIVE")
    paths = set(keyed_frames(human))
    target, pole = (f'pose.bones["Arm.{role}.L"]' for role in ("target", "pole"))
    assert {f"{target}.location", f"{pole}.location"} <= paths
    assert all(path.startswith((target, pole)) for path in paths)
    assert any(path.startswith(f"{target}.rotation") for path in paths)


def test_a_chain_without_a_goal_is_keyed_by_its_bones(human: bpy.types.Object) -> None:
    take(human, "mixamorig:Spine1")
    press("key", chains="ACTIVE")
    assert 'pose.bones["mixamorig:Spine1"].rotation_quaternion' in keyed_frames(human)


def test_a_whole_pose_comes_back_at_its_frame(human: bpy.types.Object) -> None:
    go_live(human)
    first = channels(human)
    press("key", chains="ALL")
    bpy.context.scene.frame_set(20)
    human.pose.bones["Arm.target.L"].location.z += 0.2
    update()
    second = channels(human)
    assert second != first
    press("key", chains="ALL")
    for frame, stood in ((1, first), (20, second)):
        go_to(frame)
        assert_alike(channels(human), stood)
    assert keyed_frames(human)['pose.bones["mixamorig:Hips"].location'] == {1.0, 20.0}


def test_goals_that_something_holds_are_not_keyed(line: bpy.types.Object) -> None:
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=3, use_target=True, kind="EMPTY")
    target: Any = rig_of(line).chains[0].target
    target.lock_location[0] = True
    assert_refused("can't be keyed", "key", chains="ACTIVE")


# What the preferences tell: an update once, and how the solver runs.


def test_an_update_is_told_once() -> None:
    own: Any = bpy.context.preferences.addons[addon_session.MODULE].preferences
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    own.property_unset("seen_version")
    try:
        assert [preferences.news_of(own) for _ in range(2)] == ["", ""]  # installed now
        own.seen_version = "0.9.0"
        told, again = (preferences.news_of(own) for _ in range(2))
        assert f'version = "{told}"' in manifest
        assert again == ""
    finally:
        own.property_unset("seen_version")


@pytest.mark.parametrize("address", ["", "https://example.org/index.json"])
def test_an_interpreted_solver_says_why_and_how_slow_it_is(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preferences, "FORM", {"kind": "interpreted", "path": "", "reason": "this build has no binary"})
    monkeypatch.setattr(preferences, "slowness", lambda: 66.4)
    monkeypatch.setattr(preferences, "COMPILED_AT", tmp_path / "compiled_at.txt")
    if address:
        preferences.COMPILED_AT.write_text(f"{address}\n")
    layout: Any = Drawn()
    preferences.draw_solver(layout)
    assert layout.labels == [
        "Solver: interpreted (this build has no binary)",
        "It takes 66 times as long as compiled, on this machine",
    ]
    buttons = layout.buttons()
    assert list(buttons) == ["manual", *(["wm.url_open"] if address else [])]
    assert not address or buttons["wm.url_open"].url == address


def test_a_compiled_solver_says_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preferences, "FORM", {"kind": "compiled", "path": "core", "reason": ""})
    layout: Any = Drawn()
    preferences.draw_solver(layout)
    assert layout.labels == ["Solver: compiled"]


def test_how_slow_it_is_is_a_number() -> None:
    preferences.slowness.cache_clear()
    assert isfinite(preferences.slowness())
    assert preferences.slowness() > 0.0


# The chain that the panel shows follows the active bone, and a chain that is picked in the list picks its tip.


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
    take(owner, "b5")
    return owner


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
    take(owner, bone)
    assert rig_of(owner).active.name == chain
    assert row() == rig_of(owner).active_index


def test_a_bone_of_no_chain_leaves_the_list(owner: bpy.types.Object) -> None:
    take(owner, "b1")
    for bone in ("b5", "b0"):
        take(owner, bone)
        assert rig_of(owner).active.name == "b2"


def test_the_chain_that_is_shown_stays_where_it_has_the_bone(owner: bpy.types.Object) -> None:
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=3)
    bpy.ops.fabrik.chain_add(tip_bone="b1", bone_count=1)
    for index in (2, 0):
        rig_of(owner).active_index = index
        take(owner, "b2")
        assert rig_of(owner).active_index == index
        take(owner, "b5")
    rig_of(owner).active_index = 1
    take(owner, "b1")
    assert rig_of(owner).active_index == 3, "the one whose tip it is, where the one that is shown has it not"


def test_a_script_that_sets_the_active_chain_has_its_way(owner: bpy.types.Object) -> None:
    take(owner, "b1")
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
    take(owner, "b3", "b1", "b2")
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
    empty = make_empty(name="Empty")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = empty
    assert row() == 0
    pick_row(1)


def test_a_file_that_is_opened_shows_the_chain_it_was_saved_with(tmp_path: Path, owner: bpy.types.Object) -> None:
    take(owner, "b1")
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
