# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8, success: poses of bodies inside their limits, and whether the goals that forward kinematics made are met."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import degrees
from random import Random

from fabrik_addon.kernel import Facing, Figure, Goal, Point, Settings, Solver
from mathutils import Quaternion

from .body_rigs import Built, bodies, built, empty_file
from .problems import Q4, V3, drawn, random_direction, v3
from .tables import Judged, Row, Table, percentile, worst_of
from .timing import Scale

NEAR = 1e-4  # of the body's height, within which all goals are met
FIVE, TWELVE = 99.5, 98.0  # of a hundred poses, that are to be met
HIPS_TURN, HIPS_MOVE = 0.6, 0.3  # radians, and shares of the height, by which a pose has the hips turned and moved
LIMIT_SLACK = 1e-6  # radians


def success(scale: Scale) -> Table:
    """All bodies with few and many goals."""
    rows: list[Row] = []
    for body in bodies():
        empty_file()
        found = built(body.make(), body)
        rows.append(_row(scale, f"{body.name}, 5 places", found, (body.five, ()), FIVE))
        rows.append(_row(scale, f"{body.name}, 12 places", found, (body.twelve, ()), TWELVE))
        if body.turned:
            rows.append(_row(scale, f"{body.name}, 6 places and rotations", found, (body.turned, body.turned), TWELVE))
    note = (
        "Goals are where random poses have the ends of bones, each joint drawn evenly from its limits, the hips turned "
        f"by up to {degrees(HIPS_TURN):.0f}° and moved by up to {HIPS_MOVE:g} of the height. *Met*: poses of which "
        "every goal is within 1e-4 of the body's height, or the same as a turn; *exceeded*: joints of all poses that "
        "stand outside their limits. Errors are shares of the height. With defaults: 256 passes, 8 other starts."
    )
    return Table("8a. Whole bodies: goals that forward kinematics made", note, rows)


def random_pose(random: Random, found: Built) -> tuple[list[Q4], V3]:
    """Rotations inside the limits, and by how much the hips are moved."""
    pose = [drawn(random, limit) for limit in found.figure.joint_limits]
    w, x, y, z = Quaternion(random_direction(random), random.uniform(0.0, HIPS_TURN))
    pose[0] = (w, x, y, z)
    return pose, v3(random_direction(random) * random.uniform(0.0, HIPS_MOVE) * found.height)


def goals_at(found: Built, pose: tuple[list[Q4], V3], points: Sequence[str], turned: Sequence[str]) -> list[Goal]:
    """Goals for the ends of bones, and for the rotations of bones, where a pose has them."""
    placed = found.figure.placed(*pose)
    places: list[Goal] = [Point(found.index[name], placed.ends[found.index[name]]) for name in points]
    return [*places, *(Facing(found.index[name], placed.frames[found.index[name]]) for name in turned)]


def _row(scale: Scale, name: str, found: Built, ends: tuple[Sequence[str], Sequence[str]], at_least: float) -> Row:
    samples, random = scale.of(1000, 20), Random(8)
    solver, settings = Solver(found.figure), Settings(NEAR * found.height / found.figure.size)
    errors, exceeded, passes, seconds = [], 0, 0, []
    for _ in range(samples):
        goals = goals_at(found, random_pose(random, found), *ends)
        started = time.perf_counter()
        solution = solver.solve(goals, settings, explain=False)
        seconds.append(time.perf_counter() - started)
        errors.append(worst_of(solution.residuals) / found.height)
        exceeded += _exceeded(found.figure, solution.rotations)
        passes += solution.passes
    met = sum(error <= NEAR for error in errors)
    return {
        "body and goals": name,
        "joints": found.figure.count,
        "poses": samples,
        "met %": Judged(100.0 * met / samples, at_least=at_least),
        "limits exceeded": Judged(exceeded, at_most=0),
        "error, median": percentile(errors, 50),
        "99 of 100": percentile(errors, 99),
        "worst": worst_of(errors),
        "passes": passes / samples,
        "ms, median": 1e3 * percentile(seconds, 50),
        "ms, 99 of 100": 1e3 * percentile(seconds, 99),
    }


def _exceeded(figure: Figure, rotations: Sequence[Q4]) -> int:
    pairs = zip(figure.joint_limits, rotations, strict=True)
    return sum(limit.violation(rotation) > LIMIT_SLACK for limit, rotation in pairs)
