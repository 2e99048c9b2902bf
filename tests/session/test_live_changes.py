# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing through failures, and changes that are easily missed."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.session import live
from fabrik_addon.session.drag import begin, drag_to
from mathutils import Vector

from live_rigs import curves_of, keyed, limb_on_a_bone, live_line, shown_error, update
from rigs import Bone, add_chain, channels, make_armature, make_empty, make_line


class TestFailures:
    def test_a_chain_that_fails_switches_itself_off_and_the_others_go_on(self) -> None:
        owner, chain = live_line(count=4)
        other = make_line(3)
        other.location.x = 3.0
        follower = add_chain(other, (3.2, 0.4, 1.8))
        other.fabrik.live = True
        update()
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        chain = owner.fabrik.chains[0]
        assert not chain.enabled
        assert chain.status == "REFUSED"
        assert "switched off" in chain.message
        assert "b1" in chain.message
        follower = other.fabrik.chains[0]
        follower.target.location.z = 1.5
        update()
        assert shown_error(other, follower) < 1e-4

    def test_switching_it_on_again_works(self) -> None:
        owner, _chain = live_line()
        constraint = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        owner.pose.bones["b1"].constraints.remove(constraint)
        owner.fabrik.chains[0].enabled = True
        update()
        assert owner.fabrik.chains[0].status == "REACHED"

    def test_nan_in_a_target(self) -> None:
        owner, chain = live_line()
        before = channels(owner)
        chain.target.location.x = float("nan")
        update()
        assert not owner.fabrik.chains[0].enabled
        assert channels(owner) == before

    def test_a_deleted_target_bone_or_armature(self) -> None:
        owner, chain = live_line()
        other, _ = live_line()
        bpy.data.objects.remove(chain.target)
        owner.location.x += 0.1
        update()
        assert "no target" in owner.fabrik.chains[0].message
        bpy.data.objects.remove(owner)
        update()
        bpy.context.view_layer.objects.active = other
        bpy.ops.object.mode_set(mode="EDIT")
        other.data.edit_bones.remove(other.data.edit_bones["b2"])
        bpy.ops.object.mode_set(mode="OBJECT")
        update()
        assert "no bone 'b2'" in other.fabrik.chains[0].message

    def test_renames(self) -> None:
        owner, chain = live_line()
        owner.name, chain.target.name, chain.name = "Anew", "Goal", "Limb"
        update()
        chain = owner.fabrik.chains["Limb"]
        chain.target.location.x += 0.2
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_edit_mode_and_rest_position_are_waited_for(self) -> None:
        owner, chain = live_line()
        bpy.context.view_layer.objects.active = owner
        bpy.ops.object.mode_set(mode="EDIT")
        chain.target.location.x += 0.2
        update()
        bpy.ops.object.mode_set(mode="OBJECT")
        update()
        assert owner.fabrik.chains[0].enabled
        assert shown_error(owner, owner.fabrik.chains[0]) < 1e-4
        owner.data.pose_position = "REST"
        update()
        chain = owner.fabrik.chains[0]
        chain.target.location.x -= 0.3
        update()
        owner.data.pose_position = "POSE"
        update()
        assert chain.enabled
        assert shown_error(owner, chain) < 1e-4

    def test_an_error_nobody_foresaw_switches_live_off_once(self, monkeypatch) -> None:
        owner, chain = live_line()

        def broken(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(live, "_follow", broken)
        chain.target.location.x += 0.1
        update()
        assert not owner.fabrik.live

    def test_undo_and_load(self, tmp_path) -> None:
        owner, chain = live_line()
        bpy.ops.ed.undo_push(message="before")
        chain.target.location.x = 0.6
        update()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        update()
        owner = bpy.data.objects["Rig"]
        assert shown_error(owner, owner.fabrik.chains[0]) < 1e-4
        path = str(tmp_path / "live.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        owner = bpy.data.objects["Rig"]
        chain = owner.fabrik.chains[0]
        chain.target.location.x = -0.4
        update()
        assert shown_error(owner, chain) < 1e-4


class TestWhatChangesUnheard:
    def test_a_change_between_two_frames(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.3, 0.2, 1.9))
        keyed(chain.target, 20, (0.6, 0.9, 1.5))
        scene = bpy.context.scene
        scene.frame_set(5)
        changes = (
            lambda: setattr(owner, "location", (0.3, 0, 0)),
            lambda: setattr(owner.pose.bones["b0"], "location", (0, 0.2, 0)),
            lambda: setattr(owner.pose.bones["b1"].fabrik, "limit", "HINGE"),
        )
        for frame, change in zip((7, 9, 12), changes, strict=True):
            change()
            scene.frame_set(frame)
            chain = owner.fabrik.chains[0]
            seen = channels(owner)
            bpy.ops.fabrik.solve_all()
            for mine, solved in zip(seen, channels(owner), strict=True):
                assert mine == pytest.approx(solved, abs=2e-4)

    def test_automatic_keys_make_later_frames_follow_still(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.9, 0, 1))
        keyed(chain.target, 20, (0, 0.9, 1))
        scene = bpy.context.scene
        scene.frame_set(8)
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        scene.tool_settings.use_keyframe_insert_auto = True
        chain.target.location.x -= 0.1
        update()
        scene.tool_settings.use_keyframe_insert_auto = False
        assert curves_of(owner)
        for frame in (9, 12, 16, 12):
            scene.frame_set(frame)
            assert shown_error(owner, chain) < 1e-4, frame

    def test_two_scenes_in_turn(self) -> None:
        first_scene, window = bpy.context.scene, bpy.context.window
        owner, chain = live_line()
        other_scene = bpy.data.scenes.new("Other")
        window.scene = other_scene
        other, follower = live_line()
        for scene, rig, x in ((first_scene, owner, 0.1), (other_scene, other, 0.5), (first_scene, owner, -0.3)):
            window.scene = scene
            update()
            rig.fabrik.chains[0].target.location.x = x
            update()
            assert shown_error(rig, rig.fabrik.chains[0]) < 1e-4
        assert chain
        assert follower

    def test_a_renamed_target(self) -> None:
        owner, chain = live_line()
        chain.target.name = "Anew"
        update()
        chain.target.location.y = 0.4
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_the_rig_moves_while_the_scene_is_switched_off(self) -> None:
        owner, chain = live_line()
        bpy.context.scene.fabrik_live = False
        update()
        owner.location.x = 0.3
        update()
        bpy.context.scene.fabrik_live = True
        update()
        assert shown_error(owner, chain) < 1e-4

    def test_uneven_scale_above_a_chain_that_starts_on_its_target(self) -> None:
        owner, _ = limb_on_a_bone()
        bpy.ops.fabrik.chain_remove()
        owner.pose.bones["b0"].scale = (1, 1, 1.3)
        update()
        bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=2, use_target=True)
        owner.fabrik.live = True
        update()
        chain = owner.fabrik.chains[0]
        chain.target.location += Vector((0.3, 0.4, -0.5))
        update()
        assert shown_error(owner, chain) < 3e-4

    def test_a_hidden_target_is_waited_for(self) -> None:
        owner, chain = live_line()
        chain.target.hide_viewport = True
        owner.location.x = 0.1
        update()
        assert chain.enabled
        assert "waits" in chain.message
        chain.target.hide_viewport = False
        update()
        owner.location.x = 0.2
        update()
        assert chain.status == "REACHED"
        assert shown_error(owner, chain) < 1e-4

    def test_a_bone_renamed_before_a_frame(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, 1, (0.3, 0.2, 1.9))
        keyed(chain.target, 20, (0.6, 0.9, 1.5))
        for frame in (2, 3):
            bpy.context.scene.frame_set(frame)
        owner.data.bones["b1"].name = "knee"
        bpy.context.scene.frame_set(4)
        assert owner.fabrik.live
        assert shown_error(owner, chain) < 1e-4

    def test_chains_that_a_script_left_without_names(self) -> None:
        owner = make_line(4)
        for tip, place in (("b1", (0.2, 0.4, 1.2)), ("b3", (0.4, 0.9, 2.8))):
            chain = owner.fabrik.chains.add()
            chain.tip_bone, chain.bone_count, chain.target = tip, 2, make_empty(place)
        owner.fabrik.live = True
        update()
        assert [chain.status != "NONE" for chain in owner.fabrik.chains] == [True, True]

    def test_dragging_as_a_rope_keys_nothing_before_it_ends(self) -> None:
        owner, chain = live_line()
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        drag = begin(bpy.context, owner, chain)
        drag_to(bpy.context, drag, Vector((2, 0, 2)), anchored=False)
        update()
        drag.restore()
        update()
        assert not curves_of(owner)

    def test_a_target_parented_to_a_bone_is_dragged_along(self) -> None:
        owner, chain = live_line()
        other = make_armature([Bone((5, 0, 0), (5, 0, 1))], "Other")
        target = chain.target
        target.parent, target.parent_type, target.parent_bone = other, "BONE", "b0"
        update()
        drag = begin(bpy.context, owner, chain)
        point = Vector((0.5, 0.5, 1))
        drag_to(bpy.context, drag, point, anchored=True)
        update()
        assert (target.matrix_world.translation - point).length < 1e-4
        drag.restore()
