# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of one type for one joint of many chains at once, as arrays; see `arrays.py` for their shapes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import tau
from typing import Any, Self

import numpy as np

from ..arrays import REAL, Array, conjugated, multiply, part_way, taken, turn_angle

Way = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class LimitBatch(ABC):
    """What `Limit` does, for (4, B) rotations; the fields are arrays whose last axis is B, or 1 for all alike."""

    @abstractmethod
    def clamp(self, rotation: Array) -> Array: ...

    @abstractmethod
    def aim(self, rotation: Array, segment: Array, direction: Array) -> Array: ...

    @abstractmethod
    def axes(self, rotation: Array) -> Array:
        """Shape (k, 3, B), k the number of axes."""

    @abstractmethod
    def allowed(self, rotation: Array, turn: Array) -> Array: ...

    @abstractmethod
    def turned(self, rotation: Array, turn: Array) -> Array: ...

    def violation(self, rotation: Array) -> Array:
        return turn_angle(multiply(conjugated(self.clamp(rotation)), rotation))

    def way(self, start: Array, end: Array) -> Way:
        """The rotations on the way from `start` to `end`, by the share of the way (B,); see `Limit.blend`."""
        return lambda factor: part_way(start, end, factor)

    def take(self, index: Array) -> Self:
        """The limits of some of the chains."""
        return replace(self, **{f.name: taken(getattr(self, f.name), index) for f in fields(self)})


def scalars(values: Sequence[float]) -> Array:
    """One number a chain, or one for all where they are the same."""
    return _merged(np.array(values, dtype=REAL))


def columns(values: Sequence[Any]) -> Array:
    """A vector or quaternion a chain as (k, B), or one for all where they are the same."""
    return _merged(np.ascontiguousarray(np.array(values, dtype=REAL).T))


def _merged(a: Array) -> Array:
    return a[..., :1] if (a == a[..., :1]).all() else a


def unwrapped(angle: Array, low: Array, high: Array) -> Array:
    """The angle that means the same, within half a turn of the middle of the range."""
    return angle - tau * np.round((angle - 0.5 * (low + high)) / tau)


def clipped(value: Array, low: Array | float, high: Array | float) -> Array:
    return np.minimum(np.maximum(value, low), high)
