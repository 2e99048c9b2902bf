# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Spanish."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Spanish",
    marks="muslo brazo",
    parts={
        "PELVIS": "pelvis cadera",
        "SPINE": "columna espalda torso pecho",
        "NECK": "cuello",
        "HEAD": "cabeza",
        "GIRDLE": "hombro clavícula clavicula",
        "UPPER_ARM": "brazo",
        "FOREARM": "antebrazo",
        "HAND": "mano",
        "THIGH": "muslo",
        "SHIN": "pierna pantorrilla",
        "FOOT": "pie",
        "TOE": "dedos punta",
        "TAIL": "cola",
        "FINGER": "pulgar1 pulgar2 pulgar3 índice1 índice2 índice3 medio1 medio2 medio3 anular1 anular2 anular3"
        " meñique1 meñique2 meñique3",
    },
)
