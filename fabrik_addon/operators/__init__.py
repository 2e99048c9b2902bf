# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: each turns Blender's context and its own options into one call of a use case, and reports."""

from collections.abc import Iterable
from types import ModuleType

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


def classes_of(modules: Iterable[ModuleType]) -> tuple[type, ...]:
    """What modules have for Blender to register, as it stands in them; no bases of it."""
    return tuple(
        cls
        for module in modules
        for name, cls in vars(module).items()
        if isinstance(cls, type) and cls.__module__ == module.__name__ and name.startswith(("FABRIK_", "FabrikSetup"))
    )


CLASSES = classes_of(MODULES)
