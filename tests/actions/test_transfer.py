# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one armature to another: the same whatever roll, scale and facing, and feet that stay in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import degrees, nan, radians
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
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.animation.curves import read_keys
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.renames import follow_renames
from fabrik_addon.rig.schema import limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from dev.walking_rigs import make_ground
from support.animated import (
    FIRST,
    LAST,
    Frames,
    animated,
    choose,
    joints,
    places,
    played,
    put_from_rest,
    size,
    transfer,
    ways,
    without_motion,
)
from support.human_shapes import A_POSE, human
from support.name_lists import CONVENTIONS
from support.scenes import Bone, answer, assert_refused, each_frame, edited, keyed, make_armature, press, update
from support.shifting import STANDS, shifting
from support.skeletons import height, make_character, rename_all

FRAMES = range(FIRST, LAST + 1)
LOCAL = 1e-3  # radians; channels are single precision


@pytest.fixture
def owner() -> bpy.types.Object:
    """A character of another skeleton, at rest."""
    return without_motion("human_game_engine")


@pytest.mark.parametrize("change", ["turned", "small", "rolled", "lying"])
def test_the_same_skeleton_moves_the_same(change: str, owner: bpy.types.Object) -> None:
    source = animated("human_game_engine")
    wanted, upright = ways(source), Matrix()
    if change == "turned":
        owner.rotation_euler.z += radians(90.0)
        upright = Matrix.Rotation(radians(-90.0), 4, "Z")
    elif change == "small":
        owner.scale *= 0.01
    elif change == "lying":  # as where an importer takes the wrong axis to be up
        source.matrix_world = Matrix.Rotation(radians(90.0), 4, "X") @ source.matrix_world
    else:
        with edited(owner) as bones:
            for bone in bones:
                bone.roll += 0.7
    transfer(source, owner, keep_contacts=False)
    assert np.abs(ways(owner, upright) - wanted).max() < LOCAL


def driven(owner: bpy.types.Object) -> None:
    """Let the bones of a character follow others that have its motion, as in control rigs."""
    with edited(owner) as bones:
        names = [bone.name for bone in bones]
        for bone in bones:
            bone.name, bone.use_deform = f"DRV_{bone.name}", False
        for name in names:
            other, bone = bones[f"DRV_{name}"], bones.new(name)
            bone.head, bone.tail, bone.roll, bone.use_deform = other.head, other.tail, other.roll, True
            if other.parent is not None:
                bone.parent = bones[other.parent.name.removeprefix("DRV_")]
    for name in names:
        constraint = owner.pose.bones[name].constraints.new("COPY_TRANSFORMS")
        constraint.target, constraint.subtarget = owner, f"DRV_{name}"
    update()


def test_of_a_control_rig_the_bones_that_deform_are_read(owner: bpy.types.Object) -> None:
    source = animated("human_mixamo")
    wanted = ways(source)
    driven(source)
    transfer(source, owner, keep_contacts=False)
    assert np.abs(ways(owner) - wanted).max() < 0.01


def test_hips_go_as_far_as_legs_are_long(owner: bpy.types.Object) -> None:
    source = animated("human_mixamo")
    hips = pose_bones(source)[find_parts(source).body]
    ahead = hips.bone.matrix_local.to_3x3().inverted() @ (source.matrix_world.to_3x3().inverted() @ Vector((0, -1, 0)))
    for frame, way in ((FIRST, 0.0), (LAST, 2.0)):
        bpy.context.scene.frame_set(frame)
        hips.location += ahead * way
        hips.keyframe_insert("location", frame=frame)
    transfer(source, owner, keep_contacts=False)
    went, goes = (places(one, find_parts(one).body) for one in (source, owner))
    ratio = size(owner) * owner.scale[0] / (size(source) * source.scale[0])
    assert (goes[-1] - goes[0])[1] == pytest.approx(ratio * (went[-1] - went[0])[1], rel=0.01)


@pytest.mark.parametrize("name", ["human_game_engine", "cesium_man"])
def test_feet_stand_still_where_those_of_the_source_do(name: str) -> None:
    source = shifting()
    owner = without_motion(name)
    transfer(source, owner, keep_contacts=False)
    assert not contacts_of(owner)
    transfer(source, owner)
    found = contacts_of(owner)
    assert len(found) == len(STANDS)
    for contact, (first, last) in zip(found, STANDS.values(), strict=True):
        assert abs(contact.first - first) <= 1
        assert abs(contact.last - last) <= 1
        frames = zip(range(contact.first, contact.last + 1), contact.kinds, strict=True)
        stood = places(owner, contact.bone, [frame for frame, kind in frames if kind == FLAT])
        assert len(stood) > 5
        assert np.ptp(stood, axis=0).max() < 1e-5
        rest = owner.matrix_world @ pose_bones(owner)[contact.bone].bone.head_local
        assert stood[:, 2] == pytest.approx(rest.z, abs=1e-4)


