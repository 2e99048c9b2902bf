# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and preferences."""

from . import gizmos, menus, motion, panels, preferences

MODULES = (preferences, menus, panels, motion, gizmos)
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
