# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of a creature by which it walks: read as its cycle, and as the poses of all its bones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import InvalidValueError
from ...gait.clip import OwnCycle, Tracked, own_cycle
from ...gait.legs import Leg
from ...gait.plan import WalkPlan, rhythm_over
from ...maths import ORIGIN, Q4, Doubles, conjugated, conjugates, lengths, plus, products, rotated_each, turn_angles
from ...rig.animation.compat import (
    copy_action,
    curves_of_action,
    fcurves_of,
    give_action,
    playing,
    remove_curves,
    slot_of,
)
from ...rig.bones import pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.dependencies import bone_in
from ...rig.schema import rig_of, walker_of
from ...rig.schema.limit import CONTACT
from ...rig.skeleton import read_skeleton
from ...texts import Text
from ..motion.clips import BoneClip, read_clip
from .setup import Frame, frame_for

FEWEST = 8  # frames of a clip
CLOSED = 0.5  # of what bones usually turn in a frame: by how much its last frame may differ that is its first one
STILL = 1e-6  # of its mean: a bone that moves no more in the clip has no location of its own


class OwnClip(NamedTuple):
    """A clip, as it was read.

    Attributes:
        cycle: By which legs and body go.
        turns: By bone (F, 4), its rotations against its rest pose in the frames of one cycle.
        places: By bone (F, 3), its location there, where it has keys.
    """

    cycle: OwnCycle
    turns: dict[str, Doubles]
    places: dict[str, Doubles]


def leave_clip(owner: bpy.types.Object) -> Callable[[], None]:
    """Give a walker that plays its clip an action of its own, without the keys of bones; what takes it back."""
    data = owner.animation_data
    if data is None or data.action is None or data.action != walker_of(owner).clip:
        return lambda: None
    clip, slot, controls = data.action, slot_of(owner), control_names(owner)
    copy_action(owner)
    made = data.action
    made.name = f"{clip.name} {owner.name}"
    curves = [curve for curve in fcurves_of(owner) if bone_in(curve.data_path) not in {"", *controls}]
    for name in {bone_in(curve.data_path) for curve in curves} & {*pose_bones(owner).keys()}:
        pose_bones(owner)[name].matrix_basis = Matrix.Identity(4)
    remove_curves(owner, curves)
    body = rig_of(owner).chains.get(walker_of(owner).body)
    kept = body.start if body is not None else ""
    if body is not None and kept == "ANIMATED":
        body.start = "REST"  # else it would start from how the clip has it in this frame

    def back() -> None:
        give_action(data, clip, slot)
        if body is not None:
            body.start = kept
        bpy.data.actions.remove(made)

    return back


def read_own(owner: bpy.types.Object, legs: Sequence[Leg], fps: float) -> OwnClip:
    """Read the clip of a walker.

    Args:
        owner: The armature object.
        legs: Its legs.
        fps: Frames a second.

    Raises:
        FabrikError: There is none, or it is no cycle of a walk.
    """
    walker, body = walker_of(owner), rig_of(owner).body_bone
    if walker.clip is None:
        raise InvalidValueError("its gait is its own clip: choose the action that it is", rig=owner.name)
    skeleton = read_skeleton(owner, without=control_names(owner))
    with playing(owner, walker.clip):
        clip = read_clip(owner, skeleton.names, _span(walker.clip, {*skeleton.names}), only_keys=False)
    count = len(clip.frames)
    if count < FEWEST:
        reason = Text("the clip '{name}' has {count} frames, too few to tell", name=walker.clip.name, count=count)
        raise InvalidValueError(reason, rig=owner.name)
    told = {one.bone: one for one in clip.bones}
    turns: dict[str, Doubles] = {name: one.turns for name, one in told.items() if one.turns is not None}
    places = {name: one.plain["location"] for name, one in told.items() if "location" in one.plain}
    frame = frame_for(owner, body, walker.upright)
    heads, poses = _posed(owner, frame, (skeleton.names, skeleton.parents), (turns, places), count)
    used = count - 1 if _is_closed(turns) else count
    number = skeleton.names.index(body)
    rest = _rest_turn(owner, frame, body)
    spun = products(poses[number][:used], np.broadcast_to(np.array(conjugated(rest)), (used, 4)))
    way = heads[number]
    way = way if used < count else np.concatenate((way, way[-1:] + (way[-1:] - way[-2:-1])))
    feet = [_foot(owner, frame, leg, (skeleton.names, heads, poses), used) for leg in legs]
    cycle = own_cycle(legs, (way, spun), feet, fps, walker.settings.acceleration)
    return OwnClip(cycle, *({name: rows[:used] for name, rows in every.items()} for every in (turns, places)))


def _span(action: bpy.types.Action, bones: set[str]) -> tuple[int, int]:
    """First and last frame of a clip: as it says, or those with keys of bones, beside which objects may have others.

    Marks of contacts reach beyond it.
    """
    if action.use_frame_range:
        return round(action.frame_start), round(action.frame_end)
    own = [curve for curve in curves_of_action(action) if bone_in(curve.data_path) in bones]
    ranges = [curve.range() for curve in own if f".{CONTACT}" not in curve.data_path]
    return round(min((one[0] for one in ranges), default=0.0)), round(max((one[1] for one in ranges), default=0.0))


def _rest_turn(owner: bpy.types.Object, frame: Frame, bone: str) -> Q4:
    """How a bone is turned at rest, in the axes of the body."""
    w, x, y, z = pose_bones(owner)[bone].bone.matrix_local.to_quaternion()
    a, b, c, d = products(np.array(frame.upright), np.array((w, x, y, z))).tolist()
    return a, b, c, d


