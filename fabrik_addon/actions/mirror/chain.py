# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains with their goals, their pins, their joint limits and their pose on the other side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError, ChainError, InvalidValueError, TargetError
from ...maths import IDENTITY, Q4, axes_of, conjugated, multiplied, normalized, q4
from ...messages import ROLES
from ...rig.animation.keys import insert_goal_keys
from ...rig.bones import bones_to, names_if_any, owner_of_bone, pose_bones, resolve_bones, swings
from ...rig.checks import check_rig
from ...rig.control_bones import is_control, mark_empty, new_bones_refusal
from ...rig.figure.pose_writer import updated
from ...rig.figure.start_pose import fingerprint, store_rotations
from ...rig.goals import GoalRef, goal_of, offset_from_target, store, swing_frame_of, was_held
from ...rig.limit_types import limit_settings, type_of
from ...rig.schema import FabrikChain, girdle_of, limit_of, rig_of, unique_name
from ...rig.schema.chain import OFFSET
from ...rig.skeleton import flipped_name, sided_name
from ...rig.spaces import carriers_above, scene_anchor
from ...rig.targets import resolve_point, resolve_turn
from ...rig.versions import bring_up_to_date
from ...texts import Text, joined
from ..chain_edit import copy_limit
from ..chains import Empty, link_like, make_goals, read_defaults
from ..frames import scene_of
from ..spaces import is_taken_off, switch_spaces
from .pose import ALIKE, BonePair, sides_of, write_mirrored


def mirror_limit_to(pair: BonePair) -> str:
    """Give the joint limit of a bone to that of the other side, mirrored; what could not be mirrored, or ""."""
    copy_limit(pair.bone, [pair.other])
    limit = limit_of(pair.other)
    limit.twist_min, limit.twist_max = -limit.twist_max, -limit.twist_min  # also where it is not in use
    if limit.type.is_of_blender:
        return _mirror_ik(pair)
    try:
        found = limit.type.make(limit_of(pair.bone), IDENTITY)
    except InvalidValueError as error:
        return Text("the limit of '{bone}' is copied as it is: {why}", bone=pair.bone.name, why=error.reason)
    mirrored = type_of(found).mirrored(found, axes_of(pair.turn))
    if mirrored is None:
        return Text("the roll of '{other}' is no mirror image, so its limit is not, either", other=pair.other.name)
    before = limit_settings(found)
    for name, value in limit_settings(mirrored).items():
        if value != before.get(name):  # the others are as they were copied
            setattr(limit, name, [round(one, 6) + 0.0 for one in value] if isinstance(value, tuple) else value)
    return ""


def _mirror_ik(pair: BonePair) -> str:
    """The settings for Blender's own IK, where these are the limit."""
    here, there = pair.bone, pair.other
    for axis, sign in (("x", 1.0), ("y", -1.0), ("z", -1.0)):
        low, high = getattr(here, f"ik_min_{axis}"), getattr(here, f"ik_max_{axis}")
        low, high = (low, high) if sign > 0.0 else (-high, -low)
        setattr(there, f"ik_min_{axis}", low)
        setattr(there, f"ik_max_{axis}", high)
        for name in (f"lock_ik_{axis}", f"use_ik_limit_{axis}", f"ik_stiffness_{axis}"):
            setattr(there, name, getattr(here, name))
    if pair.turn[0][0] < ALIKE:
        return Text(
            "the roll of '{there}' is no mirror image, so its limits for Blender's IK are not, either", there=there.name
        )
    return ""


# Where a pin holds a chain, and which rotation its tip has, for the chain of the other side.


