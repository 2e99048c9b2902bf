# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of an armature's last bake, kept with it in the file."""

from __future__ import annotations

import json
from functools import lru_cache

import bpy

from ...rig.schema import rig_of
from .result import BakeResult, Report

FORMAT = 1  # of what is stored


def store_report(owner: bpy.types.Object, result: BakeResult) -> None:
    """Keep an armature's part of a bake's result."""
    rig_of(owner).bake_report = json.dumps({"format": FORMAT, **result.of(owner.name).as_json()})


def read_report(owner: bpy.types.Object) -> Report | None:
    """What came of an armature's last bake; None where there was none, or where it was written by another version."""
    return _read(rig_of(owner).bake_report)


@lru_cache(maxsize=8)  # panel and timeline ask at every redraw
def _read(text: str) -> Report | None:
    try:
        report = json.loads(text) if text else None
    except ValueError:
        return None
    return report if isinstance(report, dict) and report.get("format") == FORMAT else None
