# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated rigs, whose controls other bones follow, and how what is posed by hand is drawn."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.setup.controls import BODY_COLLECTION, flesh_of, follow_controls
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import armature_of, pose_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Matrix, Quaternion, Vector

from support.animated import control
from support.judging import assert_one_answer
from support.scenes import (
    add_skin,
    go_live,
    go_to,
    key_automatically,
    keyed,
    make_armature,
    press,
    strand,
    update,
)
from support.skeletons import generate_rig, make_character, set_up
from support.undoing import assert_one_step

KINDS = ("basic_human", "basic_quadruped")
SEEN = ("DEF-", "ORG-")  # how the bones that deform begin, and those that they follow
DOWN = Vector((0.0, 0.02, -0.08))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("generated")


@pytest.fixture
def rig_named(folder: Path) -> Callable[[str], bpy.types.Object]:
    """Opens the rig that Rigify generates of one of its metarigs."""

    def opened(kind: str) -> bpy.types.Object:
        path = folder / kind / "rig.blend"
        if not path.exists():
            path.parent.mkdir()
            generate_rig(path.parent, kind)
        bpy.ops.wm.open_mainfile(filepath=str(path))
        owner = bpy.data.objects["rig"]
        bpy.context.view_layer.objects.active = owner
        return owner

    return opened


@pytest.fixture(params=KINDS)
def owner(request: pytest.FixtureRequest, rig_named: Callable[[str], bpy.types.Object]) -> bpy.types.Object:
    return rig_named(request.param)


@pytest.fixture
def human(rig_named: Callable[[str], bpy.types.Object]) -> bpy.types.Object:
    return rig_named("basic_human")


