# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one skeleton to another: each bone of the one is a constant turn away from one or two of the other.

Rest poses, rolls and axes of the two differ, so what a bone is compared with is a frame that both have: of an arm or a
leg its direction and the hinge of elbow or knee, found from the motion where that bends them; of a hand the forearm; of
a foot its flat sole; of all else its rest pose. How this was found, and what failed: Aristidou & Lasenby (2011) for the
limbs, and Gleicher (1998), "Retargetting Motion to New Characters", for feet that stay where they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ..recognise.part import ARM, FINGER, LEG, RecognisedBody
from .body import (
    FORWARD,
    NO_TURN,
    UP,
    Body,
    Limb,
    Motion,
    carried,
    frame_along,
    hang,
    hinges_at_rest,
    hinges_in_motion,
    unrolled,
)
from .contacts import FLAT, LIES, SLOW
from .contacts import LEG as LEG_LENGTH
from .ground import Floor, grounded, on_floor, rise_of, way_of_belt
from .smoothing import blurred
from .touches import Touches, bring_hands, keep, lean

FEWEST_FLAT = 6  # frames in which a foot is flat, from which on they tell its sole
ROOT_BLUR = 0.25  # seconds, deviation of the Gaussian through which a root goes along with the hips
TELLS = 0.3  # cosine of half of the swing, below which less of the twist counts
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
        return towards_each(a, b, np.array(self.share)) if self.share else a


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
        own: The same of the other body.
        keep_limits: Whether the limits of its joints bend the motion where it goes beyond them.
    """

    keep_contacts: bool = True
    way: str = "LEGS"
    level: bool = False
    root: str = "BODY"
    fingers: bool = True
    rate: float = 0.0
    ground: str = ""
    mapping: RecognisedBody[str] | None = None
    own: RecognisedBody[str] | None = None
    keep_limits: bool = False


class TransferredMotion(NamedTuple):
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
) -> TransferredMotion:
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
    motion, seen, slope, stage_belt = grounded(source, motion, rate, is_level=options.level or floor is not None)
    sources = dict(_sources(source, motion, target, seen.contacts))
    if not options.fingers:
        fingers = {bone for limb in target.limbs.values() if limb.kind == FINGER for bone in limb.bones}
        sources = {bone: one for bone, one in sources.items() if bone not in fingers}
    usual, rise = _ratios(source, target)
    ratio = 1.0 if options.way == "SOURCE" else usual
    found = _posed(target, sources, source, motion, ratio, rise)
    missing = [name for name in source.limbs if name not in target.limbs]
    ends = {name for name, limb in target.limbs.items() if target.is_jointed(limb) and limb.sole.any()}
    heights = {name: rise * high for name, high in seen.heights.items() if name in ends}
    touches = Touches({name: seen.contacts[name] for name in heights}, heights, {}, {})
    moved, missed, shown = 0.0, 0, slice(before, before + own)
    if floor is not None:
        touches, missed = on_floor(target, found, touches, floor, shown, rate)
        found.heads[..., 2] += rise_of(touches.contacts, touches.heights, rate)[:, None]
    contacts = touches.contacts if options.keep_contacts else {}
    arms = {name: own for name, own in contacts.items() if target.limbs[name].kind == ARM}
    if arms:
        lean(target, found, arms, {name: _shoulder(source, motion, target, name) for name in arms}, rate)
    if any(own.any() or not target.is_upright for own in contacts.values()):
        moved = keep(target, found, touches, rate)
    if options.keep_contacts and target.is_upright:
        bones = {bone: one.bones[round(one.share)] for bone, one in sources.items()}
        bring_hands((source, motion), (target, found), bones, contacts, rate)
    if target.is_upright:
        _spread_twist(source, target, found)
    belt: Doubles = ratio * stage_belt
    found.heads[:] += way_of_belt(belt, found, rate)
    if options.way == "PLACE":
        times = (np.arange(len(found.heads)) - 0.5 * (len(found.heads) - 1)) / rate
        # along the ground, of the straight way that fits that of the hips best
        speed = times @ found.heads[:, target.hips] / float(times @ times) * (1.0, 1.0, 0.0)
        if lengths(speed) > SLOW * target.size_of_legs()[0] / LEG_LENGTH:
            found.heads[:] -= way_of_belt(speed, found, rate) - before / rate * speed
            belt = belt - speed
    marks = {name: kinds[shown] for name, kinds in contacts.items()} if not belt.any() else {}
    found = found.during(shown)
    return TransferredMotion(found, sources, marks, missing, slope, float(lengths(belt)), moved, ratio / usual, missed)


def _shoulder(source: Body, motion: Motion, target: Body, name: str) -> Doubles:
    """(F,), how high a shoulder should be over the ground, by how long both arms are."""
    limb, own = source.limbs[name], target.limbs[name]
    return motion.heads[:, limb.bones[0], 2] * (target.reach(own) / source.reach(limb))


def way_of_root(body: Body, motion: Motion, rate: float) -> tuple[Doubles, Doubles]:
    """Places (F, 3) and rotations (F, 4) of what goes along below the hips of a body, from where it is at rest.

    It stays on the ground and upright, and goes and faces as the hips do in the mean of half a second.

    Args:
        body: At rest.
        motion: Of it.
        rate: Frames a second.
    """
    since = products(motion.turns[:, body.hips], conjugates(body.turns[body.hips]))
    yaw = np.unwrap(2.0 * np.arctan2(since[:, 3:], since[:, :1]), axis=0)
    angles = blurred(yaw.astype(np.float64), rate, ROOT_BLUR)[:, 0]
    turns = turns_about(UP, angles)
    along = blurred(motion.heads[:, body.hips] * (1.0, 1.0, 0.0), rate, ROOT_BLUR)
    found: Doubles = along - rotated_each(turns, body.heads[body.hips] * (1.0, 1.0, 0.0))
    return found, turns


def _ratios(source: Body, target: Body) -> tuple[float, float]:
    """By what ways along the ground, and heights over it, differ: by the legs; without the ankles, and with them.

    Animals, which stand on bent legs, differ by how high these begin at rest.
    """
    if not source.is_upright:
        high = float(_middle_of_hips(target)[2] / _middle_of_hips(source)[2])
        return high, high
    sizes = [body.size_of_legs() for body in (source, target)]
    return sizes[1][0] / sizes[0][0], sizes[1][1] / sizes[0][1]


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
    for k, hinge in enumerate(hinges_at_rest(target, limb)):
        row, like = limb.bones[own[k] : own[k + 1]], other.bones[joints[k] : joints[k + 1]]
        bones = source.beside_hinge(other)[k], target.beside_hinge(limb)[k]
        frame = _frame(source, like[0], other.bones[joints[k + 1]], bones[0], hinges[k])
        turn = products(frame, conjugates(_frame(target, row[0], limb.bones[own[k + 1]], bones[1], hinge)))
        for place, at in enumerate(row):
            # where there are not as many, they go along for twist (`_spread_twist`)
            bone = like[place] if len(like) == len(row) else bones[0]
            before = products(conjugates(source.turns[bone]), source.turns[bones[0]])
            after = products(conjugates(target.turns[bones[1]]), target.turns[at])
            along = products(before, products(turn, after))
            yield at, Source((bone, bone), np.stack((along, along)), 0.0)
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
    return bool(lengths((points - points[0]) / size - (own - own[0]) / wanted).max() < SAME)


def _frame(body: Body, first: int, after: int, bone: int, hinge: Doubles) -> Doubles:
    """(4,), in the axes of a bone: Y from one joint to the next, X as near to the hinge as that allows."""
    return frame_along(rotated_each(conjugates(body.turns[bone]), units(body.heads[after] - body.heads[first])), hinge)


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
    flat = np.flatnonzero(kinds == FLAT) if kinds is not None else np.zeros(0, dtype=np.intp)
    if len(flat) < FEWEST_FLAT:
        return NO_TURN
    tip = limb.bones[body.joints(limb)[-1]]
    ups = rotated_each(conjugates(motion.turns[flat, tip]), UP)
    up = rotated_each(body.turns[tip], units(np.median(ups, axis=0)))
    across = crosses(up, UP)
    sine, cosine = float(lengths(across)), float(dots(up, UP))
    angle = float(np.arctan2(sine, cosine))
    return turns_about(units(across), np.array(angle)) if 0.0 < angle < LIES else NO_TURN


# The pose of the target.


def _posed(
    body: Body, sources: Mapping[int, Source], source: Body, motion: Motion, ratio: float, rise: float
) -> Motion:
    """How a body moves before its feet are let stand still."""
    count, bones = len(motion.turns), len(body.parents)
    found = Motion(np.zeros((count, bones, 4)), np.zeros((count, bones, 3)))
    places = carried(source, motion, source.hips, _middle_of_hips(source)) * (ratio, ratio, rise)
    found.turns[:, body.hips] = sources[body.hips].turned(motion)
    off = rotated_each(conjugates(body.turns[body.hips]), _middle_of_hips(body) - body.heads[body.hips])
    found.heads[:, body.hips] = places - rotated_each(found.turns[:, body.hips], off)
    for bone, parent in enumerate(body.parents):
        if bone != body.hips:
            if parent < 0:
                found.turns[:, bone], found.heads[:, bone] = body.turns[bone], body.heads[bone]
            else:
                hang(body, found, bone)
        if bone in sources:
            found.turns[:, bone] = sources[bone].turned(motion)
    return found


def _spread_twist(source: Body, target: Body, motion: Motion) -> None:
    """Let bones in a row that are one half of an arm or a leg twist by their share of its length. Changes the motion.

    That is how far the hand is twisted from the forearm, and the upper arm from what it hangs on; of legs likewise.
    Where the source has as many bones there, they turn as its own do. From 120° of twist on they share less of it, and
    at 180°, which is to either side, none; so they do where a bone is swung right round, and no twist can be told.
    """
    for name, limb in target.limbs.items():
        other = source.limbs.get(name)
        if other is None or not (target.is_jointed(limb) and source.is_jointed(other)):
            continue
        joints, like = target.joints(limb), source.joints(other)
        for k in range(2):
            row, after = limb.bones[joints[k] : joints[k + 1]], limb.bones[joints[k + 1]]
            first, last = (target.parents[row[0]], row[-1]) if k == 0 else (row[0], after)
            if len(row) in (1, like[k + 1] - like[k]) or first < 0:
                continue
            ends = target.heads[[*row, after]]
            axis, sizes = units(ends[-1] - ends[0]), lengths(ends - ends[0])
            rest = products(conjugates(target.turns[first]), target.turns[last])
            turned = products(products(conjugates(motion.turns[:, first]), motion.turns[:, last]), conjugates(rest))
            along = dots(turned[:, 1:], rotated_each(conjugates(target.turns[first]), axis))
            angles = 2.0 * np.arctan2(np.copysign(along, along * turned[:, 0]), np.abs(turned[:, 0]))  # -180° to 180°
            whole, told = np.minimum(np.abs(angles), 2.0 * (np.pi - np.abs(angles))), np.hypot(along, turned[:, 0])
            angles = np.copysign(whole, angles) * np.minimum(told / TELLS, 1.0)
            for place, bone in enumerate(row):
                share = sizes[place] / sizes[-1] if k else sizes[place + 1] / sizes[-1] - 1.0
                own = rotated_each(conjugates(target.turns[bone]), axis)
                motion.turns[:, bone] = products(motion.turns[:, bone], turns_about(own, share * angles))


def _middle_of_hips(body: Body) -> Doubles:
    """(3,), the middle of the joints in which legs begin at rest; where there are none, the head of the hips."""
    starts = [limb.bones[0] for limb in body.limbs.values() if limb.kind == LEG]
    found: Doubles = body.heads[starts or [body.hips]].mean(axis=0)
    return found
