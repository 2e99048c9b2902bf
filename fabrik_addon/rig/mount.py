# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parent of a chain's first bone does to the chain.

A parent that turns, moves and grows alike along all axes carries the chain as it is, so the chain is measured on a
parent in its rest pose at that size: the figure is the same to the last bit wherever the parent stands. The size is
rounded, so that the rounding of the parent's matrix does not make another figure of each frame. On a parent that is
sheared or mirrored the chain is measured as it stands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from mathutils import Matrix

from ..maths import Q4, Doubles, conjugated, multiplied, nine, normalized, products, q4, units

SIMILAR = 1e-5  # share of its size by which the axes of a parent that is not sheared differ in length and angle
NEAR = 4e-6  # share by which a size is off its rounded value through rounding alone


class Mount(NamedTuple):
    """What of a parent's axes and scale a chain's figure depends on; two that are equal give the same figure.

    Attributes:
        size: The parent's scale, where it is the same along all axes; 0 where the figure depends on all of `axes`.
        axes: The nine numbers of the parent's axes and scale, row by row; () where its size tells all.
    """

    size: float = 1.0
    axes: tuple[float, ...] = ()

    @classmethod
    def of(cls, parent: Matrix | None, keeps_axes: bool) -> Mount:
        """How the parent stands, evaluated.

        Args:
            parent: The parent's matrix, or None for a bone without one.
            keeps_axes: Whether a bone of the chain does not turn with the bones before it, so that the chain is
                another one however the parent turns.
        """
        if parent is None:
            return cls()
        axes = nine(parent.to_3x3())
        a, b, c, d, e, f, g, h, i = axes
        volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
        if keeps_axes or volume <= 0.0:
            return cls(0.0, axes)
        size = volume ** (1.0 / 3.0)
        square, slack = size * size, SIMILAR * size * size
        x, y, z = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
        xy, xz, yz = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
        is_similar = (
            abs(x - square) <= 2.0 * slack
            and abs(y - square) <= 2.0 * slack
            and abs(z - square) <= 2.0 * slack
            and abs(xy) <= slack
            and abs(xz) <= slack
            and abs(yz) <= slack
        )
        return cls(rounded(size)) if is_similar else cls(0.0, axes)

    def parent(self, rest: Matrix) -> Matrix:
        """The parent on which the chain is measured; axes and scale alone.

        Args:
            rest: The parent's rest axes in armature space.
        """
        if self.axes:
            rows = self.axes[:3], self.axes[3:6], self.axes[6:]
            return Matrix(rows).to_4x4()
        return (rest.to_3x3() * self.size).to_4x4()


class Hang(NamedTuple):
    """How the axes of chain space turn with the parent of the first bone.

    Attributes:
        base: The axes of chain space in armature space, for the mount on which the chain was measured.
        from_parent: The same in the axes of the parent; None where they do not turn with it.
    """

    base: Q4
    from_parent: Q4 | None

    @classmethod
    def of(cls, base: Q4, rest: Matrix | None) -> Hang:
        """Of a chain that was measured.

        Args:
            base: See the attribute.
            rest: The parent's rest axes in armature space; None where chain space does not turn with it.
        """
        if rest is None:
            return cls(base, None)
        return cls(base, normalized(multiplied(conjugated(q4(rest.to_quaternion())), base)))

    def turn(self, parent: Matrix | None) -> Q4:
        """Rotation from chain space to armature space.

        Args:
            parent: The parent's evaluated matrix, or None for a bone without one.
        """
        if self.from_parent is None or parent is None:
            return self.base
        return normalized(multiplied(q4(parent.to_quaternion()), self.from_parent))

    def turns(self, parents: Doubles) -> Doubles:
        """`turn` of many frames, (F, 4).

        Args:
            parents: (F, 4), how the parent's evaluated matrices are turned (`Matrix.to_quaternion`); zeros for none.
        """
        if self.from_parent is None or not parents.any():
            return np.tile(np.array(self.base), (len(parents), 1))
        return units(products(parents, np.array(self.from_parent)))


def rounded(size: float) -> float:
    """A scale as its user set it: to four digits where it is as near to these as rounding, else to six."""
    near = float(f"{size:.4g}")
    return near if abs(size - near) <= NEAR * size else float(f"{size:.6g}")
