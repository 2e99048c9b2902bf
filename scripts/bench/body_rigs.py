# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with limits as armatures, and as figures of the kernel: two skinned humans, a wolf, a spider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
from fabrik_addon.kernel import Figure, Joint
from fabrik_addon.rig.figure.joint_limits import read_limit
from mathutils import Vector

from dev.humans import bone_of, give_ranges, make_human, named
from dev.quiet import quiet
from rigs import bend_axis, empty_file, give_cone, give_hinge, make_spider, metarig

from .problems import q4, v3

BALL = (40.0, 30.0)  # degrees of swing and twist, of the wolf's hips and shoulders
SPINE = (15.0, 10.0)
BENDS = (-45.0, 70.0)  # from the rest pose, about the axis of the bend that a leg of the wolf has there


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
    make: Callable[[], Any]
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
    index: dict[str, int]
    height: float
    origin: Vector


def bodies() -> list[Body]:
    """All bodies."""
    feet = [f"{name}.{side}" for name in ("front_toe", "toe") for side in "LR"]
    more = [f"{name}.{side}" for name in ("front_thigh", "thigh") for side in "LR"] + [
        "spine",
        "spine.008",
        "spine.002",
    ]
    head, wolf = "spine.011", ["spine.011", *feet]
    tips = [f"tarsus.{side}{i}" for i in range(1, 5) for side in "LR"]
    return [
        *(_human(name) for name in ("human_game_engine", "human_mixamo")),
        Body("wolf", _make_wolf, "spine.004", wolf, [*wolf, *more], [head, "spine.008", *feet]),
        Body("spider", make_spider, "body", tips[:5], [*tips, *(f"tibia.{side}{i}" for i in (1, 3) for side in "LR")]),
    ]


def _human(name: str) -> Body:
    def make() -> Any:
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


def _make_wolf() -> Any:
    """The wolf; legs are hinges about the axis of their bend at rest, hips and shoulders and spine are cones."""
    owner: Any = metarig("wolf")
    for bone in owner.pose.bones:
        part = bone.name.split(".")[0].removeprefix("front_")
        if part in ("shin", "foot", "toe"):
            give_hinge(bone, *BENDS, bend_axis(bone))
        elif part in ("thigh", "shoulder"):
            give_cone(bone, *BALL)
        elif part == "spine" and bone.parent is not None:
            give_cone(bone, *SPINE)
    return owner


def built_anew(body: Body) -> Built:
    """A body in an empty file, whose hips can be moved."""
    empty_file()
    return built(body.make(), body)


def built(owner: Any, body: Body, *, moves: bool = True) -> Built:
    """The figure of a body: its hips, and all bones below them that lead to one of its goals, or just all.

    Args:
        owner: The armature.
        body: What it is.
        moves: Whether the hips can be moved.
    """
    ends = [bone.name for bone in owner.pose.bones] if body.whole else [*body.twelve, *body.turned]
    below = {name for end in ends for name in _way(owner, end, body.hips)}
    bones: list[bpy.types.PoseBone] = [bone for bone in owner.pose.bones if bone.name in below]  # parents come first
    index = {bone.name: i for i, bone in enumerate(bones)}
    joints, parents, heads = [], [], []
    for bone in bones:
        above = bone.bone.parent if bone.name != body.hips else None
        local = above.matrix_local.inverted() @ bone.bone.matrix_local if above else bone.bone.matrix_local
        rest = q4(local.to_quaternion())
        joints.append(Joint((0.0, bone.bone.length, 0.0), rest, limit=read_limit(bone, (1.0, 0.0, 0.0, 0.0))))
        parents.append(index[above.name] if above else -1)
        heads.append(v3(local.translation) if above else None)
    heights = [point.z for bone in bones for point in (bone.bone.head_local, bone.bone.tail_local)]
    origin = owner.data.bones[body.hips].head_local.copy()
    return Built(Figure(joints, parents, heads, moves=moves), index, max(heights) - min(heights), origin)


def _way(owner: Any, end: str, hips: str) -> Iterable[str]:
    """The bones from an end to the hips, both included; none where it does not hang below them."""
    bone = owner.pose.bones[end]
    names = [found.name for found in (bone, *bone.parent_recursive)]
    return names[: names.index(hips) + 1] if hips in names else ()
