# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet and hands with the ground: marked by keys on their bones, and kept by keys on their controls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import atan, ceil, degrees

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...errors import ChainError, InvalidValueError, RigError, place_of
from ...maths import IDENTITY, Doubles, Ints, axes_of, conjugated, lengths, minus, multiplied, q4, rotated, units, v3
from ...motion.contacts import (
    FADE,
    FEWEST,
    NONE,
    Foot,
    Stance,
    coming_and_going,
    find_contacts,
    find_touches,
    junk_ends,
    level_of,
    relative,
    runs,
    shares_near,
    slope_of,
    standing_still,
    way_of_body,
)
from ...recognise.part import LEG
from ...rig.animation.channels import read_values, rotation_path, to_values
from ...rig.animation.compat import fcurves_of, find_curve
from ...rig.animation.curves import PLAIN, CurveWriter, Keys, staying, values_at
from ...rig.animation.keys import has_strips
from ...rig.bones import names_if_any, pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.figure.groups import figure_bones, set_of
from ...rig.goals import frames_of, is_offset, read_held, turns_tip
from ...rig.schema import FabrikChain, owner_of, rig_of
from ...rig.walk_goals import foothold_goal, is_walked
from ...texts import Text, counted, joined
from ..frames import Steps, check_time, frames_visited, rate_of, scene_of
from ..keep_pose import ReleaseReport
from . import marks
from .bodies import ControlPath, limbs_of, sample_feet, soles_of, stand_of
from .clips import read_clip, write_keys
from .edits import are_moved, check_goals_stay, edited_chains, span_of_motion

NO_WAY = 1e-9  # meters and radians: less is no correction
TOLD = 1e-4  # of a leg, from which on that the body gives way is worth telling


def _counted(chain: str, kinds: Ints, *more: Text) -> Text:
    """How often and for how long a foot is on the ground, with more words behind."""
    count = counted(len(runs(kinds != NONE)), "1 contact", "{count} contacts")
    frames = counted(int((kinds != NONE).sum()), "at 1 frame", "at {count} frames")
    return joined(": ", (chain, joined(" ", (count, frames, *more))))


def find_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: Sequence[int], ground: bpy.types.Object | None = None
) -> Steps[ReleaseReport]:
    """Mark when the feet and hands of a motion are on the ground, in steps; the marks move nothing.

    Args:
        context: Its scene's frame is moved and put back.
        owner: The armature object; edits over its motion do not count.
        frames: Whole frames that follow each other; marks in these are replaced.
        ground: An object on which they stand, which may move; None for the world.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: There is no leg, or it can't be keyed; nothing was changed.
    """
    scene, limbs = scene_of(context), limbs_of(owner)
    legs = [name for name, part in limbs.items() if part.kind == LEG]
    if not legs:
        raise ChainError("no chain stands for a leg", rig=owner.name)
    frames, notes = _without_junk(owner, scene, frames)
    _check(scene, owner, frames, legs)
    marks.check_ground(owner, ground)
    soles, found = soles_of(context, owner, sorted(limbs, key=lambda name: name not in legs), limbs), list[str]()
    with frames_visited(scene):
        feet, _, grounds = yield from sample_feet(context, owner, soles, frames, (), {0: ground})
        seen = feet if ground is None else [foot.seen_from(relative(grounds[0])) for foot in feet]
        kinds, slope = _found(seen[: len(legs)], seen[len(legs) :], rate_of(scene))
        if not any(own.any() for own in kinds):
            notes = [Text("no foot or hand stands still in this motion"), *notes]
        if angle := round(degrees(atan(float(np.linalg.norm(slope))))):
            notes = [*notes, Text("the ground of the motion slopes by {degrees}°", degrees=angle)]
        marks.ensure_action(owner)
        number = marks.ground_number(owner, ground)
        for sole, own in zip(soles, kinds, strict=True):
            if own.any() or marks.has_marks(owner, pose_bones(owner)[sole.bone]):
                marks.write_track(owner, pose_bones(owner)[sole.bone], marks.of_kinds(own.tolist(), number), frames)
            found.append(_counted(sole.chain, own))
        CurveWriter(owner, can_restore=False).flush()
    return ReleaseReport(found, notes)


