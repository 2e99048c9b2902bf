# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation locks are limits, all of a bone or some: they are solved, and a locked channel stays to the last bit."""

from __future__ import annotations

from math import cos, pi, radians, sin
from random import Random

import bpy
import pytest
from fabrik_addon.kernel import AxisLock, Hinge, Locked, QuaternionLock, Universal
from fabrik_addon.rig.animation.channels import channel_of, read_locks, read_rotation, read_values
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.joint_limits import read_channel_locks, read_limit
from fabrik_addon.rig.schema import FabrikChain, limit_of
from mathutils import Quaternion, Vector

from support.judging import as_played, assert_same, by_button, by_live, channels, evaluated_joints, tip_error
from support.scenes import (
    MODES,
    Bone,
    add_chain,
    assert_refused,
    keyed,
    make_armature,
    make_line,
    press,
    put,
    put_channels,
    set_rotation,
    update,
)
from support.stored import empty_file

SEEDS = 150
FRAMES = (1, 4, 7, 10)
NEAR = 1.1e-4  # the tolerance, and single precision


def lock(bone: bpy.types.PoseBone, locked: tuple[bool, ...]) -> None:
    """Lock W, X, Y and Z."""
    bone.lock_rotation_w, bone.lock_rotation = locked[0], (locked[1], locked[2], locked[3])


def locked_values(bone: bpy.types.PoseBone) -> list[float]:
    """The values of the channels whose locks are on."""
    values, locks = read_values(bone), read_locks(bone)
    if len(values) == 4:
        if not bone.lock_rotations_4d:
            return []
        locks = [bone.lock_rotation_w, *locks]
    return [value for value, is_locked in zip(values, locks, strict=True) if is_locked]


def random_locks(random: Random, count: int) -> tuple[bool, ...]:
    """Locks of one or two channels, of three in a while; W is heeded where there are four."""
    picked = random.sample(range(4 - count, 4), random.choice((1, 1, 2, 2, 3)))
    return tuple(i in picked for i in range(4))


def locked_line(seed: int) -> bpy.types.Object:
    """A bent line of four bones, each with some channels locked where it stands, in all rotation modes."""
    random, head = Random(seed), Vector()
    bones: list[Bone] = []
    for _ in range(4):
        tail = head + Vector((random.gauss(0, 0.3), random.gauss(0, 0.3), 1.0)).normalized()
        bones.append(Bone(head, tail, random.uniform(-pi, pi), connect=bool(bones)))
        head = tail
    owner = make_armature(bones)
    for bone in pose_bones(owner):
        bone.rotation_mode = random.choice(MODES)
        bone.lock_rotations_4d = random.random() < 0.8
        set_rotation(
            bone, Quaternion(Vector([random.gauss(0, 1) for _ in range(3)]).normalized(), random.gauss(0, 0.7))
        )
        if bone.rotation_mode == "QUATERNION":
            bone.rotation_quaternion *= random.choice((1.0, 1.0, 0.5, 3.0))
        if random.random() < 0.2:
            setattr(bone, channel_of(bone.rotation_mode)[0], [*read_values(bone)[:-1], 0.0])
        lock(bone, random_locks(random, len(read_values(bone))))
    return owner


def reachable(owner: bpy.types.Object, chain: FabrikChain, random: Random) -> Vector:
    """Where the tip is in another pose that the locks allow."""
    before = channels(owner)
    for bone in pose_bones(owner):
        locks = read_channel_locks(bone)
        if locks is None or locks.limit.is_fixed:
            continue
        turn = Vector([random.uniform(-0.5, 0.5) for _ in range(3)])
        rotation, values = locks.limit.turned(read_rotation(bone), turn), read_values(bone)
        for i, value in zip(locks.free, locks.values(rotation, values), strict=True):
            values[i] = value
        setattr(bone, channel_of(bone.rotation_mode)[0], values)
        assert locks.limit.violation(read_rotation(bone)) < 1e-5
        assert Quaternion(read_rotation(bone)).rotation_difference(Quaternion(rotation)).angle < 1e-5
    point = evaluated_joints(owner, chain)[-1]
    put_channels(owner, before)
    update()
    return point


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_random_locks_are_solved_and_stay(first: int) -> None:
    missed = []
    for seed in range(first, first + 50):
        empty_file()
        owner, random = locked_line(seed), Random(seed)
        chain = add_chain(owner, (0, 0, 0))
        before = [locked_values(bone) for bone in pose_bones(owner)]
        places = [reachable(owner, chain, random) for _ in range(2)]
        found = []
        for place in (*places, places[0]):
            chain.target.location = place
            press("solve")
            assert [locked_values(bone) for bone in pose_bones(owner)] == before
            if chain.status != "REACHED":
                missed.append((seed, chain.status, chain.residual))
            else:
                assert tip_error(owner, chain) < NEAR
            found.append(channels(owner))
            for bone in pose_bones(owner):
                assert read_limit(bone, read_rotation(bone)).violation(read_rotation(bone)) < 1e-5
        assert found[0] == found[2], seed
    assert not missed


