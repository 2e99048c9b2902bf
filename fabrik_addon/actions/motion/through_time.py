# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion by the keys of controls: moves that fade over frames, tweens; and trails of the ends of bones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...errors import ChainError, RigError, TargetError, place_of
from ...maths import IDENTITY, Q4, V3, conjugated, multiplied, slerp, v3
from ...motion.contacts import NONE
from ...rig.animation.channels import read_rotation, read_values, to_rotation, to_values
from ...rig.animation.compat import ensure_curve, evaluated_now, is_selected, remove_curves
from ...rig.animation.curves import SAME_FRAME, KeyArrays, put_keys, read_keys, split_at
from ...rig.bones import names_if_any, pose_bones, resolve_bones
from ...rig.goals import GoalRef, goals_of, is_offset
from ...rig.layers import RESTS
from ...rig.schema import FabrikChain, rig_of
from ...rig.targets import resolve_point
from ...texts import Text
from ..drag import Grip
from ..figure_pose import tip_of
from ..frames import Steps, frames_keyed, go_to, scene_of
from ..solve import Item
from .marks import check_marks, ensure_action, marks_of

MOVED = 1e-6  # by which a channel has to be off its keys to count as moved


class ControlSnapshot(NamedTuple):
    """A control before it was moved.

    Attributes:
        goal: The target or pole.
        values: By the names of its properties, location and rotation, their channels.
        keys: Those of its curves, by the property and the channel.
    """

    goal: GoalRef
    values: dict[str, list[float]]
    keys: dict[tuple[str, int], KeyArrays]

    @classmethod
    def of(cls, goal: GoalRef) -> ControlSnapshot:
        """A control as it stands."""
        curves = [(name, curve) for name in goal.channel_names for curve in curves_of(goal, name)]
        keys = {(name, curve.array_index): read_keys(curve) for name, curve in curves}
        return cls(goal, {name: _values(goal, name) for name in goal.channel_names}, keys)

    @classmethod
    def before(cls, goal: GoalRef, frame: float) -> ControlSnapshot:
        """A control of an offset as it was before it was moved at a frame: at rest where it has no keys.

        Where its keys tell that what they play was moved, what has none is of all frames, and stays.
        """
        found = cls.of(goal)
        is_moved = any(
            abs(curve.evaluate(frame) - values[curve.array_index]) > MOVED
            for name, values in found.values.items()
            for curve in curves_of(goal, name)
        )
        stands = {
            name: [
                value if is_moved and (name, i) not in found.keys else rest
                for i, (value, rest) in enumerate(zip(values, RESTS[name], strict=True))
            ]
            for name, values in found.values.items()
        }
        return found._replace(values=stands)


def _values(goal: GoalRef, name: str) -> list[float]:
    return [*getattr(goal.holder, name)]


def curves_of(goal: GoalRef, name: str) -> list[bpy.types.FCurve]:
    """The curves with keys of a property of a control."""
    return [curve for curve in goal.channel_curves(turns=name != "location") if len(curve.keyframe_points)]


def controls_of(owners: Iterable[bpy.types.Object]) -> list[tuple[FabrikChain, GoalRef]]:
    """The targets and poles of chains of armatures, each with its chain; one that several have once."""
    found = dict[tuple[str, str], tuple[FabrikChain, GoalRef]]()
    for owner in owners:
        for chain in rig_of(owner).chains:
            for goal in goals_of(chain):
                found.setdefault(goal.key, (chain, goal))
    return list(found.values())


def selected_controls(context: bpy.types.Context) -> list[tuple[FabrikChain, GoalRef]]:
    """The selected targets and poles: bones in Pose mode, else objects; of the chains of all armatures of the scene."""
    scene, in_pose = context.scene, context.mode == "POSE"
    owners = [one for one in scene.objects if one.type == "ARMATURE"] if scene is not None else []
    chosen = {one.name_full for one in context.selected_objects or ()}

    def is_chosen(goal: GoalRef) -> bool:
        if goal.found.type == "ARMATURE" and goal.bone:
            bone = pose_bones(goal.found).get(goal.bone)
            return in_pose and goal.found.mode == "POSE" and bone is not None and is_selected(bone)
        return not in_pose and goal.found.name_full in chosen

    return [one for one in controls_of(owners) if is_chosen(one[1])]


