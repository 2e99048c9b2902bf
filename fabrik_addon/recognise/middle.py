# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts in the middle of a body: spine, neck with head, tail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..maths import distance, dot, minus, plus, scaled, unit
from ..texts import Text
from .body_axes import limb_bones
from .evidence import NO_LENGTH, Evidence, Features, attach_of, ramp
from .pairs import Pair
from .parts import ARM, HEAD, LEG, SPINE, TAIL, WING
from .tree import Tree

AGREES = {SPINE: {"SPINE": 1.0, "PELVIS": 0.7, "": 0.0}, HEAD: {"HEAD": 1.0, "NECK": 1.0, "SPINE": 0.8}}
AGREES |= {TAIL: {"TAIL": 1.0, "SPINE": 0.8}}
LEAST_TAIL = 3  # bones of a tail that no name tells
MOST_TAILS = 2  # such runs that hang on the hips, of which one is a tail
LEAST_AHEAD = 0.1  # cosine: a head is ahead of the chest or above it, a tail behind the hips or below
MOST_OF_HEAD = 6  # bones of a neck with its head at most, where no name tells which is the head
LOWER_IS_BEHIND = 0.01  # what height counts beside the way ahead, where that tells no difference
NOT_SMALL = 0.05  # share of the skeleton's extent from which a part is not small
ELSEWHERE = 0.5  # how far it is met that a head hangs on the chest, or a tail on the hips, where it does not


class Middle(NamedTuple):
    """A part in the middle.

    Attributes:
        kind: `SPINE`, `HEAD` or `TAIL`.
        bones: Root to tip.
        evidence: What speaks for it.
    """

    kind: str
    bones: list[int]
    evidence: Evidence


class Trunk(NamedTuple):
    """Where the limbs hang.

    Attributes:
        hips: The bone on which the hindmost legs hang, or -1.
        chest: The bone on which the foremost limbs hang, farther along the body, or -1.
    """

    hips: int
    chest: int


def trunk_of(tree: Tree, pairs: Sequence[Pair]) -> Trunk:
    """Hips and chest, by the legs and arms that were found, else by names."""
    tops = [(pair.kind, _top(tree, pair)) for pair in pairs if pair.kind in (ARM, LEG, WING)]
    legs = [top for kind, top in tops if kind == LEG and top >= 0]
    hips = min(legs, default=-1, key=lambda top: _ahead(tree, top))
    above_hips = set(tree.path_up(hips))
    others = [top for _, top in tops if top >= 0 and top not in above_hips]
    chest = max(others, default=-1, key=lambda top: len(tree.between(-1, top)))
    if hips < 0:
        hips = _pelvis(tree)
    if chest < 0:
        chest = _last_spine(tree)
    return Trunk(hips, chest)


def _top(tree: Tree, pair: Pair) -> int:
    """The bone on which a pair hangs; where both sides hang on nothing, that of the middle which is nearest."""
    found = attach_of(tree, pair)
    if found >= 0 or len(pair.runs) == 1:
        return found
    heads = [tree.skeleton.heads[list(tree.path_up(run[0]))[-1]] for run in pair.runs]
    middle = scaled(plus(*heads), 0.5)
    bones = [bone for bone in range(len(tree.labels)) if tree.unnamed.twins[bone] < 0 and not tree.sides[bone]]
    return min(bones, default=-1, key=lambda bone: distance(middle, tree.skeleton.tails[bone]))


def middle_parts(tree: Tree, trunk: Trunk, used: set[int]) -> list[Middle]:
    """Spine, head and tail; no bone of `used` is in them."""
    found = []
    spine = _spine(tree, trunk, used)
    if spine:
        has_hips: Features = [(float(trunk.hips >= 0), Text("no legs are found"))]
        found.append(Middle(SPINE, spine, _evidence(tree, SPINE, spine, has_hips)))
    taken = used | set(spine)
    head = _head(tree, trunk, taken)
    if head:
        found.append(Middle(HEAD, head, _evidence(tree, HEAD, head, _of_head(tree, trunk, head))))
    tail = _tail(tree, trunk, taken | set(head))
    if tail:
        found.append(Middle(TAIL, tail, _evidence(tree, TAIL, tail, _of_tail(tree, trunk, tail))))
    return found


def _ahead(tree: Tree, bone: int) -> float:
    """How far ahead a bone stands; the lower one counts as the one behind where forward is not known."""
    head = tree.skeleton.heads[bone]
    return dot(head, tree.axes.forward or tree.axes.up) + LOWER_IS_BEHIND * dot(head, tree.axes.up)


def _pelvis(tree: Tree) -> int:
    """The first bone of the middle that names call pelvis, or -1."""
    return next((bone for bone, label in enumerate(tree.labels) if label == "PELVIS" and not tree.sides[bone]), -1)


def _last_spine(tree: Tree) -> int:
    """The last bone that names call spine, before a neck."""
    found = [bone for bone, label in enumerate(tree.labels) if label == "SPINE" and not tree.sides[bone]]
    return max(found, default=-1, key=lambda bone: len(tree.between(-1, bone)))


def _spine(tree: Tree, trunk: Trunk, used: set[int]) -> list[int]:
    if trunk.chest < 0:
        return []
    top = tree.shared([trunk.hips, trunk.chest]) if trunk.hips >= 0 else -1
    if trunk.hips >= 0 and top < 0:
        return []
    found = tree.between(top, trunk.chest)
    if top < 0:
        found = [bone for bone in found if tree.labels[bone] == "SPINE"]
    return found if not used.intersection(found) else []


