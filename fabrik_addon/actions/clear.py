# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing of ours left on an armature; and goals that are one armature's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import bpy
from mathutils import Matrix

from ..errors import RigError, TargetError
from ..messages import ROLES
from ..rig.animation.compat import copy_action
from ..rig.animation.keys import check_can_follow
from ..rig.bones import pose_bones
from ..rig.checks import check_in_view_layer
from ..rig.control_bones import (
    MARK,
    control_names,
    made_empties,
    mark_empty,
    new_bones_refusal,
    remove_control_bones,
    remove_unused_shapes,
)
from ..rig.dependencies import ties_behind
from ..rig.figure.pose_writer import updated
from ..rig.goals import GoalRef, goals_of
from ..rig.schema import FabrikChain, rig_of
from ..rig.spaces import remove_unused_anchors
from ..rig.versions import check_not_newer, clear_bones, clear_stored
from ..texts import Text
from .chains import link_like
from .frames import scene_of
from .setup.controls import undraw_controls
from .walk.bake import remove_marks

HOLDERS = (bpy.types.Collection, bpy.types.Scene)  # what an object is in without being used


def clear_rig(context: bpy.types.Context, owner: bpy.types.Object) -> tuple[int, int]:
    """Take chains, body, walker, joint limits and the goals that were made for them away; the pose stays.

    Goals that are something else, or are used by something else, stay: by chains of other objects, or by constraints,
    drivers and objects that hang on them.

    The marks of its walk go from the scene, too.

    Returns:
        How many chains went, and how many bones and empties that were made as targets and poles.

    Raises:
        FabrikError: Its chains are a library's, its keys are shared, its data are newer, or bones would have to go
            where Blender lets none be edited; nothing was changed.
    """
    check_not_newer(owner)
    check_can_follow(owner)
    rig = rig_of(owner)
    library = owner.override_library
    if library is not None and isinstance(library.reference, bpy.types.Object) and rig_of(library.reference).chains:
        raise RigError("its chains come from the library file and can't be removed: disable them", rig=owner.name)
    count = len(rig.chains)
    empties = [goal for goal in made_empties(owner) if not goal.children]  # on which nothing hangs
    made = control_names(owner)
    bones = [] if new_bones_refusal(owner) else sorted(made - _used_besides(owner, made, empties))
    if bones:
        check_in_view_layer(owner, context.evaluated_depsgraph_get())
    remove_marks(scene_of(context), owner)
    undraw_controls(owner)
    clear_stored(owner)
    remove_control_bones(context, owner, bones)
    clear_bones(owner, bones)
    remove_unused_shapes()
    remove_unused_anchors()
    ask: Any = bpy.data.user_map  # the stubs of 4.2 want all of its arguments
    users: dict[bpy.types.Object, set[bpy.types.ID]] = ask(subset=empties) if empties else {}
    unused = [thing for thing, used_by in users.items() if all(isinstance(one, HOLDERS) for one in used_by)]
    for goal in unused:
        bpy.data.objects.remove(goal)
    return count, len(bones) + len(unused)


def _used_besides(owner: bpy.types.Object, made: set[str], empties: Collection[bpy.types.Object]) -> set[str]:
    """The bones that chains of other objects have as goals, or that move something else than what was made for chains.

    With those that carry them.
    """
    rigs = [one for one in bpy.data.objects if one.type == "ARMATURE"]
    goals = [goal for one in rigs if one != owner for chain in rig_of(one).chains for goal in goals_of(chain)]
    users = [(goal.found, goal.bone) for goal in goals]
    users += [(one, "") for one in bpy.data.objects if one not in empties]
    for one in rigs:
        constrained = [bone.name for bone in pose_bones(one) if len(bone.constraints)]
        users += [(one, name) for name in constrained if one.data != owner.data or name not in made]
    return {name for user in users for found, name in ties_behind(*user) if name and found.data == owner.data}


# A duplicated character follows the goals of its original, until it gets goals of its own.
#
# Blender lets what is duplicated together go on together: goals that are selected with the armature, and bones of the
# armature itself. So it is the goals that stayed behind that both have.


def original_of(owner: bpy.types.Object, objects: Iterable[bpy.types.Object]) -> bpy.types.Object | None:
    """The armature of which an armature looks like a duplicate that was left with the goals of its original.

    All chains that both have, by their names, have the same goals. Of two such armatures the one whose bones are goals
    is the original, else the one with the lower number behind its name; with other names each is the other's.
    """
    others = (other for other in objects if other.type == "ARMATURE" and other != owner)
    return next((other for other in others if _is_duplicate(owner, other)), None)


