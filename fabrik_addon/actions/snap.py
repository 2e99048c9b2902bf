# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles brought to the pose as it stands, so that no limb jumps; limbs switched between goals and keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from math import degrees
from typing import Any, NamedTuple, TypeAlias

import bpy
from mathutils import Vector

from ..errors import ChainError, FabrikError, TargetError, place_of
from ..kernel import Limit
from ..maths import IDENTITY, conjugated, distance, multiplied, normalized, turn_angle, v3
from ..messages import ROLES, Message
from ..rig.animation.channels import read_rotation, read_values, rotation_path, to_values
from ..rig.animation.compat import evaluated_now, fcurves_of
from ..rig.animation.curves import clear_keys
from ..rig.animation.keys import HELD, insert_goal_keys, insert_pin_keys, key_from
from ..rig.bones import pose_bones, resolve_bones
from ..rig.dependencies import carriers_of
from ..rig.figure.groups import lacks_goal
from ..rig.figure.joint_limits import read_limit
from ..rig.figure.start_pose import start_from_keys
from ..rig.goals import GoalRef, goal_of, goals_of, is_offset, read_held, store, turns_tip, turns_with_target
from ..rig.layers import share_at_hand
from ..rig.schema import FabrikChain, owner_of, rig_of
from ..rig.walk_goals import is_walked
from ..texts import Text, counted, joined
from .bends import pole_beside
from .figure_pose import SAME, FigurePose, goal_point
from .frames import Steps, frames_visited, go_to_live, go_to_whole, scene_of
from .keep_pose import WORTH_TELLING, ReleaseReport, keep_and_tell, keep_at_tips, read_poses, told_moves, unposed
from .motion.marks import check_own_keys
from .motion.through_time import keys_refusal
from .solve import Item, together

Key: TypeAlias = tuple[str, str]  # full name of an object, and which of its bones or pins is meant; "" for itself


class Relocation(NamedTuple):
    """Where a target or pole is to go; or the place of a pin without target, or the rotation of its tip, to be held.

    Attributes:
        what: The goal; or the chain that holds.
        values: What its channels are to be, by the names of its properties.
    """

    what: GoalRef | FabrikChain
    values: dict[str, Sequence[float]]

    @property
    def owner(self) -> bpy.types.Object:
        """The object of which the properties are."""
        return self.what.found if isinstance(self.what, GoalRef) else owner_of(self.what)

    @property
    def holder(self) -> Any:
        """What has the properties."""
        return self.what.holder if isinstance(self.what, GoalRef) else self.what

    @property
    def key(self) -> Key:
        """Its identity: two with the same key are the same thing, which is moved once."""
        what = self.what
        return what.key if isinstance(what, GoalRef) else (self.owner.name_full, f"held by {what.name}")

    @property
    def channels(self) -> list[tuple[str, str]]:
        """The paths of the properties from the object, each with the group of its curves."""
        group = self.what.key_group if isinstance(self.what, GoalRef) else self.what.name
        return [(self.holder.path_from_id(name), group) for name in self.values]

    def put(self) -> None:
        """Put it there."""
        for name, values in self.values.items():
            if not isinstance(self.what, GoalRef):
                store(self.what, name, values)
            elif name == "location":
                self.what.put(Vector(values))
            else:
                self.what.put_turn(values)

    def key_at(self, frame: float) -> None:
        """Key it as it is, at a frame."""
        for path, group in self.channels:
            self.owner.keyframe_insert(path, frame=frame, group=group)

    def key_itself(self, context: bpy.types.Context) -> None:
        """Key it where automatic keying is on."""
        if not isinstance(self.what, GoalRef):
            insert_pin_keys(context, self.owner, self.what)
            return
        for name in self.values:
            insert_goal_keys(context, self.what, turns=name != "location")

    def key_from(self, frame: int) -> None:
        """Put it there and key it from a frame on; up to then it stays where it was."""
        before = [[*getattr(self.holder, name)] for name in self.values]
        self.put()
        for channel, values in zip(self.channels, before, strict=True):
            key_from(self.owner, channel, frame, values)

    def curves(self) -> list[bpy.types.FCurve]:
        """The curves in which it is keyed."""
        paths = {path for path, _ in self.channels}
        return [curve for curve in fcurves_of(self.owner) if curve.data_path in paths]


def _relocation(goal: GoalRef, location: Vector, turn: Sequence[float] | None = None) -> Relocation:
    """Where a goal is to go, and how it is to be turned, where its rotation counts."""
    place, rotation = goal.channel_names
    return Relocation(goal, {place: location, **({rotation: turn} if turn is not None else {})})


