# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of one armature brought to another: both are recognised, and the keys come to the other's own bones."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from math import degrees
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError, InvalidValueError, RigError
from ...maths import IDENTITY, Doubles, conjugates, products, rotated_each, rows_of, v3
from ...motion.body import Body, Motion, turns_of
from ...motion.contacts import FEWEST, NONE, junk_ends, runs
from ...motion.ground import Floor
from ...motion.transfer import TransferOptions, TransferredMotion, transfer, way_of_root
from ...recognise.part import LEG, RecognisedBody
from ...rig.animation.channels import without_delta
from ...rig.animation.compat import fcurves_of
from ...rig.bones import pose_bones
from ...rig.figure.joint_limits import read_limit
from ...rig.goals import is_offset
from ...rig.schema import rig_of
from ...rig.terrain import MADE_OF_FACES, MeshTerrain, read_piece
from ...rig.walk_goals import is_walked
from ...texts import Text, joined, worded
from ..frames import check_time, frames_visited, go_to, go_to_live, rate_of, scene_of
from ..setup.controls import flesh_of
from ..setup.parts import check_mapping, find_parts, parts_to_read, reasons_by_bone
from ..setup.ranges import ROUNDING
from ..walk.setup import Frame
from .bodies import staged
from .clips import BoneClip, Clip, retimed, write_clip
from .edits import span_of_motion
from .marks import check_ground, check_own_keys, of_kinds

DEEPEST = 1e4  # units, how far below a place its ground is looked for
SMALLEST = 1e-12  # scale of a bone that is divided by
MOST_RATE = 1000.0
STILL = 1e-5  # of a leg, and of rotations, by which nothing moves


class StillError(RigError):
    """The armature from which motion is to come does not move."""

    def __init__(self, source: bpy.types.Object) -> None:
        super().__init__(Text("it has no motion that could be brought to another armature"), rig=source.name)


CHANNELS_OF_OBJECT = ("location", "rotation_", "delta_location", "delta_rotation_")
UNUSUAL = 1.3  # times as far as its own legs would go, from which on that is told
LIMBS = ("ARM", "LEG", "WING", "FIN")  # of which the two have to have one in common


class TransferResult(NamedTuple):
    """What came of bringing motion to an armature.

    Attributes:
        bones: How many of its bones are keyed.
        first: First frame.
        last: The last one.
        contacts: How many contacts its feet and hands have.
        moved: The most by which its body gives way for them, in meters.
        notes: What to look out for.
        actions: How many new actions it is in; 0 where the armature's own one got the keys.
    """

    bones: int
    first: int
    last: int
    contacts: int
    moved: float
    notes: list[str]
    actions: int = 0


def source_for(context: bpy.types.Context, owner: bpy.types.Object, name: str | None = None) -> bpy.types.Object | None:
    """The armature object from which motion is brought to another.

    Args:
        context: Tells which others are selected.
        owner: The other one.
        name: Of the object; "" for the only other one that is selected; None to be told None where that is not clear.

    Raises:
        RigError: There is none of that name, or it is not clear.
    """
    if name:
        found = bpy.data.objects.get(name)
        if found is None or found.type != "ARMATURE":
            raise RigError(
                Text("there is no armature object '{name}' from which to take motion", name=name), rig=owner.name
            )
        return found
    others = [found for found in context.selected_objects or () if found.type == "ARMATURE" and found != owner]
    if len(others) == 1:
        return others[0]
    if name is None:
        return None
    raise RigError("select the armature that moves, too, and no third one", rig=owner.name)


def transfer_steps(
    context: bpy.types.Context,
    source: bpy.types.Object,
    owner: bpy.types.Object,
    span: tuple[int, int] | None,
    options: TransferOptions,
) -> Generator[float, None, TransferResult]:
    """Bring motion from one armature to another, in steps; its keys of the bones that are turned are replaced there.

    Takes and yields what `read_steps` does.

    Raises:
        FabrikError: They have no part in common, or it can't be read or keyed; nothing was changed.
    """
    check_own_keys(owner)
    clip, result = yield from read_steps(context, source, owner, span, options)
    return result._replace(notes=[*result.notes, *write_clip(owner, clip, clip.first)])


