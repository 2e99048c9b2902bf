# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and preferences."""

from . import baking, gizmos, menus, motion, panels, preferences, viewing, walking

CLASSES = (
    *preferences.CLASSES,
    *menus.CLASSES,
    *panels.CLASSES,
    *motion.CLASSES,
    *baking.CLASSES,
    *walking.CLASSES,
    *viewing.CLASSES,
    *gizmos.CLASSES,
)
