# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins: chains whose effector stays where it is before all other goals; set and taken away so that nothing moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import bpy

from ..errors import BoneError, ChainError, FabrikError, TargetError
from ..messages import Message
from ..rig.animation.compat import is_selected
from ..rig.animation.keys import (
    insert_goal_keys,
    insert_pin_keys,
    is_pin_keyed,
    key_before_pin,
    keys_by_itself,
    keys_only_what_is_keyed,
)
from ..rig.bones import bones_to, pose_bones, resolve_bones
from ..rig.checks import check_rig
from ..rig.control_bones import is_control
from ..rig.goals import GoalRef, TipPose, goal_of, offset_from_target, read_held, store, store_held, was_held
from ..rig.schema import FabrikChain, owner_of, rig_of
from ..rig.schema.chain import MISSED
from ..rig.spaces import carriers_above, scene_anchor
from ..rig.versions import bring_up_to_date
from ..texts import Text, joined, quoted, worded
from .chain_edit import end_beyond, go_on_to, keeps_rotation
from .chains import add_chain, limb_length, read_defaults, remove_chain
from .frames import scene_of
from .keep_pose import told_moves, unposed
from .live.user_edits import own_work
from .spaces import Anchored, bring_to, is_switched_by_keys, is_taken_off, space_before_pin, switch_spaces


class PinRequest(NamedTuple):
    """What is to be pinned or freed: a chain by its name, or "" for one that is to be made and to end with the bone."""

    chain: str
    bone: str


@dataclass(slots=True)
class Pinning:
    """What `hold` and `free` did.

    Attributes:
        pinned: Names of the chains that were pinned.
        made: Those of them that were made for it.
        freed: Names of the chains that were freed.
        removed: Those of them that had nothing but their pin, and are no more.
        notes: What to look out for, as sentences.
    """

    pinned: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def wanted_of_chains(owner: bpy.types.Object, chains: Iterable[FabrikChain]) -> list[PinRequest]:
    """Chains as they are.

    Raises:
        FabrikError: One has no bones.
    """
    return [PinRequest(chain.name, resolve_bones(owner, chain)[-1].name) for chain in chains]


def wanted_of_selected(owner: bpy.types.Object) -> list[PinRequest]:
    """What the bones selected in Pose mode mean.

    Raises:
        FabrikError: No bone is selected, or one of them can't be pinned.
    """
    selected = {bone.name for bone in pose_bones(owner) if is_selected(bone)}
    if not selected:
        raise ChainError("no bone is selected: select a hand, a foot, any bone that is to stay", rig=owner.name)
    return wanted_of_bones(owner, selected)


def wanted_of_bones(owner: bpy.types.Object, bones: Iterable[str]) -> list[PinRequest]:
    """What is pinned for bones of an armature: of those that follow each other the last one.

    A bone with which a chain ends means that chain, and so does the control that is its target. The bone that goes on
    where a chain ends, a foot at an ankle, means it, too: the chain then goes on to it. For any other bone a chain is
    made, of the limb that it ends.

    Raises:
        ChainError: The armature has no such bone.
        BoneError: One of them was made as a pole, or as a target that no chain has any more.
    """
    targets = {chain.target_bone: chain for chain in rig_of(owner).chains if chain.target == owner}
    names = {resolve_bones(owner, targets[name])[-1].name if name in targets else name for name in bones}
    for name in names:
        if is_control(bones_to(owner, name, 1)[0]):
            reason = Text("it was made as a pole or a target, and no chain ends there: pin the bone that follows it")
            raise BoneError(reason, rig=owner.name, bone=name)
    above = {bone.name for name in names for bone in pose_bones(owner)[name].parent_recursive}
    last = [bone.name for bone in pose_bones(owner) if bone.name in names - above]
    return list(dict.fromkeys(_wanted(owner, name) for name in last))


def _wanted(owner: bpy.types.Object, bone: str) -> PinRequest:
    chains = rig_of(owner).chains
    own = next((chain.name for chain in chains if chain.tip_bone == bone), "")
    if own:
        return PinRequest(own, bone)
    parent = pose_bones(owner)[bone].parent
    name = parent.name if parent is not None else ""
    ended = next((chain.name for chain in chains if chain.tip_bone == name and not chain.at_head), "")
    return PinRequest(ended if ended and end_beyond(owner, name) == bone else "", bone)


