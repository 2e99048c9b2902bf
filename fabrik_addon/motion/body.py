# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of a character as numbers: its bones at rest, its parts, how it moves, its feet and its hinges.

Everything is told on a stage: in meters, with Z up, the character at rest faces along -Y and stands at Z = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, radians
from typing import NamedTuple

import numpy as np

from ..maths import Doubles, Ints, conjugates, crosses, dots, lengths, products, rotated_each, units
from ..recognise.part import ARM, LEG, ROLES
from .contacts import Foot, sole_axes

BENT, STRAIGHT = radians(6.0), radians(2.0)  # bend at rest that tells a hinge; below the other it tells nothing
LEAST_SINE = 0.05  # mean sine of the bends of a motion from which on it tells a hinge
FORWARD, UP = np.array((0.0, -1.0, 0.0)), np.array((0.0, 0.0, 1.0))
SMALLEST = 1e-9  # meters
NO_TURN = np.array((1.0, 0.0, 0.0, 0.0))
# A motion that repeats itself: its fewest frames; how much more its end may turn than its frames do, in a share and in
# radians, or meters; and the seconds of it that count as its neighbours
FEWEST_LOOPED, LOOSE, CLOSED, AROUND = 6, 1.25, 0.01, 2.0
# From the joints of a hand to the skin of its palm, at the wrist and at the knuckles, in lengths of the palm: of
# people; the least; where of the skin there, nearer to a joint than that, the palm is.
THICK, THINNEST, SKIN, NEAR_JOINT = (0.3, 0.2), 0.05, 0.95, 0.25


class Limb(NamedTuple):
    """A part of a body.

    Attributes:
        kind: What it is (`recognise.part`).
        bones: Their numbers, root to tip.
        roles: What each of them is, or "".
        above: The bones between it and the trunk, the nearest first: clavicles, hip sockets.
        toes: The bone of the toes, of a leg; -1 for none.
        sole: (3, 3), of a leg from its effector at rest to heel, ball and tip of the toes; of an arm to the heel of the
            hand, its knuckles and the tips of its fingers, on the side of the palm.
    """

    kind: str
    bones: Sequence[int]
    roles: Sequence[str]
    above: Sequence[int]
    toes: int
    sole: Doubles


class Body(NamedTuple):
    """The n bones of a character at rest, on its stage.

    Attributes:
        names: Their names.
        parents: The number of each bone's parent, which comes before it; -1 for none.
        turns: (n, 4), their rotations.
        heads: (n, 3), where they begin.
        tails: (n, 3), where they end.
        limbs: The parts by their names.
        hips: The bone on which all of them hang.
        is_upright: Whether its arms and legs are those of a person, and not of an animal.
        skin: By the numbers of bones (k, 3), vertices at rest that follow them; of people alone.
    """

    names: Sequence[str]
    parents: Sequence[int]
    turns: Doubles
    heads: Doubles
    tails: Doubles
    limbs: Mapping[str, Limb]
    hips: int
    is_upright: bool
    skin: Mapping[int, Doubles]

    def joints(self, limb: Limb) -> list[int]:
        """The places in an arm or leg at which its upper half, its lower half and its hand or foot begin.

        Of animals, and where no roles tell them, both halves are about as long.
        """
        roles = ROLES.get(limb.kind, ())
        if self.is_upright and roles and all(role in limb.roles for role in roles):
            return [limb.roles.index(role) for role in roles]
        way = np.cumsum(lengths(np.diff(self.heads[[*limb.bones]], axis=0)))
        last = len(limb.bones) - 1
        return [0, 1 + int(np.abs(way[: last - 1] - 0.5 * way[-1]).argmin()), last]

    def is_jointed(self, limb: Limb) -> bool:
        """Whether a limb is an arm or a leg with an elbow or a knee."""
        return limb.kind in ROLES and len(limb.bones) >= len(ROLES[limb.kind])

    def beside_hinge(self, limb: Limb) -> tuple[int, int]:
        """The bones above and below the elbow or the knee of an arm or a leg."""
        knee = self.joints(limb)[1]
        return limb.bones[knee - 1], limb.bones[knee]

    def points(self, limb: Limb) -> Doubles:
        """(3, 3), where the joints of an arm or a leg are at rest."""
        return self.heads[[limb.bones[place] for place in self.joints(limb)]]

    def size_of_legs(self) -> tuple[float, float]:
        """How long its legs are, and how high its hips are; without legs the height of the hips."""
        legs = [limb for limb in self.limbs.values() if limb.kind == LEG]
        sizes = [float(lengths(np.diff(self.heads[[*limb.bones]], axis=0)).sum()) for limb in legs]
        ends = [float(self.heads[limb.bones[-1], 2]) for limb in legs]
        size = float(np.mean(sizes)) if legs else float(self.heads[self.hips, 2])
        return size, size + (float(np.mean(ends)) if legs else 0.0)

    def reach(self, limb: Limb) -> float:
        """How long an arm or a leg is, stretched."""
        return float(lengths(np.diff(self.points(limb), axis=0)).sum())


