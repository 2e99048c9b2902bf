# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking chains to keys, judged by Blender's own evaluation of every frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from math import radians
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import turn_angle
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain
from mathutils import Vector

from support.judging import (
    assert_on_target,
    bake_chain,
    frames_gone_to,
    local_rotations,
    tip_error,
)
from support.scenes import (
    FRAMES,
    SOME_MODES,
    Bone,
    Rig,
    add_chain,
    add_skin,
    each_frame,
    keyed,
    keyed_line,
    keyed_turns,
    make_armature,
    make_empty,
    make_line,
    on_moving_parents,
)


def on_a_parent_that_grows() -> Rig:
    owner = make_line(4)
    chain = add_chain(owner, (0.4, 0.4, 2.4), tip="b3", count=3)
    keyed(owner.pose.bones["b0"], {frame: (size, size, size) for frame, size in ((1, 1.0), (20, 1.3))}, "scale")
    return owner, chain


def on_moving_parents_with_a_pole() -> Rig:
    owner, chain = on_moving_parents()
    chain.pole = make_empty((0, 5, 2), "Pole")
    return owner, chain


REACHED: dict[str, Callable[[], Rig]] = {
    **{mode: partial(keyed_line, mode) for mode in SOME_MODES},
    "a moving armature, a posed parent and a constrained target": on_moving_parents_with_a_pole,
    "a parent whose scale is animated": on_a_parent_that_grows,
}


@pytest.mark.parametrize("rig", REACHED)
def test_every_frame_stands_on_its_target(rig: str) -> None:
    owner, chain = REACHED[rig]()
    result = bake_chain(owner, chain)
    assert result.unreached == []
    assert result.worst_tip_error[0] < 1e-5
    assert_on_target(owner, chain)
    assert not chain.enabled


@pytest.mark.parametrize("mode", SOME_MODES)
def test_channels_run_on_without_jumps(mode: str) -> None:
    owner, chain = keyed_line(mode)
    bake_chain(owner, chain)
    for curve in fcurves_of(owner):
        if mode == "AXIS_ANGLE" and curve.array_index > 0:
            continue  # the axis of a small turn may be any
        values = [point.co[1] for point in curve.keyframe_points]
        assert all(abs(b - a) < 0.7 for a, b in pairwise(values)), curve.data_path


def test_a_channel_that_stays_gets_one_key(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b2"].fabrik.limit = "LOCKED"
    bake_chain(owner, chain)
    counts = {len(curve.keyframe_points) for curve in fcurves_of(owner) if '"b2"' in curve.data_path}
    assert counts == {1}


def test_limits_and_poles_hold_in_every_frame(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.pole = make_empty((0, 4, 1), "Pole")
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.angle_min, knee.angle_max = "HINGE", -2.5, 0.2
    result = bake_chain(owner, chain)
    assert result.worst_violation < 1e-5
    assert_on_target(owner, chain, [f for f in FRAMES if f not in dict(result.unreached)])


@pytest.mark.parametrize(
    ("what", "wanted"), [("nothing", 0), ("another bone", 0), ("a bone above", 20), ("target", 20)]
)
def test_frames_are_gone_to_only_where_something_else_moves(what: str, wanted: int) -> None:
    owner, chain = keyed_line(count=4)
    chain.tip_bone, chain.bone_count = "b2", 2
    bone = owner.pose.bones["b3" if what == "another bone" else "b0"]
    if what == "target":
        chain.target.constraints.new("LIMIT_LOCATION")
    elif what != "nothing":
        keyed_turns(bone, {1: 0.0, 20: 0.3})
    with frames_gone_to() as visited:
        bake_chain(owner, chain, verify="NONE")
    assert len(visited) == wanted + 1
    assert_on_target(owner, chain)


@pytest.mark.parametrize("parented", [False, True])
def test_a_simulated_target_is_come_to_step_by_step(parented: bool, line: bpy.types.Object) -> None:
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.3, 0.4, 2.8))
    ball = bpy.context.object
    bpy.ops.rigidbody.object_add()
    chain = add_chain(line)
    chain.target = ball
    if parented:
        chain.target = make_empty((0, 0, 0), "Holder")
        chain.target.parent = ball
    bpy.context.scene.frame_start = 1
    result = bake_chain(line, chain, frames=(6, 9, 12))
    assert result.unreached == []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    assert ball.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z < 2.5
    assert tip_error(line, chain) < 1e-5


