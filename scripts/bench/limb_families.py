# SPDX-License-Identifier: GPL-3.0-or-later
"""How near limbs come to targets that limits keep them from, beside scipy's least squares from many starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fabrik_addon.kernel import FREE, Figure, Limit, Locked, Planar, Point, Settings, Solver, Status

from . import before
from .problems import (
    TOLERANCE,
    V3,
    X,
    Z,
    cone,
    ellipse,
    hinge,
    limb,
    random_direction,
    v3,
)
from .scipy_nearest import nearest
from .tables import Judged, Row, Table
from .timing import Scale

WITHIN = 1.01  # times as far from the target as scipy
FOUND_BEFORE = {  # distance of version 0.1.0 and of scipy at the worst target, shares of the length
    "hinge, ball, cone": "0.192 / 0.126",
    "cone, hinge, hinge": "0.588 / 0.568",
    "two cones": "0.363 / 0.353",
}


@dataclass(frozen=True, slots=True)
class Family:
    """Limbs of one kind.

    Attributes:
        name: Of the kind.
        chain: One of them; all others differ in size alone.
        reach: Least and greatest distance of a target from the root, shares of the length.
    """

    name: str
    chain: Figure
    reach: tuple[float, float] = (0.1, 1.2)


def _family(name: str, limits: Sequence[Limit], reach: tuple[float, float] = (0.1, 1.2)) -> Family:
    """A limb of bones of uneven length that bends a little to both sides."""
    lengths = (0.45, 0.4, 0.3, 0.25, 0.2)
    points: list[V3] = [(0.0, 0.0, 0.0)]
    for i in range(len(limits)):
        x, y, z = points[-1]
        points.append((x + 0.02 * (-1) ** i, y + 0.03 * (i % 2), z - lengths[i % len(lengths)]))
    return Family(name, Figure.from_points(points, limits), reach)


def families() -> list[Family]:
    """Those on which version 0.1.0 was found not to come nearest, and ten more."""
    shoulder = ellipse((60, 110), (90, 40), (-60, 80))
    crouching = [FREE, hinge(X, 30, 150), hinge(X, -60, -20)]
    return [
        _family("hinge, ball, cone", [hinge(X, -40, 60), FREE, cone(40)]),
        _family("cone, hinge, hinge", [cone(35), hinge(X, 0, 120), hinge(X, -45, 60)]),
        _family("two cones", [cone(40), cone(50)]),
        _family("crouching leg, too far", crouching, (0.8, 1.6)),
        _family("crouching leg, too near", crouching, (0.02, 0.4)),
        _family("two hinges across", [hinge(X, -70, 40), hinge(Z, -60, 60)]),
        _family("ball, cone, hinge", [FREE, cone(30), hinge(X, 0, 100)]),
        _family("three cones", [cone(25), cone(35), cone(45)]),
        _family("ellipse, hinge, ellipse", [shoulder, hinge(X, 0, 145), ellipse((70, 60), (20, 30), (-80, 80))]),
        _family("slit, hinge", [ellipse((50, 50), (0, 0), (-30, 30)), hinge(X, -10, 110)]),
        _family("cone of one angle, hinge", [cone(40, least=40), hinge(X, 0, 90)]),
        _family("hinge, locked, hinge", [hinge(X, -50, 50), Locked(), hinge(Z, -80, 30)]),
        _family("planar, planar, hinge", [Planar(X, -1.0, 1.0), Planar(X, -0.6, 1.4), hinge(Z, -40, 40)]),
        _family("five hinges in turn", [hinge(axis, -35, 35) for axis in (X, Z, X, Z, X)]),
        _family("tail of five cones", [cone(20)] * 5),
    ]


def from_nearest(scale: Scale) -> Table:
    """All families."""
    rows = []
    for family in families():
        row = _row(scale, family, scale.of(60, 8))
        rows.append({**row, "0.1.0 / scipy": FOUND_BEFORE.get(family.name)})
    note = (
        "Random targets; scipy's least squares run from many starts inside the limits wherever ours says that it does "
        "not reach. *Ours* and *scipy* are the distances from the target, shares of the length, where ours is farthest "
        "behind; *ratio* is the worst of all, less the tolerance. *Not so*: said not to be reachable though it is."
    )
    return Table("7a. Nearest poses of limited limbs beside scipy", note, rows)


def blocked(scale: Scale) -> Table:
    """The two chains of hinges that were measured in version 0.1.0."""
    rows: list[Row] = []
    for name in before.NEARER:
        row = _row(scale, Family(name, limb(name), (0.2, 0.95)), scale.of(200, 8))
        behind = row["behind, % of length"]
        assert isinstance(behind, float)
        row["behind, % of length"] = Judged(behind, at_most=before.NEARER[name] * before.EQUAL)
        rows.append(row)
    note = "As table 7a; *to be* of what ours is behind: what version 0.1.0 had."
    return Table("6e. BLOCKED, checked by scipy", note, rows)


def _row(scale: Scale, family: Family, targets: int) -> Row:
    starts = scale.of(12, 3)
    chain, random = family.chain, Random(11)
    solver, length = Solver(chain), chain.size
    statuses: list[Status] = []
    pairs: list[tuple[float, float]] = []
    for _ in range(targets):
        target = v3(random_direction(random) * length * random.uniform(*family.reach))
        solution = solver.solve([Point(chain.count - 1, target)], Settings(TOLERANCE))
        statuses.append(solution.status)
        if solution.status is not Status.REACHED:
            pairs.append((solution.residual / length, nearest(chain, target, random, starts) / length))
    ours, theirs = max(pairs, key=lambda pair: pair[0] - pair[1], default=(0.0, 0.0))
    ratios = [(mine - TOLERANCE) / max(best, TOLERANCE) for mine, best in pairs]
    return {
        "limb": family.name,
        "targets": targets,
        **{str(status): statuses.count(status) for status in Status if status is not Status.REACHED},
        "ours": ours,
        "scipy": theirs,
        "behind, % of length": 100.0 * max(ours - theirs, 0.0),
        "ratio": Judged(max(ratios, default=0.0), at_most=WITHIN),
        "not so": Judged(sum(best <= TOLERANCE for _, best in pairs), at_most=0),
    }
