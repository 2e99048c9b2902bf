# SPDX-License-Identifier: GPL-3.0-or-later
"""How a solve ended, in words, the same ones for panel and report."""

from __future__ import annotations

import bpy

from ..rig.properties import FabrikChain

STATUS_TEXTS = {
    "REACHED": "On target",
    "TOO_FAR": "Target too far away",
    "TOO_NEAR": "Target too near to the root",
    "BLOCKED": "Held back by limits",
    "REFUSED": "Refused",
}


def status_text(chain: FabrikChain) -> str:
    """The status in words, with the bones that hold a blocked chain back."""
    if chain.status == "NONE":
        return "Not solved since the last change" if chain.target else "No target: add one"
    names = ", ".join(bone.name for bone in chain.blocking_bones)
    return f"{STATUS_TEXTS[chain.status]}: {names}" if names else STATUS_TEXTS[chain.status]


def measure_text(chain: FabrikChain, scene: bpy.types.Scene) -> str:
    """Passes, and the distance that is left in the units of the scene."""
    passes = f"{chain.passes} pass{'' if chain.passes == 1 else 'es'}"
    if chain.status == "REACHED":
        return passes
    return f"{length_text(chain.residual, scene)} off, {passes}"


def length_text(length: float, scene: bpy.types.Scene) -> str:
    """A length in the units of the scene."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.4g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