def read_steps(
    context: bpy.types.Context,
    source: bpy.types.Object,
    owner: bpy.types.Object,
    span: tuple[int, int] | None,
    options: TransferOptions,
) -> Generator[float, None, tuple[Clip, TransferResult]]:
    """Read how one armature moves, as the motion of another one's bones, in steps.

    Args:
        context: Its scene's frame is moved and put back.
        source: The armature object that moves, as Blender evaluates it.
        owner: The other one.
        span: First and last frame; none for all that has keys.
        options: How; the usual ones where none are given.

    Yields:
        How much of it is done, from 0 to 1.

    Raises:
        FabrikError: They have no part in common, or it can't be read.
    """
    scene = scene_of(context)
    check_time(scene)
    _check_options(source, owner, options)
    for rig, mapping in ((source, options.mapping), (owner, options.own)):
        if mapping is not None:
            check_mapping(rig, mapping)
    found, own = options.mapping or parts_to_read(source), options.own or find_parts(owner)
    _check(source, owner, found, own)
    frames = _frames_to_read(source, scene, span)
    with frames_visited(scene):
        go_to(scene, frames[0])
        (stage, given), (home, body) = staged(context, source, found), staged(context, owner, own)
        motion, carried = yield from _sampled(context, source, (stage, given), (owner, own.body), frames)
        above: Sequence[Matrix] = carried
        go_to(scene, frames[0])
        floor = _floor(context, owner, home, options.ground) if options.ground else None
        stood = owner.matrix_basis.copy()
    notes = list[str]()
    before, after = junk_ends(motion.turns)
    if before or after:
        cut = [*frames[:before], *frames[len(frames) - after :]]
        notes.append(
            Text("left out, since its pose is none of the motion: frame {frames}", frames=", ".join(map(str, cut)))
        )
        real = slice(before, len(frames) - after)
        frames, above = frames[real], above[real]
        motion = Motion(motion.turns[real], motion.heads[real])
    rate = rate_of(scene)
    done = transfer(given, motion, body, rate, options, floor)
    roots = list[BoneClip]()
    if options.root == "OBJECT":
        root, moved = _root_object(owner, home, body, done.motion, rate, stood)
        roots, done = [root], done._replace(motion=moved)
    elif options.root == "ROOT":
        root, above = _root_bone(owner, home, body, done.motion, rate)
        roots = [root]
    clip = _clip(owner, (home, body), done, above, frames[0])
    clip, bent = _within_limits(owner, clip) if options.keep_limits else (clip, [])
    clip = replace(clip, bones=(*roots, *clip.bones))
    if options.rate:
        clip = retimed(clip, options.rate / rate, clip.first)
    contacts = sum(len(runs(kinds != NONE)) for kinds in done.contacts.values())
    notes += [*bent, *_unsure(source, found), *_unsure(owner, own)]
    if options.root != "OBJECT" and any(one.data_path.startswith(CHANNELS_OF_OBJECT) for one in fcurves_of(owner)):
        notes.append(Text("keys of its object move it, too: what it goes by these is added"))
    notes += _notes(owner, own, done)
    return clip, TransferResult(len(done.sources), clip.first, clip.last, contacts, done.moved, notes)


def _frames_to_read(source: bpy.types.Object, scene: bpy.types.Scene, span: tuple[int, int] | None) -> range:
    """The frames of a range, else those of an armature's motion; refused where they are too few to tell anything."""
    first, last = span or span_of_motion(source, scene)
    if span is None and first == last:
        raise StillError(source)
    if last - first + 1 < FEWEST:
        raise InvalidValueError(Text("too few frames to tell how it moves: {count}", count=last - first + 1))
    return range(first, last + 1)


def _check_options(source: bpy.types.Object, owner: bpy.types.Object, options: TransferOptions) -> None:
    """Refuse what can't be brought, whatever the bodies are."""
    if options.rate and not 1.0 <= options.rate <= MOST_RATE:
        raise InvalidValueError(Text("a rate is 1 to {most:g} frames a second", most=MOST_RATE))
    if source == owner:
        raise RigError("it is the armature from which the motion comes: choose another one", rig=owner.name)
    data = source.animation_data
    if data is None or not (data.action or len(data.nla_tracks) or len(data.drivers)):
        raise StillError(source)


