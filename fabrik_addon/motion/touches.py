# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet and hands that stand still on the ground while a body moves, and gives way for them; hands that touch a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

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
    towards_each,
    turns_about,
    turns_by,
    units,
)
from ..recognise.part import ARM, FINGER, LEG
from .body import (
    FORWARD,
    LEAST_SINE,
    NO_TURN,
    SMALLEST,
    UP,
    Body,
    Limb,
    Motion,
    below,
    carried,
    foot_of,
    hands_of,
    hang,
    hinges_at_rest,
    hinges_in_motion,
    on_ground,
)
from .contacts import (
    FADE,
    FLAT,
    HEEL,
    NONE,
    SHORTEST,
    STRAIGHT,
    Foot,
    Stance,
    between_each,
    mean_turn,
    rolling,
    runs,
    shares_near,
    smooth_steps,
    standing_still,
    way_of_body,
)

FLATTENS = 0.1  # seconds in which toes become flat before their foot is
NEARLY = 0.05  # sine of the bend of a knee at which the plane that it shows counts as much as its hinge
ROUNDS = 2  # in which a limb comes to its place
NEAR = 2.0  # of its length, how far over the ground a foot that points back turns up at most
LAYS = 0.15  # seconds in which fingers come to lie, and rise again
FOLDS, DAMPED = 8, 0.3  # rounds in which a leg of more joints folds; their damping, of the leg's length
CLEARS, CLEARS_IN = 0.015, 0.15  # of a leg, by which a foot clears what is below it; seconds in which it rises for that
LEVEL = 0.5  # share of its length by which a trunk is level, below which it is pitched less


# How high the ground is below the middle of a foot, (F,), its normal, (F, 3), and that middle, (F, 3)
Plane = tuple[Doubles, Doubles, Doubles]


class Touches(NamedTuple):
    """What feet and hands touch in F frames.

    Attributes:
        contacts: By the names of legs, and of arms that lean on the ground, (F,) what of the foot or hand is on it.
        heights: By the same names (F,) how high the ground is over Z = 0.
        normals: By the same names (F, 3) its normals; none where it is level.
        above: By the names of legs (F,) how high the ground is below the foot while that is in the air; none where it
            is level.
    """

    contacts: Mapping[str, Ints]
    heights: Mapping[str, Doubles]
    normals: Mapping[str, Doubles]
    above: Mapping[str, Doubles]

    def normals_of(self, name: str) -> Doubles:
        """(F, 3), the normals of the ground below a foot or hand."""
        return self.normals.get(name, np.broadcast_to(UP, (len(self.heights[name]), 3)))


def lean(body: Body, motion: Motion, contacts: Mapping[str, Ints], wanted: Mapping[str, Doubles], rate: float) -> None:
    """Pitch a trunk about the hips, for its shoulders to be as high as they should be over hands on the ground.

    Changes the motion; legs go on as they did.

    Args:
        body: At rest.
        motion: Of it.
        contacts: By the names of arms (F,) what of the hand is on the ground.
        wanted: By the same names (F,) how high the shoulder should be.
        rate: Frames a second.
    """
    legs = [limb.bones[0] for limb in body.limbs.values() if limb.kind == LEG]
    count = len(motion.turns)
    total: Doubles = np.zeros(count)
    weight: Doubles = np.zeros(count)
    shoulders: Doubles = np.zeros((count, 3))
    for name, kinds in contacts.items():
        share, heads = shares_near(kinds != NONE, FADE * rate), motion.heads[:, body.limbs[name].bones[0]]
        total, weight = total + share * (wanted[name] - heads[:, 2]), weight + share
        shoulders += heads / len(contacts)
    pivot = motion.heads[:, legs].mean(axis=1)
    trunk = shoulders - pivot
    level = lengths(trunk * (1.0, 1.0, 0.0))
    angles = total / np.maximum(weight, 1.0) * level / np.maximum(level * level, (LEVEL * lengths(trunk)) ** 2)
    turns = turns_about(units(crosses(trunk, UP)), angles)
    still = {one for leg in legs for one in below(body, leg)}
    for bone in below(body, body.hips):
        moved = pivot + rotated_each(turns, motion.heads[:, bone] - pivot)
        if bone not in still:
            motion.heads[:, bone], motion.turns[:, bone] = moved, products(turns, motion.turns[:, bone])
        elif bone in legs:
            motion.heads[:, below(body, bone)] += (moved - motion.heads[:, bone])[:, None]


