# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground on which a body moves: that of the source is found and made level, and another one is put under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import atan, radians

import numpy as np

from ..maths import Doubles, Ints, lengths, units
from ..recognise.part import LEG
from .body import UP, Body, Motion, foot_of, hands_of
from .contacts import (
    FADE,
    FLAT,
    LOW,
    LOWEST,
    NONE,
    SLOW,
    Foot,
    between_contacts,
    find_contacts,
    find_touches,
    level_of,
    rolling,
    runs,
    shares_near,
    slope_of,
)
from .contacts import LEG as LEG_LENGTH
from .smoothing import blurred
from .touches import Touches

MOST_DRIFT = radians(1.5)  # slope of a ground that is taken for drift, and out of the motion
LEVELS = 0.1  # seconds in which the ground below a foot changes from the higher to the lower one
SPREAD = 0.15  # of the speed of a belt, by which feet that stand on it are slower or faster
OFTENER = 1.25  # so much more often feet have to go along with a belt than stand still
MOST_SPEEDS = 300
# Of a leg: by how much a step may be higher than the one before; and one after there was no ground
HIGHEST, FAR_ABOVE = 0.6, 10.0

# How high the ground is below a place (3,), and its normal (3,); None where there is none
Floor = Callable[[Doubles], "tuple[float, Doubles] | None"]


def grounded(body: Body, motion: Motion, rate: float, *, is_level: bool) -> tuple[Motion, Touches, float, Doubles]:
    """A motion over a ground at Z = 0 that stands still, from which drift is taken out, and all slopes and steps.

    Returns:
        The motion; what its feet and hands touch; radians by which the ground slopes; (3,), its velocity under a motion
        that walks in place.
    """
    legs = {name: limb for name, limb in body.limbs.items() if limb.kind == LEG and body.is_jointed(limb)}
    if not legs:
        return motion, Touches({}, {}, {}, {}), 0.0, np.zeros(3)
    belt = _belt([foot_of(body, motion, limb) for limb in legs.values()], rate)
    motion = motion._replace(heads=motion.heads - way_of_belt(belt, motion, rate))
    slope: Doubles = slope_of([foot_of(body, motion, limb) for limb in legs.values()], rate)
    angle = atan(float(lengths(slope)))
    if is_level or angle <= MOST_DRIFT:
        heads = motion.heads.copy()
        heads[..., 2] -= heads[..., :2] @ slope
        motion, angle = motion._replace(heads=heads), 0.0
        slope = np.zeros(2)
    feet = {name: foot_of(body, motion, limb) for name, limb in legs.items()}
    kinds = {name: find_contacts(foot, rate, slope) for name, foot in feet.items()}
    heels = {name: foot.points(foot.heel)[:, 2] for name, foot in feet.items()}
    rolled = {name: rolling(foot, kinds[name]) for name, foot in feet.items()}
    toes = {name: foot.points(foot.toe)[:, 2] for name, foot in rolled.items()}
    even: Doubles = np.zeros(2)
    size = max(foot.reach for foot in feet.values())
    others = [*hands_of(body, motion).values()], motion.heads[..., 2].min(axis=1), body.size_of_legs()[0]
    found = level_of([*feet.values()], [*kinds.values()], even, rate, others)
    level: Doubles = np.array(found or 0.0)
    heights = dict[str, Doubles]()
    for name, own in kinds.items():
        high: Doubles = np.zeros(len(own))
        for first, last in runs(own != NONE):
            flat = first + np.flatnonzero(own[first:last] == FLAT)
            value = np.median(heels[name][flat] if len(flat) else toes[name][first:last]) - level
            high[first:last] = value if abs(value) > LOW * feet[name].reach else 0.0
        heights[name] = between_contacts(high, own, LEVELS * rate)
    if is_level:
        level = level + rise_of(kinds, heights, rate)[:, None]
        heights = {name: np.zeros(len(own)) for name, own in kinds.items()}
    motion = motion._replace(heads=motion.heads - level[..., None] * UP)
    for name, hand in hands_of(body, motion).items():
        touches = find_touches(hand, rate, size, even, 0.0)
        if touches.any():
            kinds[name], heights[name] = touches, np.zeros(len(touches))
    return motion, Touches(kinds, heights, {}, {}), angle, belt


