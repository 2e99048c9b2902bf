# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each turns Blender's context and its own options into one call of a use case, and reports."""

from . import (
    baking,
    chains,
    contacts,
    dragging,
    goals,
    limits,
    manual,
    motion,
    picking,
    pinning,
    setup,
    solving,
    transfer,
    walking,
)

MODULES = (
    setup, chains, goals, solving, baking, motion, transfer, contacts, dragging, picking, limits, pinning,
    walking, manual,
)  # fmt: skip
CLASSES = tuple(
    cls
    for module in MODULES
    for name, cls in vars(module).items()
    if isinstance(cls, type) and cls.__module__ == module.__name__ and name.startswith(("FABRIK_OT_", "FabrikSetup"))
)