def _found(feet: Sequence[Foot], hands: Sequence[Foot], rate: float) -> tuple[list[Ints], Doubles]:
    """What of feet, and after them of hands, is on the ground in each frame, (F,); and how that slopes, (2,)."""
    slope, size = slope_of(feet, rate), max(foot.reach for foot in feet)
    kinds = [find_contacts(foot, rate, slope) for foot in feet]
    joints = [points for foot in feet for points in (foot.places, foot.roots)]
    lowest = np.min([points[:, 2] - points[:, :2] @ slope for points in joints], axis=0)
    level = level_of(feet, kinds, slope, rate, (hands, lowest, size))
    still: Ints = np.zeros(len(feet[0].places), dtype=np.int32)
    kinds += [find_touches(hand, rate, size, slope, level) if level is not None else still for hand in hands]
    return kinds, slope


def _without_junk(
    owner: bpy.types.Object, scene: bpy.types.Scene, frames: Sequence[int]
) -> tuple[Sequence[int], list[str]]:
    """Frames of a motion: beyond it the last pose only stands, and a pose at its ends that is none of it is told."""
    (first, last), (real, end) = span_of_motion(owner, scene), _span(owner, scene)
    out = [frame for frame in frames if first <= frame < real or end < frame <= last]
    told = Text("left out, since its pose is none of the motion: frame {frames}", frames=", ".join(map(str, out)))
    return [frame for frame in frames if real <= frame <= end], [told] if out else []


def _span(owner: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """`span_of_motion` without a rest pose that stands at its ends."""
    first, last = span_of_motion(owner, scene)
    own = [bone.name for bone in pose_bones(owner) if bone.name not in control_names(owner)]
    paths = {rotation_path(pose_bones(owner)[name]) for name in own}
    if has_strips(owner) or not any(curve.data_path in paths for curve in fcurves_of(owner)):
        return first, last
    clip = read_clip(owner, own, (first, last), only_keys=False)
    before, after = junk_ends(np.stack([one.turns for one in clip.bones if one.turns is not None], axis=1))
    return first + before, last - after


def _check(scene: bpy.types.Scene, owner: bpy.types.Object, frames: Sequence[int], limbs: Iterable[str]) -> None:
    """Refuse what can't be read or keyed, and feet that go as a walk was planned, which keeps their contacts."""
    check_time(scene)
    own = [rig_of(owner).chains[name] for name in limbs]
    walked = next((chain.name for chain in own if chain.enabled and is_walked(chain)), "")
    if walked:
        raise ChainError("it goes as its walk was planned: use Plan Walk", rig=owner.name, chain=walked)
    if len(frames) < FEWEST:
        raise InvalidValueError(Text("{count} frames are too few to tell what stands still", count=len(frames)))
    data = owner.animation_data
    if data is None or not (data.action or len(data.nla_tracks) or len(data.drivers)):
        raise RigError("it has no motion in which feet could stand", rig=owner.name)
    marks.check_marks(owner)


def clean_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: Sequence[int], only: Sequence[str] = ()
) -> Steps[ReleaseReport]:
    """Let feet, hands, and whatever else chains end in, stand still where they are marked, in steps, by their controls.

    Keys of these controls in the frames are replaced. Where a limb would not reach, the body gives way by its own.

    Args:
        context: Its scene's frame is moved and put back.
        owner: An armature object whose limbs edit its motion.
        frames: Whole frames that follow each other.
        only: Names of the chains whose tips are to stand; none for all that have marks.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: There is nothing to do, or it can't be keyed; nothing was changed.
    """
    scene, limbs, home = scene_of(context), limbs_of(owner), rig_of(owner).body_bone
    frames, notes = _without_junk(owner, scene, frames)
    legs = [name for name, part in limbs.items() if part.kind == LEG]
    _check(scene, owner, frames, legs)
    frames = _with_room(owner, frames, only, _span(owner, scene), ceil(FADE * rate_of(scene)))
    times = np.array(frames, dtype=np.float64)
    body = next((one for one in edited_chains(owner) if one.enabled and one.tip_bone == home != ""), None)
    tracks, carried = _to_clean(owner, times, only, body)
    cleaned = [rig_of(owner).chains[name] for name in tracks]
    others = [rig_of(owner).chains[name] for name in legs if name not in tracks]  # stay as they are, and have to reach
    led = [chain for chain in others if is_offset(chain)]
    soles = soles_of(context, owner, [chain.name for chain in (*cleaned, *others)], limbs)
    controls = [chain.target_bone for chain in (*cleaned, *led, *([body] if body is not None else []))]
    with frames_visited(scene):
        known = _grounds(owner, tracks.values(), notes)
        feet, paths, grounds = yield from sample_feet(context, owner, soles, frames, controls, known)
        rate, (first, last) = rate_of(scene), _span(owner, scene)
        ends = frames[0] <= first, frames[-1] >= last
        stood: Doubles = paths[body.target_bone].ways if body is not None else np.zeros((len(frames), 3))
        ways, turns, holds = list[Doubles](), list[Doubles](), list[Doubles]()
        for k, (name, track) in enumerate(tracks.items()):
            kinds = marks.kinds_of(track)
            shares = coming_and_going(kinds, *ends, rate)
            way, turn = standing_still(feet[k], kinds, _stances(track, grounds), shares, rate)
            hold: Doubles = np.zeros((len(frames), 1))
            if name in carried:  # between its contacts it goes where the body goes
                hold = (shares * shares_near(kinds != NONE, FADE * rate))[:, None]
                way += (1.0 - hold) * stood
                feet[k] = feet[k].let_go(hold[:, 0] == 0.0, way - stood)
            ways.append(way)
            turns.append(turn)
            holds.append(hold)
        ways += [paths[chain.target_bone].ways if chain in led else np.zeros((len(frames), 3)) for chain in others]
        shift = way_of_body(feet, ways, stood, rate)
        if body is None and np.abs(shift).max() > TOLD * feet[0].reach:
            notes.append(Text("some limb does not reach: with a control for the body bone that would give way"))
        every = np.max([marks.kinds_of(track) for track in tracks.values()], axis=0)
        shift *= coming_and_going(every, *ends, rate)[:, None] if body is not None else 0.0
        edges, keys = [k for k, is_end in zip((0, -1), ends, strict=True) if not is_end], list[Keys]()
        if cut := [name for name, track in tracks.items() if any(marks.kinds_of(track)[k] != NONE for k in edges)]:
            text = Text("the frames cut a contact of {chains}, which slides where they end", chains=", ".join(cut))
            notes.append(text)
        if body is not None and shift.any():
            keys += _keys_of(body, paths[body.target_bone], stood + shift, None, times)
        for chain, way, turn, hold in zip(cleaned, ways, turns, holds, strict=False):
            own = way - stood - hold * shift if chain.name in carried else way
            keys += _keys_of(chain, paths[chain.target_bone], own, turn, times)
        write_keys(owner, keys).flush()
    still, most = Text("stand still"), float(lengths(shift).max())
    given = [Text("the body gives way by up to {way:.2g}", way=most)] if most > TOLD * feet[0].reach else []
    done = [_counted(name, marks.kinds_of(track), still) for name, track in tracks.items()]
    return ReleaseReport([*done, *given], notes)


