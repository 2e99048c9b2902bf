# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that live posing writes of a bone, as values that can be compared with what stands there later."""

from __future__ import annotations

import bpy

from ...errors import FabrikError
from ...maths import conjugated, distance, multiplied, turn_angle
from ...rig.channels import channel_of, read_values, rotation_path, stored, to_rotation
from ...rig.compat import curves_of_action, strips_of
from ...rig.keys import KeyedChannels
from .known import Done, LiveFigure, Values

SAME_TURN = 1e-5  # radians that Blender's tools may be off by rounding where they turn nothing
SAME_PLACE = 1e-6  # of the largest coordinate, and of 1, the same where they move nothing
NEAR_KEY = 1e-6  # how far a played value may be from its curve's


def values_of(bone: bpy.types.PoseBone, moves: bool) -> list[float]:
    """What stands in the channels of a bone: of its rotation and, where it is a body that moves, of its location."""
    return [*read_values(bone), *bone.location] if moves else read_values(bone)


def left_values(known: LiveFigure, bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone]) -> Values:
    """By bones the channel values that live posing last wrote; {} if a bone is gone or has another rotation mode."""
    found: Values = {}
    prepared = known.prepared
    for channels, rotation in zip(prepared.channels, known.rotations.tolist(), strict=True):
        if channels is None:
            continue
        bone = bones.get(channels.bone)
        if bone is None or bone.rotation_mode != channels.mode:
            return {}
        found[channels.bone] = stored(channels.values(rotation, read_values(bone)))
    if prepared.root is not None:
        root = prepared.bones[0]
        turned = found.get(root, read_values(bones[root]))
        found[root] = [*turned, *stored(prepared.root.location_for(prepared.row.shifts))]
    return found


def difference(bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> Done:
    """What was done to a bone, from its values and from those that were left there."""
    count = channel_of(bone.rotation_mode)[1]
    if values == stood or len(values) != len(stood):
        return Done(False, False)
    place, before = values[count:], stood[count:]
    slack = SAME_PLACE * max([1.0, *map(abs, before)])
    is_moved = bool(place) and not distance(place, before) <= slack
    return Done(_is_another_turn(bone, values[:count], stood[:count]), is_moved)


def _is_another_turn(bone: bpy.types.PoseBone, values: list[float], stood: list[float]) -> bool:
    """Whether values of rotation channels mean another rotation: not one of other signs, or rounded anew."""
    if values == stood:
        return False
    try:
        a, b = (to_rotation(bone.rotation_mode, numbers, bone.name) for numbers in (values, stood))
    except FabrikError:  # what is wrong is told when it is solved
        return False
    return turn_angle(multiplied(conjugated(a), b)) > SAME_TURN


class Player:
    """Tells whether keys of an armature's bones, or strips, may have put values there.

    Args:
        owner: The armature object.
        keyed: Its curves at the frame.
    """

    def __init__(self, owner: bpy.types.Object, keyed: KeyedChannels) -> None:
        self._owner, self._keyed = owner, keyed

    def plays(self, bone: bpy.types.PoseBone, found: Done, values: list[float], stood: list[float]) -> bool:
        """Whether all that stands otherwise may have been played."""
        count = channel_of(bone.rotation_mode)[1]
        turn = rotation_path(bone), values[:count], stood[:count]
        place = f"{bone.path_from_id()}.location", values[count:], stood[count:]
        parts = [part for part, is_other in ((turn, found.is_turned), (place, found.is_moved)) if is_other]
        return all(self._is_played(*part) for part in parts)

    def _is_played(self, path: str, values: list[float], stood: list[float]) -> bool:
        data = self._owner.animation_data
        if data is None:
            return False
        if data.use_nla and path in self._paths_of_strips():
            return True
        curves = [self._keyed.curves.get((path, i)) for i in range(len(values))]
        if not any(curves):
            return False
        played = [
            value if curve is None else curve.evaluate(self._keyed.frame)
            for curve, value in zip(curves, stood, strict=True)
        ]
        return all(abs(a - b) <= NEAR_KEY * max(1.0, abs(b)) for a, b in zip(values, played, strict=True))

    def _paths_of_strips(self) -> set[str]:
        """What strips of the armature move."""
        strips = strips_of(self._owner.animation_data)
        return {curve.data_path for strip in strips for curve in curves_of_action(strip.action)}
