# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a skeleton at rest as plain data; and where up, forward and left are for a character, by its bones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..maths import (
    ORIGIN,
    V3,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    any_perpendicular,
    cross,
    distance,
    dot,
    length,
    mean,
    minus,
    perpendicular,
    plus,
    scaled,
    unit,
)

Limb = tuple[int, ...]  # the bones of a limb, root to tip, each the parent of the next
JOINED = 1e-3  # share of the length of the bone above within which a head stands at its tail
Sides = tuple[Limb, ...]  # a limb with its twin, or alone

SQUARE = 0.985  # cosine of the angle to an axis of the armature within which a body stands along it
NEAR_GROUND = 0.12  # share of a leg's height within which a bone is of the foot that stands
LEAST_LEG = 0.5  # share of the highest leg's height that a leg has
SHOWS = 0.02  # share of a leg's length: a shorter way along the body tells no direction
TRUSTED_UP = 0.2  # what the scene's up counts beside the legs, whose lengths make up 1
A_LEG_OF_MANY = 0.2  # the same of each leg, where there are more than four
KNEE_VOTE = 0.1  # what a knee that stands ahead counts beside toes that do
LEGS_OF_FOUR = 4  # how many legs an animal with front and hind legs has
ENDS = {"HEAD": 1.0, "TAIL": -1.0}  # votes of parts, see `_end_votes`
FACING_PARTS = {"FACE": 0.5}  # votes of parts that stand forward of the head


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Bones at rest, each with a number; a parent comes before its children.

    Attributes:
        names: Their names.
        parents: Number of each bone's parent, -1 for none.
        heads: In armature space.
        tails: In armature space.
        flagged: Whether the bone is marked as connected to its parent.
        axes: X, Y and Z axis of each bone in armature space; empty where they are not wanted.
        up: What the scene holds to be up, in armature space.
        has_drawn_tails: Whether somebody placed the tails: importers of joints guess them, and mark no bone as
            connected.
        children: Numbers of each bone's children.
        extent: The longest side of the box around all joints.
    """

    names: Sequence[str]
    parents: Sequence[int]
    heads: Sequence[V3]
    tails: Sequence[V3]
    flagged: Sequence[bool] = ()
    axes: Sequence[tuple[V3, V3, V3]] = ()
    up: V3 = Z_AXIS
    has_drawn_tails: bool = field(init=False, compare=False)
    children: list[list[int]] = field(init=False, compare=False)
    extent: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("names", "parents", "heads", "tails", "flagged", "axes"):  # so that it can be looked up
            object.__setattr__(self, name, tuple(getattr(self, name)))
        children: list[list[int]] = [[] for _ in self.names]
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                children[parent].append(bone)
        points = [*self.heads, *self.tails]
        sides = [max(p[k] for p in points) - min(p[k] for p in points) for k in range(3)] if points else []
        object.__setattr__(self, "has_drawn_tails", any(self.flagged))
        object.__setattr__(self, "children", children)
        object.__setattr__(self, "extent", max(sides, default=0.0))

    def end(self, bone: int) -> V3:
        """Where a bone ends: its tail; where tails are guessed, the middle of the joints below, its head if none."""
        below = self.children[bone]
        if self.has_drawn_tails or any(self.is_joined(child) for child in below):
            return self.tails[bone]
        return mean(self.heads[child] for child in below) if below else self.heads[bone]

    def way_up(self, bone: int) -> Iterator[int]:
        """A bone and those above it."""
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def length(self, bone: int) -> float:
        """Length of a bone."""
        return distance(self.heads[bone], self.tails[bone])

    def is_joined(self, bone: int) -> bool:
        """Whether a bone's head stands at its parent's tail, marked as connected or not."""
        parent = self.parents[bone]
        return parent >= 0 and distance(self.tails[parent], self.heads[bone]) <= JOINED * self.length(parent)

    def stands_on_head(self, bone: int) -> bool:
        """Whether a bone's head stands on its parent's, so that the parent is no segment of a limb."""
        parent = self.parents[bone]
        return distance(self.heads[parent], self.heads[bone]) <= JOINED * self.length(parent)


@dataclass(frozen=True, slots=True)
class BodyAxes:
    """Unit vectors in armature space; no `forward` where nothing tells to which side the body faces.

    Attributes:
        up: From the feet to the head.
        lateral: Across the body, to either side.
        forward: To where the body faces.
        legs: The limbs that stand.
    """

    up: V3
    lateral: V3
    forward: V3 | None
    legs: Sequence[Limb]

    @property
    def left(self) -> V3 | None:
        """To the body's left."""
        return None if self.forward is None else cross(self.up, self.forward)


