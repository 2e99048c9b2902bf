# SPDX-License-Identifier: GPL-3.0-or-later
"""What a limit is made from, as it is stored of a bone and shown on the panel."""

from __future__ import annotations

from typing import NamedTuple

from ..vectors import PI, TAU, X_AXIS

LEAST_ANGLE, GREATEST_ANGLE = -PI, PI


class Setting(NamedTuple):
    """A setting of limits; types that have one of the same name share it.

    Attributes:
        name: Under which scripts set it and files store it: never changed.
        label: The name on the panel.
        description: One sentence for the tooltip.
        default: What it is at first: True or False for a switch, a number for an angle in radians, three for a vector.
        low: Least angle.
        high: Greatest angle.
        shown_by: Name of a switch and how it stands where this setting has a meaning; None where it always has.
    """

    name: str
    label: str
    description: str
    default: bool | float | tuple[float, float, float]
    low: float = LEAST_ANGLE
    high: float = GREATEST_ANGLE
    shown_by: tuple[str, bool] | None = None

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return isinstance(self.default, bool)

    @property
    def is_vector(self) -> bool:
        """Whether it has three numbers."""
        return isinstance(self.default, tuple)


AXIS = Setting("axis", "Axis", "Axis about which the bone turns, in its rest frame: Y runs along the bone", X_AXIS)
ANGLE_MIN = Setting("angle_min", "Min", "Least angle about the axis, from the rest pose", -PI, -TAU, TAU)
ANGLE_MAX = Setting("angle_max", "Max", "Greatest angle about the axis, from the rest pose", PI, -TAU, TAU)
