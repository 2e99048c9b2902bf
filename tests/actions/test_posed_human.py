# SPDX-License-Identifier: GPL-3.0-or-later
"""A skinned human posed as a whole by the buttons, judged by its skin, and both hands on one sword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions import drag as dragging
from fabrik_addon.maths import q4
from fabrik_addon.rig.bones import pose_bones
from fabrik_addon.rig.figure.joint_limits import read_limit
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from dev.humans import HEIGHT, HUMANS, bone_of, both, give_ranges, select
from support.hanging import chain, hand, put_bone
from support.judging import most_turn
from support.scenes import go_live, make_empty, press, solved_status, update
from support.skeletons import make_human, set_up
from support.stored import stored

STILL = 1e-4 * HEIGHT
SLACK = 1e-4  # radians, of Blender's single precision
STEPS = 12


@pytest.fixture(params=HUMANS)
def human(request: pytest.FixtureRequest) -> bpy.types.Object:
    """With limits, both feet pinned, and the hips as the body bone; in Pose mode."""
    return standing_human(str(request.param))


@stored
def standing_human(name: str) -> bpy.types.Object:
    owner = make_human(name)
    give_ranges(owner)
    select(owner, both(owner.name, "foot"))
    press("pin_toggle")
    press("body_bone_set", bone=bone_of(owner.name, "hips"))
    return owner


def soles(owner: bpy.types.Object) -> NDArray[np.float64]:
    """Where the skin is that follows feet and toes alone, by Blender's evaluation."""
    skin: Any = next(found for found in bpy.data.objects if found.type == "MESH" and found.parent == owner)
    names = {*both(owner.name, "foot"), *both(owner.name, "toe")}
    groups = {group.index for group in skin.vertex_groups if group.name in names}
    own = [
        vertex.index
        for vertex in skin.data.vertices
        if all(group.group in groups for group in vertex.groups if group.weight > 0.0)
    ]
    assert len(own) > 100
    evaluated = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ evaluated.data.vertices[i].co for i in own])


def add_goal(owner: bpy.types.Object, bone: str, count: int, place: Vector) -> FabrikChain:
    """A chain whose goal holds the head of its last bone."""
    press("chain_add", tip_bone=bone, bone_count=count, use_target=True)
    chain = rig_of(owner).chains[-1]
    chain.effector, chain.target.location = "HEAD", place
    return chain


def head_of(owner: bpy.types.Object, part: str, side: str = "") -> Vector:
    """Where the head of a bone is in the world."""
    update()
    return owner.matrix_world @ pose_bones(owner)[bone_of(owner.name, part, side)].head


def assert_inside_limits(owner: bpy.types.Object) -> None:
    for bone in pose_bones(owner):
        local = owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
        rotation = q4(local.to_quaternion())
        assert read_limit(bone, rotation).violation(rotation) <= SLACK


def test_soles_stay_flat_while_the_hips_sink(human: bpy.types.Object) -> None:
    before = soles(human)
    wanted = head_of(human, "hips") + Vector((0.0, 0.18, -0.3))
    add_goal(human, bone_of(human.name, "hips"), 1, wanted)
    press("solve_all")
    assert (head_of(human, "hips") - wanted).length <= STILL
    assert np.abs(soles(human) - before).max() <= STILL
    assert_inside_limits(human)
    for side, left in (("L", 1.0), ("R", -1.0)):
        knee, hip, ankle = (head_of(human, part, side) for part in ("shin", "thigh", "foot"))
        assert 0.8 * left * hip.x < left * knee.x < 1.1 * left * ankle.x  # over the feet, neither knocked nor bowed
        assert knee.y < hip.y - 0.1


def test_soles_stay_at_each_step_of_a_drag(human: bpy.types.Object) -> None:
    before = soles(human)
    drag = dragging.begin(bpy.context, human, dragging.Grip(bone_of(human.name, "hips"), "HEAD"))
    for step in range(1, STEPS + 1):
        dragging.drag_to(bpy.context, drag, drag.place + Vector((0.0, 0.3, -0.36)) * (step / STEPS))
        bpy.context.view_layer.update()
        assert np.abs(soles(human) - before).max() <= STILL
    stands = head_of(human, "hips")
    dragging.finish(bpy.context, drag)
    assert np.abs(soles(human) - before).max() <= STILL
    assert (head_of(human, "hips") - stands).length <= STILL
    assert_inside_limits(human)


