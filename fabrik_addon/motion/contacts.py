# SPDX-License-Identifier: GPL-3.0-or-later
"""When a foot is on the ground, by how heel and toe move, and what lets it stand still there.

Places are of the world, in meters, with Z up. A contact counts while the point is slow and low; each limit has a lower
one, which must be met once in a contact, and a higher one, within which it begins and ends (hysteresis). How high it is
counts over a ground that may slope, as ramps, stairs, and takes that drift do.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, pi, radians
from typing import NamedTuple

import numpy as np

from ..kernel import PathFit
from ..maths import (
    Doubles,
    Ints,
    Mask,
    conjugates,
    crosses,
    dots,
    lengths,
    products,
    rotated_each,
    turns_by,
    units,
    vectors_of,
)
from .smoothing import blurred

NONE, HEEL, TOE, FLAT = range(4)  # what of a foot is on the ground; FLAT is HEEL and TOE
LEG = 0.8  # meters of leg for which the speeds hold; others by their size
SLOW, FAST = 0.15, 0.45  # meters a second
LOW = 0.06  # of a leg, above the ground
LOWEST = 0.1  # share of the frames in which a foot is still and lower than the ground
USUAL = 0.25  # share of the places of feet that stand which are lower than the ground
STEEPEST = 0.7  # of what feet walk on: stairs of 35 degrees
FAR = 1.0  # legs between two places that tell a slope
CLEARER = 1.05  # so much more often feet have to stand on a slope than on flat ground
MOST_PLACES = 100
ONE_WAY = 0.2  # spread of places across their way, beside that along it, from which on they tell how the ground tilts
# Radians (3 and 4 degrees) by which the foot is pitched when heel or toes are off the ground; heels begin slowly
HEEL_LIFTED, TOES_LIFTED = 0.05, 0.07
FACES = 0.5  # how much of its up direction is up at least while a sole is level; while it is steep, -.5 is enough
LIES = radians(35.0)  # a sole that is further from flat in the mean lies on nothing but its toes or its heel
SHORTEST = 0.1  # seconds
FEWEST = 3  # frames, of which speeds can be told
SHORTEST_SOLE = 1e-9  # meters, so that what has no sole has no pitch
FADE = 0.5  # seconds, the longest way in which a correction comes or goes
STRAIGHT, STRAIGHTEST = 0.985, 0.9995  # share of its reach to which a leg may be stretched; to which it ever is
SMOOTH = 0.5  # seconds, the period of what is smoothed out of the way of a body by half
ROLLS_IN = 0.06  # seconds on its toes until a foot rolls as it has to for its ankle to stay where it was


JUNK = 0.14  # radians (8 degrees) by which bones leap where a clip goes over into a pose that is none of it ...
LEAPS = 12.0  # ... which is so many times what they usually turn from a frame to the next
MOST_JUNK, FEWEST_FRAMES = 3, 12  # frames of such a pose, and of a clip that may have one


class Foot(NamedTuple):
    """How a foot, or a hand, moves in F frames.

    Attributes:
        places: (F, 3), of its effector.
        turns: (F, 4), rotations of its bone.
        heel: (3,), from the effector to the heel, in the axes of the bone.
        ball: (3,), the same to the ball of the foot.
        toe: (F, 3), the same to the tip of the toes, which may bend.
        roots: (F, 3), of the joint at which the leg begins.
        reach: Length of the leg from there to the effector.
    """

    places: Doubles
    turns: Doubles
    heel: Doubles
    ball: Doubles
    toe: Doubles
    roots: Doubles
    reach: float

    def points(self, offset: Doubles) -> Doubles:
        """(F, 3), where a point is that is so far from the effector, in the axes of the bone."""
        return self.places + rotated_each(self.turns, offset)

    def lowest(self, *offsets: Doubles) -> Doubles:
        """(F,), how high the lowest of some such points is."""
        found: Doubles = np.min([self.points(offset)[:, 2] for offset in offsets], axis=0)
        return found

    def seen_from(self, ground: Doubles) -> Foot:
        """The same foot in the axes of a ground that moves: (F, 7), its place and rotation in each frame."""
        back, away = conjugates(ground[:, 3:]), ground[:, :3]
        places, roots = (rotated_each(back, one - away) for one in (self.places, self.roots))
        return self._replace(places=places, turns=products(back, self.turns), roots=roots)

    def moved(self, way: Doubles, turn: Doubles) -> Foot:
        """The same foot moved by ways (F, 3), and turned about its effector by rotations (F, 4)."""
        return self._replace(places=self.places + way, turns=products(turn, self.turns))

    def let_go(self, some: Mask, ways: Doubles) -> Foot:
        """The same, but in some frames (F,) its limb hangs where it goes to by ways (F, 3), so that it has no reach."""
        return self._replace(roots=np.where(some[:, None], self.places + ways, self.roots))


class Stance(NamedTuple):
    """Frames in which a foot is on the same ground without a break, and where it is to stand there.

    Attributes:
        first: Index of the first frame.
        last: Of the first one after it.
        ground: (F, 7), place and rotation of the ground in each frame of the motion; None for the world.
        wanted: (7,), place of the effector and rotation of the foot in the axes of the ground, once it is flat on it;
            None for where the motion has it.
    """

    first: int
    last: int
    ground: Doubles | None = None
    wanted: Doubles | None = None


def relative(ground: Doubles) -> Doubles:
    """(F, 7), how a ground moves since the first frame: in its axes as they stand there nothing is tilted."""
    turns = products(ground[:, 3:], conjugates(ground[:1, 3:]))
    places = ground[:, :3] - rotated_each(turns, ground[0, :3])
    return np.concatenate((places, turns), axis=1)


def junk_ends(turns: Doubles) -> tuple[int, int]:
    """How many frames at both ends of a clip are a pose that is none of it, as exporters leave a rest pose there.

    Args:
        turns: (F, n, 4), rotations of n bones.
    """
    count = len(turns)
    if count < FEWEST_FRAMES or not turns.shape[1]:
        return 0, 0
    steps = np.median(np.arccos(np.clip(np.abs((turns[1:] * turns[:-1]).sum(axis=2)), 0.0, 1.0)) * 2.0, axis=1)
    leaps = np.flatnonzero(steps > max(JUNK, LEAPS * float(np.median(steps))))
    before = [k + 1 for k in leaps.tolist() if k < MOST_JUNK]
    after = [count - 1 - k for k in leaps.tolist() if count - 1 - k <= MOST_JUNK]
    return max(before, default=0), max(after, default=0)


def slope_of(feet: Sequence[Foot], rate: float) -> Doubles:
    """(2,), by how much the ground rises a meter along X and Y: 0 but where feet stand on a slope more often.

    Those that go through two of the places at which feet stand still are tried, and the best is fitted to all places
    that are on it, by least squares.

    Args:
        feet: Their motion.
        rate: Frames a second.
    """
    size, counts, stood = max(foot.reach for foot in feet), list[int](), list[Doubles]()
    for foot in feet:
        heel = blurred(foot.points(foot.heel), rate)
        for first, last in runs(_stands(foot, rate)):
            if last - first >= SHORTEST * rate:
                counts.append(last - first)
                stood.append(np.median(heel[first:last], axis=0))
    flat: Doubles = np.zeros(2)
    if len(stood) < 2:
        return flat
    chosen = np.linspace(0, len(stood) - 1, min(len(stood), MOST_PLACES)).round().astype(int)
    places, weights = np.array(stood)[chosen], np.array(counts)[chosen]
    a, b = np.triu_indices(len(places), 1)
    apart = places[b] - places[a]
    squares = (apart[:, :2] ** 2).sum(axis=1)
    is_far = squares >= (FAR * size) ** 2
    slopes = apart[is_far, :2] * (apart[is_far, 2] / squares[is_far])[:, None]
    slopes = np.concatenate((flat[None], slopes[lengths(slopes) <= STEEPEST]))
    heights = places[:, 2] - slopes @ places[:, :2].T
    is_on = np.abs(heights - np.quantile(heights, LOWEST, axis=1)[:, None]) < 0.5 * LOW * size
    scores = is_on @ weights
    best = int(scores.argmax())
    if scores[best] <= CLEARER * scores[0]:
        return flat
    own, rest = places[is_on[best], :2], heights[best, is_on[best]]
    found: Doubles = slopes[best] + np.linalg.lstsq(own - own.mean(axis=0), rest - rest.mean(), rcond=ONE_WAY)[0]
    return found


def _stands(foot: Foot, rate: float) -> Mask:
    """(F,), whether heel and ball are slow."""
    return (_speeds(foot, foot.heel, rate) < SLOW) & (_speeds(foot, foot.ball, rate) < SLOW)


def _speeds(foot: Foot, point: Doubles, rate: float) -> Doubles:
    """(F,), how fast a point of a foot is, as if the leg were `LEG` long."""
    return lengths(np.gradient(blurred(foot.points(point), rate), axis=0)) * (rate * LEG / foot.reach)


def find_contacts(foot: Foot, rate: float, slope: Doubles) -> Ints:
    """What of a foot is on the ground in each frame, (F,).

    Args:
        foot: Its motion.
        rate: Frames a second.
        slope: (2,), of the ground (`slope_of`).
    """
    return _found(rolling(foot, _found(foot, rate, slope)), rate, slope)


def rolling(foot: Foot, kinds: Ints) -> Foot:
    """A foot with the point about which it rolls in place of the tip of its toes.

    That is the one between ball and tip that moves least, by squares, while the foot is on its toes alone.

    Args:
        foot: Its motion.
        kinds: (F,), what of it is on the ground.
    """
    on_toes = (kinds[1:] == TOE) & (kinds[:-1] == TOE)
    ball, tip = (np.diff(foot.points(one), axis=0)[on_toes] for one in (foot.ball, foot.toe))
    apart = tip - ball
    square = float((apart * apart).sum())
    share = min(max(-float((ball * apart).sum()) / square, 0.0), 1.0) if square > 0.0 else 1.0
    return foot._replace(toe=foot.ball + share * (foot.toe - foot.ball))


def _found(foot: Foot, rate: float, slope: Doubles) -> Ints:
    points = [blurred(foot.points(one), rate) for one in (foot.heel, foot.ball, foot.toe)]
    heel, ball, toe = (_heights(one, slope) for one in points)
    faces, found = _faces_down(foot), np.zeros(len(heel), dtype=np.int32)
    stands = faces & _stands(foot, rate)
    if not stands.any():
        return found
    stands &= heel <= np.quantile(heel[stands], LOWEST) + LOW * foot.reach  # a foot may be held up, too
    sole = np.maximum(lengths(points[0] - points[1]), SHORTEST_SOLE)
    pitch = np.arcsin(np.clip((heel - ball) / sole, -1.0, 1.0))
    usual = float(np.median(pitch[stands]))
    pitch -= usual if abs(usual) < LIES else 0.0  # else it is on its toes, as in a push-up
    ends = ((HEEL, foot.heel, heel, pitch < HEEL_LIFTED), (TOE, foot.toe, toe, -pitch < TOES_LIFTED))
    for kind, point, height, is_level in ends:
        speed = _speeds(foot, point, rate)
        may = faces & is_level & (speed < FAST) & (height - np.median(height[stands]) < LOW * foot.reach)
        found += kind * _runs_with(may, may & (speed < SLOW), ceil(SHORTEST * rate))
    return found.astype(np.int32)


def level_of(
    feet: Sequence[Foot],
    kinds: Sequence[Ints],
    slope: Doubles,
    rate: float,
    others: tuple[Sequence[Foot], Doubles, float],
) -> float | None:
    """How high the ground of feet is at X = Y = 0, below most places in which they stand.

    Where none stands, that which hands alone touch, as who crawls; None where anything is lower than their palms.

    Args:
        feet: Their motion.
        kinds: For each (F,), what of it is on the ground.
        slope: (2,), of the ground.
        rate: Frames a second.
        others: The motion of hands; (F,), how high the lowest joint of the body is; the length of a leg.
    """
    stood = list[Doubles]()
    for foot, own in zip(feet, kinds, strict=True):
        for point, kind in ((foot.heel, FLAT), (rolling(foot, own).toe, TOE)):
            stood.append(_heights(foot.points(point)[own == kind], slope))
    every = np.concatenate(stood)
    if len(every):
        return float(np.quantile(every, USUAL))
    hands, lowest, size = others
    for hand in hands:
        low = float(np.quantile(_heights(hand.points(hand.ball), slope), LOWEST))
        is_lowest = low < float(np.quantile(lowest, LOWEST)) + LOW * size
        if is_lowest and find_touches(hand, rate, size, slope, low).any():
            return low
    return None


def find_touches(hand: Foot, rate: float, size: float, slope: Doubles, level: float) -> Ints:
    """What of a hand is on the ground in each frame, (F,): its heel, its fingers (TOE) or both.

    Args:
        hand: Its motion.
        rate: Frames a second.
        size: Length of a leg, by which speeds and heights count.
        slope: (2,), of the ground.
        level: How high that is at X = Y = 0.
    """
    found: Ints = np.zeros(len(hand.places), dtype=np.int32)
    seen = hand._replace(reach=size)
    for kind, point in ((HEEL, hand.heel), (TOE, hand.ball)):
        speed, height = _speeds(seen, point, rate), _heights(blurred(hand.points(point), rate), slope) - level
        may = (speed < FAST) & (height < LOW * size)
        found += kind * _runs_with(may, may & (speed < SLOW), ceil(SHORTEST * rate))
    return found.astype(np.int32)


def _heights(places: Doubles, slope: Doubles) -> Doubles:
    """(F,), how high places (F, 3) are over a ground that slopes."""
    return places[:, 2] - places[:, :2] @ slope


def _faces_down(foot: Foot) -> Mask:
    """(F,), whether the sole looks to the ground, and not to a side or up; the steeper it is, the less that tells."""
    ahead, up = sole_axes(foot.heel, foot.ball)
    sine, high = (rotated_each(foot.turns, one)[:, 2] for one in (ahead, up))
    found: Mask = high >= FACES * (np.sqrt(np.maximum(1.0 - sine * sine, 0.0)) - np.abs(sine))
    return found if up.any() else np.ones(len(found), dtype=bool)


def sole_axes(heel: Doubles, ball: Doubles) -> tuple[Doubles, Doubles]:
    """The directions ahead and up of a foot, each (3,), by the ways from its joint to heel and ball.

    What has no sole has no up, which is 0 then.
    """
    ahead = units(ball - heel)
    up: Doubles = dots(heel, ahead) * ahead - heel
    return ahead, units(up) if lengths(up) > SHORTEST_SOLE else np.zeros(3)


def _runs_with(may: Mask, must: Mask, shortest: int) -> Mask:
    """The runs of frames in `may` that have one in `must`, and are no shorter than that."""
    found: Mask = np.zeros(len(may), dtype=bool)
    for first, last in runs(may):
        if last - first >= shortest and must[first:last].any():
            found[first:last] = True
    return found


def runs(mask: Mask) -> list[tuple[int, int]]:
    """First frame of each run of a mask, and the first one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def standing_still(
    foot: Foot, kinds: Ints, stances: Sequence[Stance], shares: Doubles, rate: float
) -> tuple[Doubles, Doubles]:
    """What lets a foot stand still in its contacts, and comes and goes smoothly between them; nothing without any.

    A foot that is flat on the ground has one pose, the mean of those that it has there. Before and after, as long as
    heel or toe are in contact, that point stays where it was in the frame next to it, and the foot rolls about it as it
    did.

    Args:
        foot: Its motion.
        kinds: (F,), what of it is on the ground.
        stances: When it is, one after the other.
        shares: (F,), how much of it all is wanted.
        rate: Frames a second.

    Returns:
        (F, 3), by which its effector is to be moved; (F, 4), rotations by which it is to be turned about that.
    """
    rolled = rolling(foot, kinds)
    found: Doubles = np.zeros((len(kinds), 6))  # the way, and the rotation vector
    for one in stances:
        own = slice(one.first, one.last)
        seen = rolled if one.ground is None else rolling(foot.seen_from(one.ground), kinds)
        part = seen._replace(places=seen.places[own], turns=seen.turns[own], toe=seen.toe[own])
        found[own] = _stood(part, kinds[own], rate, one.wanted)
        if one.ground is not None:
            turns = one.ground[own, 3:]
            found[own] = np.concatenate([rotated_each(turns, found[own, i : i + 3]) for i in (0, 3)], axis=1)
    gaps = zip([0, *(one.last for one in stances)], [*(one.first for one in stances), len(kinds)], strict=True)
    for first, last in gaps:
        width = min(FADE * rate, last - first + 1.0)
        steps = np.arange(1, last - first + 1, dtype=np.float64)[:, None]
        if first > 0:
            found[first:last] += found[first - 1] * (1.0 - smooth_steps(steps / width))
        if last < len(kinds):
            found[first:last] += found[last] * (1.0 - smooth_steps(steps[::-1] / width))
    found *= shares[:, None]
    return found[:, :3], turns_by(found[:, 3:])


