# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as targets and poles that can't be moved are told, and control bones are no part of the body."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import addon_utils
import bpy
import pytest
from fabrik_addon.rig.chain_bones import pose_bones
from fabrik_addon.rig.goals import goal_of
from fabrik_addon.rig.placing import held_by
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from fabrik_addon.session.dragging import Taken, begin, drag_to, finish
from mathutils import Vector

from support.judging import CLOSE, bone_head, channels, evaluated_joints, joints_moved
from support.scenes import (
    LENGTH,
    Bone,
    add_chain,
    armature,
    limb_with_bone_goals,
    make_armature,
    make_empty,
    press,
    select,
)

POINT = Vector((0.7, -1.2, 2.3))


@pytest.fixture(autouse=True)
def _keys() -> Iterator[None]:
    bpy.context.preferences.edit.use_keyframe_insert_available = False  # 5.2 has it on
    yield
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


HELD = {
    "connected": "is connected to 'hold'",
    "constraint": "has constraints",
    "driven": "is driven",
    "locked": "is locked in its location",
    "chain": "is a bone of the chain 'other'",
    "gone": "has no bone 'gone'",
    "rest": "is of an armature that is shown in its rest position",
}


@pytest.mark.parametrize("what", HELD)
def test_what_holds_a_bone_is_told(what: str) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    hold(holder, chain, what)
    before = channels(holder)
    with pytest.raises(RuntimeError, match=f"the target {HELD[what]}, so it can't be moved"):
        press("goal_snap", chains="ACTIVE")
    assert channels(holder) == before
    if what == "gone":
        return
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.4, -0.3)), anchored=True)
    warnings = finish(bpy.context, drag).warnings
    assert any(f"its target 'target' of 'Other' {HELD[what]}, and stays" in text for text in warnings)
    assert channels(holder)[1] == before[1]
    rig_of(owner).live = True
    with pytest.raises(RuntimeError, match=f"it is live and its target 'target' of 'Other' {HELD[what]}"):
        press("drag", chain=chain.name, way=(0.1, 0, 0))


def hold(holder: bpy.types.Object, chain: FabrikChain, what: str) -> None:
    """Let something keep the bone "target" where it is."""
    bone = pose_bones(holder)["target"]
    if what == "connected":
        bpy.context.view_layer.objects.active = holder
        bpy.ops.object.mode_set(mode="EDIT")
        armature(holder).edit_bones["target"].use_connect = True
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = chain.id_data
    elif what == "constraint":
        bone.constraints.new("COPY_LOCATION")
    elif what == "driven":
        bone.driver_add("location", 0)
    elif what == "locked":
        bone.lock_location = (False, True, False)
    elif what == "chain":
        other = rig_of(holder).chains.add()
        other.name, other.tip_bone, other.bone_count = "other", "target", 1
    elif what == "gone":
        chain.target_bone = "gone"
    else:
        armature(holder).pose_position = "REST"
    bpy.context.view_layer.update()


def test_a_bone_without_scale_above_it_is_refused_by_name() -> None:
    _, _, holder = limb_with_bone_goals()
    pose_bones(holder)["hold"].scale = (0, 1, 1)
    before = channels(holder)
    with pytest.raises(RuntimeError, match="'target' of 'Rig' hangs on has no scale"):
        press("goal_snap")
    assert channels(holder) == before


def test_a_part_of_a_body_is_not_moved_by_a_drag() -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    armature(holder).bones["target"].use_deform = True
    stood = bone_head(holder, "target")
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.4, -0.3)), anchored=True)
    told = "its target 'target' of 'Other' deforms a body, as 'hold' does on which it hangs, and stays"
    assert told in finish(bpy.context, drag).warnings
    assert (bone_head(holder, "target") - stood).length == 0.0


def test_a_bone_on_which_another_chain_begins_is_moved_where_nothing_is_above_it() -> None:
    _, chain, holder = limb_with_bone_goals(other_rig=True)
    other = rig_of(holder).chains.add()
    other.name, other.tip_bone, other.bone_count = "other", "target", 2
    chain.target_bone, chain.pole = "hold", None
    assert held_by(goal_of(chain, "target")) is None
    other.bone_count = 1
    chain.target_bone = "target"
    assert str(held_by(goal_of(chain, "target"))) == "is a bone of the chain 'other'"


def test_two_chains_have_bones_of_one_rig() -> None:
    """Goals of one armature are told apart by their bones."""
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    other = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, 0, 2))], "Second")
    second = add_chain(other)
    second.target, second.target_bone = holder, "pole"
    chain.pole, chain.pole_bone = None, ""
    select(owner)
    other.select_set(True)
    before = evaluated_joints(owner, chain), evaluated_joints(other, second)
    bpy.context.view_layer.objects.active = owner
    press("goal_snap", chains="ALL")
    assert (bone_head(holder, "target") - before[0][-1]).length < CLOSE * LENGTH
    assert (bone_head(holder, "pole") - before[1][-1]).length < CLOSE * LENGTH