def seen(owner: bpy.types.Object) -> dict[str, Vector]:
    """Where the bones that deform, and those that they follow, begin and end, in armature space."""
    update()
    posed = pose_bones(owner.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    found: dict[str, Vector] = {}
    for bone in posed:
        if bone.name.startswith(SEEN):
            found |= {f"{bone.name} head": bone.head.copy(), f"{bone.name} tail": bone.tail.copy()}
    return found


def off(one: dict[str, Vector], other: dict[str, Vector], *names: str) -> float:
    """How far bones stand elsewhere at most; those whose names begin so, or all."""
    return max(float((one[name] - other[name]).length) for name in one if name.startswith(names or SEEN))


def channels(owner: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """All channels of the bones."""
    return {
        bone.name: (*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.scale)
        for bone in pose_bones(owner)
    }


def changed(before: dict[str, tuple[float, ...]], owner: bpy.types.Object) -> set[str]:
    """Names of the bones whose channels are others now."""
    return {name for name, values in channels(owner).items() if values != before[name]}


def limbs(owner: bpy.types.Object) -> list[FabrikChain]:
    return [chain for chain in rig_of(owner).chains if chain.target is not None]


def front(owner: bpy.types.Object) -> str:
    """The name of a chain that is neither the first nor on the hips."""
    return next(name for name in ("Arm.L", "Front Leg.L") if name in rig_of(owner).chains)


def end_of(owner: bpy.types.Object, chain: str) -> str:
    """The end, of a bone that deforms or that such bones follow, which a chain brings to its target."""
    one = rig_of(owner).chains[chain]
    return f"ORG-{one.tip_bone.replace('_fk', '')} {'head' if one.at_head else 'tail'}"


def test_one_press_switches_the_limbs_and_nothing_moves(
    owner: bpy.types.Object, capfd: pytest.CaptureFixture[str]
) -> None:
    stood = seen(owner)
    every: Any = pose_bones(owner)
    switches = [bone for bone in every if "IK_FK" in bone]
    assert len(switches) == 4
    assert {bone["IK_FK"] for bone in switches} == {0.0}
    capfd.readouterr()
    press("character_setup")
    told = capfd.readouterr().out
    assert "the body follows the chains now: 'IK_FK' is 1 on " in told
    assert all(bone.name in told for bone in switches)
    assert {bone["IK_FK"] for bone in switches} == {1.0}
    assert off(stood, seen(owner)) < 1e-5
    assert rig_of(owner).body_bone == "torso"
    assert len(limbs(owner)) == 4
    assert front(owner) != "Arm.L" or {f"{part}_fk.{side}" for part in ("hand", "foot") for side in "LR"} == {
        chain.tip_bone for chain in limbs(owner)
    }
    press("solve_all")
    assert {chain.status for chain in limbs(owner)} == {"REACHED"}
    assert off(stood, seen(owner)) < 1e-5
    assert not any("follow" in chain.message for chain in limbs(owner))


def test_a_pose_that_was_made_by_its_own_controls_stays(
    human: bpy.types.Object, capfd: pytest.CaptureFixture[str]
) -> None:
    bones = pose_bones(human)
    bones["hand_ik.L"].matrix = Matrix.LocRotScale((0.4, -0.25, 1.35), Quaternion((0.0, 1.0, 0.0), 0.5), None)
    bones["foot_ik.R"].location = (0.0, -0.1, 0.15)
    bones["torso"].location = (0.0, 0.05, -0.08)
    bones["chest"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.3)
    stood = seen(human)
    capfd.readouterr()
    press("character_setup")
    there = seen(human)
    assert off(stood, there, "DEF-hand", "DEF-foot", "DEF-toe", "DEF-spine", "ORG-hand", "ORG-foot") < 1e-4
    assert off(stood, there) < 0.03  # which their IK had shortened a little
    assert "the rig had stretched the limbs: knees and elbows move by" in capfd.readouterr().out
    press("solve_all")
    assert {chain.status for chain in limbs(human)} == {"REACHED"}
    assert off(there, seen(human)) < 1e-4


def test_a_target_brings_what_deforms_and_nothing_else(owner: bpy.types.Object) -> None:
    press("character_setup")
    name = front(owner)
    stood, before = seen(owner), channels(owner)
    control(owner, name).location += Vector((0.03, -0.06, 0.08))
    press("solve_all")
    there, goal = seen(owner), control(owner, name)
    assert rig_of(owner).chains[name].status == "REACHED"
    assert (there[end_of(owner, name)] - goal.head).length < 1e-4
    others = tuple(end_of(owner, one.name) for one in limbs(owner) if one.name != name)
    assert off(stood, there, *others) < 1e-4
    assert name != "Arm.L" or off(stood, there, "DEF-spine", "DEF-shoulder") < 1e-4  # a pinned foot asks more of a body
    assert not [bone for bone in changed(before, owner) if bone.startswith(("MCH", "ORG", "DEF", "tweak", "spine"))]


def test_a_pole_turns_the_knee_about_the_leg(human: bpy.types.Object) -> None:
    press("character_setup")
    control(human, "Leg.L").location.z += 0.2
    press("solve_all")
    stood = seen(human)
    pose_bones(human)[rig_of(human).chains["Leg.L"].pole_bone].location.x += 0.3
    press("solve_all")
    there = seen(human)
    assert off(stood, there, "DEF-foot.L") < 1e-4
    assert there["DEF-shin.L head"].x - stood["DEF-shin.L head"].x > 0.03


@pytest.mark.parametrize("bone", ["torso", "hips"])
def test_a_drag_of_the_hips_takes_the_body_along(owner: bpy.types.Object, bone: str) -> None:
    press("character_setup")
    stood, before = seen(owner), channels(owner)
    press("drag", bone=bone, end="HEAD", way=DOWN)
    there = seen(owner)
    assert (there["DEF-spine head"] - stood["DEF-spine head"] - DOWN).length < 1e-4
    feet = tuple(end_of(owner, chain.name) for chain in limbs(owner) if chain.pin)
    assert feet
    assert off(stood, there, *feet) < 1e-4
    moved = changed(before, owner)
    assert "torso" in moved
    assert not [name for name in moved if name.startswith(("MCH", "ORG", "DEF", "tweak", "hips", "chest", "spine"))]
    press("solve_all")
    assert off(there, seen(owner)) < 1e-4


def test_button_live_and_bake_give_one_pose(owner: bpy.types.Object) -> None:
    press("character_setup")
    name = front(owner)
    keyed(control(owner, name), {1: (0.0, 0.0, 0.0), 11: (0.04, -0.08, 0.1)})
    pose_bones(owner)["chest"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.2)
    assert_one_answer(owner, (11, 1, 8, 4))
    assert {chain.status for chain in limbs(owner)} == {"REACHED"}
    curves = {path for path in keyed_paths(owner) if path.startswith("pose.bones")}
    assert not [path for path in curves if any(own in path for own in ('"MCH', '"ORG', '"DEF', '"tweak', '"spine'))]


def keyed_paths(owner: bpy.types.Object) -> set[str]:
    """The data paths of the curves of an armature object."""
    return {curve.data_path for curve in fcurves_of(owner)}


def test_hands_go_with_a_chest_that_is_turned_by_hand(human: bpy.types.Object) -> None:
    press("character_setup")
    go_live(human)
    stood = seen(human)
    pose_bones(human)["chest"].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), radians(30.0))
    there = seen(human)
    assert off(stood, there, "DEF-foot") < 1e-4
    assert off(stood, there, "DEF-hand") > 0.1
    assert all(chain.status == "REACHED" for chain in limbs(human))
    across = [(where["DEF-hand.L head"] - where["DEF-hand.R head"]).length for where in (stood, there)]
    assert across[0] == pytest.approx(across[1], abs=1e-4)
    again = channels(human)
    press("solve_all")
    assert not changed(again, human)


