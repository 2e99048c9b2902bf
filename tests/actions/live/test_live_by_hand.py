# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing beside the user's hand: poses, modal tools, undo, redo and the redo panel."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.maths import distance
from fabrik_addon.overlay.hover import notices
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import (
    TURN,
    add_chain,
    go_live,
    hand_of,
    keyed,
    live_line,
    make_empty,
    make_line,
    select,
    start_of,
    tool_at_work,
    turned,
    update,
)


def _limit(owner: bpy.types.Object, chain: FabrikChain) -> None:
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -0.6, 0.6


HELD: dict[str, Callable[[bpy.types.Object, FabrikChain], object]] = {
    "reached": lambda _, chain: setattr(chain.target, "location", (0.6, 0.9, 2.6)),
    "with a pole": lambda _, chain: setattr(chain, "pole", make_empty((0.5, -5, 1), "Pole")),
    "too far": lambda _, chain: setattr(chain.target, "location", (1, 1, 9)),
    "limits": _limit,
    "blocked": lambda owner, chain: (_limit(owner, chain), setattr(chain.target, "location", (0, 0, 0.5))),
}


class TestBecomesTheStartPose:
    def test_a_turned_bone_is_kept_and_the_tip_stays_at_its_target(self) -> None:
        owner, chain = live_line(count=4)
        before = evaluated_joints(owner, chain)
        wanted = turned(owner, "b1")
        update()
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
        assert tip_error(owner, chain) < 1e-4
        assert max(distance(a, b) for a, b in zip(before, evaluated_joints(owner, chain), strict=True)) > 0.05
        hand = hand_of(owner, chain)
        assert hand is not None
        assert hand.bones == ["b1"]
        assert not hand.reason

    def test_a_bone_turned_by_nothing_worth_moves_nothing(self) -> None:
        """The new start pose is the pose that stood, so the limb does not fall back to its rest pose's solution."""
        owner, chain = live_line(count=4)
        chain.target.location = (0.6, 0.9, 2.6)
        update()
        before = evaluated_joints(owner, chain)
        turned(owner, "b2", Quaternion((1.0, 0.0, 0.0), 1e-4))
        update()
        assert chain.start == "CAPTURED"
        assert max(distance(a, b) for a, b in zip(before, evaluated_joints(owner, chain), strict=True)) < 5e-4

    @pytest.mark.parametrize("name", sorted(HELD))
    def test_little_by_little(self, name: str) -> None:
        """However a limb stands, a little turn moves it a little: nothing jumps."""
        owner, chain = live_line(count=4)
        HELD[name](owner, chain)
        update()
        before = evaluated_joints(owner, chain)
        for i in range(3):
            turned(owner, "b1", Quaternion((1.0, 0.3, 0.2), 2e-4))
            update()
            found = evaluated_joints(owner, chain)
            assert max(distance(a, b) for a, b in zip(before, found, strict=True)) < 2e-3 * (i + 1)
            assert chain.start == "CAPTURED"

    def test_solving_again_stays(self) -> None:
        owner, chain = live_line(count=4)
        turned(owner, "b1")
        update()
        posed = channels(owner)
        for place in ((0.1, 0.1, 2.0), chain.target.location.copy()):
            chain.target.location = place
            update()
        assert channels(owner) == posed
        rig_of(owner).live = False
        bpy.ops.fabrik.solve_all()
        assert channels(owner) == posed

    @pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE"])
    def test_in_every_rotation_mode(self, mode: str) -> None:
        owner, chain = live_line(count=4)
        for bone in owner.pose.bones:
            bone.rotation_mode = mode
        update()
        assert chain.start == "REST"
        bone = owner.pose.bones["b1"]
        bone.matrix_basis = bone.matrix_basis @ TURN.to_matrix().to_4x4()
        wanted = bone.matrix_basis.to_quaternion()
        update()
        assert chain.start == "CAPTURED"
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-5
        assert tip_error(owner, chain) < 1e-4

    def test_of_two_chains_only_the_one_that_was_touched(self) -> None:
        owner, chain = live_line()
        other, follower = live_line()
        turned(owner, "b1")
        update()
        assert (chain.start, follower.start) == ("CAPTURED", "REST")
        assert hand_of(other, follower) is None

    def test_it_is_no_longer_told_once_the_target_moves(self) -> None:
        owner, chain = live_line()
        turned(owner, "b1")
        update()
        assert hand_of(owner, chain) is not None
        chain.target.location.x += 0.1
        update()
        assert hand_of(owner, chain) is None
        assert chain.start == "CAPTURED"


