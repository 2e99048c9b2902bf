# SPDX-License-Identifier: GPL-3.0-or-later
"""A cycle: how a leg goes through one stride at a speed, from the angles of its joints and the shape of its foot.

Lengths are shares of the leg's reach, hip to ankle; angles radians; phases shares of the cycle from the leg's own heel
strike on. Everything is in the plane in which the leg walks: forward and up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import pi, radians, sqrt
from typing import NamedTuple

import numpy as np

from ..maths import IDENTITY, Q4, V3, Doubles, Places, eased_each, rows_of, slerps

SAMPLES = 48  # in a stance, and in a swing
SHARES: Doubles = np.arange(SAMPLES + 1) / SAMPLES
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
MIXES = 32  # parts of the way from one cycle to a faster one, in which they are mixed


class Sole(NamedTuple):
    """The shape of a foot that stands: shares of the leg's reach.

    Attributes:
        height: Of the ankle over the ground.
        heel: How far the heel is behind the ankle.
        ball: How far the ball is before it.
    """

    height: float
    heel: float
    ball: float

    def rolled(self, pitch: Doubles) -> tuple[Doubles, Doubles]:
        """Where the ankles of feet are that have rolled over the ball, or back on the heel, from under them flat.

        Args:
            pitch: Radians; positive lifts the heel.
        """
        pivot, cosine, sine = np.where(pitch > 0.0, self.ball, -self.heel), np.cos(pitch), np.sin(pitch)
        return pivot - pivot * cosine + self.height * sine, self.height * cosine + pivot * sine


class Angles(NamedTuple):
    """A leg by phase, as seen from the side.

    Attributes:
        thigh: From the vertical, forward.
        knee: Bent.
        pitch: Of the foot, the heel up.
    """

    thigh: Doubles
    knee: Doubles
    pitch: Doubles

    @property
    def way(self) -> tuple[Doubles, Doubles]:
        """From hip to ankle: forward and up."""
        shank = self.thigh - self.knee
        ahead = THIGH * np.sin(self.thigh) + SHANK * np.sin(shank)
        return ahead, -THIGH * np.cos(self.thigh) - SHANK * np.cos(shank)


@dataclass(frozen=True)
class Cycle:
    """How a leg goes through a stride.

    Attributes:
        stride: What it walks in a cycle.
        duty: Share of the cycle that it stands.
        shift: How far before the body's middle its foot stands midway through a stance.
        reaches: By share of a stance the distance of hip and ankle.
        rolls: By share of a stance how far the heel is up, or the toes where negative.
        swing: By share of a swing where the foot is: the share of the way from where it stood to where it lands; how
            high its sole would be without rolling; how far it has rolled, the heel up; how far it is to the left.
        extent: How far the ankle of a foot that stands is before or behind its hip at most.
        ahead: By phase how far the hips are before where an even way has them.
        width: How far apart the feet of people stand.
        aside: How far to the left of where it stands at rest its foot stands; None for as far apart as those of people.
        offset: Share of the cycle by which the leg is ahead.
        pace: The speed at which its stride is this long (`Clock.paces`); 0 for a cycle of one speed.
        slowest: The speed from which on the walk is whole.
        faster: The cycle at a higher speed, in a clip of its own; in between both are mixed.
    """

    stride: float
    duty: float
    shift: float
    reaches: Sequence[float]
    rolls: Sequence[float]
    swing: Sequence[Q4]
    extent: float
    ahead: Sequence[float] = (0.0, 0.0)
    width: float = WIDTH
    aside: float | None = None
    offset: float = 0.0
    pace: float = 0.0
    slowest: float = SLOWEST
    faster: Cycle | None = None

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
        """The greatest distance of hip and ankle of a leg that stands, at any speed."""
        return max(*self.reaches, self.faster.longest if self.faster is not None else 0.0)

    @cached_property
    def table(self) -> Doubles:
        """(SAMPLES + 1, 7): of a stance `reaches` and `rolls`, of a swing `swing`, of a cycle `ahead`."""
        ahead = np.interp(np.linspace(0.0, 1.0, SAMPLES + 1), np.linspace(0.0, 1.0, len(self.ahead)), self.ahead)
        return np.column_stack((self.reaches, self.rolls, self.swing, ahead))

    def liveliness(self, pace: Doubles | float) -> Doubles:
        """How much of the walk there is at a speed: see `liveliness`."""
        return liveliness(pace, self.slowest)

    def at(self, pace: float) -> Cycle:
        """The cycle at another speed, at which its stride grows with the root of that, as those of people do."""
        own = self.mixed(pace)
        share = sqrt(max(pace / own.pace, SLOWEST_SHARE))
        return replace(own, stride=share * own.stride, extent=share * own.extent)

    def mixed(self, pace: float) -> Cycle:
        """What is mixed of this and the faster cycle for a speed; for speeds that are all but equal the same one."""
        if self.faster is None or pace <= self.pace:
            return self
        number = round(MIXES * (pace - self.pace) / (self.faster.pace - self.pace))
        if number >= MIXES:
            return self.faster.mixed(pace)
        return self._mixes.get(number) or self._mixes.setdefault(number, _mix(self, self.faster, number / MIXES))

    @cached_property
    def _mixes(self) -> dict[int, Cycle]:
        return {}


REACHES, ROLLS, SWING, AHEAD = 0, 1, slice(2, 6), 6  # columns of `Cycle.table`
MIXED = ("stride", "duty", "shift", "extent", "width", "aside", "offset", "pace", "slowest")


def _mix(slow: Cycle, fast: Cycle, share: float) -> Cycle:
    """So much of the faster one of two cycles, both of clips."""
    table = slow.table + share * (fast.table - slow.table)
    numbers = {name: (1.0 - share) * getattr(slow, name) + share * getattr(fast, name) for name in MIXED}
    reaches, rolls, ahead = (tuple(table[:, column].tolist()) for column in (REACHES, ROLLS, AHEAD))
    return Cycle(**numbers, reaches=reaches, rolls=rolls, swing=tuple(rows_of(table[:, SWING])), ahead=ahead)


def looked_up(tables: Doubles, numbers: Places, shares: Doubles) -> Doubles:
    """What tables (C, SAMPLES + 1, k) say for shares (N,) of a stance, a swing or a cycle.

    Args:
        tables: Of several cycles.
        numbers: (N,), which of them.
        shares: Those beyond 0 and 1 count as these.

    Returns:
        (N, k)
    """
    position = np.clip(shares, 0.0, 1.0) * SAMPLES
    index = np.minimum(position.astype(np.intp), SAMPLES - 1)
    low, high = tables[numbers, index], tables[numbers, index + 1]
    found: Doubles = low + (position - index)[:, None] * (high - low)
    return found


@dataclass(frozen=True)
class BodyCycle:
    """How a body goes through a cycle, by evenly spaced phases of the clock from 0 to 1.

    Attributes:
        offsets: From where an even way has it, in its upright axes, scene units; level.
        turns: From how it is at rest.
        pace: Its speed, see `clock.Clock.paces`.
        faster: The cycle at a higher speed; in between both are mixed.
    """

    offsets: tuple[V3, ...]
    turns: tuple[Q4, ...]
    pace: float = 0.0
    faster: BodyCycle | None = None

    def at(self, phases: Doubles, paces: Doubles, shares: Doubles) -> tuple[Doubles, Doubles]:
        """Offsets (N, 3) and turns (N, 4) at phases and speeds, as much of them as shares say."""
        offset, turn = self._of_its_own(phases)
        if self.faster is not None:
            (offset_too, turn_too), gone = self.faster._of_its_own(phases), share_of_faster(self, self.faster, paces)
            offset, turn = offset + gone[:, None] * (offset_too - offset), slerps(turn, turn_too, gone)
        return shares[:, None] * offset, slerps(np.array(IDENTITY), turn, shares)

    def _of_its_own(self, phases: Doubles) -> tuple[Doubles, Doubles]:
        position = phases % 1.0 * (len(self.turns) - 1)
        index = np.minimum(position.astype(np.intp), len(self.turns) - 2)
        turns, offsets, t = np.array(self.turns), np.array(self.offsets), position - index
        offset = offsets[index] + t[:, None] * (offsets[index + 1] - offsets[index])
        return offset, slerps(turns[index], turns[index + 1], t)


def share_of_faster(slow: Cycle | BodyCycle, fast: Cycle | BodyCycle, paces: Doubles) -> Doubles:
    """How much of the faster one of two cycles there is at speeds."""
    return np.clip((paces - slow.pace) / (fast.pace - slow.pace), 0.0, 1.0)


def liveliness(pace: Doubles | float, slowest: Doubles | float = SLOWEST) -> Doubles:
    """How much of a walk there is at a speed: none in a stand, all from the slowest on at which it is whole."""
    return np.sqrt(np.clip((np.asarray(pace) - STANDING) / (slowest - STANDING), 0.0, 1.0))


Law = tuple[float, float, float]  # stride and duty, see `Cycle`, and speed, see `Clock.paces`


class _Hips:
    """The hips over two legs that go through a cycle, half of one apart; lengths as in `Cycle`.

    Args:
        angles: Of a leg, by phase.
        forth: (SAMPLES + 1,), by phase how far the leg's hip is before the middle of both.
        law: Of the walk.
        sole: The shape of the foot.
    """

    def __init__(self, angles: Callable[[Doubles], Angles], forth: Doubles, law: Law, sole: Sole) -> None:
        self._forth, (self.stride, self.duty, self.speed), self.sole = forth, law, sole
        stance = SHARES * self.duty
        leg, usual = angles(stance), min(self.duty / WALKING, 1.0)
        # as of a walk: it rolls as the leg has it before it is flat, and from when it is no more
        phase = stance / usual
        landing = np.minimum(leg.pitch, 0.0) * (1.0 - eased_each(phase / FLAT_FROM))
        lifting = np.maximum(leg.pitch, 0.0) * eased_each((phase - FLAT_UNTIL) / RISING)
        self.rolls, (ahead, up) = np.where(phase < FLAT_UNTIL, landing, lifting), leg.way
        self.reaches: Doubles = np.hypot(ahead, up)
        # where the middle of the hips is by a leg that stands, against where it would be were it to go evenly
        self.led = sole.rolled(self.rolls)[0] - ahead - self.forth(stance) - stance * self.stride
        self.start = self.mean = float(self.led.mean())
        if self.duty < WALKING:
            self._spring(stance)
        for _ in range(TRIES):
            (x, z), (ahead, low) = self.hip(np.zeros(1)), sole.rolled(self.rolls[:1])
            self.start += float(np.hypot(x - ahead, z - low)[0] - self.reaches[0]) / BOTH  # as long as the leg lands
        self.rolls = np.where(stance > FLAT_UNTIL * usual, self._shortened(self.hip(stance)), self.rolls)

    def _spring(self, stance: Doubles) -> None:
        """Let the hips come down and go up again in a stance, as they have to for both feet to leave the ground."""
        down, up = self.high(stance[[0, -1]], self.led[[0, -1]])
        dip = DIP * 0.5 * (self.stride / self.speed) ** 2 * (WALKING - self.duty) * self.duty / pi
        apart, low = self.beside(stance, self.led)
        self.reaches = np.hypot(apart, down + SHARES * (up - down) - dip * np.sin(pi * SHARES) - low)

    def _shortened(self, hips: tuple[Doubles, Doubles]) -> Doubles:
        """How far heels are up so that hips and ankles are no farther apart than the leg has them."""

        def apart(rolls: Doubles) -> Doubles:
            x, z = self.sole.rolled(rolls)
            return np.hypot(hips[0] - x, hips[1] - z)

        low, high = self.rolls, self.rolls + ROLLED_ON
        is_short, is_long = apart(low) <= self.reaches, apart(high) > self.reaches
        for _ in range(TRIES):
            middle = 0.5 * (low + high)
            is_apart = apart(middle) > self.reaches
            low, high = np.where(is_apart, middle, low), np.where(is_apart, high, middle)
        return np.where(is_short, self.rolls, np.where(is_long, self.rolls + ROLLED_ON, high))

    def forth(self, phase: Doubles) -> Doubles:
        """How far the leg's hip is before the middle of both."""
        return np.interp(phase % 1.0, SHARES, self._forth)

    def _by_stance(self, values: Doubles, phase: Doubles) -> Doubles:
        """What a leg has at a phase of its stance."""
        return np.interp(phase / self.duty, SHARES, values)

    def ahead(self, phase: Doubles) -> Doubles:
        """How far a leg that stands has the hips ahead of an even way."""
        return self._by_stance(self.led, phase) - self.mean + self.start

    def beside(self, phase: Doubles, x: Doubles) -> tuple[Doubles, Doubles]:
        """How far the hip of a leg that stands is ahead of its ankle, the hips so far ahead; how high the ankle is."""
        ahead, low = self.sole.rolled(self._by_stance(self.rolls, phase))
        return x + phase * self.stride + self.forth(phase) - ahead, low

    def high(self, phase: Doubles, x: Doubles) -> Doubles:
        """How high a leg that stands holds the hips that are so far ahead."""
        off, low = self.beside(phase, x)
        found: Doubles = low + np.sqrt(np.maximum(self._by_stance(self.reaches, phase) ** 2 - off * off, 0.0))
        return found

    def at(self, phase: Doubles) -> tuple[Doubles, Doubles]:
        """How far the middle of the hips is ahead of an even way, and how high, at a phase of a leg.

        It is handed over from one leg to the other while both stand; between two stances of a run it flies.
        """
        own, others = phase % 1.0, (phase + 0.5) % 1.0
        first, second = carrying(own / self.duty), carrying(others / self.duty)
        flies = first + second == 0.0
        share = first / np.where(flies, 1.0, first + second)
        x = share * self.ahead(own) + (1.0 - share) * self.ahead(others)
        z = share * self.high(own, x) + (1.0 - share) * self.high(others, x)
        if flies.any():
            ends = np.array((self.duty, 0.0))
            flown = (own % 0.5 - self.duty) / (0.5 - self.duty)
            flown = np.where(own % 0.5 > 0.0, flown, 1.0)
            (left, landed), (low, top) = self.ahead(ends), self.high(ends, self.ahead(ends))
            rise = 0.5 * (self.stride / self.speed * (0.5 - self.duty)) ** 2 * flown * (1.0 - flown)
            x = np.where(flies, left + flown * (landed - left), x)
            z = np.where(flies, low + flown * (top - low) + rise, z)
        return x, z

    def hip(self, phase: Doubles) -> tuple[Doubles, Doubles]:
        """Where a leg's own hip is, from where its foot stands flat."""
        x, z = self.at(phase)
        return x + phase * self.stride + self.forth(phase), z