def hold(
    context: bpy.types.Context, owner: bpy.types.Object, wanted: Sequence[PinRequest], *, in_scene: bool = False
) -> Pinning:
    """Pin chains where they stand: at their targets, or without one at their place and rotation in the world.

    All is read and checked before anything is written. Pins are keyed where automatic keying is on.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        wanted: Of it.
        in_scene: Whether targets that the armature carries stand in the scene from now on, until the pin is freed.

    Raises:
        FabrikError: One can't be pinned; nothing was changed.
    """
    held = _checked(owner, wanted)
    bring_up_to_date(owner)
    told = Pinning()
    for one, place in zip(wanted, held, strict=True):
        if in_scene:
            told.notes += _hang_in_scene(context, owner, one.chain, place)
        chain = _chain_for(context, owner, one, told)
        if not chain.enabled:
            chain.enabled = True  # which lets Blender evaluate the keys
        key_before_pin(context, owner, chain)
        store_held(chain, place)
        chain.pin = True
        insert_pin_keys(context, owner, chain)
        told.pinned.append(chain.name)
    told.notes += _key_notes(context, owner, told.pinned)
    return told


def _checked(owner: bpy.types.Object, wanted: Sequence[PinRequest]) -> list[TipPose]:
    """How all of them stand; refused where one can't be pinned, or has a bone that is pinned already."""
    with unposed() as depsgraph:
        posed = check_rig(owner, depsgraph).evaluated_get(depsgraph)
        at_tails = {(chain.name, chain.tip_bone) for chain in rig_of(owner).chains if not chain.at_head}
        held = [read_held(posed, one.bone, one not in at_tails) for one in wanted]
    for one in wanted:
        taken = pinned_by(owner, one)
        if taken:
            text = Text("the chain '{taken}' pins it already", taken=taken)
            raise BoneError(text, rig=owner.name, chain=one.chain, bone=one.bone)
    return held


def pinned_by(owner: bpy.types.Object, one: PinRequest) -> str:
    """Name of another chain that pins the same bone already; "" where none does."""
    others = (chain for chain in rig_of(owner).chains if chain.pin and chain.enabled and chain.name != one.chain)
    return next((chain.name for chain in others if chain.tip_bone == one.bone), "")


def _chain_for(context: bpy.types.Context, owner: bpy.types.Object, one: PinRequest, told: Pinning) -> FabrikChain:
    """The chain that is to be pinned: that which is there, gone on to its end where that was asked, or a new one."""
    if one.chain:
        chain = rig_of(owner).chains[one.chain]
        if chain.tip_bone != one.bone:
            told.notes.append(Text("{chain} goes on to '{bone}'", chain=chain.name, bone=one.bone))
            go_on_to(owner, chain, one.bone)
            chain.orientation = "KEEP"
        if chain.aims and chain.target is None:  # a head that was to look at something, and is held instead
            chain.kind = "REACH"
        return chain
    count = limb_length(owner, one.bone)
    chain = add_chain(owner, bones_to(owner, one.bone, count), count, read_defaults(context))
    chain.effector = "HEAD"
    chain.orientation = "KEEP" if keeps_rotation(owner, one.bone) else "FREE"
    told.made.append(chain.name)
    return chain


def _hang_in_scene(context: bpy.types.Context, owner: bpy.types.Object, name: str, place: TipPose) -> list[str]:
    """Let the target of a chain stand in the scene, if the armature carries it; why that can't be, as sentences.

    Where the limb does not reach it, it comes to the tip: what is pinned stays, and the body does not go after it.
    """
    goal = _target_of(owner, name)
    if goal is None or not any(found == owner for found, _ in carriers_above(goal.found, goal.bone)):
        return []
    is_missed = rig_of(owner).chains[name].status in MISSED
    notes = _hang(context, goal, (scene_anchor(), ""), pins=True)
    if not (is_missed and is_taken_off(goal)):
        return notes
    bring_to(goal, place.location)
    insert_goal_keys(context, goal)
    return []


def _hang_back(context: bpy.types.Context, owner: bpy.types.Object, name: str) -> list[str]:
    """Let what carried the target of a chain carry it again, if pinning took it off; why it can't be, as sentences."""
    goal = _target_of(owner, name)
    if goal is None or not is_taken_off(goal):
        return []
    return _hang(context, goal, space_before_pin(goal, scene_of(context).frame_current_final))


def _target_of(owner: bpy.types.Object, name: str) -> GoalRef | None:
    """The target of the chain of a name, that has one and does not only look at it."""
    chain = rig_of(owner).chains[name] if name else None
    return goal_of(chain, "target") if chain is not None and not chain.aims else None


def _hang(context: bpy.types.Context, goal: GoalRef, to: Anchored | None, *, pins: bool = False) -> list[str]:
    keyed = keys_by_itself(context) and not keys_only_what_is_keyed(context)
    if not keyed and is_switched_by_keys(goal):
        return [Text("its target has keys and is carried as before: automatic keying holds it in the scene")]
    try:
        return switch_spaces(context, [(goal, to)], keyed=keyed, pins=pins)[1]
    except TargetError as error:
        return [Text("its target is carried as before: {reason}", reason=worded(error.text))]