def test_hips_that_hang_on_a_turned_root_stand_where_they_are_to(owner: bpy.types.Object) -> None:
    source = animated("human_mixamo")
    transfer(source, owner)
    hips = find_parts(owner).body
    wanted = played(owner, [hips], FRAMES)
    root = pose_bones(owner)[hips].parent
    owner.animation_data_clear()
    for bone in pose_bones(owner):
        bone.matrix_basis = Matrix()
    root.matrix_basis = Matrix.LocRotScale(Vector((0.2, 0.3, -0.1)), Matrix.Rotation(0.8, 3, "X"), None)
    transfer(source, owner)
    assert np.abs(played(owner, [hips], FRAMES) - wanted).max() < 1e-3 * size(owner)


def test_a_pose_at_the_end_that_is_none_of_the_motion_is_left_out(owner: bpy.types.Object) -> None:
    source = animated("human_mixamo")
    for bone in pose_bones(source):
        bone.rotation_quaternion = (0.0, 1.0, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=FIRST - 1)
    transfer(source, owner)
    turns = [curve for curve in fcurves_of(owner) if "rotation" in curve.data_path]
    assert min(point.co[0] for curve in turns for point in curve.keyframe_points) == FIRST


OPTIONS: dict[str, tuple[dict[str, object], str]] = {
    "one frame": ({"span": "RANGE", "frame_start": 3, "frame_end": 3}, "too few"),
    "no such source": ({"source": "Nobody"}, "no armature object 'Nobody'"),
    "itself": ({"source": "human_game_engine"}, "choose another one"),
    "no such ground": ({"ground": "Nowhere"}, "there is no object"),
    "the source as ground": ({"ground": "human_mixamo"}, "no faces"),
    "itself as ground": ({"ground": "human_game_engine"}, "goes along with it"),
    "no such mapping": ({"mapping": "/none.json"}, "there is no such file"),
    **{f"a rate of {rate}": ({"rate": rate}, "a rate is 1 to 1000 frames a second") for rate in (0.5, 1e9, nan)},
}


STILL: dict[str, Callable[[bpy.types.Object], object]] = {
    "no action": lambda source: source.animation_data_clear(),
    "at rest": lambda source: setattr(source.data, "pose_position", "REST"),
    "an empty action": lambda source: give_action(source.animation_data, bpy.data.actions.new("empty")),
    "muted": lambda source: [setattr(curve, "mute", True) for curve in fcurves_of(source)],
}
SPOILT: dict[str, tuple[Callable[[bpy.types.Object], object], str]] = {
    **{name: (spoil, "no motion") for name, spoil in STILL.items()},
    "nan": (lambda source: setattr(source.location, "x", nan), "a number that is not finite"),
    "no size": (lambda source: setattr(source, "scale", (0.0, 0.0, 0.0)), "its scale is zero"),
    "remapped": (lambda _: setattr(bpy.context.scene.render, "frame_map_new", 200), "time is remapped"),
    "wolf": (lambda _: None, "another kind of body"),
}


@pytest.mark.parametrize("case", [*OPTIONS, *SPOILT])
def test_what_cannot_be_brought_is_refused_and_changes_nothing(case: str) -> None:
    source, owner = animated("human_mixamo"), without_motion("wolf" if case == "wolf" else "human_game_engine")
    spoil, text = SPOILT.get(case) or (lambda _: None, OPTIONS[case][1])
    options = OPTIONS[case][0] if case in OPTIONS else {}
    spoil(source)
    choose(owner, source)
    assert_refused(text, "motion_transfer", **options)
    assert owner.animation_data is None or owner.animation_data.action is None


@pytest.mark.parametrize("change", ["mute", "lock"])
def test_curves_that_would_not_play_are_left(change: str) -> None:
    source, owner = animated("human_mixamo"), animated("human_game_engine")
    curve = next(curve for curve in fcurves_of(owner) if "thigh_l" in curve.data_path)
    setattr(curve, change, True)
    before = read_keys(curve).points.tobytes()
    choose(owner, source)
    assert_refused("the curve of '.*' is (muted|locked)", "motion_transfer")
    assert read_keys(curve).points.tobytes() == before


