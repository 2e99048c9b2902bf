# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one armature to another: what goes along with it, on what ground, at what rate, and by which mapping."""

from __future__ import annotations

from dataclasses import replace
from math import degrees, radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.motion.marks import contacts_of
from fabrik_addon.actions.setup.parts import find_parts
from fabrik_addon.maths import IDENTITY
from fabrik_addon.motion.contacts import FLAT
from fabrik_addon.recognise.mapping import mapping_text
from fabrik_addon.recognise.part import Part
from fabrik_addon.rig.animation.channels import read_rotation
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.renames import follow_renames
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Quaternion, Vector

from support.animated import (
    FIRST,
    LAST,
    Frames,
    animated,
    choose,
    places,
    put_from_rest,
    transfer,
    ways,
    without_motion,
)
from support.human_shapes import A_POSE, human
from support.name_lists import CONVENTIONS
from support.scenes import Bone, answer, assert_refused, edited, keyed, make_armature, press
from support.shifting import STANDS, shifting
from support.skeletons import height, rename_all

FRAMES = range(FIRST, LAST + 1)
SAME = 1e-5  # of the height
BROKEN = {"Rigify DEF"}  # whose bones hang on no body


@pytest.fixture
def going() -> bpy.types.Object:
    """A character that strides ahead, and turns to its left on its way."""
    source = animated("human_mixamo")
    bpy.context.scene.render.fps = 6  # it takes four seconds for that
    hips = pose_bones(source)[find_parts(source).body]
    for frame in FRAMES:
        way = 0.8 * (frame - FIRST) / (LAST - FIRST)
        put_from_rest(source, hips.name, Vector((0.0, -way, 0.0)))
        hips.keyframe_insert("location", frame=frame)
        source.rotation_euler.z = 0.5 * way
        source.keyframe_insert("rotation_euler", frame=frame)
    return source


def joints(owner: bpy.types.Object, root: str) -> Frames:
    """Where all bones but a root begin, in the world."""
    return np.stack([places(owner, bone.name, FRAMES) for bone in pose_bones(owner) if bone.name != root])


@pytest.mark.parametrize("root", ["ROOT", "OBJECT"])
def test_what_goes_along_stays_below_the_hips_and_changes_no_pose(going: bpy.types.Object, root: str) -> None:
    owner = without_motion("human_game_engine")
    hips = find_parts(owner).body
    above = pose_bones(owner)[hips].parent_recursive[-1]
    transfer(going, owner)
    wanted, went = joints(owner, above.name), places(owner, hips, FRAMES)
    transfer(going, owner, root=root)
    assert np.abs(joints(owner, above.name) - wanted).max() < SAME * height(owner)
    rest, carried, turns = pose_bones(owner)[hips].bone.head_local, [], []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bone = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[above.name]
        moved = owner.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted()
        carried.append([*(moved @ rest)])
        turns.append(moved.to_euler().z)
    off = went - np.array(carried)
    assert np.ptp(np.array(carried)[:, 2]) < SAME * height(owner)
    assert np.ptp(off[:, :2], axis=0).max() < 0.1 * np.linalg.norm(went[-1] - went[0])
    assert turns[-1] - turns[0] == pytest.approx(0.4, abs=0.02)


def test_a_root_that_is_not_there_is_told(going: bpy.types.Object) -> None:
    owner = without_motion("human_mixamo")
    with pytest.raises(RuntimeError, match="hangs on no bone that could be the root"):
        transfer(going, owner, root="ROOT")
    assert owner.animation_data is None or owner.animation_data.action is None


def made_ground(tilt: float, step: float) -> bpy.types.Object:
    """A ground that slopes along X by an angle, and is higher by a step where X is below 0."""
    mesh = bpy.data.meshes.new("Ground")
    corners, slope = [], float(np.tan(tilt))
    for x, high in ((-9.0, step), (0.0, step), (0.0, 0.0), (9.0, 0.0)):
        corners += [(x, y, slope * x + high) for y in (-9.0, 9.0)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (2, 3, 5, 4), (4, 5, 7, 6)])
    found = bpy.data.objects.new("Ground", mesh)
    bpy.context.scene.collection.objects.link(found)
    return found


