# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a chain as it is stored: read to be compared, kept, or put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy

from ..maths import Q4, q4
from .channels import read_rotation, stored
from .schema import FabrikChain
from .start_pose import fingerprint


class KeptStart(NamedTuple):
    """What is stored of a start pose.

    Attributes:
        kind: "REST", "CAPTURED" or "ANIMATED".
        rotations: The captured ones, each with its bone's name.
        digest: Of the rest data for which it was captured.
    """

    kind: str
    rotations: tuple[tuple[str, Q4], ...]
    digest: str


def read_kept(chain: FabrikChain) -> KeptStart:
    """The start pose as it is stored."""
    rotations = tuple((item.name, q4(item.rotation)) for item in chain.captured)
    return KeptStart(chain.start, rotations, chain.fingerprint)


def put_back(chain: FabrikChain, kept: KeptStart) -> None:
    """Store a start pose as it was read; a status found from another one holds no more."""
    is_other = store_rotations(chain, dict(kept.rotations)) or chain.fingerprint != kept.digest
    if chain.fingerprint != kept.digest:
        chain.fingerprint = kept.digest
    if is_other or chain.start != kept.kind:
        chain.start = kept.kind


def keep(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone], rotations: Mapping[str, Q4], kind: str) -> None:
    """Store rotations as the captured start pose.

    Args:
        chain: The chain.
        bones: Its pose bones, root to tip.
        rotations: Of each of them, in its rest frame.
        kind: "CAPTURED"; or "ANIMATED", which falls back on them where bones have no keys; or "REST" without them.
    """
    if kind == "REST":
        put_back(chain, KeptStart(kind, (), fingerprint(bones)))
        return
    rounded = tuple((bone.name, q4(stored(rotations[bone.name]))) for bone in bones)
    put_back(chain, KeptStart(kind, rounded, fingerprint(bones)))


def capture(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Keep the bones' rotations as they stand as the chain's start pose."""
    keep(chain, bones, _rotations_of(bones), "CAPTURED")


def take_keys(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Make the keys of each frame the chain's start pose; channels without keys stay as they stand."""
    keep(chain, bones, _rotations_of(bones), "ANIMATED")


def reset(chain: FabrikChain, bones: Sequence[bpy.types.PoseBone]) -> None:
    """Make the rest pose the chain's start pose and forget the captured one."""
    keep(chain, bones, {}, "REST")


def _rotations_of(bones: Sequence[bpy.types.PoseBone]) -> dict[str, Q4]:
    return {bone.name: read_rotation(bone) for bone in bones}


def store_rotations(chain: FabrikChain, rotations: Mapping[str, Q4]) -> bool:
    """Store captured rotations by the names of their bones, and no others; whether anything was written.

    What is kept already is not written, for every write makes Blender evaluate. On a library override those of the
    library can't be taken away: they are set where they are.
    """
    is_other = [item.name for item in chain.captured] != list(rotations)
    if is_other:
        chain.captured.clear()
    for name, rotation in rotations.items():
        item = chain.captured.get(name)
        if item is None:
            item = chain.captured.add()
            item.name = name
        if q4(item.rotation) != rotation:
            item.rotation = rotation
            is_other = True
    return is_other
