# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that walks by a clip of its own, and how a walker walks as a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import acos, degrees, radians, sqrt, tan
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.frames import rate_of
from fabrik_addon.actions.motion.clips import Clip, read_clip, write_actions, write_clip
from fabrik_addon.actions.walk.clip import read_own, span_of
from fabrik_addon.actions.walk.plan import legs_now, plan_walk, what_is_old
from fabrik_addon.cli.commands import run
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait.legs import reach_of
from fabrik_addon.gait.plan import rhythm_over
from fabrik_addon.maths import Doubles, conjugates, products, turn_angles
from fabrik_addon.rig.animation.compat import fcurves_of, playing
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of

from dev.walking_rigs import FPS, go_along, make_profile
from rigs import FOX, FOX_CYCLE, empty_file, import_gltf
from support.scenes import assert_refused, make_empty, press
from support.skeletons import make_character
from support.stored import stored
from support.walks import key_way, planned, walking

HIPS, PERIOD, FIRST, LAST = "mixamorig:Hips", 26, 60, 120
SHIN = "mixamorig:LeftLeg"


def speed_of(owner: bpy.types.Object) -> float:
    """At which people of this size walk a cycle in a whole number of frames, meters a second."""
    reach = legs_now(owner)[0][0].reach
    return float((2.45 * sqrt(reach / 9.81) * FPS / PERIOD) ** 2 * sqrt(9.81 * reach))


@pytest.fixture
@stored
def clip() -> Clip:
    """One cycle of a steady walk, baked."""
    owner: Any = make_character("human_mixamo")
    press("walker_add")
    way = speed_of(owner) * (LAST - 1) / FPS / owner.matrix_world.to_scale()[0]
    key_way(owner, HIPS, lambda share: (0.0, -way * share, 0.0), (1, LAST))
    planned(owner, (1, LAST))
    press("walk_bake", into="BONES")
    found = read_clip(owner, pose_bones(owner).keys(), (FIRST, FIRST + PERIOD), only_keys=False)
    bpy.data.objects.remove(owner)
    return found


def walker(clip: Clip, speed: float = 1.0) -> Any:
    """The same character in a file of its own, which plays the clip, and goes ahead as an object."""
    owner: Any = make_character("human_mixamo")
    owner.animation_data_clear()
    write_clip(owner, clip, 1)
    owner.animation_data.action.name = "Cycle"
    press("walker_add")
    far = speed * speed_of(owner) * (LAST - 1) / FPS
    way = make_empty(name="Way")
    owner.parent = way
    go_along(way, lambda share: (0.0, -far * share, 0.0), (1, LAST))
    rig_of(owner).walker.clip, rig_of(owner).walker.gait = owner.animation_data.action, "CLIP"
    return owner


def rotations(owner: bpy.types.Object, frame: int) -> dict[str, Doubles]:
    """How the bones are turned against their parents."""
    bpy.context.scene.frame_set(frame)
    bones = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    found = {}
    for bone in bones:
        parent = bone.parent.matrix.inverted() if bone.parent else bone.matrix.Identity(4)
        rest = bone.bone.parent.matrix_local.inverted() if bone.parent else bone.matrix.Identity(4)
        found[bone.name] = np.array(
            ((rest @ bone.bone.matrix_local).inverted() @ (parent @ bone.matrix)).to_quaternion()
        )
    return found


def test_a_clip_without_skating_comes_back(clip: Clip) -> None:
    owner = walker(clip)
    assert not plan_walk(bpy.context, owner, (1, LAST)).warnings
    rig_of(owner).live = True
    plan = plan_of(owner)
    wanted = {one.bone: one.turns for one in clip.bones if one.turns is not None}
    off = {name: list[float]() for name in wanted}
    for frame in range(52, 90):  # as it goes evenly
        moment = float(rhythm_over(plan, [frame])[0][0]) % 1.0 * PERIOD
        low, found = int(moment), rotations(owner, frame)
        for name, rows in wanted.items():
            a, b = rows[low], rows[low + 1]
            turn = a + (moment - low) * ((b if a @ b > 0.0 else -b) - a)
            cosine = abs(float(turn @ found[name])) / float(np.linalg.norm(turn))
            off[name].append(degrees(2.0 * acos(min(cosine, 1.0))))
    assert max(float(np.mean(each)) for each in off.values()) <= 1.0
    assert (
        max(max(each) for each in off.values()) <= 4.0
    )  # a knee that is all but straight turns so for two millimeters
    assert max(max(off[name]) for name in off if "Leg" not in name and "Foot" not in name) <= 0.1
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}


