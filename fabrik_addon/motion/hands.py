# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that touch each other or the body that they belong to: the skins meet as they did, whatever its girth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..maths import Doubles, Ints, Mask, conjugates, dots, lengths, rotated_each, units
from ..recognise.part import ARM, FINGER, LEG
from .body import NO_TURN, SMALLEST, UP, Body, Motion
from .contacts import NONE, SHORTEST, STRAIGHT, Foot, runs, shares_near
from .ground import hands_of
from .touches import put

TOGETHER = 0.08  # of a leg, nearer than which two palms touch
NEAR = 0.04  # of a leg, nearer than which a palm touches the skin of the body
COMES = 0.15  # seconds in which a hand comes to what it will touch, and leaves it
BEYOND = 0.1  # of the length of what is touched, by which that goes on at its ends
ALONG, AROUND = 0.1, 0.15  # deviations of a Gaussian within which skin counts: of the length, and 1 - cosine about it
BENT = 0.9  # of its reach, from which on an arm is stretched less than what it should touch asks
FEWEST, MOST = 8, 400  # vertices of a bone's skin that tell how thick it is, and are looked at

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
    if len(skin) < FEWEST:
        return None
    some = skin[:: -(-len(skin) // MOST)]
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
        free & (np.abs(along - 0.5) < 0.5 + BEYOND) & (np.abs(gap) < NEAR * leg)
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
        total += share[:, None] * (_in_motion(*wanted, own_bone, place) - palms[1])
        weight += share
    total /= np.maximum(weight, 1.0)[:, None]
    return total


def _at_rest(body: Body, motion: Motion, bone: int, places: Doubles) -> Doubles:
    """(F, 3), where places go that a bone carries back to its rest pose."""
    local = rotated_each(conjugates(motion.turns[:, bone]), places - motion.heads[:, bone])
    found: Doubles = body.heads[bone] + rotated_each(np.broadcast_to(body.turns[bone], (len(places), 4)), local)
    return found


def _in_motion(body: Body, motion: Motion, bone: int, places: Doubles) -> Doubles:
    """(F, 3), where places at rest go that a bone carries along."""
    back = np.broadcast_to(conjugates(body.turns[bone]), (len(places), 4))
    found: Doubles = motion.heads[:, bone] + rotated_each(
        motion.turns[:, bone], rotated_each(back, places - body.heads[bone])
    )
    return found
