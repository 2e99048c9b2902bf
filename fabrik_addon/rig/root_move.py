# SPDX-License-Identifier: GPL-3.0-or-later
"""How the root of a figure is moved: by a body bone's location channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from ..maths import V3, Doubles, Nine, minus, nine, plus, v3
from ..messages import Message
from .kinematics import BoneTree


@dataclass(frozen=True, slots=True)
class RootMove:
    """How the root of a figure is moved: a body bone's location channels.

    Attributes:
        location: From where it starts.
        into: Rows of the matrix from vectors of chain space into the channels.
    """

    location: V3
    into: Nine

    @classmethod
    def of(cls, tree: BoneTree, location: V3) -> RootMove:
        """Of the bones of a figure as they are measured.

        Raises:
            ChainError: The root can't be moved, since it has no scale.
        """
        axes = tree.links[0].location_axes(tree.parent)
        if not axes.determinant():
            raise ChainError(Message("BODY_PARENT_WITHOUT_SCALE", bone=tree.links[0].bone.name))
        return cls(location, nine(axes.inverted() @ Quaternion(tree.base).to_matrix()))

    def location_for(self, shift: Sequence[float] | Doubles) -> V3:
        """The location channels for a shift of the root in chain space."""
        return plus(self.location, _applied(self.into, shift))

    def locations_for(self, shifts: Doubles) -> Doubles:
        """`location_for` of F shifts (F, 3); equal bits."""
        a, b, c, d, e, f, g, h, i = self.into
        x, y, z = shifts.T
        moved = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
        found: Doubles = np.array(self.location) + np.column_stack(moved)
        return found

    def shift_for(self, location: Sequence[float]) -> V3:
        """The shift in chain space that location channels make."""
        back = Matrix((self.into[:3], self.into[3:6], self.into[6:])).inverted()
        return v3(back @ Vector(minus(location, self.location)))


def _applied(rows: Nine, vector: Sequence[float] | Doubles) -> V3:
    a, b, c, d, e, f, g, h, i = rows
    x, y, z = vector
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
