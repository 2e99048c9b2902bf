# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of the other side."""

from __future__ import annotations

import re

import bpy

FLIPPED = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
FLIPPED |= {"l": "r", "r": "l", "L": "R", "R": "L"}
INNER = re.compile(r"left|right|Left|Right|LEFT|RIGHT|(?<=[ ._-])[LRlr](?=[ ._-])")  # mixamorig:LeftArm, Bip01 L Foot

ENDS = (".L", ".R", "_L", "_R", "-L", "-R", ".l", ".r", "_l", "_r", "-l", "-r")


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
