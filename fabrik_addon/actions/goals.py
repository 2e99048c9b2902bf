# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles that are planned become empties in the scene, or control bones inside the rig; and are keyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import bpy
from mathutils import Vector

from ..errors import RigError
from ..rig.animation.channels import channel_of
from ..rig.animation.keys import insert_goal_key, insert_held_key
from ..rig.bones import pose_bones, resolve_bones
from ..rig.control_bones import (
    ControlBone,
    make_control_bones,
    new_bones_refusal,
    rest_head,
    root_control,
    swing_bone,
    swing_bone_like,
    swung_back,
)
from ..rig.goals import goals_of
from ..rig.schema import FabrikChain, rig_of
from ..rig.skeleton import sided_name
from ..rig.walk_goals import is_walked
from .bends import pole_in_bend
from .chains import POLE_AWAY, Defaults, Empty, plan_pole
from .figure_pose import FigurePose
from .live.state import state as live_state

NewGoal: TypeAlias = tuple[FabrikChain, str, Empty]  # whose it is to be, "target" or "pole", where and how drawn


def plan_pole_of(
    context: bpy.types.Context, chain: FabrikChain, pose: FigurePose, defaults: Defaults, away: float = POLE_AWAY
) -> NewGoal:
    """A pole that leaves the pose of a chain, also of one that is solved with others; see `plan_pole`.

    `away` is how far it is from the chain, as a share of the chain's length.

    Raises:
        FabrikError: It can't be told where.
    """
    bones = resolve_bones(pose.owner, chain)
    planned = plan_pole(context, bones, defaults, chain, pose.start_to_keep(chain.name), away)
    return chain, "pole", planned.moved(pole_in_bend(pose, chain.name, planned.location))


def make_goals(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[NewGoal], kind: str) -> list[str]:
    """Make targets and poles, as "EMPTY" or "BONE", and give them to chains; their names.

    Raises:
        RigError: The armature can't be given bones; nothing was made.
    """
    if kind == "BONE" and asked:
        return _make_bones(context, owner, asked)
    for chain, role, planned in asked:
        setattr(chain, role, planned.make(context, owner, sided_name(chain.name, role)))
        setattr(chain, f"{role}_bone", "")
    return [getattr(chain, role).name for chain, role, _ in asked]


def check_can_make(owners: Iterable[bpy.types.Object], kind: str) -> None:
    """Check that armatures can be given goals, as "EMPTY" or "BONE".

    Raises:
        RigError: One can't be given bones.
    """
    for owner in owners if kind == "BONE" else ():
        refusal = new_bones_refusal(owner)
        if refusal:
            raise RigError(refusal, rig=owner.name)


def _make_bones(context: bpy.types.Context, owner: bpy.types.Object, asked: Sequence[NewGoal]) -> list[str]:
    check_can_make([owner], "BONE")
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    bones = [_bone(owner, evaluated, *one) for one in asked]
    places = [(chain.name, role) for chain, role, _ in asked]  # making bones makes all references to chains anew
    swinging = [i for i, (_, _, planned) in enumerate(asked) if planned.swings]
    carriers = make_swing_bones(context, owner, [asked[i][0] for i in swinging])
    for i in swinging:
        bones[i] = replace(bones[i], parent=carriers[places[i][0]])
    names = _made(context, owner, bones)
    for (name, role), bone in zip(places, names, strict=True):
        chain = rig_of(owner).chains[name]
        setattr(chain, role, owner)
        setattr(chain, f"{role}_bone", bone)
    return names


def _made(context: bpy.types.Context, owner: bpy.types.Object, planned: Sequence[ControlBone]) -> list[str]:
    """Make bones; their names."""
    was_paused, live_state.paused = live_state.paused, True  # on the way through edit mode nothing is to be solved
    try:
        return make_control_bones(context, owner, planned)
    finally:
        live_state.paused = was_paused
        live_state.forget()


def make_swing_bones(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[FabrikChain]
) -> dict[str, str]:
    """The names of the bones that swing with limbs, by those of their chains; made where there are none.

    References to the chains don't hold afterwards.

    Raises:
        FabrikError: A chain has no bones, or edit mode can't be entered.
    """
    planned = {chain.name: _swing_of(owner, chain) for chain in chains}
    found = {name: swing_bone_like(owner, one) for name, one in planned.items()}
    new = [name for name, bone in found.items() if not bone]
    made = _made(context, owner, [planned[name] for name in new]) if new else []
    return found | dict(zip(new, made, strict=True))


def _swing_of(owner: bpy.types.Object, chain: FabrikChain) -> ControlBone:
    is_one, name = not rig_of(owner).body_bone, sided_name(chain.name, "swing")
    return swing_bone(resolve_bones(owner, chain), name, at_head=chain.at_head, is_one=is_one)


def _bone(
    owner: bpy.types.Object, evaluated: bpy.types.Object, chain: FabrikChain, role: str, planned: Empty
) -> ControlBone:
    """The bone of a goal; the parent of one that swings with its limb is found later."""
    parent = root_control(owner, resolve_bones(owner, chain)) if planned.parent is None else planned.parent
    if planned.parent is None and parent == rig_of(owner).body_bone:  # which moves with the goals
        parent = ""
    size = planned.size / (sum(evaluated.matrix_world.to_scale()) / 3.0)
    if planned.is_offset:
        tip = resolve_bones(owner, chain)[-1].bone
        head = (tip.head_local if chain.at_head else tip.tail_local).copy()  # edit mode makes all bones anew
    elif planned.swings:
        point = evaluated.matrix_world.inverted() @ Vector(planned.location)
        head = swung_back(evaluated, _swing_of(owner, chain), point)
    else:
        head = rest_head(evaluated, parent, Vector(planned.location))
    return ControlBone(sided_name(chain.name, role), head, size, planned.shape, parent)


def also_given(owner: bpy.types.Object) -> list[str]:
    """Names of the other objects that have the same armature data, and so the same bones."""
    return [found.name for found in bpy.data.objects if found != owner and found.data == owner.data]


def key_pose(owner: bpy.types.Object, chains: Iterable[FabrikChain], frame: float, *, with_body: bool) -> list[str]:
    """Key at a frame what poses chains: target and pole, the place that a pin holds, or else the bones themselves.

    With the body its bone is keyed besides, its place included.

    Returns:
        What was keyed, by the names of chains and of the bone.

    Raises:
        FabrikError: A chain has no bones.
    """
    body = pose_bones(owner).get(rig_of(owner).body_bone) if with_body else None
    keyed = [chain.name for chain in chains if _key_chain(owner, chain, frame)]
    if body is not None:
        rig_of(owner).body_stays = True  # its keys say where it is from now on
        body.keyframe_insert("location", frame=frame, group=body.name)
        _key_rotation(body, frame)
    return [*keyed, *([body.name] if body is not None else [])]


def _key_chain(owner: bpy.types.Object, chain: FabrikChain, frame: float) -> bool:
    goals = goals_of(chain)
    for goal in (free := [goal for goal in goals if goal.stays() is None]):
        insert_goal_key(goal, frame)
        if goal.role == "target" and chain.orientation == "TARGET":
            insert_goal_key(goal, frame, turns=True)
    if goals or is_walked(chain):
        return bool(free)
    if chain.pin:
        insert_held_key(owner, chain, frame)
        return True
    for bone in resolve_bones(owner, chain):
        _key_rotation(bone, frame)
    return True


def _key_rotation(bone: bpy.types.PoseBone, frame: float) -> None:
    bone.keyframe_insert(channel_of(bone.rotation_mode)[0], frame=frame, group=bone.name)
