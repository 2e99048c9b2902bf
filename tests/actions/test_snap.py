# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose, of bodies, too; at a frame and over a range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import radians

import bpy
import pytest
from fabrik_addon.actions.snap import snap_steps
from fabrik_addon.errors import FabrikError
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import FabrikChain, rig_of
from mathutils import Euler, Quaternion, Vector

from support.judging import (
    angle_between,
    apart,
    assert_bones_stay,
    bone_matrices,
    effector,
    evaluated_joints,
    key_frames,
    tip_turn,
)
from support.scenes import (
    HEIGHT,
    Rig,
    add_chain,
    add_limb,
    assert_refused,
    each_frame,
    items_of,
    key_automatically,
    keyed,
    keyed_turns,
    make_body,
    make_empty,
    make_line,
    press,
    put,
    reaching_line,
    solved_status,
    update,
    with_legs_pinned,
)

LENGTH = 2.0


def posed_limb(pole_angle: float = 0.0) -> Rig:
    """A limb of two bones posed by hand, its goals elsewhere."""
    owner, chain = reaching_line((9, 9, 9), 2)
    chain.pole, chain.pole_angle = make_empty((3, -4, 1), "Pole"), pole_angle
    owner.pose.bones["b0"].rotation_quaternion = Quaternion((0.3, 1.0, -0.4), 0.8)
    owner.pose.bones["b1"].rotation_quaternion = Quaternion((1, 0, 0), -1.1)
    bpy.context.view_layer.update()
    return owner, chain


@pytest.fixture
def rig() -> Rig:
    """Such a limb, its pole straight ahead."""
    return posed_limb()


def test_on_a_turned_armature_with_parented_goals(owner: bpy.types.Object, chain: FabrikChain) -> None:
    holder = make_empty((2, 1, 0), "Holder")
    holder.rotation_euler, holder.scale = (0.3, 0.2, 1.0), (2, 2, 2)
    chain.target.parent, owner.location, owner.rotation_euler = holder, (1, 2, 3), (0.5, 0.1, -0.7)
    before = evaluated_joints(owner, chain)
    bpy.ops.fabrik.goal_snap()
    bpy.ops.fabrik.solve()
    assert apart(owner, chain, before) < 1e-4 * LENGTH