def _belt(feet: Sequence[Foot], rate: float) -> Doubles:
    """(3,), at what velocity most points of feet that are low go; 0 where they stand as often.

    Game clips often walk in place, as on a belt: their feet stand still as seen from that.
    """
    rows, size = list[Doubles](), max(foot.reach for foot in feet)
    for foot in feet:
        for point in (foot.heel, foot.ball):
            places = blurred(foot.points(point), rate)
            is_low = places[:, 2] < np.quantile(places[:, 2], LOWEST) + LOW * foot.reach
            rows.append(np.gradient(places, axis=0)[is_low] * (rate, rate, 0.0))
    found, within = np.concatenate(rows), SLOW * size / LEG_LENGTH
    some = found[:: max(len(found) // MOST_SPEEDS, 1)]
    counts = [int((lengths(found - one) < within + SPREAD * lengths(one)).sum()) for one in some]
    best: Doubles = some[int(np.argmax(counts))]
    if lengths(best) < 2.0 * within or max(counts) <= OFTENER * (lengths(found) < within).sum():
        return np.zeros(3)
    belt: Doubles = found[lengths(found - best) < within + SPREAD * lengths(best)].mean(axis=0)
    return belt


def way_of_belt(belt: Doubles, motion: Motion, rate: float) -> Doubles:
    """(F, 1, 3), how far a belt has gone in each frame."""
    return np.arange(len(motion.turns))[:, None, None] / rate * belt


def on_floor(
    target: Body, found: Motion, touches: Touches, floor: Floor, shown: slice, rate: float
) -> tuple[Touches, int]:
    """What feet and hands touch with each contact on the ground that is there; how many that are shown have none."""
    heights: dict[str, Doubles] = {name: np.zeros(len(kinds)) for name, kinds in touches.contacts.items()}
    normals = {name: np.broadcast_to(UP, (len(kinds), 3)).copy() for name, kinds in touches.contacts.items()}
    feet = {name: foot_of(target, found, target.limbs[name]) for name in touches.contacts}
    spans = sorted((*span, name) for name, kinds in touches.contacts.items() for span in runs(kinds != NONE))
    last, own, known, missed = 0.0, dict[str, float](), True, 0  # how high the last one stands, and each foot's own
    for first, end, name in spans:
        foot = feet[name]
        place = foot.points(0.5 * (foot.heel + foot.ball))[first:end].mean(axis=0)
        above = max(last, own.get(name, last)) + (HIGHEST if known else FAR_ABOVE) * foot.reach
        met = floor(place * (1.0, 1.0, 0.0) + above * UP)
        known = met is not None
        if met is not None:
            last, normals[name][first:end] = met
            own[name] = heights[name][first:end] = last
        missed += met is None and first < shown.stop and end > shown.start
    below = dict[str, Doubles]()
    for name, kinds in touches.contacts.items():
        if target.limbs[name].kind == LEG:
            below[name] = _below(feet[name], kinds, heights[name], floor)
        heights[name], on = between_contacts(heights[name], kinds, LEVELS * rate), np.flatnonzero(kinds != NONE)
        if len(on):  # and in between the ground turns evenly
            frames, own_normals = np.arange(len(kinds)), normals[name][on].T
            normals[name] = units(np.stack([np.interp(frames, on, row) for row in own_normals], axis=1))
    return touches._replace(heights=heights, normals=normals, above=below), missed


def _below(foot: Foot, kinds: Ints, heights: Doubles, floor: Floor) -> Doubles:
    """(F,), how high the ground is at most below heel and toes of a foot while it is in the air."""
    on, found = np.flatnonzero(kinds != NONE).tolist(), np.full(len(kinds), -np.inf)
    for end in (foot.points(foot.heel), foot.points(foot.ball), foot.points(foot.toe)):
        for a, b in pairwise([-1, *on, len(kinds)]) if on else ():
            top = max(heights[max(a, on[0])], heights[min(b, on[-1])]) + HIGHEST * foot.reach
            for k in range(a + 1, b):
                met = floor(end[k] * (1.0, 1.0, 0.0) + top * UP)
                found[k] = max(found[k], met[0]) if met is not None else found[k]
    return found


def rise_of(contacts: Mapping[str, Ints], heights: Mapping[str, Doubles], rate: float) -> Doubles:
    """(F,), how high the ground is under what stands on it, smoothly from one contact to the next."""
    count = len(next(iter(heights.values()), ()))
    total: Doubles = np.zeros(count)
    weight, frames = total.copy(), np.arange(count)
    for name, kinds in contacts.items():
        for first, last in runs(kinds != NONE):
            share = shares_near((frames >= first) & (frames < last), FADE * rate)
            total, weight = total + share * heights[name][first], weight + share
    known = np.flatnonzero(weight)
    if not len(known):
        return total
    found: Doubles = np.interp(frames, known, total[known] / weight[known])
    return found