def _head(tree: Tree, trunk: Trunk, taken: set[int]) -> list[int]:
    top = trunk.chest if trunk.chest >= 0 else trunk.hips
    named = [bone for bone, label in enumerate(tree.labels) if label == "HEAD" and not tree.sides[bone]]
    first = [bone for bone in named if "HEAD" not in [tree.labels[above] for above in list(tree.path_up(bone))[1:]]]
    for bone in first:
        found = tree.between(top, bone) if top >= 0 else _labelled_run(tree, bone)
        if found and not taken.intersection(found):
            return found
    if trunk.chest < 0 or named:
        return []
    runs = [run for child in tree.skeleton.children[top] if (run := _middle_run(tree, child, taken))]
    runs = [run for run in runs if _points(tree, run, is_ahead=True) and "TAIL" not in _labels(tree, run)]
    best = max(runs, default=[], key=lambda run: _reach(tree, run))
    return best[:MOST_OF_HEAD]


def _labelled_run(tree: Tree, bone: int) -> list[int]:
    run = [one for one in tree.path_up(bone) if tree.families[one] == "HEAD"]
    return run[::-1]


def _tail(tree: Tree, trunk: Trunk, taken: set[int]) -> list[int]:
    named = [bone for bone, label in enumerate(tree.labels) if label == "TAIL" and not tree.sides[bone]]
    if named:
        last = max(named, key=lambda bone: len(tree.between(-1, bone)))
        run = [bone for bone in tree.path_up(last) if tree.labels[bone] == "TAIL"][::-1]
        return run if not taken.intersection(run) else []
    if trunk.hips < 0:
        return []
    tops = [trunk.hips, *list(tree.path_up(trunk.hips))[1:]]
    runs = [run for top in tops for child in tree.skeleton.children[top] if (run := _middle_run(tree, child, taken))]
    runs = [run for run in runs if len(run) >= LEAST_TAIL and trunk.hips not in run and trunk.chest not in run]
    if len(runs) > MOST_TAILS:  # a skirt
        return []
    runs = [run for run in runs if _points(tree, run, is_ahead=False)]
    return max(runs, default=[], key=lambda run: _reach(tree, run))


def _middle_run(tree: Tree, bone: int, taken: set[int]) -> list[int]:
    """The bones of the middle from one on, as long as one of them goes on; of many the one with most below it."""
    if bone in taken or tree.unnamed.twins[bone] >= 0 or tree.sides[bone]:
        return []
    runs = (limb_bones(tree.skeleton, limb) for limb in tree.unnamed.all())
    run = next(run for run in runs if bone in run)
    run = run[run.index(bone) :]
    return [] if taken.intersection(run) else run


def _labels(tree: Tree, run: Sequence[int]) -> set[str]:
    return {tree.labels[bone] for bone in run}


def _reach(tree: Tree, run: Sequence[int]) -> float:
    return distance(tree.skeleton.heads[run[0]], tree.skeleton.end(run[-1]))


def _points(tree: Tree, run: Sequence[int], *, is_ahead: bool) -> bool:
    way = unit(minus(tree.skeleton.end(run[-1]), tree.skeleton.heads[run[0]]))
    up = dot(way, tree.axes.up)
    if tree.axes.forward is None:
        return up > LEAST_AHEAD if is_ahead else up < LEAST_AHEAD
    ahead = dot(way, tree.axes.forward)
    return max(ahead, up) > LEAST_AHEAD if is_ahead else -ahead > LEAST_AHEAD


def _evidence(tree: Tree, kind: str, bones: Sequence[int], structure: Features) -> Evidence:
    names: Features = [
        (AGREES[kind].get(tree.labels[bone], 0.0), Text("'{name}' is no such name", name=tree.skeleton.names[bone]))
        for bone in bones
        if tree.labels[bone]
    ]
    if len(names) < len(bones) / 2 and all(value == 1.0 for value, _ in names):
        names = []
    in_middle = all(tree.unnamed.twins[bone] < 0 for bone in bones)
    return Evidence(names, [*structure, (float(in_middle), Text("it has a twin on one side"))], _size(tree, bones))


def _size(tree: Tree, bones: Sequence[int]) -> Features:
    share = _reach(tree, bones) / max(tree.skeleton.extent, NO_LENGTH)
    return [(ramp(share, 0.0, NOT_SMALL), Text("it is small"))]


def _of_head(tree: Tree, trunk: Trunk, bones: Sequence[int]) -> Features:
    hangs = trunk.chest >= 0 and tree.skeleton.parents[bones[0]] == trunk.chest
    return [
        (1.0 if hangs else ELSEWHERE, Text("it hangs on no chest that was found")),
        (float(_points(tree, bones, is_ahead=True)), Text("it does not point up or ahead")),
    ]


def _of_tail(tree: Tree, trunk: Trunk, bones: Sequence[int]) -> Features:
    above = tree.skeleton.parents[bones[0]]
    hangs = above >= 0 and trunk.hips >= 0 and above in set(tree.path_up(trunk.hips))
    return [
        (1.0 if hangs else ELSEWHERE, Text("it does not hang on the hips")),
        (float(_points(tree, bones, is_ahead=False)), Text("it does not point back")),
    ]
