# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions of many bones of an armature, read, compared and written at once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...maths import Doubles, Singles
from ...rig.channels import channel_of

QUATERNION = channel_of("QUATERNION")[0]
FEW = 16  # bones up to which Python's own numbers are quicker than arrays


class Batch:
    """Bones of an armature that are turned by quaternions alone, and room for their values.

    The values are those of `BoneChannels.values`, to the last bit.

    Args:
        key: What tells this batch from others.
        rotations: Of each chain (n, 4), where its solve leaves them.
        near: Of each chain (n, 4), what they continue.
        places: Of each chain the indices of its n bones in the armature.
        count: Number of bones of the armature.

    Attributes:
        key: The same.
    """

    def __init__(
        self,
        key: Sequence[object],
        rotations: Sequence[Doubles],
        near: Sequence[Doubles],
        places: Sequence[Sequence[int]],
        count: int,
    ) -> None:
        self.key = key
        self._parts = rotations
        self._places = [place for some in places for place in some]
        self._is_all = sorted(self._places) == list(range(count))
        ends = np.cumsum([4 * len(some) for some in places])
        self._starts = np.concatenate(([0], ends[:-1]))
        self._near = np.concatenate(near)
        self._near_list: list[list[float]] = self._near.tolist()
        self._rotations = np.empty(self._near.shape)
        self._stored: Singles = np.empty((count, 4), dtype=np.float32)
        self._flat = self._stored.reshape(-1)
        self._few = array("f", [0.0]) * (4 * count)
        first, last = self._places[0], self._places[-1] + 1
        is_run = self._places == list(range(first, last))
        self._at: Any = slice(first, last) if is_run else np.array(self._places, dtype=np.intp)

    def write(self, bones: Any) -> None:
        """Write all of it; Blender does not evaluate it before it is told.

        Args:
            bones: The pose bones.

        Raises:
            TypeError: The armature has other bones.
        """
        if len(self._places) > FEW:
            if not self._is_all:
                bones.foreach_get(QUATERNION, self._flat)
            self._stored[self._at] = self._continued()
            bones.foreach_set(QUATERNION, self._flat)
            return
        if not self._is_all:
            bones.foreach_get(QUATERNION, self._few)
        self._put_few()
        bones.foreach_set(QUATERNION, self._few)

    def write_new(self, bones: Any) -> list[bool]:
        """Write what does not stand there yet; for each chain whether it did not.

        Args:
            bones: The pose bones.

        Raises:
            TypeError: The armature has other bones.
        """
        bones.foreach_get(QUATERNION, self._flat)
        rows, stood = self._continued(), self._stored[self._at]
        is_new = rows != stood
        if is_new.any():
            self._stored[self._at] = rows
            bones.foreach_set(QUATERNION, self._flat)
        changed: list[bool] = np.logical_or.reduceat(is_new.ravel(), self._starts).tolist()
        return changed

    def _continued(self) -> Singles:
        """The values, on the side that continues what was before."""
        rotations = self._rotations
        np.concatenate(self._parts, out=rotations)
        back = np.einsum("ij,ij->i", rotations, self._near) < 0.0
        if back.any():
            rotations[back] *= -1.0
        return rotations.astype(np.float32)

    def _put_few(self) -> None:
        """`_continued` in plain Python, into the array for foreach_set; quicker up to FEW bones."""
        stored, k = self._few, 0
        for part in self._parts:
            for w, x, y, z in part.tolist():
                a, b, c, d = self._near_list[k]
                side = -1.0 if w * a + x * b + y * c + z * d < 0.0 else 1.0
                at = 4 * self._places[k]
                stored[at], stored[at + 1], stored[at + 2], stored[at + 3] = side * w, side * x, side * y, side * z
                k += 1
