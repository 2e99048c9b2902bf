# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto-Rig Pro, exported: `thigh_stretch.l`, `leg_stretch.l`, `root.x`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Auto-Rig Pro",
    marks="thighstretch legstretch",
    parts={
        "PELVIS": "root",
        "SPINE": "spine1 spine2 spine3 spine4",
        "NECK": "neck",
        "HEAD": "head",
        "GIRDLE": "shoulder",
        "UPPER_ARM": "armstretch",
        "FOREARM": "forearmstretch",
        "HAND": "hand",
        "THIGH": "thighstretch",
        "SHIN": "legstretch",
        "FOOT": "foot",
        "TOE": "toes1",
        "HELPER": "armtwist forearmtwist thightwist legtwist",
        "PALM": "index1base middle1base ring1base pinky1base",
        "FINGER": "thumb1 thumb2 thumb3 index1 index2 index3 middle1 middle2 middle3 ring1 ring2 ring3 pinky1"
        " pinky2 pinky3 cthumb1 cthumb2 cthumb3 cindex1 cindex2 cindex3 cmiddle1 cmiddle2 cmiddle3"
        " cring1 cring2 cring3 cpinky1 cpinky2 cpinky3",
    },
)
