# SPDX-License-Identifier: GPL-3.0-or-later
"""The target and the pole of a chain, where it has them, where they stand, and which rotation its tip is to have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..errors import InvalidValueError, TargetError, place_of
from ..finite import are_finite
from ..maths import Q4, V3, Doubles, multiplied, normalized, v3
from ..messages import Message
from .schema.chain import FabrikChain
from .targets import kind_of, resolve_point, resolve_turn
from .walk_goals import is_walked, walk_goal


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
    def name(self) -> str | Message:
        """How a message calls it, quoted."""
        return kind_of(self.found, self.bone).name_of(self.found, self.bone)


class GoalPoints(NamedTuple):
    """Where the goals of a chain stand, in world space.

    Attributes:
        target: Where the tip is to go.
        pole: Towards which the chain bends, or None.
        turn: The rotation in the world that the last bone is to have, or None.
    """

    target: Sequence[float]
    pole: Sequence[float] | None = None
    turn: Q4 | None = None


class GoalArrays(NamedTuple):
    """Where the goals of a chain stand in F frames, in world space; see `goals.GoalPoints`.

    Attributes:
        target: (F, 3).
        pole: (F, 3), or None.
        turn: (F, 4), or None.
    """

    target: Doubles
    pole: Doubles | None = None
    turn: Doubles | None = None


def goals_of(chain: FabrikChain) -> list[GoalRef]:
    """The target, then the pole, as far as they are set; a chain that walks goes to its footholds instead."""
    target = None if is_walked(chain) else chain.target
    pairs = (("target", target, chain.target_bone), ("pole", chain.pole, chain.pole_bone))
    return [GoalRef(role, found, bone) for role, found, bone in pairs if found is not None]


def goal_of(chain: FabrikChain, role: str) -> GoalRef | None:
    """The target or the pole of a chain; None where it has none."""
    return next((goal for goal in goals_of(chain) if goal.role == role), None)


def turns_tip(chain: FabrikChain) -> bool:
    """Whether the last bone of a chain is to have a rotation."""
    return chain.kind == "REACH" and chain.orientation != "FREE" and chain.orientation_weight > 0.0


def read_points(
    chain: FabrikChain, depsgraph: bpy.types.Depsgraph, target: Sequence[float] | None = None
) -> GoalPoints:
    """Where the goals of a chain stand, evaluated; that it has a target or a pin is checked before (`checks`).

    Args:
        chain: A chain.
        depsgraph: Evaluated for the frame in question.
        target: Where the effector is to go, in world space, in place of the chain's target.

    Raises:
        FabrikError: Target or pole can't be read, or a number that is held makes no sense.
    """
    asked = [goal for goal in goals_of(chain) if target is None or goal.role != "target"]
    with place_of(chain=chain.name):
        found = {role: resolve_point(role, goal, bone, depsgraph) for role, goal, bone in asked}
        point = found.get("target", target)
        turn = read_turn(chain, depsgraph)
        return GoalPoints(asked_point(chain, depsgraph) if point is None else point, found.get("pole"), turn)


def asked_point(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> V3:
    """Where a planned walk, or a pin without a target, wants the effector, in the world.

    Raises:
        InvalidValueError: It is nowhere, or the walk can't be read.
    """
    walk = walk_goal(chain, depsgraph)
    return walk.place if walk is not None else held_point(chain)


def held_point(chain: FabrikChain) -> V3:
    """Where a pin without a target holds the effector, in the world.

    Raises:
        InvalidValueError: It is nowhere.
    """
    point = v3(chain.held_location)
    if not are_finite(point):
        raise InvalidValueError(Message("PIN_PLACE_NOT_FINITE"), chain=chain.name)
    return point


def read_turn(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Q4 | None:
    """The rotation in the world that the last bone of a chain is to have; None where it is free.

    Raises:
        FabrikError: The target can't be read, or what is held is no rotation.
    """
    if not turns_tip(chain):
        return None
    walk = walk_goal(chain, depsgraph)
    if walk is not None:
        return walk.turn
    if chain.orientation == "KEEP":
        return checked_turn(chain, chain.held_rotation)
    if chain.target is None:
        raise TargetError(Message("ROTATION_WITHOUT_TARGET"), chain=chain.name)
    offset = checked_turn(chain, chain.rotation_offset)
    return multiplied(resolve_turn(chain.target, chain.target_bone, depsgraph), offset)


def checked_turn(chain: FabrikChain, rotation: Sequence[float]) -> Q4:
    """A rotation that is stored with a chain, made unit.

    Raises:
        InvalidValueError: It is none.
    """
    if not are_finite(rotation) or not any(rotation):
        raise InvalidValueError(Message("PIN_ROTATION_NOT_FINITE"), chain=chain.name)
    return normalized(rotation)
