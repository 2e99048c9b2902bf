# SPDX-License-Identifier: GPL-3.0-or-later
"""One answer: by button, live, baked, exported and from the command line, in any order of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import cos, radians, sin
from pathlib import Path
from random import Random
from typing import Any

import addon_utils
import bpy
import numpy as np
import pytest
from fabrik_addon.actions.bake import BakeSettings, bake
from fabrik_addon.cli.commands import run as run_command
from fabrik_addon.maths import Doubles, turn_about
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from support.judging import (
    ULPS,
    Channels,
    bone_heads,
    channels,
    single_channels,
    statuses,
    stored_channels,
    tip_turn,
    ulps_apart,
)
from support.scenes import (
    FRAMES,
    SOME_MODES,
    SQUAT,
    Bone,
    Rig,
    add_chain,
    add_limb,
    add_skin,
    each_frame,
    go_live,
    items_of,
    keyed,
    keyed_line,
    live_line,
    make_armature,
    make_body,
    make_empty,
    make_line,
    make_rig,
    many_limbs,
    note_of,
    on_moving_parents,
    select,
    squatting,
    strand,
    update,
    with_legs_pinned,
)

Reached = dict[str, set[int]]  # by chain, the frames
TAIL_FRAMES = tuple(range(1, 151))
SHIFTS = {1: (-0.3, 0.1, 0.0), 8: (0.5, 0.4, -0.3), 20: (0.2, -0.6, 0.1)}  # of targets that have no keys


def hinge_tail() -> bpy.types.Object:
    """A tail of ten hinges by 30 degrees either way, their axes X and Z in turn, with a target for each frame."""
    owner = make_line(10, length=0.1, bend=0.0)
    for i, bone in enumerate(owner.pose.bones):
        bone.fabrik.limit, bone.fabrik.axis = "HINGE", (1, 0, 0) if i % 2 else (0, 0, 1)
        bone.fabrik.angle_min, bone.fabrik.angle_max = radians(-30), radians(30)
    chain, random = add_chain(owner, (0, 0, 1)), Random(7)
    for frame in TAIL_FRAMES:
        around, up = random.uniform(0.0, 6.28), random.uniform(-0.3, 1.5)
        out = random.uniform(0.2, 1.05)
        keyed(chain.target, {frame: (out * cos(around) * cos(up), out * sin(around) * cos(up), out * sin(up))})
    return owner


def with_pole(mode: str = "QUATERNION", influence: float = 1.0) -> bpy.types.Object:
    """A limb with a pole that moves and a knee that bends one way."""
    owner, chain = keyed_line(mode)
    chain.pole, chain.influence = make_empty((0, 4, 1), "Pole"), influence
    keyed(chain.pole, {1: -1.0, 20: 3.0}, "location.x")
    knee = owner.pose.bones["b1"].fabrik
    knee.limit, knee.angle_min, knee.angle_max = "HINGE", -2.5, 0.2
    return owner


def on_a_parent_that_grows() -> bpy.types.Object:
    """And that moves, of an armature that moves."""
    owner, _ = on_moving_parents()
    base = owner.pose.bones["b0"]
    keyed(base, {frame: (size, size, size) for frame, size in ((1, 1.0), (20, 1.3))}, "scale")
    keyed(base, {1: (0.1, 0.02, 0.0), 20: (2.0, 0.4, 0.0)})
    return owner


def far_away() -> bpy.types.Object:
    owner, _ = live_line()
    owner.location = (4000.0, -300.0, 20.0)
    return owner


def with_a_keyed_setting(name: str, first: float, last: float) -> bpy.types.Object:
    owner, chain = keyed_line()
    keyed(chain, {1: first, 20: last}, name)
    return owner


def fading_in(make: Callable[[], bpy.types.Object], first: float) -> bpy.types.Object:
    """A chain whose influence is keyed, up to all."""
    owner = make()
    keyed(rig_of(owner).chains[0], {1: first, 20: 1.0}, "influence")
    return owner


def with_a_keyed_limit(kind: str) -> bpy.types.Object:
    """A knee whose range is keyed, of the extension or of Blender's IK."""
    owner = with_pole() if kind == "HINGE" else keyed_line()[0]
    knee, name = owner.pose.bones["b1"], "fabrik_angle_max" if kind == "HINGE" else "ik_max_x"
    knee.fabrik.limit, knee.use_ik_limit_x = kind, True
    for frame, value in ((1, 0.4), (20, 0.9)):
        setattr(knee, name, value)
        owner.keyframe_insert(f'pose.bones["b1"].{name}', frame=frame)
    return owner


