# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose as it stands, so that solving does not make the limb jump."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import ChainError, TargetError, place_of
from ..kernel import Bend, Point
from ..maths import (
    Q4,
    any_perpendicular,
    conjugated,
    length,
    minus,
    multiplied,
    normalized,
    perpendicular,
    plus,
    rotated,
    scaled,
    turn_about,
    unit,
)
from ..rig.chain_bones import resolve_bones
from ..rig.dependencies import carriers_of
from ..rig.goals import GoalRef, goal_of, goals_of, turns_tip
from ..rig.held import Held, read_held
from ..rig.key_arrays import clear_keys
from ..rig.measured import joints_at
from ..rig.placing import held_by, location_at, location_curves, turn_at, turn_curves, turn_held_by
from ..rig.schema import FabrikChain
from ..texts import ROLE_TEXTS, Text
from .anchoring import keep_poses
from .bend import bend_between
from .frames import frames_visited, go_to
from .order import Item
from .relocation import HeldThere, Key, Moved, Relocation
from .standing import Standing, bend_of, goal_point

LEAST_DISTANCE = 0.2  # of a pole from the limb, as a share of its length: nearer it tells no direction


class Snapped(NamedTuple):
    """How many goals were brought to the pose, and what there is to tell: what was done, and what to look out for."""

    moved: int
    done: list[str]
    warnings: list[str]


