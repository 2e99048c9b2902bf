# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of bones mirrored, copied, pasted and smoothed, contacts one by one, and many actions at once."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.mirror.pose import sides_of
from fabrik_addon.actions.motion import clips
from fabrik_addon.actions.motion.clips import Clip
from fabrik_addon.actions.motion.marks import ANYWHERE, Contact, contacts_of, place_contact
from fabrik_addon.actions.motion.takes import everything, files_in, files_steps
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.motion.transfer import TransferOptions
from fabrik_addon.rig.animation.channels import read_rotation, rotation_path
from fabrik_addon.rig.animation.compat import fcurves_of, give_action, playing, set_selected
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector

from support.animated import (
    FIRST,
    LAST,
    Frames,
    Motion,
    animated,
    choose,
    control,
    in_strips,
    limb,
    move,
    played,
    transfer,
    ways,
    without_motion,
)
from support.hanging import activate
from support.scenes import assert_refused, each_frame, keyed_turns, make_empty, make_line, press

# Blender's importer leaves a file open
IGNORED = "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
pytestmark = [pytest.mark.usefixtures("not_live"), pytest.mark.filterwarnings(IGNORED)]

ALL = {"bones": "ALL", "span": "RANGE", "frame_start": FIRST, "frame_end": LAST}
SAME = 5e-5  # of numbers of matrices


def turned_at(owner: bpy.types.Object, frame: int) -> dict[str, Quaternion]:
    bpy.context.scene.frame_set(frame)
    return {bone.name: Quaternion(read_rotation(bone)) for bone in pose_bones(owner)}


def test_mirrored_motion_is_the_mirror_image_and_twice_it_is_back(motion: Motion) -> None:
    owner, names, before = motion
    move(owner, "Arm.L", (0.1, -0.1, 0.1))
    control(owner, "Arm.L").keyframe_insert("location", frame=FIRST)
    rig_of(owner).live = False
    frame, sides = 8, sides_of(owner)
    stood, lifted = turned_at(owner, frame), Vector(control(owner, "Arm.L").location)
    press("motion_mirror", only_keys=False, **ALL)
    for name, turn in turned_at(owner, frame).items():
        if name in sides:
            wanted = sides[name].rotation(stood[name])
            other = turned_at(owner, frame)[sides[name].other.name] if sides[name].bone != sides[name].other else turn
            assert abs(other.dot(wanted)) >= 1.0 - 1e-6, name
    pair = sides_of(owner)[control(owner, "Arm.L").name]
    assert (Vector(control(owner, "Arm.R").location) - pair.place @ lifted).length <= 1e-6
    press("motion_mirror", only_keys=False, **ALL)
    rig_of(owner).edits = False
    assert np.abs(played(owner, names) - before).max() <= SAME


def test_one_side_gives_its_motion_to_the_other(motion: Motion) -> None:
    owner, _, _ = motion
    rig_of(owner).live = False
    sides, leg = sides_of(owner), limb(owner, "Leg.L")
    bpy.ops.object.mode_set(mode="POSE")

    for bone in pose_bones(owner):
        set_selected(bone, bone.name == leg)
    stood = turned_at(owner, 8)
    press(
        "motion_mirror", bones="SELECTED", to="OTHER", only_keys=False, span="RANGE", frame_start=FIRST, frame_end=LAST
    )
    after = turned_at(owner, 8)
    assert abs(after[sides[leg].other.name].dot(sides[leg].rotation(stood[leg]))) >= 1.0 - 1e-6
    assert abs(after[leg].dot(stood[leg])) >= 1.0 - 1e-6


def test_motion_is_pasted_elsewhere_with_its_contacts(motion: Motion) -> None:
    owner, names, before = motion
    activate(owner, "Leg.L")
    press("contact_mark", kind="FLAT", feet="ACTIVE", span="RANGE", frame_start=5, frame_end=9)
    press("motion_copy", **ALL)
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    rig_of(owner).live = False
    assert np.abs(played(owner, names, range(40, 40 + LAST - FIRST + 1)) - before).max() <= SAME
    assert np.abs(played(owner, names) - before).max() <= SAME
    foot = limb(owner, "Leg.L")
    assert [(one.bone, one.first, one.last) for one in contacts_of(owner)] == [(foot, 5, 9), (foot, 44, 48)]


