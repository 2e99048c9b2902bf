# SPDX-License-Identifier: GPL-3.0-or-later
"""Which chain the panel shows: it follows the active bone, and a chain that is chosen makes its tip the active bone."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from ..rig.chain_bones import names_if_any, pose_bones
from ..rig.checks import edit_refusal
from ..rig.compat import is_hidden
from ..rig.schema import rig_of
from .selecting import select_bone


@dataclass
class Seen:
    """The active bone as it was seen last.

    Attributes:
        place: Names of the armature object and of the bone; None where nothing was seen in this file yet.
    """

    place: tuple[str, str] | None = None


state = Seen()
ANOTHER = ("", "")  # equals no armature and bone, so that the next look counts as a change


def forget() -> None:
    """Forget the active bone, as when a file is opened: its active bone leaves the list of chains as it was saved."""
    state.place = None


def look_again() -> None:
    """Follow the active bone at the next look, though it may be the one that was seen last."""
    state.place = ANOTHER


def follow(view_layer: bpy.types.ViewLayer | None) -> None:
    """Show the chain to which the active bone belongs, where another bone has become active in Pose mode.

    The chain that is shown stays where the bone is one of its own, or where the bone is of no chain. Nothing is tagged,
    so this is no change that Blender has to evaluate, and none of its own to undo.
    """
    owner = view_layer.objects.active if view_layer is not None else None
    if owner is None or owner.mode != "POSE":
        return
    place = _place(owner)
    if place == state.place:
        return
    is_first, state.place = state.place is None, place
    if is_first or not place[1] or edit_refusal(owner):
        return
    rig = rig_of(owner)
    index = _index_for(owner, place[1])
    if index is not None and index != rig.active_index:
        rig.active_index = index


def choose(owner: bpy.types.Object, index: int) -> None:
    """Show a chain; in Pose mode its tip becomes the active bone and the only selected one of the armature.

    Nothing is selected anew where the active bone is of the chain already, or where the tip is hidden.
    """
    rig = rig_of(owner)
    if edit_refusal(owner) or not 0 <= index < len(rig.chains):
        return
    rig.active_index = index
    if owner.mode != "POSE":
        return
    names = names_if_any(owner, rig.chains[index])
    if names and _place(owner)[1] not in names and not is_hidden(pose_bones(owner)[names[-1]]):
        select_bone(owner, names[-1])
    state.place = _place(owner)


def _place(owner: bpy.types.Object) -> tuple[str, str]:
    """The armature object and its active bone, "" for none."""
    data = owner.data
    bone = data.bones.active if isinstance(data, bpy.types.Armature) else None
    return owner.name_full, bone.name if bone is not None else ""


def _index_for(owner: bpy.types.Object, bone: str) -> int | None:
    """Index of the chain to show for a bone: the present one, else one whose tip it is, else the first that has it."""
    rig = rig_of(owner)
    found = [i for i, chain in enumerate(rig.chains) if bone in names_if_any(owner, chain)]
    if rig.active_index in found:
        return rig.active_index
    tips = [i for i in found if rig.chains[i].tip_bone == bone]
    return next(iter(tips or found), None)
