# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose and its cache, at its frame and brought to others: what a solve gives depends on the goal alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.animation.channels import channel_of
from fabrik_addon.rig.animation.keys import KeyedChannels
from fabrik_addon.rig.figure.figure import RigFigure
from fabrik_addon.rig.figure.groups import ChainSet, sets_of
from fabrik_addon.rig.figure.reader import carried, read, restarted
from fabrik_addon.rig.figure.solve import posed
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Quaternion, Vector

from support.judging import channels, evaluated_joints, tip_error
from support.scenes import (
    Point,
    add_chain,
    add_limb,
    assert_refused,
    each_frame,
    keyed,
    keyed_turns,
    make_body,
    make_line,
    reload,
    update,
    with_legs_pinned,
)
from support.walks import walking

A, B = (1.0, 0.8, 2.0), (-1.2, 0.3, 1.5)


def solve_at(chain: FabrikChain, point: Point) -> list[tuple[float, ...]]:
    chain.target.location = point
    bpy.ops.fabrik.solve()
    owner: Any = chain.id_data
    return channels(owner)


def test_captured_pose_is_where_the_solve_starts() -> None:
    owner = make_line(3, bend=0.2)
    owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    bpy.context.view_layer.update()
    chain = add_chain(owner)
    tip = evaluated_joints(owner, chain)[-1]
    chain = add_chain(owner, tip)
    bpy.ops.fabrik.start_pose_capture()
    assert chain.start == "CAPTURED"
    solved = solve_at(chain, tip)
    assert solved[1][:4] == pytest.approx(tuple(Quaternion((1, 0, 0), 0.8)), abs=1e-4)
    bpy.ops.fabrik.start_pose_reset(use_pose=True)
    assert chain.start == "REST"
    assert len(chain.captured) == 0
    assert all(values[:4] == (1, 0, 0, 0) for values in channels(owner))


def test_keyed_channels_start_from_the_frame_and_the_others_from_the_cache() -> None:
    owner = make_line(3, bend=0.2)
    bone = owner.pose.bones["b0"]
    keyed_turns(bone, {1: 0.0, 11: 0.5}, (0, 1, 0))
    chain = add_chain(owner, (0.5, 0.5, 2.2))
    chain.start, chain.influence = "ANIMATED", 0.0
    poses: dict[int, set[tuple[tuple[float, ...], ...]]] = {}
    for frame in each_frame((1, 11, 6, 11, 1)):
        poses.setdefault(frame, set()).add(tuple(solve_at(chain, (0.5, 0.5, 2.2))))
    assert all(len(found) == 1 for found in poses.values())
    (pose,) = poses[11]
    assert pose[0][:4] == pytest.approx(tuple(Quaternion((0, 1, 0), 0.5)), abs=1e-5)
    assert pose[1][:4] == pytest.approx((1, 0, 0, 0), abs=1e-6)


def test_keyed_start_pose_under_strips_is_the_pose_that_these_play() -> None:
    owner = make_line(3, bend=0.2)
    bone = owner.pose.bones["b0"]
    bone.rotation_quaternion = Quaternion((0, 1, 0), 0.5)
    bone.keyframe_insert("rotation_quaternion", frame=1)
    data = owner.animation_data
    data.nla_tracks.new().strips.new("strip", 1, data.action)
    data.action = None
    bpy.context.scene.frame_set(1)
    chain = add_chain(owner, (0.5, 0.5, 2.2))
    chain.start, chain.influence = "ANIMATED", 0.0
    for _ in range(2):
        pose = solve_at(chain, (0.5, 0.5, 2.2))
        assert pose[0][:4] == pytest.approx(tuple(Quaternion((0, 1, 0), 0.5)), abs=1e-5)
        assert pose[1][:4] == pytest.approx((1, 0, 0, 0), abs=1e-6)


def test_cache_survives_save_and_reload(tmp_path: Path) -> None:
    owner = make_line(4, bend=0.2)
    owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), 0.4)
    chain = add_chain(owner, A)
    bpy.ops.fabrik.start_pose_capture()
    before = solve_at(chain, A)
    reload(tmp_path)
    owner = bpy.data.objects["Rig"]
    chain = owner.fabrik.chains[0]
    assert (chain.start, chain.status, chain.target.name) == ("CAPTURED", "REACHED", "Target")
    assert solve_at(chain, A) == before
    assert tip_error(owner, chain) < 1e-4


