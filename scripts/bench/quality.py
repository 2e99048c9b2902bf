# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 6: how good the answers are, beside those of version 0.1.0."""

from __future__ import annotations

from .convergence import papers_table, passes_of_free_chains
from .limb_families import blocked
from .smoothness import smoothness
from .success import success
from .tables import Group
from .timing import Scale


def measured(scale: Scale) -> Group:
    """The tables of the group."""
    tables = [passes_of_free_chains(scale), papers_table(scale), success(scale), smoothness(scale), blocked(scale)]
    return Group("6", "Passes, success, smoothness, BLOCKED", tables)
