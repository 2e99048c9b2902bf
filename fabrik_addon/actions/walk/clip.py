# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips by which a creature walks: read as its cycle, and as the poses of all its bones; and cycles as files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import InvalidValueError
from ...gait.clip import FootTrack, OwnCycle, between_frames, own_cycle, run_on, with_faster
from ...gait.cycle import share_of_faster
from ...gait.gaits import CLIP, gait_of
from ...gait.legs import Leg
from ...gait.plan import reader
from ...gait.settings import Settings, check_settings
from ...maths import (
    IDENTITY,
    ORIGIN,
    Doubles,
    conjugates,
    lengths,
    plus,
    products,
    rotated_each,
    slerps,
    turn_angles,
)
from ...motion.body import Body, Motion, carried, hang
from ...recognise.skeleton import Skeleton
from ...rig.animation.compat import fcurves_of, playing, remove_curves
from ...rig.bones import pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.dependencies import bone_in
from ...rig.schema import rig_of, walker_of
from ...rig.schema.limit import CONTACT
from ...rig.skeleton import read_skeleton
from ...rig.walk_goals import rest_turn
from ...texts import Text, quoted
from ..bake.keys import Destination
from ..frames import told_as
from ..motion.clips import BoneClip, Clip, read_clip, retimed, write_actions
from .setup import Frame, frame_for

FEWEST = 8  # frames of a clip
CLOSED = 0.5  # of what bones usually turn in a frame: by how much its last frame may differ that is its first one
REPEATED = 0.15  # of how far poses of a clip are apart at most: as near are those that are a stride apart
STILL = 1e-6  # of its mean: a bone that moves no more in the clip has no location of its own


class OwnClip(NamedTuple):
    """A clip, as it was read.

    Attributes:
        cycle: By which legs and body go.
        turns: By bone (F, 4), its rotations against its rest pose in the frames of one cycle.
        places: By bone (F, 3), its location there, where it has keys.
        faster: The clip of a higher speed; in between both are mixed.
    """

    cycle: OwnCycle
    turns: dict[str, Doubles]
    places: dict[str, Doubles]
    faster: OwnClip | None = None


def leave_clip(owner: bpy.types.Object) -> Callable[[], None]:
    """Give a walker that plays its clip an action of its own, without the keys of bones; what takes it back."""
    data = owner.animation_data
    if data is None or data.action is None or data.action not in walker_of(owner).clips:
        return lambda: None
    made, controls = Destination(owner, "NEW_ACTION", owner.name), control_names(owner)
    curves = [curve for curve in fcurves_of(owner) if bone_in(curve.data_path) not in {"", *controls}]
    for name in {bone_in(curve.data_path) for curve in curves} & {*pose_bones(owner).keys()}:
        pose_bones(owner)[name].matrix_basis = Matrix.Identity(4)
    remove_curves(curves)
    body = rig_of(owner).chains.get(walker_of(owner).body)
    kept = body.start if body is not None else ""
    if body is not None and kept == "ANIMATED":
        body.start = "REST"  # else it would start from how the clip has it in this frame

    def back() -> None:
        made.take_back()
        if body is not None:
            body.start = kept

    return back


def read_own(owner: bpy.types.Object, legs: Sequence[Leg], fps: float) -> OwnClip:
    """Read the clips of a walker.

    Returns:
        The slower one, with the faster one where there are two.

    Raises:
        FabrikError: There is none, one is no cycle of a walk, or both go at the same speed.
    """
    clips = [*dict.fromkeys(walker_of(owner).clips)]
    if not clips:
        raise InvalidValueError("its gait is its own clip: choose the action that it is", rig=owner.name)
    slow, *others = sorted((_read(owner, legs, fps, clip) for clip in clips), key=lambda one: one.cycle.body.pace)
    for fast in others:
        cycle, start = with_faster(slow.cycle, fast.cycle)
        slow = slow._replace(cycle=cycle, faster=fast._replace(cycle=fast.cycle._replace(start=start)))
    return slow


