# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs with limits: targets that forward kinematics made, and how near they come to those that limits keep them from.

The nearest pose is found by scipy's least squares from many starts. The unknowns are one angle for a joint of one axis
and a rotation vector for others; each limit's own `clamped` makes an allowed rotation of them, and what it takes away
counts as an error besides, so that no unknown drifts where it changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, degrees, hypot, sin
from random import Random

import numpy as np
from fabrik_addon.kernel import FREE, Figure, Limit, Locked, Planar, Point, Settings, Solver, Status
from mathutils import Quaternion, Vector
from scipy.optimize import least_squares

from .problems import Q4, TOLERANCE, V3, X, Z, cone, drawn, ellipse, hinge, limb, limbs, random_direction, reachable, v3
from .rivals import BlenderIk, Doubles
from .tables import Judged, Row, Table, worst_of
from .timing import Scale

VIOLATION = 1e-5  # degrees
WITHIN = 1.01  # times as far from the target as scipy
LEAST_TURN = 1e-12  # radians
OUTSIDE = 0.05  # of the length, that a radian outside a limit counts
STEPS = 200  # of scipy from each start, at most


def measured(scale: Scale) -> list[Table]:
    """The tables of the group."""
    return [success(scale), from_nearest(scale)]


def success(scale: Scale) -> Table:
    """Limited chains, and Blender's own IK with the same limits."""
    rows = [_success_row(scale, name) for name in limbs()]
    note = (
        "*Missed* counts targets that are not reached within 1e-4 of the length; *violation* is the most that a joint "
        "stands outside its limit. *Blender*: of the first 200 targets those that its own IK reaches with the same "
        "limits, where it can say them; it exceeds them by as much as it says."
    )
    return Table("5a. Under limits: targets that forward kinematics made", note, rows)


def _success_row(scale: Scale, name: str) -> Row:
    samples, few = scale.of(2000, 40), scale.of(200, 10)
    chain, random = limb(name), Random(7)
    targets = [reachable(random, chain) for _ in range(samples)]
    solver, settings = Solver(chain), Settings(TOLERANCE)
    solutions = [solver.solve([Point(chain.count - 1, target)], settings) for target in targets]
    missed = sum(solution.status is not Status.REACHED for solution in solutions)
    violation = worst_of([solver.violation(solution.rotations) for solution in solutions])
    rival = BlenderIk(chain, with_pole=False)
    theirs = [rival.solve(target) for target in targets[:few]] if rival.expressible else []
    reached = sum(error <= TOLERANCE for error, _ in theirs)
    return {
        "chain": name,
        "targets": samples,
        "missed": Judged(missed, at_most=0),
        "violation °": Judged(degrees(violation), at_most=VIOLATION),
        "passes": sum(solution.passes for solution in solutions) / samples,
        "Blender %": 100.0 * reached / few if theirs else None,
        "Blender, violation °": max((over for _, over in theirs), default=None),
    }


def _family(limits: Sequence[Limit]) -> Figure:
    """A limb of bones of uneven length that bends a little to both sides."""
    lengths = (0.45, 0.4, 0.3, 0.25, 0.2)
    points: list[V3] = [(0.0, 0.0, 0.0)]
    for i in range(len(limits)):
        x, y, z = points[-1]
        points.append((x + 0.02 * (-1) ** i, y + 0.03 * (i % 2), z - lengths[i % len(lengths)]))
    return Figure.from_points(points, limits)


def families() -> dict[str, tuple[Figure, tuple[float, float]]]:
    """Limbs, and the least and greatest distance of a target from the root as shares of the length."""
    shoulder, reach = ellipse((60, 110), (90, 40), (-60, 80)), (0.1, 1.2)
    crouching = _family([FREE, hinge(X, 30, 150), hinge(X, -60, -20)])
    tables: dict[str, list[Limit]] = {
        "hinge, ball, cone": [hinge(X, -40, 60), FREE, cone(40)],
        "cone, hinge, hinge": [cone(35), hinge(X, 0, 120), hinge(X, -45, 60)],
        "two cones": [cone(40), cone(50)],
        "two hinges across": [hinge(X, -70, 40), hinge(Z, -60, 60)],
        "ball, cone, hinge": [FREE, cone(30), hinge(X, 0, 100)],
        "three cones": [cone(25), cone(35), cone(45)],
        "ellipse, hinge, ellipse": [shoulder, hinge(X, 0, 145), ellipse((70, 60), (20, 30), (-80, 80))],
        "slit, hinge": [ellipse((50, 50), (0, 0), (-30, 30)), hinge(X, -10, 110)],
        "cone of one angle, hinge": [cone(40, least=40), hinge(X, 0, 90)],
        "hinge, locked, hinge": [hinge(X, -50, 50), Locked(), hinge(Z, -80, 30)],
        "planar, planar, hinge": [Planar(X, -1.0, 1.0), Planar(X, -0.6, 1.4), hinge(Z, -40, 40)],
        "five hinges in turn": [hinge(axis, -35, 35) for axis in (X, Z, X, Z, X)],
        "tail of five cones": [cone(20)] * 5,
    }
    return {
        **{name: (_family(limits), reach) for name, limits in tables.items()},
        "crouching leg, too far": (crouching, (0.8, 1.6)),
        "crouching leg, too near": (crouching, (0.02, 0.4)),
        **{name: (limb(name), (0.2, 0.95)) for name in ("spider leg of six joints", "six-axis arm")},
    }