def _with_room(
    owner: bpy.types.Object, frames: Sequence[int], only: Sequence[str], span: tuple[int, int], room: int
) -> Sequence[int]:
    """Frames with so many more beside where a contact begins or ends with them, for what is changed to come and go."""
    ends = [frames[0], frames[-1]]
    for k, out in enumerate((-1, 1)):
        pairs = np.array([ends[k], ends[k] + out], dtype=np.float64)
        on = [marks.marks_of(owner, bone, pairs) != NONE for name, bone in _marked(owner) if not only or name in only]
        if any(inside and not beside for inside, beside in on):
            ends[k] = max(ends[k] - room, span[0]) if k == 0 else min(ends[k] + room, span[1])
    return range(ends[0], ends[1] + 1)


def _to_clean(
    owner: bpy.types.Object, times: Doubles, only: Sequence[str], body: FabrikChain | None
) -> tuple[dict[str, Doubles], set[str]]:
    """The contacts in F frames of the chains to be cleaned, (F, 9), by their names; and which of these a bone carries.

    Refused where there is none, or the control of one can't keep it.
    """
    tracks = {name: marks.track_of(owner, bone, times) for name, bone in _marked(owner) if not only or name in only}
    if not any(len(marks.stances_of(track)) for track in tracks.values()):
        text = Text("no foot or hand is marked to be on the ground: use Find Contacts, or key Contact of its bone")
        raise ChainError(text, rig=owner.name)
    cleaned, carried = [rig_of(owner).chains[name] for name in tracks], set[str]()
    check_goals_stay(owner)
    for chain in (*cleaned, *([body] if body is not None else [])):
        with place_of(rig=owner.name):
            on = times[marks.kinds_of(tracks[chain.name]) != NONE] if chain.name in tracks else times
            _check_control(owner, chain, on if len(on) else times)
            bones = {bone.name for bone in figure_bones(set_of(owner, chain))}
            if carrier := frames_of(owner, chain, bones).get("target"):
                _check_carrier(chain, carrier, body, cleaned, times)
                carried.add(chain.name)
    return tracks, carried