def coming_and_going(kinds: Ints, begins: bool, ends: bool, rate: float) -> Doubles:
    """(F,), shares that come in the first of some frames, and go in the last ones, smoothly; 1 where they don't.

    They are there before a contact begins, and go once it has ended, unless the frames cut it.

    Args:
        kinds: (F,), what of a foot is on the ground, or of any foot.
        begins: Whether the motion begins with the frames.
        ends: Whether it ends with them.
        rate: Frames a second.
    """
    count, on = len(kinds), np.flatnonzero(kinds != NONE)
    steps, found = np.arange(1.0, count + 1.0), np.ones(count)
    for is_end, way, first in ((begins, 1, on[:1]), (ends, -1, count - 1 - on[-1:])):
        if not is_end:
            free = float(first[0]) if len(first) and first[0] else float(count)  # frames before a contact
            width = min(FADE * rate, 0.5 * (count + 1.0), free + 1.0)
            found *= smooth_steps(np.asarray(steps[::way] / width))
    return found


def between_contacts(high: Doubles, kinds: Ints, width: float) -> Doubles:
    """(F,), heights of the ground, between two contacts the lower of both, so that a foot may go down to that.

    From and to the higher one they go smoothly in so many frames.
    """
    known, frames = np.flatnonzero(kinds != NONE), np.arange(len(high))
    if not len(known):
        return high
    before = known[np.maximum(np.searchsorted(known, frames, side="right") - 1, 0)]
    after = known[np.minimum(np.searchsorted(known, frames), len(known) - 1)]
    low = np.minimum(high[before], high[after])
    for near in (before, after):
        low = low + (high[near] - low) * smooth_steps(1.0 - np.abs(frames - near) / max(width, 1.0))
    found: Doubles = low
    return found


