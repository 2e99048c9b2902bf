# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 6, success: targets that forward kinematics made inside the limits, and who reaches them."""

from __future__ import annotations

from math import degrees, inf
from random import Random

from fabrik_addon.kernel import Figure, Point, Settings, Solver, Status

from . import before
from .blender_ik import BlenderIk
from .limited_fabrik import best_error
from .problems import TOLERANCE, V3, limb, limbs, reachable
from .tables import Cell, Judged, Row, Table, worst_of
from .timing import Scale

RIVAL_PASSES = 16
ROUNDING = 1e-3  # of the tolerance, that a rival may be off besides


def success(scale: Scale) -> Table:
    """Limited chains, all contenders."""
    rows = [_row(scale, name) for name in limbs()]
    note = (
        "*Missed* counts targets that are not reached within 1e-4 of the length. *FABRIK* clamps each bone in the "
        f"forward pass, *FABRIK + CCD* descends after each pass; {RIVAL_PASSES} passes each. *To be*: what version "
        "0.1.0 had."
    )
    return Table("6c. Under limits: targets that forward kinematics made", note, rows)


def _row(scale: Scale, name: str) -> Row:
    samples, few = scale.of(2000, 40), scale.of(200, 10)
    chain, random = limb(name), Random(7)
    targets = [reachable(random, chain) for _ in range(samples)]
    missed, violation, passes = _ours(chain, targets)
    row: Row = {
        "chain": name,
        "targets": samples,
        "missed": Judged(missed, at_most=before.MISSED[name] * samples / before.MISSED_OF),
        "violation °": Judged(degrees(violation), at_most=before.VIOLATION_DEGREES * before.EQUAL),
        "passes": passes,
    }
    for label, with_ccd in (("FABRIK %", False), ("FABRIK + CCD %", True)):
        errors = [best_error(chain, target, TOLERANCE, RIVAL_PASSES, with_ccd) for target in targets[:few]]
        row[label] = _share(errors, TOLERANCE * (1.0 + ROUNDING))
    for label, with_pole in (("Blender", False), ("Blender with pole", True)):
        rival = BlenderIk(chain, with_pole)
        found = [rival.solve(target) for target in targets[:few]] if rival.expressible else []
        row[f"{label} %"] = _share([error for error, _ in found], TOLERANCE)
        row[f"{label}, violation °"] = max((violation for _, violation in found), default=None)
    return row


def _ours(chain: Figure, targets: list[V3]) -> tuple[int, float, float]:
    """Targets that are missed, the worst violation in radians, and passes a solve."""
    solver, settings = Solver(chain), Settings(TOLERANCE)
    missed, violations, passes = 0, [], 0
    for target in targets:
        solution = solver.solve([Point(chain.count - 1, target)], settings)
        missed += solution.status is not Status.REACHED
        violations.append(solver.violation(solution.rotations))
        passes += solution.passes
    return missed, worst_of(violations), passes / len(targets)


def _share(errors: list[float], at_most: float) -> Cell:
    """How many of a hundred errors are small enough."""
    reached = sum(error <= at_most and error < inf for error in errors)
    return 100.0 * reached / len(errors) if errors else None