def keep(body: Body, motion: Motion, touches: Touches, rate: float) -> float:
    """Let feet and hands stand still and hands touch; the body gives way for its limbs to reach. Changes the motion.

    That is done twice: by the first time it is known how far toes have to turn up, and about what a foot rolls then.
    Toes of a flat foot are flat.

    Args:
        body: At rest.
        motion: Of it.
        touches: What they touch.
        rate: Frames a second.

    Returns:
        The most by which the body gives way, in meters.
    """
    first = Motion(motion.turns.copy(), motion.heads.copy())
    _stand(body, first, touches, rate)
    for name, own in touches.contacts.items():
        limb = body.limbs[name]
        if limb.toes >= 0:
            tip = limb.bones[body.joints(limb)[-1]]
            ground, toes = _ground(foot_of(body, first, limb), touches, name), limb.toes
            way = body.heads[tip] + limb.sole[2] - body.heads[toes]
            lifted = _lifted(first.heads[:, toes], first.turns[:, toes], body.turns[toes], way, ground)
            bent = products(conjugates(first.turns[:, tip]), lifted)
            flat = products(conjugates(body.turns[tip]), body.turns[limb.toes])
            bent = towards_each(bent, flat, shares_near(own == FLAT, FLATTENS * rate))
            motion.turns[:, limb.toes] = products(motion.turns[:, tip], bent)
    moved = _stand(body, motion, touches, rate)
    for name in touches.contacts:
        if body.limbs[name].kind == ARM:
            _lay_fingers(body, motion, name[-2:], touches.heights[name], rate)
    return moved


def _lay_fingers(body: Body, motion: Motion, side: str, high: Doubles, rate: float) -> None:
    """Let fingers of a side lie on the ground (F,) where they would go into it, and smoothly. Changes the motion."""
    fingers = [limb.bones for name, limb in body.limbs.items() if limb.kind == FINGER and name[-2:] == side]
    for bone in [one for bones in fingers for one in bones]:
        heads, turns = motion.heads[:, bone], motion.turns[:, bone]
        rest = rotated_each(conjugates(body.turns[bone]), body.tails[bone] - body.heads[bone])
        ways = rotated_each(turns, rest)
        size = np.maximum(lengths(ways), SMALLEST)
        least = np.clip((high - heads[:, 2]) / size, -1.0, 1.0) * size
        flat = units(ways * (1.0, 1.0, 0.0)) * np.sqrt(np.maximum(size * size - least * least, 0.0))[:, None]
        wanted = np.where((ways[:, 2] < least)[:, None], flat + least[:, None] * UP, ways)
        turn = turns_by(_longest_near(between_each(ways, wanted), LAYS * rate))
        for one in below(body, bone):
            motion.heads[:, one] = heads + rotated_each(turn, motion.heads[:, one] - heads)
            motion.turns[:, one] = products(turn, motion.turns[:, one])


