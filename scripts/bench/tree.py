# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 5: a tree of joints with several goals, beside one least-squares solve of the same Jacobian by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from fabrik_addon.kernel import Facing, Figure, Goal, Joint, Point, Rows, Settings, Solver, Status
from mathutils import Quaternion, Vector

from .native_fabrik import Doubles
from .problems import Q4, TOLERANCE, integers, random_direction, v3
from .tables import Group, Judged, Row, Table
from .timing import Scale, interleaved

BRANCHES, EACH = 5, 10  # limbs on a trunk, and joints of each of them and of the trunk
AT_MOST = 0.1
WEIGHT_OF_A_RADIAN = 0.15
TURN = 0.25  # radians by which each joint is turned to make goals
BEFORE_MICROSECONDS = 4330.0
STEPS = (16, 48)  # passes after which a solve is cut off, to tell what one pass takes
FAR = 3.0  # sizes of the figure at which goals can't be reached
SOLVES = 16


def tree() -> Figure:
    """A trunk of ten joints and five limbs of ten at its end: 60 joints, all free."""
    joints, parents, random = [], [], Random(60)
    for branch in range(BRANCHES + 1):
        for i in range(EACH):
            first = i == 0
            turn = Quaternion(random_direction(random), 1.0 if first and branch else 0.1)
            joints.append(Joint((0.0, 1.0, 0.0), _q4(turn)))
            parents.append(len(joints) - 2 if not first else (-1 if branch == 0 else EACH - 1))
    return Figure(joints, parents)


def _q4(rotation: Quaternion) -> Q4:
    w, x, y, z = rotation
    return (w, x, y, z)


def _effectors() -> list[int]:
    return [EACH * (branch + 2) - 1 for branch in range(BRANCHES)]


def goals_of(figure: Figure, rotations: Sequence[Q4], factor: float = 1.0) -> list[Goal]:
    """Five points and five rotations where a pose has the ends of the limbs, the points times a factor."""
    placed = figure.placed(rotations)
    goals: list[Goal] = []
    for joint in _effectors():
        goals.append(Point(joint, v3(Vector(placed.ends[joint]) * factor)))
        goals.append(Facing(joint, placed.frames[joint]))
    return goals


def jacobian(figure: Figure, rotations: Sequence[Q4]) -> Doubles:
    """How points and frames of the limbs' ends change by small turns of all joints: (30, 180)."""
    placed = figure.placed(rotations)
    found = np.zeros((6 * BRANCHES, 3 * figure.count))
    for row, effector in enumerate(_effectors()):
        end = np.array(placed.ends[effector])
        for joint in [*range(EACH), *range(effector - EACH + 1, effector + 1)]:
            lever = end - np.array(placed.heads[joint])
            axes = np.array(Quaternion(placed.frames[joint]).to_matrix())
            found[6 * row : 6 * row + 3, 3 * joint : 3 * joint + 3] = np.cross(axes.T, lever).T
            found[6 * row + 3 : 6 * row + 6, 3 * joint : 3 * joint + 3] = axes * WEIGHT_OF_A_RADIAN * figure.size
    return found


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    figure = tree()
    random = Random(5)
    poses = [
        [_q4(Quaternion(random_direction(random), random.uniform(0.0, TURN))) for _ in range(figure.count)]
        for _ in range(SOLVES)
    ]
    note = (
        f"A trunk of ten joints with five limbs of ten, each with a point and a facing goal for its end. *A pass*: "
        f"what {STEPS[1]} passes take longer than {STEPS[0]}, towards goals out of reach, a pass. *lstsq*: one "
        "`numpy.linalg.lstsq` of the Jacobian (30 x 180). *Solve*: towards goals that forward kinematics made."
    )
    return Group(
        "5", "Several goals", [Table("5. A tree of 60 joints with ten goals", note, [_row(scale, figure, poses)])]
    )


def _row(scale: Scale, figure: Figure, poses: list[list[Q4]]) -> Row:
    solver = Solver(figure)
    matrix, missing = jacobian(figure, figure.starts), np.ones(6 * BRANCHES)
    out_of_reach = [_rows(figure, goals_of(figure, pose, FAR)) for pose in poses]
    in_reach = [_rows(figure, goals_of(figure, pose)) for pose in poses]

    def cut_off(passes: int) -> int:
        for rows in out_of_reach:
            solver.solve_many(rows, Settings(TOLERANCE, passes))
        return sum(integers(rows.passes)[0] for rows in out_of_reach)

    def by_numpy() -> None:
        for _ in out_of_reach:
            np.linalg.lstsq(matrix, missing, rcond=None)

    def to_the_end() -> int:
        for rows in in_reach:
            solver.solve_many(rows, Settings(TOLERANCE))
        return sum(integers(rows.passes)[0] for rows in in_reach)

    timing = interleaved(scale.effort, lambda: cut_off(STEPS[0]), lambda: cut_off(STEPS[1]), by_numpy, to_the_end)
    more = cut_off(STEPS[1]) - cut_off(STEPS[0])
    a_pass = (timing.seconds(1) - timing.seconds(0)) / max(more, 1)
    statuses = [solver.solve(goals_of(figure, pose), Settings(TOLERANCE)).status for pose in poses]
    lstsq = timing.seconds(2) / SOLVES
    return {
        "figure": "60 joints, 5 x (point + facing)",
        "a pass µs": a_pass * 1e6,
        "lstsq µs": lstsq * 1e6,
        "ratio": Judged(a_pass / lstsq, at_most=AT_MOST),
        "before µs": BEFORE_MICROSECONDS,
        "solve µs": timing.seconds(3) / SOLVES * 1e6,
        "passes a solve": to_the_end() / SOLVES,
        "solve over passes µs": timing.seconds(3) / to_the_end() * 1e6,
        "missed": sum(status is not Status.REACHED for status in statuses),
        "of": SOLVES,
    }


def _rows(figure: Figure, goals: list[Goal]) -> Rows:
    rows = Rows(figure, goals, 1)
    rows.fill(goals)
    return rows
