# SPDX-License-Identifier: GPL-3.0-or-later
"""How a solve ended, in words, the same ones for panel and report."""

from __future__ import annotations

from math import degrees

import bpy

from ..rig.properties import FabrikChain

STATUS_TEXTS = {
    "REACHED": "On target",
    "TOO_FAR": "Target too far away",
    "TOO_NEAR": "Target too near to the root",
    "BLOCKED": "Held back by limits",
    "REFUSED": "Refused",
}
OF_PIN = {"REACHED": "Pin holds", "TOO_FAR": "Pin too far away", "TOO_NEAR": "Pin too near to the root"}
OF_AIM = {"REACHED": "Aims at its target"}
TURN_TOLD = 0.001  # radians, about a twentieth of a degree


def status_text(chain: FabrikChain) -> str:
    """The status in words, with the bones that hold a blocked chain back."""
    if chain.status == "NONE":
        return "Not solved since the last change" if chain.target or chain.pin else "No target: add one, or pin it"
    own = OF_AIM if chain.kind == "AIM" else OF_PIN if chain.pin else {}
    text = own.get(chain.status, STATUS_TEXTS[chain.status])
    names = ", ".join(bone.name for bone in chain.blocking_bones)
    if chain.status == "BLOCKED" and not names and chain.message:  # which tells by what
        return "Held back"
    return f"{text}: {names}" if names else text


def measure_text(chain: FabrikChain, scene: bpy.types.Scene) -> str:
    """What is left of distance and angle, how far the soft goal is from the target, and passes."""
    parts = []
    if chain.status != "REACHED" and chain.kind == "REACH":
        parts.append(f"{length_text(chain.residual, scene)} off")
    if chain.turn_residual > TURN_TOLD:
        parts.append(f"{degrees(chain.turn_residual):.2g}° turned off")
    if chain.softened > 0.0:
        parts.append(f"soft goal {length_text(chain.softened, scene)} before the target")
    return ", ".join([*parts, f"{chain.passes} pass{'' if chain.passes == 1 else 'es'}"])


def length_text(length: float, scene: bpy.types.Scene) -> str:
    """A length in the units of the scene."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.4g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
