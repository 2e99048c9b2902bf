# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of a bone's name, and the side that it tells."""

from __future__ import annotations

import re

PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
SIDES = {"l": "L", "left": "L", "r": "R", "right": "R"}


def words_of(name: str) -> list[str]:
    """The words of a name in lower case, without what stands before a colon."""
    return [word.lower() for word in PARTS.findall(name.rpartition(":")[2])]


def side_of(name: str) -> str:
    """`L`, `R`, or "" where the name tells no side."""
    return next((SIDES[word] for word in reversed(words_of(name)) if word in SIDES), "")


def twin_key(name: str) -> tuple[str, ...]:
    """The words of a name without its side: equal for the bones of both sides."""
    words = words_of(name)
    last = max((i for i, word in enumerate(words) if word in SIDES), default=-1)  # r_toe.L is a rear toe of the left
    return tuple("*" if i == last else word for i, word in enumerate(words))
