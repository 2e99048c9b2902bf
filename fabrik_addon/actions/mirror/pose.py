# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses flipped, or one side given to the other, true for any roll of the bones; goals come along.

A rotation in the rest frame of a bone is a turn in armature space, whose mirror image is one in the rest frame of the
other bone, whatever the roll of both. Where Blender mirrored the bone itself, turns about its X stay and those about Y
and Z change their sign.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import bpy
from mathutils import Matrix, Quaternion, Vector

from ...errors import BoneError, FabrikError
from ...maths import Q4, conjugated, multiplied, q4, turn_angle
from ...recognise.words import side_of
from ...rig.animation.channels import (
    CHANNELS,
    channel_of,
    from_euler,
    read_locks,
    read_rotation,
    read_values,
    to_euler,
    to_rotation,
    to_values,
)
from ...rig.animation.keys import KeyedChannels, insert_posed_keys, keys_by_itself
from ...rig.bones import armature_of, bones_if_any, names_if_any, pose_bones
from ...rig.control_bones import is_control
from ...rig.figure.groups import ChainSet, lacks_goal, sets_of
from ...rig.figure.pose_writer import updated
from ...rig.figure.reader import frame_of
from ...rig.figure.start_pose import start_from_keys
from ...rig.goals import goal_of, goals_of
from ...rig.schema import FabrikChain, girdle_of, rig_of
from ...rig.skeleton import twin_names
from ...rig.targets import resolve_point
from ...rig.walk_goals import is_walked
from ...texts import Text, few, joined
from ..figure_pose import FigurePose
from ..keep_pose import exceeded, hold_by_hand, unposed
from ..moved_goals import ReleasedChain, bring_goals, goal_to_leave, placed, refused
from ..solve import edited_bones

ALIKE = 0.9998  # cosine of the angle up to which axes are mirrored, or a plane square to an axis: about a degree
ROUNDING = 2e-6
APART = 1e-3  # share of a bone's length up to which joints count as mirrored
IN_MIDDLE = 0.02  # share of the armature's width that a bone may be off the plane and count as in the middle


class BonePair(NamedTuple):
    """A bone, and that of the other side; the same one in the middle.

    Attributes:
        bone: The bone.
        other: That of the other side.
        mirror: From points of armature space to their mirror images, (4, 4).
    """

    bone: bpy.types.PoseBone
    other: bpy.types.PoseBone
    mirror: Matrix

    @property
    def turn(self) -> Matrix:
        """From axes of turns in the bone's rest frame to those of their mirror images in the other's.

        Where the frames are mirror images, or turned against those by right angles, no rounding is left in it.
        """
        rest, other = (one.bone.matrix_local.to_3x3().normalized() for one in (self.bone, self.other))
        return _whole(other.transposed() @ self.mirror.to_3x3() @ rest * -1.0)

    @property
    def is_mirrored(self) -> bool:
        """Whether the two lie at rest as mirror images, up to their roll."""
        return _is_image(self.bone.bone, self.other.bone, self.mirror)

    def rotation(self, rotation: Quaternion) -> Quaternion:
        """The mirror image of a rotation, each in the rest frame of its bone."""
        return Quaternion((rotation[0], *self.turn @ Vector(rotation[1:])))

    @property
    def place(self) -> Matrix:
        """From location channels to those of the mirror image, (3, 3)."""
        here, there = (
            one.bone.matrix_local.to_3x3().normalized() if one.bone.use_local_location else Matrix.Identity(3)
            for one in (self.bone, self.other)
        )
        return _whole(there.transposed() @ self.mirror.to_3x3() @ here)

    @property
    def size(self) -> Matrix:
        """From scale channels to those of the mirror image, (3, 3); where the rolls are askew, as near as can be."""
        return Matrix([[value * value for value in row] for row in self.turn])


def _whole(axes: Matrix) -> Matrix:
    """A matrix (3, 3) without the rounding, where its numbers are whole."""
    whole = Matrix([[float(round(value)) for value in row] for row in axes])
    off = max(abs(a - b) for row, exact in zip(axes, whole, strict=True) for a, b in zip(row, exact, strict=True))
    return whole if off < ROUNDING else axes