def _key_notes(context: bpy.types.Context, owner: bpy.types.Object, names: Sequence[str]) -> list[str]:
    """That automatic keying did not key pins; and that keys of pins will take them back, where it is off."""
    keyed = [name for name in names if is_pin_keyed(owner, rig_of(owner).chains[name])]
    if not keys_by_itself(context):
        return [joined(": ", (name, Message("PIN_KEYED"))) for name in keyed]
    text = Text("{chains} not keyed: automatic keying has Only Insert Available on, and the pin has no key yet")
    without = [name for name in names if name not in keyed] if keys_only_what_is_keyed(context) else []
    return [Text(text, chains=quoted(without))] if without else []


def free(
    context: bpy.types.Context, owner: bpy.types.Object, wanted: Sequence[PinRequest], *, stays: bool = False
) -> Pinning:
    """Take pins away.

    Args:
        context: For automatic keying.
        owner: The armature object.
        wanted: Of it; what is not pinned is passed over.
        stays: Whether a chain stays that has nothing but its pin, neither goal nor key of it; else it goes with it, as
            it came with it where a bone was pinned.
    """
    told = Pinning()
    for name in [one.chain for one in wanted if one.chain and rig_of(owner).chains[one.chain].pin]:
        told.notes += _hang_back(context, owner, name)
        chain = rig_of(owner).chains[name]
        key_before_pin(context, owner, chain)
        chain.pin = False
        insert_pin_keys(context, owner, chain)
        told.freed.append(name)
        told.notes += _key_notes(context, owner, [name])
        has_goal = chain.target is not None or chain.target_name or chain.pole is not None
        if stays or has_goal or is_pin_keyed(owner, chain):
            continue
        if remove_chain(owner, rig_of(owner).chains.find(name)):
            told.removed.append(name)
    left = [rig_of(owner).chains[name] for name in told.freed if name not in told.removed]
    told.notes += told_moves([(owner, chain) for chain in left if chain.target is not None], inf)
    return told


def toggle_rigs(
    context: bpy.types.Context,
    wanted: Sequence[tuple[bpy.types.Object, Sequence[PinRequest]]],
    action: str,
    *,
    stays: bool,
) -> list[Pinning]:
    """Pin or free what is wanted of several armatures, all of it or nothing.

    Args:
        context: Its view layer has the armatures.
        wanted: Armature objects, each with what is wanted of it.
        action: "PIN", "FREE", or "TOGGLE" to pin what is not pinned, or to free all where all is.
        stays: See `free`.

    Raises:
        FabrikError: One can't be pinned; nothing was changed.
    """
    every = [(owner, rig_of(owner).chains, some) for owner, some in wanted]
    left = [(owner, [one for one in some if not one.chain or not own[one.chain].pin]) for owner, own, some in every]
    if action == "FREE" or (action == "TOGGLE" and not any(some for _, some in left)):
        return [free(context, owner, some, stays=stays) for owner, some in wanted]
    wanted = left if action == "TOGGLE" else wanted
    for owner, some in wanted:
        _checked(owner, some)
    done = [(owner, hold(context, owner, some, in_scene=True)) for owner, some in wanted if some]
    for owner, told in done:
        told.notes += told_moves([(owner, rig_of(owner).chains[name]) for name in told.pinned], inf)
    return [told for _, told in done]


def pin_bone(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> str:
    """Pin a bone where it stands between two drags, or free it; what was done, as a sentence.

    Raises:
        FabrikError: It can't be pinned; nothing was changed.
    """
    with own_work():
        told = toggle_rigs(context, [(owner, wanted_of_bones(owner, [bone]))], "TOGGLE", stays=False)[0]
    done = Text("pinned {bone}", bone=bone) if told.pinned else Text("freed {bone}", bone=bone)
    return joined("; ", [done, *told.notes])


def hold_first(chain: FabrikChain, is_elsewhere: bool) -> None:
    """Hold a chain where it stands, as far as nothing was ever stored to hold it: a script set it to be held.

    Read from how the view was drawn last, since this is called from within Blender's setting of a property.

    It is stored anew where its target was taken away (`is_elsewhere`), which had held it till then.
    """
    owner = owner_of(chain)
    try:
        held = read_held(owner, resolve_bones(owner, chain)[-1].name, chain.at_head)
        if chain.pin and (is_elsewhere or not was_held(chain, "held_location")):
            store(chain, "held_location", held.location)
        if (chain.pin or chain.orientation == "KEEP") and not was_held(chain, "held_rotation"):
            store(chain, "held_rotation", held.rotation)
        if chain.orientation == "TARGET" and chain.target is not None and not was_held(chain, "rotation_offset"):
            store(chain, "rotation_offset", offset_from_target(chain, held.rotation, chain.target))
    except FabrikError:  # a solve will tell why
        return
