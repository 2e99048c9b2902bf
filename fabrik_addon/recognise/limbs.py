# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones form a limb, and which belong together on both sides: by how they stand, hang and are called.

About which axis a joint bends, and to which side, is told by the bend that it has at rest, or else by what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import atan2, cos, radians
from typing import NamedTuple

from ..maths import ORIGIN, V3, cross, distance, dot, length, minus, scaled, unit
from .skeleton import LEGS_OF_FOUR, BodyAxes, Limb, Skeleton, count_on_ground, find_axes, ground, stands
from .words import NO_LIMB, family_of, may_follow, parts_of, side_of, twin_key

SAME_SIZE = 0.05  # share of the length by which the bones of both sides may differ
OFF_MIRROR = 0.02  # share of the extent by which bones may be off the mirror image of others
APART = 1e-3  # share of the extent: bones that stand in one place are no pair


def find_twins(skeleton: Skeleton) -> list[int]:
    """The number of each bone's twin on the other side, or -1."""
    twins = _named_twins(skeleton)
    if all(twin < 0 for twin in twins):
        _pair_by_shape(skeleton, twins)
        _pair_by_place(skeleton, twins)
    return twins


def _named_twins(skeleton: Skeleton) -> list[int]:
    twins = [-1] * len(skeleton.names)
    left = {twin_key(name): bone for bone, name in enumerate(skeleton.names) if side_of(name) == "L"}
    for bone, name in enumerate(skeleton.names):
        other = left.get(twin_key(name), -1) if side_of(name) == "R" else -1
        if other >= 0:
            twins[bone], twins[other] = other, bone
    return twins


def _pair_by_shape(skeleton: Skeleton, twins: list[int]) -> None:
    """Pair branches of one parent that are alike, where there are just two alike; with all their bones."""
    shapes = branch_shapes(skeleton)
    for siblings in skeleton.children:
        tried: set[int] = set()
        for bone in siblings:
            alike = [other for other in siblings if other != bone and _are_alike(skeleton, shapes, bone, other)]
            if len(alike) == 1 and twins[bone] < 0 and twins[alike[0]] < 0:
                _pair(skeleton, twins, bone, alike[0])
            elif len(alike) > 1 and twins[bone] < 0 and bone not in tried:
                _pair_mirrored(skeleton, twins, [bone, *alike])
                tried.update([bone, *alike])


def _pair_mirrored(skeleton: Skeleton, twins: list[int], alike: Sequence[int]) -> None:
    """Of several branches that are alike, as the legs of a spider, pair those that mirror each other across a plane."""
    alone = [bone for bone in alike if twins[bone] < 0]
    middles = [sum(skeleton.heads[bone][k] for bone in alike) / len(alike) for k in range(3)]
    for one, other in max((_across(skeleton, alone, k, middle) for k, middle in enumerate(middles)), key=len):
        _pair(skeleton, twins, one, other)


def _pair_by_place(skeleton: Skeleton, twins: list[int]) -> None:
    """Pair what mirrors each other across the plane of the pairs that there are, though one side has more bones."""
    pairs = [(bone, twin) for bone, twin in enumerate(twins) if twin > bone]
    if not pairs:
        return
    spread = [sum(abs(skeleton.heads[a][k] - skeleton.heads[b][k]) for a, b in pairs) for k in range(3)]
    k = spread.index(max(spread))
    middle = sum(skeleton.heads[a][k] + skeleton.heads[b][k] for a, b in pairs) / (2.0 * len(pairs))
    waiting = [children for bone, children in enumerate(skeleton.children) if twins[bone] < 0]
    while waiting:
        siblings = waiting.pop()
        for one, other in _across(skeleton, [bone for bone in siblings if twins[bone] < 0], k, middle):
            twins[one], twins[other] = other, one
            waiting.append([*skeleton.children[one], *skeleton.children[other]])


def _across(skeleton: Skeleton, bones: Sequence[int], k: int, middle: float) -> list[tuple[int, int]]:
    """The pairs that mirror each other across the plane through `middle` square to axis number `k`."""
    near = OFF_MIRROR * skeleton.extent
    pairs: list[tuple[int, int]] = []
    for bone in bones:
        head, tail = (_mirrored(point, k, middle) for point in (skeleton.heads[bone], skeleton.tails[bone]))
        taken = {one for pair in pairs for one in pair}
        others = [other for other in bones if other != bone and other not in taken and bone not in taken]
        off = {other: distance(head, skeleton.heads[other]) + distance(tail, skeleton.tails[other]) for other in others}
        nearest = min(others, default=-1, key=lambda other: off[other])
        if nearest >= 0 and off[nearest] <= near and abs(skeleton.tails[bone][k] - middle) > near:
            pairs.append((bone, nearest))
    return pairs


