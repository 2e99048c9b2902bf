# SPDX-License-Identifier: GPL-3.0-or-later
"""How a walker walks. Lengths are shares of a leg's reach, angles radians, where nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from math import radians
from typing import NamedTuple

from ..errors import InvalidValueError, are_finite
from ..messages import Message
from .legs import Leg

ROUNDING = 1e-9  # of a frame, a sample or a cycle: what rounding may add or take away
TWO_LEGS, FOUR_LEGS, SIX_LEGS = 2, 4, 6
MANY_LEGS = 12


class Swing(StrEnum):
    """Along which curve a foot moves while it is in the air."""

    SMOOTH = "SMOOTH"  # least jerk: it lifts and lands at rest
    SINE = "SINE"


class Gravity(StrEnum):
    """What is down."""

    DOWN = "DOWN"  # -Z of the world
    SURFACE = "SURFACE"  # the body's own -Z: walls and ceilings


def number(default: float, low: float, high: float, told: str) -> float:
    """A number from `low` to `high`, and what it is, as the panel says it."""
    return field(default=default, metadata={"range": (low, high), "told": told})


@dataclass(frozen=True)
class Settings:
    """All that decides a walk besides path, legs and terrain.

    Attributes:
        gait: Name of a gait of the registry.
        swing_curve: A name of `Swing`.
        gravity: A name of `Gravity`.
    """

    gait: str = "TETRAPOD"
    duty: float = number(
        0.6, 0.05, 0.98, "Share of the cycle in which a foot is on the ground, for the gait with your own offsets"
    )
    step_height: float = number(0.1, 0.0, 1.0, "How far a swinging foot rises, as a share of the leg's reach")
    stride_scale: float = number(
        1.0, 0.1, 4.0, "Factor on the natural stride length for the speed: longer steps are fewer"
    )
    step_trigger: float = number(
        0.25, 0.02, 2.0, "Drift from home, as a share of the usual stride, at which a foot of a body that stands steps"
    )
    swing_curve: str = Swing.SMOOTH
    body_height: float = number(1.0, 0.2, 1.5, "Height of the body above its feet; 1: as at rest")
    body_carry: float = number(
        1.0, 0.0, 1.0, "How far the ground carries the body; 0: the keyed path's height stays as it is"
    )
    body_tilt: float = number(1.0, 0.0, 1.0, "How far the body takes on the tilt of its feet")
    body_sway: float = number(0.0, 0.0, 1.0, "How far the body shifts to over the standing feet")
    foot_tilt: float = number(1.0, 0.0, 1.0, "How far feet take on the slope of the ground")
    heel_toe: float = number(0.0, 0.0, 1.0, "How far a foot rolls from its heel to its toes")
    prediction: float = number(1.0, 0.0, 1.0, "How far footholds look ahead along the path")
    clearance: float = number(
        0.02, 0.0, 0.5, "Least distance of a swinging foot from the ground, as a share of the leg's reach"
    )
    slope_max: float = number(radians(50.0), 0.0, radians(90.0), "The steepest ground to stand on, from what is up")
    gravity: str = Gravity.DOWN
    acceleration: float = number(
        9.81, 1e-3, 1e6, "Acceleration by gravity: the greater, the longer the stride that belongs to a speed"
    )
    energy: float = number(
        1.0, 0.0, 2.0, "Of the human gait: 0 as the mean of many people walks, 1 as one of them, whose knees bend more"
    )
    step_width: float = number(1.0, 0.0, 4.0, "How far apart the feet are as a human walks, against those of people")
    arm_swing: float = number(
        1.0,
        0.0,
        3.0,
        "How far arms swing as a human walks, against those of people; 0: trunk, head, arms and toes get no keys",
    )
    bounce: float = number(
        1.0,
        0.0,
        3.0,
        "How far the body goes up and down as it walks by a cycle, against what its legs do by themselves",
    )
    pace: float = number(
        0.0,
        0.0,
        1.4,
        "Speed as at which it walks by a cycle, by the root of gravity times a leg: 0.15 is slow, 0.43 usual, "
        "and from 0.7 on people run; 0: that of the path",
    )
    lean: float = number(
        0.0, radians(-45.0), radians(45.0), "How much farther forward than people the trunk leans as a human walks"
    )


TOLD: dict[str, str] = {one.name: one.metadata["told"] for one in fields(Settings) if one.metadata}
# Least and greatest value of each number; the panel's sliders show them, too
RANGES: dict[str, tuple[float, float]] = {one.name: one.metadata["range"] for one in fields(Settings) if one.metadata}


class Style(NamedTuple):
    """How someone walks whose gait is that of people: fields of `Settings`; as people do, unless it says otherwise.

    Attributes:
        name: By which scripts choose it.
        label: As it is shown.
        description: For the tooltip.
    """

    name: str
    label: str
    description: str
    stride_scale: float = 1.0
    step_width: float = 1.0
    body_height: float = 1.0
    bounce: float = 1.0
    body_sway: float = 1.0
    arm_swing: float = 1.0
    lean: float = 0.0
    energy: float = 1.0

    @property
    def fields(self) -> dict[str, float]:
        """By the names of settings what they are in it."""
        return {name: float(value) for name, value in self._asdict().items() if name in RANGES}


STYLES = (
    Style("USUAL", "Usual", "As people walk"),
    Style("CALM", "Calm", "Small movements, and soft ones", 0.93, 1.0, 1.0, 0.8, 0.9, 0.7, 0.0, 0.6),
    Style("BRISK", "Brisk", "Long strides, and arms that help", 1.07, 0.9, 1.0, 1.1, 0.8, 1.3, radians(3.0), 1.3),
    Style("TIRED", "Tired", "Short and wide steps, a bent back", 0.8, 1.4, 0.97, 0.7, 1.0, 0.5, radians(10.0), 0.4),
    Style("SNEAK", "Sneak", "Low, without up and down", 0.8, 0.9, 0.88, 0.25, 0.7, 0.3, radians(16.0), 1.8),
    Style("MARCH", "March", "Upright, with wide arms", 1.0, 0.8, 1.0, 1.2, 0.4, 1.8, radians(-2.0), 1.8),
)


def check_settings(settings: Settings) -> None:
    """Refuse settings that are out of range.

    Raises:
        InvalidValueError: The setting is named.
    """
    for name, (low, high) in RANGES.items():
        value = getattr(settings, name)
        if not are_finite([value]) or not low <= value <= high:
            raise InvalidValueError(Message("SETTING_OUT_OF_RANGE", name=name, value=value, low=low, high=high))
    if settings.swing_curve not in list(Swing) or settings.gravity not in list(Gravity):
        raise InvalidValueError(Message("NO_SUCH_SWING", swing_curve=settings.swing_curve, gravity=settings.gravity))


def settings_for(legs: Sequence[Leg]) -> Settings:
    """The settings that suit a number of legs."""
    count = len(legs)
    if count == TWO_LEGS and all(leg.is_straight for leg in legs):
        return Settings(
            gait="HUMAN", body_tilt=0.0, heel_toe=1.0, slope_max=radians(35.0), body_sway=1.0, step_height=0.0
        )
    if count <= TWO_LEGS:
        return Settings(gait="BIPED_WALK", body_tilt=0.0, heel_toe=1.0, slope_max=radians(35.0), body_sway=0.1)
    if count <= FOUR_LEGS:
        return Settings(gait="WALK", body_tilt=0.5, body_sway=0.8)
    if count <= SIX_LEGS:
        return Settings(gait="TRIPOD")
    return Settings(gait="TETRAPOD" if count < MANY_LEGS else "METACHRONAL")
