# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer: whoever asks for a pose, and in whatever order the frames come, it is the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, radians, sin
from random import Random

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of

from support.judging import channels, single_channels, tip_turn, ulps_apart
from support.scenes import (
    add_chain,
    add_limb,
    each_frame,
    go_live,
    keyed,
    live_line,
    make_body,
    make_line,
    make_rig,
    many_limbs,
    update,
    with_legs_pinned,
)

ULPS = 4  # units in the last place of Blender's channels
TARGETS = 150


def hinge_tail() -> bpy.types.Object:
    """A tail of ten hinges by 30 degrees either way, their axes X and Z in turn, with a target for each frame."""
    owner = make_line(10, length=0.1, bend=0.0)
    for i, bone in enumerate(owner.pose.bones):
        bone.fabrik.limit, bone.fabrik.axis = "HINGE", (1, 0, 0) if i % 2 else (0, 0, 1)
        bone.fabrik.angle_min, bone.fabrik.angle_max = radians(-30), radians(30)
    chain, random = add_chain(owner, (0, 0, 1)), Random(7)
    for frame in range(1, TARGETS + 1):
        around, up = random.uniform(0.0, 6.28), random.uniform(-0.3, 1.5)
        out = random.uniform(0.2, 1.05)
        keyed(chain.target, {frame: (out * cos(around) * cos(up), out * sin(around) * cos(up), out * sin(up))})
    update()
    return owner


def test_button_and_live_pose_a_tail_of_hinges_alike() -> None:
    owner = hinge_tail()
    scene, frames = bpy.context.scene, range(1, TARGETS + 1)
    scene.frame_set(0)
    go_live(owner)
    live = {frame: (single_channels(owner), owner.fabrik.chains[0].status) for frame in each_frame(frames)}
    owner.fabrik.live = False
    update()
    for frame in each_frame(reversed(frames)):
        bpy.ops.fabrik.solve()
        found, status = live[frame]
        assert ulps_apart(single_channels(owner), found) <= ULPS, frame
        assert owner.fabrik.chains[0].status == status, frame
    assert len({status for _, status in live.values()}) > 1  # some are out of reach


def still() -> bpy.types.Object:
    owner, _ = live_line(count=4)
    return owner


