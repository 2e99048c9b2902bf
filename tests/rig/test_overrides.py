# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked rigs: refused as they are, and kept through save and reload as library overrides."""

from __future__ import annotations

import json
from math import radians
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.maths import Q4, q4
from fabrik_addon.rig.figure.start_pose import capture, reset, store_start
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Vector

from support.judging import angle_between, effector, evaluated_joints, tip_error, tip_turn
from support.scenes import (
    add_chain,
    add_limb,
    assert_refused,
    each_frame,
    keyed,
    linked,
    make_body,
    make_empty,
    make_line,
    overridden,
    press,
    reload,
    select,
    update,
)


def line(with_chain: bool = True) -> bpy.types.Object:
    """A line, with or without anything of FABRIK on it."""
    owner = make_line(3, bend=0.2)
    if with_chain:
        add_chain(owner).name = "from library"
    return owner


def link(owner: bpy.types.Object, path: Path, *, override: bool = True, is_editable: bool = True) -> bpy.types.Object:
    """The rig linked with a collection into an empty scene, from a file in a folder; active, and overridden or not."""
    collection = bpy.data.collections.new("Character")
    collection.objects.link(owner)
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(owner)
    found = linked(path, "collections", "Character")
    bpy.context.scene.collection.children.link(found)
    if override:
        found.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=is_editable)
    owner = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE" and bool(o.override_library) == override)
    bpy.context.view_layer.objects.active = owner
    return owner


def reloaded(path: Path) -> bpy.types.Object:
    reload(path)
    return next(o for o in bpy.context.scene.objects if o.override_library and o.type == "ARMATURE")


def test_linked_rig_is_refused(tmp_path: Path) -> None:
    link(line(), tmp_path, override=False)
    assert not bpy.ops.fabrik.solve.poll()
    assert_refused("It is linked: make a library override", "solve")


def test_an_override_that_can_not_be_edited_is_refused(tmp_path: Path) -> None:
    """Blender makes such ones of what an edited one needs, and drops what is written to their bones."""
    owner = link(line(), tmp_path, is_editable=False)
    assert owner.override_library.is_system_override
    for name in ("solve", "bake"):
        assert_refused("It is a library override that can't be edited: make it editable", name)


def test_the_list_follows_the_active_bone_on_an_override(tmp_path: Path) -> None:
    owner = link(line(), tmp_path)
    bpy.ops.fabrik.chain_add(tip_bone="b0", bone_count=1)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ("b0", "b2"):
        assert owner.fabrik.active_index == 1
        owner.data.bones.active = owner.data.bones[bone]
        owner.update_tag()
        bpy.context.view_layer.update()
    assert owner.fabrik.active_index == 0
    bpy.context.scene.fabrik_list_index = 1
    assert (owner.fabrik.active_index, owner.data.bones.active.name) == (1, "b0")


def test_the_list_of_a_linked_rig_stays_as_it_is(tmp_path: Path) -> None:
    owner = link(line(), tmp_path, override=False)
    bpy.context.scene.fabrik_list_index = 1
    assert owner.fabrik.active_index == 0


@pytest.mark.parametrize("with_chain", [False, True])
def test_everything_set_on_an_override_is_there_after_reload(tmp_path: Path, with_chain: bool) -> None:
    owner = link(line(with_chain), tmp_path)
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=3, use_target=True, use_pole=True)
    chain = owner.fabrik.chains[-1]
    chain.name, chain.influence, chain.pole_angle = "mine", 0.75, 0.5
    chain.target.location = (0.8, 0.7, 2.0)
    owner.pose.bones["b1"].fabrik.limit = "HINGE"
    owner.pose.bones["b1"].fabrik.axis = (1, 0, 0)
    owner.pose.bones["b1"].fabrik.angle_min = radians(-140)
    bpy.ops.fabrik.start_pose_capture()
    bpy.ops.fabrik.solve(chain="mine")
    assert chain.status == "REACHED"
    passes = chain.passes
    owner = reloaded(tmp_path)
    chain = owner.fabrik.chains["mine"]
    assert [c.name for c in owner.fabrik.chains] == (["from library"] if with_chain else []) + ["mine"]
    assert owner.fabrik.active_index == int(with_chain)
    assert (chain.tip_bone, chain.bone_count, chain.start, chain.passes) == ("b2", 3, "CAPTURED", passes)
    assert (chain.influence, chain.pole_angle) == (0.75, 0.5)
    assert chain.target.name == "b2.target"
    assert chain.pole.name == "b2.pole"
    assert [item.name for item in chain.captured] == ["b0", "b1", "b2"]
    limit = owner.pose.bones["b1"].fabrik
    assert (limit.limit, tuple(limit.axis), round(limit.angle_min, 4)) == ("HINGE", (1, 0, 0), round(radians(-140), 4))


def test_a_chain_of_the_library_is_solved_on_the_override(tmp_path: Path) -> None:
    owner = link(line(), tmp_path)
    chain = owner.fabrik.chains["from library"]
    chain.target = make_empty((0.8, 0.7, 2.0))
    bpy.ops.fabrik.solve()
    assert chain.status == "REACHED"
    owner = reloaded(tmp_path)
    assert owner.fabrik.chains["from library"].target is not None
    assert tip_error(owner, owner.fabrik.chains["from library"]) < 1e-4


