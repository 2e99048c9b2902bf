# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing over frames, and in several scenes, view layers and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.actions.live import update as live_update
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import (
    HELD,
    assert_feet_hold,
    by_button,
    channels,
    evaluated_joints,
    off_target,
    statuses,
    stored_channels,
    tip_error,
)
from support.scenes import (
    add_chain,
    add_skin,
    chain_bones,
    each_frame,
    go_live,
    key_bones,
    key_scale,
    keyed,
    keyed_turns,
    live_line,
    make_empty,
    make_rig,
    many_limbs,
    note_of,
    turned,
    update,
)

Rig = tuple[bpy.types.Object, FabrikChain]


class TestFrames:
    def animated(self, *, keyed_bones: bool = False) -> tuple[bpy.types.Object, FabrikChain]:
        owner, chain = live_line()
        for frame, x in ((1, -0.5), (20, 0.7)):
            chain.target.location.x = x
            chain.target.keyframe_insert("location", frame=frame)
            if keyed_bones:
                owner.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=frame)
        update()
        return owner, chain

    def test_subframes(self) -> None:
        owner, chain = self.animated()
        bpy.context.scene.frame_set(4, subframe=0.5)
        assert tip_error(owner, chain) < 1e-4

    @pytest.mark.parametrize("moves", [False, True])
    def test_an_influence_over_keys_is_taken_once_where_a_frame_moves_nothing(self, moves: bool) -> None:
        owner = make_rig("fork")[0]
        chain = add_chain(owner, (1.5, 0.4, 1.5), tip="b3", count=2)
        chain.influence, chain.start = 0.5, "ANIMATED"
        key_bones(owner, "b2", "b3")
        keyed(chain.target, {1: (1.5, 0.4, 1.5), 3: (1.2, -0.5, 2.8) if moves else (1.5, 0.4, 1.5)})
        wanted = by_button(owner, (1, 2, 3, 4))
        go_live(owner)
        for frame in each_frame((1, 2, 3, 4, 4, 3, 3, 1, 2)):
            assert stored_channels(owner) == wanted[frame]

    @pytest.mark.parametrize("is_keyed", [False, True])
    def test_a_chain_that_keys_switch_off_stands_as_at_no_influence(self, is_keyed: bool) -> None:
        owner = make_rig("fork")[0]
        chain = add_chain(owner, (1.5, 0.4, 1.7), tip="b3", count=2)
        keyed(chain.target, {1: (1.5, 0.4, 1.7), 20: (1.3, -0.4, 2.4)})
        if is_keyed:
            keyed_turns(owner.pose.bones["b3"], {1: 0.3, 20: -0.3})
        for frame, value in ((1, True), (8, False), (14, True)):
            chain.enabled = value
            owner.keyframe_insert("fabrik_chains[0].enabled", frame=frame)
        bpy.context.scene.frame_set(1)
        go_live(owner)
        found = []
        for frame in each_frame((5, 10, 18, 10, 2, 10)):
            if frame == 10:
                found.append(channels(owner))
            else:
                assert tip_error(owner, chain) < 1e-4
        assert found[0] == found[1] == found[2]
        turns = [bone.rotation_quaternion.angle for bone in chain_bones(owner, chain)]
        assert turns[0] == pytest.approx(0.0, abs=1e-6)
        assert (turns[1] > 0.01) == is_keyed

    def test_a_constraint_whose_influence_is_keyed_is_heard_in_each_frame(self) -> None:
        owner = make_rig("fork")[0]
        chain = add_chain(owner, (1.5, 0.4, 1.7), tip="b3", count=2)
        keyed(chain.target, {1: (1.5, 0.4, 1.7), 20: (1.3, -0.4, 2.2)})
        rig_of(owner).body_bone = "b0"
        follows: Any = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        follows.target, follows.mix_mode = make_empty(name="Lead"), "ADD"
        keyed(follows, {1: 0.0, 20: 1.0}, "influence")
        keyed_turns(owner.pose.bones["b0"], {1: 0.0, 20: 0.4})
        bpy.context.scene.frame_set(1)
        go_live(owner)
        bpy.context.scene.frame_set(10)
        told, before = (chain.status, chain.message, chain.enabled), channels(owner)
        owner.update_tag()
        update()
        assert (chain.status, chain.message, chain.enabled) == told
        assert channels(owner) == before

    def test_a_target_that_moves_alone_is_solved_before_the_frame_is_evaluated(self) -> None:
        owner, chain = self.animated()
        bpy.context.scene.frame_set(3)
        solved, ahead = live.state.solves, []
        seen: Any = bpy.app.handlers.frame_change_post
        seen.insert(0, lambda scene, depsgraph: ahead.append(live.state.solves))
        try:
            bpy.context.scene.frame_set(4)
        finally:
            seen.pop(0)
        assert ahead == [solved + 1]
        assert live.state.solves == solved + 1
        assert tip_error(owner, chain) < 1e-4

    @pytest.mark.parametrize("keyed_bones", [False, True])
    def test_what_hangs_on_the_bones_moves_with_them(self, keyed_bones: bool) -> None:
        owner, chain = self.animated(keyed_bones=keyed_bones)
        carried = make_empty(name="Carried")
        carried.parent, carried.parent_type, carried.parent_bone = owner, "BONE", "b2"
        skin = add_skin(owner, [owner.data.bones["b2"].tail_local], [], {"b2": [0]})
        for _ in each_frame((4, 11, 5, 18)):
            tip = evaluated_joints(owner, chain)[-1]
            depsgraph = bpy.context.evaluated_depsgraph_get()
            assert (carried.evaluated_get(depsgraph).matrix_world.translation - tip).length < 1e-5
            assert (skin.evaluated_get(depsgraph).data.vertices[0].co - tip).length < 1e-5
            assert tip_error(owner, chain) < 1e-4

    def test_a_target_that_is_disabled_in_some_frames_is_waited_for(self) -> None:
        owner, chain = self.animated()
        keyed(chain.target, {1: False, 8: True, 12: False}, "hide_viewport")
        update()
        for frame in each_frame((5, 8, 10, 12, 15, 9, 3)):
            assert chain.enabled
            if 8 <= frame < 12:
                assert "live posing waits" in chain.message
            else:
                assert chain.status == "REACHED"
                assert tip_error(owner, chain) < 1e-4


