# SPDX-License-Identifier: GPL-3.0-or-later
"""Conventions for the names of bones: one file each, and one line here."""

from __future__ import annotations

from . import (
    auto_rig_pro,
    biped,
    character_creator,
    chinese,
    cmu,
    daz,
    french,
    german,
    italian,
    makehuman,
    mixamo,
    mmd,
    portuguese,
    poser,
    rigify,
    russian,
    smpl,
    source,
    spanish,
    unreal,
    vrm,
)
from .convention import Convention

CONVENTIONS: tuple[Convention, ...] = (
    auto_rig_pro.CONVENTION,
    biped.CONVENTION,
    character_creator.CONVENTION,
    chinese.CONVENTION,
    cmu.CONVENTION,
    daz.CONVENTION,
    french.CONVENTION,
    german.CONVENTION,
    italian.CONVENTION,
    makehuman.CONVENTION,
    mixamo.CONVENTION,
    mmd.CONVENTION,
    portuguese.CONVENTION,
    poser.CONVENTION,
    rigify.CONVENTION,
    russian.CONVENTION,
    smpl.CONVENTION,
    source.CONVENTION,
    spanish.CONVENTION,
    unreal.CONVENTION,
    vrm.CONVENTION,
)
