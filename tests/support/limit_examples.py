# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of every type in the registry, for the laws that they have to hold to, and rotations to try them at."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, pi, radians, sqrt
from random import Random

from fabrik_addon.kernel import (
    FREE,
    AxisLock,
    Cone,
    Hinge,
    Limit,
    Locked,
    Planar,
    QuaternionLock,
    Twist,
    Twisting,
    Universal,
)
from fabrik_addon.maths import IDENTITY, Q4, V3, multiplied, scaled, turn_about, unit
from fabrik_addon.rig.limit_types import limit_outline, limit_settings, setting_at, type_of

from dev.limbs import X, Y, Z, hinge
from support.chains import random_vector, turn_between

PRECISION = 1e-8  # radians


def from_rotation_vector(turn: V3) -> Q4:
    return turn_about(unit(turn), hypot(*turn)) if hypot(*turn) > 0.0 else IDENTITY


def rotations(seed: int, count: int = 60) -> list[Q4]:
    """Rotations of any size."""
    random = Random(seed)
    return [from_rotation_vector(random_vector(random)) for _ in range(count)]


def drawn(limit: Limit, random: Random) -> Q4:
    """An allowed rotation."""
    return limit.drawn(random.random(), random.random(), random.random())


TWIST = Twist(-0.4, 0.9)
EXAMPLES: dict[str, list[Limit]] = {
    "FREE": [FREE, Twisting(TWIST), Twisting(Twist(0.3, 0.3))],
    "HINGE": [
        hinge(X, 0, 150),
        Hinge((1, 2, -1), radians(-40), radians(30)),
        hinge(Z, -200, 150),
        hinge(Y, 20, 20),
        Hinge(Z, -1.0, 2.0, turn_about(X, 0.7)),
        Hinge(X),
    ],
    "CONE": [
        Cone.circular(radians(30)),
        Cone.circular(radians(120), twist=TWIST),
        Cone.circular(radians(60), radians(20), TWIST),
        Cone(0.0, 0.3, 1.2, 0.8, 0.5),
        Cone(0.0, 0.3, 1.2, 0.0, 2.0, TWIST),
        Cone(0.0, 0.3, 0.0, 0.0, 2.0),
        Cone(0.0, 0.3, 1.2, 0.0, 0.0),
        Cone(0.0, pi, pi, 0.5, 0.4),
        Cone(0.0, 0.0, 0.0, 1.0, pi, Twist(0.0, 0.0)),
        Cone.circular(0.0),
        Cone.circular(1.0, 1.0),
    ],
    "PLANAR": [
        Planar(X, -1.0, 2.0),
        Planar((1, 0.3, -1), -0.5, 0.5, TWIST),
    ],
    "LOCKED": [Locked(turn_about(Y, 0.5))],
    "BONE_IK": [],  # makes limits of the other types
}
OF_LOCKS: list[Limit] = [  # made of locked channels alone: no settings of a bone make them
    Universal(Z, X),
    Universal(Z, unit((0.6, 0.0, 0.8)), turn_about(Y, 0.7)),
    Universal(unit((1, 2, -1)), Y, turn_about(X, 2.5)),
    QuaternionLock((None, 0.0, None, None)),
    QuaternionLock((0.5, None, None, None)),
    QuaternionLock((None, None, 0.3, -0.2)),
    QuaternionLock((None, 0.3, None, -0.2)),
    AxisLock(X, 0.4),
    AxisLock(Y, -0.9),
]


def edge_rotations(random: Random) -> list[Q4]:
    """Rotations at which a formula may divide by zero: none, half turns, and almost none and almost half turns."""
    found = [IDENTITY, (-1.0, 0.0, 0.0, 0.0), (0.0, *X), (0.0, *Y), (0.0, *Z), (sqrt(0.5), 0.0, sqrt(0.5), 0.0)]
    found += [(0.0, *unit((random.gauss(0.0, 1.0), 0.0, random.gauss(0.0, 1.0)))) for _ in range(4)]
    for size in (1e-160, 1e-16, 1e-12, 1e-9, 1e-7, 1e-3):
        for angle in (size, pi - size, pi + size):
            found.append(turn_about(unit(random_vector(random)), angle))
            found.append(turn_about(unit((random.gauss(0.0, 1.0), 0.0, random.gauss(0.0, 1.0))), angle))
    return found


def limit_laws(limit: Limit, count: int = 100) -> Iterator[tuple[str, object]]:
    """What every method of a limit gives for many inputs, edges among them: the same bits from each copy of the kernel.

    The inputs are made here alone, so they do not hang on what is told.
    """
    random = Random(12)
    inputs = [*rotations(13, count), *edge_rotations(random)]
    near = [point for curve in limit_outline(limit).swing for point in curve]
    for at in (limit.drawn(0.0, 0.0, 0.0), *(drawn(limit, random) for _ in range(count))):
        inputs += [at, multiplied(from_rotation_vector(scaled(random_vector(random), 1e-6)), at)]
    for i, rotation in enumerate(inputs):
        turn = scaled(random_vector(random), 10.0 ** random.uniform(-12, 1))
        segment, direction = random.choice([Y, random_vector(random)]), random_vector(random)
        clamped = limit.clamped(rotation)
        yield "clamped", (clamped, limit.clamped(clamped))
        yield "aimed", limit.aimed(clamped, segment, direction)
        yield "aimed from anywhere", limit.aimed(rotation, Y, near[i % len(near)] if near else direction)
        yield "aimed nowhere", limit.aimed(rotation, segment, (0.0, 0.0, 0.0))
        yield "allowed", (limit.allowed(clamped, turn), limit.allowed(rotation, turn))
        yield "turned", (limit.turned(clamped, turn), limit.turned(rotation, turn))
        yield "violation", limit.violation(rotation)
        yield "drawn", drawn(limit, random)
        yield "preferred_axis", limit.preferred_axis(rotation)
        other = inputs[random.randrange(len(inputs))]
        yield "blended", (limit.blended(rotation, other, random.random()), limit.blended(clamped, other, 1.0))
        for name in ("angle_of", "twist_angle"):
            if hasattr(limit, name):
                yield name, getattr(limit, name)(rotation)
    for name, end in limit_outline(limit).ends.items():
        yield name, [setting_at(limit, name, end), setting_at(limit, name, random_vector(random))]
    yield "outline", (limit_outline(limit).swing, limit_outline(limit).twist, sorted(limit_outline(limit).ends.items()))
    yield "settings", limit_settings(limit)
    meaning = type_of(limit).ik_meaning(limit)
    yield "ik_meaning", (sorted(meaning.free), meaning.ranges, meaning.lost)
    yield "mirrored", tuple(repr(type_of(limit).mirrored(limit, turn)) for turn in ((0.0, *X), (0.0, 0.6, 0.0, -0.8)))
    yield "repr", repr(limit)


def same(a: Q4, b: Q4) -> bool:
    """Whether two rotations are alike, but for rounding."""
    return turn_between(a, b) < PRECISION
