# SPDX-License-Identifier: GPL-3.0-or-later
"""Where chains are solved: relative to their root, as if the parents of the root did not turn.

A world point is brought there in double precision. The large parts of the numbers are subtracted before a matrix is
applied, which keeps the digits of a rig that stands far from the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from mathutils import Matrix

from ...errors import RigError, are_finite
from ...maths import (
    Q4,
    V3,
    Z_AXIS,
    Doubles,
    Nine,
    applied,
    axes_of,
    conjugated,
    even_size,
    length,
    matrix_of,
    multiplied,
    nine,
    plus,
    unit,
    v3,
)
from ...messages import Message

LEAST_VOLUME = 1e-9  # of the three axes, the longest of them as 1: less has no inverse to solve by
SIMILAR = 1e-6  # share of its square by which the axes of an armature that is scaled alike differ


class RigFrame(NamedTuple):
    """The world matrix of an armature object as Blender evaluated it, and its inverse.

    Attributes:
        axes: The rows of its axes and scale, which may be sheared or mirrored.
        away: Where its origin stands.
        back: The rows of the inverse of `axes`.
        size: Its scale, where that is the same along all axes; else 0.
        turn: How it is turned, scale, shear and mirror left out.
    """

    axes: Nine
    away: V3
    back: Nine
    size: float
    turn: Q4

    @classmethod
    def of(cls, world: Matrix) -> RigFrame:
        """Of a world matrix.

        Raises:
            RigError: It has a number that is not finite, or no inverse.
        """
        a, b, c, d = world
        return _frame_of((*a, *b, *c, *d))

    def to_world(self, vector: Sequence[float]) -> V3:
        """A vector of armature space in the world."""
        return applied(self.axes, vector)

    def to_armature(self, vector: Sequence[float]) -> V3:
        """A vector of the world in armature space."""
        return applied(self.back, vector)


@lru_cache(maxsize=64)  # of a few armatures, which mostly stand still
def _frame_of(numbers: tuple[float, ...]) -> RigFrame:
    if not are_finite(numbers):
        raise RigError(Message("RIG_MATRIX_NOT_FINITE"))
    world = Matrix((numbers[:4], numbers[4:8], numbers[8:12], numbers[12:]))
    axes = nine(world.to_3x3())
    ((a, b, c), (d, e, f), (g, h, i)), volume = _adjugate(axes)
    if abs(volume) <= LEAST_VOLUME * max(length(axes[0::3]), length(axes[1::3]), length(axes[2::3])) ** 3:
        raise RigError(Message("RIG_SCALE_ZERO"))
    s = 1.0 / volume
    back = (a * s, b * s, c * s, d * s, e * s, f * s, g * s, h * s, i * s)
    return RigFrame(axes, v3(world.translation), back, even_size(axes, volume, SIMILAR, SIMILAR), axes_of(world))


class ChainSpace(NamedTuple):
    """Chain space: its origin is the head of the first bone, its unit that of armature space.

    Attributes:
        rig: The armature.
        origin: Head of the first bone in armature space.
        turn: Rotation from chain space to armature space.
        rows: The same as a matrix.
        into: Rows of the matrix from the axes of the world into those of chain space.
        shift: `origin`, turned into chain space.
    """

    rig: RigFrame
    origin: V3
    turn: Q4
    rows: Nine
    into: Nine
    shift: V3

    @classmethod
    def of(cls, rig: RigFrame, origin: V3, turn: Q4) -> ChainSpace:
        """Chain space by where its origin is and how its axes are turned."""
        (a, b, c), (d, e, f), (g, h, i) = matrix_of(turn)
        axes, back = ((a, d, g), (b, e, h), (c, f, i)), rig.back  # the axes of chain space in armature space
        columns = back[0::3], back[1::3], back[2::3]
        into = cast("Nine", tuple([x * p + y * q + z * r for x, y, z in axes for p, q, r in columns]))
        p, q, r = origin
        shift = v3([x * p + y * q + z * r for x, y, z in axes])
        return cls(rig, origin, turn, (a, b, c, d, e, f, g, h, i), into, shift)

    def to_chain(self, point: Sequence[float]) -> V3:
        """A world point in chain space."""
        a, b, c, d, e, f, g, h, i = self.into
        (x, y, z), (u, v, w), (p, q, r) = point, self.rig.away, self.shift
        x, y, z = x - u, y - v, z - w
        return a * x + b * y + c * z - p, d * x + e * y + f * z - q, g * x + h * y + i * z - r

    def to_chain_way(self, way: Sequence[float]) -> V3:
        """A vector of the world in the axes of chain space."""
        return applied(self.into, way)

    def to_chain_turn(self, turn: Q4) -> Q4:
        """A rotation of the world, as `kinematics.world_turn` gives it, in chain space."""
        return multiplied(conjugated(multiplied(self.rig.turn, self.turn)), turn)

    def to_world_turn(self, turn: Q4) -> Q4:
        """A rotation of chain space in the world."""
        return multiplied(multiplied(self.rig.turn, self.turn), turn)

    @property
    def up(self) -> V3:
        """The direction of the world's Z axis in chain space."""
        return unit(applied(self.into, Z_AXIS))

    @classmethod
    def over(cls, spaces: Sequence[ChainSpace]) -> ChainSpace:
        """Chain space in F frames, through which armature and parents carry it: each number is an array (F,)."""
        rigs, *own = zip(*spaces, strict=True)
        axes, away, back, _, turns = zip(*rigs, strict=True)
        rig = RigFrame(_columns(axes), _columns(away), _columns(back), 0.0, _columns(turns))
        return cls(rig, *map(_columns, own))

    def many_to_chain(self, points: Doubles) -> Doubles:
        """World points (F, 3) in chain space, (F, 3); the same numbers as `to_chain` one by one, to the last bit."""
        columns: Any = points.T
        told: Any = self.to_chain(columns)
        found: Doubles = np.column_stack(told)
        return found

    def many_to_chain_turns(self, turns: Doubles) -> Doubles:
        """Rotations of the world (F, 4) in chain space; the same numbers as `to_chain_turn` one by one."""
        columns: Any = (*turns.T,)
        told: Any = self.to_chain_turn(columns)
        found: Doubles = np.column_stack(told)
        return found

    def to_armature(self, point: Sequence[float]) -> V3:
        """A point of chain space in armature space."""
        return plus(self.origin, applied(self.rows, point))

    def many_to_armature(self, points: Doubles) -> Doubles:
        """Points of chain space (n, 3) in armature space, (n, 3)."""
        found: Doubles = points @ np.array(self.rows).reshape(3, 3).T + np.array(self.origin)
        return found

    def to_world(self, point: Sequence[float]) -> V3:
        """A point of chain space in the world."""
        return plus(self.rig.away, self.rig.to_world(self.to_armature(point)))

    def world_length(self, vector: Sequence[float]) -> float:
        """Length in scene units of a vector of chain space."""
        return length(self.rig.to_world(applied(self.rows, vector)))

    def scales_along(self, vectors: Doubles) -> Doubles:
        """What a length of chain space is in scene units along each of vectors (C, 3), (C,); 1 along none."""
        if self.rig.size:
            return np.full(len(vectors), self.rig.size)
        sizes = [length(vector) for vector in vectors.tolist()]
        pairs = zip(vectors.tolist(), sizes, strict=True)
        return np.array([self.world_length(vector) / size if size else 1.0 for vector, size in pairs])


def _columns(rows: Sequence[Any]) -> Any:
    """A tuple of arrays (F,), one for each number of F tuples."""
    return (*np.array(rows).T,)


def _adjugate(axes: Nine) -> tuple[tuple[V3, V3, V3], float]:
    """The rows of the inverse of a matrix times its determinant, and that."""
    a, b, c, d, e, f, g, h, i = axes
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    rows = (
        (first, c * h - b * i, b * f - c * e),
        (second, a * i - c * g, c * d - a * f),
        (third, b * g - a * h, a * e - b * d),
    )
    return rows, a * first + b * second + c * third