def test_a_chain_of_the_library_can_not_be_removed(tmp_path: Path) -> None:
    owner = link(line(), tmp_path)
    assert_refused("comes from the library file", "chain_remove")
    assert len(owner.fabrik.chains) == 1


def test_removing_all_chains_keeps_and_names_those_of_the_library(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    owner = link(line(), tmp_path)
    assert_refused("come from the library file", "chain_remove_all")
    bpy.ops.fabrik.chain_add(tip_bone="b2", bone_count=2)
    bpy.ops.fabrik.chain_remove_all()
    assert [chain.name for chain in owner.fabrik.chains] == ["from library"]
    assert "Kept 1 chain: from library, from the library file" in capfd.readouterr().out


def keyed_target(chain: FabrikChain) -> None:
    chain.target = make_empty((0.8, 0.7, 2.0))
    keyed(chain.target, {1: (0.8, 0.7, 2.0), 10: (0.2, 0.9, 2.2)})


def assert_baked(owner: bpy.types.Object, name: str) -> None:
    chain = owner.fabrik.chains[name]
    assert not chain.enabled
    for _ in each_frame((1, 5, 10)):
        assert tip_error(owner, chain) < 1e-5
    assert json.loads(owner.fabrik.bake_report)["chains"][0]["chain"] == name


@pytest.mark.parametrize("into", ["ACTION", "NLA"])
def test_a_bake_on_an_override_is_there_after_reload(tmp_path: Path, into: str) -> None:
    owner = link(line(), tmp_path)
    keyed_target(owner.fabrik.chains["from library"])
    bpy.ops.fabrik.bake(frame_start=1, frame_end=10, into=into)
    assert_baked(owner, "from library")
    assert_baked(reloaded(tmp_path), "from library")


def test_an_action_of_the_library_is_left_alone(tmp_path: Path) -> None:
    owner = make_line(3, bend=0.2)
    owner.pose.bones["b0"].keyframe_insert("location", frame=1)
    owner.animation_data.action.name = "LibraryAction"
    add_chain(owner).name = "from library"
    owner = link(owner, tmp_path)
    keyed_target(owner.fabrik.chains["from library"])
    assert_refused("its action 'LibraryAction' is linked: bake into a new one", "bake", frame_start=1, frame_end=10)
    bpy.ops.fabrik.bake(frame_start=1, frame_end=10, into="NEW_ACTION")
    assert owner.animation_data.action.is_editable
    assert_baked(reloaded(tmp_path), "from library")


def test_a_linked_rig_can_not_be_baked(tmp_path: Path) -> None:
    owner = link(line(), tmp_path, override=False)
    assert not owner.is_editable
    assert_refused("It is linked", "bake", frame_start=1, frame_end=10)


def test_a_chain_of_an_override_is_mirrored_and_follows_a_bone_renamed_in_the_library(tmp_path: Path) -> None:
    owner = make_line(3, bend=0.2)
    for old, new in (("b0", "arm.L"), ("b1", "arm.R")):
        owner.data.bones[old].name = new
    add_chain(owner, tip="arm.L", count=1).name = "from library"
    owner = link(owner, tmp_path)
    bpy.ops.fabrik.chain_mirror()
    assert [chain.tip_bone for chain in owner.fabrik.chains] == ["arm.L", "arm.R"]
    assert_refused("its armature data is linked, so it can't be given bones", "target_add", kind="BONE")
    file, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=file)
    bpy.data.objects["Rig"].data.bones["arm.R"].name = "wing"
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=shot)
    owner = next(o for o in bpy.context.scene.objects if o.override_library and o.type == "ARMATURE")
    assert [chain.tip_bone for chain in owner.fabrik.chains] == ["arm.L", "wing"]


def test_switches_of_the_scene_leave_a_linked_live_rig_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    owner = make_line(3, bend=0.2)
    add_chain(owner, (0.3, -0.5, 1.9))
    owner.fabrik.live = True
    owner = linked(tmp_path, "objects", "Rig")
    bpy.context.collection.objects.link(owner)
    capfd.readouterr()
    scene: Any = bpy.context.scene
    for on in (False, True):
        scene.fabrik_live = on
        bpy.context.view_layer.update()
    assert "linked: make a library override" in owner.fabrik.chains[0].message
    override = owner.override_create(remap_local_usages=True)
    for on in (False, True):
        override.fabrik.live = override.fabrik.chains[0].enabled = scene.fabrik_live = on
        bpy.context.view_layer.update()
    assert "target 'Target' is not in the view layer" in override.fabrik.chains[0].message
    assert "Traceback" not in capfd.readouterr().err


def captured(chain: FabrikChain) -> dict[str, Q4]:
    return {item.name: q4(item.rotation) for item in chain.captured}


