# SPDX-License-Identifier: GPL-3.0-or-later
"""How the solve of a chain ended: what there is to say of it, and how it is kept with the chain."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import degrees, radians

from ..errors import FabrikError
from ..kernel import PIN, Status
from ..rig.asked import Asked
from ..rig.figures import ChainSet
from ..rig.prepared import Prepared
from ..rig.properties import FabrikChain
from .posing import Ended, Posed

log = logging.getLogger(__name__)

POLE_MISSED = radians(0.5)
SAME_RESIDUAL = 1e-6


@dataclass(slots=True)
class Outcome:
    """How the solve of one chain ended.

    Attributes:
        chain: Its name.
        status: A status of the kernel, or REFUSED.
        residual: Distance from effector to target in scene units.
        turn_residual: Angle in radians by which the tip is off the rotation that it is to have.
        softened: Distance in scene units from the target to where soft reach put it.
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
    turn_residual: float = 0.0
    softened: float = 0.0

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


def outcomes_of(item: Posed) -> list[Outcome]:
    """What there is to say of chains that were solved together, in their order."""
    pinned = [one.chain for one in item.prepared.asked if one.rank == PIN and one.weight > 0.0]
    return [_outcome(item, one, ended, pinned) for one, ended in zip(item.prepared.asked, item.ended, strict=True)]


def _outcome(item: Posed, one: Asked, ended: Ended, pinned: Sequence[str]) -> Outcome:
    blocking = [item.prepared.bones[i] for i in ended.blocking]
    outcome = Outcome(one.chain, ended.status.value, ended.residual, item.solution.passes, blocking)
    outcome.turn_residual, outcome.softened = ended.turn_residual, ended.softened
    for bone, angle in zip(blocking, ended.give, strict=False):
        if angle is not None:
            outcome.warnings.append(f"{bone} would have to give {degrees(angle):.3g}°")
    if ended.status is not Status.REACHED:
        outcome.warnings += _held_by(item.prepared, one, pinned)
    warn_of_pole(outcome, ended.pole_error, "limits or the scale" if item.uneven else "limits")
    if item.uneven and outcome.status != "REACHED":
        outcome.warnings.append(
            f"the scale of bone '{item.uneven}' differs between its axes, so the chain is longer in some directions "
            "than in others"
        )
    return outcome


def _held_by(prepared: Prepared, one: Asked, pinned: Sequence[str]) -> list[str]:
    """Which other chains keep a chain from its goal, as sentences: the pins, which come first; else all beside it."""
    others = [name for name in pinned if name != one.chain]
    if others:
        names = " and ".join(f"'{name}'" for name in others)
        verb = "can't be held together with" if one.rank == PIN else "gives way to"
        return [f"it {verb} the pin{'s' if len(others) > 1 else ''} of {names}"]
    beside = [f"'{name}'" for name in prepared.chains if name != one.chain]
    return [f"it shares its bones with {' and '.join(beside)}, each with its goal"] if beside else []


def warn_of_pole(outcome: Outcome, pole_error: float, cause: str = "limits") -> None:
    """Say where the bend is off its pole, by an angle in radians, and what may hold it back."""
    if pole_error > POLE_MISSED:
        outcome.warnings.append(f"the pole is missed by {degrees(pole_error):.0f}°, which {cause} hold back")


def refused(chain_set: ChainSet, chain: FabrikChain, error: FabrikError) -> Outcome:
    """The outcome of one of the chains that could not be solved together."""
    owner = chain_set.owner
    error.rig, error.chain = error.rig or owner.name, error.chain or chain_set.names[0]
    reason = error.local
    if error.chain == chain.name:
        log.warning("%s", error)
    else:
        reason = f"it is solved together with '{error.chain}', which can't be: {reason}"
    return Outcome(chain.name, "REFUSED", reason=reason, refusal=f"{owner.name}, chain '{chain.name}': {reason}")


def store(chain: FabrikChain, outcome: Outcome) -> None:
    """Keep the result with the chain; what is the same is not written, for every write makes Blender evaluate."""
    message = outcome.reason or "; ".join(outcome.warnings)
    found = {"status": outcome.status, "passes": outcome.passes, "message": message}
    for name, value in found.items():
        if getattr(chain, name) != value:
            setattr(chain, name, value)
    for name in ("residual", "turn_residual", "softened"):
        number = getattr(outcome, name)
        if abs(getattr(chain, name) - number) > SAME_RESIDUAL * number:
            setattr(chain, name, number)
    if [bone.name for bone in chain.blocking_bones] != outcome.blocking:
        chain.blocking_bones.clear()
        for name in outcome.blocking:
            chain.blocking_bones.add().name = name
