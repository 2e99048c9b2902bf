# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for chains while a bone is dragged: a solve reads them as it reads a chain, and nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import bpy

from ..kernel import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE
from ..rig.schema import NO_ROTATION, FabrikCapturedRotation, FabrikChain


@dataclass(slots=True)
class LooseLimb:
    """Stands in for a chain where a bone without one is dragged; never stored.

    Has those attributes of `FabrikChain` that a solve reads.
    """

    name: str
    tip_bone: str
    bone_count: int
    effector: str = "TAIL"
    enabled: bool = False
    target: None = None
    target_bone: str = ""
    target_name: str = ""
    pole: bpy.types.Object | None = None
    pole_bone: str = ""
    pole_angle: float = 0.0
    tolerance: float = DEFAULT_TOLERANCE
    max_passes: int = DEFAULT_MAX_PASSES
    restarts: int = DEFAULT_RESTARTS
    use_plain: bool = False
    influence: float = 1.0
    start: str = "REST"
    captured: list[FabrikCapturedRotation] = field(default_factory=list)
    status: str = "NONE"
    kind: str = "REACH"
    weight: float = 1.0
    pin: bool = False
    orientation: str = "FREE"
    orientation_weight: float = 1.0
    held_rotation: tuple[float, ...] = NO_ROTATION
    aim_axis: tuple[float, ...] = (0.0, 1.0, 0.0)
    stretch: float = 1.0
    soft: float = 0.0
    id_data: None = None  # it is stored nowhere


def loose_limb(name: str, tip: str, bone_count: int, end: str) -> FabrikChain:
    """A stand-in for the chain of a limb that has none.

    Args:
        name: By which it is told from the chains.
        tip: Name of its last bone.
        bone_count: Number of its bones.
        end: "HEAD" or "TAIL": which end of the last bone has a goal.
    """
    return cast("FabrikChain", LooseLimb(name, tip, bone_count, end))


def loose_chain(chain: FabrikChain, bone_count: int, *, is_alone: bool) -> FabrikChain:
    """A stand-in for a chain whose tip is dragged: with its pole, and at full influence.

    Args:
        chain: The chain.
        bone_count: How many of its bones take part.
        is_alone: Whether nothing else does: a goal that gives way softly would leave the body where it is.
    """
    found = LooseLimb(chain.name, chain.tip_bone, bone_count, chain.effector)
    found.pole, found.pole_bone, found.pole_angle = chain.pole, chain.pole_bone, chain.pole_angle
    found.tolerance, found.max_passes, found.restarts = chain.tolerance, chain.max_passes, chain.restarts
    found.use_plain, found.stretch = chain.use_plain, chain.stretch
    found.soft = chain.soft if is_alone else 0.0
    return cast("FabrikChain", found)
