# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that come along: brought to where they leave a pose that was made by a drag or by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
from mathutils import Vector

from ..errors import FabrikError
from ..maths import conjugated, multiplied, normalized, turn_angle, v3
from ..messages import ROLES
from ..rig.animation.channels import read_values
from ..rig.animation.compat import evaluated_now
from ..rig.animation.keys import insert_goal_keys, insert_pin_keys, is_pin_keyed, keys_by_itself, makes_an_action
from ..rig.bones import resolve_bones
from ..rig.goals import (
    GoalRef,
    TipPose,
    goal_of,
    goals_of,
    is_offset,
    offset_from_target,
    read_held,
    store,
    turns_tip,
    turns_with_target,
)
from ..rig.layers import share_at_hand
from ..rig.schema.chain import FabrikChain
from ..rig.schema.rig import RigRecord, rig_of
from ..rig.targets import resolve_point, resolve_turn
from ..rig.versions import holds_data
from ..texts import Text, worded
from .bends import turned_pole
from .figure_pose import FigurePose, Places, goal_point, hard_place

IN_PLACE = 1e-6  # share of the length within which a target is where the tip is
POLE_MET = 1e-4  # radians
ROUNDS = 3  # in which offsets settle that stand in the frame of a bone that the solve moves
TURNED = 1e-6  # radians from which on a target is turned with its tip
STAYS = Text("its {role} {name} {reason}, and stays")
UNKEYED = Text("its {role} {name} has no keys: key it for it to stand elsewhere in other frames")
TAKEN_BACK = Text("its {role} {name} is keyed: key it, or the next frame change takes it back")


@dataclass(slots=True)
class ReleasedChain:
    """A chain that was let go.

    Attributes:
        chain: The chain.
        goal: Where a goal belongs for its tip to stay as it was let go, in world space.
        stays: Whether its goals held meanwhile, and are not brought along.
        is_whole: Whether it is a part of a whole pose, with which goals are keyed that are in place, too.
        is_late: Whether Blender kept the state for undo already: then no object must get an action (`makes_an_action`).
        warnings: What there is to look out for.
        is_refused: Whether it can't be solved.
    """

    chain: FabrikChain
    goal: Vector
    stays: bool = False
    is_whole: bool = False
    is_late: bool = False
    warnings: list[str] = field(default_factory=list)
    is_refused: bool = False

    @property
    def point(self) -> Vector | None:
        """Where its effector is to go in place of a goal, where it has none."""
        return self.goal if self.chain.target is None and not self.chain.pin else None


@contextmanager
def refused(chains: Sequence[ReleasedChain]) -> Iterator[None]:
    """Tell at chains what is wrong in a block, and that they won't be solved."""
    try:
        yield
    except FabrikError as error:
        for one in chains:
            if not one.is_refused:
                one.is_refused = True
                one.warnings.append(Text("the next solve will be refused: {reason}", reason=error.local))


def bring_goals(
    context: bpy.types.Context, pose: FigurePose, chains: Sequence[ReleasedChain], given: Places
) -> FigurePose:
    """Bring goals and poles of chains to where they leave a pose; the pose with the goals where they are then.

    What can't be moved stays, and is told at its chain.

    The pose is that at hand, without goals; `given` tells where effectors are to go in place of targets.

    Raises:
        FabrikError: A goal can't be read.
    """
    for one in chains:
        with refused([one]):
            one.warnings += _place_goal(context, pose, one)
    pose = pose.with_goals(evaluated_now(pose.depsgraph), given)
    pose = pose.with_places({}, _place_poles(context, pose, [one for one in chains if not one.is_refused]))
    edits = {one.chain.name: one for one in chains if is_offset(one.chain) and not one.is_refused}
    for _ in range(ROUNDS if edits else 0):
        pose = pose.with_goals(evaluated_now(pose.depsgraph), given)
        for name, place in pose.offsets_for({name: one.goal for name, one in edits.items()}).items():
            target = goal_of(edits[name].chain, "target")
            if target is not None and not _staying(pose.owner, edits[name].chain, target):
                target.put(place)
                key_goal(context, target)
    return pose.with_goals(evaluated_now(pose.depsgraph), given) if edits else pose


