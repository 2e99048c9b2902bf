# SPDX-License-Identifier: GPL-3.0-or-later
"""Modal tools, undo and redo on live chains, and whole poses that are laid over a live character."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.animation.compat import give_action as play
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import goals_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.judging import (
    assert_alike,
    assert_bones_stay,
    bone_matrices,
    channels,
    statuses,
    tip_error,
)
from support.scenes import (
    each_frame,
    edited,
    give_action,
    go_live,
    go_to,
    key_automatically,
    key_bones,
    live_body,
    live_line,
    make_empty,
    note_of,
    put,
    select,
    start_of,
    tool_at_work,
    turned,
    update,
)
from support.skeletons import height, set_up
from support.stored import empty_file


def dragged(owner: bpy.types.Object, tool: Tool, *shares: float) -> Quaternion:
    """Turn a bone by a modal tool, which writes at each move of the mouse; how the bone stood."""
    bone = owner.pose.bones["b1"]
    stood = bone.rotation_quaternion.copy()
    tool(7)
    for share in shares:
        bone.rotation_quaternion = stood @ Quaternion((1, 0, 0), 0.6 * share)
        update()
    return stood


def of_line(keyed: bool = False, pinned: bool = False) -> tuple[bpy.types.Object, Callable[[float], None]]:
    """A live limb, and what turns a bone of it by a share."""
    owner, chain = live_line(count=4)
    if keyed:
        key_bones(owner)
    chain.pin = pinned
    update()
    bone = owner.pose.bones["b1"]
    stood = bone.rotation_quaternion.copy()
    return owner, lambda share: put(bone, rotation_quaternion=stood @ Quaternion((1, 0, 0), 0.6 * share))


def of_body() -> tuple[bpy.types.Object, Callable[[float], None]]:
    """A live body with pinned feet, and what moves its hips by a share."""
    owner = live_body()
    hips = owner.pose.bones["hips"]
    stood = hips.location.copy()
    return owner, lambda share: put(hips, location=stood + share * Vector((0.05, 0.1, 0.0)))


MOVED: dict[str, Callable[[], tuple[bpy.types.Object, Callable[[float], None]]]] = {
    "line": of_line,
    "bones keyed": partial(of_line, keyed=True),
    "pinned": partial(of_line, pinned=True),
    "body": of_body,
}
Tool = Callable[[int], None]


class TestTools:
    """A modal tool writes at each move of the mouse, from where it began."""

    @pytest.fixture
    def tool(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        return tool_at_work(monkeypatch)

    @pytest.mark.parametrize("kind", MOVED)
    def test_many_moves_come_to_the_same_as_one(self, kind: str, tool: Tool) -> None:
        results = []
        for shares in ((1.0,), (0.2, 0.9, 0.4, 1.0)):
            empty_file()
            owner, move = MOVED[kind]()
            tool(7)
            for share in shares:
                move(share)
                update()
            tool(0)
            owner.update_tag()
            update()
            results.append(channels(owner))
            assert {chain.start for chain in rig_of(owner).chains} == {"REST" if "keyed" in kind else "CAPTURED"}
        assert results[0] == results[1]

    @pytest.mark.parametrize("kind", MOVED)
    def test_cancelling_puts_pose_and_start_pose_back(self, kind: str, tool: Tool) -> None:
        owner, move = MOVED[kind]()
        before = channels(owner)
        tool(7)
        for share in (0.2, 0.9):
            move(share)
            update()
            assert kind != "pinned" or tip_error(owner, rig_of(owner).chains[0]) < 1e-4
        tool(0)
        move(0.0)
        update()
        assert channels(owner) == before
        assert not any(chain.start != "REST" or chain.captured for chain in rig_of(owner).chains)
        assert not rig_of(owner).body_captured
        assert not note_of(owner)

    def test_the_limb_follows_under_the_mouse(self, tool: Tool) -> None:
        """What the tool wrote stands there after each of its moves, and nothing else moves."""
        owner, chain = live_line(count=4)
        goal = chain.target.location.copy()
        before = channels(owner)
        tool(7)
        for share in (0.1, 0.4, 0.9, 0.3):
            turned(owner, "b1", Quaternion((1, 0, 0), 0.6 * share))
            wanted = channels(owner)
            assert wanted[0] == before[0]
            update()
            assert_alike(channels(owner), wanted)
            assert (chain.target.location, chain.start) == (goal, "REST")
        tool(0)
        owner.update_tag()
        update()
        assert_alike(channels(owner), wanted)
        assert tip_error(owner, chain) < 1e-6

    @pytest.mark.parametrize("start", ["REST", "ANIMATED"])
    def test_automatic_keying_keys_it_when_it_ends(self, start: str, tool: Tool) -> None:
        owner, chain = live_line(count=4)
        chain.start = start
        key_automatically()
        for frame in each_frame((1, 10)):
            dragged(owner, tool, 0.2, 0.9)
            shown = channels(owner)
            owner.pose.bones["b1"].keyframe_insert("rotation_quaternion")  # as the tool itself does
            tool(0)
            owner.update_tag()
            update()
            assert_alike(channels(owner), shown)
            assert chain.start == "ANIMATED"
            assert len(fcurves_of(owner)) == 16
            go_to(5, frame)
            assert_alike(channels(owner), shown, 1e-5)
            assert tip_error(owner, chain) < 1e-4


def push(message: str) -> None:
    """Keep a state for undo as Blender does after an operator: before live posing hears of what it did."""
    live.state.paused = True
    bpy.ops.ed.undo_push(message=message)  # which lets all be evaluated first
    live.state.paused = False
    for found in bpy.data.objects:
        found.update_tag()


def _turned_with_keys(monkeypatch: pytest.MonkeyPatch) -> bpy.types.Object:
    """A live limb of which a bone was turned with automatic keying on."""
    owner, _ = live_line()
    give_action(owner)
    key_automatically()
    tool = tool_at_work(monkeypatch)
    bpy.ops.ed.undo_push(message="before")
    tool(5)
    turned(owner, "b1")
    update()
    assert not fcurves_of(owner)
    owner.pose.bones["b1"].keyframe_insert("rotation_quaternion")  # as the tool itself does
    push("turned")
    tool(0)
    owner.update_tag()
    update()
    return owner


def _move(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.location = (0.1, 0.6, 2.2)


def _turn(owner: bpy.types.Object, chain: FabrikChain) -> None:
    turned(owner, "b1")


def _turn_pinned(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target, chain.pin = None, True
    update()
    turned(owner, "b1")


def _turn_with_control_bone(owner: bpy.types.Object, chain: FabrikChain) -> None:
    with edited(owner) as bones:
        new = bones.new("goal")
        new.head, new.tail = (0.3, -0.5, 1.9), (0.3, -0.5, 2.2)
    chain.target, chain.target_bone = owner, "goal"
    update()
    turned(owner, "b1")


def datablocks() -> set[bpy.types.ID]:
    """All that the file has."""
    users: Any = bpy.data.user_map
    return {*users()}


class TestNoActionIsMade:
    """Blender kept a state for undo by then, and crashes where undo takes an action away that is not part of it."""

    @pytest.mark.parametrize("change", [_move, _turn, _turn_pinned, _turn_with_control_bone])
    def test_what_was_done_at_once(self, change: Callable[[bpy.types.Object, FabrikChain], None]) -> None:
        owner, chain = live_line(count=4)
        key_automatically()
        change(owner, chain)
        before = datablocks()
        update()
        assert datablocks() == before
        assert owner.animation_data is None

    def test_an_action_that_is_there_gets_the_keys(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        give_action(owner)
        key_automatically()
        _turn(owner, chain)
        update()
        assert len(fcurves_of(owner)) == 12
        assert "its target 'Target' has no keys" in note_of(owner), "which is no bone, and would get its action late"


class TestUndo:
    def test_redo_brings_back_what_came_of_it(self) -> None:
        """Blender keeps the state for undo before live posing hears of it."""
        owner, chain = live_line(count=4)
        bpy.ops.ed.undo_push(message="before")
        stood = channels(owner)
        turned(owner, "b1")
        push("turned")
        update()
        posed = channels(owner)
        bpy.ops.ed.undo_push(message="something else")
        for undone, expected in ((1, posed), (2, stood)):
            for _ in range(undone):
                bpy.ops.ed.undo()
                update()
            owner = bpy.data.objects["Rig"]
            assert channels(owner) == expected
            for _ in range(undone):
                bpy.ops.ed.redo()
                update()
            owner = bpy.data.objects["Rig"]
            chain = rig_of(owner).chains[0]
            assert channels(owner) == posed
            assert chain.start == "CAPTURED"

    def test_the_redo_panel(self) -> None:
        """It goes back, and does the thing again with other numbers, before anything is evaluated."""
        owner, chain = live_line(count=4)
        bpy.ops.ed.undo_push(message="before")
        turned(owner, "b1", Matrix.Rotation(0.2, 4, "X").to_quaternion())
        push("turned")
        update()
        bpy.ops.ed.undo()
        owner = bpy.data.objects["Rig"]
        wanted = turned(owner, "b1", Matrix.Rotation(0.7, 4, "X").to_quaternion())
        push("turned")
        update()
        chain = rig_of(owner).chains[0]
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
        assert tip_error(owner, chain) < 1e-4

    def test_a_pose_pasted_after_redo(self) -> None:
        owner, chain = live_line(count=4)
        select(owner, "b0", "b1", "b2", "b3")
        bpy.ops.ed.undo_push(message="before")
        turned(owner, "b1")
        update()
        posed = channels(owner)
        bpy.ops.pose.copy()
        push("turned")
        bpy.ops.pose.rot_clear("EXEC_DEFAULT", True)
        bpy.ops.ed.undo()
        update()
        bpy.ops.ed.redo()
        update()
        assert rig_of(bpy.data.objects["Rig"]).chains[0].start == "REST"
        bpy.ops.pose.paste(flipped=False)
        owner = bpy.data.objects["Rig"]
        chain = rig_of(owner).chains[0]
        assert chain.start == "CAPTURED"
        assert_alike(channels(owner), posed, 1e-4)

    def test_redo_brings_the_automatic_keys_of_the_limb_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Blender keys the bone before it keeps the state for undo, and live posing the rest of the limb after it."""
        owner = _turned_with_keys(monkeypatch)
        posed = channels(owner)
        assert len(fcurves_of(owner)) == 12
        bpy.ops.ed.undo_push(message="something else")
        bpy.ops.ed.undo()
        update()
        assert len(fcurves_of(bpy.data.objects["Rig"])) == 12
        bpy.ops.ed.undo()
        update()
        assert not fcurves_of(bpy.data.objects["Rig"])
        bpy.ops.ed.redo()
        update()
        owner = bpy.data.objects["Rig"]
        assert len(fcurves_of(owner)) == 12
        assert channels(owner) == posed
        for bone in owner.pose.bones:
            bone.keyframe_delete("rotation_quaternion")
        bpy.ops.ed.undo_push(message="keys deleted")
        bpy.ops.ed.undo()
        update()
        bpy.ops.ed.redo()
        update()
        assert not fcurves_of(bpy.data.objects["Rig"]), "what the user deleted stays deleted"