def _stand(body: Body, motion: Motion, touches: Touches, rate: float) -> float:
    every: Doubles = np.ones(len(motion.turns))
    limbs = {name: body.limbs[name] for name in touches.contacts}
    feet = {name: foot_of(body, motion, limb) for name, limb in limbs.items()}
    ways, turns = dict[str, Doubles](), dict[str, Doubles]()
    for name, own in touches.contacts.items():
        foot, is_hand, high = feet[name], limbs[name].kind == ARM, touches.heights[name]
        rolled = rolling(foot, own)
        ground = high, touches.normals_of(name)
        stances = [_stance(body, limbs[name], rolled, own, ground, span) for span in runs(own != NONE)]
        way, turn = standing_still(foot, own, stances, every, rate)
        if is_hand or not body.is_upright:  # whose legs are bent otherwise than the source's
            under = np.maximum(high - foot.moved(way, turn).lowest(foot.heel, foot.ball), 0.0)
            way[own == NONE, 2] += under[own == NONE]
        if not is_hand:
            stood, ball = on_ground(body, limbs[name])[0], limbs[name].sole[1]
            moved = foot.moved(way, turn)
            lifted = _lifted(moved.places, moved.turns, stood, ball, _ground(moved, touches, name))
            share = 1.0 - shares_near(own != NONE, FLATTENS * rate)
            turn = products(towards_each(moved.turns, lifted, share), conjugates(foot.turns))
        if name in touches.above:
            way[:, 2] += _cleared(foot, way, turn, own, touches.above[name], rate)
        ways[name], turns[name] = way, turn
    shift = way_of_body([*feet.values()], [*ways.values()], np.zeros((len(every), 3)), rate)
    motion.heads[:] += shift[:, None]
    for name, limb in limbs.items():
        put(body, motion, limb, feet[name].places + ways[name], turns[name])
    return float(lengths(shift).max())


def put(body: Body, motion: Motion, limb: Limb, places: Doubles, turns: Doubles) -> None:
    """Let a limb reach places (F, 3), and its foot or hand be turned by rotations (F, 4) there. Changes the motion."""
    _reach(body, motion, limb, places)
    tip, *others = below(body, limb.bones[body.joints(limb)[-1]])
    motion.turns[:, tip] = products(turns, motion.turns[:, tip])
    for bone in others:
        stood = motion.turns[:, bone].copy()
        hang(body, motion, bone)
        motion.turns[:, bone] = products(turns, stood)


def _cleared(foot: Foot, way: Doubles, turn: Doubles, kinds: Ints, above: Doubles, rate: float) -> Doubles:
    """(F,), how much higher a foot that is moved and turned goes to clear what is below it, and smoothly to and fro."""
    low = foot.moved(way, turn).lowest(foot.heel, foot.ball, foot.toe)
    free = 1.0 - shares_near(kinds != NONE, CLEARS_IN * rate)
    needed = np.maximum(above + CLEARS * foot.reach * free - low, 0.0) * (kinds == NONE)
    return free * _longest_near(needed[:, None], CLEARS_IN * rate)[:, 0]


def _longest_near(values: Doubles, width: float) -> Doubles:
    """(F, k), the longest of vectors near each frame, each the shorter the farther off it is, in so many frames."""
    reach = ceil(width)
    shares, padded = smooth_steps(1.0 - np.abs(np.arange(-reach, reach + 1)) / reach), np.pad(values, ((reach,), (0,)))
    rows = np.stack([share * padded[k : k + len(values)] for k, share in enumerate(shares)])
    found: Doubles = rows[lengths(rows).argmax(axis=0), np.arange(len(values))]
    return found


def _stance(
    body: Body, limb: Limb, foot: Foot, kinds: Ints, ground: tuple[Doubles, Doubles], span: tuple[int, int]
) -> Stance:
    """A contact of a foot or hand, and where it is to stand: flat, where the motion has it in the mean."""
    (high, normals), (first, last) = ground, span
    flat = first + np.flatnonzero(kinds[first:last] == FLAT)
    if not len(flat):  # the point on which it is comes down to the ground
        k = first + (last - first) // 2
        point = foot.heel if kinds[k] == HEEL else foot.toe[k]
        height = foot.places[k, 2] + rotated_each(foot.turns[k], point)[2]
        place = foot.places[k] - np.array((0.0, 0.0, height - high[k]))
        return Stance(first, last, None, np.concatenate((place, foot.turns[k])))
    stood, height = on_ground(body, limb)
    turn = products(mean_turn(foot.turns[flat]), conjugates(stood))
    heading = units(turn * np.array((1.0, 0.0, 0.0, 1.0)))
    turn = products(heading, stood)
    tilt = turns_by(between_each(UP[None], normals[flat[:1]]))[0]
    middle = rotated_each(turn, 0.5 * (foot.heel + foot.ball))
    place = foot.places[flat].mean(axis=0) * (1.0, 1.0, 0.0) + (height + high[flat[0]]) * UP
    place += middle - rotated_each(tilt, middle)  # about the middle of the sole
    return Stance(first, last, None, np.concatenate((place, products(tilt, turn))))


