# SPDX-License-Identifier: GPL-3.0-or-later
"""CMU and other BVH: `LHipJoint` above `LeftUpLeg`, and a spine that begins at `LowerBack`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="CMU",
    marks="hipjoint upleg leg",
    parts={
        "PELVIS": "hips hipjoint",
        "SPINE": "lowerback spine spine1",
        "NECK": "neck neck1",
        "HEAD": "head",
        "GIRDLE": "shoulder",
        "UPPER_ARM": "arm",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "upleg",
        "SHIN": "leg",
        "FOOT": "foot",
        "TOE": "toebase",
        "FINGER": "fingerbase handindex1 thumb",
    },
)