class TestWhatBlenderBuildsAnew:
    """A limb that is posed by hand in an update for which Blender builds its depsgraph anew."""

    def test_with_a_new_object(self) -> None:
        owner, chain = live_line(count=4)
        for i in range(3):
            make_empty((i, 0, 0), f"New {i}")
            wanted = turned(owner, "b1")
            update()
            assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
            owner.update_tag()
            update()
            chain.target.location.x += 0.01
            assert tip_error(owner, chain) < 1e-4


CHARACTERS = ("human_mixamo", "human_game_engine", "cmu_walk", "basic_human")
SAME, TURNED = 1e-5, 1e-4  # of the height, and radians
Channels = dict[str, tuple[float, ...]]  # rotation and location channels of bones by their names


def deforming(owner: bpy.types.Object) -> list[str]:
    """Names of the bones that are no controls."""
    return [bone.name for bone in pose_bones(owner) if bone.bone.use_deform]


def character(name: str, controls: str = "BONES", *, limited: bool = False) -> bpy.types.Object:
    """A character that was set up, live, by default without the joint limits of a human."""
    owner: bpy.types.Object = set_up(name, controls=controls)
    for bone in pose_bones(owner) if not limited else ():
        limit_of(bone).limit = "FREE"
    go_live(owner)
    return owner


