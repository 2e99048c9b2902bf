# SPDX-License-Identifier: GPL-3.0-or-later
"""Icons and words for the status of a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rig.properties import FabrikChain

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import IconItems

ICONS: dict[str, IconItems] = {
    "NONE": "RADIOBUT_OFF",
    "REACHED": "CHECKMARK",
    "TOO_FAR": "TRACKING_FORWARDS_SINGLE",
    "TOO_NEAR": "TRACKING_BACKWARDS_SINGLE",
    "BLOCKED": "LOCKED",
    "REFUSED": "ERROR",
}


def status_text(chain: FabrikChain) -> str:
    """The status in words, with the bones that hold a blocked chain back."""
    text = {
        "NONE": "Not solved yet",
        "REACHED": "Reached",
        "TOO_FAR": "Target too far away",
        "TOO_NEAR": "Target too near to the root",
        "BLOCKED": "Held back by limits",
        "REFUSED": "Refused",
    }[chain.status]
    names = ", ".join(bone.name for bone in chain.blocking_bones)
    return f"{text}: {names}" if names else text