def test_what_is_switched_and_posed_is_keyed_where_that_is_automatic(human: bpy.types.Object) -> None:
    key_automatically()
    press("character_setup")
    paths = keyed_paths(human)
    assert 'pose.bones["thigh_parent.L"]["IK_FK"]' in paths
    assert 'pose.bones["forearm_fk.R"].rotation_quaternion' in paths
    go_to(5)
    control(human, "Arm.L").location.z += 0.1
    press("solve_all")
    press("drag", bone="torso", end="HEAD", way=DOWN)
    assert not [path for path in keyed_paths(human) if any(own in path for own in ('"MCH', '"ORG', '"tweak', '"spine'))]


def test_a_keyed_switch_that_is_not_keyed_again_is_told(
    human: bpy.types.Object, capfd: pytest.CaptureFixture[str]
) -> None:
    bone: Any = pose_bones(human)["thigh_parent.L"]
    bone.keyframe_insert('["IK_FK"]', frame=1)
    press("character_setup")
    assert "a switch of thigh_parent.L is keyed: key it" in capfd.readouterr().out


def test_without_switches_it_says_that_nothing_follows(human: bpy.types.Object) -> None:
    press("character_setup", use_switches=False)
    assert pose_bones(human)["thigh_parent.L"]["IK_FK"] == 0.0
    press("solve_all")
    assert "'IK_FK' of 'thigh_parent.L' is 0" in rig_of(human).chains["Leg.L"].message


def test_a_limb_that_does_not_follow_the_body_is_named(human: bpy.types.Object) -> None:
    press("character_setup")
    pose_bones(human)["thigh_parent.L"]["FK_limb_follow"] = 1.0
    human.update_tag()
    with pytest.raises(
        RuntimeError, match=r"'MCH-thigh_parent.L': its constraint 'Copy Rotation' lets it follow 'root'"
    ):
        press("solve_all")


def test_a_rig_at_another_size_and_place(human: bpy.types.Object) -> None:
    pose_bones(human)["root"].scale = (1.5, 1.5, 1.5)
    pose_bones(human)["root"].rotation_quaternion = Quaternion((0.0, 1.0, 0.0), 1.0)
    human.scale, human.location = (2.0, 2.0, 2.0), (3.0, 1.0, 0.0)
    stood = seen(human)
    press("character_setup")
    press("solve_all")
    assert {chain.status for chain in limbs(human)} == {"REACHED"}
    assert off(stood, seen(human)) < 1e-4
    control(human, "Arm.R").location += Vector((0.0, 0.0, 0.1))
    press("solve_all")
    assert {chain.status for chain in limbs(human)} == {"REACHED"}


def made_by_hand(*, at_one: float) -> bpy.types.Object:
    """Two controls, and two bones that deform and copy their rotations where a property is at one end of its range."""
    row = strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2))
    owner = make_armature([*row, *row])
    switch: Any = pose_bones(owner)["b0"]
    switch["Controls"] = 1.0 - at_one
    switch.id_properties_ui("Controls").update(min=0.0, max=1.0)
    for i in (0, 1):
        owner.data.bones[f"b{i}"].use_deform = False
        constraint: Any = pose_bones(owner)[f"b{i + 2}"].constraints.new("COPY_ROTATION")
        constraint.target, constraint.subtarget = owner, f"b{i}"
        driver: Any = constraint.driver_add("influence").driver
        driver.type = "SCRIPTED"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = owner, 'pose.bones["b0"]["Controls"]'
        driver.expression = variable.name if at_one else f"1 - {variable.name}"
    update()
    return owner


