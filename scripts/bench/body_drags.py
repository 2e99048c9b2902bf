# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8, drags: a human on pinned feet is pulled about, in reach and far out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, pi, sin
from random import Random
from typing import TypeAlias

from fabrik_addon.kernel import PIN, Facing, Goal, Point, Settings, Solution, Solver
from mathutils import Vector

from dev.humans import bone_of, both

from .body_rigs import Body, Built, bodies, built, empty_file
from .body_success import LIMIT_SLACK, NEAR
from .problems import Q4, v3
from .tables import Judged, Row, Table, worst_of
from .timing import Scale

PINS = 1e-4  # of the height, by which a pin may be left
SMOOTH, BLOCKED = 5.0, 15.0  # degrees a frame, of a drag in reach and of one that is held back
FRAMES = 120
ORDER_STEP = 5  # every fifth of which is solved again, backwards and in jumps
ROUND = 2.0 * pi
ORIGIN = (0.0, 0.0, 0.0)
DRAGGED = ("human_game_engine", "human_mixamo")
Path: TypeAlias = Callable[[float], tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Drag:
    """What is dragged, and where to.

    Attributes:
        label: Of its row.
        part: The human's part whose bone is dragged by its head.
        side: "L", or "" for a part that is single.
        path: By how much, in shares of the height, for a parameter from 0 to 1; forwards is -Y, the left side +X.
        in_reach: Whether all of the path can be reached.
    """

    label: str
    part: str
    side: str
    path: Path
    in_reach: bool


def _there_and_back(x: float, y: float, z: float) -> Path:
    """Along a line and back again, smoothly."""
    return lambda s: (_wave(s) * x, _wave(s) * y, _wave(s) * z)


def _wave(s: float) -> float:
    return 0.5 - 0.5 * cos(ROUND * s)


DRAGS = (
    Drag(
        "hand round in front", "hand", "L", lambda s: (-0.12 + 0.1 * cos(ROUND * s), -0.3, 0.1 * sin(ROUND * s)), True
    ),
    Drag("hand down to the toes", "hand", "L", _there_and_back(-0.15, -0.25, -0.38), True),
    Drag("hand across to the other side", "hand", "L", _there_and_back(-0.38, -0.18, 0.1), True),
    Drag("hips down: a squat", "hips", "", _there_and_back(0.0, 0.11, -0.19), True),
    Drag("hips round", "hips", "", lambda s: (0.03 * sin(ROUND * s), 0.07 + 0.03 * cos(ROUND * s), -0.1), True),
    Drag("head down and forwards", "head", "", _there_and_back(0.0, -0.2, -0.2), True),
    Drag("hand past full stretch", "hand", "L", _there_and_back(0.3, -0.5, 0.15), False),
    Drag("hand up and away", "hand", "L", _there_and_back(0.1, -0.05, 0.65), False),
    Drag("hips past straight legs", "hips", "", _there_and_back(0.0, -0.02, 0.15), False),
    Drag("hips far to the side", "hips", "", _there_and_back(0.3, 0.0, 0.0), False),
    Drag("chest backwards and down", "chest", "", _there_and_back(0.0, 0.3, -0.2), False),
)


def drags(scale: Scale) -> Table:
    """All drags of both humans."""
    rows: list[Row] = []
    for body in bodies():
        if body.name in DRAGGED:
            empty_file()
            found = built(body.make(), body)
            rows += [_row(scale, body, found, drag) for drag in DRAGS]
    note = (
        f"One bone of a human is dragged along a path and back in {FRAMES} frames, up to 3 cm a frame; both feet are "
        "pinned at the ankle with their rotation. *A frame*: the largest turn of a joint between two frames. *Pins*: "
        "the farthest that a foot is from its place, a share of the height, and the most that it is turned. *Orders*: "
        "frames whose pose is another one when they are solved backwards or in jumps."
    )
    return Table("8b. Drags on pinned feet", note, rows)


def pins_of(found: Built, human: str) -> list[Goal]:
    """Both ankles where they stand at rest, with the rotations of the feet."""
    here = found.figure.placed(found.figure.starts)
    feet = [found.index[name] for name in both(human, "foot")]
    places: list[Goal] = [Point(foot, here.heads[foot], offset=ORIGIN, rank=PIN) for foot in feet]
    return [*places, *(Facing(foot, here.frames[foot], rank=PIN) for foot in feet)]


def _row(scale: Scale, body: Body, found: Built, drag: Drag) -> Row:
    joint = found.index[bone_of(body.name, drag.part, drag.side)]
    here, pins = Vector(found.figure.placed(found.figure.starts).heads[joint]), pins_of(found, body.name)
    steps = scale.of(FRAMES, FRAMES // 2)
    places = [v3(here + Vector(drag.path(i / steps)) * found.height) for i in range(steps + 1)]
    goals = [[*pins, Point(joint, place, offset=ORIGIN)] for place in places]
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)

    def solved(order: Sequence[int]) -> dict[int, Solution]:
        return {i: solver.solve(goals[i], settings, explain=False) for i in order}

    frames = list(range(steps + 1))
    forwards, again = solved(frames), frames[::-ORDER_STEP]
    backwards = solved(again)
    Random(1).shuffle(again)
    jumps = solved(again)
    differ = sum(not (_same(forwards[i], backwards[i]) and _same(forwards[i], jumps[i])) for i in again)
    feet = [_off(found, solution, pins) for solution in forwards.values()]
    turns = [_turn(forwards[i], forwards[i + 1]) for i in range(steps)]
    return {
        "human and drag": f"{body.name}: {drag.label}",
        "° a frame": Judged(degrees(worst_of(turns)), at_most=(SMOOTH if drag.in_reach else BLOCKED) * FRAMES / steps),
        "pins": Judged(worst_of([place for place, _ in feet]), at_most=PINS),
        "pins °": degrees(worst_of([turn for _, turn in feet])),
        "missed by, worst": worst_of([solution.residuals[-1] / found.height for solution in forwards.values()]),
        "limits exceeded": Judged(
            sum(
                limit.violation(rotation) > LIMIT_SLACK
                for solution in forwards.values()
                for limit, rotation in zip(found.figure.joint_limits, solution.rotations, strict=True)
            ),
            at_most=0,
        ),
        "orders": Judged(differ, at_most=0),
        "passes": sum(solution.passes for solution in forwards.values()) / (steps + 1),
    }


def _same(a: Solution, b: Solution) -> bool:
    return a.rotations == b.rotations and a.shift == b.shift


def _off(found: Built, solution: Solution, pins: Sequence[Goal]) -> tuple[float, float]:
    """The farthest that a pinned foot is from its place, a share of the height, and the most that it is turned."""
    placed = found.figure.placed(solution.rotations, solution.shift)
    rest = found.figure.placed(found.figure.starts)
    feet = {pin.effector for pin in pins}
    off = [(Vector(placed.heads[foot]) - Vector(rest.heads[foot])).length / found.height for foot in feet]
    return max(off), max(turn_between(placed.frames[foot], rest.frames[foot]) for foot in feet)


def _turn(a: Solution, b: Solution) -> float:
    """The largest turn of a joint from one pose to the next, in radians."""
    return max(turn_between(x, y) for x, y in zip(a.rotations, b.rotations, strict=True))


def turn_between(a: Q4, b: Q4) -> float:
    """The angle between two rotations."""
    near = hypot(*(p - q for p, q in zip(a, b, strict=True)))
    far = hypot(*(p + q for p, q in zip(a, b, strict=True)))
    return 4.0 * atan2(min(near, far), max(near, far))