def _marked(owner: bpy.types.Object) -> Iterator[tuple[str, bpy.types.PoseBone]]:
    """The names of chains whose tip has marks, and that bone; of several with one tip the first that is enabled."""
    tips = dict[str, str]()
    for chain in sorted(rig_of(owner).chains, key=lambda one: not one.enabled):
        for tip in names_if_any(owner, chain)[-1:]:
            tips.setdefault(tip, chain.name)
    for tip, name in tips.items():
        if marks.has_marks(owner, pose_bones(owner)[tip]):
            yield name, pose_bones(owner)[tip]


def _grounds(
    owner: bpy.types.Object, tracks: Iterable[Doubles], notes: list[str]
) -> dict[int, bpy.types.Object | None]:
    """The objects on which feet stand, by their numbers; that one is gone is noted."""
    numbers = {int(one) for track in tracks for one in track[marks.kinds_of(track) != NONE, marks.GROUND]}
    known, found = rig_of(owner).grounds, dict[int, bpy.types.Object | None]()
    for number in sorted(numbers - {0}):
        one = known[number - 1] if number <= len(known) else None
        if one is None or one.found is None:
            name = one.name if one is not None else str(number)
            notes.append(Text("'{ground}', on which feet stood, is gone: they stand in the world", ground=name))
        found[number] = one.found if one is not None else None
    return found


def _stances(track: Doubles, grounds: Mapping[int, Doubles]) -> list[Stance]:
    """The contacts of a foot, with the motion of the ground of each, and its place there."""
    found = list[Stance]()
    for first, last in marks.stances_of(track):
        place = track[first, marks.PLACE]
        wanted = np.concatenate((place[:3], units(place[3:]))) if place[3:].any() else None
        found.append(Stance(first, last, grounds.get(int(track[first, marks.GROUND])), wanted))
    return found


def stand_here(
    context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, *, at_cursor: bool
) -> marks.Contact:
    """Let the whole contact of a foot at this frame have the place that the foot has now: as it is posed, or planned.

    Args:
        context: Its scene is at the frame.
        owner: An armature object.
        chain: A leg of it.
        at_cursor: Whether it has the place of the 3D cursor instead, under the middle of the sole.

    Returns:
        The contact.

    Raises:
        FabrikError: The foot has no contact here, or it can't be keyed; nothing was changed.
    """
    scene = scene_of(context)
    contact = marks.contact_at(owner, resolve_bones(owner, chain)[-1].name, scene.frame_current)
    depsgraph = context.evaluated_depsgraph_get()
    cursor = v3(scene.cursor.location) if at_cursor else None
    held = read_held(owner.evaluated_get(depsgraph), contact.bone, chain.at_head)
    place, turn = foothold_goal(chain, depsgraph, cursor) or held
    if cursor is not None and not is_walked(chain):
        (sole,) = soles_of(context, owner, [chain.name], limbs_of(owner))
        place = minus(cursor, rotated(turn, v3(0.5 * owner.matrix_world.median_scale * (sole.heel + sole.ball))))
    ground = _grounds(owner, [marks.of_kinds(contact.kinds, contact.ground)], []).get(contact.ground)
    if ground is not None:
        stands = stand_of(context, ground)
        back = conjugated(stands[3:])
        place, turn = rotated(back, minus(place, stands[:3])), multiplied(back, turn)
    marks.place_contact(owner, contact, [*place, *turn])
    return contact


def _check_control(owner: bpy.types.Object, chain: FabrikChain, frames: Doubles) -> None:
    """Refuse a chain whose control can't keep a contact in frames (F,): it tells a place, or does not count."""
    if not is_offset(chain):
        raise ChainError("its target tells a place: set its goal to Offset", chain=chain.name)
    if _least(owner, chain, "enabled", frames) < 1.0:
        raise ChainError("it is not enabled, so that its control moves nothing", chain=chain.name)
    if _least(owner, chain, "influence", frames) < 1.0:
        raise ChainError("its influence is below 1, so that its tip would not stay", chain=chain.name)
    if chain.at_head and not (turns_tip(chain) and chain.orientation == "TARGET"):
        raise ChainError("its tip does not turn with its target: set its rotation to Target", chain=chain.name)
    paths = {pose_bones(owner)[chain.target_bone].path_from_id("location")}
    paths.add(rotation_path(pose_bones(owner)[chain.target_bone]))
    for curve in fcurves_of(owner):
        reason = marks.curve_refusal(curve) if curve.data_path in paths else ""
        if reason:
            raise ChainError(reason, chain=chain.name)