def relocations(context: bpy.types.Context, items: Sequence[Item]) -> list[Relocation]:
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
    poses, found = dict(zip(bent, read, strict=True)), list[Relocation]()
    for i, (owner, chain) in enumerate(items):
        with place_of(rig=owner.name):
            if is_offset(chain):
                found += _controls_of(poses[i], chain, tips[i])
                continue
            found += _relocations_of(owner, chain, depsgraph, tips[i])
            pole, point = goal_of(chain, "pole"), pole_beside(poses[i], chain.name, tips[i]) if i in poses else None
            if pole is not None and point is not None:
                found.append(_relocation(pole, pole.location_at(point, depsgraph)))
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
) -> list[Relocation]:
    """Where the target of a chain (`tip`, see `figure_pose.goal_point`) and what it holds would not change its pose."""
    target = goal_of(chain, "target")
    held = read_held(owner.evaluated_get(depsgraph), resolve_bones(owner, chain)[-1].name, chain.at_head)
    found: list[Relocation] = []
    if target is not None:
        turn: Sequence[float] | None = None
        if turns_with_target(chain):  # by the offset that is kept
            wanted = multiplied(held.rotation, conjugated(normalized(chain.rotation_offset)))
            turn = target.turn_at(wanted, depsgraph)
        found.append(_relocation(target, target.location_at(tip, depsgraph), turn))
    if _is_held(chain) or (turns_tip(chain) and chain.orientation == "KEEP"):
        found.append(Relocation(chain, dict(zip(HELD, held, strict=True))))
    return found


def _controls_of(pose: FigurePose, chain: FabrikChain, tip: Vector) -> list[Relocation]:
    """Where the controls of an offset leave the pose."""
    target, pole = goal_of(chain, "target"), goal_of(chain, "pole")
    assert target is not None, "it has one"
    place, turn = pose.control_at(chain, tip)
    found = [_relocation(target, place, turn if turns_with_target(chain) else None)]
    return [*found, *([_relocation(pole, pose.pole_control_at(chain))] if pole is not None else [])]


def snap_steps(context: bpy.types.Context, wanted: Sequence[tuple[Item, Sequence[float]]]) -> Steps[ReleaseReport]:
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
    found: list[tuple[float, Relocation]] = []
    every = sorted({frame for _, frames in wanted for frame in frames})
    limits = [_limits_of(item) for item, _ in wanted] if every else []
    beyond = dict[int, tuple[float, float, str]]()
    with frames_visited(scene) if every else nullcontext():
        for k, frame in enumerate(every):
            go_to_live(scene, frame)  # limbs that are posed live stand where that has them
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
    count = len({one.key for one in (*now, *(one for _, one in found))})
    told = counted(count, "1 goal brought to the pose", "{count} goals brought to the pose")
    return ReleaseReport([told, *done], warnings)


def _limits_of(item: Item) -> list[tuple[str, Limit]]:
    """The limits of a chain's bones, but for those that hold a bone where it starts; by their names."""
    with suppress(FabrikError):  # else a solve tells what is wrong with one
        found = [(bone.name, read_limit(bone, IDENTITY)) for bone in resolve_bones(*item)]
        return [(name, limit) for name, limit in found if not limit.is_fixed]
    return []


def _spans(found: Sequence[tuple[float, Relocation]]) -> list[tuple[Relocation, float, float]]:
    """What is keyed, each with its first and last frame."""
    frames: dict[Key, tuple[Relocation, list[float]]] = {}
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
                refusal = _not_keyed(goal, chain) if frames and not goal.held_by() else None
                if refusal is not None:
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


def _not_keyed(goal: GoalRef, chain: FabrikChain) -> Text | None:
    """Why keys on a goal would not play as they are; None where they would."""
    data = goal.found.animation_data
    if data is not None and any(track.is_solo for track in data.nla_tracks):
        return Text("one of its NLA tracks plays solo")
    return keys_refusal(goal, turns=goal.role == "target" and turns_with_target(chain))


# Limbs switched between goals (IK) and keys of their bones (FK) at a frame; the pose stays, there and before.

Change = tuple[bpy.types.Object, tuple[str, str], Sequence[float]]  # what `key_from` takes beside the frame


def switch_refusal(chain: FabrikChain) -> str:
    """Why a limb has no two ways of being posed, or ""."""
    if is_offset(chain):
        return Text("its target edits a motion, which is in the keys of its bones: Apply Edits makes it part of these")
    if is_walked(chain):
        return Text("a planned walk moves it")
    return Text("it has no target and no pin") if lacks_goal(chain) else ""


