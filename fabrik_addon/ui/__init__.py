# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, lists and preferences."""

from ..operators import classes_of
from . import gizmos, menus, motion, panels, preferences

MODULES = (preferences, menus, panels, motion, gizmos)
CLASSES = classes_of(MODULES)
