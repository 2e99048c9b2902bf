# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as targets and poles: where they stand, how tools move them, and that they are no part of the body."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from fabrik_addon.actions.drag import Grip, begin, drag_to, finish
from fabrik_addon.rig.animation.compat import fcurves_of, is_selected
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.control_bones import COLLECTION, remove_control_bones
from fabrik_addon.rig.goals import GoalRef, goal_of
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Matrix, Quaternion, Vector

from support.judging import (
    CLOSE,
    bone_head,
    chain_length,
    channels,
    evaluated_joints,
    joints_moved,
    location_keys,
    tip_error,
)
from support.scenes import (
    LENGTH,
    SCALES,
    Bone,
    add_chain,
    armature,
    assert_refused,
    each_frame,
    edited,
    go_live,
    key_automatically,
    keyed,
    limb_with_bone_goals,
    linked,
    make_armature,
    make_empty,
    make_line,
    press,
    put,
    select,
    solved_status,
    strand,
    update,
)
from support.skeletons import make_character

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
        assert (bone_head(holder, "target") - evaluated_joints(owner, chain)[-1]).length < CLOSE * LENGTH
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
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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
        chain.target, chain.target_bone = make_empty(name="Goal"), ""
    press("goal_snap")
    thing: Any = chain.target if kind == "object" else pose_bones(holder)["target"]
    thing.keyframe_insert("location", frame=1)
    rig_of(owner).live = True
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, 0, -0.2)), anchored=True)
    name = "'Goal'" if kind == "object" else "'target' of 'Other'"
    text = f"its target {name} is keyed: key it, or the next frame change takes it back"
    assert finish(bpy.context, drag).warnings == [text]


def connect(holder: bpy.types.Object, chain: FabrikChain) -> None:
    with edited(holder) as bones:
        bones["target"].use_connect = True
    bpy.context.view_layer.objects.active = chain.id_data


# What keeps the bone "target" where it is, and what is said of it.
HELD: dict[str, tuple[Callable[[bpy.types.Object, FabrikChain], object], str]] = {
    "connected": (connect, "is connected to 'hold'"),
    "constraint": (
        lambda holder, _: pose_bones(holder)["target"].constraints.new("COPY_LOCATION"),
        "has constraints",
    ),
    "driven": (lambda holder, _: pose_bones(holder)["target"].driver_add("location", 0), "is driven"),
    "locked": (
        lambda holder, _: put(pose_bones(holder)["target"], lock_location=(False, True, False)),
        "is locked in its location",
    ),
    "chain": (
        lambda holder, _: put(rig_of(holder).chains.add(), name="other", tip_bone="target", bone_count=1),
        "is a bone of the chain 'other'",
    ),
    "gone": (lambda _, chain: put(chain, target_bone="gone"), "has no bone 'gone'"),
    "rest": (
        lambda holder, _: put(armature(holder), pose_position="REST"),
        "is of an armature that is shown in its rest position",
    ),
}


@pytest.mark.parametrize("what", HELD)
def test_what_holds_a_bone_is_told(what: str) -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    hold, text = HELD[what]
    hold(holder, chain)
    update()
    before = channels(holder)
    assert_refused(f"the target {text}, so it can't be moved", "goal_snap", chains="ACTIVE")
    assert channels(holder) == before
    if what == "gone":
        return
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
    drag_to(bpy.context, drag, drag.place + Vector((0.1, -0.4, -0.3)), anchored=True)
    warnings = finish(bpy.context, drag).warnings
    assert any(f"its target 'target' of 'Other' {text}, and stays" in told for told in warnings)
    assert channels(holder)[1] == before[1]
    rig_of(owner).live = True
    assert_refused(f"it is live and its target 'target' of 'Other' {text}", "drag", chain=chain.name, way=(0.1, 0, 0))


def test_a_bone_without_scale_above_it_is_refused_by_name() -> None:
    _, _, holder = limb_with_bone_goals()
    pose_bones(holder)["hold"].scale = (0, 1, 1)
    before = channels(holder)
    assert_refused("'target' of 'Rig' hangs on has no scale", "goal_snap")
    assert channels(holder) == before


def test_a_part_of_a_body_is_not_moved_by_a_drag() -> None:
    owner, chain, holder = limb_with_bone_goals(other_rig=True)
    armature(holder).bones["target"].use_deform = True
    stood = bone_head(holder, "target")
    drag = begin(bpy.context, owner, Grip.tip_of(chain))
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
    assert_refused(f"{text}, which is to be moved", "goal_snap")
    assert channels(owner) == before
    if what == "root on target":
        rig_of(owner).live = True
        assert_refused("its target 'target' of 'Rig' carries it", "drag", chain=chain.name, way=(0.1, 0, 0))