@pytest.mark.parametrize("what", ["pole on target", "root on target"])
def test_goals_that_could_not_come_to_rest_are_refused(what: str) -> None:
    owner, chain, _ = limb_with_bone_goals()
    if what == "pole on target":
        chain.target_bone = "hold"
        text = "'pole' of 'Rig' hangs on 'hold' of 'Rig'"
    else:
        bpy.ops.object.mode_set(mode="EDIT")
        armature(owner).edit_bones["b0"].parent = armature(owner).edit_bones["target"]
        bpy.ops.object.mode_set(mode="OBJECT")
        text = "'Rig' hangs on 'target' of 'Rig'"
    before = channels(owner)
    with pytest.raises(RuntimeError, match=f"{text}, which is to be moved"):
        press("goal_snap")
    assert channels(owner) == before
    if what == "root on target":
        rig_of(owner).live = True
        with pytest.raises(RuntimeError, match="its target 'target' of 'Rig' carries it"):
            press("drag", chain=chain.name, way=(0.1, 0, 0))


def test_add_target_then_drag_then_solve() -> None:
    """The way of a user who makes control bones, drags the limb and solves."""
    owner = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, -0.1, 2))])
    chain = add_chain(owner)
    press("target_add", kind="BONE")
    press("pole_add", kind="BONE")
    chain = rig_of(owner).chains[0]
    press("drag", chain=chain.name, way=(0.4, 0.5, -0.6))
    bpy.context.view_layer.update()
    before = evaluated_joints(owner, chain)
    assert (bone_head(owner, chain.target_bone) - before[-1]).length < 1e-5
    press("solve")
    assert chain.status == "REACHED"
    assert joints_moved(owner, chain, before) < 10 * CLOSE


def test_chains_are_added_with_control_bones() -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, -0.1, 2))])
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="b1", use_target=True, use_pole=True, kind="BONE")
    chain = rig_of(owner).chains[0]
    assert (chain.target, chain.target_bone, chain.pole, chain.pole_bone) == (owner, "b1.target", owner, "b1.pole")
    press("solve")
    assert chain.status == "REACHED"


@pytest.mark.parametrize("live", [False, True])
def test_add_chain_leaves_control_bones_out(live: bool) -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, -0.1, 2))])
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="b1", use_target=True, use_pole=True, kind="BONE")
    rig_of(owner).live = live
    rig_of(owner).chains.clear()
    names = [bone.name for bone in pose_bones(owner)]
    assert len(names) == 4
    select(owner, *names)
    press("chain_add", use_small=True)
    assert [chain.tip_bone for chain in rig_of(owner).chains] == ["b1"]


def chains_of_all(owner: bpy.types.Object, **options: object) -> list[tuple[str, int]]:
    """The chains that Add Chain makes with all bones selected."""
    select(owner, *(bone.name for bone in pose_bones(owner)))
    press("chain_add", **options)
    return [(chain.tip_bone, chain.bone_count) for chain in rig_of(owner).chains]


@pytest.mark.parametrize("kind", ["human", "basic_quadruped", "bird"])
def test_control_bones_do_not_change_what_a_body_is(kind: str) -> None:
    addon_utils.enable("rigify", default_set=False)
    with contextlib.redirect_stdout(None):
        getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    owner = bpy.context.object
    assert owner is not None
    wanted = chains_of_all(owner, use_small=True)
    joints = {chain.tip_bone for chain in rig_of(owner).chains if chain.bone_count > 1}

    def hinges() -> list[tuple[float, ...]]:
        select(owner, *joints)
        press("limit_from_bend")
        limits = [limit_of(pose_bones(owner)[name]) for name in sorted(joints)]
        return [(*limit.axis, limit.angle_min, limit.angle_max) for limit in limits]

    bends = hinges()
    rig_of(owner).chains.clear()
    chains_of_all(owner, use_target=True, use_pole=True, kind="BONE")
    rig_of(owner).chains.clear()
    assert chains_of_all(owner, use_small=True) == wanted
    assert hinges() == bends


def test_linked_data_gets_no_chain_with_bones(tmp_path: Path) -> None:
    make_armature([Bone((0, 0, 0), (0, 0.1, 1)), Bone((0, 0.1, 1), (0, -0.1, 2))], "Linked")
    file = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(file, link=True) as (_, wanted):
        wanted.armatures = ["Linked"]
    owner = bpy.data.objects.new("Rig", bpy.data.armatures["Linked"])
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    with pytest.raises(RuntimeError, match="its armature data is linked, so it can't be given bones"):
        press("chain_add", tip_bone="b1", use_target=True, kind="BONE")
    assert not rig_of(owner).chains
    press("chain_add", tip_bone="b1", use_target=True, kind="EMPTY")
    assert rig_of(owner).chains[0].target.type == "EMPTY"


def test_objects_are_moved_as_before() -> None:
    owner, chain, _ = limb_with_bone_goals()
    chain.target, chain.target_bone = make_empty((9, 9, 9)), ""
    tip = evaluated_joints(owner, chain)[-1]
    press("goal_snap")
    assert (chain.target.location - tip).length < CLOSE * LENGTH