def cycle_of(angles: Callable[[Doubles], Angles], forth: Doubles, law: Law, sole: Sole) -> Cycle:
    """The cycle of a leg whose joints turn like this, its foot held to the ground as long as it stands.

    Feet that stand roll about the heel, are flat, and roll about the ball. The hips are where a leg that stands has
    them, and so far before the feet that at a heel strike both legs are as long as their knees have them.

    Args:
        angles: By phase.
        forth: (SAMPLES + 1,), by phase how far the leg's hip is before the middle of both.
        law: Of the walk; the other leg is half a cycle ahead.
        sole: The shape of the foot.
    """
    hips, (stride, duty, _) = _Hips(angles, forth, law, sole), law
    ends = hips.hip(np.array((0.0, duty)))[0] - sole.rolled(hips.rolls[[0, -1]])[0]
    return Cycle(
        stride,
        duty,
        -hips.start - 0.5 * duty * stride,
        tuple(hips.reaches.tolist()),
        tuple(hips.rolls.tolist()),
        _swing(angles, duty, sole, hips),
        float(np.abs(ends).max()),
        tuple((hips.at(SHARES)[0] - hips.start).tolist()),
    )


def _swing(angles: Callable[[Doubles], Angles], duty: float, sole: Sole, hips: _Hips) -> tuple[Q4, ...]:
    """A foot in the air, as its leg has it, from where the hip is; see `Cycle.swing`."""
    phase = duty + SHARES * (1.0 - duty)
    leg, (x, z) = angles(phase), hips.hip(phase)
    pitch = leg.pitch + (hips.rolls[-1] - leg.pitch[0]) * (1.0 - eased_each(SHARES / UNROLLED))
    (ahead, up), (off, low) = leg.way, sole.rolled(pitch)
    across, rise = x + ahead - off, z + up - low + sole.height
    across = (across - across[0]) / (across[-1] - across[0])
    rise = np.maximum(rise - rise[0] + SHARES * (rise[0] - rise[-1]), 0.0)
    return tuple(rows_of(np.column_stack((across, rise, pitch, np.zeros_like(pitch)))))


def carrying(share: Doubles) -> Doubles:
    """How much a leg carries after a share of its stance: not at its ends, fully in between; 0 in the air."""
    return eased_each(share / HANDOVER) * eased_each((1.0 - share) / HANDOVER)
