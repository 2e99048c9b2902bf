# SPDX-License-Identifier: GPL-3.0-or-later
"""Table of smoothness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, degrees, pi, sin
from typing import Any

from mathutils import Vector

from benchmark_chains import limited_chains
from benchmark_rivals import BlenderIk
from benchmark_tools import Row, table

Path = Callable[[float], tuple[Vector, Vector]]
TRACK_STEPS, TRACKED = 40, 1e-6
ROUND = 2 * pi


def smooth_paths(tip: Vector, pole: Vector) -> dict[str, Path]:
    """Paths of target and pole for a parameter from 0 to 1; the limb's length is about 1."""
    across = tip.cross(pole).normalized()
    return {
        "pole round the limb": lambda s: (
            tip * 0.8,
            tip * 0.5 + (across * sin(ROUND * s) + pole.normalized() * cos(ROUND * s)) * 2,
        ),
        "full stretch and back": lambda s: (tip * (1.0 - 0.15 * cos(ROUND * s)), pole),
        "in towards the root": lambda s: (tip * (0.95 - 0.7 * s), pole),
        "past the root": lambda s: (tip * (0.5 - s) + across * 0.12, pole),
        "across the front": lambda s: (tip * 0.7 + across * (0.8 * s - 0.4), pole),
    }


def limbs(kernel: Any) -> dict[str, tuple[Any, Vector]]:
    """Limbs of length 1 that bend, and a pole on the side to which they do."""
    chains = limited_chains(kernel)
    free = kernel.Chain.from_points([(0, 0, 0), (0, -0.06, -0.5), (0, 0, -1)])
    front = Vector((0.1, -3.0, -0.4))
    return {
        "free limb": (free, front),
        "leg with knee": (chains["leg with knee"].unit, front),
        "leg with knee and ankle": (chains["leg with knee and ankle"].unit, front),
        "shoulder, ellipse and twist": (chains["shoulder, ellipse and twist"].unit, Vector((0.4, -3.0, 0.3))),
    }


def smoothness(kernel: Any, steps: int) -> Row:
    """Table 6: the largest turn of a joint from frame to frame along smooth paths."""
    rows: list[Row] = []
    for name, (chain, pole) in limbs(kernel).items():
        tip = kernel.place(chain, chain.start)[0][-1]
        for label, path in smooth_paths(tip, pole).items():
            frames = [path(i / steps) for i in range(steps + 1)]
            solved = [kernel.solve(chain, kernel.Goal(target, at)).rotations for target, at in frames]
            ours, best = degrees(_largest(kernel, solved)), degrees(_largest(kernel, tracked(kernel, chain, frames)))
            rows.append(
                {
                    "limb": name,
                    "path": label,
                    "largest turn deg": ours,
                    "best smooth deg": best,
                    "ratio": ours / best,
                    "Blender IK deg": degrees(_blender_largest(kernel, chain, frames)),
                }
            )
    return table(
        f"6. Smoothness: largest turn of a joint between frames, {steps} frames a path, with pole; the best smooth "
        "pose follows the same goals from frame to frame by least turns",
        rows,
    )


def tracked(kernel: Any, chain: Any, frames: Sequence[tuple[Vector, Vector]]) -> list[Any]:
    """Poses that follow target and pole by least squares, each from the one before; the first is ours."""
    tree, aims_of = kernel.Tree.of_chain(chain), _aims(kernel, chain)
    first = kernel.solve(chain, kernel.Goal(*frames[0])).rotations
    poses = [first]
    for target, pole in frames:
        start = kernel.TreeDescent.at(tree, poses[-1], aims_of(poses[-1], target, pole))
        poses.append(kernel.descend(start, TRACKED, TRACK_STEPS)[0].rotations)
    return poses[1:]


def _aims(kernel: Any, chain: Any) -> Callable[[Any, Vector, Vector], list[Any]]:
    """The goals of a frame: the tip, and the pole as a plane through which the bend is to go."""

    @dataclass(frozen=True, slots=True)
    class OnPlane(kernel.Point):
        """The end of the joint's segment is to come to the plane through the target."""

        normal: Vector

        def missing(self, placed: Any) -> Vector:
            return self.normal * self.normal.dot(self.target - placed.ends[self.joint])

        def move(self, axis: Vector, lever: Vector) -> Vector:
            return self.normal * self.normal.dot(axis.cross(lever))

    last = len(chain.joints) - 1

    def aims(pose: Any, target: Vector, pole: Vector) -> list[Any]:
        bend = kernel.bend_of(chain, pose)
        along = target.normalized()
        normal = along.cross(kernel.pole_side(kernel.Goal(target, pole), along, chain.length, bend.side))
        return [kernel.Point(last, target), OnPlane(0, Vector(), normal, weight=0.3)]

    return aims


def _largest(kernel: Any, solved: Sequence[Any]) -> float:
    pairs = ((a, b) for x, y in pairwise(solved) for a, b in zip(x, y, strict=True))
    return float(max(kernel.turn_angle(a.conjugated() @ b) for a, b in pairs))


def _blender_largest(kernel: Any, chain: Any, frames: Sequence[tuple[Vector, Vector]]) -> float:
    joints, axes = kernel.place(chain, chain.start)
    ik = BlenderIk(chain, joints, axes, True)
    pole = ik.bones[-1].constraints[0].pole_target
    solved = []
    for target, place in frames:
        ik.target.location, pole.location = target, place
        ik.layer.update()
        solved.append(
            [
                ik.owner.convert_space(
                    pose_bone=bone, matrix=bone.matrix, from_space="POSE", to_space="LOCAL"
                ).to_quaternion()
                for bone in ik.bones
            ]
        )
    return _largest(kernel, solved)
