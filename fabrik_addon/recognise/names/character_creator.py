# SPDX-License-Identifier: GPL-3.0-or-later
"""Character Creator and iClone: `CC_Base_L_Thigh`; `Hip` is above `Pelvis` and `Waist`, and a twist is the neck."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Character Creator",
    marks="thigh calf upperarm forearm waist",
    parts={
        "ROOT": "boneroot",
        "PELVIS": "hip pelvis",
        "SPINE": "waist spine1 spine2",
        "NECK": "necktwist1 necktwist2",
        "HEAD": "head",
        "GIRDLE": "clavicle",
        "UPPER_ARM": "upperarm",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "calf",
        "FOOT": "foot",
        "TOE": "toebase",
        "FINGER": "thumb1 thumb2 thumb3 index1 index2 index3 mid1 mid2 mid3 ring1 ring2 ring3 pinky1 pinky2 pinky3",
        "HELPER": "kneesharebone elbowsharebone toebasesharebone ribstwist thightwist1 thightwist2 calftwist1"
        " calftwist2 upperarmtwist1 upperarmtwist2 forearmtwist1 forearmtwist2",
        "BREAST": "breast",
        "FACE": "facialbone jawroot eye",
    },
)