def test_a_range_is_keyed_and_comes_back(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed_turns(owner.pose.bones["b0"], {1: 0.2, 10: 1.2}, (0.3, 1.0, -0.4))
    wanted = {frame: evaluated_joints(owner, chain) for frame in each_frame((1, 4, 10))}
    bpy.context.scene.frame_set(-3, subframe=0.5)
    bpy.ops.fabrik.goal_snap(span="RANGE", frame_start=1, frame_end=10)
    assert bpy.context.scene.frame_current_final == -2.5
    owner.animation_data_clear()
    for frame, joints in wanted.items():
        bpy.context.scene.frame_set(frame)
        bpy.ops.fabrik.solve()
        assert apart(owner, chain, joints) < 1e-4 * LENGTH


def keyed_bone(owner: bpy.types.Object, frames: Sequence[float]) -> None:
    bone = owner.pose.bones["b0"]
    for i, frame in enumerate(frames):
        bone.rotation_quaternion = Quaternion((0.3, 1.0, -0.4), 0.2 + 0.1 * i)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_a_range_that_is_broken_off_leaves_all_as_it_was(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed(chain.target, {1: (9, 9, 9), 10: (8, 9, 9)})
    frames = tuple(range(1, 11))
    bpy.context.scene.frame_set(4, subframe=0.5)
    steps = snap_steps(bpy.context, [((owner, chain), frames)])
    assert [next(steps) for _ in frames[:6]] == [pytest.approx(k / 10) for k in range(1, 7)]
    with pytest.raises(FabrikError, match="a bake is going on"):
        next(snap_steps(bpy.context, [((owner, chain), frames)]))
    steps.close()
    assert bpy.context.scene.frame_current_final == 4.5
    assert key_frames(chain.target) == {1.0, 10.0}
    assert not key_frames(chain.pole)
    bpy.context.scene.frame_set(1)
    assert chain.target.location == Vector((9, 9, 9))


def test_a_limit_that_keys_exceed_is_told_with_the_worst_frame(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed_bone(owner, (1, 10))
    bone = owner.pose.bones["b0"]
    bone.fabrik.limit, bone.fabrik.cone_max = "CONE", 0.05
    update()

    def told(frames: tuple[int, ...]) -> list[str]:
        steps = snap_steps(bpy.context, [((owner, chain), frames)])
        for _ in frames:
            next(steps)
        with pytest.raises(StopIteration) as end:
            next(steps)
        return [text for text in end.value.value.warnings if "in frame" in text]

    found = told(tuple(range(1, 11)))
    assert len(found) == 1
    assert f"{chain.name}: 'b0' exceeds its joint limit by" in found[0]
    assert "in frame 10, where a solve turns it back" in found[0]
    bone.fabrik.cone_max = 1.0
    assert not told(tuple(range(1, 11)))


def test_what_is_so_of_several_chains_is_told_once(body: bpy.types.Object) -> None:
    for side in ("L", "R"):
        for name in ("hand", "foot"):
            add_limb(body, f"{name}.{side}", 3, target=(0.0, 0.0, 5.0))
    rig_of(body).body_bone = "hips"
    knee = body.pose.bones["hand.L"].parent
    knee.fabrik.limit, knee.fabrik.angle_min, knee.fabrik.angle_max = "HINGE", -0.1, 0.1
    knee.rotation_quaternion = Quaternion((1, 0, 0), 1.0)
    update()
    steps = snap_steps(bpy.context, [(item, ()) for item in items_of(body)])
    with pytest.raises(StopIteration) as end:
        next(steps)
    told = [text for text in end.value.value.warnings if knee.name in text]
    assert len(told) == 1
    assert told[0].count(f"'{knee.name}'") == 1
    assert all(chain.name in told[0] for chain in rig_of(body).chains)


def test_goals_at_the_frames_that_have_keys(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed_bone(owner, (1, 4.5, 12, 30))
    for frame in (-3, 5, 30):
        chain.target.keyframe_insert("location", frame=frame)
    bpy.ops.fabrik.goal_snap(span="RANGE", frame_start=2, frame_end=20, only_keys=True)
    assert key_frames(chain.pole) == {4.5, 12.0}
    assert key_frames(chain.target) == {-3.0, 4.5, 12.0, 30.0}
    owner.animation_data_clear()
    with pytest.raises(RuntimeError, match="none of its bones has a key from frame 2 to 20"):
        bpy.ops.fabrik.goal_snap(span="RANGE", frame_start=2, frame_end=20, only_keys=True)


def test_armatures_that_hang_on_each_other_are_posed_in_order() -> None:
    first, spine = reaching_line((0.4, 0.8, 2.0))
    second = make_line(3)
    second.name, second.location.x = "Aaa", 0.6
    follower = add_chain(second)
    follower.target, follower.target_bone = first, "b2"
    for owner in (first, second):
        owner.select_set(True)
    bpy.context.view_layer.objects.active = second
    bpy.ops.fabrik.pose_snap(chains="ALL")
    assert (spine.status, follower.status) == ("REACHED", "REACHED")
    tip = evaluated_joints(second, follower)[-1]
    assert (tip - first.matrix_world @ first.pose.bones["b2"].head).length < 1e-3


def test_the_pose_at_the_frames_where_goals_have_keys(owner: bpy.types.Object, chain: FabrikChain) -> None:
    for frame, x in ((3, 0.2), (8, 0.7)):
        keyed(chain.target, {frame: (x, 0.8, 1.1)})
    bpy.ops.fabrik.pose_snap(span="RANGE", frame_start=1, frame_end=10, only_keys=True)
    assert key_frames(owner) == {3.0, 8.0}
    assert chain.enabled


def test_goals_and_pose_at_this_frame_are_keyed_where_keying_is_automatic(
    owner: bpy.types.Object, chain: FabrikChain
) -> None:
    key_automatically()
    bpy.ops.fabrik.goal_snap()
    assert key_frames(chain.target) == {float(bpy.context.scene.frame_current)}
    chain.target.location = (0.2, 0.8, 1.1)
    bpy.ops.fabrik.pose_snap()
    assert chain.status == "REACHED"
    assert key_frames(owner) == {float(bpy.context.scene.frame_current)}


def test_the_current_frame_shows_its_own_keys_afterwards(owner: bpy.types.Object, chain: FabrikChain) -> None:
    keyed_bone(owner, (1, 10, 20))
    bpy.context.scene.frame_set(5)
    before = evaluated_joints(owner, chain)
    bpy.ops.fabrik.goal_snap(span="RANGE", frame_start=1, frame_end=20)
    bpy.ops.fabrik.solve()
    assert apart(owner, chain, before) < 1e-4 * LENGTH


# What is done to an armature and its chain, so that the target could not be brought to the pose.
SPOILT: dict[str, Callable[[bpy.types.Object, FabrikChain], object]] = {
    "locked": lambda _, chain: put(fcurves_of(chain.target)[0], lock=True),
    "modified": lambda _, chain: fcurves_of(chain.target)[0].modifiers.new("NOISE"),
    "shared": lambda owner, chain: put(add_chain(owner, tip="b0", count=1), target=chain.target),
    "carried": lambda _, chain: put(chain.pole, parent=chain.target),
    "influence": lambda _, chain: put(chain, influence=0.5),
    "armature": lambda owner, chain: put(owner, parent=chain.target),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_could_not_be_brought_to_the_pose_is_refused(what: str) -> None:
    owner, chain = posed_limb()
    chain.target.keyframe_insert("location", frame=1)
    SPOILT[what](owner, chain)
    target = rig_of(owner).chains[0].target
    before = target.location.copy()
    with pytest.raises(RuntimeError):
        bpy.ops.fabrik.goal_snap(chains="ALL", span="RANGE", frame_start=1, frame_end=4)
    assert target.location == before
    assert key_frames(target) == {1.0}


def test_goals_that_can_not_be_moved(chain: FabrikChain) -> None:
    before, flat = chain.target.location.copy(), make_empty(name="Flat")
    constraint = chain.pole.constraints.new("COPY_LOCATION")
    assert_refused("the pole has constraints", "goal_snap")
    assert chain.target.location == before
    chain.pole.constraints.remove(constraint)
    chain.pole.parent, flat.scale = flat, (1, 0, 1)
    update()
    assert_refused("has no scale", "goal_snap")
    assert chain.target.location == before
    chain.target = None
    assert_refused("the target is not set", "goal_snap")


SAME = 1e-4 * HEIGHT


def posed_body() -> tuple[bpy.types.Object, FabrikChain]:
    """A body that was posed by hand, with pinned feet and a hand whose target is elsewhere."""
    owner = with_legs_pinned(make_body())
    hand = add_limb(owner, "hand.L", 3, target=(2, 2, 2))
    bones = owner.pose.bones
    bones["hips"].location, bones["hips"].rotation_quaternion = (0.02, -0.1, 0.05), Quaternion((1, 0, 0), 0.1)
    bones["thigh.L"].rotation_quaternion = Quaternion((1, 0, 0), -0.5)
    bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.8)
    bones["spine2"].rotation_quaternion = Quaternion((0.2, 1, 0), 0.2)
    bones["upper_arm.L"].rotation_quaternion = Quaternion((0.3, 0.1, 1), -0.4)
    bones["forearm.L"].rotation_quaternion = Quaternion((0, 0, 1), 0.9)
    bones["hand.L"].rotation_quaternion = Quaternion((1, 0, 0.4), 0.5)
    update()
    return owner, hand


@pytest.mark.parametrize("orientation", ["FREE", "KEEP", "TARGET"])
def test_solving_a_body_after_it_moves_nothing(orientation: str) -> None:
    owner, hand = posed_body()
    hand.rotation_offset, hand.held_rotation = Euler((0.4, 0.2, 1.0)).to_quaternion(), (1, 0, 0, 0)
    hand.orientation = orientation
    before = bone_matrices(owner)
    press("goal_snap", chains="ALL")
    assert_bones_stay(owner, before, SAME, 1e-3)
    press("solve_all")
    assert {chain.status for chain in rig_of(owner).chains} == {"REACHED"}
    assert_bones_stay(owner, before, SAME, 1e-3)
    foot = rig_of(owner).chains["foot.L"]
    assert (effector(owner, foot) - Vector(foot.held_location)).length < SAME


@pytest.mark.parametrize("mode", ["QUATERNION", "ZYX", "AXIS_ANGLE"])
def test_a_parented_target_is_turned_in_its_own_mode(mode: str) -> None:
    owner, hand = posed_body()
    holder = make_empty((1, 1, 0), "Holder")
    holder.rotation_euler, holder.scale = (0.4, 0.2, 1.1), (2, 2, 2)
    hand.target.parent, hand.target.rotation_mode = holder, mode
    owner.rotation_euler.z = radians(40)
    hand.rotation_offset, hand.orientation = Euler((0.4, 0.2, 1.0)).to_quaternion(), "TARGET"
    turn = tip_turn(owner, hand)
    press("goal_snap", chains="ALL")
    seen = hand.target.matrix_world.to_quaternion() @ Quaternion(hand.rotation_offset)
    assert angle_between(tuple(seen), turn) < 1e-3
    assert (hand.target.matrix_world.translation - effector(owner, hand)).length < SAME


def test_a_bone_as_target_is_turned() -> None:
    owner, hand = posed_body()
    other = make_body()
    other.location.x = 1.0
    hand.target, hand.target_bone = other, "hips"
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    before = bone_matrices(owner)
    bpy.context.view_layer.objects.active = owner
    press("goal_snap", chains="ALL")
    assert solved_status(hand, "solve_all") == "REACHED"
    assert_bones_stay(owner, before, SAME, 1e-3)


def test_the_target_of_an_aim_is_put_ahead_of_it(body: bpy.types.Object) -> None:
    look = add_limb(body, "head", 2, target=(1, -1, 1.2))
    look.kind, look.aim_axis = "AIM", (0, 0, 1)
    body.pose.bones["head"].rotation_quaternion = Quaternion((0.2, 1, 0), 0.6)
    before = bone_matrices(body)
    away = (look.target.location - body.pose.bones["head"].head).length
    press("goal_snap")
    assert (look.target.location - before["head"].translation).length == pytest.approx(away, rel=0.01)
    press("solve")
    assert_bones_stay(body, before, SAME, 1e-3)


def test_a_range_of_a_body_is_keyed_and_comes_back() -> None:
    owner, hand = posed_body()
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    for frame, angle in ((1, -0.3), (6, 0.4)):
        for name in ("shin.L", "forearm.L", "hand.L"):
            owner.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), angle)
            owner.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    wanted = {}
    for frame in each_frame((1, 3, 6)):
        wanted[frame] = [(effector(owner, chain), tip_turn(owner, chain)) for chain in rig_of(owner).chains]
    press("goal_snap", chains="ALL", span="RANGE", frame_start=1, frame_end=6)
    held = {curve.data_path.rpartition(".")[2] for curve in fcurves_of(owner) if "fabrik_chains" in curve.data_path}
    assert held == {"held_location", "held_rotation"}
    assert {curve.data_path for curve in fcurves_of(hand.target)} == {"location", "rotation_euler"}
    for curve in [curve for curve in fcurves_of(owner) if "pose.bones" in curve.data_path]:
        curve.keyframe_points.clear()
    for frame, stood in wanted.items():
        bpy.context.scene.frame_set(frame)
        press("solve_all")
        for chain, (place, turn) in zip(rig_of(owner).chains, stood, strict=True):
            assert chain.status == "REACHED"
            assert (effector(owner, chain) - place).length < SAME
            assert angle_between(tip_turn(owner, chain), turn) < 1e-3


@pytest.mark.parametrize("what", ["locked", "driven"])
def test_a_target_that_can_not_be_turned_is_refused(what: str) -> None:
    _, hand = posed_body()
    hand.rotation_offset, hand.orientation = (1, 0, 0, 0), "TARGET"
    if what == "locked":
        hand.target.lock_rotation = (False, True, False)
    else:
        hand.target.driver_add("rotation_euler", 0)
    place = tuple(hand.target.location)
    assert_refused(f"the target .*{what}.* rotation|the target has a driven rotation", "goal_snap", chains="ALL")
    assert tuple(hand.target.location) == place