def _mirrored(point: V3, k: int, middle: float) -> V3:
    x, y, z = (2.0 * middle - value if i == k else value for i, value in enumerate(point))
    return x, y, z


def branch_shapes(skeleton: Skeleton) -> list[tuple[int, float]]:
    """For each bone how many bones hang on it, itself included, and their length together."""
    shapes = [(1, skeleton.length(bone)) for bone in range(len(skeleton.names))]
    for bone in reversed(range(len(skeleton.names))):
        parent = skeleton.parents[bone]
        if parent >= 0:
            shapes[parent] = (shapes[parent][0] + shapes[bone][0], shapes[parent][1] + shapes[bone][1])
    return shapes


def _are_alike(skeleton: Skeleton, shapes: Sequence[tuple[int, float]], a: int, b: int) -> bool:
    (count, size), (other_count, other_size) = shapes[a], shapes[b]
    apart = distance(skeleton.heads[a], skeleton.heads[b]) + distance(skeleton.tails[a], skeleton.tails[b])
    return (
        count == other_count
        and abs(size - other_size) <= SAME_SIZE * size
        and abs(skeleton.length(a) - skeleton.length(b)) <= SAME_SIZE * size
        and apart > APART * skeleton.extent
    )


def _pair(skeleton: Skeleton, twins: list[int], a: int, b: int) -> None:
    twins[a], twins[b] = b, a
    first, second = skeleton.children[a], skeleton.children[b]
    if len(first) == len(second):
        for one, other in zip(first, second, strict=True):
            _pair(skeleton, twins, one, other)


# Joined by name where tails tell nothing.
IN_ORDER = ("UPPER_ARM", "FOREARM", "HAND"), ("THIGH", "SHIN", "FOOT", "TOE"), ("NECK", "HEAD")
# What branches off at the hips, where even bones that are named spine are no one limb.
OF_HIPS = {"PELVIS", "THIGH", "LEG"}
GREAT_FAMILIES = {"ARM", "LEG", "SPINE", "TAIL", "HEAD", "WING", "FIN"}
GREAT_SHARE = 0.15  # share of the skeleton's extent from which limbs of unknown names are great
MANY_GROUPS = 6  # groups of selected bones that mean a whole character, of which single bones are no limbs
STRETCHED = 0.4  # share of its length that a limb of unknown names reaches: bones around an eye are none
BRANCH = 0.4  # share of the largest branch from which another one makes a fork

# A girdle, as a clavicle, runs sideways from the middle of the body and is shorter than the bone that hangs on it.
GIRDLE_OFF = 0.65
GIRDLE_ACROSS = 0.6
GIRDLE_SHORTER = 0.85


