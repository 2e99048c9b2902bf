# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be a part of a body: arms, legs and other limbs with their sides, spine, head, tail, fingers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..maths import distance, dot, minus, plus, scaled, unit
from ..messages import Message
from .limbs import Limbs
from .part import (
    ARM,
    EAR,
    FIN,
    FINGER,
    HEAD,
    LABELS,
    LEG,
    NO_LENGTH,
    SPINE,
    TAIL,
    WING,
    Evidence,
    Features,
    Pair,
    Part,
    attach_of,
    ramp,
    span_of,
    trimmed,
)
from .skeleton import LEGS_OF_FOUR, Limb, Sides, standing
from .tree import Tree
from .words import words_of

SMALL_KINDS = (WING, FIN, EAR)  # limbs that names alone tell
GREAT_KINDS = (ARM, LEG)
NO_LIMB_NAMES = {"FINGER", "PALM", "FACE", "TOE", "HEEL", "HEAD", "TAIL", "SPINE"}
UPRIGHT = 0.6  # cosine of the angle of the line from hips to chest, from which a body on two legs stands on its soles


def all_pairs(tree: Tree) -> list[Pair]:
    """Everything that can be an arm, a leg, a wing, a fin or an ear."""
    hanging = list(dict.fromkeys([*_runs(tree.named), *_runs(tree.unnamed)]))
    upright = standing(tree.skeleton, hanging, tree.axes.up)
    legs = {run for one in upright for run in one}
    in_legs = {bone for run in legs for bone in run}
    labelled = [one for one in _by_labels(tree) if not in_legs.issuperset(bone for run in one for bone in run)]
    runs = list(dict.fromkeys([*hanging, *labelled]))
    stance = _stance(tree, runs, legs)
    found = []
    for one in runs:
        kind = _kind(tree, one, legs, stance > 0)
        if kind:
            does_stand = one in upright
            wider = _with_girdles(tree, one, legs) if does_stand and stance > LEGS_OF_FOUR else one
            limbs = tuple(_limb(tree, run, kind, stance) for run in wider)
            found.append(Pair(kind, wider, limbs, does_stand))
    return found


def _with_girdles(tree: Tree, runs: Sides, legs: Iterable[Limb]) -> Sides:
    """Sides from the first bone on that carries no other leg: the hip of an insect's leg is of the leg."""
    if len(runs) == 1:
        return runs
    top = tree.shared([run[0] for run in runs])
    carried = Counter(bone for leg in legs for bone in tree.path_up(leg[0]))
    girdles = [[bone for bone in tree.between(top, run[0])[:-1] if carried[bone] == 1] for run in runs]
    return tuple((*girdle, *run) for girdle, run in zip(girdles, runs, strict=True)) if top >= 0 else runs


def _limb(tree: Tree, run: Limb, kind: str, stance: int) -> Part[int]:
    if kind in (ARM, LEG):
        return trimmed(tree, run, kind, stance)
    return Part(kind, "", run, tuple(tree.labels[bone] for bone in run))


def _runs(limbs: Limbs) -> Iterator[Sides]:
    """The limbs of both sides, each with its twin where there is one."""
    by_tip = {limb[-1]: limb for limb in limbs.all()}
    for tip, run in by_tip.items():
        twin = by_tip.get(limbs.twins[tip])
        if twin is not None and tip < twin[-1]:
            yield run, twin


def _by_labels(tree: Tree) -> Iterator[Sides]:
    """The bones that names call those of one arm or one leg, where they hang on each other, pair by pair."""
    runs: dict[int, Limb] = {}
    for bone, family in enumerate(tree.families):
        is_last = not any(tree.families[child] == family for child in tree.skeleton.children[bone])
        if family in GREAT_KINDS and is_last and tree.sides[bone]:
            row = groupby(tree.path_up(bone), key=tree.families.__getitem__)
            runs[bone] = tuple(next(row)[1])[::-1]  # up to where names call it another limb
    for tip, run in runs.items():
        twin = runs.get(tree.named.twins[tip])
        if twin is None:
            yield (run,)
        elif tip < twin[-1]:
            yield run, twin


def _stance(tree: Tree, runs: Sequence[Sides], legs: set[Limb]) -> int:
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


def _apart(runs: Iterable[Limb]) -> int:
    """How many runs there are that share no bone."""
    used: set[int] = set()
    count = 0
    for run in runs:
        count += not used.intersection(run)
        used.update(run)
    return count