def _key_target(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed(chain.target, {1: chain.target.location.copy()})
    keyed(chain.target, {20: (0.6, 0.9, 1.5)})
    bpy.context.scene.frame_set(1)


def _key_bones(owner: bpy.types.Object, chain: FabrikChain) -> None:
    for frame in (1, 20):
        owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=frame)


def _carry(owner: bpy.types.Object, chain: FabrikChain) -> None:
    holder = make_empty((0, 0, 0), "Holder")
    keyed(holder, {1: (0, 0, 0)})
    keyed(holder, {20: (0, 0, 1)})
    owner.parent = holder
    bpy.context.scene.frame_set(1)


REFUSED: dict[str, tuple[Callable[[bpy.types.Object, FabrikChain], object], str]] = {
    "switched off": (lambda owner, _: setattr(rig_of(owner), "auto_capture", False), "Automatic Capture is off"),
    "target animated": (_key_target, "animated"),
    "bones keyed": (_key_bones, "keyed"),
    "carried": (_carry, "animated"),
    "influence": (lambda _, chain: setattr(chain, "influence", 0.5), "influence"),
    "starts from keys": (lambda _, chain: setattr(chain, "start", "ANIMATED"), "not keyed"),
}


class TestIsPutBack:
    @pytest.mark.parametrize("name", sorted(REFUSED))
    def test_with_a_reason_and_no_frame_moves(self, name: str) -> None:
        owner, chain = live_line(count=4)
        change, reason = REFUSED[name]
        change(owner, chain)
        update()
        before, start = channels(owner), chain.start
        wanted = turned(owner, "b1")
        update()
        assert channels(owner) == before
        assert chain.start == start
        hand = hand_of(owner, chain)
        assert hand is not None
        assert hand.bones == ["b1"]
        assert reason in hand.reason
        assert Quaternion(hand.wanted["b1"]).rotation_difference(wanted).angle < 1e-6

    @pytest.mark.parametrize("name", sorted(REFUSED))
    def test_the_button_makes_it_the_start_pose_after_all(self, name: str) -> None:
        owner, chain = live_line(count=4)
        REFUSED[name][0](owner, chain)
        update()
        wanted = turned(owner, "b1")
        update()
        select(owner, "b0")
        assert bpy.ops.fabrik.hand_pose_keep(chain=chain.name) == {"FINISHED"}
        update()
        by_keys = name in {"bones keyed", "starts from keys"}
        assert chain.start == ("ANIMATED" if by_keys else "CAPTURED")
        assert bool(fcurves_of(owner)) == by_keys
        assert start_of(chain, "b1").rotation_difference(wanted).angle < 1e-6
        assert chain.influence < 1.0 or tip_error(owner, chain) < 1e-4
        assert hand_of(owner, chain) is None
        posed = channels(owner)
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(1)
        assert channels(owner) == posed

    def test_static_parents_and_keys_of_other_limbs_do_not_count(self) -> None:
        owner, chain = live_line()
        holder = make_empty((0, 0, 0), "Holder")
        owner.parent = holder
        other = make_line(2)
        keyed(other.pose.bones["b1"], {1: (0, 0, 0)})
        update()
        turned(owner, "b1")
        update()
        assert chain.start == "CAPTURED"

    def test_a_button_without_anything_done_by_hand(self) -> None:
        owner, chain = live_line()
        select(owner, "b0")
        with pytest.raises(RuntimeError, match="by hand"):
            bpy.ops.fabrik.hand_pose_keep(chain=chain.name)
        turned(owner, "b1")
        update()
        with pytest.raises(RuntimeError, match="there is no chain 'gone'"):
            bpy.ops.fabrik.hand_pose_keep(chain="gone")

    def test_the_button_is_undone_in_one_step(self) -> None:
        owner, chain = live_line(count=4)
        rig_of(owner).auto_capture = False
        turned(owner, "b1")
        update()
        select(owner, "b0")
        bpy.ops.ed.undo_push(message="before")
        stood = channels(owner)
        bpy.ops.fabrik.hand_pose_keep("EXEC_DEFAULT", True, chain=chain.name)
        update()
        posed = channels(owner)
        assert posed != stood
        bpy.ops.ed.undo()
        update()
        owner = bpy.data.objects["Rig"]
        assert (channels(owner), rig_of(owner).chains[0].start) == (stood, "REST")
        bpy.ops.ed.redo()
        update()
        owner = bpy.data.objects["Rig"]
        assert (channels(owner), rig_of(owner).chains[0].start) == (posed, "CAPTURED")

    def test_it_is_told_until_the_next_frame(self) -> None:
        owner, chain = live_line()
        rig_of(owner).auto_capture = False
        assert not notices()
        turned(owner, "b1")
        update()
        (text,) = notices()
        assert text.startswith("b2: 'b1' was posed by hand, and live posing put it back: Automatic Capture is off")
        bpy.context.scene.frame_set(3)
        assert hand_of(owner, chain) is None
        assert not notices()