def to_fk(context: bpy.types.Context, items: Sequence[Item]) -> list[str]:
    """From the frame at hand on let keys of their bones pose limbs, and no goals; the pose stays as it stands.

    The bones are keyed as they stand, those of the body that a limb has pulled along included, and in the frame before
    as they started there; the influence of the goals is keyed with 1 up to then, and with 0 from now on.

    Returns:
        What there is to look out for.

    Raises:
        FabrikError: It can't be keyed; nothing was changed.
    """
    _check(items)
    frame = go_to_whole(scene_of(context))
    notes, changes = list[str](), list[Change]()
    with unposed() as depsgraph:
        for chain_set in together(items):
            own = [chain for chain in chain_set.chains if (chain_set.owner, chain) in items]
            changes += _bones_from(FigurePose.read(chain_set, depsgraph), own)
            notes += [one for chain in own if (one := _dormant(chain_set.owner, chain)) is not None]
        for owner, channel, before in changes:
            key_from(owner, channel, frame, before)
        for owner, chain in items:
            start_from_keys(owner, [chain])
            _key_influence(owner, chain, 0.0, frame)
    others = [(one.owner, chain) for one in together(items) for chain in one.chains if (one.owner, chain) not in items]
    return [*notes, *told_moves(others)]  # which pull on a body from where it is keyed now


def to_ik(context: bpy.types.Context, items: Sequence[Item]) -> list[str]:
    """From the frame at hand on let goals pose limbs: they are brought to the pose, and keyed; see `to_fk`.

    Returns:
        What there is to look out for.

    Raises:
        FabrikError: Something can't be moved or keyed; nothing was changed.
    """
    _check(items)
    frame = go_to_whole(scene_of(context))
    before = [chain.influence for _, chain in items]
    with unposed():
        try:
            for _, chain in items:
                chain.influence = 1.0
            evaluated_now(context.evaluated_depsgraph_get())
            check_snap([(item, (float(frame),)) for item in items])
            found = relocations(context, items)
            heard = [note for item in items if (note := _dormant(*item)) is not None]
        finally:
            for (_, chain), value in zip(items, before, strict=True):
                chain.influence = value
        for owner, chain in items:
            for bone in resolve_bones(owner, chain):
                key_from(owner, (rotation_path(bone), bone.name), frame, read_values(bone))
            start_from_keys(owner, [chain])
            _key_influence(owner, chain, 1.0, frame)
        for one in found:
            one.key_from(frame)
    told = zip(items, keep_and_tell(items), strict=True)
    return [*heard, *(joined(": ", (chain.name, note)) for (_, chain), kept in told for note in kept.notes)]


def _check(items: Iterable[Item]) -> None:
    """Refuse what can't be switched by keys."""
    for owner, chain in items:
        refusal = switch_refusal(chain)
        if refusal:
            raise ChainError(refusal, rig=owner.name, chain=chain.name)
        with place_of(chain=chain.name):
            paths = {rotation_path(bone) for bone in resolve_bones(owner, chain)}
            check_own_keys(owner, paths | {chain.path_from_id("influence")})


def _key_influence(owner: bpy.types.Object, chain: FabrikChain, value: float, frame: int) -> None:
    before, chain.influence = chain.influence, value
    key_from(owner, (chain.path_from_id("influence"), chain.name), frame, [before], stays=True)


def _bones_from(pose: FigurePose, chains: Sequence[FabrikChain]) -> list[Change]:
    """What keys bones of limbs as they stand, and those of the body up to the limbs that are off their start pose."""
    figure, owner, bones = pose.figure, pose.owner, pose_bones(pose.owner)
    names, found = {bone.name for chain in chains for bone in resolve_bones(owner, chain)}, list[Change]()
    has_goal = any(one.tip_bone == pose.chain_set.body for one in pose.chain_set.chains)
    body = pose.chain_set.body if not has_goal else ""
    for i, (name, start, stands) in enumerate(zip(figure.bones, figure.start.rotations, pose.rotations, strict=True)):
        is_off = turn_angle(multiplied(conjugated(start), stands)) > SAME
        is_free = figure.start.is_between[i] or name == body
        if i not in figure.start.carried and (name in names or (is_off and is_free)):
            before = to_values(bones[name].rotation_mode, start, read_values(bones[name]))
            found.append((owner, (rotation_path(bones[name]), name), before))
    if body and body not in names:
        place = figure.start.location
        if distance(place, v3(bones[body].location)) > SAME * figure.length:
            found.append((owner, (bones[body].path_from_id("location"), body), place))
    return found


def _dormant(owner: bpy.types.Object, chain: FabrikChain) -> Text | None:
    """That keys of its bones, which a limb did not start from, are heard now."""
    paths = {rotation_path(bone) for bone in resolve_bones(owner, chain)}
    if chain.start == "ANIMATED" or not any(one.data_path in paths for one in fcurves_of(owner)):
        return None
    return Text("{chain}: its bones had keys already, from which it starts in all frames now", chain=chain.name)
