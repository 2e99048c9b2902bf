# SPDX-License-Identifier: GPL-3.0-or-later
"""German, in the terms of Blender's own German."""

from __future__ import annotations

from . import labels, limits, operators, panels, recognition, refusals, reports, settings, walks

TEXTS = (
    operators.TEXTS,
    settings.TEXTS,
    panels.TEXTS,
    reports.TEXTS,
    refusals.TEXTS,
    limits.TEXTS,
    recognition.TEXTS,
    walks.TEXTS,
)
LABELS = (labels.LABELS,)
