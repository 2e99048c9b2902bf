# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of both sides of a body that belong together: by their names, or else by the same shape under one parent."""

from __future__ import annotations

from collections.abc import Sequence

from ..maths import V3, distance
from .skeleton import Skeleton
from .words import side_of, twin_key

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
    left: dict[tuple[str, ...], int] = {}
    for bone, name in enumerate(skeleton.names):
        if side_of(name) == "L":
            left[twin_key(name)] = bone
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
    best: list[tuple[int, int]] = []
    for k in range(3):
        middle = sum(skeleton.heads[bone][k] for bone in alike) / len(alike)
        pairs = _across(skeleton, [bone for bone in alike if twins[bone] < 0], k, middle)
        if len(pairs) > len(best):
            best = pairs
    for one, other in best:
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