class Motion(NamedTuple):
    """How the n bones of a body are turned, (F, n, 4), and where they begin, (F, n, 3), in F frames, on its stage."""

    turns: Doubles
    heads: Doubles

    def during(self, frames: slice | Ints) -> Motion:
        """Some frames of it."""
        return Motion(self.turns[frames], self.heads[frames])

    def seen_from(self, places: Doubles, turns: Doubles) -> Motion:
        """The same in axes that move: (F, 3) and (F, 4), their places and rotations."""
        back = conjugates(turns)[:, None]
        return Motion(products(back, self.turns), rotated_each(back, self.heads - places[:, None]))


def unrolled(body: Body, motion: Motion, rate: float) -> tuple[Motion, int]:
    """A motion with what comes before and after it where it repeats itself, so that its ends have neighbours, too.

    It does if its last pose goes over into the first as its frames go over into each other, or is the first.

    Args:
        body: At rest.
        motion: Of it.
        rate: Frames a second.

    Returns:
        The motion, and how many frames come before its own; as many come after them. None of a motion that only ends.
    """
    count, parents = len(motion.turns), np.array(body.parents)
    above = np.where((parents >= 0)[None, :, None], motion.turns[:, parents], NO_TURN)
    local = products(conjugates(above), motion.turns)
    cosines = np.abs((local * np.roll(local, -1, axis=0)).sum(axis=2))  # of the last frame with the first
    steps, high = 2.0 * np.arccos(np.minimum(cosines, 1.0)), motion.heads[:, body.hips, 2]
    rises = np.abs(np.roll(high, -1) - high)
    gaps, fastest = np.append(steps[-1], rises[-1]), np.append(steps[:-1].max(axis=0), rises[:-1].max())
    if count < FEWEST_LOOPED or (gaps > LOOSE * fastest + CLOSED).any():
        return motion, 0
    is_same = bool((gaps <= CLOSED).all() and (gaps < fastest).any())  # its last frame is its first
    period = count - 1 if is_same else count
    more = min(period, ceil(AROUND * rate))
    hips = motion.heads[:, body.hips] * (1.0, 1.0, 0.0)
    way, step = hips[-1] - hips[0], 0.5 * (hips[1] - hips[0] + hips[-1] - hips[-2])
    way += 0.0 if is_same else step
    if lengths(way) <= LOOSE * lengths(np.diff(hips, axis=0)).max():  # it stays in place
        way *= 0.0
    before, after = slice(period - more, period), slice(count - period, count - period + more)
    turns = np.concatenate((motion.turns[before], motion.turns, motion.turns[after]))
    heads = np.concatenate((motion.heads[before] - way, motion.heads, motion.heads[after] + way))
    return Motion(turns, heads), more


def foot_of(body: Body, motion: Motion, limb: Limb) -> Foot:
    """How the foot of a leg moves, or the hand of an arm."""
    first, _, tip = (limb.bones[place] for place in body.joints(limb))
    heel, ball, toe = rotated_each(conjugates(body.turns[tip]), limb.sole)
    places, turns = motion.heads[:, tip].copy(), motion.turns[:, tip].copy()
    toes = np.broadcast_to(toe, places.shape)
    if limb.toes >= 0:
        ends = carried(body, motion, limb.toes, body.heads[tip] + limb.sole[2])
        toes = rotated_each(conjugates(turns), ends - places)
    return Foot(places, turns, heel, ball, toes, motion.heads[:, first], body.reach(limb))


def hands_of(body: Body, motion: Motion) -> dict[str, Foot]:
    """How the hands of a body move, by the names of its arms."""
    arms = {name: limb for name, limb in body.limbs.items() if limb.kind == ARM and body.is_jointed(limb)}
    return {name: foot_of(body, motion, limb) for name, limb in arms.items() if limb.sole.any()}


def on_ground(body: Body, limb: Limb) -> tuple[Doubles, float]:
    """The rotation (4,) of a foot or hand that is flat on the ground and points forward, and how high its joint is.

    Feet are so at rest.
    """
    tip = limb.bones[body.joints(limb)[-1]]
    if limb.kind != ARM:
        return body.turns[tip], float(body.heads[tip, 2])
    axes = sole_axes(limb.sole[0], limb.sole[1]), (FORWARD, UP)
    frames = [np.stack((crosses(y, z), y, z), axis=1) for y, z in axes]
    turn = turns_of(frames[1] @ frames[0].T)
    return products(turn, body.turns[tip]), -float(rotated_each(turn, limb.sole[0])[2])


