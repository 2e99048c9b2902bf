# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a skeleton that can be parts of a body, seen with their names and without."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ..maths import ORIGIN, V3, X_AXIS, cross, distance, dot, mean, minus, perpendicular, plus, unit
from .limbs import Limbs
from .skeleton import BodyAxes, Skeleton
from .words import family_of, parts_of, side_of

LEFT_OUT = {"HELPER", "TWIST", "OTHER", "FEATHER", "BREAST"}  # with all that hangs on them, unless a limb does
BODY = {"ARM", "LEG", "SPINE", "HEAD", "NECK", "PELVIS", "TAIL", "WING"}
DEFORMING = re.compile(r"DEF[-_ ]")  # of bones that deform, beside controls and mechanism that have other prefixes
LEAST_DEFORMING = 8
MOST_LEFT_OUT = 0.9  # share of the bones above which names do not leave any out
MOST_OF_WAY = 0.9  # share of the way to a bone without children on which such a bone begins
DETOUR = 0.002  # share by which the way over a point is longer that lies on it
SAME_PLACE = 1e-4  # share of the extent within which two bones stand in one place
MANY_LEGS = 6
ACROSS = 0.05  # share of the extent by which a bone of the middle may lie across the body
MOST_AGREE = 0.8  # share of the named pairs that stand to the side that they name, from which names tell the left


class Tree:
    """A skeleton that is looked at for the parts of a body.

    Attributes:
        whole: All bones.
        numbers: Number of each kept bone in the whole skeleton.
        skeleton: The kept bones; all other numbers are theirs.
        labels: What their names say.
        sides: The sides that their names tell.
        named: Their limbs, with names.
        unnamed: Their limbs, by structure and place alone.
        axes: Of the body; `forward` is there unless neither place nor names tell it.
        path_up: Of a bone: itself and those above it.
        is_left_drawn: Whether neither place nor names tell the body's left, and it was taken to be +X, which is what
            Blender calls left when it names the sides of bones.
    """

    def __init__(self, whole: Skeleton) -> None:
        self.whole = whole
        self.skeleton, self.numbers, self.labels = _body_bones(whole)
        self.sides = [side_of(name) for name in self.skeleton.names]
        self.families = [family_of(label) for label in self.labels]
        self.named = Limbs(self.skeleton)
        self.unnamed = Limbs(replace(self.skeleton, names=[""] * len(self.skeleton.names)))
        self.path_up = self.skeleton.way_up
        self.is_left_drawn = False
        self.axes = self._axes()

    def shared(self, bones: Sequence[int]) -> int:
        """The lowest bone that is above all of these, or one of them; -1 for none."""
        if not bones or any(bone < 0 for bone in bones):
            return -1
        above = [set(self.path_up(bone)) for bone in bones]
        return max(set.intersection(*above), default=-1)  # a parent comes before its children

    def between(self, top: int, bone: int) -> list[int]:
        """The bones below one down to another, from the top; empty where they do not hang on each other."""
        way = [*self.path_up(bone)]
        found = way if top < 0 else way[: way.index(top)] if top in way else []
        return found[::-1]

    def below(self, bone: int) -> Iterator[int]:
        """All bones that hang on one."""
        waiting = [*self.skeleton.children[bone]]
        while waiting:
            found = waiting.pop()
            yield found
            waiting += self.skeleton.children[found]

    def side_at(self, bones: Sequence[int], others: Sequence[int]) -> str:
        """The side on which a limb stands, beside its twin or beside the middle; "" where left is not known."""
        left = self.axes.left
        if left is None:
            return ""
        heads = self.skeleton.heads
        middle = mean([heads[bone] for bone in others] if others else heads)
        off = dot(minus(mean(heads[bone] for bone in bones), middle), left)
        return "L" if off > 0.0 else "R" if off < 0.0 else ""

    def _axes(self) -> BodyAxes:
        """The body's axes; where place does not tell forward, the sides that names tell do, and else left is +X.

        What stands on many legs may be alike to the front and to the back. By +X Blender names sides itself.
        """
        axes = self.named.axes if self.named.axes.forward is not None else self.unnamed.axes
        if axes.forward is not None:
            return axes
        left = self._named_left(axes.up)
        if left is None and len(axes.legs) >= MANY_LEGS and self._is_drawn_along_x(axes):
            left, self.is_left_drawn = X_AXIS, True
        return axes if left is None else replace(axes, forward=unit(cross(left, axes.up)))

    def _is_drawn_along_x(self, axes: BodyAxes) -> bool:
        """Whether a body's sides are those of the X axis: its twins stand along it, and its middle across it."""
        skeleton, twins = self.skeleton, self.unnamed.twins
        middle = [minus(skeleton.end(bone), skeleton.heads[bone]) for bone, twin in enumerate(twins) if twin < 0]
        across = max((abs(dot(way, X_AXIS)) for way in middle), default=0.0)
        return abs(dot(axes.lateral, X_AXIS)) == 1.0 and across <= ACROSS * skeleton.extent

    def _named_left(self, up: V3) -> V3 | None:
        """Left by what names say, where most agree."""
        lines = [
            minus(self.skeleton.heads[bone], self.skeleton.heads[twin])
            for bone, twin in enumerate(self.named.twins)
            if twin >= 0 and self.sides[bone] == "L" and self.sides[twin] == "R"
        ]
        left = unit(perpendicular(reduce(plus, lines, ORIGIN), up))
        agreeing = sum(dot(line, left) > 0.0 for line in lines)
        return left if lines and agreeing >= MOST_AGREE * len(lines) else None


