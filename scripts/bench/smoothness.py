# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 6, smoothness: the largest turn of a joint from frame to frame along smooth paths of target and pole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, sin
from typing import TypeAlias

from fabrik_addon.kernel import Bend, Figure, Point, Settings, Solver
from mathutils import Vector

from . import before
from .blender_ik import BlenderIk
from .problems import FRONT, Q4, TOLERANCE, V3, limb, limbs, v3
from .tables import Judged, Row, Table
from .timing import Scale
from .tracked import Tracker

Path: TypeAlias = Callable[[float], tuple[Vector, Vector]]
Frames: TypeAlias = list[tuple[V3, V3]]
ROUND = 2.0 * pi


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


def _chains() -> dict[str, tuple[Figure, V3]]:
    """Limbs of length 1 that bend, and a pole on the side to which they do."""
    names = {"leg with knee": FRONT, "leg with knee and ankle": FRONT, "shoulder, ellipse and twist": (0.4, -3.0, 0.3)}
    bent = Figure.from_points([(0, 0, 0), (0, -0.06, -0.5), (0, 0, -1)])
    return {"free limb": (bent, FRONT)} | {name: (_at_length_one(name), pole) for name, pole in names.items()}


def _at_length_one(name: str) -> Figure:
    points, limits = limbs()[name]
    size = limb(name).size
    return Figure.from_points([v3(Vector(point) / size) for point in points], limits)


def smoothness(scale: Scale) -> Table:
    """All limbs along all paths."""
    steps = scale.of(120, 60)  # fewer would make larger turns
    rows: list[Row] = []
    for name, (chain, pole) in _chains().items():
        tip = Vector(chain.placed(chain.starts).joints[-1])
        for label, path in smooth_paths(tip, Vector(pole)).items():
            places = [path(i / steps) for i in range(steps + 1)]
            rows.append(_row(name, label, chain, [(v3(target), v3(at)) for target, at in places], steps))
    note = (
        f"The largest turn of a joint between two of {steps} frames along a path, with pole. *Best smooth*: the least "
        "turns of a chain that follows the same goals from frame to frame; a pose of ours depends on its goals alone. "
        "*To be*: what version 0.1.0 had, at 120 frames."
    )
    return Table("6d. Smoothness, degrees a frame", note, rows)


def _row(name: str, label: str, chain: Figure, frames: Frames, steps: int) -> Row:
    solver, settings, last = Solver(chain), Settings(TOLERANCE), chain.count - 1
    solved = [solver.solve([Point(last, target), Bend(last, pole)], settings).rotations for target, pole in frames]
    ours = degrees(_largest(solved))
    best = degrees(_largest(Tracker(chain).poses(solved[0], frames)))
    at_most = before.SMOOTHNESS[name, label] * before.EQUAL * 120 / steps
    return {
        "limb and path": f"{name}: {label}",
        "largest turn": Judged(ours, at_most=at_most),
        "best smooth": best,
        "ratio": ours / best,
        "Blender": degrees(_largest(_blenders(chain, frames))),
    }


def _largest(solved: Sequence[Sequence[Q4]]) -> float:
    """The largest turn of a joint from one pose to the next, in radians."""
    return max(_turn(a, b) for x, y in pairwise(solved) for a, b in zip(x, y, strict=True))


def _turn(a: Q4, b: Q4) -> float:
    """The angle between two rotations."""
    near = hypot(*(p - q for p, q in zip(a, b, strict=True)))
    far = hypot(*(p + q for p, q in zip(a, b, strict=True)))
    return 4.0 * atan2(min(near, far), max(near, far))


def _blenders(chain: Figure, frames: Frames) -> list[list[Q4]]:
    rival = BlenderIk(chain, with_pole=True)
    solved = []
    for target, pole in frames:
        rival.follow(target, pole)
        solved.append(rival.rotations())
    return solved