def test_the_spine_follows_a_reach_that_the_arm_alone_can_not_make(human: bpy.types.Object) -> None:
    rig_of(human).body_stiffness = rig_of(human).spine = 0.9
    before, hips = soles(human), head_of(human, "hips")
    wanted = Vector((-0.25, -0.72, 1.45))
    add_goal(human, bone_of(human.name, "hand", "R"), 3, wanted)
    press("solve_all")
    assert (head_of(human, "hand", "R") - wanted).length <= STILL
    assert np.abs(soles(human) - before).max() <= STILL
    assert (head_of(human, "hips") - hips).length < 0.1
    bends = [
        pose_bones(human)[bone_of(human.name, part)].rotation_quaternion.angle for part in ("spine", "waist", "chest")
    ]
    assert min(bends) > 0.15
    assert max(bends) < 3.0 * min(bends)
    assert_inside_limits(human)


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize(("stiffness", "spine", "least"), [(1.0, 0.001, 0.9), (0.0, 0.5, 0.55)])
@pytest.mark.parametrize("name", HUMANS)
def test_a_chest_that_is_dragged_does_not_go_back(
    name: str, stiffness: float, spine: float, least: float, is_live: bool
) -> None:
    """Under Live poles pull at it, and move it a little where the body gives way readily."""
    owner = set_up_human(name)
    rig = rig_of(owner)
    rig.body_stiffness, rig.spine, rig.live = stiffness, spine, is_live
    chest = pose_bones(owner)[bone_of(name, "chest")]
    select(owner, [chest.name])
    update()
    stood, way = chest.tail.copy(), Vector((0.0, -0.2, 0.0))
    press("drag", bone=chest.name, end="TAIL", way=way)
    assert least <= (chest.tail - stood).dot(way) / way.length_squared <= 1.05  # its joints hold it up


def test_neck_and_head_share_a_look(human: bpy.types.Object) -> None:
    wanted = Vector((0.3, -0.6, 1.3))
    head = pose_bones(human)[bone_of(human.name, "head")]
    forward = head.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -1.0, 0.0))
    press("chain_add", tip_bone=head.name, bone_count=2, use_target=True)
    chain = rig_of(human).chains[-1]
    chain.kind, chain.aim_axis, chain.target.location = "AIM", forward, wanted
    press("solve_all")
    at = head_of(human, "head")
    looks = (human.matrix_world.to_3x3() @ head.matrix.to_3x3() @ forward).normalized()
    assert (looks - (wanted - at).normalized()).length <= 1e-3
    neck = pose_bones(human)[bone_of(human.name, "neck")].rotation_quaternion.angle
    assert 0.5 < neck / head.rotation_quaternion.angle < 2.0
    assert_inside_limits(human)


@stored
def set_up_human(name: str) -> bpy.types.Object:
    owner = make_human(name)
    press("character_setup")
    return owner


@pytest.mark.parametrize("way", [(0.0, -1.0, -1.6), (0.0, 1.0, -1.6), (1.6, 0.0, -1.0), (0.0, -1.0, 0.0)])
@pytest.mark.parametrize("part", ["chest", "head"])
@pytest.mark.parametrize("name", HUMANS)
def test_nothing_jumps_while_the_trunk_is_dragged(name: str, part: str, way: tuple[float, float, float]) -> None:
    """By .4 m in 60 frames; before the trunk came along as a whole, the spine folded by up to 50 degrees a frame."""
    owner = set_up_human(name)
    feet, taken = soles(owner), dragging.Grip(bone_of(name, part), "TAIL")
    assert most_turn(owner, taken, lambda share: Vector(way).normalized() * 0.4 * share, 60) <= 12.0
    assert np.abs(soles(owner) - feet).max() <= STILL


