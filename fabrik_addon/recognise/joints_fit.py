# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones of a run are upper and lower half of an arm or leg, and which is its hand or foot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import acos, log, radians
from typing import NamedTuple

from ..maths import V3, distance, dot, length, minus, unit
from .body_axes import count_on_ground
from .limbs import LEGS_OF_FOUR, Limb
from .parts import ARM, LEG
from .tree import Tree

ROLES = {ARM: ("UPPER_ARM", "FOREARM", "HAND"), LEG: ("THIGH", "SHIN", "FOOT")}
USUAL_RATIOS = {ARM: 1.1, LEG: 1.0}  # upper to lower half, in the middle of the rigs that were measured
BEFORE, AFTER = 0.3, 0.1  # what is left out at either end costs, as a share of the limb, beside the ratio's logarithm
CROOKED = 2.0  # what it costs that a half is not straight
MOST_BEND = radians(20.0)  # bend at rest that tells an elbow or knee; more tells no better
LEAST_SHARE = 0.5  # share of the run's length that both halves have
MOST_FITTED = 12  # bones of a run that is fitted
NEAR_MIDDLE = 0.5  # share of the length of a clavicle within which it begins off the middle
GIRDLE_SIDEWAYS = 0.6  # cosine of the angle of a clavicle to the line across the body
SIDEWAYS = 0.8  # cosine of the angle to the line across the body from which the first bone of a leg is half a pelvis
BRANCHES = 2  # fingers on the last bone that make it a hand


class Trimmed(NamedTuple):
    """The bones of a limb.

    Attributes:
        bones: Root to tip.
        roles: What each of them is.
        holds_head: Whether the last one is a hand or foot.
    """

    bones: list[int]
    roles: list[str]
    holds_head: bool


def trimmed(tree: Tree, run: Sequence[int], kind: str, stance: int) -> Trimmed:
    """The bones of an arm or leg out of a run that may begin with a clavicle, and end with toes.

    Args:
        tree: The skeleton.
        run: Its bones, root to tip.
        kind: `ARM` or `LEG`.
        stance: On how many legs the body stands, as an animal does that stands on its toes; 0 for a human.
    """
    labels = [tree.labels[bone] for bone in run]
    family = [i for i, bone in enumerate(run) if tree.families[bone] in {"ARM", "LEG"}]
    is_named = len(family) > 1
    end = _end_on_ground(tree, run) if kind == LEG else 0
    if is_named:
        first, last = family[0], family[-1]
        tip_role = "HAND" if kind == ARM else "FOOT"
        named_tip = next((i for i in family if labels[i] == tip_role), -1)
        if kind == LEG and (stance or named_tip < 0):
            named_tip = len(run) - end if end else -1
        holds_head = named_tip > first
        last = named_tip if holds_head else last
        return Trimmed(list(run[first : last + 1]), _named_roles(labels, first, last), holds_head)
    if kind == LEG and stance:
        first = 0 if stance > LEGS_OF_FOUR else _after_pelvis(tree, run)
        last = len(run) - end if end else len(run) - 1
        return Trimmed(list(run[first : last + 1]), [""] * (last + 1 - first), bool(end))
    return _fitted(tree, run, kind, len(run) - end if end else -1)


def _end_on_ground(tree: Tree, run: Sequence[int]) -> int:
    return count_on_ground(tree.skeleton, Limb(run[-1], len(run)), tree.axes.up)


def _named_roles(labels: Sequence[str], first: int, last: int) -> list[str]:
    """What names say, and what lies between two halves of one bone is of it."""
    roles = list(labels[first : last + 1])
    for i in range(1, len(roles)):
        if not roles[i]:
            roles[i] = roles[i - 1]
    return roles


def _after_pelvis(tree: Tree, run: Sequence[int]) -> int:
    """The number in a run of the first bone that does not lie across the body, as half a pelvis does."""
    way = unit(minus(_joint(tree, run, 1), _joint(tree, run, 0)))
    return int(len(run) > 3 and abs(dot(way, tree.axes.lateral)) > SIDEWAYS)


def _joint(tree: Tree, run: Sequence[int], i: int) -> V3:
    return tree.skeleton.heads[run[i]] if i < len(run) else tree.skeleton.tails[run[-1]]


def _fitted(tree: Tree, run: Sequence[int], kind: str, ankle: int) -> Trimmed:
    """Shoulder, elbow and wrist where both halves are as long and straight."""
    count = len(run)
    if ankle < 0 and (len(tree.skeleton.children[run[-1]]) >= BRANCHES or count == len(ROLES[kind])):
        ankle = count - 1
    wrists = [ankle] if ankle > 1 else range(2, count + 1)
    if count > MOST_FITTED:
        return Trimmed(list(run), [""] * count, False)
    points = [_joint(tree, run, i) for i in range(count + 1)]
    least = int(count > len(ROLES[kind]) and _begins_in_middle(tree, run))
    choices = [(a, b, c) for c in wrists for a, b in combinations(range(least, c), 2)]
    first, knee, last = min(
        choices, key=lambda choice: _cost(points, choice, USUAL_RATIOS[kind]), default=(0, min(1, count - 1), count)
    )
    holds_head = last < count
    end = last if holds_head else count - 1
    upper, lower, tip = ROLES[kind]
    roles = [upper if i < knee else lower if i < last else tip for i in range(first, end + 1)]
    return Trimmed(list(run[first : end + 1]), roles, holds_head)


def _begins_in_middle(tree: Tree, run: Sequence[int]) -> bool:
    """Whether a run begins with a clavicle or half a pelvis: sideways from the middle of the body."""
    twin = tree.unnamed.twins[run[0]]
    if twin < 0:
        return False
    step = minus(_joint(tree, run, 1), _joint(tree, run, 0))
    off = 0.5 * distance(tree.skeleton.heads[run[0]], tree.skeleton.heads[twin])
    return off < NEAR_MIDDLE * length(step) and abs(dot(unit(step), tree.axes.lateral)) > GIRDLE_SIDEWAYS


def _cost(points: Sequence[V3], choice: tuple[int, int, int], usual: float) -> float:
    """How little a choice of shoulder, elbow and wrist is like a limb; infinite where it is none."""
    first, knee, last = choice
    steps = [distance(a, b) for a, b in pairwise(points)]
    upper, lower = distance(points[first], points[knee]), distance(points[knee], points[last])
    if min(upper, lower) <= 0.0 or upper + lower < LEAST_SHARE * sum(steps):
        return float("inf")
    crooked = sum(steps[first:knee]) / upper + sum(steps[knee:last]) / lower - 2.0
    before, after = sum(steps[:first]) / (upper + lower), sum(steps[last:]) / (upper + lower)
    before_knee, after_knee = (unit(minus(points[i + 1], points[i])) for i in (knee - 1, knee))
    bend = acos(max(-1.0, min(1.0, dot(before_knee, after_knee))))
    return (
        abs(log(upper / lower) - log(usual))
        + CROOKED * crooked
        + BEFORE * before
        + AFTER * after
        - min(bend, MOST_BEND)
    )
