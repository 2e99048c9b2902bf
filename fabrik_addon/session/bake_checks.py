# SPDX-License-Identifier: GPL-3.0-or-later
"""What can't be baked, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy

from ..errors import ChainError, FabrikError, RigError
from ..rig.chain_bones import resolve_bones
from ..rig.channels import channel_of, read_locks
from ..rig.compat import curves_of_action, fcurves_of
from ..rig.dependencies import carriers_of
from ..rig.properties import FabrikChain, rig_of

FIXED = ("fabrik_", "scale", "ik_", "use_ik_", "lock_", "rotation_mode")  # what has to be the same in all frames


def check_bake(context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain], into: str) -> None:
    """Refuse what would be baked wrong.

    Raises:
        RigError: The action can't be written, or would not play as it is written.
        ChainError: A setting of a chain is animated, or its goals hang on a chain that is not baked.
    """
    scene = context.scene
    if scene is not None and scene.render.frame_map_old != scene.render.frame_map_new:
        raise RigError("the scene's time is remapped, so keys would not play at their frames", rig=owner.name)
    _check_action(owner, chains, into)
    for chain in chains:
        bones = resolve_bones(owner, chain)
        for path in _animated_paths(owner):
            reason = _fixed(path, bones)
            if reason:
                raise ChainError(f"'{path}' is animated: {reason}", chain=chain.name)
        _check_goals(context, owner, chain, chains)


def _check_action(owner: bpy.types.Object, chains: Sequence[FabrikChain], into: str) -> None:
    data = owner.animation_data
    if data is None:
        return
    if into == "ACTION" and data.action is not None and not data.action.is_editable:
        raise RigError(f"its action '{data.action.name}' is linked: bake into a new one", rig=owner.name)
    if data.use_tweak_mode:
        raise RigError("an NLA strip is being tweaked: leave tweak mode first", rig=owner.name)
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        raise RigError("its action is mixed with NLA strips, so keys would not play as they are", rig=owner.name)
    names = [bone for chain in chains for bone in resolve_bones(owner, chain)]
    own = {f"{bone.path_from_id()}.{channel_of(bone.rotation_mode)[0]}" for bone in names}
    for curve in fcurves_of(owner):
        if curve.data_path not in own:
            continue
        if into == "NLA":
            raise RigError(f"its action keys '{curve.data_path}', which would play over the track", rig=owner.name)
        if curve.mute or len(curve.modifiers):
            raise RigError(f"the curve of '{curve.data_path}' is muted or modified", rig=owner.name)


def _animated_paths(owner: bpy.types.Object) -> Iterator[str]:
    data = owner.animation_data
    if data is None:
        return
    yield from (curve.data_path for curve in (*fcurves_of(owner), *data.drivers))
    strips = (strip for track in data.nla_tracks if not track.mute for strip in track.strips)
    for strip in strips:
        yield from (curve.data_path for curve in curves_of_action(strip.action)) if strip.action else ()


def _fixed(path: str, bones: Sequence[bpy.types.PoseBone]) -> str:
    """Why a path must not be animated, or ""."""
    if path.startswith("fabrik_chains["):
        return "only targets and poles may be"
    for i, bone in enumerate(bones):
        own = f"{bone.path_from_id()}."
        if not path.startswith(own):
            continue
        name = path[len(own) :]
        if name.startswith(FIXED) or (name == "location" and i):
            return "only targets and poles may be"
        if name.startswith("rotation") and any(read_locks(bone)):
            return "its rotation is locked, so it counts as a limit"
    return ""


def _check_goals(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, baked: Sequence[FabrikChain]
) -> None:
    """Refuse goals that other chains carry which are not baked with this one, since they do not move meanwhile."""
    carriers: set[tuple[str, str]] = set()
    for goal, bone in ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone)):
        if goal is not None:
            carriers |= carriers_of(goal, bone)
    names = {found.name for found in baked}
    for other in context.scene.objects if context.scene else ():
        if other.type != "ARMATURE":
            continue
        for found in rig_of(other).chains:
            if not found.enabled or (other == owner and found.name in names):
                continue
            try:
                bones = {(other.name_full, bone.name) for bone in resolve_bones(other, found)}
            except FabrikError:
                continue
            if bones & carriers:
                place = f"'{found.name}' of '{other.name}'"
                raise ChainError(f"its goal hangs on the chain {place}: bake that first, or with it", chain=chain.name)