def test_the_clip_stays_as_it_was_and_what_was_keyed_is_taken_away(clip: Clip) -> None:
    owner = walker(clip)
    action = owner.animation_data.action
    before = [(curve.data_path, curve.array_index, len(curve.keyframe_points)) for curve in fcurves_of(owner)]
    plan_walk(bpy.context, owner, (1, LAST))
    made = owner.animation_data.action
    assert made != action
    assert {curve.data_path for curve in fcurves_of(owner) if HIPS in curve.data_path} == set()
    assert not what_is_old(owner, bpy.context.scene)
    leg = rig_of(owner).chains["Leg.L"]
    assert leg.start == "ANIMATED"
    plan_walk(bpy.context, owner, (1, LAST))
    assert owner.animation_data.action == made
    press("walker_remove")
    assert not fcurves_of(owner)
    assert leg.start == "REST"
    owner.animation_data.action = action
    assert [(one.data_path, one.array_index, len(one.keyframe_points)) for one in fcurves_of(owner)] == before


def test_a_clip_that_changed_makes_the_walk_old(clip: Clip) -> None:
    owner = walker(clip)
    action = owner.animation_data.action
    plan_walk(bpy.context, owner, (1, LAST))
    made, owner.animation_data.action = owner.animation_data.action, action
    curve = next(one for one in fcurves_of(owner) if SHIN in one.data_path)
    curve.keyframe_points[3].co[1] += 0.1
    owner.animation_data.action = made
    assert what_is_old(owner, bpy.context.scene)


def test_no_clip_is_refused_and_the_action_is_played_on(clip: Clip) -> None:
    owner = walker(clip)
    action = owner.animation_data.action
    rig_of(owner).walker.clip = None
    with pytest.raises(FabrikError, match="choose the action"):
        plan_walk(bpy.context, owner, (1, LAST))
    rig_of(owner).walker.clip = action
    for curve in fcurves_of(owner):
        for point in curve.keyframe_points:
            point.co[1] = curve.keyframe_points[0].co[1]  # it stands
    actions = len(bpy.data.actions)
    with pytest.raises(FabrikError, match=r"(stands|lifts|stand|never)"):
        plan_walk(bpy.context, owner, (1, LAST))
    assert owner.animation_data.action == action
    assert len(bpy.data.actions) == actions


def test_the_command_line_walks_by_a_clip(clip: Clip, tmp_path: Path) -> None:
    owner = walker(clip)
    rig_of(owner).walker.gait = "HUMAN"
    file, told = tmp_path / "walk.blend", tmp_path / "report.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    words = ["walk", "--file", str(file), "--frames", f"1-{LAST}", "--report", str(told), "--clip"]
    assert run([*words, "Cycle"]) == 0
    report = json.loads(told.read_text(encoding="utf-8"))
    assert report["armatures"][0]["gait"] == "CLIP"
    assert report["armatures"][0]["steps"] > 4
    assert run([*words, "Nothing"]) == 2


STRIKES = {
    "Hind Leg.L": 0.69,
    "Hind Leg.R": 0.13,
    "Front Leg.L": 0.72,
    "Front Leg.R": 0.4,
}  # of the fox's cycle, by eye


