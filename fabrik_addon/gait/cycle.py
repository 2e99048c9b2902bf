# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle: how a leg goes through one stride at a speed, from the angles of its joints and the shape of its foot.

Lengths are shares of the leg's reach, hip to ankle; angles radians; phases shares of the cycle from the leg's own heel
strike on. Everything is in the plane in which the leg walks: forward and up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, hypot, pi, radians, sin, sqrt
from typing import NamedTuple

from ..maths import IDENTITY, ORIGIN, Q4, V3, eased, lerp, slerp
from .legs import Sole

SAMPLES = 48  # in a stance, and in a swing
# phases in which a foot is flat, and how long its heel takes to be free
FLAT_FROM, FLAT_UNTIL, RISING = 0.1, 0.26, 0.16
HANDOVER = 0.25  # of a stance: in which the body comes to be carried by a leg that landed, and by it no more
THIGH = SHANK = 0.5
BOTH = 0.75  # by how much one leg gets longer and the other shorter where the body is so much farther ahead
TRIES = 9
ROLLED_ON = radians(6.0)  # by how much farther than its leg has it a heel comes up
UNROLLED = 0.6  # of a swing, until which the foot is turned as the leg has it
# v*, see `Clock.paces`: up to which all stand, and from which on a walk is whole unless its cycle says otherwise
STANDING, SLOWEST = 0.005, 0.15
WIDTH = 0.13  # how far apart the feet of people walk, as a share of a leg's reach
DIP = 0.5  # of how far a body would come down in a stance whose legs were springs
WALKING = 0.5  # of a cycle: as short a stance has the shares of a walk; a shorter one is flat for less of it
SLOWEST_SHARE = 0.01  # of a cycle's own speed, below which its stride gets no shorter


class Angles(NamedTuple):
    """A leg at a phase, as seen from the side.

    Attributes:
        thigh: From the vertical, forward.
        knee: Bent.
        pitch: Of the foot, the heel up.
    """

    thigh: float
    knee: float
    pitch: float

    @property
    def way(self) -> tuple[float, float]:
        """From hip to ankle: forward and up."""
        shank = self.thigh - self.knee
        return THIGH * sin(self.thigh) + SHANK * sin(shank), -THIGH * cos(self.thigh) - SHANK * cos(shank)


class InTheAir(NamedTuple):
    """A foot in the air.

    Attributes:
        across: Share of the way from where it stood to where it lands.
        rise: How high its sole would be without rolling.
        pitch: How far it has rolled, the heel up.
        aside: How far it is to the left of its way.
    """

    across: float
    rise: float
    pitch: float
    aside: float = 0.0


@dataclass(frozen=True)
class Cycle:
    """How a leg goes through a stride.

    Attributes:
        stride: What it walks in a cycle.
        duty: Share of the cycle that it stands.
        shift: How far before the body's middle its foot stands midway through a stance.
        reaches: By share of a stance the distance of hip and ankle.
        rolls: By share of a stance how far the heel is up, or the toes where negative.
        swing: By share of a swing where the foot is.
        extent: How far the ankle of a foot that stands is before or behind its hip at most.
        ahead: By phase how far the hips are before where an even way has them.
        width: How far apart the feet of people stand.
        aside: How far to the left of where it stands at rest its foot stands; None for as far apart as those of people.
        offset: Share of the cycle by which the leg is ahead.
        pace: The speed at which its stride is this long (`Clock.paces`); 0 for a cycle of one speed.
        slowest: The speed from which on the walk is whole.
    """

    stride: float
    duty: float
    shift: float
    reaches: Sequence[float]
    rolls: Sequence[float]
    swing: Sequence[InTheAir]
    extent: float
    ahead: Sequence[float] = (0.0, 0.0)
    width: float = WIDTH
    aside: float | None = None
    offset: float = 0.0
    pace: float = 0.0
    slowest: float = SLOWEST

    @cached_property
    def toe_off(self) -> float:
        """How far the heel is up when the foot lifts."""
        return self.rolls[-1]

    @cached_property
    def strike(self) -> float:
        """How far the toes are up when the foot lands."""
        return -self.rolls[0]

    @cached_property
    def longest(self) -> float:
        """The greatest distance of hip and ankle of a leg that stands."""
        return max(self.reaches)

    def at(self, pace: float) -> Cycle:
        """The cycle at another speed, at which its stride grows with the root of that, as those of people do."""
        share = sqrt(max(pace / self.pace, SLOWEST_SHARE))
        return replace(self, stride=share * self.stride, extent=share * self.extent)

    def liveliness(self, pace: float) -> float:
        """How much of the walk there is at a speed: see `liveliness`."""
        return liveliness(pace, self.slowest)

    def roll_at(self, share: float) -> float:
        """`rolls` after a share of a stance."""
        return sampled(self.rolls, share)

    def in_the_air(self, share: float) -> InTheAir:
        """`swing` after a share of a swing."""
        if share <= 0.0 or share >= 1.0:
            return self.swing[0 if share <= 0.0 else -1]
        index = int(share * SAMPLES)
        t, (across, rise, pitch, aside), after = share * SAMPLES - index, self.swing[index], self.swing[index + 1]
        return InTheAir(
            across + t * (after.across - across),
            rise + t * (after.rise - rise),
            pitch + t * (after.pitch - pitch),
            aside + t * (after.aside - aside),
        )


