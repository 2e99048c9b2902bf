# SPDX-License-Identifier: GPL-3.0-or-later
"""What the names of bones say: which part of a body a bone is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .names import CONVENTIONS
from .names.convention import Convention
from .skeleton import Skeleton
from .words import SIDES, side_of, telling_words, words_of

FRONT = {"front", "fore", "forefoot", "foreleg"}

# The first line of which a word, or its plural, is in a name says what the bone is.
PARTS: dict[str, str] = {
    "TWIST": "twist",
    "HELPER": "helper corrective pole mch org nub socket ik roll",
    "OTHER": "hair skirt cloth coat sleeve ribbon weapon sword gun rifle knife prop cape cloak scarf strap belt"
    " ponytail braid fringe bang shield holster backpack sec dress",
    "EAR": "ear",
    "FACE": "face eye brow lid lip cheek nose jaw chin temple forehead tongue teeth beak skull mane mouth"
    " oris oculi orbicularis levator risorius temporalis special",
    "FEATHER": "feather",
    "BREAST": "breast belly abdomen",
    "FIN": "fin",
    "FINGER": "finger thumb index middle ring pinky pinkie little",
    "PALM": "palm metacarpal carpal",
    "HEEL": "heel",
    "TOE": "toe ball hoof",
    "FOOT": "foot ankle hindfoot forefoot paw",
    "THIGH": "thigh upleg upperleg",
    "SHIN": "shin calf lowerleg lowleg knee",
    "LEG": "leg foreleg",
    "HAND": "hand wrist",
    "FOREARM": "forearm lowerarm lowarm elbow",
    "GIRDLE": "clavicle collar shoulder scapula",
    "UPPER_ARM": "upperarm uparm arm shldr",
    "PELVIS": "pelvis hip",
    "TAIL": "tail",
    "WING": "wing",
    "NECK": "neck",
    "HEAD": "head",
    "SPINE": "spine chest torso waist back thorax",
    "ROOT": "root master cog",
}
PART_WORDS = {part: frozenset(words.split()) for part, words in PARTS.items()}

FAMILIES = {
    "UPPER_ARM": "ARM",
    "FOREARM": "ARM",
    "HAND": "ARM",
    "THIGH": "LEG",
    "SHIN": "LEG",
    "LEG": "LEG",
    "FOOT": "LEG",
    "TOE": "LEG",
    "NECK": "HEAD",
}
NO_LIMB = {"PELVIS", "GIRDLE", "PALM", "ROOT"}  # parts on which a limb hangs; they are no part of it
AS_FRONT = {"THIGH": "UPPER_ARM", "SHIN": "FOREARM", "FOOT": "HAND"}  # a front leg is an arm that stands


def convention_of(names: Sequence[str]) -> Convention | None:
    """The convention that most of the names of a skeleton follow, if there is one."""
    keys = {"".join(words) for words in telling_words(names)}
    best = max(CONVENTIONS, key=lambda convention: convention.fit(keys))
    return best if best.fit(keys) else None


def parts_of(skeleton: Skeleton) -> list[str]:
    """The part that each bone's name tells, or "".

    Some words mean different joints in different conventions: the shoulder above an elbow is an upper arm, and the hip
    above a knee a thigh; a leg under an upper leg is a shin. A last bone that is called an end was added by an
    exporter, and is of no limb.
    """
    plain = _plain_parts(skeleton)
    parts = list(plain)
    for bone, part in enumerate(plain):
        below = {plain[child] for child in skeleton.children[bone]}
        above = plain[skeleton.parents[bone]] if skeleton.parents[bone] >= 0 else ""
        if part == "GIRDLE" and "FOREARM" in below and "UPPER_ARM" not in below:
            parts[bone] = "UPPER_ARM"
        elif part == "PELVIS" and "SHIN" in below and side_of(skeleton.names[bone]):
            parts[bone] = "THIGH"
        elif part == "LEG":
            parts[bone] = "SHIN" if above == "THIGH" else "LEG"
    return parts


def _plain_parts(skeleton: Skeleton) -> list[str]:
    """The part that each bone's name tells by itself; a twist bone on which others hang is half of what it twists."""
    words = [words_of(name) for name in skeleton.names]
    convention = convention_of(skeleton.names)
    known = convention.part_of if convention else {}
    keys = ["".join(some) for some in telling_words(skeleton.names)]
    parts = [known.get(key) or _part(some) for key, some in zip(keys, words, strict=True)]
    for bone in reversed(range(len(parts))):
        below = [parts[child] for child in skeleton.children[bone]]
        if "end" in words[bone] and not below:
            parts[bone] = "HELPER"
        elif parts[bone] == "TWIST":
            carries = any(part != "HELPER" for part in below)
            parts[bone] = _part([word for word in words[bone] if word != "twist"]) if carries else "HELPER"
    return parts


def family_of(part: str) -> str:
    """The limb to which a part belongs: the parts of one arm, of one leg, neck and head are of one family."""
    return FAMILIES.get(part, part)


def may_follow(part: str, above: str) -> bool:
    """Whether a bone of one part may go on a limb that ends with another; a name that tells nothing forbids nothing."""
    if not part or not above or (above, part) == ("HAND", "TOE"):  # the front foot of an animal
        return True
    return above not in NO_LIMB and family_of(part) == family_of(above)


def _part(words: Sequence[str]) -> str:
    words = [word for word in words if word not in SIDES]
    single = [word.removesuffix("s") for word in words]
    told = {*words, *single, *(a + b for a, b in pairwise(single))}
    part = next((part for part, known in PART_WORDS.items() if known & told), "")
    return AS_FRONT.get(part, part) if FRONT.intersection(words) else part
