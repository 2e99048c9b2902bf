# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are solved together, baked: the body bone's location, pins over time, rotations, and one answer."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.rig.channels import read_values
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.properties import FabrikChain, rig_of
from fabrik_addon.rig.rotations import q4
from fabrik_addon.session.bake import BakeResult, BakeSettings, bake
from fabrik_addon.session.bake.result import WORDS
from fabrik_addon.session.pose import solve_items
from mathutils import Euler, Vector

from bake_rigs import frames_gone_to, keyed_line
from body_rigs import HEIGHT, add_limb, effector, make_body, tip_turn, turned, update, with_legs_pinned
from rigs import chain_bones, make_empty

FRAMES = tuple(range(1, 13))
HELD = 1e-4 * HEIGHT
HELD_TURN = 1e-3  # radians
ULPS = 4.0  # units in the last place of a channel, or of a one where the channel is smaller
Channels = dict[str, list[float]]


def keyed_target(chain: FabrikChain, places: dict[int, tuple[float, float, float]]) -> None:
    for frame, place in places.items():
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)


def squatting(mode: str = "QUATERNION") -> bpy.types.Object:
    """Pinned feet, hips that sink, and a hand that reaches."""
    owner = with_legs_pinned(make_body(mode))
    hips = add_limb(owner, "hips", 1, target=(0, 0, 0.95))
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
    keyed_target(hips, {1: (0, 0, 0.95), 12: (0.05, -0.05, 0.75)})
    keyed_target(hand, {1: (0.5, -0.3, 1.2), 6: (0.5, -0.5, 1.4), 12: (0.2, -0.7, 0.9)})
    return owner


def items_of(owner: bpy.types.Object) -> list[tuple[bpy.types.Object, FabrikChain]]:
    return [(owner, chain) for chain in rig_of(owner).chains]


def run(owner: bpy.types.Object, **settings: Any) -> BakeResult:
    return bake(bpy.context, items_of(owner), BakeSettings(**{"frames": FRAMES, **settings}))


def seen(owner: bpy.types.Object) -> Channels:
    """All channels as they are stored."""
    return {bone.name: [*read_values(bone), *bone.location, *bone.scale] for bone in owner.pose.bones}


