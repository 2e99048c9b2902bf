# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain made anew, or brought up to date, on the other side of its armature.

All is planned before anything is written; what can't be mirrored but does not stop the rest is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import bpy
from mathutils import Quaternion

from ..errors import BoneError, ChainError
from ..maths import q4
from ..rig.chain_bones import bones_to, names_if_any, pose_bones, resolve_bones
from ..rig.checks import check_rig
from ..rig.schema import FabrikChain, rig_of, unique_name
from ..rig.sides import flipped_name
from ..rig.start_pose import fingerprint, store_rotations
from ..rig.versions import bring_up_to_date
from ..texts import Text
from .mirror_bones import BonePair, mirror_limit_to
from .mirror_goals import GoalPlan, plan_goal
from .mirror_held import mirror_held, target_turn

OWN = {"name", "tip_bone", "target_bone", "pole_bone", "status", "residual", "passes", "message", "is_baked"}
# Copied by `mirror_held`, or found by the next solve.
HELD = {"pin", "held_location", "held_rotation", "rotation_offset", "turn_residual", "softened"}


@dataclass(slots=True)
class Mirrored:
    """What mirroring a chain came to.

    Attributes:
        chain: Name of the chain on the other side.
        is_new: Whether it was made.
        notes: What is not as on the first side.
    """

    chain: str
    is_new: bool
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Plan:
    source: str
    pairs: list[BonePair]
    twin: str  # the chain that is there already, or ""
    goals: list[GoalPlan]


def mirror_chains(
    context: bpy.types.Context, owner: bpy.types.Object, chains: Iterable[FabrikChain], use_update: bool
) -> list[Mirrored]:
    """Make chains with all that belongs to them on the other side.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        chains: Some of its chains.
        use_update: Whether a chain that is there already is brought up to date; else it is refused.

    Raises:
        FabrikError: A chain has no other side there; nothing was made.
    """
    check_rig(owner, context.evaluated_depsgraph_get())
    plans = [_plan(context, owner, chain, use_update) for chain in chains]
    bring_up_to_date(owner)
    told = [_make(owner, plan) for plan in plans]
    for one, plan in zip(told, plans, strict=True):
        for goal in plan.goals:
            one.notes += goal.give(context, owner, one.chain)
        chains = rig_of(owner).chains
        mirror_held(context, owner, (chains[plan.source], chains[one.chain]), plan.pairs[-1])
    _activate(owner, told[-1].chain)
    return told


def _plan(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, use_update: bool) -> _Plan:
    pairs = pairs_of(owner, chain)
    twin = _twin(owner, chain, pairs)
    if twin is not None and not use_update:
        raise ChainError(
            Text("there is the chain '{twin}' on the other side already", twin=twin.name), chain=chain.name
        )
    target_turn(chain, context.evaluated_depsgraph_get())  # asked for what it raises, before anything is made
    goals = [plan_goal(context, owner, chain, role, twin) for role in ("target", "pole")]
    return _Plan(chain.name, pairs, twin.name if twin is not None else "", [goal for goal in goals if goal is not None])


def pairs_of(owner: bpy.types.Object, chain: FabrikChain) -> list[BonePair]:
    """The bones of a chain, root to tip, each with that of the other side.

    Raises:
        FabrikError: There are none, or they do not hang together as the chain's do.
    """
    bones = resolve_bones(owner, chain)
    tip = flipped_name(chain.tip_bone)
    if tip == chain.tip_bone:
        raise BoneError("its name has no side, so there is no other one", rig=owner.name, bone=tip)
    if tip not in pose_bones(owner):
        raise BoneError(
            Text("there is no bone '{tip}' on the other side", tip=tip), rig=owner.name, bone=chain.tip_bone
        )
    others = bones_to(owner, tip, min(len(bones), len(pose_bones(owner)[tip].parent_recursive) + 1))
    for bone, other in zip(reversed(bones), reversed(others), strict=False):
        if other.name != flipped_name(bone.name):
            text = Text(
                "on the other side there is '{other}' in place of '{bone}'",
                other=other.name,
                bone=flipped_name(bone.name),
            )
            raise BoneError(text, rig=owner.name, bone=bone.name)
    if len(others) < len(bones):
        raise BoneError("the other side has fewer bones above", rig=owner.name, bone=tip)
    return [BonePair(bone, other) for bone, other in zip(bones, others, strict=True)]


def _twin(owner: bpy.types.Object, chain: FabrikChain, pairs: list[BonePair]) -> FabrikChain | None:
    """The chain of the other side, by its bones."""
    names = [pair.other.name for pair in pairs]
    others = (other for other in rig_of(owner).chains if other != chain)
    return next((other for other in others if names_if_any(owner, other) == names), None)


def _make(owner: bpy.types.Object, plan: _Plan) -> Mirrored:
    chains = rig_of(owner).chains
    name = plan.twin
    if not name:
        tip = plan.pairs[-1].other.name
        wanted = flipped_name(plan.source)
        name = unique_name(wanted if wanted != plan.source else tip, [chain.name for chain in chains])
        made = chains.add()
        made.name = name
        made.tip_bone = tip
    chain, other = chains[plan.source], chains[name]
    _copy_settings(chain, other)
    _copy_start(chain, other, plan.pairs)
    told = Mirrored(name, not plan.twin)
    apart = [pair.other.name for pair in plan.pairs if not pair.is_mirrored]
    if apart:
        told.notes.append(Text("'{bone}' does not lie at rest as the other side does", bone=apart[0]))
    sided = [pair for pair in plan.pairs if pair.bone != pair.other]
    told.notes += [note for note in map(mirror_limit_to, sided) if note]
    return told


def _copy_settings(chain: FabrikChain, other: FabrikChain) -> None:
    """All that is set for a chain and is not its `OWN`; the pole's angle turns the other way."""
    group: Any = chain
    for kind in group.bl_rna.properties:
        is_setting = kind.type not in {"POINTER", "COLLECTION"} and not kind.is_hidden and not kind.is_readonly
        if is_setting and kind.identifier not in OWN | HELD:
            setattr(other, kind.identifier, getattr(chain, kind.identifier))
    other.pole_angle = -chain.pole_angle
    other.status, other.message = "NONE", ""
    other.blocking_bones.clear()


def _copy_start(chain: FabrikChain, other: FabrikChain, pairs: list[BonePair]) -> None:
    rotations = {}
    for pair in pairs:
        item = chain.captured.get(pair.bone.name)
        if item is not None:
            rotations[pair.other.name] = q4(pair.rotation(Quaternion(item.rotation)))
    store_rotations(other, rotations)
    other.fingerprint = fingerprint([pair.other for pair in pairs])


def _activate(owner: bpy.types.Object, name: str) -> None:
    rig = rig_of(owner)
    rig.active_index = next(i for i, chain in enumerate(rig.chains) if chain.name == name)