def with_a_keyed_bone(path: str, locks: Sequence[bool] = (False,) * 3) -> bpy.types.Object:
    """A chain with keys of its own on the bone in the middle."""
    owner, _ = keyed_line()
    bone = owner.pose.bones["b1"]
    bone.lock_rotation = locks
    keyed(bone, {frame: (x,) * 3 if path == "scale" else turn_about((1.0, 0.0, 0.0), x) for frame, x in ENDS}, path)
    return owner


ENDS = ((1, 0.4), (20, 0.9))


def scaled(owner: bpy.types.Object, bone: str, scale: Sequence[float]) -> bpy.types.Object:
    owner.pose.bones[bone].scale = scale
    return owner


def moved() -> bpy.types.Object:
    """An armature that moves."""
    owner, _ = live_line(count=4)
    for frame in (1, 20):
        owner.rotation_euler, owner.scale = (0.02 * frame, 0.1, 0.05 * frame), (1.2, 0.9, 1.1)
        owner.keyframe_insert("rotation_euler", frame=frame)
        keyed(owner, {frame: (100.0 + 0.03 * frame, 0.01 * frame, -3.0)})
    return owner


def played(start: str = "REST") -> bpy.types.Object:
    """Bones that have keys of their own, in modes of their own."""
    owner, chain = live_line(count=4)
    for name, mode in (("b1", "ZXY"), ("b2", "AXIS_ANGLE")):
        owner.pose.bones[name].rotation_mode = mode
    for frame in (1, 9, 20):
        owner.pose.bones["b1"].rotation_euler = (0.1 * frame, 3.0, -0.2)
        owner.pose.bones["b1"].keyframe_insert("rotation_euler", frame=frame)
        owner.pose.bones["b3"].rotation_quaternion = (-1.0, 0.05 * frame, 0.0, 0.0)
        owner.pose.bones["b3"].keyframe_insert("rotation_quaternion", frame=frame)
    chain.start = start
    return owner


def sharing() -> bpy.types.Object:
    """Two chains that share bones."""
    owner = make_line(4)
    add_chain(owner, (0.4, 1.0, 2.4), tip="b3", count=4)
    add_chain(owner, (0.6, 0.6, 1.5), tip="b2", count=3)
    return owner


def of_all_kinds() -> bpy.types.Object:
    """Three limbs of different structure and with settings of their own, one of which is keyed."""
    owner = make_armature([bone for x in (0, 3, 6) for bone in strand((x, 0, 0), (x, 0, 1), (x, 0.2, 2), (x, 0, 3))])
    chains = [add_chain(owner, (3 * i + 0.5, 0.6, 1.8), tip=f"b{3 * i + 2}", count=3).name for i in range(3)]
    first, _, last = (rig_of(owner).chains[name] for name in chains)
    owner.pose.bones["b4"].fabrik.limit = "CONE"
    last.tolerance = 1e-5
    keyed(first, {1: 0.5, 20: 1.0}, "influence")
    return owner


def stretching() -> bpy.types.Object:
    """Two bones that may be longer and longer."""
    owner = make_armature([Bone((0, 0, 2), (0, -0.02, 1)), Bone((0, -0.02, 1), (0, 0, 0), 0.3)])
    for bone in owner.data.bones:
        bone.inherit_scale = "ALIGNED"
    chain = add_chain(owner, (0.5, 0, -0.5))
    chain.soft = 0.02
    keyed(chain, {1: 1.0, 5: 1.0, 10: 1.5}, "stretch")
    return owner


def body() -> bpy.types.Object:
    """A body with pinned feet, hips that move, a hand and a head that share the spine."""
    owner = with_legs_pinned(make_body())
    add_limb(owner, "hand.L", 6, target=(0.5, -0.4, 1.2))
    hand = add_limb(owner, "hand.R", 3, target=(-0.4, -0.5, 1.0))
    update()
    hand.orientation, hand.held_rotation = "KEEP", tip_turn(owner, hand)
    rig_of(owner).spine, rig_of(owner).balance = 0.8, 0.5
    return owner


