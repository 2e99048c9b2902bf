# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one skeleton to another: each bone of the one is a constant turn away from one or two of the other.

Rest poses, rolls and axes of the two differ, so what a bone is compared with is a frame that both have: of an arm or a
leg its direction and the hinge of elbow or knee, found from the motion where that bends them; of a hand the forearm; of
a foot its flat sole; of all else its rest pose. How this was found, and what failed: Aristidou & Lasenby (2011) for the
limbs, and Gleicher (1998), "Retargetting Motion to New Characters", for feet that stay where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import atan, radians
from typing import NamedTuple

import numpy as np

from ..maths import (
    Doubles,
    Ints,
    conjugates,
    crosses,
    dots,
    lengths,
    products,
    rotated_each,
    towards_each,
    turns_about,
    units,
)
from ..recognise.part import ARM, FINGER, LEG, Recognised
from .body import (
    FORWARD,
    UP,
    Body,
    Limb,
    Motion,
    foot_of,
    frame_along,
    hang,
    hinges_at_rest,
    hinges_in_motion,
    unrolled,
)
from .contacts import (
    FADE,
    FLAT,
    LIES,
    LOW,
    LOWEST,
    NONE,
    SLOW,
    Foot,
    between_contacts,
    find_contacts,
    find_touches,
    level_of,
    level_of_hands,
    rolling,
    runs,
    shares_near,
    slope_of,
)
from .contacts import LEG as LEG_LENGTH
from .smoothing import blurred
from .touches import Touches, keep, lean, palm_of

MOST_DRIFT = radians(1.5)  # slope of a ground that is taken for drift, and out of the motion
FEWEST_FLAT = 6  # frames in which a foot is flat, from which on they tell its sole
SPREAD = 0.15  # of the speed of a belt, by which feet that stand on it are slower or faster
OFTENER = 1.25  # so much more often feet have to go along with a belt than stand still
MOST_SPEEDS = 300
TOGETHER = 0.08  # of a leg, nearer than which two palms touch
COMES = 0.15  # seconds in which hands that will touch come together as far as they should be
ROOT_BLUR = 0.25  # seconds, deviation of the Gaussian through which a root goes along with the hips
# Of a leg: by how much a step may be higher than the one before; and one after there was no ground
HIGHEST, FAR_ABOVE = 0.6, 10.0
SAME = 0.01  # of a limb's length by which the joints of two differ that are the same


class Source(NamedTuple):
    """From what a bone of the target is turned: a share of the way from one bone to another, each by a constant turn.

    Attributes:
        bones: The numbers of two bones.
        turns: (2, 4), from each of them to the bone of the target, in its own axes.
        share: Of the way from the first to the second.
    """

    bones: tuple[int, int]
    turns: Doubles
    share: float

    def turned(self, motion: Motion) -> Doubles:
        """(F, 4), how the bone of the target is turned."""
        a, b = (products(motion.turns[:, bone], turn) for bone, turn in zip(self.bones, self.turns, strict=True))
        if not self.share:
            return a
        return towards_each(a, b, np.array(self.share))


TRANSFER_WORDS = {"way": ("LEGS", "SOURCE", "PLACE"), "root": ("BODY", "ROOT", "OBJECT")}


class TransferOptions(NamedTuple):
    """How motion comes to another body.

    Attributes:
        keep_contacts: Whether feet and hands stay where those of the source do.
        way: How far it goes: as its own legs would ("LEGS"), as the source does ("SOURCE"), or nowhere ("PLACE").
        level: Whether slopes and steps of the source's ground are taken out.
        root: What goes along: the body bone alone ("BODY"), or what it hangs on, the bone above all ("ROOT") or the
            armature object ("OBJECT").
        fingers: Whether they move, too.
        rate: Frames a second of what comes out; 0 for those of the source.
        ground: Name of an object on which it walks (`Floor`), as that is at the first frame; "" for none.
        mapping: Which bones of the source are which parts; None to look for them.
    """

    keep_contacts: bool = True
    way: str = "LEGS"
    level: bool = False
    root: str = "BODY"
    fingers: bool = True
    rate: float = 0.0
    ground: str = ""
    mapping: Recognised[str] | None = None


# How high the ground is below a place (3,), and its normal (3,); None where there is none
Floor = Callable[[Doubles], "tuple[float, Doubles] | None"]


