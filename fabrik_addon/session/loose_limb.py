# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb that is posed for once, without a chain: what stands for a chain to all that reads one. Nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import bpy

from ..errors import BoneError
from ..kernel import DEFAULT_MAX_PASSES, DEFAULT_RESTARTS, DEFAULT_TOLERANCE
from ..rig.chain_bones import bones_to, resolve_bones
from ..rig.properties import FabrikCapturedRotation, FabrikChain, rig_of
from .selected_limbs import limb_length


@dataclass(slots=True)
class _LooseLimb:
    """The settings of a chain that is not there; see `FabrikChain`."""

    name: str
    tip_bone: str
    bone_count: int
    enabled: bool = False
    target: None = None
    target_bone: str = ""
    pole: None = None
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


def loose_limb(owner: bpy.types.Object, tip: str) -> FabrikChain:
    """What stands for the chain of the limb that a bone ends.

    Args:
        owner: The armature object.
        tip: Name of the bone.

    Raises:
        ChainError: The armature has no such bone.
        BoneError: A bone of the limb is posed live by a chain, which would take it back.
    """
    count = limb_length(owner, tip)
    names = {bone.name for bone in bones_to(owner, tip, count)}
    for chain in rig_of(owner).chains if rig_of(owner).live else ():
        if not chain.enabled or chain.target is None:
            continue
        shared = [bone.name for bone in resolve_bones(owner, chain) if bone.name in names]
        if shared:
            reason = f"the chain '{chain.name}' poses it live: drag the tip of that chain, or switch Live off"
            raise BoneError(reason, rig=owner.name, bone=shared[-1])
    return cast("FabrikChain", _LooseLimb(f"limb of {tip}", tip, count))
