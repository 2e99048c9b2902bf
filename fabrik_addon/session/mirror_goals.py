# SPDX-License-Identifier: GPL-3.0-or-later
"""The target or pole of a chain for the chain of the other side: the mirrored one, moved there, or made."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
from mathutils import Matrix

from ..messages import ROLES
from ..rig.chain_bones import pose_bones
from ..rig.control_bones import is_control, new_bones_refusal
from ..rig.evaluating import updated
from ..rig.goals import GoalRef, goal_of
from ..rig.keys import insert_goal_keys
from ..rig.placing import location_at, location_curves, put, stays
from ..rig.schema import FabrikChain, rig_of
from ..rig.sides import flipped_name, sided_name
from ..rig.targets import resolve_point
from ..texts import Text
from .control_bones import Asked, make_goals
from .defaults import read_defaults
from .make import Empty, link_like
from .mirror_held import MIRROR


@dataclass(slots=True)
class GoalPlan:
    """What a chain of the other side gets.

    Attributes:
        role: "target" or "pole".
        world: Where it is to stand.
        source: That of the first side.
        found: The object that is there already, or None.
        bone: The bone of it, or "".
        make_bone: Whether a control bone is to be made.
        note: What there is to say, or "".
    """

    role: str
    world: Matrix
    source: GoalRef
    found: bpy.types.Object | None = None
    bone: str = ""
    make_bone: bool = False
    note: str = ""

    def give(self, context: bpy.types.Context, owner: bpy.types.Object, name: str) -> list[str]:
        """Give it to a chain; what there is to say."""
        chain = rig_of(owner).chains[name]
        notes = [self.note] if self.note else []
        if self.make_bone:
            return notes + self._make_bone(context, owner, chain)
        if self.found is None and self.source.bone:
            return notes
        if self.found is None:
            self.found = _of_the_name(context, self.source.found)
        if self.found is None:
            self.found = _made(context, owner, self, sided_name(name, self.role))
        else:
            notes += self._move(context, GoalRef(self.role, self.found, self.bone))
        setattr(chain, self.role, self.found)
        setattr(chain, f"{self.role}_bone", self.bone)
        return notes

    def _move(self, context: bpy.types.Context, goal: GoalRef) -> list[str]:
        """Move what is there already to the mirrored place; what there is to say."""
        if goal.key == self.source.key:  # both sides have it, or it is in the middle
            return []
        reason = Text("is keyed") if not stays(goal) and location_curves(goal) else stays(goal)
        if reason:
            word = ROLES[self.role]
            return [
                Text("the {role} {name} {reason}, so it stays where it is", role=word, name=goal.name, reason=reason)
            ]
        put(goal, location_at(goal, self.world.translation, context.evaluated_depsgraph_get()))
        insert_goal_keys(context, goal)
        return []

    def _make_bone(self, context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
        defaults, bone = read_defaults(context), pose_bones(owner)[self.source.bone]
        shape = defaults.target_shape if self.role == "target" else defaults.pole_shape
        size = bone.bone.length * sum(owner.matrix_world.to_scale()) / 3.0
        make_goals(context, owner, [Asked(chain, self.role, Empty(self.world.translation, size, shape))], "BONE")
        return []


def plan_goal(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, role: str, twin: FabrikChain | None
) -> GoalPlan | None:
    """What the chain of the other side is to get for a chain's target or pole; None where the chain has none.

    Raises:
        FabrikError: Where the goal stands can't be read.
    """
    goal = goal_of(chain, role)
    if goal is None:
        return None
    depsgraph = context.evaluated_depsgraph_get()
    axes = owner.evaluated_get(depsgraph).matrix_world
    point = resolve_point(role, goal.found, goal.bone, depsgraph)
    is_bone = goal.found.type == "ARMATURE" and bool(goal.bone)
    here = Matrix.Translation(point) if is_bone else goal.found.evaluated_get(depsgraph).matrix_world
    plan = GoalPlan(role, _mirrored(axes, here), goal)
    has = goal_of(twin, role) if twin is not None else None
    if has is not None:
        plan.found, plan.bone = has.found, has.bone
        return plan
    if is_bone:
        return _plan_bone(owner, goal, plan)
    if _is_moved(goal.found):
        word, name = ROLES[role], goal.found.name
        plan.note = Text("keys, drivers and constraints of the {role} '{name}' are not mirrored", role=word, name=name)
    return plan


def _mirrored(axes: Matrix, here: Matrix) -> Matrix:
    return axes @ MIRROR @ axes.inverted() @ here @ MIRROR


def _plan_bone(owner: bpy.types.Object, goal: GoalRef, plan: GoalPlan) -> GoalPlan:
    bones, name = pose_bones(goal.found), flipped_name(goal.bone)
    if name in bones:  # in the middle the bone itself
        plan.found, plan.bone = goal.found, name
    elif goal.found == owner and is_control(bones[goal.bone]) and not new_bones_refusal(owner):
        plan.make_bone = True
    else:
        word, bone = ROLES[plan.role], goal.bone
        plan.note = Text(
            "the {role}'s bone '{bone}' has none on the other side, so it is not set", role=word, bone=bone
        )
    return plan


def _of_the_name(context: bpy.types.Context, goal: bpy.types.Object) -> bpy.types.Object | None:
    """The empty of the scene that has a goal's name for the other side already."""
    assert context.scene is not None
    found = context.scene.objects.get(flipped_name(goal.name))
    return found if found is not None and found != goal and found.type == "EMPTY" and found.is_editable else None


def _is_moved(goal: bpy.types.Object) -> bool:
    data = goal.animation_data
    return bool(goal.constraints) or (data is not None and bool(data.action or data.drivers or data.nla_tracks))


def _made(context: bpy.types.Context, owner: bpy.types.Object, plan: GoalPlan, name: str) -> bpy.types.Object:
    """An empty like that of the first side, in its collections, on the other side of what it hangs on."""
    source = plan.source.found
    flipped = flipped_name(source.name)
    made = bpy.data.objects.new(flipped if flipped != source.name else name, None)
    link_like(context, owner, source, made)
    if source.type == "EMPTY":
        made.empty_display_type, made.empty_display_size = source.empty_display_type, source.empty_display_size
        made.show_in_front, made.color, made.rotation_mode = source.show_in_front, source.color, source.rotation_mode
    made.parent, made.parent_type = source.parent, source.parent_type
    if source.parent is not None and source.parent_type == "BONE":
        other = flipped_name(source.parent_bone)
        made.parent_bone = other if source.parent.pose and other in source.parent.pose.bones else source.parent_bone
    updated(context)
    made.matrix_world = plan.world
    return made