def _kind(tree: Tree, runs: Sides, legs: set[Limb], is_animal: bool) -> str:
    """What a run may be, or "" where it is no limb."""
    families = Counter(tree.families[bone] for run in runs for bone in run if tree.families[bone])
    small = next((kind for kind in SMALL_KINDS if families[kind]), "")
    if small:
        return small
    if any(len(run) < 2 for run in runs):
        return ""
    great = sorted((family for family in GREAT_KINDS if families[family]), key=lambda family: -families[family])
    if not great:
        if 2 * sum(families[name] for name in NO_LIMB_NAMES) > sum(map(len, runs)):  # else a nameless arm's fingers
            return ""
        return LEG if legs.intersection(runs) else ARM
    if great[0] == ARM and is_animal and legs.intersection(runs):
        return LEG
    labels = {tree.labels[bone] for run in runs for bone in run}
    is_named = bool(labels - {"FOOT", "TOE", "HEEL", "HAND", ""}) or great[0] == ARM
    return great[0] if is_named or legs.intersection(runs) else ""


DOUBTED = 0.75  # greatest confidence where names and place tell different sides, or neither tells one


def side_of_limb(tree: Tree, bones: Sequence[int], others: Sequence[int]) -> tuple[str, float, tuple[Message, ...]]:
    """The side of a limb, beside its twin: from where it stands; what names tell otherwise is told.

    Returns:
        `L` or `R`; the greatest confidence that a limb can have whose side is found like this; and what is in doubt.
    """
    told = Counter(tree.sides[bone] for bone in bones if tree.sides[bone])
    named = told.most_common(1)[0][0] if told else ""
    placed = tree.side_at(bones, others)
    if not placed and named:
        return named, 1.0 if len(told) == 1 else DOUBTED, ()
    if not placed:
        heads, lateral = tree.skeleton.heads, tree.axes.lateral
        way = minus(heads[bones[0]], heads[others[0]]) if others else heads[bones[0]]
        return "L" if dot(way, lateral) > 0.0 else "R", DOUBTED, (Message("FACING_UNKNOWN"),)
    if named and named != placed:
        return placed, DOUBTED, (Message("SIDES_CONTRADICT", named=named, placed=placed),)
    if len(told) > 1:
        return placed, DOUBTED, (Message("NAMES_OF_BOTH_SIDES"),)
    if not named and not others:
        return placed, DOUBTED, (Message("SIDE_UNKNOWN"),)
    return placed, 1.0, ()


AGREES = {SPINE: {"SPINE": 1.0, "PELVIS": 0.7, "": 0.0}, HEAD: {"HEAD": 1.0, "NECK": 1.0, "SPINE": 0.8}}
AGREES |= {TAIL: {"TAIL": 1.0, "SPINE": 0.8}}
LEAST_TAIL = 3  # bones of a tail that no name tells
MOST_TAILS = 2  # such runs that hang on the hips, of which one is a tail
LEAST_AHEAD = 0.1  # cosine: a head is ahead of the chest or above it, a tail behind the hips or below
MOST_OF_HEAD = 6  # bones of a neck with its head at most, where no name tells which is the head
LOWER_IS_BEHIND = 0.01  # what height counts beside the way ahead, where that tells no difference
NOT_SMALL = 0.05  # share of the skeleton's extent from which a part is not small
ELSEWHERE = 0.5  # how far it is met that a head hangs on the chest, or a tail on the hips, where it does not


def trunk_of(tree: Tree, pairs: Sequence[Pair]) -> tuple[int, int]:
    """Hips and chest, by the legs and arms that were found, else by names.

    Returns:
        The bone on which the hindmost legs hang, and that on which the foremost limbs hang, farther along the body; -1
        for none.
    """
    tops = [(pair.kind, _top(tree, pair)) for pair in pairs if pair.kind in (ARM, LEG, WING)]
    legs = [top for kind, top in tops if kind == LEG and top >= 0]
    hips = min(legs, default=-1, key=lambda top: _ahead(tree, top))
    above_hips = set(tree.path_up(hips))
    others = [top for _, top in tops if top >= 0 and top not in above_hips]
    chest = max(others, default=-1, key=lambda top: len(tree.between(-1, top)))
    if hips < 0:
        hips = next(iter(_labelled(tree, "PELVIS")), -1)
    if chest < 0:
        chest = max(_labelled(tree, "SPINE"), default=-1, key=lambda bone: len(tree.between(-1, bone)))
    return hips, chest


