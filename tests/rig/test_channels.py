# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels of every rotation mode, by curves, of chains and of goals: as Blender reads them, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin, sqrt
from random import Random
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.maths import Doubles, conjugated, multiplied, normalized, turn_angle
from fabrik_addon.rig.animation.animation import paths_at
from fabrik_addon.rig.animation.channels import cosines, run_on, stored, to_rotation, to_rotations, to_values
from fabrik_addon.rig.animation.compat import fcurves_of, give_action
from fabrik_addon.rig.animation.curves import values_at
from fabrik_addon.rig.goals import GoalRef
from fabrik_addon.rig.targets import resolve_point, resolve_turn

from support.scenes import (
    MODES,
    Bone,
    each_frame,
    keyed,
    make_armature,
    make_empty,
    make_line,
    press,
    put,
    update,
)

NAMES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def random_rotation(random: Random) -> tuple[float, float, float, float]:
    return normalized([random.gauss(0.0, 1.0) for _ in range(4)])


@pytest.mark.parametrize("mode", MODES)
def test_blender_turns_the_bone_as_asked(mode: str) -> None:
    owner = make_armature([Bone((0, 0, 0), (0, 0.3, 1), 0.4)])
    bone, random = owner.pose.bones["b0"], Random(1)
    bone.rotation_mode = mode
    near = [1.0, 0.0, 0.0, 0.0] if mode in NAMES else [0.0, 0.0, 0.0]
    for _ in range(40):
        rotation = random_rotation(random)
        near = to_values(mode, rotation, near)
        setattr(bone, NAMES.get(mode, "rotation_euler"), near)
        bpy.context.view_layer.update()
        seen = (bone.bone.matrix_local.inverted() @ bone.matrix).to_quaternion()
        assert turn_angle(multiplied(conjugated(seen), rotation)) < 3e-6
        assert turn_angle(multiplied(conjugated(to_rotation(mode, near, "b0")), rotation)) < 1e-7
        assert list(stored(near)) == np.array(near, dtype=np.float32).tolist()


@pytest.mark.parametrize("mode", MODES)
def test_small_steps_make_small_steps_of_the_channels(mode: str) -> None:
    random = Random(2)
    for _ in range(20):
        axis = normalized([0.0, *(random.gauss(0.0, 1.0) for _ in range(3))])[1:]
        start = random_rotation(random)
        near = to_values(mode, start, [1.0, 0.0, 0.0, 0.0] if mode in NAMES else [0.0, 0.0, 0.0])
        for k in range(1, 800):  # several whole turns
            angle = radians(2.0) * k
            turn = (cos(0.5 * angle), *(part * sin(0.5 * angle) for part in axis))
            values = to_values(mode, multiplied(turn, start), near)
            if mode == "QUATERNION":
                assert max(abs(a - b) for a, b in zip(values, near, strict=True)) < radians(2.0)
            elif mode == "AXIS_ANGLE":
                assert abs(values[0] - near[0]) < pi
            else:
                assert sum(abs(a - b) for a, b in zip(values, near, strict=True)) < 1.2 * pi
            near = values


FRAMES, BONES = 300, 4

SIZES = {"QUATERNION": 4, "AXIS_ANGLE": 4}


def walk(step: float) -> Doubles:
    """Rotations that turn by chance from frame to frame, with signs by chance, some at rest and some in the lock."""
    random = np.random.default_rng(5)
    found = np.cumsum(step * random.normal(size=(FRAMES, BONES, 4)), axis=0) + random.normal(size=(BONES, 4))
    found /= np.linalg.norm(found, axis=2)[..., None]
    found[50:53, 2] = (1.0, 0.0, 0.0, 0.0)
    found[90:95, 1], found[95:99, 3] = (sqrt(0.5), 0.0, sqrt(0.5), 0.0), (sqrt(0.5), sqrt(0.5), 0.0, 0.0)
    turned: Doubles = found * np.where(random.random((FRAMES, BONES)) < 0.5, -1.0, 1.0)[..., None]
    return turned


