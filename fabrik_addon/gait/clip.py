# SPDX-License-Identifier: GPL-3.0-or-later
"""Cycles that are read from a clip of a creature that walks, on the spot or ahead: of each leg, and of its body.

A foot of such a clip stands while it does not go ahead and is no higher than it usually is then: many that are made by
hand slide, and their toes reach below the ground.
"""

from __future__ import annotations

from cmath import exp, phase
from collections.abc import Sequence
from dataclasses import replace
from math import pi, sqrt
from typing import NamedTuple, TypeVar

import numpy as np

from ..errors import InvalidValueError
from ..maths import FRONT, Z_AXIS, Doubles, Mask, dot, lengths, rotated_each, rows_of
from ..messages import Message
from .cycle import SAMPLES, SHARES, BodyCycle, Cycle
from .legs import Leg, reach_of

LOW = 0.12  # of the height that a foot rises: how far above the usual height of one that does not go ahead it may stand
STILL = 0.3  # of a leg's reach a cycle: how fast a foot that stands may go ahead
GAP, OTHER = 0.06, 0.4  # of a cycle: a break in a stance; of the longest stance: another one
LEAST_STRIDE = 0.05  # of the reach of the legs
FADE = 0.25  # of a swing in which a foot comes off, and onto, where it stands
SLOWER = 0.5  # of the speed of a clip, below which there is less and less of it
FASTER = 1.05  # times the speed of a clip, from which on another one is faster
T = TypeVar("T")


class FootTrack(NamedTuple):
    """How a foot goes in the F frames of one cycle, in the axes of the body at rest.

    Attributes:
        ankles: (F, 3), what its chain brings to its goal, scene units.
        pitches: (F,), how far its heel is up, radians.
        lows: (F,), the height of its lowest point, scene units.
    """

    ankles: Doubles
    pitches: Doubles
    lows: Doubles


class OwnCycle(NamedTuple):
    """What a clip tells.

    Attributes:
        legs: With their cycles.
        body: How it goes.
        slid: By how much a foot that stands slides in the clip at most, as a share of its leg's reach.
        start: Share of the cycle by which the clip is ahead of the clock.
    """

    legs: tuple[Leg, ...]
    body: BodyCycle
    slid: float
    start: float = 0.0


class _Walk(NamedTuple):
    """A foot of the clip against an even way of the body.

    Attributes:
        flat: (F, 3), where its ankle would be, had it not rolled.
        pitches: (F,), how far it has rolled from how it stands midway.
        first: The frame in which it comes to stand.
        stance: In how many it does.
        belt: How far it goes back in a frame as it stands, scene units.
        ground: On what height it stands.
    """

    flat: Doubles
    pitches: Doubles
    first: int
    stance: int
    belt: float
    ground: float


def own_cycle(
    legs: Sequence[Leg], body: tuple[Doubles, Doubles], feet: Sequence[FootTrack], rate: float, acceleration: float
) -> OwnCycle:
    """The cycles of legs as a clip has them.

    Args:
        legs: In the frame of the body at rest.
        body: (F + 1, 3), its places in that frame, the last one that of the frame after the cycle, which tells how far
            it goes; and (F, 4), its rotations from rest.
        feet: By leg.
        rate: Frames a second.
        acceleration: Of gravity, scene units / s².

    Raises:
        InvalidValueError: Its feet do not walk ahead, or more than one cycle is in it.
    """
    places, turns = body
    count, level = len(turns), np.array((1.0, 1.0, 0.0))
    even = np.arange(count)[:, None] * (places[-1] - places[0]) * level / count
    even = even + (places[:-1] - even).mean(axis=0) * level
    offsets = places[:-1] - even
    walks = [_walk(leg, foot._replace(ankles=foot.ankles - even)) for leg, foot in zip(legs, feet, strict=True)]
    stride, reach = count * float(np.median([walk.belt for walk in walks])), reach_of(legs)
    if stride < LEAST_STRIDE * reach:
        raise InvalidValueError(Message("CLIP_STANDS"))
    pace = stride / count * rate / sqrt(acceleration * reach)
    ground = float(np.median([walk.ground - leg.home[2] for walk, leg in zip(walks, legs, strict=True)]))
    found, slid = list[Leg](), 0.0
    for leg, walk in zip(legs, walks, strict=True):
        hips = offsets - (0.0, 0.0, ground) + rotated_each(turns, np.array(leg.hip))
        cycle = _cycle(leg, walk, hips, stride)
        found.append(replace(leg, cycle=replace(cycle, stride=stride / reach, pace=pace, slowest=SLOWER * pace)))
        frames = np.arange(walk.stance)
        off = walk.flat[(walk.first + frames) % count] @ np.array(FRONT) + frames * stride / count
        slid = max(slid, float(np.ptp(off)) / leg.reach)
    moments: Doubles = np.arange(SAMPLES + 1) * count / SAMPLES
    spun = between_frames(run_on(turns, turns[0]), moments)
    spun /= lengths(spun)[:, None]
    way = [(x, y, 0.0) for x, y, _ in between_frames(offsets, moments).tolist()]
    body_cycle = BodyCycle(tuple(way), tuple((w, x, y, z) for w, x, y, z in spun.tolist()), pace)
    return OwnCycle(tuple(found), body_cycle, slid)