class TestScaleOfZero:
    """An armature that pops in, or shrinks to nothing, waits meanwhile and goes on as if nothing had been."""

    @pytest.mark.parametrize("who", ["armature", "its parent"])
    def test_frames_with_scale_0_are_waited_out(self, who: str, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed(chain.target, {1: (-0.5, 0.2, 1.5), 20: (0.7, 0.2, 1.5)})
        if who == "its parent":
            owner.parent = make_empty(name="Parent")
        update()
        scene, wanted = bpy.context.scene, dict[int, list[tuple[float, ...]]]()
        for frame in each_frame(range(1, 13)):
            wanted[frame] = channels(owner)
        key_scale(owner.parent or owner, {1: 0.0, 3: 1.0, 6: 0.0, 9: 1.0})
        update()
        for frame in (*range(1, 13), 7, 4, 6, 9, 1, 2, 3):
            stood = channels(owner)
            scene.frame_set(frame)
            assert owner.fabrik.live
            assert chain.enabled
            if frame in {1, 2, 6, 7, 8}:
                assert chain.status == "REFUSED"
                assert channels(owner) == stood
            else:
                assert chain.status == "REACHED"
                for seen, own in zip(channels(owner), wanted[frame], strict=True):
                    assert seen == pytest.approx(own, abs=1e-6)

    def test_a_body(self, reaching: bpy.types.Object) -> None:
        key_scale(reaching, {1: 1.0, 5: 0.0, 9: 1.0})
        for frame in each_frame((2, 5, 6, 9, 7, 3)):
            if 5 <= frame < 9:
                assert set(statuses(reaching).values()) == {"REFUSED"}
            else:
                assert set(statuses(reaching).values()) == {"REACHED"}
                assert_feet_hold(reaching)
                assert off_target(reaching, "hand.L") <= HELD

    @pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (float("nan"), 1.0, 1.0)])
    def test_by_hand_in_one_frame_others_go_on(self, scale: tuple[float, float, float]) -> None:
        owner, chain = live_line()
        other, others = live_line((0.1, 0.4, 2.1))
        owner.scale = scale
        chain.target.location.x += 0.1
        others.target.location.x += 0.1
        update()
        assert (owner.fabrik.live, chain.enabled, chain.status) == (True, True, "REFUSED")
        assert "live posing waits" in chain.message
        assert others.status == "REACHED"
        assert tip_error(other, others) < 1e-4
        owner.scale = (1.0, 1.0, 1.0)
        update()
        assert chain.status == "REACHED"
        assert tip_error(owner, chain) < 1e-4