def carried() -> bpy.types.Object:
    """A limb on a bone that turns and moves."""
    owner, _ = make_rig("limb on a bone")
    bone = owner.pose.bones["b0"]
    bone.rotation_mode = "XYZ"
    for frame, turn in ((1, (0.1, 0.2, -0.3)), (20, (0.6, -0.5, 0.9))):
        bone.rotation_euler, bone.location = turn, (0.1 * frame, 0.02 * frame, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("location", frame=frame)
    return owner


def grown() -> bpy.types.Object:
    """A limb on a bone that grows."""
    owner, _ = make_rig("limb on a bone")
    keyed(owner.pose.bones["b0"], {frame: (size, size, size) for frame, size in ((1, 1.0), (20, 1.4))}, "scale")
    return owner


def hanging() -> bpy.types.Object:
    """A chain that hangs on another."""
    return make_rig("two levels", is_live=True)[0]


def stretched() -> bpy.types.Object:
    """A chain that hangs on another and whose lengths depend on its pose."""
    owner = make_rig("two levels", is_live=True)[0]
    owner.pose.bones["b2"].scale = (1.0, 1.3, 0.8)
    return owner


def moved() -> bpy.types.Object:
    """An armature that moves."""
    owner, _ = live_line(count=4)
    for frame in (1, 20):
        owner.rotation_euler, owner.scale = (0.02 * frame, 0.1, 0.05 * frame), (1.2, 0.9, 1.1)
        owner.keyframe_insert("rotation_euler", frame=frame)
        keyed(owner, {frame: (100.0 + 0.03 * frame, 0.01 * frame, -3.0)})
    return owner


def played() -> bpy.types.Object:
    """Bones that have keys of their own, in modes of their own."""
    owner, _ = live_line(count=4)
    for name, mode in (("b1", "ZXY"), ("b2", "AXIS_ANGLE")):
        owner.pose.bones[name].rotation_mode = mode
    for frame in (1, 9, 20):
        owner.pose.bones["b1"].rotation_euler = (0.1 * frame, 3.0, -0.2)
        owner.pose.bones["b1"].keyframe_insert("rotation_euler", frame=frame)
        owner.pose.bones["b3"].rotation_quaternion = (-1.0, 0.05 * frame, 0.0, 0.0)
        owner.pose.bones["b3"].keyframe_insert("rotation_quaternion", frame=frame)
    return owner


def started() -> bpy.types.Object:
    """A start pose that is keyed."""
    owner = played()
    owner.fabrik.chains[0].start = "ANIMATED"
    return owner


def sharing() -> bpy.types.Object:
    """Two chains that share bones."""
    owner = make_line(4)
    add_chain(owner, (0.4, 1.0, 2.4), tip="b3", count=4)
    add_chain(owner, (0.6, 0.6, 1.5), tip="b2", count=3)
    return owner


def body() -> bpy.types.Object:
    """A body with pinned feet, hips that move, a hand and a head that share the spine."""
    owner = with_legs_pinned(make_body())
    add_limb(owner, "hand.L", 6, target=(0.5, -0.4, 1.2))
    hand = add_limb(owner, "hand.R", 3, target=(-0.4, -0.5, 1.0))
    update()
    hand.orientation, hand.held_rotation = "KEEP", tip_turn(owner, hand)
    rig_of(owner).spine, rig_of(owner).balance = 0.8, 0.5
    return owner


def carried_body() -> bpy.types.Object:
    """A body below a bone that moves, in Euler angles, with hips that are keyed."""
    owner = make_body("XYZ")
    for frame in (1, 20):
        keyed(owner.pose.bones["hips"], {frame: (0.01 * frame, 0.0, 0.002 * frame)})
        owner.rotation_euler.z = 0.01 * frame
        owner.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    with_legs_pinned(owner)
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    hand.soft, hand.stretch = 0.02, 1.3
    return owner


def aiming() -> bpy.types.Object:
    """A head that looks at a target, and arms that share the spine with it, one of them half as strong."""
    owner = make_body()
    look = add_limb(owner, "head", 3, target=(0.8, -1.0, 1.4))
    look.kind = "AIM"
    look.aim_axis = (0.0, 0.0, 1.0)
    look.weight = 0.7
    add_limb(owner, "hand.L", 6, target=(0.5, -0.4, 1.2)).influence = 0.5
    hand = add_limb(owner, "hand.R", 6, target=(-0.5, -0.4, 1.2))
    hand.weight, hand.orientation = 0.5, "TARGET"
    return owner


def many() -> bpy.types.Object:
    """As many limbs as are read and written at once, half of them turned about."""
    owner = many_limbs(18)
    for bone in list(owner.pose.bones)[::4]:
        bone.bone.inherit_scale = "NONE"
    for chain in list(owner.fabrik.chains)[::2]:
        bone = owner.pose.bones[chain.tip_bone]
        bone.rotation_quaternion = (-0.9, 0.1, 0.2, 0.3)
        bone.keyframe_insert("rotation_quaternion", frame=-5)
    return owner


MAKERS = (still, carried, grown, hanging, stretched, moved, played, started, sharing)
MAKERS_OF_MANY = (many, body, carried_body, aiming)
RIGS = {rig.__name__: rig for rig in MAKERS + MAKERS_OF_MANY}


def key_targets(owner: bpy.types.Object, shifts: Mapping[int, tuple[float, float, float]]) -> None:
    """Key all targets of a rig, by frame so far from where they stand, and as far again as the armature has moved."""
    away = owner.location.copy()
    for chain in owner.fabrik.chains:
        if chain.target is None:
            continue
        start = chain.target.location.copy()
        for frame, shift in shifts.items():
            keyed(chain.target, {frame: [a + b + c for a, b, c in zip(start, shift, away, strict=True)]})


@pytest.mark.parametrize("make", RIGS.values(), ids=RIGS)
def test_frames_in_any_order_are_the_same_and_as_by_button(
    make: Callable[[], bpy.types.Object],
) -> None:
    owner = make()
    key_targets(owner, {1: (-0.3, 0.1, 0.0), 8: (0.5, 0.4, -0.3), 20: (0.2, -0.6, 0.1)})
    go_live(owner)
    scene, frames = bpy.context.scene, list(range(1, 21))
    seen = {}
    for frame in each_frame(frames):
        assert all(chain.enabled for chain in owner.fabrik.chains)
        seen[frame] = channels(owner)
    assert len({str(found) for found in seen.values()}) == len(frames)
    random = Random(3)
    for _ in range(4):
        random.shuffle(frames)
        for frame in each_frame(frames):
            assert channels(owner) == seen[frame], frame
    for frame in each_frame(frames):  # and as they are for one who comes there first
        owner.fabrik.live = False
        update()
        go_live(owner)
        assert channels(owner) == seen[frame], frame
        live = single_channels(owner)
        owner.fabrik.live = False
        update()
        scene.frame_set(frame)
        bpy.ops.fabrik.solve_all()
        assert ulps_apart(single_channels(owner), live) <= ULPS, frame