def from_nearest(scale: Scale) -> Table:
    """All families."""
    rows = [_nearest_row(scale, name, *family) for name, family in families().items()]
    note = (
        "Random targets; scipy's least squares run from many starts inside the limits wherever ours says that it does "
        "not reach. *Ours* and *scipy* are the distances from the target, shares of the length, where ours is farthest "
        "behind; *ratio* is the worst of all, less the tolerance. *Not so*: said not to be reachable though it is."
    )
    return Table("5b. Nearest poses of limited limbs beside scipy", note, rows)


def _nearest_row(scale: Scale, name: str, chain: Figure, reach: tuple[float, float]) -> Row:
    targets, starts, random = scale.of(60, 8), scale.of(12, 3), Random(11)
    solver, length = Solver(chain), chain.size
    pairs: list[tuple[float, float]] = []
    for _ in range(targets):
        target = v3(random_direction(random) * length * random.uniform(*reach))
        solution = solver.solve([Point(chain.count - 1, target)], Settings(TOLERANCE))
        if solution.status is not Status.REACHED:
            pairs.append((solution.residual / length, nearest(chain, target, random, starts) / length))
    ours, theirs = max(pairs, key=lambda pair: pair[0] - pair[1], default=(0.0, 0.0))
    ratios = [(mine - TOLERANCE) / max(best, TOLERANCE) for mine, best in pairs]
    return {
        "limb": name,
        "targets": targets,
        "out of reach": len(pairs),
        "ours": ours,
        "scipy": theirs,
        "ratio": Judged(worst_of(ratios), at_most=WITHIN, is_goal=True),
        "not so": Judged(sum(best <= TOLERANCE for _, best in pairs), at_most=0),
    }


def nearest(chain: Figure, target: V3, random: Random, starts: int) -> float:
    """The least distance from tip to target that scipy finds, in units of the chain."""
    limits, place = chain.joint_limits, np.array(target)
    sizes = [0 if limit.is_fixed else 3 if limit.is_ball else 1 for limit in limits]
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]

    def pose(x: Doubles) -> tuple[list[Q4], list[float]]:
        """Allowed rotations, and by how much each joint was outside its limit."""
        parts = [x[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        wanted = [_rotation(limit, part) for limit, part in zip(limits, parts, strict=True)]
        over = [
            0.0 if each.is_free or each.is_fixed else each.violation(q) for each, q in zip(limits, wanted, strict=True)
        ]
        return [limit.clamped(q) for limit, q in zip(limits, wanted, strict=True)], over

    def off(rotations: list[Q4]) -> Doubles:
        found: Doubles = np.array(chain.placed(rotations).joints[-1]) - place
        return found

    def errors(x: Doubles) -> Doubles:
        rotations, over = pose(x)
        found: Doubles = np.concatenate((off(rotations), np.array(over) * OUTSIDE * chain.size))
        return found

    best = float("inf")
    for _ in range(starts):
        start = np.array(
            [value for limit, size in zip(limits, sizes, strict=True) for value in _start(random, limit, size)]
        )
        found = least_squares(errors, start, diff_step=1e-6, xtol=1e-10, ftol=1e-12, gtol=1e-12, max_nfev=STEPS)
        best = min(best, float(np.linalg.norm(off(pose(found.x)[0]))))
        if best <= 1e-9 * chain.size:
            break
    return best


def _start(random: Random, limit: Limit, size: int) -> list[float]:
    """The unknowns of a joint for a rotation drawn inside its limit."""
    turn = Vector(Quaternion(drawn(random, limit)).to_exponential_map())
    return {0: [], 1: [float(turn.dot(Vector(limit.axis)))], 3: list(turn)}[size]


def _rotation(limit: Limit, x: Doubles) -> Q4:
    turn = [value * x[0] for value in limit.axis] if len(x) == 1 else [float(value) for value in x]
    angle = hypot(*turn)
    if angle < LEAST_TURN:
        return (1.0, 0.0, 0.0, 0.0)
    factor = sin(0.5 * angle) / angle
    return (cos(0.5 * angle), turn[0] * factor, turn[1] * factor, turn[2] * factor)