def relocations_of(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> list[Moved]:
    """Where target, pole and what it holds would not change the pose of a chain.

    Args:
        owner: The armature object.
        chain: A chain with a target or a pin; its pole may be missing.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain can't be read, or target or pole can't be moved.
    """
    target, pole = goal_of(chain, "target"), goal_of(chain, "pole")
    is_held = target is None and chain.pin and not chain.target_name
    for role, goal in (("target", target), ("pole", pole)):
        reason = held_by(goal)
        if not reason and role == "target" and goal is not None and _turns_with_target(chain):
            reason = turn_held_by(goal)
        if reason and (goal is not None or (role == "target" and not is_held)):
            text = Text("the {role} {reason}, so it can't be moved", role=ROLE_TEXTS[role], reason=reason)
            raise TargetError(text, chain=chain.name)
    tip = goal_point(owner, chain, depsgraph)
    held = read_held(owner.evaluated_get(depsgraph), resolve_bones(owner, chain)[-1].name, chain.effector)
    found: list[Moved] = []
    if target is not None:
        turn = turn_at(target, _turn_of_target(chain, held), depsgraph) if _turns_with_target(chain) else None
        found.append(Relocation(target, location_at(target, tip, depsgraph), turn))
    if is_held or (turns_tip(chain) and chain.orientation == "KEEP"):
        found.append(HeldThere(owner, chain, held))
    if pole is not None:
        point = _pole_point(owner, chain, depsgraph, tip)
        found += [Relocation(pole, location_at(pole, point, depsgraph))] if point is not None else []
    return found


def _turns_with_target(chain: FabrikChain) -> bool:
    return turns_tip(chain) and chain.orientation == "TARGET"


def _turn_of_target(chain: FabrikChain, held: Held) -> Q4:
    """How the target has to be turned in the world for the tip to turn as it does, by the offset that is kept."""
    return multiplied(held.rotation, conjugated(normalized(chain.rotation_offset)))


def _pole_point(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, tip: Vector
) -> Vector | None:
    """A point on the side to which the limb bends, as far from it as its pole is now; None for a straight limb.

    The bend is that which a solve sees: from the stored start pose where it leads here, or the limb is animated and so
    keeps that; else from the pose at hand, which becomes the start pose.
    """
    standing = Standing.of((owner, chain), depsgraph, tip)
    is_alone = standing.prepared.is_chain and not standing.asked.at_head
    point = _point_for_stored(standing) if is_alone else None
    if is_alone and (standing.is_animated or (point is not None and standing.leaves(point))):
        return point
    bend = bend_of(standing)
    if bend is None:
        return None
    space, pole = standing.prepared.space, standing.own.pole
    assert pole is not None
    away = perpendicular(minus(space.to_chain(pole), bend.origin), bend.along)
    side = rotated(turn_about(bend.along, -standing.asked.pole_angle), bend.side)
    middle = scaled(plus(bend.origin, space.to_chain(tip)), 0.5)
    distance = max(length(away), LEAST_DISTANCE * standing.prepared.length)
    return Vector(space.to_world(plus(middle, scaled(side, distance))))


def _point_for_stored(standing: Standing) -> Vector | None:
    """The point for a solve that begins at the stored start pose."""
    prepared, points = standing.prepared, standing.own
    assert points.pole is not None
    solver, space, last = prepared.solver, prepared.space, len(prepared.bones) - 1
    stood = joints_at(prepared, standing.rotations, standing.owner, standing.depsgraph)
    along, middle = unit(stood[-1]), scaled(stood[-1], 0.5)
    pole = space.to_chain(points.pole)
    side = any_perpendicular(along, pole)
    distance = max(length(perpendicular(pole, along)), LEAST_DISTANCE * prepared.length)
    goals = [
        Point(last, space.to_chain(points.target)),
        Bend(last, plus(middle, scaled(side, distance)), standing.asked.pole_angle),
    ]
    solution = solver.solve(goals, prepared.settings, explain=False)
    angle = bend_between(solution.joints, stood)
    if angle is None:
        return None
    turned = rotated(turn_about(along, angle), side)
    return Vector(space.to_world(plus(middle, scaled(turned, distance))))


def snap(context: bpy.types.Context, wanted: Sequence[tuple[Item, Sequence[float]]]) -> Snapped:
    """Bring targets and poles of chains to the pose, at this frame or keyed over frames.

    Args:
        context: Its scene's frame is moved and put back.
        wanted: Chains, each with the frames at which the places are keyed; none for this frame without keys.

    Raises:
        FabrikError: Something can't be moved or keyed; nothing was.
    """
    scene = context.scene
    assert scene is not None
    _check(wanted)
    now = [one for item, frames in wanted if not frames for one in _relocations(context, item)]
    found: list[tuple[float, Moved]] = []
    with frames_visited(scene) if len(now) < len(wanted) else nullcontext():
        for frame in sorted({frame for _, frames in wanted for frame in frames}):
            go_to(scene, frame)
            items = [item for item, frames in wanted if frame in frames]
            found += [(frame, one) for item in items for one in _relocations(context, item)]
        for moved, first, last in _spans(found):
            for curve in moved.curves():
                clear_keys(curve, first, last)
        for frame, one in found:  # before the frame is put back, which evaluates the keys
            one.put()
            one.key_at(frame)
    for one in now:
        one.put()
        one.key_itself(context)
    done, warnings = keep_poses([item for item, _ in wanted])
    return Snapped(len({one.key for one in (*now, *(one for _, one in found))}), done, warnings)


def _spans(found: Sequence[tuple[float, Moved]]) -> list[tuple[Moved, float, float]]:
    """What is keyed, each with its first and last frame."""
    frames: dict[Key, tuple[Moved, list[float]]] = {}
    for frame, one in found:
        frames.setdefault(one.key, (one, []))[1].append(frame)
    return [(moved, min(some), max(some)) for moved, some in frames.values()]


def _check(wanted: Sequence[tuple[Item, Sequence[float]]]) -> None:
    """Refuse what could not all be brought to the pose."""
    taken: dict[tuple[str, str], tuple[GoalRef, str]] = {}
    for (owner, chain), frames in wanted:
        if chain.influence < 1.0:
            reason = Text("its influence is below 1, so that solving moves it wherever its target is")
            raise ChainError(reason, rig=owner.name, chain=chain.name)
        for goal in goals_of(chain):
            if goal.key in taken:
                reason = Text(
                    "its target or pole {goal} is also of '{chain}'", goal=goal.name, chain=taken[goal.key][1]
                )
                raise TargetError(
                    Text("{reason}: snap them one by one", reason=reason), rig=owner.name, chain=chain.name
                )
            taken[goal.key] = goal, chain.name
            refusal = _not_keyed(goal, chain) if frames and not held_by(goal) else ""
            if refusal:
                raise TargetError(
                    Text("{goal} can't be keyed: {reason}", goal=goal.name, reason=refusal),
                    rig=owner.name,
                    chain=chain.name,
                )
    for (owner, chain), _ in wanted:
        root = resolve_bones(owner, chain)[0].name
        carried = [(goal.name, goal.key, carriers_of(goal.found, goal.bone)) for goal in goals_of(chain)]
        for name, key, carriers in (*carried, (f"'{owner.name}'", ("", ""), carriers_of(owner, root))):
            above = carriers & taken.keys() - {key}
            if above:
                reason = Text("{name} hangs on {goal}, which is to be moved", name=name, goal=taken[min(above)][0].name)
                raise TargetError(
                    Text("{reason}: this can't come to rest", reason=reason), rig=owner.name, chain=chain.name
                )


def _not_keyed(goal: GoalRef, chain: FabrikChain) -> str:
    """Why keys on a goal would not play as they are; "" where they would."""
    data = goal.found.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        return Text("its action '{action}' is linked", action=data.action.name)
    if data is not None and any(track.is_solo for track in data.nla_tracks):
        return Text("one of its NLA tracks plays solo")
    curves = location_curves(goal)
    if goal.role == "target" and _turns_with_target(chain):
        curves += turn_curves(goal)
    if any(curve.lock or curve.mute or len(curve.modifiers) for curve in curves):
        return Text("the curve of its location or rotation is locked, muted or modified")
    return ""


def _relocations(context: bpy.types.Context, item: Item) -> list[Moved]:
    owner, chain = item
    with place_of(rig=owner.name):
        return relocations_of(owner, chain, context.evaluated_depsgraph_get())
