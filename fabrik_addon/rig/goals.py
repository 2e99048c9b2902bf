# SPDX-License-Identifier: GPL-3.0-or-later
"""The target and the pole of a chain, where it has them, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from .properties import FabrikChain
from .targets import kind_of, resolve_point


class GoalRef(NamedTuple):
    """What a chain is to reach, or towards which it bends.

    Attributes:
        role: "target" or "pole".
        found: The object.
        bone: Name of a bone of it, or "".
    """

    role: str
    found: bpy.types.Object
    bone: str

    @property
    def key(self) -> tuple[str, str]:
        """The object by its full name, and the bone: what tells it from another, as `dependencies.carriers_of` does."""
        return self.found.name_full, self.bone if self.found.type == "ARMATURE" else ""

    @property
    def name(self) -> str:
        """How a message calls it, quoted."""
        return kind_of(self.found, self.bone).name_of(self.found, self.bone)


class GoalPoints(NamedTuple):
    """Where the goals of a chain stand, in world space.

    Attributes:
        target: Where the tip is to go.
        pole: Towards which the chain bends, or None.
    """

    target: Sequence[float]
    pole: Sequence[float] | None = None


def goals_of(chain: FabrikChain) -> list[GoalRef]:
    """The target, then the pole, as far as they are set."""
    pairs = (("target", chain.target, chain.target_bone), ("pole", chain.pole, chain.pole_bone))
    return [GoalRef(role, found, bone) for role, found, bone in pairs if found is not None]


def goal_of(chain: FabrikChain, role: str) -> GoalRef | None:
    """The target or the pole of a chain; None where it has none."""
    return next((goal for goal in goals_of(chain) if goal.role == role), None)


def read_points(
    chain: FabrikChain, depsgraph: bpy.types.Depsgraph, target: Sequence[float] | None = None
) -> GoalPoints:
    """Where the goals of a chain stand, evaluated; that it has a target is checked before (`checks.check_goal`).

    Args:
        chain: A chain.
        depsgraph: Evaluated for the frame in question.
        target: Where the tip is to go, in world space, in place of the chain's target.

    Raises:
        FabrikError: Target or pole can't be read.
    """
    asked = [goal for goal in goals_of(chain) if target is None or goal.role != "target"]
    found = {role: resolve_point(role, goal, bone, depsgraph) for role, goal, bone in asked}
    return GoalPoints(found["target"] if target is None else target, found.get("pole"))
