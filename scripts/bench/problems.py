# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains, and what their tips are to come to: the same for every contender; and whom a solve is measured beside.

Those are plain FABRIK compiled by numba, and Blender's own IK.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import degrees
from random import Random
from typing import TypeVar

import bpy
import numpy as np
from fabrik_addon.kernel import Bend, Figure, Goal, Limit, Point
from fabrik_addon.maths import Q4, V3, Doubles, q4, v3
from fabrik_addon.rig.figure.joint_limits import write_ik_settings
from mathutils import Quaternion, Vector
from numba import njit

from blender import armature_of
from dev.limbs import LIMBS
from rigs import BoneRow, add_empty, add_ik, empty_file, make_armature

TOLERANCE = 1e-4  # of the chain's length, for all contenders
FRONT: V3 = (0.1, -3.0, -0.4)  # a pole before a leg of length 1
MOST_DRAWN = 1.8  # radians by which a free joint is turned to make a target


@dataclass(frozen=True, slots=True)
class Task:
    """A chain and its goals."""

    chain: Figure  # n joints
    targets: list[V3]  # places for the tip
    poles: list[V3]  # for each target a pole, or empty

    def goals(self, i: int) -> list[Goal]:
        """The goals of target i."""
        last = self.chain.count - 1
        point = Point(last, self.targets[i])
        return [point, Bend(last, self.poles[i])] if self.poles else [point]

    def numbers(self, i: int) -> tuple[float, ...]:
        """The same as the row of numbers that the solver takes."""
        return (*self.targets[i], *(self.poles[i] if self.poles else ()))


def random_vector(random: Random) -> Vector:
    """A vector of no preferred direction."""
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)])


def random_direction(random: Random) -> Vector:
    """A vector of no preferred direction, of length 1."""
    return random_vector(random).normalized()


def random_chain(random: Random, count: int) -> Figure:
    """A free chain of bones of uneven length that curls at random."""
    points, direction = [Vector()], random_direction(random)
    for _ in range(count):
        direction = (direction + random_vector(random) * 0.4).normalized()
        points.append(points[-1] + direction * random.uniform(0.5, 1.5))
    return Figure.from_points([v3(point) for point in points])


def free_tasks(chains: int, targets: int, bones: int, share: float, with_pole: bool = False) -> list[Task]:
    """Free chains with targets at a share of their reach.

    Args:
        chains: Number of chains.
        targets: Of each chain.
        bones: Of each chain.
        share: Of the chain's length, at which its targets lie.
        with_pole: Whether a pole tells to which side it bends.
    """
    random = Random(bones)
    tasks = []
    for _ in range(chains):
        chain = random_chain(random, bones)
        places = [v3(random_direction(random) * chain.size * share) for _ in range(targets)]
        poles = [v3(random_direction(random) * chain.size * 2.0) for _ in range(targets)] if with_pole else []
        tasks.append(Task(chain, places, poles))
    return tasks


def limb_tasks(name: str, chains: int, targets: int, with_pole: bool = False) -> list[Task]:
    """Limbs of different sizes with the limits of one of `LIMBS`, and targets that forward kinematics made."""
    random, (points, limits) = Random(3), LIMBS[name]
    tasks = []
    for _ in range(chains):
        moved = [v3(Vector(point) * random.uniform(0.95, 1.05)) for point in points]
        chain = Figure.from_points(moved, limits)
        places = [reachable(random, chain) for _ in range(targets)]
        poles = [v3(Vector(FRONT) * chain.size)] * targets if with_pole else []
        tasks.append(Task(chain, places, poles))
    return tasks


def drawn(random: Random, limit: Limit) -> Q4:
    """A rotation inside a limit."""
    if limit.is_free:
        return q4(Quaternion(random_direction(random), random.uniform(0.0, MOST_DRAWN)))
    return limit.drawn(random.random(), random.random(), random.random())


def reachable(random: Random, chain: Figure) -> V3:
    """Where the tip stands for some rotations inside the limits."""
    return chain.placed([drawn(random, limit) for limit in chain.joint_limits]).joints[-1]


F = TypeVar("F", bound=Callable[..., object])
MOST = 100000  # iterations of plain FABRIK
ITERATIONS = 500  # of Blender's IK
POLE = Vector((3.0, -4.0, 2.0))  # from the middle of the line to the tip