def _read(owner: bpy.types.Object, legs: Sequence[Leg], fps: float, action: bpy.types.Action) -> OwnClip:
    """Read one clip of a walker."""
    walker, body = walker_of(owner), rig_of(owner).body_bone
    skeleton = read_skeleton(owner, without=control_names(owner))
    with playing(owner, action):
        clip = read_clip(owner, skeleton.names, span_of(owner, {*skeleton.names}), only_keys=False)
    count = len(clip.frames)
    if count < FEWEST:
        reason = Text("the clip '{name}' has {count} frames, too few to tell", name=action.name, count=count)
        raise InvalidValueError(reason, rig=owner.name)
    told = {one.bone: one for one in clip.bones}
    turns: dict[str, Doubles] = {name: one.turns for name, one in told.items() if one.turns is not None}
    places = {name: one.plain["location"] for name, one in told.items() if "location" in one.plain}
    first, last = _one_stride(turns) if turns else (0, count - 1)
    if last - first < count - 1:
        turns, count = {name: _closed(rows[first : last + 1]) for name, rows in turns.items()}, last - first + 1
        places = {name: rows[first : last + 1] for name, rows in places.items()}
    frame = frame_for(owner, body, walker.upright)
    rest = _at_rest(owner, skeleton, frame, skeleton.names.index(body))
    motion = _posed(rest, (turns, places), frame.size, count)
    used = count - 1 if _is_closed(turns) else count
    way = motion.heads[:, rest.hips]
    way = way if used < count else np.concatenate((way, way[-1:] + (way[-1:] - way[-2:-1])))
    motion = motion.during(slice(used))
    spun = products(motion.turns[:, rest.hips], conjugates(rest.turns[rest.hips]))
    feet = [_foot(owner, leg, rest, motion) for leg in legs]
    with told_as(Text("in the clip '{name}', {reason}"), name=action.name):
        cycle = own_cycle(legs, (way, spun), feet, fps, walker.settings.acceleration)
    turns, places = ({name: rows[:used] for name, rows in every.items()} for every in (turns, places))
    return OwnClip(cycle, turns, places)


def span_of(owner: bpy.types.Object, bones: set[str]) -> tuple[int, int]:
    """First and last frame of a clip that is played: as it says, or those with keys of bones.

    Marks of contacts reach beyond it.
    """
    action = owner.animation_data.action if owner.animation_data is not None else None
    if action is not None and action.use_frame_range:
        return round(action.frame_start), round(action.frame_end)
    own = [curve for curve in fcurves_of(owner) if bone_in(curve.data_path) in bones]
    ranges = [curve.range() for curve in own if f".{CONTACT}" not in curve.data_path]
    return round(min((one[0] for one in ranges), default=0.0)), round(max((one[1] for one in ranges), default=0.0))


def _at_rest(owner: bpy.types.Object, skeleton: Skeleton, frame: Frame, hips: int) -> Body:
    """The bones of a walker at rest, in the axes of its body."""
    turns = np.array([rest_turn(owner, name) for name in skeleton.names])
    heads, tails = (frame.places(np.array(every)) for every in (skeleton.heads, skeleton.tails))
    return Body(skeleton.names, skeleton.parents, turns, heads, tails, {}, hips, is_upright=True, skin={})


def _posed(body: Body, moved: tuple[dict[str, Doubles], dict[str, Doubles]], size: float, count: int) -> Motion:
    """How the bones of a body move by their rotations and, where they have any, locations against the rest pose.

    Locations are in armature space, whose unit has that size in the world.
    """
    (turns, places), shape = moved, (count, len(body.names))
    found = Motion(np.empty((*shape, 4)), np.empty((*shape, 3)))
    for bone, name in enumerate(body.names):
        found.turns[:, bone], found.heads[:, bone] = body.turns[bone], body.heads[bone]
        if body.parents[bone] >= 0:
            hang(body, found, bone)
        if name in places:
            found.heads[:, bone] += size * rotated_each(found.turns[:, bone], places[name])
        if name in turns:
            found.turns[:, bone] = products(found.turns[:, bone], turns[name])
    return found


