# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a bone's name, and the side that it tells."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

UPPER, LOWER = "A-ZÀ-ÖØ-ÞЀ-Я", "a-zß-öø-ÿа-џ"
WORD = re.compile(
    rf"[{UPPER}]+(?=[{UPPER}][{LOWER}])|[{UPPER}]?[{LOWER}]+|[{UPPER}]+|\d+|[^\W\d_{UPPER}{LOWER}]+",
)
SIDES = {"l": "L", "left": "L", "r": "R", "right": "R"}
SIDES |= {"links": "L", "rechts": "R", "gauche": "L", "droite": "R", "droit": "R", "izquierda": "L", "derecha": "R"}
SIDES |= {
    "izquierdo": "L",
    "derecho": "R",
    "izq": "L",
    "der": "R",
    "sinistra": "L",
    "destra": "R",
    "sx": "L",
    "dx": "R",
}
SIDES |= {"esquerda": "L", "direita": "R", "esquerdo": "L", "direito": "R"}
SIDES |= {"левая": "L", "правая": "R", "левый": "L", "правый": "R", "левое": "L", "правое": "R"}
SIGNS = {"左": " left ", "右": " right "}  # written without a space
GLUED = re.compile(r"(left|right)(?=[a-z]{3})")  # leftarm
NO_SIDE = {"c", "x", "center", "centre"}  # of the middle
PREFIXES = (
    ("mixamorig",),
    ("character",),
    ("valve", "biped"),
    ("bip",),
    ("cc", "base"),
    ("j", "bip"),
    ("j", "adj"),
    ("def",),
    ("deform",),
)
SHARED = 0.6  # share of the bones whose names begin with a word, or end with it, from which it tells nothing


def words_of(name: str) -> list[str]:
    """The words of a name in lower case, without what stands before a colon."""
    plain = name.rpartition(":")[2]
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
        for sign, word in SIGNS.items():
            plain = plain.replace(sign, word)
    words = [word.lower() for word in WORD.findall(plain)]
    if words and GLUED.match(words[0]):
        words[:1] = GLUED.sub(r"\1 ", words[0]).split()
    return words


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