def _ground(foot: Foot, touches: Touches, name: str) -> Plane:
    """The ground below a foot."""
    return touches.heights[name], touches.normals_of(name), foot.points(0.5 * (foot.heel + foot.ball))


def _lifted(heads: Doubles, turns: Doubles, stood: Doubles, way: Doubles, ground: Plane) -> Doubles:
    """(F, 4), rotations of a bone of a foot that pitches up as far as a point of it would be under the ground.

    Heads (F, 3) and turns (F, 4) are the bone's, `stood` its rotation (4,) and `way` the point from its head, at rest.
    """
    since = products(turns, conjugates(stood))
    ways, across = (rotated_each(since, one) for one in (way, crosses(FORWARD, UP)))
    across, (high, normals, middle) = units(across * (1.0, 1.0, 0.0)), ground
    high = high - dots((heads + ways - middle) * (1.0, 1.0, 0.0), normals) / normals[:, 2]
    ahead = dots(ways, crosses(UP, across))
    size = np.maximum(np.hypot(ahead, ways[:, 2]), 1e-9)
    pitch, near = np.arctan2(ways[:, 2], ahead), (high - heads[:, 2]) / size
    least = np.arcsin(np.clip(near, -1.0, 1.0))
    back = smooth_steps(2.0 + 2.0 * pitch / np.pi) * smooth_steps(
        NEAR + near
    )  # less what points back, or is farther up
    up = np.where(pitch < -0.5 * np.pi, back * (least - pitch), np.where(pitch < least, least - pitch, 0.0))
    return products(turns_about(across, up), turns)


def _fold(motion: Motion, row: Sequence[int], wanted: Doubles) -> None:
    """Let a leg of an animal be as long as it is to places (F, 3), all of its joints bending. Changes the motion.

    Each bends about its hinge in the motion, by damped least squares (Wampler 1986); what is missing then is small.
    """
    heads, turns = motion.heads, motion.turns
    hinges = dict[int, Doubles]()
    for a, b, c in zip(row, row[1:], row[2:], strict=False):
        across = crosses(units(heads[:, b] - heads[:, a]), units(heads[:, c] - heads[:, b]))
        hinge = rotated_each(conjugates(turns[:, b]), across).mean(axis=0)
        if lengths(hinge) > LEAST_SINE:
            hinges[b] = units(hinge)
    for _ in range(FOLDS if len(hinges) > 1 else 0):
        line, lever = heads[:, row[-1]] - heads[:, row[0]], dict[int, Doubles]()
        axes = {bone: rotated_each(turns[:, bone], one) for bone, one in hinges.items()}
        for bone, axis in axes.items():
            lever[bone] = dots(crosses(axis, heads[:, row[-1]] - heads[:, bone]), units(line))
        off = lengths(wanted - heads[:, row[0]]) - lengths(line)
        share = off / (sum(one * one for one in lever.values()) + (DAMPED * lengths(line)) ** 2)
        for bone, axis in axes.items():
            turn = turns_about(axis, share * lever[bone])
            for one in row[row.index(bone) :]:
                heads[:, one] = heads[:, bone] + rotated_each(turn, heads[:, one] - heads[:, bone])
                if one != row[-1]:
                    turns[:, one] = products(turn, turns[:, one])