def posed(owner: bpy.types.Object, seed: int) -> tuple[Channels, dict[str, Matrix]]:
    """A pose of all bones but the controls: its channels, and how it stands without goals; the character stays."""
    random, bones = Random(seed), pose_bones(owner)
    rig_of(owner).live = False
    update()
    stood, found = {bone.name: read(bone) for bone in bones}, Channels()
    for name in deforming(owner):
        bone = bones[name]
        axis = Vector([random.gauss(0, 1) for _ in range(3)]).normalized()
        turn = Quaternion(stood[name][:4]) @ Quaternion(axis, random.uniform(-0.35, 0.35))
        place = Vector(stood[name][4:])
        if name == rig_of(owner).body_bone:
            place += Vector([random.uniform(-0.1, 0.1) * bone.bone.length for _ in range(3)])
        write(bone, (*turn, *place))
        found[name] = read(bone)
    matrices = bone_matrices(owner)
    for bone in bones:
        write(bone, stood[bone.name])
    update()
    go_live(owner)
    return found, matrices


def read(bone: bpy.types.PoseBone) -> tuple[float, ...]:
    """The rotation of a bone, and its location channels."""
    return (*Quaternion(bone.matrix_basis.to_quaternion()), *Vector(bone.location))


def write(bone: bpy.types.PoseBone, values: tuple[float, ...]) -> None:
    bone.rotation_mode = "QUATERNION"
    bone.rotation_quaternion, bone.location = values[:4], values[4:]


