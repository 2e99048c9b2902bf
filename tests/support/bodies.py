# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures with branches for the kernel's tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians, sqrt
from random import Random
from typing import NamedTuple

from fabrik_addon.kernel import FREE, PIN, Cone, Facing, Figure, Goal, Joint, Limit, Point, Twist
from fabrik_addon.maths import (
    IDENTITY,
    ORIGIN,
    Q4,
    V3,
    conjugated,
    cross,
    length,
    minus,
    multiplied,
    perpendicular,
    rotated,
    scaled,
    turn_about,
    unit,
)

from dev.limbs import X, Y, Z, hinge
from support.chains import random_turn

BONE = 0.25


class Bone(NamedTuple):
    """A bone of a body: where it is, on which other it hangs, the side to which its X axis points, and its limit."""

    name: str
    parent: str
    head: V3
    tail: V3
    side: V3
    limit: Limit


def branching(limits: dict[int, Limit] | None = None) -> Figure:
    """A spine of two, and two arms of three that hang on its end, the second at a shoulder beside it."""
    limits = limits or {}
    left, right = turn_about(Z, 1.2), turn_about(Z, -1.2)
    rests = [IDENTITY, IDENTITY, left, IDENTITY, IDENTITY, right, IDENTITY, IDENTITY]
    joints = [Joint((0.0, BONE, 0.0), rest, limit=limits.get(i, FREE)) for i, rest in enumerate(rests)]
    heads: list[V3 | None] = [None] * 8
    heads[5] = (0.05, 0.2, 0.0)
    return Figure(joints, (-1, 0, 1, 2, 3, 1, 5, 6), heads)


def frame_of(along: V3, side: V3) -> Q4:
    """The rotation whose Y axis points along a bone and whose X axis points to a side."""
    y = unit(along)
    x = unit(perpendicular(side, y))
    z = cross(x, y)
    rows = [(x[i], y[i], z[i]) for i in range(3)]
    trace = rows[0][0] + rows[1][1] + rows[2][2]
    squares = [1.0 + trace, *(1.0 - trace + 2.0 * rows[i][i] for i in range(3))]
    largest = max(range(4), key=squares.__getitem__)
    # the columns of 4 q q^T; that of the largest component has the most digits
    of_w = (squares[0], rows[2][1] - rows[1][2], rows[0][2] - rows[2][0], rows[1][0] - rows[0][1])
    of_x = (of_w[1], squares[1], rows[0][1] + rows[1][0], rows[0][2] + rows[2][0])
    of_y = (of_w[2], of_x[2], squares[2], rows[1][2] + rows[2][1])
    of_z = (of_w[3], of_x[3], of_y[3], squares[3])
    column = (of_w, of_x, of_y, of_z)[largest]
    size = sqrt(sum(part * part for part in column))
    w, i, j, k = (part / size for part in column)
    return (w, i, j, k)


def figure_of(bones: Sequence[Bone], moves: bool = False, stiffness: Mapping[int, float] | None = None) -> Figure:
    """A figure of bones, each after the one on which it hangs, with its root at the head of the first."""
    stiff = stiffness or {}
    frames: dict[str, Q4] = {"": IDENTITY}
    known = {bone.name: bone for bone in bones}
    names = [bone.name for bone in bones]
    joints: list[Joint] = []
    heads, parents = [], []
    for bone in bones:
        span = minus(bone.tail, bone.head)
        above, frame = frames[bone.parent], frame_of(span, bone.side)
        frames[bone.name] = frame
        rest, stiff_as = multiplied(conjugated(above), frame), stiff.get(len(joints), 0.0)
        joints.append(Joint((0.0, length(span), 0.0), rest, limit=bone.limit, stiffness=stiff_as))
        parents.append(names.index(bone.parent) if bone.parent else -1)
        gap = minus(bone.head, known[bone.parent].head) if bone.parent else ORIGIN
        heads.append(rotated(conjugated(above), gap) if bone.parent else None)
    return Figure(joints, parents, heads, moves=moves)


def ball(swing: float, twist: float) -> Cone:
    """A cone by degrees, twist limited to both sides."""
    return Cone.circular(radians(swing), twist=Twist(radians(-twist), radians(twist)))


