# SPDX-License-Identifier: GPL-3.0-or-later
"""What `benchmark.py` is made of: problems, contenders, and the tables that come of them.

Modules of groups are imported once the extension is enabled.
"""

# By the key that the command line takes, and with which the titles of its tables begin: the heading of a group, its
# module in this package, and the functions there that measure, each for a table.
GROUPS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "1": ("One solve, and many at once", "solving", ("free", "limited", "many")),
    "2": ("Growth with bones, chains and frames", "solving", ("bones", "chains", "bakes")),
    "3": ("Live posing", "live", ("limbs", "characters")),
    "4": ("Baking", "live", ("baking",)),
    "5": ("Limits: who reaches", "solving", ("reachable_targets",)),
    "6": ("Bodies", "bodies", ("success", "cost")),
    "7": ("Smoothness", "bodies", ("paths", "jumps")),
    "9": ("Walks in Blender", "walks", ("walked", "cost", "rigs_of_people")),
    "10": ("Bodies that are dragged", "posing", ("drags",)),
    "11": ("Motion", "posing", ("clips", "transfers")),
}
