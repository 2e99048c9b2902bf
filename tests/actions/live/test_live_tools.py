# SPDX-License-Identifier: GPL-3.0-or-later
"""Modal tools, undo, redo and the redo panel on bones and goals of live chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import assert_alike, assert_channels, channels, tip_error
from support.scenes import (
    each_frame,
    edited,
    give_action,
    go_to,
    key_automatically,
    key_bones,
    live_line,
    make_empty,
    note_of,
    select,
    start_of,
    tool_at_work,
    turned,
    update,
)


def dragged(owner: bpy.types.Object, tool: Callable[[int], None], *shares: float) -> Quaternion:
    """Turn a bone by a modal tool, which writes at each move of the mouse; how the bone stood."""
    bone = owner.pose.bones["b1"]
    stood = bone.rotation_quaternion.copy()
    tool(7)
    for share in shares:
        bone.rotation_quaternion = stood @ Quaternion((1, 0, 0), 0.6 * share)
        update()
    return stood


class TestTools:
    """A modal tool writes at each move of the mouse, from where it began."""

    @pytest.fixture
    def tool(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        return tool_at_work(monkeypatch)

    def test_many_moves_come_to_the_same_as_one(self, tool: Callable[[int], None]) -> None:
        results = []
        for steps in ((1.0,), (0.2, 0.9, 0.4, 1.0)):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            owner, chain = live_line(count=4)
            dragged(owner, tool, *steps)
            tool(0)
            owner.update_tag()
            update()
            results.append(channels(owner))
            assert chain.start == "CAPTURED"
        assert results[0] == results[1]

    def test_cancelling_puts_pose_and_start_pose_back(self, tool: Callable[[int], None]) -> None:
        owner, chain = live_line(count=4)
        before = channels(owner)
        stood = dragged(owner, tool, 0.2, 0.9)
        tool(0)
        owner.pose.bones["b1"].rotation_quaternion = stood
        update()
        assert channels(owner) == before
        assert chain.start == "REST"
        assert not chain.captured
        assert not note_of(owner)

    def test_the_limb_follows_under_the_mouse(self, tool: Callable[[int], None]) -> None:
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

    @pytest.mark.parametrize("kind", ["bones keyed", "pinned"])
    def test_cancelling_of_others(self, kind: str, tool: Callable[[int], None]) -> None:
        owner, chain = live_line(count=4)
        if kind == "bones keyed":
            key_bones(owner)
        chain.pin = kind == "pinned"
        update()
        before = channels(owner)
        stood = dragged(owner, tool, 0.2, 0.9)
        if kind == "pinned":
            assert tip_error(owner, chain) < 1e-4
        tool(0)
        owner.pose.bones["b1"].rotation_quaternion = stood
        update()
        assert channels(owner) == before
        assert not note_of(owner)

    @pytest.mark.parametrize("start", ["REST", "ANIMATED"])
    def test_automatic_keying_keys_it_when_it_ends(self, start: str, tool: Callable[[int], None]) -> None:
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
        assert_channels(owner, posed, 1e-4)

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

    def test_with_undo_and_redo(self) -> None:
        owner, _ = live_line(count=4)
        bpy.ops.ed.undo_push(message="before")
        turned(owner, "b1")
        push("turned")
        update()
        posed = channels(owner)
        for _ in range(3):
            for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
                step()
                update()
                owner = bpy.data.objects["Rig"]
                owner.update_tag()
                update()
            assert_channels(owner, posed, 1e-6)