@pytest.mark.parametrize("step", [0.01, 0.3, 4.0])
@pytest.mark.parametrize("mode", MODES)
def test_all_frames_at_once(mode: str, step: float) -> None:
    rotations = walk(step)
    near = 3.0 * np.random.default_rng(6).normal(size=(BONES, SIZES.get(mode, 3)))
    found = run_on(mode, rotations, cosines(rotations), near)
    for i in range(BONES):
        values = near[i].tolist()
        for k in range(FRAMES):
            values = to_values(mode, rotations[k, i].tolist(), values)
            assert found[k, i].astype(np.float32).tolist() == np.array(values, dtype=np.float32).tolist(), (k, i)
    assert run_on(mode, rotations[:1], cosines(rotations[:1]), near).tolist() == found[:1].tolist()


@pytest.mark.parametrize("mode", MODES)
def test_and_back(mode: str) -> None:
    rotations = walk(0.3)
    values = run_on(mode, rotations, cosines(rotations), np.zeros((BONES, SIZES.get(mode, 3))))
    for i in range(BONES):
        found = to_rotations(mode, values[:, i])
        for k in range(FRAMES):
            assert abs(np.dot(found[k], rotations[k, i])) == pytest.approx(1.0, abs=1e-12)
            assert found[k] == pytest.approx(to_rotation(mode, values[k, i].tolist(), "b"), abs=1e-12)


SAMPLED = {
    "a range": np.arange(-20.0, 60.0),
    "every third": np.arange(1.0, 90.0, 3.0),
    "two": np.array((4.0, 9.0)),
    "one": np.array((7.0,)),
    "sub-frames": np.arange(1.0, 30.0, 0.25),
    "far apart": np.arange(1.0, 100_000.0, 5000.0),
}

KINDS = ("plain", "cyclic", "noise", "sampled", "constant", "no keys")


def moving(kind: str = "plain", name: str = "Goal") -> bpy.types.Object:
    found = make_empty((0.1, 0.2, 0.3), name)
    keyed(found, {-3: (0.3, 1, 0), 4.5: (1.7, 0, -2), 20: (0.2, 0.7, 9), 33: (0, 0, 0.11)})
    for curve in fcurves_of(found):
        if kind in ("cyclic", "noise"):
            modifier = curve.modifiers.new("CYCLES" if kind == "cyclic" else "NOISE")
            modifier.use_influence = True
        elif kind == "sampled":
            curve.convert_to_samples(0, 40)
        elif kind == "constant":
            curve.keyframe_points[1].interpolation = "CONSTANT"
            curve.keyframe_points[2].interpolation = "ELASTIC"
        elif kind == "no keys":
            curve.keyframe_points.clear()
    return found


@pytest.mark.parametrize("frames", SAMPLED)
@pytest.mark.parametrize("kind", KINDS)
def test_values(kind: str, frames: str) -> None:
    curves = [*fcurves_of(moving(kind)), *fcurves_of(moving(name="Other"))]
    actions = len(bpy.data.actions)
    found = values_at([*curves, curves[0]], SAMPLED[frames])
    for curve, values in zip([*curves, curves[0]], found, strict=True):
        assert values.tolist() == [curve.evaluate(frame) for frame in SAMPLED[frames].tolist()]
    assert len(bpy.data.actions) == actions


CHAINS = ("first", "second", "third")


@pytest.fixture
def owner() -> bpy.types.Object:
    """Three chains, each with keys of its weight: at frame 1 a tenth of its number, at frame 11 twice that."""
    owner = make_line(4)
    bpy.context.view_layer.objects.active = owner
    for i, name in enumerate(CHAINS):
        press("chain_add", tip_bone=f"b{i + 1}")
        chain = owner.fabrik.chains[-1]
        chain.name = name
        keyed(chain, {frame: 0.1 * (i + 1) * factor for frame, factor in ((1, 1.0), (11, 2.0))}, "weight")
    return owner


