# SPDX-License-Identifier: GPL-3.0-or-later
"""What `benchmark.py` is made of: problems, contenders, and the tables that come of them.

A group's module has `measured(scale)`, which returns its tables. It is imported once the extension is enabled.
"""

# By the key that the command line takes, and with which the titles of its tables begin: the heading of a group, and its
# module in this package.
GROUPS = {
    "1": ("One solve, and many at once", "one_solve"),
    "2": ("Growth with bones, chains and frames", "growth"),
    "3": ("Live posing", "live"),
    "4": ("Baking", "baking"),
    "5": ("Limits: who reaches, and how near", "limits"),
    "6": ("Bodies", "bodies"),
    "7": ("Smoothness: drags and paths", "smoothness"),
    "8": ("Walks as they are planned", "walks"),
    "9": ("Walks in Blender", "walks_in_blender"),
    "10": ("Bodies as posed by hand", "posing"),
    "11": ("Motion", "motion"),
}