class Transferred(NamedTuple):
    """A motion on another body.

    Attributes:
        motion: Of all its bones; those without a source hang on their parents as at rest.
        sources: By the numbers of its bones those from which they are turned.
        contacts: By the names of its legs, and of arms on which it leans, (F,) what of the foot or hand is on the
            ground.
        missing: The parts of the source that it has not.
        slope: Radians by which the ground of the source slopes, and stays so.
        belt: Meters a second at which it walks in place, as on a belt; contacts are not told then.
        moved: The most by which the hips give way for the feet, in meters.
        stride: How many times as far it goes as its own legs would.
        missed: How many contacts there are where there is no ground.
    """

    motion: Motion
    sources: Mapping[int, Source]
    contacts: Mapping[str, Ints]
    missing: Sequence[str]
    slope: float
    belt: float
    moved: float
    stride: float
    missed: int


def transfer(
    source: Body,
    motion: Motion,
    target: Body,
    rate: float,
    options: TransferOptions | None = None,
    floor: Floor | None = None,
) -> Transferred:
    """Let a body move as another one does.

    Args:
        source: The body that moves.
        motion: How it does.
        target: The other one.
        rate: Frames a second.
        options: How; the usual ones where none are given.
        floor: On what it goes; where there is none, or none is given, on the ground at Z = 0.
    """
    options, own = options or TransferOptions(), len(motion.turns)
    motion, before = unrolled(source, motion, rate)
    motion, ground = _grounded(source, motion, rate, is_level=options.level or floor is not None)
    sources = dict(_sources(source, motion, target, ground.contacts))
    if not options.fingers:
        fingers = {bone for limb in target.limbs.values() if limb.kind == FINGER for bone in limb.bones}
        sources = {bone: one for bone, one in sources.items() if bone not in fingers}
    usual, rise = _ratios(source, target)
    ratio = 1.0 if options.way == "SOURCE" else usual
    found = _posed(target, sources, source, motion, ratio, rise)
    missing = [name for name in source.limbs if name not in target.limbs]
    moved, touches = 0.0, _touches(source, motion, target, ground, rise, rate)
    missed, shown = 0, slice(before, before + own)
    if floor is not None:
        touches, missed = _on_floor(target, found, touches, floor, shown)
        found.heads[..., 2] += _rise(touches.contacts, touches.heights, rate)[:, None]
    contacts = touches.contacts if options.keep_contacts else {}
    arms = {name: own for name, own in contacts.items() if target.limbs[name].kind == ARM}
    if arms:
        lean(target, found, arms, {name: _shoulder(source, motion, target, name) for name in arms}, rate)
    if options.keep_contacts and (
        touches.clasp or any(own.any() or not target.is_upright for own in contacts.values())
    ):
        moved = keep(target, found, touches, rate)
    belt: Doubles = ratio * ground.belt
    found.heads[:] += _way_of(belt, found, rate)
    if options.way == "PLACE":
        speed = _speed(found.heads[:, target.hips], rate)
        if lengths(speed) > SLOW * _legs_of(target)[0] / LEG_LENGTH:
            found.heads[:] -= _way_of(speed, found, rate) - before / rate * speed
            belt = belt - speed
    marks = {name: kinds[shown] for name, kinds in contacts.items()} if not belt.any() else {}
    found = found.during(shown)
    return Transferred(found, sources, marks, missing, ground.slope, float(lengths(belt)), moved, ratio / usual, missed)


def _speed(places: Doubles, rate: float) -> Doubles:
    """(3,), the velocity along the ground of the straight way that fits places (F, 3) best."""
    times = (np.arange(len(places)) - 0.5 * (len(places) - 1)) / rate
    found: Doubles = times @ places / float(times @ times) * (1.0, 1.0, 0.0)
    return found


def _shoulder(source: Body, motion: Motion, target: Body, name: str) -> Doubles:
    """(F,), how high a shoulder should be over the ground, by how long both arms are."""
    limb, own = source.limbs[name], target.limbs[name]
    return motion.heads[:, limb.bones[0], 2] * (target.reach(own) / source.reach(limb))


