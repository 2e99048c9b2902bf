# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a body in a skeleton, and the four plans of bodies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from ..maths import dot, mean
from ..messages import Message
from .limbs import Limbs
from .part import (
    APPLIED,
    ARM,
    ASKED,
    FIN,
    FINGER,
    LABELS,
    LEG,
    RUN,
    WING,
    Evidence,
    Pair,
    Part,
    RecognisedBody,
    attach_of,
    evidence_of,
    reach_of,
)
from .parts import all_pairs, fingers_of, middle_parts, side_of_limb, trunk_of
from .skeleton import Limb, Skeleton
from .tree import Tree, bones_beside, doubles
from .words import convention_of, side_of

KEPT = 16  # skeletons
LEAST_RUN = 2
SAME_PLACE = 1e-3  # share of the extent within which limbs begin in one place
MAYBE_HAIR = 0.7  # greatest confidence of what may be hair
GREAT_RUN = 0.15  # share of the extent from which a run of bones is a chain of its own
CARRYING = (ARM, LEG, WING)  # limbs that tell where hips and chest are
TAKEN = Message("LEFT_TAKEN")
Scored = tuple[Pair, Evidence]


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """A plan of a body.

    Attributes:
        name: By which scripts choose it.
        number: By which keymaps store it: never changed, and never given to another plan.
        label: How it is called.
        description: What it is.
        leg_pairs: How many pairs of legs it stands on.
        leg_labels: What its pairs of legs are called, from the front to the back; empty where they are numbered.
        limbs: What the limbs are called that such a body has on both sides.
        middle: The same of its middle.
    """

    name: str
    number: int
    label: str
    description: str
    leg_pairs: range
    leg_labels: Sequence[str]
    limbs: Sequence[str]
    middle: Sequence[str]

    @property
    def expected(self) -> list[str]:
        """Names of the parts that such a body has."""
        return [*(f"{limb}.{side}" for limb in self.limbs for side in "LR"), *self.middle]

    def leg_label(self, place: int, count: int) -> str:
        """What the legs of a pair are called, of so many pairs, the first of which stands foremost."""
        if len(self.leg_labels) == count:
            return self.leg_labels[place]
        return f"Leg {place + 1}" if count > 1 else "Leg"


MIDDLE = ("Spine", "Head")
HUMAN = BodyPlan("HUMAN", 1, "Human", "Stands on two legs; birds, too", range(1, 2), ("Leg",), ("Arm", "Leg"), MIDDLE)
ON_FOUR = ("Front Leg", "Hind Leg")
QUADRUPED = BodyPlan("QUADRUPED", 2, "Quadruped", "Stands on four legs", range(2, 3), ON_FOUR, ON_FOUR, MIDDLE)
ON_SIX = tuple(f"Leg {row}" for row in (1, 2, 3))
MANY_LEGS = BodyPlan("MANY_LEGS", 3, "Many Legs", "Stands on six legs or more", range(3, 1000), (), ON_SIX, ())
CHAINS = BodyPlan("CHAINS", 4, "Chains", "No body: a chain for each long row of bones", range(0), (), (), ())
PLANS = {plan.name: plan for plan in (HUMAN, QUADRUPED, MANY_LEGS, CHAINS)}


@lru_cache(maxsize=KEPT)
def recognise(whole: Skeleton, plan: str = "AUTO") -> RecognisedBody[int]:
    """The parts of a body, of a plan of `PLANS` or that of which it is; those of the last skeletons are known."""
    tree = Tree(whole)
    chosen = [] if plan == "CHAINS" else chosen_pairs(tree)
    pairs = [pair for pair, _ in chosen]
    legs = _by_place(tree, [pair for pair in pairs if pair.kind == LEG])
    told = HUMAN if any(pair.kind in CARRYING for pair in pairs) else CHAINS  # where no legs tell
    by_legs = next((one for one in PLANS.values() if len(legs) in one.leg_pairs), told)
    body_plan = PLANS.get(plan, by_legs)
    found = list(_limbs(tree, chosen, legs, body_plan))
    trunk = trunk_of(tree, [pair for pair, evidence in chosen if evidence.confidence >= APPLIED] or pairs)
    used = {bone for pair in pairs for bone in pair.bones}
    is_chains = body_plan.name == "CHAINS"
    sure = [part.confidence for part in found if part.kind in CARRYING]  # of limbs that tell where hips and chest are
    sure = [one for one in sure if one >= APPLIED] or sure
    middle = _runs(tree, used) if is_chains else middle_parts(tree, trunk, used, min(sure, default=1.0))
    found += middle
    used |= {bone for part in middle for bone in part.bones}
    arms = [part for part in found if part.kind == ARM and part.holds_head and part.is_applied]
    found += [finger for arm in arms for finger in fingers_of(tree, arm, used)]
    likely = [part for part in found if part.confidence >= ASKED]
    convention = convention_of(whole.names)
    return RecognisedBody(
        plan=body_plan.name,
        body=-1 if is_chains else _body(tree, trunk[0], likely),
        parts=[part for part in (_in_whole(tree, one) for one in likely) if part.bones],
        convention=convention.label if convention else "",
        missing=_missing(body_plan, found),
        notes=(TAKEN,) if tree.is_left_drawn else (),
    )