@dataclass(frozen=True)
class BodyCycle:
    """How a body goes through a cycle, by evenly spaced phases of the clock from 0 to 1.

    Attributes:
        offsets: From where an even way has it, in its upright axes, scene units; level.
        turns: From how it is at rest.
    """

    offsets: tuple[V3, ...]
    turns: tuple[Q4, ...]

    def at(self, phase: float, share: float) -> tuple[V3, Q4]:
        """Offset and turn at a phase, as much of them as a share says."""
        position = phase % 1.0 * (len(self.turns) - 1)
        index = min(int(position), len(self.turns) - 2)
        t = position - index
        turn = slerp(self.turns[index], self.turns[index + 1], t)
        return lerp(ORIGIN, lerp(self.offsets[index], self.offsets[index + 1], t), share), slerp(IDENTITY, turn, share)


def liveliness(pace: float, slowest: float = SLOWEST) -> float:
    """How much of a walk there is at a speed: none in a stand, all from the slowest on at which it is whole."""
    return min(sqrt(max(pace - STANDING, 0.0) / (slowest - STANDING)), 1.0)


def sampled(values: Sequence[float], share: float) -> float:
    """A value between samples that stand evenly from a share of 0 to one of 1."""
    if share <= 0.0 or share >= 1.0:
        return values[0 if share <= 0.0 else -1]
    position = share * (len(values) - 1)
    index = int(position)
    low = values[index]
    return low + (position - index) * (values[index + 1] - low)


Law = tuple[float, float, float]  # stride and duty, see `Cycle`, and speed, see `Clock.paces`


class _Hips:
    """The hips over two legs that go through a cycle, half of one apart; lengths as in `Cycle`.

    Args:
        angles: Of a leg, by phase.
        forth: By phase how far the leg's hip is before the middle of both.
        law: Of the walk.
        sole: The shape of the foot.
    """

    def __init__(
        self, angles: Callable[[float], Angles], forth: Callable[[float], float], law: Law, sole: Sole
    ) -> None:
        self.forth, (self.stride, self.duty, self.speed), self.sole = forth, law, sole
        stance = [index / SAMPLES * self.duty for index in range(SAMPLES + 1)]
        self.rolls = [_roll(angles, phase, min(self.duty / WALKING, 1.0)) for phase in stance]
        ways = [angles(phase).way for phase in stance]
        self.reaches = [hypot(*way) for way in ways]
        # where the middle of the hips is by a leg that stands, against where it would be were it to go evenly
        self.led = [
            sole.rolled(roll)[0] - way[0] - forth(phase) - phase * self.stride
            for roll, way, phase in zip(self.rolls, ways, stance, strict=True)
        ]
        self.start = self.mean = sum(self.led) / len(self.led)
        if self.duty < WALKING:
            self._spring(stance)
        for _ in range(TRIES):
            self.start += (self._long(0.0) - self.reaches[0]) / BOTH
        for index, phase in enumerate(stance):
            if phase > FLAT_UNTIL * min(self.duty / WALKING, 1.0):
                self.rolls[index] = _shortened(sole, self.rolls[index], self.hip(phase), self.reaches[index])

    def _spring(self, stance: Sequence[float]) -> None:
        """Let the hips come down and go up again in a stance, as they have to for both feet to leave the ground."""
        down, up = self.high(0.0, self.led[0]), self.high(self.duty, self.led[-1])
        dip = DIP * 0.5 * (self.stride / self.speed) ** 2 * (WALKING - self.duty) * self.duty / pi
        for index, phase in enumerate(stance):
            share, (apart, low) = phase / self.duty, self.beside(phase, self.led[index])
            self.reaches[index] = hypot(apart, down + share * (up - down) - dip * sin(pi * share) - low)

    def _long(self, phase: float) -> float:
        """How long a leg is at a phase of its stance."""
        (x, z), (ahead, low) = self.hip(phase), self.sole.rolled(sampled(self.rolls, phase / self.duty))
        return hypot(x - ahead, z - low)

    def ahead(self, phase: float) -> float:
        """How far a leg that stands has the hips ahead of an even way."""
        return sampled(self.led, phase / self.duty) - self.mean + self.start

    def beside(self, phase: float, x: float) -> tuple[float, float]:
        """How far the hip of a leg that stands is ahead of its ankle, the hips so far ahead; how high the ankle is."""
        ahead, low = self.sole.rolled(sampled(self.rolls, phase / self.duty))
        return x + phase * self.stride + self.forth(phase) - ahead, low

    def high(self, phase: float, x: float) -> float:
        """How high a leg that stands holds the hips that are so far ahead."""
        off, low = self.beside(phase, x)
        return low + sqrt(max(sampled(self.reaches, phase / self.duty) ** 2 - off * off, 0.0))

    def at(self, phase: float) -> tuple[float, float]:
        """How far the middle of the hips is ahead of an even way, and how high, at a phase of a leg.

        It is handed over from one leg to the other while both stand; between two stances of a run it flies.
        """
        own, others = phase % 1.0, (phase + 0.5) % 1.0
        first, second = carrying(own / self.duty), carrying(others / self.duty)
        if first and second:
            share = first / (first + second)
            x = share * self.ahead(own) + (1.0 - share) * self.ahead(others)
            return x, share * self.high(own, x) + (1.0 - share) * self.high(others, x)
        if first or second:
            leg = own if first else others
            x = self.ahead(leg)
            return x, self.high(leg, x)
        flown = (own % 0.5 - self.duty) / (0.5 - self.duty) if own % 0.5 > 0.0 else 1.0
        left, landed = self.ahead(self.duty), self.ahead(0.0)
        low, top = self.high(self.duty, left), self.high(0.0, landed)
        rise = 0.5 * (self.stride / self.speed * (0.5 - self.duty)) ** 2 * flown * (1.0 - flown)
        return left + flown * (landed - left), low + flown * (top - low) + rise

    def hip(self, phase: float) -> tuple[float, float]:
        """Where a leg's own hip is, from where its foot stands flat."""
        x, z = self.at(phase)
        return x + phase * self.stride + self.forth(phase), z


