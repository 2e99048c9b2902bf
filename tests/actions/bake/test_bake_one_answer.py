# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer: by button, live, baked and from the command line a chain takes the same pose at every frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import radians
from pathlib import Path
from random import Random

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.actions.solve import solve_items
from fabrik_addon.cli.commands import run as run_command
from fabrik_addon.maths import Doubles, turn_about
from fabrik_addon.rig.animation.channels import read_values
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.figure.groups import alone
from fabrik_addon.rig.figure.reader import read
from fabrik_addon.rig.schema import FabrikChain

from support.scenes import (
    FRAMES,
    SOME_MODES,
    Bone,
    Rig,
    add_chain,
    chain_bones,
    each_frame,
    keyed,
    keyed_line,
    make_armature,
    make_empty,
    on_moving_parents,
)

TAIL_FRAMES = tuple(range(1, 151))
ULPS = 4.0  # units in the last place of a channel, or of a one where the channel is smaller
Channels = dict[str, list[float]]


def tail(count: int = 10, degrees: float = 30.0) -> Rig:
    """Hinges about X and Z in turn, whose target is at each frame where they can stand."""
    owner = make_armature([Bone((0, 0, 0.3 * i), (0, 0, 0.3 * (i + 1)), connect=i > 0) for i in range(count)])
    axes = [(1.0, 0.0, 0.0) if i % 2 == 0 else (0.0, 0.0, 1.0) for i in range(count)]
    for bone, axis in zip(owner.pose.bones, axes, strict=True):
        limit = bone.fabrik
        limit.limit, limit.axis = "HINGE", axis
        limit.angle_min, limit.angle_max = -radians(degrees), radians(degrees)
    chain = add_chain(owner, (0.2, 0.3, 2.5))
    figure, _ = read(alone(owner, chain), bpy.context.evaluated_depsgraph_get())
    random = Random(7)
    for frame in TAIL_FRAMES:
        angles = [random.uniform(-radians(degrees), radians(degrees)) for _ in axes]
        pose = [turn_about(axis, angle) for axis, angle in zip(axes, angles, strict=True)]
        chain.target.location = figure.space.to_world(figure.solver.figure.placed(pose).joints[-1])
        chain.target.keyframe_insert("location", frame=frame)
    return owner, chain


def with_pole(mode: str = "QUATERNION", influence: float = 1.0) -> Rig:
    """A limb with a pole that moves and a knee that bends one way."""
    owner, chain = keyed_line(mode)
    chain.pole, chain.influence = make_empty((0, 4, 1), "Pole"), influence
    keyed(chain.pole, {1: -1.0, 20: 3.0}, "location.x")
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.angle_min, knee.angle_max = "HINGE", -2.5, 0.2
    return owner, chain


def on_a_parent_that_grows() -> Rig:
    owner, chain = on_moving_parents()
    base = owner.pose.bones["b0"]
    keyed(base, {frame: (size, size, size) for frame, size in ((1, 1.0), (20, 1.3))}, "scale")
    return owner, chain


def far_away() -> Rig:
    owner, chain = keyed_line()
    owner.location = (4000.0, -300.0, 20.0)
    for curve in fcurves_of(chain.target):
        for point in curve.keyframe_points:
            point.co[1] += owner.location[curve.array_index]
        curve.update()
    return owner, chain


def with_a_keyed_setting(name: str, first: float = 0.3, last: float = 1.0) -> Rig:
    owner, chain = keyed_line()
    keyed(chain, {1: first, 20: last}, name)
    return owner, chain


def with_a_keyed_limit(kind: str) -> Rig:
    """A knee whose range is keyed, of the extension or of Blender's IK."""
    owner, chain = with_pole() if kind == "HINGE" else keyed_line()
    knee, name = owner.pose.bones["b1"], "fabrik_angle_max" if kind == "HINGE" else "ik_max_x"
    knee.fabrik.limit, knee.use_ik_limit_x = kind, True
    for frame, value in ((1, 0.4), (20, 0.9)):
        setattr(knee, name, value)
        owner.keyframe_insert(f'pose.bones["b1"].{name}', frame=frame)
    return owner, chain


def with_a_keyed_bone(path: str, start: str = "REST", is_locked: bool = False) -> Rig:
    """A chain with keys of its own on the bone in the middle."""
    owner, chain = keyed_line()
    chain.start, bone = start, owner.pose.bones["b1"]
    bone.lock_rotation = (is_locked,) * 3
    for frame, value in ((1, 0.4), (20, 0.9)):
        setattr(bone, path, (value,) * 3 if path == "scale" else turn_about((1.0, 0.0, 0.0), value))
        bone.keyframe_insert(path, frame=frame)
    return owner, chain


def lopsided() -> Rig:
    owner, chain = keyed_line()
    owner.pose.bones["b0"].scale = (1.4, 1.0, 0.8)
    return owner, chain


RIGS: dict[str, Callable[[], Rig]] = {
    **{f"pole, {mode}": partial(with_pole, mode) for mode in (*SOME_MODES, "YXZ")},
    "moving parents": on_moving_parents,
    "a parent that grows": on_a_parent_that_grows,
    "far away": far_away,
    "keyed influence": partial(with_a_keyed_setting, "influence"),
    "keyed pole angle": partial(with_a_keyed_setting, "pole_angle"),
    "keyed tolerance": partial(with_a_keyed_setting, "tolerance", 4e-5, 9e-5),
    "keyed limit": partial(with_a_keyed_limit, "HINGE"),
    "keyed range of Blender's IK": partial(with_a_keyed_limit, "BONE_IK"),
    "keyed scale": partial(with_a_keyed_bone, "scale"),
    "keyed start pose": partial(with_a_keyed_bone, "rotation_quaternion", "ANIMATED"),
    "keyed and locked": partial(with_a_keyed_bone, "rotation_quaternion", is_locked=True),
    "lopsided": lopsided,
    "half way": partial(with_pole, influence=0.5),
}