def chosen_pairs(tree: Tree) -> list[Scored]:
    """The limbs that are most sure and share no bone: those that stand first, since the others are told by them."""
    pairs = all_pairs(tree)
    standing = [pair for pair in pairs if pair.does_stand and pair.kind == LEG]
    legs = [pair for pair, _ in _best(tree, [(pair, evidence_of(tree, pair, [])) for pair in standing])]
    legs = _by_place(tree, legs)[::-1]  # the hips first
    return _best(tree, [(pair, evidence_of(tree, pair, legs)) for pair in pairs])


def _best(tree: Tree, scored: Sequence[Scored]) -> list[Scored]:
    """Those that are most sure; what hangs on one that is taken is of it, as fingers are."""
    found: list[Scored] = []
    used: set[int] = set()
    sure = [pair for pair, evidence in scored if evidence.confidence >= ASKED]
    for pair, evidence in scored:
        if not evidence.names and any(_is_beyond(tree, pair, other) for other in sure):
            evidence.doubts.append((MAYBE_HAIR, Message("ABOVE_ARMS")))
    for pair, evidence in sorted(scored, key=lambda one: (-one[1].confidence, -reach_of(tree, one[0]))):
        runs = {bone for run in pair.runs for bone in run}
        above = {bone for run in pair.runs for bone in tree.path_up(run[0])}
        if evidence.confidence >= ASKED and not used.intersection(runs | above):
            found.append((pair, evidence))
            used |= runs
    return found


def _is_beyond(tree: Tree, pair: Pair, other: Pair) -> bool:
    """Whether a pair hangs further along the body than longer arms."""
    if pair.kind != ARM or other.kind != ARM or reach_of(tree, other) <= reach_of(tree, pair):
        return False
    top, chest = attach_of(tree, pair), attach_of(tree, other)
    return top >= 0 <= chest != top and chest in tree.path_up(top)