def by_button(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        solve_items(bpy.context, items_of(owner))
        found[frame] = seen(owner)
    return found


def as_played(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = seen(owner)
    return found


def live(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    rig_of(owner).live = True
    found = as_played(owner, frames)
    rig_of(owner).live = False
    return found


def assert_same(found: dict[int, Channels], wanted: dict[int, Channels]) -> None:
    """Equal but for rounding and the sign of a quaternion."""
    for frame, bones in wanted.items():
        for name, values in bones.items():
            a, b = np.array(found[frame][name]), np.array(values)
            signed = b.copy()
            signed[:4] *= -1.0 if len(b) == 10 else 1.0
            unit = np.spacing(np.maximum(np.abs(a), 1.0).astype(np.float32))
            off = min(float((np.abs(a - other) / unit).max()) for other in (b, signed))
            assert off <= ULPS, (frame, name, found[frame][name], values)


def assert_feet_hold(owner: bpy.types.Object) -> None:
    for side in (".L", ".R"):
        chain = rig_of(owner).chains[f"foot{side}"]
        assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
        assert turned(tip_turn(owner, chain), q4(chain.held_rotation)) <= HELD_TURN


def shuffled(frames: Iterable[int]) -> list[int]:
    found = list(frames)
    Random(3).shuffle(found)
    return found


class TestSquat:
    @pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
    def test_feet_and_goals_hold_in_every_frame(self, mode: str) -> None:
        owner = squatting(mode)
        result = run(owner)
        assert result.all_reached
        for found in result.chains:
            assert found.worst_tip_error is not None
            assert found.worst_tip_error[0] < 1e-4
            assert found.worst_violation < 1e-5
        for frame in shuffled(FRAMES):
            bpy.context.scene.frame_set(frame)
            assert_feet_hold(owner)
            for name in ("hips", "hand.L"):
                chain = rig_of(owner).chains[name]
                assert (effector(owner, chain) - chain.target.location).length <= HELD

    def test_the_body_bone_gets_location_keys_and_no_other_bone_does(self) -> None:
        owner = squatting()
        run(owner)
        located = [curve for curve in fcurves_of(owner) if curve.data_path.endswith(".location")]
        assert {curve.data_path for curve in located} == {'pose.bones["hips"].location'}
        assert {len(curve.keyframe_points) for curve in located} == {len(FRAMES)}
        assert all(not chain.enabled for chain in rig_of(owner).chains)

    @pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
    def test_button_and_bake_give_the_same_in_any_order_of_frames(self, mode: str) -> None:
        owner = squatting(mode)
        wanted = by_button(owner, FRAMES)
        assert_same(by_button(owner, shuffled(FRAMES)), wanted)
        run(owner)
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)

    def test_live_gives_the_same(self) -> None:
        owner = squatting()
        wanted = by_button(owner, FRAMES)
        assert_same(live(owner, shuffled(FRAMES)), wanted)

    def test_no_frame_is_gone_to_where_curves_tell_all(self) -> None:
        owner = squatting()
        with frames_gone_to() as visited:
            run(owner, verify="NONE")
        assert len(visited) == 1
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            assert_feet_hold(owner)

    def test_one_chain_takes_the_others_along_and_says_so(self) -> None:
        owner = squatting()
        hand = rig_of(owner).chains["hand.L"]
        result = bake(bpy.context, [(owner, hand)], BakeSettings(FRAMES))
        assert [found.chain for found in result.chains] == ["hand.L", "foot.L", "foot.R", "hips"]
        assert result.chains[0].together == ["foot.L", "foot.R", "hips"]
        assert not any(chain.enabled for chain in rig_of(owner).chains)
        assert all(chain.is_baked for chain in rig_of(owner).chains)

    def test_frames_that_are_solved_in_rows_end_as_by_button(self) -> None:
        owner = squatting()
        hand = rig_of(owner).chains["hand.L"]
        keyed_target(hand, {1: (0.5, -0.3, 1.2), 6: (1.5, -1.5, 1.4), 12: (0.2, -0.7, 0.9)})
        hand.orientation, hand.held_rotation, hand.soft = "KEEP", (0.2, 0.9, 0.1, 0.4), 0.02
        wanted = {}
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            wanted[frame] = {one.chain: one for one in solve_items(bpy.context, items_of(owner))}
        for found in run(owner, verify="NONE").chains:
            length = sum(bone.length for bone in chain_bones(owner, rig_of(owner).chains[found.chain]))
            for k, frame in enumerate(FRAMES):
                outcome = wanted[frame][found.chain]
                assert WORDS[found.status[k]] == outcome.status
                assert found.residuals[k] * length == pytest.approx(outcome.residual, abs=1e-6)
                assert found.turns[k] == pytest.approx(outcome.turn_residual, abs=1e-6)
                assert found.softened[k] * length == pytest.approx(outcome.softened, abs=1e-6)

    def test_soft_reach_is_not_taken_for_something_that_moves_the_tip(self) -> None:
        owner, chain = keyed_line()
        chain.soft = 0.05
        keyed_target(chain, {1: (0.3, 0.3, 2.4), 10: (0, 0.2, 3.05), 20: (0.3, 0.3, 2.0)})
        (found,) = bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES)).chains
        assert found.all_reached
        assert found.softened.max() > 0.005
        assert found.worst_tip_error is not None
        assert found.worst_tip_error[0] < 1e-4

    @pytest.mark.parametrize("into", ["NEW_ACTION", "NLA"])
    def test_into_other_actions(self, into: str) -> None:
        owner = squatting()
        wanted = by_button(owner, FRAMES)
        run(owner, into=into)
        assert_same(as_played(owner, FRAMES), wanted)

    @pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
    def test_keys_are_left_out_within_the_bound(self, interpolation: str) -> None:
        owner = squatting()
        every = sum(found.keys for found in run(owner, stays_enabled=True).chains)
        owner.animation_data_clear()
        result = run(owner, clean_up=0.02, interpolation=interpolation)
        assert result.all_reached
        assert sum(found.keys for found in result.chains) < 0.6 * every
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            for side in (".L", ".R"):
                chain = rig_of(owner).chains[f"foot{side}"]
                assert (effector(owner, chain) - Vector(chain.held_location)).length <= 0.02 * 4 * HEIGHT

    def test_a_broken_off_bake_leaves_pose_and_keys(self) -> None:
        owner = squatting()
        owner.pose.bones["hips"].location = (0.1, 0.2, 0.3)
        before = seen(owner)
        target = rig_of(owner).chains["hand.L"].target
        target.constraints.new("COPY_LOCATION").target = leader = make_empty((0, 0, 1), "Leader")
        for frame, value in ((1, 0.0), (9, 0.0), (10, float("nan"))):
            leader.location.x = value
            leader.keyframe_insert("location", frame=frame)
        with pytest.raises(Exception, match="in frame"):
            run(owner)
        assert seen(owner) == before
        assert owner.animation_data is None or not fcurves_of(owner)