@pytest.mark.parametrize(("tilt", "step"), [(0.0, 0.1), (radians(12.0), 0.0)])
def test_feet_stand_on_the_ground_that_is_there(tilt: float, step: float) -> None:
    source = shifting()
    owner = without_motion("human_game_engine")
    transfer(source, owner)
    level = {one.bone: places(owner, one.bone, [one.first + 5])[0] for one in contacts_of(owner)}
    low = min((owner.matrix_world @ bone.bone.tail_local).z for bone in pose_bones(owner))
    made_ground(tilt, step)
    transfer(source, owner, ground="Ground")
    found = contacts_of(owner)
    assert len(found) == len(STANDS)
    for one in found:
        flat = [one.first + k for k, kind in enumerate(one.kinds) if kind == FLAT]
        stood = places(owner, one.bone, flat)
        assert np.ptp(stood, axis=0).max() < 1e-5
        high = (step if level[one.bone][0] < 0.0 else 0.0) + np.tan(tilt) * stood[0, 0]
        assert stood[0, 2] - level[one.bone][2] + low == pytest.approx(high, abs=0.01)
        bpy.context.scene.frame_set(flat[0])
        posed = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        rest = owner.matrix_world.to_quaternion() @ pose_bones(owner)[one.bone].bone.matrix_local.to_quaternion()
        now = (posed.matrix_world @ pose_bones(posed)[one.bone].matrix).to_quaternion()
        up = (now @ rest.inverted()) @ Vector((0.0, 0.0, 1.0))
        assert up.angle(Vector((-np.sin(tilt), 0.0, np.cos(tilt)))) < radians(0.1)


def test_a_ground_that_is_none_is_told(going: bpy.types.Object) -> None:
    owner = without_motion("human_game_engine")
    for name, text in (("Nowhere", "there is no object"), (going.name, "no faces"), (owner.name, "goes along with it")):
        with pytest.raises(RuntimeError, match=text):
            transfer(going, owner, ground=name)


def test_on_level_ground_steps_are_gone() -> None:
    source = shifting()
    keyed(source, {STANDS["Leg.L"][1]: 0.0, STANDS["Leg.R"][0]: 0.3}, "location.z")
    heights = {}
    for level in (False, True):
        owner = without_motion("human_game_engine")
        transfer(source, owner, level=level)
        heights[level] = [places(owner, one.bone, [one.first + 5])[0, 2] for one in contacts_of(owner)]
    assert np.ptp(heights[False]) > 0.05
    assert np.ptp(heights[True]) < 1e-4


def test_fingers_can_be_left_as_they_are(going: bpy.types.Object) -> None:
    owner = without_motion("human_game_engine")
    fingers = {bone for part in find_parts(owner).parts if part.kind == "FINGER" for bone in part.bones}
    transfer(going, owner, fingers=False)
    keyed = {bone.name for bone in pose_bones(owner) for one in fcurves_of(owner) if f'"{bone.name}"' in one.data_path}
    assert fingers
    assert not keyed & fingers
    assert keyed - fingers


def test_what_comes_out_has_the_rate_that_is_wanted() -> None:
    source = shifting()
    owner = without_motion("human_game_engine")
    transfer(source, owner)
    whole = {one.bone: (one.first, one.last) for one in contacts_of(owner)}
    other = without_motion("human_game_engine")
    transfer(source, other, rate=0.5 * bpy.context.scene.render.fps)
    for one in contacts_of(other):
        first, last = whole[one.bone]
        assert one.first == pytest.approx(1.0 + 0.5 * (first - 1.0), abs=1.0)
        assert one.last == pytest.approx(1.0 + 0.5 * (last - 1.0), abs=1.0)


def test_a_mapping_says_which_bones_are_which(going: bpy.types.Object, tmp_path: Path) -> None:
    owner = without_motion("human_game_engine")
    transfer(going, owner)
    wanted = joints(owner, "")
    path, told = tmp_path / "mapping.json", mapping_text(find_parts(going))
    for new in rename_all(going).items():
        told = told.replace(f'"{new[0]}"', f'"{new[1]}"')
    path.write_text(told, encoding="utf-8")
    other = without_motion("human_game_engine")
    transfer(going, other, mapping=str(path))
    assert np.abs(joints(other, "") - wanted).max() < SAME * height(owner)
    with pytest.raises(RuntimeError, match="there is no such file"):
        transfer(going, other, mapping=str(tmp_path / "none.json"))


def test_a_character_keeps_the_mapping_by_which_it_was_set_up(tmp_path: Path) -> None:
    owner = without_motion("human_game_engine")
    found, path = find_parts(owner), tmp_path / "mapping.json"
    path.write_text(mapping_text(found), encoding="utf-8")
    press("mapping_import", filepath=str(path))
    names = rename_all(owner)
    follow_renames(bpy.data.objects)
    wanted = {part.name: tuple(names[bone] for bone in part.bones) for part in found.parts}
    assert {part.name: part.bones for part in find_parts(owner).parts} == wanted
    bpy.ops.object.mode_set(mode="EDIT")
    owner.data.edit_bones.remove(owner.data.edit_bones[wanted["Arm.L"][-1]])
    bpy.ops.object.mode_set(mode="OBJECT")
    told = "its mapping has other bones: its parts are looked for"
    assert told in find_parts(owner).notes
    press("rig_clear")
    assert {part.name: part.bones for part in find_parts(owner).parts} != wanted
    assert told not in find_parts(owner).notes


