# SPDX-License-Identifier: GPL-3.0-or-later
"""How a solve ended, in words, the same ones for panel and report."""

from __future__ import annotations

from math import degrees

import bpy

from ..rig.schema import FabrikChain
from ..texts import Text, counted, joined

STATUS_TEXTS = {
    "REACHED": Text("On target"),
    "TOO_FAR": Text("Target too far away"),
    "TOO_NEAR": Text("Target too near to the root"),
    "BLOCKED": Text("Held back by limits"),
    "REFUSED": Text("Refused"),
}
OF_PIN = {
    "REACHED": Text("Pin holds"),
    "TOO_FAR": Text("Pin too far away"),
    "TOO_NEAR": Text("Pin too near to the root"),
}
OF_AIM = {"REACHED": Text("Aims at its target")}
TURN_TOLD = 0.001  # radians, about a twentieth of a degree


def status_text(chain: FabrikChain) -> Text:
    """The status in words, with the bones that hold a blocked chain back."""
    if chain.status == "NONE":
        has_goal = chain.target or chain.pin
        return Text("Not solved since the last change") if has_goal else Text("No target: add one, or pin it")
    own = OF_AIM if chain.kind == "AIM" else OF_PIN if chain.pin else {}
    text = own.get(chain.status, STATUS_TEXTS[chain.status])
    names = ", ".join(bone.name for bone in chain.blocking_bones)
    if chain.status == "BLOCKED" and not names and chain.message:  # which tells by what
        return Text("Held back")
    return joined(": ", (text, names)) if names else text


def measure_text(chain: FabrikChain, scene: bpy.types.Scene) -> Text:
    """What is left of distance and angle, how far the soft goal is from the target, and passes."""
    parts = []
    if chain.status != "REACHED" and chain.kind == "REACH":
        parts.append(Text("{distance} off", distance=length_text(chain.residual, scene)))
    if chain.turn_residual > TURN_TOLD:
        parts.append(Text("{angle:.2g}° turned off", angle=degrees(chain.turn_residual)))
    if chain.softened > 0.0:
        parts.append(Text("soft goal {distance} before the target", distance=length_text(chain.softened, scene)))
    return joined(", ", [*parts, counted(chain.passes, "1 pass", "{count} passes")])


def length_text(length: float, scene: bpy.types.Scene) -> str:
    """A length in the units of the scene."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.4g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