def fox(share: float) -> Any:
    """A fox that plays its walk and goes ahead, at a share of the clip's own speed."""
    empty_file()
    owner: Any = import_gltf(FOX)
    press("walker_add")
    walker = rig_of(owner).walker
    walker.clip, walker.gait = owner.animation_data.action, "CLIP"
    own = read_own(owner, legs_now(owner)[0], FPS)
    cycle, reach = own.cycle.legs[0].cycle, reach_of(own.cycle.legs)
    far = share * cycle.pace * sqrt(9.81 * reach) * (LAST - 1) / FPS
    way = make_empty(name="Way")
    owner.parent = way
    go_along(way, lambda part: (0.0, -far * part, 0.0), (1, LAST))
    return owner


def test_the_contacts_of_a_clip_are_found() -> None:
    owner = fox(1.0)
    own = read_own(owner, legs_now(owner)[0], FPS)
    for leg in own.cycle.legs:
        assert abs((-leg.cycle.offset - STRIKES[leg.name] + 0.5) % 1.0 - 0.5) <= 0.05
        assert 0.35 <= leg.cycle.duty <= 0.7
    assert own.cycle.slid > 0.2


@pytest.mark.parametrize("off", [0.0, 0.02])
def test_one_stride_is_read_of_several(off: float) -> None:
    """However the strides differ a little, as those of people do."""
    owner = fox(1.0)
    walker = rig_of(owner).walker
    before = read_own(owner, legs_now(owner)[0], FPS)
    with playing(owner, walker.clip):
        clip = read_clip(owner, pose_bones(owner).keys(), span_of(owner, {*pose_bones(owner).keys()}), only_keys=False)
    count = len(before.turns["Spine_1"])
    rows = np.arange(2 * count + count // 2) % count
    random = np.random.default_rng(1)
    bones = []
    for one in clip.bones:
        turns = one.turns[rows] + off * random.normal(size=4) * (np.arange(len(rows)) / count)[:, None]
        plain = {name: values[rows] for name, values in one.plain.items()}
        bones.append(replace(one, turns=turns / np.linalg.norm(turns, axis=1)[:, None], plain=plain, contacts=None))
    long = Clip("Long", 1, len(rows), 1.0 + np.arange(len(rows), dtype=np.float64), tuple(bones))
    (walker.clip,), _ = write_actions(owner, [("Long", long)])
    after = read_own(owner, legs_now(owner)[0], FPS)
    assert abs(len(after.turns["Spine_1"]) - count) <= (1 if off else 0)
    assert after.cycle.body.pace == pytest.approx(before.cycle.body.pace, rel=0.15 if off else 0.05)
    for name, turns in after.turns.items():
        assert abs(turns[0] @ turns[-1]) > 0.9, name


def test_a_fox_that_speeds_up_goes_over_into_its_faster_clip() -> None:
    owner = fox(1.8)
    walker = rig_of(owner).walker
    owner.animation_data_clear()
    press("cycle_import", filepath=str(FOX_CYCLE))
    for curve in fcurves_of(owner.parent):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    own = read_own(owner, legs_now(owner)[0], FPS)
    assert own.cycle.body.pace == pytest.approx(0.434, abs=0.01)
    assert own.faster.cycle.body.pace == pytest.approx(2.29, abs=0.05)
    told = plan_walk(bpy.context, owner, (1, LAST))
    assert not told.warnings
    assert "all bones are keyed as in the clip" in " ".join(told.done), told
    rig_of(owner).live = True
    assert len(plan_of(owner).steps[0]) > 5
    before: dict[str, Doubles] = {}
    for frame in range(30, 80):
        found = rotations(owner, frame)
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}, frame
        for name, turn in found.items() if before else ():
            assert degrees(2.0 * acos(min(abs(float(turn @ before[name])), 1.0))) <= 60.0, (frame, name)
        before = found
    walker.fast_clip = walker.clip.copy()
    with pytest.raises(FabrikError, match="same speed"):
        plan_walk(bpy.context, owner, (1, LAST))