def _check(
    source: bpy.types.Object, owner: bpy.types.Object, found: RecognisedBody[str], own: RecognisedBody[str]
) -> None:
    """Refuse armatures that have nothing in common."""
    for rig, parts in ((source, found), (owner, own)):
        if not parts.body:
            reason = Text("no body bone was found on which all limbs hang")
            raise RigError(joined(": ", (reason, *map(worded, parts.notes[-1:]))), rig=rig.name)
    if found.plan != own.plan:
        text = Text("'{source}' is another kind of body", source=source.name)
        raise RigError(text, rig=owner.name)
    legs = [sum(part.kind == LEG for part in parts.parts) for parts in (found, own)]
    if legs[0] != legs[1]:
        text = Text("'{source}' has {count} legs, and it has {own}", source=source.name, count=legs[0], own=legs[1])
        raise RigError(text, rig=owner.name)
    if not {part.name for part in found.parts if part.kind in LIMBS} & {part.name for part in own.parts}:
        raise RigError(Text("'{source}' has no limb that it has, too", source=source.name), rig=owner.name)


def _sampled(
    context: bpy.types.Context,
    source: bpy.types.Object,
    staged: tuple[Frame, Body],
    other: tuple[bpy.types.Object, str],
    frames: Sequence[int],
) -> Generator[float, None, tuple[Motion, list[Matrix]]]:
    """How an armature moves, and by frames the pose in armature space of the bone above the hips of the other one.

    Refused where a place or rotation is no number, and where nothing moves.
    """
    scene, (stage, body), (owner, hips) = scene_of(context), staged, other
    every = {name: i for i, name in enumerate(pose_bones(source).keys())}
    own, read = [every[name] for name in body.names], np.empty(16 * len(every), dtype=np.float32)
    poses: Doubles = np.empty((len(frames), len(own), 4, 4))
    moved: Doubles = np.empty((len(frames), 1, 4, 4))
    stood, above = Matrix(), list[Matrix]()
    for k, frame in enumerate(frames):
        go_to_live(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        posed, root = source.evaluated_get(depsgraph), pose_bones(owner.evaluated_get(depsgraph))[hips].parent
        if not k:
            stood = posed.matrix_world.inverted_safe()
        moved[k] = stood @ posed.matrix_world
        pose_bones(posed).foreach_get("matrix", read)
        poses[k] = read.reshape(-1, 4, 4)[own].transpose(0, 2, 1)  # Blender keeps their columns
        above.append(root.matrix.copy() if root is not None else Matrix())
        yield (k + 1) / len(frames)
    poses = moved @ poses
    heads, axes = poses[..., :3, 3], poses[..., :3, :3]
    turns = turns_of(axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), SMALLEST))
    for i, k in np.argwhere(~np.isfinite(np.concatenate((turns, heads), axis=2)).all(axis=2).T)[:1].tolist():
        raise BoneError(
            Text("its pose at frame {frame} is no number", frame=frames[k]), rig=source.name, bone=body.names[i]
        )
    motion, leg = Motion(stage.turns(turns), stage.places(heads)), body.size_of_legs()[0]
    if all(np.abs(every - every[0]).max() <= STILL for every in (motion.turns, motion.heads / leg)):
        raise StillError(source)
    return motion, above


def _floor(context: bpy.types.Context, owner: bpy.types.Object, stage: Frame, name: str) -> Floor:
    """How high an object is under places on the stage of an armature, as both stand now.

    Refused where there is none of that name, it has no faces, or goes along with the armature.
    """
    ground = bpy.data.objects.get(name)
    if ground is None:
        raise RigError(Text("there is no object '{name}'", name=name), rig=owner.name)
    check_ground(owner, ground)
    depsgraph = context.evaluated_depsgraph_get()
    piece = read_piece(ground, depsgraph, moves=False) if ground.type in MADE_OF_FACES else None
    if piece is None:
        raise RigError(Text("'{ground}' has no faces on which it could walk", ground=ground.name), rig=owner.name)
    terrain, to = MeshTerrain([piece], []), stage.matrix() @ owner.evaluated_get(depsgraph).matrix_world.inverted()
    back = to.inverted()
    down = v3((back.to_3x3() @ Vector((0.0, 0.0, -1.0))).normalized())
    flesh = [stage.places(places) for places in flesh_of(context, owner).values() if len(places)]
    thick = -float(np.concatenate(flesh)[:, 2].min()) if flesh else 0.0  # of the skin below the bones of soles

    def met(place: Doubles) -> tuple[float, Doubles] | None:
        hit = terrain.ray(v3(back @ Vector(place.tolist())), down, DEEPEST, 0.0)
        if hit is None:
            return None
        return thick + float((to @ Vector(hit.place)).z), np.array(v3((to.to_3x3() @ Vector(hit.normal)).normalized()))

    return met


