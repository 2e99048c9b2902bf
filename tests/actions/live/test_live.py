# SPDX-License-Identifier: GPL-3.0-or-later
"""Live posing: chains follow their targets, in the same update."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import (
    add_chain,
    add_limb,
    chain_bones,
    go_live,
    go_to,
    live_line,
    make_armature,
    make_body,
    make_empty,
    make_line,
    press,
    reload,
    select,
    strand,
    update,
    with_legs_pinned,
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
        holder = make_empty((0, 0, 0), "Holder")
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

    def test_of_two_bodies_in_a_circle_only_the_arms_wait(self) -> None:
        bodies = [with_legs_pinned(make_body()) for _ in range(2)]
        bodies[1].location.x = 1.0
        for owner in bodies:
            add_limb(owner, "hand.L", 3)
        update()
        for owner, other in (bodies, bodies[::-1]):
            rig = rig_of(owner)
            rig.chains["hand.L"].target, rig.chains["hand.L"].target_bone = other, "hand.L"
            rig.live = True
        update()
        for owner in bodies:
            waiting = [chain.name for chain in rig_of(owner).chains if "wait for each other" in chain.message]
            assert (waiting, all(chain.enabled for chain in rig_of(owner).chains)) == (["hand.L"], True)
            before = evaluated_joints(owner, rig_of(owner).chains["foot.L"])
            chain = rig_of(owner).chains["foot.L"]
            chain.held_location = Vector(chain.held_location) + Vector((0.0, -0.1, 0.1))
            update()
            assert chain.status == "REACHED"
            assert (evaluated_joints(owner, chain)[1] - before[1]).length > 1e-3


class TestThrift:
    def test_nothing_is_written_when_nothing_changed(self) -> None:
        _owner, chain = live_line()
        other = make_empty((3, 3, 3), "Other")
        update()
        writes, solves = live.state.counts.writes, live.state.counts.solves
        for i in range(5):
            other.location.x = i
            update()
            chain.target.location = chain.target.location
            update()
        assert (live.state.counts.writes, live.state.counts.solves) == (writes, solves)

    def test_a_moved_target_costs_one_solve_and_its_bones(self) -> None:
        _owner, chain = live_line()
        writes, solves = live.state.counts.writes, live.state.counts.solves
        chain.target.location.x += 0.1
        update()
        assert live.state.counts.solves == solves + 1
        assert live.state.counts.writes <= writes + 3

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


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
def test_a_live_chain_has_a_status_as_soon_as_it_has_a_target(kind: str, line: bpy.types.Object) -> None:
    go_live(line)
    select(line, "b2")
    press("chain_add")
    press("target_add", kind=kind)
    assert rig_of(line).chains[0].status == "REACHED"
