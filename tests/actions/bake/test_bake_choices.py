# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames and chains are baked, how many keys are left, and what is solved together is baked together."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake, bake_steps, run, sample
from fabrik_addon.actions.bake.report import WORDS, levels_of, runs_of
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import q4, turn_angle
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Quaternion, Vector

from support.animated import move, with_motion
from support.hanging import activate
from support.judging import (
    HELD,
    HELD_TURN,
    angle_between,
    as_played,
    assert_feet_hold,
    assert_same,
    bake_all,
    bake_chain,
    by_button,
    chain_length,
    channels,
    effector,
    evaluated_joints,
    frames_gone_to,
    key_frames,
    local_rotations,
    poses,
    rotation_keys,
    shuffled,
    tip_turn,
)
from support.scenes import (
    FRAMES,
    SOME_MODES,
    SQUAT,
    Rig,
    add_chain,
    add_limb,
    assert_refused,
    chain_bones,
    each_frame,
    go_to,
    items_of,
    keyed,
    keyed_line,
    make_line,
    overridden,
    press,
    squatting,
    to_rest,
    update,
)
from support.skeletons import set_up


def two_rigs() -> tuple[Rig, Rig]:
    first, chain = keyed_line()
    second = make_line(3)
    second.name, second.location.x = "Other", 3.0
    bpy.context.view_layer.update()
    other = add_chain(second, (3.4, -0.5, 1.9))
    return (first, chain), (second, other)