def test_a_loop_is_brought_over_the_frames_of_the_scene(owner: bpy.types.Object) -> None:
    source = animated("human_mixamo")
    for curve in fcurves_of(source):
        curve.modifiers.new("CYCLES")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, 2 * LAST
    transfer(source, owner)
    turns = [curve for curve in fcurves_of(owner) if "rotation" in curve.data_path]
    assert max(point.co[0] for curve in turns for point in curve.keyframe_points) == 2 * LAST


def test_a_bone_that_something_poses_is_named(owner: bpy.types.Object, capsys: pytest.CaptureFixture[str]) -> None:
    source = animated("human_mixamo")
    pose_bones(owner)["hand_l"].constraints.new("LIMIT_ROTATION")
    transfer(source, owner)
    assert "its constraint 'Limit Rotation' would override" in capsys.readouterr().out
    pose_bones(owner)["thigh_l"].constraints.new("LIMIT_ROTATION")
    choose(owner, source)
    assert_refused("no body bone.*'thigh_l'.*its constraint", "motion_transfer")


def test_animals_turn_their_limbs_from_their_own_stance() -> None:
    source, owner = make_character("wolf"), make_character("horse")
    thighs = [
        next(part.bones[0] for part in find_parts(one).parts if part.name == "Hind Leg.L") for one in (source, owner)
    ]
    bone = pose_bones(source)[thighs[0]]
    bone.rotation_mode = "XYZ"
    keyed(bone, {frame: (angle, 0.1, angle) for frame, angle in ((FIRST, -0.4), (LAST, 0.5))}, "rotation_euler")
    transfer(source, owner, keep_contacts=False)
    turns = []
    for one, name in zip((source, owner), thighs, strict=True):
        rest = np.array(pose_bones(one)[name].bone.matrix_local.to_3x3())
        turns.append(played(one, [name], FRAMES)[:, 0, :3, :3] @ rest.T)
    assert np.abs(turns[1] - turns[0]).max() < LOCAL
    assert np.abs(turns[1] - np.eye(3)).max() > 0.3


# Motion from one armature to another: what goes along with it, on what ground, at what rate, and by which mapping.


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


def all_joints(owner: bpy.types.Object, root: str = "") -> Frames:
    """Where all bones but a root begin, in the world."""
    return joints(owner, [bone.name for bone in pose_bones(owner) if bone.name != root])


@pytest.mark.parametrize("root", ["ROOT", "OBJECT"])
def test_what_goes_along_stays_below_the_hips_and_changes_no_pose(going: bpy.types.Object, root: str) -> None:
    owner = without_motion("human_game_engine")
    hips = find_parts(owner).body
    above = pose_bones(owner)[hips].parent_recursive[-1]
    transfer(going, owner)
    wanted, went = all_joints(owner, above.name), places(owner, hips, FRAMES)
    transfer(going, owner, root=root)
    assert np.abs(all_joints(owner, above.name) - wanted).max() < SAME * height(owner)
    rest, carried, turns = pose_bones(owner)[hips].bone.head_local, [], []
    for _ in each_frame(FRAMES):
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
    slope, profile = float(np.tan(tilt)), ((-9.0, step), (0.0, step), (0.0, 0.0), (9.0, 0.0))
    corners = [(x, y, slope * x + high) for x, high in profile for y in (-9.0, 9.0)]
    return make_ground(corners, [(0, 1, 3, 2), (2, 3, 5, 4), (4, 5, 7, 6)])


@pytest.mark.parametrize(("tilt", "step"), [(0.0, 0.1), (radians(12.0), 0.0)])
def test_feet_stand_on_the_ground_that_is_there(tilt: float, step: float, owner: bpy.types.Object) -> None:
    source = shifting()
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


def test_fingers_can_be_left_as_they_are(going: bpy.types.Object, owner: bpy.types.Object) -> None:
    fingers = {bone for part in find_parts(owner).parts if part.kind == "FINGER" for bone in part.bones}
    transfer(going, owner, fingers=False)
    keyed = {bone.name for bone in pose_bones(owner) for one in fcurves_of(owner) if f'"{bone.name}"' in one.data_path}
    assert fingers
    assert not keyed & fingers
    assert keyed - fingers


def test_what_comes_out_has_the_rate_that_is_wanted(owner: bpy.types.Object) -> None:
    source = shifting()
    transfer(source, owner)
    whole = {one.bone: (one.first, one.last) for one in contacts_of(owner)}
    other = without_motion("human_game_engine")
    transfer(source, other, rate=0.5 * bpy.context.scene.render.fps)
    for one in contacts_of(other):
        first, last = whole[one.bone]
        assert one.first == pytest.approx(1.0 + 0.5 * (first - 1.0), abs=1.0)
        assert one.last == pytest.approx(1.0 + 0.5 * (last - 1.0), abs=1.0)


