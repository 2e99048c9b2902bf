# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in French."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="French",
    marks="cuisse bras",
    parts={
        "PELVIS": "bassin hanches hanche",
        "SPINE": "colonne dos torse poitrine",
        "NECK": "cou",
        "HEAD": "tête tete",
        "GIRDLE": "épaule epaule clavicule",
        "UPPER_ARM": "bras",
        "FOREARM": "avantbras",
        "HAND": "main",
        "THIGH": "cuisse",
        "SHIN": "jambe tibia mollet",
        "FOOT": "pied",
        "TOE": "orteil orteils",
        "TAIL": "queue",
        "FINGER": "pouce1 pouce2 pouce3 index1 index2 index3 majeur1 majeur2 majeur3 annulaire1 annulaire2"
        " annulaire3 auriculaire1 auriculaire2 auriculaire3",
    },
)