def _arm(side: float, name: str) -> list[Bone]:
    """Clavicle, arm and hand with five fingers of three bones, in a T pose."""
    across, palmwards = scaled(Z, -side), scaled(Y, side)
    shoulder, elbow, wrist, palm = ((side * x, 0.0, 0.46) for x in (0.18, 0.45, 0.71, 0.79))
    bones = [
        Bone(f"clavicle{name}", "spine3", (side * 0.03, 0.0, 0.44), shoulder, across, ball(25, 15)),
        Bone(f"upper_arm{name}", f"clavicle{name}", shoulder, elbow, across, ball(95, 80)),
        Bone(f"forearm{name}", f"upper_arm{name}", elbow, wrist, across, hinge(X, 0, 145)),
        Bone(f"hand{name}", f"forearm{name}", wrist, palm, across, ball(60, 70)),
    ]
    for finger in range(5):
        before = f"hand{name}"
        y, spans = 0.02 * finger - 0.04, (0.0, 0.035, 0.06, 0.08)
        for part in range(3):
            head, tail = ((side * (0.79 + x), y, 0.46) for x in spans[part : part + 2])
            limit = Cone(0.0, radians(15), radians(80), radians(15), radians(15), Twist(0.0, 0.0))
            own = f"finger{finger}{part}{name}"
            bones.append(Bone(own, before, head, tail, palmwards, limit if part == 0 else hinge(X, 0, 90)))
            before = own
    return bones


def _leg(side: float, name: str) -> list[Bone]:
    """Thigh, shin, foot and toes; the knee bends the shin backwards, to +Y."""
    hip, knee, ankle = (side * 0.1, 0.0, -0.06), (side * 0.1, -0.01, -0.48), (side * 0.1, 0.0, -0.9)
    ball_of_foot, toe = (side * 0.1, -0.12, -0.96), (side * 0.1, -0.18, -0.96)
    return [
        Bone(f"thigh{name}", "pelvis", hip, knee, X, ball(100, 45)),
        Bone(f"shin{name}", f"thigh{name}", knee, ankle, X, hinge(X, 0, 150)),
        Bone(f"foot{name}", f"shin{name}", ankle, ball_of_foot, X, ball(40, 20)),
        Bone(f"toe{name}", f"foot{name}", ball_of_foot, toe, X, hinge(X, -20, 60)),
    ]


def human_bones() -> list[Bone]:
    """52 bones, Z up, facing -Y, 1.7 high, in a T pose, with the ranges of a human's joints."""
    heights = (0.0, 0.12, 0.25, 0.38, 0.5, 0.58, 0.78)
    names = ("pelvis", "spine1", "spine2", "spine3", "neck", "head")
    limits = (ball(40, 40), ball(25, 15), ball(25, 15), ball(25, 15), ball(35, 30), ball(35, 45))
    trunk = [
        Bone(name, names[i - 1] if i else "", (0.0, 0.0, heights[i]), (0.0, 0.0, heights[i + 1]), X, limits[i])
        for i, name in enumerate(names)
    ]
    return [*trunk, *_arm(1.0, ".L"), *_arm(-1.0, ".R"), *_leg(1.0, ".L"), *_leg(-1.0, ".R")]


HUMAN_BONES = human_bones()
HUMAN = figure_of(HUMAN_BONES)
WALKING_HUMAN = figure_of(HUMAN_BONES, moves=True)  # whose hips can be moved
INDEX = {bone.name: i for i, bone in enumerate(HUMAN_BONES)}
PARENTS = tuple(INDEX.get(bone.parent, -1) for bone in HUMAN_BONES)
ENDS = tuple(INDEX[name] for name in ("head", "hand.L", "hand.R", "foot.L", "foot.R"))


def posed(random: Random, figure: Figure, most: float = 0.6) -> list[Q4]:
    """A pose inside the limits, each joint turned a little or as far as its limit lets it."""
    return [limit.clamped(random_turn(random, most)) for limit in figure.joint_limits]


def points_for(figure: Figure, pose: Sequence[Q4], ends: Sequence[int]) -> list[Goal]:
    """The goals that the ends of some bones come to where they stand in a pose."""
    placed = figure.placed(pose)
    return [Point(end, placed.ends[end]) for end in ends]


def pinned_feet(figure: Figure) -> list[Goal]:
    """Both ankles of the human pinned with their rotations, where they stand at rest."""
    here, feet = figure.placed(figure.starts), (INDEX["foot.L"], INDEX["foot.R"])
    points: list[Goal] = [Point(foot, here.heads[foot], offset=ORIGIN, rank=PIN) for foot in feet]
    return [*points, *(Facing(foot, here.frames[foot], rank=PIN) for foot in feet)]
