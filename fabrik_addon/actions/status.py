# SPDX-License-Identifier: GPL-3.0-or-later
"""How the solve of a chain ended: what there is to say of it, how it is kept with the chain, and how it is told.

With the chain are kept a status, numbers, and what is to be looked out for: as an English sentence, and as the template
and fields that it is made of, from which the sentence is made in the user's language when it is drawn or reported.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import degrees, radians
from typing import NamedTuple

import bpy
import numpy as np

from ..errors import FabrikError
from ..kernel import PIN, STATUSES
from ..messages import ROLES, Message
from ..rig.bones import names_if_any
from ..rig.dependencies import absence_of, why_unfollowed
from ..rig.figure.chain_goal import ChainGoal
from ..rig.figure.goal_table import REACHED
from ..rig.figure.groups import ChainSet, lacks_goal
from ..rig.figure.solve import SolvedFigure, moved_since, state_of
from ..rig.goal_kinds import GOAL_KINDS
from ..rig.goals import goals_of
from ..rig.schema import FabrikChain, is_scene_live, owner_of, rig_of
from ..rig.walk_goals import is_of_walker
from ..texts import Text, joined, quoted, worded

log = logging.getLogger(__name__)

POLE_MISSED = radians(0.5)  # between a bend and its pole from which that is told
STRAIGHT = 0.999  # share of its length from which on a chain is stretched as far as it goes
SAME_RESIDUAL = 1e-6  # share by which numbers may differ from what is stored without being written
TURN_TOLD = 0.001  # radians, about a twentieth of a degree
STATUS_TEXTS = {
    "REACHED": Text("On target"),
    "TOO_FAR": Text("Target too far away"),
    "TOO_NEAR": Text("Target too near to the root"),
    "BLOCKED": Text("Held back by limits"),
    "REFUSED": Text("Refused"),
}
OF_PIN = {
    "REACHED": Text("Pin holds"),
    "TOO_FAR": Text("Pin too far away"),
    "TOO_NEAR": Text("Pin too near to the root"),
}
MOVED_TEXTS = {
    "target": Text("The target moved since"),
    "pole": Text("The pole moved since"),
    "armature": Text("The armature moved since"),
    "bones": Text("The pose was changed since"),
}
BAKED = Text("Baked: its keys play. Tick it to edit")
WAITING = Text("it is solved together with '{chain}', which can't be: {reason}")
GONE_TEXTS = {"target": Text("target gone"), "pole": Text("pole gone")}


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
        words = ("status", "blocking", "reason", "warnings")
        return all(getattr(self, name) == getattr(other, name) for name in words)


def outcomes_of(item: SolvedFigure) -> list[Outcome]:
    """What there is to say of chains that were solved together, in their order."""
    pinned = [one.chain for one in item.figure.goals if one.rank == PIN and one.weight > 0.0]
    return [_outcome(item, k, pinned) for k in range(len(item.figure.goals))]


def _outcome(item: SolvedFigure, k: int, pinned: Sequence[str]) -> Outcome:
    one, scale = item.figure.goals[k], item.scales[k].item()
    status, missed, turn, pole, softened = (part[0, k].item() for part in item.result)
    held = [(item.figure.bones[i], give) for i, give in item.held_back(k)]
    outcome = Outcome(one.chain, STATUSES[status].value, missed * scale, item.passes, [bone for bone, _ in held])
    outcome.turn_residual, outcome.softened = turn, softened * scale
    for bone, angle in held:
        if angle is not None:
            outcome.warnings.append(Text("{bone} would have to give {angle:.3g}°", bone=bone, angle=degrees(angle)))
    if status != REACHED:
        outcome.warnings += _held_by(item, one, pinned)
    if pole > POLE_MISSED:
        text = Text("the pole is missed by {angle:.0f}°, which limits hold back")
        if item.uneven:
            text = Text("the pole is missed by {angle:.0f}°, which limits or the scale hold back")
        outcome.warnings.append(Text(text, angle=degrees(pole)))
    if item.uneven and outcome.status != "REACHED":
        outcome.warnings.append(
            Text(
                "the scale of bone '{bone}' differs between its axes, so the chain is longer in some directions "
                "than in others",
                bone=item.uneven,
            )
        )
    return outcome


def _held_by(item: SolvedFigure, one: ChainGoal, pinned: Sequence[str]) -> list[str]:
    """Which other chains keep a chain from its goal, as sentences: the pins, which come first; else all beside it."""
    others = [name for name in pinned if name != one.chain]
    if others:
        names = quoted(others)
        if one.rank == PIN and len(others) == 1:
            return [Text("it can't be held together with the pin of {name}", name=names)]
        if one.rank == PIN:
            return [Text("it can't be held together with the pins of {names}", names=names)]
        held = Text("it gives way to the pins of {names}", names=names)
        if len(others) == 1:
            held = Text("it gives way to the pin of {name}", name=names)
        return [Text("its goal is too far away"), held] if _is_straight(item, one) else [held]
    beside = quoted([name for name in item.figure.chains if name != one.chain])
    return [Text("it shares its bones with {chains}, each with its goal", chains=beside)] if beside else []


def _is_straight(item: SolvedFigure, one: ChainGoal) -> bool:
    """Whether a chain is stretched to its goal, so that nothing but what carries it could bring it nearer."""
    joints = item.heads[[*one.joints]]
    if not one.at_head:
        joints = np.vstack((joints, item.ends[one.joints[-1]]))
    steps = np.vstack((np.diff(joints, axis=0), joints[-1] - joints[0]))
    *own, across = np.sqrt((steps**2).sum(axis=1)).tolist()
    return len(own) > 1 and not one.kind.aims and across >= STRAIGHT * sum(own)


def refused(chain_set: ChainSet, chain: FabrikChain, error: FabrikError) -> Outcome:
    """The outcome of one of the chains that could not be solved together."""
    owner = chain_set.owner
    error.rig, error.chain = error.rig or owner.name, error.chain or chain_set.names[0]
    reason = worded(error.local)
    if error.chain == chain.name:
        log.warning("%s", error)
    else:
        reason = Text(WAITING, chain=error.chain, reason=reason)
    return Outcome(chain.name, "REFUSED", reason=reason)


def store(chain: FabrikChain, outcome: Outcome) -> None:
    """Keep the result with the chain; what is the same is not written, for every write makes Blender evaluate."""
    message = outcome.reason or joined("; ", outcome.warnings)
    parts = json.dumps(_to_json(message)) if message else ""
    found = {"status": outcome.status, "passes": outcome.passes, "message": str(message), "message_parts": parts}
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


def message_of(chain: FabrikChain) -> str:
    """What is stored of why a chain was refused, or what to look out for; as a `Text` where its parts are known.

    Of one that an older version stored, or in which bones have got other names since, there is the English alone.
    """
    try:
        found = _from_json(json.loads(chain.message_parts))
    except (ValueError, TypeError, KeyError):
        return chain.message
    return found if isinstance(found, Text) and found == chain.message else chain.message


def waits_for(chain: FabrikChain) -> str:
    """The chain that can't be solved and for which alone another is refused, solved together with it; "" for none."""
    found = message_of(chain) if chain.status == "REFUSED" else ""
    return str(found.fields["chain"]) if isinstance(found, Text) and found.template == WAITING else ""


