# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits through time: what a control was moved by at a frame fades over the frames about it, by keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...errors import RigError, TargetError
from ...maths import IDENTITY, conjugated, multiplied, slerp
from ...rig.animation.channels import channel_of, neutral_values, to_rotation, to_values
from ...rig.animation.compat import ensure_curve, is_selected, remove_curves
from ...rig.animation.curves import SAME_FRAME, KeyArrays, put_keys, read_keys, split_at
from ...rig.bones import pose_bones
from ...rig.goals import GoalRef, goals_of, is_offset
from ...rig.schema import FabrikChain, rig_of
from ...texts import Text
from ..frames import frames_keyed
from .marks import ensure_action

Key = tuple[str, str]  # of a goal: the full name of its object, and its bone


class Noted(NamedTuple):
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
    def of(cls, goal: GoalRef) -> Noted:
        """A control as it stands."""
        curves = [(name, curve) for name in properties_of(goal) for curve in curves_of(goal, name)]
        keys = {(name, curve.array_index): read_keys(curve) for name, curve in curves}
        return cls(goal, {name: _values(goal, name) for name in properties_of(goal)}, keys)

    @classmethod
    def at_rest(cls, goal: GoalRef) -> Noted:
        """A control of an offset as if it were at rest where it has no keys."""
        return cls.of(goal)._replace(values={name: _rest(goal, name) for name in properties_of(goal)})


def properties_of(goal: GoalRef) -> tuple[str, str]:
    """The two properties of a goal's control that tell a pose: its place, and its rotation as its mode has it."""
    return "location", channel_of(goal.holder.rotation_mode)[0]


def _values(goal: GoalRef, name: str) -> list[float]:
    return [*getattr(goal.holder, name)]


def _rest(goal: GoalRef, name: str) -> list[float]:
    return [0.0] * 3 if name == "location" else neutral_values(goal.holder.rotation_mode)


def curves_of(goal: GoalRef, name: str) -> list[bpy.types.FCurve]:
    """The curves with keys of a property of a control."""
    return [curve for curve in goal.channel_curves(turns=name != "location") if len(curve.keyframe_points)]


def controls_of(owners: Iterable[bpy.types.Object]) -> list[tuple[FabrikChain, GoalRef]]:
    """The targets and poles of chains of armatures, each with its chain; one that several have once."""
    found: dict[Key, tuple[FabrikChain, GoalRef]] = {}
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


def note(context: bpy.types.Context) -> list[Noted]:
    """The selected controls as they stand."""
    return [Noted.of(goal) for _, goal in selected_controls(context)]


def off_keys(context: bpy.types.Context) -> list[Noted]:
    """The selected controls as their keys have them; offsets without keys as they rest.

    Raises:
        TargetError: There are none, or one has no keys that would tell from where it was moved.
    """
    found = list[Noted]()
    for chain, goal in selected_controls(context):
        is_keyed = any(curves_of(goal, name) for name in properties_of(goal))
        both_off = all(_values(goal, name) != _rest(goal, name) for name in properties_of(goal))
        if not is_keyed and (not is_offset(chain) or both_off):  # one of both may be of all frames
            text = Text("{goal} has no keys: key it where it is to be as it was", goal=goal.name)
            raise TargetError(text, chain=chain.name)
        found.append(Noted.at_rest(goal) if is_offset(chain) else Noted.of(goal))
    if not found:
        raise RigError("no target or pole is selected")
    return found


def spread(noted: Sequence[Noted], frame: float, width: int) -> list[str]:
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


def keys_refusal(goal: GoalRef) -> Text | None:
    """Why keys of a control would not play; None where they would."""
    data = goal.found.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        return Text("its action '{action}' is linked", action=data.action.name)
    curves = [curve for name in properties_of(goal) for curve in curves_of(goal, name)]
    if any(curve.lock or curve.mute or len(curve.modifiers) for curve in curves):
        return Text("a curve of {goal} is locked, muted or modified", goal=goal.name)
    return None


def check_keys(goal: GoalRef) -> None:
    """Refuse a control whose keys would not play.

    Raises:
        TargetError: They would not.
    """
    refusal = keys_refusal(goal)
    if refusal is not None:
        raise TargetError(refusal, rig=goal.found.name)


def _spread_one(one: Noted, name: str, now: Sequence[float], bell: tuple[float, int]) -> None:
    """`spread` of one property of a control."""
    (frame, width), goal, holder = bell, one.goal, one.goal.holder
    path = holder.path_from_id(name)
    _put_back(one, name)
    edges = (float(frame - width), float(frame), float(frame + width))
    known = {curve.array_index: curve for curve in curves_of(goal, name)}
    before = [known[i].evaluate(frame) if i in known else value for i, value in enumerate(one.values[name])]
    if _is_same(before, now):
        return
    ensure_action(goal.found)
    for i, value in enumerate(one.values[name]):
        if i not in known:
            known[i] = ensure_curve(goal.found, path, i, goal.key_group)
            for at in edges:
                known[i].keyframe_points.insert(at, value).interpolation = "BEZIER"
            continue
        for at in edges:
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


def _is_same(a: Sequence[float], b: Sequence[float]) -> bool:
    return bool(np.allclose(a, b, rtol=0.0, atol=1e-9))


def _put_back(one: Noted, name: str) -> None:
    """Give the curves of a property the keys that they had."""
    made = [curve for curve in curves_of(one.goal, name) if (name, curve.array_index) not in one.keys]
    remove_curves(one.goal.found, made)
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
