# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk is planned from: by the curves of the body the same as by going through the frames."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest
from fabrik_addon.actions.walk.plan import plan_steps, plan_walk
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.schema import rig_of

from dev.walking_rigs import make_spider
from support.scenes import make_empty, update
from support.walks import WALK, around, key_way, planned, walking


def turned(bone: bpy.types.PoseBone) -> None:
    for frame in range(WALK[0], WALK[1] + 1, 7):
        bone.rotation_quaternion = (1.0, 0.02 * (frame % 3), 0.0, -0.01 * frame)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def turned_by_angles(bone: bpy.types.PoseBone) -> None:
    bone.rotation_mode = "ZXY"
    for frame in range(WALK[0], WALK[1] + 1, 7):
        bone.rotation_euler = (0.01 * frame, 0.1, -0.02 * frame)
        bone.keyframe_insert("rotation_euler", frame=frame)


def posed_and_not_keyed(bone: bpy.types.PoseBone) -> None:
    bone.rotation_quaternion = (1.0, 0.3, 0.2, 0.1)


def spider(change: Callable[[bpy.types.PoseBone], None]) -> bpy.types.Object:
    owner = make_spider(4)
    key_way(owner, "b0", around(1.5))
    change(owner.pose.bones["b0"])
    return owner


def visits(owner: bpy.types.Object) -> list[int]:
    """The frames that are gone to while a walk is planned."""
    found: list[int] = []

    def note(scene: bpy.types.Scene, *_: object) -> None:
        found.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(note)
    plan_walk(bpy.context, owner, WALK)
    bpy.app.handlers.frame_change_post.remove(note)
    return found[:-1]  # the last goes back to where it was


def on_a_carrier(owner: bpy.types.Object) -> None:
    """Hang it on something that stands where the world does, and is animated to stay there."""
    owner.parent = make_empty((0, 0, 0), "Carrier")
    for frame in WALK:
        owner.parent.keyframe_insert("location", frame=frame)
    update()


@pytest.mark.parametrize("change", [turned, turned_by_angles, posed_and_not_keyed])
def test_the_path_by_curves_is_that_of_the_frames(change: Callable[[bpy.types.PoseBone], None]) -> None:
    owner = planned(spider(change))
    assert visits(owner) == [*WALK]
    digest = rig_of(owner).walker.digest
    on_a_carrier(owner)
    assert visits(owner) == [*range(WALK[0], WALK[1] + 1)]
    assert rig_of(owner).walker.digest == digest


def test_ground_that_moves_is_looked_at_in_each_frame() -> None:
    owner = planned(spider(turned))
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    ground = bpy.context.object
    assert ground is not None
    assert visits(owner) == [*WALK]
    for frame in WALK:
        ground.location.z = 0.001 * frame
        ground.keyframe_insert("location", frame=frame)
    assert len(visits(owner)) == WALK[1]


def test_settings_that_are_keyed_count_in_their_frames() -> None:
    owner = planned(spider(turned))
    for frame, height in zip(WALK, (0.1, 0.4), strict=True):
        rig_of(owner).walker.step_height = height
        owner.keyframe_insert("fabrik_walker_step_height", frame=frame)
    assert len(visits(owner)) == WALK[1]


def test_keys_that_make_no_pose_are_told_with_their_frame() -> None:
    owner = planned(spider(turned))
    for frame, value in ((WALK[0], 1.0), (20, 0.0), (WALK[1], 1.0)):
        owner.pose.bones["b0"].rotation_quaternion = (value, 0.0, 0.0, 0.0)
        owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=frame)
    for frame in range(WALK[0], WALK[1] + 1, 7):
        if frame != WALK[0]:
            owner.pose.bones["b0"].keyframe_delete("rotation_quaternion", frame=frame)
    with pytest.raises(FabrikError, match=r"in frame 20, the rotation quaternion is zero"):
        plan_walk(bpy.context, owner, WALK)


def test_slices_are_short() -> None:
    """Each goes on from where the last one ended."""
    shares = list(plan_steps(bpy.context, walking("spider"), WALK))
    assert shares == sorted(shares)
    assert len(shares) >= WALK[1]