def _is_duplicate(owner: bpy.types.Object, other: bpy.types.Object) -> bool:
    theirs = rig_of(other).chains
    shared: set[bpy.types.Object] = set()
    for chain in rig_of(owner).chains if len(theirs) else ():
        twin = theirs.get(chain.name)
        if twin is None:
            continue
        goals, twins = goals_of(chain), goals_of(twin)
        if [(goal.role, goal.bone) for goal in goals] != [(goal.role, goal.bone) for goal in twins]:
            return False
        for goal, same in zip(goals, twins, strict=True):
            if goal.found == same.found:
                shared.add(goal.found)
            elif (goal.found, same.found) != (owner, other):  # each has its own bone
                return False
    if not shared or owner in shared:
        return False
    (stem, number), (other_stem, other_number) = _numbered(owner.name), _numbered(other.name)
    return other in shared or stem != other_stem or number >= other_number


def _numbered(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition(".")
    return (stem, int(number)) if stem and number.isdigit() else (name, 0)


def make_goals_single_user(context: bpy.types.Context, owner: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Give an armature copies of the goals that it has in common with another; no goal and no bone moves.

    A bone of the other armature is exchanged for that of this one, where it has such a bone.

    Returns:
        Names of the new objects; and what is still shared, and why, as sentences.

    Raises:
        TargetError: No other armature has its goals.
    """
    others = [found for found in scene_of(context).objects if found.type == "ARMATURE" and found != owner]
    theirs = {goal.found for other in others for chain in rig_of(other).chains for goal in goals_of(chain)}
    refs = [goal for chain in rig_of(owner).chains for goal in goals_of(chain)]
    shared = list(dict.fromkeys(goal.found for goal in refs if goal.found in theirs and goal.found != owner))
    if not shared:
        raise TargetError("no other armature has its goals", rig=owner.name)
    with_bones = {goal.found for goal in refs if goal.bone}
    notes: list[str] = []
    original = original_of(owner, others)
    copies: dict[bpy.types.Object, Any] = {found: found.copy() for found in shared if found not in with_bones}
    for found, made in copies.items():
        if MARK in made:
            mark_empty(made, owner)
        link_like(context, owner, found, made)
        copy_action(made)
    for found, made in copies.items():
        notes += _hang(context, found, made, copies | ({original: owner} if original is not None else {}))
    for chain in rig_of(owner).chains:
        for goal in goals_of(chain):
            notes += _exchange(owner, chain, goal, copies)
    return [made.name for made in copies.values()], notes


def _exchange(
    owner: bpy.types.Object, chain: FabrikChain, goal: GoalRef, copies: dict[bpy.types.Object, bpy.types.Object]
) -> list[str]:
    """Give a chain the copy of a goal, or the bone of its own armature; what it keeps in common."""
    status, notes = chain.status, list[str]()
    if goal.found in copies:
        setattr(chain, goal.role, copies[goal.found])
    elif goal.bone and goal.found != owner:
        # another armature looks like the one that this chain comes from where it has a chain of the name
        is_like = goal.found.type == "ARMATURE" and chain.name in rig_of(goal.found).chains
        if goal.found.data == owner.data or (is_like and goal.bone in pose_bones(owner)):
            setattr(chain, goal.role, owner)
        else:
            fields = {"chain": chain.name, "role": ROLES[goal.role], "bone": goal.bone, "name": goal.found.name}
            notes.append(Text("{chain}: the {role} stays the bone '{bone}' of '{name}'", **fields))
    if chain.status != status:  # the copy stands where its original stands
        chain.status = status
    return notes


def _hang(
    context: bpy.types.Context,
    goal: bpy.types.Object,
    made: bpy.types.Object,
    instead: dict[bpy.types.Object, bpy.types.Object],
) -> list[str]:
    """Hang a copy on what stands for its original's parent, without moving it; what follows that still, in words."""
    followed = [constraint for constraint in goal.constraints if getattr(constraint, "target", None) in instead]
    if goal.parent not in instead or followed:
        text = Text("the constraint '{constraint}' of '{made}' still follows as before")
        return [Text(text, constraint=one.name, made=made.name) for one in followed]
    assert goal.parent is not None
    updated(context)
    world = made.matrix_world.copy()
    inverse = made.matrix_parent_inverse.copy()
    made.parent = instead[goal.parent]
    made.matrix_parent_inverse = inverse
    updated(context)
    local = made.matrix_basis
    above: Matrix = made.matrix_world @ (inverse @ local).inverted_safe()
    if made.matrix_world != world:
        made.matrix_parent_inverse = above.inverted_safe() @ world @ local.inverted_safe()
    return []
