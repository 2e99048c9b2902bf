# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a tip that comes to the goal, and its rotation, are chosen without moving anything, and hold."""

from __future__ import annotations

from math import radians

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from mathutils import Euler, Matrix, Vector

from support.judging import angle_between, assert_channels, channels, effector, tip_turn
from support.scenes import add_limb, assert_refused, make_body, make_empty, pin, press, solved_status, update

SAME_PLACE = 1e-4

SAME_POSE = 1e-3  # of channels: a reach within the tolerance


@pytest.fixture
def owner() -> bpy.types.Object:
    owner = make_body()
    owner.location = (1.0, 2.0, 0.0)
    owner.pose.bones["forearm.L"].rotation_quaternion = Euler((0.6, 0.0, 0.0)).to_quaternion()
    update()
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone="hand.L", bone_count=3, use_target=True)
    press("solve")
    return owner


@pytest.mark.parametrize("back", [False, True])
def test_a_reached_target_comes_along_to_the_other_end(back: bool, owner: bpy.types.Object) -> None:
    chain = rig_of(owner).chains[0]
    before = channels(owner)
    press("effector_set", effector="HEAD")
    if back:
        press("effector_set", effector="TAIL")
    assert chain.effector == ("TAIL" if back else "HEAD")
    update()
    assert (chain.target.matrix_world.translation - effector(owner, chain)).length < SAME_PLACE
    assert solved_status(chain) == "REACHED"
    assert_channels(owner, before, SAME_POSE)


def test_a_target_elsewhere_stays_there(owner: bpy.types.Object) -> None:
    chain = rig_of(owner).chains[0]
    chain.target = make_empty((1.0, 1.5, 1.0))
    press("effector_set", effector="HEAD")
    assert tuple(chain.target.location) == (1.0, 1.5, 1.0)


def test_a_pin_holds_the_other_end_where_it_stands(body: bpy.types.Object) -> None:
    chain = add_limb(body, "foot.L", 3)
    pin(body, chain, keeps=False)
    press("effector_set", effector="TAIL")
    assert (Vector(chain.held_location) - effector(body, chain)).length < SAME_PLACE
    assert solved_status(chain) == "REACHED"


def test_an_aim_is_refused(owner: bpy.types.Object) -> None:
    rig_of(owner).chains[0].kind = "AIM"
    assert_refused("it aims from the head of its tip bone", "effector_set", effector="HEAD")
    assert rig_of(owner).chains[0].effector == "TAIL"


STAYS = 1e-5  # of a body 1.7 high

SAME_TURN = 1e-4  # radians

HELD = radians(0.1)

SCALES = [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (-1.0, 1.0, 1.0)]


def placed(scale: tuple[float, float, float]) -> bpy.types.Object:
    """A body somewhere in the world, its right arm posed; in Object mode."""
    owner = make_body()
    owner.matrix_world = Matrix.LocRotScale((1.0, -2.0, 0.5), Euler((0.2, -0.1, 0.7)), scale)
    owner.pose.bones["upper_arm.R"].rotation_quaternion = Euler((0.2, 0.4, -0.3)).to_quaternion()
    owner.pose.bones["forearm.R"].rotation_quaternion = Euler((0.7, 0.0, 0.0)).to_quaternion()
    owner.pose.bones["hand.R"].rotation_quaternion = Euler((0.1, 0.6, 0.2)).to_quaternion()
    update()
    return owner


def with_target(owner: bpy.types.Object, tip: str = "hand.R", count: int = 3) -> bpy.types.Object:
    """A chain whose target stands where its effector does, turned somehow; the target."""
    bpy.context.view_layer.objects.active = owner
    press("chain_add", tip_bone=tip, bone_count=count)
    chain = rig_of(owner).chains[-1]
    chain.effector = "HEAD"
    press("target_add")
    chain.target.rotation_euler = (0.3, 0.2, 0.9)
    update()
    target: bpy.types.Object = chain.target
    return target


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("orientation", ["FREE", "KEEP", "TARGET"])
def test_choosing_a_rotation_moves_nothing(orientation: str, scale: tuple[float, float, float]) -> None:
    owner = placed(scale)
    with_target(owner)
    before = channels(owner)
    press("orientation_set", orientation=orientation)
    chain = rig_of(owner).chains[0]
    assert chain.orientation == orientation
    assert channels(owner) == before
    place, turn = effector(owner, chain), tip_turn(owner, chain)
    assert solved_status(chain) == "REACHED"
    assert (effector(owner, chain) - place).length < STAYS
    assert angle_between(tip_turn(owner, chain), turn) < SAME_TURN
    assert_channels(owner, before, SAME_TURN)


