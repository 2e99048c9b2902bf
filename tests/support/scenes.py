# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs for the tests, made by one table and a few ways to pose, key and drive them; `judging.py` looks at them.

A rig is made of bones, each of which hangs on the one before it unless it says otherwise, and of chains on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import radians
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import pytest
from fabrik_addon.actions import live
from fabrik_addon.rig.animation.channels import channel_of
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.figure.kinematics import world_turn
from fabrik_addon.rig.schema import FabrikChain, limit_of, rig_of
from mathutils import Euler, Matrix, Quaternion, Vector

import rigs
from blender import armature_of as armature
from dev.walking_rigs import make_ground
from support.stored import empty_file

Point = Sequence[float]
Rig = tuple[bpy.types.Object, FabrikChain]
MODES: Any = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
SCALES: Any = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")  # ways to inherit it
SOME_MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")
FRAMES = tuple(range(1, 21))  # of `keyed_line`
SQUAT = tuple(range(1, 13))  # frames of `squatting`
HEIGHT = 1.7  # of `make_body`
LENGTH = 3.0  # of `limb_with_bone_goals`
TURN = Quaternion((1.0, 0.0, 0.0), 0.5)


class Bone(NamedTuple):
    """A bone to be made; it hangs on the bone before it in the list unless `parent` says otherwise.

    Its name is b and its number where none is given, and its roll where its Z axis points where that is.
    """

    head: Point
    tail: Point
    roll: float = 0.0
    parent: int | None = -1
    connect: bool = False
    name: str = ""
    z_axis: Point | None = None


def strand(*points: Point, parent: int | None = None, connect: bool = True) -> list[Bone]:
    """Bones from point to point, all but the first connected; the first hangs on the bone `parent`, or on none."""
    bones = [Bone(a, b, connect=connect) for a, b in pairwise(points)]
    return [bones[0]._replace(parent=parent, connect=False), *bones[1:]]


# By name: bones, and of each chain its tip, its number of bones and its target.
RIGS: dict[str, tuple[list[Bone], list[tuple[str, int, Point]]]] = {
    "limb on a bone": (  # two bones on a third, with a chain of the two; and a bone by itself
        [
            *strand((0, 0, -1), (0, 0, 0)),
            *strand((0, 0, 0), (0, 0.2, 1), (0, 0, 2), parent=0),
            *strand((5, 0, 0), (5, 0, 1)),
        ],
        [("b2", 2, (0.5, 0.5, 1.0))],
    ),
    "limb on a turning bone": (
        [*strand((0, 0, 0), (0, 0, 1), (0, 0.2, 2), (0, 0, 3), connect=False)],
        [("b2", 2, (0.4, 0.4, 2.4))],
    ),
    "two levels": (  # a chain of two bones, and another of two that hangs on its end
        [*strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2)), *strand((0, 0, 2), (1, 0.1, 2), (2, 0, 2), parent=1)],
        [("b1", 2, (0.5, 0, 1.5)), ("b3", 2, (1.2, 0, 2.5))],
    ),
    "leg and foot": ([*strand((0, 0, 2), (0, -0.1, 1), (0, 0, 0)), Bone((0, 0, 0), (0, -0.4, 0))], []),
    "fork": (  # a trunk of two bones, with an arm of two at each side
        [
            *strand((0, 0, 0), (0, 0.1, 1), (0, 0, 2), connect=False),
            *strand((0, 0, 2), (1, 0.1, 2), (2, 0, 2), parent=1, connect=False),
            *strand((0, 0, 2), (-1, 0.1, 2), (-2, 0, 2), parent=1, connect=False),
        ],
        [],
    ),
}


def make_rig(kind: str, *, is_live: bool = False) -> Rig:
    """A rig of the table, active, in Object mode; and the first of its chains."""
    bones, chains = RIGS[kind]
    owner = make_armature(bones)
    for tip, count, target in chains:
        add_chain(owner, target, tip=tip, count=count)
    if is_live:
        go_live(owner)
    return owner, rig_of(owner).chains[0] if chains else None


