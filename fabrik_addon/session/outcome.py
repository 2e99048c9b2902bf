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
from ..rig.schema import FabrikChain
from ..texts import Text, joined, quoted, worded
from .posing import Ended, Posed

log = logging.getLogger(__name__)

POLE_MISSED = radians(0.5)  # between a bend and its pole from which that is told
SAME_RESIDUAL = 1e-6  # share by which numbers may differ from what is stored without being written
MOST_MESSAGES = 1000  # that `message_of` remembers

_messages: dict[str, str] = {}  # texts of this session by their English, which is all that a file stores of them


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
        """Whether the status tells all: no warning, no blocking bone, no refusal."""
        return not (self.warnings or self.blocking or self.reason)

    def says(self, other: Outcome) -> bool:
        """Whether the words are the same as another's; numbers may differ."""
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
            outcome.warnings.append(Text("{bone} would have to give {angle:.3g}°", bone=bone, angle=degrees(angle)))
    if ended.status is not Status.REACHED:
        outcome.warnings += _held_by(item.prepared, one, pinned)
    warn_of_pole(outcome, ended.pole_error, is_uneven=bool(item.uneven))
    if item.uneven and outcome.status != "REACHED":
        outcome.warnings.append(
            Text(
                "the scale of bone '{bone}' differs between its axes, so the chain is longer in some directions "
                "than in others",
                bone=item.uneven,
            )
        )
    return outcome


def _held_by(prepared: Prepared, one: Asked, pinned: Sequence[str]) -> list[str]:
    """Which other chains keep a chain from its goal, as sentences: the pins, which come first; else all beside it."""
    others = [name for name in pinned if name != one.chain]
    if others:
        names = quoted(others)
        if one.rank == PIN and len(others) == 1:
            return [Text("it can't be held together with the pin of {name}", name=names)]
        if one.rank == PIN:
            return [Text("it can't be held together with the pins of {names}", names=names)]
        if len(others) == 1:
            return [Text("it gives way to the pin of {name}", name=names)]
        return [Text("it gives way to the pins of {names}", names=names)]
    beside = quoted([name for name in prepared.chains if name != one.chain])
    return [Text("it shares its bones with {chains}, each with its goal", chains=beside)] if beside else []


def warn_of_pole(outcome: Outcome, pole_error: float, is_uneven: bool = False) -> None:
    """Say where the bend is off its pole, by an angle in radians, and what may hold it back."""
    if pole_error > POLE_MISSED:
        angle = degrees(pole_error)
        text = Text("the pole is missed by {angle:.0f}°, which limits hold back", angle=angle)
        if is_uneven:
            text = Text("the pole is missed by {angle:.0f}°, which limits or the scale hold back", angle=angle)
        outcome.warnings.append(text)


def refused(chain_set: ChainSet, chain: FabrikChain, error: FabrikError) -> Outcome:
    """The outcome of one of the chains that could not be solved together."""
    owner = chain_set.owner
    error.rig, error.chain = error.rig or owner.name, error.chain or chain_set.names[0]
    reason = worded(error.local)
    if error.chain == chain.name:
        log.warning("%s", error)
    else:
        reason = Text(
            "it is solved together with '{chain}', which can't be: {reason}", chain=error.chain, reason=reason
        )
    refusal = Text("{armature}, chain '{chain}': {reason}", armature=owner.name, chain=chain.name, reason=reason)
    return Outcome(chain.name, "REFUSED", reason=reason, refusal=refusal)


def message_of(chain: FabrikChain) -> str:
    """What is stored of why a chain was refused, or what to look out for; as a `Text` where that is still known.

    It is stored in English; what was stored since Blender was started can be told in other languages, too.
    """
    return _messages.get(chain.message, chain.message)


def store(chain: FabrikChain, outcome: Outcome) -> None:
    """Keep the result with the chain; what is the same is not written, for every write makes Blender evaluate."""
    message = outcome.reason or joined("; ", outcome.warnings)
    if len(_messages) > MOST_MESSAGES:
        _messages.clear()
    _messages[message] = message
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
