# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that start from keys, brought to other frames: the same to the last bit as if they were read there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import cos, sin
from random import Random

import bpy
import pytest
from fabrik_addon.rig.figures import ChainSet, sets_of
from fabrik_addon.rig.keys import KeyedChannels
from fabrik_addon.rig.prepared import Prepared
from fabrik_addon.rig.preparing import carried, read, restarted
from fabrik_addon.session.posing import posed

from support.scenes import add_chain, add_limb, make_body, make_line, update, walking, with_legs_pinned

FRAMES = range(1, 21)
HANGING = ("head", "upper_arm.R", "forearm.R", "hand.R")
MODES = ("QUATERNION", "ZXY", "AXIS_ANGLE", "XYZ")


def key_turns(owner: bpy.types.Object, names: Iterable[str], turn: float = 0.3) -> None:
    """Turn bones from key to key, each otherwise."""
    random = Random(4)
    for bone in [owner.pose.bones[name] for name in names]:
        for frame in (1, 8, 20):
            angle, around = turn * random.uniform(-1.0, 1.0), random.uniform(0.0, 6.28)
            if bone.rotation_mode == "QUATERNION":
                bone.rotation_quaternion = (cos(angle), sin(angle) * cos(around), 0.1, sin(angle) * sin(around))
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            elif bone.rotation_mode == "AXIS_ANGLE":
                bone.rotation_axis_angle = (2.0 * angle, cos(around), 0.2, sin(around))
                bone.keyframe_insert("rotation_axis_angle", frame=frame)
            else:
                bone.rotation_euler = (angle, around, 0.5 * angle)
                bone.keyframe_insert("rotation_euler", frame=frame)


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
    for frame in (1, 9, 20):
        hips.location = (0.01 * frame, 0.0, 0.003 * frame)
        hips.keyframe_insert("location", frame=frame)
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    hand.start, hand.influence = "ANIMATED", 0.6
    owner.fabrik.spine, owner.fabrik.balance = 0.0, 0.5
    return owner


def walker() -> bpy.types.Object:
    """A human that walks as planned, its body turned by keys."""
    owner = walking("human")
    hips = owner.pose.bones["hips"]
    for frame in (1, 20):
        hips.rotation_quaternion = (1.0, 0.0, 0.01 * frame, 0.0)
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    return owner


def read_now(chain_set: ChainSet) -> Prepared:
    return read(chain_set, bpy.context.evaluated_depsgraph_get())[0]


@pytest.mark.parametrize("make", [limb, body, walker], ids=lambda make: make.__name__)
def test_it_is_what_reading_in_full_gives(make: Callable[[], bpy.types.Object]) -> None:
    owner, scene = make(), bpy.context.scene
    update()
    (chain_set,) = sets_of(owner, owner.fabrik.chains)
    scene.frame_set(7)
    first, frames, starts = read_now(chain_set), list(FRAMES), set[str]()
    Random(2).shuffle(frames)
    for frame in frames:
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        begun = restarted(first, owner, KeyedChannels(owner, frame))
        assert begun is not None
        found = carried(begun, owner, depsgraph)
        assert found is not None
        wanted, points = read(chain_set, depsgraph)
        for name in ("asked", "bodies", "root", "start", "instead", "space", "weighed", "mount", "hang"):
            assert getattr(found, name) == getattr(wanted, name), (frame, name)
        a, b = (posed(one, points, owner, depsgraph) for one in (found, wanted))
        assert (a.rotations, a.solution.shift) == (b.rotations, b.solution.shift), frame
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