def goal_to_leave(owner: bpy.types.Object, chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Vector:
    """Where the goal of a chain belongs, so that its tip stays where it is evaluated."""
    return hard_place(owner, chain, goal_point(owner, chain, depsgraph), depsgraph)


def _place_goal(context: bpy.types.Context, pose: FigurePose, one: ReleasedChain) -> list[str]:
    """Bring what a chain goes to or holds to a place; why it stays where it is, where it can't be moved."""
    owner, chain = pose.owner, one.chain
    target = goal_of(chain, "target")
    if target is not None and is_offset(chain):
        return _place_control(context, pose, one, target)
    held = read_held(owner.evaluated_get(pose.depsgraph), chain.tip_bone, chain.at_head)
    told = list[str]()
    if target is not None:
        there = Vector(resolve_point("target", target.found, target.bone, pose.depsgraph))
        if (there - one.goal).length > IN_PLACE * pose.figure.space.world_length((pose.figure.length, 0, 0)):
            told += placed(context, pose, one, target, one.goal)[1]
        else:
            _key_in_place(context, pose, one, target)
    if chain.pin and chain.target is None:
        store(chain, "held_location", v3(one.goal))
    if chain.orientation == "KEEP":
        store(chain, "held_rotation", held.rotation)
    told += _turn_target(context, pose, one, held)
    return [*told, *_key_held(context, owner, one)]


def _place_control(context: bpy.types.Context, pose: FigurePose, one: ReleasedChain, goal: GoalRef) -> list[str]:
    """Bring a control of an offset to where it leaves the pose, as far from its rest as that is from its motion.

    The target goes with the tip, as that is held; the pole is turned as far as the limb bends away from its motion.
    """
    reason = _staying(pose.owner, one.chain, goal)
    if reason:
        return [_about(goal, STAYS, reason=reason)]
    before, turns = _channels(goal), False
    if goal.role == "pole":
        goal.put(pose.pole_control_at(one.chain))
    else:
        place, turn = pose.control_at(one.chain, one.goal)
        turns = turns_with_target(one.chain) and goal.turn_held_by() is None
        goal.put(place)
        if turns:
            goal.put_turn(turn)
    if _channels(goal) == before and not _is_keyed_with(context, one, goal):
        return []
    if turns and keys_by_itself(context) and not _comes_late(context, one, goal):
        insert_goal_keys(context, goal, turns=True)
    return _keyed(context, one, goal)


def _turn_target(context: bpy.types.Context, pose: FigurePose, one: ReleasedChain, held: TipPose) -> list[str]:
    """Turn the target to where it leaves the rotation of the tip; one that can't be turned keeps another offset.

    What there is to say is that the new rotation is lost with the next frame.
    """
    chain, target = one.chain, goal_of(one.chain, "target")
    if chain.orientation != "TARGET" or target is None:
        return []
    depsgraph = evaluated_now(pose.depsgraph)
    turn = multiplied(held.rotation, conjugated(normalized(chain.rotation_offset)))
    stands = resolve_turn(target.found, target.bone, depsgraph)
    is_met = turn_angle(multiplied(conjugated(stands), turn)) <= TURNED
    if is_met and not _is_keyed_with(context, one, target):
        return []
    if not turns_tip(chain) or _staying(pose.owner, chain, target) or target.turn_held_by():
        if not is_met:
            found = target.found.evaluated_get(depsgraph)
            store(chain, "rotation_offset", offset_from_target(chain, held.rotation, found))
        return []
    if not is_met:
        target.put_turn(target.turn_at(turn, depsgraph))
    return _keyed(context, one, target, turns=True)


def _key_held(context: bpy.types.Context, owner: bpy.types.Object, one: ReleasedChain) -> list[str]:
    """Key what a pin holds, where automatic keying is on; else that its keys will take it back, if it has some."""
    chain, is_keyed = one.chain, is_pin_keyed(owner, one.chain)
    holds = chain.orientation == "KEEP" or chain.target is None
    if chain.pin and holds and one.is_late and makes_an_action(context, owner):
        return [Text("its pin has no keys: key it for it to hold elsewhere in other frames")]
    if keys_by_itself(context):
        if (chain.pin and holds) or is_keyed:
            insert_pin_keys(context, owner, chain)
    elif is_keyed:
        return [Text("its pin is keyed: key it, or the next frame change takes it back")]
    return []


def _comes_late(context: bpy.types.Context, one: ReleasedChain, goal: GoalRef) -> bool:
    """Whether a key would give an object an action after Blender kept the state for undo."""
    return one.is_late and makes_an_action(context, goal.found)


def _is_keyed_with(context: bpy.types.Context, one: ReleasedChain, goal: GoalRef) -> bool:
    """Whether a goal that is in place is keyed with a whole pose: else keys of another frame would move it here."""
    return one.is_whole and keys_by_itself(context) and not _comes_late(context, one, goal)


def _key_in_place(context: bpy.types.Context, pose: FigurePose, one: ReleasedChain, goal: GoalRef) -> None:
    """Key a goal that is in place; see `_is_keyed_with`."""
    if _is_keyed_with(context, one, goal) and not _staying(pose.owner, one.chain, goal):
        insert_goal_keys(context, goal)


def _place_poles(context: bpy.types.Context, pose: FigurePose, chains: Sequence[ReleasedChain]) -> dict[str, Vector]:
    """Turn poles about their limbs to where the pose bends; where those are now that were not there."""
    found: dict[str, Vector] = {}
    for one in chains:
        pole, turned = goal_of(one.chain, "pole"), turned_pole(pose, one.chain.name)
        if pole is None:
            continue
        if not is_offset(one.chain) and (turned is None or abs(turned[0]) <= POLE_MET):
            _key_in_place(context, pose, one, pole)
            continue
        with refused([one]):
            if is_offset(one.chain):
                one.warnings += _place_control(context, pose, one, pole)
            elif turned is not None:
                is_there, told = placed(context, pose, one, pole, turned[1])
                one.warnings += told
                found |= {one.chain.name: turned[1]} if is_there else {}
    return found


def placed(
    context: bpy.types.Context, pose: FigurePose, one: ReleasedChain, goal: GoalRef, point: Vector
) -> tuple[bool, list[str]]:
    """Put a goal of a chain to a point of the world; whether it could be, and what there is to say of it."""
    reason = _staying(pose.owner, one.chain, goal)
    if reason:
        return False, [_about(goal, STAYS, reason=reason)]
    goal.put(goal.location_at(point, pose.depsgraph))
    return True, _keyed(context, one, goal)


def _about(goal: GoalRef, text: Text, **fields: object) -> Text:
    """A sentence about a goal that is or was to be brought along."""
    return Text(text, role=ROLES[goal.role], name=goal.name, **fields)


def _keyed(context: bpy.types.Context, one: ReleasedChain, goal: GoalRef, *, turns: bool = False) -> list[str]:
    """`key_goal`; or that it stands there in all frames, where a key would come too late."""
    return [_about(goal, UNKEYED)] if _comes_late(context, one, goal) else key_goal(context, goal, turns=turns)


def key_goal(context: bpy.types.Context, goal: GoalRef, *, turns: bool = False) -> list[str]:
    """Key a goal that was moved, where automatic keying is on; else that its keys will take it back, if it has some.

    It is its location that is keyed, or its rotation, where it was turned.
    """
    if keys_by_itself(context):
        insert_goal_keys(context, goal, turns=turns)
    elif goal.channel_curves(turns=turns):
        return [_about(goal, TAKEN_BACK)]
    return []


def _staying(owner: bpy.types.Object, chain: FabrikChain, goal: GoalRef) -> str:
    """Why a goal is not to be moved, to follow its name; or ""."""
    reason = goal.stays()
    if reason:
        return worded(reason)
    if is_offset(chain) and not rig_of(owner).edits:
        return Text("moves nothing while edits are off")
    if is_offset(chain) and not share_at_hand(rig_of(owner)):
        return Text("moves nothing while the layer of edits at hand is off")
    if goal.carries(owner, resolve_bones(owner, chain)[0].name):
        return Text("carries the chain")
    for other in bpy.data.objects:
        if other.type != "ARMATURE":
            continue
        for found in rig_of(other).chains:
            is_other = goal.bone in (found.target_bone, found.pole_bone) and (other, found.name) != (owner, chain.name)
            if is_other and any(ref.key == goal.key for ref in goals_of(found)):
                return Text("is also a goal of the chain '{chain}'", chain=found.name)
    return ""


# Goals that came along after Blender kept the state for undo, which is before live posing hears of what was done.


class GoalMove(NamedTuple):
    """A goal that came along with a pose made by hand.

    Attributes:
        rig: Full name of the armature object.
        times: `RigRecord.brought` since then.
        goal: Name of the goal's object.
        bone: Of a bone of it, or "".
        before: Its location channels before, and those of its rotation.
        after: The same since.
    """

    rig: str
    times: int
    goal: str
    bone: str
    before: tuple[float, ...]
    after: tuple[float, ...]


brought: list[GoalMove] = []


@contextmanager
def noted(owner: bpy.types.Object, goals: Sequence[GoalRef]) -> Iterator[None]:
    """Note which goals of an armature are moved inside this block."""
    stood = [_channels(goal) for goal in goals]
    yield
    record, name = RigRecord(owner), owner.name_full
    times = record.brought + 1
    brought[:] = [one for one in brought if one.rig != name or one.times < times]
    for goal, before in zip(goals, stood, strict=True):
        after = _channels(goal)
        if after != before:
            brought.append(GoalMove(name, times, goal.found.name, goal.bone, before, after))
            record.brought = times


def _channels(goal: GoalRef) -> tuple[float, ...]:
    """The numbers of the location and the rotation channels of a goal."""
    holder = goal.holder
    return (*holder.location, *read_values(holder))


def put_goals_back() -> None:
    """After an undo or a redo, put goals back that came along since the state that it brought back.

    What Blender finds the same in two states it leaves as it stands, or as it is evaluated, goals that were moved after
    a state was kept included.
    """
    for one in reversed(brought):
        owner, found = bpy.data.objects.get(one.rig), bpy.data.objects.get(one.goal)
        if owner is None or found is None or RigRecord(owner).brought >= one.times or not holds_data(owner):
            continue  # of an armature from which all was removed no goal is put back
        goal = GoalRef("target", found, one.bone)
        with suppress(FabrikError):  # the bone is gone
            if _channels(goal) == one.after:
                goal.put(Vector(one.before[:3]))
                goal.put_turn(one.before[3:])
            found.update_tag()
