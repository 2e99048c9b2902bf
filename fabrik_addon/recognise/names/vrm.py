# SPDX-License-Identifier: GPL-3.0-or-later
"""VRM and VRoid, and Unity humanoid: `J_Bip_L_UpperLeg`, `leftUpperLeg`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="VRM",
    marks="upperleg lowerleg upperarm lowerarm",
    parts={
        "ROOT": "root",
        "PELVIS": "hips",
        "SPINE": "spine chest upperchest",
        "NECK": "neck",
        "HEAD": "head",
        "GIRDLE": "shoulder",
        "UPPER_ARM": "upperarm",
        "FOREARM": "lowerarm",
        "HAND": "hand",
        "THIGH": "upperleg",
        "SHIN": "lowerleg",
        "FOOT": "foot",
        "TOE": "toes toebase toe",
        "FINGER": "thumb1 thumb2 thumb3 index1 index2 index3 middle1 middle2 middle3 ring1 ring2 ring3 little1"
        " little2 little3 thumbmetacarpal thumbproximal thumbintermediate thumbdistal indexmetacarpal"
        " indexproximal indexintermediate indexdistal middlemetacarpal middleproximal"
        " middleintermediate middledistal ringmetacarpal ringproximal ringintermediate ringdistal"
        " littlemetacarpal littleproximal littleintermediate littledistal",
        "FACE": "faceeye eye jaw",
        "BREAST": "bust1 bust2",
        "OTHER": "coatskirtfront1 coatskirtback1",
    },
)
