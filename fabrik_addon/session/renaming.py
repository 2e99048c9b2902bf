# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains go with their bones where these are renamed: by the user in edit or pose mode, by a script, by an undo.

It is looked for where Blender tells that an armature changed, and before an operator runs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import bpy

from ..rig.bone_record import glance, has_record
from ..rig.chain_bones import bones_if_any
from ..rig.goals import goals_of
from ..rig.properties import FabrikChain, rig_of
from ..rig.renames import follow_names
from ..rig.start_pose import fingerprint
from ..rig.versions import newer_refusal

log = logging.getLogger(__name__)

Names = Mapping[str, str]  # new ones by old ones


@dataclass(slots=True)
class _State:
    """What `glance` saw last of each armature, by `session_uid`: one that looks the same is passed over."""

    seen: dict[int, tuple[tuple[str, ...], bytes]] = field(default_factory=dict)


state = _State()


def follow_renames(objects: Iterable[bpy.types.Object]) -> None:
    """Let chains follow the bones of armatures that were renamed since these were last looked at.

    Args:
        objects: Those to look at; others than armatures with chains or with bones that are goals are passed over.
    """
    state.seen.clear()  # an undo may have put back what is stored
    for owner in objects:
        if not _is_followed(owner):
            continue
        names = follow_names(owner)
        if names:
            _follow(owner, names)


def follow_renames_of(owner: bpy.types.Object | None) -> None:
    """`follow_renames` for an armature, and for those whose bones are goals of its chains."""
    if owner is not None and owner.type == "ARMATURE":
        goals = [goal.found for chain in rig_of(owner).chains for goal in goals_of(chain) if goal.bone]
        for found in dict.fromkeys(goals):
            if not _is_followed(found) and _can_be_followed(found):
                follow_names(found)  # which keeps its first record
        follow_renames(dict.fromkeys([owner, *goals]))


def follow_renames_after(depsgraph: bpy.types.Depsgraph) -> None:
    """`follow_renames` for the armatures that Blender evaluated anew."""
    if not depsgraph.id_type_updated("ARMATURE"):
        return
    seen = dict(state.seen)
    changed: list[bpy.types.Object] = []
    for update in depsgraph.updates:
        found = update.id.original if update.id is not None else None
        if not isinstance(found, bpy.types.Object) or not _is_followed(found):
            continue
        look = glance(found)
        if seen.get(found.session_uid) != look:
            seen[found.session_uid] = look
            changed.append(found)
    if changed:
        follow_renames(changed)
        state.seen = seen


def _is_followed(owner: bpy.types.Object) -> bool:
    return _can_be_followed(owner) and (len(rig_of(owner).chains) > 0 or has_record(owner))


def _can_be_followed(owner: bpy.types.Object) -> bool:
    return owner.type == "ARMATURE" and owner.pose is not None and owner.is_editable and not newer_refusal(owner)


def _follow(owner: bpy.types.Object, names: Names) -> None:
    """Give the chains that name bones of an armature the new names."""
    for other in bpy.data.objects:
        if other.type != "ARMATURE" or not other.is_editable or newer_refusal(other):
            continue
        for chain in rig_of(other).chains:
            _follow_in(other, chain, owner, names)
    _follow_in_body(owner, names)


def _follow_in_body(owner: bpy.types.Object, names: Names) -> None:
    """Give the body of an armature the new names of its bones; what was found of its chains holds."""
    rig = rig_of(owner)
    for item in rig.body_captured:
        if item.name in names:
            item.name = names[item.name]
    if rig.body_bone in names:
        statuses = [chain.status for chain in rig.chains]
        rig.body_bone = names[rig.body_bone]
        for chain, status in zip(rig.chains, statuses, strict=True):
            chain.status = status


def _follow_in(other: bpy.types.Object, chain: FabrikChain, owner: bpy.types.Object, names: Names) -> None:
    """Give one chain of an object the new names of the bones of an armature, the same one or another."""
    status, message = chain.status, chain.message
    was = _named(chain)
    if other == owner:
        _set(chain, "tip_bone", names)
        for item in [*chain.captured, *chain.blocking_bones]:
            if item.name in names:
                item.name = names[item.name]
        _follow_fingerprint(other, chain, names)
    if chain.target == owner:
        _set(chain, "target_bone", names)
    if chain.pole == owner:
        _set(chain, "pole_bone", names)
    if _named(chain) != was:  # the same bones as before: what was found holds
        chain.status = status
        log.info("chain '%s' of '%s' follows renamed bones: %s", chain.name, other.name, _named(chain))
    if other == owner and message:
        chain.message = _reworded(message, names)


def _named(chain: FabrikChain) -> tuple[str, str, str]:
    return chain.tip_bone, chain.target_bone, chain.pole_bone


def _set(chain: FabrikChain, name: str, names: Names) -> None:
    old: str = getattr(chain, name)
    if old in names:
        setattr(chain, name, names[old])


def _follow_fingerprint(owner: bpy.types.Object, chain: FabrikChain, names: Names) -> None:
    """Keep what tells whether the rest pose changed since the capture true; it has names in it."""
    bones = bones_if_any(owner, chain)
    old = {new: name for name, new in names.items()}
    before = [old.get(bone.name, bone.name) for bone in bones]
    if bones and chain.fingerprint and chain.fingerprint == fingerprint(bones, before):
        chain.fingerprint = fingerprint(bones)


def _reworded(message: str, names: Names) -> str:
    """A message with the new names of bones."""
    found = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.])(?:{found})(?![\w.])", lambda match: names[match.group()], message)
