# SPDX-License-Identifier: GPL-3.0-or-later
"""Left and right in names: which side a name tells, and the name of the other side."""

from __future__ import annotations

import re

import bpy

PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
SIDES = {"l": "L", "left": "L", "r": "R", "right": "R"}
FLIPPED = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
FLIPPED |= {"l": "r", "r": "l", "L": "R", "R": "L"}
INNER = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<=[ ._-])[LRlr](?=[ ._-])")  # mixamorig:LeftArm, Bip01 L Foot

ENDS = (".L", ".R", "_L", "_R", "-L", "-R", ".l", ".r", "_l", "_r", "-l", "-r")


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


def flipped_name(name: str) -> str:
    """The name of the other side; the same name where it has no side."""
    found = bpy.utils.flip_name(name)
    return found if found != name else INNER.sub(lambda match: FLIPPED[match.group()], name, count=1)


def sided_name(chain: str, role: str) -> str:
    """A name with the role before side and number, so that Blender's mirror tools find the other side: arm.target.L."""
    stem, dot, number = chain.rpartition(".")
    stem, number = (stem, dot + number) if number.isdigit() and stem else (chain, "")
    if stem.endswith(ENDS):
        return f"{stem[:-2]}.{role}{stem[-2:]}{number}"
    return f"{stem}.{role}{number}"