def by_script(owner: bpy.types.Object, pose: Channels) -> None:
    for name, values in pose.items():
        write(pose_bones(owner)[name], values)


def by_asset(owner: bpy.types.Object, pose: Channels) -> None:
    """As the pose library applies an asset."""
    action, twin = bpy.data.actions.new("Pose"), owner.copy()
    bpy.context.collection.objects.link(twin)
    rig_of(twin).live = False
    play(twin.animation_data_create(), action)
    by_script(twin, pose)
    for name in pose:
        pose_bones(twin)[name].keyframe_insert("rotation_quaternion", frame=1)
        pose_bones(twin)[name].keyframe_insert("location", frame=1)
    bpy.data.objects.remove(twin)
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    update()
    owner.pose.apply_pose_from_action(action, evaluation_time=1)


def by_paste(owner: bpy.types.Object, pose: Channels) -> None:
    """Copied from another character of the same bones."""
    twin = owner.copy()
    bpy.context.collection.objects.link(twin)
    rig_of(twin).live = False
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    by_script(twin, pose)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = twin
    select(twin, *pose)
    bpy.ops.pose.copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(twin)
    bpy.context.view_layer.objects.active = owner
    select(owner, *pose)
    bpy.ops.pose.paste(flipped=False)


WAYS: dict[str, Callable[[bpy.types.Object, Channels], None]] = {
    "script": by_script,
    "asset": by_asset,
    "paste": by_paste,
}


def assert_pose(owner: bpy.types.Object, matrices: dict[str, Matrix]) -> None:
    """All bones but the controls stand as the pose has them, and stay there."""
    update()
    wanted, size = {name: matrices[name] for name in deforming(owner)}, height(owner)
    scale = owner.matrix_world.to_scale().x
    for _ in range(2):
        assert_bones_stay(owner, wanted, SAME * size / scale, TURNED)
        owner.update_tag()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
@pytest.mark.parametrize("name", CHARACTERS)
def test_the_pose_stands_and_pinned_feet_come_along(name: str, controls: str, way: str) -> None:
    owner = character(name, controls)
    pose, matrices = posed(owner, 1)
    WAYS[way](owner, pose)
    assert_pose(owner, matrices)
    asked = [chain for chain in rig_of(owner).chains if goals_of(chain)]
    assert {chain.status for chain in asked} == {"REACHED"}
    assert any(chain.pin for chain in asked)
    assert "were posed by hand, which is the start pose now" in note_of(owner)
    rig_of(owner).live = False
    bpy.ops.fabrik.solve_all()
    assert_pose(owner, matrices)


def everything(owner: bpy.types.Object) -> tuple[object, ...]:
    """What a pose and its goals consist of."""
    chains = [(tuple(one.held_location), tuple(one.rotation_offset), one.start) for one in rig_of(owner).chains]
    objects = sorted(
        (found.name, *(value for row in found.matrix_basis for value in row)) for found in bpy.data.objects
    )
    return channels(owner), chains, objects