def _touches(source: Body, motion: Motion, target: Body, ground: Ground, rise: float, rate: float) -> Touches:
    """What feet and hands of the target should touch: what those of the source do."""
    ends = {name for name, limb in target.limbs.items() if target.is_jointed(limb) and limb.sole.any()}
    contacts = {name: own for name, own in ground.contacts.items() if name in ends}
    heights = {name: rise * ground.heights[name] for name in contacts}
    hands = {name: hand for name, hand in _hands(source, motion).items() if name in ends}
    if len(hands) != 2:
        return Touches(contacts, heights, {}, None)
    (a, left), (b, right) = hands.items()
    apart = palm_of(right) - palm_of(left)
    touch = lengths(apart) < TOGETHER * _legs_of(source)[0]
    for name in (a, b):
        if name in contacts:
            touch &= contacts[name] == NONE
    ratio = float(lengths(target.limbs[a].sole[1]) / lengths(source.limbs[a].sole[1]))
    clasp = ((a, b), ratio * apart, shares_near(touch, COMES * rate)) if touch.any() else None
    return Touches(contacts, heights, {}, clasp)


def _on_floor(target: Body, found: Motion, touches: Touches, floor: Floor, shown: slice) -> tuple[Touches, int]:
    """What feet and hands touch with each contact on the ground that is there; how many that are shown have none."""
    heights: dict[str, Doubles] = {name: np.zeros(len(kinds)) for name, kinds in touches.contacts.items()}
    normals = {name: np.broadcast_to(UP, (len(kinds), 3)).copy() for name, kinds in touches.contacts.items()}
    missed = 0
    for name, kinds in touches.contacts.items():
        foot, high, known = foot_of(target, found, target.limbs[name]), 0.0, True
        for first, last in runs(kinds != NONE):
            place = foot.points(0.5 * (foot.heel + foot.ball))[first:last].mean(axis=0)
            above = HIGHEST * foot.reach if known else FAR_ABOVE * foot.reach
            met = floor(place * (1.0, 1.0, 0.0) + (high + above) * UP)
            known = met is not None
            if met is not None:
                high, normals[name][first:last] = met
                heights[name][first:last] = high
            missed += met is None and first < shown.stop and last > shown.start
        heights[name] = between_contacts(heights[name], kinds)
    return touches._replace(heights=heights, normals=normals), missed


def _rise(contacts: Mapping[str, Ints], heights: Mapping[str, Doubles], rate: float) -> Doubles:
    """(F,), how high the ground is under what stands on it, smoothly from one contact to the next."""
    count = len(next(iter(heights.values()), ()))
    total: Doubles = np.zeros(count)
    weight: Doubles = np.zeros(count)
    frames = np.arange(count)
    for name, kinds in contacts.items():
        for first, last in runs(kinds != NONE):
            share = shares_near((frames >= first) & (frames < last), FADE * rate)
            total, weight = total + share * heights[name][first], weight + share
    known = np.flatnonzero(weight)
    if not len(known):
        return total
    found: Doubles = np.interp(frames, known, total[known] / weight[known])
    return found


def way_of_root(body: Body, motion: Motion, rate: float) -> tuple[Doubles, Doubles]:
    """Places (F, 3) and rotations (F, 4) of what goes along below the hips of a body, from where it is at rest.

    It stays on the ground and upright, and goes and faces as the hips do in the mean of half a second.

    Args:
        body: At rest.
        motion: Of it.
        rate: Frames a second.
    """
    since = products(
        motion.turns[:, body.hips], np.broadcast_to(conjugates(body.turns[body.hips]), (len(motion.turns), 4))
    )
    yaw = np.unwrap(2.0 * np.arctan2(since[:, 3:], since[:, :1]), axis=0)
    angles = blurred(yaw.astype(np.float64), rate, ROOT_BLUR)[:, 0]
    turns = turns_about(np.broadcast_to(UP, motion.heads[:, body.hips].shape), angles)
    along = blurred(motion.heads[:, body.hips] * (1.0, 1.0, 0.0), rate, ROOT_BLUR)
    rest = np.broadcast_to(body.heads[body.hips] * (1.0, 1.0, 0.0), along.shape)
    found: Doubles = along - rotated_each(turns, rest)
    return found, turns


# The ground.


