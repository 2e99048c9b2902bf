# SPDX-License-Identifier: GPL-3.0-or-later
"""Tweens: goals brought between their keys before and after a frame, and keyed there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...errors import RigError, TargetError, place_of
from ...maths import Q4, slerp
from ...motion.contacts import NONE
from ...rig.animation.channels import read_rotation, read_values, to_values
from ...rig.animation.compat import ensure_curve, evaluated_now
from ...rig.animation.curves import SAME_FRAME
from ...rig.bones import pose_bones, resolve_bones
from ...rig.goals import GoalRef, goals_of, is_offset
from ...rig.schema import FabrikChain
from ...rig.targets import resolve_point
from ...texts import Text
from ..frames import frames_keyed, go_to, go_to_whole, scene_of
from ..solve import Item
from .marks import marks_of
from .through_time import check_keys, curves_of, properties_of

ROUNDS = 8  # in which goals settle that move the roots of their limbs


class Between(NamedTuple):
    """A goal of an armature's chain that has keys before and after a frame, with the frames of these."""

    owner: bpy.types.Object
    chain: FabrikChain
    goal: GoalRef
    frames: tuple[float, float]

    @property
    def swings(self) -> bool:
        """Whether it goes by an arc about the root of its limb: a target that tells a place; else its channels do."""
        return self.goal.role == "target" and not is_offset(self.chain)

    def stand(self, depsgraph: bpy.types.Depsgraph) -> tuple[Vector, Q4]:
        """Where it is now, from the root of its limb in the world, or by its location channels; and how it is turned.

        Raises:
            FabrikError: It can't be read.
        """
        holder = self.goal.holder
        if not self.swings:
            return Vector(holder.location), read_rotation(holder)
        place = Vector(resolve_point(self.goal.role, self.goal.found, self.goal.bone, depsgraph))
        return place - self._root(depsgraph), read_rotation(holder)

    def complete(self) -> None:
        """Key channels without keys, of what has some, where its keys are: a single key would move them everywhere."""
        holder = self.goal.holder
        for name in properties_of(self.goal):
            known = {curve.array_index for curve in curves_of(self.goal, name)}
            for i, value in enumerate(getattr(holder, name)) if known else ():
                if i not in known:
                    path, group = holder.path_from_id(name), self.goal.key_group
                    curve = ensure_curve(self.goal.found, path, i, group)
                    for at in self.frames:
                        curve.keyframe_points.insert(at, value)

    def _root(self, depsgraph: bpy.types.Depsgraph) -> Vector:
        posed = self.owner.evaluated_get(depsgraph)
        return Vector(posed.matrix_world @ pose_bones(posed)[resolve_bones(self.owner, self.chain)[0].name].head)

    def put(self, depsgraph: bpy.types.Depsgraph, ends: Sequence[tuple[Vector, Q4]], share: float) -> None:
        """Bring it to a share of the way between two places and rotations, as `stand` tells them."""
        ((start, first), (end, last)), holder = ends, self.goal.holder
        if self.swings:
            place = self._root(depsgraph) + on_arc(start, end, share)
            self.goal.put(self.goal.location_at(place, depsgraph))
        else:
            self.goal.put(start.lerp(end, share))
        self.goal.put_turn(to_values(holder.rotation_mode, slerp(first, last, share), read_values(holder)))


def on_arc(start: Vector, end: Vector, share: float) -> Vector:
    """A share of the way between two vectors: by the angle between them, and by their lengths."""
    if not (start.length and end.length):
        return start.lerp(end, share)
    axis, angle = start.rotation_difference(end).to_axis_angle()
    swung = Quaternion(axis, angle * share) @ start
    return Vector(swung * (1.0 + (end.length / start.length - 1.0) * share))


def tween(context: bpy.types.Context, items: Sequence[Item], share: float) -> tuple[list[str], list[Text]]:
    """Bring goals to a share of the way between their keys before and after this frame, and key them there.

    The target of a limb goes by an arc: what is between is its direction and its distance from the limb's root, so that
    a hand swings about its shoulder, wherever that is. Limbs whose foot is marked to be on the ground stay.

    Args:
        context: Its scene is at the frame; others are visited.
        items: Armature objects, each with a chain.
        share: From 0, at the key before, to 1; less or more go beyond.

    Returns:
        Names of the chains whose goals were keyed, and what there is to look out for.

    Raises:
        FabrikError: A goal can't be moved, or none has keys before and after; nothing was changed.
    """
    scene = scene_of(context)
    frame = go_to_whole(scene)
    stand = [item for item in items if _stands(*item, frame)]
    plans = [one for item in items if item not in stand for one in _between(*item, frame)]
    notes = [Text("{chain} stays: its foot is on the ground", chain=chain.name) for _, chain in stand]
    if not plans:
        raise RigError("no goal has keys before and after this frame")
    seen = dict[tuple[float, int], tuple[Vector, Q4]]()
    for at in sorted({at for one in plans for at in one.frames}):
        go_to(scene, at)
        depsgraph = context.evaluated_depsgraph_get()
        seen |= {(at, k): one.stand(depsgraph) for k, one in enumerate(plans) if at in one.frames}
    go_to(scene, frame)
    for one in plans:
        one.complete()
    for _ in range(ROUNDS):  # a hand far out takes its shoulder along, about which it swings
        depsgraph = evaluated_now(context.evaluated_depsgraph_get())
        for k, one in enumerate(plans):
            one.put(depsgraph, [seen[at, k] for at in one.frames], share)
    for one in plans:
        for name in properties_of(one.goal):
            if curves_of(one.goal, name):
                one.goal.holder.keyframe_insert(name, frame=frame, group=one.goal.key_group)
    return [*dict.fromkeys(one.chain.name for one in plans)], notes


def _stands(owner: bpy.types.Object, chain: FabrikChain, frame: int) -> bool:
    """Whether the foot of a chain is marked to be on the ground at a frame."""
    return bool(marks_of(owner, resolve_bones(owner, chain)[-1], np.array([float(frame)]))[0] != NONE)


def _between(owner: bpy.types.Object, chain: FabrikChain, frame: int) -> list[Between]:
    """The goals of a chain that have keys before and after a frame."""
    found = list[Between]()
    for goal in goals_of(chain):
        times = frames_keyed(curve for name in properties_of(goal) for curve in curves_of(goal, name))
        before = [one for one in times if one < frame - SAME_FRAME]
        after = [one for one in times if one > frame + SAME_FRAME]
        if before and after:
            with place_of(rig=owner.name, chain=chain.name):
                check_keys(goal)
                reason = goal.stays()
                if reason:
                    raise TargetError(Text("{goal} {reason}", goal=goal.name, reason=reason))
            found.append(Between(owner, chain, goal, (max(before), min(after))))
    return found
