# SPDX-License-Identifier: GPL-3.0-or-later
"""The target and the pole of a chain, pins, where these stand and how they are put there, and how a tip is turned.

Where they stand is read from sources, in one way by button, live posing, bake and panel: these are found once, and tell
in every frame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain as chained
from typing import Any, NamedTuple, TypeAlias

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..errors import FabrikError, InvalidValueError, TargetError, are_finite
from ..maths import IDENTITY, ORIGIN, Q4, V3, Doubles, axes_of, conjugated, multiplied, normalized, plus, v3
from ..messages import ROLES, Message
from .animation.channels import channel_of, read_locks, read_rotation, read_values, stored, to_values
from .animation.compat import drivers_of, fcurves_of
from .bones import pose_bones, swings
from .dependencies import carriers_of
from .figure.kinematics import world_turn
from .layers import moved_by, others_of
from .schema.chain import OFFSET, FabrikChain, owner_of
from .schema.rig import rig_of
from .spaces import bone_below, carrier_of, carriers_above, is_tied, reader_within
from .targets import check_present, kind_of, resolve_turn
from .walk_goals import is_walked, rest_turn, walk_goal, walk_pose, walked_part


class GoalRef(NamedTuple):
    """The "target" that a chain is to reach, or the "pole" to which it bends: an object, or a bone of it by name."""

    role: str
    found: bpy.types.Object
    bone: str

    @property
    def key(self) -> tuple[str, str]:
        """The object by its full name, and the bone: what tells it from another, as `dependencies.carriers_of` does."""
        return self.found.name_full, self.bone if self.found.type == "ARMATURE" else ""

    @property
    def name(self) -> str | Message:
        """How a message calls it, quoted."""
        return kind_of(self.found, self.bone).name_of(self.found, self.bone)

    def held_by(self) -> Message | None:
        """Why it can't be put somewhere, to follow its name; None where it can."""
        reason = kind_of(self.found, self.bone).refusal(self.found, self.bone)
        if reason:
            return reason
        if not self.found.is_editable:
            return Message("IS_LINKED")
        holder = self.holder
        if is_tied(holder):
            return Message("HAS_CONSTRAINTS")
        path = self.channel_path()
        if any(driver.data_path == path for driver in drivers_of(self.found)):
            return Message("IS_DRIVEN")
        locks: Any = holder.lock_location
        return Message("HAS_LOCKED_LOCATION") if any(locks) else None

    def stays(self) -> Message | None:
        """Why it is not to be moved by a button whose purpose is another, to follow its name; or None."""
        return self.held_by() or kind_of(self.found, self.bone).body_refusal(self.found, self.bone)

    @property
    def holder(self) -> bpy.types.Object | bpy.types.PoseBone:
        """What has its location channels.

        Raises:
            TargetError: It has no such bone.
        """
        return kind_of(self.found, self.bone).holder(self.found, self.bone)

    @property
    def channel_names(self) -> tuple[str, str]:
        """The properties that have its location channels, and its rotation channels as its mode has them."""
        return "location", channel_of(self.holder.rotation_mode)[0]

    def channel_path(self, *, turns: bool = False) -> str:
        """The path from its object of its location channels, or where that is asked for, of its rotation channels."""
        return self.holder.path_from_id(self.channel_names[turns])

    def channel_curves(self, *, turns: bool = False) -> list[bpy.types.FCurve]:
        """The curves of those channels in the action of its object."""
        path = self.channel_path(turns=turns)
        return [curve for curve in fcurves_of(self.found) if curve.data_path == path]

    @property
    def key_group(self) -> str:
        """The group in which Blender itself puts the curves of its location."""
        return kind_of(self.found, self.bone).key_group(self.found, self.bone)

    def carries(self, owner: bpy.types.Object, root: str) -> bool:
        """Whether it moves a bone of an armature, so that a chain from there would run away from it."""
        return self.key in carriers_of(owner, root)

    def location_at(self, point: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
        """The location channels that put it to a point of the world, where it can be put somewhere (`held_by`).

        Raises:
            TargetError: What it hangs on has no scale.
        """
        return kind_of(self.found, self.bone).location_at(self.found.evaluated_get(depsgraph), self.bone, point)

    def put(self, location: Vector) -> None:
        """Write its location channels, where they differ."""
        holder: Any = self.holder
        if holder.location != location:
            holder.location = location

    def turn_held_by(self) -> Message | None:
        """Why a target that can be put somewhere can't be turned, to follow its name; None where it can."""
        holder, path = self.holder, self.channel_path(turns=True)
        if any(driver.data_path == path for driver in drivers_of(self.found)):
            return Message("HAS_DRIVEN_ROTATION")
        return Message("HAS_LOCKED_ROTATION") if any(read_locks(holder)) else None

    def turn_at(self, turn: Q4, depsgraph: bpy.types.Depsgraph) -> list[float]:
        """The rotation channels by which it is turned in the world as wanted, where it can be turned (`turn_held_by`).

        Raises:
            FabrikError: It has no rotation.
        """
        holder, evaluated = self.holder, self.found.evaluated_get(depsgraph)
        own = read_rotation(kind_of(self.found, self.bone).holder(evaluated, self.bone))
        rest = multiplied(own, conjugated(resolve_turn(self.found, self.bone, depsgraph)))
        return to_values(holder.rotation_mode, normalized(multiplied(rest, turn)), read_values(holder))

    def put_turn(self, values: Sequence[float]) -> None:
        """Write its rotation channels, where they differ."""
        holder = self.holder
        if read_values(holder) != stored(values):
            setattr(holder, self.channel_names[True], values)

    def restorer(self) -> Callable[[], None]:
        """What puts it back to where it stands, if it is still there; by its names, since undo makes all anew."""
        stood = Vector(self.holder.location)
        role, name, bone = self.role, self.found.name, self.bone

        def restore() -> None:
            found = bpy.data.objects.get(name)
            if found is not None:
                with suppress(TargetError):  # the bone is gone
                    GoalRef(role, found, bone).put(stood)

        return restore


class GoalPoints(NamedTuple):
    """Where the goals of a chain stand: in world space, or in the frame of the bone of the figure on which they hang.

    That is the bone's evaluated frame, its head the origin, lengths as in armature space (`Frames`).

    Attributes:
        target: Where the tip is to go; of an offset (`is_offset`) the vector by which it is to be moved.
        pole: Towards which the chain bends, or None.
        turn: The rotation that the last bone is to have, or None; of an offset that by which it is to be turned.
    """

    target: Sequence[float]
    pole: Sequence[float] | None = None
    turn: Q4 | None = None


class GoalArrays(NamedTuple):
    """`GoalPoints` of a chain in F frames: target (F, 3), pole (F, 3) or None, turn (F, 4) or None."""

    target: Doubles
    pole: Doubles | None = None
    turn: Doubles | None = None


def goals_of(chain: FabrikChain) -> list[GoalRef]:
    """The target, then the pole, as far as they are set; a chain that walks goes to its footholds instead."""
    found = list[GoalRef]()
    if chain.target is not None and not is_walked(chain):
        found.append(GoalRef("target", chain.target, chain.target_bone))
    if chain.pole is not None:
        found.append(GoalRef("pole", chain.pole, chain.pole_bone))
    return found


def goal_of(chain: FabrikChain, role: str) -> GoalRef | None:
    """The target or the pole of a chain; None where it has none."""
    return next((goal for goal in goals_of(chain) if goal.role == role), None)


def is_offset(chain: FabrikChain) -> bool:
    """Whether the target of a chain tells how far from the start pose its tip is to be, and not where."""
    return chain.goal == OFFSET and chain.target is not None and not chain.aims and not is_walked(chain)


def control_of(chain: FabrikChain) -> GoalRef | None:
    """The target of a chain; of one that walks that which edits its walk; None where it has none."""
    if chain.target is not None and edits_walk(chain):
        return GoalRef("target", chain.target, chain.target_bone)
    return goal_of(chain, "target")


def edits_walk(chain: FabrikChain) -> bool:
    """Whether the target of a chain that walks tells how far from its walk its tip is to be: a bone of its armature."""
    return chain.goal == OFFSET and chain.target == chain.id_data and chain.target_bone != "" and is_walked(chain)


def edits_motion(chain: FabrikChain) -> bool:
    """Whether the target of a chain tells how far its tip is to be from its motion, of whatever that is made."""
    return is_offset(chain) or edits_walk(chain)


def turns_tip(chain: FabrikChain) -> bool:
    """Whether the last bone of a chain is to have a rotation."""
    return chain.orientation != "FREE" and chain.orientation_weight > 0.0 and not chain.aims


def turns_with_target(chain: FabrikChain) -> bool:
    """Whether the last bone of a chain is to have the rotation of its target."""
    return turns_tip(chain) and chain.orientation == "TARGET"


Frames = Mapping[str, str]  # by "target" and "pole" the bone in whose frame that stands, of the figure, or a swing bone
IN_THE_WORLD: Frames = {}


def frames_of(owner: bpy.types.Object, chain: FabrikChain, bones: Collection[str]) -> Frames:
    """In whose frames the goals of a chain stand."""
    frames = {**swing_frame_of(owner, chain)}
    for role, found, name in goals_of(chain):
        below = "" if role in frames else bone_below(owner, found, name, bones)
        if below:
            frames[role] = below
    return frames


def swing_frame_of(owner: bpy.types.Object, chain: FabrikChain) -> Frames:
    """That the pole of a chain stands in the frame of the bone that swings with its limb; nothing where it does not."""
    pole, bones = chain.pole, pose_bones(owner)
    for found, name in carriers_above(pole, chain.pole_bone) if pole is not None else ():
        if found == owner and name and swings(bones[name]):
            return {"pole": name}
    return IN_THE_WORLD


def into_frame(owner: bpy.types.Object, bone: str, point: Sequence[float]) -> V3:
    """A point of the world in the frame of an evaluated armature's bone (`GoalPoints`); for "" the world's own."""
    if not bone:
        return v3(point)
    found = pose_bones(owner)[bone]
    axes = Quaternion(axes_of(found.matrix)).to_matrix()
    return v3(axes.transposed() @ (owner.matrix_world.inverted() @ Vector(point) - found.head))


def out_of_frame(owner: bpy.types.Object, bone: str, point: Sequence[float]) -> V3:
    """A point of the frame of a bone, as that stands, in the world; see `into_frame`."""
    if not bone:
        return v3(point)
    found = pose_bones(owner)[bone]
    return v3(owner.matrix_world @ (found.head + Quaternion(axes_of(found.matrix)) @ Vector(point)))


Reader: TypeAlias = Callable[[str, bpy.types.Object, str], Sequence[float]]  # from role, evaluated object and bone
Values = tuple[tuple[float, ...], ...]  # of each source the place, or the rotation, that it tells


class Source(NamedTuple):
    """Where a part of what a chain asks for is read.

    Attributes:
        role: That part, of `GoalPoints`: "target", "pole", or "turn", the rotation of the target.
        found: The object; for a walk the armature object itself.
        bone: Name of a bone of it, or ""; for a walk the part that walks (`walk_goals.walked_part`).
        read: From a role, the evaluated object and the bone's name to a place, or to a rotation; None for a walk.
        chain: Name of the chain.
        frame: The bone in whose frame it is told, "" for the world; None where other channels than its own, and those
            of what carries it, have a say: for a walk, and an offset.
        offset: Of the chain's last bone in the axes of the target, where it is to turn with that.
        edits: Whether a control edits the walk.
        may_hide: Whether it may be disabled, so that this has to be looked at.
        k: Which of the chains that are read together asks for it.
    """

    role: str
    found: bpy.types.Object
    bone: str
    read: Reader | None
    chain: str
    frame: str | None = None
    offset: Q4 | None = None
    edits: bool = False
    may_hide: bool = True
    k: int = 0


def sources_of(
    chain: FabrikChain, frames: Frames = IN_THE_WORLD, k: int = 0, given: Sequence[float] | None = None
) -> tuple[GoalPoints, list[Source]]:
    """What is read of a chain's goals: of its target, of that one's rotation where it counts, and of its pole.

    Args:
        chain: A chain.
        frames: In which its goals are told.
        k: Its number among those that are read together.
        given: Where the effector is to go, in place of its target.

    Returns:
        What is held, and no source tells: by a pin, or as the rotation that is kept. And the sources.

    Raises:
        FabrikError: What is stored makes no sense, or there is no target whose rotation the last bone is to have.
    """
    turns, moves = turns_tip(chain), given is None and is_offset(chain)
    turn, sources = None, list[Source]()
    if is_walked(chain):
        sources += _of_walk(chain, k, turns=turns)
    elif turns and (moves or chain.orientation == "KEEP"):
        turn = IDENTITY if moves else checked_turn(chain, chain.held_rotation)
    elif turns and chain.target is None:
        raise TargetError(Message("ROTATION_WITHOUT_TARGET"), chain=chain.name)
    for role, found, bone in goals_of(chain):
        frame, turned = frames.get(role, ""), turns and role == "target" and chain.orientation == "TARGET"
        if moves and role == "target":
            source = Source(role, found, bone, _offset_reader(frame, turns=False), chain.name, k=k)
        elif moves and not rig_of(owner_of(chain)).edits:
            continue
        elif moves and frame and len(rig_of(owner_of(chain)).layers):
            source = Source(role, found, bone, partial(pole_within, frame), chain.name, k=k)
        else:
            read = reader_within(frame, turns=False) if frame else kind_of(found, bone).read
            source = Source(role, found, bone, read, chain.name, frame, k=k)
        sources += [source, _turn_of(source, chain, frame, moves=moves)] if turned else [source]
    if given is not None:
        return GoalPoints(given, None, turn), [one for one in sources if one.role != "target"]
    is_told = bool(sources) and sources[0].role == "target"
    return GoalPoints(ORIGIN if is_told else held_point(chain), None, turn), sources


def _of_walk(chain: FabrikChain, k: int, *, turns: bool) -> list[Source]:
    """The sources of a chain that walks."""
    owner, edits = owner_of(chain), edits_walk(chain)
    foot = Source("target", owner, walked_part(owner, chain), None, chain.name, edits=edits, may_hide=False, k=k)
    if not turns:
        return [foot]
    return [foot, foot._replace(role="turn", offset=IDENTITY if edits else rest_turn(owner, chain.tip_bone))]


def _turn_of(target: Source, chain: FabrikChain, frame: str, *, moves: bool) -> Source:
    """The source of the rotation of a target that is told in a frame, or of that by which it is moved."""
    if moves:
        return target._replace(role="turn", read=_offset_reader(frame, turns=True), offset=IDENTITY)
    read = reader_within(frame, turns=True) if frame else kind_of(target.found, target.bone).turn
    return target._replace(role="turn", read=read, offset=checked_turn(chain, chain.rotation_offset))


def _offset_reader(frame: str, *, turns: bool) -> Reader:
    """What reads by how much a control is moved, or turned, from its rest (`goals.offset_in`)."""
    return lambda role, found, name: offset_in(frame, found, name)[turns]


def read_sources(sources: Iterable[Source], depsgraph: bpy.types.Depsgraph | None) -> Values:
    """What sources tell, as evaluated; without a depsgraph of the originals, which were drawn last, but of no walk.

    Raises:
        AbsentTargetError: One is not there, in this frame.
        FabrikError: One can't be read.
    """
    found: list[tuple[float, ...]] = []
    try:
        for role, goal, bone, reader, chain, _frame, offset, edits, may_hide, _k in sources:
            if may_hide and depsgraph is not None:
                check_present("target" if role == "turn" else role, goal, depsgraph)
            value: Sequence[float]
            if reader is not None:
                value = reader(role, goal.evaluated_get(depsgraph) if depsgraph is not None else goal, bone)
            else:
                assert depsgraph is not None, "a walk is told of a frame"
                edited = walked_to(rig_of(goal).chains[chain], depsgraph) if edits else None
                value = (edited or walk_pose(goal, bone, depsgraph))[role == "turn"]
            if offset is None:
                x, y, z = value
                found.append((x, y, z))
            else:
                w, x, y, z = value
                found.append(multiplied((w, x, y, z), offset))
    except FabrikError as error:
        error.chain = error.chain or chain
        raise
    return tuple(found)


def read_points(
    chain: FabrikChain,
    depsgraph: bpy.types.Depsgraph | None,
    target: Sequence[float] | None = None,
    frames: Frames = IN_THE_WORLD,
) -> GoalPoints:
    """Where the goals of a chain stand; that it has a target or a pin is checked before (`checks`).

    Args:
        chain: A chain.
        depsgraph: Evaluated for the frame in question; None for what was drawn last, of a chain that does not walk.
        target: Where the effector is to go, in the space of the chain's target, and in place of that.
        frames: In which the goals are read.

    Raises:
        FabrikError: Target or pole can't be read, or a number that is held makes no sense.
    """
    held, sources = sources_of(chain, frames, given=target)
    values = read_sources(sources, depsgraph)
    if not are_finite(chained.from_iterable(values)):
        lost = next(one for one, value in zip(sources, values, strict=True) if not are_finite(value))
        reason = Message("GOAL_PLACE_NOT_FINITE", role=ROLES.get(lost.role, ""), name=lost.found.name)
        if lost.role == "turn":
            reason = Message("TARGET_ROTATION_NOT_FINITE", target=lost.found.name)
        raise InvalidValueError(reason, chain=chain.name)
    return with_values([held], sources, values)[0]


def with_values(
    held: Sequence[GoalPoints], sources: Sequence[Source], values: Sequence[Sequence[float]]
) -> list[GoalPoints]:
    """The goals of chains: what is held, and what their sources tell in place of that."""
    found = [*held]
    for source, value in zip(sources, values, strict=True):
        told: Any = {source.role: value}
        found[source.k] = found[source.k]._replace(**told)
    return found


Offset = tuple[V3, Q4]  # the vector by which a control is moved from its rest, and the rotation by which it is turned
UNMOVED: Offset = (ORIGIN, IDENTITY)


def offset_in(frame: str, posed: bpy.types.Object, name: str) -> Offset:
    """By how much the target of a chain that asks for an offset is away from its rest, by its own channels.

    It is told in the axes of a bone of the figure, or with "" of the world, and exactly `UNMOVED` while it rests, or
    edits are off. The target is a bone of the evaluated armature object (`checks.check_goal`).

    Raises:
        FabrikError: There is no such bone, or its channels make no sense.
    """
    holder = kind_of(posed, name).holder(posed, name)
    way, turn = moved_by(posed, holder)
    if not (any(way) or any(turn[1:])) or not rig_of(posed).edits:
        return UNMOVED
    axes = offset_axes(frame, posed, name)
    around = axes_of(axes)
    return v3(axes.to_3x3() @ way), multiplied(multiplied(around, turn), conjugated(around))


def pole_within(frame: str, role: str, posed: bpy.types.Object, name: str) -> V3:
    """Where the pole of an offset is in the frame of the bone that swings with the limb, by all layers of edits.

    Raises:
        FabrikError: It can't be read.
    """
    return v3(carrier_of(frame, role, posed, name) @ moved_by(posed, kind_of(posed, name).holder(posed, name))[0])


def offset_axes(frame: str, posed: bpy.types.Object, name: str) -> Matrix:
    """From the channels of a control to the axes in which its offset is told; see `offset_in`."""
    if frame:
        return carrier_of(frame, "target", posed, name)
    bone = pose_bones(posed)[name]
    return posed.matrix_world @ bone.matrix @ bone.matrix_basis.inverted_safe()


def walked_to(chain: FabrikChain, depsgraph: bpy.types.Depsgraph) -> tuple[V3, Q4] | None:
    """As `walk_goal`, moved and turned by what the chain's control is; exactly that while the control rests."""
    walk = walk_goal(chain, depsgraph)
    if walk is None or chain.target is None or not edits_walk(chain):
        return walk
    way, turn = offset_in("", chain.target.evaluated_get(depsgraph), chain.target_bone)
    return plus(walk[0], way), multiplied(turn, walk[1])


def asking_for(chain: FabrikChain, goal: GoalRef, point: Vector, depsgraph: bpy.types.Depsgraph) -> Vector:
    """The location channels of a chain's target with which its tip is to be at a point of the world.

    The chain tells a place, or edits a walk; its target (`control_of`) can be put somewhere.

    Raises:
        FabrikError: What it hangs on has no scale, or the walk can't be read.
    """
    walk = walk_goal(chain, depsgraph) if edits_walk(chain) else None
    if walk is None:
        return goal.location_at(point, depsgraph)
    posed = goal.found.evaluated_get(depsgraph)
    holder = kind_of(posed, goal.bone).holder(posed, goal.bone)
    way = offset_axes("", posed, goal.bone).to_3x3().inverted_safe() @ (point - Vector(walk[0]))
    return others_of(posed, holder).own(way, read_rotation(holder))[0]


def held_point(chain: FabrikChain) -> V3:
    """Where a pin without a target holds the effector, in the world.

    Raises:
        InvalidValueError: It is nowhere.
    """
    point = v3(chain.held_location)
    if not are_finite(point):
        raise InvalidValueError(Message("PIN_PLACE_NOT_FINITE"), chain=chain.name)
    return point


def checked_turn(chain: FabrikChain, rotation: Sequence[float]) -> Q4:
    """A rotation that is stored with a chain, made unit.

    Raises:
        InvalidValueError: It is none.
    """
    if not are_finite(rotation) or not any(rotation):
        raise InvalidValueError(Message("PIN_ROTATION_NOT_FINITE"), chain=chain.name)
    return normalized(rotation)


# What a pin or a kept rotation holds, read from a pose as it stands, and stored with the chain.

ROUNDED = 1e-6  # share by which what is stored in single precision may differ from what stands


class TipPose(NamedTuple):
    """How the tip bone of a chain is turned in the world, and where its effector is, its head or its tail."""

    location: V3
    rotation: Q4


def read_held(posed: bpy.types.Object, name: str, at_head: bool) -> TipPose:
    """How a bone stands in the world, with the place of its head or its tail.

    That is of an evaluated armature object; or of the original, as the view was drawn last.

    Raises:
        InvalidValueError: It stands nowhere.
    """
    bone = pose_bones(posed)[name]
    place = posed.matrix_world @ (bone.head if at_head else bone.tail)
    if not are_finite([*place, *[value for row in bone.matrix for value in row]]):
        raise InvalidValueError(Message("POSE_NOT_FINITE"), rig=posed.name, bone=name)
    return TipPose(v3(place), world_turn(posed, bone))


def store_held(chain: FabrikChain, held: TipPose) -> None:
    """Keep place and rotation with a chain."""
    store(chain, "held_location", held.location)
    store(chain, "held_rotation", held.rotation)


def offset_from_target(chain: FabrikChain, rotation: Q4, target: bpy.types.Object) -> Q4:
    """A rotation of the world as a chain's target sees it.

    Args:
        chain: It has a target.
        rotation: Of its tip bone.
        target: The target as it was evaluated; or itself.

    Raises:
        FabrikError: The target has no such bone, or no rotation.
    """
    turn = kind_of(target, chain.target_bone).turn("target", target, chain.target_bone)
    if not are_finite(turn):
        raise InvalidValueError(Message("TARGET_ROTATION_NOT_FINITE", target=target.name), chain=chain.name)
    return normalized(multiplied(conjugated(turn), rotation))


def was_held(chain: FabrikChain, name: str) -> bool:
    """Whether a place or rotation was ever stored with a chain."""
    group: Any = chain
    return bool(group.is_property_set(name))


def store(chain: FabrikChain, name: str, values: Sequence[float]) -> None:
    """Store a place or rotation that a chain holds; the same is not written, for every write makes Blender evaluate.

    Args:
        chain: The chain.
        name: `held_location`, `held_rotation` or `rotation_offset`.
        values: Three numbers of a place, or four of a rotation (w, x, y, z).
    """
    kept = getattr(chain, name)
    if not was_held(chain, name) or any(abs(a - b) > ROUNDED * abs(b) for a, b in zip(kept, values, strict=True)):
        setattr(chain, name, values)