def mirror_held(
    context: bpy.types.Context, owner: bpy.types.Object, pair: tuple[FabrikChain, FabrikChain], tip: BonePair
) -> None:
    """Give the chain of the other side the mirrored place, rotations and aim; its goals are set already.

    The second of the pair has the settings that are no places; `tip` are the last bones of both.

    Raises:
        FabrikError: Where a target stands can't be read.
    """
    chain, other = pair
    depsgraph = updated(context)
    world = owner.evaluated_get(depsgraph).matrix_world
    other.aim_axis = tip.turn @ Vector(chain.aim_axis) * -1.0
    if was_held(chain, "held_location"):
        place = world @ tip.mirror @ world.inverted() @ Vector(chain.held_location)
        store(other, "held_location", place)
    if was_held(chain, "held_rotation"):
        store(other, "held_rotation", _mirrored_hold(world, tip, normalized(chain.held_rotation), IN_PLACE))
    turn = target_turn(chain, depsgraph)
    goal = goal_of(chain, "target")
    if turn is not None and goal is not None and other.target is not None:
        moved = tuple(map(axes_of, _carried(owner, goal, depsgraph)))
        wanted = _mirrored_hold(world, tip, multiplied(turn, normalized(chain.rotation_offset)), moved)
        store(other, "rotation_offset", offset_from_target(other, wanted, other.target.evaluated_get(depsgraph)))
    other.pin = chain.pin


def target_turn(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> Q4 | None:
    """The world rotation of a chain's target, where the chain keeps an offset from it; else None.

    Raises:
        FabrikError: It can't be read.
    """
    if chain.target is None or not was_held(chain, "rotation_offset"):
        return None
    return resolve_turn(chain.target, chain.target_bone, depsgraph)


IN_PLACE = (IDENTITY, IDENTITY)


def _mirrored_hold(world: Matrix, tip: BonePair, turn: Q4, moved: Sequence[Q4]) -> Q4:
    """The mirror image in armature space of a bone's rotation in the world, for the bone of the other side.

    `turn` is as `kinematics.world_turn`, and `moved` how what carries the two bones is turned from how it is at rest.
    """
    rig, (here, there) = axes_of(world), moved
    rest, other = (axes_of(one.bone.matrix_local) for one in (tip.bone, tip.other))
    w, x, y, z = multiplied(conjugated(here), multiplied(multiplied(conjugated(rig), turn), conjugated(rest)))
    x, y, z = tip.mirror.to_3x3() @ Vector((x, y, z)) * -1.0
    return normalized(multiplied(rig, multiplied(there, multiplied((w, x, y, z), other))))


def _carried(owner: bpy.types.Object, goal: GoalRef, depsgraph: bpy.types.Depsgraph) -> tuple[Matrix, Matrix]:
    """From points at rest to points of armature space: how the bone on which a goal hangs moved, and the other side's.

    Where it hangs on none, or on one without another side, they stay. What is of the limb itself is passed over.
    """
    above = [bone for found, bone in carriers_above(goal.found, goal.bone) if found == owner and bone]
    bones = (pose_bones(owner)[name] for name in above)
    name = next((bone.name for bone in bones if not (swings(bone) or limit_of(bone).of_limb)), "")
    pair = sides_of(owner).get(name)
    if pair is None:
        return Matrix(), Matrix()
    posed = pose_bones(owner.evaluated_get(depsgraph))
    here, there = (posed[one.name].matrix @ one.bone.matrix_local.inverted() for one in (pair.bone, pair.other))
    return here, there


# The target or pole of a chain for the chain of the other side: the mirrored one, moved there, or made.

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))  # of a goal's own axes, so that they turn the same way as before
LOOKS = ("empty_display_type", "empty_display_size", "show_in_front", "color", "rotation_mode")  # of an empty