def _to_json(one: object) -> object:
    """A text, a message or a field of one as what can be stored."""
    if isinstance(one, Text | Message):
        fields = {name: _to_json(value) for name, value in one.fields.items()}
        told = {"code": one.code} if isinstance(one, Message) else {"template": one.template}
        return {**told, "fields": fields}
    return one if isinstance(one, int | float) else str(one)


def _from_json(data: object) -> object:
    """The text, message or field that was stored."""
    if not isinstance(data, dict):
        return data
    fields = data["fields"]
    found = {name: _from_json(value) for name, value in fields.items()} if isinstance(fields, dict) else {}
    return Message(str(data["code"]), **found) if "code" in data else Text(str(data["template"]), **found)


class ChainReport(NamedTuple):
    """What there is to say of a chain.

    Attributes:
        kind: Its status, or BAKED, GONE or OLD where that does not tell how things stand now.
        short: A few words beside its name; "" where the icon tells all.
        text: A sentence.
        holds: Whether distance and message of the last solve are of use beside it.
        distance: From tip to target in scene units, as they stand now; None where that is not of use.
    """

    kind: str
    short: str
    text: str
    holds: bool = False
    distance: float | None = None


def report_of(chain: FabrikChain, context: bpy.types.Context) -> ChainReport:
    """What there is to say of a chain now.

    Args:
        chain: The chain.
        context: Its view layer has the goals; its scene says whether live armatures follow theirs.
    """
    owner = owner_of(chain)
    data = owner.animation_data
    plays_keys = data is not None and (data.action is not None or len(data.nla_tracks) > 0)
    if chain.is_baked and not chain.enabled and plays_keys:
        return ChainReport("BAKED", Text("baked"), BAKED)
    gone = gone_goal(chain, context.view_layer)
    is_refused = chain.status == "REFUSED"
    if gone and not (is_refused and gone[0].startswith("pole")):  # it may be refused for more than that
        return ChainReport("GONE", gone[0], gone[1])
    if is_refused:
        return ChainReport("REFUSED", "", message_of(chain))
    if chain.status == "NONE":
        return ChainReport("NONE", Text("no target") if is_idle(chain) else "", status_text(chain))
    is_followed = chain.enabled and rig_of(owner).live and is_scene_live(context.scene)
    state = state_of(chain)
    moved = moved_since(chain, state, is_followed) if state is not None else ""
    if state is not None and moved:
        return ChainReport("OLD", Text("moved since"), MOVED_TEXTS[moved], distance=state.residual)
    return ChainReport(chain.status, "", status_text(chain), holds=True)


