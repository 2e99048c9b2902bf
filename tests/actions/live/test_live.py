# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow in the same update, through failures and changes that are easily missed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.actions.drag import Grip, begin, drag_to
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import assert_alike, channels, tip_error
from support.scenes import (
    Bone,
    add_chain,
    chain_bones,
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
    press,
    reload,
    select,
    strand,
    turned,
    update,
)


class TestFollowing:
    def test_a_moved_target_is_followed_in_the_same_update(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        for x in (0.1, 0.4, -0.6, 5.0, 0.2):
            chain.target.location.x = x
            update()
            assert chain.status == ("REACHED" if x < 2 else "TOO_FAR")
            assert x > 2 or tip_error(owner, chain) < 1e-4

    def test_the_armature_its_parent_and_the_bone_above_move_it(self) -> None:
        owner = make_armature(strand((0, 0, 0), (0, 0, 1), (0, 0.2, 2), (0, 0, 3), connect=False))
        chain = add_chain(owner, (0.4, 0.4, 2.4), tip="b2", count=2)
        rig_of(owner).live = True
        holder = make_empty(name="Holder")
        owner.parent = holder
        update()
        moved: tuple[tuple[Any, tuple[float, float, float]], ...] = (
            (owner, (0.2, 0.1, 0.3)),
            (holder, (0.0, -0.3, 0.1)),
            (owner.pose.bones["b0"], (0.1, 0.1, 0.2)),
        )
        for thing, place in moved:
            thing.location = place
            update()
            chain = rig_of(owner).chains[0]
            assert chain.status == "REACHED"
            assert tip_error(owner, chain) < 1e-4

    def test_changed_settings_and_limits_are_heeded(self) -> None:
        owner, _chain = live_line()
        owner.pose.bones["b1"].fabrik.limit = "LOCKED"
        owner.pose.bones["b2"].fabrik.limit = "LOCKED"
        update()
        assert rig_of(owner).chains[0].status == "BLOCKED"
        owner.pose.bones["b1"].fabrik.limit = "FREE"
        owner.pose.bones["b2"].fabrik.limit = "FREE"
        update()
        assert rig_of(owner).chains[0].status == "REACHED"
        rig_of(owner).chains[0].influence = 0.0
        update()
        assert all(bone.rotation_quaternion.angle < 1e-6 for bone in owner.pose.bones)

    def test_off_for_one_and_off_for_all(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        for switch in (owner.fabrik, bpy.context.scene):
            name = "live" if switch is not bpy.context.scene else "fabrik_live"
            setattr(switch, name, False)
            update()
            before = channels(owner)
            chain.target.location.x += 0.2
            update()
            assert channels(owner) == before
            setattr(switch, name, True)
            assert tip_error(owner, chain) < 1e-4
            assert channels(owner) != before


class TestSeveral:
    def test_two_armatures_one_hanging_on_the_other(self) -> None:
        first, lead = live_line()
        second = make_line(3)
        second.name = "Second"
        second.location = (1.5, 0, 0)
        chain = add_chain(second)
        chain.target, chain.target_bone = first, "b2"
        go_live(second)
        for x in (0.5, -0.2, 0.6):
            lead = rig_of(first).chains[0]
            lead.target.location.x = x
            depsgraph = bpy.context.evaluated_depsgraph_get()
            head = first.evaluated_get(depsgraph).pose.bones["b2"].head
            tip = second.matrix_world @ second.evaluated_get(depsgraph).pose.bones["b2"].tail
            assert rig_of(second).chains[0].status == "REACHED"
            assert (tip - head).length < 3e-4
            assert tip_error(first, lead) < 1e-4

    def test_chains_that_wait_for_each_other_come_back_by_themselves_and_others_go_on(self) -> None:
        bystander, own = live_line()
        first, _ = live_line()
        second = make_line(3)
        second.location.x = 2.0
        chain = add_chain(second)
        chain.target, chain.target_bone = first, "b2"
        rig_of(second).live = True
        before = rig_of(first).chains[0].target
        rig_of(first).chains[0].target = second
        rig_of(first).chains[0].target_bone = "b2"
        update()
        for owner in (first, second):
            assert rig_of(owner).chains[0].enabled
            assert "wait for each other" in rig_of(owner).chains[0].message
        assert own.message == ""
        own.target.location.x = -0.4
        assert tip_error(bystander, own) < 1e-4
        rig_of(first).chains[0].target, rig_of(first).chains[0].target_bone = before, ""
        update()
        assert [rig_of(owner).chains[0].message for owner in (first, second)] == ["", ""]
        assert rig_of(first).chains[0].status == "REACHED"


class TestThrift:
    def test_nothing_is_written_when_nothing_changed(self) -> None:
        _owner, chain = live_line()
        other = make_empty((3, 3, 3), "Other")
        update()
        writes, solves = live.state.writes, live.state.solves
        for i in range(5):
            other.location.x = i
            update()
            chain.target.location = chain.target.location
            update()
        assert (live.state.writes, live.state.solves) == (writes, solves)

    def test_a_moved_target_costs_one_solve_and_its_bones(self) -> None:
        _owner, chain = live_line()
        writes, solves = live.state.writes, live.state.solves
        chain.target.location.x += 0.1
        update()
        assert live.state.solves == solves + 1
        assert live.state.writes <= writes + 3

    def test_many_updates_leave_memory_level(self) -> None:
        _owner, chain = live_line()

        def run(count: int) -> None:
            for i in range(count):
                chain.target.location.x = 0.5 * (i % 7) / 7.0
                update()

        run(200)
        tracemalloc.start()
        run(20)
        before = tracemalloc.get_traced_memory()[0]
        run(1500)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 100_000


class TestAutomaticKeys:
    def test_frames_and_undo_key_nothing(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        chain.target.keyframe_insert("location", frame=1)
        chain.target.location.x += 0.3
        chain.target.keyframe_insert("location", frame=10)
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        go_to(*(2, 6, 9))
        assert not fcurves_of(owner)


class TestDependence:
    def test_a_target_driven_by_a_bone_of_another_rig(self) -> None:
        leader, _ = live_line()
        follower = make_line(3)
        follower.location.x = 3.0
        chain = add_chain(follower, (3.2, 0.4, 1.8))
        curve = chain.target.driver_add("location", 1)
        variable = curve.driver.variables.new()
        variable.type = "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].bone_target = leader, "b1"
        variable.targets[0].transform_type, variable.targets[0].transform_space = "ROT_X", "LOCAL_SPACE"
        curve.driver.expression = variable.name
        go_live(follower)
        for y in (0.2, -0.9, 0.6):
            rig_of(leader).chains[0].target.location.y = y
            update()
            assert tip_error(follower, rig_of(follower).chains[0]) < 1e-4


def test_a_file_that_is_opened_shows_live_limbs_not_their_keys(tmp_path: Path) -> None:
    owner, chain = live_line()
    for bone in chain_bones(owner, chain):
        bone.keyframe_insert("rotation_quaternion", frame=1)
    chain.target.location.x -= 0.5
    assert tip_error(owner, chain) < 1e-4
    reload(tmp_path)
    update()
    owner = bpy.data.objects["Rig"]
    assert tip_error(owner, rig_of(owner).chains[0]) < 1e-4
    rig_of(owner).chains[0].target.location.x = -0.4
    assert tip_error(owner, rig_of(owner).chains[0]) < 1e-4


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
def test_a_live_chain_has_a_status_as_soon_as_it_has_a_target(kind: str, line: bpy.types.Object) -> None:
    go_live(line)
    select(line, "b2")
    press("chain_add")
    press("target_add", kind=kind)
    assert rig_of(line).chains[0].status == "REACHED"


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

    def test_a_target_parented_to_a_bone_is_dragged_along(self, owner: bpy.types.Object, chain: FabrikChain) -> None:
        other = make_armature([Bone((5, 0, 0), (5, 0, 1))], "Other")
        target = chain.target
        target.parent, target.parent_type, target.parent_bone = other, "BONE", "b0"
        update()
        drag = begin(bpy.context, owner, Grip.tip_of(chain))
        point = Vector((0.5, 0.5, 1))
        drag_to(bpy.context, drag, point, anchored=True)
        update()
        assert (target.matrix_world.translation - point).length < 1e-4
        assert tip_error(owner, chain) < 1e-4
        drag.restore()