def cycle_of(angles: Callable[[float], Angles], forth: Callable[[float], float], law: Law, sole: Sole) -> Cycle:
    """The cycle of a leg whose joints turn like this, its foot held to the ground as long as it stands.

    Feet that stand roll about the heel, are flat, and roll about the ball. The hips are where a leg that stands has
    them, and so far before the feet that at a heel strike both legs are as long as their knees have them.

    Args:
        angles: By phase.
        forth: By phase how far the leg's hip is before the middle of both.
        law: Of the walk; the other leg is half a cycle ahead.
        sole: The shape of the foot.
    """
    hips, (stride, duty, _) = _Hips(angles, forth, law, sole), law
    ends = (0.0, hips.rolls[0]), (duty, hips.rolls[-1])
    return Cycle(
        stride,
        duty,
        -hips.start - 0.5 * duty * stride,
        hips.reaches,
        hips.rolls,
        _swing(angles, duty, sole, hips.hip, hips.rolls[-1]),
        max(abs(hips.hip(phase)[0] - sole.rolled(roll)[0]) for phase, roll in ends),
        [hips.at(index / SAMPLES)[0] - hips.start for index in range(SAMPLES + 1)],
    )


def _swing(
    angles: Callable[[float], Angles],
    duty: float,
    sole: Sole,
    hip: Callable[[float], tuple[float, float]],
    toe_off: float,
) -> list[InTheAir]:
    """A foot in the air, as its leg has it, from where the hip is by phase; it lifts with its heel so far up."""
    raised, found = toe_off - angles(duty).pitch, list[InTheAir]()
    shares = [index / SAMPLES for index in range(SAMPLES + 1)]
    for share in shares:
        leg, (x, z) = angles(duty + share * (1.0 - duty)), hip(duty + share * (1.0 - duty))
        pitch = leg.pitch + raised * (1.0 - eased(share / UNROLLED))
        off = sole.rolled(pitch)
        found.append(InTheAir(x + leg.way[0] - off[0], z + leg.way[1] - off[1] + sole.height, pitch))
    first, last = found[0], found[-1]
    return [
        InTheAir(
            (one.across - first.across) / (last.across - first.across),
            max(one.rise - first.rise + share * (first.rise - last.rise), 0.0),
            one.pitch,
        )
        for one, share in zip(found, shares, strict=True)
    ]


def carrying(share: float) -> float:
    """How much a leg carries after a share of its stance: not at its ends, fully in between; 0 in the air."""
    return eased(share / HANDOVER) * eased((1.0 - share) / HANDOVER) if 0.0 <= share <= 1.0 else 0.0


def _shortened(sole: Sole, roll: float, hip: tuple[float, float], reach: float) -> float:
    """How far a heel is up so that hip and ankle are no farther apart than that."""

    def apart(roll: float) -> float:
        x, z = sole.rolled(roll)
        return hypot(hip[0] - x, hip[1] - z)

    low, high = roll, roll + ROLLED_ON
    if apart(low) <= reach or apart(high) > reach:
        return low if apart(low) <= reach else high
    for _ in range(TRIES):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if apart(middle) > reach else (low, middle)
    return high


def _roll(angles: Callable[[float], Angles], phase: float, share: float) -> float:
    """How far a foot that stands has rolled: as the leg has it before it is flat, and from when it is no more.

    Args:
        angles: By phase.
        phase: Of the leg.
        share: Of the usual time that it is so.
    """
    pitch, phase = angles(phase).pitch, phase / share
    if phase < FLAT_UNTIL:
        return min(pitch, 0.0) * (1.0 - eased(phase / FLAT_FROM))
    return max(pitch, 0.0) * eased((phase - FLAT_UNTIL) / RISING)