@pytest.mark.parametrize("at_one", [1.0, 0.0])
def test_a_switch_of_any_name_is_set_to_the_end_that_follows(at_one: float) -> None:
    owner = made_by_hand(at_one=at_one)
    pose_bones(owner)["b2"].rotation_quaternion = turn = Quaternion((1.0, 0.0, 0.0), 0.4)
    update()
    stood = [bone.matrix.copy() for bone in pose_bones(owner)][2:]
    done, notes = follow_controls(bpy.context, owner, [["b0", "b1"]])
    assert done == [f"the body follows the chains now: 'Controls' is {at_one:g} on b0"]
    assert notes == []
    assert pose_bones(owner)["b0"].rotation_quaternion.rotation_difference(turn).angle < 1e-3
    for bone, matrix in zip(list(pose_bones(owner))[2:], stood, strict=True):
        assert (bone.matrix.translation - matrix.translation).length < 1e-5
        assert (bone.tail - (matrix.translation + matrix.col[1].to_3d() * bone.length)).length < 1e-5
    assert follow_controls(bpy.context, owner, [["b0", "b1"]]) == ([], [])


def test_a_switch_that_does_nothing_is_told_and_left() -> None:
    owner = made_by_hand(at_one=1.0)
    for curve in owner.animation_data.drivers:
        curve.driver.expression = "0.0 * var"
    update()
    done, notes = follow_controls(bpy.context, owner, [["b0", "b1"]])
    assert (done, notes) == ([], ["the rig's own switch 'Controls' of 'b0' can't be set"])
    assert pose_bones(owner)["b0"]["Controls"] == 0.0


def test_one_step_of_undo_takes_all_of_it_back(human: bpy.types.Object) -> None:
    def told() -> tuple[object, ...]:
        owner = bpy.data.objects["rig"]
        return pose_bones(owner)["thigh_parent.L"]["IK_FK"], channels(owner), len(rig_of(owner).chains)

    assert_one_step(told, "character_setup")


def test_the_root_takes_all_along(owner: bpy.types.Object) -> None:
    """Feet and knees stand on the root, on which the torso hangs by constraints: turned, the pose is the same."""
    press("character_setup")
    legs = [chain for chain in rig_of(owner).chains if "Leg" in chain.name]
    assert {pose_bones(owner)[chain.target_bone].parent.name for chain in legs} == {"root"}
    go_live(owner)
    before, root = seen(owner), pose_bones(owner)["root"]
    root.rotation_mode, root.rotation_euler, root.location = "XYZ", (0.0, 0.6, 0.0), (0.1, 0.2, 0.3)
    turned = seen(owner)
    carried = root.matrix @ root.bone.matrix_local.inverted()
    assert max((turned[name] - carried @ place).length for name, place in before.items()) < 1e-4


BODY = {
    "human_mixamo": ("mixamorig:Hips", "mixamorig:Spine2", "mixamorig:Head"),
    "human_game_engine": ("pelvis", "spine_03", "head"),
}


def drawn_at(bone: Any) -> Matrix:
    """How a bone's shape, of size 1, stands in armature space."""
    assert not bone.use_custom_shape_bone_size
    turn = Euler(bone.custom_shape_rotation_euler).to_quaternion()
    shape = Matrix.LocRotScale(Vector(bone.custom_shape_translation), turn, Vector(bone.custom_shape_scale_xyz))
    found: Matrix = bone.bone.matrix_local @ shape
    return found


def skinned(name: str) -> bpy.types.Object:
    """A character with a mesh of some points about each of its bones, that follow it alone."""
    owner = make_character(name)
    points, groups = list[Vector](), dict[str, list[int]]()
    size = max(float(bone.head.z) for bone in pose_bones(owner))
    for bone in pose_bones(owner):
        rest, radius = bone.bone.matrix_local, WIDTHS.get(bone.name, 0.015) * size
        for k in range(24):
            along = bone.bone.length * (k % 4 + 0.5) / 4.0
            point = Vector((radius * cos(k * pi / 12.0), along, 0.6 * radius * sin(k * pi / 12.0)))
            groups.setdefault(bone.name, []).append(len(points))
            points.append(rest @ point)
    add_skin(owner, points, [], groups)
    bpy.context.view_layer.objects.active = owner
    press("character_setup")
    return owner


WIDTHS = {name: width for names in BODY.values() for name, width in zip(names, (0.1, 0.1, 0.06), strict=True)}


