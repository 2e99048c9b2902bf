# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests see of rigs: mostly Blender's own evaluation of them, which is the judge."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import degrees
from random import Random
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import BakeResult, BakeSettings, ChainBake, bake
from fabrik_addon.actions.drag import Grip, begin, drag_to
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.plan import WalkPlan, feet_at
from fabrik_addon.maths import Q4, V3, Singles, conjugated, distance, multiplied, q4, turn_angle, v3
from fabrik_addon.rig.animation.channels import read_values
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.figure.kinematics import world_turn
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Matrix, Quaternion, Vector

from support.scenes import FRAMES, HEIGHT, LENGTH, SQUAT, chain_bones, each_frame, items_of, press, update
from support.walks import legs_of

CLOSE = 1e-5  # share of a length
HELD = 1e-4 * HEIGHT  # how far a foot of the tests' body that is pinned may be from its place
HELD_TURN = 1e-3  # radians
ROUNDING = 2e-5  # share of a limb's length
ULPS = 4.0  # units in the last place of a channel, or of a one where the channel is smaller
RotationKeys = dict[tuple[str, int], list[tuple[float, ...]]]
Channels = dict[str, list[float]]


def evaluated(owner: bpy.types.Object) -> bpy.types.Object:
    """An object as evaluated last."""
    return owner.evaluated_get(bpy.context.evaluated_depsgraph_get())


def evaluated_joints(owner: bpy.types.Object, chain: FabrikChain) -> list[Vector]:
    """World positions of all heads and the tip's tail."""
    found = evaluated(owner)
    bones = [found.pose.bones[bone.name] for bone in chain_bones(owner, chain)]
    return [found.matrix_world @ point for point in [*(bone.head for bone in bones), bones[-1].tail]]


def limb_joints(owner: bpy.types.Object, chain: FabrikChain) -> list[V3]:
    """World positions of all joints from the root to the effector."""
    joints = [v3(joint) for joint in evaluated_joints(owner, chain)]
    return joints[:-1] if chain.effector == "HEAD" else joints


def chain_length(joints: Sequence[Vector]) -> float:
    """Sum of the distances between joints."""
    return sum(distance(a, b) for a, b in itertools.pairwise(joints))