def test_random_locks_below_an_uneven_scale_are_solved() -> None:
    missed = []
    for seed in range(60):
        empty_file()
        owner = locked_line(seed)
        pose_bones(owner)["b0"].scale = (1.0, 1.3, 0.8)
        chain = add_chain(owner, (0, 0, 0))
        before = [locked_values(bone) for bone in pose_bones(owner)]
        assert chain.target is not None
        chain.target.location = reachable(owner, chain, Random(seed))
        press("solve")
        assert [locked_values(bone) for bone in pose_bones(owner)] == before
        if chain.status != "REACHED":
            missed.append((seed, chain.status))
    assert missed == []


@pytest.mark.parametrize(
    ("mode", "locked", "values", "kind"),
    [
        ("XYZ", "Y", (0.2, -0.3, 0.4), Universal),
        ("XYZ", "X", (radians(90), 0.1, 0.2), Universal),
        ("ZXY", "X", (radians(90), 0.1, 0.2), Hinge),  # the one between lays the two others on one axis
        ("QUATERNION", "X", (1.0, 0.0, 0.0, 0.0), QuaternionLock),
        ("QUATERNION", "XY", (1.0, 0.0, 0.0, 0.2), Hinge),
        ("QUATERNION", "XY", (0.9, 0.3, 0.0, 0.2), QuaternionLock),
        ("QUATERNION", "WY", (0.0, 0.6, 0.0, 0.8), Hinge),
        ("QUATERNION", "WXY", (0.9, 0.1, 0.3, 0.2), Locked),
        ("AXIS_ANGLE", "X", (0.5, 0.6, 0.8, 0.0), AxisLock),
        ("AXIS_ANGLE", "X", (0.5, 0.0, 0.8, 0.6), QuaternionLock),
        ("AXIS_ANGLE", "YZ", (0.5, 0.6, 0.8, 0.0), Hinge),
        ("AXIS_ANGLE", "W", (0.5, 0.6, 0.8, 0.0), QuaternionLock),
        ("AXIS_ANGLE", "WX", (0.5, 0.6, 0.8, 0.0), QuaternionLock),
        ("AXIS_ANGLE", "WXY", (0.5, 0.6, 0.8, 0.0), Locked),
        ("AXIS_ANGLE", "X", (0.5, 0.0, 0.0, 0.0), Locked),
    ],
)
def test_what_locks_are(mode: str, locked: str, values: tuple[float, ...], kind: type) -> None:
    bone = pose_bones(make_line(2))["b1"]
    setattr(bone, "rotation_mode", mode)
    setattr(bone, channel_of(mode)[0], values)
    lock(bone, tuple(axis in locked for axis in "WXYZ"))
    limit = read_limit(bone, read_rotation(bone))
    assert type(limit) is kind
    assert limit.violation(read_rotation(bone)) < 1e-7


@pytest.mark.parametrize(("locked", "kind"), [("Y", Universal), ("YZ", Hinge), ("XYZ", Locked)])
def test_a_quaternion_may_be_locked_as_euler_angles(locked: str, kind: type) -> None:
    bone = pose_bones(make_line(2))["b1"]
    bone.rotation_quaternion, bone.lock_rotations_4d = (0.9, 0.3, 0.1, 0.2), False
    lock(bone, tuple(axis in locked for axis in "WXYZ"))
    assert type(read_limit(bone, read_rotation(bone))) is kind


