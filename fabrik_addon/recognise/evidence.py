# SPDX-License-Identifier: GPL-3.0-or-later
"""How sure it is that bones are a limb: by names, structure and geometry, or by those of them that there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..maths import V3, distance, dot, minus, plus, scaled
from ..texts import Text
from .pairs import Pair
from .parts import ARM, LEG, WING
from .tree import Tree

NAMES, STRUCTURE, GEOMETRY = 0.45, 0.3, 0.25  # weights of the kinds of evidence
NOT_MET = 0.5  # below it what was looked at speaks against the limb
UNUSUAL_COUNT = 0.3  # how far the number of bones is met where it is not usual
SHORT_ARM, LONG_ARM = 0.15, 0.35  # length beside a leg's: as good as no arm, and long enough for one
NO_LENGTH = 1e-12  # divisors are no less, so that bones without length are not divided by
FAMILY = {ARM: "ARM", LEG: "LEG"}
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
Features = list[tuple[float, str]]


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
    def reasons(self) -> tuple[str, ...]:
        """What is not met."""
        found = [text for value, text in [*self.names, *self.structure, *self.geometry] if value < NOT_MET and text]
        found += [text for _, text in self.doubts]
        return tuple(dict.fromkeys(found))


def evidence_of(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Evidence:
    """What speaks for a pair, beside what stands on the ground."""
    evidence = Evidence()
    evidence.names = _names(tree, pair)
    evidence.structure = _structure(tree, pair, legs)
    evidence.geometry = _geometry(tree, pair, legs)
    if not evidence.names and pair.kind in (ARM, LEG):
        evidence.doubts = _doubts(tree, pair, legs)
    elif pair.kind in (ARM, LEG):
        evidence.doubts = _contradictions(tree, pair)
    if len(pair.runs) == 1:
        evidence.doubts += [(MAYBE_LIMB, text) for value, text in evidence.structure[1:] if value == 0.0]
    if all(_size(tree, limb.bones) <= 0.0 for limb in pair.limbs):
        evidence.doubts.append((NO_ARM, Text("its bones have no length")))
    unlike = [text for value, text in evidence.geometry[:2] if value < NOT_MET]
    if len(pair.runs) == 2 and len(unlike) == 2:
        evidence.doubts.append((MAYBE_LIMB, unlike[0]))
    return evidence


def ramp(value: float, none: float, full: float) -> float:
    """0 at `none`, 1 at `full`, straight between."""
    return max(0.0, min(1.0, (value - none) / (full - none)))


def _names(tree: Tree, pair: Pair) -> Features:
    """Whether names call its bones what they would be; nothing where too few of them have a name that tells."""
    found: Features = []
    for limb in pair.limbs:
        for bone, role in zip(limb.bones, limb.roles, strict=True):
            if tree.labels[bone]:
                found.append(
                    (
                        _agreement(tree, pair, bone, role),
                        Text("'{name}' is no such name", name=tree.skeleton.names[bone]),
                    )
                )
    if len(found) < sum(len(limb.bones) for limb in pair.limbs) / 2:
        found = found if any(value < 1.0 for value, _ in found) else []
    if found and pair.kind in FAMILY:
        found += _missing_roles(tree, pair)
    return found


HALF_TEXTS = {
    "THIGH": Text("thigh"),
    "SHIN": Text("shin"),
    "UPPER_ARM": Text("upper arm"),
    "FOREARM": Text("forearm"),
}


def _missing_roles(tree: Tree, pair: Pair) -> Features:
    """Whether names tell both halves of the limb."""
    halves = {"THIGH": "SHIN", "UPPER_ARM": "FOREARM"}
    labels = {tree.labels[bone] for limb in pair.limbs for bone in limb.bones}
    if "LEG" in labels:
        return []
    return [
        (0.0, Text("no bone is called {part}", part=HALF_TEXTS[half]))
        for upper, lower in halves.items()
        for half, other in ((upper, lower), (lower, upper))
        if other in labels and half not in labels
    ]


def _agreement(tree: Tree, pair: Pair, bone: int, role: str) -> float:
    """How far the name of a bone agrees with what it would be in the limb, 0 to 1."""
    label, family = tree.labels[bone], tree.families[bone]
    if pair.kind not in FAMILY:
        return float(family == pair.kind)
    is_front = pair.kind == LEG and family == "ARM" and pair.does_stand
    if family != FAMILY[pair.kind] and not is_front:
        return 0.0
    return 1.0 if label == role else VAGUE


def _structure(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Features:
    """Whether its bones are as many, and hang where, an arm's or a leg's do."""
    top = attach_of(tree, pair)
    found: Features = [(float(len(pair.runs) == 2), Text("it has no twin on the other side"))]
    found.append((float(top >= 0), Text("both sides hang on no bone in common")))
    if pair.kind not in (ARM, LEG):
        return found
    count = max(len(run) for run in pair.runs)
    found.append((1.0 if count in USUAL_COUNTS else UNUSUAL_COUNT, Text("it has {count} bones", count=count)))
    hips = attach_of(tree, legs[0]) if legs else -1
    if top < 0 or pair.kind == LEG:
        return found
    goes_on = any(child not in _upmost(tree, pair, top) for child in tree.skeleton.children[top])
    found.append((float(goes_on), Text("nothing hangs beside it, as a neck does")))
    if hips >= 0:
        is_above = tree.shared([hips, top]) in (hips, tree.skeleton.parents[hips])
        found.append((float(is_above), Text("it is not above the legs")))
    return found


def _contradictions(tree: Tree, pair: Pair) -> Features:
    """Names that tell another part, or another order, than the place of their bones: then it is asked."""
    found: Features = [(MAYBE_LIMB, text) for value, text in _names(tree, pair) if value == 0.0]
    if len(pair.bones) < sum(len(limb.bones) for limb in pair.limbs):
        found.append((MAYBE_LIMB, Text("both sides have a bone in common")))
    for limb in pair.limbs:
        places = [ORDER[tree.labels[bone]] for bone in limb.bones if tree.labels[bone] in ORDER]
        if places != sorted(places):
            found.append((MAYBE_LIMB, Text("its names are in another order than its bones")))
        beside = tree.skeleton.children[tree.skeleton.parents[limb.bones[-1]]] if pair.kind == ARM else []
        if any(tree.labels[bone] in {"FINGER", "PALM"} for bone in beside):
            found.append((MAYBE_LIMB, Text("fingers hang beside its hand")))
    return found


def _doubts(tree: Tree, pair: Pair, legs: Sequence[Pair]) -> Features:
    """What can't be an arm or leg, or may be none, where no names tell that it is."""
    found: Features = []
    reach = reach_of(tree, pair)
    if max(len(run) for run in pair.runs) < USUAL_COUNTS.start:
        found.append((MAYBE_LIMB, Text("no names tell that it is a limb")))
    top = attach_of(tree, pair)
    if top < 0:
        found.append((MAYBE_LIMB, Text("both sides hang on no bone in common, and no names tell what it is")))
    if pair.kind == LEG:
        lies = dot(tree.axes.up, tree.skeleton.up) < STANDS
        return [*found, (MAYBE_LIMB, Text("the body does not stand upright in the scene"))] if lies else found
    along = max((_reach(tree, leg.limbs[0].bones) for leg in legs), default=tree.skeleton.extent)
    if reach < LEAST_ARM * along:
        found.append((NO_ARM, Text("it is too short for an arm")))
    if sum(_size(tree, limb.bones) for limb in pair.limbs) * LEAST_STRETCHED > 2.0 * reach:
        found.append((NO_ARM, Text("it is no limb that is stretched")))
    if top >= 0 and not any(child not in _upmost(tree, pair, top) for child in tree.skeleton.children[top]):
        found.append((MAYBE_LIMB, Text("it may be ears or horns")))
    pairs = sum(tree.unnamed.twins[child] >= 0 for child in tree.skeleton.children[top]) // 2 if top >= 0 else 0
    if pairs > MOST_ON_ONE:
        most = MAYBE_LIMB if reach > SURELY_ARM * along else NO_ARM
        found.append((most, Text("it is one of many beside each other, as in a face")))
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
        found.append((1.0 - ramp(apart, SAME_LENGTH, OTHER_LENGTH), Text("both sides are not equally long")))
        found.append((1.0 - ramp(_askew(tree, pair), IN_MIRROR, ASKEW), Text("both sides are not mirrored")))
    if pair.kind not in (ARM, LEG):
        return found
    share = max(sizes) / max(skeleton.extent, NO_LENGTH)
    found.append((ramp(share, SMALL_SIZE, LIMB_SIZE), Text("it is small")))
    if pair.kind == LEG:
        found.append((float(pair.does_stand), Text("it does not go down to the ground")))
        return [*found, *_halves(tree, pair)]
    found.append((1.0 - float(pair.does_stand), Text("it goes down to the ground")))
    if legs:
        along = _size(tree, legs[0].limbs[0].bones)
        share = max(sizes) / max(along, NO_LENGTH)
        found.append((ramp(share, SHORT_ARM, LONG_ARM), Text("it is short beside the legs")))
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
        found.append((met, Text("upper and lower half differ in length")))
    return found


def _reach(tree: Tree, bones: Sequence[int]) -> float:
    return distance(tree.skeleton.heads[bones[0]], tree.skeleton.end(bones[-1]))


def reach_of(tree: Tree, pair: Pair) -> float:
    """How far a pair reaches, the longer of both sides."""
    return max(_reach(tree, limb.bones) for limb in pair.limbs)


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
