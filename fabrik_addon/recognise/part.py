# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of a body: which of the bones of a run are of it, how sure that is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise
from math import log, radians
from typing import Generic, TypeVar

from ..maths import V3, angle_between, clipped, distance, dot, length, minus, plus, scaled, unit
from ..messages import Message
from .skeleton import LEGS_OF_FOUR, count_on_ground
from .tree import Tree

APPLIED = 0.8  # confidence from which a part is set up without being asked about
ASKED = 0.5  # confidence from which a part is asked about; below it counts as not found

ARM, LEG, WING, FIN, EAR = "ARM", "LEG", "WING", "FIN", "EAR"
SPINE, HEAD, TAIL, FINGER, RUN = "SPINE", "HEAD", "TAIL", "FINGER", "RUN"
LABELS = {kind: kind.title() for kind in (ARM, LEG, WING, FIN, SPINE, HEAD, TAIL, FINGER, EAR)} | {RUN: "Chain"}


# Of limbs that are fitted
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

# Of evidence
NAMES, STRUCTURE, GEOMETRY = 0.45, 0.3, 0.25  # weights of the kinds of evidence
NOT_MET = 0.5  # below it what was looked at speaks against the limb
UNUSUAL_COUNT = 0.3  # how far the number of bones is met where it is not usual
SHORT_ARM, LONG_ARM = 0.15, 0.35  # length beside a leg's: as good as no arm, and long enough for one
NO_LENGTH = 1e-12  # divisors are no less, so that bones without length are not divided by
VAGUE = 0.85  # agreement of a name that tells the limb, but not the joint
USUAL_COUNTS = range(3, 8)  # bones of an arm or leg with its hand or foot
SAME_LENGTH, OTHER_LENGTH = 0.05, 0.4  # share of the length by which both sides differ: fully alike, and not at all
IN_MIRROR, ASKEW = 0.15, 1.5  # the same for their places; a posed limb stands askew
HALVES = 0.5, 2.0  # ratio of upper to lower half of a limb
ORDER = {"UPPER_ARM": 0, "FOREARM": 1, "HAND": 2, "THIGH": 0, "LEG": 0, "SHIN": 1, "FOOT": 2, "TOE": 3}
LIMB_SIZE = 0.18  # share of the skeleton's extent from which a limb is a great one
SMALL_SIZE = 0.04
MAYBE_LIMB = 0.7  # greatest confidence of what may be a limb or not
NO_ARM = 0.3  # greatest confidence of what can't be an arm
STANDS = 0.7  # cosine of the angle of the body to the scene's up within which legs without names are sure
LEAST_ARM = 0.3  # share of a leg's reach that an arm has which no names tell
SURELY_ARM = 0.5  # share of a leg's reach from which it is an arm, however many there are
MOST_ON_ONE = 2  # pairs that hang on one bone beside such an arm, itself included
LEAST_STRETCHED = 0.5  # share of its length that such an arm reaches


Bone = TypeVar("Bone", int, str)  # its number in a skeleton, or its name in a rig


@dataclass(frozen=True, slots=True)
class Part(Generic[Bone]):
    """A part of a body that is to be one chain.

    Attributes:
        kind: What it is, one of those above.
        name: What its chain is called: part, number, side.
        bones: Root to tip, each the parent of the next.
        roles: What each of them is, as names of bones have it, or "".
        holds_head: Whether its end is the head of its last bone, a hand or a foot; else its tail.
        confidence: From 0 to 1.
        reasons: What speaks against it, in words; empty where nothing does.
        side: `L`, `R`, or "" in the middle; from where it stands.
    """

    kind: str
    name: str
    bones: tuple[Bone, ...]
    roles: tuple[str, ...]
    holds_head: bool = False
    confidence: float = 1.0
    reasons: tuple[str | Message, ...] = ()
    side: str = ""

    @property
    def is_applied(self) -> bool:
        """Whether it is sure enough to be set up without being asked about."""
        return self.confidence >= APPLIED