def _ways(stage: Frame, places: Doubles, turns: Doubles) -> list[Matrix]:
    """Where what stands still on a stage is brought, in armature space, by places (F, 3) and rotations (F, 4) there."""
    to, rows = stage.matrix(), zip(places.tolist(), turns.tolist(), strict=True)
    return [to.inverted() @ Matrix.LocRotScale(Vector(place), Quaternion(turn), None) @ to for place, turn in rows]


def _root_bone(
    owner: bpy.types.Object, stage: Frame, body: Body, motion: Motion, rate: float
) -> tuple[BoneClip, Sequence[Matrix]]:
    """The bone above all going along with a motion, and where it brings that above the hips.

    Refused where the body hangs on no bone, or something else poses it.
    """
    hips = pose_bones(owner)[body.names[body.hips]].bone
    if hips.parent is None:
        text = Text("'{bone}' hangs on no bone that could be the root: choose the object", bone=hips.name)
        raise RigError(text, rig=owner.name)
    root, reasons = hips.parent_recursive[-1], reasons_by_bone(owner)
    if root.name in reasons:
        raise BoneError(reasons[root.name], rig=owner.name, bone=root.name)
    ways, rest = _ways(stage, *way_of_root(body, motion, rate)), root.matrix_local
    own = [rest.inverted() @ way @ rest for way in ways]
    places = {"location": np.array([v3(one.translation) for one in own])}
    if any(size != 1.0 for size in pose_bones(owner)[root.name].scale):
        places["scale"] = np.ones((len(own), 3))
    clip = BoneClip(root.name, np.array([[*one.to_quaternion()] for one in own]), places, None, "LINEAR")
    return clip, [way @ hips.parent.matrix_local for way in ways]


def _root_object(
    owner: bpy.types.Object, stage: Frame, body: Body, motion: Motion, rate: float, stood: Matrix
) -> tuple[BoneClip, Motion]:
    """The armature object, if nothing else moves it, going along with a motion; and the motion as seen from there."""
    data = owner.animation_data
    drivers = data.drivers if data is not None else ()
    held = [one.data_path for one in drivers] + [one.data_path for one in fcurves_of(owner) if one.mute or one.lock]
    if any(not one.mute for one in owner.constraints) or any(path.startswith(CHANNELS_OF_OBJECT) for path in held):
        text = Text("a constraint, a driver or a muted or locked curve moves its object, which can't be the root")
        raise RigError(text, rig=owner.name)
    places, turns = way_of_root(body, motion, rate)
    turns = products(turns, np.broadcast_to(conjugates(turns[:1]), turns.shape))
    places = places - rotated_each(turns, np.broadcast_to(places[0], places.shape))
    rows = [without_delta(owner, stood @ way) for way in _ways(stage, places, turns)]
    ways, rotations = (np.array(values) for values in zip(*rows, strict=True))
    return BoneClip("", rotations, {"location": ways}, None, "LINEAR"), motion.seen_from(places, turns)


def _clip(
    owner: bpy.types.Object, at_rest: tuple[Frame, Body], done: TransferredMotion, above: Sequence[Matrix], first: int
) -> Clip:
    """A motion as that of the armature's own bones, from a frame on."""
    (stage, body), turns = at_rest, done.motion.turns
    tracks = {body.limbs[name].bones[-1]: of_kinds(kinds.tolist()) for name, kinds in done.contacts.items()}
    found = list[BoneClip]()
    for number in sorted(done.sources):
        name, parent, places = body.names[number], body.parents[number], dict[str, Doubles]()
        bone = pose_bones(owner)[name].bone
        if number == body.hips:
            local, places["location"] = _of_hips(bone, stage, body, done.motion, above)
        elif parent >= 0 and bone.use_inherit_rotation:
            stands = products(turns[:, parent], products(conjugates(body.turns[parent]), body.turns[number]))
            local = products(conjugates(stands), turns[:, number])
        else:
            local = products(conjugates(body.turns[number]), turns[:, number])
        found.append(BoneClip(name, local, places, tracks.get(number), "LINEAR"))
    frames: Doubles = np.arange(first, first + len(turns), dtype=np.float64)
    return Clip(owner.name, first, first + len(turns) - 1, frames, tuple(found))


