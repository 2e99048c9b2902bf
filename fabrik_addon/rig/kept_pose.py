# SPDX-License-Identifier: GPL-3.0-or-later
"""The start pose of chains that are solved together as it is stored: with each of them, and with their body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import bpy

from ..maths import Q4, V3, q4, turn_angle, v3
from .chain_bones import resolve_bones
from .channels import stored
from .figures import ChainSet
from .kept_body import KeptBone, body_bones, store_bones
from .kept_start import KeptStart, keep, put_back, read_kept
from .schema import rig_of

AT_REST = 1e-5  # radians by which a joint may be turned and count as at rest


class KeptPose(NamedTuple):
    """What is stored of the start pose of chains that are solved together.

    Attributes:
        starts: Of each chain.
        body: Of the bones of the body; none for chains without a body.
    """

    starts: tuple[KeptStart, ...]
    body: tuple[KeptBone, ...]


def read_pose(chain_set: ChainSet) -> KeptPose:
    """The start pose of chains as it is stored."""
    body: tuple[KeptBone, ...] = ()
    if chain_set.body:
        kept = rig_of(chain_set.owner).body_captured
        body = tuple(KeptBone(item.name, q4(item.rotation), v3(item.location)) for item in kept)
    return KeptPose(tuple(read_kept(chain) for chain in chain_set.chains), body)


def put_back_pose(chain_set: ChainSet, kept: KeptPose) -> None:
    """Store a start pose as it was read."""
    for chain, start in zip(chain_set.chains, kept.starts, strict=True):
        put_back(chain, start)
    if chain_set.body:
        _store_body(chain_set.owner, kept.body)


def keep_pose(chain_set: ChainSet, rotations: Mapping[str, Q4], location: V3 | None, kind: str = "CAPTURED") -> None:
    """Store a pose as the start pose of chains that are solved together; a chain at rest starts there.

    Args:
        chain_set: The chains.
        rotations: Of each of their bones, those between the body bone and the chains included.
        location: The location channels of the body bone, where it moves.
        kind: "CAPTURED"; or "ANIMATED", which falls back on the pose where bones have no keys.
    """
    for chain in chain_set.chains:
        bones = resolve_bones(chain_set.owner, chain)
        is_rest = kind == "CAPTURED" and all(turn_angle(rotations[bone.name]) <= AT_REST for bone in bones)
        keep(chain, bones, rotations, "REST" if is_rest else kind)
    if not chain_set.body:
        return
    kept = {one.name: one for one in read_pose(chain_set).body}
    for bone in body_bones(chain_set):
        place = location if location is not None and bone.name == chain_set.body else v3(bone.location)
        kept[bone.name] = KeptBone(bone.name, q4(stored(rotations[bone.name])), v3(stored(place)))
    _store_body(chain_set.owner, tuple(kept.values()))


def _store_body(owner: bpy.types.Object, wanted: tuple[KeptBone, ...]) -> None:
    """Store a body's bones, and no others; see `store_bones`."""
    kept = rig_of(owner).body_captured
    if [item.name for item in kept] != [one.name for one in wanted]:
        kept.clear()
    store_bones(owner, wanted)
