# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature without anything of the extension: what it stores, and the goals that were made for it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import bpy

from ..errors import FabrikError, RigError
from ..rig.chain_curves import check_can_follow
from ..rig.control_bones import control_names, new_bones_refusal, remove_control_bones
from ..rig.control_shapes import remove_unused_shapes
from ..rig.schema import FabrikChain, rig_of
from ..rig.sides import sided_name
from ..rig.versions import check_not_newer, clear_bones, clear_stored
from ..texts import Text
from .walk.marking import mark_steps

HOLDERS = (bpy.types.Collection, bpy.types.Scene)  # what an object is in without being used


class Cleared(NamedTuple):
    """What was taken away.

    Attributes:
        chains: How many.
        goals: How many bones and empties that were made as targets and poles.
    """

    chains: int
    goals: int


def clear_rig(context: bpy.types.Context, owner: bpy.types.Object) -> Cleared:
    """Take chains, body, walker, joint limits and the goals that were made for them away; the pose stays.

    Goals that are something else, or are used by something else, stay.

    Args:
        context: Its view layer has the armature; its scene may have marks of a walk.
        owner: An armature object that can be edited.

    Raises:
        FabrikError: Its chains are a library's, its keys are shared, or its data are newer; nothing was changed.
    """
    check_not_newer(owner)
    check_can_follow(owner)
    rig = rig_of(owner)
    library = owner.override_library
    if library is not None and isinstance(library.reference, bpy.types.Object) and rig_of(library.reference).chains:
        raise RigError("its chains come from the library file and can't be removed: disable them", rig=owner.name)
    count = len(rig.chains)
    empties = [goal for chain in rig.chains for goal in _own_empties(chain)]
    bones = [] if new_bones_refusal(owner) else sorted(control_names(owner))
    with suppress(FabrikError):  # where no walk is planned, nothing is marked
        mark_steps(context, owner, "NONE", use_markers=False)
    clear_stored(owner)
    remove_control_bones(context, owner, bones)
    clear_bones(owner, bones)
    remove_unused_shapes()
    unused = _unused(empties)
    for goal in unused:
        bpy.data.objects.remove(goal)
    return Cleared(count, len(bones) + len(unused))


def _unused(found: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those objects that nothing but collections and scenes has."""
    ask: Any = bpy.data.user_map  # the stubs of 4.2 want all of its arguments
    users: dict[bpy.types.Object, set[bpy.types.ID]] = ask(subset=found) if found else {}
    return [thing for thing, used_by in users.items() if all(isinstance(one, HOLDERS) for one in used_by)]


def _own_empties(chain: FabrikChain) -> list[bpy.types.Object]:
    """The empties that have the names under which they were made for a chain, and on which nothing hangs."""
    found: list[bpy.types.Object] = []
    for role in ("target", "pole"):
        goal: bpy.types.Object | None = getattr(chain, role)
        if goal is None or goal.type != "EMPTY" or goal.library is not None or goal.children:
            continue
        if goal.name.startswith(sided_name(chain.name, role)):
            found.append(goal)
    return found


def clear_text(found: Cleared) -> Text:
    """What was taken away, in a sentence."""
    return Text("Removed {chains} chains and {goals} goals", chains=found.chains, goals=found.goals)