def _posed(
    owner: bpy.types.Object,
    frame: Frame,
    tree: tuple[Sequence[str], Sequence[int]],
    moved: tuple[dict[str, Doubles], dict[str, Doubles]],
    count: int,
) -> tuple[list[Doubles], list[Doubles]]:
    """By bone (F, 3), where it begins, and (F, 4), how it is turned, in the axes of the body at rest."""
    (names, parents), (turns, places) = tree, moved
    bones = pose_bones(owner)
    rests = [np.array(_rest_turn(owner, frame, name)) for name in names]
    stands = [np.array(frame.place(bones[name].bone.head_local)) for name in names]
    heads, poses = list[Doubles](), list[Doubles]()
    for number, (name, parent) in enumerate(zip(names, parents, strict=True)):
        head, turn = np.broadcast_to(stands[number], (count, 3)), np.broadcast_to(rests[number], (count, 4))
        if parent >= 0:
            back = conjugates(rests[parent])
            turn = products(poses[parent], np.broadcast_to(products(back, rests[number]), (count, 4)))
            off = rotated_each(back, stands[number] - stands[parent])
            head = heads[parent] + rotated_each(poses[parent], np.broadcast_to(off, (count, 3)))
        if name in places:
            head = head + frame.size * rotated_each(turn, places[name])
        heads.append(np.ascontiguousarray(head))
        poses.append(np.ascontiguousarray(products(turn, turns[name]) if name in turns else turn))
    return heads, poses


def _is_closed(turns: dict[str, Doubles]) -> bool:
    """Whether the last frame of a clip is its first one again."""
    steps = sum(turn_angles(products(rows[1:], conjugates(rows[:-1]))) for rows in turns.values())
    whole = sum(turn_angles(products(rows[-1:], conjugates(rows[:1])))[0] for rows in turns.values())
    return bool(whole <= CLOSED * np.mean(steps))


def _foot(
    owner: bpy.types.Object,
    frame: Frame,
    leg: Leg,
    seen: tuple[Sequence[str], list[Doubles], list[Doubles]],
    count: int,
) -> Tracked:
    """How the foot of a leg goes in the clip."""
    names, heads, poses = seen
    chain = rig_of(owner).chains[leg.name]
    tip = resolve_bones(owner, chain)[-1]
    foot = tip if chain.at_head else next((bone for bone in tip.children if bone.name in names), tip)

    def carried(bone: bpy.types.PoseBone, point: Sequence[float]) -> Doubles:
        """Where a point of a bone goes that is there at rest."""
        number, back = names.index(bone.name), conjugates(np.array(_rest_turn(owner, frame, bone.name)))
        off = rotated_each(back, np.array(point) - np.array(frame.place(bone.bone.head_local)))
        return heads[number][:count] + rotated_each(poses[number][:count], np.broadcast_to(off, (count, 3)))

    points = [(foot, plus(leg.home, point)) for point in (ORIGIN, leg.heel, leg.ball)]
    points += [(bone, frame.place(bone.bone.tail_local)) for bone in foot.children_recursive if bone.name in names]
    lows = np.min([carried(*point)[:, 2] for point in points], axis=0)
    back = conjugates(np.array(_rest_turn(owner, frame, foot.name)))
    spun = products(poses[names.index(foot.name)][:count], np.broadcast_to(back, (count, 4)))
    ahead = rotated_each(spun, np.broadcast_to(np.array(leg.forward), (count, 3)))
    pitches = np.arctan2(-ahead[:, 2], lengths(ahead[:, :2])) if leg.foot_length > 0.0 else np.zeros(count)
    return Tracked(carried(foot, leg.rest_ankle), pitches, lows)


def posture_of(own: OwnClip, plan: WalkPlan, frames: Sequence[int], body: str) -> list[BoneClip]:
    """How all bones but that of the body are posed in each frame of a walk: as in the clip at its phase.

    Where the walk is slow they come to rest in the mean of the clip.
    """
    phases, paces = rhythm_over(plan, frames)
    cycle = own.cycle.legs[0].cycle
    assert cycle is not None
    shares = cycle.liveliness(paces)[:, None]
    found = list[BoneClip]()
    for name in sorted({*own.turns, *own.places} - {body}):
        rows, plain = own.turns.get(name), dict[str, Doubles]()
        spun: Doubles | None = None
        if rows is not None:
            run = np.where((rows @ rows[0])[:, None] < 0.0, -rows, rows)
            spun = _phased(run, phases, shares)
            spun /= lengths(spun)[:, None]
        way = own.places.get(name)
        if way is not None and np.ptp(way, axis=0).max() > STILL:
            plain["location"] = _phased(way, phases, shares)
        found.append(BoneClip(name, spun, plain, None, "LINEAR"))
    return found


def _phased(rows: Doubles, phases: Doubles, shares: Doubles) -> Doubles:
    """What goes round in the frames of a clip, at the phases of a walk, and so much of it; its mean where none."""
    moments = phases % 1.0 * len(rows)
    low = np.floor(moments).astype(np.intp)
    share = (moments - low)[:, None]
    found: Doubles = rows[low % len(rows)] * (1.0 - share) + rows[(low + 1) % len(rows)] * share
    mean: Doubles = rows.mean(axis=0)
    return mean + shares * (found - mean)
