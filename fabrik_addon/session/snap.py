# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose as it stands, so that solving does not make the limb jump."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import bpy
from mathutils import Vector

from ..errors import ChainError, TargetError, place_of
from ..kernel import Bend, Point
from ..rig.chain_bones import pose_bones, resolve_bones
from ..rig.channels import read_rotation
from ..rig.compat import fcurves_of
from ..rig.dependencies import carriers_of
from ..rig.goals import goals_of
from ..rig.key_arrays import clear_keys
from ..rig.keys import insert_object_keys
from ..rig.placing import held_by, location_at
from ..rig.prepared import joints_at, read
from ..rig.properties import FabrikChain
from ..rig.rotations import any_perpendicular, length, perpendicular, plus, rotated, scaled, turn_about, unit
from .bend import bend_between
from .drag import tip_of
from .frames import frames_visited, go_to
from .order import Item

LEAST_DISTANCE = 0.2  # of a pole from the limb, as a share of its length: nearer it tells no direction


@dataclass(frozen=True, slots=True)
class Relocation:
    """Where an object is to go: its location channels."""

    found: bpy.types.Object
    location: Vector


def relocations_of(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> list[Relocation]:
    """Where target and pole of a chain would not change its pose.

    Args:
        owner: The armature object.
        chain: A chain with a target; its pole may be missing.
        depsgraph: Evaluated.

    Raises:
        FabrikError: The chain can't be read, or target or pole can't be moved.
    """
    for role in ("target", "pole"):
        goal, bone = getattr(chain, role), getattr(chain, f"{role}_bone")
        reason = held_by(goal, bone)
        if reason and (goal is not None or role == "target"):
            raise TargetError(f"the {role} {reason}, so it can't be moved", chain=chain.name)
    tip = tip_of(owner, chain, depsgraph)
    assert chain.target is not None
    found = [Relocation(chain.target, location_at(chain.target, tip, depsgraph))]
    if chain.pole is not None:
        point = _pole_point(owner, chain, depsgraph, tip)
        found += [Relocation(chain.pole, location_at(chain.pole, point, depsgraph))] if point is not None else []
    return found


def _pole_point(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, tip: Vector
) -> Vector | None:
    """A point on the side to which the limb bends, as far from it as its pole is now; None for a straight limb."""
    assert chain.pole is not None
    prepared, points = read(owner, chain, depsgraph, point=tip)
    assert points.pole is not None
    solver, space, last = prepared.solver, prepared.space, len(prepared.bones) - 1
    bones = pose_bones(owner)
    stood = joints_at(prepared, [read_rotation(bones[name]) for name in prepared.bones], owner, depsgraph)
    along, middle = unit(stood[-1]), scaled(stood[-1], 0.5)
    pole = space.to_chain(points.pole)
    side = any_perpendicular(along, pole)
    distance = max(length(perpendicular(pole, along)), LEAST_DISTANCE * prepared.length)
    goals = [
        Point(last, space.to_chain(points.target)),
        Bend(last, plus(middle, scaled(side, distance)), prepared.pole_angle),
    ]
    solution = solver.solve(goals, prepared.settings, explain=False)
    angle = bend_between(solution.joints, stood)
    if angle is None:
        return None
    turned = rotated(turn_about(along, angle), side)
    return Vector(space.to_world(plus(middle, scaled(turned, distance))))


def snap(context: bpy.types.Context, wanted: Sequence[tuple[Item, Sequence[float]]]) -> int:
    """Bring targets and poles of chains to the pose, at this frame or keyed over frames; how many were moved.

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
    found: list[tuple[float, Relocation]] = []
    with frames_visited(scene) if len(now) < len(wanted) else nullcontext():
        for frame in sorted({frame for _, frames in wanted for frame in frames}):
            go_to(scene, frame)
            items = [item for item, frames in wanted if frame in frames]
            found += [(frame, one) for item in items for one in _relocations(context, item)]
        for goal, first, last in _spans(found):
            for curve in fcurves_of(goal):
                if curve.data_path == "location":
                    clear_keys(curve, first, last)
        for frame, one in found:  # before the frame is put back, which evaluates the keys
            one.found.location = one.location
            one.found.keyframe_insert("location", frame=frame, group="Object Transforms")
    for one in now:
        one.found.location = one.location
        insert_object_keys(context, one.found)
    return len({one.found.name_full for one in (*now, *(one for _, one in found))})


def _spans(found: Sequence[tuple[float, Relocation]]) -> list[tuple[bpy.types.Object, float, float]]:
    """The goals that are keyed, each with its first and last frame."""
    frames: dict[str, tuple[bpy.types.Object, list[float]]] = {}
    for frame, one in found:
        frames.setdefault(one.found.name_full, (one.found, []))[1].append(frame)
    return [(goal, min(some), max(some)) for goal, some in frames.values()]


def _check(wanted: Sequence[tuple[Item, Sequence[float]]]) -> None:
    """Refuse what could not all be brought to the pose."""
    taken: dict[str, str] = {}
    for (owner, chain), frames in wanted:
        if chain.influence < 1.0:
            reason = "its influence is below 1, so that solving moves it wherever its target is"
            raise ChainError(reason, rig=owner.name, chain=chain.name)
        for _, goal, _ in goals_of(chain):
            if goal.name_full in taken:
                reason = f"its target or pole '{goal.name}' is also of '{taken[goal.name_full]}'"
                raise TargetError(f"{reason}: snap them one by one", rig=owner.name, chain=chain.name)
            taken[goal.name_full] = chain.name
            reason = _not_keyed(goal) if frames else ""
            if reason:
                raise TargetError(f"'{goal.name}' can't be keyed: {reason}", rig=owner.name, chain=chain.name)
    for (owner, chain), _ in wanted:
        root = resolve_bones(owner, chain)[0].name
        for thing, bone in (*((goal, bone) for _, goal, bone in goals_of(chain)), (owner, root)):
            above = {name for name, _ in carriers_of(thing, bone)} - {thing.name_full}
            if above & taken.keys():
                reason = f"'{thing.name}' hangs on '{min(above & taken.keys())}', which is to be moved"
                raise TargetError(f"{reason}: this can't come to rest", rig=owner.name, chain=chain.name)


def _not_keyed(goal: bpy.types.Object) -> str:
    """Why keys on the place of an object would not play as they are; "" where they would."""
    data = goal.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        return f"its action '{data.action.name}' is linked"
    if data is not None and any(track.is_solo for track in data.nla_tracks):
        return "one of its NLA tracks plays solo"
    for curve in fcurves_of(goal):
        if curve.data_path == "location" and (curve.lock or curve.mute or len(curve.modifiers)):
            return "the curve of its location is locked, muted or modified"
    return ""


def _relocations(context: bpy.types.Context, item: Item) -> list[Relocation]:
    owner, chain = item
    with place_of(rig=owner.name):
        return relocations_of(owner, chain, context.evaluated_depsgraph_get())