def test_contacts_keep_their_ground_when_they_are_pasted_and_their_place_on_the_same_armature(motion: Motion) -> None:
    owner, _, _ = motion
    board, place = make_empty(name="Board"), (1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    activate(owner, "Leg.L")
    press("contact_mark", kind="FLAT", feet="ACTIVE", span="RANGE", frame_start=5, frame_end=9, ground="Board")
    place_contact(owner, contacts_of(owner)[0], place)
    press("motion_copy", **ALL)
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    first, second = contacts_of(owner)
    assert [(one.first, one.ground, one.place) for one in (first, second)] == [(5, 1, place), (44, 1, place)]
    bpy.ops.object.mode_set(mode="OBJECT")
    other = owner.copy()
    other.animation_data_clear()
    bpy.context.collection.objects.link(other)
    rig_of(other).grounds.clear()
    rig_of(other).grounds.add().found = owner  # so that the board has another number
    bpy.context.view_layer.objects.active = other
    press("motion_paste")
    (pasted,) = contacts_of(other)
    assert (pasted.kinds, pasted.place) == (first.kinds, ANYWHERE)
    assert rig_of(other).grounds[pasted.ground - 1].found == board
    board.parent = other
    contacts, keyed = contacts_of(other), len(fcurves_of(other))
    assert_refused("'Board' goes along with it", "motion_paste")
    assert (contacts_of(other), len(fcurves_of(other))) == (contacts, keyed)
    bpy.context.view_layer.objects.active = owner
    press("motion_mirror", only_keys=False, **ALL)
    mirrored = [one for one in contacts_of(owner) if one.bone == limb(owner, "Leg.R")]
    assert [(one.first, one.ground, one.place) for one in mirrored] == [(5, 1, ANYWHERE)]


def test_noise_is_taken_out_of_bones_and_the_rest_of_the_clip_stays(motion: Motion) -> None:
    owner, names, before = motion
    arm, draw = pose_bones(owner)[limb(owner, "Arm.L")].parent, np.random.default_rng(2)
    path = rotation_path(arm)
    for frame in each_frame(range(FIRST, LAST + 1)):
        arm.keyframe_insert(path.rpartition(".")[2], frame=frame)
    for curve in fcurves_of(owner):
        if curve.data_path == path:
            for point in curve.keyframe_points:
                point.co[1] += 0.03 * draw.standard_normal()
            curve.update()
    rig_of(owner).live = False

    def roughness(poses: Frames) -> float:
        own = poses[:, names.index(arm.name), :3, :3]
        return float(np.abs(np.diff(own, n=2, axis=0)).mean())

    noisy = played(owner, names)
    press("motion_smooth", width=4, **ALL)
    calm = played(owner, names)
    assert roughness(calm) <= 0.4 * roughness(noisy)
    assert np.abs(calm - before).max() <= 1.2 * np.abs(noisy - before).max()


def test_held_keys_stay_held_and_a_range_begins_and_ends_with_keys(motion: Motion) -> None:
    owner, names, _ = motion
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    rig_of(owner).live = False
    before = played(owner, names)
    press("motion_copy", **{**ALL, "frame_start": 5, "frame_end": 15})
    bpy.context.scene.frame_set(40)
    press("motion_paste")
    assert np.abs(played(owner, names, range(40, 51)) - before[4:15]).max() <= SAME


def test_nothing_is_pasted_on_bones_that_are_not_there_or_over_strips(motion: Motion) -> None:
    owner, _, _ = motion
    press("motion_copy", **ALL)
    other = bpy.data.objects.new("other", bpy.data.armatures.new("other"))
    bpy.context.collection.objects.link(other)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = other
    assert_refused("it has none of the bones that were copied", "motion_paste")
    bpy.context.view_layer.objects.active = owner
    in_strips(owner)
    assert_refused("NLA strips play it", "motion_paste")


# Contacts, one by one.


def spans(owner: bpy.types.Object) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in contacts_of(owner)]