def _by_place(tree: Tree, pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs from the front of the body to its back: by where they begin, and where that is one place, by their ends."""
    skeleton, ahead = tree.skeleton, tree.axes.forward or tree.axes.up

    def place(pair: Pair) -> tuple[int, float]:
        begin = mean(skeleton.heads[limb.bones[0]] for limb in pair.limbs)
        end = mean(skeleton.end(limb.bones[-1]) for limb in pair.limbs)
        return round(dot(begin, ahead) / (SAME_PLACE * skeleton.extent or 1.0)), dot(end, ahead)

    return sorted(pairs, key=place, reverse=True)


def _limbs(tree: Tree, chosen: Sequence[Scored], legs: Sequence[Pair], plan: BodyPlan) -> Iterator[Part[int]]:
    """The parts of both sides, with their names."""
    counts: dict[str, int] = {}
    for pair, evidence in chosen:
        if pair in legs:
            label = plan.leg_label(list(legs).index(pair), len(legs))
        else:
            counts[pair.kind] = counts.get(pair.kind, 0) + 1
            number = counts[pair.kind]
            label = LABELS[pair.kind] + (f" {number}" if number > 1 else "")
        for i, limb in enumerate(pair.limbs):
            others = pair.limbs[1 - i].bones if len(pair.limbs) == 2 else ()
            side, most, doubts = side_of_limb(tree, limb.bones, others)
            yield replace(
                limb,
                name=f"{label}.{side}",
                side=side,
                confidence=min(evidence.confidence, most),
                reasons=(*evidence.reasons, *doubts),
            )


def _runs(tree: Tree, used: set[int]) -> list[Part[int]]:
    """Each great run of bones as a chain of its own."""
    found = list[Part[int]]()
    for bones in tree.named.all():
        size = sum(tree.skeleton.length(bone) for bone in bones)
        is_great = len(bones) >= LEAST_RUN and size >= GREAT_RUN * tree.skeleton.extent
        roles = tuple(tree.labels[bone] for bone in bones)
        if is_great and not used.intersection(bones) and "FACE" not in roles:
            found.append(Part(RUN, f"{LABELS[RUN]} {len(found) + 1}", bones, roles))
    return found


def _in_whole(tree: Tree, part: Part[int]) -> Part[int]:
    """A part with the numbers of the whole skeleton, and bones between that were left out."""
    roles = dict(zip((tree.numbers[bone] for bone in part.bones), part.roles, strict=True))
    way, first = [tree.numbers[part.bones[-1]]], tree.numbers[part.bones[0]]
    while way[-1] != first and way[-1] >= 0:
        way.append(tree.whole.parents[way[-1]])
    bones = tuple(way[::-1]) if way[-1] == first else ()
    return replace(part, bones=bones, roles=tuple(roles.get(bone, "") for bone in bones))


def _body(tree: Tree, hips: int, parts: Sequence[Part[int]]) -> int:
    """The lowest bone on which all limbs hang, as a number of the whole skeleton; -1 for none."""
    firsts = [tree.skeleton.parents[part.bones[0]] for part in parts if part.kind != FINGER]
    if hips < 0 and not any(part.kind == ARM for part in parts):
        return -1
    found = tree.shared([bone for bone in firsts if bone >= 0])
    return tree.numbers[found] if found >= 0 else -1


def _missing(plan: BodyPlan, found: Sequence[Part[int]]) -> list[tuple[str, str | Message]]:
    """What such a body has and was not found."""
    by_name = {part.name: part for part in found}
    missing: list[tuple[str, str | Message]] = []
    for name in plan.expected:
        part = by_name.get(name)
        if name.startswith(LABELS[ARM]) and any(one.kind == WING for one in found):
            continue
        if part is None or part.confidence < ASKED:
            reason: str | Message = Message("NO_SUCH_BONES")
            if part and part.reasons:
                reason = reduce(lambda first, second: Message("REASONS", first=first, second=second), part.reasons)
            missing.append((name, reason))
    return missing


# Bones beside limbs: girdles and sockets, and helpers that never bend by themselves.

ON_GIRDLES = {ARM, LEG, WING, FIN}


def helper_bones(limbs: Limbs) -> set[int]:
    """Bones that never bend by themselves: for twist and correction, hip sockets, halves of a pelvis, added ends."""
    skeleton, parts = limbs.skeleton, limbs.parts
    flags = zip(parts, skeleton.names, bones_beside(skeleton, parts), doubles(skeleton), strict=True)
    return {
        bone
        for bone, (part, name, is_beside, is_double) in enumerate(flags)
        if part == "HELPER" or (part == "PELVIS" and side_of(name)) or is_beside or is_double
    }


def girdles_and_sockets(limbs: Limbs, runs: Sequence[tuple[str, Limb]]) -> tuple[set[int], set[int]]:
    """The bones of one side between the middle of a body and its limbs.

    Returns:
        Clavicles and shoulder blades, which help their limb; and the sockets of the legs that hang on the hips, which
        never bend.
    """
    taken = {bone for _, run in runs for bone in run}
    found = {run: (kind, list(_of_side(limbs, run[0], taken))) for kind, run in runs if kind in ON_GIRDLES}
    # how many bones are above what a limb hangs on: the fewest above the hips
    depths = {run: len([*limbs.skeleton.way_up(run[0])]) - len(above) for run, (_, above) in found.items()}
    girdles, sockets = set[int](), set[int]()
    for run, (kind, above) in found.items():
        is_at_hips = kind == LEG and depths[run] == min(depths.values())
        (sockets if is_at_hips else girdles).update(above)
    return girdles, sockets


def _of_side(limbs: Limbs, first: int, taken: Collection[int]) -> Iterator[int]:
    """The bones above the first one of a limb that are of no part and on its side alone, the nearest first."""
    bone = limbs.skeleton.parents[first]
    while bone >= 0 and bone not in taken and (limbs.twins[bone] >= 0 or side_of(limbs.skeleton.names[bone])):
        yield bone
        bone = limbs.skeleton.parents[bone]
