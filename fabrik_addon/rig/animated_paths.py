# SPDX-License-Identifier: GPL-3.0-or-later
"""The data paths of what is animated of an armature object, and of which chain they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

import bpy

from .compat import curves_of_action, fcurves_of, strips_of
from .schema import FabrikChain, rig_of

OF_CHAIN = re.compile(r'fabrik_chains\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]\.(.+)')


def animated_paths(owner: bpy.types.Object, with_muted: bool = False) -> list[str]:
    """The paths that an object's action, its drivers and the strips of its NLA tracks animate.

    Args:
        owner: The object.
        with_muted: Whether muted tracks count: one of them plays all the same where it is the one that is solo.
    """
    data = owner.animation_data
    if data is None:
        return []
    curves = [*fcurves_of(owner), *data.drivers]
    for strip in strips_of(data, with_muted):
        curves += curves_of_action(strip.action)
    return [curve.data_path for curve in curves]


def chain_of(path: re.Match[str], names: Sequence[str]) -> str:
    """The name of the chain that a path means, "" where there is none.

    Args:
        path: A match of `OF_CHAIN`.
        names: Of all chains, in the order of the list.
    """
    if path[1] is None:
        return bpy.utils.unescape_identifier(path[2])
    return names[int(path[1])] if int(path[1]) < len(names) else ""


def chains_animated_in(owner: bpy.types.Object, name: str) -> set[str]:
    """The names of the chains of which a setting is animated."""
    names = [chain.name for chain in rig_of(owner).chains]
    found = [OF_CHAIN.fullmatch(path) for path in animated_paths(owner) if path.endswith(f".{name}")]
    return {chain_of(path, names) for path in found if path is not None and path[3] == name}


def is_pinned_at_times(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether keys, strips or a driver pin and free a chain, so that it may be pinned in another frame."""
    return chain.name in chains_animated_in(owner, "pin")
