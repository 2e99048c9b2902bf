# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest turn of a joint from frame to frame: of limbs along smooth paths, and of humans that are dragged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, sin
from random import Random
from typing import TypeAlias

from fabrik_addon.kernel import PIN, Bend, Facing, Figure, Goal, Point, Settings, Solution, Solver
from mathutils import Vector

from dev.humans import bone_of, both

from .bodies import NEAR, joints_exceeded
from .body_rigs import Built, bodies, built_anew
from .problems import FRONT, Q4, TOLERANCE, V3, limb, limbs, v3
from .rivals import BlenderIk
from .tables import Judged, Row, Table
from .timing import Scale

Path: TypeAlias = Callable[[float], tuple[Vector, Vector]]
ROUND = 2.0 * pi
STEPS = 120  # of a path
SMOOTH, HELD_BACK = 5.0, 15.0  # degrees a frame, of a drag in reach and of one that is held back
LEG_TURN = 15.0  # degrees a step, of a leg along a path
PINS = 1e-4  # of the height, by which a pin may be left
ORDER_STEP = 5  # every fifth frame is solved again, backwards and in jumps
ORIGIN = (0.0, 0.0, 0.0)
DRAGGED = ("human_game_engine", "human_mixamo")


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    return [paths(scale), drags(scale)]


def paths_of(tip: Vector, pole: Vector) -> dict[str, Path]:
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
    found = {"free limb": (Figure.from_points([(0, 0, 0), (0, -0.06, -0.5), (0, 0, -1)]), FRONT)}
    side: V3 = (0.4, -3.0, 0.3)
    for name, pole in (
        ("leg with knee", FRONT),
        ("leg with knee and ankle", FRONT),
        ("shoulder, ellipse and twist", side),
    ):
        points, limits = limbs()[name]
        size = limb(name).size
        found[name] = Figure.from_points([v3(Vector(point) / size) for point in points], limits), pole
    return found


