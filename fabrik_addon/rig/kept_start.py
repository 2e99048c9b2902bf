# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of a chain as it is stored, read to be compared, changed in part, or put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy

from .channels import stored
from .properties import FabrikChain
from .rotations import Q4, q4
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
    """Store a start pose as it was read."""
    _store_rotations(chain, dict(kept.rotations))
    if chain.fingerprint != kept.digest:
        chain.fingerprint = kept.digest
    if chain.start != kept.kind:
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


def _store_rotations(chain: FabrikChain, rotations: Mapping[str, Q4]) -> None:
    """Store captured rotations; those that are kept already are not written, for every write makes Blender evaluate."""
    if [item.name for item in chain.captured] != list(rotations):
        chain.captured.clear()
        for name in rotations:
            chain.captured.add().name = name
    for item, rotation in zip(chain.captured, rotations.values(), strict=True):
        if q4(item.rotation) != rotation:
            item.rotation = rotation