def palm_at_rest(wrist: Doubles, knuckles: Doubles, tip: Doubles, side: float, skin: Doubles) -> Doubles:
    """(3, 3), from a wrist to the heel of the hand, its knuckles and the tips of its fingers, on the side of the palm.

    How thick the hand is there is told by its skin; where it has none, it is as thick as hands of people are.

    Args:
        wrist: (3,), where the hand begins at rest.
        knuckles: (k, 3), where its fingers begin, from the forefinger on; those of one tell no side of the palm, which
            is then down where an arm is held out.
        tip: (3,), where the fingers end.
        side: 1 for a left hand, -1 for a right one.
        skin: (n, 3), vertices of it, none if there are none.
    """
    ahead = knuckles.mean(axis=0) - wrist
    size = max(float(lengths(ahead)), SMALLEST)
    ahead = ahead / size
    down = side * units(crosses(ahead, knuckles[0] - knuckles[-1] if len(knuckles) > 1 else FORWARD))
    thick = list[float]()
    for place, usual in zip((0.0, 1.0), THICK, strict=True):
        near = skin[np.abs((skin - wrist) @ ahead - place * size) < NEAR_JOINT * size] - wrist
        thick.append(max(float(np.quantile(near @ down, SKIN)), THINNEST * size) if len(near) else usual * size)
    heel, ball = thick[0] * down, size * ahead + thick[1] * down
    return np.stack((heel, ball, ball + float(lengths(tip - wrist) - size) * units(ball - heel)))


def carried(body: Body, motion: Motion, bone: int, places: Doubles) -> Doubles:
    """(F, 3), where a place at rest, (3,) or one a frame, goes that a bone carries along."""
    local = rotated_each(conjugates(body.turns[bone]), places - body.heads[bone])
    return motion.heads[:, bone] + rotated_each(motion.turns[:, bone], local)


def hang(body: Body, motion: Motion, bone: int) -> None:
    """Let a bone hang on its parent as at rest."""
    parent = body.parents[bone]
    local = products(conjugates(body.turns[parent]), body.turns[bone])
    motion.turns[:, bone] = products(motion.turns[:, parent], local)
    motion.heads[:, bone] = carried(body, motion, parent, body.heads[bone])


def below(body: Body, bone: int) -> list[int]:
    """A bone and all that hang on it, each after its parent."""
    found = [bone]
    for one in range(bone + 1, len(body.parents)):
        if body.parents[one] in found:
            found.append(one)
    return found


def turns_of(m: Doubles) -> Doubles:
    """(..., 4), the rotations whose matrices are these, (..., 3, 3)."""
    x, y, z = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = (1.0 + x + y + z, 1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z)
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    lines = ((squares[0], a, b, c), (a, squares[1], d, e), (b, d, squares[2], f), (c, e, f, squares[3]))
    rows = np.stack([np.stack(line, axis=-1) for line in lines], axis=-2)  # each four times a component of the rotation
    best = np.argmax(np.stack(squares, axis=-1), axis=-1)[..., None, None]
    return units(np.take_along_axis(rows, best, axis=-2)[..., 0, :])


def frame_along(y: Doubles, hinge: Doubles) -> Doubles:
    """(4,), the rotation of axes of which Y is a direction, and X as near to a hinge as that allows."""
    x = units(hinge - dots(hinge, y) * y)
    return turns_of(np.stack((x, y, crosses(x, y)), axis=1))


def hinges_at_rest(body: Body, limb: Limb) -> Doubles:
    """(2, 3), the hinge of an elbow or knee, in the axes of the bones above and below it; by its bend at rest.

    A straight one bends as arms and legs of people do; one that is a little bent, in between.
    """
    a, b, c = body.points(limb)
    upper, lower = units(b - a), units(c - b)
    across = crosses(upper, lower)
    angle = float(np.arctan2(lengths(across), dots(upper, lower)))
    usual = units(crosses(units(upper + lower), FORWARD if limb.kind == ARM else -FORWARD))
    share = min(max((angle - STRAIGHT) / (BENT - STRAIGHT), 0.0), 1.0)
    hinge = units(share * units(across) + (1.0 - share) * usual)
    return rotated_each(conjugates(body.turns[[*body.beside_hinge(limb)]]), np.stack((hinge, hinge)))


def hinges_in_motion(body: Body, motion: Motion, limb: Limb, stood: Doubles) -> Doubles:
    """`hinges_at_rest` of an arm or leg, by how it bends in a motion; as `stood`, (2, 3), where it hardly does."""
    a, b, c = (motion.heads[:, limb.bones[place]] for place in body.joints(limb))
    across = crosses(units(b - a), units(c - b))
    found: Doubles = stood.copy()
    for k, bone in enumerate(body.beside_hinge(limb)):
        seen = rotated_each(conjugates(motion.turns[:, bone]), across)
        hinge = seen.mean(axis=0)
        if lengths(hinge) > LEAST_SINE:
            found[k] = units(hinge)
    return found