def test_what_a_quaternion_is_locked_to_as_euler_angles_does_not_move_with_its_pose() -> None:
    owner = make_line(3, bend=0.3)
    bone = pose_bones(owner)["b1"]
    set_rotation(bone, Quaternion((0.9, 0.2, 0.3, -0.1)), "QUATERNION")
    bone.lock_rotations_4d = False
    lock(bone, (False, False, True, False))
    chain, found = add_chain(owner, (0.3, 0.8, 1.2)), {repr(read_limit(bone, (1.0, 0.0, 0.0, 0.0)))}
    for k in range(12):
        chain.target.location = (0.5 * cos(k), 0.9, 1.6 + 0.5 * sin(1.7 * k))
        press("solve")
        found.add(repr(read_limit(bone, (1.0, 0.0, 0.0, 0.0))))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("mode", "locked"), [("YZX", "Z"), ("QUATERNION", "Y"), ("AXIS_ANGLE", "WY"), ("AXIS_ANGLE", "X")]
)
def test_button_live_and_bake_give_the_same_channels(mode: str, locked: str) -> None:
    owner = make_line(4, bend=0.3)
    bone = pose_bones(owner)["b1"]
    set_rotation(bone, Quaternion((0.9, 0.2, 0.3, -0.1)), mode)
    lock(bone, tuple(axis in locked for axis in "WXYZ"))
    before = locked_values(bone)
    chain = add_chain(owner, (0.8, 0.9, 2.2))
    keyed(chain.target, {1: (0.8, 0.9, 2.2), 10: (-0.9, 0.5, 2.4)})
    pressed = by_button(owner, FRAMES)
    assert chain.status == "REACHED"
    assert_same(by_live(owner, FRAMES), pressed)
    press("bake", frame_start=FRAMES[0], frame_end=FRAMES[-1])
    assert_same(as_played(owner, FRAMES), pressed)
    assert locked_values(bone) == before


@pytest.mark.parametrize("locked", ["Y", "YZ"])
def test_a_hinge_within_locks_is_what_both_allow(locked: str) -> None:
    owner = make_line(2, bend=0.0)
    bone = pose_bones(owner)["b1"]
    bone.rotation_mode = "XYZ"
    lock(bone, tuple(axis in locked for axis in "WXYZ"))
    put(limit_of(bone), limit="HINGE", angle_min=radians(-20), angle_max=radians(20))
    chain = add_chain(owner, (0, 0.3, 0.5))
    press("solve")
    assert (chain.status, [b.name for b in chain.blocking_bones]) == ("BLOCKED", ["b1"])
    assert bone.rotation_euler.x == pytest.approx(radians(20), abs=1e-5)
    assert (bone.rotation_euler.y, abs(bone.rotation_euler.z) < 1e-6) == (0.0, True)


HINGE_Z = {"limit": "HINGE", "axis": (0.0, 0.0, 1.0)}


@pytest.mark.parametrize(
    ("locked", "limit", "pose", "word"),
    [
        ("Y", {"limit": "CONE"}, (0, 0, 0), "rotation channels are locked, which only goes with a hinge or no limit"),
        (
            "Y",
            {"limit": "HINGE", "axis": (0.0, 1.0, 0.0)},
            (0, 0, 0),
            "its hinge turns a rotation channel that is locked",
        ),
        ("YZ", HINGE_Z, (0, 0, 0), "the hinge's axis is not the rotation channel"),
        ("YZ", {"limit": "HINGE"}, (0, radians(0.7), 0), "the hinge's axis is not"),
    ],
)
def test_a_limit_that_goes_beyond_locks_is_refused_by_name(
    locked: str, limit: dict[str, object], pose: tuple[float, float, float], word: str
) -> None:
    owner = make_line(3)
    bone = pose_bones(owner)["b1"]
    put(bone, rotation_mode="XYZ", rotation_euler=pose)
    lock(bone, tuple(axis in locked for axis in "WXYZ"))
    put(limit_of(bone), **limit)
    add_chain(owner, (0.4, 0.9, 1.2))
    assert_refused(f"bone 'b1': .*{word}", "solve")


def test_small_angles_of_axis_angle_bones_are_exact() -> None:
    owner = make_line(10, bend=0.02)
    for bone in pose_bones(owner):
        bone.rotation_mode = "AXIS_ANGLE"
    chain = add_chain(owner, (0, 0, 0))
    for off in (1e-3, 1e-5, 1e-7):
        chain.target.location = (0.05, 0.02, 10 * (1 - off))
        press("solve")
        assert (chain.status, tip_error(owner, chain) < 1e-5) == ("REACHED", True)


@pytest.mark.parametrize(("values", "free"), [((0.2, radians(90), 0.5), 0), ((radians(170), 0.1, radians(170)), 1)])
def test_locked_channels_at_gimbal_and_beyond(values: tuple[float, float, float], free: int) -> None:
    owner = make_line(3)
    bone = pose_bones(owner)["b1"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", values
    bone.lock_rotation = [i != free for i in range(3)]
    before = list(bone.rotation_euler)
    chain = add_chain(owner, (0.3, 0.8, 1.2))
    press("solve")
    assert chain.status in {"REACHED", "BLOCKED"}
    assert all(bone.rotation_euler[i] == before[i] for i in range(3) if i != free)
