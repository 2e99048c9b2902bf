# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a body: of the body bone, and of the bones between it and the chains; stored with the armature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import bpy

from ..maths import Q4, V3, q4, v3
from .chain_bones import resolve_bones
from .channels import read_rotation, stored
from .figures import ChainSet, figure_bones
from .schema import rig_of


class KeptBone(NamedTuple):
    """What is stored of a bone of the body, in single precision.

    Attributes:
        name: Of the bone.
        rotation: In its rest frame.
        location: Its location channels.
    """

    name: str
    rotation: Q4
    location: V3


def capture_body(chain_set: ChainSet) -> None:
    """Keep how the body bone and the bones between it and the chains stand, as their start pose.

    What is kept already is not written, for every write makes Blender evaluate.
    """
    if chain_set.body:
        capture_bones(chain_set.owner, body_bones(chain_set))


def body_bones(chain_set: ChainSet) -> list[bpy.types.PoseBone]:
    """The body bone, and the bones of a figure that no chain has."""
    names = {bone.name for chain in chain_set.chains for bone in resolve_bones(chain_set.owner, chain)}
    return [bone for bone in figure_bones(chain_set) if bone.name == chain_set.body or bone.name not in names]


def capture_bones(owner: bpy.types.Object, bones: Iterable[bpy.types.PoseBone]) -> None:
    """Keep how bones stand: their rotation, and their location channels."""
    store_bones(owner, [KeptBone(bone.name, q4(stored(read_rotation(bone))), v3(bone.location)) for bone in bones])


def store_bones(owner: bpy.types.Object, wanted: Iterable[KeptBone]) -> None:
    """Store bones of a body; what is the same is not written, for every write makes Blender evaluate."""
    kept = rig_of(owner).body_captured
    for one in wanted:
        item = kept.get(one.name)
        if item is None:
            item = kept.add()
            item.name = one.name
        if q4(item.rotation) != one.rotation:
            item.rotation = one.rotation
        if v3(item.location) != one.location:
            item.location = one.location