def paths(scale: Scale) -> Table:
    """All limbs along all paths."""
    steps = scale.of(STEPS, STEPS // 2)  # fewer would make larger turns
    rows: list[Row] = []
    for name, (chain, pole) in _chains().items():
        tip = Vector(chain.placed(chain.starts).joints[-1])
        found = {label: _along(chain, path, steps) for label, path in paths_of(tip, Vector(pole)).items()}
        at_most = LEG_TURN * STEPS / steps if name.startswith(("free", "leg")) else None
        turns: Row = {label: Judged(ours, at_most=at_most) for label, (ours, _) in found.items()}
        others: Row = {label: theirs for label, (_, theirs) in found.items()}
        rows += [{"limb": f"{name}: ours", **turns}, {"limb": f"{name}: Blender", **others}]
    note = f"Degrees: the largest turn of a joint between two of {steps} frames along a path of target and pole."
    return Table("7a. Smoothness along paths", note, rows)


def _along(chain: Figure, path: Path, steps: int) -> tuple[float, float]:
    """The largest turn of ours along a path, and of Blender's IK, in degrees."""
    solver, settings, last = Solver(chain), Settings(TOLERANCE), chain.count - 1
    rival = BlenderIk(chain, with_pole=True)
    ours, theirs = [], []
    for i in range(steps + 1):
        target, pole = (v3(point) for point in path(i / steps))
        ours.append(solver.solve([Point(last, target), Bend(last, pole)], settings).rotations)
        rival.follow(target, pole)
        theirs.append(rival.rotations())
    return largest_turn(ours), largest_turn(theirs)


def largest_turn(poses: Sequence[Sequence[Q4]]) -> float:
    """The largest turn of a joint from one pose to the next, in degrees."""
    pairs = (pair for x, y in pairwise(poses) for pair in zip(x, y, strict=True))
    return degrees(max(turn_between(*pair) for pair in pairs))


def turn_between(a: Q4, b: Q4) -> float:
    """The angle between two rotations."""
    near = hypot(*(p - q for p, q in zip(a, b, strict=True)))
    far = hypot(*(p + q for p, q in zip(a, b, strict=True)))
    return 4.0 * atan2(min(near, far), max(near, far))


@dataclass(frozen=True, slots=True)
class Drag:
    """What is dragged, and where to.

    Attributes:
        label: What it is called.
        part: The human's part whose bone is dragged by its head.
        side: "L", or "" for a part that is single.
        path: By how much, in shares of the height, for a parameter from 0 to 1; forwards is -Y, the left side +X.
        in_reach: Whether all of the path can be reached.
    """

    label: str
    part: str
    side: str
    path: Callable[[float], V3]
    in_reach: bool


def _there_and_back(x: float, y: float, z: float) -> Callable[[float], V3]:
    """Along a line and back again, smoothly."""

    def path(s: float) -> V3:
        wave = 0.5 - 0.5 * cos(ROUND * s)
        return (wave * x, wave * y, wave * z)

    return path


DRAGS = (
    Drag("round in front", "hand", "L", lambda s: (-0.12 + 0.1 * cos(ROUND * s), -0.3, 0.1 * sin(ROUND * s)), True),
    Drag("down to the toes", "hand", "L", _there_and_back(-0.15, -0.25, -0.38), True),
    Drag("across to the other side", "hand", "L", _there_and_back(-0.38, -0.18, 0.1), True),
    Drag("down: a squat", "hips", "", _there_and_back(0.0, 0.11, -0.19), True),
    Drag("round", "hips", "", lambda s: (0.03 * sin(ROUND * s), 0.07 + 0.03 * cos(ROUND * s), -0.1), True),
    Drag("down and forwards", "head", "", _there_and_back(0.0, -0.2, -0.2), True),
    Drag("past full stretch", "hand", "L", _there_and_back(0.3, -0.5, 0.15), False),
    Drag("up and away", "hand", "L", _there_and_back(0.1, -0.05, 0.65), False),
    Drag("past straight legs", "hips", "", _there_and_back(0.0, -0.02, 0.15), False),
    Drag("far to the side", "hips", "", _there_and_back(0.3, 0.0, 0.0), False),
    Drag("backwards and down", "chest", "", _there_and_back(0.0, 0.3, -0.2), False),
)


def drags(scale: Scale) -> Table:
    """All drags of both humans, in reach and held back."""
    steps, rows = scale.of(STEPS, STEPS // 2), list[Row]()
    for body in bodies():
        if body.name in DRAGGED:
            found = built_anew(body)
            rows += [_drag_row(body.name, found, in_reach, steps) for in_reach in (True, False)]
    note = (
        f"One bone of a human is dragged along a path and back in {steps} frames, up to 3 cm a frame; both feet are "
        "pinned at the ankle with their rotation. *A frame*: the largest turn of a joint between two frames, and in "
        "which drag. *Pins*: the farthest that a foot is from its place, a share of the height, and the most that it "
        "is turned. *Orders*: frames whose pose is another one when they are solved backwards or in jumps."
    )
    return Table("7b. Drags on pinned feet", note, rows)


def _drag_row(human: str, found: Built, in_reach: bool, steps: int) -> Row:
    tried = [drag for drag in DRAGS if drag.in_reach == in_reach]
    figures = [_dragged(human, found, drag, steps) for drag in tried]
    turns, pins, pins_turned, exceeded, orders = zip(*figures, strict=True)
    worst, most = tried[turns.index(max(turns))], SMOOTH if in_reach else HELD_BACK
    return {
        "human and drags": f"{human}: {'in reach' if in_reach else 'held back'}",
        "drags": len(tried),
        "° a frame": Judged(max(turns), at_most=most * STEPS / steps, is_goal=not in_reach),
        "worst of": f"{worst.part} {worst.label}",
        "pins": Judged(max(pins), at_most=PINS),
        "pins °": max(pins_turned),
        "limits exceeded": Judged(sum(exceeded), at_most=0),
        "orders": Judged(sum(orders), at_most=0),
    }


def _dragged(human: str, found: Built, drag: Drag, steps: int) -> tuple[float, float, float, int, int]:
    """What comes of a drag.

    Returns:
        The largest turn of a joint in a frame, in degrees; the farthest that a foot is from its place, a share of the
        height; the most that it is turned, in degrees; joints outside their limits, by frame; frames whose pose is
        another one when they are solved backwards or in jumps.
    """
    rest = found.figure.placed(found.figure.starts)
    joint = found.index[bone_of(human, drag.part, drag.side)]
    feet = [found.index[name] for name in both(human, "foot")]
    pins: list[Goal] = [Point(foot, rest.heads[foot], offset=ORIGIN, rank=PIN) for foot in feet]
    pins += [Facing(foot, rest.frames[foot], rank=PIN) for foot in feet]
    places = [v3(Vector(rest.heads[joint]) + Vector(drag.path(i / steps)) * found.height) for i in range(steps + 1)]
    goals = [[*pins, Point(joint, place, offset=ORIGIN)] for place in places]
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)

    def solved(order: Sequence[int]) -> dict[int, Solution]:
        return {i: solver.solve(goals[i], settings, explain=False) for i in order}

    forwards = solved(range(steps + 1))
    again = list(forwards)[::-ORDER_STEP]
    backwards = solved(again)
    Random(1).shuffle(again)
    jumps = solved(again)
    poses = [found.figure.placed(each.rotations, each.shift) for each in forwards.values()]
    off = [(Vector(p.heads[foot]) - Vector(rest.heads[foot])).length / found.height for p in poses for foot in feet]
    turned = [turn_between(p.frames[foot], rest.frames[foot]) for p in poses for foot in feet]
    return (
        largest_turn([each.rotations for each in forwards.values()]),
        max(off),
        degrees(max(turned)),
        sum(joints_exceeded(found.figure, each.rotations) for each in forwards.values()),
        sum(not (_same(forwards[i], backwards[i]) and _same(forwards[i], jumps[i])) for i in again),
    )


def _same(a: Solution, b: Solution) -> bool:
    return a.rotations == b.rotations and a.shift == b.shift
