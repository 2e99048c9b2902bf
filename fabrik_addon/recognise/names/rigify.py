# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify, metarigs and the bones that deform: `thigh.L`, `shin.L`, and a spine in numbers up to the head."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Rigify",
    marks="thigh shin spine",
    parts={
        "PALM": "palm1 palm2 palm3 palm4",
        "FINGER": "findex1 findex2 findex3 fmiddle1 fmiddle2 fmiddle3 fring1 fring2 fring3 fpinky1 fpinky2"
        " fpinky3 thumb1 thumb2 thumb3",
        "GIRDLE": "shoulder",
        "UPPER_ARM": "upperarm",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "shin",
        "FOOT": "foot",
        "TOE": "toe",
        "HEEL": "heel2",
        "PELVIS": "pelvis",
        "BREAST": "breast",
    },
)