def carried_body() -> bpy.types.Object:
    """A body below a bone that moves, in Euler angles, with hips that are keyed."""
    owner = make_body("XYZ")
    for frame in (1, 20):
        keyed(owner.pose.bones["hips"], {frame: (0.01 * frame, 0.0, 0.002 * frame)})
        owner.rotation_euler.z = 0.01 * frame
        owner.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    with_legs_pinned(owner)
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    hand.soft, hand.stretch = 0.02, 1.3
    return owner


def aiming() -> bpy.types.Object:
    """A head that looks at a target, and arms that share the spine with it, one of them half as strong."""
    owner = make_body()
    look = add_limb(owner, "head", 3, target=(0.8, -1.0, 1.4))
    look.kind = "AIM"
    look.aim_axis = (0.0, 0.0, 1.0)
    look.weight = 0.7
    add_limb(owner, "hand.L", 6, target=(0.5, -0.4, 1.2)).influence = 0.5
    hand = add_limb(owner, "hand.R", 6, target=(-0.5, -0.4, 1.2))
    hand.weight, hand.orientation = 0.5, "TARGET"
    return owner


def many() -> bpy.types.Object:
    """As many limbs as are read and written at once, half of them turned about."""
    owner = many_limbs(18)
    for bone in list(owner.pose.bones)[::4]:
        bone.bone.inherit_scale = "NONE"
    for chain in list(owner.fabrik.chains)[::2]:
        bone = owner.pose.bones[chain.tip_bone]
        bone.rotation_quaternion = (-0.9, 0.1, 0.2, 0.3)
        bone.keyframe_insert("rotation_quaternion", frame=-5)
    return owner


def squat(name: str = "", values: Mapping[float, object] | None = None, chain: str = "hand.L") -> bpy.types.Object:
    """A body with pinned feet that sinks, and a setting of one of its chains that is keyed."""
    owner = squatting()
    hand = rig_of(owner).chains["hand.L"]
    if name.endswith("weight") or name == "influence":
        hand.orientation = "KEEP"
    elif name == "stretch":
        for bone in owner.data.bones:
            bone.inherit_scale = "NONE"
        keyed(hand.target, {1: (0.7, -0.3, 1.2), 6: (0.9, -0.8, 1.6), 12: (1.1, -0.7, 1.2)})
    keyed(rig_of(owner).chains[chain], values or {}, name)
    return owner


def balanced_squat(start: str = "REST") -> bpy.types.Object:
    """A body that keeps its balance, and a spine that has keys of its own where it starts from them."""
    owner = squatting()
    rig_of(owner).balance = 1.0
    for chain in rig_of(owner).chains if start != "REST" else ():
        chain.start = start
        keyed(owner.pose.bones["spine1"], {1: (1, 0, 0, 0), 12: (1, 0.2, 0.1, 0)}, "rotation_quaternion")
    keyed(rig_of(owner).chains["hand.L"].target, {1: (0.3, -0.3, 1.2), 6: (0.3, -0.8, 1.1), 12: (0.3, -0.7, 0.9)})
    return owner


def planted_in_balance() -> bpy.types.Object:
    """A body that keeps its balance, on a foot more from a frame on."""
    owner = squat("pin", {1: False, 6: True}, "foot.L")
    rig_of(owner).balance = 0.5
    return owner


def tilting_balanced_squat() -> bpy.types.Object:
    """A body that keeps its balance on goals that hang on it, while its armature tilts: down goes elsewhere for it."""
    owner = balanced_squat()
    for target in {chain.target for chain in rig_of(owner).chains} - {None, owner}:
        target.parent = owner
    for frame, tilt in ((1, 0.0), (12, 0.5)):
        owner.rotation_euler.x = tilt
        owner.keyframe_insert("rotation_euler", frame=frame)
    return owner


def moved_squat() -> bpy.types.Object:
    owner = squatting()
    for frame, turn in ((1, 0.0), (12, 0.2)):
        owner.location.x = owner.rotation_euler.z = turn
        owner.keyframe_insert("location", frame=frame)
        owner.keyframe_insert("rotation_euler", frame=frame)
    return owner


