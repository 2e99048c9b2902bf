# SPDX-License-Identifier: GPL-3.0-or-later
"""Poser, and BVH made for it: `lThigh`, `lShin`, `lCollar`, `lShldr`."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Poser",
    marks="thigh shin collar shldr",
    parts={
        "PELVIS": "hip buttock",
        "SPINE": "abdomen chest",
        "NECK": "neck",
        "HEAD": "head",
        "GIRDLE": "collar",
        "UPPER_ARM": "shldr",
        "FOREARM": "forearm",
        "HAND": "hand",
        "THIGH": "thigh",
        "SHIN": "shin",
        "FOOT": "foot",
        "TOE": "toe",
    },
)
