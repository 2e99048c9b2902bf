# SPDX-License-Identifier: GPL-3.0-or-later
"""A limit does for many chains at once what it does for one, for every limit in the registry."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from fabrik_addon.kernel.arrays import conjugated, multiply, spread, turn_angle
from fabrik_addon.kernel.limits import Limit
from fabrik_addon.kernel.limits.batch import columns
from fabrik_addon.kernel.rotations import from_rotation_vector
from mathutils import Quaternion, Vector

from chains import random_vector
from limit_examples import EXAMPLES

COUNT = 80
CLOSE = 4e-5  # radians, or shares of a vector; single precision near the edge of an ellipse, where both search
KINDS: dict[str, list[list[Limit]]] = {}
for name, examples in EXAMPLES.items():
    by_class: dict[type, list[Limit]] = {}
    for example in examples:
        by_class.setdefault(type(example), []).append(example)
    KINDS.update({f"{name} {found.__name__}": same for found, same in by_class.items()})


def cases(limits: Sequence[Limit]) -> tuple[list[Limit], list[Quaternion], Random]:
    """A limit of the type for each column, and rotations, half of them allowed and a few at the very edge."""
    random = Random(11)
    chosen = [limits[i % len(limits)] for i in range(COUNT)]
    turned = [from_rotation_vector(random_vector(random)) for _ in chosen]
    pairs = enumerate(zip(chosen, turned, strict=True))
    return chosen, [limit.clamp(turn) if i % 2 else limit.sample(random) for i, (limit, turn) in pairs], random


def assert_same_rotations(found: Any, wanted: Sequence[Quaternion]) -> None:
    """Rotations that tell the same."""
    off = turn_angle(multiply(conjugated(columns(wanted)), found))
    assert off.max() <= CLOSE


@pytest.mark.parametrize("limits", KINDS.values(), ids=KINDS.keys())
class TestEveryLimit:
    def test_clamp(self, limits: list[Limit]) -> None:
        chosen, _, random = cases(limits)
        turned = [from_rotation_vector(random_vector(random)) for _ in chosen]
        batch = type(limits[0]).stacked(chosen)
        assert_same_rotations(batch.clamp(columns(turned)), [a.clamp(b) for a, b in zip(chosen, turned, strict=True)])

    def test_violation(self, limits: list[Limit]) -> None:
        chosen, _, random = cases(limits)
        turned = [from_rotation_vector(random_vector(random)) for _ in chosen]
        found = type(limits[0]).stacked(chosen).violation(columns(turned))
        wanted = [limit.violation(rotation) for limit, rotation in zip(chosen, turned, strict=True)]
        assert np.allclose(found, wanted, atol=CLOSE)

    def test_aim(self, limits: list[Limit]) -> None:
        chosen, allowed, random = cases(limits)
        segments = [random_vector(random) for _ in chosen]
        directions = [random_vector(random) for _ in chosen]
        found = type(limits[0]).stacked(chosen).aim(columns(allowed), columns(segments), columns(directions))
        each = zip(chosen, allowed, segments, directions, strict=True)
        assert_same_rotations(found, [limit.aim(*rest) for limit, *rest in each])

    def test_turned(self, limits: list[Limit]) -> None:
        chosen, allowed, random = cases(limits)
        turns = [random_vector(random) * 0.3 for _ in chosen]
        found = type(limits[0]).stacked(chosen).turned(columns(allowed), columns(turns))
        assert_same_rotations(found, [limit.turned(*rest) for limit, *rest in zip(chosen, allowed, turns, strict=True)])

    def test_blend(self, limits: list[Limit]) -> None:
        chosen, allowed, random = cases(limits)
        others = [limit.sample(random) for limit in chosen]
        shares = [random.random() for _ in chosen]
        found = (
            type(limits[0]).stacked(chosen).way(columns(allowed), columns(others))(np.array(shares, dtype=np.float32))
        )
        each = zip(chosen, allowed, others, shares, strict=True)
        assert_same_rotations(found, [limit.blend(*rest) for limit, *rest in each])

    def test_allowed(self, limits: list[Limit]) -> None:
        chosen, allowed, random = cases(limits)
        turns = [random_vector(random) * 0.3 for _ in chosen]
        found = type(limits[0]).stacked(chosen).allowed(columns(allowed), columns(turns))
        wanted = [limit.allowed(*rest) for limit, *rest in zip(chosen, allowed, turns, strict=True)]
        near = np.abs(np.broadcast_to(found, (3, COUNT)) - columns(wanted)).max(axis=0) <= 1e-3
        # a pose brought to the edge may stand a rounding inside it for one and outside for the other
        assert near.mean() >= 0.9

    def test_axes(self, limits: list[Limit]) -> None:
        chosen, allowed, _ = cases(limits)
        found = type(limits[0]).stacked(chosen).axes(columns(allowed))
        for i, (limit, rotation) in enumerate(zip(chosen, allowed, strict=True)):
            own = [Vector(axis[:, i if axis.shape[1] > 1 else 0]) for axis in found]
            assert all((a - b).length < 1e-6 for a, b in zip(own, limit.axes(rotation), strict=True))

    def test_alike_or_taken_apart(self, limits: list[Limit]) -> None:
        chosen, allowed, _ = cases(limits)
        batch = type(limits[0]).stacked(chosen)
        some = np.arange(0, COUNT, 3)
        rotations = spread(columns(allowed), COUNT)
        assert np.array_equal(batch.take(some).clamp(rotations[:, some]), batch.clamp(rotations)[:, some])
        alike = type(limits[0]).stacked([limits[0]] * COUNT)
        assert_same_rotations(alike.clamp(columns(allowed)), [limits[0].clamp(rotation) for rotation in allowed])
