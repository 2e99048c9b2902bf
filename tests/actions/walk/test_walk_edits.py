# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that edit a walk: hips are lowered, feet are put elsewhere; at rest nothing changes, to the last bit."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.maths import Doubles
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Vector

from support.scenes import each_frame, make_empty, press, update
from support.skeletons import make_character
from support.walks import key_way

HIPS, FEET = "mixamorig:Hips", ("mixamorig:LeftFoot", "mixamorig:RightFoot")
FRAMES = range(3, 58, 3)
LOWER, ASIDE = Vector((0.0, 0.0, -0.08)), Vector((0.05, 0.0, 0.03))  # of what a leg's length is about .9


@pytest.fixture
def owner() -> bpy.types.Object:
    """A character that is set up, and walks over level ground, live."""
    made = make_character("human_mixamo")
    key_way(made, HIPS, lambda share: (0.0, -1.2 * share / made.matrix_world.to_scale()[0], 0.0), (1, 60))
    press("character_setup", use_walker=True)
    press("walk_plan", span="SCENE")
    rig_of(made).live = True
    return made


def control(owner: bpy.types.Object, name: str) -> Any:
    """The control of a chain."""
    return pose_bones(owner)[rig_of(owner).chains[name].target_bone]


def move(owner: bpy.types.Object, name: str, way: Vector) -> None:
    """Move the control of a chain by a way of the world."""
    bone = control(owner, name)
    bone.location = (owner.matrix_world.to_3x3() @ bone.bone.matrix_local.to_3x3()).inverted() @ way
    update()


def played() -> Doubles:
    """(F, 3, 3), where hips and feet are in each frame."""
    owner = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    found = []
    for _ in each_frame(FRAMES):
        bones = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        found.append([owner.matrix_world @ bones[name].head for name in (HIPS, *FEET)])
    return np.array(found)


def test_controls_of_a_walk_are_at_its_bones(owner: bpy.types.Object) -> None:
    rig = rig_of(owner)
    assert {rig.chains[name].goal for name in ("Body", "Leg.L", "Leg.R")} == {"OFFSET"}
    assert control(owner, "Body").custom_shape_transform == pose_bones(owner)[HIPS]
    assert control(owner, "Leg.L").custom_shape_transform == pose_bones(owner)[FEET[0]]
    press("walker_remove")
    assert rig.chains["Leg.L"].goal == "PLACE"
    assert control(owner, "Leg.L").custom_shape_transform is None


def test_hips_are_lowered_and_feet_stay_and_all_comes_back(owner: bpy.types.Object) -> None:
    before = played()
    move(owner, "Body", LOWER)
    after = played()
    assert np.abs(after[:, 0] - before[:, 0] - LOWER).max() <= 0.01  # where limits hold it off in the walk itself
    assert np.median(np.abs(after[:, 0] - before[:, 0] - LOWER)) <= 1e-5
    assert np.abs(after[:, 1:] - before[:, 1:]).max() <= 0.01
    assert np.median(np.abs(after[:, 1:] - before[:, 1:])) <= 1e-5
    move(owner, "Body", Vector())
    assert (played() == before).all()


def test_hips_turn_with_their_control(owner: bpy.types.Object) -> None:
    scene = bpy.context.scene
    scene.frame_set(FRAMES[3])
    before = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[HIPS].matrix.to_quaternion()
    bone = control(owner, "Body")
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = Euler((0.0, 0.3, 0.0))
    update()
    after = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))[HIPS].matrix.to_quaternion()
    assert before.rotation_difference(after).angle == pytest.approx(0.3, abs=0.02)


def test_a_foot_is_put_elsewhere_for_some_frames_and_baked_as_it_plays(owner: bpy.types.Object) -> None:
    before, bone = played(), control(owner, "Leg.L")
    for frame, way in ((20, Vector()), (26, ASIDE), (34, ASIDE), (40, Vector())):
        move(owner, "Leg.L", way)
        bone.keyframe_insert("location", frame=frame)
    after = played()
    on, off = [FRAMES.index(frame) for frame in (27, 30, 33)], [FRAMES.index(frame) for frame in (3, 12, 18, 42, 54)]
    assert (after[off] == before[off]).all()
    assert np.abs(after[on, 1] - before[on, 1] - ASIDE).max() <= 0.01
    press("walk_bake", into="BONES")
    rig_of(owner).live = False
    assert np.abs(played() - after).max() <= 1e-5


def test_goals_of_a_walk_that_is_edited_are_baked_as_it_plays(owner: bpy.types.Object) -> None:
    move(owner, "Body", LOWER)
    move(owner, "Leg.L", ASIDE)
    before = played()
    press("walk_bake", into="GOALS", tolerance=1e-3)
    assert {rig_of(owner).chains[name].goal for name in ("Body", "Leg.L", "Leg.R")} == {"PLACE"}
    assert np.abs(played() - before).max() <= 0.012


def test_a_control_that_is_moved_already_keeps_its_place_as_a_goal() -> None:
    made = make_character("human_mixamo")
    key_way(made, HIPS, lambda share: (0.0, -1.2 * share / made.matrix_world.to_scale()[0], 0.0), (1, 60))
    press("character_setup", use_walker=True)
    move(made, "Leg.L", ASIDE)
    rig_of(made).chains["Leg.R"].target, rig_of(made).chains["Leg.R"].target_bone = make_empty((0, 0, 0), "Other"), ""
    press("walk_plan", span="SCENE")
    assert {rig_of(made).chains[name].goal for name in ("Leg.L", "Leg.R")} == {"PLACE"}


@pytest.mark.parametrize(
    ("taken", "name", "index"),
    [
        ({"chain": "Leg.L"}, "Leg.L", 1),
        ({"bone": FEET[0], "end": "HEAD"}, "Leg.L", 1),
        ({"bone": HIPS, "end": "HEAD"}, "Body", 0),
    ],
)
def test_what_walks_is_dragged_by_its_control(
    owner: bpy.types.Object, taken: dict[str, str], name: str, index: int
) -> None:
    scene, way = bpy.context.scene, Vector((0.04, 0.0, -0.03 if index == 0 else 0.06))
    scene.frame_set(FRAMES[5])
    before = played()[5]
    scene.frame_set(FRAMES[5])
    press("drag", way=way, **taken)
    world = owner.matrix_world.to_3x3() @ control(owner, name).bone.matrix_local.to_3x3()
    assert (world @ control(owner, name).location - way).length <= 1e-4
    after = played()[5]
    assert np.abs(after[index] - before[index] - way).max() <= 0.01
    assert np.abs(after[2] - before[2]).max() <= 0.01


def test_hips_that_had_a_control_before_keep_it_when_the_walk_is_forgotten() -> None:
    made = make_character("human_mixamo")
    key_way(made, HIPS, lambda share: (0.0, -1.2 * share / made.matrix_world.to_scale()[0], 0.0), (1, 60))
    press("character_setup", use_motion=True)
    before = {one.name: (one.goal, one.target_bone) for one in rig_of(made).chains}
    press("walker_add")
    press("walk_plan", span="SCENE")
    press("walker_remove")
    after = {one.name: (one.goal, one.target_bone if one.target is not None else "") for one in rig_of(made).chains}
    assert {name: after[name] for name in before if before[name][1]} == {n: own for n, own in before.items() if own[1]}
