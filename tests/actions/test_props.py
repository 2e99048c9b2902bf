# SPDX-License-Identifier: GPL-3.0-or-later
"""Both hands on one sword: the right one carries it, by a parent or a constraint, and the left one reaches for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from fabrik_addon.rig.bones import pose_bones
from mathutils import Matrix, Quaternion, Vector

from support.hanging import chain, hand
from support.scenes import go_live, make_empty, press, solved_status, update
from support.skeletons import set_up

PLACES = ((-0.08, -0.25, 0.7), (-0.04, -0.23, 0.74), (-0.1, -0.2, 0.68))  # of the right hand, shares of the height


@pytest.fixture
def human() -> bpy.types.Object:
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
    control = pose_bones(owner)[chain(owner, name).target_bone]
    update()
    matrix = control.matrix.copy()
    matrix.translation = owner.matrix_world.inverted() @ (Vector(share) * height(owner))
    control.matrix = matrix
    update()


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
    sword = make_empty((0, 0, 0), "Sword")
    sword.matrix_world = hand(owner, "Arm.R")
    update()
    tie(owner, sword)
    update()
    grip = make_empty((0, 0, 0), "Grip")
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
def test_the_hands_keep_their_distance_and_turn_to_each_other(human: bpy.types.Object, tie: str) -> None:
    with_sword(human, TIES[tie])
    between: list[Matrix] = []
    poses: list[list[tuple[float, ...]]] = []
    for share in PLACES:
        put(human, "Arm.R", share)
        press("solve_all")
        assert chain(human, "Arm.L").status == chain(human, "Arm.R").status == "REACHED", chain(human, "Arm.L").message
        between.append(hand(human, "Arm.R").inverted() @ hand(human, "Arm.L"))
        poses.append([tuple(bone.rotation_quaternion) for bone in pose_bones(human)])
    for one in between[1:]:
        assert (one.translation - between[0].translation).length <= 2e-4 * height(human)
        assert one.to_quaternion().rotation_difference(between[0].to_quaternion()).angle <= 1e-3
    go_live(human)
    put(human, "Arm.R", PLACES[1])
    for live, button in zip([tuple(bone.rotation_quaternion) for bone in pose_bones(human)], poses[1], strict=True):
        assert live == pytest.approx(button, abs=1e-6)


@pytest.mark.parametrize("tie", ["child of", "copy"])
def test_the_sword_itself_is_the_target(human: bpy.types.Object, tie: str) -> None:
    """One hand is to come to the other as near as it can: what it hangs on is told to be carried, and not refused."""
    with_sword(human, TIES[tie], is_target=True)
    press("solve_all")
    sword = bpy.data.objects["Sword"]
    assert chain(human, "Arm.L").status != "REFUSED"
    assert (hand(human, "Arm.L").translation - sword.matrix_world.translation).length <= 0.03 * height(human)


@pytest.mark.parametrize("tie", [in_part, by_driver])
def test_what_is_tied_otherwise_is_refused_by_name_and_all_else_goes_on(
    human: bpy.types.Object, tie: Callable[[bpy.types.Object, Any], None]
) -> None:
    with_sword(human, tie)
    stood = hand(human, "Arm.L").translation
    put(human, "Arm.R", PLACES[1])
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REFUSED"
    assert "the target moves with 'mixamorig:RightHand', which is solved with it" in chain(human, "Arm.L").message
    assert {chain(human, name).status for name in ("Arm.R", "Leg.L", "Leg.R")} == {"REACHED"}
    assert (hand(human, "Arm.R").translation - Vector(PLACES[1]) * height(human)).length < 2e-4 * height(human)
    assert (hand(human, "Arm.L").translation - stood).length < 0.02 * height(human)


def test_it_comes_back_once_it_is_tied_alone(human: bpy.types.Object) -> None:
    with_sword(human, in_part)
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REFUSED"
    bpy.data.objects["Sword"].constraints[0].influence = 1.0
    bpy.data.objects["Grip"].matrix_world = hand(human, "Arm.L")
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REACHED"


def test_a_sword_turned_in_the_hand_takes_the_other_hand_along(human: bpy.types.Object) -> None:
    grip = with_sword(human, by_parent)
    sword = bpy.data.objects["Sword"]
    sword.rotation_euler = (sword.matrix_basis.to_quaternion() @ Quaternion((0.0, 0.0, 1.0), 0.1)).to_euler()
    assert solved_status(chain(human, "Arm.L"), "solve_all") == "REACHED"
    assert (hand(human, "Arm.L").translation - grip.matrix_world.translation).length < 2e-4 * height(human)
