# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms, legs and other limbs of both sides: what can be one, by names and by structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..vectors import dot, minus, unit
from .body_axes import LEAST_LEG, ground, limb_bones, stands
from .joints_fit import Trimmed, trimmed
from .limbs import Limb, Limbs
from .parts import ARM, EAR, FIN, LEG, WING
from .tree import Tree

SMALL = {"WING": WING, "FIN": FIN, "EAR": EAR}  # limbs that names alone tell
GREAT = {"ARM": ARM, "LEG": LEG}
NO_LIMB_NAMES = {"FINGER", "PALM", "FACE", "TOE", "HEEL", "HEAD", "TAIL", "SPINE"}
UPRIGHT = 0.6  # cosine of the angle of the line from hips to chest, from which a body on two legs stands on its soles


@dataclass(frozen=True, slots=True)
class Pair:
    """A limb and its twin, or a limb alone.

    Attributes:
        kind: What it may be.
        runs: The bones of one run or of two, as they hang on each other, root to tip.
        limbs: What of them is the limb.
        does_stand: Whether it goes down to the ground.
    """

    kind: str
    runs: tuple[tuple[int, ...], ...]
    limbs: tuple[Trimmed, ...]
    does_stand: bool

    @property
    def bones(self) -> set[int]:
        """All of its bones."""
        return {bone for limb in self.limbs for bone in limb.bones}


def all_pairs(tree: Tree) -> list[Pair]:
    """Everything that can be an arm, a leg, a wing, a fin or an ear."""
    hanging = list(dict.fromkeys([*_runs(tree.named), *_runs(tree.unnamed)]))
    standing = _standing(tree, hanging)
    legs = {run for one in standing for run in one}
    in_legs = {bone for run in legs for bone in run}
    labelled = [one for one in _by_labels(tree) if not in_legs.issuperset(bone for run in one for bone in run)]
    runs = list(dict.fromkeys([*hanging, *labelled]))
    is_animal = _is_animal(tree, runs, legs)
    found = []
    for one in runs:
        kind = _kind(tree, one, legs, is_animal)
        if kind:
            limbs = tuple(_limb(tree, run, kind, is_animal) for run in one)
            found.append(Pair(kind, one, limbs, one in standing))
    return found


def _limb(tree: Tree, run: Sequence[int], kind: str, is_animal: bool) -> Trimmed:
    if kind in (ARM, LEG):
        return trimmed(tree, run, kind, is_animal)
    return Trimmed(list(run), [tree.labels[bone] for bone in run], False)


def _runs(limbs: Limbs) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The limbs of both sides, each with its twin where there is one."""
    bones = {limb.tip: tuple(limb_bones(limbs.skeleton, limb)) for limb in limbs.all()}
    for tip, run in bones.items():
        twin = bones.get(limbs.twins[tip])
        if twin is not None and tip < twin[-1]:
            yield run, twin


def _by_labels(tree: Tree) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The bones that names call those of one arm or one leg, where they hang on each other, pair by pair."""
    runs = {}
    for bone, family in enumerate(tree.families):
        is_last = not any(tree.families[child] == family for child in tree.skeleton.children[bone])
        if family in GREAT and is_last and tree.sides[bone]:
            run = [bone]
            while tree.families[above := tree.skeleton.parents[run[-1]]] == family and above >= 0:
                run.append(above)
            runs[bone] = tuple(run[::-1])
    for tip, run in runs.items():
        twin = runs.get(tree.named.twins[tip])
        if twin is None:
            yield (run,)
        elif tip < twin[-1]:
            yield run, twin


def _standing(tree: Tree, runs: Sequence[tuple[tuple[int, ...], ...]]) -> list[tuple[tuple[int, ...], ...]]:
    """Those that go down to the ground, but for what is no higher than a foot."""
    up = tree.axes.up
    low = ground(tree.skeleton, up)
    down = [one for one in runs if all(len(run) > 1 and stands(tree.skeleton, _as_limb(run), up, low) for run in one)]
    tops = [dot(tree.skeleton.heads[one[0][0]], up) - low for one in down]
    highest = max(tops, default=0.0)
    return [one for one, top in zip(down, tops, strict=True) if top >= LEAST_LEG * highest]


def _as_limb(run: Sequence[int]) -> Limb:
    return Limb(run[-1], len(run))


def _is_animal(tree: Tree, runs: Sequence[tuple[tuple[int, ...], ...]], legs: set[tuple[int, ...]]) -> bool:
    """Whether a body stands on more than two, or, like a bird, on two with its back level or with wings."""
    if _apart(legs) > 2:
        return True
    if any(family in SMALL and family != EAR for family in tree.families):
        return True
    hips = tree.shared([run[0] for run in legs])
    others = [one for one in runs if len(one) > 1 and not legs.intersection(one) and len(one[0]) > 1]
    chests = [tree.shared([run[0] for run in one]) for one in others]
    chests = [chest for chest in chests if hips >= 0 and tree.between(hips, chest)]
    if not chests:
        return False
    heads = tree.skeleton.heads
    rise = [dot(unit(minus(heads[chest], heads[hips])), tree.axes.up) for chest in chests]
    return max(rise) < UPRIGHT


def _apart(runs: Iterable[tuple[int, ...]]) -> int:
    """How many runs there are that share no bone."""
    used: set[int] = set()
    count = 0
    for run in runs:
        count += not used.intersection(run)
        used.update(run)
    return count


def _kind(tree: Tree, runs: tuple[tuple[int, ...], ...], legs: set[tuple[int, ...]], is_animal: bool) -> str:
    """What a run may be, or "" where it is no limb."""
    families = Counter(tree.families[bone] for run in runs for bone in run if tree.families[bone])
    small = next((kind for family, kind in SMALL.items() if families[family]), "")
    if small:
        return small
    if any(len(run) < 2 for run in runs):
        return ""
    great = sorted((family for family in GREAT if families[family]), key=lambda family: -families[family])
    if not great:
        if NO_LIMB_NAMES.intersection(families):
            return ""
        return LEG if legs.intersection(runs) else ARM
    if great[0] == ARM and is_animal and legs.intersection(runs):
        return LEG
    labels = {tree.labels[bone] for run in runs for bone in run}
    return great[0] if labels - {"FOOT", "TOE", "HEEL", "HAND", ""} or great[0] == ARM else ""
