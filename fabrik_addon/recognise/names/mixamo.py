# SPDX-License-Identifier: GPL-3.0-or-later
"""Mixamo, Ready Player Me and HumanIK: `LeftUpLeg`, whose `LeftLeg` is the shin, with prefixes or without."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Mixamo",
    marks="upleg leg forearm toebase",
    parts={
        "PELVIS": "hips",
        "SPINE": "spine spine1 spine2 spine3 spine4",
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
        "FINGER": "handthumb1 handthumb2 handthumb3 handindex1 handindex2 handindex3 handmiddle1 handmiddle2"
        " handmiddle3 handring1 handring2 handring3 handpinky1 handpinky2 handpinky3",
        "HELPER": "headtopend toeend handthumb4 handindex4 handmiddle4 handring4 handpinky4 armroll forearmroll"
        " uplegroll legroll",
        "FACE": "eye",
        "ROOT": "reference",
    },
)
