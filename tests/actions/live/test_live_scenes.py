# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing where there are several scenes, view layers, windows and users of one rig."""

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

from support.judging import channels, tip_error
from support.scenes import each_frame, go_live, keyed, live_line, note_of, turned, update


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
        posed, writes = channels(owner), live.state.counts.writes
        for layer in layers * 2:
            layer.update()
        assert channels(owner) == posed
        assert live.state.counts.writes == writes

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