@pytest.mark.parametrize("controls", ["BONES", "EMPTIES"])
def test_one_undo_brings_all_back_and_redo_does_it_again(controls: str) -> None:
    owner = character("human_mixamo", controls)
    pose, matrices = posed(owner, 2)
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    update()
    bpy.ops.ed.undo_push(message="before")
    before, name = everything(owner), owner.name
    by_script(owner, pose)
    live.state.paused = True
    bpy.ops.ed.undo_push(message="pose")
    live.state.paused = False
    owner.update_tag()
    assert_pose(owner, matrices)
    bpy.ops.ed.undo()
    update()
    owner = bpy.data.objects[name]
    assert everything(owner) == before
    bpy.ops.ed.redo()
    assert_pose(bpy.data.objects[name], matrices)


@pytest.mark.parametrize("has_action", [False, True])
def test_pasted_poses_that_are_keyed_by_themselves_stand_in_their_frames(has_action: bool) -> None:
    owner = character("human_mixamo")
    poses = {frame: posed(owner, frame) for frame in (1, 10)}
    if has_action:
        owner.keyframe_insert("location", frame=1)
    key_automatically()
    for frame, (pose, matrices) in poses.items():
        go_to(frame)
        by_paste(owner, pose)
        assert_pose(owner, matrices)
    keyed = {curve.data_path for curve in fcurves_of(owner)}
    for chain in rig_of(owner).chains:
        for goal in goals_of(chain):
            assert pose_bones(owner)[goal.bone].path_from_id("location") in keyed
    for frame in (10, 1, 10):
        go_to(frame)
        assert_pose(owner, poses[frame][1])


def test_a_keyed_pose_is_pasted_beside_keys_that_live_posing_goes_over() -> None:
    owner = character("human_mixamo")
    (first, stood), (pose, matrices) = posed(owner, 3), posed(owner, 4)
    by_paste(owner, first)
    update()
    key_bones(owner)
    update()
    assert {chain.start for chain in rig_of(owner).chains if goals_of(chain)} == {"CAPTURED"}
    key_automatically()
    go_to(12)
    assert_pose(owner, stood)
    by_paste(owner, pose)
    assert_pose(owner, matrices)
    go_to(1, 12)
    assert_pose(owner, matrices)


def test_controls_that_are_pasted_with_the_bones_stay_where_these_are() -> None:
    """A pose that was copied from a live character: controls and bones belong together."""
    owner = character("human_mixamo")
    for bone in pose_bones(owner):
        bone.rotation_mode = "QUATERNION"
    copied = list[Channels]()
    for seed in (5, 6):
        by_script(owner, posed(owner, seed)[0])
        update()
        copied.append({bone.name: read(bone) for bone in pose_bones(owner)})
    first, matrices = copied[0], bone_matrices(owner)
    by_script(owner, first)
    update()
    for bone in pose_bones(owner):
        assert read(bone) == pytest.approx(first[bone.name], abs=1e-5), bone.name
    by_script(owner, copied[1])
    assert_pose(owner, matrices)


def test_limits_that_stop_a_bone_are_told() -> None:
    owner = character("human_mixamo", limited=True)
    shins = [pose_bones(owner)[f"mixamorig:{side}Leg"] for side in ("Left", "Right")]
    for bone in shins:
        bone.rotation_mode = "QUATERNION"
    update()
    pose = {name: read(pose_bones(owner)[name]) for name in deforming(owner)}
    for bone in (*shins, pose_bones(owner)["mixamorig:LeftUpLeg"]):
        pose[bone.name] = (*Quaternion(pose[bone.name][:4]) @ Quaternion((0, 1, 0), 0.5), *pose[bone.name][4:])
    by_script(owner, pose)
    update()
    assert "joint limits stop 'mixamorig:LeftLeg', 'mixamorig:RightLeg'" in note_of(owner)
    assert set(statuses(owner).values()) <= {"REACHED", "NONE"}


def test_bones_of_several_limbs_turned_at_once_are_no_whole_pose() -> None:
    owner = character("human_mixamo")
    feet = [f"mixamorig:{side}Foot" for side in ("Left", "Right")]
    before = bone_matrices(owner)
    for side in ("Left", "Right"):
        bone = pose_bones(owner)[f"mixamorig:{side}UpLeg"]
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = bone.rotation_quaternion @ Quaternion((0, 1, 0), 0.2)
    found, size = bone_matrices(owner), height(owner)
    for name in feet:
        assert (found[name].translation - before[name].translation).length < 1e-4 * size
