# SPDX-License-Identifier: GPL-3.0-or-later
"""How the solve of a chain ended: what there is to say of it, and how it is kept with the chain."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import degrees, radians

import bpy

from ..errors import FabrikError
from ..kernel import Solution
from ..rig.properties import FabrikChain

log = logging.getLogger(__name__)

POLE_MISSED = radians(0.5)
SAME_RESIDUAL = 1e-6


@dataclass(slots=True)
class Outcome:
    """How the solve of one chain ended.

    Attributes:
        chain: Its name.
        status: A status of the kernel, or REFUSED.
        residual: Distance from tip to target in scene units.
        passes: Passes used.
        blocking: Names of the bones whose limits hold the chain back.
        reason: Why it was refused, without rig and chain.
        refusal: The same with them.
        warnings: What the user should know although the chain was solved.
        is_lost: Whether keys of a bone take the pose back at the next change of frame.
        rig: Name of the armature object, where chains of several are solved.
    """

    chain: str
    status: str
    residual: float = 0.0
    passes: int = 0
    blocking: list[str] = field(default_factory=list)
    reason: str = ""
    refusal: str = ""
    warnings: list[str] = field(default_factory=list)
    is_lost: bool = False
    rig: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether the status tells all."""
        return not (self.warnings or self.blocking or self.reason)

    def says(self, other: Outcome) -> bool:
        """Whether it says the same as another, but for numbers."""
        return (self.status, self.blocking, self.reason, self.warnings) == (
            other.status,
            other.blocking,
            other.reason,
            other.warnings,
        )


def outcome_of(name: str, solution: Solution, bones: Sequence[str], residual: float, uneven: str = "") -> Outcome:
    """What there is to say of a solution.

    Args:
        name: Of the chain.
        solution: What the kernel found.
        bones: Names of the n bones.
        residual: Distance from tip to target in scene units.
        uneven: The bone whose scale makes the chain's lengths depend on its pose, or "".
    """
    blocking = [bones[i] for i in solution.blocking]
    outcome = Outcome(name, solution.status.value, residual, solution.passes, blocking)
    for bone, angle in zip(blocking, solution.give, strict=False):
        if angle is not None:
            outcome.warnings.append(f"{bone} would have to give {degrees(angle):.3g}°")
    warn_of_pole(outcome, solution.pole_error, "limits or the scale" if uneven else "limits")
    if uneven and outcome.status != "REACHED":
        outcome.warnings.append(
            f"the scale of bone '{uneven}' differs between its axes, so the chain is longer in some directions than "
            "in others"
        )
    return outcome


def warn_of_pole(outcome: Outcome, pole_error: float, cause: str = "limits") -> None:
    """Say where the bend is off its pole, by an angle in radians, and what may hold it back."""
    if pole_error > POLE_MISSED:
        outcome.warnings.append(f"the pole is missed by {degrees(pole_error):.0f}°, which {cause} hold back")


def refused(owner: bpy.types.Object, chain: FabrikChain, error: FabrikError) -> Outcome:
    """The outcome of a chain that could not be solved."""
    error.rig, error.chain = error.rig or owner.name, error.chain or chain.name
    log.warning("%s", error)
    return Outcome(chain.name, "REFUSED", reason=error.local, refusal=str(error))


def store(chain: FabrikChain, outcome: Outcome) -> None:
    """Keep the result with the chain; what is the same is not written, for every write makes Blender evaluate."""
    message = outcome.reason or "; ".join(outcome.warnings)
    found = {"status": outcome.status, "passes": outcome.passes, "message": message}
    for name, value in found.items():
        if getattr(chain, name) != value:
            setattr(chain, name, value)
    if abs(chain.residual - outcome.residual) > SAME_RESIDUAL * outcome.residual:
        chain.residual = outcome.residual
    if [bone.name for bone in chain.blocking_bones] != outcome.blocking:
        chain.blocking_bones.clear()
        for name in outcome.blocking:
            chain.blocking_bones.add().name = name
