# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 7: nearest poses of many kinds of limbs, and how costs grow."""

from __future__ import annotations

from . import growth
from .limb_families import from_nearest
from .tables import Group
from .timing import Scale


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    return Group("7", "Nearest poses, and growth", [from_nearest(scale), *growth.tables(scale)])