def tip_error(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """Distance of the tip from the target, as a share of the chain's length."""
    joints = evaluated_joints(owner, chain)
    return distance(joints[-1], evaluated(chain.target).matrix_world.translation) / chain_length(joints)


def effector(owner: bpy.types.Object, chain: FabrikChain) -> Vector:
    """Where the effector of a chain stands in the world."""
    found = evaluated(owner)
    tip = found.pose.bones[chain.tip_bone]
    return found.matrix_world @ (tip.head if chain.effector == "HEAD" else tip.tail)


def off_target(owner: bpy.types.Object, name: str) -> float:
    """How far the effector of a chain is from the origin of its target."""
    chain = rig_of(owner).chains[name]
    assert chain.target is not None
    return distance(effector(owner, chain), chain.target.matrix_world.translation)


def tip_turn(owner: bpy.types.Object, chain: FabrikChain) -> Q4:
    """How the tip bone of a chain is turned in the world."""
    return bone_turn(owner, chain.tip_bone)


def angle_between(a: Sequence[float], b: Sequence[float]) -> float:
    """The angle between two rotations in radians."""
    return turn_angle(multiplied(conjugated(q4(a)), q4(b)))


def bone_head(owner: bpy.types.Object, bone: str) -> Vector:
    """Where the head of a bone stands in the world."""
    found = evaluated(owner)
    return found.matrix_world @ found.pose.bones[bone].head


def bone_turn(owner: bpy.types.Object, bone: str) -> Q4:
    """How a bone is turned in the world."""
    found = evaluated(owner)
    return world_turn(found, found.pose.bones[bone])


def bone_heads(owner: bpy.types.Object) -> dict[str, Vector]:
    """Where the heads of all bones stand in the world."""
    found = evaluated(owner)
    return {bone.name: found.matrix_world @ bone.head for bone in found.pose.bones}


def statuses(owner: bpy.types.Object) -> dict[str, str]:
    """The status of each chain."""
    return {chain.name: chain.status for chain in rig_of(owner).chains}


def assert_feet_hold(owner: bpy.types.Object) -> None:
    """The pins of a body hold their place, and their rotation where they keep it."""
    update()
    pinned = [chain for chain in rig_of(owner).chains if chain.pin]
    assert pinned
    for chain in pinned:
        assert (effector(owner, chain) - Vector(chain.held_location)).length <= HELD
        if chain.orientation == "KEEP":
            assert angle_between(tip_turn(owner, chain), chain.held_rotation) <= HELD_TURN


def channels(owner: bpy.types.Object) -> list[tuple[float, ...]]:
    """All rotation channels of all bones, for comparing bit by bit."""
    bones: Iterable[Any] = owner.pose.bones
    return [
        (*bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle, *bone.location, *bone.scale)
        for bone in bones
    ]


def local_rotations(owner: bpy.types.Object) -> list[Quaternion]:
    """How all bones are turned by their channels."""
    return [bone.matrix_basis.to_quaternion() for bone in owner.pose.bones]


def bone_matrices(owner: bpy.types.Object) -> dict[str, Matrix]:
    """Where all bones stand in armature space."""
    return {bone.name: bone.matrix.copy() for bone in evaluated(owner).pose.bones}


def assert_bones_stay(owner: bpy.types.Object, before: dict[str, Matrix], most: float, turn: float) -> None:
    """Bones stand where they did, in units of armature space and in radians."""
    now = bone_matrices(owner)
    for name, matrix in before.items():
        assert (now[name].translation - matrix.translation).length < most, name
        assert angle_between(now[name].to_quaternion(), matrix.to_quaternion()) < turn, name


class Stand:
    """Where all joints, and the sides of all bones, stand."""

    def __init__(self, owner: bpy.types.Object) -> None:
        self.name = owner.name
        self.points = self._points()

    def _points(self) -> list[Vector]:
        found = evaluated(bpy.data.objects[self.name])
        points = []
        for bone in found.pose.bones:
            side = bone.matrix @ Vector((0.5 * bone.length, 0, 0))
            points += [found.matrix_world @ point for point in (bone.head, bone.tail, side)]
        return points

    def moved(self) -> float:
        """How far the point that moved most did, as a share of a limb's length."""
        return max(distance(a, b) for a, b in zip(self.points, self._points(), strict=True)) / 4.0


def assert_stays(owner: bpy.types.Object, stand: Stand) -> None:
    """Nothing moved, and nothing does with the next solve or live."""
    assert stand.moved() <= ROUNDING
    press("solve_all")
    assert stand.moved() <= ROUNDING
    assert set(statuses(owner).values()) == {"REACHED"}
    rig_of(owner).live = True
    assert stand.moved() <= ROUNDING
    for chain in rig_of(owner).chains:  # a hair away there is no other pose either
        chain.target.location.z += 1e-5
    assert stand.moved() <= 1e-2


def apart(owner: bpy.types.Object, chain: FabrikChain, before: Sequence[Vector]) -> float:
    """How far the joint of a chain that moved most did."""
    return max(distance(a, b) for a, b in zip(evaluated_joints(owner, chain), before, strict=True))


def joints_moved(owner: bpy.types.Object, chain: FabrikChain, before: Sequence[Vector]) -> float:
    """The same of a limb with bone goals, as a share of its length in the world."""
    return apart(owner, chain, before) / (2.0 * LENGTH)


def most_turn(
    owner: bpy.types.Object,
    taken: Grip,
    way: Callable[[float], Vector],
    steps: int,
    check: Callable[[bpy.types.Object], object] = evaluated,
) -> float:
    """The most degrees by which a bone turns below its parent in a step of a drag on a way, by the share of the steps.

    After each step it is checked.
    """
    drag = begin(bpy.context, owner, taken)
    most, before = 0.0, local_rotations(owner)
    for step in range(1, steps + 1):
        drag_to(bpy.context, drag, drag.place + way(step / steps))
        check(owner)
        now = local_rotations(owner)
        most = max(most, *(angle_between(a, b) for a, b in zip(before, now, strict=True)))
        before = now
    return degrees(most)


# Keys and frames


def rotation_keys(owner: bpy.types.Object) -> RotationKeys:
    """The keys of all curves."""
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in fcurves_of(owner)
    }


def location_keys(owner: bpy.types.Object, bone: str) -> set[float]:
    """The frames at which the location of a bone is keyed."""
    path = f'pose.bones["{bone}"].location'
    return {point.co[0] for curve in fcurves_of(owner) if curve.data_path == path for point in curve.keyframe_points}


def key_frames(owned: Any) -> set[float]:
    """The frames at which anything is keyed."""
    return {point.co[0] for curve in fcurves_of(owned) for point in curve.keyframe_points}


