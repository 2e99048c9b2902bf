# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with limits as armatures, and as figures of the kernel: two skinned humans, a wolf, a spider."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, pi, radians, sin

import addon_utils
import bpy
from fabrik_addon.kernel import Figure, Joint
from fabrik_addon.rig.chain_bones import armature_of
from fabrik_addon.rig.joint_limits import read_limit
from fabrik_addon.rig.schema import limit_of
from mathutils import Quaternion, Vector

from blender import OPS
from dev.humans import bone_of, give_ranges, make_human, named
from dev.quiet import quiet

from .problems import Q4, v3

BALL, BALL_TWIST = 40.0, 30.0  # degrees, of the wolf's hips and shoulders
SPINE, SPINE_TWIST = 15.0, 10.0
HINGE_LOW, HINGE_HIGH = -45.0, 70.0  # from the rest pose, about the axis of the bend that a leg has there
SPIDER_LEGS = 8


@dataclass(frozen=True, slots=True)
class Body:
    """A kind of body.

    Attributes:
        name: Of its rows.
        make: Makes its armature, with limits, in an empty file.
        hips: The bone that can be moved.
        five: Bones whose ends are goals.
        twelve: The same, where there are more of them.
        turned: Six bones that are to have places and rotations, or none.
        whole: Whether all bones are joints of the figure, and not just those on the way to the goals.
    """

    name: str
    make: Callable[[], bpy.types.Object]
    hips: str
    five: Sequence[str]
    twelve: Sequence[str]
    turned: Sequence[str] = ()
    whole: bool = False


@dataclass(slots=True)
class Built:
    """A body as the kernel has it.

    Attributes:
        figure: Its joints; the solve space is armature space, moved to the head of the hips.
        index: The joint of each bone.
        height: How far it extends upwards at rest; what errors are shares of.
        origin: Head of the hips in armature space.
    """

    figure: Figure
    index: dict[str, int] = field(default_factory=dict)
    height: float = 1.0
    origin: Vector = field(default_factory=Vector)


def bodies() -> list[Body]:
    """All bodies."""
    return [*(_human(name) for name in ("human_game_engine", "human_mixamo")), _wolf(), _spider()]


def _human(name: str) -> Body:
    def make() -> bpy.types.Object:
        with quiet():
            owner = make_human(name)
            give_ranges(owner)
        return owner

    def bones(*parts: str) -> list[str]:
        return [bone for part in parts for bone in named(name, part)]

    return Body(
        name,
        make,
        bone_of(name, "hips"),
        five=bones("head", "hand", "foot"),
        twelve=bones("head", "chest", "upper arm", "hand", "thigh", "foot", "toe"),
        turned=bones("head", "chest", "hand", "foot"),
        whole=True,
    )


def _wolf() -> Body:
    feet = [f"{name}.{side}" for name in ("front_toe", "toe") for side in "LR"]
    knees = [f"{name}.{side}" for name in ("front_thigh", "thigh") for side in "LR"]
    more = [*knees, "spine", "spine.008", "spine.002"]
    head = "spine.011"
    return Body("wolf", _make_wolf, "spine.004", [head, *feet], [head, *feet, *more], [head, "spine.008", *feet])


def _spider() -> Body:
    feet = [f"tarsus{leg}" for leg in range(SPIDER_LEGS)]
    return Body("spider", _make_spider, "body", feet[:5], [*feet, *(f"tibia{leg}" for leg in range(0, 8, 2))])


def empty_file() -> None:
    """Begin anew."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def add_wolf() -> bpy.types.Object:
    """Rigify's wolf."""
    addon_utils.enable("rigify", default_set=True, persistent=True)
    with contextlib.redirect_stdout(io.StringIO()):
        OPS.object.armature_wolf_metarig_add()
    return bpy.context.object


def _make_wolf() -> bpy.types.Object:
    """The wolf; legs are hinges about the axis of their bend at rest, hips and shoulders and spine are cones."""
    owner = add_wolf()
    for bone in owner.pose.bones:
        part = bone.name.split(".")[0].removeprefix("front_")
        if part in ("shin", "foot", "toe"):
            _give_hinge(bone, HINGE_LOW, HINGE_HIGH, _bend(bone))
        elif part in ("thigh", "shoulder"):
            give_ball(bone, BALL, BALL_TWIST)
        elif part == "spine" and bone.parent is not None:
            give_ball(bone, SPINE, SPINE_TWIST)
    return owner