SQUATS: dict[str, Callable[[], bpy.types.Object]] = {
    **{f"squat, {mode}": partial(squatting, mode) for mode in ("QUATERNION", "XYZ")},
    **{f"keyed {name}": partial(squat, name, {1: 0.0, 12: 1.0}) for name in ("weight", "orientation_weight")},
    "keyed influence of a hand": partial(squat, "influence", {1: 0.0, 12: 1.0}),
    "more and more stretch": partial(squat, "stretch", {1: 1.0, 12: 1.3}),
    "less and less stretch": partial(squat, "stretch", {1: 1.3, 12: 1.0}),
    "a foot planted by keys": partial(squat, "pin", {1: True, 5: False, 9: True}, "foot.L"),
    "a pin moved by keys": partial(squat, "held_location", {1: (0.1, 0.02, 0.08), 12: (0.2, 0.02, 0.08)}, "foot.L"),
    "a squat with an uneven arm": lambda: scaled(squatting(), "forearm.L", (1.0, 1.3, 0.8)),
    "a squat in balance": balanced_squat,
    "a squat in balance from a keyed start pose": partial(balanced_squat, "ANIMATED"),
    "a squat in balance of an armature that tilts": tilting_balanced_squat,
    "a foot planted by keys in balance": planted_in_balance,
    "a squat of an armature that moves": moved_squat,
}
RIGS: dict[str, Callable[[], bpy.types.Object]] = {
    "still": lambda: live_line(count=4)[0],
    "tail": hinge_tail,
    **{f"pole, {mode}": partial(with_pole, mode) for mode in (*SOME_MODES, "YXZ")},
    "half way": partial(with_pole, influence=0.5),
    "moving parents": lambda: on_moving_parents()[0],
    "a parent that grows": on_a_parent_that_grows,
    "moved": moved,
    "far away": far_away,
    "keyed influence": partial(with_a_keyed_setting, "influence", 1.0, 0.3),
    "keyed influence of a limb with a pole": partial(fading_in, with_pole, 0.1),
    "keyed influence from a keyed start pose": partial(fading_in, partial(played, "ANIMATED"), 0.0),
    "keyed pole angle": partial(with_a_keyed_setting, "pole_angle", 0.3, 1.0),
    "keyed tolerance": partial(with_a_keyed_setting, "tolerance", 4e-5, 9e-5),
    "keyed limit": partial(with_a_keyed_limit, "HINGE"),
    "keyed range of Blender's IK": partial(with_a_keyed_limit, "BONE_IK"),
    "keyed scale": partial(with_a_keyed_bone, "scale"),
    "keyed and locked": partial(with_a_keyed_bone, "rotation_quaternion", (True,) * 3),
    "keyed and locked in part": partial(with_a_keyed_bone, "rotation_quaternion", (True, False, True)),
    "lopsided": lambda: scaled(keyed_line()[0], "b0", (1.4, 1.0, 0.8)),
    "played": played,
    "keyed start pose": partial(played, "ANIMATED"),
    "hanging": lambda: make_rig("two levels")[0],
    "lengths that depend on the pose": lambda: scaled(make_rig("two levels")[0], "b2", (1.0, 1.3, 0.8)),
    "sharing": sharing,
    "of all kinds": of_all_kinds,
    "stretching": stretching,
    **{make.__name__: make for make in (body, carried_body, aiming, many)},
    **SQUATS,
}


def frames_of(rig: str) -> list[int]:
    return list(TAIL_FRAMES if rig == "tail" else SQUAT if rig in SQUATS else FRAMES)


def key_targets(owner: bpy.types.Object) -> None:
    """Key the targets without keys so far from where they stand, and as far again as the armature has moved."""
    away = owner.location.copy()
    for chain in rig_of(owner).chains:
        if chain.target is None or chain.target.animation_data is not None:
            continue
        start = chain.target.location.copy()
        for frame, shift in SHIFTS.items():
            keyed(chain.target, {frame: [a + b + c for a, b, c in zip(start, shift, away, strict=True)]})


def assert_same(owner: bpy.types.Object, found: Channels, wanted: Channels) -> None:
    """Equal but for rounding, the sign of a quaternion or an axis, and what angles mean the same."""
    for name, values in wanted.items():
        off = ulps_between(owner.pose.bones[name].rotation_mode, found[name], values)
        assert off <= ULPS, (name, found[name], values)


