# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Russian."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Russian",
    marks="бедро голень",
    parts={
        "PELVIS": "таз",
        "SPINE": "позвоночник спина грудь",
        "NECK": "шея",
        "HEAD": "голова",
        "GIRDLE": "ключица",
        "UPPER_ARM": "плечо",
        "FOREARM": "предплечье",
        "HAND": "кисть",
        "THIGH": "бедро",
        "SHIN": "голень",
        "FOOT": "стопа",
        "TOE": "носок пальцы",
        "TAIL": "хвост",
    },
)
