# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a drag: keys where these are automatic, and chains anchored, so that the next solve moves nothing."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from mathutils import Vector

from ...errors import FabrikError
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.goals import goal_of
from ...rig.keys import KeyedChannels, insert_auto_keys, insert_plain_keys
from ...rig.preparing import frame_of
from ...rig.properties import FabrikChain, rig_of
from ..anchoring import resume_live
from ..letting_go import LetGo, Loosed, key_goal, let_go
from ..live.known import state as live_state
from ..softening import hard_place
from ..standing import tip_of
from .drag import Drag, found, waits


def finish(context: bpy.types.Context, drag: Drag) -> LetGo:
    """End the drag with the pose as it stands, so that the next solve leaves it there; keyed where that is automatic.

    Raises:
        ChainError: The chain is gone.
    """
    live_state.held = False
    try:
        return _finished(context, drag)
    finally:
        if waits(drag):
            resume_live()


def _finished(context: bpy.types.Context, drag: Drag) -> LetGo:
    owner, chain = found(drag)
    assert context.view_layer is not None
    context.view_layer.update()
    is_keyed, lost = _key(context, drag, owner)
    target = goal_of(chain, "target") if drag.scope.follows else None
    if target is not None:
        return LetGo([], key_goal(context, target))  # live posing brings the pose back in every frame
    chains = _moved(drag, owner)
    for one in chains:
        if one.status != "NONE":
            one.status = "NONE"  # what was solved last is not what stands
    depsgraph = context.evaluated_depsgraph_get()
    loosed = [Loosed(one, _goal_of(owner, one, depsgraph), one.name in drag.scope.holding) for one in chains]
    ended = let_go(context, owner, loosed, is_keyed)
    return LetGo(ended.done, [*lost, *ended.warnings])


def _goal_of(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Where the goal of a chain belongs, so that its tip stays where it is."""
    return hard_place(owner, chain, tip_of(owner, chain, depsgraph), depsgraph)


def _key(context: bpy.types.Context, drag: Drag, owner: bpy.types.Object) -> tuple[bool, list[str]]:
    """Key the bones that took part; whether that was done, and what is lost with the next frame otherwise."""
    bones = [pose_bones(owner)[name] for name in drag.prepared.bones]
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    named = [bone.name for bone in bones if keyed.has(bone)]
    is_keyed = insert_auto_keys(context, bones, keyed) > 0
    plain = [(pose_bones(owner)[name], channel) for name, channel in drag.prepared.plain_channels]
    plain += [(bones[0], "location")] if drag.pulled else []
    named += [bone.name for bone, channel in plain if keyed.has(bone, channel)]
    insert_plain_keys(context, plain, keyed)
    if not named or is_keyed:
        return is_keyed, []
    return False, [f"'{named[0]}' is keyed: key the pose, or the next frame change loses it"]


def _moved(drag: Drag, owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains that the drag moved: those that have bones that took part, and all that hang on a body that did."""
    own = set(drag.prepared.bones)
    return [one for one in rig_of(owner).chains if _is_moved(owner, one, own, drag)]


def _is_moved(owner: bpy.types.Object, chain: FabrikChain, own: set[str], drag: Drag) -> bool:
    try:
        bones = resolve_bones(owner, chain)
    except FabrikError:  # a solve will tell why
        return False
    if drag.scope.taken.chain == chain.name:
        return True
    if not chain.enabled:
        return False
    above: Sequence[bpy.types.PoseBone] = bones[0].parent_recursive if drag.scope.body else ()
    return any(bone.name in own for bone in (*bones, *above))
