# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as targets and poles: moved by our tools as objects are, told where they can't be, and no part of the body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Taken, begin, drag_to, finish
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.goals import GoalRef, goal_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Quaternion, Vector

from support.judging import CLOSE, bone_head, channels, evaluated_joints, joints_moved, location_keys
from support.scenes import (
    LENGTH,
    add_chain,
    armature,
    each_frame,
    edited,
    go_live,
    key_automatically,
    limb_with_bone_goals,
    linked,
    make_armature,
    make_empty,
    press,
    select,
    solved_status,
    strand,
)
from support.skeletons import make_character

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY")

POINT = Vector((0.7, -1.2, 2.3))


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_a_bone_goes_to_a_point_whatever_it_inherits(scale: Any, turns: bool, local: bool, uneven: bool) -> None:
    _, chain, holder = limb_with_bone_goals()
    data = armature(holder).bones["target"]
    data.inherit_scale, data.use_inherit_rotation, data.use_local_location = scale, turns, local
    if uneven:
        pose_bones(holder)["hold"].scale = (0.5, 1.5, -0.8)
        holder.scale = (1, 2, 0.5)
    pose_bones(holder)["target"].location = (5, -3, 2)
    goal = goal_of(chain, "target")
    assert goal is not None
    assert goal.held_by() is None
    goal.put(goal.location_at(POINT, bpy.context.evaluated_depsgraph_get()))
    assert (bone_head(holder, "target") - POINT).length < 1e-5


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_a_bone_without_a_parent_goes_to_a_point(mode: Any, local: bool) -> None:
    _, _, holder = limb_with_bone_goals()
    bone = pose_bones(holder)["hold"]
    bone.rotation_mode = mode
    bone.bone.use_local_location = local
    goal = GoalRef("target", holder, "hold")
    goal.put(goal.location_at(POINT, bpy.context.evaluated_depsgraph_get()))
    assert (bone_head(holder, "hold") - POINT).length < 1e-5


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("other_rig", [False, True])
def test_goals_to_pose(other_rig: bool, live: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    if live:
        go_live(owner)
    before, pose = evaluated_joints(owner, chain), channels(owner)
    press("goal_snap")
    assert joints_moved(owner, chain, before) <= CLOSE
    assert (bone_head(holder, "target") - before[-1]).length < CLOSE * LENGTH
    if not live:
        assert channels(owner)[:3] == pose[:3]
    assert solved_status(chain) == "REACHED"
    assert joints_moved(owner, chain, before) < 10 * CLOSE


@pytest.mark.parametrize("other_rig", [False, True])
def test_goals_to_pose_over_a_range(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    hold = pose_bones(holder)["hold"]
    for frame, x in ((1, 0.2), (10, 0.9)):
        pose_bones(owner)["b0"].rotation_quaternion = Quaternion((1, 0.3, 0), x)
        pose_bones(owner)["b0"].keyframe_insert("rotation_quaternion", frame=frame)
        hold.location = (x, 0, -x)
        hold.keyframe_insert("location", frame=frame)
    for frame in (-4, 5, 30):
        pose_bones(holder)["target"].keyframe_insert("location", frame=frame)
    assert press("goal_snap", span="RANGE", frame_start=1, frame_end=10) == {"FINISHED"}
    assert location_keys(holder, "target") == {-4.0, *map(float, range(1, 11)), 30.0}
    assert location_keys(holder, "pole") == {float(frame) for frame in range(1, 11)}
    groups = {curve.group.name for curve in fcurves_of(holder) if '"pole"' in curve.data_path and curve.group}
    assert groups == {"pole"}
    for _ in each_frame((1, 4, 10)):
        tip = evaluated_joints(owner, chain)[-1]
        assert (bone_head(holder, "target") - tip).length < CLOSE * LENGTH
        before = evaluated_joints(owner, chain)
        press("solve")
        assert joints_moved(owner, chain, before) < 10 * CLOSE


def test_automatic_keying_keys_the_bones() -> None:
    _, _, holder = limb_with_bone_goals()
    key_automatically()
    press("goal_snap")
    assert location_keys(holder, "target") == location_keys(holder, "pole") == {float(bpy.context.scene.frame_current)}


@pytest.mark.parametrize("other_rig", [False, True])
def test_letting_go_of_a_drag_brings_target_and_pole_along(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    press("goal_snap")
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.6, -0.4, -0.9)), anchored=True)
    assert not finish(bpy.context, drag).warnings
    before = evaluated_joints(owner, chain)
    assert (bone_head(holder, "target") - before[-1]).length < CLOSE * LENGTH
    assert solved_status(chain) == "REACHED"
    assert joints_moved(owner, chain, before) < 10 * CLOSE