def off_keys(context: bpy.types.Context) -> list[ControlSnapshot]:
    """The selected controls as their keys have them; offsets without keys as they rest.

    Raises:
        TargetError: There are none, or one has no keys that would tell from where it was moved.
    """
    found, frame = list[ControlSnapshot](), scene_of(context).frame_current_final
    for chain, goal in selected_controls(context):
        is_keyed = any(curves_of(goal, name) for name in goal.channel_names)
        both_off = all(_values(goal, name) != RESTS[name] for name in goal.channel_names)
        if not is_keyed and (not is_offset(chain) or both_off):  # one of both may be of all frames
            text = Text("{goal} has no keys: key it where it is to be as it was", goal=goal.name)
            raise TargetError(text, chain=chain.name)
        found.append(ControlSnapshot.before(goal, frame) if is_offset(chain) else ControlSnapshot.of(goal))
    if not found:
        raise RigError("no target or pole is selected")
    return found


def spread(noted: Sequence[ControlSnapshot], frame: float, width: int) -> list[str]:
    """Let what controls were moved by at a frame fade over the frames about it, by keys.

    The change fades by w = 1 - 3 x^2 + 2 x^3, x being how far a frame is as a share of the width: added to the keys
    inside, with keys at the frame and where the change has faded, beyond which nothing changes. Keys that automatic
    keying made meanwhile are taken back.

    Args:
        noted: Controls as they stood before.
        frame: At which they stand where they were moved.
        width: How many frames away nothing is changed any more.

    Returns:
        Names of what was moved.

    Raises:
        TargetError: One can't be keyed; nothing was changed.
    """
    moved = [one for one in noted if any(_values(one.goal, name) != one.values[name] for name in one.values)]
    for one in moved:
        check_keys(one.goal)
    for one in moved:
        for name in one.values:
            now = _values(one.goal, name)
            if now != one.values[name] or any(key[0] == name for key in one.keys):
                _spread_one(one, name, now, (frame, width))
    return [one.goal.bone or one.goal.found.name for one in moved]


def keys_refusal(goal: GoalRef, *, turns: bool = True) -> Text | None:
    """Why keys of a control's location, and of its rotation if that counts, would not play; None where they would."""
    data = goal.found.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        return Text("its action '{action}' is linked", action=data.action.name)
    curves = goal.channel_curves() + (goal.channel_curves(turns=True) if turns else [])
    if any(curve.lock or curve.mute or len(curve.modifiers) for curve in curves):
        return Text("a curve of {goal} is locked, muted or modified", goal=goal.name)
    return None


def check_keys(goal: GoalRef) -> None:
    """Refuse a control whose keys would not play.

    Raises:
        TargetError: They would not.
        RigError: They would move another object, too.
    """
    check_marks(goal.found)
    refusal = keys_refusal(goal)
    if refusal is not None:
        raise TargetError(refusal, rig=goal.found.name)


def _spread_one(one: ControlSnapshot, name: str, now: Sequence[float], bell: tuple[float, int]) -> None:
    """`spread` of one property of a control."""
    (frame, width), goal, holder = bell, one.goal, one.goal.holder
    path = holder.path_from_id(name)
    _put_back(one, name)
    edges = (float(frame - width), float(frame), float(frame + width))
    known = {curve.array_index: curve for curve in curves_of(goal, name)}
    before = [known[i].evaluate(frame) if i in known else value for i, value in enumerate(one.values[name])]
    if np.allclose(before, now, rtol=0.0, atol=1e-9):
        return
    ensure_action(goal.found)
    for i, value in enumerate(one.values[name]):
        if i not in known:
            known[i] = ensure_curve(goal.found, path, i, goal.key_group)
            for at in edges:
                known[i].keyframe_points.insert(at, value).interpolation = "BEZIER"
            continue
        for at in sorted(edges, key=lambda one: -abs(one - frame)):  # from outside: a key beyond all is one of two
            split_at(known[i], at)
    first, last = edges[0] + SAME_FRAME, edges[2] - SAME_FRAME
    inside = sorted(at for at in frames_keyed(known.values()) if first < at < last)
    rows = {at: [known[i].evaluate(at) for i in range(len(now))] for at in inside}
    for at in inside:
        off = (at - frame) / width
        weight, slope = 1.0 - off * off * (3.0 - 2.0 * abs(off)), 6.0 * off * (abs(off) - 1.0) / width
        wanted = _moved_by(rows[at], before, now, weight, None if name == "location" else holder.rotation_mode)
        for i, value in enumerate(wanted):
            by = value - rows[at][i]
            _shift(known[i], at, by, by * slope / weight)
    for curve in known.values():
        curve.update()