def _within_limits(owner: bpy.types.Object, clip: Clip) -> tuple[Clip, list[Text]]:
    """A clip in which bones stay within the limits of their joints, and by how much these bend it."""
    found, bent = list[BoneClip](), list[Text]()
    for one in clip.bones:
        assert one.turns is not None, "all are turned"
        limit, turns = read_limit(pose_bones(owner)[one.bone], IDENTITY), rows_of(one.turns)
        beyond = max(map(limit.violation, turns))
        if beyond > ROUNDING:
            bent.append(Text("'{bone}' by {angle:.1f}°", bone=one.bone, angle=degrees(beyond)))
            turns = list(map(limit.clamped, turns))
        found.append(replace(one, turns=np.array(turns)))
    told = [Text("limits of joints bend the motion: {names}", names=joined(", ", bent))] if bent else []
    return replace(clip, bones=tuple(found)), told


def _of_hips(
    bone: bpy.types.Bone, stage: Frame, body: Body, motion: Motion, above: Sequence[Matrix]
) -> tuple[Doubles, Doubles]:
    """Rotations (F, 4) and places (F, 3) of the channels of the body bone, whatever it hangs on."""
    rotations, points = stage.rotations(motion.turns[:, body.hips]), stage.points(motion.heads[:, body.hips])
    rows = list[tuple[Quaternion, Vector]]()
    rest = bone.parent.matrix_local if bone.parent is not None else Matrix()
    for rotation, point, parent in zip(rotations.tolist(), points.tolist(), above, strict=True):
        pose = Matrix.LocRotScale(Vector(point), Quaternion(rotation), None)
        options: Any = {"parent_matrix": parent, "parent_matrix_local": rest} if bone.parent is not None else {}
        local = bone.convert_local_to_pose(pose, bone.matrix_local, invert=True, **options)
        rows.append((local.to_quaternion(), local.translation))
    return np.array([[*turn] for turn, _ in rows]), np.array([v3(place) for _, place in rows])


def _unsure(rig: bpy.types.Object, parts: RecognisedBody[str]) -> list[Text]:
    names = ", ".join(part.name for part in parts.parts if not part.is_applied)
    told = Text("these parts of '{rig}' are not sure, a mapping tells them: {names}", names=names, rig=rig.name)
    return [told] if names else []


def _notes(owner: bpy.types.Object, own: RecognisedBody[str], done: TransferredMotion) -> list[str]:
    """What to look out for."""
    notes = list[str]()
    if done.missed:
        notes.append(
            Text("no ground was found below {count} contacts, which are as high as at rest", count=done.missed)
        )
    if done.missing:
        reasons = dict(own.missing) | dict(own.held)
        names = [joined(": ", (name, worded(reasons[name]))) if name in reasons else name for name in done.missing]
        notes.append(Text("it has no such part: {names}", names=joined(", ", names)))
    if own.held:
        notes += [joined(": ", (Text("something else poses {name}", name=name), worded(why))) for name, why in own.held]
    if done.slope:
        notes.append(Text("the ground of the motion slopes by {degrees}°", degrees=round(degrees(done.slope))))
    if max(done.stride, 1.0 / done.stride) > UNUSUAL:
        notes.append(Text("it goes {share:.0%} as far as its legs would", share=done.stride))
    if done.belt:
        notes.append(Text("it walks in place, at {speed:.2g} m/s: its contacts are not marked", speed=done.belt))
    chains = [chain for chain in rig_of(owner).chains if chain.enabled and not is_walked(chain)]
    holds = [chain.name for chain in chains if not is_offset(chain)]
    if holds:
        notes.append(Text("these chains hold their targets, whatever the motion: {names}", names=", ".join(holds)))
    return notes