@dataclass(frozen=True, slots=True)
class RecognisedBody(Generic[Bone]):
    """The parts of a body: found in a skeleton or a rig, or as somebody wrote them down.

    Attributes:
        plan: What kind of body it is: `HUMAN`, `QUADRUPED`, `MANY_LEGS` or `CHAINS`.
        body: The bone on which all limbs hang; -1, or "" as a name, for none.
        parts: The parts from which chains can be made, sure or to be asked about.
        convention: The convention that the names of its bones follow, or "".
        missing: What such a body has and was not found, each with the reason.
        held: Parts that something else poses, each with the reason.
        notes: What was taken for granted, as sentences.
    """

    plan: str
    body: Bone
    parts: Sequence[Part[Bone]]
    convention: str = ""
    missing: Sequence[tuple[str, str | Message]] = ()
    held: Sequence[tuple[str, str | Message]] = ()
    notes: Sequence[str | Message] = ()


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
    limbs: tuple[Part[int], ...]
    does_stand: bool

    @property
    def bones(self) -> set[int]:
        """All of its bones."""
        return {bone for limb in self.limbs for bone in limb.bones}


# ---- which bones of a run are of a limb


def trimmed(tree: Tree, run: Sequence[int], kind: str, stance: int) -> Part[int]:
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
    end = count_on_ground(tree.skeleton, run, tree.axes.up) if kind == LEG else 0
    if is_named:
        first, last = family[0], family[-1]
        tip_role = "HAND" if kind == ARM else "FOOT"
        named_tip = next((i for i in family if labels[i] == tip_role), -1)
        if kind == LEG and (stance or named_tip < 0):
            named_tip = len(run) - end if end else -1
        holds_head = named_tip > first
        last = named_tip if holds_head else last
        # what lies between two halves of one bone is of it
        roles: tuple[str, ...] = tuple(accumulate(labels[first : last + 1], lambda before, own: own or before))
        return Part(kind, "", tuple(run[first : last + 1]), roles, holds_head)
    if kind == LEG and stance:
        way = unit(minus(_joint(tree, run, 1), _joint(tree, run, 0)))  # half a pelvis lies across the body
        first = int(len(run) > 3 and stance <= LEGS_OF_FOUR and abs(dot(way, tree.axes.lateral)) > SIDEWAYS)
        last = len(run) - end if end else len(run) - 1
        return Part(kind, "", tuple(run[first : last + 1]), ("",) * (last + 1 - first), bool(end))
    return _fitted(tree, run, kind, len(run) - end if end else -1)


def _joint(tree: Tree, run: Sequence[int], i: int) -> V3:
    return tree.skeleton.heads[run[i]] if i < len(run) else tree.skeleton.tails[run[-1]]


def _fitted(tree: Tree, run: Sequence[int], kind: str, ankle: int) -> Part[int]:
    """Shoulder, elbow and wrist where both halves are as long and straight."""
    count = len(run)
    if ankle < 0 and (len(tree.skeleton.children[run[-1]]) >= BRANCHES or count == len(ROLES[kind])):
        ankle = count - 1
    wrists = [ankle] if ankle > 1 else range(2, count + 1)
    if count > MOST_FITTED:
        return Part(kind, "", tuple(run), ("",) * count)
    points = [_joint(tree, run, i) for i in range(count + 1)]
    least = int(count > len(ROLES[kind]) and _begins_in_middle(tree, run))
    choices = [(a, b, c) for c in wrists for a, b in combinations(range(least, c), 2)]
    first, knee, last = min(
        choices, key=lambda choice: _cost(points, choice, USUAL_RATIOS[kind]), default=(0, min(1, count - 1), count)
    )
    holds_head = last < count
    end = last if holds_head else count - 1
    upper, lower, tip = ROLES[kind]
    roles = tuple(upper if i < knee else lower if i < last else tip for i in range(first, end + 1))
    return Part(kind, "", tuple(run[first : end + 1]), roles, holds_head)


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
    bend = angle_between(before_knee, after_knee)
    return (
        abs(log(upper / lower) - log(usual))
        + CROOKED * crooked
        + BEFORE * before
        + AFTER * after
        - min(bend, MOST_BEND)
    )


# ---- how sure it is

Features = list[tuple[float, Message]]


