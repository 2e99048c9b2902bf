# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each turns Blender's context and its own options into one call of a use case, and reports."""

from . import (
    baking,
    bodies,
    by_hand,
    chains,
    converting,
    dragging,
    goals,
    hovering,
    ik_fk,
    limits,
    manual,
    mappings,
    mirroring,
    pinning,
    recording,
    reporting,
    setting_up,
    single_user,
    solving,
    start_pose,
)

MODULES = (
    setting_up,
    mappings,
    chains,
    converting,
    goals,
    ik_fk,
    solving,
    baking,
    reporting,
    dragging,
    hovering,
    recording,
    start_pose,
    by_hand,
    limits,
    pinning,
    bodies,
    manual,
    mirroring,
    single_user,
)
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
