# SPDX-License-Identifier: GPL-3.0-or-later
"""The groups of the benchmark, by the key that the command line takes and with which their tables' titles begin.

A group's module has `measured(scale)`, which returns its tables. It is imported once the extension is enabled.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A group.

    Attributes:
        title: Its heading.
        module: Name of its module in this package.
    """

    title: str
    module: str


GROUPS = {
    "1": Entry("One solve, and many at once", "one_solve"),
    "2": Entry("Growth with bones, chains and frames", "growth"),
    "3": Entry("Live posing", "live"),
    "4": Entry("Baking", "baking"),
    "5": Entry("Limits: who reaches, and how near", "limits"),
    "6": Entry("Bodies", "bodies"),
    "7": Entry("Smoothness: drags and paths", "smoothness"),
    "8": Entry("Walks as they are planned", "walks"),
    "9": Entry("Walks in Blender", "walks_in_blender"),
}