@dataclass(slots=True)
class GoalPlan:
    """What a chain of the other side gets.

    Attributes:
        source: The target or pole of the first side.
        world: Where it is to stand.
        found: What is there already, or None.
        make_bone: Whether a control bone is to be made.
        swings: Whether it swings with its limb, as that of the first side does.
        note: What there is to say, or "".
    """

    source: GoalRef
    world: Matrix
    found: GoalRef | None = None
    make_bone: bool = False
    swings: bool = False
    note: str = ""

    def give(self, context: bpy.types.Context, owner: bpy.types.Object, name: str) -> list[str]:
        """Give it to a chain; what there is to say."""
        chain, role = rig_of(owner).chains[name], self.source.role
        notes = [self.note] if self.note else []
        if self.make_bone:
            self._make_bone(context, owner, chain)
            return notes
        found = self.found
        if found is None and not self.source.bone:
            other = _of_the_name(context, self.source.found)
            found = GoalRef(role, other, "") if other is not None else None
        if found is not None:
            notes += self._move(context, found)
        elif not self.source.bone:
            found = GoalRef(role, _made(context, owner, self, sided_name(name, role)), "")
        if found is not None:
            setattr(chain, role, found.found)
            setattr(chain, f"{role}_bone", found.bone)
        return notes

    def _move(self, context: bpy.types.Context, goal: GoalRef) -> list[str]:
        """Move what is there already to the mirrored place; what there is to say."""
        if goal.key == self.source.key:  # both sides have it, or it is in the middle
            return []
        reason = Text("is keyed") if not goal.stays() and goal.channel_curves() else goal.stays()
        if reason:
            text = Text("the {role} {name} {reason}, so it stays where it is")
            return [Text(text, role=ROLES[goal.role], name=goal.name, reason=reason)]
        goal.put(goal.location_at(self.world.translation, context.evaluated_depsgraph_get()))
        insert_goal_keys(context, goal)
        return []

    def _make_bone(self, context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> None:
        defaults, role, bone = read_defaults(context), self.source.role, pose_bones(owner)[self.source.bone]
        shape = defaults.target_shape if role == "target" else defaults.pole_shape
        size = bone.bone.length * sum(owner.matrix_world.to_scale()) / 3.0
        is_moved = role == "target" and chain.goal == OFFSET
        made = Empty(self.world.translation, size, shape, swings=self.swings, is_offset=is_moved)
        make_goals(context, owner, [(chain, role, made)], "BONE")


def plan_goal(
    context: bpy.types.Context, tip: BonePair, chain: FabrikChain, role: str, twin: FabrikChain | None
) -> GoalPlan | None:
    """What the chain of the other side is to get for a chain's target or pole; None where the chain has none.

    `tip` are the last bones of both, `twin` is the chain of the other side, where there is one.

    Raises:
        FabrikError: Where the goal stands can't be read.
    """
    owner, depsgraph = owner_of_bone(tip.bone), context.evaluated_depsgraph_get()
    goal = goal_of(chain, role)
    if goal is None:
        return None
    axes = owner.evaluated_get(depsgraph).matrix_world
    point = resolve_point(role, goal.found, goal.bone, depsgraph)
    is_bone = goal.found.type == "ARMATURE" and bool(goal.bone)
    here = Matrix.Translation(point) if is_bone else goal.found.evaluated_get(depsgraph).matrix_world
    carried, other = _carried(owner, goal, depsgraph)
    mirror = axes @ other @ tip.mirror @ (axes @ carried).inverted_safe()
    plan = GoalPlan(goal, mirror @ here @ MIRROR, swings=role in swing_frame_of(owner, chain))
    plan.found = goal_of(twin, role) if twin is not None else None
    if plan.found is None and is_bone:
        _plan_bone(owner, goal, plan)
    elif plan.found is None and _is_moved(goal.found):
        text = Text("keys, drivers and constraints of the {role} '{name}' are not mirrored")
        plan.note = Text(text, role=ROLES[role], name=goal.found.name)
    return plan


def _plan_bone(owner: bpy.types.Object, goal: GoalRef, plan: GoalPlan) -> None:
    bones, name = pose_bones(goal.found), flipped_name(goal.bone)
    if name in bones:  # in the middle the bone itself
        plan.found = GoalRef(goal.role, goal.found, name)
    elif goal.found == owner and is_control(bones[goal.bone]) and not new_bones_refusal(owner):
        plan.make_bone = True
    else:
        text = Text("the {role}'s bone '{bone}' has none on the other side, so it is not set")
        plan.note = Text(text, role=ROLES[goal.role], bone=goal.bone)


def _of_the_name(context: bpy.types.Context, goal: bpy.types.Object) -> bpy.types.Object | None:
    """The empty of the scene that has a goal's name for the other side already."""
    found = scene_of(context).objects.get(flipped_name(goal.name))
    return found if found is not None and found != goal and found.type == "EMPTY" and found.is_editable else None


def _is_moved(goal: bpy.types.Object) -> bool:
    data = goal.animation_data
    return bool(goal.constraints) or (data is not None and bool(data.action or data.drivers or data.nla_tracks))


def _made(context: bpy.types.Context, owner: bpy.types.Object, plan: GoalPlan, name: str) -> bpy.types.Object:
    """An empty like that of the first side, in its collections, on the other side of what it hangs on."""
    source = plan.source.found
    flipped = flipped_name(source.name)
    made = bpy.data.objects.new(flipped if flipped != source.name else name, None)
    mark_empty(made, owner)
    link_like(context, owner, source, made)
    for setting in LOOKS if source.type == "EMPTY" else ():
        setattr(made, setting, getattr(source, setting))
    made.parent, made.parent_type = source.parent, source.parent_type
    if source.parent is not None and source.parent_type == "BONE":
        other = flipped_name(source.parent_bone)
        made.parent_bone = other if source.parent.pose and other in source.parent.pose.bones else source.parent_bone
    updated(context)
    made.matrix_world = plan.world
    return made


# All is planned before anything is written; what can't be mirrored but does not stop the rest is told.

OWN = {"name", "tip_bone", "target_bone", "pole_bone", "status", "residual", "passes", "message", "is_baked"}
# Copied by `mirror_held`, or found by the next solve.
HELD = {"pin", "held_location", "held_rotation", "rotation_offset", "turn_residual", "softened"}


# The name of a chain; its bones; the name of the chain of the other side, or "" where it is to be made; its goals
_Plan = tuple[str, list[BonePair], str, list[GoalPlan]]


def mirror_chains(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Iterable[FabrikChain], use_update: bool
) -> tuple[list[str], list[str], list[str]]:
    """Make chains with all that belongs to them on the other side.

    A chain that is there already is brought up to date where that is wanted (`use_update`); else it is refused.

    Returns:
        Names of the chains that were made, and of those that were brought up to date; and what is not as on the first
        side, as sentences.

    Raises:
        FabrikError: A chain has no other side there; nothing was made.
    """
    check_rig(owner, context.evaluated_depsgraph_get())
    plans = [_plan(context, owner, chain, use_update) for chain in chains]
    bring_up_to_date(owner)
    told = [_make(owner, source, pairs, twin) for source, pairs, twin, _ in plans]
    sides = sides_of(owner)
    girdles = [sides[bone.name] for _, pairs, _, _ in plans for bone in girdle_of(pairs[0].bone) if bone.name in sides]
    sided = [pair for pairs in (girdles, *[plan[1] for plan in plans]) for pair in pairs if pair.bone != pair.other]
    locked = write_mirrored(context, owner, sided)
    for (name, notes), (source, pairs, _, goals) in zip(told, plans, strict=True):
        for goal in goals:
            notes.extend(goal.give(context, owner, name))
        chains = rig_of(owner).chains
        mirror_held(context, owner, (chains[source], chains[name]), pairs[-1])
        here, there = (goal_of(chains[one], "target") for one in (source, name))
        if here is not None and there is not None and is_taken_off(here) and not is_taken_off(there):
            with suppress(TargetError):  # its pin holds where it is carried
                switch_spaces(context, [(there, (scene_anchor(), ""))], keyed=False, pins=True)
    updated = [twin for _, _, twin, _ in plans if twin]
    made = [name for name, _ in told if name not in updated]
    return made, updated, [*(joined(": ", (name, note)) for name, notes in told for note in notes), *locked]


def _plan(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, use_update: bool) -> _Plan:
    pairs = pairs_of(owner, chain)
    names = [pair.other.name for pair in pairs]
    twin = next((one for one in rig_of(owner).chains if one != chain and names_if_any(owner, one) == names), None)
    if twin is not None and not use_update:
        raise ChainError(
            Text("there is the chain '{twin}' on the other side already", twin=twin.name), chain=chain.name
        )
    target_turn(chain, context.evaluated_depsgraph_get())  # asked for what it raises, before anything is made
    goals = [plan_goal(context, pairs[-1], chain, role, twin) for role in ("target", "pole")]
    return chain.name, pairs, twin.name if twin is not None else "", [goal for goal in goals if goal is not None]


def pairs_of(owner: bpy.types.Object, chain: FabrikChain) -> list[BonePair]:
    """The bones of a chain, root to tip, each with that of the other side.

    Raises:
        FabrikError: There are none, or they do not hang together as the chain's do.
    """
    bones, sides = resolve_bones(owner, chain), sides_of(owner)
    here = sides.get(chain.tip_bone)
    tip = here.other.name if here is not None else flipped_name(chain.tip_bone)
    if tip == chain.tip_bone:
        raise BoneError("its name has no side, so there is no other one", rig=owner.name, bone=tip)
    if here is None:
        raise BoneError(
            Text("there is no bone '{tip}' on the other side", tip=tip), rig=owner.name, bone=chain.tip_bone
        )
    others = bones_to(owner, tip, min(len(bones), len(pose_bones(owner)[tip].parent_recursive) + 1))
    for bone, other in zip(reversed(bones), reversed(others), strict=False):
        wanted = sides[bone.name].other.name if bone.name in sides else flipped_name(bone.name)
        if other.name != wanted:
            text = Text("on the other side there is '{other}' in place of '{bone}'", other=other.name, bone=wanted)
            raise BoneError(text, rig=owner.name, bone=bone.name)
    if len(others) < len(bones):
        raise BoneError("the other side has fewer bones above", rig=owner.name, bone=tip)
    return [BonePair(bone, other, here.mirror) for bone, other in zip(bones, others, strict=True)]


def _make(owner: bpy.types.Object, source: str, pairs: list[BonePair], twin: str) -> tuple[str, list[str]]:
    """Make a chain of the other side, or take the one that is there; its name, and what is not as on the first."""
    chains = rig_of(owner).chains
    name = twin
    if not name:
        tip = pairs[-1].other.name
        wanted = flipped_name(source)
        name = unique_name(wanted if wanted != source else tip, [chain.name for chain in chains])
        made = chains.add()
        made.name = name
        made.tip_bone = tip
    chain, other = chains[source], chains[name]
    _copy_settings(chain, other)
    stored = [(pair, chain.captured.get(pair.bone.name)) for pair in pairs]
    starts = {pair.other.name: pair.rotation(Quaternion(item.rotation)) for pair, item in stored if item is not None}
    store_rotations(other, {name: q4(start) for name, start in starts.items()})
    other.fingerprint = fingerprint([pair.other for pair in pairs])
    apart = [pair.other.name for pair in pairs if not pair.is_mirrored][:1]
    notes = [Text("'{bone}' does not lie at rest as the other side does", bone=bone) for bone in apart]
    sided = [pair for pair in pairs if pair.bone != pair.other]
    return name, [*notes, *filter(None, map(mirror_limit_to, sided))]


def _copy_settings(chain: FabrikChain, other: FabrikChain) -> None:
    """All that is set for a chain and is not its `OWN`; the pole's angle turns the other way."""
    group: Any = chain
    for kind in group.bl_rna.properties:
        is_setting = kind.type not in {"POINTER", "COLLECTION"} and not kind.is_hidden and not kind.is_readonly
        if is_setting and kind.identifier not in OWN | HELD:
            setattr(other, kind.identifier, getattr(chain, kind.identifier))
    other.pole_angle, other.pole_fades = -chain.pole_angle, chain.pole_fades
    other.status, other.message = "NONE", ""
    other.blocking_bones.clear()
