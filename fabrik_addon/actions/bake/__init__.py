# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: chains of any number of armatures solved over a range of frames, into keys on their bones."""

from __future__ import annotations

from .checks import BakeSettings
from .report import BakeResult, ChainBake
from .run import bake, bake_steps, read_report

__all__ = ("BakeResult", "BakeSettings", "ChainBake", "bake", "bake_steps", "read_report")
