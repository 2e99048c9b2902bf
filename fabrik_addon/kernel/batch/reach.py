# SPDX-License-Identifier: GPL-3.0-or-later
"""Curling many free chains and matching their reach; the formulas are those of the kernel's own `reach.py`."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np

from ..arrays import IDENTITY, REAL, TINY, X_COLUMN, Array, choose, cross, dot, from_to, length, rotated, taken, unit
from ..crossing import BISECT_AFTER, SETTLED, STEPS
from ..reach import CLOSED, CURL_STEPS, MATCH_STEPS


def crossing(
    excess: Callable[[Array], Array], ends: tuple[Array, Array], values: tuple[Array, Array], wanted: Array
) -> Array:
    """`crossing.crossing` for a function of many values at once, where it is wanted; all arguments (B,)."""
    (low, high), (over, under) = ends, values
    side, slow, width = np.zeros(low.shape, np.int8), np.zeros(low.shape, np.int8), 2.0 * (high - low)
    found, settled = 0.5 * (low + high), ~wanted
    for _ in range(STEPS):
        span = over - under
        slow = np.where(high - low > 0.5 * width, slow + 1, 0)
        width = high - low
        straight = (span > 0.0) & (slow < BISECT_AFTER)
        middle = np.where(straight, low + width * over / np.where(span > 0.0, span, 1.0), 0.5 * (low + high))
        value = excess(middle)
        found = np.where(settled, found, middle)
        settled |= (np.abs(value) <= SETTLED) | (width <= SETTLED)
        if settled.all():
            break
        above = value > 0.0
        gained = value / np.where(above, over, np.where(under < 0.0, under, -1.0))
        weight = np.where(gained < 1.0, 1.0 - gained, 0.5)
        under_kept = np.where(side > 0, weight * under, under)
        over_kept = np.where(side < 0, weight * over, over)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        over, under = np.where(above, value, over_kept), np.where(above, under_kept, value)
        side = np.where(above, 1, -1)
    return found


def from_directions(lengths: Array, directions: Array) -> Array:
    """Points (n + 1, 3, B) from the root along unit directions (n, 3, B)."""
    points = np.zeros((len(lengths) + 1, 3, directions.shape[-1]), dtype=REAL)
    np.cumsum(lengths[:, None] * directions, axis=0, out=points[1:])
    return points


def fold_signs(lengths: Array) -> Array:
    """+1 for the longest bone, -1 for the others; (n, B)."""
    signs = np.full(lengths.shape, -1.0, dtype=REAL)
    np.put_along_axis(signs, lengths.argmax(axis=0)[None], 1.0, axis=0)
    return signs


def directions_of(points: Array) -> Array:
    return unit(points[1:] - points[:-1])


def turned_onto(points: Array, target: Array) -> Array:
    """The points turned about the root so that the tip lies in the direction of the target; a closed chain stays."""
    turn = from_to(points[-1], target, X_COLUMN)
    return rotated(choose(length(points[-1]) < CLOSED, IDENTITY, turn), points)


def curled(lengths: Array, directions: Array, distance: Array, along: Array, bend: Array) -> Array:
    """Chains curled by equal turns until their tips are at a distance from the root; see `reach.curled`.

    Args:
        lengths: (n, B).
        directions: (n, 3, B).
        distance: (B,).
        along: (3, B).
        bend: (3, B).

    Returns:
        Points (n + 1, 3, B).
    """
    normal = cross(along, bend)
    flat = dot(directions, along) + 1j * dot(directions, bend)
    upright = dot(directions, normal)
    height = np.square((lengths * upright).sum(axis=0))
    spans = (lengths * flat).astype(np.complex64)

    def excess(turn: Array) -> Array:
        factor = np.exp(-1j * turn).astype(np.complex64)
        total = np.zeros(factor.shape, dtype=np.complex64)
        for span in spans[::-1]:
            total = total * factor + span
        return np.sqrt(np.square(total.real) + np.square(total.imag) + height) - distance

    step = 2.0 * pi / len(lengths) / CURL_STEPS
    zero = np.zeros(distance.shape, dtype=REAL)
    before, after = excess(zero), np.full(distance.shape, np.inf)
    last, lowest, lowest_at = np.full(distance.shape, CURL_STEPS), np.full(distance.shape, np.inf), zero
    crossed = np.zeros(distance.shape, dtype=bool)
    previous = before
    for k in range(1, CURL_STEPS + 1):
        value = excess(zero + step * k)
        fresh = ~crossed & (value <= 0.0)
        before, after = np.where(fresh, previous, before), np.where(fresh, value, after)
        last = np.where(fresh, k, last)
        lower = value < lowest
        lowest, lowest_at = np.where(lower, value, lowest), np.where(lower, step * k, lowest_at)
        crossed |= fresh
        previous = value
        if crossed.all():
            break
    turn = lowest_at
    if crossed.any():
        ends = (last - 1) * step, last * step
        inside = np.where(crossed, before, 1.0), np.where(crossed, after, -1.0)
        turn = np.where(crossed, crossing(excess, ends, inside, crossed), lowest_at)
    turned = flat * np.exp(-1j * turn * np.arange(len(lengths))[:, None])
    laid = along * turned.real[:, None] + bend * turned.imag[:, None] + normal * upright[:, None]
    return turned_onto(from_directions(lengths, laid.astype(REAL)), along)


Bracket = tuple[Array, Array, Array]
Step = Callable[["_Path", Bracket, Array, tuple[Array, Array]], Bracket]


class _Path:
    """Directions moved together along the chord, each with a sign of its own, and the reach along the way."""

    def __init__(self, lengths: Array, directions: Array, chord: Array, signs: Array | float, limit: Array) -> None:
        self.lengths, self.directions, self.chord, self.limit = lengths, directions, chord, limit
        self.signs = np.broadcast_to(np.asarray(signs, dtype=REAL), directions[:, 0].shape)
        self.cosines = self.signs * dot(directions, chord)

    def at(self, t: Array) -> Array:
        return unit(self.directions + self.chord * (self.signs * t)[:, None])

    def reach(self, t: Array) -> tuple[Array, Array]:
        """Reach at t, and its derivative; (B,) each."""
        size = np.sqrt(np.maximum(1.0 + t * (2.0 * self.cosines + t), 1e-24))
        weights = self.lengths / size
        tip = np.einsum("nb,nkb->kb", weights, self.directions) + self.chord * (t * (weights * self.signs).sum(axis=0))
        reach = length(tip)
        along = self.signs * dot(tip, self.chord)
        moved = (dot(self.directions, tip) + along * t) / size
        rate = (weights * (along - moved * ((self.cosines + t) / size))).sum(axis=0)
        return reach, rate / np.where(reach > 0.0, reach, 1.0)

    def take(self, index: Array) -> _Path:
        """The paths of some of the chains."""
        some = (taken(a, index) for a in (self.lengths, self.directions, self.chord, self.signs, self.limit))
        return _Path(*some)

    def meet(self, distance: Array, settled: float) -> tuple[Array, Array]:
        """Where t >= 0 brings the reach to `distance`, and the evaluations used."""
        start = np.zeros_like(distance)
        return self._search(distance, settled, (start, np.full_like(distance, np.inf)), _Path._ahead)

    def curl(self, distance: Array, settled: float) -> tuple[Array, Array]:
        """Where t in (-1, 0] brings the reach down to `distance`, and the evaluations used."""
        return self._search(distance, settled, (np.full_like(distance, -1.0), np.zeros_like(distance)), _Path._back)

    def _search(self, distance: Array, settled: float, bracket: tuple[Array, Array], step: Step) -> tuple[Array, Array]:
        """Newton steps kept in a bracket, started at t = 0; those that are there are left out as it goes on."""
        found, used = np.zeros_like(distance), np.zeros(distance.shape, dtype=np.int32)
        at, path, (low, high) = np.arange(distance.size), self, bracket
        t = found.copy()
        for _ in range(MATCH_STEPS):
            used[at] += 1
            reach, rate = path.reach(t)
            off = np.abs(reach - distance) > settled
            if not off.all():
                found[at] = t
                keep = np.flatnonzero(off)
                if not keep.size:
                    break
                at, path = at[keep], path.take(keep)
                t, low, high, distance, reach, rate = (a[keep] for a in (t, low, high, distance, reach, rate))
            t, low, high = step(path, (t, low, high), distance, (reach, rate))
        else:
            found[at] = t
        return found, used

    def _ahead(self, at: Bracket, distance: Array, seen: tuple[Array, Array]) -> Bracket:
        (t, low, high), (reach, rate) = at, seen
        gap = np.maximum(np.abs(self.limit - distance), 1e-14)
        left = np.maximum(np.abs(self.limit - reach), 1e-14)
        short = left > gap
        low, high = np.where(short, t, low), np.where(short, high, t)
        slope = 0.5 * np.abs(rate) / (left * np.sqrt(left))
        guess = t + (1.0 / np.sqrt(gap) - 1.0 / np.sqrt(left)) / np.maximum(slope, TINY) * (slope > 0.0)
        boundless = np.isinf(high)
        halved = np.where(boundless, 2.0 * low + 1.0, 0.5 * (low + np.where(boundless, 0.0, high)))
        return np.where((guess <= low) | (guess >= high), halved, guess), low, high

    def _back(self, at: Bracket, distance: Array, seen: tuple[Array, Array]) -> Bracket:
        (t, low, high), (reach, rate) = at, seen
        far = reach > distance
        low, high = np.where(far, low, t), np.where(far, t, high)
        steep = np.abs(rate) > 1e-12
        guess = t - (reach - distance) / np.where(steep, rate, 1.0) * steep
        return np.where((low < guess) & (guess < high), guess, 0.5 * (low + high)), low, high


def match(lengths: Array, points: Array, target: Array, reach: Array, settled: float) -> tuple[Array, Array]:
    """Bring the tips of free chains onto their targets by moving all bones together; see `reach.match`.

    Args:
        lengths: (n, B) or (n, 1).
        points: (n + 1, 3, B).
        target: (3, B).
        reach: (2, B) or (2, 1), least and greatest.
        settled: Error of the distance at which to stop.

    Returns:
        Points (n + 1, 3, B), and the evaluations used (B,).
    """
    result = points.copy()
    used = np.zeros(points.shape[-1], dtype=np.int32)
    now, distance = length(points[-1]), length(target)
    folds, curls = (now > distance) & (reach[0] > 0.0), (now > distance) & (reach[0] <= 0.0)
    for chosen in (folds, curls, ~(folds | curls)):
        at = np.flatnonzero(chosen & (now > 0.0))
        if not at.size:
            continue
        some = points if at.size == now.size else taken(points, at)
        sizes, wanted, bounds = taken(lengths, at), taken(distance, at), taken(reach, at)
        directions, chord = directions_of(some), unit(some[-1])
        path = _Path(
            sizes, directions, chord, fold_signs(sizes) if chosen is folds else 1.0, bounds[0 if chosen is folds else 1]
        )
        t, used[at] = path.curl(wanted, settled) if chosen is curls else path.meet(wanted, settled)
        result[..., at] = turned_onto(from_directions(sizes, path.at(t)), taken(target, at))
    return result, used
