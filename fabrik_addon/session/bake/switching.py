# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that are baked: switched off, and known as such."""

from __future__ import annotations

from collections.abc import Sequence

from ...rig.schema import rig_of
from ..order import Item


def switch_off(items: Sequence[Item]) -> list[str]:
    """Switch chains off, so that their keys play, and live posing of armatures that are left without enabled ones.

    Args:
        items: Chains that were baked, each with its armature object.

    Returns:
        The names of the armatures whose live posing was switched off.
    """
    for _, chain in items:
        chain.enabled = False
        chain.is_baked = True
    rested = []
    for owner in {owner.name_full: owner for owner, _ in items}.values():
        rig = rig_of(owner)
        if rig.live and not any(chain.enabled for chain in rig.chains):
            rig.live = False
            rested.append(owner.name)
    return rested
