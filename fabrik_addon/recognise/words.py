# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of the names of bones, and what they say: the side, and the part of a body."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from .conventions import CONVENTIONS, Convention
from .skeleton import Skeleton

UPPER, LOWER = "A-ZÀ-ÖØ-ÞЀ-Я", "a-zß-öø-ÿа-џ"
WORD = re.compile(rf"[{UPPER}]+(?=[{UPPER}][{LOWER}])|[{UPPER}]?[{LOWER}]+|[{UPPER}]+|\d+|[^\W\d_{UPPER}{LOWER}]+")
LEFT = "l left links gauche izquierda izquierdo izq sinistra sx esquerda esquerdo левая левый левое"
RIGHT = "r right rechts droite droit derecha derecho der destra dx direita direito правая правый правое"
SIDES = dict.fromkeys(LEFT.split(), "L") | dict.fromkeys(RIGHT.split(), "R")
SIGNS = {"左": " left ", "右": " right "}  # written without a space
GLUED = re.compile(r"(left|right)(?=[a-z]{3})")  # leftarm
NO_SIDE = {"c", "x", "center", "centre"}  # of the middle
PREFIXES = tuple(
    tuple(prefix.split())
    for prefix in ("mixamorig", "character", "valve biped", "bip", "cc base", "j bip", "j adj", "def", "deform")
)
KNOWN = 4096  # names whose words are kept
SHARED = 0.6  # share of the bones whose names begin with a word, or end with it, from which it tells nothing


@lru_cache(KNOWN)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, without what stands before a colon."""
    plain = name.rpartition(":")[2]
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
        for sign, word in SIGNS.items():
            plain = plain.replace(sign, word)
    words = [word.lower() for word in WORD.findall(plain)]
    if words and GLUED.match(words[0]):
        words[:1] = GLUED.sub(r"\1 ", words[0]).split()
    return tuple(words)


def side_of(name: str) -> str:
    """`L`, `R`, or "" where the name tells no side."""
    return next((SIDES[word] for word in reversed(words_of(name)) if word in SIDES), "")


def twin_key(name: str) -> tuple[str, ...]:
    """The words of a name without its side: equal for the bones of both sides."""
    words = words_of(name)
    last = max((i for i, word in enumerate(words) if word in SIDES), default=-1)  # r_toe.L is a rear toe of the left
    return tuple("*" if i == last else word for i, word in enumerate(words))


def telling_words(names: Sequence[str]) -> list[list[str]]:
    """The words of each name that tell what the bone is: without side, prefix, and what most names share."""
    found = [_without_prefix([word for word in twin_key(name) if word != "*"]) for name in names]
    for end in (0, -1):
        counts = Counter(words[end] for words in found if len(words) > 1)
        shared = {word for word, count in counts.items() if count >= SHARED * len(names) and not word.isdigit()}
        for words in found:
            if len(words) > 1 and words[end] in shared:
                del words[end]
    return [[str(int(word)) if word.isdigit() else word for word in _of_middle(words)] for words in found]


def _without_prefix(words: list[str]) -> list[str]:
    """The words but for the prefixes, and their numbers, with which exporters begin all names."""
    for prefix in PREFIXES:
        if len(words) > len(prefix) and tuple(words[: len(prefix)]) == prefix:
            words = words[len(prefix) :]
            if len(words) > 1 and words[0].isdigit():  # Bip01, mixamorig1
                words = words[1:]
    return words


def _of_middle(words: list[str]) -> list[str]:
    """The words but for one at either end that says that the bone is of the middle."""
    for end in (0, -1):
        if len(words) > 1 and words[end] in NO_SIDE:
            words = words[:-1] if end else words[1:]
    return words


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

OF_FAMILY = {"ARM": "UPPER_ARM FOREARM HAND", "LEG": "THIGH SHIN LEG FOOT TOE", "HEAD": "NECK"}
FAMILIES = {part: family for family, parts in OF_FAMILY.items() for part in parts.split()}
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