def with_faster(slow: OwnCycle, fast: OwnCycle) -> tuple[OwnCycle, float]:
    """A cycle that becomes a faster one by and by, the faster it goes; its feet strike as nearly as they do in that.

    Args:
        slow: What one clip tells.
        fast: What another one tells of the same legs.

    Returns:
        The cycle, and the share of a cycle by which the faster clip is ahead of its clock.

    Raises:
        InvalidValueError: Both go at the same speed.
    """
    if fast.body.pace < FASTER * slow.body.pace:
        raise InvalidValueError(Message("CLIPS_OF_ONE_SPEED"))
    cycles = [(one.cycle, other.cycle) for one, other in zip(slow.legs, fast.legs, strict=True)]
    pairs = [(one, other) for one, other in cycles if one is not None and other is not None]
    ahead = phase(sum(exp(2.0j * pi * (one.offset - other.offset)) for one, other in pairs)) / (2.0 * pi)
    number = round(SAMPLES * ahead)

    def turned_on(rows: Sequence[T]) -> tuple[T, ...]:
        return tuple(rows[(index + number) % SAMPLES] for index in range(SAMPLES + 1))

    legs = list[Leg]()
    for leg, (one, other) in zip(slow.legs, pairs, strict=True):
        apart = (other.offset + number / SAMPLES - one.offset + 0.5) % 1.0 - 0.5
        legs.append(replace(leg, cycle=replace(one, faster=replace(other, offset=one.offset + apart))))
    body = replace(fast.body, offsets=turned_on(fast.body.offsets), turns=turned_on(fast.body.turns))
    whole = OwnCycle(tuple(legs), replace(slow.body, faster=body), max(slow.slid, fast.slid))
    return whole, number / SAMPLES


