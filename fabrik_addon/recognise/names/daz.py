# SPDX-License-Identifier: GPL-3.0-or-later
"""Daz Genesis 3, 8 and 9: `lThighBend` and `lThighTwist` are two halves of a thigh; `hip` is above `pelvis`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Daz Genesis",
    marks="hip pelvis shin shldrbend|upperarm",
    parts={
        "ROOT": "hip",
        "PELVIS": "pelvis",
        "SPINE": "abdomenlower abdomenupper abdomen abdomen2 chestlower chestupper chest spine1 spine2 spine3 spine4",
        "NECK": "necklower neckupper neck1 neck2 neck",
        "HEAD": "head",
        "GIRDLE": "collar shoulder",
        "UPPER_ARM": "shldrbend shldrtwist shldr upperarm",
        "FOREARM": "forearmbend forearmtwist forearm",
        "HAND": "hand",
        "THIGH": "thighbend thightwist thigh",
        "SHIN": "shin",
        "FOOT": "foot",
        "HELPER": "metatarsals upperarmtwist1 upperarmtwist2 forearmtwist1 forearmtwist2 thightwist1 thightwist2",
        "TOE": "toe toes",
        "PALM": "carpal1 carpal2 carpal3 carpal4 indexmetacarpal midmetacarpal ringmetacarpal pinkymetacarpal",
        "FINGER": "thumb1 thumb2 thumb3 index1 index2 index3 mid1 mid2 mid3 ring1 ring2 ring3 pinky1 pinky2 pinky3",
        "BREAST": "pectoral",
        "OTHER": "",
    },
)
