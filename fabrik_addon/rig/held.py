# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pin or a kept rotation holds, read from a pose as it stands, and stored with the chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy

from ..errors import InvalidValueError
from ..finite import are_finite
from ..maths import Q4, V3, conjugated, multiplied, normalized, v3
from ..messages import Message
from .chain_bones import pose_bones
from .kinematics import world_turn
from .schema.chain import FabrikChain
from .targets import kind_of

ROUNDED = 1e-6  # share by which what is stored in single precision may differ from what stands


class Held(NamedTuple):
    """How the tip bone of a chain stands in the world.

    Attributes:
        location: Of the effector, its head or its tail.
        rotation: How the bone is turned.
    """

    location: V3
    rotation: Q4


def read_held(posed: bpy.types.Object, name: str, effector: str) -> Held:
    """How a bone stands.

    Args:
        posed: The armature object as it was evaluated; or itself, for how it was when the view was drawn last.
        name: Of the bone.
        effector: "HEAD" or "TAIL", whose place it is.

    Raises:
        InvalidValueError: It stands nowhere.
    """
    bone = pose_bones(posed)[name]
    place = posed.matrix_world @ (bone.head if effector == "HEAD" else bone.tail)
    if not are_finite([*place, *(value for row in bone.matrix for value in row)]):
        raise InvalidValueError(Message("POSE_NOT_FINITE"), rig=posed.name, bone=name)
    return Held(v3(place), world_turn(posed, bone))


def store_held(chain: FabrikChain, held: Held) -> None:
    """Keep place and rotation with a chain."""
    store(chain, "held_location", held.location)
    store(chain, "held_rotation", held.rotation)


def offset_from_target(chain: FabrikChain, rotation: Q4, target: bpy.types.Object) -> Q4:
    """A rotation of the world as a chain's target sees it.

    Args:
        chain: It has a target.
        rotation: Of its tip bone.
        target: The target as it was evaluated; or itself.

    Raises:
        FabrikError: The target has no such bone, or no rotation.
    """
    turn = kind_of(target, chain.target_bone).turn("target", target, chain.target_bone)
    if not are_finite(turn):
        raise InvalidValueError(Message("TARGET_ROTATION_NOT_FINITE", target=target.name), chain=chain.name)
    return normalized(multiplied(conjugated(turn), rotation))


def was_held(chain: FabrikChain, name: str) -> bool:
    """Whether a place or rotation was ever stored with a chain."""
    group: Any = chain
    return bool(group.is_property_set(name))


def store(chain: FabrikChain, name: str, values: Sequence[float]) -> None:
    """Store a place or rotation that a chain holds; the same is not written, for every write makes Blender evaluate.

    Args:
        chain: The chain.
        name: `held_location`, `held_rotation` or `rotation_offset`.
        values: Three numbers of a place, or four of a rotation (w, x, y, z).
    """
    kept = getattr(chain, name)
    if not was_held(chain, name) or any(abs(a - b) > ROUNDED * abs(b) for a, b in zip(kept, values, strict=True)):
        setattr(chain, name, values)