class TestThrift:
    """What is known of a chain is kept from frame to frame."""

    @pytest.fixture(params=["others keyed", "starts from keys", "far away", "object moves", "parent turns"])
    def played(self, request: pytest.FixtureRequest) -> Rig:
        owner, chain = make_rig("limb on a bone")
        away = Vector((3e4, -2e4, 1e4)) if request.param == "far away" else Vector()
        owner.location = away
        keyed(chain.target, {1: Vector((0.5, 0.5, 1.0)) + away, 40: Vector((-0.4, 0.6, 1.1)) + away})
        for frame in (1, 40):
            bone = owner.pose.bones[{"others keyed": "b3", "starts from keys": "b2"}.get(request.param, "b0")]
            if request.param in {"others keyed", "starts from keys", "parent turns"}:
                bone.rotation_quaternion = (1.0, 0.003 * frame, 0.0, 0.0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            if request.param == "object moves":
                keyed(owner, {frame: (0.005 * frame, 0.0, 0.0)})
        if request.param == "starts from keys":
            chain.start = "ANIMATED"
        go_live(owner)
        bpy.context.scene.frame_set(2)
        return owner, chain

    def test_many_chains_are_looked_at_together(self) -> None:
        owner, scene = many_limbs(18), bpy.context.scene
        for chain in owner.fabrik.chains:
            place = chain.target.location.copy()
            keyed(chain.target, {1: place, 20: place + Vector((0.2, -0.6, 0.1))})
        update()
        scene.frame_set(2)
        reads, solves = live.state.reads, live.state.solves
        for _ in each_frame(range(3, 13)):
            assert max(tip_error(owner, chain) for chain in owner.fabrik.chains) < 1e-4
        assert (live.state.reads, live.state.solves) == (reads, solves + 10 * 18)
        owner.pose.bones["b7"].scale = (1.2, 1.2, 1.2)  # heard of only when the frame is evaluated
        scene.frame_set(13)
        scene.frame_set(14)
        assert max(tip_error(owner, chain) for chain in owner.fabrik.chains) < 1e-4

    def test_frames_read_no_chain_anew_and_solve_it_once(self, played: Rig) -> None:
        owner, chain = played
        reads, solves = live.state.reads, live.state.solves
        for _ in each_frame(range(3, 33)):
            assert tip_error(owner, chain) < (2e-2 if owner.location.x > 1e4 else 1e-4)
        assert live.state.reads == reads
        assert live.state.solves == solves + 30


class TestBackgroundSets:
    @staticmethod
    def shown_as_set() -> tuple[bpy.types.Object, FabrikChain, Any]:
        """A live rig, and another scene in the window of which its own is the background."""
        owner, chain = live_line()
        own: Any = bpy.context.scene
        other = bpy.data.scenes.new("Shot")
        other.background_set = own
        bpy.context.window.scene = other
        update()
        return owner, chain, own

    def test_a_target_that_moves(self) -> None:
        owner, chain, _ = self.shown_as_set()
        for x in (0.1, -0.4, 0.5):
            chain.target.location.x = x
            update()
            assert chain.status == "REACHED"
            assert tip_error(owner, chain) < 3e-4

    def test_frames(self) -> None:
        owner, chain, own = self.shown_as_set()
        keyed(chain.target, {1: (0.3, 0.2, 1.9), 20: (0.6, 0.9, 1.5)})
        update()
        seen: dict[int, list[tuple[float, ...]]] = {}
        for frame in each_frame((4, 11, 4, 17, 11)):
            assert tip_error(owner, chain) < 3e-4
            assert seen.setdefault(frame, channels(owner)) == channels(owner)
        bpy.context.window.scene = own
        own.frame_set(11)
        assert channels(owner) == seen[11]

    def test_of_a_set_of_the_set(self) -> None:
        owner, chain, _ = self.shown_as_set()
        third = bpy.data.scenes.new("Third")
        third.background_set = bpy.context.scene
        bpy.context.window.scene = third
        update()
        chain.target.location.x = -0.5
        assert tip_error(owner, chain) < 3e-4

    @pytest.mark.parametrize("how", ["by the switch of its own scene", "as no set any more"])
    def test_it_is_left_alone(self, how: str) -> None:
        owner, chain, own = self.shown_as_set()
        if how == "as no set any more":
            bpy.context.scene.background_set = None
        else:
            own.fabrik_live = False
        update()
        before = channels(owner)
        chain.target.location.x = -0.5
        update()
        assert channels(owner) == before


class TestTwoWindows:
    """Each shows another scene, and both have the rig: each evaluates it in turn."""

    @staticmethod
    def shared() -> tuple[bpy.types.Object, FabrikChain, list[Any]]:
        owner, chain = live_line(count=4)
        other = bpy.data.scenes.new("Other")
        for found in (owner, chain.target):
            other.collection.objects.link(found)
        layers = [bpy.context.scene.view_layers[0], other.view_layers[0]]
        for scene in (other, bpy.data.scenes["Scene"]):
            bpy.context.window.scene = scene
            owner.update_tag()  # what is not tagged is not evaluated
            for layer in layers:
                layer.update()
        assert live.state.others.keys() | {live.state.scene} >= {"Scene", "Other"}
        return owner, chain, layers

    @pytest.mark.parametrize("is_first", [True, False])
    @pytest.mark.parametrize("captures", [True, False])
    def test_what_is_done_by_hand_is_heard(self, is_first: bool, captures: bool) -> None:
        owner, chain, layers = self.shared()
        rig_of(owner).auto_capture = captures
        for layer in layers * 2:
            layer.update()
        assert chain.start == "REST"
        stood = channels(owner)
        turned(owner, "b1")
        for layer in (layers if is_first else layers[::-1]) * 2:
            layer.update()
        assert chain.start == ("CAPTURED" if captures else "REST")
        assert channels(owner) != stood
        assert note_of(owner)
        posed, writes = channels(owner), live.state.writes
        for layer in layers * 2:
            layer.update()
        assert channels(owner) == posed
        assert live.state.writes == writes

    def test_scenes_at_different_frames_are_nobodys_hand(self) -> None:
        owner, chain, layers = self.shared()
        keyed(chain.target, {1: (0.3, -0.5, 1.9), 20: (0.6, 0.9, 2.5)})
        bpy.data.scenes["Other"].frame_set(15)
        for _ in each_frame((2, 3, 9)):
            for layer in layers * 2:
                owner.update_tag()
                layer.update()
            assert chain.start == "REST"
            assert not note_of(owner)

    def test_a_scene_that_is_gone(self) -> None:
        owner, chain, layers = self.shared()
        bpy.data.scenes.remove(bpy.data.scenes["Other"])
        chain.target.location.x = 0.1
        layers[0].update()
        assert tip_error(owner, chain) < 1e-4


class TestOneArmatureFails:
    @pytest.mark.parametrize("kind", [ZeroDivisionError, TypeError, KeyError, ReferenceError])
    def test_the_others_go_on_and_the_panel_says_which(
        self, kind: type[Exception], monkeypatch: pytest.MonkeyPatch, owner: bpy.types.Object, chain: FabrikChain
    ) -> None:
        other, follower = live_line()
        chain.name = "Fails"
        update()
        right = live_update.follow

        def wrong(known: Any, *rest: Any) -> None:
            if chain.name in known.names:
                raise kind("by design")
            right(known, *rest)

        monkeypatch.setattr(live_update, "follow", wrong)
        monkeypatch.setattr(live_update, "read_anew", self.failing(live_update.read_anew, owner, kind))
        chain.target.location.x = -0.4
        follower.target.location.x = -0.4
        update()
        assert not rig_of(owner).live
        assert rig_of(other).live
        assert tip_error(other, follower) < 1e-4
        assert chain.status == "REFUSED"
        assert kind.__name__ in chain.message
        assert "switched off" in chain.message

    @staticmethod
    def failing(right: Callable[..., Any], owner: bpy.types.Object, kind: type[Exception]) -> Callable[..., Any]:
        def read_anew(rig: Any, *rest: Any) -> Any:
            if rig.owner == owner:
                raise kind("by design")
            return right(rig, *rest)

        return read_anew

    def test_switched_on_again_it_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        owner, chain = live_line()
        with monkeypatch.context() as broken:
            broken.setattr(live_update, "read_anew", self.failing(live_update.read_anew, owner, ZeroDivisionError))
            owner.location.x = 0.1
            update()
        assert not rig_of(owner).live
        go_live(owner)
        assert chain.status == "REACHED"
        assert tip_error(owner, chain) < 1e-4


class TestManyUsers:
    def test_a_duplicated_character_follows_too(self) -> None:
        owner, chain = live_line()
        bpy.ops.object.select_all(action="DESELECT")
        owner.select_set(True)
        bpy.context.view_layer.objects.active = owner
        bpy.ops.object.duplicate()
        copy = bpy.context.object
        update()
        assert copy != owner
        assert rig_of(copy).live
        chain = rig_of(owner).chains[0]
        chain.target.location.x = -0.3
        assert tip_error(owner, chain) < 1e-4
        assert tip_error(copy, rig_of(copy).chains[0]) < 1e-4
        copy.pose.bones["b1"].rotation_quaternion @= Vector((1.0, 0.0, 0.0)).rotation_difference((0.8, 0.6, 0.0))
        update()
        assert (rig_of(copy).chains[0].start, chain.start) == ("CAPTURED", "REST")

    def test_two_view_layers(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        scene, window = bpy.context.scene, bpy.context.window
        first = window.view_layer
        second = scene.view_layers.new("Second")
        for layer, x in ((second, 0.1), (first, -0.3), (second, 0.5)):
            window.view_layer = layer
            update()
            chain.target.location.x = x
            assert tip_error(owner, chain) < 1e-4
            assert chain.start == "REST"

    def test_hidden_and_excluded_collections(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        more = bpy.data.collections.new("More")
        bpy.context.scene.collection.children.link(more)
        for found in (owner, chain.target):
            more.objects.link(found)
            bpy.context.scene.collection.objects.unlink(found)
        layer = bpy.context.view_layer.layer_collection.children["More"]
        for switch in ("exclude", "hide_viewport"):
            setattr(layer, switch, True)
            chain.target.location.x += 0.1
            update()
            bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
            assert rig_of(owner).live
            setattr(layer, switch, False)
            owner.update_tag()
            update()
            assert chain.enabled
            assert tip_error(owner, chain) < 1e-4

    def test_an_action_is_exchanged(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed(owner.pose.bones["b1"], {1: 0.1, 20: 0.6}, "rotation_quaternion.x")
        bpy.context.scene.frame_set(1)
        first = owner.animation_data.action
        owner.animation_data.action = None
        assert tip_error(owner, chain) < 1e-4
        owner.animation_data.action = first
        bpy.context.scene.frame_set(7)
        assert tip_error(owner, chain) < 1e-4
        assert live.overwriting_keys(owner) == [chain.name]
        assert chain.start == "REST"
        chain.start = "ANIMATED"
        update()
        assert live.overwriting_keys(owner) == []
        assert fcurves_of(owner)
