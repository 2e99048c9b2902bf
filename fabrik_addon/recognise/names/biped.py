# SPDX-License-Identifier: GPL-3.0-or-later
"""Biped of 3ds Max: `Bip01 L Thigh`, `Bip001 L Calf`, `Toe0`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Biped",
    marks="thigh calf upperarm forearm toe0",
    parts={
        "PELVIS": "pelvis",
        "SPINE": "spine spine1 spine2 spine3 spine4",
        "NECK": "neck neck1 neck2",
        "HEAD": "head",
        "GIRDLE": "clavicle",
        "UPPER_ARM": "upperarm",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "calf horselink",
        "FOOT": "foot",
        "TOE": "toe0 toe1 toe2 toe3 toe4 toe1 toe2 toe3 toe4",
        "HELPER": "footsteps thightwist calftwist foretwist uparmtwist",
        "FINGER": "finger0 finger01 finger02 finger1 finger11 finger12 finger2 finger21 finger22 finger3"
        " finger31 finger32 finger4 finger41 finger42",
        "TAIL": "tail tail1 tail2 tail3 tail4",
    },
)
