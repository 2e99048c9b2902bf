# SPDX-License-Identifier: GPL-3.0-or-later
"""A mapping of bones to parts: taken from a rig that is set up, and used for another one."""

from __future__ import annotations

from itertools import pairwise

import bpy

from ...errors import BoneError, ChainError
from ...recognise.mapping import MappedPart, Mapping
from ...rig.chain_bones import pose_bones, resolve_bones
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from .finding import Found, RigPart, find_parts
from .making import chain_of


def mapping_of(owner: bpy.types.Object) -> Mapping:
    """The chains of an armature as a mapping; what is found in it says what each of them is.

    Raises:
        ChainError: It has no chain.
        FabrikError: A chain has no bones.
    """
    chains = list(rig_of(owner).chains)
    if not chains:
        raise ChainError("there is no chain: set it up first", rig=owner.name)
    found = find_parts(owner)
    of_chain = {chain.name: part for part in found.parts if (chain := chain_of(owner, part)) is not None}
    parts = tuple(_mapped(owner, chain, of_chain.get(chain.name)) for chain in chains)
    return Mapping(found.plan, rig_of(owner).body_bone, parts)


def _mapped(owner: bpy.types.Object, chain: FabrikChain, part: RigPart | None) -> MappedPart:
    bones = tuple(bone.name for bone in resolve_bones(owner, chain))
    roles = dict(zip(part.bones, part.roles, strict=True)) if part is not None else {}
    kind = part.kind if part is not None else "RUN"
    return MappedPart(chain.name, kind, bones, tuple(roles.get(bone, "") for bone in bones), chain.effector)


def found_by(owner: bpy.types.Object, mapping: Mapping) -> Found:
    """What a mapping says of an armature.

    Raises:
        ChainError: The armature has no bone of that name.
        BoneError: A bone does not hang on the one before it.
    """
    bones = pose_bones(owner)
    for part in mapping.parts:
        for name in part.bones:
            if name not in bones:
                raise ChainError(
                    Text("there is no bone '{name}' for '{part}'", name=name, part=part.name), rig=owner.name
                )
        for above, below in pairwise(part.bones):
            if bones[below].parent != bones[above]:
                raise BoneError(
                    Text("it does not hang on '{above}', as '{part}' wants", above=above, part=part.name),
                    rig=owner.name,
                    bone=below,
                )
    if mapping.body and mapping.body not in bones:
        raise ChainError(Text("there is no bone '{bone}' for the body", bone=mapping.body), rig=owner.name)
    parts = [
        RigPart(part.kind, part.name, part.bones, part.roles, part.end == "HEAD", 1.0, ()) for part in mapping.parts
    ]
    return Found(mapping.plan, "", parts, mapping.body, (), ())