class Ground(NamedTuple):
    """On what a body moves.

    Attributes:
        contacts: By the names of legs, and of arms that lean on it, (F,) what of the foot or hand is on the ground.
        heights: By the same names (F,) how high the ground is over Z = 0.
        slope: Radians by which it slopes.
        belt: (3,), its velocity under a motion that walks in place.
    """

    contacts: Mapping[str, Ints]
    heights: Mapping[str, Doubles]
    slope: float
    belt: Doubles


def _grounded(body: Body, motion: Motion, rate: float, *, is_level: bool) -> tuple[Motion, Ground]:
    """A motion over a ground at Z = 0 that stands still, from which drift is taken out, and all slopes and steps."""
    legs = {name: limb for name, limb in body.limbs.items() if limb.kind == LEG and body.is_jointed(limb)}
    if not legs:
        return motion, Ground({}, {}, 0.0, np.zeros(3))
    belt = _belt([foot_of(body, motion, limb) for limb in legs.values()], rate)
    motion = motion._replace(heads=motion.heads - _way_of(belt, motion, rate))
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
    found = level_of([*feet.values()], [*kinds.values()], even)
    if found is None:
        lowest = motion.heads[..., 2].min(axis=1)
        found = level_of_hands([*_hands(body, motion).values()], lowest, rate, _legs_of(body)[0], even)
    level: Doubles = np.array(found or 0.0)
    heights = dict[str, Doubles]()
    for name, own in kinds.items():
        high: Doubles = np.zeros(len(own))
        for first, last in runs(own != NONE):
            flat = first + np.flatnonzero(own[first:last] == FLAT)
            value = np.median(heels[name][flat] if len(flat) else toes[name][first:last]) - level
            high[first:last] = value if abs(value) > LOW * feet[name].reach else 0.0
        heights[name] = between_contacts(high, own)
    if is_level:
        level = level + _rise(kinds, heights, rate)[:, None]
        heights = {name: np.zeros(len(own)) for name, own in kinds.items()}
    motion = motion._replace(heads=motion.heads - level[..., None] * UP)
    for name, hand in _hands(body, motion).items():
        touches = find_touches(hand, rate, size, even, 0.0)
        if touches.any():
            kinds[name], heights[name] = touches, np.zeros(len(touches))
    return motion, Ground(kinds, heights, angle, belt)


def _hands(body: Body, motion: Motion) -> dict[str, Foot]:
    """How the hands of a body move, by the names of its arms."""
    arms = {name: limb for name, limb in body.limbs.items() if limb.kind == ARM and body.is_jointed(limb)}
    return {name: foot_of(body, motion, limb) for name, limb in arms.items() if limb.sole.any()}


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


def _way_of(belt: Doubles, motion: Motion, rate: float) -> Doubles:
    """(F, 1, 3), how far a belt has gone in each frame."""
    found: Doubles = np.arange(len(motion.turns))[:, None, None] / rate * belt
    return found


def _ratios(source: Body, target: Body) -> tuple[float, float]:
    """By what ways along the ground, and heights over it, differ: by the legs; without the ankles, and with them.

    Animals, which stand on bent legs, differ by how high these begin at rest.
    """
    if not source.is_upright:
        high = float(_middle_of_hips(target)[2] / _middle_of_hips(source)[2])
        return high, high
    sizes = [_legs_of(body) for body in (source, target)]
    return sizes[1][0] / sizes[0][0], sizes[1][1] / sizes[0][1]


def _legs_of(body: Body) -> tuple[float, float]:
    """How long the legs of a body are, and how high its hips are; of one without legs the height of the hips."""
    legs = [limb for limb in body.limbs.values() if limb.kind == LEG]
    sizes = [float(lengths(np.diff(body.heads[[*limb.bones]], axis=0)).sum()) for limb in legs]
    ends = [float(body.heads[limb.bones[-1], 2]) for limb in legs]
    size = float(np.mean(sizes)) if legs else float(body.heads[body.hips, 2])
    return size, size + (float(np.mean(ends)) if legs else 0.0)


# From which bones those of the target are turned.