def find_axes(skeleton: Skeleton, twins: Sequence[int], limbs: Sequence[Limb], parts: Sequence[str]) -> BodyAxes:
    """Up, forward and left."""
    lateral = _lateral(skeleton, twins)
    paired = [limb for limb in limbs if len(limb) > 1 and twins[limb[-1]] >= 0]
    up = skeleton.up if lateral is None else _up(skeleton, lateral, paired)
    legs = [limb for (limb,) in standing(skeleton, [(limb,) for limb in paired], up)]
    if lateral is None:
        return BodyAxes(up, any_perpendicular(up, X_AXIS), None, legs)
    ahead = unit(cross(lateral, up))
    vote = sum(_end_votes(skeleton, parts, legs, ahead)) if len(legs) > LEGS_OF_FOUR else 0.0
    if abs(vote) < SHOWS:
        vote = sum(_leg_votes(skeleton, legs, up, ahead)) + sum(_face_votes(skeleton, parts, ahead))
    if abs(vote) < SHOWS and not skeleton.has_drawn_tails:  # then even tails that an importer guessed
        vote = sum(_toe_votes(skeleton, legs, up, ahead))
    forward = None if abs(vote) < SHOWS else ahead if vote > 0.0 else scaled(ahead, -1.0)
    return BodyAxes(up, lateral, forward, legs)


def ground(skeleton: Skeleton, up: V3) -> float:
    """Height of the lowest joint; 0 where there is none."""
    points = [*skeleton.heads, *map(skeleton.end, range(len(skeleton.names)))]
    return min((dot(point, up) for point in points), default=0.0)


def stands(skeleton: Skeleton, limb: Limb, up: V3, low: float) -> bool:
    """Whether a limb goes down to the ground, which is at the height `low`."""
    top = dot(skeleton.heads[limb[0]], up) - low
    lowest = min(dot(skeleton.end(limb[-1]), up), dot(skeleton.heads[limb[-1]], up)) - low
    return top > 0.0 and lowest <= NEAR_GROUND * top


def count_on_ground(skeleton: Skeleton, limb: Sequence[int], up: V3) -> int:
    """How many bones at the end of a leg are the foot that stands: toes, and a foot that lies flat."""
    low = ground(skeleton, up)
    top = dot(skeleton.heads[limb[0]], up) - low
    count = 0
    while count < len(limb) - 2 and dot(skeleton.heads[limb[-1 - count]], up) - low <= NEAR_GROUND * top:
        count += 1
    return count


def standing(skeleton: Skeleton, sides: Sequence[Sides], up: V3) -> list[Sides]:
    """The limbs of two bones or more, with twins or alone, that stand, but for what is no higher than a foot."""
    low = ground(skeleton, up)
    found = [both for both in sides if all(len(limb) > 1 and stands(skeleton, limb, up, low) for limb in both)]
    tops = [dot(skeleton.heads[both[0][0]], up) - low for both in found]
    highest = max(tops, default=0.0)
    return [both for both, top in zip(found, tops, strict=True) if top >= LEAST_LEG * highest]


def _lateral(skeleton: Skeleton, twins: Sequence[int]) -> V3 | None:
    """The line across the body: the mean of the lines between twins, along an axis of the armature if it is near."""
    total = ORIGIN
    for bone, twin in enumerate(twins):
        if twin > bone:
            ends = minus(skeleton.end(bone), skeleton.end(twin))
            line = plus(minus(skeleton.heads[bone], skeleton.heads[twin]), ends)
            total = plus(total, line if dot(line, total) >= 0.0 else scaled(line, -1.0))
    if length(total) <= 0.0:
        return None
    found = unit(total)
    return next((axis for axis in (X_AXIS, Y_AXIS, Z_AXIS) if abs(dot(axis, found)) > SQUARE), found)