def ulps_between(mode: str, one: list[float], other: list[float]) -> float:
    a, b = np.array(one), np.array(other)
    rest = np.where(np.arange(len(b)) < len(b) - 6, -1.0, 1.0)  # turns the sign of the rotation alone
    if mode == "QUATERNION":
        alike = [b, b * rest]
    elif mode == "AXIS_ANGLE":
        alike = [with_turns(b, a, slice(0, 1)), with_turns(b * rest, a, slice(0, 1))]
    else:
        middle, second = "XYZ".index(mode[1]), b.copy()
        second[:3] += np.pi
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


def assert_live_and_button(owner: bpy.types.Object, frames: list[int]) -> tuple[dict[int, Channels], Reached]:
    """Live in any order, live anew and by button it is the same; the poses, and where the target of each is reached."""
    go_live(owner)
    scene, seen, told = bpy.context.scene, dict[int, list[tuple[float, ...]]](), dict[int, dict[str, str]]()
    for frame in each_frame(frames):
        assert all(chain.enabled for chain in rig_of(owner).chains)
        seen[frame], told[frame] = channels(owner), statuses(owner)
    assert len({str(found) for found in seen.values()}) > 0.95 * len(frames)
    mixed, random = list(frames), Random(3)
    for _ in range(4):
        random.shuffle(mixed)
        for frame in each_frame(mixed):
            assert channels(owner) == seen[frame], frame
    wanted = {}
    for frame in each_frame(mixed):  # and as they are for one who comes there first
        rig_of(owner).live = False
        update()
        go_live(owner)
        assert channels(owner) == seen[frame], frame
        live = single_channels(owner)
        rig_of(owner).live = False
        update()
        scene.frame_set(frame)
        bpy.ops.fabrik.solve_all()
        assert ulps_apart(single_channels(owner), live) <= ULPS, frame
        assert statuses(owner) == told[frame], frame
        wanted[frame] = stored_channels(owner)
    names = rig_of(owner).chains.keys()
    return wanted, {name: {frame for frame in frames if told[frame][name] == "REACHED"} for name in names}


@pytest.mark.parametrize("rig", RIGS)
def test_button_live_and_bake_in_any_order_of_frames(rig: str) -> None:
    owner, frames = RIGS[rig](), frames_of(rig)
    key_targets(owner)
    wanted, reached = assert_live_and_button(owner, frames)
    assert rig != "tail" or 0 < len(reached["b9"]) < len(frames)  # some are out of reach
    assert "stretch" not in rig or max(bone[-2] for found in wanted.values() for bone in found.values()) > 1.01
    for result in bake(bpy.context, items_of(owner), BakeSettings(tuple(frames))).chains:
        assert result.worst_violation < 1e-5
        assert reached[result.chain].isdisjoint(dict(result.unreached))
    curves = {(curve.data_path, curve.array_index): curve for curve in fcurves_of(owner)}
    for frame in each_frame(frames):
        found = stored_channels(owner)
        assert_same(owner, found, wanted[frame])
        for (path, index), curve in curves.items():
            if ".rotation_" in path:
                assert found[path.split('"')[1]][index] == curve.evaluate(frame)


@pytest.mark.parametrize("rig", ["tail", "pole, XYZ", "keyed influence", "moving parents"])
def test_the_command_line(rig: str, tmp_path: Path) -> None:
    owner, frames, wanted = RIGS[rig](), (1, 7, 20), {}
    for frame in each_frame(frames):
        bpy.ops.fabrik.solve_all()
        wanted[frame] = stored_channels(owner)
    shot, out = tmp_path / "shot.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot), compress=False)
    name = owner.name
    for frame in frames:
        words = ["solve", "--file", str(shot), "--output", str(out), "--frame", str(frame), "--allow-unreached"]
        assert run_command(words) == 0
        assert_same(bpy.data.objects[name], stored_channels(bpy.data.objects[name]), wanted[frame])
    words = ["bake", "--file", str(shot), "--output", str(out), "--frames", "1-20", "--allow-unreached"]
    assert run_command(words) == 0
    for frame in each_frame(frames):
        assert_same(bpy.data.objects[name], stored_channels(bpy.data.objects[name]), wanted[frame])


