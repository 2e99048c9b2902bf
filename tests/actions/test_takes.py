# SPDX-License-Identifier: GPL-3.0-or-later
"""All actions of another armature, or those in files, brought to one at once: each becomes an action of its own."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion import clips
from fabrik_addon.actions.motion.clips import Clip
from fabrik_addon.actions.motion.takes import everything, files_in, files_steps
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.motion.transfer import TransferOptions
from fabrik_addon.rig.animation.compat import fcurves_of, give_action

from support.animated import FIRST, LAST, animated, choose, transfer, ways, without_motion
from support.scenes import assert_refused, keyed_turns, make_line, press

# Blender's importer leaves it open
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
)
ACROSS = 0.02  # of a direction, between two whole frames of another rate


def second(source: bpy.types.Object) -> bpy.types.Action:
    """Another action for the one that an armature plays: the first half of it alone."""
    plays = source.animation_data.action
    other = plays.copy()
    plays.name, other.name = "Long", "Short"
    give_action(source.animation_data, other)
    for curve in fcurves_of(source):
        for point in reversed([point for point in curve.keyframe_points if point.co[0] > 13]):
            curve.keyframe_points.remove(point)
    give_action(source.animation_data, plays)
    return other


def test_each_action_of_the_source_becomes_one() -> None:
    source = animated("human_mixamo")
    wanted = ways(source)
    second(source)
    owner = without_motion("human_game_engine")
    owner.keyframe_insert("location", frame=1)
    before = owner.animation_data.action
    transfer(source, owner, span="EVERY", keep_contacts=False)
    made = {action.name: tuple(action.frame_range) for action in bpy.data.actions if owner.name in action.name}
    assert made[f"Long {owner.name}"] == (FIRST, LAST)
    assert made[f"Short {owner.name}"] == (FIRST, 13)
    assert owner.animation_data.action.name == f"Long {owner.name}"  # the source plays the long one
    assert source.animation_data.action.name == "Long"
    assert before.use_fake_user
    assert np.abs(ways(owner) - wanted).max() < 0.01


def test_actions_that_can_not_be_read_change_nothing() -> None:
    source = animated("human_mixamo")
    short = second(source)
    give_action(source.animation_data, short)
    for curve in fcurves_of(source):
        for point in reversed([*curve.keyframe_points][1:]):
            curve.keyframe_points.remove(point)
    owner, count = without_motion("human_game_engine"), len(bpy.data.actions)
    with pytest.raises(RuntimeError, match="too few"):
        transfer(source, owner, span="EVERY")
    assert len(bpy.data.actions) == count
    assert owner.animation_data is None or owner.animation_data.action is None
    assert source.animation_data.action == short


@pytest.fixture
def taken(tmp_path: Path) -> Path:
    """An FBX file of what a character does in half a second, at 60 frames a second; the scene has 30."""
    source, scene = animated("human_mixamo"), bpy.context.scene
    scene.render.fps, scene.frame_end = 60, LAST
    choose(source)
    path = tmp_path / "stride.fbx"
    bpy.ops.export_scene.fbx(
        filepath=str(path), use_selection=True, add_leaf_bones=False, bake_anim_simplify_factor=0.0
    )
    scene.render.fps, scene.frame_end = 30, 250
    return path


def test_a_file_comes_at_the_rate_of_the_scene_and_leaves_all_else(taken: Path) -> None:
    source = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    wanted = ways(source)
    owner, scene = without_motion("human_game_engine"), bpy.context.scene
    choose(owner)
    bpy.ops.object.mode_set(mode="POSE")
    there = everything()
    press("motion_from_files", directory=str(taken.parent), files=[{"name": taken.name}], keep_contacts=False)
    assert [one.name for one in everything() - there] == ["stride"]
    assert owner.mode == "POSE"
    assert bpy.context.selected_objects == [owner]
    assert (scene.render.fps, scene.frame_end) == (30, 250)
    action = owner.animation_data.action
    assert (action.name, tuple(action.frame_range)) == ("stride", (1, 1 + (LAST - FIRST) / 2))
    assert np.abs(ways(owner)[: (LAST - FIRST) // 2] - wanted[::2][: (LAST - FIRST) // 2]).max() < ACROSS


def test_files_that_can_not_be_read_change_nothing(taken: Path) -> None:
    owner = without_motion("human_game_engine")
    choose(owner)
    broken, other = taken.with_name("broken.glb"), taken.with_name("notes.txt")
    broken.write_text("none", encoding="utf-8")
    other.write_text("none", encoding="utf-8")
    there = everything()
    for name, text in (("gone.bvh", "no file"), (broken.name, "can't be imported"), (other.name, "is no BVH, FBX")):
        assert_refused(
            text, "motion_from_files", directory=str(taken.parent), files=[{"name": taken.name}, {"name": name}]
        )
        assert everything() == there
    still = taken.with_name("still.bvh")
    still.write_text("HIERARCHY\nROOT a\n", encoding="utf-8")
    assert_refused("0 armatures that move", "motion_from_files", filepath=str(still))
    assert everything() == there
    assert owner.animation_data is None


def test_of_several_armatures_in_a_file_that_of_such_a_body_is_read(tmp_path: Path) -> None:
    source, other = animated("human_mixamo"), make_line(4)
    keyed_turns(other.pose.bones[1], {FIRST: 0.0, LAST: 1.0})
    path, owner = tmp_path / "both.glb", without_motion("human_game_engine")
    choose(source, other)
    bpy.ops.export_scene.gltf(filepath=str(path), use_selection=True)
    choose(owner)
    press("motion_from_files", filepath=str(path))
    assert any("thigh" in curve.data_path for curve in fcurves_of(owner))
    snake = make_line(4)
    choose(snake)
    assert_refused("no body bone was found", "motion_from_files", filepath=str(path))


def test_of_a_folder_all_files_are_read(taken: Path) -> None:
    assert files_in(taken.parent) == [taken]
    assert files_in(taken) == [taken]
    empty = taken.parent / "none"
    empty.mkdir()
    with pytest.raises(InvalidValueError, match="no BVH, FBX or glTF file in"):
        files_in(empty)


def ranges(owner: bpy.types.Object) -> dict[str, tuple[float, float]]:
    """What the joint limits of hinges allow, by bone."""
    hinges = [bone for bone in owner.pose.bones if bone.fabrik.limit == "HINGE"]
    return {bone.name: (bone.fabrik.angle_min, bone.fabrik.angle_max) for bone in hinges}


def test_limits_are_not_widened_where_a_later_action_can_not_be_keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = animated("human_mixamo")
    second(source)
    owner = animated("human_game_engine")
    choose(owner)
    press("character_setup")
    assert any(chain.goal == "OFFSET" for chain in owner.fabrik.chains)
    elbow = owner.pose.bones["lowerarm_l"].fabrik
    elbow.limit, elbow.angle_min, elbow.angle_max = "HINGE", -0.01, 0.01
    stood = ranges(owner)
    keyed, key = list[str](), clips._key

    def fail(owner: bpy.types.Object, clip: Clip, at: int) -> None:
        keyed.append(owner.animation_data.action.name)
        if len(keyed) > 1:
            raise InvalidValueError("no more")
        key(owner, clip, at)

    monkeypatch.setattr(clips, "_key", fail)
    with pytest.raises(RuntimeError, match="no more"):
        transfer(source, owner, span="EVERY")
    assert len(keyed) == 2
    assert ranges(owner) == stood
    monkeypatch.undo()
    transfer(source, owner, span="EVERY")
    assert ranges(owner) != stood


def test_files_that_are_left_halfway_change_nothing(taken: Path) -> None:
    owner = without_motion("human_game_engine")
    choose(owner)
    there = everything()
    steps = files_steps(bpy.context, [taken, taken], owner, TransferOptions())
    assert 0.0 < next(steps) < 0.5
    assert everything() != there
    steps.close()
    assert everything() == there
    assert owner.animation_data is None
    assert bpy.context.selected_objects == [owner]
