# SPDX-License-Identifier: GPL-3.0-or-later
"""Which parts are set up: those that are sure, and those that the user chose where it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import bpy

from ...errors import BoneError, ChainError
from ...rig.chain_bones import pose_bones
from ...texts import Text
from .finding import Found, RigPart

Answers = Mapping[str, tuple[str, str]]  # for each part by its name the first and the last bone


def chosen_parts(owner: bpy.types.Object, found: Found, answers: Answers) -> list[RigPart]:
    """The parts to set up.

    Args:
        owner: The armature object.
        found: What was found in it.
        answers: The parts that were asked about and are wanted, with their first and last bone.

    Raises:
        ChainError: There is no such bone.
        BoneError: The last bone of one does not hang on its first.
    """
    parts = [part for part in found.parts if part.is_applied and part.name not in answers]
    asked = {part.name: part for part in found.parts}
    for name, (first, last) in answers.items():
        bones = _between(owner, first, last)
        part = asked.get(name)
        if part is None or part.bones != bones:
            kind = part.kind if part is not None else _kind_of(found, name)
            holds_head = part is not None and part.holds_head and part.bones[-1] == last
            part = RigPart(kind, name, bones, ("",) * len(bones), holds_head, 1.0, ())
        parts.append(replace(part, confidence=1.0))
    return parts


def _kind_of(found: Found, name: str) -> str:
    """The kind of a part that has the name of another on its other side (Arm.L, Arm.R); else any run of bones."""
    stem = name.partition(".")[0]
    return next((part.kind for part in found.parts if part.name.partition(".")[0] == stem), "RUN")


def _between(owner: bpy.types.Object, first: str, last: str) -> tuple[str, ...]:
    """The names of the bones from one down to another that hangs on it, both included.

    Raises:
        ChainError: There is no such bone.
        BoneError: The last does not hang on the first.
    """
    bones = pose_bones(owner)
    for name in (first, last):
        if name not in bones:
            raise ChainError(Text("there is no bone '{name}'", name=name), rig=owner.name)
    row = [last]
    while row[-1] != first:
        parent = bones[row[-1]].parent
        if parent is None:
            raise BoneError(Text("it does not hang on '{first}'", first=first), rig=owner.name, bone=last)
        row.append(parent.name)
    return tuple(row[::-1])