def make_armature(bones: Sequence[Bone], name: str = "Rig") -> bpy.types.Object:
    """An armature object, active, in Object mode."""
    names, rows = [bone.name or f"b{i}" for i, bone in enumerate(bones)], dict[str, rigs.BoneRow]()
    for i, bone in enumerate(bones):
        parent = i - 1 if bone.parent == -1 else bone.parent
        above = names[parent] if parent is not None and parent >= 0 else ""
        rows[names[i]] = rigs.BoneRow(above, bone.head, bone.tail, bone.connect, bone.roll, bone.z_axis)
    return rigs.make_armature(name, rows)


def make_line(count: int, length: float = 1.0, bend: float = 0.1) -> bpy.types.Object:
    """A chain of connected bones up along Z that zigzags by `bend` along Y; its X axes are the axes of the bend."""
    return make_armature(strand(*((0.0, bend * length * (i % 2), i * length) for i in range(count + 1))))


def make_empty(location: Point = (0.0, 0.0, 0.0), name: str = "Target") -> bpy.types.Object:
    """An empty in the scene."""
    return rigs.add_empty(name, location)


def add_chain(owner: bpy.types.Object, target: Point | None = None, tip: str = "", count: int = 0) -> FabrikChain:
    """A chain by the operator, with an empty as its target."""
    bpy.context.view_layer.objects.active = owner
    bpy.ops.fabrik.chain_add(tip_bone=tip or owner.pose.bones[-1].name, bone_count=count)
    chain: FabrikChain = owner.fabrik.chains[-1]
    if target is not None:
        chain.target = make_empty(target)
    return chain


def add_limb(
    owner: bpy.types.Object, tip: str, count: int, *, target: Point | None = None, name: str = ""
) -> FabrikChain:
    """A chain by hand, whose effector is the head of its tip bone; its target stands there, or elsewhere."""
    chain: FabrikChain = rig_of(owner).chains.add()
    chain.name = name or tip
    chain.tip_bone, chain.bone_count, chain.effector = tip, count, "HEAD"
    if target is not None:
        chain.target = make_empty(target, f"Target {tip}")
    return chain


def put(thing: Any, **values: object) -> None:
    """Set properties."""
    for name, value in values.items():
        setattr(thing, name, value)


def press(name: str, *arguments: object, **options: object) -> set[str]:
    """Run an operator of the add-on."""
    operator: Callable[..., set[str]] = getattr(bpy.ops.fabrik, name)
    return operator(*arguments, **options)


def solved_status(chain: FabrikChain, name: str = "solve") -> str:
    """The status of a chain once *Solve* or *Solve All* is pressed."""
    press(name)
    return chain.status


def assert_refused(said: str, name: str, *arguments: object, **options: object) -> None:
    """An operator of the add-on is refused, and says why."""
    with pytest.raises(RuntimeError, match=said):
        press(name, *arguments, **options)


def answer(name: str, first: str, last: str, *, use: bool) -> dict[str, object]:
    """A line of the dialog; Blender wants all of it."""
    return {"name": name, "use": use, "first_bone": first, "last_bone": last, "confidence": 0.7, "reason": ""}


def select(owner: bpy.types.Object, *names: str) -> None:
    """Pose mode with exactly the named bones selected, the first one active."""
    bpy.ops.object.mode_set(mode="POSE")
    for bone in owner.pose.bones:
        selectable = bone if hasattr(bone, "select") else bone.bone
        selectable.select = bone.name in names
    owner.data.bones.active = owner.data.bones[names[0]] if names else None


def update() -> None:
    """Evaluate."""
    bpy.context.view_layer.update()