def _sources(source: Body, motion: Motion, target: Body, kinds: Mapping[str, Ints]) -> Iterator[tuple[int, Source]]:
    yield target.hips, _as_at_rest(source, target, source.hips, target.hips)
    for name, limb in target.limbs.items():
        other = source.limbs.get(name)
        if other is None or other.kind != limb.kind:
            continue
        if limb.kind != LEG:  # hip sockets never bend
            yield from _by_length(source, target, other.above, limb.above)
        if source.is_upright and source.is_jointed(other) and target.is_jointed(limb):
            yield from _of_limb(source, motion, target, (other, limb), kinds.get(name))
        elif limb.kind == FINGER:
            yield from _by_length(source, target, other.bones, limb.bones, _palms(source, target, name))
        else:
            yield from _by_length(source, target, _row(source, other), _row(target, limb))
            if limb.toes >= 0 <= other.toes:
                yield limb.toes, _as_at_rest(source, target, other.toes, limb.toes)


def _row(body: Body, limb: Limb) -> list[int]:
    """The bones of a part that turn; a leg's from scapula or pelvis on."""
    row = [*limb.above[::-1], *limb.bones] if limb.kind == LEG else limb.bones
    return [bone for bone in row if bone != body.hips]


def _as_at_rest(source: Body, target: Body, bone: int, own: int, palms: Doubles | None = None) -> Source:
    """The source of a bone that is turned as another one is from its rest pose, seen in frames of both or the stage."""
    rest = target.turns[own] if palms is None else products(palms, target.turns[own])
    turn = products(conjugates(source.turns[bone]), rest)
    return Source((bone, bone), np.stack((turn, turn)), 0.0)


def _by_length(
    source: Body, target: Body, bones: Sequence[int], own: Sequence[int], palms: Doubles | None = None
) -> Iterator[tuple[int, Source]]:
    """The sources of bones in a row, each by the place of its middle along the length of the row."""
    if not (len(bones) and len(own)):
        return
    middles = _middles(source, bones)
    places = middles if len(own) == len(bones) else _middles(target, own)
    for bone, place in zip(own, np.interp(places, middles, np.arange(len(bones))).tolist(), strict=True):
        first = int(place)
        two = (bones[first], bones[min(first + 1, len(bones) - 1)])
        turns = [_as_at_rest(source, target, one, bone, palms).turns[0] for one in two]
        yield bone, Source(two, np.stack(turns), place - first)


def _middles(body: Body, bones: Sequence[int]) -> Doubles:
    """Where the middles of bones in a row are along its length, of which they are a share."""
    row = [*bones]
    ends = np.concatenate((body.heads[row[1:]], body.tails[row[-1:]]))
    sizes = np.maximum(lengths(ends - body.heads[row]), 1e-9)
    found: Doubles = (np.cumsum(sizes) - 0.5 * sizes) / sizes.sum()
    return found


def _of_limb(
    source: Body, motion: Motion, target: Body, limbs: tuple[Limb, Limb], kinds: Ints | None
) -> Iterator[tuple[int, Source]]:
    """The sources of an arm or a leg with its hand or foot."""
    other, limb = limbs
    joints, own = source.joints(other), target.joints(limb)
    hinges = hinges_at_rest(source, other)
    if not _are_the_same(source, target, other, limb):
        hinges = hinges_in_motion(source, motion, other, hinges)
    ends = [*own[1:], len(limb.bones)]
    for k, hinge in enumerate(hinges_at_rest(target, limb)):
        bone, first = other.bones[joints[k]], limb.bones[own[k]]
        frame = _frame(source, bone, other.bones[joints[k + 1]], hinges[k])
        turn = products(frame, conjugates(_frame(target, first, limb.bones[own[k + 1]], hinge)))
        for place in range(own[k], ends[k]):  # bones for twist go along
            along = products(turn, products(conjugates(target.turns[first]), target.turns[limb.bones[place]]))
            yield limb.bones[place], Source((bone, bone), np.stack((along, along)), 0.0)
    tip, last = other.bones[joints[2]], limb.bones[own[2]]
    if limb.kind == ARM:
        palms = _frames_of_forearms((source, other), (target, limb))
        yield last, _as_at_rest(source, target, tip, last, palms)
        return
    lie = _lie(source, motion, other, kinds)
    for bone, at in ((tip, last), (other.toes, limb.toes)):
        if bone >= 0 and at >= 0:
            yield at, _as_at_rest(source, target, bone, at, conjugates(lie))


def _are_the_same(source: Body, target: Body, other: Limb, limb: Limb) -> bool:
    """Whether two limbs are of the same skeleton, so that what is not known of the one is as in the other."""
    points, own = source.points(other), target.points(limb)
    size, wanted = (float(lengths(np.diff(one, axis=0)).sum()) for one in (points, own))
    off = (points - points[0]) / size - (own - own[0]) / wanted
    return bool(lengths(off).max() < SAME)


