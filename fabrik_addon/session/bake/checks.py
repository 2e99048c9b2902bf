# SPDX-License-Identifier: GPL-3.0-or-later
"""What can't be baked, found before anything is written."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...errors import BoneError, ChainError, RigError, place_of
from ...rig.animation import Animated
from ...rig.channels import plain_path, rotation_path
from ...rig.checks import check_drivers, check_rig
from ...rig.compat import curves_of_action, fcurves_of, groups_of, shares_curves
from ...rig.figures import ChainSet, figure_bones, sets_of
from ...rig.schema import FabrikChain, rig_of
from ...rig.stretching import written_besides
from ...texts import Text
from ..order import bones_above, bones_of

FIXED = {"tip_bone", "bone_count", "target_bone", "pole_bone", "enabled", "start"}  # of a chain


def check_bake(context: bpy.types.Context, sets: Sequence[ChainSet], into: str) -> None:
    """Refuse what would be baked wrong.

    Args:
        context: Of the scene.
        sets: All chains that are baked.
        into: See `BakeSettings`.

    Raises:
        RigError: An action can't be written, or would not play as it is written.
        ChainError: What a chain is made of is animated, or its goals hang on a chain that is not baked.
    """
    scene = context.scene
    owners = {one.owner.name_full: one.owner for one in sets}
    if scene is not None and scene.render.frame_map_old != scene.render.frame_map_new:
        raise RigError("the scene's time is remapped, so keys would not play at their frames")
    for owner in owners.values():
        check_rig(owner, context.evaluated_depsgraph_get())
        if _is_put_to_rest(owner):
            raise RigError("its pose position is animated", rig=owner.name)
        check_action(owner, [one for one in sets if one.owner == owner], into)
    animated = {name: Animated(owner) for name, owner in owners.items()}
    for one in sets:
        _check_bones(one, animated[one.owner.name_full])
        for chain in one.chains:
            _check_made(one.owner, chain, animated[one.owner.name_full])
            check_drivers(one.owner, chain)
    _check_carriers(context, sets)


def check_action(owner: bpy.types.Object, sets: Sequence[ChainSet], into: str) -> None:
    """Refuse an armature whose action can't be keyed, or would not play as it is keyed.

    Args:
        owner: The armature object.
        sets: The chains of it that are keyed.
        into: See `BakeSettings`.

    Raises:
        RigError: It is so.
    """
    data = owner.animation_data
    if data is None:
        return
    reason = _nla_refusal(data, into) or _action_refusal(owner, data, into)
    if reason:
        raise RigError(reason, rig=owner.name)
    with place_of(rig=owner.name):
        bones = {bone.name: bone for one in sets for bone in figure_bones(one)}
        plain = [found for one in sets for found in written_besides(one)]
    own = {*map(rotation_path, bones.values()), *(plain_path(bone, name) for bone, name in plain)}
    for curve in fcurves_of(owner):
        if curve.data_path in own:
            reason = (
                Text("its action keys '{path}', which would play over the track", path=curve.data_path)
                if into == "NLA"
                else ""
            )
            reason = reason or _curve_refusal(curve)
            if reason:
                raise RigError(reason, rig=owner.name)
    muted = [group.name for group in groups_of(owner) if group.mute and group.name in bones]
    if muted and into != "NLA":
        raise RigError(Text("the channels of '{path}' are muted", path=muted[0]), rig=owner.name)


def _curve_refusal(curve: bpy.types.FCurve) -> str:
    """Why a curve can't be keyed so that the keys play; "" where it can."""
    if curve.mute or len(curve.modifiers):
        return Text("the curve of '{path}' is muted or modified", path=curve.data_path)
    if curve.lock:
        return Text("the curve of '{path}' is locked", path=curve.data_path)
    if len(curve.sampled_points):
        return Text("the curve of '{path}' holds samples and not keys", path=curve.data_path)
    return ""


def _nla_refusal(data: bpy.types.AnimData, into: str) -> str:
    """Why the state of an armature's NLA keeps keys from playing as they are; or ""."""
    if any(track.is_solo for track in data.nla_tracks):
        return Text("one of its NLA tracks plays solo, so keys would not play")
    if data.use_tweak_mode:
        return Text("an NLA strip is being tweaked: leave tweak mode first")
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        return Text("its action is mixed with NLA strips, so keys would not play as they are")
    if into == "NLA" and not data.use_nla:
        return Text("its NLA tracks are switched off, so that a new one would not play")
    return ""


def _action_refusal(owner: bpy.types.Object, data: bpy.types.AnimData, into: str) -> str:
    """Why nothing can be written into an armature's action; or ""."""
    if into != "ACTION" or data.action is None:
        return ""
    if not data.action.is_editable:
        return Text("its action '{action}' is linked: bake into a new one", action=data.action.name)
    other = shares_curves(owner)
    return (
        Text(
            "its action '{action}' also moves '{other}': bake into a new one", action=data.action.name, other=other.name
        )
        if other
        else ""
    )


def _is_put_to_rest(owner: bpy.types.Object) -> bool:
    """Whether keys or a driver switch the armature between rest and pose position."""
    data = getattr(owner.data, "animation_data", None)
    if data is None:
        return False
    curves = [*data.drivers, *(curves_of_action(data.action) if data.action else ())]
    return any(curve.data_path == "pose_position" for curve in curves)


def _check_made(owner: bpy.types.Object, chain: FabrikChain, animated: Animated) -> None:
    for name in sorted(animated.of_chain(chain) & FIXED):
        raise ChainError(
            Text("its '{name}' is animated, so it is not one chain", name=name), rig=owner.name, chain=chain.name
        )


def _check_bones(one: ChainSet, animated: Animated) -> None:
    with place_of(rig=one.owner.name):
        bones = figure_bones(one)
    for bone in bones:
        if "rotation_mode" in animated.of_bone(bone):
            reason = Text("its rotation mode is animated")
            raise BoneError(reason, rig=one.owner.name, chain=one.names[0], bone=bone.name)


def _check_carriers(context: bpy.types.Context, sets: Sequence[ChainSet]) -> None:
    """Refuse chains that other enabled ones carry which are not baked with them, since these do not move meanwhile."""
    names = {(one.owner.name_full, name) for one in sets for name in one.names}
    carried: dict[tuple[str, str], str] = {}
    for owner in context.scene.objects if context.scene else ():
        if owner.type != "ARMATURE":
            continue
        chains = [chain for chain in rig_of(owner).chains if chain.enabled]
        for other in sets_of(owner, [chain for chain in chains if (owner.name_full, chain.name) not in names]):
            carried |= dict.fromkeys(
                bones_of(other), Text("'{name}' of '{armature}'", name=other.names[0], armature=owner.name)
            )
    for one in sets if carried else ():
        found = bones_above(one, bones_of(one)) & carried.keys()
        if found:
            text = Text(
                "its root or its goal hangs on the chain {chain}: bake that first, or with it",
                chain=carried[min(found)],
            )
            raise ChainError(text, rig=one.owner.name, chain=one.names[0])