class Limbs:
    """The limbs of a skeleton.

    Attributes:
        skeleton: Its bones.
        parts: What each bone's name says that it is, or "".
        twins: Number of each bone's twin on the other side, or -1.
        above: For each bone the parent to which its limb goes on, or -1 where it is the limb's first.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.parts = parts_of(skeleton)
        self.twins = find_twins(skeleton)
        self.has_named_neck = any(part in {"NECK", "HEAD"} for part in self.parts)
        self.is_body = any(twin >= 0 for twin in self.twins)
        self.reaches = _reaches(skeleton)
        self.above = [skeleton.parents[i] if self._goes_on(i) else -1 for i in range(len(skeleton.names))]

    def limb_of(self, tip: int) -> Limb:
        """The limb that ends with a bone."""
        return self._run(tip, set(range(len(self.skeleton.names))))

    def all(self) -> list[Limb]:
        """Every limb, single bones included; each bone is in one of them."""
        return self._runs(set(range(len(self.skeleton.names))))

    @cached_property
    def axes(self) -> BodyAxes:
        """Where up, forward and left are."""
        return find_axes(self.skeleton, self.twins, self.all(), self.parts)

    def selected(self, bones: set[int]) -> tuple[list[Limb], list[Limb]]:
        """The limbs that selected bones mean.

        A single bone is the tip of its limb; a run of bones without a fork is a limb of just these. Bones that fork are
        divided into limbs, of which arms, legs, spine, tail, neck and head come first; where there are none of these,
        all that have two bones or more.

        Returns:
            Those to make chains of, and those that are left for when they are asked for: fingers, toes, faces, single
            bones.
        """
        groups = self._groups(bones)
        parents = self.skeleton.parents
        forked = [group for group in groups if len({*group} - {parents[bone] for bone in group}) > 1]  # of several tips
        limbs, small = self._divided({bone for group in forked for bone in group})
        for group in groups:
            if group not in forked:
                found = tuple(group) if len(group) > 1 else self.limb_of(group[0])
                is_single = len(found) == 1 and (forked or len(groups) >= MANY_GROUPS)
                (small if is_single else limbs).append(found)
        if forked and any(len(limb) > 1 for limb in limbs):  # controls that only fork are none beside limbs
            small += [limb for limb in limbs if len(limb) == 1]
            limbs = [limb for limb in limbs if len(limb) > 1]
        return limbs, small

    def _divided(self, group: set[int]) -> tuple[list[Limb], list[Limb]]:
        """The limbs of bones that fork, without hands and feet."""
        runs = self._runs(group)
        great = [run for run in runs if self._is_great(run)] or [run for run in runs if len(run) > 1] or runs
        limbs: list[Limb] = []
        small = [run for run in runs if run not in great]
        for run in great:
            ends = self._end_count(run)
            limbs.append(run[: len(run) - ends])
            small += [run[-ends:]] if ends else []
        return limbs, small

    def _runs(self, group: set[int]) -> list[Limb]:
        """The limbs into which bones fall, in the order of their tips."""
        followed = {self.above[bone] for bone in group}
        return [self._run(tip, group) for tip in sorted(group - followed)]

    def _run(self, tip: int, group: set[int]) -> Limb:
        """The limb that ends with a bone, as far as its bones are in a group."""
        bones = [tip]
        while self.above[bones[-1]] in group:
            bones.append(self.above[bones[-1]])
        return tuple(bones[::-1])

    def _groups(self, bones: set[int]) -> list[list[int]]:
        """The selected bones, those that hang on each other together."""
        home: dict[int, list[int]] = {}
        groups = []
        for bone in sorted(bones):
            group = home.get(self.skeleton.parents[bone])
            if group is None:
                group = []
                groups.append(group)
            group.append(bone)
            home[bone] = group
        return groups

    def _is_great(self, run: Limb) -> bool:
        if len(run) < 2 or self._carries_hips(run):
            return False
        families = {family_of(self.parts[bone]) for bone in run}
        if families - {""}:
            return bool(families & GREAT_FAMILIES) and not {self.parts[bone] for bone in run} <= {"FOOT", "TOE", "HEEL"}
        size = sum(self.skeleton.length(bone) for bone in run)
        reach = distance(self.skeleton.heads[run[0]], self.skeleton.tails[run[-1]])
        return size >= GREAT_SHARE * self.skeleton.extent and reach >= STRETCHED * size

    def _carries_hips(self, run: Limb) -> bool:
        """Whether a run is the root of the skeleton down to the bone on which its legs hang: the hips themselves."""
        parents = self.skeleton.parents
        if parents[run[0]] >= 0:
            return False
        tops = [parents[leg[0]] for leg in self.axes.legs]
        return run[-1] in tops or run[-1] in {parents[top] for top in tops if top >= 0}

    def _end_count(self, run: Limb) -> int:
        """How many bones at the end of an arm or leg are hand or foot, on whose joint the goal belongs."""
        if len(run) < 3 or self.twins[run[-1]] < 0:
            return 0
        up = self.axes.up
        if stands(self.skeleton, run, up, ground(self.skeleton, up)):
            return count_on_ground(self.skeleton, run, up)
        part = self.parts[run[-1]]
        return int(part == "HAND" or (not part and len(self._branches(run[-1])) > 2))

    def _branches(self, bone: int) -> list[int]:
        """The children of a bone that are more than a helper beside it."""
        children = [child for child in self.skeleton.children[bone] if self.parts[child] != "HELPER"]
        longest = max((self.reaches[child] for child in children), default=0.0)
        return [child for child in children if self.reaches[child] >= BRANCH * longest]

    def _goes_on(self, bone: int) -> bool:
        """Whether the limb of a bone goes on to its parent."""
        parent = self.skeleton.parents[bone]
        if parent < 0 or self.skeleton.stands_on_head(bone):
            return False
        if self.parts[parent] in NO_LIMB or not may_follow(self.parts[bone], self.parts[parent]):
            return False
        return self._continues(bone, parent) and not self._forks(bone, parent) and not self._is_girdle(parent, bone)

    def _continues(self, bone: int, parent: int) -> bool:
        """Whether a bone goes on where its parent ends."""
        skeleton = self.skeleton
        if skeleton.is_joined(bone):
            return True
        part, above = self.parts[bone], self.parts[parent]
        if any(part in order and above in order and order.index(part) == order.index(above) + 1 for order in IN_ORDER):
            return sum(self.parts[child] == part for child in skeleton.children[parent]) == 1
        return not skeleton.has_drawn_tails and self._branches(parent) == [bone]

    def _forks(self, bone: int, parent: int) -> bool:
        """Whether other limbs begin beside a bone: at its parent's tail, or a pair of twins, as at chest and pelvis."""
        siblings = [child for child in self.skeleton.children[parent] if child != bone]
        branches = self._branches(parent)
        if any(self.skeleton.is_joined(other) and other in branches for other in siblings):
            return True
        if self.is_body and self.parts[parent] in {"", "SPINE"} and self.skeleton.parents[parent] < 0:
            return len(branches) > 1
        if not any(self.twins[other] in siblings and other in branches for other in siblings):
            return False
        # Where neck and head have names of their own, bones named spine are one spine past the arms.
        is_spine = self.has_named_neck and self.parts[bone] == self.parts[parent] == "SPINE"
        return not is_spine or any(self.parts[other] in OF_HIPS for other in siblings)

    def _is_girdle(self, bone: int, after: int) -> bool:
        """Whether a bone is a clavicle or half a pelvis by its place."""
        twin = self.twins[bone]
        if self.parts[bone] or twin < 0 or self.skeleton.parents[twin] != self.skeleton.parents[bone]:
            return False
        heads, tails = self.skeleton.heads, self.skeleton.tails
        across = unit(minus(heads[after], heads[self.twins[after]] if self.twins[after] >= 0 else tails[twin]))
        size, off = distance(heads[bone], heads[after]), 0.5 * distance(heads[bone], heads[twin])
        sideways = abs(dot(unit(minus(heads[after], heads[bone])), across))
        shorter = size < GIRDLE_SHORTER * self.skeleton.length(after)
        return off < GIRDLE_OFF * size and sideways > GIRDLE_ACROSS and shorter