def _top(tree: Tree, pair: Pair) -> int:
    """The bone on which a pair hangs; where both sides hang on nothing, that of the middle which is nearest."""
    found = attach_of(tree, pair)
    if found >= 0 or len(pair.runs) == 1:
        return found
    heads = [tree.skeleton.heads[list(tree.path_up(run[0]))[-1]] for run in pair.runs]
    middle = scaled(plus(*heads), 0.5)
    bones = [bone for bone in range(len(tree.labels)) if tree.unnamed.twins[bone] < 0 and not tree.sides[bone]]
    return min(bones, default=-1, key=lambda bone: distance(middle, tree.skeleton.tails[bone]))


def middle_parts(tree: Tree, trunk: tuple[int, int], used: set[int], most: float) -> list[Part[int]]:
    """Spine, head and tail, of bones that are not used, about hips and chest (`trunk_of`).

    Without names they are no surer than the limbs between which they lie.
    """
    (hips, chest), taken, found = trunk, used, list[Part[int]]()

    def add(kind: str, bones: list[int], structure: Features) -> None:
        evidence = _evidence(tree, kind, bones, structure)
        sure = evidence.confidence if evidence.names else min(most, evidence.confidence)
        roles = tuple(tree.labels[bone] for bone in bones)
        found.append(Part(kind, LABELS[kind], tuple(bones), roles, False, sure, evidence.reasons))

    spine = _spine(tree, hips, chest, taken)
    if spine:
        add(SPINE, spine, [(float(hips >= 0), Message("NO_LEGS_FOUND"))])
    taken = taken | set(spine)
    head = _head(tree, hips, chest, taken)
    if head:
        on_chest = chest >= 0 and tree.skeleton.parents[head[0]] == chest
        ahead = float(_points(tree, head, is_ahead=True))
        add(HEAD, head, [(1.0 if on_chest else ELSEWHERE, Message("NO_CHEST")), (ahead, Message("NOT_AHEAD"))])
    tail = _tail(tree, hips, chest, taken | set(head))
    if tail:
        on_hips = tree.skeleton.parents[tail[0]] in set(tree.path_up(hips))
        back = float(_points(tree, tail, is_ahead=False))
        add(TAIL, tail, [(1.0 if on_hips else ELSEWHERE, Message("NOT_ON_HIPS")), (back, Message("NOT_BACK"))])
    return found


def _ahead(tree: Tree, bone: int) -> float:
    """How far ahead a bone stands; the lower one counts as the one behind where forward is not known."""
    head = tree.skeleton.heads[bone]
    return dot(head, tree.axes.forward or tree.axes.up) + LOWER_IS_BEHIND * dot(head, tree.axes.up)


def _labelled(tree: Tree, label: str) -> list[int]:
    """The bones of the middle that names call so."""
    return [bone for bone, own in enumerate(tree.labels) if own == label and not tree.sides[bone]]


def _spine(tree: Tree, hips: int, chest: int, used: set[int]) -> list[int]:
    top = tree.shared([hips, chest])
    if chest < 0 or top < 0 <= hips:
        return []
    found = [bone for bone in tree.between(top, chest) if top >= 0 or tree.labels[bone] == "SPINE"]
    return found if not used.intersection(found) else []


def _head(tree: Tree, hips: int, chest: int, taken: set[int]) -> list[int]:
    top = chest if chest >= 0 else hips
    named = _labelled(tree, "HEAD")
    first = [bone for bone in named if "HEAD" not in [tree.labels[above] for above in list(tree.path_up(bone))[1:]]]
    for bone in first:
        of_head = [one for one in tree.path_up(bone) if tree.families[one] == "HEAD"]
        found = tree.between(top, bone) if top >= 0 else of_head[::-1]
        if found and not taken.intersection(found):
            return found
    if chest < 0 or named:
        return []
    runs = [run for child in tree.skeleton.children[top] if (run := _middle_run(tree, child, taken))]
    runs = [
        run for run in runs if _points(tree, run, is_ahead=True) and "TAIL" not in [tree.labels[bone] for bone in run]
    ]
    return max(runs, default=[], key=lambda run: span_of(tree, run))[:MOST_OF_HEAD]


def _tail(tree: Tree, hips: int, chest: int, taken: set[int]) -> list[int]:
    named = _labelled(tree, "TAIL")
    if named:
        last = max(named, key=lambda bone: len(tree.between(-1, bone)))
        run = [bone for bone in tree.path_up(last) if tree.labels[bone] == "TAIL"][::-1]
        return run if not taken.intersection(run) else []
    if hips < 0:
        return []
    tops = [hips, *list(tree.path_up(hips))[1:]]
    runs = [run for top in tops for child in tree.skeleton.children[top] if (run := _middle_run(tree, child, taken))]
    runs = [run for run in runs if len(run) >= LEAST_TAIL and hips not in run and chest not in run]
    if len(runs) > MOST_TAILS:  # a skirt
        return []
    runs = [run for run in runs if _points(tree, run, is_ahead=False)]
    return max(runs, default=[], key=lambda run: span_of(tree, run))