def _walk(leg: Leg, foot: FootTrack) -> _Walk:
    """When a foot stands, and where it would be had it not rolled.

    Raises:
        InvalidValueError: It never does, or more than once.
    """
    count, front = len(foot.pitches), np.array(FRONT)

    def flat(pitches: Doubles) -> Doubles:
        """Where the ankle would be, had the foot not rolled so far."""
        ahead, up = leg.foot.rolled(pitches)
        ways = ahead[:, None] * np.array(leg.forward) + (up - leg.foot.height)[:, None] * np.array(Z_AXIS)
        found: Doubles = foot.ankles - leg.reach * ways
        return found

    ahead = flat(foot.pitches) @ front
    going = 0.5 * (np.roll(ahead, -1) - np.roll(ahead, 1))
    still = going <= STILL / count * leg.reach
    level = float(np.median(foot.lows[still])) + LOW * float(np.ptp(foot.lows)) if still.any() else 0.0
    first, stance = _stance(leg, still & (foot.lows <= level))
    frames = (first + np.arange(stance)) % count
    pitches: Doubles = foot.pitches - between_frames(foot.pitches, np.array([first + 0.5 * (stance - 1)]))
    stood = flat(pitches)
    inner = frames[stance // 4 : stance - stance // 4]
    belt = -float(np.polyfit(np.arange(len(inner)), stood[inner] @ front, 1)[0]) if len(inner) > 1 else 0.0
    return _Walk(stood, pitches, first, stance, belt, float(np.median(foot.lows[frames])))


def _stance(leg: Leg, stands: Mask) -> tuple[int, int]:
    """The first frame of the stance of a cycle, and how many it has.

    Raises:
        InvalidValueError: There is none, or there are several.
    """
    count = len(stands)
    if stands.all():
        raise InvalidValueError(Message("CLIP_LEG_STANDS", leg=leg.name))
    if not stands.any():
        raise InvalidValueError(Message("CLIP_LEG_NEVER_STANDS", leg=leg.name))
    start = int(np.flatnonzero(~stands)[0])  # in the air: no stance goes on over the seam
    frames = np.flatnonzero(np.roll(stands, -start))
    found = np.split(frames, np.flatnonzero(np.diff(frames) - 1 > max(1.0, GAP * count)) + 1)
    sizes = [int(one[-1] - one[0]) + 1 for one in found]
    if sum(size > OTHER * max(sizes) for size in sizes) > 1:
        raise InvalidValueError(Message("CLIP_OF_SEVERAL_CYCLES", leg=leg.name))
    longest = sizes.index(max(sizes))
    return int(found[longest][0] + start) % count, sizes[longest]


def _cycle(leg: Leg, walk: _Walk, hips: Doubles, stride: float) -> Cycle:
    """The cycle of a leg whose feet slide no more, its stride still in scene units."""
    count, front = len(walk.pitches), np.array(FRONT)
    ahead, aside, high = walk.flat @ front, walk.flat[:, 0], walk.flat[:, 2]
    frames = (walk.first + np.arange(walk.stance)) % count
    duty = (walk.stance - 1) / count
    stance: Doubles = walk.first + SHARES * duty * count
    flight: Doubles = walk.first + (duty + SHARES * (1.0 - duty)) * count
    middle = float((ahead[frames] + (np.arange(walk.stance) - 0.5 * (walk.stance - 1)) * stride / count).mean())
    rolls = between_frames(walk.pitches, stance)
    ahead_of_it, ankles = (leg.reach * part for part in leg.foot.rolled(rolls))
    forward = middle - (SHARES - 0.5) * duty * stride + ahead_of_it
    across = np.full_like(SHARES, aside[frames].mean())
    stood = np.stack((across, -forward, leg.home[2] + ankles), axis=1)
    reaches = lengths(stood - between_frames(hips, stance)) / leg.reach
    gone = between_frames(ahead, flight) + SHARES * (1.0 - duty) * stride
    gone = (gone - gone[0]) / (gone[-1] - gone[0])
    rise, swerve = (
        values - values[0] * _fading(SHARES) - values[-1] * _fading(1.0 - SHARES)
        for values in (
            (between_frames(high, flight) - high[frames].mean()) / leg.reach,
            between_frames(aside, flight) / leg.reach - across[0] / leg.reach,
        )
    )
    rows = np.stack((gone, np.maximum(rise, 0.0), between_frames(walk.pitches, flight), swerve), axis=1)
    ends = abs(stood[[0, -1]] - between_frames(hips, stance[[0, -1]])) @ abs(front)
    return Cycle(
        stride,
        duty,
        (middle - dot(leg.home, FRONT)) / leg.reach,
        tuple(reaches.tolist()),
        tuple(rolls.tolist()),
        tuple(rows_of(rows)),
        float(ends.max()) / leg.reach,
        aside=(float(aside[frames].mean()) - leg.home[0]) / leg.reach,
        offset=-(walk.first / count) % 1.0,
    )


def between_frames(values: Doubles, moments: Doubles) -> Doubles:
    """What goes round in a cycle, between its frames."""
    low = np.floor(moments).astype(np.intp)
    share = moments - low
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return values[low % len(values)] * (1.0 - share) + values[(low + 1) % len(values)] * share


def _fading(shares: Doubles) -> Doubles:
    """Shares that are 1 at 0, and go to 0 smoothly."""
    left = np.clip(1.0 - shares / FADE, 0.0, 1.0)
    return left * left * (3.0 - 2.0 * left)


def run_on(turns: Doubles, like: Doubles) -> Doubles:
    """Rotations each of which has the sign that is nearest to another one."""
    return np.where((turns @ like)[:, None] < 0.0, -turns, turns)
