# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose as it stands, so that solving does not make the limb jump."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from math import degrees
from typing import NamedTuple, TypeAlias

import bpy
from mathutils import Vector

from ..errors import ChainError, FabrikError, TargetError, place_of
from ..kernel import Bend, Limit, Point
from ..maths import (
    IDENTITY,
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
from ..messages import ROLES, Message
from ..rig.animation.channels import channel_of, read_rotation, read_values, to_values
from ..rig.animation.curves import clear_keys
from ..rig.animation.keys import (
    HELD,
    held_curves,
    insert_goal_key,
    insert_goal_keys,
    insert_held_key,
    insert_pin_keys,
    key_from,
)
from ..rig.bones import pose_bones, resolve_bones
from ..rig.dependencies import carriers_of
from ..rig.figure.joint_limits import read_limit
from ..rig.figure.uneven import joints_at
from ..rig.goals import GoalRef, Held, goal_of, goals_of, is_offset, read_held, store_held, turns_tip, turns_with_target
from ..rig.layers import share_at_hand
from ..rig.schema import FabrikChain, owner_of, rig_of
from ..texts import Text, joined
from .bends import bend_between, bend_of
from .figure_pose import FigurePose, goal_point
from .frames import Steps, frames_visited, go_to, scene_of
from .keep_pose import WORTH_TELLING, keep_at_tips, read_poses
from .solve import Item

LEAST_DISTANCE = 0.2  # of a pole from the limb, as a share of its length: nearer it tells no direction
Key: TypeAlias = tuple[str, str]  # full name of an object, and which of its bones or pins is meant; "" for itself


class Relocation(NamedTuple):
    """Where a target or pole is to go.

    Attributes:
        goal: The goal.
        location: Its location channels.
        turn: Its rotation channels; None where its rotation does not count.
    """

    goal: GoalRef
    location: Vector
    turn: Sequence[float] | None = None

    @property
    def key(self) -> Key:
        """Its identity: two with the same key are the same thing, which is moved once."""
        return self.goal.key

    def put(self) -> None:
        """Put it there."""
        self.goal.put(self.location)
        if self.turn is not None:
            self.goal.put_turn(self.turn)

    def key_at(self, frame: float) -> None:
        """Key it as it is, at a frame."""
        insert_goal_key(self.goal, frame)
        if self.turn is not None:
            insert_goal_key(self.goal, frame, turns=True)

    def key_itself(self, context: bpy.types.Context) -> None:
        """Key it where automatic keying is on."""
        insert_goal_keys(context, self.goal)
        if self.turn is not None:
            insert_goal_keys(context, self.goal, turns=True)

    def key_from(self, frame: int) -> None:
        """Put it there and key it from a frame on; up to then it stays where it was."""
        holder = self.goal.holder
        names = ["location", *([channel_of(holder.rotation_mode)[0]] if self.turn is not None else [])]
        before = [[*getattr(holder, name)] for name in names]
        self.put()
        for name, values in zip(names, before, strict=True):
            key_from(self.goal.found, (holder.path_from_id(name), self.goal.key_group), frame, values)

    def curves(self) -> list[bpy.types.FCurve]:
        """The curves in which it is keyed."""
        return self.goal.channel_curves() + (self.goal.channel_curves(turns=True) if self.turn is not None else [])


class HeldThere(NamedTuple):
    """What a chain is to hold: the place of a pin without target, or the rotation that its tip keeps; see `Relocation`.

    Attributes:
        owner: The armature object.
        chain: The chain.
        held: Place and rotation in the world.
    """

    owner: bpy.types.Object
    chain: FabrikChain
    held: Held

    @property
    def key(self) -> Key:
        return self.owner.name_full, f"held by {self.chain.name}"

    def put(self) -> None:
        store_held(self.chain, self.held)

    def key_at(self, frame: float) -> None:
        insert_held_key(self.owner, self.chain, frame)

    def key_itself(self, context: bpy.types.Context) -> None:
        insert_pin_keys(context, self.owner, self.chain)

    def key_from(self, frame: int) -> None:
        before = [[*getattr(self.chain, name)] for name in HELD]
        self.put()
        for name, values in zip(HELD, before, strict=True):
            key_from(self.owner, (self.chain.path_from_id(name), self.chain.name), frame, values)

    def curves(self) -> list[bpy.types.FCurve]:
        return held_curves(self.owner, self.chain)


Moved: TypeAlias = Relocation | HeldThere


class Snapped(NamedTuple):
    """How many goals were brought to the pose, and what there is to tell: what was done, and what to look out for."""

    moved: int
    done: list[str]
    warnings: list[str]


def relocations(context: bpy.types.Context, items: Sequence[Item]) -> list[Moved]:
    """Where targets, poles and what chains hold would not change their pose.

    Each chain has a target or a pin; its pole may be missing.

    Raises:
        FabrikError: One can't be read, or a target or pole can't be moved.
    """
    depsgraph = context.evaluated_depsgraph_get()
    tips: list[Vector] = []
    for owner, chain in items:
        with place_of(rig=owner.name):
            _check_free(chain)
            tips.append(goal_point(owner, chain, depsgraph))
    bent = [i for i, (_, chain) in enumerate(items) if goal_of(chain, "pole") is not None or is_offset(chain)]
    given = [None if is_offset(items[i][1]) else tips[i] for i in bent]
    read = read_poses([items[i] for i in bent], given, depsgraph)
    poses, found = dict(zip(bent, read, strict=True)), list[Moved]()
    for i, (owner, chain) in enumerate(items):
        with place_of(rig=owner.name):
            if is_offset(chain):
                found += _controls_of(poses[i], chain, tips[i])
                continue
            found += _relocations_of(owner, chain, depsgraph, tips[i])
            pole, point = goal_of(chain, "pole"), _pole_point(poses[i], chain.name, tips[i]) if i in poses else None
            if pole is not None and point is not None:
                found.append(Relocation(pole, pole.location_at(point, depsgraph)))
    return found


def _check_free(chain: FabrikChain) -> None:
    """Refuse a chain whose target or pole can't be moved."""
    target, pole = goal_of(chain, "target"), goal_of(chain, "pole")
    for role, goal in (("target", target), ("pole", pole)):
        reason: str | Message | None = goal.held_by() if goal is not None else Message("IS_NOT_SET")
        if is_offset(chain) and not share_at_hand(rig_of(owner_of(chain))):
            reason = Text("moves nothing while the layer of edits at hand is off")
        if not reason and role == "target" and goal is not None and turns_with_target(chain):
            reason = goal.turn_held_by()
        if reason and (goal is not None or (role == "target" and not _is_held(chain))):
            text = Text("the {role} {reason}, so it can't be moved", role=ROLES[role], reason=reason)
            raise TargetError(text, chain=chain.name)


def _is_held(chain: FabrikChain) -> bool:
    """Whether a pin without a target holds a chain."""
    return goal_of(chain, "target") is None and chain.pin and not chain.target_name


def _relocations_of(
    owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph, tip: Vector
) -> list[Moved]:
    """Where the target of a chain (`tip`, see `figure_pose.goal_point`) and what it holds would not change its pose."""
    target = goal_of(chain, "target")
    held = read_held(owner.evaluated_get(depsgraph), resolve_bones(owner, chain)[-1].name, chain.at_head)
    found: list[Moved] = []
    if target is not None:
        turn: Sequence[float] | None = None
        if turns_with_target(chain):  # by the offset that is kept
            wanted = multiplied(held.rotation, conjugated(normalized(chain.rotation_offset)))
            turn = target.turn_at(wanted, depsgraph)
        found.append(Relocation(target, target.location_at(tip, depsgraph), turn))
    if _is_held(chain) or (turns_tip(chain) and chain.orientation == "KEEP"):
        found.append(HeldThere(owner, chain, held))
    return found


def _controls_of(pose: FigurePose, chain: FabrikChain, tip: Vector) -> list[Relocation]:
    """Where the controls of an offset leave the pose."""
    target, pole, posed = goal_of(chain, "target"), goal_of(chain, "pole"), pose.owner.evaluated_get(pose.depsgraph)
    assert target is not None, "it has one"
    holder, held = target.holder, read_held(posed, chain.tip_bone, chain.at_head)
    place, turn = pose.control_at(chain, tip, held.rotation)
    values = to_values(holder.rotation_mode, turn, read_values(holder)) if turns_with_target(chain) else None
    found = [Relocation(target, place, values)]
    return [*found, *([Relocation(pole, pose.pole_control_at(chain))] if pole is not None else [])]


def _pole_point(pose: FigurePose, chain: str, tip: Vector) -> Vector | None:
    """A point on the side to which a limb bends, as far from it as its pole is now; None for a straight limb.

    The bend is that which a solve sees: from the stored start pose where it leads here, or the limb is animated and so
    keeps that; else from the pose at hand, which becomes the start pose.
    """
    figure, asked = pose.figure, pose.asked(chain)
    is_alone = figure.is_chain and not asked.at_head
    point = _point_for_stored(pose) if is_alone else None
    if is_alone and (pose.is_animated or (point is not None and pose.leaves(chain, point))):
        return point
    bend, pole = bend_of(pose, chain), pose.pole(chain)
    if bend is None or pole is None:
        return None
    space = figure.space
    away = perpendicular(minus(pole, bend.origin), bend.along)
    side = rotated(turn_about(bend.along, -pose.pole_turn(chain)), bend.side)
    middle = scaled(plus(bend.origin, space.to_chain(tip)), 0.5)
    distance = max(length(away), LEAST_DISTANCE * figure.length)
    return Vector(space.to_world(plus(middle, scaled(side, distance))))


def _point_for_stored(pose: FigurePose) -> Vector | None:
    """The point for a solve of a chain by itself that begins at the stored start pose."""
    figure, asked, points = pose.figure, pose.figure.asked[0], pose.points[0]
    space, last = figure.space, len(figure.bones) - 1
    stood = joints_at(figure, pose.rotations, pose.owner, pose.depsgraph)
    along, middle = unit(stood[-1]), scaled(stood[-1], 0.5)
    pole = pose.pole(asked.chain)
    assert pole is not None, "it has one"
    side = any_perpendicular(along, pole)
    distance = max(length(perpendicular(pole, along)), LEAST_DISTANCE * figure.length)
    goals = [
        Point(last, space.to_chain(points.target)),
        Bend(last, plus(middle, scaled(side, distance)), asked.pole_angle, fades=asked.pole_fades),
    ]
    solution = figure.solver.solve(goals, figure.settings, explain=False)
    angle = bend_between(solution.joints, stood)
    if angle is None:
        return None
    turned = rotated(turn_about(along, angle), side)
    return Vector(space.to_world(plus(middle, scaled(turned, distance))))


def snap_steps(context: bpy.types.Context, wanted: Sequence[tuple[Item, Sequence[float]]]) -> Steps[Snapped]:
    """Bring targets and poles of chains to the pose, at this frame or keyed over frames.

    In steps; closed before its end it leaves all as it was.

    Args:
        context: Its scene's frame is moved and put back.
        wanted: Chains, each with the frames at which the places are keyed; none for this frame without keys.

    Raises:
        FabrikError: Something can't be moved or keyed; nothing was.
    """
    scene = scene_of(context)
    check_snap(wanted)
    now = relocations(context, [item for item, frames in wanted if not frames])
    found: list[tuple[float, Moved]] = []
    every = sorted({frame for _, frames in wanted for frame in frames})
    limits = [_limits_of(item) for item, _ in wanted] if every else []
    beyond = dict[int, tuple[float, float, str]]()
    with frames_visited(scene) if every else nullcontext():
        for k, frame in enumerate(every):
            go_to(scene, frame)
            items = [item for item, frames in wanted if frame in frames]
            found += [(frame, one) for one in relocations(context, items)]
            for i, ((item, frames), own) in enumerate(zip(wanted, limits, strict=True)):
                if frame in frames:
                    bones = pose_bones(item[0])
                    stood = [(limit.violation(read_rotation(bones[name])), frame, name) for name, limit in own]
                    beyond[i] = max([beyond.get(i, (0.0, frame, "")), *stood])
            yield (k + 1) / len(every)
        for moved, first, last in _spans(found):
            for curve in moved.curves():
                clear_keys(curve, first, last)
        for frame, one in found:  # before the frame is put back, which evaluates the keys
            one.put()
            one.key_at(frame)
    for one in now:
        one.put()
        one.key_itself(context)
    done, warnings = keep_at_tips([item for item, _ in wanted])
    for i, (angle, frame, bone) in beyond.items():
        if angle <= WORTH_TELLING:
            continue
        text = Text("'{bone}' exceeds its joint limit by {angle:.2g}°", bone=bone, angle=degrees(angle))
        at = Text("in frame {frame:g}, where a solve turns it back", frame=frame)
        warnings.append(joined(": ", (wanted[i][0][1].name, joined(" ", (text, at)))))
    return Snapped(len({one.key for one in (*now, *(one for _, one in found))}), done, warnings)


def _limits_of(item: Item) -> list[tuple[str, Limit]]:
    """The limits of a chain's bones, but for those that hold a bone where it starts; by their names."""
    with suppress(FabrikError):  # else a solve tells what is wrong with one
        found = [(bone.name, read_limit(bone, IDENTITY)) for bone in resolve_bones(*item)]
        return [(name, limit) for name, limit in found if not limit.is_fixed]
    return []


def _spans(found: Sequence[tuple[float, Moved]]) -> list[tuple[Moved, float, float]]:
    """What is keyed, each with its first and last frame."""
    frames: dict[Key, tuple[Moved, list[float]]] = {}
    for frame, one in found:
        frames.setdefault(one.key, (one, []))[1].append(frame)
    return [(moved, min(some), max(some)) for moved, some in frames.values()]


def check_snap(wanted: Sequence[tuple[Item, Sequence[float]]]) -> None:
    """Refuse what could not all be brought to the pose."""
    taken: dict[tuple[str, str], tuple[GoalRef, str]] = {}
    for (owner, chain), frames in wanted:
        with place_of(rig=owner.name, chain=chain.name):
            if chain.influence < 1.0:
                raise ChainError(Text("its influence is below 1, so that solving moves it wherever its target is"))
            for goal in goals_of(chain):
                if goal.key in taken:
                    other = taken[goal.key][1]
                    reason = Text("its target or pole {goal} is also of '{chain}'", goal=goal.name, chain=other)
                    raise TargetError(Text("{reason}: snap them one by one", reason=reason))
                taken[goal.key] = goal, chain.name
                refusal = _not_keyed(goal, chain) if frames and not goal.held_by() else ""
                if refusal:
                    raise TargetError(Text("{goal} can't be keyed: {reason}", goal=goal.name, reason=refusal))
    for (owner, chain), _ in wanted:
        root = resolve_bones(owner, chain)[0].name
        carried = [(goal.name, goal.key, carriers_of(goal.found, goal.bone)) for goal in goals_of(chain)]
        for name, key, carriers in (*carried, (f"'{owner.name}'", ("", ""), carriers_of(owner, root))):
            above = carriers & taken.keys() - {key}
            if above:
                hung = Text("{name} hangs on {goal}, which is to be moved", name=name, goal=taken[min(above)][0].name)
                reason = Text("{reason}: this can't come to rest", reason=hung)
                raise TargetError(reason, rig=owner.name, chain=chain.name)


def _not_keyed(goal: GoalRef, chain: FabrikChain) -> str:
    """Why keys on a goal would not play as they are; "" where they would."""
    data = goal.found.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        return Text("its action '{action}' is linked", action=data.action.name)
    if data is not None and any(track.is_solo for track in data.nla_tracks):
        return Text("one of its NLA tracks plays solo")
    curves = goal.channel_curves()
    if goal.role == "target" and turns_with_target(chain):
        curves += goal.channel_curves(turns=True)
    if any(curve.lock or curve.mute or len(curve.modifiers) for curve in curves):
        return Text("the curve of its location or rotation is locked, muted or modified")
    return ""