@pytest.mark.parametrize(("ground", "share"), [("", 1.0), ("", 0.7), ("", 1.4), ("slope", 0.7), ("stairs", 0.7)])
def test_a_fox_walks_as_in_its_clip_and_no_joint_flips(ground: str, share: float) -> None:
    """By no more than 1.7 times its fastest turn in the clip does a joint turn in a frame."""
    owner = fox(share)
    reach = reach_of(legs_now(owner)[0])
    if ground:
        rises = {
            "slope": [(6.0, 4.5 * tan(radians(20.0)))],
            "stairs": [(1.5 + 0.45 * (k // 2), 0.2 * ((k + 1) // 2)) for k in range(1, 20)],
        }
        make_profile([(x * reach, z * reach) for x, z in ((-4.0, 0.0), (1.5, 0.0), *rises[ground])])
    own = read_own(owner, legs_now(owner)[0], FPS)
    fastest = max(
        float(np.degrees(turn_angles(products(rows, conjugates(np.roll(rows, 1, axis=0))))).max())
        for rows in own.turns.values()
    )
    plan_walk(bpy.context, owner, (1, LAST))
    rig_of(owner).live = True
    before: dict[str, Doubles] = {}
    for frame in range(30, LAST):
        found = rotations(owner, frame)
        assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}, frame
        for name, turn in found.items() if before else ():
            cosine = min(abs(float(turn @ before[name])), 1.0)
            assert degrees(2.0 * acos(cosine)) <= 1.7 * fastest, (frame, name)
        before = found


def fox_that_plays() -> bpy.types.Object:
    empty_file()
    owner = import_gltf(FOX)
    press("walker_add")
    rig_of(owner).walker.clip, rig_of(owner).walker.gait = owner.animation_data.action, "CLIP"
    return owner


def read(owner: bpy.types.Object) -> Any:
    return read_own(owner, legs_now(owner)[0], rate_of(bpy.context.scene))


# at another rate stances begin between frames; hind feet of this clip slide at twice the speed of the front feet
@pytest.mark.parametrize(("rate", "off"), [(24, 1e-4), (30, 0.12), (60, 0.12)])
def test_a_cycle_by_a_clip_comes_back_on_another_character(tmp_path: Path, rate: int, off: float) -> None:
    path, owner = tmp_path / "fox.json", fox_that_plays()
    rig_of(owner).walker.bounce = 1.5
    before = read(owner)
    press("cycle_export", filepath=str(path))
    empty_file()
    bpy.context.scene.render.fps = rate
    other = import_gltf(FOX)
    plays, walker = other.animation_data.action, rig_of(other).walker
    press("walker_add")
    actions = len(bpy.data.actions)
    press("cycle_import", filepath=str(path))
    assert len(bpy.data.actions) == actions + 1
    assert other.animation_data.action == plays
    assert (walker.gait, walker.clip.name.split()[0], walker.fast_clip) == ("CLIP", plays.name.split()[0], None)
    assert walker.settings.bounce == pytest.approx(1.5)
    after = read(other)
    for leg, same in zip(before.cycle.legs, after.cycle.legs, strict=True):
        assert leg.cycle.stride == pytest.approx(same.cycle.stride, rel=off)
        assert leg.cycle.pace == pytest.approx(same.cycle.pace, rel=off)
        assert leg.cycle.duty == pytest.approx(same.cycle.duty, abs=off)
    if rate == 24:
        for name, turns in before.turns.items():
            assert turn_angles(products(turns, conjugates(after.turns[name]))).max() <= 1e-4
            assert np.allclose(before.places.get(name, 0.0), after.places.get(name, 0.0), atol=1e-5)


def test_a_cycle_of_norms_is_its_settings(tmp_path: Path) -> None:
    path, owner = tmp_path / "tired", walking("human")
    walker = rig_of(owner).walker
    walker.gait, walker.acceleration = "HUMAN", 3.0
    press("walk_style", style="TIRED")
    wanted = walker.settings
    press("cycle_export", filepath=str(path))
    walker.acceleration = 9.81
    press("walk_style", style="MARCH")
    walker.gait = "BIPED_WALK"
    press("cycle_import", filepath=f"{path}.json")
    assert walker.settings.acceleration == pytest.approx(9.81), "it is the scene's"
    walker.acceleration = 3.0
    assert walker.settings == wanted


def test_the_command_line_walks_by_a_file(tmp_path: Path) -> None:
    owner = make_character("human_mixamo")
    press("walker_add")
    rig_of(owner).walker.stride_scale = 0.7
    path, file, told = tmp_path / "short.json", tmp_path / "walk.blend", tmp_path / "report.json"
    press("cycle_export", filepath=str(path))
    rig_of(owner).walker.stride_scale = 1.0
    key_way(owner, "mixamorig:Hips", lambda share: (0.0, -2.5 * share / owner.matrix_world.to_scale()[0], 0.0), (1, 60))
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    name = owner.name
    words = ["walk", "--file", str(file), "--frames", "1-60", "--report", str(told), "--output", str(file)]
    assert run([*words, "--cycle", str(path)]) == 0
    assert rig_of(bpy.data.objects[name]).walker.stride_scale == pytest.approx(0.7)
    assert run([*words, "--cycle", str(tmp_path / "gone.json")]) == 2


def changed(change: Any) -> Any:
    def made(text: str) -> str:
        data = json.loads(text)
        change(data)
        return json.dumps(data)

    return made


def test_motion_that_a_planned_walk_does_not_follow_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    owner = walking("human")
    owner.pose.bones["forearm.L"].keyframe_insert("rotation_quaternion", frame=1)
    legs = ", ".join(chain.name for chain in rig_of(owner).chains if chain.enabled)
    press("motion_mirror", only_keys=False, span="RANGE", frame_start=1, frame_end=12)
    assert f"these chains go as their walk was planned, whatever the motion: {legs}" in capsys.readouterr().out


BROKEN: dict[str, Callable[[str], str]] = {
    "cut off": lambda text: text[:-40],
    "a list": lambda text: "[]",
    "of another version": lambda text: text.replace('"fabrik_cycle": 1', '"fabrik_cycle": 2'),
    "no rate": changed(lambda data: data.update(rate=0)),
    "a rate in words": changed(lambda data: data.update(rate="24")),
    "a stride beyond its range": changed(lambda data: data["settings"].update(stride_scale=99.0)),
    "no such gait": changed(lambda data: data["settings"].update(gait="FLY")),
    "a frame less": changed(lambda data: data["clips"][0]["bones"][3]["turns"].pop()),
    "nan": changed(lambda data: data["clips"][0]["bones"][3]["turns"][2].__setitem__(0, float("nan"))),
    "no rotation": changed(lambda data: data["clips"][0]["bones"][3]["turns"].__setitem__(2, [0, 0, 0, 0])),
    "another property": changed(
        lambda data: data["clips"][0]["bones"][3].update(plain={"hide": data["clips"][0]["bones"][3]["turns"]})
    ),
    "three clips": changed(lambda data: data.update(clips=3 * data["clips"])),
    "half a frame": changed(lambda data: data["clips"][0].update(first=0.5)),
}


def test_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    path, owner = tmp_path / "fox.json", fox_that_plays()
    press("cycle_export", filepath=str(path))
    whole = path.read_text(encoding="utf-8")
    before = rig_of(owner).walker.settings, rig_of(owner).walker.clip, [*bpy.data.actions]
    for name, broken in BROKEN.items():
        path.write_text(broken(whole), encoding="utf-8")
        assert_refused(r"(no file with a cycle|gait|stride_scale)", "cycle_import", filepath=str(path))
        assert before == (rig_of(owner).walker.settings, rig_of(owner).walker.clip, [*bpy.data.actions]), name


def test_what_can_not_be_read_or_written_is_told(tmp_path: Path) -> None:
    path, owner = tmp_path / "fox.json", fox_that_plays()
    press("cycle_export", filepath=str(path))
    assert_refused("can't be read", "cycle_import", filepath=str(tmp_path / "gone.json"))
    assert_refused("can't be written", "cycle_export", filepath=str(tmp_path / "no" / "folder.json"))
    owner.data.bones["Tail_Base"].name = "Brush"
    press("cycle_import", filepath=str(path))
    human = walking("human")
    assert_refused("none of the bones", "cycle_import", filepath=str(path))
    assert rig_of(human).walker.gait != "CLIP"
