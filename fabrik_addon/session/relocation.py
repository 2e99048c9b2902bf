# SPDX-License-Identifier: GPL-3.0-or-later
"""Where goals and pins are to go so that solving leaves a pose, and putting and keying them there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import bpy
from mathutils import Vector

from ..rig.goals import GoalRef
from ..rig.held import Held, store_held
from ..rig.keys import (
    held_curves,
    insert_goal_key,
    insert_goal_keys,
    insert_held_key,
    insert_pin_keys,
    insert_turn_key,
    insert_turn_keys,
)
from ..rig.placing import location_curves, put, put_turn, turn_curves
from ..rig.schema import FabrikChain

Key: TypeAlias = tuple[str, str]  # full name of an object, and which of its bones or pins is meant; "" for itself


class Moved(Protocol):
    """A goal or a pin that Snap moves: it can be put in place and keyed, and names its curves."""

    @property
    def key(self) -> Key:
        """Its identity: two with the same key are the same thing, which is moved once."""
        ...

    def put(self) -> None:
        """Put it there."""
        ...

    def key_at(self, frame: float) -> None:
        """Key it as it is, at a frame."""
        ...

    def key_itself(self, context: bpy.types.Context) -> None:
        """Key it where automatic keying is on."""
        ...

    def curves(self) -> list[bpy.types.FCurve]:
        """The curves in which it is keyed."""
        ...


class Relocation(NamedTuple):
    """Where a target or pole is to go.

    Attributes:
        goal: The goal.
        location: Its location channels.
        turn: Its rotation channels; None where its rotation does not count.
    """

    goal: GoalRef
    location: Vector
    turn: Sequence[float] | None = None

    @property
    def key(self) -> Key:
        return self.goal.key

    def put(self) -> None:
        put(self.goal, self.location)
        if self.turn is not None:
            put_turn(self.goal, self.turn)

    def key_at(self, frame: float) -> None:
        insert_goal_key(self.goal, frame)
        if self.turn is not None:
            insert_turn_key(self.goal, frame)

    def key_itself(self, context: bpy.types.Context) -> None:
        insert_goal_keys(context, self.goal)
        if self.turn is not None:
            insert_turn_keys(context, self.goal)

    def curves(self) -> list[bpy.types.FCurve]:
        return location_curves(self.goal) + (turn_curves(self.goal) if self.turn is not None else [])


class HeldThere(NamedTuple):
    """What a chain is to hold: the place of a pin without target, or the rotation that its tip keeps.

    Attributes:
        owner: The armature object.
        chain: The chain.
        held: Place and rotation in the world.
    """

    owner: bpy.types.Object
    chain: FabrikChain
    held: Held

    @property
    def key(self) -> Key:
        return self.owner.name_full, f"held by {self.chain.name}"

    def put(self) -> None:
        store_held(self.chain, self.held)

    def key_at(self, frame: float) -> None:
        insert_held_key(self.owner, self.chain, frame)

    def key_itself(self, context: bpy.types.Context) -> None:
        insert_pin_keys(context, self.owner, self.chain)

    def curves(self) -> list[bpy.types.FCurve]:
        return held_curves(self.owner, self.chain)
