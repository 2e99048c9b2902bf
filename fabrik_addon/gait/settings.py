# SPDX-License-Identifier: GPL-3.0-or-later
"""How a walker walks. Lengths are shares of a leg's reach, angles radians, where nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import radians
from typing import NamedTuple

from ..errors import InvalidValueError
from ..finite import are_finite
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


@dataclass(frozen=True)
class Settings:
    """All that decides a walk besides path, legs and terrain.

    Attributes:
        gait: Name of a gait of the registry.
        duty: Share of the cycle that a foot stands, for the gait made by hand.
        step_height: How far a swinging foot rises above what it passes.
        stride_scale: Factor on the stride that belongs to the speed.
        step_trigger: Drift from home, as a share of the usual stride, at which a foot steps while the body stands.
        swing_curve: A name of `Swing`.
        body_height: Height of the body above its feet, 1 as at rest.
        body_carry: How far the ground carries the body: 0 leaves the path's height as it is.
        body_tilt: How far the body takes on the tilt of its feet, 0..1.
        body_sway: How far the body shifts to over the standing feet, 0..1.
        foot_tilt: How far feet take on the slope of the ground, 0..1.
        heel_toe: How far a foot rolls from heel to toe, 0..1.
        prediction: How far footholds look ahead along the path, 0..1.
        clearance: Least distance of a swinging foot from the ground midway.
        slope_max: The steepest ground to stand on, from what is up.
        gravity: A name of `Gravity`.
        acceleration: Of gravity, scene units / s².
        energy: Of the human gait: 0 as the mean of many people walks, 1 as one of them, whose knees bend more.
        step_width: How far apart feet are as they walk, against those of people, for the human gait.
        arm_swing: How far arms swing, against those of people, for the human gait.
        bounce: How far the body goes up and down, against the legs' own, for gaits with a cycle.
        lean: How much farther than people the trunk leans forward, for the human gait, radians.
    """

    gait: str = "TETRAPOD"
    duty: float = 0.6
    step_height: float = 0.1
    stride_scale: float = 1.0
    step_trigger: float = 0.25
    swing_curve: str = Swing.SMOOTH
    body_height: float = 1.0
    body_carry: float = 1.0
    body_tilt: float = 1.0
    body_sway: float = 0.0
    foot_tilt: float = 1.0
    heel_toe: float = 0.0
    prediction: float = 1.0
    clearance: float = 0.02
    slope_max: float = radians(50.0)
    gravity: str = Gravity.DOWN
    acceleration: float = 9.81
    energy: float = 1.0
    step_width: float = 1.0
    arm_swing: float = 1.0
    bounce: float = 1.0
    lean: float = 0.0


# Least and greatest value of each number; the panel's sliders show them, too.
RANGES: dict[str, tuple[float, float]] = {
    "duty": (0.05, 0.98),
    "step_height": (0.0, 1.0),
    "stride_scale": (0.1, 4.0),
    "step_trigger": (0.02, 2.0),
    "body_height": (0.2, 1.5),
    "body_carry": (0.0, 1.0),
    "body_tilt": (0.0, 1.0),
    "body_sway": (0.0, 1.0),
    "foot_tilt": (0.0, 1.0),
    "heel_toe": (0.0, 1.0),
    "prediction": (0.0, 1.0),
    "clearance": (0.0, 0.5),
    "slope_max": (0.0, radians(90.0)),
    "acceleration": (1e-3, 1e6),
    "energy": (0.0, 2.0),
    "step_width": (0.0, 4.0),
    "arm_swing": (0.0, 3.0),
    "bounce": (0.0, 3.0),
    "lean": (radians(-45.0), radians(45.0)),
}


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
    values = asdict(settings)
    for name, (low, high) in RANGES.items():
        value = values[name]
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
