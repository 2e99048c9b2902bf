# SPDX-License-Identifier: GPL-3.0-or-later
"""Left and right in names: as Blender flips them, and in the middle (mixamorig:LeftArm, Bip01 L Foot)."""

from __future__ import annotations

import re

import bpy

WORDS = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
WORDS |= {"l": "r", "r": "l", "L": "R", "R": "L"}
WORD = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<=[ ._-])[LRlr](?=[ ._-])")


def flipped_name(name: str) -> str:
    """The name of the other side; the same name where it has no side."""
    found = bpy.utils.flip_name(name)
    return found if found != name else WORD.sub(lambda match: WORDS[match.group()], name, count=1)


def side_of(name: str) -> str:
    """ "LEFT", "RIGHT" or "CENTRE"."""
    other = flipped_name(name)
    differing = (a for a, b in zip(name, other, strict=False) if a != b)
    return {"l": "LEFT", "r": "RIGHT"}.get(next(differing, "").lower(), "CENTRE")
