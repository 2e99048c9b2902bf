# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tips of many chains of an armature stand, beside where they were solved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...maths import ULPS, Doubles, Places, Singles
from ...rig.chain_space import ChainSpace


class Tips:
    """The last bones of chains of an armature.

    Args:
        key: The C chains, and where they are solved.
        ends: Of each figure (n, 3), where a solve leaves the ends of its bones in chain space.
        joints: Of each figure the last joints of its chains.
        places: Of each chain the index of its last bone in the armature.
        near_enough: Of each chain the square of the distance within which its tip counts as being there.
        count: Number of bones of the armature.

    Attributes:
        key: The same; with others it does not hold any more.
    """

    def __init__(
        self,
        key: tuple[object, Sequence[ChainSpace]],
        ends: Sequence[Doubles],
        joints: Sequence[Places],
        places: Sequence[int],
        near_enough: Sequence[float],
        count: int,
    ) -> None:
        self.key = key
        self._ends, self._joints = ends, joints
        self._places = np.array(places, dtype=np.intp)
        self._rows = np.array([space.rows for space in key[1]]).reshape(-1, 3, 3)
        self._origins = np.array([space.origin for space in key[1]])
        self._near_enough = np.array(near_enough)
        self._tails: Singles = np.empty((count, 3), dtype=np.float32)

    def stand(self, poses: Any) -> bool:
        """Whether all tips stand where they were solved.

        Args:
            poses: The evaluated pose bones.

        Raises:
            TypeError: The armature has other bones.
        """
        poses.foreach_get("tail", self._tails.reshape(-1))
        tips = [ends[joints] for ends, joints in zip(self._ends, self._joints, strict=True)]
        wanted = np.einsum("cij,cj->ci", self._rows, np.concatenate(tips)) + self._origins
        off = self._tails[self._places] - wanted
        squares = np.einsum("ci,ci->c", off, off)
        if (squares <= self._near_enough).all():
            return True
        allowed = (ULPS * np.abs(wanted).max(axis=1)) ** 2
        return bool((squares <= np.maximum(self._near_enough, allowed)).all())
