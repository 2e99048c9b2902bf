# SPDX-License-Identifier: GPL-3.0-or-later
"""A path keeps within its spheres, and is no longer and no less smooth than that needs."""

from __future__ import annotations

from itertools import pairwise
from math import cos, sin

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import PathFit
from fabrik_addon.maths import V3, distance, length, minus

COUNT = 60
Path = list[V3]


def fitted(smoothness: float, *spheres: tuple[Path, list[float]]) -> Path:
    centres = [value for own, _ in spheres for centre in own for value in centre]
    found = PathFit(COUNT, smoothness, centres, [radius for _, radii in spheres for radius in radii]).solved()
    return [(found[k], found[k + 1], found[k + 2]) for k in range(0, len(found), 3)]


def test_a_path_that_is_within_its_spheres_stays_to_the_last_bit() -> None:
    assert fitted(50.0, ([(0.5, 0.0, 0.0)] * COUNT, [0.6] * COUNT)) == [(0.0, 0.0, 0.0)] * COUNT


def test_a_path_comes_to_the_near_side_of_a_sphere() -> None:
    for place in fitted(0.0, ([(0.0, 0.0, 2.0)] * COUNT, [1.5] * COUNT)):
        assert distance(place, (0.0, 0.0, 0.5)) <= 1e-6


def test_two_spheres_are_kept_at_once() -> None:
    one = [(0.3 * cos(k / 9.0), 0.3 * sin(k / 9.0), 1.0) for k in range(COUNT)]
    other = [(0.2, -0.1, 0.9)] * COUNT
    found = fitted(20.0, (one, [0.95] * COUNT), (other, [0.85] * COUNT))
    for centres, radius in ((one, 0.95), (other, 0.85)):
        assert max(distance(a, b) for a, b in zip(found, centres, strict=True)) <= radius + 1e-4


def test_a_smoother_path_changes_its_way_less_and_begins_earlier() -> None:
    radii = [0.5 if 28 <= k < 32 else 2.0 for k in range(COUNT)]
    rough, smooth = (fitted(how, ([(0.0, 0.0, 1.0)] * COUNT, radii)) for how in (1.0, 1000.0))

    def bends(path: Path) -> float:
        ways = [minus(b, a) for a, b in pairwise(path)]
        return max(length(minus(b, a)) for a, b in pairwise(ways))

    assert bends(smooth) <= 0.2 * bends(rough)
    assert length(smooth[20]) > length(rough[20])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_short_paths(count: int) -> None:
    assert PathFit(count, 10.0, [0.0, 0.0, 2.0] * count, [1.5] * count).solved()[2] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("centres", "radii"),
    [([0.0] * 3, [1.0] * COUNT), ([0.0] * 3 * COUNT, [1.0]), ([float("nan")] * 3 * COUNT, [1.0] * COUNT)],
)
def test_what_is_no_sphere_is_refused(centres: list[float], radii: list[float]) -> None:
    with pytest.raises(InvalidValueError, match="sphere"):
        PathFit(COUNT, 1.0, centres, radii)


@pytest.mark.parametrize(("count", "smoothness"), [(0, 1.0), (-1, 1.0), (5, -1.0), (5, float("nan"))])
def test_what_is_no_path_is_refused(count: int, smoothness: float) -> None:
    with pytest.raises(InvalidValueError, match="path"):
        PathFit(count, smoothness, [], [])