@pytest.mark.parametrize("name", BODY)
def test_rings_and_boxes_stand_about_the_mesh(name: str) -> None:
    owner = skinned(name)
    flesh = flesh_of(bpy.context, owner)
    for bone in [pose_bones(owner)[one] for one in BODY[name]]:
        assert bone.custom_shape.name.startswith("FABRIK circle")
        ring = drawn_at(bone)
        inside = flesh[bone.name] @ np.array(ring.inverted())[:3, :3].T + np.array(ring.inverted())[:3, 3]
        about = np.hypot(inside[:, 0], inside[:, 2])
        assert np.percentile(about, 90) < 1.0, "it lies outside the body"
        assert np.percentile(about, 98) > 0.5, "and near it"
        up = (ring.to_3x3() @ Vector((0.0, 1.0, 0.0))).normalized()
        assert abs(up.z) > 0.95
    collection = armature_of(owner).collections_all[BODY_COLLECTION]
    assert {bone.name for bone in collection.bones} == {*BODY[name]}
    for chain in [rig_of(owner).chains[one] for one in ("Arm.L", "Arm.R", "Leg.L", "Leg.R")]:
        control, tip = pose_bones(owner)[chain.target_bone], pose_bones(owner)[chain.tip_bone]
        box = np.array(drawn_at(control).inverted())
        names = [tip.name, *(bone.name for bone in tip.children_recursive)]
        inside = np.concatenate([flesh[one] for one in names if one in flesh]) @ box[:3, :3].T + box[:3, 3]
        assert (np.abs(inside) <= 1.0).all(axis=1).mean() > 0.85
        assert np.abs(inside).max(axis=0).min() > 0.8


def test_shapes_of_a_rig_stay_and_setting_up_again_changes_nothing() -> None:
    owner = make_character("human_mixamo")
    own = bpy.data.objects.new("Own", None)
    pose_bones(owner)["mixamorig:Head"].custom_shape = own
    press("character_setup")
    assert pose_bones(owner)["mixamorig:Head"].custom_shape == own
    before = [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)]
    press("character_setup")
    assert [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)] == before


def test_removing_all_draws_bones_as_before() -> None:
    owner = make_character("human_mixamo")

    def looks() -> list[tuple[Any, ...]]:
        bones = [bone for bone in pose_bones(owner) if bone.name.startswith("mixamorig")]
        return [(bone.custom_shape, bone.use_custom_shape_bone_size, bone.color.palette) for bone in bones]

    pose_bones(owner)["mixamorig:Hips"].custom_shape_scale_xyz = (0.03, 0.04, 0.05)  # importers give each its own
    before = looks()
    sizes = [tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)]
    press("character_setup")
    assert looks() != before
    press("rig_clear")
    assert looks() == before
    for found, size in zip([tuple(bone.custom_shape_scale_xyz) for bone in pose_bones(owner)], sizes, strict=True):
        assert found == pytest.approx(size, rel=1e-6)
    assert BODY_COLLECTION not in armature_of(owner).collections_all


def test_the_trunk_can_not_be_torn_by_moving_its_rings() -> None:
    """Chest and head are locked in place, so that G turns them; but not where their place is used, or was locked."""
    owner = make_character("human_mixamo")
    chest, head, hips = (f"mixamorig:{part}" for part in ("Spine2", "Head", "Hips"))

    def locks(name: str) -> tuple[bool, ...]:
        found: Any = pose_bones(owner)[name].lock_location
        return tuple(found)

    pose_bones(owner)[head].keyframe_insert("location", frame=1)
    pose_bones(owner)[chest].location = (1e-15, 0.0, -2e-15)  # as it is imported
    press("character_setup")
    assert locks(chest) == (True, True, True)
    assert not any(locks(head))
    assert not any(locks(hips))
    press("rig_clear")
    assert not any(locks(chest))
    pose_bones(owner)[chest].lock_location = (True, False, False)
    press("character_setup")
    assert locks(chest) == (True, False, False)
    press("rig_clear")
    assert locks(chest) == (True, False, False)


def test_without_a_mesh_rings_have_a_size_of_the_skeleton() -> None:
    owner = set_up("cmu_walk")
    update()
    bone = pose_bones(owner)[rig_of(owner).body_bone]
    assert bone.custom_shape.name.startswith("FABRIK circle")
    heads = np.array([tuple(bone.bone.head_local) for bone in pose_bones(owner)])
    size = float((heads.max(axis=0) - heads.min(axis=0)).max())
    assert bone.custom_shape_scale_xyz[0] == pytest.approx(0.1 * size, rel=0.2)