class TestIsNotByHand:
    def test_keys_that_play(self) -> None:
        owner, chain = live_line()
        for frame, angle in ((1, 0.0), (20, 1.0)):
            owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), angle)
            owner.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=frame)
        for frame in (3, 7, 3):
            bpy.context.scene.frame_set(frame)
            owner.animation_data.action.update_tag()
            owner.update_tag(refresh={"TIME"})
            update()
            assert hand_of(owner, chain) is None
            assert tip_error(owner, chain) < 1e-4

    def test_buttons_of_the_extension(self) -> None:
        owner, chain = live_line()
        select(owner, "b0", "b1", "b2")
        buttons: tuple[Callable[[], object], ...] = (
            lambda: bpy.ops.fabrik.start_pose_reset(use_pose=True),
            bpy.ops.fabrik.solve,
            bpy.ops.fabrik.solve_all,
        )
        for button in buttons:
            button()
            update()
            assert chain.start == "REST"
            assert hand_of(owner, chain) is None

    def test_what_a_script_captures_itself(self) -> None:
        owner, chain = live_line()
        bpy.ops.fabrik.start_pose_capture()
        chain.captured["b1"].rotation = TURN
        owner.pose.bones["b1"].rotation_quaternion = TURN
        update()
        assert hand_of(owner, chain) is None
        assert start_of(chain, "b1").rotation_difference(TURN).angle < 1e-6

    def test_a_change_of_the_rotation_mode(self) -> None:
        owner, chain = live_line()
        for bone in owner.pose.bones:
            bone.rotation_mode = "XYZ"
        update()
        assert chain.start == "REST"

    def test_moving_the_armature_and_what_carries_it(self) -> None:
        owner, chain = live_line()
        owner.location.x = 0.2
        update()
        owner.pose.bones["b0"].location.y = 0.1
        update()
        assert chain.start == "REST"
        assert tip_error(owner, chain) < 1e-4

    def test_a_channel_that_is_not_finite_is_put_right(self) -> None:
        owner, chain = live_line()
        owner.pose.bones["b1"].rotation_quaternion.w = float("nan")
        update()
        assert rig_of(owner).live
        assert chain.start == "REST"

    def test_shared_bones(self) -> None:
        owner = make_line(4)
        add_chain(owner, (0.4, 1.0, 2.4), tip="b3", count=4)
        add_chain(owner, (0.6, 0.6, 1.5), tip="b2", count=3)
        go_live(owner)
        for x in (0.1, 0.7):
            owner.location.x = x
            update()
            assert [chain.start for chain in rig_of(owner).chains] == ["REST", "REST"]


def dragged(owner: bpy.types.Object, tool: Callable[[int, bool], None], *shares: float) -> Quaternion:
    """Turn a bone by a modal tool, which writes at each move of the mouse; how the bone stood."""
    bone = owner.pose.bones["b1"]
    stood = bone.rotation_quaternion.copy()
    tool(7, True)
    for share in shares:
        bone.rotation_quaternion = stood @ Quaternion((1, 0, 0), 0.6 * share)
        update()
    return stood


