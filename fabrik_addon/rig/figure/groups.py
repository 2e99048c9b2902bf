# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chains of an armature are solved together, as one figure, and of which bones that consists.

Chains are solved together that have a bone in common, and those below the armature's body bone. The order of the list
of chains does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import bpy

from ...errors import BoneError, FabrikError, RigError
from ...messages import Message
from ..animation.keys import is_pinned_at_times
from ..bones import names_if_any, pose_bones, resolve_bones
from ..schema import FabrikChain, rig_of
from ..walk_goals import is_walked


class ChainSet(NamedTuple):
    """Chains of an armature that are solved together.

    Attributes:
        owner: The armature object.
        chains: By their names in alphabetical order.
        body: Name of the bone that may move and turn with all of them, or "".
    """

    owner: bpy.types.Object
    chains: tuple[FabrikChain, ...]
    body: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the chains."""
        return tuple([chain.name for chain in self.chains])

    @property
    def is_one(self) -> bool:
        """Whether it is a chain that is solved by itself."""
        return len(self.chains) == 1 and not self.body


def set_of(owner: bpy.types.Object, chain: FabrikChain, *, is_given: bool = False) -> ChainSet:
    """The chains that are solved with a chain: of those that are enabled, and it.

    If its goal is given from elsewhere, it needs none of its own.
    """
    others = [one for one in rig_of(owner).chains if one.enabled and one.name != chain.name]
    given = {chain.name} if is_given else set()
    return next(found for found in sets_of(owner, [*others, chain], given) if chain.name in found.names)


def sets_of(owner: bpy.types.Object, chains: Iterable[FabrikChain], given: Collection[str] = ()) -> list[ChainSet]:
    """Group chains of an armature into those that are solved together.

    A chain that has no bones, or no goal that is its own or given from elsewhere, is a set of its own; what is wrong is
    told when it is read.
    """
    body = rig_of(owner).body_bone
    found: list[tuple[list[FabrikChain], set[str], bool]] = []
    for chain in sorted(chains, key=lambda one: one.name):
        is_idle = lacks_goal(chain) and not is_let_go(owner, chain)  # it asks for nothing, in no frame
        bones = set() if is_idle and chain.name not in given else set(names_if_any(owner, chain))
        is_below = bool(body and bones) and _is_below(owner, body, bones)
        together, own = [chain], set(bones)
        rest = []
        for others, taken, are_below in found:
            if taken & bones or (is_below and are_below):
                together, own, is_below = others + together, own | taken, is_below or are_below
            else:
                rest.append((others, taken, are_below))
        found = [*rest, (together, own, is_below)]
    sets = [
        ChainSet(owner, tuple(sorted(some, key=lambda one: one.name)), body if is_below else "")
        for some, _, is_below in found
    ]
    return sorted(sets, key=lambda one: one.names)


def lacks_goal(chain: FabrikChain) -> bool:
    """Whether a chain has neither target nor pin, and no walk was planned for it."""
    return chain.target is None and (not chain.pin or bool(chain.target_name)) and not is_walked(chain)


def is_let_go(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether a chain without target is let go in this frame by what animates its pin: then it asks for nothing."""
    return lacks_goal(chain) and not chain.target_name and is_pinned_at_times(owner, chain)


def _is_below(owner: bpy.types.Object, body: str, bones: set[str]) -> bool:
    """Whether some bones that follow each other reach the body bone or what hangs on it, from wherever they begin."""
    found = pose_bones(owner).get(body)
    return found is not None and any(
        name == body or found in pose_bones(owner)[name].parent_recursive for name in bones
    )


def figure_bones(chain_set: ChainSet) -> list[bpy.types.PoseBone]:
    """The pose bones of a set of chains, each after its parent, the root first.

    Those of all chains; with a body bone that one, and those on the way from it to the chains.

    Raises:
        FabrikError: A chain has no such bones, or two pins hold one bone.
    """
    owner, chains, body = chain_set
    _check_pins(chain_set)
    if chain_set.is_one:
        return resolve_bones(owner, chains[0])
    found: list[bpy.types.PoseBone] = []
    for chain in chains:
        bones = resolve_bones(owner, chain)
        found += bones + (_way(body, bones[0]) if body else [])
    places = {(len(bone.parent_recursive), bone.name): bone for bone in found}
    return [places[place] for place in sorted(places)]


def figure_bones_if_any(chain_set: ChainSet) -> list[bpy.types.PoseBone]:
    """`figure_bones`, but an empty list where they can't be read: the solve of the chains will say why."""
    try:
        return figure_bones(chain_set)
    except FabrikError:
        return []


def _way(body: str, root: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones from the body bone to the first bone of a chain, without that; none where the chain begins above it."""
    above = root.parent_recursive
    names = [bone.name for bone in (root, *above)]
    return above[: names.index(body)] if body in names else []


def _check_pins(chain_set: ChainSet) -> None:
    """Refuse two pins of one bone: only one of them could hold."""
    pinned: dict[tuple[str, bool], str] = {}
    for chain in chain_set.chains:
        if chain.pin and chain.weight > 0.0 and not chain.aims:
            key = chain.tip_bone, chain.at_head
            if key in pinned:
                reason = Message("PINNED_TWICE", other=pinned[key], chain=chain.name)
                raise BoneError(reason, chain=chain.name, bone=chain.tip_bone)
            pinned[key] = chain.name


def chain_with(chain_set: ChainSet, bone: bpy.types.PoseBone) -> str:
    """The name of the first chain that has a bone; else of the first one that hangs on it; else ""."""
    own = {chain.name: names_if_any(chain_set.owner, chain) for chain in chain_set.chains}
    below = {child.name for child in bone.children_recursive}
    having = (name for name in own if bone.name in own[name])
    return next(having, "") or next((name for name in own if below.intersection(own[name])), "")


def check_body(owner: bpy.types.Object, chain_set: ChainSet) -> None:
    """Refuse a body bone that is not there.

    Raises:
        RigError: The armature has no such bone.
    """
    body = rig_of(owner).body_bone
    if body and body not in pose_bones(owner):
        raise RigError(Message("BODY_BONE_MISSING", bone=body), chain=chain_set.names[0])


def body_moves(chain_set: ChainSet) -> bool:
    """Whether the body bone of a set may be moved: it is the topmost, not connected, and no location is locked."""
    if not chain_set.body or chain_above(chain_set):
        return False
    bone = pose_bones(chain_set.owner)[chain_set.body]
    is_held = bone.parent is not None and (bone.bone.use_connect or not bone.bone.use_inherit_rotation)
    locks: Any = bone.lock_location
    return not is_held and not any(locks)


def chain_above(chain_set: ChainSet) -> str:
    """The name of the first chain that begins above the body bone, which then hangs on that chain; "" for none."""
    above = {bone.name for bone in pose_bones(chain_set.owner)[chain_set.body].parent_recursive}
    own = ((chain.name, names_if_any(chain_set.owner, chain)) for chain in chain_set.chains)
    return next((name for name, bones in own if above.intersection(bones)), "")


def starting_chains(chain_set: ChainSet) -> dict[str, FabrikChain]:
    """The chain whose start pose each bone takes: of those that have it one that is animated, then one captured.

    Returns:
        By the names of the bones; none for a bone of no chain.
    """
    order = ("ANIMATED", "CAPTURED", "REST")
    found: dict[str, FabrikChain] = {}
    for chain in sorted(chain_set.chains, key=lambda one: order.index(one.start)):
        for name in names_if_any(chain_set.owner, chain):
            found.setdefault(name, chain)
    return found
