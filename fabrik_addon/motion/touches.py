# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet and hands that stand still on the ground while a body moves; its limbs reach them, and it gives way for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
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
    foot_of,
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
    Foot,
    Stance,
    between_each,
    eased_each,
    mean_turn,
    rolling,
    runs,
    shares_near,
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
    turns = turns_about(units(crosses(trunk, np.broadcast_to(UP, trunk.shape))), angles)
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
            ground = _ground(foot_of(body, first, limb), touches, name)
            bent = products(conjugates(first.turns[:, tip]), _lifted_toes(body, first, limb, ground))
            flat = products(conjugates(body.turns[tip]), body.turns[limb.toes])
            bent = towards_each(bent, np.broadcast_to(flat, bent.shape), shares_near(own == FLAT, FLATTENS * rate))
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
        ways = rotated_each(turns, np.broadcast_to(rest, heads.shape))
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
    names = [*touches.contacts]
    limbs = {name: body.limbs[name] for name in names}
    feet = {name: foot_of(body, motion, limb) for name, limb in limbs.items()}
    ways: dict[str, Doubles] = {name: np.zeros((len(every), 3)) for name in names}
    turns: dict[str, Doubles] = {name: np.broadcast_to(NO_TURN, (len(every), 4)) for name in names}
    for name, own in touches.contacts.items():
        foot, is_hand, high = feet[name], limbs[name].kind == ARM, touches.heights[name]
        rolled = rolling(foot, own)
        ground = high, touches.normals.get(name, np.broadcast_to(UP, foot.places.shape))
        stances = [_stance(body, limbs[name], rolled, own, ground, span) for span in runs(own != NONE)]
        way, turn = standing_still(foot, own, stances, every, rate)
        if is_hand or not body.is_upright:  # whose legs are bent otherwise than the source's
            way[own == NONE, 2] += _under(foot, way, turn, high)[own == NONE]
        if not is_hand:
            stood, ball = on_ground(body, limbs[name])[0], limbs[name].sole[1]
            moved = foot._replace(places=foot.places + way, turns=products(turn, foot.turns))
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
    turned = foot._replace(places=foot.places + way, turns=products(turn, foot.turns))
    low = np.minimum.reduce([turned.points(one)[:, 2] for one in (foot.heel, foot.ball, foot.toe)])
    free = 1.0 - shares_near(kinds != NONE, CLEARS_IN * rate)
    needed = np.maximum(above + CLEARS * foot.reach * free - low, 0.0) * (kinds == NONE)
    return free * _longest_near(needed[:, None], CLEARS_IN * rate)[:, 0]


def _longest_near(values: Doubles, width: float) -> Doubles:
    """(F, k), the longest of vectors near each frame, each the shorter the farther off it is, in so many frames."""
    reach = ceil(width)
    shares, padded = eased_each(1.0 - np.abs(np.arange(-reach, reach + 1)) / reach), np.pad(values, ((reach,), (0,)))
    rows = np.stack([share * padded[k : k + len(values)] for k, share in enumerate(shares)])
    found: Doubles = rows[lengths(rows).argmax(axis=0), np.arange(len(values))]
    return found


def _under(foot: Foot, way: Doubles, turn: Doubles, high: Doubles) -> Doubles:
    """(F,), how far heel or ball of a foot that is moved and turned are under the ground."""
    turned = foot._replace(places=foot.places + way, turns=products(turn, foot.turns))
    low = np.minimum(turned.points(foot.heel), turned.points(foot.ball))[:, 2]
    found: Doubles = np.maximum(high - low, 0.0)
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
    tilt, middle = (
        turns_by(between_each(UP[None], normals[flat[:1]]))[0],
        rotated_each(turn, 0.5 * (foot.heel + foot.ball)),
    )
    place = foot.places[flat].mean(axis=0) * (1.0, 1.0, 0.0) + (height + high[flat[0]]) * UP
    place += middle - rotated_each(tilt, middle)  # about the middle of the sole
    return Stance(first, last, None, np.concatenate((place, products(tilt, turn))))


def _ground(foot: Foot, touches: Touches, name: str) -> Plane:
    """The ground below a foot."""
    level = np.broadcast_to(UP, foot.places.shape)
    return touches.heights[name], touches.normals.get(name, level), foot.points(0.5 * (foot.heel + foot.ball))


def _lifted_toes(body: Body, motion: Motion, limb: Limb, ground: Plane) -> Doubles:
    """(F, 4), how toes are turned that turn up as far as their tip would be under what the foot stands on."""
    rest = body.heads[limb.bones[body.joints(limb)[-1]]] + limb.sole[2] - body.heads[limb.toes]
    return _lifted(motion.heads[:, limb.toes], motion.turns[:, limb.toes], body.turns[limb.toes], rest, ground)


def _lifted(heads: Doubles, turns: Doubles, stood: Doubles, way: Doubles, ground: Plane) -> Doubles:
    """(F, 4), rotations of a bone of a foot that pitches up as far as a point of it would be under the ground.

    Heads (F, 3) and turns (F, 4) are the bone's, `stood` its rotation (4,) and `way` the point from its head, at rest.
    """
    since = products(turns, np.broadcast_to(conjugates(stood), turns.shape))
    ways, across = (rotated_each(since, np.broadcast_to(one, heads.shape)) for one in (way, crosses(FORWARD, UP)))
    across, (high, normals, middle) = units(across * (1.0, 1.0, 0.0)), ground
    high = high - dots((heads + ways - middle) * (1.0, 1.0, 0.0), normals) / normals[:, 2]
    ahead = dots(ways, crosses(np.broadcast_to(UP, across.shape), across))
    size = np.maximum(np.hypot(ahead, ways[:, 2]), 1e-9)
    pitch, near = np.arctan2(ways[:, 2], ahead), (high - heads[:, 2]) / size
    least = np.arcsin(np.clip(near, -1.0, 1.0))
    back = eased_each(2.0 + 2.0 * pitch / np.pi) * eased_each(NEAR + near)  # less what points back, or is farther up
    up = np.where(pitch < -0.5 * np.pi, back * (least - pitch), np.where(pitch < least, least - pitch, 0.0))
    return products(turns_about(across, up), turns)


def _fold(body: Body, motion: Motion, row: Sequence[int], wanted: Doubles) -> None:
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
        axes = {bone: rotated_each(turns[:, bone], np.broadcast_to(one, line.shape)) for bone, one in hinges.items()}
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
        _fold(body, motion, limb.bones[joints[0] : joints[2] + 1], wanted)
    first, knee, tip = (limb.bones[place] for place in joints)
    (upper, _), (hinge, _) = body.beside_hinge(limb), hinges_in_motion(body, motion, limb, hinges_at_rest(body, limb))
    for _ in range(ROUNDS):
        a, b, c = (motion.heads[:, bone].copy() for bone in (first, knee, tip))
        sizes, across = (lengths(b - a), lengths(c - b)), crosses(units(b - a), units(c - b))
        knees = rotated_each(motion.turns[:, upper], np.broadcast_to(hinge, a.shape))
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