def _bend(bone: bpy.types.PoseBone) -> Vector:
    """The axis in armature space about which a bone goes on from its parent."""
    rest = bone.bone
    return (rest.parent.tail_local - rest.parent.head_local).cross(rest.tail_local - rest.head_local).normalized()


def _make_spider() -> bpy.types.Object:
    """A body with eight legs of four bones, all hinges."""
    data = bpy.data.armatures.new("spider")
    owner = bpy.data.objects.new("spider", data)
    bpy.context.scene.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    body = data.edit_bones.new("body")
    body.head, body.tail = (0.0, -0.35, 0.55), (0.0, 0.35, 0.55)
    for leg in range(SPIDER_LEGS):
        _add_leg(data.edit_bones, body, leg)
    bpy.ops.object.mode_set(mode="OBJECT")
    ranges = {"coxa": (-40.0, 40.0), "femur": (-60.0, 60.0), "tibia": (-70.0, 60.0), "tarsus": (-30.0, 80.0)}
    for bone in owner.pose.bones:
        name = bone.name[:-1]
        if name in ranges:
            _give_hinge(bone, *ranges[name], Vector((0.0, 0.0, 1.0)) if name == "coxa" else _bend(bone))
    return owner


def _add_leg(bones: bpy.types.ArmatureEditBones, body: bpy.types.EditBone, leg: int) -> None:
    angle = radians((60.0, 20.0, -20.0, -62.0)[leg // 2])
    angle = pi - angle if leg % 2 else angle
    outwards, parent = Vector((cos(angle), sin(angle), 0.0)), body
    points = [(0.25, 0.55), (0.4, 0.6), (0.95, 1.05), (1.45, 0.55), (1.65, 0.0)]
    for i, part in enumerate(("coxa", "femur", "tibia", "tarsus")):
        bone = bones.new(f"{part}{leg}")
        bone.head, bone.tail = (outwards * r + Vector((0.0, 0.0, z)) for r, z in points[i : i + 2])
        bone.parent, bone.use_connect = parent, i > 0
        parent = bone


def _give_hinge(bone: bpy.types.PoseBone, low: float, high: float, axis: Vector) -> None:
    """A hinge by degrees about an axis in armature space."""
    limit = limit_of(bone)
    limit.limit, limit.axis = "HINGE", bone.bone.matrix_local.to_3x3().inverted() @ axis
    limit.angle_min, limit.angle_max = radians(low), radians(high)


def give_ball(bone: bpy.types.PoseBone, swing: float, twist: float) -> None:
    """A round cone by degrees, twist limited to both sides."""
    limit = limit_of(bone)
    limit.limit, limit.use_twist, limit.cone_max = "CONE", True, radians(swing)
    limit.twist_min, limit.twist_max = radians(-twist), radians(twist)


def built(owner: bpy.types.Object, body: Body, *, moves: bool = True) -> Built:
    """The figure of a body: its hips, and all bones below them that lead to one of its goals, or just all.

    Args:
        owner: The armature.
        body: What it is.
        moves: Whether the hips can be moved.
    """
    ends = [bone.name for bone in owner.pose.bones] if body.whole else [*body.twelve, *body.turned]
    below = {name for end in ends for name in _way(owner, end, body.hips)}
    bones = [bone for bone in owner.pose.bones if bone.name in below]  # parents come first
    index = {bone.name: i for i, bone in enumerate(bones)}
    joints, parents, heads = [], [], []
    for bone in bones:
        above = bone.bone.parent if bone.name != body.hips else None
        local = above.matrix_local.inverted() @ bone.bone.matrix_local if above else bone.bone.matrix_local
        rest = _q4(local.to_quaternion())
        joints.append(Joint((0.0, bone.bone.length, 0.0), rest, limit=read_limit(bone, (1.0, 0.0, 0.0, 0.0))))
        parents.append(index[above.name] if above else -1)
        heads.append(v3(local.translation) if above else None)
    corners = [point for bone in bones for point in (bone.bone.head_local, bone.bone.tail_local)]
    height = max(point.z for point in corners) - min(point.z for point in corners)
    origin = armature_of(owner).bones[body.hips].head_local.copy()
    return Built(Figure(joints, parents, heads, moves=moves), index, height, origin)


def _way(owner: bpy.types.Object, end: str, hips: str) -> Iterable[str]:
    """The bones from an end to the hips, both included; none where it does not hang below them."""
    bone = owner.pose.bones[end]
    way = [bone, *bone.parent_recursive]
    names = [found.name for found in way]
    return names[: names.index(hips) + 1] if hips in names else ()


def _q4(rotation: Quaternion) -> Q4:
    w, x, y, z = rotation
    return (w, x, y, z)