def _reach(body: Body, motion: Motion, limb: Limb, wanted: Doubles) -> None:
    """Let a leg or arm reach places (F, 3) with its ankle or wrist, in the plane in which it bends. Changes the motion.

    Both halves stay as they are in themselves; how far the knee is bent is told by the law of cosines. A limb that is
    almost straight bends about the hinge of its knee; what bends it out of that plane is met by doing it again.
    """
    joints = body.joints(limb)
    if not body.is_upright:
        _fold(motion, limb.bones[joints[0] : joints[2] + 1], wanted)
    first, knee, tip = (limb.bones[place] for place in joints)
    (upper, _), (hinge, _) = body.beside_hinge(limb), hinges_in_motion(body, motion, limb, hinges_at_rest(body, limb))
    for _ in range(ROUNDS):
        a, b, c = (motion.heads[:, bone].copy() for bone in (first, knee, tip))
        sizes, across = (lengths(b - a), lengths(c - b)), crosses(units(b - a), units(c - b))
        knees = rotated_each(motion.turns[:, upper], hinge)
        side = np.where(dots(across, knees) < 0.0, -1.0, 1.0)
        swing = turns_by(between_each(c - a, wanted - a))
        normal = rotated_each(swing, units(side[:, None] * across + NEARLY * knees))
        stood, off = (_bends(*sizes, lengths(one - a)) for one in (c, wanted))
        whole = products(turns_about(normal, side * stood[0] - off[0]), swing)
        folded = products(turns_about(normal, off[1] - side * stood[1]), whole)
        for place in range(joints[0], joints[2]):
            bone, turn = limb.bones[place], whole if place < joints[1] else folded
            motion.turns[:, bone] = products(turn, motion.turns[:, bone])
        motion.heads[:, knee] = a + rotated_each(whole, b - a)
        motion.heads[:, tip] = motion.heads[:, knee] + rotated_each(folded, c - b)


def _bends(upper: Doubles, lower: Doubles, size: Doubles) -> tuple[Doubles, Doubles]:
    """The angles from the line of a limb to its upper half, and by which its lower half bends off that, each (F,)."""
    cosine = (upper * upper + size * size - lower * lower) / np.maximum(2.0 * upper * size, 1e-12)
    inner = (upper * upper + lower * lower - size * size) / np.maximum(2.0 * upper * lower, 1e-12)
    return np.arccos(np.clip(cosine, -1.0, 1.0)), np.pi - np.arccos(np.clip(inner, -1.0, 1.0))


# Hands that touch each other or the body that they belong to: the skins meet as they did, whatever its girth.

TOGETHER = 0.08  # of a leg, nearer than which two palms touch
TOUCHING = 0.04  # of a leg, nearer than which a palm touches the skin of the body
COMES = 0.15  # seconds in which a hand comes to what it will touch, and leaves it
BEYOND = 0.1  # of the length of what is touched, by which that goes on at its ends
ALONG, AROUND = 0.1, 0.15  # deviations of a Gaussian within which skin counts: of the length, and 1 - cosine about it
BENT = 0.9  # of its reach, from which on an arm is stretched less than what it should touch asks
FEWEST_VERTICES, MOST_VERTICES = 8, 400  # vertices of a bone's skin that tell how thick it is, and are looked at

Acting = tuple[Body, Motion]