@pytest.mark.parametrize("live", [False, True])
def test_add_chain_leaves_control_bones_out(live: bool) -> None:
    owner = make_armature(strand((0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), connect=False))
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="b1", use_target=True, use_pole=True, kind="BONE")
    chain = rig_of(owner).chains[0]
    assert (chain.target, chain.target_bone, chain.pole, chain.pole_bone) == (owner, "b1.target", owner, "b1.pole")
    assert solved_status(chain) == "REACHED"
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


def bone_error(owner: bpy.types.Object) -> float:
    chain = rig_of(owner).chains[0]
    joints = evaluated_joints(owner, chain)
    off: float = (joints[-1] - bone_head(owner, chain.target_bone)).length
    return off / chain_length(joints)


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_line(3, bend=0.2)
    owner.matrix_world = Matrix.LocRotScale(Vector((3, -2, 1)), Matrix.Rotation(0.7, 3, (1, 2, 3)), Vector((2, 2, 2)))
    for name, x in (("b0", 0.3), ("b1", 0.5), ("b2", -0.2)):
        pose_bones(owner)[name].rotation_quaternion = (1, x, 0.1, 0)
    bpy.context.view_layer.update()
    return owner


def test_target_and_pole_stand_where_empties_would(owner: bpy.types.Object) -> None:
    chain = add_chain(owner)
    joints = evaluated_joints(owner, chain)
    press("target_add", kind="EMPTY")
    press("pole_add", kind="EMPTY")
    places = chain.target.location.copy(), chain.pole.location.copy()
    chain.target = chain.pole = None
    before = channels(owner)
    press("target_add", kind="BONE")
    press("pole_add", kind="BONE")
    assert (chain.target, chain.pole, chain.target_bone, chain.pole_bone) == (owner, owner, "b2.target", "b2.pole")
    assert channels(owner)[:3] == before
    for place, bone in zip(places, (chain.target_bone, chain.pole_bone), strict=True):
        assert (bone_head(owner, bone) - place).length < 1e-5
    assert solved_status(chain) == "REACHED"
    assert bone_error(owner) < 1e-5
    for a, b in zip(joints[::3], evaluated_joints(owner, chain)[::3], strict=True):
        assert (a - b).length < 1e-4


def test_what_such_a_bone_is() -> None:
    owner = make_line(2)
    for old, new in (("b0", "arm.L"), ("b1", "hand.L")):
        armature(owner).bones[old].name = new
    for number, name in enumerate(("hand.L", "hand.R", "tail")):
        armature(owner).bones[1].name = name
        add_chain(owner, tip=name).name = f"{name}{number}" if name == "tail" else name
        press("target_add", kind="BONE")
        rig_of(owner).chains.remove(0)
    bones = armature(owner).bones
    found = ("hand.target.L", "hand.target.R", "tail2.target")
    assert [bones[name].color.palette for name in found] == ["THEME04", "THEME01", "THEME09"]
    for name in found:
        assert not bones[name].use_deform
        assert bones[name].parent is None
        assert [home.name for home in bones[name].collections] == ["FABRIK"]
        axes = bones[name].matrix_local.to_3x3()
        assert all((axes.col[i] - Matrix.Identity(3).col[i]).length < 1e-6 for i in range(3))
    shapes = {pose_bones(owner)[name].custom_shape for name in found}
    assert len(shapes) == 1
    (shape,) = shapes
    assert (shape.type, shape.hide_render, len(shape.users_collection), len(shape.data.edges)) == ("MESH", True, 0, 12)


@pytest.mark.parametrize(
    ("deforms", "name", "parent"), [(False, "ctrl", True), (True, "ctrl", False), (True, "Root", True)]
)
def test_a_root_control_carries_it(deforms: bool, name: str, parent: bool) -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 1, 0)), Bone((0, 0, 1), (0, 0.1, 2)), Bone((0, 0.1, 2), (0, 0, 3))])
    armature(owner).bones["b0"].name = name
    armature(owner).bones[name].use_deform = deforms
    root = pose_bones(owner)[name]
    root.location, root.scale, root.rotation_quaternion = (1, 2, 3), (2, 2, 2), (0.9, 0.2, 0.1, 0)
    bpy.context.view_layer.update()
    chain = add_chain(owner, count=2)
    tip = evaluated_joints(owner, chain)[-1]
    press("target_add", kind="BONE")
    bone = pose_bones(owner)[chain.target_bone]
    assert (bone.parent == pose_bones(owner)[name]) == parent
    assert (bone_head(owner, bone.name) - tip).length < 1e-4
    press("pole_add", kind="BONE")
    assert (pose_bones(owner)[chain.pole_bone].parent == pose_bones(owner)[name]) == parent


