# SPDX-License-Identifier: GPL-3.0-or-later
"""A walker knows its legs and its body by the names of their chains, and follows these where they are renamed."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import bpy

from ..errors import InvalidValueError
from ..gait import from_text, to_text
from .walker_properties import walker_of


def follow_chain_name(owner: bpy.types.Object, old: str, new: str) -> None:
    """Let the walker of an armature object, and the walk that is planned for it, know a chain by its new name."""
    walker = walker_of(owner)
    if walker.body == old:
        walker.body = new
    leg = walker.legs.get(old)
    if leg is None:
        return
    leg.name = new
    try:
        plan = from_text(walker.plan) if walker.digest else None
    except InvalidValueError:  # told as it is where the walk is to be played
        return
    if plan is not None:
        legs = tuple(replace(each, name=new) if each.name == old else each for each in plan.legs)
        digest = sha256(f"{plan.digest} {old}\n{new}".encode()).hexdigest()  # plans are known by it
        walker.plan, walker.digest = to_text(replace(plan, legs=legs, digest=digest)), digest