def test_contacts_are_made_parted_joined_moved_and_deleted(motion: Motion) -> None:
    owner, names, before = motion
    activate(owner, "Leg.L")

    def mark(kind: str, first: int, last: int) -> None:
        press("contact_mark", kind=kind, feet="ACTIVE", span="RANGE", frame_start=first, frame_end=last)

    mark("FLAT", 3, 12)
    assert spans(owner) == [(3, 12)]
    mark("NONE", 7, 8)
    assert spans(owner) == [(3, 6), (9, 12)]
    mark("TOE", 7, 8)
    assert spans(owner) == [(3, 12)]
    foot = limb(owner, "Leg.L")
    press("contact_move", bone=foot, frame=5, start=2, end=2)
    assert spans(owner) == [(5, 14)]
    press("contact_move", bone=foot, frame=5, start=0, end=3)
    press("contact_move", bone=foot, frame=5, start=-1, end=0)
    assert spans(owner) == [(4, 17)]
    assert contacts_of(owner)[0].kinds[:7] == (3, 3, 3, 3, 3, 2, 2)
    mark("NONE", 1, 25)
    assert spans(owner) == []
    assert (played(owner, names) == before).all()  # marks move nothing


def test_a_contact_is_not_moved_away_altogether() -> None:
    contact = Contact("foot", 5, (1, 3, 3, 2))
    assert contact.moved(1, 1) == Contact("foot", 6, (1, 3, 3, 2))
    assert contact.moved(2, 0) == Contact("foot", 7, (3, 2))
    assert contact.moved(-2, 1) == Contact("foot", 3, (1, 1, 1, 3, 3, 2, 2))
    assert contact.moved(0, -3) == Contact("foot", 5, (1,))
    for start, end in ((4, 0), (0, -4), (2, -2)):
        with pytest.raises(InvalidValueError, match="nothing would be left"):
            contact.moved(start, end)


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


def keep_keys(source: bpy.types.Object, action: bpy.types.Action, count: int) -> None:
    """Leave the first keys of each curve of an action alone."""
    with playing(source, action):
        for curve in fcurves_of(source):
            for point in reversed([*curve.keyframe_points][count:]):
                curve.keyframe_points.remove(point)


def test_each_action_of_the_source_becomes_one(capsys: pytest.CaptureFixture[str]) -> None:
    source = animated("human_mixamo")
    wanted = ways(source)
    second(source)
    pose, still = second(source), second(source)
    keep_keys(source, pose, 1)
    with playing(source, still):
        for curve in fcurves_of(source):
            for point in curve.keyframe_points:
                point.co[1], point.interpolation = curve.keyframe_points[0].co[1], "CONSTANT"
    owner = without_motion("human_game_engine")
    owner.keyframe_insert("location", frame=1)
    before = owner.animation_data.action
    transfer(source, owner, span="EVERY", keep_contacts=False)
    assert f"left out, since they are poses: {pose.name}, {still.name}" in capsys.readouterr().out
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
    keep_keys(source, short, 2)
    give_action(source.animation_data, short)
    for curve in fcurves_of(source):
        curve.keyframe_points[1].co[0] = FIRST + 1
    owner, count = without_motion("human_game_engine"), len(bpy.data.actions)
    with pytest.raises(RuntimeError, match=f"'{short.name}': too few"):
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
    for name, frame_time, text in (
        ("slow", 1000.0, "can't be imported: 0.001 frames a second"),
        ("cut", "", "convert"),
    ):
        path = taken.with_name(f"{name}.bvh")
        motion = (
            f"{{\nOFFSET 0 0 0\nCHANNELS 0\nEnd Site\n{{\nOFFSET 0 {frame_time or '}'} 0\n}}\n}}\nMOTION\nFrames: 1\n"
        )
        path.write_text(f"HIERARCHY\nROOT a\n{motion}Frame Time: {frame_time}\n0\n", encoding="utf-8")
        assert_refused(text, "motion_from_files", filepath=str(path))
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
    choose(make_line(4))
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