def _up(skeleton: Skeleton, lateral: V3, limbs: Sequence[Limb]) -> V3:
    """Of the four directions square to the body's width, the one along which most of its limbs stand.

    The legs of insects go farther to the front, or back, than down; there it counts how many of them do.
    """
    square = [axis for axis in (Z_AXIS, Y_AXIS, X_AXIS) if dot(axis, lateral) == 0.0]
    first = square[0] if square else any_perpendicular(lateral, skeleton.up)
    second = cross(lateral, first)
    choices = [first, scaled(first, -1.0), second, scaled(second, -1.0)]
    longest = max((sum(skeleton.length(bone) for bone in limb) for limb in limbs), default=0.0)

    def score(up: V3) -> float:
        low = ground(skeleton, up)
        drops = [
            dot(minus(skeleton.heads[limb[0]], skeleton.end(limb[-1])), up) / longest
            for limb in limbs
            if longest > 0.0 and stands(skeleton, limb, up, low)
        ]
        many = A_LEG_OF_MANY * len(drops) if len(drops) > LEGS_OF_FOUR else 0.0
        return sum(drops) + many + TRUSTED_UP * dot(up, skeleton.up)

    return max(choices, key=score)


def _end_votes(skeleton: Skeleton, parts: Sequence[str], legs: Sequence[Limb], ahead: V3) -> Iterator[float]:
    """Of a body whose legs point to all sides the head is ahead of them, and the tail behind."""
    middle = mean(skeleton.heads[leg[0]] for leg in legs)
    for bone, part in enumerate(parts):
        if part in ENDS:
            yield ENDS[part] * dot(minus(skeleton.tails[bone], middle), ahead) / skeleton.extent


def _leg_votes(skeleton: Skeleton, legs: Sequence[Limb], up: V3, ahead: V3) -> Iterator[float]:
    """For each leg how far its toes stand ahead of what they hang on, as a share of its height."""
    for bones in legs:
        flat = count_on_ground(skeleton, bones, up)
        if flat:
            height = dot(skeleton.heads[bones[0]], up) - ground(skeleton, up)
            way = minus(skeleton.end(bones[-1]), skeleton.heads[bones[-flat]])
            yield dot(way, ahead) / height
        if len(bones) - flat > 1:
            yield KNEE_VOTE * _knee_ahead(skeleton, bones[: len(bones) - flat + 1], ahead)


def _toe_votes(skeleton: Skeleton, legs: Sequence[Limb], up: V3, ahead: V3) -> Iterator[float]:
    """For each leg how far its last tail stands ahead of the ankle, as a share of its height."""
    for bones in legs:
        flat = max(1, count_on_ground(skeleton, bones, up))
        height = dot(skeleton.heads[bones[0]], up) - ground(skeleton, up)
        yield dot(minus(skeleton.tails[bones[-1]], skeleton.heads[bones[-flat]]), ahead) / height


def _knee_ahead(skeleton: Skeleton, bones: Sequence[int], ahead: V3) -> float:
    """How far the knee stands ahead of the line from hip to ankle, as a share of its length."""
    hip, knee, ankle = skeleton.heads[bones[0]], skeleton.heads[bones[1]], skeleton.tails[bones[1]]
    along = unit(minus(ankle, hip))
    size = distance(hip, ankle)
    return dot(perpendicular(minus(knee, hip), along), ahead) / size if size > 0.0 else 0.0


def _face_votes(skeleton: Skeleton, parts: Sequence[str], ahead: V3) -> Iterator[float]:
    """Eyes and nose stand ahead of the bone to which they belong."""
    for bone, part in enumerate(parts):
        above = skeleton.parents[bone]
        if part in FACING_PARTS and above >= 0 and parts[above] not in FACING_PARTS and skeleton.length(above) > 0.0:
            way = dot(minus(skeleton.tails[bone], skeleton.heads[above]), ahead)
            yield FACING_PARTS[part] * max(-1.0, min(1.0, way / skeleton.length(above)))