def each_frame(frames: Iterable[int]) -> Iterator[int]:
    """Go to frames one after the other."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        yield frame


def key_automatically(*, on: bool = True, only_available: bool = False) -> None:
    """Switch automatic keying, of channels without keys, too, unless only of those that have some."""
    bpy.context.preferences.edit.use_keyframe_insert_available = only_available  # 5.2 has it on
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = on


def add_skin(
    owner: bpy.types.Object,
    points: Sequence[Any],
    faces: Sequence[tuple[int, ...]],
    groups: Mapping[str, Sequence[int]],
) -> bpy.types.Object:
    """A mesh whose points follow the bones of an armature."""
    skin = make_ground(points, faces)
    skin.name, skin.matrix_world = "Skin", owner.matrix_world
    for bone, indices in groups.items():
        skin.vertex_groups.new(name=bone).add(indices, 1.0, "REPLACE")
    setattr(skin.modifiers.new("Armature", "ARMATURE"), "object", owner)
    return skin


def give_action(owner: bpy.types.Object) -> None:
    """Give an object an action without curves, as that of another frame range or of deleted keys."""
    owner.animation_data_create().action = bpy.data.actions.new(owner.name)


@contextmanager
def edited(owner: bpy.types.Object) -> Iterator[Any]:
    """The edit bones of an armature, which is active; in Object mode before and after."""
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    yield armature(owner).edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def go_live(owner: bpy.types.Object) -> None:
    """Switch live posing on, and evaluate."""
    rig_of(owner).live = True
    update()


def chain_bones(owner: bpy.types.Object, chain: FabrikChain) -> list[bpy.types.PoseBone]:
    """The original pose bones of a chain, root to tip."""
    tip = owner.pose.bones[chain.tip_bone]
    bones = [tip, *tip.parent_recursive]
    return bones[: chain.bone_count or len(bones)][::-1]


def linked(folder: Path, kind: str, name: str) -> Any:
    """Save the file, begin an empty one, and link a data-block of the first into it; what is linked."""
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    empty_file()
    with bpy.data.libraries.load(str(path), link=True) as (_, into):
        setattr(into, kind, [name])
    return getattr(bpy.data, kind)[name]


def reload(folder: Path) -> None:
    """Save the file in a folder, and open it again."""
    path = str(folder / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def overridden(owner: bpy.types.Object, folder: Path) -> bpy.types.Object:
    """A library override of an armature, the active object of a scene with nothing else; its file is in a folder."""
    override: bpy.types.Object = linked(folder, "objects", owner.name).override_create(remap_local_usages=True)
    bpy.context.collection.objects.link(override)
    bpy.context.view_layer.objects.active = override
    return override


# Poses and keys


def set_rotation(bone: Any, turn: Quaternion, mode: Any = "") -> None:
    """Pose a bone in a rotation mode, or in the one that it has."""
    bone.rotation_mode = mode = mode or bone.rotation_mode
    if mode == "QUATERNION":
        bone.rotation_quaternion = turn
    elif mode == "AXIS_ANGLE":
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(mode)


def turned(owner: bpy.types.Object, name: str, turn: Quaternion = TURN) -> Quaternion:
    """Turn a bone by hand; how it was turned."""
    bone = owner.pose.bones[name]
    bone.rotation_quaternion = bone.rotation_quaternion @ turn
    return bone.rotation_quaternion.copy()


def put_channels(owner: bpy.types.Object, pose: list[tuple[float, ...]]) -> None:
    """Pose all bones as `judging.channels` read them."""
    for bone, values in zip(owner.pose.bones, pose, strict=True):
        bone.rotation_quaternion, bone.rotation_euler = values[:4], Euler(values[4:7], bone.rotation_euler.order)
        bone.rotation_axis_angle = values[7:11]


def to_rest(owner: bpy.types.Object) -> None:
    """Take the pose back to the rest pose."""
    for bone in owner.pose.bones:
        bone.matrix_basis = Matrix()


def keyed(thing: Any, values: Mapping[float, Any], path: str = "location") -> None:
    """Key the location of an object or a bone, or another property, or a part of one ("location.x"), at some frames."""
    name, _, part = path.partition(".")
    for frame, value in values.items():
        setattr(getattr(thing, name) if part else thing, part or name, value)
        thing.keyframe_insert(name, frame=frame)


def keyed_turns(bone: Any, angles: Mapping[float, float], axis: Point = (1.0, 0.0, 0.0)) -> None:
    """Key how a bone is turned about an axis at some frames, in radians."""
    keyed(bone, {frame: Quaternion(axis, angle) for frame, angle in angles.items()}, "rotation_quaternion")


def key_scale(thing: bpy.types.Object, sizes: dict[int, float]) -> None:
    """Key the scale of an object so that it jumps from frame to frame."""
    for frame, size in sizes.items():
        thing.scale = (size, size, size)
        thing.keyframe_insert("scale", frame=frame)
    for curve in fcurves_of(thing):
        if curve.data_path == "scale":
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


# Lines and limbs


def reaching_line(target: Point, count: int = 3, bend: float = 0.1) -> Rig:
    """A line with a chain that has a target."""
    owner = make_line(count, bend=bend)
    return owner, add_chain(owner, target)


def live_line(target: Point = (0.3, -0.5, 1.9), count: int = 3) -> Rig:
    """A line that follows its target."""
    owner, chain = reaching_line(target, count)
    go_live(owner)
    return owner, owner.fabrik.chains[chain.name]


def keyed_line(mode: str = "QUATERNION", count: int = 3) -> Rig:
    """A line whose target runs on a curve from frame 1 to 20."""
    owner = make_line(count)
    for bone in owner.pose.bones:
        setattr(bone, "rotation_mode", mode)
    chain = add_chain(owner, (0.4, -0.5, 1.9))
    keyed(chain.target, {1: (-0.5, 0.4, 1.9), 10: (0.3, 1.2, 1.2), 20: (0.7, -0.4, 1.6)})
    return owner, chain


def on_moving_parents() -> Rig:
    """A limb on a bone that turns, of an armature that moves, with a target that follows another object."""
    owner, chain = make_rig("limb on a turning bone")
    chain.target.constraints.new("COPY_LOCATION").target = make_empty((0.5, 0.3, 2.2), "Leader")
    base = owner.pose.bones["b0"]
    base.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.0), (20, 0.6)):
        owner.location.x = owner.rotation_euler.z = base.rotation_euler.x = turn
        owner.keyframe_insert("location", frame=frame)
        owner.keyframe_insert("rotation_euler", frame=frame)
        base.keyframe_insert("rotation_euler", frame=frame)
    return owner, chain


def many_limbs(count: int) -> bpy.types.Object:
    """So many limbs of two bones side by side, each a live chain."""
    owner = make_armature([bone for x in range(count) for bone in strand((x, 0, 0), (x, 0.1, 1), (x, 0, 2))])
    for i in range(count):
        add_chain(owner, (i + 0.3, 0.4, 1.5), tip=f"b{2 * i + 1}", count=2)
    go_live(owner)
    return owner


def limb_with_bone_goals(*, other_rig: bool = False) -> tuple[bpy.types.Object, FabrikChain, bpy.types.Object]:
    """A posed limb of three bones, and the armature that has the bones "target" and "pole" beside it.

    These hang on "hold", which is turned, moved and scaled.
    """
    bones = strand((0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), (0, 0, 3), connect=False)
    first = 0 if other_rig else len(bones)
    goals = [
        Bone((2, 0, 0), (2, 0.5, 0.5), 0.4, parent=None),
        Bone((1, 1, 2), (1.2, 1.3, 2.4), 1.1, parent=first),
        Bone((-1, -2, 1), (-1, -2.3, 1.4), 0.2, parent=first),
    ]
    owner = make_armature(bones if other_rig else [*bones, *goals])
    holder = make_armature(goals, "Other") if other_rig else owner
    for number, name in enumerate(("hold", "target", "pole")):
        armature(holder).bones[f"b{first + number}"].name = name
    for thing in {owner, holder}:
        turn = Matrix.Rotation(0.7, 3, (1, 2, 3))
        thing.matrix_world = Matrix.LocRotScale(Vector((3, -2, 1)), turn, Vector((2, 2, 2)))
    hold = holder.pose.bones["hold"]
    hold.location, hold.rotation_quaternion, hold.scale = (0.3, 0.1, -0.2), (0.8, 0.3, -0.4, 0.2), (0.5, 0.5, 0.5)
    for name, x in (("b0", 0.3), ("b1", 0.6), ("b2", -0.2)):
        owner.pose.bones[name].rotation_quaternion = (1, x, 0.1, 0)
    for name in ("target", "pole"):
        armature(holder).bones[name].use_deform = False
        holder.pose.bones[name].rotation_quaternion = Quaternion((1, 2, 3), 0.9)
    chain = add_chain(owner, tip="b2", count=3)
    chain.target, chain.target_bone, chain.pole, chain.pole_bone = holder, "target", holder, "pole"
    update()
    return owner, chain, holder


LIMBS = {"hinge": 3, "free": 4, "cones": 4, "one": 1}  # kinds of `posed_limbs`, and their number of bones
BY_HAND = ((0.4, (1.0, 0.2, -0.3)), (0.9, (1.0, 0.0, 0.0)), (-0.3, (1.0, 0.4, 0.1)), (0.25, (0.2, 1.0, 0.3)))


def posed_limbs(kind: str, mode: str = "QUATERNION") -> bpy.types.Object:
    """Two limbs side by side, posed by hand, each on a bone of its own."""
    count, bones = LIMBS[kind], list[Bone]()
    for side in (0.0, 3.0):
        points = [(side + 0.05 * i, 0.1 * (i % 2), 3.0 - i) for i in range(count + 1)]
        bones.append(Bone((side, 0, 4), (side, 0.2, 3.5), parent=None))
        bones += [Bone(points[i], points[i + 1], roll=0.3 * i, connect=i > 0) for i in range(count)]
    owner = make_armature(bones)
    owner.location, owner.rotation_euler, owner.scale = (1, -2, 0.5), (0.2, 0.1, 0.7), (1.5, 1.5, 1.5)
    for start in (0, count + 1):
        for i in range(count):
            bone = owner.pose.bones[start + 1 + i]
            angle, axis = BY_HAND[i]
            if kind == "hinge" and i == 1:
                limit_of(bone).limit = "HINGE"
                limit_of(bone).angle_min, limit_of(bone).angle_max = radians(-5), radians(140)
            if kind == "cones" and i > 0:
                limit_of(bone).limit, limit_of(bone).cone_max = "CONE", radians(70)
            set_rotation(bone, Quaternion(axis, angle), mode)
    update()
    return owner


def ends_of_limbs(owner: bpy.types.Object) -> tuple[str, str]:
    """The names of the last bones of two limbs."""
    last = len(owner.pose.bones) // 2
    return f"b{last - 1}", f"b{2 * last - 1}"


def add_chains(owner: bpy.types.Object, **options: object) -> None:
    """A chain of each of two limbs, by the operator, as a user selects them."""
    bpy.context.view_layer.objects.active = owner
    select(owner, *ends_of_limbs(owner))
    press("chain_add", bone_count=(len(owner.pose.bones) - 2) // 2, **options)


def key_two_poses(owner: bpy.types.Object) -> None:
    """Keys at the frame, and others of another pose later on."""
    for bone in owner.pose.bones:
        name = channel_of(bone.rotation_mode)[0]
        kept = [*getattr(bone, name)]
        bone.keyframe_insert(name, frame=1)
        is_hinge = limit_of(bone).limit == "HINGE"
        set_rotation(bone, Quaternion((1, 0, 0) if is_hinge else (0, 0, 1), 0.5))
        bone.keyframe_insert(name, frame=20)
        setattr(bone, name, kept)


# Bodies

TRUNK = (("hips", 0.95), ("spine1", 1.05), ("spine2", 1.2), ("chest", 1.35), ("head", 1.5))  # and their heights
SIDES = ((".L", 1.0), (".R", -1.0))
LIMBS_OF_BODY = ((("upper_arm", "forearm", "hand"), "chest"), (("thigh", "shin", "foot"), "hips"))
POINTS_OF_LIMBS = (
    ((0.15, 0, 1.45), (0.43, 0.03, 1.45), (0.7, 0, 1.45), (0.85, 0, 1.45)),
    ((0.1, 0, 0.93), (0.1, -0.03, 0.5), (0.1, 0.02, 0.08), (0.1, -0.15, 0.02)),
)


def make_body(mode: Any = "QUATERNION") -> bpy.types.Object:
    """Hips, a spine of three bones, a head, arms and legs, facing -Y, without chains; active, in Object mode."""
    bones = strand(*((0.0, 0.0, low) for _, low in TRUNK), (0.0, 0.0, HEIGHT), connect=False)
    names = [name for name, _ in TRUNK]
    for side, x in SIDES:
        for (parts, parent), points in zip(LIMBS_OF_BODY, POINTS_OF_LIMBS, strict=True):
            mirrored = [(x * point[0], point[1], point[2]) for point in points]
            bones += strand(*mirrored, parent=names.index(parent), connect=False)
            names += [part + side for part in parts]
    owner = make_armature([bone._replace(name=name) for bone, name in zip(bones, names, strict=True)], "Body")
    for bone in owner.pose.bones:
        bone.rotation_mode = mode
    return owner


def make_body_on_root() -> bpy.types.Object:
    """A body whose hips hang on the bone "root" on the floor, as those for games do."""
    owner = make_body()
    with edited(owner) as bones:
        root = bones.new("root")
        root.head, root.tail = (0, 0.2, 0), (0, 0.5, 0.1)
        bones["hips"].parent = root
    return owner


def pin(owner: bpy.types.Object, chain: FabrikChain, *, keeps: bool = True) -> None:
    """Pin a chain where its effector stands, with the rotation of its tip bone."""
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = evaluated.pose.bones[chain.tip_bone]
    chain.pin = True
    chain.held_location = evaluated.matrix_world @ (tip.head if chain.effector == "HEAD" else tip.tail)
    chain.held_rotation = world_turn(evaluated, tip)
    if keeps:
        chain.orientation = "KEEP"


def with_legs_pinned(owner: bpy.types.Object, body: str = "hips") -> bpy.types.Object:
    """Both feet pinned flat where they stand; the hips are the body bone."""
    for side, _ in SIDES:
        pin(owner, add_limb(owner, f"foot{side}", 3))
    rig_of(owner).body_bone = body
    return owner


def live_body() -> bpy.types.Object:
    """Feet pinned flat, the hips the body bone, a hand that reaches; live."""
    owner = with_legs_pinned(make_body())
    add_limb(owner, "hand.L", 3, target=(0.5, -0.4, 1.2))
    go_live(owner)
    return owner


def squatting(mode: str = "QUATERNION") -> bpy.types.Object:
    """Pinned feet, hips that sink, and a hand that reaches, over the frames of `SQUAT`."""
    owner = with_legs_pinned(make_body(mode))
    hips = add_limb(owner, "hips", 1, target=(0, 0, 0.95))
    hand = add_limb(owner, "hand.L", 3, target=(0.5, -0.3, 1.2))
    keyed(hips.target, {1: (0, 0, 0.95), 12: (0.05, -0.05, 0.75)})
    keyed(hand.target, {1: (0.5, -0.3, 1.2), 6: (0.5, -0.5, 1.4), 12: (0.2, -0.7, 0.9)})
    return owner


def items_of(owner: bpy.types.Object) -> list[Rig]:
    """All chains of an armature, as a solve or a bake is asked for them."""
    return [(owner, chain) for chain in rig_of(owner).chains]


# Live posing


def note_of(owner: bpy.types.Object) -> str:
    """What live posing says of what was posed by hand on an armature."""
    return "; ".join(live.notes_of(owner))


def start_of(chain: FabrikChain, bone: str) -> Quaternion:
    """How a bone is turned in the start pose of a chain."""
    return Quaternion(chain.captured[bone].rotation)


def tool_at_work(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """What lets live posing see a modal tool; it takes a number, 0 for none that is at work."""
    now = {"tool": 0}

    def use(number: int) -> None:
        now["tool"] = number

    for module in (live.user_edits, live.update):
        monkeypatch.setattr(module, "is_tool_at_work", lambda _: bool(now["tool"]))
    return use


def go_to(*frames: int) -> None:
    """Go to frames, one after the other."""
    for frame in frames:
        bpy.context.scene.frame_set(frame)


def key_bones(owner: bpy.types.Object, *names: str) -> None:
    """Key rotations of bones, by default of all, as they stand, in two frames."""
    for name in names or owner.pose.bones.keys():
        for frame in (1, 20):
            owner.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
