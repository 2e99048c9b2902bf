# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing through failures, and changes that are easily missed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
from fabrik_addon.actions.drag import Taken, begin, drag_to
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Vector

from support.judging import assert_alike, channels, tip_error
from support.scenes import (
    Bone,
    add_chain,
    each_frame,
    give_action,
    go_live,
    go_to,
    keyed,
    live_line,
    make_armature,
    make_empty,
    make_line,
    make_rig,
    reload,
    turned,
    update,
)


class TestFailures:
    def test_a_chain_that_fails_switches_itself_off_and_the_others_go_on(self) -> None:
        owner, chain = live_line(count=4)
        other = make_line(3)
        other.location.x = 3.0
        follower = add_chain(other, (3.2, 0.4, 1.8))
        go_live(other)
        owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        chain = owner.fabrik.chains[0]
        assert not chain.enabled
        assert chain.status == "REFUSED"
        assert "switched off" in chain.message
        assert "b1" in chain.message
        follower = other.fabrik.chains[0]
        follower.target.location.z = 1.5
        assert tip_error(other, follower) < 1e-4

    def test_switching_it_on_again_works(self) -> None:
        owner, _chain = live_line()
        constraint = owner.pose.bones["b1"].constraints.new("COPY_ROTATION")
        update()
        owner.pose.bones["b1"].constraints.remove(constraint)
        owner.fabrik.chains[0].enabled = True
        update()
        assert owner.fabrik.chains[0].status == "REACHED"

    def test_nan_in_a_target(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        before = channels(owner)
        chain.target.location.x = float("nan")
        update()
        assert not owner.fabrik.chains[0].enabled
        assert channels(owner) == before

    def test_a_deleted_target_bone_or_armature(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        other, _ = live_line()
        bpy.data.objects.remove(chain.target)
        owner.location.x += 0.1
        update()
        assert "its target 'Target' was deleted" in owner.fabrik.chains[0].message
        bpy.data.objects.remove(owner)
        update()
        bpy.context.view_layer.objects.active = other
        bpy.ops.object.mode_set(mode="EDIT")
        other.data.edit_bones.remove(other.data.edit_bones["b2"])
        bpy.ops.object.mode_set(mode="OBJECT")
        assert "no bone 'b2'" in other.fabrik.chains[0].message

    def test_edit_mode_and_rest_position_are_waited_for(self) -> None:
        owner, chain = live_line()
        bpy.context.view_layer.objects.active = owner
        bpy.ops.object.mode_set(mode="EDIT")
        chain.target.location.x += 0.2
        bpy.ops.object.mode_set(mode="OBJECT")
        assert owner.fabrik.chains[0].enabled
        assert tip_error(owner, owner.fabrik.chains[0]) < 1e-4
        owner.data.pose_position = "REST"
        update()
        chain = owner.fabrik.chains[0]
        chain.target.location.x -= 0.3
        update()
        owner.data.pose_position = "POSE"
        update()
        assert chain.enabled
        assert tip_error(owner, chain) < 1e-4

    def test_undo_and_load(self, tmp_path: Path) -> None:
        owner, chain = live_line()
        bpy.ops.ed.undo_push(message="before")
        chain.target.location.x = 0.6
        update()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        update()
        owner = bpy.data.objects["Rig"]
        assert tip_error(owner, owner.fabrik.chains[0]) < 1e-4
        reload(tmp_path)
        owner = bpy.data.objects["Rig"]
        chain = owner.fabrik.chains[0]
        chain.target.location.x = -0.4
        assert tip_error(owner, chain) < 1e-4


def _in_edit_mode(change: Callable[[bpy.types.Object], None]) -> Callable[[bpy.types.Object], None]:
    def changed(owner: bpy.types.Object) -> None:
        bpy.context.view_layer.objects.active = owner
        bpy.ops.object.mode_set(mode="EDIT")
        change(owner)
        bpy.ops.object.mode_set(mode="OBJECT")

    return changed


def _add_bone(owner: bpy.types.Object) -> None:
    bone = owner.data.edit_bones.new("a")
    bone.head, bone.tail = (8, 0, 0), (8, 0, 1)
    owner.data.edit_bones["b0"].parent = bone


def _exchange_bones(owner: bpy.types.Object) -> None:
    """As many bones as before, in another order."""
    owner.data.edit_bones.remove(owner.data.edit_bones["b0"])
    bone = owner.data.edit_bones.new("z")
    bone.head, bone.tail = (8, 0, 0), (8, 0, 1)


UNHEARD: dict[str, Callable[[bpy.types.Object], object]] = {
    "target removed": lambda owner: bpy.data.objects.remove(owner.fabrik.chains[0].target),
    "armature removed": lambda owner: bpy.data.batch_remove([owner]),
    "armature renamed": lambda owner: setattr(owner, "name", "Anew"),
    "action removed": lambda owner: bpy.data.actions.remove(owner.fabrik.chains[0].target.animation_data.action),
    "target keyed elsewhere": lambda owner: keyed(owner.fabrik.chains[0].target, {4: (0.1, 0.8, 1.2)}),
    "target parented": lambda owner: setattr(owner.fabrik.chains[0].target, "parent", make_empty((0.1, 0.1, 0.1))),
    "chain removed": lambda owner: owner.fabrik.chains.remove(0),
    "chains moved": lambda owner: owner.fabrik.chains.move(0, 1),
    "chains cleared": lambda owner: owner.fabrik.chains.clear(),
    "bone added": _in_edit_mode(_add_bone),
    "bones exchanged": _in_edit_mode(_exchange_bones),
    "bone renamed": lambda owner: setattr(owner.data.bones["b1"], "name", "knee"),
    "in edit mode": _in_edit_mode(lambda owner: None),
    "tip scaled": lambda owner: setattr(owner.pose.bones["b2"], "scale", (1.3, 1.3, 1.3)),
    "bone longer": _in_edit_mode(lambda owner: setattr(owner.data.edit_bones["b2"], "tail", (0, 0.2, 2.4))),
    "collection excluded and back": lambda owner: (
        setattr(bpy.context.view_layer, "name", "Anew"),
        bpy.context.scene.collection.children.link(bpy.data.collections.new("More")),
    ),
}


class TestWhatChangesUnheard:
    def test_a_change_between_two_frames(self) -> None:
        owner, chain = live_line()
        keyed(chain.target, {1: (0.3, 0.2, 1.9), 20: (0.6, 0.9, 1.5)})
        scene = bpy.context.scene
        scene.frame_set(5)
        changes: tuple[Callable[[], object], ...] = (
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
            assert_alike(seen, channels(owner), 2e-4)

    def test_automatic_keys_make_later_frames_follow_still(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        keyed(chain.target, {1: (0.9, 0, 1), 20: (0, 0.9, 1)})
        scene = bpy.context.scene
        scene.frame_set(8)
        give_action(owner)
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        scene.tool_settings.use_keyframe_insert_auto = True
        turned(owner, "b1")
        update()
        scene.tool_settings.use_keyframe_insert_auto = False
        assert fcurves_of(owner)
        for frame in each_frame((9, 12, 16, 12)):
            assert tip_error(owner, chain) < 1e-4, frame

    def test_two_scenes_in_turn(self) -> None:
        first_scene, window = bpy.context.scene, bpy.context.window
        owner, _ = live_line()
        other_scene = bpy.data.scenes.new("Other")
        window.scene = other_scene
        other, _ = live_line()
        for scene, rig, x in ((first_scene, owner, 0.1), (other_scene, other, 0.5), (first_scene, owner, -0.3)):
            window.scene = scene
            update()
            rig.fabrik.chains[0].target.location.x = x
            assert tip_error(rig, rig.fabrik.chains[0]) < 1e-4

    def test_the_rig_moves_while_the_scene_is_switched_off(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.context.scene.fabrik_live = False
        update()
        owner.location.x = 0.3
        update()
        bpy.context.scene.fabrik_live = True
        assert tip_error(owner, chain) < 1e-4

    def test_uneven_scale_above_a_chain_that_starts_on_its_target(self) -> None:
        owner, _ = make_rig("limb on a bone")
        bpy.ops.fabrik.chain_remove()
        owner.pose.bones["b0"].scale = (1, 1, 1.3)
        bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=2, use_target=True)
        go_live(owner)
        chain = owner.fabrik.chains[0]
        chain.target.location += Vector((0.3, 0.4, -0.5))
        assert tip_error(owner, chain) < 3e-4

    @pytest.mark.parametrize("name", sorted(UNHEARD))
    def test_what_a_script_does_before_a_frame(self, name: str) -> None:
        """Nobody hears of it before the frame is to be posed, when references may be stale."""
        bystander, _ = live_line()
        owner = make_armature(
            [
                *(Bone((0, 0, -1), (0, 0, 0)), Bone((0, 0, 0), (0, 0.2, 1))),
                *(Bone((0, 0.2, 1), (0, 0, 2), connect=True), Bone((5, 0, 0), (5, 0.2, 1), parent=None)),
                Bone((5, 0.2, 1), (5, 0, 2), connect=True),
            ]
        )
        chain, second = (add_chain(owner, (x, 0.5, 1.0), tip=tip, count=2) for x, tip in ((0.5, "b2"), (5.5, "b4")))
        chain, second = owner.fabrik.chains
        owner.fabrik.live = True
        for found in (bystander.fabrik.chains[0], chain, second):
            place = found.target.location.copy()
            keyed(found.target, {1: place, 20: place + Vector((-0.3, 0.2, 0.1))})
        update()
        go_to(*(2, 3))
        UNHEARD[name](owner)
        go_to(*(4, 5))
        rigs = [rig for rig in bpy.data.objects if rig.type == "ARMATURE"]
        assert bystander in rigs
        for rig in rigs:
            assert rig.fabrik.live
            for left in rig.fabrik.chains:
                assert left.status == "REFUSED" if left.target is None else tip_error(rig, left) < 1e-4, left.name

    def test_chains_that_a_script_left_without_names(self) -> None:
        owner = make_line(4)
        for tip, place in (("b1", (0.2, 0.4, 1.2)), ("b3", (0.4, 0.9, 2.8))):
            chain = owner.fabrik.chains.add()
            chain.tip_bone, chain.bone_count, chain.target = tip, 2, make_empty(place)
        go_live(owner)
        assert [chain.status != "NONE" for chain in owner.fabrik.chains] == [True, True]

    def test_dragging_as_a_rope_keys_nothing_before_it_ends(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        bpy.context.preferences.edit.use_keyframe_insert_available = False
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        drag_to(bpy.context, drag, Vector((2, 0, 2)), anchored=False)
        update()
        drag.restore()
        update()
        assert not fcurves_of(owner)

    def test_a_target_parented_to_a_bone_is_dragged_along(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        other = make_armature([Bone((5, 0, 0), (5, 0, 1))], "Other")
        target = chain.target
        target.parent, target.parent_type, target.parent_bone = other, "BONE", "b0"
        update()
        drag = begin(bpy.context, owner, Taken.tip_of(chain))
        point = Vector((0.5, 0.5, 1))
        drag_to(bpy.context, drag, point, anchored=True)
        update()
        assert (target.matrix_world.translation - point).length < 1e-4
        drag.restore()