def smooth_steps(shares: Doubles) -> Doubles:
    """A smooth step from 0 to 1, of shares of the way."""
    within = np.clip(shares, 0.0, 1.0)
    return within * within * (3.0 - 2.0 * within)


def shares_near(some: Mask, width: float) -> Doubles:
    """(F,), shares that are 1 in some of F frames, and go to 0 smoothly in so many before and after."""
    chosen, frames = np.flatnonzero(some), np.arange(len(some))
    if not len(chosen):
        return np.zeros(len(some))
    after = np.minimum(np.searchsorted(chosen, frames), len(chosen) - 1)
    off = np.minimum(np.abs(frames - chosen[after]), np.abs(frames - chosen[np.maximum(after - 1, 0)]))
    return smooth_steps(1.0 - off / max(width, 1.0))


def _stood(foot: Foot, kinds: Ints, rate: float, wanted: Doubles | None) -> Doubles:
    """(F, 6), the ways and the rotation vectors by which a foot stands still in the F frames of one stance.

    That is where it is wanted (`Stance`), or the mean of where the motion has it.

    Once it is on its toes alone it rolls about these as far as its ankle needs to be where it was, so that its leg does
    not have to be longer.
    """
    count, flat = len(kinds), np.flatnonzero(kinds == FLAT)
    vectors: Doubles = np.zeros((count, 3))
    if len(flat):
        turn = mean_turn(foot.turns[flat]) if wanted is None else wanted[3:]
        off = vectors_of(products(turn, conjugates(foot.turns)))
        vectors = np.stack([np.interp(np.arange(count), flat, off[flat, i]) for i in range(3)], axis=1)
    turns = products(turns_by(vectors), foot.turns)
    heels, toes = (rotated_each(turns, one) for one in (foot.heel, foot.toe))
    start = int(flat[0]) if len(flat) else count // 2
    places: Doubles = foot.places.copy()
    if wanted is not None:
        places[start] = wanted[:3]
    elif len(flat):
        places[start] = foot.points(foot.heel)[flat].mean(axis=0) - heels[start]
    for k in (*range(start + 1, count), *range(start - 1, -1, -1)):
        near = k - 1 if k > start else k + 1
        arm = toes if kinds[k] == TOE or (kinds[k], kinds[near]) == (FLAT, TOE) else heels  # what of it stays
        places[k] = places[near] + arm[near] - arm[k]
    if not len(flat) and wanted is None:
        places[:, :2] -= (places - foot.places)[:, :2].mean(axis=0)
    if not len(flat):
        return np.concatenate((places - foot.places, vectors), axis=1)
    on_toes = (kinds == TOE) & (np.arange(count) > flat[-1])
    shares = np.where(on_toes, smooth_steps((np.arange(count) - flat[-1]) / (ROLLS_IN * rate)), 0.0)
    ankles = foot.places if wanted is None else foot.places + (places - foot.places)[flat[-1]]
    rolls = turns_by(shares[:, None] * between_each(-toes, ankles - places - toes))
    places[on_toes] += (toes - rotated_each(rolls, toes))[on_toes]
    return np.concatenate((places - foot.places, vectors_of(products(rolls, turns_by(vectors)))), axis=1)