@dataclass(slots=True)
class Evidence:
    """What speaks for bones being a limb.

    Attributes:
        names, structure, geometry: Of each kind what was looked at: how far it is met, and what it says if it is not.
        doubts: What no other evidence makes up for: the greatest confidence that it leaves, and what it says.
    """

    names: Features = field(default_factory=list)
    structure: Features = field(default_factory=list)
    geometry: Features = field(default_factory=list)
    doubts: Features = field(default_factory=list)

    @property
    def confidence(self) -> float:
        """The mean of the kinds that there are, by their weights, but no more than the doubts leave."""
        kinds = [(NAMES, self.names), (STRUCTURE, self.structure), (GEOMETRY, self.geometry)]
        told = [(weight, sum(value for value, _ in found) / len(found)) for weight, found in kinds if found]
        total = sum(weight for weight, _ in told)
        found = sum(weight * value for weight, value in told) / total if told else 0.0
        return min([found, *(most for most, _ in self.doubts)])

    @property
    def reasons(self) -> tuple[Message, ...]:
        """What is not met."""
        found = [text for value, text in [*self.names, *self.structure, *self.geometry] if value < NOT_MET and text]
        found += [text for _, text in self.doubts]
        return tuple(dict.fromkeys(found))


def evidence_of(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Evidence:
    """What speaks for a pair, beside what stands on the ground."""
    evidence = Evidence(_names(tree, pair), _structure(tree, pair, legs), _geometry(tree, pair, legs))
    if pair.kind in (ARM, LEG):
        evidence.doubts = _contradictions(tree, pair) if evidence.names else _doubts(tree, pair, legs)
    if len(pair.runs) == 1:
        evidence.doubts += [(MAYBE_LIMB, text) for value, text in evidence.structure[1:] if value == 0.0]
    if all(_size(tree, limb.bones) <= 0.0 for limb in pair.limbs):
        evidence.doubts.append((NO_ARM, Message("BONES_WITHOUT_LENGTH")))
    unlike = [text for value, text in evidence.geometry[:2] if value < NOT_MET]
    if len(pair.runs) == 2 and len(unlike) == 2:
        evidence.doubts.append((MAYBE_LIMB, unlike[0]))
    return evidence


def ramp(value: float, none: float, full: float) -> float:
    """0 at `none`, 1 at `full`, straight between."""
    return clipped((value - none) / (full - none), 0.0, 1.0)


def _names(tree: Tree, pair: Pair) -> Features:
    """Whether names call its bones what they would be; nothing where too few of them have a name that tells."""
    found: Features = []
    for limb in pair.limbs:
        for bone, role in zip(limb.bones, limb.roles, strict=True):
            if tree.labels[bone]:
                found.append(
                    (_agreement(tree, pair, bone, role), Message("OTHER_NAME", name=tree.skeleton.names[bone]))
                )
    if len(found) < sum(len(limb.bones) for limb in pair.limbs) / 2:
        found = found if any(value < 1.0 for value, _ in found) else []
    if found and pair.kind in (ARM, LEG):
        found += _missing_roles(tree, pair)
    return found


HALF_TEXTS = {
    "THIGH": Message("THIGH"),
    "SHIN": Message("SHIN"),
    "UPPER_ARM": Message("UPPER_ARM"),
    "FOREARM": Message("FOREARM"),
}


def _missing_roles(tree: Tree, pair: Pair) -> Features:
    """Whether names tell both halves of the limb."""
    halves = {"THIGH": "SHIN", "UPPER_ARM": "FOREARM"}
    labels = {tree.labels[bone] for limb in pair.limbs for bone in limb.bones}
    if "LEG" in labels:
        return []
    return [
        (0.0, Message("NO_BONE_OF_NAME", part=HALF_TEXTS[half]))
        for upper, lower in halves.items()
        for half, other in ((upper, lower), (lower, upper))
        if other in labels and half not in labels
    ]


def _agreement(tree: Tree, pair: Pair, bone: int, role: str) -> float:
    """How far the name of a bone agrees with what it would be in the limb, 0 to 1."""
    label, family = tree.labels[bone], tree.families[bone]
    is_front = pair.kind == LEG and family == ARM and pair.does_stand
    if family != pair.kind and not is_front:
        return 0.0
    return 1.0 if label == role or pair.kind not in (ARM, LEG) else VAGUE


def _structure(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Features:
    """Whether its bones are as many, and hang where, an arm's or a leg's do."""
    top = attach_of(tree, pair)
    found: Features = [(float(len(pair.runs) == 2), Message("NO_TWIN"))]
    found.append((float(top >= 0), Message("NO_COMMON_BONE")))
    if pair.kind not in (ARM, LEG):
        return found
    count = max(len(run) for run in pair.runs)
    found.append((1.0 if count in USUAL_COUNTS else UNUSUAL_COUNT, Message("BONE_COUNT", count=count)))
    hips = attach_of(tree, legs[0]) if legs else -1
    if top < 0 or pair.kind == LEG:
        return found
    goes_on = any(child not in _upmost(tree, pair, top) for child in tree.skeleton.children[top])
    found.append((float(goes_on), Message("NOTHING_BESIDE")))
    if hips >= 0:
        is_above = tree.shared([hips, top]) in (hips, tree.skeleton.parents[hips])
        found.append((float(is_above), Message("NOT_ABOVE_LEGS")))
    return found


def _contradictions(tree: Tree, pair: Pair) -> Features:
    """Names that tell another part, or another order, than the place of their bones: then it is asked."""
    found: Features = [(MAYBE_LIMB, text) for value, text in _names(tree, pair) if value == 0.0]
    if len(pair.bones) < sum(len(limb.bones) for limb in pair.limbs):
        found.append((MAYBE_LIMB, Message("SHARED_BONE")))
    for limb in pair.limbs:
        places = [ORDER[tree.labels[bone]] for bone in limb.bones if tree.labels[bone] in ORDER]
        if places != sorted(places):
            found.append((MAYBE_LIMB, Message("NAMES_OUT_OF_ORDER")))
        beside = tree.skeleton.children[tree.skeleton.parents[limb.bones[-1]]] if pair.kind == ARM else []
        if any(tree.labels[bone] in {"FINGER", "PALM"} for bone in beside):
            found.append((MAYBE_LIMB, Message("FINGERS_BESIDE_HAND")))
    return found


def _doubts(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Features:
    """What can't be an arm or leg, or may be none, where no names tell that it is."""
    found: Features = []
    reach = reach_of(tree, pair)
    if max(len(run) for run in pair.runs) < USUAL_COUNTS.start:
        found.append((MAYBE_LIMB, Message("NO_LIMB_NAMES")))
    top = attach_of(tree, pair)
    if top < 0:
        found.append((MAYBE_LIMB, Message("NO_COMMON_BONE_OR_NAMES")))
    if pair.kind == LEG:
        lies = dot(tree.axes.up, tree.skeleton.up) < STANDS
        return [*found, (MAYBE_LIMB, Message("BODY_NOT_UPRIGHT"))] if lies else found
    along = max((span_of(tree, leg.limbs[0].bones) for leg in legs), default=tree.skeleton.extent)
    if reach < LEAST_ARM * along:
        found.append((NO_ARM, Message("TOO_SHORT_FOR_ARM")))
    if sum(_size(tree, limb.bones) for limb in pair.limbs) * LEAST_STRETCHED > 2.0 * reach:
        found.append((NO_ARM, Message("NOT_STRETCHED")))
    if top >= 0 and not any(child not in _upmost(tree, pair, top) for child in tree.skeleton.children[top]):
        found.append((MAYBE_LIMB, Message("MAYBE_EARS")))
    pairs = sum(tree.unnamed.twins[child] >= 0 for child in tree.skeleton.children[top]) // 2 if top >= 0 else 0
    if pairs > MOST_ON_ONE:
        most = MAYBE_LIMB if reach > SURELY_ARM * along else NO_ARM
        found.append((most, Message("ONE_OF_MANY")))
    return found


def _upmost(tree: Tree, pair: Pair, top: int) -> set[int]:
    """The bones of a pair, clavicles included, that hang on the bone that they share."""
    return {tree.between(top, run[-1])[0] for run in pair.runs if tree.between(top, run[-1])}


def attach_of(tree: Tree, pair: Pair) -> int:
    """The bone on which both sides of a pair hang; of one alone the first above that names no side; -1 for none."""
    firsts = [run[0] for run in pair.runs]
    if len(firsts) > 1:
        found = tree.shared(firsts)
        return found if found not in firsts else -1
    above = [bone for bone in tree.path_up(firsts[0]) if bone != firsts[0] and not tree.sides[bone]]
    return above[0] if above else -1


def _geometry(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Features:
    """Whether both sides are alike, and as long and placed as an arm or a leg is."""
    skeleton = tree.skeleton
    sizes = [_size(tree, limb.bones) for limb in pair.limbs]
    found: Features = []
    if len(sizes) == 2:
        apart = abs(sizes[0] - sizes[1]) / max(*sizes, NO_LENGTH)
        found.append((1.0 - ramp(apart, SAME_LENGTH, OTHER_LENGTH), Message("SIDES_UNEQUAL")))
        found.append((1.0 - ramp(_askew(tree, pair), IN_MIRROR, ASKEW), Message("SIDES_NOT_MIRRORED")))
    if pair.kind not in (ARM, LEG):
        return found
    share = max(sizes) / max(skeleton.extent, NO_LENGTH)
    found.append((ramp(share, SMALL_SIZE, LIMB_SIZE), Message("SMALL")))
    is_leg = pair.kind == LEG
    told = Message("NOT_ON_GROUND") if is_leg else Message("ON_GROUND")
    found.append((float(pair.does_stand == is_leg), told))
    if legs and not is_leg:
        along = _size(tree, legs[0].limbs[0].bones)
        share = max(sizes) / max(along, NO_LENGTH)
        found.append((ramp(share, SHORT_ARM, LONG_ARM), Message("SHORT_BESIDE_LEGS")))
    return [*found, *_halves(tree, pair)]


def _halves(tree: Tree, pair: Pair) -> Features:
    """Whether upper and lower half are about as long."""
    found: Features = []
    for limb in pair.limbs:
        lower = next((i for i, role in enumerate(limb.roles) if role in ("SHIN", "FOREARM")), -1)
        if lower < 1 or pair.kind == WING:
            continue
        points = [tree.skeleton.heads[limb.bones[i]] for i in (0, lower)]
        end = tree.skeleton.heads[limb.bones[-1]] if limb.holds_head else tree.skeleton.tails[limb.bones[-1]]
        upper_size, lower_size = distance(*points), distance(points[1], end)
        ratio = upper_size / max(lower_size, NO_LENGTH)
        met = min(ramp(ratio, HALVES[0] / 2, HALVES[0]), 1.0 - ramp(ratio, HALVES[1], 2 * HALVES[1]))
        found.append((met, Message("HALVES_DIFFER")))
    return found


def span_of(tree: Tree, bones: Sequence[int]) -> float:
    """How far a run of bones reaches from its first head."""
    return distance(tree.skeleton.heads[bones[0]], tree.skeleton.end(bones[-1]))


def reach_of(tree: Tree, pair: Pair) -> float:
    """How far a pair reaches, the longer of both sides."""
    return max(span_of(tree, limb.bones) for limb in pair.limbs)


def _size(tree: Tree, bones: Sequence[int]) -> float:
    points = [*(tree.skeleton.heads[bone] for bone in bones), tree.skeleton.end(bones[-1])]
    return sum(distance(a, b) for a, b in pairwise(points))


def _askew(tree: Tree, pair: Pair) -> float:
    """How far a limb's joints are from the mirror image of the other's, as a share of its length."""
    one, other = (limb.bones for limb in pair.limbs)
    heads, lateral = tree.skeleton.heads, tree.axes.lateral
    middle = scaled(plus(heads[one[0]], heads[other[0]]), 0.5)

    def mirrored(point: V3) -> V3:
        off = minus(point, middle)
        return minus(off, scaled(lateral, 2.0 * dot(off, lateral)))

    off = [distance(mirrored(heads[a]), minus(heads[b], middle)) for a, b in zip(one, other, strict=False)]
    return max(off, default=0.0) / max(_size(tree, one), NO_LENGTH)