def weights(owner: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {chain.name: () for chain in owner.fabrik.chains}
    for _ in each_frame((1, 11)):
        for chain in owner.fabrik.chains:
            found[chain.name] += (round(chain.weight, 6),)
    return found


WANTED = {"first": (0.1, 0.2), "second": (0.2, 0.4), "third": (0.3, 0.6)}


@pytest.mark.parametrize(("active", "direction"), [(0, "DOWN"), (1, "UP"), (1, "DOWN"), (2, "UP")])
def test_keys_follow_a_chain_that_moves(active: int, direction: str, owner: bpy.types.Object) -> None:
    owner.fabrik.active_index = active
    press("chain_move", direction=direction)
    assert [chain.name for chain in owner.fabrik.chains] != list(CHAINS)
    assert weights(owner) == WANTED


@pytest.mark.parametrize("gone", range(3))
def test_keys_of_a_chain_go_with_it(gone: int, owner: bpy.types.Object) -> None:
    owner.fabrik.active_index = gone
    press("chain_remove")
    assert weights(owner) == {name: values for name, values in WANTED.items() if name != CHAINS[gone]}
    assert len(fcurves_of(owner)) == 2


def test_all_keys_of_chains_go_with_all_chains(owner: bpy.types.Object) -> None:
    owner.keyframe_insert('pose.bones["b0"].location', frame=1)
    press("chain_remove_all")
    assert {curve.data_path for curve in fcurves_of(owner)} == {'pose.bones["b0"].location'}


def driven(thing: bpy.types.Object, path: str) -> bpy.types.Driver:
    curve = thing.driver_add(path)
    assert isinstance(curve, bpy.types.FCurve)
    return curve.driver


def test_drivers_follow_a_chain_and_what_reads_it_does_too(owner: bpy.types.Object) -> None:
    driven(owner, "fabrik_chains[1].influence").expression = "0.25"
    reader = make_empty(name="Reader")
    driver = driven(reader, "empty_display_size")
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = owner, "fabrik_chains[1].influence"
    driver.expression = variable.name
    owner.fabrik.active_index = 1
    press("chain_move", direction="UP")
    owner.update_tag()
    reader.update_tag()
    update()
    assert [chain.influence for chain in owner.fabrik.chains] == pytest.approx([0.25, 1.0, 1.0])
    assert reader.empty_display_size == pytest.approx(0.25)
    press("chain_remove")
    assert len(owner.animation_data.drivers) == 0
    assert variable.targets[0].data_path == 'fabrik_chains["second"].influence'  # which is there no more


def test_keys_in_an_action_of_the_armature_that_it_does_not_play_follow_too(owner: bpy.types.Object) -> None:
    data = owner.animation_data
    run = data.action
    run.use_fake_user = True
    give_action(data, run.copy())
    owner.fabrik.active_index = 1
    press("chain_move", direction="UP")
    give_action(data, run)
    assert weights(owner) == WANTED
    give_action(data, run.copy())
    press("chain_remove")
    give_action(data, run)
    assert weights(owner) == {name: values for name, values in WANTED.items() if name != "second"}
    assert len(fcurves_of(owner)) == 2


def test_keys_in_a_strip_follow_too(owner: bpy.types.Object) -> None:
    action = owner.animation_data.action
    strip = owner.animation_data.nla_tracks.new().strips.new("Keys", 1, action)
    owner.animation_data.action = None
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    owner.fabrik.active_index = 0
    press("chain_move", direction="DOWN")
    assert weights(owner) == WANTED


def test_keys_that_another_armature_plays_are_refused_and_left(owner: bpy.types.Object) -> None:
    other = owner.copy()
    bpy.context.collection.objects.link(other)
    bpy.context.view_layer.objects.active = owner
    owner.fabrik.active_index = 0
    before = [curve.data_path for curve in fcurves_of(owner)]
    for operator in (bpy.ops.fabrik.chain_remove, lambda: press("chain_move", direction="DOWN")):
        with pytest.raises(RuntimeError, match=f"'{other.name}' plays the same keys of its chains"):
            operator()
    assert [chain.name for chain in owner.fabrik.chains] == list(CHAINS)
    assert [curve.data_path for curve in fcurves_of(owner)] == before


# Goals read by their own curves stand, and are turned, where Blender has them, to the last bit.


@pytest.mark.parametrize("frames", ["a range", "sub-frames"])
def test_points_are_where_blender_puts_the_object(frames: str) -> None:
    goal = moving()
    goal.delta_location = (0.7, -12.3, 1e-3)
    goal.keyframe_insert("delta_location", index=1, frame=1)
    goal.delta_location.y = 0.1
    goal.keyframe_insert("delta_location", index=1, frame=12)
    (path,) = paths_at([GoalRef("target", goal, "")], (), SAMPLED[frames], bpy.context.evaluated_depsgraph_get())
    assert path is not None
    points, turns = path
    assert turns is None
    for frame, point in zip(SAMPLED[frames].tolist(), points.tolist(), strict=True):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        evaluated = goal.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert point == list(evaluated.matrix_world.translation)


def key_turn(thing: Any, mode: str) -> None:
    """Key rotation and scale of an object or a bone, not all channels of them."""
    thing.rotation_mode = mode
    name = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    for frame in range(-20, 60, 9):
        setattr(thing, name, [0.4 * sin(frame + i) + 0.3 for i in range(len(getattr(thing, name)))])
        thing.keyframe_insert(name, frame=frame)
        thing.scale = (1.0, 1.2 + 0.01 * frame, 0.7)
        thing.keyframe_insert("scale", index=1, frame=frame)


@pytest.mark.parametrize("frames", ["a range", "sub-frames"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "YZX"])
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_goals_are_turned_as_blender_turns_them(kind: str, mode: str, frames: str) -> None:
    owner = make_armature([Bone((0.1, 0.2, 0.3), (0.5, -0.7, 1.1), roll=0.4), Bone((1, 1, 1), (1, 2, 1), parent=None)])
    owner.location, owner.rotation_euler, owner.scale = (3.0, -1.0, 0.2), (0.3, 0.4, -0.5), (1.1, 0.9, -1.2)
    goal = GoalRef("target", owner, "b1") if kind == "bone" else GoalRef("target", moving(), "")
    holder: Any = owner.pose.bones["b1"] if kind == "bone" else goal.found
    holder.location = (0.3, -0.2, 0.9)
    holder.keyframe_insert("location", frame=1, index=0)
    key_turn(holder, mode)
    bpy.context.view_layer.update()
    (path,) = paths_at([goal], (0,), SAMPLED[frames], bpy.context.evaluated_depsgraph_get())
    assert path is not None
    points, turns = path
    assert turns is not None
    for k, frame in enumerate(SAMPLED[frames].tolist()):
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        assert points[k].tolist() == [*resolve_point(*goal, depsgraph)], frame
        assert turns[k].tolist() == [*resolve_turn(goal.found, goal.bone, depsgraph)], frame


def bone_goal() -> tuple[bpy.types.Object, GoalRef]:
    owner = make_armature(
        [Bone((0, 0, 0), (0, 0, 1)), Bone((0, 0, 1), (0, 0, 2)), Bone((1, 1, 1), (1, 2, 1), parent=None)]
    )
    keyed(owner.pose.bones["b2"], {frame: 0.1 * frame for frame in (1, 9)}, "location.x")
    return owner, GoalRef("target", owner, "b2")


def strip(owner: bpy.types.Object) -> None:
    data = owner.animation_data
    assert data is not None
    assert data.action is not None
    data.nla_tracks.new().strips.new("Strip", 1, data.action)


MOVED: dict[str, Callable[[bpy.types.Object], object]] = {
    "constrained": lambda owner: owner.pose.bones["b2"].constraints.new("LIMIT_LOCATION"),
    "driven": lambda owner: owner.pose.bones["b2"].driver_add("location", 1),
    "the armature moves": lambda owner: keyed(owner, {1: 1.0, 9: 9.0}, "location.z"),
    "another mode": lambda owner: put(owner.pose.bones["b2"], rotation_mode="AXIS_ANGLE"),
    "a strip": strip,
    "pulled by IK": lambda owner: put(owner.pose.bones["b1"].constraints.new("IK"), target=make_empty(name="Other")),
}


@pytest.mark.parametrize("change", MOVED)
def test_a_bone_that_more_than_its_curves_moves(change: str) -> None:
    owner, goal = bone_goal()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert paths_at([goal], (0,), SAMPLED["a range"], depsgraph)[0] is not None
    MOVED[change](owner)
    assert paths_at([goal], (0,), SAMPLED["a range"], depsgraph)[0] is None


def test_a_bone_that_hangs_on_another() -> None:
    owner, _ = bone_goal()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert paths_at([GoalRef("target", owner, "b1")], (), SAMPLED["a range"], depsgraph)[0] is None


def test_an_object_that_something_else_moves() -> None:
    goal, other = moving(), make_empty(name="Other")
    goal.parent = other
    goals, depsgraph = [GoalRef("target", goal, ""), GoalRef("pole", other, "")], bpy.context.evaluated_depsgraph_get()
    parented, own = paths_at(goals, (), np.array((1.0, 2.0)), depsgraph)
    assert parented is None
    assert own is not None