class TestOverTime:
    def test_a_foot_is_planted_and_free_by_keys_on_its_pin(self) -> None:
        owner = squatting()
        foot = rig_of(owner).chains["foot.L"]
        index = list(rig_of(owner).chains).index(foot)
        for frame, value in ((1, True), (5, False), (9, True)):
            foot.pin = value
            owner.keyframe_insert(f"fabrik_chains[{index}].pin", frame=frame)
        wanted = by_button(owner, FRAMES)
        assert_same(by_button(owner, shuffled(FRAMES)), wanted)
        assert_same(live(owner, shuffled(FRAMES)), wanted)
        result = run(owner)
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)
        assert result.all_reached

    def test_a_pin_is_moved_by_keys(self) -> None:
        owner = squatting()
        foot = rig_of(owner).chains["foot.L"]
        index = list(rig_of(owner).chains).index(foot)
        for frame, x in ((1, 0.1), (12, 0.2)):
            foot.held_location[0] = x
            owner.keyframe_insert(f"fabrik_chains[{index}].held_location", index=0, frame=frame)
        wanted = by_button(owner, FRAMES)
        assert run(owner).all_reached
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)
        bpy.context.scene.frame_set(12)
        assert (effector(owner, foot) - Vector((0.2, 0.02, 0.08))).length <= HELD

    @pytest.mark.parametrize("name", ["weight", "orientation_weight", "influence"])
    def test_shares_are_animated(self, name: str) -> None:
        owner = squatting()
        hand = rig_of(owner).chains["hand.L"]
        hand.orientation = "KEEP"
        index = list(rig_of(owner).chains).index(hand)
        for frame, value in ((1, 0.0), (12, 1.0)):
            setattr(hand, name, value)
            owner.keyframe_insert(f"fabrik_chains[{index}].{name}", frame=frame)
        wanted = by_button(owner, FRAMES)
        assert_same(live(owner, shuffled(FRAMES)), wanted)
        run(owner)
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)

    @pytest.mark.parametrize("first", [1.0, 1.3])
    def test_stretch_is_animated(self, first: float) -> None:
        owner = squatting()
        for bone in owner.data.bones:
            bone.inherit_scale = "NONE"
        hand = rig_of(owner).chains["hand.L"]
        keyed_target(hand, {1: (0.7, -0.3, 1.2), 6: (0.9, -0.8, 1.6), 12: (1.1, -0.7, 1.2)})
        index = list(rig_of(owner).chains).index(hand)
        for frame, value in ((1, first), (12, 2.3 - first)):
            hand.stretch = value
            owner.keyframe_insert(f"fabrik_chains[{index}].stretch", frame=frame)
        wanted = by_button(owner, FRAMES)
        assert_same(by_button(owner, shuffled(FRAMES)), wanted)
        assert_same(live(owner, shuffled(FRAMES)), wanted)
        run(owner)
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)
        assert max(values[-2] for bones in wanted.values() for values in bones.values()) > 1.01

    def test_a_body_bone_that_is_keyed_starts_from_its_keys(self) -> None:
        owner = with_legs_pinned(make_body())
        hips = owner.pose.bones["hips"]
        for frame, place in ((1, (0, 0, 0)), (12, (0.05, -0.1, 0.08))):
            hips.location = place
            hips.keyframe_insert("location", frame=frame)
        wanted = by_button(owner, FRAMES)
        run(owner)
        assert_same(as_played(owner, FRAMES), wanted)
        assert_feet_hold(owner)

    def test_an_armature_that_moves(self) -> None:
        owner = squatting()
        for frame, turn in ((1, 0.0), (12, 0.2)):
            owner.location.x = owner.rotation_euler.z = turn
            owner.keyframe_insert("location", frame=frame)
            owner.keyframe_insert("rotation_euler", frame=frame)
        wanted = by_button(owner, FRAMES)
        run(owner)
        assert_same(as_played(owner, shuffled(FRAMES)), wanted)
        bpy.context.scene.frame_set(8)
        assert_feet_hold(owner)