@pytest.mark.parametrize("name", HUMANS)
def test_who_is_pulled_down_by_the_chest_crouches(name: str) -> None:
    owner = set_up_human(name)
    chest = pose_bones(owner)[bone_of(name, "chest")]
    stood, hips, way = chest.matrix.to_quaternion(), head_of(owner, "hips"), Vector((0.0, 0.0, -0.3))
    drag = dragging.begin(bpy.context, owner, dragging.Grip(chest.name, "TAIL"))
    assert dragging.drag_to(bpy.context, drag, drag.place + way).status == "REACHED"
    assert hips.z - head_of(owner, "hips").z >= 0.25
    assert np.degrees(stood.rotation_difference(chest.matrix.to_quaternion()).angle) <= 30.0


@pytest.mark.parametrize("name", HUMANS)
def test_falloff_counts_for_a_trunk_that_is_turned_and_for_no_other(name: str) -> None:
    owner = set_up_human(name)
    drag = dragging.begin(bpy.context, owner, dragging.Grip(bone_of(name, "chest"), "TAIL"))
    assert dragging.set_falloff(drag, owner) == "the trunk moves as a whole, and has no falloff"
    hips = head_of(owner, "hips")
    dragging.set_turning(drag, on=True)
    assert dragging.set_falloff(drag, owner) == ""
    dragging.drag_to(bpy.context, drag, drag.place, q4(Quaternion((0.0, 0.0, 1.0), 0.5)))
    assert (head_of(owner, "hips") - hips).length <= 2e-3  # 33 times as stiff as a limb is not rigid
    drag.restore()
    arm = dragging.begin(bpy.context, owner, dragging.Grip(bone_of(name, "hand", "L"), "HEAD"))
    assert dragging.set_falloff(arm, owner) == ""


PLACES = ((-0.08, -0.25, 0.7), (-0.04, -0.23, 0.74), (-0.1, -0.2, 0.68))  # of the right hand, shares of the height


@pytest.fixture
def swordsman() -> bpy.types.Object:
    """A character as it is set up, with its hands in front of it."""
    owner: bpy.types.Object = set_up("human_mixamo")
    for name in ("Arm.L", "Arm.R"):
        chain(owner, name).orientation = "FREE"
    put(owner, "Arm.R", PLACES[0])
    put(owner, "Arm.L", (0.06, -0.27, 0.74))
    press("solve_all")
    return owner


def height(owner: bpy.types.Object) -> float:
    return float(max((owner.matrix_world @ bone.bone.tail_local).z for bone in pose_bones(owner)))


def put(owner: bpy.types.Object, name: str, share: tuple[float, float, float]) -> None:
    """Put the control of a hand to a place in the world."""
    put_bone(owner, chain(owner, name).target_bone, Vector(share) * height(owner))


def by_parent(owner: bpy.types.Object, sword: Any) -> None:
    sword.parent, sword.parent_type, sword.parent_bone = owner, "BONE", chain(owner, "Arm.R").tip_bone


def by_constraint(kind: str) -> Callable[[bpy.types.Object, Any], None]:
    def tied(owner: bpy.types.Object, sword: Any) -> None:
        held = sword.constraints.new(kind)
        held.target, held.subtarget = owner, chain(owner, "Arm.R").tip_bone
        if kind == "CHILD_OF":
            held.inverse_matrix = hand(owner, "Arm.R").inverted()

    return tied


def in_part(owner: bpy.types.Object, sword: Any) -> None:
    by_constraint("COPY_TRANSFORMS")(owner, sword)
    sword.constraints[0].influence = 0.5


def by_driver(owner: bpy.types.Object, sword: Any) -> None:
    driver = sword.driver_add("location", 2).driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = owner, chain(owner, "Arm.R").tip_bone
    variable.targets[0].transform_type = "LOC_Z"


def with_sword(
    owner: bpy.types.Object, tie: Callable[[bpy.types.Object, Any], None], *, is_target: bool = False
) -> bpy.types.Object:
    """Give the right hand a sword, and the left one a grip on it as its target: a child where the hand stands."""
    stood = hand(owner, "Arm.L")
    sword = make_empty(name="Sword")
    sword.matrix_world = hand(owner, "Arm.R")
    update()
    tie(owner, sword)
    update()
    grip = make_empty(name="Grip")
    grip.parent = sword
    update()
    grip.matrix_world = Matrix.LocRotScale(stood.translation, stood.to_quaternion(), None)
    update()
    left = chain(owner, "Arm.L")
    left.target, left.target_bone = (sword if is_target else grip), ""
    left.rotation_offset, left.orientation = (1.0, 0.0, 0.0, 0.0), "FREE" if is_target else "TARGET"
    update()
    return grip