def compiled(function: F) -> F:
    """The function compiled for its arguments when it is first called."""
    made: F = njit(cache=False)(function)
    return made


@compiled
def _pull(points: Doubles, fixed: int, moved: int, length: float) -> None:
    """Bring one joint to its bone's length from another, along the line between them."""
    size = 0.0
    for k in range(3):
        size += (points[moved, k] - points[fixed, k]) ** 2
    scale = length / max(np.sqrt(size), 1e-12)
    for k in range(3):
        points[moved, k] = points[fixed, k] + (points[moved, k] - points[fixed, k]) * scale


@compiled
def fabrik_scalar(points: Doubles, lengths: Doubles, target: Doubles, tolerance: float, most: int) -> int:
    """Plain FABRIK in place: positions alone, no limits, no rotations. Returns the iterations used.

    Args:
        points: (n + 1, 3), the root at the origin.
        lengths: (n,).
        target: (3,).
        tolerance: Distance at which to stop.
        most: Greatest number of iterations.
    """
    n = lengths.shape[0]
    for count in range(most):
        if np.sqrt(((points[n] - target) ** 2).sum()) <= tolerance:
            return count
        points[n] = target
        for i in range(n - 1, -1, -1):
            _pull(points, i + 1, i, lengths[i])
        points[0] = 0.0
        for i in range(n):
            _pull(points, i, i + 1, lengths[i])
    return most


@compiled
def fabrik_many(points: Doubles, lengths: Doubles, targets: Doubles, tolerances: Doubles, most: int) -> int:
    """Plain FABRIK of many chains in one compiled loop; arrays as of `fabrik_scalar`, the chain as their first axis."""
    total = 0
    for i in range(points.shape[0]):
        total += fabrik_scalar(points[i], lengths[i], targets[i], tolerances[i], most)
    return total


def start_points(task: Task) -> Doubles:
    """The joints of the start pose, (n + 1, 3)."""
    return np.array(task.chain.placed(task.chain.starts).joints, dtype=np.float64)


class BlenderIk:
    """A scene with one armature, made like a chain of the kernel, one IK constraint, its target and perhaps its pole.

    Attributes:
        expressible: Whether Blender can say all limits.
    """

    def __init__(self, chain: Figure, with_pole: bool) -> None:
        empty_file()
        self.chain, self.layer = chain, bpy.context.view_layer
        placed = chain.placed(chain.starts)
        rows = {f"b{i}": BoneRow(f"b{i - 1}" if i else "", placed.heads[i], placed.ends[i]) for i in range(chain.count)}
        self.owner = make_armature("ik", rows)
        bpy.ops.object.mode_set(mode="EDIT")
        for bone, frame in zip(armature_of(self.owner).edit_bones, placed.frames, strict=True):
            bone.align_roll(Quaternion(frame) @ Vector((0, 0, 1)))
        bpy.ops.object.mode_set(mode="OBJECT")
        pairs = zip(self.bones, chain.joint_limits, strict=True)
        self.expressible = not [lost for bone, limit in pairs for lost in write_ik_settings(bone, limit, 0.0)]
        self.target, self.pole = add_empty("target"), add_empty("pole", Vector(placed.joints[-1]) * 0.5 + POLE)
        constraint = add_ik(self.bones[-1], self.target, 0)
        constraint.iterations = ITERATIONS
        if with_pole:
            constraint.pole_target = self.pole

    @property
    def bones(self) -> bpy.types.bpy_prop_collection[bpy.types.PoseBone]:
        """Those of the chain."""
        return self.owner.pose.bones

    def follow(self, target: V3, pole: V3 | None = None) -> None:
        """Let Blender bring the tip to a target."""
        self.target.location = target
        if pole is not None:
            self.pole.location = pole
        self.layer.update()

    def solve(self, target: V3) -> tuple[float, float]:
        """Tip error as a share of the length, and the worst limit violation in degrees."""
        self.follow(target)
        error = float((self.bones[-1].tail - Vector(target)).length / self.chain.size)
        pairs = zip(self.rotations(), self.chain.joint_limits, strict=True)
        return error, degrees(max(limit.violation(rotation) for rotation, limit in pairs))

    def rotations(self) -> list[Q4]:
        """The evaluated rotation of each bone in its own rest frame."""
        found = []
        for bone in self.bones:
            local = self.owner.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL")
            found.append(q4(local.to_quaternion().normalized()))
        return found
