# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain may do with its target: by kinds their settings, goals of the kernel, what is missed, drawn and told.

What a goal asks of joints stands in the kernel, one file each. Here stands what the rest has to know of it: a new kind
is one file there, its name in `kernel/names.py`, and one class here, listed in `GOAL_KINDS`, of which properties,
panel, button, live, drag, bake and overlay hear. Nothing here needs Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernel import Aim, Goal, Point
from ..maths import ORIGIN, V3, Doubles, v3
from ..messages import Message


class GoalKind:
    """What chains of a kind do with their targets; the chains are handed to its methods.

    Attributes:
        kind: The name by which scripts set it.
        number: Under which files store it: never changed, and never given to another kind.
        label: The name on the panel.
        description: One sentence for its tooltip.
        own: Names of the settings of chains whose numbers its goal needs besides; lengths are in units of the armature.
        settings: Names of the settings of a chain that it heeds, in the order of the panel; of the others "soft",
            "stretch" and "body_helps" count as off.
        aims: Whether an axis of the last bone is turned, the setting `aim_axis`, and no effector is brought to a place.
            Then no pole is heeded, and no rotation of the tip.
        is_exact: Whether what is missed of a place is all of the way to the target.
        idle: What is told of a chain that is switched off and has no target.
        ik_refusal: Why Blender's IK can't do what it does; None where it can.
        reached: What is told of one whose goal is met; None where that is what is told of a target that is reached.
    """

    kind: str
    number: int
    label: str
    description: str
    own: tuple[str, ...] = ()
    settings: tuple[str, ...] = ("weight",)
    aims = False
    is_exact = False
    idle = Message("IDLE")
    ik_refusal: Message | None = Message("NO_SUCH_IK_GOAL")
    reached: Message | None = None

    def goal(self, asked: Any, target: Sequence[float]) -> Goal:
        """The goal of the kernel.

        Args:
            asked: A `ChainGoal`; its `options` are the numbers of `own`.
            target: Three numbers of a row: where the target is, in the frame `asked.frame`.
        """
        raise NotImplementedError

    def left(self, options: Sequence[float], off: Doubles) -> Doubles:
        """What is missed of a place: the rest of vectors (F, 3) from effectors to targets, in units of the armature."""
        return off

    def outline(self, options: Sequence[float]) -> tuple[tuple[V3, ...], ...]:
        """Curves that are drawn about the target, in the axes and units of the armature."""
        return ()


class ReachKind(GoalKind):
    """The effector comes to the target."""

    kind, number, label, description = "REACH", 0, "Reach", "Bring the tip to the target"
    settings = ("weight", "soft", "stretch", "body_helps")
    is_exact = True
    idle, ik_refusal = Message("IDLE_REACH"), None

    def goal(self, asked: Any, target: Sequence[float]) -> Goal:
        last, root, offset = asked.joints[-1], asked.joints[0], ORIGIN if asked.at_head else None
        reach = {"soft": asked.soft, "root": root, "stretch": asked.stretch}
        return Point(last, target, asked.weight, offset, asked.rank, **reach, frame=asked.frame)


class AimKind(GoalKind):
    """An axis of the last bone points at the target."""

    kind, number, label = "AIM", 1, "Aim"
    description = "Point an axis of the tip bone at the target: heads, eyes, turrets"
    settings = ("aim_axis", "weight")
    aims = True
    idle, ik_refusal, reached = Message("IDLE_AIM"), Message("AIM_NOT_OF_IK"), Message("AIMS")

    def goal(self, asked: Any, target: Sequence[float]) -> Goal:
        return Aim(asked.joints[-1], asked.axis, target, asked.weight, asked.rank, frame=asked.frame)


REACH, AIM = ReachKind(), AimKind()
KINDS: tuple[GoalKind, ...] = (REACH, AIM)  # in the order of the panel
GOAL_KINDS: dict[str, GoalKind] = {found.kind: found for found in KINDS}


def options_of(chain: Any) -> tuple[float, ...]:
    """The numbers of a chain that its kind has of its own."""
    return tuple([getattr(chain, name) for name in GOAL_KINDS[chain.kind].own])


def left_of(chain: Any, off: V3) -> V3:
    """What a chain misses of a vector from its effector to its target, in axes and units of the armature."""
    kind = GOAL_KINDS[chain.kind]
    return off if kind.is_exact else v3(kind.left(options_of(chain), np.array([off]))[0].tolist())
