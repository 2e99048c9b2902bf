# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of its tip that a chain brings to its goal is changed, and the pose stays."""

from __future__ import annotations

import bpy
from mathutils import Vector

from ..errors import ChainError, FabrikError
from ..rig.chain_bones import resolve_bones
from ..rig.checks import check_rig
from ..rig.held import read_held
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .figure_pose import FigurePose
from .keep_pose import LetGo, Loosed, let_go, unposed
from .order import Item


def set_effector(context: bpy.types.Context, item: Item, effector: str) -> LetGo:
    """Change the end of the tip bone that comes to the goal; a goal that was reached comes along to the other end.

    Args:
        context: Its view layer has armature and target.
        item: The armature object and the chain.
        effector: "HEAD" or "TAIL".

    Raises:
        FabrikError: The pose can't be read, or the chain aims; nothing was changed.
    """
    owner, chain = item
    if chain.kind == "AIM":
        raise ChainError("it aims from the head of its tip bone", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        posed = check_rig(owner, depsgraph).evaluated_get(depsgraph)
        held = read_held(posed, resolve_bones(owner, chain)[-1].name, effector)
        is_there = _is_at_goal(item, depsgraph)
    if chain.effector == effector:
        return LetGo([], [])
    bring_up_to_date(owner)
    chain.effector = effector
    if chain.target is None and not chain.pin:
        return LetGo([], [])
    if not is_there:
        return LetGo([], [Text("its goal is elsewhere, and stays there")])
    return let_go(context, owner, [Loosed(chain, Vector(held.location))], is_keyed=False)


def _is_at_goal(item: Item, depsgraph: bpy.types.Depsgraph) -> bool:
    try:
        return FigurePose.of(item, depsgraph).is_at_target(item[1].name)
    except FabrikError:  # it has none, or can't be solved
        return False
