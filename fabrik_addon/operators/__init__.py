# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each turns Blender's context and its own options into one call of a use case, and reports."""

from . import chains, goals, limits, solving, start_pose

CLASSES = (*chains.CLASSES, *goals.CLASSES, *solving.CLASSES, *start_pose.CLASSES, *limits.CLASSES)
