# SPDX-License-Identifier: GPL-3.0-or-later
"""The start poses of chains that are solved together, as the overlay shows them: with the body where it starts."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ..errors import FabrikError
from ..maths import ORIGIN, V3
from ..rig.figures import ChainSet, sets_of
from ..rig.measured import ends_at
from ..rig.preparing import read
from ..rig.schema import rig_of

Points = tuple[V3, ...]


def starts_together(
    owner: bpy.types.Object, names: Collection[str], depsgraph: bpy.types.Depsgraph
) -> dict[str, Points]:
    """The joints of the start pose, root to tip, of chains that are solved with others or with a body bone.

    Args:
        owner: The armature object.
        names: Of chains; only what is solved with one of them is read.
        depsgraph: Evaluated.

    Returns:
        World points by the names of chains; those that can't be read are left out.
    """
    found: dict[str, Points] = {}
    for chain_set in sets_of(owner, [chain for chain in rig_of(owner).chains if chain.enabled]):
        if not chain_set.is_one and not set(names).isdisjoint(chain_set.names):
            try:
                found |= _starts(chain_set, depsgraph)
            except FabrikError:  # their status says why
                continue
    return found


def _starts(chain_set: ChainSet, depsgraph: bpy.types.Depsgraph) -> dict[str, Points]:
    prepared, _ = read(chain_set, depsgraph)
    heads, ends = ends_at(prepared, prepared.starts, ORIGIN, chain_set.owner, depsgraph)
    to_world = prepared.space.to_world
    return {
        one.chain: (*(to_world(heads[joint]) for joint in one.joints), to_world(ends[one.joints[-1]]))
        for one in prepared.asked
    }
