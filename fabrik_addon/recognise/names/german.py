# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in German."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="German",
    marks="oberschenkel unterschenkel",
    parts={
        "PELVIS": "becken hüfte huefte",
        "SPINE": "wirbelsäule wirbelsaeule brust bauch rücken",
        "NECK": "hals nacken",
        "HEAD": "kopf",
        "GIRDLE": "schulter schlüsselbein",
        "UPPER_ARM": "oberarm",
        "FOREARM": "unterarm",
        "HAND": "hand",
        "THIGH": "oberschenkel",
        "SHIN": "unterschenkel",
        "FOOT": "fuß fuss",
        "TOE": "zehen zeh zehe",
        "TAIL": "schwanz",
        "FINGER": "daumen1 daumen2 daumen3 zeigefinger1 zeigefinger2 zeigefinger3 mittelfinger1 mittelfinger2"
        " mittelfinger3 ringfinger1 ringfinger2 ringfinger3 kleinerfinger1 kleinerfinger2"
        " kleinerfinger3",
    },
)