def _put_back(one: ControlSnapshot, name: str) -> None:
    """Give the curves of a property the keys that they had."""
    made = [curve for curve in curves_of(one.goal, name) if (name, curve.array_index) not in one.keys]
    remove_curves(made)
    for curve in curves_of(one.goal, name):
        put_keys(curve, one.keys[name, curve.array_index])
        curve.update()


def _moved_by(
    values: Sequence[float], before: Sequence[float], now: Sequence[float], weight: float, mode: str | None
) -> list[float]:
    """Channels moved or turned by a share of what leads from some channels to others; a mode is that of rotations."""
    if mode is None:
        return [value + weight * (b - a) for value, a, b in zip(values, before, now, strict=True)]
    stands, a, b = (to_rotation(mode, one, "") for one in (values, before, now))
    by = slerp(IDENTITY, multiplied(b, conjugated(a)), weight)
    return to_values(mode, multiplied(by, stands), values)


def _shift(curve: bpy.types.FCurve, frame: float, by: float, slope: float) -> None:
    """Move a key, and its handles with it by a slope besides; where the curve has none at a frame nothing is done."""
    for point in curve.keyframe_points:
        if abs(point.co[0] - frame) < SAME_FRAME:
            handles: list[Any] = [point.handle_left, point.handle_right]
            for place in handles:
                place[1] += by + slope * (place[0] - frame)
            point.co[1] += by


# Tweens: goals brought between their keys before and after a frame, and keyed there.

ROUNDS = 8  # in which goals settle that move the roots of their limbs


class TweenGoal(NamedTuple):
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
        return place - tip_of(self.owner, self.chain, depsgraph, root=True), read_rotation(holder)

    def complete(self) -> None:
        """Key channels without keys, of what has some, where its keys are: a single key would move them everywhere."""
        holder = self.goal.holder
        for name in self.goal.channel_names:
            known = {curve.array_index for curve in curves_of(self.goal, name)}
            for i, value in enumerate(getattr(holder, name)) if known else ():
                if i not in known:
                    path, group = holder.path_from_id(name), self.goal.key_group
                    curve = ensure_curve(self.goal.found, path, i, group)
                    for at in self.frames:
                        curve.keyframe_points.insert(at, value)

    def put(self, depsgraph: bpy.types.Depsgraph, ends: Sequence[tuple[Vector, Q4]], share: float) -> None:
        """Bring it to a share of the way between two places and rotations, as `stand` tells them."""
        ((start, first), (end, last)), holder = ends, self.goal.holder
        if self.swings:
            place = tip_of(self.owner, self.chain, depsgraph, root=True) + on_arc(start, end, share)
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
    frame = scene.frame_current
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
        for name in one.goal.channel_names:
            if curves_of(one.goal, name):
                one.goal.holder.keyframe_insert(name, frame=frame, group=one.goal.key_group)
    return [*dict.fromkeys(one.chain.name for one in plans)], notes


def _stands(owner: bpy.types.Object, chain: FabrikChain, frame: int) -> bool:
    """Whether the foot of a chain is marked to be on the ground at a frame."""
    return bool(marks_of(owner, resolve_bones(owner, chain)[-1], np.array([float(frame)]))[0] != NONE)