def test_a_start_pose_of_the_library_is_reset_and_put_back_on_the_override(tmp_path: Path) -> None:
    owner = make_line(3, bend=0.2)
    owner.pose.bones["b1"].rotation_quaternion = (0.9, 0.2, 0.3, 0.1)
    capture(add_chain(owner), [*owner.pose.bones])
    owner = link(owner, tmp_path)
    chain = owner.fabrik.chains[0]
    bones = [owner.pose.bones[f"b{i}"] for i in range(3)]
    kept = captured(chain)
    assert chain.start == "CAPTURED"
    reset(chain, bones)
    assert chain.start == "REST"
    store_start(chain, bones, kept, "CAPTURED")
    assert chain.start == "CAPTURED"
    assert captured(chain) == kept
    bones[0].rotation_quaternion = (0.8, -0.2, 0.3, 0.1)
    capture(chain, bones)
    assert len(chain.captured) == 3
    assert captured(chain) != kept


@pytest.mark.parametrize("captured_before", [False, True])
def test_a_start_pose_captured_on_an_override_is_the_one_that_holds(tmp_path: Path, captured_before: bool) -> None:
    owner = make_line(3, bend=0.2)
    add_chain(owner)
    if captured_before:
        owner.pose.bones["b1"].rotation_quaternion = (0.9, 0.2, 0.3, 0.1)
        bpy.ops.fabrik.start_pose_capture()
        bpy.ops.object.mode_set(mode="OBJECT")
    owner = overridden(owner, tmp_path)
    for name in ("b0", "b1"):
        owner.pose.bones[name].rotation_quaternion = (0.8, -0.2, 0.3, 0.1)
    bpy.ops.fabrik.target_add()
    owner = reloaded(tmp_path)
    chain = owner.fabrik.chains[0]
    before = evaluated_joints(owner, chain)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.fabrik.solve()
    assert (chain.start, len(chain.captured)) == ("CAPTURED", 3)
    assert max((a - b).length for a, b in zip(evaluated_joints(owner, chain), before, strict=True)) < 1e-5


def test_chains_of_an_override_that_can_not_be_reordered(tmp_path: Path) -> None:
    """Blender moves what was added to the override, and refuses to move what came with the library."""
    owner = link(line(), tmp_path)
    bpy.ops.fabrik.chain_add(tip_bone="b0", bone_count=1)
    owner.fabrik.active_index = 0
    assert_refused("can't reorder the chains of a library override", "chain_move", direction="DOWN")
    assert owner.fabrik.active_index == 0


def test_a_control_bone_of_an_override_is_moved_and_kept(tmp_path: Path) -> None:
    owner = line(with_chain=False)
    bpy.ops.fabrik.chain_add(tip_bone="b2")
    bpy.ops.fabrik.target_add(kind="BONE")
    owner = link(owner, tmp_path)
    owner.pose.bones["b1"].rotation_quaternion = (1, 0.6, 0, 0)
    bpy.context.view_layer.update()
    tip = owner.pose.bones["b2"].tail.copy()
    bpy.ops.fabrik.goal_snap()
    owner = reloaded(tmp_path)
    bpy.context.view_layer.update()
    assert (owner.pose.bones["b2.target"].head - tip).length < 1e-5
    assert (owner.pose.bones["b2"].tail - tip).length < 1e-5


@pytest.mark.parametrize("with_pin", [False, True])
def test_what_is_set_on_an_override_is_there_after_reload_and_holds(tmp_path: Path, with_pin: bool) -> None:
    body = make_body()
    if with_pin:
        select(body, "foot.L")
        press("pin_toggle")
        bpy.ops.object.mode_set(mode="OBJECT")
    owner = link(body, tmp_path)
    owner.location = (1.0, 0.5, 0.0)
    update()
    select(owner, "foot.L", "foot.R")
    press("pin_toggle", action="PIN")
    press("body_bone_set")
    rig_of(owner).balance = 0.25
    owner.pose.bones["thigh.L"].fabrik.mass = 0.125
    bpy.ops.object.mode_set(mode="OBJECT")
    held = {chain.tip_bone: stored(chain) for chain in rig_of(owner).chains}
    owner = reloaded(tmp_path)
    bpy.context.view_layer.objects.active = owner
    rig = rig_of(owner)
    assert {chain.tip_bone: stored(chain) for chain in rig.chains} == held
    assert set(held) == {"foot.L", "foot.R"}
    assert (rig.body_bone, rig.balance, owner.pose.bones["thigh.L"].fabrik.mass) == ("hips", 0.25, 0.125)
    add_limb(owner, "hips", 1, target=(1.0, 0.5, 0.75), name="sink")
    press("solve_all")
    for chain in rig.chains:
        assert chain.status == "REACHED"
        if chain.pin:
            assert (effector(owner, chain) - Vector(chain.held_location)).length < 2e-4
            assert angle_between(tip_turn(owner, chain), tuple(chain.held_rotation)) < 1e-3


def stored(chain: Any) -> tuple[Any, ...]:
    return chain.pin, chain.orientation, chain.effector, tuple(chain.held_location), tuple(chain.held_rotation)