def _body_bones(whole: Skeleton) -> tuple[Skeleton, list[int], list[str]]:
    """The bones that can be parts of a body: no helpers, no clothes, and no second bone in the same place.

    Each hangs on the next one above that is left. With the number of each in the whole skeleton, and what its name
    says that it is.
    """
    labels = parts_of(whole)
    out = _left_out(whole, labels)
    if sum(out) > MOST_LEFT_OUT * len(out):
        out = [False] * len(out)
    out = [any(reasons) for reasons in zip(out, doubles(whole), bones_beside(whole, labels), strict=True)]
    numbers = [bone for bone in range(len(out)) if not out[bone]]
    new = {bone: i for i, bone in enumerate(numbers)}
    parents = []
    for bone in numbers:
        above = whole.parents[bone]
        while above >= 0 and out[above]:
            above = whole.parents[above]
        parents.append(new[above] if above >= 0 else -1)
    rows = {name: getattr(whole, name) for name in ("names", "heads", "tails", "flagged", "axes")}
    kept: dict[str, Any] = {name: [row[bone] for bone in numbers] for name, row in rows.items() if row}
    return replace(whole, parents=parents, **kept), numbers, [labels[bone] for bone in numbers]


def _left_out(whole: Skeleton, labels: Sequence[str]) -> list[bool]:
    """Bones that names leave out: helpers and clothes, with what hangs on them if none of it is of a body."""
    has_body = [family_of(label) in BODY for label in labels]
    for bone in reversed(range(len(labels))):
        if has_body[bone] and whole.parents[bone] >= 0:
            has_body[whole.parents[bone]] = True
    deforming = [DEFORMING.match(name) is not None for name in whole.names]
    are_layers = sum(deforming) > LEAST_DEFORMING
    out = [False] * len(labels)
    for bone, parent in enumerate(whole.parents):
        hangs_on_such = parent >= 0 and out[parent] and not has_body[parent]
        is_other_layer = are_layers and not deforming[bone]
        out[bone] = is_other_layer or labels[bone] in LEFT_OUT or (hangs_on_such and not has_body[bone])
    return out


def bones_beside(whole: Skeleton, labels: Sequence[str]) -> list[bool]:
    """Bones without children and without telling names that begin on the way from their parent to a bone that goes on.

    So do bones for twist, and those that correct a knee or an elbow.
    """
    out = [False] * len(labels)
    for parent, children in enumerate(whole.children):
        start = whole.heads[parent]
        for bone in children:
            if not whole.children[bone] and not labels[bone]:
                others = [other for other in children if other != bone]
                share = {other: (1.0 if whole.children[other] else MOST_OF_WAY) for other in others}
                head = whole.heads[bone]
                out[bone] = any(_is_on_way(start, head, whole.heads[other], share[other]) for other in others)
    return out


def _is_on_way(start: V3, point: V3, end: V3, share: float) -> bool:
    """Whether a point lies on the way, in a share of it from the start."""
    whole, gone = distance(start, end), distance(start, point)
    return whole > 0.0 and gone <= share * whole and gone + distance(point, end) <= (1.0 + DETOUR) * whole


def doubles(whole: Skeleton) -> list[bool]:
    """Bones without children that stand just where another one stands that hangs on the same."""
    near = SAME_PLACE * whole.extent
    out = [False] * len(whole.names)
    for siblings in whole.children:
        for bone in siblings:
            others = [other for other in siblings if other != bone and not out[other]]
            out[bone] = not whole.children[bone] and any(
                distance(whole.heads[bone], whole.heads[other]) <= near
                and distance(whole.tails[bone], whole.tails[other]) <= near
                and (whole.children[other] or other < bone)
                for other in others
            )
    return out
