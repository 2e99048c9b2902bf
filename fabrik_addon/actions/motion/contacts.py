# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet with the ground: marked by keys on the bones of the feet, and kept by keys on their controls."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan, degrees
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...errors import ChainError, InvalidValueError, RigError, place_of
from ...maths import IDENTITY, Doubles, Ints, axes_of, conjugated, lengths, minus, multiplied, q4, rotated, units, v3
from ...motion.contacts import (
    NONE,
    Foot,
    Stance,
    coming_and_going,
    find_contacts,
    junk_ends,
    relative,
    runs,
    slope_of,
    standing_still,
    way_of_body,
)
from ...recognise.part import LEG
from ...rig.animation.channels import plain_path, read_values, rotation_path, to_values
from ...rig.animation.compat import fcurves_of
from ...rig.animation.curves import PLAIN, CurveWriter, Keys, staying
from ...rig.animation.keys import has_strips
from ...rig.bones import pose_bones, resolve_bones
from ...rig.control_bones import control_names
from ...rig.figure.groups import figure_bones, set_of
from ...rig.goals import frames_of, is_offset, offset_axes, read_held, turns_tip
from ...rig.layers import OtherLayers, others_of
from ...rig.schema import FabrikChain, rig_of
from ...rig.skeleton import sole_at_rest
from ...rig.walk_goals import foothold_goal, is_walked
from ...texts import Text
from ..frames import frames_visited, go_to, rate_of, scene_of
from ..setup.parts import chain_of, find_parts
from .clips import read_clip
from .edits import span_of_motion
from .marks import (
    GROUND,
    PLACE,
    Contact,
    check_ground,
    check_marks,
    contact_at,
    ensure_action,
    ground_number,
    has_marks,
    kinds_of,
    of_kinds,
    place_contact,
    stances_of,
    track_of,
    write_track,
)

NOWHERE: Mapping[int, bpy.types.Object | None] = {}
FEWEST = 3  # frames, of which speeds can be told
NO_WAY = 1e-9  # meters and radians: less is no correction
TOLD = 1e-4  # of a leg, from which on that the body gives way is worth telling


@dataclass(frozen=True, slots=True)
class Sole:
    """What of a foot may touch the ground, at rest.

    Attributes:
        chain: The name of the chain that ends in it.
        bone: Its bone.
        heel: From the effector to the heel, in the axes of the bone, armature space.
        ball: The same to the ball.
        toes: The bone of the toes, or again that of the foot.
        tip: From the head of that to the tip of the toes, in its axes.
    """

    chain: str
    bone: str
    heel: Vector
    ball: Vector
    toes: str
    tip: Vector


class Marked(NamedTuple):
    """The contacts of one foot: its chain, how many there are, and at how many frames."""

    chain: str
    contacts: int
    frames: int


class ContactsResult(NamedTuple):
    """What came of finding contacts, or of letting feet stand still.

    Attributes:
        feet: Each foot with its contacts.
        moved: The most by which the body gives way for them, in the world, or 0.
        notes: What to look out for.
    """

    feet: list[Marked]
    moved: float
    notes: list[str]


@dataclass(frozen=True, slots=True)
class ControlPath:
    """How a control stands in F frames.

    Attributes:
        axes: (F, 3, 3), from its location channels to the world.
        ways: (F, 3), by which all layers of edits move it, in the world.
        others: For each frame the layers that are not at hand.
    """

    axes: Doubles
    ways: Doubles
    others: list[OtherLayers]


def _counted(sole: Sole, kinds: Ints) -> Marked:
    return Marked(sole.chain, len(runs(kinds != NONE)), int((kinds != NONE).sum()))