@pytest.mark.parametrize("scale", SCALES)
def test_a_kept_rotation_stays_where_the_limb_goes_elsewhere(scale: tuple[float, float, float]) -> None:
    owner = placed(scale)
    target = with_target(owner)
    press("orientation_set", orientation="KEEP")
    chain = rig_of(owner).chains[0]
    turn = tip_turn(owner, chain)
    shoulder = owner.matrix_world @ owner.pose.bones["upper_arm.R"].head
    target.location = target.location.lerp(shoulder, 0.3)
    target.rotation_euler = (1.0, 1.0, 1.0)
    assert solved_status(chain) == "REACHED"
    assert angle_between(tip_turn(owner, chain), turn) < HELD


def test_a_hand_turns_with_its_target_by_as_much() -> None:
    owner = placed((1.0, 1.0, 1.0))
    target = with_target(owner)
    press("orientation_set", orientation="TARGET")
    chain = rig_of(owner).chains[0]
    first, hand = target.matrix_world.to_quaternion(), tip_turn(owner, chain)
    target.rotation_euler = (0.5, 0.1, 1.2)
    press("solve")
    wanted = (target.matrix_world.to_quaternion() @ first.inverted()) @ type(first)(hand)
    assert angle_between(tip_turn(owner, chain), (wanted.w, wanted.x, wanted.y, wanted.z)) < HELD


@pytest.mark.parametrize("orientation", ["KEEP", "TARGET"])
def test_of_a_shin_the_foot_is_taken_so_that_the_knee_stays_free(orientation: str, body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="shin.L", bone_count=2, use_target=True)
    chain = rig_of(body).chains[0]
    before = channels(body)
    press("orientation_set", orientation=orientation)
    assert (chain.tip_bone, chain.bone_count, chain.effector) == ("foot.L", 3, "HEAD")
    assert chain.orientation == orientation
    foot = tip_turn(body, chain)
    press("solve")
    assert_channels(body, before, SAME_TURN)
    chain.target.location.z += 0.2
    chain.target.location.y -= 0.1
    assert solved_status(chain) == "REACHED"
    assert angle_between(tip_turn(body, chain), foot) < HELD
    assert (effector(body, chain) - chain.target.matrix_world.translation).length < 1e-4 * 1.7


def test_a_captured_start_pose_goes_on_to_the_foot(body: bpy.types.Object) -> None:
    body.pose.bones["foot.L"].rotation_quaternion = Euler((0.3, 0.0, 0.0)).to_quaternion()
    body.pose.bones["shin.L"].rotation_quaternion = Euler((0.5, 0.0, 0.0)).to_quaternion()
    press("chain_add", tip_bone="shin.L", bone_count=2, use_target=True)
    chain = rig_of(body).chains[0]
    assert chain.start == "CAPTURED"
    press("orientation_set", orientation="KEEP")
    assert [item.name for item in chain.captured] == ["thigh.L", "shin.L", "foot.L"]
    assert solved_status(chain) == "REACHED"


def test_a_hand_that_ends_a_chain_keeps_its_own_rotation_and_no_finger_is_taken(body: bpy.types.Object) -> None:
    press("chain_add", tip_bone="hand.L", bone_count=3, use_target=True)
    press("orientation_set", orientation="KEEP")
    chain = rig_of(body).chains[0]
    assert (chain.tip_bone, chain.effector) == ("hand.L", "TAIL")


def test_what_makes_no_sense_is_refused_and_nothing_is_changed(body: bpy.types.Object) -> None:
    chain = add_limb(body, "foot.L", 3)
    assert_refused("its rotation can't follow a target: none is set", "orientation_set", orientation="TARGET")
    chain.kind = "AIM"
    assert_refused("it aims at its target", "orientation_set", orientation="KEEP")
    assert_refused("there is no chain 'nothing'", "orientation_set", chain="nothing", orientation="KEEP")
    assert (chain.orientation, chain.tip_bone) == ("FREE", "foot.L")


def test_a_script_that_chooses_keeps_what_stands_then_and_what_was_stored_later() -> None:
    owner = placed((1.0, 1.0, 1.0))
    with_target(owner)
    chain = rig_of(owner).chains[0]
    stands = tip_turn(owner, chain)
    chain.orientation = "TARGET"
    chain.orientation = "KEEP"
    assert angle_between(tuple(chain.held_rotation), stands) < SAME_TURN
    chain.orientation = "FREE"
    owner.rotation_euler.z += 1.0
    update()
    chain.orientation = "KEEP"
    assert angle_between(tuple(chain.held_rotation), stands) < SAME_TURN
    owner.rotation_euler.z -= 1.0
    chain.orientation = "TARGET"
    press("solve")
    assert angle_between(tip_turn(owner, chain), stands) < HELD
