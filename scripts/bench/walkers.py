# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 9: walkers, planned and beside a naive one; as Blender shows them; what planning and playing cost."""

from __future__ import annotations

from pathlib import Path

from .tables import Group
from .timing import Scale
from .walker_cost import cost, growth
from .walker_live import in_blender
from .walker_quality import quality, strides


def measured(scale: Scale, folder: Path) -> Group:
    """The tables of the group."""
    return Group(
        "9", "Walkers", [*quality(scale), strides(scale), in_blender(scale), cost(scale, folder), growth(scale)]
    )
