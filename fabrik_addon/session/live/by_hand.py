# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done by hand to the bones of live chains: heard, and made their start pose, or put back with a reason.

By hand is done what neither live posing nor an operator of the add-on wrote, and no key plays: a bone turned with the
mouse, a pose pasted or taken from a library, a rotation cleared, what another add-on writes. Of chains that stand in
all frames as they do in this one that is the new start pose, and the chains are solved from there: so the limb takes
the shape, and the tip stays at its target. Where other frames would move by it, nothing is changed, and the panel says
why. Chains that are solved together have one start pose, with the place of their body bone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from ...errors import ChainError, FabrikError
from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, read_values, to_values
from ...rig.checks import rig_refusal
from ...rig.figures import ChainSet, body_moves, figure_bones, sets_of
from ...rig.keys import KeyedChannels
from ...rig.preparing import frame_of
from ...rig.schema import FabrikChain, rig_of
from ...rig.start_pose import StoredPose, store_pose
from .hearing import Ear, answer
from .known import MISSING, Hand, LiveRig, Starts, Values, state
from .looking import live_armatures
from .tools import tool_of
from .values import values_of


@contextmanager
def own_work() -> Iterator[None]:
    """Everything written inside this block is ours: it is not taken for a pose made by hand."""
    state.own += 1
    try:
        yield
    finally:
        state.own -= 1
        take_as_ours()


def take_as_ours() -> None:
    """Take the present channel values of all live chains as ours, so that `Ear` does not report them."""
    state.restored.clear()
    state.was_held = False
    for rig in state.rigs:
        try:
            bones = pose_bones(rig.owner)
            for known in rig.figures.values():
                mover = known.prepared.bones[0] if known.prepared.root is not None else ""
                known.accepted = {name: values_of(bones[name], name == mover) for name in known.prepared.bones}
        except MISSING:
            continue


def answer_hands(context: bpy.types.Context, depsgraph: bpy.types.Depsgraph, rigs: Iterable[LiveRig]) -> Starts:
    """Find bones of live armatures that were posed by hand, and answer; no pose is written yet.

    Args:
        context: For the tool that is at work, and whether automatic keying is on.
        depsgraph: Evaluated.
        rigs: The armatures.

    Returns:
        Of chains whose start pose is what is keyed, that from which to solve until automatic keying keeps it.
    """
    tool = tool_of(context)
    found: Starts = {}
    for rig in rigs:
        if rig_refusal(rig.owner) or not rig.owner.is_editable:
            continue
        keyed = KeyedChannels(rig.owner, frame_of(depsgraph))
        chains = rig_of(rig.owner).chains
        for names, facts in rig.facts.items():
            own = tuple(chain for chain in map(chains.get, names) if chain is not None and chain.enabled)
            if len(own) < len(names):
                continue
            starts = Ear(context, rig, ChainSet(rig.owner, own, facts.body), keyed, tool).listen()
            if starts is not None:
                found[rig.owner.name_full, *names] = starts
    if not tool:
        for hand in state.hands.values():
            hand.tool = 0
    return found


def remember_restored(scene: bpy.types.Scene) -> None:
    """After undo or redo, find the `Replay` of the state that came back, and apply its answer again.

    Blender keeps a state for undo before live posing hears of what was done.
    """
    for owner in live_armatures(scene):
        for chain_set in sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled]):
            try:
                values = _values_of(chain_set)
            except FabrikError:
                continue
            key = owner.name_full, *chain_set.names
            state.restored[key] = values
            start = StoredPose.of(chain_set)
            for replay in reversed(state.replays):
                if replay.key == key and replay.start == start and replay.values == values:
                    state.hands[key] = replay.hand
                    answer(chain_set, replay.hand)
                    break


def _values_of(chain_set: ChainSet) -> Values:
    """What stands in the channels of the bones of chains.

    Raises:
        FabrikError: They lack bones.
    """
    mover = chain_set.body if body_moves(chain_set) else ""
    return {bone.name: values_of(bone, bone.name == mover) for bone in figure_bones(chain_set)}


def hands_of(owner: bpy.types.Object) -> list[tuple[str, Hand]]:
    """What was done by hand to live chains of an armature, each with the name of the chain at which to say so."""
    return [(hand.chains[0], hand) for key, hand in state.hands.items() if key[0] == owner.name_full]


def keep_hand(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> str:
    """Store the pose made by hand that live posing had put back: the start pose is "ANIMATED" then, or "CAPTURED".

    The chains that are solved with it get theirs, too. Where bones are keyed they start from their keys from then on,
    and get keys at the frame at hand.

    Raises:
        FabrikError: Nothing was done by hand, or the chain lacks bones.
    """
    key = next((key for key in state.hands if key[0] == owner.name_full and chain.name in key[1:]), None)
    if key is None:
        raise ChainError("none of its bones was turned by hand since", rig=owner.name, chain=chain.name)
    hand, chains = state.hands[key], rig_of(owner).chains
    sets = sets_of(owner, [found for found in map(chains.get, key[1:]) if found is not None])
    bones = figure_bones(sets[0])
    if sets[0].names != key[1:] or [bone.name for bone in bones] != list(hand.wanted):
        raise ChainError("it has other bones now", rig=owner.name, chain=chain.name)
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    is_keyed = any(one.start == "ANIMATED" for one in sets[0].chains) or any(keyed.has(bone) for bone in bones)
    store_pose(sets[0], hand.wanted, hand.location, "ANIMATED" if is_keyed else "CAPTURED")
    for bone in bones if is_keyed else ():
        _key(bone, hand, keyed)
    if is_keyed and hand.location is not None:
        bones[0].location = hand.location
        bones[0].keyframe_insert("location", group=bones[0].name)
    state.hands.pop(key)
    return chain.start


def _key(bone: bpy.types.PoseBone, hand: Hand, keyed: KeyedChannels) -> None:
    """Key the rotation of a bone as it was wanted."""
    path = channel_of(bone.rotation_mode)[0]
    near = keyed.previous(bone, read_values(bone))
    setattr(bone, path, to_values(bone.rotation_mode, hand.wanted[bone.name], near))
    bone.keyframe_insert(path, group=bone.name)


def overwriting_keys(owner: bpy.types.Object) -> list[str]:
    """Names of live chains whose bones have keys that these do not start from: live posing overwrites the keys."""
    chains = rig_of(owner).chains
    return [
        name
        for rig in state.rigs
        if rig.owner == owner
        for facts in rig.facts.values()
        for name in facts.keyed
        if name in chains and chains[name].start != "ANIMATED"
    ]