def sides_of(owner: bpy.types.Object) -> dict[str, BonePair]:
    """By the names of an armature's bones each with that of the other side, and those in the middle with themselves.

    The other side is found by names, and where none of them tells a side by how the bones stand. In the middle begin
    bones without another side, whose names tell none.
    """
    bones, rests = pose_bones(owner), armature_of(owner).bones
    twins = twin_names(owner, [bone.name for bone in bones if is_control(bone)])
    normal, middle = _plane_of(rests, twins)
    mirror = _mirror_at(normal, middle)
    off = {bone.name: abs(bone.head_local.dot(normal) - middle) for bone in rests}
    far = IN_MIDDLE * max(off.values(), default=0.0)
    found = {}
    for bone in bones:
        if bone.name in twins:
            found[bone.name] = BonePair(bone, bones[twins[bone.name]], mirror)
        elif off[bone.name] <= far and not side_of(bone.name):
            found[bone.name] = BonePair(bone, bone, mirror)
    return found


def pair_of(owner: bpy.types.Object, bone: bpy.types.PoseBone) -> BonePair:
    """A bone and that of the other side.

    Raises:
        BoneError: There is none.
    """
    found = sides_of(owner).get(bone.name)
    if found is None or found.other == bone:
        raise BoneError("there is no bone of the other side", rig=owner.name, bone=bone.name)
    return found


Plane = tuple[Vector, float]  # its unit normal, and how far it is from the origin along that


def _plane_of(rests: bpy.types.bpy_prop_collection[bpy.types.Bone], twins: Mapping[str, str]) -> Plane:
    """The plane of an armature's mirror: X = 0, unless more of its pairs of bones mirror each other at another one."""
    pairs = [(rests[name], rests[other]) for name, other in twins.items() if name < other]
    planes = [(Vector((1.0, 0.0, 0.0)), 0.0), *([_between(pairs)] if pairs else [])]
    mirrors = [_mirror_at(*plane) for plane in planes]
    fits = [sum(_is_image(one, other, mirror) for one, other in pairs) for mirror in mirrors]
    return planes[fits.index(max(fits))]