def _frame(body: Body, bone: int, after: int, hinge: Doubles) -> Doubles:
    """(4,), in the axes of a bone: Y to the next joint, X as near to the hinge as that allows."""
    return frame_along(rotated_each(conjugates(body.turns[bone]), units(body.heads[after] - body.heads[bone])), hinge)


def _palms(source: Body, target: Body, name: str) -> Doubles | None:
    """`_frames_of_forearms` of the arm on the side of a finger."""
    arms = [
        [(body, limb) for one, limb in body.limbs.items() if limb.kind == ARM and one[-2:] == name[-2:]]
        for body in (source, target)
    ]
    if not all(arms) or not all(body.is_jointed(limb) for own in arms for body, limb in own[:1]):
        return None
    return _frames_of_forearms(arms[0][0], arms[1][0])


def _frames_of_forearms(*arms: tuple[Body, Limb]) -> Doubles:
    """(4,), from a turn of the target's stage to the source's: that which brings forearms at rest onto each other.

    Hands are seen from these, for one character may hold its arms out and another down.
    """
    frames = []
    for body, limb in arms:
        _, b, c = body.points(limb)
        y = units(c - b)
        frames.append(frame_along(y, crosses(y, FORWARD)))
    return products(frames[0], conjugates(frames[1]))


def _lie(body: Body, motion: Motion, limb: Limb, kinds: Ints | None) -> Doubles:
    """(4,), by which a foot has to be turned from its rest pose to be flat on the ground, as the motion has it there.

    What is up in the axes of a foot that stands flat should be what is up in those of the foot at rest.
    """
    still: Doubles = np.array((1.0, 0.0, 0.0, 0.0))
    flat = np.flatnonzero(kinds == FLAT) if kinds is not None else np.zeros(0, dtype=np.intp)
    if len(flat) < FEWEST_FLAT:
        return still
    tip = limb.bones[body.joints(limb)[-1]]
    ups = rotated_each(conjugates(motion.turns[flat, tip]), np.broadcast_to(UP, (len(flat), 3)))
    up = rotated_each(body.turns[tip], units(np.median(ups, axis=0)))
    across = crosses(up, UP)
    sine, cosine = float(lengths(across)), float(dots(up, UP))
    angle = float(np.arctan2(sine, cosine))
    return turns_about(units(across), np.array(angle)) if 0.0 < angle < LIES else still


# The pose of the target.


def _posed(
    body: Body, sources: Mapping[int, Source], source: Body, motion: Motion, ratio: float, rise: float
) -> Motion:
    """How a body moves before its feet are let stand still."""
    count, bones = len(motion.turns), len(body.parents)
    found = Motion(np.zeros((count, bones, 4)), np.zeros((count, bones, 3)))
    middle, own = _middle_of_hips(source), _middle_of_hips(body)
    hips = motion.turns[:, source.hips]
    off = rotated_each(conjugates(source.turns[source.hips]), middle - source.heads[source.hips])
    places = motion.heads[:, source.hips] + rotated_each(hips, np.broadcast_to(off, (count, 3)))
    places *= np.array((ratio, ratio, rise))
    found.turns[:, body.hips] = sources[body.hips].turned(motion)
    off = rotated_each(conjugates(body.turns[body.hips]), own - body.heads[body.hips])
    found.heads[:, body.hips] = places - rotated_each(found.turns[:, body.hips], np.broadcast_to(off, (count, 3)))
    for bone, parent in enumerate(body.parents):
        if bone != body.hips:
            if parent < 0:
                found.turns[:, bone], found.heads[:, bone] = body.turns[bone], body.heads[bone]
            else:
                hang(body, found, bone)
        if bone in sources:
            found.turns[:, bone] = sources[bone].turned(motion)
    return found


def _middle_of_hips(body: Body) -> Doubles:
    """(3,), the middle of the joints in which legs begin at rest; where there are none, the head of the hips."""
    starts = [limb.bones[0] for limb in body.limbs.values() if limb.kind == LEG]
    found: Doubles = body.heads[starts or [body.hips]].mean(axis=0)
    return found
