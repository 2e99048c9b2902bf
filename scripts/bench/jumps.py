# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 6, jumps: how a limb's pose follows a target that moves in small steps, with and without FABRIK's passes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, degrees, hypot
from random import Random

from fabrik_addon.kernel import Figure, Point, Settings, Solution, Solver, Status
from mathutils import Vector

from .problems import Q4, TOLERANCE, V3, limb, limbs, random_chain, random_direction, reachable, v3
from .tables import Judged, Row, Table
from .timing import Scale

LEGS, STEPS = 16, 60  # of a path: from one random pose to the next, and into how many steps each is divided
JUMP = 15.0  # degrees that a joint turns in a step
MOVED = 0.01  # degrees by which a pose is another
FREE_CHAINS = {4: (0.7, 0.95, 0.998), 10: (0.7, 0.95, 0.998), 50: (0.9, 0.998)}  # bones, and shares of their reach
BEFORE = {  # jumps of version 1.0.0
    "leg with knee": 0,
    "leg with knee and ankle": 0,
    "three one-sided hinges": 0,
    "spider leg of six joints": 35,
    "six-axis arm": 84,
    "cone arm": 111,
    "tail of 10, 15 degrees": 0,
    "tail of 10, 30 degrees": 0,
    "shoulder, ellipse and twist": 16,
    "finger of four bones": 0,
    "free chain of 4 at 0.7": 16,
    "free chain of 4 at 0.95": 14,
    "free chain of 4 at 0.998": 18,
    "free chain of 10 at 0.7": 58,
    "free chain of 10 at 0.95": 55,
    "free chain of 10 at 0.998": 53,
    "free chain of 50 at 0.9": 106,
    "free chain of 50 at 0.998": 96,
}


def jumps(scale: Scale) -> Table:
    """All limbs, and chains without limits."""
    rows = [_row(scale, name, limb(name), None) for name in limbs()]
    for count, shares in FREE_CHAINS.items():
        chain = random_chain(Random(count), count)
        rows += [_row(scale, f"free chain of {count} at {share:g}", chain, share) for share in shares]
    note = (
        f"Targets that can be reached, and straight paths from one to the next, {STEPS} steps each. *Jumps*: steps in "
        f"which a joint turns by more than {JUMP:g}°. *Moved*: steps whose pose FABRIK's passes make another than it "
        "is without them. *Missed*: targets that are not reached. *Without*: without the passes, and without restarts. "
        "*To be*: what version 1.0.0 had."
    )
    return Table("6f. Jumps along a path", note, rows)


def _targets(chain: Figure, share: float | None, count: int, seed: int) -> list[V3]:
    """Places that the tip can reach: of random poses inside the limits, or at a share of the reach."""
    random = Random(seed)
    if share is None:
        return [reachable(random, chain) for _ in range(count)]
    return [v3(random_direction(random) * (chain.size * share)) for _ in range(count)]


def _path(ends: Sequence[V3]) -> list[V3]:
    """Small steps straight from each place to the next."""
    pairs = [(Vector(a), Vector(b)) for a, b in pairwise(ends)]
    return [v3(a.lerp(b, k / STEPS)) for a, b in pairs for k in range(STEPS)]


def _row(scale: Scale, name: str, chain: Figure, share: float | None) -> Row:
    usual = Settings(TOLERANCE)
    targets = _targets(chain, share, scale.of(1000, 20), 7)
    path = _path(_targets(chain, share, scale.of(LEGS, 2) + 1, 2011))
    ours, bare, alone = ((_solved(chain, path, how), _solved(chain, targets, how)) for how in _ways(usual))
    jumped, worst = _jumps(ours[0])
    at_most = None if scale.is_quick else BEFORE.get(name)
    return {
        "limb": name,
        "jumps": Judged(jumped, at_most=at_most),
        "worst °": worst,
        "missed": Judged(_missed(ours[1]), at_most=0),
        "moved": sum(_farthest(a, b) > MOVED for a, b in zip(ours[0], bare[0], strict=True)),
        "jumps without": _jumps(bare[0])[0],
        "missed without": _missed(bare[1]),
        "jumps, no restarts": _jumps(alone[0])[0],
        "missed, no restarts": _missed(alone[1]),
    }


def _ways(usual: Settings) -> tuple[Settings, Settings, Settings]:
    """With all rungs, without FABRIK's passes, and without restarts."""
    return usual, usual._replace(fabrik=False), usual._replace(restarts=0)


def _solved(chain: Figure, path: Sequence[V3], settings: Settings) -> list[Solution]:
    solver, last = Solver(chain), chain.count - 1
    return [solver.solve([Point(last, place)], settings, explain=False) for place in path]


def _missed(solved: Sequence[Solution]) -> int:
    return sum(solution.status is not Status.REACHED for solution in solved)


def _jumps(solved: Sequence[Solution]) -> tuple[int, float]:
    """How many steps are jumps, and the largest turn of a step in degrees."""
    turns = [_farthest(a, b) for a, b in pairwise(solved)]
    return sum(turn > JUMP for turn in turns), max(turns)


def _farthest(a: Solution, b: Solution) -> float:
    """The largest turn of a joint between two poses, in degrees."""
    return degrees(max(_angle(p, q) for p, q in zip(a.rotations, b.rotations, strict=True)))


def _angle(a: Q4, b: Q4) -> float:
    """The angle between two rotations, in radians."""
    near = hypot(*(p - q for p, q in zip(a, b, strict=True)))
    far = hypot(*(p + q for p, q in zip(a, b, strict=True)))
    return 4.0 * atan2(min(near, far), max(near, far))
