# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a drag: keys where these are automatic, and chains anchored, so that the next solve moves nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import bpy
from mathutils import Vector

from ...rig.chain_bones import bones_if_any, pose_bones
from ...rig.evaluating import updated
from ...rig.goals import goal_of
from ...rig.keys import KeyedChannels, insert_posed_keys
from ...rig.prepared import Prepared
from ...rig.preparing import frame_of
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from ..figure_pose import goal_point, hard_place
from ..keep_pose import LetGo, Loosed, key_goal, let_go, resume_live
from ..live.known import state as live_state
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
    updated(context)
    target = goal_of(chain, "target") if drag.scope.follows else None
    if target is not None:
        _key(context, owner, drag.prepared, is_pulled=drag.pulled)
        return LetGo([], key_goal(context, target))  # live posing brings the pose back in every frame
    chains = moved_chains(owner, drag.prepared, has_body=bool(drag.scope.body), dragged=drag.scope.taken.chain)
    return leave(context, owner, (drag.prepared, chains), drag.scope.holding, is_pulled=drag.pulled)


def leave(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    posed: tuple[Prepared, Sequence[FabrikChain]],
    holding: Collection[str],
    *,
    is_pulled: bool = False,
) -> LetGo:
    """Leave bones in the pose in which they were written, so that the next solve keeps it; keyed where automatic.

    Args:
        context: Its view layer is evaluated.
        owner: The armature object.
        posed: What was posed, and the chains that it moved.
        holding: Names of those of these whose goals held meanwhile, and are not brought along.
        is_pulled: Whether the root was pulled along.
    """
    prepared, chains = posed
    depsgraph = context.evaluated_depsgraph_get()
    loosed = [Loosed(one, _goal_of(owner, one, depsgraph), one.name in holding) for one in chains]
    is_keyed, lost = _key(context, owner, prepared, is_pulled=is_pulled)
    for one in chains:
        if one.status != "NONE":
            one.status = "NONE"  # what was solved last is not what stands
    ended = let_go(context, owner, loosed, is_keyed)
    return LetGo(ended.done, [*lost, *ended.warnings])


def _goal_of(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Where the goal of a chain belongs, so that its tip stays where it is."""
    return hard_place(owner, chain, goal_point(owner, chain, depsgraph), depsgraph)


def _key(
    context: bpy.types.Context, owner: bpy.types.Object, prepared: Prepared, *, is_pulled: bool
) -> tuple[bool, list[str]]:
    """Key the bones that took part; whether that was done, and what is lost with the next frame otherwise."""
    bones = [pose_bones(owner)[name] for name in prepared.bones]
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    plain = [(pose_bones(owner)[name], channel) for name, channel in prepared.plain_channels]
    plain += [(bones[0], "location")] if is_pulled else []
    had, is_keyed = insert_posed_keys(context, bones, plain, keyed)
    if not had or is_keyed:
        return is_keyed, []
    return False, [Text("'{bone}' is keyed: key the pose, or the next frame change loses it", bone=had[0])]


def moved_chains(
    owner: bpy.types.Object, prepared: Prepared, *, has_body: bool, dragged: str = ""
) -> list[FabrikChain]:
    """The chains that were moved: those that have bones that took part, and all that hang on a body that did.

    Args:
        owner: The armature object.
        prepared: What took part.
        has_body: Whether a body moved.
        dragged: Name of the chain that was dragged, which counts in any case.
    """
    own = set(prepared.bones)
    return [
        one
        for one in rig_of(owner).chains
        if _is_moved(owner, one, own, has_body=has_body, is_dragged=one.name == dragged)
    ]


def _is_moved(owner: bpy.types.Object, chain: FabrikChain, own: set[str], *, has_body: bool, is_dragged: bool) -> bool:
    bones = bones_if_any(owner, chain)
    if not bones or is_dragged or not chain.enabled:
        return bool(bones) and is_dragged
    above: Sequence[bpy.types.PoseBone] = bones[0].parent_recursive if has_body else ()
    return any(bone.name in own for bone in (*bones, *above))
