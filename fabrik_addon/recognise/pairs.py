# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms, legs and other limbs of both sides: what can be one, by names and by structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..maths import dot, minus, unit
from .body_axes import LEAST_LEG, ground, limb_bones, stands
from .joints_fit import Trimmed, trimmed
from .limbs import LEGS_OF_FOUR, Limb, Limbs
from .parts import ARM, EAR, FIN, LEG, WING
from .tree import Tree

SMALL_KINDS = {"WING": WING, "FIN": FIN, "EAR": EAR}  # limbs that names alone tell
GREAT_KINDS = {"ARM": ARM, "LEG": LEG}
NO_LIMB_NAMES = {"FINGER", "PALM", "FACE", "TOE", "HEEL", "HEAD", "TAIL", "SPINE"}
UPRIGHT = 0.6  # cosine of the angle of the line from hips to chest, from which a body on two legs stands on its soles


@dataclass(frozen=True, slots=True)
class Pair:
    """A limb and its twin, or a limb alone.

    Attributes:
        kind: What it may be.
        runs: The bones of one run or of two, as they hang on each other, root to tip.
        limbs: For each run those of its bones that are the limb.
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
    stance = _stance(tree, runs, legs)
    found = []
    for one in runs:
        kind = _kind(tree, one, legs, stance > 0)
        if kind:
            does_stand = one in standing
            wider = _with_girdles(tree, one) if does_stand and stance > LEGS_OF_FOUR else one
            limbs = tuple(_limb(tree, run, kind, stance) for run in wider)
            found.append(Pair(kind, wider, limbs, does_stand))
    return found


def _with_girdles(tree: Tree, runs: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Runs from the first bone on that is on one side alone: the hip of an insect's leg is of the leg."""
    if len(runs) == 1:
        return runs
    top = tree.shared([run[0] for run in runs])
    return tuple((*tree.between(top, run[0])[:-1], *run) for run in runs) if top >= 0 else runs


def _limb(tree: Tree, run: Sequence[int], kind: str, stance: int) -> Trimmed:
    if kind in (ARM, LEG):
        return trimmed(tree, run, kind, stance)
    return Trimmed(list(run), [tree.labels[bone] for bone in run], False)


def _runs(limbs: Limbs) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The limbs of both sides, each with its twin where there is one."""
    bones = {limb.tip: tuple(limb_bones(limbs.skeleton, limb)) for limb in limbs.all()}
    for tip, run in bones.items():
        twin = bones.get(limbs.twins[tip])
        if twin is not None and tip < twin[-1]:
            yield run, twin


def _labelled_above(tree: Tree, bone: int) -> Iterator[int]:
    """A bone, and those above it that names call the same limb."""
    for above in tree.path_up(bone):
        if tree.families[above] != tree.families[bone]:
            return
        yield above


def _by_labels(tree: Tree) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The bones that names call those of one arm or one leg, where they hang on each other, pair by pair."""
    runs: dict[int, tuple[int, ...]] = {}
    for bone, family in enumerate(tree.families):
        is_last = not any(tree.families[child] == family for child in tree.skeleton.children[bone])
        if family in GREAT_KINDS and is_last and tree.sides[bone]:
            runs[bone] = tuple(_labelled_above(tree, bone))[::-1]
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


def _stance(tree: Tree, runs: Sequence[tuple[tuple[int, ...], ...]], legs: set[tuple[int, ...]]) -> int:
    """On how many legs an animal stands: more than two, or two with its back level or with wings; 0 for a human."""
    count = _apart(legs)
    if count > 2 or any(family in SMALL_KINDS and family != EAR for family in tree.families):
        return count
    hips = tree.shared([run[0] for run in legs])
    others = [one for one in runs if len(one) > 1 and not legs.intersection(one) and len(one[0]) > 1]
    chests = [tree.shared([run[0] for run in one]) for one in others]
    chests = [chest for chest in chests if hips >= 0 and tree.between(hips, chest)]
    if not chests:
        return 0
    heads = tree.skeleton.heads
    rise = [dot(unit(minus(heads[chest], heads[hips])), tree.axes.up) for chest in chests]
    return count if max(rise) < UPRIGHT else 0


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
    small = next((kind for family, kind in SMALL_KINDS.items() if families[family]), "")
    if small:
        return small
    if any(len(run) < 2 for run in runs):
        return ""
    great = sorted((family for family in GREAT_KINDS if families[family]), key=lambda family: -families[family])
    if not great:
        if NO_LIMB_NAMES.intersection(families):
            return ""
        return LEG if legs.intersection(runs) else ARM
    if great[0] == ARM and is_animal and legs.intersection(runs):
        return LEG
    labels = {tree.labels[bone] for run in runs for bone in run}
    return great[0] if labels - {"FOOT", "TOE", "HEEL", "HAND", ""} or great[0] == ARM else ""