def _reaches(skeleton: Skeleton) -> list[float]:
    """For each bone the length of the longest way down from its head."""
    below = [0.0] * len(skeleton.names)
    for bone in reversed(range(len(skeleton.names))):
        below[bone] += skeleton.length(bone)
        parent = skeleton.parents[bone]
        if parent >= 0:
            below[parent] = max(below[parent], below[bone])
    return below


LEAST_BEND = radians(1.0)  # at rest that tells an axis
MOST_GUESSED = radians(60.0)  # bend of a last bone whose tail an importer guessed, above which it tells nothing
NEAR_AXIS = cos(radians(20.0))  # of an axis of the bone, along which the hinge then lies
SHOWS_SIDE = 0.2  # sine of the angle between a bone and the way it bends, below which there is no axis
PAW = "PAW"  # what folds back under the leg of an animal: the front foot in its wrist, and toes
SEGMENTS = {"UPPER_ARM", "FOREARM", "THIGH", "SHIN"}  # parts that some rigs make of two bones, for their twist


class JointBend(NamedTuple):
    """How a joint bends.

    Attributes:
        axis: Unit vector in armature space; a positive turn about it bends the joint further.
        angle: By which it is bent at rest, in radians; 0 where the axis comes from what the joint is.
    """

    axis: V3
    angle: float


def direction_of(limbs: Limbs, bone: int) -> V3:
    """Where a bone points: to the head of the bone that goes on its limb, else to where it ends."""
    skeleton = limbs.skeleton
    after = next((child for child in skeleton.children[bone] if limbs.above[child] == bone), -1)
    end = skeleton.end(bone) if after < 0 else skeleton.heads[after]
    head = skeleton.heads[bone]
    return unit(minus(skeleton.tails[bone] if end == head else end, head))


def rest_bend(limbs: Limbs, bone: int) -> JointBend | None:
    """The bend between a bone and its parent at rest; None where it is straight, or the bone has no parent."""
    parent = limbs.skeleton.parents[bone]
    if parent < 0:
        return None
    heads = limbs.skeleton.heads
    before, after = unit(minus(heads[bone], heads[parent])), direction_of(limbs, bone)
    normal = cross(before, after)
    angle = atan2(length(normal), dot(before, after))
    is_guess = limbs.skeleton.end(bone) == heads[bone] and angle > MOST_GUESSED
    return JointBend(unit(normal), angle) if angle >= LEAST_BEND and length(normal) > 0.0 and not is_guess else None


