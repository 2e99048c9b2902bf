# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an object will stand at a frame, told from its curves alone, before Blender evaluates the frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ..maths import V3, Doubles, Singles, axes_of, products, v3
from .channels import channel_of
from .checks import movers_of
from .compat import curves_of_action, fcurves_of, strips_of
from .curve_samples import values_at
from .goals import GoalRef
from .still import is_still
from .targets import quaternions_of

PLACED_BY = ("location", "delta_location")
TURNED_BY = ("rotation", "delta_rotation", "scale", "delta_scale")
HIDDEN_BY = ("hide_viewport", "hide_render")
UNKNOWN = ("rotation_mode", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")  # curves not read
CHANGED_BY = (*HIDDEN_BY, "constraints[")  # what makes it be elsewhere, or not at all


def points_ahead(found: bpy.types.Object, bone: str, frames: Sequence[float]) -> list[V3] | None:
    """World positions of an object's origin at some frames, or None where more than its own curves decide.

    Args:
        found: A target or pole.
        bone: Name of a bone of it, or "".
        frames: Sub-frames included.
    """
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
    goals: Sequence[GoalRef], turned: Collection[int], frames: Doubles, depsgraph: bpy.types.Depsgraph
) -> list[tuple[Doubles, Doubles | None] | None]:
    """Where targets and poles stand at F frames, and how they are turned; the numbers that Blender's evaluation has.

    Args:
        goals: Objects, and bones without a parent.
        turned: Indices of those whose rotation is asked for, too.
        frames: (F,), rising.
        depsgraph: Evaluated for any frame.

    Returns:
        For each (F, 3) and, where it was asked for, (F, 4), in the world; None where more than its own curves decide.
    """
    still = {thing.name_full: _is_still_rig(thing) for thing in {goal.found for goal in goals if goal.bone}}
    found = [
        _curves_of(goal, i in turned) if still.get(goal.found.name_full, True) else None for i, goal in enumerate(goals)
    ]
    moving = [curve for own in found if own is not None for curve in own.moving]
    values = dict(zip((curve.as_pointer() for curve in moving), values_at(moving, frames), strict=True))
    paths: list[tuple[Doubles, Doubles | None] | None] = []
    for goal, own in zip(goals, found, strict=True):
        if own is None:
            paths.append(None)
            continue
        channels = {
            name: np.tile(np.array(getattr(own.holder, name), dtype=np.float32), (len(frames), 1)) for name in own.names
        }
        for curve in own.moving:
            channels[_name_of(curve)][:, curve.array_index] = values[curve.as_pointer()]
        path = _of_bone if isinstance(own.holder, bpy.types.PoseBone) else _of_object
        paths.append(path(own, channels, goal.found.evaluated_get(depsgraph)))
    return paths


def _of_object(
    own: Curves, channels: Mapping[str, Singles], evaluated: bpy.types.Object
) -> tuple[Doubles, Doubles | None]:
    """Places and rotations of an object by its channels."""
    # in single precision, as Blender adds them
    places: Doubles = (channels["location"] + channels["delta_location"]).astype(np.float64)
    return places, quaternions_of(_bases(own, channels)) if "scale" in channels else None


def _of_bone(
    own: Curves, channels: Mapping[str, Singles], evaluated: bpy.types.Object
) -> tuple[Doubles, Doubles | None]:
    """Places and rotations of a bone without a parent by its channels; its armature object stands still."""
    assert isinstance(own.holder, bpy.types.PoseBone)
    bone, world = own.holder.bone, evaluated.matrix_world
    poses = [bone.convert_local_to_pose(basis, bone.matrix_local) for basis in _bases(own, channels)]
    places = np.array([world @ pose.translation for pose in poses])
    turns = products(np.array(axes_of(world)), quaternions_of(poses)) if "scale" in channels else None
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
    data = found.animation_data
    curves = [*fcurves_of(found), *data.drivers] if data is not None else []
    return not any(curve.data_path.startswith(TURNED_BY) for curve in curves)


def may_hide(found: bpy.types.Object) -> bool:
    """Whether keys, strips or a driver disable an object in some frames."""
    data = found.animation_data
    if data is None:
        return False
    curves = [*fcurves_of(found), *data.drivers]
    curves += [curve for strip in strips_of(data) for curve in curves_of_action(strip.action)]
    return any(curve.data_path in HIDDEN_BY for curve in curves)


def _curves_of(goal: GoalRef, is_turned: bool) -> Curves | None:
    """The channels and curves by which a goal moves, or None where more than these decide."""
    found = goal.found
    bone = found.pose.bones.get(goal.bone) if goal.bone and found.pose else None
    if bone is not None:
        return _curves_of_bone(found, bone, is_turned)
    placing = _curves(found, goal.bone)
    if placing is None or not is_turned:
        return Curves(found, PLACED_BY, placing) if placing is not None else None
    neutral = not any(found.delta_rotation_euler) and found.delta_rotation_quaternion == Quaternion()
    turning = _turning_curves(found, found, fcurves_of(found))
    if turning is None or not neutral or tuple(found.delta_scale) != (1.0, 1.0, 1.0):
        return None
    names = (*PLACED_BY, channel_of(found.rotation_mode)[0], "scale")
    return Curves(found, names, [*placing, *(curve for curve in turning if _name_of(curve) in names[2:])])


def _curves_of_bone(found: bpy.types.Object, bone: bpy.types.PoseBone, is_turned: bool) -> Curves | None:
    """`_curves_of` for a bone of an armature object."""
    if bone.parent is not None or any(not constraint.mute for constraint in bone.constraints):
        return None
    start = bone.path_from_id() + "."
    own = _turning_curves(found, bone, [curve for curve in fcurves_of(found) if curve.data_path.startswith(start)])
    if own is None:
        return None
    names = ("location", channel_of(bone.rotation_mode)[0], "scale") if is_turned else ("location",)
    return Curves(bone, names, [curve for curve in own if _name_of(curve) in names])


def _is_still_rig(found: bpy.types.Object) -> bool:
    """Whether an armature object stands still, and its bones move by one action in full and by no IK."""
    return _is_plain(found) and is_still(found, "") and not movers_of(found).by_ik


def _turning_curves(
    found: bpy.types.Object, holder: bpy.types.Object | bpy.types.PoseBone, curves: Sequence[bpy.types.FCurve]
) -> list[bpy.types.FCurve] | None:
    """Of the curves of an object or a bone those that play, or None where more than these decide how it is turned.

    Args:
        found: The object.
        holder: What has the channels: the object, or a bone of it.
        curves: Of these channels, and others.
    """
    data, start = found.animation_data, f"{holder.path_from_id()}." if holder != found else ""
    names = tuple(start + name for name in ("location", *TURNED_BY, "constraints["))
    drivers = list(data.drivers) if data is not None else []
    if holder.rotation_mode == "AXIS_ANGLE" or any(driver.data_path.startswith(names) for driver in drivers):
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
