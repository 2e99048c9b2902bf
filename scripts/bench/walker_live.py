# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 9, in Blender: what chains make of planned walks on meshes, live and baked."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import degrees, tau

import bpy
from fabrik_addon.gait import FootPose, Leg, feet_at
from fabrik_addon.rig.chain_bones import resolve_bones
from fabrik_addon.rig.schema import FabrikChain, rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.baking import bake_bones
from fabrik_addon.session.walk.planning import plan_walk
from mathutils import Matrix, Quaternion, Vector

from .tables import Judged, Row, Table
from .timing import Scale
from .walker_quality import SLIP, TURN
from .walker_rigs import CREATURES, GROUNDS, Creature, made

OFF_PLAN = 1e-3  # of a leg's reach: what chains are solved to
OFF_BAKE = 1e-5  # of what a matrix of a bone has, for rigs that are about as large as we are
REACHED = 99.0  # of a hundred on uneven ground; else all
QUICK = ("spider", "human")
CONTEXT = bpy.context


@dataclass(slots=True)
class Seen:
    """What is seen of a walk that is played live.

    Attributes:
        stances: Feet that stand, by frame.
        reached: Of these, those whose chain is REACHED.
        slip: The most that a foot that stands flat has moved in a frame.
        off: The farthest that a foot is from where the plan has it.
        turned: The most that a bone of a leg has turned against its parent in a frame, radians.
        whirling: Frames in which one turns more than it is to.
        poses: Of all bones, by frame.
    """

    stances: int = 0
    reached: int = 0
    slip: float = 0.0
    off: float = 0.0
    turned: float = 0.0
    whirling: int = 0
    poses: list[list[Matrix]] = field(default_factory=list)


@dataclass(slots=True)
class _Frame:
    """The legs in a frame."""

    standing: dict[str, Vector] = field(default_factory=dict)
    turns: list[Quaternion] = field(default_factory=list)


def in_blender(scale: Scale) -> Table:
    """All rigs over all kinds of ground."""
    creatures = [creature for creature in CREATURES if not scale.is_quick or creature.name in QUICK]
    rows = [_row(creature, ground) for creature in creatures for ground in GROUNDS]
    note = (
        "Rigs on meshes, played live, every frame; lengths are shares of a leg's reach. *REACHED*: feet that stand, of "
        "a hundred, whose chain says so. *Slip*: what the end of a chain moves in a frame while its foot stands flat, "
        "as Blender evaluates it; *off plan*: the farthest that it is from where the plan has it. *°*: the most that "
        "a bone of a leg turns against its parent in a frame, and in how many frames one turns more than is to be. "
        "*Bake*: by how much a bone's matrix differs where the walk is baked."
    )
    return Table("9d. Walks in Blender", note, rows)


def _row(creature: Creature, ground: str) -> Row:
    owner, frames = made(creature, ground)
    plan_walk(CONTEXT, owner, frames)
    seen = _played(owner, frames)
    least = REACHED if ground == "noise" else 100.0
    return {
        "rig and ground": f"{creature.name}: {ground}",
        "frames": len(seen.poses),
        "standing": seen.stances,
        "REACHED %": Judged(100.0 * seen.reached / max(seen.stances, 1), at_least=least),
        "slip a frame": Judged(seen.slip, at_most=SLIP),
        "off plan": Judged(seen.off, at_most=OFF_PLAN),
        "°": Judged(degrees(seen.turned), at_most=TURN),
        "frames above": seen.whirling,
        "bake": Judged(_off_bake(owner, frames, seen), at_most=OFF_BAKE),
    }


def _played(owner: bpy.types.Object, frames: tuple[int, int]) -> Seen:
    rig_of(owner).live = True
    CONTEXT.view_layer.update()
    parsed = plan_of(owner)
    assert parsed is not None
    plan, seen, before = parsed.plan, Seen(), _Frame()
    chains = [rig_of(owner).chains[leg.name] for leg in plan.legs]
    bones = [[bone.name for bone in resolve_bones(owner, chain)] for chain in chains]
    for number in range(frames[0], frames[1] + 1):
        CONTEXT.scene.frame_set(number)
        now = _Frame()
        for leg, foot, chain in zip(plan.legs, feet_at(plan, number), chains, strict=True):
            _see_foot(seen, leg, foot, chain, (before, now))
        now.turns = [owner.pose.bones[name].matrix_basis.to_quaternion() for names in bones for name in names]
        turns = [a.rotation_difference(b).angle for a, b in zip(before.turns, now.turns, strict=bool(before.turns))]
        most = max((_least(turn) for turn in turns), default=0.0)
        seen.turned = max(seen.turned, most)
        seen.whirling += degrees(most) > TURN
        seen.poses.append([bone.matrix.copy() for bone in owner.pose.bones])
        before = now
    return seen


def _least(turn: float) -> float:
    """A turn the short way round."""
    return min(turn, tau - turn)


def _see_foot(seen: Seen, leg: Leg, foot: FootPose, chain: FabrikChain, frames: tuple[_Frame, _Frame]) -> None:
    before, now = frames
    end = _end(chain)
    seen.off = max(seen.off, (end - Vector(foot.ankle)).length / leg.reach)
    if not foot.is_planted:
        return
    seen.stances += 1
    seen.reached += chain.status == "REACHED"
    if foot.pitch == 0.0:
        now.standing[leg.name] = end
        moved = (end - before.standing.get(leg.name, end)).length
        seen.slip = max(seen.slip, moved / leg.reach)


def _end(chain: FabrikChain) -> Vector:
    """Where the effector of a chain stands in the world, as Blender evaluated it."""
    owner = chain.id_data
    assert isinstance(owner, bpy.types.Object)
    evaluated = owner.evaluated_get(CONTEXT.evaluated_depsgraph_get())
    tip = evaluated.pose.bones[chain.tip_bone]
    end: Vector = evaluated.matrix_world @ (tip.head if chain.effector == "HEAD" else tip.tail)
    return end


def _off_bake(owner: bpy.types.Object, frames: tuple[int, int], seen: Seen) -> float:
    """By how much a baked walk differs from what was seen live."""
    rig_of(owner).live = False
    bake_bones(CONTEXT, owner)
    worst = 0.0
    for number, poses in zip(range(frames[0], frames[1] + 1), seen.poses, strict=True):
        CONTEXT.scene.frame_set(number)
        for bone, matrix in zip(owner.pose.bones, poses, strict=True):
            pairs = zip(bone.matrix, matrix, strict=True)
            worst = max(worst, *(abs(a - b) for p, q in pairs for a, b in zip(p, q, strict=True)))
    return worst
