# SPDX-License-Identifier: GPL-3.0-or-later
"""MakeHuman and MPFB, the default rig: `upperleg01.L`, with two halves of each segment."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="MakeHuman",
    marks="upperleg1 lowerleg1 upperarm1 lowerarm1 wrist",
    parts={
        "PELVIS": "root pelvis",
        "SPINE": "spine1 spine2 spine3 spine4 spine5",
        "NECK": "neck1 neck2 neck3",
        "HEAD": "head",
        "GIRDLE": "clavicle shoulder1",
        "UPPER_ARM": "upperarm1 upperarm2",
        "FOREARM": "lowerarm1 lowerarm2",
        "HAND": "wrist",
        "THIGH": "upperleg1 upperleg2",
        "SHIN": "lowerleg1 lowerleg2",
        "FOOT": "foot",
        "PALM": "metacarpal1 metacarpal2 metacarpal3 metacarpal4",
        "BREAST": "breast",
    },
)