def test_only_where_target_pole_or_setting_has_a_key(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.keyframe_insert("location", frame=4.5)
    chain.keyframe_insert("influence", frame=7)
    chain.target.keyframe_insert("location", frame=40)
    result = bake_chain(owner, chain, only_keys=True)
    assert key_frames(owner) == {1.0, 4.5, 7.0, 10.0, 20.0}
    assert len(result.frames) == 5
    assert result.worst_tip_error[0] < 1e-5


def test_no_key_in_the_range(owner: bpy.types.Object, chain: FabrikChain) -> None:
    with pytest.raises(FabrikError, match="neither goal nor setting has a key from frame 30 to 40"):
        bake_chain(owner, chain, only_keys=True, frames=tuple(range(30, 41)))


def test_each_chain_at_its_own_keys() -> None:
    owner, chain = keyed_line(count=4)
    chain.tip_bone, chain.bone_count = "b1", 2
    other = add_chain(owner, (0.5, 0.3, 3.0), tip="b3", count=2)
    other.target.keyframe_insert("location", frame=6)
    bake(bpy.context, [(owner, chain), (owner, other)], BakeSettings(FRAMES, only_keys=True))
    keys = {path: {frame for frame, _ in found} for (path, _), found in rotation_keys(owner).items()}
    assert keys['pose.bones["b0"].rotation_quaternion'] == {1.0, 10.0, 20.0}
    assert keys['pose.bones["b3"].rotation_quaternion'] == {6.0}


@pytest.mark.parametrize(("span", "wanted"), [("SCENE", {3.0, 6.0}), ("PREVIEW", {4.0, 5.0}), ("RANGE", {7.0, 9.0})])
def test_the_range_of_the_scene_and_of_the_preview(span: str, wanted: set[float]) -> None:
    owner, _ = keyed_line()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 6
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 4, 5
    bpy.ops.fabrik.bake(span=span, frame_start=7, frame_end=9)
    assert {min(key_frames(owner)), max(key_frames(owner))} == wanted


def test_a_smooth_curve_needs_fewer_keys_than_straight_lines() -> None:
    owner, chain = keyed_line()
    straight = bake_chain(owner, chain, clean_up=radians(0.2), stays_enabled=True).keys
    assert bake_chain(owner, chain, clean_up=radians(0.2), interpolation="BEZIER").keys < straight


def test_a_target_on_a_chain_of_another_armature_that_is_baked_with_it() -> None:
    (first, chain), (second, other) = two_rigs()
    second.location.x = 0.0
    other.target, other.target_bone = first, "b2"
    result = bake(bpy.context, [(second, other), (first, chain)], BakeSettings(FRAMES))
    assert [found.rig for found in result.chains] == ["Other", "Rig"]
    assert result.all_reached
    assert all(found.worst_tip_error[0] < 1e-5 for found in result.chains)


def test_the_operator_takes_all_that_are_selected() -> None:
    (first, _), (second, _) = two_rigs()
    for owner in (first, second):
        owner.select_set(True)
    bpy.context.view_layer.objects.active = first
    bpy.ops.fabrik.bake(frame_start=1, frame_end=4)
    assert fcurves_of(first)
    assert fcurves_of(second)
    assert json.loads(second.fabrik.bake_report)["chains"][0]["chain"] == "b2"


def test_nothing_of_either_where_one_fails() -> None:
    (first, chain), (second, other) = two_rigs()
    before = channels(first), channels(second)
    other.target.location.x = float("nan")
    with pytest.raises(FabrikError, match="Other"):
        bake(bpy.context, [(first, chain), (second, other)], BakeSettings(FRAMES))
    assert (channels(first), channels(second)) == before
    assert first.animation_data is None
    assert not [action for action in bpy.data.actions if action.name.startswith("Rig")]
    assert chain.enabled


@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("is_plain", [True, False])
def test_nothing_stays_behind_of_a_bake_that_is_given_up(
    into: str, is_plain: bool, owner: bpy.types.Object, chain: FabrikChain
) -> None:
    owner.pose.bones["b0"].keyframe_insert("location" if into == "NLA" else "rotation_quaternion", frame=5)
    if not is_plain:
        chain.target.constraints.new("LIMIT_LOCATION")
    bpy.context.scene.frame_set(9)
    before, stood = (len(bpy.data.actions), len(bpy.data.scenes)), channels(owner)
    keys, action = rotation_keys(owner), owner.animation_data.action
    for stop in (1, 2, 18, 21):
        steps = bake_steps(bpy.context, [(owner, chain)], BakeSettings(FRAMES, into=into))
        shares = [next(steps) for _ in range(stop)]
        assert shares == sorted(shares)
        assert 0.0 < shares[-1] <= 1.0
        steps.close()
        assert (len(bpy.data.actions), len(bpy.data.scenes)) == before
        assert (rotation_keys(owner), channels(owner), chain.enabled) == (keys, stood, True)
        assert (owner.animation_data.action, len(owner.animation_data.nla_tracks)) == (action, 0)
        assert bpy.context.scene.frame_current == 9
    bake_chain(owner, chain, into=into)
    assert (len(bpy.data.actions) - (into != "ACTION"), len(bpy.data.scenes)) == before


def test_it_is_stored_with_the_armature(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.location.z = 9.0
    chain.target.keyframe_insert("location", frame=20)
    result = bake_chain(owner, chain)
    told = json.loads(owner.fabrik.bake_report)
    assert result.unreached[-1] == (20, "TOO_FAR")
    assert told["verify"] == "EVERY"
    found = told["chains"][0]
    assert found["unreached_count"] == len(result.unreached) > 1
    assert found["unreached"][-1]["last"] == 20
    assert found["worst_tip_error"] < 1e-5
    strip = told["strip"]
    assert strip[0][0] == 1
    assert strip[-1] == [strip[-1][0], 20, 5]
    assert {level for _, _, level in strip} >= {0, 5}


def test_a_sample_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SAMPLES", 5)
    owner, chain = keyed_line()
    with frames_gone_to() as seen:
        result = bake_chain(owner, chain, verify="SAMPLE")
    assert 5 <= len(set(seen)) <= 7
    assert result.worst_tip_error is not None
    chain.enabled = True
    assert bake_chain(owner, chain, verify="NONE").worst_tip_error is None


def test_levels_are_decades_and_frames_alike_are_runs() -> None:
    shares = np.array((0.0, 1e-5, 2e-5, 1e-4, 5e-3, 0.02, 0.5, 9.0))
    assert levels_of(shares).tolist() == [0, 0, 1, 1, 3, 4, 5, 5]
    frames, values = np.array((1.0, 2.0, 3.5, 4.0)), np.array((7, 7, 2, 7))
    assert list(runs_of(frames, values)) == [(1.0, 2.0, 7), (3.5, 3.5, 2), (4.0, 4.0, 7)]


def test_rotations_of_neighbouring_frames_tell_the_worst_turn(owner: bpy.types.Object, chain: FabrikChain) -> None:
    angle, frame = bake_chain(owner, chain).worst_turn
    rotations = {}
    for at in (frame - 1, frame):
        bpy.context.scene.frame_set(int(at))
        rotations[at] = local_rotations(owner)
    pairs = zip(rotations[frame - 1], rotations[frame], strict=True)
    turns = [turn_angle(before.conjugated() @ after) for before, after in pairs]
    assert max(turns) == pytest.approx(angle, abs=1e-5)


Items = list[tuple[bpy.types.Object, FabrikChain]]

BOUND = radians(0.5)


def moving(owner: bpy.types.Object, tip: str, place: Sequence[float], seed: int) -> FabrikChain:
    """A chain of three bones whose target wanders about a place."""
    wander = random.Random(f"{tip}{seed}")
    chain = add_chain(owner, place, tip=tip, count=3)
    for frame in (1, 6, 11, 16, 20):
        keyed(chain.target, {frame: [number + wander.uniform(-0.5, 0.5) for number in place]})
    return chain


def line_in(mode: str) -> Items:
    return [keyed_line(mode)]


def three_levels(seed: int) -> Items:
    """A spine, an arm on it, and another armature whose chain reaches for the arm's tip."""
    owner = make_line(6)
    spine, arm = moving(owner, "b2", (0.2, 0.5, 2.2), seed), moving(owner, "b5", (0.6, 1.0, 3.4), seed)
    other = make_line(3)
    other.name, other.location = "Other", (1.5, 0.8, 1.6)
    bpy.context.view_layer.update()
    follower = add_chain(other)
    follower.target, follower.target_bone = owner, "b5"
    return [(other, follower), (owner, arm), (owner, spine)]


def two_on_a_bone() -> Items:
    """Two chains that have bones in common, of which those of the last are kept."""
    owner = make_line(4)
    first, last = moving(owner, "b2", (0.2, 0.5, 2.2), 1), moving(owner, "b3", (0.5, 0.9, 2.3), 1)
    return [(owner, first), (owner, last)]


# Of each: how it is made, by how much a joint may be off, and the share of its keys that are left at the most.
THINNED: dict[str, tuple[Callable[[], Items], float, float]] = {
    **{mode: (partial(line_in, mode), radians(1.0), 0.75) for mode in SOME_MODES},
    **{f"three levels, {seed}": (partial(three_levels, seed), BOUND, 0.9) for seed in range(3)},
    "two chains on a bone": (two_on_a_bone, BOUND, 0.9),
}


@pytest.mark.parametrize("rig", THINNED)
@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("into", ["ACTION", "NLA"])
def test_no_joint_is_off_by_more_than_the_bound(rig: str, interpolation: str, into: str) -> None:
    make, bound, share = THINNED[rig]
    items = make()
    owners = list(dict.fromkeys(owner for owner, _ in items))
    settings = BakeSettings(FRAMES, into, interpolation)
    full = bake(bpy.context, items, settings)
    wanted = [poses(owner, FRAMES) for owner in owners]
    for owner, chain in items:
        chain.enabled = True
        owner.animation_data_clear()
        to_rest(owner)
    result = bake(bpy.context, items, replace(settings, clean_up=bound))
    assert sum(found.keys for found in result.chains) < share * sum(found.keys for found in full.chains)
    worst = 0.0
    for owner, whole in zip(owners, wanted, strict=True):
        for frame, found in poses(owner, FRAMES).items():
            pairs = zip(found, whole[frame], strict=True)
            worst = max(worst, *(turn_angle(one.conjugated() @ other) for one, other in pairs))
    assert 0.0 < worst <= 1.002 * bound
    assert [found.unreached for found in result.chains] == [found.unreached for found in full.chains]


def test_the_keys_that_are_told_are_those_that_are_there() -> None:
    items = three_levels(1)
    result = bake(bpy.context, items, BakeSettings(FRAMES, clean_up=BOUND))
    keys = [rotation_keys(owner) for owner in (items[0][0], items[1][0])]
    assert sum(found.keys for found in result.chains) == sum(len(found) for own in keys for found in own.values())


class TestSquat:
    @pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
    def test_feet_and_goals_hold_in_every_frame_and_the_body_bone_alone_is_moved(self, mode: str) -> None:
        owner = squatting(mode)
        result = bake_all(owner)
        assert result.all_reached
        for found in result.chains:
            assert found.worst_tip_error[0] < 1e-4
            assert found.worst_violation < 1e-5
        for _ in each_frame(shuffled(SQUAT)):
            assert_feet_hold(owner)
            for name in ("hips", "hand.L"):
                chain = rig_of(owner).chains[name]
                assert (effector(owner, chain) - chain.target.location).length <= HELD
        located = [curve for curve in fcurves_of(owner) if curve.data_path.endswith(".location")]
        assert {curve.data_path for curve in located} == {'pose.bones["hips"].location'}
        assert {len(curve.keyframe_points) for curve in located} == {len(SQUAT)}
        assert all(not chain.enabled for chain in rig_of(owner).chains)

    def test_no_frame_is_gone_to_where_curves_tell_all(self, squatter: bpy.types.Object) -> None:
        with frames_gone_to() as visited:
            bake_all(squatter, verify="NONE")
        assert len(visited) == 1
        for _ in each_frame(SQUAT):
            assert_feet_hold(squatter)

    def test_one_chain_takes_the_others_along_and_says_so(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        result = bake(bpy.context, [(squatter, hand)], BakeSettings(SQUAT))
        assert [found.chain for found in result.chains] == ["hand.L", "foot.L", "foot.R", "hips"]
        assert result.chains[0].together == ["foot.L", "foot.R", "hips"]
        assert not any(chain.enabled for chain in rig_of(squatter).chains)
        assert all(chain.is_baked for chain in rig_of(squatter).chains)

    def test_frames_that_are_solved_in_rows_end_as_by_button(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        keyed(hand.target, {1: (0.5, -0.3, 1.2), 6: (1.5, -1.5, 1.4), 12: (0.2, -0.7, 0.9)})
        hand.orientation, hand.held_rotation, hand.soft = "KEEP", (0.2, 0.9, 0.1, 0.4), 0.02
        wanted = {}
        for frame in each_frame(SQUAT):
            wanted[frame] = {one.chain: one for one in solve_items(bpy.context, items_of(squatter))}
        for found in bake_all(squatter, verify="NONE").chains:
            length = sum(bone.length for bone in chain_bones(squatter, rig_of(squatter).chains[found.chain]))
            for k, frame in enumerate(SQUAT):
                outcome = wanted[frame][found.chain]
                assert WORDS[found.status[k]] == outcome.status
                assert found.residuals[k] * length == pytest.approx(outcome.residual, abs=1e-6)
                assert found.turns[k] == pytest.approx(outcome.turn_residual, abs=1e-6)
                assert found.softened[k] * length == pytest.approx(outcome.softened, abs=1e-6)

    @pytest.mark.parametrize("into", ["NEW_ACTION", "NLA"])
    def test_into_other_actions(self, into: str, squatter: bpy.types.Object) -> None:
        wanted = by_button(squatter, SQUAT)
        bake_all(squatter, into=into)
        assert_same(as_played(squatter, SQUAT), wanted)

    @pytest.mark.parametrize(("interpolation", "share"), [("LINEAR", 0.8), ("BEZIER", 0.6)])
    def test_keys_are_left_out_within_the_bound_and_pinned_feet_stay(self, interpolation: str, share: float) -> None:
        owner = squatting()
        every = sum(found.keys for found in bake_all(owner, stays_enabled=True).chains)
        owner.animation_data_clear()
        result = bake_all(owner, clean_up=0.02, interpolation=interpolation)
        assert result.all_reached
        assert sum(found.keys for found in result.chains) < share * every
        for _ in each_frame(SQUAT):
            for side in (".L", ".R"):
                chain = rig_of(owner).chains[f"foot{side}"]
                leg = chain_length(evaluated_joints(owner, chain)[: -1 if chain.effector == "HEAD" else None])
                assert (effector(owner, chain) - Vector(chain.held_location)).length <= 1.05e-3 * leg

    def test_keys_are_left_out_beside_a_pinned_leg_that_is_locked(self) -> None:
        owner = squatting()
        rig_of(owner).body_bone = ""
        for name in ("thigh.L", "shin.L", "foot.L"):
            pose_bones(owner)[name].lock_rotation, pose_bones(owner)[name].lock_rotation_w = (True, True, True), True
        keys = {found.chain: found.keys for found in bake_all(owner, clean_up=0.02).chains}
        assert keys["foot.L"] == 0
        assert keys["hand.L"] > 0


@pytest.mark.parametrize("spine", [0.0, 0.5])
def test_a_body_that_is_keyed_starts_from_its_keys_in_each_row(
    spine: float, monkeypatch: pytest.MonkeyPatch, standing: bpy.types.Object
) -> None:
    add_limb(standing, "hand.L", 3, target=(0.5, -0.3, 1.2))
    rig_of(standing).spine = spine
    hips, back = standing.pose.bones["hips"], standing.pose.bones["hand.L"].parent_recursive[2]
    for frame, place, turn in ((1, (0, 0, 0), 0.0), (12, (0.05, -0.1, 0.08), 0.3)):
        hips.location, back.rotation_quaternion = place, Euler((turn, 0.0, turn)).to_quaternion()
        hips.keyframe_insert("location", frame=frame)
        back.keyframe_insert("rotation_quaternion", frame=frame)
    wanted = by_button(standing, SQUAT)
    monkeypatch.setattr(sample, "posed", None)  # no frame is solved by itself
    result = bake_all(standing)
    assert result.all_reached
    assert max(found.worst_violation for found in result.chains) < 1e-6
    assert_same(as_played(standing, SQUAT), wanted)
    assert_feet_hold(standing)


class TestRotations:
    def test_a_hand_that_turns_with_its_target(self, squatter: bpy.types.Object) -> None:
        hand = rig_of(squatter).chains["hand.L"]
        hand.orientation = "TARGET"
        keyed(hand.target, {1: (0.0, 0.0, 0.0), 12: (0.5, 0.15, 0.5)}, "rotation_euler")
        bpy.context.scene.frame_set(1)
        hand.rotation_offset = tip_turn(squatter, hand)
        result = bake_all(squatter)
        found = next(found for found in result.chains if found.chain == "hand.L")
        assert found.worst_tip_turn[0] < HELD_TURN
        for _ in each_frame(SQUAT):
            turn = Euler(hand.target.rotation_euler).to_quaternion() @ hand.rotation_offset
            assert angle_between(tip_turn(squatter, hand), q4(turn)) < HELD_TURN

    def test_a_head_that_aims(self, body: bpy.types.Object) -> None:
        head = add_limb(body, "head", 2, target=(0.5, -2, 1.5))
        head.kind, head.aim_axis = "AIM", (0, 0, 1)
        keyed(head.target, {1: (0.5, -2, 1.5), 12: (-0.8, -2, 1.9)})
        result = bake_all(body)
        assert result.all_reached
        assert result.chains[0].worst_tip_turn[0] < HELD_TURN
        for _ in each_frame(SQUAT):
            update()
            bone = body.pose.bones["head"]
            assert bone.matrix.to_3x3().col[2].angle(head.target.location - bone.head) < HELD_TURN

    def test_the_report_tells_degrees(self, body: bpy.types.Object) -> None:
        hand = add_limb(body, "hand.L", 3, target=(0.5, -0.3, 1.3))
        add_limb(body, "hand.R", 3, target=(-0.5, -0.3, 1.3))
        hand.orientation, hand.held_rotation = "KEEP", (0.7, 0.1, 0.7, 0.0)
        kept, free = bake_all(body).as_json()["chains"]
        assert kept["worst_tip_turn_degrees"] < 0.1
        assert kept["worst_residual_degrees"] < 0.1
        assert free["worst_tip_turn_degrees"] is None
        assert (free["together"], free["asked"]) == ([], True)

    def test_a_rotation_that_limits_hold_back_is_no_frame_that_is_reached(self, body: bpy.types.Object) -> None:
        for name in ("upper_arm.L", "forearm.L", "hand.L"):
            body.pose.bones[name].fabrik.limit = "HINGE"
        hand = add_limb(body, "hand.L", 3, target=(0.65, -0.02, 1.46))
        hand.orientation, hand.held_rotation = "KEEP", (0.0, 1.0, 0.0, 0.0)
        (found,) = bake_all(body).chains
        assert {reason for _, reason in found.unreached} == {"BLOCKED"}
        bpy.context.scene.frame_set(SQUAT[0])
        assert found.turns[0] == pytest.approx(angle_between(tip_turn(body, hand), (0.0, 1.0, 0.0, 0.0)), abs=1e-3)


@pytest.mark.parametrize("by_name", [False, True])
def test_all_that_are_solved_together_are_keyed_at_the_keys_of_any(squatter: bpy.types.Object, by_name: bool) -> None:
    foot = rig_of(squatter).chains["foot.L"]
    foot.keyframe_insert("held_location", frame=9)
    for curve in fcurves_of(squatter):
        if by_name and curve.data_path == foot.path_from_id("held_location"):
            curve.data_path = 'fabrik_chains["foot.L"].held_location'
    (hand,) = bake(
        bpy.context, [(squatter, rig_of(squatter).chains["hand.L"])], BakeSettings(SQUAT, only_keys=True)
    ).chains[:1]
    assert hand.frames.tolist() == [1, 6, 9, 12]
    keyed = {
        point.co[0]
        for curve in fcurves_of(squatter)
        if '"thigh.R"' in curve.data_path
        for point in curve.keyframe_points
    }
    assert keyed == {1, 6, 9, 12}


def test_the_button_names_those_that_were_baked_along(capfd: pytest.CaptureFixture[str]) -> None:
    owner = squatting()
    activate(owner, "hips")
    bpy.ops.fabrik.bake(frame_start=1, frame_end=3, chains="ACTIVE")
    said = capfd.readouterr().out
    assert "baked with those that they are solved together with: foot.L, foot.R, hand.L" in said


def test_offsets_that_start_at_rest_are_baked_as_they_are_solved() -> None:
    """No chain starts from its keys, so that its offset goes by the same pose in each frame."""
    owner, _, _ = with_motion("human_mixamo")
    for chain in rig_of(owner).chains:
        chain.start = "REST"
    move(owner, "Arm.L", (0.0, 0.1, 0.1))
    go_to(5)
    press("solve_all")
    solved = local_rotations(owner)
    press("bake", frame_start=3, frame_end=6)
    go_to(5)
    assert max(map(turn_between, local_rotations(owner), solved)) < 1e-4


def turn_between(one: Quaternion, other: Quaternion) -> float:
    """The angle between two rotations."""
    return float(one.rotation_difference(other).angle)


def test_linked_targets_that_are_not_in_the_view_layer_are_no_goals(tmp_path: Path) -> None:
    """Blender gives what their library has, where nothing of them is evaluated; a solve refuses them, too."""
    owner = overridden(set_up("human", controls="EMPTIES"), tmp_path)
    assert_refused("is not in the view layer", "solve_all")
    assert_refused("is not in the view layer", "bake", frame_start=1, frame_end=3)
    assert all(chain.enabled for chain in rig_of(owner).chains if chain.name.startswith(("Arm", "Leg")))