ADDONS = {"gltf": "io_scene_gltf2", "fbx": "io_scene_fbx"}
BAKED: dict[str, dict[str, Any]] = {"gltf": {}, "fbx": {"bake_anim_simplify_factor": 0.0}}
LIVE: dict[str, dict[str, Any]] = {  # the scene alone
    "gltf": {"export_animation_mode": "SCENE"},
    "fbx": {**BAKED["fbx"], "bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False},
}
Heads = dict[int, dict[str, Vector]]


def skinned(mode: str = "QUATERNION") -> Rig:
    """A line of four bones with a mesh on it, for which exporters switch to the rest position for a while.

    The chain has the first three bones, so that the fourth's head is its tip.
    """
    owner, chain = keyed_line(mode, 4)
    chain.tip_bone, chain.bone_count = "b2", 3
    corners = [(x, 0.0, z) for z in range(4) for x in (-0.1, 0.1)]
    faces, groups = [(i, i + 1, i + 3, i + 2) for i in (0, 2, 4)], {f"b{i}": [2 * i, 2 * i + 1] for i in range(4)}
    add_skin(owner, corners, faces, groups).parent = owner
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    return owner, chain


def heads(owner: bpy.types.Object) -> Heads:
    """World heads of the bones in each frame."""
    return {frame: bone_heads(owner) for frame in each_frame(FRAMES)}


def assert_seen(found: Heads, seen: Heads, most: float = 1e-5) -> None:
    for frame, joints in seen.items():
        for name, place in joints.items():
            assert (found[frame][name] - place).length < most, (frame, name)


@contextmanager
def exported(kind: str, path: Path, options: dict[str, Any]) -> Iterator[Path]:
    """A file of the scene, by an add-on of Blender's that is enabled meanwhile."""
    addons: Any = addon_utils
    exporters: Any = bpy.ops.export_scene
    path = path.with_suffix(".glb" if kind == "gltf" else ".fbx")
    _, was_enabled = addons.check(ADDONS[kind])
    addons.enable(ADDONS[kind])
    try:
        getattr(exporters, kind)(filepath=str(path), **options)
        yield path
    finally:
        if not was_enabled:
            addons.disable(ADDONS[kind])


@pytest.mark.parametrize("way", ["LIVE", "ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("kind", ADDONS)
def test_joints_are_where_they_were_seen(tmp_path: Path, kind: str, mode: str, way: str) -> None:
    owner, chain = skinned(mode)
    if way == "LIVE":
        go_live(owner)
    else:
        assert bake(bpy.context, [(owner, chain)], BakeSettings(FRAMES, way)).all_reached
    seen = heads(owner)
    bpy.context.scene.frame_set(4)
    before = channels(owner), chain.status, chain.start, chain.enabled, rig_of(owner).live
    with exported(kind, tmp_path / "shot", LIVE[kind] if way == "LIVE" else BAKED[kind]) as path:
        update()
        chain = rig_of(owner).chains[0]
        now = channels(owner), chain.status, chain.start, chain.enabled, rig_of(owner).live
        assert now == before or way != "LIVE"
        assert bpy.context.scene.frame_current == 4
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        importers: Any = bpy.ops.import_scene
        getattr(importers, kind)(filepath=str(path), **({"anim_offset": 0.0} if (kind, way) == ("fbx", "LIVE") else {}))
    (found,) = [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]
    assert_seen(heads(found), seen)


def test_fbx_with_all_actions_leaves_a_live_rig_as_it_was(tmp_path: Path) -> None:
    """It gives each action to each object in turn, and writes matrices back into the bones."""
    owner, _ = skinned()
    go_live(owner)
    bpy.context.scene.frame_set(4)
    before = channels(owner)
    with exported("fbx", tmp_path / "rig", {}):
        chain = rig_of(owner).chains[0]
        assert (chain.status, chain.start, rig_of(owner).live) == ("REACHED", "REST", True)
        assert bpy.context.scene.frame_current == 4
        assert not note_of(owner)
        assert channels(owner) == before


def test_blenders_own_bake() -> None:
    owner, chain = skinned()
    go_live(owner)
    seen = heads(owner)
    select(owner, "b0", "b1", "b2")
    bpy.ops.nla.bake(
        frame_start=FRAMES[0],
        frame_end=FRAMES[-1],
        visual_keying=True,
        only_selected=False,
        use_current_action=True,
        bake_types={"POSE"},
    )
    assert chain.start == "REST"
    rig_of(owner).live = False
    assert_seen(heads(owner), seen)
