# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and preferences."""

from . import baking, gizmos, menus, motion, panels, preferences, viewing, walking

MODULES = (preferences, menus, panels, motion, baking, walking, viewing, gizmos)
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