def _least(owner: bpy.types.Object, chain: FabrikChain, name: str, frames: Doubles) -> float:
    """The least value of a setting of a chain in frames (F,), by its keys; else as it stands."""
    curve = find_curve(owner, chain.path_from_id(name), 0)
    is_keyed = curve is not None and len(curve.keyframe_points) > 0 and not curve.mute
    return float(values_at([curve], frames)[0].min()) if curve is not None and is_keyed else float(getattr(chain, name))


def _check_carrier(
    chain: FabrikChain, carrier: str, body: FabrikChain | None, cleaned: Sequence[FabrikChain], frames: Doubles
) -> None:
    """Refuse a chain whose control hangs on a bone that edits do more with than to move it along with the body."""
    owner = owner_of(chain)
    above = {carrier, *(bone.name for bone in pose_bones(owner)[carrier].parent_recursive)}
    for other in rig_of(owner).chains:
        if other == chain or not other.enabled or not above & {*names_if_any(owner, other)}:
            continue
        if other == body:
            edits = are_moved([other], frames, turned=True)
        else:
            edits = are_moved([other], frames) if is_offset(other) and other not in cleaned else np.ones(1, dtype=bool)
        if edits.any():
            text = Text(
                "its target hangs on '{bone}', which '{chain}' moves: choose the armature as its space",
                bone=carrier,
                chain=other.name,
            )
            raise ChainError(text, chain=chain.name)


def _keys_of(
    chain: FabrikChain, stood: ControlPath, ways: Doubles, turns: Doubles | None, frames: Doubles
) -> list[Keys]:
    """The keys of a control that moves and turns its effector; none where it rests and has no keys.

    Ways (F, 3) and turns (F, 4), None where it is not turned, are of the world, frames (F,) rise. Refused where the
    layer of edits at hand does not count in one of them.
    """
    angles = np.zeros(len(frames)) if turns is None else np.abs(turns[:, 1:]).max(axis=1)
    owner = owner_of(chain)
    bone = pose_bones(owner)[chain.target_bone]
    paths = {bone.path_from_id("location"), rotation_path(bone)}
    is_keyed = any(curve.data_path in paths and len(curve.keyframe_points) for curve in fcurves_of(owner))
    if not is_keyed and np.abs(ways).max() <= NO_WAY and angles.max() <= NO_WAY:
        return []
    if not rig_of(owner).edits or not all(others.share for others in stood.others):
        text = Text("edits are off, or the layer at hand is, so that its control moves nothing")
        raise ChainError(text, rig=owner.name, chain=chain.name)
    local = np.linalg.solve(stood.axes, ways[:, :, None])[:, :, 0].astype(np.float64)
    mode, near, places, rows = bone.rotation_mode, read_values(bone), list[list[float]](), list[list[float]]()
    for k, others in enumerate(stood.others):
        turn = IDENTITY
        if turns is not None:
            around = axes_of(Matrix(stood.axes[k].tolist()).to_4x4())
            turn = multiplied(multiplied(conjugated(around), q4(turns[k].tolist())), around)
        place, own = others.own(Vector(local[k].tolist()), turn)
        near = to_values(mode, own, near)
        places.append([*place])
        rows.append(near)
    found = [
        _keys(owner, (bone.path_from_id("location"), PLAIN, [*bone.location]), bone.name, np.array(places), frames)
    ]
    if turns is not None and turns_tip(chain) and chain.orientation == "TARGET":
        found.append(_keys(owner, (rotation_path(bone), mode, read_values(bone)), bone.name, np.array(rows), frames))
    return found


def _keys(
    owner: bpy.types.Object, written: tuple[str, str, Sequence[float]], bone: str, values: Doubles, frames: Doubles
) -> Keys:
    """Keys in frames, and in one more on either side, in which the control is as it was."""
    path, mode, stood = written
    ends = np.array((frames[0] - 1.0, frames[-1] + 1.0))
    about = np.tile(np.array(stood, dtype=np.float64), (2, 1))
    curves = [one for one in fcurves_of(owner) if one.data_path == path and len(one.keyframe_points)]
    for curve in curves:
        about[:, curve.array_index] = [curve.evaluate(frame) for frame in ends]
    every, times = np.concatenate((about[:1], values, about[1:])), np.concatenate((ends[:1], frames, ends[1:]))
    span = (float(times[0]), float(times[-1]))
    every_channel = range(values.shape[1])
    return Keys(path, mode, bone, every_channel, stood, every, staying(every), times, "LINEAR", span, is_between=True)
