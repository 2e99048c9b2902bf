# SPDX-License-Identifier: GPL-3.0-or-later
"""What every joint limit can do.

A limit sees rotations of its joint in the rest frame of the bone (+Y along the bone), and nothing else: the identity
is the rest pose. It never stores the state of a solve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from mathutils import Quaternion, Vector

from ..rotations import part_way
from .batch import LimitBatch
from .ik_meaning import ALL_AXES, IkMeaning
from .outline import Outline


class Limit(ABC):
    """A set of rotations that a joint may take."""

    @abstractmethod
    def clamp(self, rotation: Quaternion) -> Quaternion:
        """The allowed rotation nearest to `rotation`; an allowed one comes back as it is. Idempotent."""

    @abstractmethod
    def aim(self, rotation: Quaternion, segment: Vector, direction: Vector) -> Quaternion:
        """The allowed rotation that turns `segment` nearest to `direction` (rest frame), starting from `rotation`."""

    @abstractmethod
    def axes(self, rotation: Quaternion) -> tuple[Vector, ...]:
        """Unit axes (rest frame) about which the joint can turn at `rotation`, not counting ends of a range."""

    @abstractmethod
    def allowed(self, rotation: Quaternion, turn: Vector) -> Vector:
        """The part of a small rotation vector `turn` (rest frame, radians) that the limit lets through."""

    @abstractmethod
    def turned(self, rotation: Quaternion, turn: Vector) -> Quaternion:
        """`rotation` turned by the rotation vector `turn` (rest frame, radians), as far as the limit allows."""

    @abstractmethod
    def violation(self, rotation: Quaternion) -> float:
        """How far `rotation` stands outside the limit, in radians; 0 inside."""

    @abstractmethod
    def sample(self, random: Random) -> Quaternion:
        """An allowed rotation drawn at random."""

    @classmethod
    @abstractmethod
    def stacked(cls, limits: Sequence[Any]) -> LimitBatch:
        """Limits of this type, one a chain, as arrays."""

    def outline(self) -> Outline:
        """The shape that is drawn for the limit; empty where every rotation is allowed."""
        return Outline()

    def setting_at(self, name: str, point: Vector) -> float:
        """The angle of a setting, one of the outline's ends, that brings that end to the side of a point.

        Args:
            name: Key of `Outline.ends`.
            point: In the rest frame of the bone, about the joint.
        """
        raise KeyError(name)

    def ik_meaning(self) -> IkMeaning:
        """What Blender's own IK can heed of the limit."""
        return IkMeaning(ALL_AXES, {}, (f"a limit of the type {type(self).__name__}",))

    def bend_axis(self, rotation: Quaternion) -> Vector | None:
        """Unit axis (rest frame) about which a straight chain is to be bent here; None where the limit has no say."""
        return None

    def blend(self, start: Quaternion, end: Quaternion, factor: float) -> Quaternion:
        """The rotation `factor` of the way from `start` (0) to `end` (1), the short way."""
        return part_way(start, end, factor)


@dataclass(frozen=True, slots=True)
class LimitType:
    """A type of limit as the registry knows it.

    Attributes:
        kind: The name under which it is stored.
        label: The name on the panel.
        description: One sentence for the panel.
        make: Makes the limit from a bone's settings (attributes named in `fields`, and `use_twist`, `twist_min`,
            `twist_max`, `ik_locks`, `ik_ranges`) and the joint's rotation in the start pose; raises InvalidValueError
            where the settings make no sense.
        fields: Names of the settings that it is made from, in the order of the panel.
        twists: Whether a range of twist about the bone can be set besides.
    """

    kind: str
    label: str
    description: str
    make: Callable[[Any, Quaternion], Limit]
    fields: tuple[str, ...] = ()
    twists: bool = False