def test_mode_selection_and_unkeyed_pose_stay_as_they_are() -> None:
    owner, other = make_line(3), make_line(3)
    other.name = "Other"
    for found in (owner, other):
        found.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=1)
        found.pose.bones["b1"].rotation_quaternion = (0.9, 0.3, 0, 0)
        found.select_set(True)
    chain = add_chain(owner)
    make_empty((1, 1, 1)).select_set(True)
    bpy.context.view_layer.objects.active = owner
    select(owner, "b1", "b0")
    before = channels(owner), channels(other)
    selected = [found.name for found in bpy.context.selected_objects]
    press("target_add", kind="BONE")
    assert (owner.mode, other.mode, bpy.context.object) == ("POSE", "POSE", owner)
    assert [found.name for found in bpy.context.selected_objects] == selected
    assert [bone.name for bone in pose_bones(owner) if is_selected(bone)] == ["b0", "b1"]
    assert armature(owner).bones.active.name == "b1"
    assert (channels(owner)[:3], channels(other)) == before
    assert chain.target_bone == "b2.target"


def test_those_that_are_left_stay_in_their_collection() -> None:
    owner = make_line(4)
    for tip in ("b1", "b3"):
        add_chain(owner, tip=tip, count=2)
    press("target_add", use_all=True, kind="BONE")
    names = [chain.target_bone for chain in rig_of(owner).chains]
    remove_control_bones(bpy.context, owner, names[:1])
    assert [bone.name for bone in armature(owner).collections_all[COLLECTION].bones] == names[1:]
    remove_control_bones(bpy.context, owner, names[1:])
    assert COLLECTION not in armature(owner).collections_all


def test_linked_data_is_refused_and_shared_data_is_told(tmp_path: Path) -> None:
    owner = make_line(3)
    data = armature(owner)
    other = bpy.data.objects.new("Twin", data)
    add_chain(owner)
    press("target_add", kind="BONE")
    assert "b2.target" in armature(other).bones
    bpy.data.objects.remove(other)
    data = linked(tmp_path, "armatures", data.name)
    owner = bpy.data.objects.new("Local", data)
    bpy.context.collection.objects.link(owner)
    chain = add_chain(owner, tip="b2", count=3)
    assert_refused("its armature data is linked, so it can't be given bones: use an empty", "target_add", kind="BONE")
    assert (chain.target, owner.mode) == (None, "OBJECT")
    assert_refused("its armature data is linked", "chain_add", tip_bone="b1", use_target=True, kind="BONE")
    assert len(rig_of(owner).chains) == 1
    press("target_add", kind="EMPTY")
    assert tip_error(owner, chain) < 1e-5


def test_goal_select_and_back(line: bpy.types.Object) -> None:
    for _ in range(2):
        chain = add_chain(line, tip="b2")
        press("target_add", kind="BONE")
    press("pole_add", kind="EMPTY")
    assert not press("goal_select", role="target") - {"FINISHED"}
    assert (line.mode, armature(line).bones.active.name) == ("POSE", chain.target_bone)
    assert [bone.name for bone in pose_bones(line) if is_selected(bone)] == [chain.target_bone]
    assert not bpy.ops.fabrik.back_to_pose.poll()
    press("goal_select", role="pole")
    assert (line.mode, bpy.context.object) == ("OBJECT", chain.pole)
    rig_of(line).active_index = 0
    press("back_to_pose")
    assert (line.mode, bpy.context.object, armature(line).bones.active.name) == ("POSE", line, "b2")
    assert rig_of(line).active_index == 1


@pytest.mark.parametrize("live", [False, True])
def test_a_keyed_control_bone_is_followed_live_and_baked(live: bool) -> None:
    owner = make_line(3, bend=0.2)
    chain = add_chain(owner)
    press("target_add", kind="BONE")
    bone = pose_bones(owner)[chain.target_bone]
    for frame, x in ((1, 0.2), (10, 0.8)):
        keyed(bone, {frame: (x, -0.3, -0.4)})
    if live:
        rig_of(owner).live = True
        for _ in each_frame((3, 9, 5)):
            assert bone_error(owner) < 1e-5
    press("bake", frame_start=1, frame_end=10)
    for frame in each_frame((1, 4, 10)):
        assert bone_error(owner) < 1e-5
        assert bone.location.x == pytest.approx(0.2 + 0.6 * (frame - 1) / 9, abs=0.1)
