# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs switched between goals (IK) and keys of their bones (FK) at a frame; the pose stays, there and before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import bpy

from ...errors import ChainError
from ...maths import conjugated, distance, multiplied, turn_angle, v3
from ...rig.animation.channels import plain_path, read_values, rotation_path, to_values
from ...rig.animation.compat import evaluated_now, fcurves_of
from ...rig.animation.keys import key_from
from ...rig.bones import pose_bones, resolve_bones
from ...rig.figure.groups import lacks_goal
from ...rig.figure.start_pose import start_from_keys
from ...rig.goals import is_offset
from ...rig.schema import FabrikChain
from ...rig.walk_goals import is_walked
from ...texts import Text, joined
from ..figure_pose import SAME, FigurePose
from ..frames import go_to_whole, scene_of
from ..keep_pose import keep_and_tell, unposed
from ..snap import check_snap, relocations
from ..solve import Item, together
from .marks import check_own_keys

Change = Callable[[], None]  # what keys a property as it is to be from the frame on


def switch_refusal(chain: FabrikChain) -> str:
    """Why a limb has no two ways of being posed, or ""."""
    if is_offset(chain):
        return Text("its target edits a motion, which is in the keys of its bones: Apply Edits makes it part of these")
    if is_walked(chain):
        return Text("a planned walk moves it")
    return Text("it has no target and no pin") if lacks_goal(chain) else ""


def to_fk(context: bpy.types.Context, items: Sequence[Item]) -> list[Text]:
    """From the frame at hand on let keys of their bones pose limbs, and no goals; the pose stays as it stands.

    The bones are keyed as they stand, those of the body that a limb has pulled along included, and in the frame before
    as they started there; the influence of the goals is keyed with 1 up to then, and with 0 from now on.

    Returns:
        What there is to look out for.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    frame = go_to_whole(scene_of(context))
    _check(items)
    notes, changes = list[Text](), list[Change]()
    with unposed() as depsgraph:
        for chain_set in together(items):
            own = [chain for chain in chain_set.chains if (chain_set.owner, chain) in items]
            changes += _bones_from(FigurePose.read(chain_set, depsgraph), own, frame)
            notes += [one for chain in own if (one := _dormant(chain_set.owner, chain)) is not None]
        for change in changes:
            change()
        for owner, chain in items:
            start_from_keys(owner, [chain])
            _key_influence(owner, chain, 0.0, frame)
    return notes


def to_ik(context: bpy.types.Context, items: Sequence[Item]) -> list[str]:
    """From the frame at hand on let goals pose limbs: they are brought to the pose, and keyed; see `to_fk`.

    Returns:
        What there is to look out for.

    Raises:
        FabrikError: Something can't be moved or keyed; nothing was changed.
    """
    frame = go_to_whole(scene_of(context))
    _check(items)
    before = [chain.influence for _, chain in items]
    with unposed():
        try:
            for _, chain in items:
                chain.influence = 1.0
            evaluated_now(context.evaluated_depsgraph_get())
            check_snap([(item, (float(frame),)) for item in items])
            found = relocations(context, items)
        finally:
            for (_, chain), value in zip(items, before, strict=True):
                chain.influence = value
        for owner, chain in items:
            for bone in resolve_bones(owner, chain):
                key_from(owner, (rotation_path(bone), bone.name), frame, read_values(bone))
            start_from_keys(owner, [chain])
            _key_influence(owner, chain, 1.0, frame)
        for one in found:
            one.key_from(frame)
    told = zip(items, keep_and_tell(items), strict=True)
    return [joined(": ", (chain.name, note)) for (_, chain), kept in told for note in kept.notes]


def _check(items: Iterable[Item]) -> None:
    """Refuse what can't be switched by keys."""
    for owner, chain in items:
        refusal = switch_refusal(chain)
        if refusal:
            raise ChainError(refusal, rig=owner.name, chain=chain.name)
        check_own_keys(owner)
        _check_curves(owner, chain)


def _check_curves(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Refuse a limb with curves that no key changes, or that don't play as they are."""
    paths = {rotation_path(bone) for bone in resolve_bones(owner, chain)} | {chain.path_from_id("influence")}
    for curve in fcurves_of(owner):
        if curve.data_path in paths and (curve.lock or curve.mute or len(curve.modifiers)):
            reason = Text("a curve of its bones or of its influence is locked, muted or modified")
            raise ChainError(reason, rig=owner.name, chain=chain.name)


def _key_influence(owner: bpy.types.Object, chain: FabrikChain, value: float, frame: int) -> None:
    before, chain.influence = chain.influence, value
    key_from(owner, (chain.path_from_id("influence"), chain.name), frame, [before], stays=True)


def _bones_from(pose: FigurePose, chains: Sequence[FabrikChain], frame: int) -> list[Change]:
    """What keys bones of limbs as they stand, and those between body and limbs that are off their start pose."""
    figure, owner, bones = pose.figure, pose.owner, pose_bones(pose.owner)
    names, found = {bone.name for chain in chains for bone in resolve_bones(owner, chain)}, list[Change]()
    for i, (name, start, stands) in enumerate(zip(figure.bones, figure.start.rotations, pose.rotations, strict=True)):
        is_off = turn_angle(multiplied(conjugated(start), stands)) > SAME
        if i not in figure.start.carried and (name in names or (is_off and figure.start.is_between[i])):
            before = to_values(bones[name].rotation_mode, start, read_values(bones[name]))
            found.append(_keying(owner, rotation_path(bones[name]), name, before, frame))
    body = pose.chain_set.body
    if body and body not in names and not any(one.tip_bone == body for one in pose.chain_set.chains):
        place = figure.start.location
        if distance(place, v3(bones[body].location)) > SAME * figure.length:
            found.append(_keying(owner, plain_path(bones[body], "location"), body, place, frame))
    return found


def _dormant(owner: bpy.types.Object, chain: FabrikChain) -> Text | None:
    """That keys of its bones, which a limb did not start from, are heard now."""
    paths = {rotation_path(bone) for bone in resolve_bones(owner, chain)}
    if chain.start == "ANIMATED" or not any(one.data_path in paths for one in fcurves_of(owner)):
        return None
    return Text("{chain}: its bones had keys already, from which it starts in all frames now", chain=chain.name)


def _keying(owner: bpy.types.Object, path: str, group: str, before: Sequence[float], frame: int) -> Change:
    return lambda: key_from(owner, (path, group), frame, before)