TIES = {"parent": by_parent, "child of": by_constraint("CHILD_OF"), "copy": by_constraint("COPY_TRANSFORMS")}


@pytest.mark.parametrize("tie", TIES)
def test_the_hands_keep_their_distance_and_turn_to_each_other(swordsman: bpy.types.Object, tie: str) -> None:
    with_sword(swordsman, TIES[tie])
    between: list[Matrix] = []
    poses: list[list[tuple[float, ...]]] = []
    for share in PLACES:
        put(swordsman, "Arm.R", share)
        press("solve_all")
        assert chain(swordsman, "Arm.L").status == chain(swordsman, "Arm.R").status == "REACHED", chain(
            swordsman, "Arm.L"
        ).message
        between.append(hand(swordsman, "Arm.R").inverted() @ hand(swordsman, "Arm.L"))
        poses.append([tuple(bone.rotation_quaternion) for bone in pose_bones(swordsman)])
    for one in between[1:]:
        assert (one.translation - between[0].translation).length <= 2e-4 * height(swordsman)
        assert one.to_quaternion().rotation_difference(between[0].to_quaternion()).angle <= 1e-3
    go_live(swordsman)
    put(swordsman, "Arm.R", PLACES[1])
    for live, button in zip([tuple(bone.rotation_quaternion) for bone in pose_bones(swordsman)], poses[1], strict=True):
        assert live == pytest.approx(button, abs=1e-6)


@pytest.mark.parametrize("tie", ["child of", "copy"])
def test_the_sword_itself_is_the_target(swordsman: bpy.types.Object, tie: str) -> None:
    """One hand is to come to the other as near as it can: what it hangs on is told to be carried, and not refused."""
    with_sword(swordsman, TIES[tie], is_target=True)
    press("solve_all")
    sword = bpy.data.objects["Sword"]
    assert chain(swordsman, "Arm.L").status != "REFUSED"
    assert (hand(swordsman, "Arm.L").translation - sword.matrix_world.translation).length <= 0.03 * height(swordsman)


@pytest.mark.parametrize("tie", [in_part, by_driver])
def test_what_is_tied_otherwise_is_refused_by_name_and_all_else_goes_on(
    swordsman: bpy.types.Object, tie: Callable[[bpy.types.Object, Any], None]
) -> None:
    with_sword(swordsman, tie)
    stood = hand(swordsman, "Arm.L").translation
    put(swordsman, "Arm.R", PLACES[1])
    assert solved_status(chain(swordsman, "Arm.L"), "solve_all") == "REFUSED"
    assert "the target moves with 'mixamorig:RightHand', which is solved with it" in chain(swordsman, "Arm.L").message
    assert {chain(swordsman, name).status for name in ("Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}
    assert (hand(swordsman, "Arm.R").translation - Vector(PLACES[1]) * height(swordsman)).length < 2e-4 * height(
        swordsman
    )
    assert (hand(swordsman, "Arm.L").translation - stood).length < 0.02 * height(swordsman)


def test_it_comes_back_once_it_is_tied_alone(swordsman: bpy.types.Object) -> None:
    with_sword(swordsman, in_part)
    assert solved_status(chain(swordsman, "Arm.L"), "solve_all") == "REFUSED"
    bpy.data.objects["Sword"].constraints[0].influence = 1.0
    bpy.data.objects["Grip"].matrix_world = hand(swordsman, "Arm.L")
    assert solved_status(chain(swordsman, "Arm.L"), "solve_all") == "REACHED"


def test_a_sword_turned_in_the_hand_takes_the_other_hand_along(swordsman: bpy.types.Object) -> None:
    grip = with_sword(swordsman, by_parent)
    sword = bpy.data.objects["Sword"]
    sword.rotation_euler = (sword.matrix_basis.to_quaternion() @ Quaternion((0.0, 0.0, 1.0), 0.1)).to_euler()
    assert solved_status(chain(swordsman, "Arm.L"), "solve_all") == "REACHED"
    assert (hand(swordsman, "Arm.L").translation - grip.matrix_world.translation).length < 2e-4 * height(swordsman)