def bend_of(limbs: Limbs, bone: int, part: str = "") -> JointBend | None:
    """How a joint bends, from its bend at rest, else from its part and the body; None where neither tells.

    The part may be known better than by name and place.
    """
    found = rest_bend(limbs, bone)
    if found is not None:
        return found
    axis = flexion_axis(limbs.axes, direction_of(limbs, bone), part or part_of(limbs, bone))
    return None if axis is None else JointBend(axis, 0.0)


def fold_of(limbs: Limbs, bone: int) -> JointBend | None:
    """How a paw folds: back, in the plane in which it is bent at rest; None where neither tells an axis.

    The bend at rest alone tells no side: under the weight of the body a paw stands bent forward, or straight. It is
    taken all the same where nothing tells what is back.
    """
    back = flexion_axis(limbs.axes, direction_of(limbs, bone), PAW)
    rest = rest_bend(limbs, bone)
    if rest is None or (back is not None and abs(dot(rest.axis, back)) < NEAR_AXIS):
        return None if back is None else JointBend(back, 0.0)
    is_back = back is None or dot(rest.axis, back) > 0.0
    return JointBend(rest.axis if is_back else scaled(rest.axis, -1.0), 0.0)


def flexion_axis(axes: BodyAxes, direction: V3, part: str) -> V3 | None:
    """About which axis a straight joint bends, by anatomy: knees forward, elbows back; None where that is not known."""
    if axes.forward is None or axes.left is None:
        return None
    if part == "FOOT":  # toes up
        return scaled(axes.left, -1.0)
    back = scaled(axes.forward, -1.0)
    sides = {"SHIN": back, "FOREARM": axes.forward, "HOCK": axes.forward, PAW: back}
    return turn_towards(direction, sides.get(part, ORIGIN))


def turn_towards(direction: V3, side: V3) -> V3 | None:
    """The axis that turns a unit direction to a side; None where it points there or away from it."""
    normal = cross(direction, side)
    return unit(normal) if length(normal) > SHOWS_SIDE else None


def begins_limb(limbs: Limbs, bone: int) -> bool:
    """Whether a bone is the first of its limb, so that it does not bend; fingers and toes bend at hand and foot."""
    return limbs.above[bone] < 0 and not (limbs.parts[bone] in {"FINGER", "TOE"} and limbs.skeleton.parents[bone] >= 0)


def is_second_half(limbs: Limbs, bone: int) -> bool:
    """Whether a bone goes on the thigh, shin, upper arm or forearm above it, so that there is no joint between."""
    above = limbs.above[bone]
    return above >= 0 and limbs.parts[bone] in SEGMENTS and limbs.parts[above] == limbs.parts[bone]


def part_of(limbs: Limbs, bone: int) -> str:
    """What a bone is: by its name, else by its place in a leg that stands, or in an arm."""
    if limbs.parts[bone]:
        return limbs.parts[bone]
    run = next(run for run in limbs.all() if bone in run)
    place, legs = run.index(bone), limbs.axes.legs
    if run in legs:
        names = ("UPPER_ARM", "FOREARM", "HAND") if _is_front(limbs, run) else ("THIGH", "SHIN", "FOOT")
    elif limbs.twins[run[-1]] >= 0 and legs:
        names = ("UPPER_ARM", "FOREARM", "HAND")
    else:
        return ""
    return names[place] if place < len(names) else ""


def _is_front(limbs: Limbs, leg: Limb) -> bool:
    """Whether a leg is one of the two in front, of four."""
    forward, legs = limbs.axes.forward, limbs.axes.legs
    if len(legs) != LEGS_OF_FOUR or forward is None:
        return False
    ahead = {one: dot(limbs.skeleton.heads[one[0]], forward) for one in legs}
    return sum(other > ahead[leg] for other in ahead.values()) < LEGS_OF_FOUR // 2


def own_axis(limbs: Limbs, bone: int, axis: V3) -> V3:
    """An axis in armature space as one of the bone, along the bone's own axis if that is near."""
    own = limbs.skeleton.axes[bone]
    x, y, z = (dot(axis, one) for one in own)
    for k, value in enumerate((x, y, z)):
        if abs(value) >= NEAR_AXIS:
            signs = [0.0, 0.0, 0.0]
            signs[k] = 1.0 if value > 0.0 else -1.0
            return signs[0], signs[1], signs[2]
    return unit((x, y, z))
