# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation that the tip of a chain is to have is chosen, and nothing moves by the choice."""

from __future__ import annotations

import bpy

from ..errors import ChainError, TargetError
from ..rig.chain_bones import resolve_bones
from ..rig.checks import check_rig
from ..rig.held import offset_from_target, read_held, store
from ..rig.schema import FabrikChain
from ..rig.targets import check_present
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .keep_pose import keep_and_tell, unposed
from .limb_ends import end_beyond, go_on_to, keeps_rotation
from .order import Item


def set_orientation(context: bpy.types.Context, item: Item, orientation: str) -> list[str]:
    """`orient`, and let the next solve leave the pose.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    return [*orient(context, item, orientation), *_kept(item)]


def orient(context: bpy.types.Context, item: Item, orientation: str) -> list[str]:
    """Choose the rotation that the tip of a chain is to have, and store what that needs from the pose at hand.

    A chain whose goal holds the tail of a bone from which the limb goes on, a shin, goes on to that bone, the foot,
    whose head the goal then holds: else the shin would be frozen.

    Args:
        context: Its view layer has armature and target.
        item: The armature object and the chain.
        orientation: "FREE", "KEEP" or "TARGET".

    Returns:
        What there is to tell, as sentences.

    Raises:
        FabrikError: It makes no sense for the chain, or the pose can't be read; nothing was changed.
    """
    owner, chain = item
    if orientation != "FREE" and chain.kind == "AIM":
        raise ChainError("it aims at its target, which turns its tip already", rig=owner.name, chain=chain.name)
    if orientation == "TARGET" and chain.target is None:
        raise TargetError("its rotation can't follow a target: none is set", rig=owner.name, chain=chain.name)
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
        tip = resolve_bones(owner, chain)[-1].name
        beyond = end_beyond(owner, tip) if orientation != "FREE" and chain.effector == "TAIL" else ""
        held = read_held(owner.evaluated_get(depsgraph), beyond or tip, "HEAD" if beyond else chain.effector)
        offset = None
        if orientation == "TARGET" and chain.target is not None:
            check_present("target", chain.target, depsgraph)
            offset = offset_from_target(chain, held.rotation, chain.target.evaluated_get(depsgraph))
    bring_up_to_date(owner)
    if beyond:
        go_on_to(owner, chain, beyond)
    if orientation == "KEEP":
        store(chain, "held_rotation", held.rotation)
    elif offset is not None:
        store(chain, "rotation_offset", offset)
    if chain.orientation != orientation:
        chain.orientation = orientation
    return _told(owner, chain, tip, beyond)


def _told(owner: bpy.types.Object, chain: FabrikChain, tip: str, beyond: str) -> list[str]:
    if beyond:
        return [
            Text(
                "the chain goes on to '{beyond}', which keeps its rotation while '{tip}' stays free",
                beyond=beyond,
                tip=tip,
            )
        ]
    if chain.orientation != "FREE" and chain.effector == "TAIL" and not keeps_rotation(owner, tip):
        return [Text("no bone goes on where '{tip}' ends, so it is '{tip}' itself whose rotation is held", tip=tip)]
    return []


def _kept(item: Item) -> list[str]:
    """Keep the pose where the chain has something to reach; what moves all the same."""
    _, chain = item
    if chain.target is None and not chain.pin:
        return []
    kept = keep_and_tell([item])[0]
    return [*([Text("start pose captured")] if kept.start else []), *([kept.moves] if kept.moves else [])]