def is_idle(chain: FabrikChain) -> bool:
    """Whether a chain is switched off and nothing is asked of it, as spine and tail of a character are at first."""
    return not chain.enabled and not chain.is_baked and lacks_goal(chain)


def hint_of(chain: FabrikChain) -> str:
    """What else there is to say of a chain, whatever came of it: that nothing follows it; else ""."""
    owner = owner_of(chain)
    names = names_if_any(owner, chain)
    reason = why_unfollowed(owner, names) if names else None
    return worded(reason) if reason is not None else ""


def gone_goal(chain: FabrikChain, view_layer: bpy.types.ViewLayer | None) -> tuple[str, str] | None:
    """A goal of a chain that was deleted, or that the view layer has not: in a few words, and as a sentence."""
    for role, goal, name in (("target", chain.target, chain.target_name), ("pole", chain.pole, chain.pole_name)):
        if goal is None and name:
            return GONE_TEXTS[role], Text("Its {role} '{name}' was deleted", role=ROLES[role], name=name)
    for role, found, bone in goals_of(chain):
        absence = absence_of(found, view_layer) if view_layer is not None else None
        if absence is None and bone and found.pose is not None and bone not in found.pose.bones:
            absence = Message("HAS_NO_BONE", bone=bone)
        if absence is not None:
            text = Text("Its {role} '{name}' {absence}", role=ROLES[role], name=found.name, absence=absence)
            return GONE_TEXTS[role], text
    return None


def status_text(chain: FabrikChain) -> Text:
    """The status in words, with the bones that hold a blocked chain back."""
    if chain.status == "NONE" and not chain.enabled and (is_idle(chain) or not lacks_goal(chain)):
        return worded(GOAL_KINDS[chain.kind].idle) if is_idle(chain) else Text("Switched off: tick it to pose it")
    if chain.status == "NONE":
        has_goal = chain.target or chain.pin or is_of_walker(chain, rig_of(owner_of(chain)).walker)
        return Text("Not solved since the last change") if has_goal else Text("No target: add one, or pin it")
    reached = GOAL_KINDS[chain.kind].reached if chain.status == "REACHED" else None
    own = OF_PIN if chain.pin and not chain.aims else STATUS_TEXTS
    text = worded(reached) if reached is not None else own.get(chain.status, STATUS_TEXTS[chain.status])
    names = ", ".join(bone.name for bone in chain.blocking_bones)
    if chain.status == "BLOCKED" and not names and chain.message:  # which tells by what
        return Text("Held back")
    return joined(": ", (text, names)) if names else text


def measure_text(chain: FabrikChain, scene: bpy.types.Scene) -> Text:
    """What is left of distance and angle, and how far the soft goal is from the target; "" where nothing is."""
    parts = []
    if chain.status != "REACHED" and not chain.aims:
        parts.append(Text("{distance} off", distance=length_text(chain.residual, scene)))
    if chain.turn_residual > TURN_TOLD:
        parts.append(Text("{angle:.2g}° turned off", angle=degrees(chain.turn_residual)))
    if chain.softened > 0.0:
        parts.append(Text("soft goal {distance} before the target", distance=length_text(chain.softened, scene)))
    return joined(", ", parts)


def length_text(length: float, scene: bpy.types.Scene) -> str:
    """A length in the units of the scene."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.4g}"
    return bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