class TestRotations:
    def test_a_hand_that_turns_with_its_target(self) -> None:
        owner = squatting()
        hand = rig_of(owner).chains["hand.L"]
        hand.orientation = "TARGET"
        for frame, turn in ((1, 0.0), (12, 0.5)):
            hand.target.rotation_euler = (turn, 0.3 * turn, turn)
            hand.target.keyframe_insert("rotation_euler", frame=frame)
        bpy.context.scene.frame_set(1)
        hand.rotation_offset = tip_turn(owner, hand)
        result = run(owner)
        found = next(found for found in result.chains if found.chain == "hand.L")
        assert found.worst_tip_turn is not None
        assert found.worst_tip_turn[0] < HELD_TURN
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            turn = Euler(hand.target.rotation_euler).to_quaternion() @ hand.rotation_offset
            assert turned(tip_turn(owner, hand), q4(turn)) < HELD_TURN

    def test_a_head_that_aims(self) -> None:
        owner = make_body()
        head = add_limb(owner, "head", 2, target=(0.5, -2, 1.5))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        keyed_target(head, {1: (0.5, -2, 1.5), 12: (-0.8, -2, 1.9)})
        result = run(owner)
        assert result.all_reached
        assert result.chains[0].worst_tip_turn is not None
        assert result.chains[0].worst_tip_turn[0] < HELD_TURN
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            update()
            bone = owner.pose.bones["head"]
            assert bone.matrix.to_3x3().col[2].angle(head.target.location - bone.head) < HELD_TURN

    def test_the_report_tells_degrees(self) -> None:
        owner = make_body()
        hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.3))
        add_limb(owner, "hand.R", 3, target=(-0.5, -0.3, 1.3))
        hand.orientation, hand.held_rotation = "KEEP", (0.7, 0.1, 0.7, 0.0)
        kept, free = run(owner).as_json()["chains"]
        assert kept["worst_tip_turn_degrees"] < 0.1
        assert kept["worst_residual_degrees"] < 0.1
        assert free["worst_tip_turn_degrees"] is None
        assert (free["together"], free["asked"]) == ([], True)

    def test_a_rotation_that_limits_hold_back_is_no_frame_that_is_reached(self) -> None:
        owner = make_body()
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            owner.pose.bones[name].fabrik.limit = "HINGE"
        hand = add_limb(owner, "hand.L", 3, target=(0.65, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        (found,) = run(owner).chains
        assert {reason for _, reason in found.unreached} == {"BLOCKED"}
        bpy.context.scene.frame_set(FRAMES[0])
        assert found.turns[0] == pytest.approx(turned(tip_turn(owner, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)
