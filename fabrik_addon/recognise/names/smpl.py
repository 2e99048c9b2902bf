# SPDX-License-Identifier: GPL-3.0-or-later
"""SMPL and SMPL-X: `L_Hip` is the thigh, and each bone is called after the joint above it."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="SMPL",
    marks="hip knee ankle shoulder elbow wrist",
    parts={
        "PELVIS": "pelvis",
        "SPINE": "spine1 spine2 spine3",
        "NECK": "neck",
        "HEAD": "head",
        "GIRDLE": "collar",
        "UPPER_ARM": "shoulder",
        "FOREARM": "elbow",
        "HAND": "wrist",
        "THIGH": "hip",
        "SHIN": "knee",
        "FOOT": "ankle",
        "TOE": "foot",
        "FINGER": "hand thumb1 thumb2 thumb3 index1 index2 index3 middle1 middle2 middle3 ring1 ring2 ring3"
        " pinky1 pinky2 pinky3",
        "FACE": "jaw eye eyesmplhf",
    },
)
