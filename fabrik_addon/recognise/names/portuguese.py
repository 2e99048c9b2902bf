# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in Portuguese."""

from __future__ import annotations

from .convention import Convention

CONVENTION = Convention(
    label="Portuguese",
    marks="coxa braço|braco",
    parts={
        "PELVIS": "quadril bacia",
        "SPINE": "coluna peito tronco",
        "NECK": "pescoço pescoco",
        "HEAD": "cabeça cabeca",
        "GIRDLE": "ombro clavícula clavicula",
        "UPPER_ARM": "braço braco",
        "FOREARM": "antebraço antebraco",
        "HAND": "mão mao",
        "THIGH": "coxa",
        "SHIN": "perna canela",
        "FOOT": "pé pe",
        "TOE": "dedos",
        "TAIL": "cauda",
    },
)
