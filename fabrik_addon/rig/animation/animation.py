# SPDX-License-Identifier: GPL-3.0-or-later
"""What is animated of armatures, chains and goals, and where what moves by its own curves is in each frame."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...errors import FabrikError
from ...maths import V3, Doubles, Singles, axes_of, products, v3
from ..bones import resolve_bones, swings
from ..checks import movers_of
from ..dependencies import bone_in, ties_behind
from ..figure.goal_options import written_besides
from ..figure.groups import ChainSet, body_moves, figure_bones_if_any
from ..figure.start_pose import hears_body_keys
from ..goals import GoalRef, goals_of, is_offset
from ..schema import FabrikChain, rig_of
from ..schema.limit import CONTACT
from ..spaces import carrier_of, hold_of, holder_in
from ..targets import quaternions_of
from ..walk_goals import is_walked
from .channels import channel_of, read_locks
from .compat import curves_of_action, drivers_of, fcurves_of, strips_of
from .curves import values_at
from .keys import CHAIN_PATH, KeyedChannels, animated_paths, chain_of, has_motion


def is_still(found: bpy.types.Object) -> bool:
    """Whether nothing that moves an object is animated, at any remove."""
    return not any(
        _is_animated(thing, name) or _data_is_animated(thing) or thing.rigid_body is not None
        for thing, name in ties_behind(found, "")
    )


def _is_animated(thing: bpy.types.Object, bone: str) -> bool:
    """Whether an object moves by animation, or where a bone is named, that bone."""
    data = thing.animation_data
    if data is None:
        return False
    if strips_of(data, with_muted=True):
        return True
    paths = [curve.data_path for curve in fcurves_of(thing) if has_motion(curve)]
    paths += [driver.data_path for driver in data.drivers]
    return bone in map(bone_in, paths)


def _data_is_animated(thing: bpy.types.Object) -> bool:
    data: Any = getattr(thing.data, "animation_data", None)
    if data is None:
        return False
    if len(data.drivers) or strips_of(data, with_muted=True):
        return True
    return data.action is not None and any(has_motion(curve) for curve in curves_of_action(data.action))


OF_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(.+)')
SETTINGS = ("fabrik_", "scale", "ik_", "use_ik_", "lock_", "constraints[")  # of a bone, on which a solve depends
PLACES = ("location", "rotation", "scale", "delta_", "constraints[")  # an object
BODY = ("fabrik_body_stays", "fabrik_body_stiffness", "fabrik_spine", "fabrik_balance", "fabrik_body_captured")
WALKS = "fabrik_walker_on"
GROUPING = ("enabled", "bone_count")  # of a chain: on these depends which chains are solved together
SHAPING = ("start", "captured", *GROUPING)  # of a chain: what makes its bones other joints


class Motion(NamedTuple):
    """What moves chains that are solved together from frame to frame beside their goals.

    Attributes:
        is_carried: Their armature object moves, or what their first bone hangs on.
        is_walked: A planned walk says where they go.
        is_keyed: What is written to their bones is played from keys, strips or drivers, so that it is lost where it is
            written before a frame is evaluated.
        is_turned: Of that their rotations, which then run on from other keys.
        changes: They become other chains: a limit, a scale, which bones they are.
        start_changes: They start from other poses, as their keys have it.
        settings: Names of the settings of the chains themselves that do, which leave their bones the same joints.
    """

    is_carried: bool = False
    is_walked: bool = False
    is_keyed: bool = False
    is_turned: bool = False
    changes: bool = False
    start_changes: bool = False
    settings: frozenset[str] = frozenset()

    @property
    def is_same(self) -> bool:
        """Whether they are the same chains in all frames, with the same settings and start pose, wherever they go."""
        return not (self.changes or self.start_changes or self.settings)


class Animated:
    """The animated properties of an armature object and of its bones and chains, gathered once.

    Attributes:
        has_data: Whether the armature itself, with its rest bones and their flags, is animated.
        of_object: Paths of the properties of the armature object itself, but for those of its chains.
    """

    def __init__(self, owner: bpy.types.Object) -> None:
        data = getattr(owner.data, "animation_data", None)
        self.has_data = data is not None and bool(data.action or data.drivers or data.nla_tracks)
        self._owner = owner
        self.of_object: set[str] = set()
        self._bones: dict[str, set[str]] = {}
        self._chains: dict[str, set[str]] = {}
        names = [chain.name for chain in rig_of(owner).chains]
        for path in animated_paths(owner):
            bone, chain = OF_BONE.fullmatch(path), CHAIN_PATH.fullmatch(path)
            if bone is not None:
                self._bones.setdefault(bpy.utils.unescape_identifier(bone[1]), set()).add(bone[2])
            elif chain is not None:
                self._chains.setdefault(chain_of(chain, names), set()).add(chain[3])
            else:
                self.of_object.add(path)

    def motions_of(self, sets: Sequence[ChainSet], by_ik: Iterable[str]) -> dict[tuple[str, ...], Motion]:
        """What moves the chains of an armature, each set of all that are posed from frame to frame; by their names."""
        bones = {one.names: figure_bones_if_any(one) for one in sets}
        moved = {*by_ik, *(bone.name for own in bones.values() for bone in own)}  # none of them is above its own
        return {one.names: self._motion_of(one, bones[one.names], moved) for one in sets}

    def _motion_of(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], moved: Collection[str]) -> Motion:
        """What moves chains that are solved together from frame to frame beside their goals.

        Their bones are none where these can't be read; `moved` are names of bones that others move.
        """
        if not bones:
            return Motion()
        root, moves, besides = bones[0], body_moves(chain_set), _besides(chain_set)
        settings = {name for chain in chain_set.chains for name in self.of_chain(chain)}
        changes = any(name.startswith(SHAPING) for name in settings) or self._bones_change(bones, besides)
        is_posed = any(not constraint.mute for bone in bones for constraint in bone.constraints)
        changes = changes or (is_posed and self._are_others_animated(bones))  # which those may follow
        is_turned = self.are_turned(bones)
        is_root_moved = _is_moved(self.of_bone(root), root) and (root.name, "location") not in besides
        return Motion(
            self._object_moves() or is_root_moved or self._moves_above(root, moved),
            any(is_walked(chain) for chain in chain_set.chains),
            is_turned or any(name in self._bones.get(bone, ()) for bone, name in besides),
            is_turned,
            changes or self._body_changes(chain_set, bones) or _changes_space(chain_set),
            self._start_changes(chain_set, bones, moves),
            frozenset(settings),
        )

    def are_turned(self, bones: Iterable[bpy.types.PoseBone]) -> bool:
        """Whether the rotation of one of some bones is animated."""
        return any(name.startswith("rotation") for bone in bones for name in self.of_bone(bone))

    def regroups(self) -> bool:
        """Whether other chains may be solved together in another frame."""
        return any(not names.isdisjoint(GROUPING) for names in self._chains.values())

    def _start_changes(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone], moves: bool) -> bool:
        """Whether chains, or their body, start from other poses from frame to frame; their offsets go by these."""
        owner, chains, _ = chain_set
        if any(chain.start == "ANIMATED" or is_offset(chain) for chain in chains):
            return True
        if chain_set.is_one:
            return False
        names = {bone.name for chain in chains for bone in resolve_bones(owner, chain)}
        is_heard = hears_body_keys(chain_set, [bone for bone in bones if bone.name in names], KeyedChannels(owner, 0.0))
        is_placed = is_heard or (bool(chain_set.body) and rig_of(owner).body_stays)
        others = [bone for bone in bones if bone.name not in names]
        is_turned = self.are_turned([one for one in others if (is_placed if one.name == chain_set.body else is_heard)])
        return is_turned or (is_placed and moves and "location" in self.of_bone(bones[0]))

    def _body_changes(self, chain_set: ChainSet, bones: Sequence[bpy.types.PoseBone]) -> bool:
        """Whether settings of a body, its weight, or who says where it goes are others from frame to frame."""
        if chain_set.is_one:
            return WALKS in self.of_object
        if any(path.startswith((*BODY, WALKS)) for path in self.of_object):
            return True
        if not chain_set.body or rig_of(self._owner).balance <= 0.0:
            return False
        is_set = any(map(self.of_chain, chain_set.chains))  # pin, weight and influence say what supports it
        return is_set or self._are_others_animated(bones)  # it carries them without moving them: they shift its weight

    def _are_others_animated(self, bones: Sequence[bpy.types.PoseBone]) -> bool:
        return not self._bones.keys() <= {bone.name for bone in bones}

    def _object_moves(self) -> bool:
        """Whether the armature object moves."""
        owner = self._owner
        if owner.parent is not None or owner.rigid_body is not None:
            return True
        if any(not found.mute for found in owner.constraints):
            return True
        return any(path.startswith(PLACES) for path in self.of_object)

    def _moves_above(self, root: bpy.types.PoseBone, moved: Collection[str]) -> bool:
        """Whether bones above a chain move."""
        return any(
            bone.name in moved or self.of_bone(bone) or any(not found.mute for found in bone.constraints)
            for bone in root.parent_recursive
        )

    def motions_alone(self, sets: Sequence[ChainSet]) -> dict[tuple[str, ...], Motion]:
        """`motions_of` where no other chains of the armature are posed.

        Where a constraint of any bone is switched on or off, all of them may be others in each frame.
        """
        found = self.motions_of(sets, movers_of(self._owner).by_ik)
        if any(name.startswith("constraints[") for own in self._bones.values() for name in own):
            return {key: motion._replace(changes=True) for key, motion in found.items()}
        return found

    def of_bone(self, bone: bpy.types.PoseBone) -> set[str]:
        """Names of the properties of a bone."""
        return self._bones.get(bone.name, set())

    def of_chain(self, chain: FabrikChain) -> set[str]:
        """Names of the settings of a chain."""
        return self._chains.get(chain.name, set())

    def _bones_change(self, bones: Sequence[bpy.types.PoseBone], besides: set[tuple[str, str]]) -> bool:
        """Whether something animated, but what a solve writes, makes the bones of chains others from frame to frame."""
        return self.has_data or any(
            _is_setting(name, bone, i)
            for i, bone in enumerate(bones)
            for name in self.of_bone(bone)
            if (bone.name, name) not in besides
        )


def _changes_space(chain_set: ChainSet) -> bool:
    """Whether keys or drivers switch what the goals of chains hang on, so that these stand in other frames."""
    goals = [] if chain_set.is_one else [goal for chain in chain_set.chains for goal in goals_of(chain)]
    ties = [(holder_in(*tie), *tie) for _, found, bone in goals for tie in ties_behind(found, bone)]
    ties = [tie for tie in ties if tie[0] is not None and len(tie[0].constraints) > 0 and not swings(tie[0])]
    paths = [(bone, path) for _, thing, bone in ties for path in animated_paths(thing)]
    return any("constraints[" in path and bone_in(path) == bone for bone, path in paths)


def _besides(chain_set: ChainSet) -> set[tuple[str, str]]:
    """What a solve writes of chains besides rotations: names of bones, each with that of a property."""
    try:
        return {(bone.name, name) for bone, name in written_besides(chain_set)}
    except FabrikError:  # what is wrong is told when they are solved
        return set()


def _is_setting(name: str, bone: bpy.types.PoseBone, number: int) -> bool:
    if name.startswith("rotation"):
        return any(read_locks(bone)) or bone.lock_rotation_w  # what is locked is part of the limit
    is_told = name.startswith(SETTINGS) and not name.startswith(CONTACT)
    return is_told or (number > 0 and _is_moved((name,), bone))


def _is_moved(names: Collection[str], bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is animated in its location, which Blender ignores where it is connected."""
    return "location" in names and not bone.bone.use_connect