def between_each(a: Doubles, b: Doubles) -> Doubles:
    """(F, 3), the rotation vectors of the least rotations that bring directions (F, 3) onto others."""
    axes = crosses(a, b)
    sines = lengths(axes)
    angles = np.arctan2(sines, dots(a, b))
    found: Doubles = axes * (angles / np.where(sines > 0.0, sines, 1.0))[:, None]
    return found


def mean_turn(turns: Doubles) -> Doubles:
    """(4,), the mean of rotations (F, 4) that are near each other."""
    total = (turns * np.where(turns @ turns[0] < 0.0, -1.0, 1.0)[:, None]).sum(axis=0)
    found: Doubles = total / np.linalg.norm(total)
    return found


def way_of_body(feet: Sequence[Foot], ways: Sequence[Doubles], body: Doubles, rate: float) -> Doubles:
    """(F, 3), by which a body has to be moved for its limbs to reach: over the whole motion as little as that needs.

    A limb may be as stretched as it is in the motion, and in any case almost straight.

    Args:
        feet: The motion of its feet.
        ways: For each (F, 3), by which it is moved.
        body: (F, 3), by which the body is moved already.
        rate: Frames a second.
    """
    size, centres, radii = max(foot.reach for foot in feet), list[Doubles](), list[Doubles]()
    for foot, way in zip(feet, ways, strict=True):
        stretched = lengths(foot.places - foot.roots) / foot.reach
        centres.append((foot.places + way - foot.roots - body) / size)
        radii.append(foot.reach / size * np.clip(stretched, STRAIGHT, STRAIGHTEST))
    spheres = [np.concatenate(own).ravel().tolist() for own in (centres, radii)]
    fit = PathFit(len(body), (SMOOTH * rate / (2.0 * pi)) ** 4, *spheres)
    return size * np.array(fit.solved()).reshape(-1, 3)