def _between(owner: bpy.types.Object, chain: FabrikChain, frame: int) -> list[TweenGoal]:
    """The goals of a chain that have keys before and after a frame."""
    found = list[TweenGoal]()
    for goal in goals_of(chain):
        times = frames_keyed(curve for name in goal.channel_names for curve in curves_of(goal, name))
        before = [one for one in times if one < frame - SAME_FRAME]
        after = [one for one in times if one > frame + SAME_FRAME]
        if before and after:
            with place_of(rig=owner.name, chain=chain.name):
                check_keys(goal)
                reason = goal.stays()
                if reason:
                    raise TargetError(Text("{goal} {reason}", goal=goal.name, reason=reason))
            found.append(TweenGoal(owner, chain, goal, (max(before), min(after))))
    return found


# The path of a bone's end over frames, as it is posed in each, live posing included.


class Trail(NamedTuple):
    """Where the end of a bone is in frames that follow each other.

    Attributes:
        rig: Name of the armature object.
        taken: The bone, its end, and the chain whose tip it is.
        first: The first frame.
        places: In the world, in each frame from that on.
        uid: Blender's number of the armature object, which another one of its name has not.
    """

    rig: str
    taken: Grip
    first: int
    places: tuple[V3, ...]
    uid: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: one bone has one trail."""
        return self.rig, self.taken.bone

    @property
    def frames(self) -> range:
        """Of its places."""
        return range(self.first, self.first + len(self.places))

    def at(self, frame: int) -> V3 | None:
        """Where it is in a frame; None beyond its ends."""
        return self.places[frame - self.first] if frame in self.frames else None

    def with_places(self, places: dict[int, V3]) -> Trail:
        """The same with other places in some of its frames."""
        return self._replace(
            places=tuple(places.get(frame, own) for frame, own in zip(self.frames, self.places, strict=True))
        )


def end_of(owner: bpy.types.Object, taken: Grip, depsgraph: bpy.types.Depsgraph) -> V3:
    """Where the end of a bone is in the world."""
    posed = owner.evaluated_get(depsgraph)
    bone = pose_bones(posed)[taken.bone]
    return v3(posed.matrix_world @ Vector(bone.head if taken.at_head else bone.tail))


def chosen(owner: bpy.types.Object) -> list[Grip]:
    """The bones whose trails are wanted: those that are selected, for a control of a limb its tip; else all tips.

    Raises:
        ChainError: There are none.
    """
    chains = [chain for chain in rig_of(owner).chains if chain.enabled and chain.tip_bone in pose_bones(owner)]
    selected = [bone.name for bone in pose_bones(owner) if is_selected(bone)] if owner.mode == "POSE" else []
    if not selected:
        if not chains:
            raise ChainError("no chain is enabled, and no bone is selected", rig=owner.name)
        return [Grip.tip_of(chain) for chain in chains]
    found = dict[str, Grip]()
    for name in selected:
        chain = next((one for one in chains if name in _own(owner, one)), None)
        taken = Grip.tip_of(chain) if chain is not None else Grip(name)
        found.setdefault(taken.bone, taken)
    return list(found.values())


def _own(owner: bpy.types.Object, chain: FabrikChain) -> Iterable[str]:
    """Bones for which the trail of a chain's tip is meant: its control, and the tip itself."""
    own = [chain.target_bone] if chain.target == owner else []
    return [*own, *names_if_any(owner, chain)[-1:]]


def trail_steps(
    context: bpy.types.Context, owner: bpy.types.Object, taken: Sequence[Grip], frames: Sequence[int]
) -> Steps[list[Trail]]:
    """Follow ends of bones over frames, in steps; live posing goes on meanwhile, so that its poses are seen.

    The scene's frame is moved and put back.
    """
    scene = scene_of(context)
    stood, found = scene.frame_current_final, list[list[V3]]([] for _ in taken)
    try:
        for k, frame in enumerate(frames):
            go_to(scene, frame)
            depsgraph = context.evaluated_depsgraph_get()
            for own, one in zip(found, taken, strict=True):
                own.append(end_of(owner, one, depsgraph))
            yield (k + 1) / len(frames)
    finally:
        go_to(scene, stood)
    return [
        Trail(owner.name, one, frames[0], tuple(own), owner.session_uid) for one, own in zip(taken, found, strict=True)
    ]