PLACED_BY = ("location", "delta_location")
TURNED_BY = ("rotation", "delta_rotation", "scale", "delta_scale")
HIDDEN_BY = ("hide_viewport", "hide_render")
UNKNOWN = ("rotation_mode", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")  # curves not read
CHANGED_BY = (*HIDDEN_BY, "constraints[")  # what makes it be elsewhere, or not at all


def points_ahead(found: bpy.types.Object, bone: str, frames: Sequence[float]) -> list[V3] | None:
    """World positions of an object's origin at some frames, or None where more than its own curves decide."""
    curves = _curves(found, bone)
    if curves is None:
        return None
    location, delta = Vector(found.location), Vector(found.delta_location)
    points = []
    for frame in frames:
        for curve in curves:
            moved = location if curve.data_path == "location" else delta
            moved[curve.array_index] = curve.evaluate(frame)
        points.append(v3(location + delta))
    return points


class Curves(NamedTuple):
    """What places and turns an object or a bone, where that is nothing but its own curves.

    Attributes:
        holder: What has the channels.
        names: Of the channels.
        moving: The curves of some of them.
    """

    holder: bpy.types.Object | bpy.types.PoseBone
    names: tuple[str, ...]
    moving: list[bpy.types.FCurve]


def paths_at(
    goals: Sequence[GoalRef],
    turned: Collection[int],
    frames: Doubles,
    depsgraph: bpy.types.Depsgraph,
    within: Sequence[str] = (),
) -> list[tuple[Doubles, Doubles | None] | None]:
    """Where targets and poles stand at F frames, and how they are turned; the numbers that Blender's evaluation has.

    Args:
        goals: Objects, and bones.
        turned: Indices of those whose rotation is asked for, too.
        frames: (F,), rising.
        depsgraph: Evaluated for any frame.
        within: For each the bone in whose frame it is wanted (`spaces.bone_below`), or "" for the world; () for that.

    Returns:
        For each (F, 3) and, where it was asked for, (F, 4); None where more than its own curves decide.
    """
    rigs = {goal.found for goal in goals if goal.bone}  # that stand still, and whose bones one action moves, and no IK
    still = {rig.name_full: _is_plain(rig) and is_still(rig) and not movers_of(rig).by_ik for rig in rigs}
    paths: list[tuple[Doubles, Doubles | None] | None] = []
    for i, (goal, frame) in enumerate(zip(goals, within or [""] * len(goals), strict=True)):
        own = _curves_of(goal, i in turned, frame) if still.get(goal.found.name_full, True) else None
        if own is None:
            paths.append(None)
            continue
        channels = {
            name: np.tile(np.array(getattr(own.holder, name), dtype=np.float32), (len(frames), 1)) for name in own.names
        }
        for curve, values in zip(own.moving, values_at(own.moving, frames), strict=True):
            channels[_name_of(curve)][:, curve.array_index] = values
        paths.append(_path_of(own, channels, goal.found.evaluated_get(depsgraph), frame))
    return paths


def _path_of(
    own: Curves, channels: Mapping[str, Singles], evaluated: bpy.types.Object, frame: str
) -> tuple[Doubles, Doubles | None]:
    """Places and rotations of an object, or of a bone, by its channels.

    That is a bone in the frame of what carries it, as `spaces.within`; or one without a parent, whose armature object
    stands still.
    """
    world, holder = evaluated.matrix_world, own.holder
    if not frame and isinstance(holder, bpy.types.Object):  # in single precision, as Blender adds them
        places = (channels["location"] + channels["delta_location"]).astype(np.float64)
        return places, quaternions_of(_bases(own, channels)) if "scale" in channels else None
    poses = _bases(own, channels)
    if frame:
        carrier = carrier_of(frame, "target", evaluated, holder.name)
        poses = [carrier @ basis for basis in poses]
        places = np.array([pose.translation for pose in poses], dtype=np.float64)
    else:
        assert isinstance(holder, bpy.types.PoseBone)
        poses = [holder.bone.convert_local_to_pose(basis, holder.bone.matrix_local) for basis in poses]
        places = np.array([world @ pose.translation for pose in poses])
    turns = quaternions_of(poses) if "scale" in channels else None
    if turns is not None and not frame:
        turns = products(np.array(axes_of(world)), turns)
    return places, turns


def _bases(own: Curves, channels: Mapping[str, Singles]) -> list[Matrix]:
    """The matrices that channels make."""
    locations = channels["location"].tolist()
    if "scale" not in channels:
        return [Matrix.Translation(location) for location in locations]
    mode, scales = own.holder.rotation_mode, channels["scale"].tolist()
    values: list[Any] = channels[channel_of(mode)[0]].tolist()
    turns = [Quaternion(one).normalized() if mode == "QUATERNION" else Euler(one, mode) for one in values]
    return [Matrix.LocRotScale(*parts) for parts in zip(locations, turns, scales, strict=True)]


def keeps_turn(found: bpy.types.Object, bone: str) -> bool:
    """Whether an object, of which `points_ahead` knows where it will stand, is never turned or scaled there."""
    if _curves(found, bone) is None:
        return False
    return not any(curve.data_path.startswith(TURNED_BY) for curve in (*fcurves_of(found), *drivers_of(found)))


def may_hide(found: bpy.types.Object) -> bool:
    """Whether keys, strips or a driver disable an object in some frames."""
    return not {*HIDDEN_BY}.isdisjoint(animated_paths(found))


def _curves_of(goal: GoalRef, is_turned: bool, frame: str) -> Curves | None:
    """The channels and curves by which a goal moves in the frame of a bone, or None where more than these decide."""
    found = goal.found
    bone = found.pose.bones.get(goal.bone) if goal.bone and found.pose else None
    if bone is not None:
        return _curves_of_bone(found, bone, is_turned, frame)
    placing = _curves(found, goal.bone)
    if placing is None or not is_turned:
        return Curves(found, PLACED_BY, placing) if placing is not None else None
    neutral = not any(found.delta_rotation_euler) and found.delta_rotation_quaternion == Quaternion()
    turning = _turning_curves(found, found, fcurves_of(found))
    if turning is None or not neutral or tuple(found.delta_scale) != (1.0, 1.0, 1.0):
        return None
    names = (*PLACED_BY, channel_of(found.rotation_mode)[0], "scale")
    return Curves(found, names, [*placing, *(curve for curve in turning if _name_of(curve) in names[2:])])


def _curves_of_bone(found: bpy.types.Object, bone: bpy.types.PoseBone, is_turned: bool, frame: str) -> Curves | None:
    """`_curves_of` for a bone of an armature object."""
    hold = hold_of(found, bone.name)
    if hold is None or (hold.found, hold.bone) != (found, frame):
        return None
    start = bone.path_from_id() + "."
    own = _turning_curves(found, bone, [curve for curve in fcurves_of(found) if curve.data_path.startswith(start)])
    if own is None:
        return None
    names = ("location", channel_of(bone.rotation_mode)[0], "scale") if is_turned else ("location",)
    return Curves(bone, names, [curve for curve in own if _name_of(curve) in names])


def _turning_curves(
    found: bpy.types.Object, holder: bpy.types.Object | bpy.types.PoseBone, curves: Sequence[bpy.types.FCurve]
) -> list[bpy.types.FCurve] | None:
    """Of some curves those that play, or None where more decide how an object, or its bone `holder`, is turned."""
    start = f"{holder.path_from_id()}." if holder != found else ""
    names = tuple(start + name for name in ("location", *TURNED_BY, "constraints["))
    if holder.rotation_mode == "AXIS_ANGLE" or any(one.data_path.startswith(names) for one in drivers_of(found)):
        return None  # a matrix of an axis and an angle has other last bits as mathutils makes it
    playing = [curve for curve in curves if not curve.mute]
    if any(_name_of(curve) in UNKNOWN or (curve.group is not None and curve.group.mute) for curve in playing):
        return None  # whether those of a muted group play depends on the version
    return None if any(curve.data_path.startswith(start + "constraints[") for curve in playing) else playing


def _name_of(curve: bpy.types.FCurve) -> str:
    """The channel that a curve moves."""
    return curve.data_path.rpartition(".")[2]


def _curves(found: bpy.types.Object, bone: str) -> list[bpy.types.FCurve] | None:
    """The curves that place an object, or None where more than these decide."""
    if bone or found.parent is not None or found.rigid_body is not None:
        return None
    if any(not constraint.mute for constraint in found.constraints) or not _is_plain(found):
        return None
    curves = [curve for curve in fcurves_of(found) if not curve.mute]
    if any(curve.data_path.startswith(CHANGED_BY) for curve in curves):
        return None
    placing = [curve for curve in curves if curve.data_path in PLACED_BY]
    if any(curve.group is not None and curve.group.mute for curve in placing):
        return None  # whether these play depends on the version
    return placing


def _is_plain(found: bpy.types.Object) -> bool:
    """No drivers, and an action that counts in full, without strips beside it."""
    data = found.animation_data
    if data is None:
        return True
    if data.use_tweak_mode or any(driver.data_path.startswith((*PLACED_BY, *CHANGED_BY)) for driver in data.drivers):
        return False
    if data.use_nla and any(track.strips and not track.mute for track in data.nla_tracks):
        return False
    return data.action is None or (data.action_influence == 1.0 and data.action_blend_type == "REPLACE")
