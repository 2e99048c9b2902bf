# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 8: bodies with several goals, pins and hips that move."""

from __future__ import annotations

from pathlib import Path

from .body_drags import drags
from .body_kernel import cost
from .body_live import frames
from .body_success import success
from .body_tree import beside_blender
from .tables import Group
from .timing import Scale


def measured(scale: Scale, folder: Path) -> Group:
    """The tables of the group."""
    return Group(
        "8", "Bodies", [success(scale), drags(scale), beside_blender(scale), frames(scale, folder), cost(scale)]
    )