class TestTools:
    """A modal tool writes at each move of the mouse, from where it began."""

    @pytest.fixture
    def tool(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
        return tool_at_work(monkeypatch)

    def test_many_moves_come_to_the_same_as_one(self, tool: Callable[[int, bool], None]) -> None:
        results = []
        for steps in ((1.0,), (0.2, 0.9, 0.4, 1.0)):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            owner, chain = live_line(count=4)
            dragged(owner, tool, *steps)
            tool(0, True)
            owner.update_tag()
            update()
            results.append(channels(owner))
            assert chain.start == "CAPTURED"
        assert results[0] == results[1]

    def test_cancelling_puts_pose_and_start_pose_back(self, tool: Callable[[int, bool], None]) -> None:
        owner, chain = live_line(count=4)
        before = channels(owner)
        stood = dragged(owner, tool, 0.2, 0.9)
        tool(0, False)
        owner.pose.bones["b1"].rotation_quaternion = stood
        update()
        assert channels(owner) == before
        assert chain.start == "REST"
        assert not chain.captured
        assert hand_of(owner, chain) is None

    @pytest.mark.parametrize("start", ["REST", "ANIMATED"])
    def test_automatic_keying_keys_it_when_it_ends(self, start: str, tool: Callable[[int, bool], None]) -> None:
        owner, chain = live_line(count=4)
        chain.start = start
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        dragged(owner, tool, 0.2, 0.9)
        shown = channels(owner)
        assert not fcurves_of(owner)
        tool(0, True)
        owner.update_tag()
        update()
        assert channels(owner) == shown
        assert len(fcurves_of(owner)) == 16
        bpy.context.scene.frame_set(5)
        bpy.context.scene.frame_set(1)
        for mine, theirs in zip(channels(owner), shown, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)
        assert tip_error(owner, chain) < 1e-4


def push(message: str) -> None:
    """Keep a state for undo as Blender does after an operator: before live posing hears of what it did."""
    live.state.paused = True
    bpy.ops.ed.undo_push(message=message)  # which lets all be evaluated first
    live.state.paused = False
    for found in bpy.data.objects:
        found.update_tag()


def _moved_with_keys(is_dragged: bool, monkeypatch: pytest.MonkeyPatch) -> bpy.types.Object:
    """A live limb whose target was moved with automatic keying on, by a tool that drags it or at once."""
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    owner, chain = live_line()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    tool = [0]
    for module in (live.user_edits, live.update, live.autokey):
        monkeypatch.setattr(module, "tool_of", lambda _: tool[0])
    bpy.ops.ed.undo_push(message="before")
    tool[0] = 5 if is_dragged else 0
    chain.target.location = (0.1, 0.6, 2.2)
    if is_dragged:
        update()
        assert not fcurves_of(owner)
    chain.target.keyframe_insert("location")
    push("moved")
    tool[0] = 0
    owner.update_tag()
    update()
    return owner


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
        update()
        bpy.ops.ed.undo()
        update()
        bpy.ops.ed.redo()
        update()
        assert rig_of(bpy.data.objects["Rig"]).chains[0].start == "REST"
        bpy.ops.pose.paste(flipped=False)
        update()
        owner = bpy.data.objects["Rig"]
        chain = rig_of(owner).chains[0]
        assert chain.start == "CAPTURED"
        for mine, theirs in zip(channels(owner), posed, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-4)

    @pytest.mark.parametrize("is_dragged", [True, False])
    def test_redo_brings_the_automatic_keys_of_the_limb_back(
        self, is_dragged: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Blender keys the target before it keeps the state for undo, and live posing the limb after it."""
        owner = _moved_with_keys(is_dragged, monkeypatch)
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
        assert owner.fabrik_unkeyed == ""
        for bone in owner.pose.bones:
            bone.keyframe_delete("rotation_quaternion")
        bpy.ops.ed.undo_push(message="keys deleted")
        bpy.ops.ed.undo()
        update()
        bpy.ops.ed.redo()
        update()
        assert not fcurves_of(bpy.data.objects["Rig"]), "what the user deleted stays deleted"