def poses(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, list[Quaternion]]:
    """How all bones are turned in some frames."""
    return {frame: local_rotations(owner) for frame in each_frame(frames)}


def assert_poses(owner: bpy.types.Object, before: dict[int, list[Quaternion]], most: float = 1e-4) -> None:
    """All bones are turned as they were in some frames."""
    for frame, rotations in before.items():
        bpy.context.scene.frame_set(frame)
        for seen, wanted in zip(local_rotations(owner), rotations, strict=True):
            assert turn_angle(seen.conjugated() @ wanted) < most, frame


def assert_on_target(
    owner: bpy.types.Object, chain: FabrikChain, frames: Iterable[int] = FRAMES, most: float = 1e-5
) -> None:
    """The tip is on its target in some frames."""
    for frame in each_frame(frames):
        assert tip_error(owner, chain) < most, frame


@contextmanager
def frames_gone_to() -> Iterator[list[int]]:
    """The frames that Blender evaluates meanwhile, of whatever scene."""
    found: list[int] = []

    def note(scene: bpy.types.Scene, _: bpy.types.Depsgraph) -> None:
        found.append(scene.frame_current)

    handlers: Any = bpy.app.handlers.frame_change_post
    handlers.append(note)
    try:
        yield found
    finally:
        handlers.remove(note)


def bake_chain(owner: bpy.types.Object, chain: FabrikChain, **settings: Any) -> ChainBake:
    """The bake of one chain."""
    return bake(bpy.context, [(owner, chain)], BakeSettings(**{"frames": FRAMES, **settings})).chains[0]


def bake_all(owner: bpy.types.Object, **settings: Any) -> BakeResult:
    """The bake of all chains of a body."""
    return bake(bpy.context, items_of(owner), BakeSettings(**{"frames": SQUAT, **settings}))


# One answer: the channels of all bones by frame, by whatever way


def stored_channels(owner: bpy.types.Object) -> Channels:
    """All channels as they are stored."""
    return {bone.name: [*read_values(bone), *bone.location, *bone.scale] for bone in owner.pose.bones}


def by_button(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    """Solved in each frame."""
    found = {}
    for frame in each_frame(frames):
        solve_items(bpy.context, items_of(owner))
        found[frame] = stored_channels(owner)
    return found


def as_played(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    """As each frame shows them."""
    return {frame: stored_channels(owner) for frame in each_frame(frames)}


def by_live(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, Channels]:
    """As each frame shows them while they follow live."""
    rig_of(owner).live = True
    found = as_played(owner, frames)
    rig_of(owner).live = False
    return found


def single_channels(owner: bpy.types.Object) -> Singles:
    """All channels of all bones, in single precision, as Blender stores them."""
    return np.array(channels(owner), dtype=np.float32)


def ulps_apart(a: Singles, b: Singles, least: float = 0.0) -> float:
    """The most by which channels differ, in units in the last place of the larger, or of a number if that is larger."""
    sizes = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.float32(least))
    return float((np.abs(a - b) / np.spacing(sizes)).max())


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


def assert_one_answer(owner: bpy.types.Object, frames: Iterable[int]) -> None:
    """Button, live posing and a bake give the same pose in some frames, in whatever order."""
    wanted = by_button(owner, frames)
    assert_same(by_live(owner, frames), wanted)
    press("bake", span="RANGE", frame_start=1, frame_end=max(frames))
    assert_same(as_played(owner, frames), wanted)


def shuffled(frames: Iterable[int]) -> list[int]:
    """The same in another order, always the same one."""
    found = list(frames)
    Random(3).shuffle(found)
    return found


# Walks


def walk_plan(owner: bpy.types.Object) -> WalkPlan:
    """The plan of a walk that was planned."""
    plan = plan_of(owner)
    assert plan is not None
    return plan


def feet(owner: bpy.types.Object, frame: float) -> tuple[FootPose, ...]:
    """Where the feet of a planned walk are."""
    return feet_at(walk_plan(owner), frame)


def worst_foot(owner: bpy.types.Object, frame: int) -> float:
    """How far the worst effector is from where the plan has it, as a share of its leg."""
    pairs = zip(legs_of(owner), feet(owner, frame), walk_plan(owner).legs, strict=True)
    return max(distance(effector(owner, chain), foot.ankle) / leg.reach for chain, foot, leg in pairs)


def assert_alike(mine: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], near: float = 1e-6) -> None:
    """Channels of bones are the same."""
    for a, b in zip(mine, theirs, strict=True):
        assert a == pytest.approx(b, abs=near)