def _one_stride(turns: dict[str, Doubles]) -> tuple[int, int]:
    """First and last frame of a stride after which bones are as at its beginning; of all where there are no two."""
    rows = np.stack([*turns.values()], axis=1)
    apart = 1.0 - np.abs(np.einsum("fbk,gbk->fgb", rows, rows)).mean(axis=2)
    means = [float(np.diagonal(apart, span).mean()) for span in range(2 * len(rows) // 3 + 2)]
    spans = range(FEWEST, len(means) - 1)
    again = [span for span in spans if means[span] == min(means[span - 1 : span + 2]) <= REPEATED * max(means)]
    if not again:
        return 0, len(rows) - 1
    first = int(np.argmin(np.diagonal(apart, again[0])))
    return first, first + again[0]


def _closed(rows: Doubles) -> Doubles:
    """Rotations (F, 4) whose last one is the first, by what it is off, more and more of it."""
    off = products(conjugates(rows[-1:]), rows[:1])
    return products(rows, slerps(np.array(IDENTITY), off, np.arange(len(rows)) / (len(rows) - 1.0)))


def _is_closed(turns: dict[str, Doubles]) -> bool:
    """Whether the last frame of a clip is its first one again."""
    steps = sum(turn_angles(products(rows[1:], conjugates(rows[:-1]))) for rows in turns.values())
    whole = sum(turn_angles(products(rows[-1:], conjugates(rows[:1])))[0] for rows in turns.values())
    return bool(whole <= CLOSED * np.mean(steps))


def _foot(owner: bpy.types.Object, leg: Leg, body: Body, motion: Motion) -> FootTrack:
    """How the foot of a leg goes in the clip."""
    chain = rig_of(owner).chains[leg.name]
    tip = resolve_bones(owner, chain)[-1]
    foot = tip if chain.at_head else next((bone for bone in tip.children if bone.name in body.names), tip)
    number = body.names.index(foot.name)
    points = [(number, np.array(plus(leg.home, point))) for point in (ORIGIN, leg.heel, leg.ball)]
    others = [body.names.index(bone.name) for bone in foot.children_recursive if bone.name in body.names]
    points += [(bone, body.tails[bone]) for bone in others]
    lows = np.min([carried(body, motion, *point)[:, 2] for point in points], axis=0)
    spun = products(motion.turns[:, number], conjugates(body.turns[number]))
    ahead = rotated_each(spun, np.array(leg.forward))
    level = lengths(ahead[:, :2])
    pitches = np.arctan2(-ahead[:, 2], level) if leg.foot_length > 0.0 else np.zeros(len(level))
    return FootTrack(carried(body, motion, number, np.array(leg.rest_ankle)), pitches, lows)


def posture_of(own: OwnClip, rhythm: tuple[Doubles, Doubles], body: str) -> list[BoneClip]:
    """How all bones but that of the body are posed at phases and speeds (F,) of a walk's clock: as in the clip.

    Where the walk is slow they come to rest in the mean of the clip.
    """
    phases, paces = rhythm
    cycle, fast = own.cycle.legs[0].cycle, own.faster
    assert cycle is not None
    shares = cycle.liveliness(paces)[:, None]
    gone = share_of_faster(own.cycle.body, fast.cycle.body, paces)[:, None] if fast is not None else None
    clips = [own] if fast is None else [own, fast]

    def mixed(rows: Sequence[Doubles | None], rest: Sequence[float]) -> Doubles:
        """What a bone has by its clips; as at rest where one has no keys of it."""
        slow, *others = (
            _phased(one, phases + clip.cycle.start, shares) if one is not None else np.tile(rest, (len(phases), 1))
            for one, clip in zip(rows, clips, strict=True)
        )
        return slow + gone * (others[0] - slow) if gone is not None else slow

    found = list[BoneClip]()
    for name in sorted({name for clip in clips for rows in (clip.turns, clip.places) for name in rows} - {body}):
        turns, ways = [clip.turns.get(name) for clip in clips], [clip.places.get(name) for clip in clips]
        known, spun = [rows for rows in turns if rows is not None], None
        if known:
            like = run_on(known[0][:1], np.array(IDENTITY))[0]
            spun = mixed([run_on(rows, like) if rows is not None else None for rows in turns], IDENTITY)
            spun /= lengths(spun)[:, None]
        moves = any(way is not None and np.ptp(way, axis=0).max() > STILL for way in ways)
        found.append(BoneClip(name, spun, {"location": mixed(ways, ORIGIN)} if moves else {}, None, "LINEAR"))
    return found


def _phased(rows: Doubles, phases: Doubles, shares: Doubles) -> Doubles:
    """What goes round in the frames of a clip, at the phases of a walk, and so much of it; its mean where none."""
    mean: Doubles = rows.mean(axis=0)
    return mean + shares * (between_frames(rows, phases % 1.0 * len(rows)) - mean)


# How a walker walks as a file, for other characters and projects: its settings, and the clips by which it goes.

VERSION = 1
OF_THE_SCENE = ("gravity", "acceleration")  # settings that are not those of a cycle
LARGEST, MOST = 100_000_000, 10_000  # characters of a file; frames of a clip
DIGITS = 7  # behind the point, of what is written
FROM = 1  # the frame at which the action of a clip begins


@dataclass(frozen=True)
class SavedCycle:
    """What a file holds.

    Attributes:
        fabrik_cycle: The version of its form.
        settings: How it walks; `OF_THE_SCENE` do not count.
        rate: Frames a second of the clips.
        clips: By which it walks where its gait is read from them, each under the name of its action.
    """

    fabrik_cycle: int
    settings: Settings
    rate: float
    clips: tuple[Clip, ...] = ()


def cycle_text(owner: bpy.types.Object, fps: float) -> str:
    """How a walker walks, as JSON.

    Raises:
        FabrikError: A clip has no keys.
    """
    walker, names = walker_of(owner), read_skeleton(owner, without=control_names(owner)).names
    clips = list[Clip]()
    for action in dict.fromkeys(walker.clips):
        with playing(owner, action):
            clip = read_clip(owner, names, span_of(owner, {*names}), only_keys=False)
        bones = tuple(replace(one, contacts=None) for one in clip.bones if one.turns is not None or one.plain)
        clips.append(replace(clip, rig=action.name, bones=bones))

    saved = asdict(SavedCycle(VERSION, walker.settings, fps, tuple(clips)))
    return json.dumps(saved, default=lambda values: np.round(values, DIGITS).tolist()) + "\n"


def load_cycle(path: Path) -> SavedCycle:
    """A cycle out of a file.

    Raises:
        InvalidValueError: It can't be read, or is none.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LARGEST + 1)
        found: SavedCycle = reader(SavedCycle)(json.loads(text))
        check_settings(found.settings)
        gait_of(found.settings)
        is_whole = found.fabrik_cycle == VERSION and 0.0 < found.rate < np.inf and len(found.clips) <= 2
        if not is_whole or not all(map(_is_clip, found.clips)):
            raise ValueError
    except OSError as error:
        raise InvalidValueError(Text("'{path}' can't be read: {error}", path=path, error=error.strerror)) from error
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(Text("'{path}' is no file with a cycle", path=path)) from error
    return found


def _is_clip(clip: Clip) -> bool:
    """Whether a clip can be written."""
    count = len(clip.frames)
    shapes = [(one.turns, 4) for one in clip.bones if one.turns is not None]
    shapes += [(rows, 3) for one in clip.bones for rows in one.plain.values()]
    return (
        2 <= count <= MOST
        and clip.last - clip.first + 1 == count
        and all(rows.shape == (count, size) for rows, size in shapes)
        and all(bool((one.turns**2).sum(axis=1).all()) for one in clip.bones if one.turns is not None)
        and all({*one.plain} <= {"location", "scale"} and one.contacts is None for one in clip.bones)
    )


def use_cycle(owner: bpy.types.Object, cycle: SavedCycle, fps: float) -> list[str]:
    """Let a walker walk by a cycle; its clips become actions.

    Returns:
        What there is to look out for.

    Raises:
        FabrikError: It has none of the bones of a clip, or can't be keyed; nothing was changed.
    """
    walker, told, timed = walker_of(owner), list[str](), list[tuple[str, Clip]]()
    for clip in cycle.clips:
        missing = [one.bone for one in clip.bones if one.bone not in pose_bones(owner)]
        if len(missing) == len(clip.bones):
            raise InvalidValueError(
                Text("it has none of the bones of the clip '{name}'", name=clip.rig), rig=owner.name
            )
        if missing:
            told.append(Text("bones of '{name}' that it does not have: {bones}", name=clip.rig, bones=quoted(missing)))
        last = len(clip.frames) - 1
        timed.append((clip.rig, retimed(clip, max(round(last * fps / cycle.rate), 1) / last, FROM)))
    made, notes = write_actions(owner, timed)
    told += chain.from_iterable(notes)
    for name, value in asdict(cycle.settings).items():
        if name not in OF_THE_SCENE:
            setattr(walker, name, value)
    if made:
        walker.gait, walker.clip, walker.fast_clip = CLIP, made[0], made[1] if made[1:] else None
    return told
