# SPDX-License-Identifier: GPL-3.0-or-later
"""Unreal 4 and 5, MetaHuman: `thigh_l`, `calf_l`, with bones for twist and `ik_` beside them."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Unreal",
    marks="thigh calf upperarm lowerarm ball",
    parts={
        "ROOT": "root",
        "PELVIS": "pelvis",
        "SPINE": "spine1 spine2 spine3 spine4 spine5",
        "NECK": "neck1 neck2",
        "HEAD": "head",
        "GIRDLE": "clavicle",
        "UPPER_ARM": "upperarm",
        "FOREARM": "lowerarm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "calf",
        "FOOT": "foot",
        "TOE": "ball",
        "PALM": "indexmetacarpal middlemetacarpal ringmetacarpal pinkymetacarpal",
        "FINGER": "thumb1 thumb2 thumb3 index1 index2 index3 middle1 middle2 middle3 ring1 ring2 ring3 pinky1"
        " pinky2 pinky3",
        "HELPER": "ikfootroot ikhandroot ikhandgun ikhand ikfoot interaction centerofmass thighfwd thighbck"
        " thighin thighout calfknee calfkneeback upperarmbicep upperarmtricep upperarmfwd upperarmbck"
        " upperarmin upperarmout clavicleout claviclescap clavicleperc claviclepec spine4latissimus"
        " wristinner wristouter anklebck anklefwd lowerarmfwd lowerarmbck lowerarmin lowerarmout",
    },
)