def test_skeletons_of_all_conventions_move_alike() -> None:
    source, off = animated("human_mixamo"), dict[str, float]()
    wanted = ways(source)
    for convention in sorted(CONVENTIONS.keys() - BROKEN):
        sides, told = CONVENTIONS[convention]
        made = human(told, sides, arms=A_POSE).skeleton
        rows = zip(made.names, made.heads, made.tails, made.parents, strict=True)
        bones = [Bone(head, tail, 0.0, parent if parent >= 0 else None, name=name) for name, head, tail, parent in rows]
        owner = make_armature(bones)
        transfer(source, owner, keep_contacts=False)
        off[convention] = float(np.abs(ways(owner) - wanted).max())
    assert {name for name, most in off.items() if most > 0.02} == set()


@pytest.fixture
def unsure(going: bpy.types.Object) -> list[Part[str]]:
    """Parts of that character that are not sure, since its left leg is called right."""
    for name in ("UpLeg", "Leg", "Foot"):
        left, right = (going.data.bones[f"mixamorig:{side}{name}"] for side in ("Left", "Right"))
        left.name, right.name = "a", left.name
        left.name = f"mixamorig:Right{name}"
    found = [part for part in find_parts(going).parts if not part.is_applied]
    assert found
    return found


def test_parts_that_are_not_sure_are_told(
    going: bpy.types.Object, unsure: list[Part[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    transfer(going, without_motion("human_game_engine"))
    names = ", ".join(part.name for part in unsure)
    assert f"these parts of '{going.name}' are not sure, a mapping tells them: {names}" in capsys.readouterr().out


def test_parts_that_were_answered_are_kept(
    going: bpy.types.Object, unsure: list[Part[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = without_motion("human_game_engine")
    sides, of = {"L": "R", "R": "L"}, {part.name: part.bones for part in unsure}
    swapped = {f"Leg.{side}": of[f"Leg.{sides[side]}"] for side in sides}
    answers = [answer(name, bones[0], bones[-1], use=True) for name, bones in swapped.items()]
    transfer(going, owner, source_parts=answers)
    assert "not sure" not in capsys.readouterr().out
    kept = {part.name: part for part in find_parts(going).parts}
    assert {name: kept[name].bones for name in swapped} == swapped
    assert all(part.is_applied for part in kept.values())
    assert not rig_of(owner).mapping  # of which nothing was asked
    crossed = ways(owner)
    rig_of(going).mapping = ""
    transfer(going, owner)
    assert np.abs(ways(owner) - crossed).max() > 0.1
    transfer(going, owner, source_parts=answers)
    choose(going)
    press("mapping_export", filepath=str(tmp_path / "mapping.json"))
    assert (tmp_path / "mapping.json").read_text("utf-8") == rig_of(going).mapping


def test_an_answer_that_makes_no_sense_changes_nothing(going: bpy.types.Object, unsure: list[Part[str]]) -> None:
    owner = without_motion("human_game_engine")
    answers = [answer(unsure[0].name, "gone", "gone", use=True)]
    with pytest.raises(RuntimeError, match="no bone 'gone'"):
        transfer(going, owner, source_parts=answers)
    assert not rig_of(going).mapping
    assert not list(fcurves_of(owner))


def test_answers_about_a_row_with_a_bone_between(going: bpy.types.Object, unsure: list[Part[str]]) -> None:
    choose(going)
    with edited(going) as bones:
        for side in ("Left", "Right"):
            above, below = (bones[f"mixamorig:{side}{name}"] for name in ("UpLeg", "Leg"))
            made = bones.new(f"between {side}")
            made.head, made.tail, made.parent, made.use_deform = above.head, above.tail, above, False
            below.use_connect, below.parent = False, made
    owner = without_motion("human_game_engine")
    transfer(going, owner)
    wanted = ways(owner)
    answers = [answer(part.name, part.bones[0], part.bones[-1], use=True) for part in unsure]
    transfer(going, owner, source_parts=answers)
    assert np.abs(ways(owner) - wanted).max() < 1e-6
    found = {part.name: part.bones for part in find_parts(going).parts}
    assert {found[part.name][1] for part in unsure} == {"between Left", "between Right"}


def test_answers_about_bones_that_are_posed_are_not_kept(going: bpy.types.Object, unsure: list[Part[str]]) -> None:
    for bone in pose_bones(going):
        bone.constraints.new("COPY_ROTATION").target = going
    owner = without_motion("human_game_engine")
    answers = [answer(part.name, part.bones[0], part.bones[-1], use=True) for part in unsure]
    transfer(going, owner, source_parts=answers)
    assert not rig_of(going).mapping


def test_limits_of_joints_bend_the_motion_where_they_are_kept(
    going: bpy.types.Object, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = without_motion("human_game_engine")
    bone = pose_bones(owner)["calf_l"]
    limit_of(bone).limit, limit_of(bone).cone_max = "CONE", radians(30.0)

    def bends() -> list[float]:
        found = list[float]()
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            found.append(read_limit(bone, IDENTITY).violation(read_rotation(bone)))
        return found

    transfer(going, owner)
    beyond = max(bends())
    assert beyond > radians(5.0)
    assert "bend the motion" not in capsys.readouterr().out
    free = ways(owner)
    transfer(going, owner, keep_limits=True)
    assert max(bends()) < 1e-5  # as exact as channels are
    assert f"limits of joints bend the motion: 'calf_l' by {degrees(beyond):.1f}°" in capsys.readouterr().out
    off = np.abs(ways(owner) - free).max(axis=tuple(range(1, free.ndim)))
    assert 0 < (off > 1e-6).sum() < len(off)
    limit_of(bone).limit = "FREE"
    transfer(going, owner, keep_limits=True)
    assert np.abs(ways(owner) - free).max() < 1e-6


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_an_object_with_delta_transforms_goes_along(going: bpy.types.Object, mode: str) -> None:
    owner = without_motion("human_game_engine")
    owner.delta_location, owner.rotation_mode = (1.0, 2.0, 0.5), mode
    owner.delta_rotation_euler.z, owner.delta_rotation_quaternion = 0.4, Quaternion((0.0, 0.0, 1.0), 0.4)
    bpy.context.view_layer.update()
    transfer(going, owner)
    root = pose_bones(owner)[find_parts(owner).body].parent_recursive[-1].name
    wanted = joints(owner, root)
    for _ in range(2):
        transfer(going, owner, root="OBJECT")
        assert np.abs(joints(owner, root) - wanted).max() < SAME * height(owner)


@pytest.mark.parametrize("root", ["ROOT", "OBJECT"])
def test_a_root_that_something_else_moves_is_refused(going: bpy.types.Object, root: str) -> None:
    owner = without_motion("human_game_engine")
    bone = pose_bones(owner)[pose_bones(owner)[find_parts(owner).body].parent_recursive[-1].name]
    thing = (bone if root == "ROOT" else owner).constraints.new("COPY_LOCATION")
    thing.target = going
    with pytest.raises(RuntimeError, match="constraint"):
        transfer(going, owner, root=root)


def test_keys_of_the_object_that_stay_are_told(going: bpy.types.Object, capsys: pytest.CaptureFixture[str]) -> None:
    owner = without_motion("human_game_engine")
    transfer(going, owner, root="OBJECT")
    transfer(going, owner)
    assert "keys of its object move it, too" in capsys.readouterr().out


@pytest.mark.parametrize("rate", [0.5, 1e9, float("nan")])
def test_a_rate_that_is_none_is_refused(going: bpy.types.Object, rate: float) -> None:
    owner = without_motion("human_game_engine")
    with pytest.raises(RuntimeError, match="a rate is 1 to 1000 frames a second"):
        transfer(going, owner, rate=rate)


def test_contacts_that_find_no_ground_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    source = shifting()
    owner = without_motion("human_game_engine")
    made_ground(0.0, 0.0).location.x = 50.0
    bpy.context.view_layer.update()
    transfer(source, owner, ground="Ground")
    assert "no ground was found below 2 contacts" in capsys.readouterr().out


@pytest.mark.parametrize("body", ["hand_l", "thigh_l"])
def test_limbs_of_a_mapping_hang_on_its_body(tmp_path: Path, body: str) -> None:
    owner = without_motion("human_game_engine")
    path = tmp_path / "mapping.json"
    path.write_text(mapping_text(replace(find_parts(owner), body=body)), encoding="utf-8")
    assert_refused("does not hang on the body", "mapping_import", filepath=str(path))


def test_a_source_is_read_as_live_posing_has_it(going: bpy.types.Object) -> None:
    owner = without_motion("human_game_engine")
    transfer(going, owner)
    hips = find_parts(owner).body
    before = places(owner, hips)
    bpy.context.view_layer.objects.active = going
    press("character_setup")
    rig = rig_of(going)
    rig.live = True
    control = pose_bones(going)[rig.chains["Body"].target_bone]
    control.location = control.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -0.1))
    transfer(going, owner)
    lower = before - places(owner, hips)
    assert np.median(lower[..., 2]) == pytest.approx(0.1, abs=0.01)