def test_a_mapping_says_which_bones_are_which(going: bpy.types.Object, tmp_path: Path, owner: bpy.types.Object) -> None:
    transfer(going, owner)
    wanted = all_joints(owner)
    path, told = tmp_path / "mapping.json", mapping_text(find_parts(going))
    for new in rename_all(going).items():
        told = told.replace(f'"{new[0]}"', f'"{new[1]}"')
    path.write_text(told, encoding="utf-8")
    other = without_motion("human_game_engine")
    transfer(going, other, mapping=str(path))
    assert np.abs(all_joints(other) - wanted).max() < SAME * height(owner)


def test_a_character_keeps_the_mapping_by_which_it_was_set_up(tmp_path: Path, owner: bpy.types.Object) -> None:
    found, path = find_parts(owner), tmp_path / "mapping.json"
    path.write_text(mapping_text(found), encoding="utf-8")
    press("mapping_import", filepath=str(path))
    names = rename_all(owner)
    follow_renames(bpy.data.objects)
    wanted = {part.name: tuple(names[bone] for bone in part.bones) for part in found.parts}
    assert {part.name: part.bones for part in find_parts(owner).parts} == wanted
    with edited(owner) as bones:
        bones.remove(bones[wanted["Arm.L"][-1]])
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
        bpy.data.objects.remove(owner)  # or each frame of the next would pose it, too
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


def test_parts_that_are_not_sure_are_told_and_answered_with_sense(
    going: bpy.types.Object, unsure: list[Part[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    transfer(going, without_motion("human_game_engine"))
    names = ", ".join(part.name for part in unsure)
    assert f"these parts of '{going.name}' are not sure, a mapping tells them: {names}" in capsys.readouterr().out
    owner = without_motion("human_game_engine")
    answers = [answer(unsure[0].name, "gone", "gone", use=True)]
    with pytest.raises(RuntimeError, match="no bone 'gone'"):
        transfer(going, owner, source_parts=answers)
    assert not rig_of(going).mapping
    assert not list(fcurves_of(owner))


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
    going: bpy.types.Object, capsys: pytest.CaptureFixture[str], owner: bpy.types.Object
) -> None:
    bone = pose_bones(owner)["calf_l"]
    limit_of(bone).limit, limit_of(bone).cone_max = "CONE", radians(30.0)

    def bends() -> list[float]:
        return [read_limit(bone, IDENTITY).violation(read_rotation(bone)) for _ in each_frame(FRAMES)]

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
    transfer(going, owner)
    root = pose_bones(owner)[find_parts(owner).body].parent_recursive[-1].name
    wanted = all_joints(owner, root)
    for _ in range(2):
        transfer(going, owner, root="OBJECT")
        assert np.abs(all_joints(owner, root) - wanted).max() < SAME * height(owner)


@pytest.mark.parametrize("root", ["ROOT", "OBJECT"])
def test_a_root_that_something_else_moves_is_refused(going: bpy.types.Object, root: str) -> None:
    owner = without_motion("human_game_engine")
    bone = pose_bones(owner)[pose_bones(owner)[find_parts(owner).body].parent_recursive[-1].name]
    (bone if root == "ROOT" else owner).constraints.new("COPY_LOCATION").target = going
    with pytest.raises(RuntimeError, match="constraint"):
        transfer(going, owner, root=root)


def test_keys_of_the_object_that_stay_are_told(going: bpy.types.Object, capsys: pytest.CaptureFixture[str]) -> None:
    owner = without_motion("human_game_engine")
    transfer(going, owner, root="OBJECT")
    transfer(going, owner)
    assert "keys of its object move it, too" in capsys.readouterr().out


def test_contacts_that_find_no_ground_are_told(capsys: pytest.CaptureFixture[str], owner: bpy.types.Object) -> None:
    source = shifting()
    made_ground(0.0, 0.0).location.x = 50.0
    transfer(source, owner, ground="Ground")
    assert "no ground was found below 2 contacts" in capsys.readouterr().out


@pytest.mark.parametrize("body", ["hand_l", "thigh_l"])
def test_limbs_of_a_mapping_hang_on_its_body(tmp_path: Path, body: str, owner: bpy.types.Object) -> None:
    path = tmp_path / "mapping.json"
    path.write_text(mapping_text(replace(find_parts(owner), body=body)), encoding="utf-8")
    assert_refused("does not hang on the body", "mapping_import", filepath=str(path))


def test_a_source_is_read_as_live_posing_has_it(going: bpy.types.Object, owner: bpy.types.Object) -> None:
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
