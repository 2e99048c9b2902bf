# SPDX-License-Identifier: GPL-3.0-or-later
"""Source, of Valve: `ValveBiped.Bip01_L_Thigh`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Source",
    marks="thigh calf upperarm forearm toe0 spine4|head1",
    parts={
        "PELVIS": "pelvis",
        "SPINE": "spine spine1 spine2 spine4",
        "NECK": "neck1",
        "HEAD": "head1",
        "GIRDLE": "clavicle",
        "UPPER_ARM": "upperarm",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "calf",
        "FOOT": "foot",
        "TOE": "toe0",
        "HELPER": "trapezius bicep ulna elbow shoulder latt wrist quadricep",
        "FINGER": "finger0 finger01 finger02 finger1 finger11 finger12 finger2 finger21 finger22 finger3"
        " finger31 finger32 finger4 finger41 finger42",
    },
)
