# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs whose targets are keyed, baked and looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from fabrik_addon.session.bake import BakeSettings, ChainBake, bake
from mathutils import Quaternion

from support.rigs import Bone, add_chain, make_armature, make_empty, make_line, tip_error

FRAMES = tuple(range(1, 21))
Rig = tuple[bpy.types.Object, FabrikChain]
RotationKeys = dict[tuple[str, int], list[tuple[float, ...]]]
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


def keyed_line(mode: str = "QUATERNION", count: int = 3) -> Rig:
    """A line whose target runs on a curve from frame 1 to 20."""
    owner = make_line(count)
    for bone in owner.pose.bones:
        setattr(bone, "rotation_mode", mode)
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    for frame, place in ((1, (-0.5, 0.4, 1.9)), (10, (0.3, 1.2, 1.2)), (20, (0.7, -0.4, 1.6))):
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)
    return owner, chain


def on_moving_parents() -> Rig:
    """A limb on a bone that turns, of an armature that moves, with a target that follows another object."""
    owner = make_armature([Bone((0, 0, 0), (0, 0, 1)), Bone((0, 0, 1), (0, 0.2, 2)), Bone((0, 0.2, 2), (0, 0, 3))])
    chain = add_chain(owner, (0.4, 0.4, 2.4), tip="b2", count=2)
    chain.target.constraints.new("COPY_LOCATION").target = make_empty((0.5, 0.3, 2.2), "Leader")
    base = owner.pose.bones["b0"]
    base.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (20, 0.6)):
        owner.location.x = owner.rotation_euler.z = base.rotation_euler.x = turn
        owner.keyframe_insert("location", frame=frame)
        owner.keyframe_insert("rotation_euler", frame=frame)
        base.keyframe_insert("rotation_euler", frame=frame)
    return owner, chain


def run(owner: bpy.types.Object, chain: FabrikChain, **settings: Any) -> ChainBake:
    """The bake of one chain."""
    return bake(bpy.context, [(owner, chain)], BakeSettings(**{"frames": FRAMES, **settings})).chains[0]


def assert_on_target(
    owner: bpy.types.Object, chain: FabrikChain, frames: Iterable[int] = FRAMES, most: float = 1e-5
) -> None:
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        assert tip_error(owner, chain) < most, frame


def local_rotations(owner: bpy.types.Object) -> list[Quaternion]:
    return [bone.matrix_basis.to_quaternion() for bone in owner.pose.bones]


def rotation_keys(owner: bpy.types.Object) -> RotationKeys:
    return {
        (curve.data_path, curve.array_index): [tuple(point.co) for point in curve.keyframe_points]
        for curve in fcurves_of(owner)
    }


def poses(owner: bpy.types.Object, frames: Iterable[int]) -> dict[int, list[Quaternion]]:
    found: dict[int, list[Quaternion]] = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = local_rotations(owner)
    return found


def assert_same(owner: bpy.types.Object, before: dict[int, list[Quaternion]], most: float = 1e-4) -> None:
    for frame, rotations in before.items():
        bpy.context.scene.frame_set(frame)
        for seen, wanted in zip(local_rotations(owner), rotations, strict=True):
            assert turn_angle(seen.conjugated() @ wanted) < most, frame


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
