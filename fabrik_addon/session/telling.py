# SPDX-License-Identifier: GPL-3.0-or-later
"""What the list and the panel tell of a chain as things stand now; read at every redraw, without an evaluation."""

from __future__ import annotations

from typing import NamedTuple

import bpy

from ..messages import ROLES
from ..rig.chain_bones import names_if_any
from ..rig.figures import lacks_goal
from ..rig.following import why_unfollowed
from ..rig.goals import goals_of
from ..rig.last_solve import moved_since, stand_of
from ..rig.schema import FabrikChain, is_scene_live, owner_of, rig_of
from ..rig.visibility import absence_of
from ..texts import Text, worded
from .outcome import message_of
from .wording import status_text

MOVED_TEXTS = {
    "target": Text("The target moved since"),
    "pole": Text("The pole moved since"),
    "armature": Text("The armature moved since"),
    "bones": Text("The pose was changed since"),
}
BAKED = Text("Baked: its keys play. Tick it to edit")
IDLE = {
    "REACH": Text("Off: drag its bones as they are, or press Add Target to pose it by its end"),
    "AIM": Text("Off: drag its bones as they are, or press Add Target to let it look at that"),
}
GONE_TEXTS = {"target": Text("target gone"), "pole": Text("pole gone")}


class Told(NamedTuple):
    """What there is to say of a chain.

    Attributes:
        kind: Its status, or BAKED, GONE or OLD where that does not tell how things stand now.
        short: A few words beside its name; "" where the icon tells all.
        text: A sentence.
        holds: Whether passes, distance and message of the last solve are of use beside it.
        distance: From tip to target in scene units, as they stand now; None where that is not of use.
    """

    kind: str
    short: str
    text: str
    holds: bool = False
    distance: float | None = None


def told_of(chain: FabrikChain, context: bpy.types.Context) -> Told:
    """What there is to say of a chain now.

    Args:
        chain: The chain.
        context: Its view layer has the goals; its scene says whether live armatures follow theirs.
    """
    owner = owner_of(chain)
    if chain.is_baked and not chain.enabled and _plays_keys(owner):
        return Told("BAKED", Text("baked"), BAKED)
    gone = gone_goal(chain, context.view_layer)
    is_refused = chain.status == "REFUSED"
    if gone and not (is_refused and gone[0].startswith("pole")):  # it may be refused for more than that
        return Told("GONE", gone[0], gone[1])
    if is_refused:
        return Told("REFUSED", "", message_of(chain))
    if chain.status == "NONE":
        return (
            Told("NONE", Text("no target"), IDLE[chain.kind])
            if is_idle(chain)
            else Told("NONE", "", status_text(chain))
        )
    is_followed = chain.enabled and rig_of(owner).live and is_scene_live(context.scene)
    stand = stand_of(chain)
    moved = moved_since(chain, stand, is_followed) if stand is not None else ""
    if stand is not None and moved:
        return Told("OLD", Text("moved since"), MOVED_TEXTS[moved], distance=stand.residual)
    return Told(chain.status, "", status_text(chain), holds=True)


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
        absence = absence_of(found, view_layer) if view_layer is not None else ""
        if absence:
            text = Text("Its {role} '{name}' {absence}", role=ROLES[role], name=found.name, absence=absence)
            return GONE_TEXTS[role], text
        if bone and found.pose is not None and bone not in found.pose.bones:
            word = ROLES[role]
            return GONE_TEXTS[role], Text(
                "Its {role} '{name}' has no bone '{bone}'", role=word, name=found.name, bone=bone
            )
    return None


def _plays_keys(owner: bpy.types.Object) -> bool:
    """Whether there is still something to play."""
    data = owner.animation_data
    return data is not None and (data.action is not None or len(data.nla_tracks) > 0)