def seen(owner: bpy.types.Object, chain: FabrikChain) -> Channels:
    """The rotation channels of a chain's bones as they are stored."""
    return {bone.name: read_values(bone) for bone in chain_bones(owner, chain)}


def by_button(
    owner: bpy.types.Object, chain: FabrikChain, frames: Iterable[int]
) -> tuple[dict[int, Channels], set[int]]:
    """The poses, and the frames in which the target is reached."""
    found, reached = {}, set()
    for frame in each_frame(frames):
        solve_items(bpy.context, [(owner, chain)])
        found[frame] = seen(owner, chain)
        if chain.status == "REACHED":
            reached.add(frame)
    return found, reached


def live(owner: bpy.types.Object, chain: FabrikChain, frames: Iterable[int]) -> dict[int, Channels]:
    owner.fabrik.live = True
    found = {frame: seen(owner, chain) for frame in each_frame(frames)}
    owner.fabrik.live = False
    return found


def baked(owner: bpy.types.Object, chain: FabrikChain, frames: Iterable[int], reached: set[int]) -> dict[int, Channels]:
    """The poses as baked, which are told to reach the target wherever it is reached by the button."""
    name = chain.name
    (result,) = bake(bpy.context, [(owner, chain)], BakeSettings(tuple(frames))).chains
    assert result.worst_violation < 1e-4
    assert reached.isdisjoint(dict(result.unreached))
    chain = owner.fabrik.chains[name]
    curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(owner)}
    found = {}
    for frame in each_frame(frames):
        found[frame] = seen(owner, chain)
        for (path, index), curve in curves.items():
            bone = path.split('"')[1] if ".rotation_" in path else ""
            if bone in found[frame]:
                assert found[frame][bone][index] == curve.evaluate(frame)
    return found


def assert_same(owner: bpy.types.Object, found: dict[int, Channels], wanted: dict[int, Channels]) -> None:
    """Equal but for rounding, the sign of a quaternion or an axis, and what angles mean the same."""
    for frame, bones in wanted.items():
        for name, values in bones.items():
            off = ulps_between(owner.pose.bones[name].rotation_mode, found[frame][name], values)
            assert off <= ULPS, (frame, name, found[frame][name], values)


def ulps_between(mode: str, one: list[float], other: list[float]) -> float:
    a, b = np.array(one), np.array(other)
    if mode == "QUATERNION":
        alike = [b, -b]
    elif mode == "AXIS_ANGLE":
        alike = [with_turns(b, a, slice(0, 1)), with_turns(-b, a, slice(0, 1))]
    else:
        middle = "XYZ".index(mode[1])
        second = b + np.pi
        second[middle] = np.pi - b[middle]
        alike = [with_turns(b, a, slice(0, 3)), with_turns(second, a, slice(0, 3))]
    return min(
        float((np.abs(a - c) / np.spacing(np.maximum(np.maximum(np.abs(a), np.abs(c)), 1.0).astype(np.float32))).max())
        for c in alike
    )


def with_turns(values: Doubles, near: Doubles, angles: slice) -> Doubles:
    """Angles with the whole turns that are nearest to others."""
    found = values.copy()
    found[angles] += 2.0 * np.pi * np.round((near[angles] - values[angles]) / (2.0 * np.pi))
    return found


@pytest.mark.parametrize("rig", RIGS)
def test_button_live_and_bake(rig: str) -> None:
    owner, chain = RIGS[rig]()
    wanted, reached = by_button(owner, chain, FRAMES)
    assert_same(owner, live(owner, chain, FRAMES), wanted)
    assert_same(owner, baked(owner, chain, FRAMES, reached), wanted)


def test_a_tail_of_ten_hinges() -> None:
    owner, chain = tail()
    wanted, reached = by_button(owner, chain, TAIL_FRAMES)
    assert_same(owner, live(owner, chain, TAIL_FRAMES), wanted)
    assert_same(owner, baked(owner, chain, TAIL_FRAMES, reached), wanted)


@pytest.mark.parametrize("rig", ["tail", "pole, XYZ", "keyed influence", "moving parents"])
def test_the_command_line(rig: str, tmp_path: Path) -> None:
    owner, chain = RIGS.get(rig, tail)()
    frames = (1, 7, 20)
    wanted, _ = by_button(owner, chain, frames)
    shot, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot), compress=False)
    for frame in frames:
        words = ["solve", "--file", str(shot), "--output", str(out), "--frame", str(frame), "--allow-unreached"]
        assert run_command(words) == 0
        opened = bpy.data.objects["Rig"]
        assert_same(opened, {frame: seen(opened, opened.fabrik.chains[0])}, {frame: wanted[frame]})
    words = ["bake", "--file", str(shot), "--output", str(out), "--frames", "1-20", "--allow-unreached"]
    assert run_command(words) == 0
    opened = bpy.data.objects["Rig"]
    for frame in each_frame(frames):
        assert_same(opened, {frame: seen(opened, opened.fabrik.chains[0])}, {frame: wanted[frame]})