def legs_of(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of an armature that stand for its legs.

    Raises:
        ChainError: There are none.
    """
    found = [chain_of(owner, part) for part in find_parts(owner).parts if part.kind == LEG]
    legs = [chain for chain in found if chain is not None]
    if not legs:
        raise ChainError("no chain stands for a leg", rig=owner.name)
    return legs


def find_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: Sequence[int], ground: bpy.types.Object | None = None
) -> Generator[float, None, ContactsResult]:
    """Mark when the feet of a motion are on the ground, in steps; the marks move nothing.

    Args:
        context: Its scene's frame is moved and put back.
        owner: The armature object; edits over its motion do not count.
        frames: Whole frames that follow each other; marks in these are replaced.
        ground: An object on which the feet stand, which may move; None for the world.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: There is no leg, or it can't be keyed; nothing was changed.
    """
    scene, legs = scene_of(context), legs_of(owner)
    frames, notes = _without_junk(owner, scene, frames)
    _check(owner, frames)
    check_ground(owner, ground)
    soles, found = [_sole(owner, chain) for chain in legs], list[Marked]()
    with frames_visited(scene):
        feet, _, grounds = yield from _sampled(context, owner, soles, frames, (), {0: ground})
        seen = feet if ground is None else [foot.seen_from(relative(grounds[0])) for foot in feet]
        slope = slope_of(seen, rate_of(scene))
        if angle := round(degrees(atan(float(np.linalg.norm(slope))))):
            notes = [*notes, Text("the ground of the motion slopes by {degrees}°", degrees=angle)]
        kinds = [find_contacts(foot, rate_of(scene), slope) for foot in seen]
        ensure_action(owner)
        number = ground_number(owner, ground)
        for sole, own in zip(soles, kinds, strict=True):
            write_track(owner, pose_bones(owner)[sole.bone], of_kinds(own.tolist(), number), frames)
            found.append(_counted(sole, own))
        CurveWriter(owner, can_restore=False).flush()
    return ContactsResult(found, 0.0, notes)


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


def _check(owner: bpy.types.Object, frames: Sequence[int]) -> None:
    """Refuse what can't be read or keyed.

    Raises:
        FabrikError: It can't, or feet go as a walk was planned, which marks their contacts and keeps them.
    """
    walked = next((chain.name for chain in legs_of(owner) if is_walked(chain)), "")
    if walked:
        raise ChainError("it goes as its walk was planned: use Plan Walk", rig=owner.name, chain=walked)
    if len(frames) < FEWEST:
        raise InvalidValueError(Text("{count} frames are too few to tell what stands still", count=len(frames)))
    data = owner.animation_data
    if data is None or not (data.action or len(data.nla_tracks) or len(data.drivers)):
        raise RigError("it has no motion in which feet could stand", rig=owner.name)
    check_marks(owner)


def clean_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: Sequence[int], only: Sequence[str] = ()
) -> Generator[float, None, ContactsResult]:
    """Let feet stand still where they are marked to be on the ground, in steps, by keys on their controls.

    Keys of these controls in the frames are replaced. Where a leg would not reach, the body gives way by its own.

    Args:
        context: Its scene's frame is moved and put back.
        owner: An armature object whose legs edit its motion.
        frames: Whole frames that follow each other.
        only: Names of the chains of which the feet are to stand; none for all legs.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: There is nothing to do, or it can't be keyed; nothing was changed.
    """
    scene = scene_of(context)
    frames, notes = _without_junk(owner, scene, frames)
    _check(owner, frames)
    times = np.array(frames, dtype=np.float64)
    every = legs_of(owner)
    wanted = [chain for chain in every if not only or chain.name in only]
    if not wanted:
        raise ChainError("it is no leg", rig=owner.name, chain=only[0])
    marked_legs = [chain for chain in wanted if has_marks(owner, resolve_bones(owner, chain)[-1])]
    tracks = {chain.name: track_of(owner, resolve_bones(owner, chain)[-1], times) for chain in marked_legs}
    legs = [rig_of(owner).chains[name] for name in tracks]
    if not any(len(stances_of(track)) for track in tracks.values()):
        text = Text("no foot is marked to be on the ground: use Find Contacts, or key Contact of its bone")
        raise ChainError(text, rig=owner.name)
    body = next((one for one in rig_of(owner).chains if _moves_body(owner, one)), None)
    for chain in (*legs, *([body] if body is not None else [])):
        with place_of(rig=owner.name):
            _check_control(owner, chain)
    others = [chain for chain in every if chain.name not in tracks]  # stay as they are, and have to reach
    led = [chain for chain in others if is_offset(chain)]
    soles = [_sole(owner, chain) for chain in (*legs, *others)]
    controls = [chain.target_bone for chain in (*legs, *led, *([body] if body is not None else []))]
    with frames_visited(scene):
        known = _grounds(owner, tracks.values(), notes)
        feet, paths, grounds = yield from _sampled(context, owner, soles, frames, controls, known)
        rate = rate_of(scene)
        span = _span(owner, scene)
        shares = coming_and_going(len(frames), frames[0] <= span[0], frames[-1] >= span[1], rate)
        kinds = {name: kinds_of(track) for name, track in tracks.items()}
        fixes = list[tuple[Doubles, Doubles]]()
        for sole, foot in zip(soles, feet[: len(legs)], strict=False):
            stances = _stances(tracks[sole.chain], grounds)
            fixes.append(standing_still(foot, kinds[sole.chain], stances, shares, rate))
        ways, keys, marked = [way for way, _ in fixes], list[Keys](), list[Marked]()
        for chain in others:
            is_led = chain in led
            ways.append(paths[chain.target_bone].ways if is_led else 0.0 * ways[0])
        for sole, chain, (way, turn) in zip(soles, legs, fixes, strict=False):
            keys += _keys_of(owner, chain, paths[chain.target_bone], way, turn, times)
            marked.append(_counted(sole, kinds[sole.chain]))
        shift: Doubles = np.zeros((len(frames), 3))
        if body is not None:
            stood = paths[body.target_bone].ways
            shift = shares[:, None] * way_of_body(feet, ways, stood, rate)
            if shift.any():
                keys += _keys_of(owner, body, paths[body.target_bone], stood + shift, None, times)
        elif np.abs(way_of_body(feet, ways, shift, rate)).max() > TOLD * feet[0].reach:
            notes.append(Text("some leg does not reach: with a control for the body bone that would give way"))
        _write(owner, keys)
    most = float(lengths(shift).max())
    return ContactsResult(marked, most if most > TOLD * feet[0].reach else 0.0, notes)


def _grounds(
    owner: bpy.types.Object, tracks: Iterable[Doubles], notes: list[str]
) -> dict[int, bpy.types.Object | None]:
    """The objects on which feet stand, by their numbers; that one is gone is noted."""
    numbers = {int(one) for track in tracks for one in track[kinds_of(track) != NONE, GROUND]}
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
    for first, last in stances_of(track):
        place = track[first, PLACE]
        wanted = np.concatenate((place[:3], units(place[3:]))) if place[3:].any() else None
        found.append(Stance(first, last, grounds.get(int(track[first, GROUND])), wanted))
    return found


def stand_here(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain, *, at_cursor: bool) -> Contact:
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
    contact = contact_at(owner, resolve_bones(owner, chain)[-1].name, scene.frame_current)
    depsgraph = context.evaluated_depsgraph_get()
    cursor = v3(scene.cursor.location) if at_cursor else None
    held = read_held(owner.evaluated_get(depsgraph), contact.bone, chain.at_head)
    place, turn = foothold_goal(chain, depsgraph, cursor) or held
    if cursor is not None and not is_walked(chain):
        sole = _sole(owner, chain)
        place = minus(cursor, rotated(turn, v3(0.5 * owner.matrix_world.median_scale * (sole.heel + sole.ball))))
    ground = _grounds(owner, [of_kinds(contact.kinds, contact.ground)], []).get(contact.ground)
    if ground is not None:
        stands = _stand(context, ground)
        back = conjugated(stands[3:])
        place, turn = rotated(back, minus(place, stands[:3])), multiplied(back, turn)
    place_contact(owner, contact, [*place, *turn])
    return contact


def _stand(context: bpy.types.Context, ground: bpy.types.Object) -> tuple[float, ...]:
    """Where an object is, and how it is turned, in the world, as evaluated."""
    world = ground.evaluated_get(context.evaluated_depsgraph_get()).matrix_world
    return (*world.translation, *axes_of(world))


def _moves_body(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether a chain edits where the body bone is."""
    return chain.enabled and is_offset(chain) and chain.tip_bone == rig_of(owner).body_bone != ""


def _check_control(owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Refuse a chain whose control can't keep a contact.

    Raises:
        ChainError: It tells a place, or hangs on the body.
    """
    if not is_offset(chain):
        raise ChainError("its target tells a place: set its goal to Offset", chain=chain.name)
    if not chain.enabled:
        raise ChainError("it is not enabled, so that its control moves nothing", chain=chain.name)
    if chain.influence < 1.0:
        raise ChainError("its influence is below 1, so that its tip would not stay", chain=chain.name)
    if chain.at_head and not (turns_tip(chain) and chain.orientation == "TARGET"):
        raise ChainError("its tip does not turn with its target: set its rotation to Target", chain=chain.name)
    bones = {bone.name for bone in figure_bones(set_of(owner, chain))}
    if "target" in frames_of(owner, chain, bones):
        text = Text("its target is carried by the body: choose the armature as its space")
        raise ChainError(text, chain=chain.name)
    paths = {plain_path(pose_bones(owner)[chain.target_bone], "location")}
    paths.add(rotation_path(pose_bones(owner)[chain.target_bone]))
    for curve in fcurves_of(owner):
        if curve.data_path in paths and (curve.lock or curve.mute or len(curve.modifiers)):
            raise ChainError("a curve of its target is locked, muted or modified", chain=chain.name)


def _sampled(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    soles: Sequence[Sole],
    frames: Sequence[int],
    controls: Sequence[str] = (),
    grounds: Mapping[int, bpy.types.Object | None] = NOWHERE,
) -> Generator[float, None, tuple[list[Foot], dict[str, ControlPath], dict[int, Doubles]]]:
    """Read how feet move, and what they stand on; no edit counts, for these are not solved meanwhile.

    Yields:
        How much of it is done, from 0 to 1.

    Returns:
        How each foot moves, in the world; by the names of controls how these do; by the numbers of grounds that are
        there (F, 7), their places and rotations.
    """
    scene, count = scene_of(context), len(frames)
    paths = {name: ControlPath(np.zeros((count, 3, 3)), np.zeros((count, 3)), []) for name in controls}
    stands: dict[int, Doubles] = {key: np.zeros((count, 7)) for key, one in grounds.items() if one is not None}
    rows = [(np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3)), np.zeros((count, 3))) for _ in soles]
    chains = [rig_of(owner).chains[sole.chain] for sole in soles]
    roots = [resolve_bones(owner, chain)[0].name for chain in chains]
    for k, frame in enumerate(frames):
        go_to(scene, frame)
        posed = owner.evaluated_get(context.evaluated_depsgraph_get())
        bones, world = pose_bones(posed), posed.matrix_world
        for sole, chain, root, (places, turns, toes, starts) in zip(soles, chains, roots, rows, strict=True):
            held = read_held(posed, sole.bone, chain.at_head)
            tip = world @ (bones[sole.toes].matrix @ sole.tip)
            places[k], turns[k], starts[k] = held.location, held.rotation, world @ bones[root].head
            toes[k] = rotated(conjugated(held.rotation), v3(tip - Vector(held.location)))
        for number, ground in grounds.items():
            if ground is not None:
                stands[number][k] = _stand(context, ground)
        for name, path in paths.items():
            axes = offset_axes("", posed, name).to_3x3()
            path.others.append(others_of(posed, bones[name]))
            way, _ = path.others[-1].with_own(Vector(bones[name].location), IDENTITY)
            path.axes[k], path.ways[k] = axes, axes @ way
        yield (k + 1) / count
    scale, feet = owner.matrix_world.median_scale, list[Foot]()
    for sole, chain, (places, turns, toes, starts) in zip(soles, chains, rows, strict=True):
        heel, ball = (np.array(scale * one) for one in (sole.heel, sole.ball))
        feet.append(Foot(places, turns, heel, ball, toes, starts, scale * _reach(owner, chain)))
    return feet, paths, stands


def _reach(owner: bpy.types.Object, chain: FabrikChain) -> float:
    """The length of a limb at rest, from its first joint to its effector, in armature space."""
    bones = [bone.bone for bone in resolve_bones(owner, chain)]
    joints = [bone.head_local for bone in bones]
    joints += [] if chain.at_head else [bones[-1].tail_local]
    return float(sum((b - a).length for a, b in pairwise(joints)))


def _sole(owner: bpy.types.Object, chain: FabrikChain) -> Sole:
    """What of the foot at the end of a chain may touch the ground, by its bones at rest."""
    tip = resolve_bones(owner, chain)[-1].bone
    joint, into = tip.head_local if chain.at_head else tip.tail_local, tip.matrix_local.to_3x3().inverted()
    heel, ball, toes, tiptoe = sole_at_rest(owner, tip, joint, control_names(owner))
    ahead = toes.matrix_local.inverted() @ tiptoe
    return Sole(chain.name, tip.name, into @ (heel - joint), into @ (ball - joint), toes.name, ahead)


def _keys_of(
    owner: bpy.types.Object,
    chain: FabrikChain,
    stood: ControlPath,
    ways: Doubles,
    turns: Doubles | None,
    frames: Doubles,
) -> list[Keys]:
    """The keys of a control that moves and turns its effector; none where it rests and has no keys.

    Raises:
        ChainError: The layer of edits at hand does not count in one of the frames.

    Args:
        owner: The armature object.
        chain: The chain.
        stood: How its control stands.
        ways: (F, 3), in the world.
        turns: (F, 4), in the world; None where it is not turned.
        frames: (F,), rising.
    """
    angles = np.zeros(len(frames)) if turns is None else np.abs(turns[:, 1:]).max(axis=1)
    bone = pose_bones(owner)[chain.target_bone]
    paths = {plain_path(bone, "location"), rotation_path(bone)}
    is_keyed = any(curve.data_path in paths and len(curve.keyframe_points) for curve in fcurves_of(owner))
    if not is_keyed and np.abs(ways).max() <= NO_WAY and angles.max() <= NO_WAY:
        return []
    if not all(others.share for others in stood.others):
        text = Text("the layer of edits at hand is off, so that its control moves nothing")
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
    found = [_keys(owner, (plain_path(bone, "location"), PLAIN, [*bone.location]), bone.name, np.array(places), frames)]
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
    return Keys(path, mode, bone, range(values.shape[1]), stood, every, staying(every), times, "LINEAR", span)


def _write(owner: bpy.types.Object, keys: Sequence[Keys]) -> None:
    """Write keys of controls; where that fails all is as it was."""
    ensure_action(owner)
    writer: Any = CurveWriter(owner, can_restore=True)
    try:
        for one in keys:
            writer.write(one)
    except BaseException:
        writer.restore()
        raise
    writer.finish()
    writer.flush()
