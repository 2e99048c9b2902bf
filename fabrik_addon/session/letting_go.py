# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of chains brought to where their tips were let go, so that the next solve leaves them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import FabrikError
from ..maths import rotated, unit, v3
from ..rig.chain_bones import resolve_bones
from ..rig.goals import GoalRef, goal_of, goals_of
from ..rig.held import offset_from_target, read_held, store
from ..rig.keys import insert_goal_keys, insert_pin_keys, is_pin_keyed
from ..rig.placing import carries, location_at, location_curves, put, stays
from ..rig.schema import FabrikChain, rig_of
from ..rig.targets import resolve_point
from ..texts import ROLE_TEXTS, Text, joined
from .anchoring import keep_pose, take_keyed_pose
from .order import Item
from .standing import Standing, pole_error, turned_pole

IN_PLACE = 1e-6  # share of the length within which a target is where the tip is
POLE_MET = 1e-4  # radians


class LetGo(NamedTuple):
    """What there is to tell of limbs that were let go, as sentences: what was done, and what to look out for."""

    done: list[str]
    warnings: list[str]


@dataclass(slots=True)
class Loosed:
    """A chain that was let go.

    Attributes:
        chain: The chain.
        goal: Where a goal belongs for its tip to stay where it was let go, in world space.
        stays: Whether its goals held meanwhile, and are not brought along.
        warnings: What there is to look out for.
        is_refused: Whether it can't be solved.
    """

    chain: FabrikChain
    goal: Vector
    stays: bool = False
    warnings: list[str] = field(default_factory=list)
    is_refused: bool = False

    @property
    def point(self) -> Vector | None:
        """Where its effector is to go in place of a goal, where it has none."""
        return self.goal if self.chain.target is None and not self.chain.pin else None


def let_go(context: bpy.types.Context, owner: bpy.types.Object, chains: Sequence[Loosed], is_keyed: bool) -> LetGo:
    """Bring goals and start poses of chains to the pose in which they were let go.

    Args:
        context: Its view layer is evaluated.
        owner: The armature object.
        chains: Chains of it.
        is_keyed: Whether the bones were keyed as they stand.
    """
    keep = take_keyed_pose if is_keyed else keep_pose
    starts: list[str] = []

    def place(one: Loosed) -> None:
        one.warnings += [] if one.stays else _place_goal(context, (owner, one.chain), one.goal)

    def keep_at_tip(one: Loosed) -> None:
        point = one.point if one.stays else one.goal
        starts.append(keep((owner, one.chain), _evaluated(context), point).start)

    def place_pole(one: Loosed) -> None:
        one.warnings += [] if one.stays else _place_pole(context, (owner, one.chain), one.goal)

    def keep_last(one: Loosed) -> None:
        found = keep((owner, one.chain), _evaluated(context), one.point)
        starts.append(found.start)
        one.warnings += [found.moves] if found.moves else []

    for step in (place, keep_at_tip, place_pole, keep_last):
        for one in chains:
            _try(step, one)
    words = {"CAPTURED": "start pose captured", "ANIMATED": Text("start pose set to Animated, since the limb is keyed")}
    done = [words[start] for start in words if start in starts]
    several = len(chains) > 1
    told = [(one.chain.name, text) for one in chains for text in one.warnings]
    return LetGo(done, [joined(": ", one) if several else one[1] for one in told])


def _try(step: Callable[[Loosed], None], one: Loosed) -> None:
    """Go a step with a chain, unless that can't be solved."""
    if one.is_refused:
        return
    try:
        step(one)
    except FabrikError as error:
        one.is_refused = True
        one.warnings.append(Text("the next solve will be refused: {reason}", reason=error.local))


def _evaluated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()


def _place_goal(context: bpy.types.Context, item: Item, place: Vector) -> list[str]:
    """Bring what a chain goes to or holds to a place; why it stays where it is, where it can't be moved."""
    owner, chain = item
    evaluated = owner.evaluated_get(context.evaluated_depsgraph_get())
    held = read_held(evaluated, chain.tip_bone, chain.effector)
    told = _place_target(context, item, place)
    if chain.pin and chain.target is None:
        store(chain, "held_location", v3(place))
    if chain.orientation == "KEEP":
        store(chain, "held_rotation", held.rotation)
    if chain.orientation == "TARGET" and chain.target is not None:
        target = chain.target.evaluated_get(_evaluated(context))
        store(chain, "rotation_offset", offset_from_target(chain, held.rotation, target))
    return [*told, *_key_held(context, owner, chain)]