class Barrel(NamedTuple):
    """The skin about a bone at rest, as it is seen from an axis through its middle.

    Attributes:
        middle: (3,), a place on the axis.
        axis: (3,), its direction: up, or along the bone of a leg.
        ends: Where on it from there the skin begins and ends.
        along: (k,), where vertices are between these ends: 0 to 1.
        out: (k, 3), directions from the axis to them.
        thick: (k,), how far from it they are.
    """

    middle: Doubles
    axis: Doubles
    ends: tuple[float, float]
    along: Doubles
    out: Doubles
    thick: Doubles

    def seen(self, places: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Of places (F, 3) at rest how far along the axis, in what direction, (F, 3), and how far from it they are."""
        off = places - self.middle
        high = off @ self.axis
        out = off - high[..., None] * self.axis
        return (high - self.ends[0]) / (self.ends[1] - self.ends[0]), units(out), lengths(out)

    def girth(self, along: Doubles, out: Doubles) -> Doubles:
        """(F,), how far from the axis its skin is there."""
        far = (along[:, None] - self.along) ** 2 / (2.0 * ALONG**2) + (1.0 - out @ self.out.T) / AROUND
        weights = np.exp(far.min(axis=1, keepdims=True) - far)
        found: Doubles = weights @ self.thick / weights.sum(axis=1)
        return found

    def place(self, along: Doubles, out: Doubles, gap: Doubles) -> Doubles:
        """(F, 3), the places at rest that are so far over the skin."""
        level = units(out - dots(out, self.axis)[..., None] * self.axis)
        high = self.ends[0] + along * (self.ends[1] - self.ends[0])
        return self.middle + high[:, None] * self.axis + (self.girth(along, level) + gap)[:, None] * level


def palm_of(hand: Foot) -> Doubles:
    """(F, 3), the middle of the palm of a hand."""
    return hand.points(0.5 * (hand.heel + hand.ball))


def bring_hands(
    acting: Acting, wanted: Acting, bones: Mapping[int, int], contacts: Mapping[str, Ints], rate: float
) -> None:
    """Let hands touch each other and the body where those of another body do. Changes the motion of the second.

    Palms that touch each other come by a half of the way each; one that lies on the skin of trunk, head or a leg comes
    to the same place on the target's, by how far along the bone it is and on what side.

    Args:
        acting: The other body, and its motion.
        wanted: The body that is to do so, and its motion.
        bones: By the numbers of its bones those of the other body as which they turn.
        contacts: By the names of arms, what of the hand is on the ground, where it stays.
        rate: Frames a second.
    """
    (source, motion), (target, found) = acting, wanted
    hands, own = hands_of(source, motion), hands_of(target, found)
    hands = {name: hand for name, hand in hands.items() if name in own}
    leg = source.size_of_legs()[0]
    ways = {name: np.zeros_like(own[name].places) for name in hands}
    free = {name: contacts.get(name, np.zeros(len(motion.turns))) == NONE for name in hands}
    if len(hands) == 2:
        (a, b), ratio = hands, _size(target, own) / _size(source, hands)
        apart = palm_of(hands[b]) - palm_of(hands[a])
        touch = (lengths(apart) < TOGETHER * leg) & free[a] & free[b]
        off = 0.5 * (ratio * apart - palm_of(own[b]) + palm_of(own[a]))
        for name, side in ((a, -1.0), (b, 1.0)):
            ways[name] += shares_near(touch, COMES * rate)[:, None] * side * off
            free[name] &= ~touch
    pairs = _pairs(source, target, bones)
    for name, hand in hands.items():
        palms = palm_of(hand), palm_of(own[name])
        ways[name] += _on_skin(acting, wanted, palms, pairs, free[name], rate)
        if ways[name].any():
            put(target, found, target.limbs[name], _in_reach(own[name], ways[name]), NO_TURN)


def _in_reach(hand: Foot, way: Doubles) -> Doubles:
    """(F, 3), where a wrist comes that should go a way: its arm is not stretched, but softly, and as it was."""
    shoulder, bent, most = hand.places - hand.roots, BENT * hand.reach, STRAIGHT * hand.reach
    size = np.maximum(lengths(shoulder + way), SMALLEST)
    soft = most - (most - bent) * np.exp(-np.maximum(size - bent, 0.0) / (most - bent))
    share = np.minimum(np.maximum(np.where(size > bent, soft, size), lengths(shoulder)) / size, 1.0)
    found: Doubles = hand.roots + share[:, None] * (shoulder + way)
    return found


def _size(body: Body, hands: Mapping[str, Foot]) -> float:
    """How long the palm of the first hand is."""
    return float(lengths(body.limbs[next(iter(hands))].sole[1]))


# A bone of the source with its skin, and the one of the target that turns as it does
Pair = tuple[int, Barrel, int, Barrel]


def _pairs(source: Body, target: Body, bones: Mapping[int, int]) -> list[Pair]:
    """The bones of trunk, head and legs that a hand may touch, of which both have skin."""
    found = dict[int, Pair]()
    for own, bone in bones.items():
        barrels = _barrel(source, bone), _barrel(target, own)
        if bone not in found and barrels[0] is not None and barrels[1] is not None:
            found[bone] = (bone, barrels[0], own, barrels[1])
    return [*found.values()]


def _barrel(body: Body, bone: int) -> Barrel | None:
    """The skin about a bone; None of arms, and where too little of it follows the bone."""
    skin, axis = body.skin.get(bone, np.zeros((0, 3))), UP
    for limb in body.limbs.values():
        if limb.kind in (ARM, FINGER) and (bone in limb.bones or bone in limb.above):
            return None
        if limb.kind == LEG and bone in limb.bones[:-1]:
            axis = units(body.heads[limb.bones[list(limb.bones).index(bone) + 1]] - body.heads[bone])
    if len(skin) < FEWEST_VERTICES:
        return None
    some = skin[:: -(-len(skin) // MOST_VERTICES)]
    middle: Doubles = 0.5 * (some.min(axis=0) + some.max(axis=0))
    high = (some - middle) @ axis
    ends = float(high.min()), max(float(high.max()), float(high.min()) + SMALLEST)
    bare = Barrel(middle, axis, ends, high, some, high)
    along, out, thick = bare.seen(some)
    return bare._replace(along=along, out=out, thick=thick)


def _on_skin(
    acting: Acting, wanted: Acting, palms: tuple[Doubles, Doubles], pairs: Sequence[Pair], free: Mask, rate: float
) -> Doubles:
    """(F, 3), by which a palm of the wanted body comes to its skin where that of the acting one is on its own.

    Palms are (F, 3) of each of the two, `pairs` what of them may be touched; `free`, (F,), is where the hand does not
    touch anything else.
    """
    leg, own_leg = (body.size_of_legs()[0] for body, _ in (acting, wanted))
    seen = [skin.seen(_at_rest(*acting, bone, palms[0])) for bone, skin, _, _ in pairs]
    gaps = [far - skin.girth(along, out) for (_, skin, _, _), (along, out, far) in zip(pairs, seen, strict=True)]
    is_near = [
        free & (np.abs(along - 0.5) < 0.5 + BEYOND) & (np.abs(gap) < TOUCHING * leg)
        for gap, (along, _, _) in zip(gaps, seen, strict=True)
    ]
    total: Doubles = np.zeros_like(palms[1])
    weight: Doubles = np.zeros(len(total))
    for first, last in runs(np.any(is_near, axis=0)) if pairs else ():
        if last - first < SHORTEST * rate:
            continue
        k = max(range(len(pairs)), key=lambda i: int(is_near[i][first:last].sum()))
        (_, _, own_bone, own_skin), (along, out, _) = pairs[k], seen[k]
        frames = np.arange(len(total))
        share = shares_near((frames >= first) & (frames < last), COMES * rate)
        place = own_skin.place(along, out, own_leg / leg * gaps[k])
        total += share[:, None] * (carried(*wanted, own_bone, place) - palms[1])
        weight += share
    total /= np.maximum(weight, 1.0)[:, None]
    return total


def _at_rest(body: Body, motion: Motion, bone: int, places: Doubles) -> Doubles:
    """(F, 3), where places go that a bone carries back to its rest pose."""
    local = rotated_each(conjugates(motion.turns[:, bone]), places - motion.heads[:, bone])
    found: Doubles = body.heads[bone] + rotated_each(body.turns[bone], local)
    return found
