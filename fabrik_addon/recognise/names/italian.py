# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Italian."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Italian",
    marks="coscia braccio",
    parts={
        "PELVIS": "bacino anca",
        "SPINE": "colonna schiena torace petto",
        "NECK": "collo",
        "HEAD": "testa",
        "GIRDLE": "spalla clavicola",
        "UPPER_ARM": "braccio",
        "FOREARM": "avambraccio",
        "HAND": "mano",
        "THIGH": "coscia",
        "SHIN": "gamba stinco",
        "FOOT": "piede",
        "TOE": "dita punta",
        "TAIL": "coda",
    },
)