def _key_held(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
    """Key what a pin holds, where automatic keying is on; else that its keys will take it back, if it has some."""
    assert context.scene is not None
    is_keyed = is_pin_keyed(owner, chain)
    if chain.pin or is_keyed:
        insert_pin_keys(context, owner, chain)
    if is_keyed and not context.scene.tool_settings.use_keyframe_insert_auto:
        return [Text("its pin is keyed: key it, or the next frame change takes it back")]
    return []


def _place_target(context: bpy.types.Context, item: Item, place: Vector) -> list[str]:
    """Bring the target to a place, or what is aimed at into the tip's line; why it stays, where it can't be moved."""
    target = goal_of(item[1], "target")
    if target is None:
        return []
    depsgraph = context.evaluated_depsgraph_get()
    standing = Standing.of(item, depsgraph, place)
    there = resolve_point("target", target.found, target.bone, depsgraph)
    point = _aimed_at(item, Vector(there), depsgraph) if item[1].kind == "AIM" else place
    near = IN_PLACE * standing.prepared.space.world_length((standing.prepared.length, 0, 0))
    return [] if (Vector(there) - point).length <= near else _placed(context, item, target, point)


def _aimed_at(item: Item, target: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The point at which the tip of a chain aims, as far away as its target."""
    owner, chain = item
    held = read_held(owner.evaluated_get(depsgraph), chain.tip_bone, "HEAD")
    along = unit(rotated(held.rotation, v3(chain.aim_axis)))
    return Vector(held.location) + Vector(along) * (target - Vector(held.location)).length


def _place_pole(context: bpy.types.Context, item: Item, place: Vector) -> list[str]:
    """Turn the pole about the limb to where the pose bends, if it is not there."""
    pole = goal_of(item[1], "pole")
    if pole is None:
        return []
    standing = Standing.of(item, _evaluated(context), place)
    off = pole_error(standing)
    if off is None or abs(off) <= POLE_MET:
        return []
    return _placed(context, item, pole, turned_pole(standing, off))


def _placed(context: bpy.types.Context, item: Item, goal: GoalRef, point: Vector) -> list[str]:
    """Put a goal to a point of the world; what there is to say of it."""
    owner, chain = item
    reason = _staying(owner, chain, goal)
    if reason:
        word = ROLE_TEXTS[goal.role]
        return [Text("its {role} {name} {reason}, and stays", role=word, name=goal.name, reason=reason)]
    put(goal, location_at(goal, point, context.evaluated_depsgraph_get()))
    return key_goal(context, goal)


def key_goal(context: bpy.types.Context, goal: GoalRef) -> list[str]:
    """Key a goal that was moved, where automatic keying is on; else that its keys will take it back, if it has some."""
    assert context.scene is not None
    insert_goal_keys(context, goal)
    if location_curves(goal) and not context.scene.tool_settings.use_keyframe_insert_auto:
        word = ROLE_TEXTS[goal.role]
        return [
            Text(
                "its {role} {name} is keyed: key it, or the next frame change takes it back", role=word, name=goal.name
            )
        ]
    return []


def _staying(owner: bpy.types.Object, chain: FabrikChain, goal: GoalRef) -> str:
    """Why a goal is not to be moved, to follow its name; or ""."""
    reason = stays(goal)
    if reason:
        return reason
    if carries(goal, owner, resolve_bones(owner, chain)[0].name):
        return Text("carries the chain")
    for other in bpy.data.objects:
        if other.type != "ARMATURE":
            continue
        for found in rig_of(other).chains:
            if (other, found.name) != (owner, chain.name) and any(ref.key == goal.key for ref in goals_of(found)):
                return Text("is also a goal of the chain '{chain}'", chain=found.name)
    return ""
