# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles that are planned become empties in the scene, or control bones inside the rig."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import RigError
from ..rig.bones import resolve_bones
from ..rig.control_bones import ControlBone, make_control_bones, new_bones_refusal, rest_head, root_control
from ..rig.schema import FabrikChain, rig_of
from ..rig.skeleton import sided_name
from .chains import Empty, set_pole, set_target
from .live.state import state as live_state


class Asked(NamedTuple):
    """A goal to be made.

    Attributes:
        chain: Whose it is to be.
        role: "target" or "pole".
        planned: Where, and how it is drawn.
    """

    chain: FabrikChain
    role: str
    planned: Empty


def make_goals(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[Asked], kind: str) -> list[str]:
    """Make targets and poles and give them to chains.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        asked: What to make.
        kind: "EMPTY" or "BONE".

    Returns:
        The names of the empties or of the bones.

    Raises:
        RigError: The armature can't be given bones; nothing was made.
    """
    if kind == "BONE" and asked:
        return _make_bones(context, owner, asked)
    for chain, role, planned in asked:
        (set_target if role == "target" else set_pole)(context, owner, chain, planned)
    return [getattr(chain, role).name for chain, role, _ in asked]


def check_can_make(owners: Iterable[bpy.types.Object], kind: str) -> None:
    """Check that armatures can be given goals.

    Args:
        owners: Armature objects.
        kind: "EMPTY" or "BONE".

    Raises:
        RigError: One can't be given bones.
    """
    for owner in owners if kind == "BONE" else ():
        refusal = new_bones_refusal(owner)
        if refusal:
            raise RigError(refusal, rig=owner.name)


def _make_bones(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[Asked]) -> list[str]:
    check_can_make([owner], "BONE")
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    planned = [_bone(owner, evaluated, one) for one in asked]
    places = [(one.chain.name, one.role) for one in asked]
    was_paused, live_state.paused = live_state.paused, True  # on the way through edit mode nothing is to be solved
    try:
        names = make_control_bones(context, owner, planned)
    finally:
        live_state.paused = was_paused
        live_state.forget()
    for (name, role), bone in zip(places, names, strict=True):
        chain = rig_of(owner).chains[name]
        setattr(chain, role, owner)
        setattr(chain, f"{role}_bone", bone)
    return names


def _bone(owner: bpy.types.Object, evaluated: bpy.types.Object, asked: Asked) -> ControlBone:
    chain, role, planned = asked
    parent = root_control(owner, resolve_bones(owner, chain))
    if parent == rig_of(owner).body_bone:  # which moves with the goals
        parent = ""
    size = planned.size / (sum(evaluated.matrix_world.to_scale()) / 3.0)
    head = rest_head(evaluated, parent, Vector(planned.location))
    return ControlBone(sided_name(chain.name, role), head, size, planned.shape, parent)


def also_given(owner: bpy.types.Object) -> list[str]:
    """Names of the other objects that have the same armature data, and so the same bones."""
    return [found.name for found in bpy.data.objects if found != owner and found.data == owner.data]