def _between(pairs: Sequence[tuple[bpy.types.Bone, bpy.types.Bone]]) -> Plane:
    """The plane between pairs of bones; square to an axis, and through the origin, where it nearly is."""
    ways = [one.head_local - other.head_local for one, other in pairs]
    widest = max(ways, key=lambda way: way.length)
    normal = sum((way if way.dot(widest) >= 0.0 else -way for way in ways), Vector()).normalized()
    axis = max(range(3), key=lambda i: abs(normal[i]))
    if abs(normal[axis]) > ALIKE:
        normal = Vector([float(i == axis) for i in range(3)])
    middles = sorted((one.head_local + other.head_local).dot(normal) / 2.0 for one, other in pairs)
    middle = middles[len(middles) // 2]
    return normal, middle if abs(middle) > APART * widest.length else 0.0


def _mirror_at(normal: Vector, middle: float) -> Matrix:
    """The mirror at a plane, (4, 4)."""
    axes = Matrix([[float(i == k) - 2.0 * normal[i] * normal[k] for k in range(3)] for i in range(3)])
    return Matrix.Translation(normal * (2.0 * middle)) @ axes.to_4x4()


def _is_image(one: bpy.types.Bone, other: bpy.types.Bone, mirror: Matrix) -> bool:
    """Whether two bones lie at rest as mirror images, up to their roll."""
    ends = ((one.head_local, other.head_local), (one.tail_local, other.tail_local))
    return all((mirror @ a - b).length <= APART * one.length for a, b in ends)


# Which bones are posed, and how: worked out for all of them before any is written.

Channels: TypeAlias = tuple[Q4, Vector, Vector]  # rotation in the rest frame, location, scale
PinRequest: TypeAlias = Mapping[str, Channels]  # of bones by their names
Poles: TypeAlias = Mapping[str, Vector]  # of chains by their names, where they are to stand in the world
Plan: TypeAlias = tuple[
    PinRequest, Poles, list[Text]
]  # how bones and poles are to stand, what there is to say of others
NAMED = 5  # bones that are named; more are counted
ANOTHER = 1e-6  # radians, or a number, by which a channel has to be another


def flipped(context: bpy.types.Context, owner: bpy.types.Object, names: Iterable[str]) -> Plan:
    """Bones with the poses of both sides exchanged; those in the middle with the mirror image of their own.

    The other side of the bones that are named comes with them, and for a goal the limb that it moves.

    Raises:
        FabrikError: A pose can't be read, or none of the bones has another side.
    """
    sides, meant = sides_of(owner), _bones_of(owner, names)
    chosen = {name: sides[name] for name in meant if name in sides}
    chosen |= {pair.other.name: sides[pair.other.name] for pair in chosen.values()}
    alone = [name for name in meant if name not in sides]
    return _planned(context, owner, chosen, alone)


def mirrored(context: bpy.types.Context, owner: bpy.types.Object, names: Iterable[str], active: str) -> Plan:
    """Bones of one side with the mirror image of the pose of the other; bones in the middle stay.

    Args:
        context: Its view layer has the armature.
        owner: The armature object.
        names: Of its bones: those of the side that is taken, where both are among them those on the side of `active`.
        active: Name of the active bone, or "".

    Raises:
        FabrikError: A pose can't be read, or which side is taken is not told, or none of the bones has another side.
    """
    sides, meant = sides_of(owner), _bones_of(owner, names)
    chosen = {name: sides[name] for name in meant if name in sides and sides[name].bone != sides[name].other}
    if any(pair.other.name in chosen for pair in chosen.values()):
        leader = next((name for name in _bones_of(owner, [active]) if name in chosen), "")
        if not leader:
            raise BoneError("both sides are selected: make a bone of the side to take the active one", rig=owner.name)
        way = _off_middle(chosen[leader])
        chosen = {name: pair for name, pair in chosen.items() if _off_middle(pair).dot(way) > 0.0}
    alone = [name for name in meant if name not in sides]
    return _planned(context, owner, chosen, alone)


def _planned(
    context: bpy.types.Context, owner: bpy.types.Object, chosen: Mapping[str, BonePair], alone: Sequence[str]
) -> Plan:
    """How the other bones of pairs are to stand; `alone` are bones without another side."""
    if not chosen:
        raise BoneError("no bone that is meant has another side", rig=owner.name)
    wanted = {pair.other.name: mirror_image(pair) for pair in chosen.values()}
    notes = [Text("without another side: {bones}", bones=few(alone, NAMED))] if alone else []
    return wanted, _images_of_poles(context.evaluated_depsgraph_get(), owner, chosen), notes


def _images_of_poles(
    depsgraph: bpy.types.Depsgraph, owner: bpy.types.Object, chosen: Mapping[str, BonePair]
) -> dict[str, Vector]:
    """Where poles of chains belong that get the pose of another chain: at the mirror image of that one's pole."""
    world, found = owner.evaluated_get(depsgraph).matrix_world, dict[str, Vector]()
    chains = [chain for chain in rig_of(owner).chains if chain.enabled]
    by_bones = {tuple(names_if_any(owner, chain)): chain for chain in chains}
    for bones, chain in by_bones.items():
        twin = by_bones.get(tuple(chosen[name].other.name for name in bones if name in chosen))
        pole = goal_of(chain, "pole")
        if not bones or twin is None or pole is None or len(bones) != len(names_if_any(owner, twin)):
            continue
        with suppress(FabrikError):  # it stands nowhere, which is told when it is solved
            place = world.inverted() @ resolve_point("pole", pole.found, pole.bone, depsgraph)
            found[twin.name] = world @ chosen[bones[0]].mirror @ place
    return found


def _off_middle(pair: BonePair) -> Vector:
    """The way from the middle to a bone."""
    middle = (pair.bone.bone.head_local + pair.bone.bone.tail_local) / 2.0
    return middle - pair.mirror @ middle


def _bones_of(owner: bpy.types.Object, names: Iterable[str]) -> list[str]:
    """The bones that are meant by names: for a goal that can be moved the limb that it moves; goals come along."""
    limbs = {
        goal.bone: _limb_of(owner, chain)
        for chain in rig_of(owner).chains
        if chain.enabled
        for goal in goals_of(chain)
        if goal.found == owner and goal.bone and not goal.stays()
    }
    bones = pose_bones(owner)
    return [*dict.fromkeys(one for name in names if name in bones for one in limbs.get(name, [name]))]


def _limb_of(owner: bpy.types.Object, chain: FabrikChain) -> list[str]:
    """Names of a chain's bones, and of those above that are of the limb as well."""
    names = names_if_any(owner, chain)
    return [*[bone.name for bone in girdle_of(pose_bones(owner)[names[0]])], *names] if names else []


def mirror_image(pair: BonePair) -> Channels:
    """How the other bone of a pair stands as the mirror image of the first one's pose.

    Raises:
        FabrikError: The pose is none.
    """
    bone = pair.bone
    rotation = pair.rotation(Quaternion(read_rotation(bone)))
    return q4(rotation), pair.place @ bone.location, pair.size @ bone.scale


# Poses written, as far as locks allow, and keyed; then the goals come along.


def write_mirrored(context: bpy.types.Context, owner: bpy.types.Object, pairs: Iterable[BonePair]) -> list[Text]:
    """Give the poses of the first bones of pairs to the other ones, keyed where automatic; what there is to say.

    Raises:
        FabrikError: A pose can't be read; nothing was changed.
    """
    wanted = {pair.other.name: mirror_image(pair) for pair in pairs}
    keyed = KeyedChannels(owner, frame_of(context.evaluated_depsgraph_get()))
    moved, notes = _write(owner, wanted)
    return [*notes, *_key(context, owner, (wanted, moved), keyed)[1]]


def pose_as(context: bpy.types.Context, owner: bpy.types.Object, wanted: PinRequest, poles: Poles) -> list[Text]:
    """Pose bones, keyed where that is automatic, and bring goals along; what there is to look out for."""
    with unposed() as before:
        keyed = KeyedChannels(owner, frame_of(before))
        moved, notes = _write(owner, wanted)
        depsgraph = updated(context)
        chains = [chain for chain in rig_of(owner).chains if chain.enabled]
        posed = wanted if keys_by_itself(context) else moved  # what is keyed needs its goals keyed, too
        for chain_set in sets_of(owner, chains):
            notes += _bring_along(context, chain_set, (posed, poles), depsgraph)
        is_keyed, lost = _key(context, owner, (wanted, moved), keyed)
        if is_keyed:
            start_from_keys(owner, [chain for chain in chains if wanted.keys() & names_if_any(owner, chain)])
    return [*notes, *lost]


def _write(owner: bpy.types.Object, wanted: PinRequest) -> tuple[dict[str, list[str]], list[Text]]:
    """Write channels of bones; which of each are others now, "" for its rotation, and what there is to say of locks."""
    bones, moved, locked = pose_bones(owner), dict[str, list[str]](), list[str]()
    for name, (rotation, location, scale) in wanted.items():
        bone = bones[name]
        before = read_rotation(bone)
        values = _unlocked_rotation(bone, rotation)
        turn = to_rotation(bone.rotation_mode, values, name)
        found = [""] if turn_angle(multiplied(conjugated(before), turn)) > ANOTHER else []
        is_held = turn_angle(multiplied(conjugated(rotation), turn)) > ANOTHER
        if found:
            setattr(bone, channel_of(bone.rotation_mode)[0], values)
        is_connected = bone.parent is not None and bone.bone.use_connect
        for channel, value in (("location", location), ("scale", scale)):
            if channel == "location" and is_connected:
                continue
            stands, locks = getattr(bone, channel), getattr(bone, f"lock_{channel}")
            kept = Vector(_kept(value, stands, locks))
            is_held |= (kept - value).length > ANOTHER
            if (kept - stands).length > ANOTHER:
                setattr(bone, channel, kept)
                found.append(channel)
        if found:
            moved[name] = found
        if is_held:
            locked.append(name)
    return moved, [Text("locked channels stay as they are: {bones}", bones=few(locked, NAMED))] if locked else []


def _unlocked_rotation(bone: bpy.types.PoseBone, rotation: Q4) -> list[float]:
    """The rotation channels of a bone for a rotation, where what is locked stays: as Blender reads the locks."""
    mode, stands, locks = bone.rotation_mode, read_values(bone), read_locks(bone)
    values = to_values(mode, rotation, stands)
    if bone.lock_rotations_4d and mode in CHANNELS:
        locks = [bool(bone.lock_rotation_w), *locks]
    elif mode in CHANNELS and any(locks):
        near = to_euler(read_rotation(bone), mode, (0.0, 0.0, 0.0))
        angles = _kept(to_euler(rotation, mode, near), near, locks)
        return to_values(mode, from_euler(angles, mode), stands)
    return _kept(values, stands, locks)


def _kept(values: Iterable[float], stands: Iterable[float], locks: Iterable[bool]) -> list[float]:
    """Values of channels, where what is locked stays."""
    return [old if lock else new for new, old, lock in zip(values, stands, locks, strict=True)]


def _key(
    context: bpy.types.Context,
    owner: bpy.types.Object,
    posed: tuple[PinRequest, Mapping[str, Collection[str]]],
    keyed: KeyedChannels,
) -> tuple[bool, list[Text]]:
    """Key bones that were posed, where that is automatic; whether it was done, and what the next frame takes back.

    `posed` are the bones, and which channels of each were written; `keyed` has the curves before. Of bones whose motion
    controls edit these are keyed.
    """
    (wanted, moved), bones, body = posed, pose_bones(owner), rig_of(owner).body_bone
    own = wanted.keys() - edited_bones(owner)
    plain = [(bones[name], channel) for name in own & moved.keys() for channel in moved[name] if channel]
    if body in own and "location" not in moved.get(body, ()):
        plain.append((bones[body], "location"))  # where the body stands is a part of its pose
    had, is_keyed = insert_posed_keys(context, [bones[name] for name in wanted if name in own], plain, keyed)
    if is_keyed or not had:
        return is_keyed, []
    return False, [Text("'{bone}' is keyed: key the pose, or the next frame change loses it", bone=had[0])]


def _touched(chain_set: ChainSet, moved: Collection[str]) -> list[FabrikChain]:
    """Those of some chains that ask for something and were posed, or carried by a bone that was; walks hold."""
    found = []
    for chain in chain_set.chains:
        bones = bones_if_any(chain_set.owner, chain)
        carrying = {one.name for bone in bones for one in (bone, *bone.parent_recursive)}
        if not (lacks_goal(chain) or is_walked(chain) or carrying.isdisjoint(moved)):
            found.append(chain)
    return found


def _bring_along(
    context: bpy.types.Context,
    chain_set: ChainSet,
    posed: tuple[Collection[str], Poles],
    depsgraph: bpy.types.Depsgraph,
) -> list[Text]:
    """Bring goals of chains to the pose as it stands, and let it be their start; what there is to look out for.

    `posed` are the names of the bones, and where poles are brought before they are turned to the pose.
    """
    (names, poles), owner = posed, chain_set.owner
    touched = _touched(chain_set, names)
    if not touched:
        return []
    notes = list[Text]()
    loosed = [ReleasedChain(chain, goal_to_leave(owner, chain, depsgraph), is_whole=True) for chain in touched]
    with refused(loosed):
        pose = FigurePose.without_goals(chain_set, depsgraph, {})
        for one in loosed:
            pole = goal_of(one.chain, "pole")
            if pole is not None and one.chain.name in poles:
                one.warnings += placed(context, pose, one, pole, poles[one.chain.name])[1]
        bring_goals(context, pose, loosed, {})
        hold_by_hand(pose, [name for name in pose.figure.bones if name in names] if rig_of(owner).auto_capture else [])
        beyond = exceeded(pose)
        notes += [beyond] if beyond is not None else []
    for one in loosed:
        if one.chain.status != "NONE":
            one.chain.status = "NONE"  # what was solved last is not what stands
    return [*notes, *(joined(": ", (one.chain.name, text)) for one in loosed for text in dict.fromkeys(one.warnings))]