def _middle_run(tree: Tree, bone: int, taken: set[int]) -> list[int]:
    """The bones of the middle from one on, as long as one of them goes on; of many the one with most below it."""
    if bone in taken or tree.unnamed.twins[bone] >= 0 or tree.sides[bone]:
        return []
    run = next(run for run in tree.unnamed.all() if bone in run)
    run = run[run.index(bone) :]
    return [] if taken.intersection(run) else [*run]


def _points(tree: Tree, run: Sequence[int], *, is_ahead: bool) -> bool:
    way = unit(minus(tree.skeleton.end(run[-1]), tree.skeleton.heads[run[0]]))
    up = dot(way, tree.axes.up)
    if tree.axes.forward is None:
        return up > LEAST_AHEAD if is_ahead else up < LEAST_AHEAD
    ahead = dot(way, tree.axes.forward)
    return max(ahead, up) > LEAST_AHEAD if is_ahead else -ahead > LEAST_AHEAD


def _evidence(tree: Tree, kind: str, bones: Sequence[int], structure: Features) -> Evidence:
    names: Features = [
        (AGREES[kind].get(tree.labels[bone], 0.0), Message("OTHER_NAME", name=tree.skeleton.names[bone]))
        for bone in bones
        if tree.labels[bone]
    ]
    if len(names) < len(bones) / 2 and all(value == 1.0 for value, _ in names):
        names = []
    in_middle = all(tree.unnamed.twins[bone] < 0 for bone in bones)
    structure = [*structure, (float(in_middle), Message("TWIN_ON_ONE_SIDE"))]
    share = span_of(tree, bones) / max(tree.skeleton.extent, NO_LENGTH)
    return Evidence(names, structure, [(ramp(share, 0.0, NOT_SMALL), Message("SMALL"))])


MOST_FINGER_BONES = 5  # that in the palm included
USUAL_FINGER_BONES = 3
LONGEST_FINGER = 0.35  # share of the arm that a finger without a name has
FINGER_NAMES = {label.lower(): label for label in ("Thumb", "Index", "Middle", "Ring", "Pinky")}
FINGER_NAMES |= {"mid": "Middle", "pinkie": "Pinky", "little": "Pinky"}
SURE, BY_PLACE = 0.95, 0.85  # confidence, by names and by where they hang


def fingers_of(tree: Tree, arm: Part[int], taken: set[int]) -> Iterator[Part[int]]:
    """The fingers that hang on the hand of an arm, each of two bones or more; what no name tells is none alone."""
    below = set(tree.below(arm.bones[-1])) - taken
    runs = [[bone for bone in run if bone in below and tree.labels[bone] != "PALM"] for run in tree.named.all()]
    runs = [run for run in runs if 2 <= len(run) <= MOST_FINGER_BONES and _is_finger(tree, arm.bones, run)]
    runs = runs if len(runs) > 1 or any(tree.labels[bone] for run in runs for bone in run) else []
    # without the bone in the palm
    runs = [run[1:] if len(run) > USUAL_FINGER_BONES and not tree.labels[run[0]] else run for run in runs]
    runs.sort(key=lambda run: -dot(tree.skeleton.heads[run[0]], tree.axes.forward or tree.axes.lateral))
    labels: set[str] = set()
    for number, run in enumerate(runs, start=1):
        words = [word for bone in run for word in words_of(tree.skeleton.names[bone])]
        label = next((FINGER_NAMES[word] for word in words if word in FINGER_NAMES), "")
        label = label if label and label not in labels else f"Finger {number}"
        labels.add(label)
        sure = SURE if all(tree.labels[bone] == "FINGER" for bone in run) else BY_PLACE
        name, roles = f"{label}.{arm.side}", ("FINGER",) * len(run)
        yield Part(FINGER, name, tuple(run), roles, confidence=min(arm.confidence, sure), side=arm.side)


def _is_finger(tree: Tree, arm: Sequence[int], run: Sequence[int]) -> bool:
    labels = {tree.labels[bone] for bone in run}
    heads = tree.skeleton.heads
    size, whole = distance(heads[run[0]], heads[run[-1]]), distance(heads[arm[0]], heads[arm[-1]])
    return labels <= {"FINGER", ""} and ("FINGER" in labels or size <= LONGEST_FINGER * whole)