@pytest.mark.parametrize("other_rig", [False, True])
def test_a_live_chain_is_dragged_by_its_bone(other_rig: bool) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=other_rig)
    press("goal_snap")
    go_live(owner)
    before, stood = channels(owner), tuple(pose_bones(holder)["target"].location)
    key_automatically()
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    for step in (0.3, 1.0):
        place = drag.place + step * Vector((0.6, -0.4, -0.9))
        drag_to(bpy.context, drag, place, anchored=True)
        assert (bone_head(holder, "target") - place).length < CLOSE * LENGTH
        assert (evaluated_joints(owner, chain)[-1] - place).length < 1e-3
    drag.restore()
    bpy.context.view_layer.update()
    assert channels(owner) == before
    assert tuple(pose_bones(holder)["target"].location) == stood
    assert not location_keys(holder, "target")
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    place = drag.place + Vector((0.6, -0.4, -0.9))
    drag_to(bpy.context, drag, place, anchored=True)
    finish(bpy.context, drag)
    assert (bone_head(holder, "target") - place).length < CLOSE * LENGTH
    assert (evaluated_joints(owner, chain)[-1] - place).length < 1e-3
    assert location_keys(holder, "target") == {float(bpy.context.scene.frame_current)}


@pytest.mark.parametrize("kind", ["bone", "object"])
def test_a_live_drag_of_a_keyed_target_tells_that_its_keys_win(kind: str) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    if kind == "object":
        chain.target, chain.target_bone = make_empty((0, 0, 0), "Goal"), ""
    press("goal_snap")
    thing: Any = chain.target if kind == "object" else pose_bones(holder)["target"]
    thing.keyframe_insert("location", frame=1)
    rig_of(owner).live = True
    drag = begin(bpy.context, owner, Taken.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, 0, -0.2)), anchored=True)
    name = "'Goal'" if kind == "object" else "'target' of 'Other'"
    text = f"its target {name} is keyed: key it, or the next frame change takes it back"
    assert finish(bpy.context, drag).warnings == [text]


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
        with edited(holder) as bones:
            bones["target"].use_connect = True
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
    assert goal_of(chain, "target").held_by() is None
    other.bone_count = 1
    chain.target_bone = "target"
    assert str(goal_of(chain, "target").held_by()) == "is a bone of the chain 'other'"


def test_two_chains_have_bones_of_one_rig() -> None:
    """Goals of one armature are told apart by their bones."""
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    other = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), connect=False), "Second")
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
        with edited(owner) as bones:
            bones["b0"].parent = bones["target"]
        text = "'Rig' hangs on 'target' of 'Rig'"
    before = channels(owner)
    with pytest.raises(RuntimeError, match=f"{text}, which is to be moved"):
        press("goal_snap")
    assert channels(owner) == before
    if what == "root on target":
        rig_of(owner).live = True
        with pytest.raises(RuntimeError, match="its target 'target' of 'Rig' carries it"):
            press("drag", chain=chain.name, way=(0.1, 0, 0))


def test_chains_are_added_with_control_bones() -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), connect=False))
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="b1", use_target=True, use_pole=True, kind="BONE")
    chain = rig_of(owner).chains[0]
    assert (chain.target, chain.target_bone, chain.pole, chain.pole_bone) == (owner, "b1.target", owner, "b1.pole")
    assert solved_status(chain) == "REACHED"


@pytest.mark.parametrize("live", [False, True])
def test_add_chain_leaves_control_bones_out(live: bool) -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), connect=False))
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
    owner = make_character(kind)
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
    make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), connect=False), "Linked")
    data = linked(tmp_path, "armatures", "Linked")
    owner = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    with pytest.raises(RuntimeError, match="its armature data is linked, so it can't be given bones"):
        press("chain_add", tip_bone="b1", use_target=True, kind="BONE")
    assert not rig_of(owner).chains
    press("chain_add", tip_bone="b1", use_target=True, kind="EMPTY")
    assert rig_of(owner).chains[0].target.type == "EMPTY"