def test_chains_that_hang_on_each_other_are_baked_in_order() -> None:
    owner = make_line(6)
    spine = add_chain(owner, (0.2, 0.8, 2.5), tip="b2", count=3)
    keyed(spine.target, {1: 0.2, 20: 0.9}, "location.x")
    arm = add_chain(owner, (0.6, 1.5, 3.6), tip="b5", count=3)
    names = [spine.name, arm.name]
    results = bake(bpy.context, [(owner, owner.fabrik.chains[name]) for name in names], BakeSettings(FRAMES)).chains
    assert [result.chain for result in results] == names
    for chain, result in zip(owner.fabrik.chains, results, strict=True):
        unreached = dict(result.unreached)
        assert "MOVED" not in unreached.values()
        assert len(unreached) < len(FRAMES) / 2
        assert_on_target(owner, chain, [frame for frame in FRAMES if frame not in unreached])


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
def test_keys_outside_the_range_stay(interpolation: str, owner: bpy.types.Object, chain: FabrikChain) -> None:
    bone = owner.pose.bones["b0"]
    for frame in (-20, 5, 90):
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bake_chain(owner, chain, interpolation=interpolation)
    curve = next(c for c in fcurves_of(owner) if '"b0"' in c.data_path and c.array_index == 1)
    frames = [point.co[0] for point in curve.keyframe_points]
    assert frames == [-20.0, *map(float, FRAMES), 90.0]
    assert {point.interpolation for point in curve.keyframe_points[1:-1]} == {interpolation}
    assert_on_target(owner, chain)


def test_a_new_action_leaves_the_old_one(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b0"].keyframe_insert("location", frame=3)
    old = owner.animation_data.action
    bake_chain(owner, chain, into="NEW_ACTION")
    assert owner.animation_data.action != old
    assert old.use_fake_user
    assert {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)} == {"location", "rotation_quaternion"}
    assert_on_target(owner, chain)
    owner.animation_data.action = old
    assert {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner)} == {"location"}


def test_a_track_of_its_own(owner: bpy.types.Object, chain: FabrikChain) -> None:
    bake_chain(owner, chain, into="NLA")
    assert len(owner.animation_data.nla_tracks) == 1
    assert not fcurves_of(owner)
    assert_on_target(owner, chain)


def test_frames_out_of_reach_are_listed(owner: bpy.types.Object, chain: FabrikChain) -> None:
    chain.target.location.z = 9.0
    chain.target.keyframe_insert("location", frame=20)
    result = bake_chain(owner, chain)
    assert result.unreached
    assert result.unreached[-1] == (20, "TOO_FAR")
    assert result.as_json()["unreached"][-1]["last"] == 20
    assert {bake_chain["status"] for bake_chain in result.as_json()["unreached"]} == {"TOO_FAR"}


def test_the_operator_bakes_the_enabled_chains_and_puts_the_frame_back(owner: bpy.types.Object) -> None:
    bpy.context.scene.frame_set(7)
    assert bpy.ops.fabrik.bake(frame_start=2, frame_end=12, step=5) == {"FINISHED"}
    assert bpy.context.scene.frame_current == 7
    frames = {point.co[0] for curve in fcurves_of(owner) for point in curve.keyframe_points}
    assert frames == {2.0, 7.0, 12.0}


def test_nothing_is_lost_where_a_later_frame_fails(owner: bpy.types.Object, chain: FabrikChain) -> None:
    owner.pose.bones["b0"].keyframe_insert("rotation_quaternion", frame=5)
    before = [[tuple(point.co) for point in curve.keyframe_points] for curve in fcurves_of(owner)]
    constraint = chain.target.constraints.new("COPY_LOCATION")
    constraint.target = make_empty((0, 0, 2), "Leader")
    leader = constraint.target
    keyed(leader, {1: 0.0, 9: 0.0, 10: float("nan")}, "location.x")
    with pytest.raises(FabrikError, match="in frame"):
        bake_chain(owner, chain)
    assert [[tuple(point.co) for point in curve.keyframe_points] for curve in fcurves_of(owner)] == before
    assert chain.enabled


def test_many_chains_of_different_structure_in_one_go() -> None:
    frames = tuple(range(1, 13))
    owner = make_armature(
        [Bone((x, 0, z), (x, 0.2 * (z % 2), z + 1), parent=None if z == 0 else -1) for x in (0, 3, 6) for z in range(3)]
    )
    for i, tip in enumerate(("b2", "b5", "b8")):
        add_chain(owner, tip=tip, count=3)
        target = make_empty((3 * i + 0.5, 0.6, 1.8))
        keyed(target, {1: 1.8, 12: 1.2}, "location.z")
        owner.fabrik.chains[i].target = target
    owner.pose.bones["b4"].fabrik.limit = "CONE"
    owner.fabrik.chains[2].tolerance = 1e-5
    owner.fabrik.chains[0].influence = 0.5
    bpy.ops.fabrik.bake(frame_start=1, frame_end=12, chains="ALL")
    for i in (1, 2):
        assert_on_target(owner, owner.fabrik.chains[i], frames)
    baked = {frame: local_rotations(owner)[:3] for frame in each_frame(frames)}
    owner.fabrik.chains[0].enabled = True
    for frame in each_frame((3, 11)):
        owner.fabrik.active_index = 0
        bpy.ops.fabrik.solve()
        for seen, solved in zip(baked[frame], local_rotations(owner)[:3], strict=True):
            assert turn_angle(seen.conjugated() @ solved) < 2e-3


