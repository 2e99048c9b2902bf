# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection and mode changed from the bones of a chain to its goal, and back."""

from __future__ import annotations

import bpy

from ..errors import RigError, TargetError
from ..messages import ROLES
from ..rig.chain_bones import armature_of, pose_bones, resolve_bones
from ..rig.compat import set_selected
from ..rig.goals import goals_of
from ..rig.schema import FabrikChain, rig_of
from ..texts import Text


def select_goal(context: bpy.types.Context, chain: FabrikChain, role: str) -> None:
    """Select a target or pole, ready to be moved: an object in Object mode, a bone in Pose mode.

    Raises:
        TargetError: There is none in the view layer, or no such bone.
        RigError: Its object can't be selected.
    """
    goal = next((found for found in goals_of(chain) if found.role == role), None)
    assert context.view_layer is not None
    if goal is None or goal.found.name not in context.view_layer.objects:
        raise TargetError(Text("in this view layer there is no {role}", role=ROLES[role]), chain=chain.name)
    if not goal.bone or goal.found.type != "ARMATURE":
        _activate(context, goal.found)
        return
    if goal.bone not in pose_bones(goal.found):
        word, name = ROLES[role], goal.found.name
        reason = Text("the {role} armature '{name}' has no bone '{bone}'", role=word, name=name, bone=goal.bone)
        raise TargetError(reason, chain=chain.name)
    select_in_pose_mode(context, goal.found, goal.bone)


def back_to_pose(context: bpy.types.Context, owner: bpy.types.Object, goal: bpy.types.Object | None) -> FabrikChain:
    """Pose mode of a goal's armature, with the tip of the chain active that has the goal.

    Args:
        context: Whose selection changes.
        owner: The armature object.
        goal: A target or pole of its chains: the active chain's, or that of the first that has it.

    Returns:
        The chain, which is the active one now.

    Raises:
        FabrikError: The chain's bones are not there, or the armature can't be selected.
    """
    rig = rig_of(owner)
    order = sorted(range(len(rig.chains)), key=lambda i: i != rig.active_index)
    index = next(
        (i for i in order if goal is not None and goal in (rig.chains[i].target, rig.chains[i].pole)), order[0]
    )
    chain = rig.chains[index]
    tip = resolve_bones(owner, chain)[-1].name
    select_in_pose_mode(context, owner, tip)
    rig.active_index = index
    return chain


def select_in_pose_mode(context: bpy.types.Context, owner: bpy.types.Object, bone: str) -> None:
    """Make one bone of an armature the only one that is selected, in Pose mode.

    Raises:
        RigError: The armature can't be selected in this view layer.
    """
    if context.object != owner or owner.mode != "POSE":
        _activate(context, owner)
        bpy.ops.object.mode_set(mode="POSE")
    select_bone(owner, bone)


def select_bone(owner: bpy.types.Object, name: str) -> None:
    """Make a bone the active one, and the only selected one of its armature."""
    for bone in pose_bones(owner):
        set_selected(bone, bone.name == name)
    data = armature_of(owner)
    data.bones.active = data.bones[name]


def _activate(context: bpy.types.Context, wanted: bpy.types.Object) -> None:
    """Object mode with one object alone selected, and active."""
    assert context.view_layer is not None
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    if wanted.hide_select or not wanted.visible_get():
        wanted.hide_set(False)
        if wanted.hide_select or not wanted.visible_get():
            raise RigError("it is hidden, or can't be selected, in this view layer", rig=wanted.name)
    for other in context.selected_objects or ():
        other.select_set(False)
    wanted.select_set(True)
    context.view_layer.objects.active = wanted