def test_stale_is_seen_when_the_rest_data_change() -> None:
    from fabrik_addon.rig.figure.start_pose import is_stale

    owner = make_line(4, bend=0.2)
    chain = add_chain(owner, A)
    bones = list(owner.pose.bones)
    assert not is_stale(chain, bones)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not is_stale(chain, list(owner.pose.bones))
    bpy.ops.object.mode_set(mode="EDIT")
    owner.data.edit_bones["b2"].tail += Vector((0.1, 0, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    assert is_stale(chain, list(owner.pose.bones))
    bpy.ops.fabrik.start_pose_reset()
    assert not is_stale(chain, list(owner.pose.bones))


def test_captured_pose_without_a_bone_is_named() -> None:
    owner = make_line(4)
    chain = add_chain(owner, A, count=2)
    bpy.ops.fabrik.start_pose_capture()
    chain.bone_count = 3
    assert_refused("captured start pose has no bone 'b1'", "solve")


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_new_values_continue_the_key_before_the_frame(mode: str) -> None:
    owner = make_line(3, bend=0.2)
    bone = owner.pose.bones["b0"]
    bone.rotation_mode = mode
    values = {"QUATERNION": -Quaternion((1, 0, 0), 0.1), "XYZ": (2 * pi + 0.1, 0, 0)}
    keyed(bone, {1: values[mode]}, channel_of(mode)[0])
    chain = add_chain(owner, (0, 0.8, 2.4))
    bpy.context.scene.frame_set(5)
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    if mode == "QUATERNION":
        assert bone.rotation_quaternion.w < 0
    else:
        assert abs(bone.rotation_euler.x - 2 * pi) < pi


FRAMES = range(1, 21)

HANGING = ("head", "upper_arm.R", "forearm.R", "hand.R")

MODES = ("QUATERNION", "ZXY", "AXIS_ANGLE", "XYZ")


def key_turns(owner: bpy.types.Object, names: Iterable[str], turn: float = 0.3) -> None:
    """Turn bones from key to key, each otherwise."""
    random = Random(4)
    for bone in [owner.pose.bones[name] for name in names]:
        for frame in (1, 8, 20):
            angle, around = turn * random.uniform(-1.0, 1.0), random.uniform(0.0, 6.28)
            values = {
                "QUATERNION": (cos(angle), sin(angle) * cos(around), 0.1, sin(angle) * sin(around)),
                "AXIS_ANGLE": (2.0 * angle, cos(around), 0.2, sin(around)),
            }.get(bone.rotation_mode, (angle, around, 0.5 * angle))
            keyed(bone, {frame: values}, channel_of(bone.rotation_mode)[0])


def limb() -> bpy.types.Object:
    """A chain with bones in modes of their own, one of which stays as it starts, with half an influence."""
    owner = make_line(5)
    for bone, mode in zip(list(owner.pose.bones)[1:], MODES, strict=True):
        bone.rotation_mode = mode
    owner.pose.bones["b2"].fabrik.limit = "LOCKED"
    bone = owner.pose.bones["b3"]
    bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -0.4, 0.1
    key_turns(owner, [bone.name for bone in owner.pose.bones])
    chain = add_chain(owner, (0.9, 0.7, 2.5))
    chain.start, chain.influence = "ANIMATED", 0.5
    return owner


def body() -> bpy.types.Object:
    """A body that keeps its balance and is keyed all over, whose spine stays as it starts; but for what hangs on it."""
    owner = with_legs_pinned(make_body())
    key_turns(owner, [bone.name for bone in owner.pose.bones if bone.name not in HANGING], turn=0.1)
    hips = owner.pose.bones["hips"]
    keyed(hips, {frame: (0.01 * frame, 0.0, 0.003 * frame) for frame in (1, 9, 20)})
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    hand.start, hand.influence = "ANIMATED", 0.6
    owner.fabrik.spine, owner.fabrik.balance = 0.0, 0.5
    return owner


def walker() -> bpy.types.Object:
    """A human that walks as planned, its body turned by keys."""
    owner = walking("human")
    hips = owner.pose.bones["hips"]
    keyed(hips, {frame: (1.0, 0.0, 0.01 * frame, 0.0) for frame in (1, 20)}, "rotation_quaternion")
    return owner


def read_now(chain_set: ChainSet) -> RigFigure:
    return read(chain_set, bpy.context.evaluated_depsgraph_get())[0]


@pytest.mark.parametrize("make", [limb, body, walker], ids=lambda make: make.__name__)
def test_it_is_what_reading_in_full_gives(make: Callable[[], bpy.types.Object]) -> None:
    owner, scene = make(), bpy.context.scene
    update()
    (chain_set,) = sets_of(owner, owner.fabrik.chains)
    scene.frame_set(7)
    first, frames, starts = read_now(chain_set), list(FRAMES), set[str]()
    Random(2).shuffle(frames)
    for frame in each_frame(frames):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        begun = restarted(first, owner, KeyedChannels(owner, frame))
        assert begun is not None
        found = carried(begun, owner, depsgraph)
        assert found is not None
        wanted, points = read(chain_set, depsgraph)
        for name in ("goals", "bodies", "root", "start", "instead", "space", "weighed", "parent_frame", "parent_turn"):
            assert getattr(found, name) == getattr(wanted, name), (frame, name)
        a, b = (posed(one, points, owner, depsgraph) for one in (found, wanted))
        assert (a.rotations.tolist(), a.shift) == (b.rotations.tolist(), b.shift), frame
        starts.add(str(found.start))
    assert len(starts) == len(frames)


def test_where_scales_differ_between_axes_it_has_to_be_read() -> None:
    owner = limb()
    owner.pose.bones["b1"].scale = (1.2, 1.0, 0.9)
    update()
    (chain_set,) = sets_of(owner, owner.fabrik.chains)
    assert restarted(read_now(chain_set), owner, KeyedChannels(owner, 5.0)) is None


def test_keys_that_make_no_pose_are_told_by_reading() -> None:
    owner = limb()
    update()
    (chain_set,) = sets_of(owner, owner.fabrik.chains)
    first = read_now(chain_set)
    bone = owner.pose.bones["b1"]
    bone.rotation_quaternion = (0.0, 0.0, 0.0, 0.0)
    bone.keyframe_insert("rotation_quaternion", frame=30)
    assert restarted(first, owner, KeyedChannels(owner, 30.0)) is None