def test_many_chains_are_reported_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_armature(
        [Bone((x, 0, z), (x, 0.2 * (z % 2), z + 1), parent=None if z == 0 else -1) for x in range(6) for z in range(2)]
    )
    for i in range(6):
        add_chain(owner, (i, 0.5, 40.0 if i == 5 else 1.4), tip=f"b{2 * i + 1}", count=2)
    bpy.ops.fabrik.bake(frame_start=1, frame_end=3)
    said = [line for line in capfd.readouterr().out.splitlines() if "chains" in line and "keys" in line]
    assert len(said) == 1
    assert "not reached by b11" in said[0]


def test_influence_that_falls_is_not_taken_for_a_move(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed(chain, {1: 1.0, 20: 0.3}, "influence")
    bpy.context.scene.frame_set(1)
    assert bake_chain(owner, chain).unreached == []


@pytest.mark.parametrize("verify", ["EVERY", "NONE"])
@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_a_chain_of_no_influence_asks_for_nothing_that_could_be_missed(
    verify: str, is_keyed: bool, together: bool, owner: bpy.types.Object, chain: FabrikChain
) -> None:
    if together:
        owner.fabrik.body_bone = "b0"
    chain.target.location.z = 40.0
    chain.target.keyframe_insert("location", frame=20)
    for frame, value in ((18, 1.0), (19, 0.0)) if is_keyed else ((1, 0.0),):
        chain.influence = value
        if is_keyed:
            owner.keyframe_insert("fabrik_chains[0].influence", frame=frame)
    bpy.context.scene.frame_set(1)
    result = bake_chain(owner, chain, verify=verify)
    assert [frame for frame, _ in result.unreached if frame >= 19 or not is_keyed] == []
    assert result.residuals[18:].max() == 0.0


def test_limits_hold_where_keys_are_left_out_beside_a_keyed_setting() -> None:
    owner, chain = keyed_line(count=2)
    for bone in owner.pose.bones:
        bone.fabrik.limit, bone.fabrik.angle_min, bone.fabrik.angle_max = "HINGE", -0.4, 0.4
    keyed(chain, {1: 4e-5, 20: 9e-5}, "tolerance")
    bpy.context.scene.frame_set(1)
    bake_chain(owner, chain, clean_up=radians(8.0))
    for _ in each_frame(FRAMES):
        assert all(abs(bone.matrix_basis.to_euler().x) < 0.4 + 2e-4 for bone in owner.pose.bones)


def test_a_still_chain_and_a_changing_one_in_one_bake() -> None:
    owner, chain = keyed_line(count=4)
    chain.bone_count, chain.tip_bone = 2, "b1"
    other = add_chain(owner, (0.5, 0.3, 3.0), tip="b3", count=2)
    keyed(other, {1: 0.5, 20: 1.0}, "influence")
    result = bake(bpy.context, [(owner, chain), (owner, other)], BakeSettings(FRAMES))
    assert [found.chain for found in result.chains] == [chain.name, other.name]
    assert all(found.keys for found in result.chains)


OPERATORS = {"io_scene_gltf2": "gltf", "io_scene_fbx": "fbx"}


@contextmanager
def enabled(name: str) -> Iterator[None]:
    """An add-on of Blender's, meanwhile."""
    addons: Any = addon_utils
    _, was_enabled = addons.check(name)
    addons.enable(name)
    try:
        yield
    finally:
        if not was_enabled:
            addons.disable(name)


def skinned(mode: str) -> Rig:
    """A line of four bones with a mesh on it; the chain has the first three, so that the fourth's head is its tip."""
    owner, chain = keyed_line(mode, 4)
    chain.tip_bone, chain.bone_count = "b2", 3
    corners = [(x, 0.0, z) for z in range(4) for x in (-0.1, 0.1)]
    faces, groups = [(i, i + 1, i + 3, i + 2) for i in (0, 2, 4)], {f"b{i}": [2 * i, 2 * i + 1] for i in range(4)}
    add_skin(owner, corners, faces, groups).parent = owner
    return owner, chain


def heads(owner: bpy.types.Object) -> dict[int, list[Vector]]:
    """World heads of the bones in each frame."""
    found = {}
    for frame in each_frame(FRAMES):
        evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = [evaluated.matrix_world @ evaluated.pose.bones[f"b{i}"].head for i in range(4)]
    return found


def read_back(kind: str, path: Path) -> bpy.types.Object:
    """The armature of the scene, exported and imported into an empty file."""
    exporters: Any = bpy.ops.export_scene
    importers: Any = bpy.ops.import_scene
    path = path.with_suffix(".glb" if kind == "gltf" else ".fbx")
    exact = {"bake_anim_simplify_factor": 0.0} if kind == "fbx" else {}
    getattr(exporters, kind)(filepath=str(path), **exact)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    getattr(importers, kind)(filepath=str(path))
    (found,) = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    return found


@pytest.mark.parametrize("into", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("addon", OPERATORS)
def test_joints_are_where_they_were_seen(tmp_path: Path, addon: str, mode: str, into: str) -> None:
    owner, chain = skinned(mode)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES, into)).all_reached
    seen = heads(owner)
    with enabled(addon):
        found = heads(read_back(OPERATORS[addon], tmp_path / "shot"))
    for frame, joints in seen.items():
        for one, other in zip(joints, found[frame], strict=True):
            assert (one - other).length < 1e-5, frame
