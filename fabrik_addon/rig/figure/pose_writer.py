# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved poses written into the channels of an armature's bones: all bones of a property read and written at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import getitem, setitem
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.utils import unescape_identifier
from mathutils import Matrix

from ...maths import Q4, Doubles, Places, Singles, normalized
from ..animation.animation import HIDDEN_BY
from ..animation.channels import channel_of, read_values, run_on, to_values
from ..animation.keys import animated_paths
from ..bones import pose_bones
from .figure import BoneChannels, RigFigure
from .kinematics import basis_for

# What was written to a file's data, as Blender evaluates it.


def updated(context: bpy.types.Context) -> bpy.types.Depsgraph:
    """Have Blender evaluate the context's view layer now, and its depsgraph with all that was written so far."""
    assert context.view_layer is not None
    context.view_layer.update()
    return context.evaluated_depsgraph_get()


# The rotations in which bones are seen, constraints included, and the same put into their own channels.


def seen_rotations(owner: bpy.types.Object, names: Sequence[str], depsgraph: bpy.types.Depsgraph) -> dict[str, Q4]:
    """The rotation in its rest frame that each bone would have to have to stand as it is evaluated."""
    bones = pose_bones(owner.evaluated_get(depsgraph))
    found = {}
    for name in names:
        bone = bones[name]
        unscaled = basis_for(bone, bone.matrix).to_3x3() @ Matrix.Diagonal(bone.scale).inverted_safe()
        w, x, y, z = unscaled.to_quaternion()
        found[name] = normalized((w, x, y, z))
    return found


def write_rotations(owner: bpy.types.Object, rotations: Mapping[str, Q4]) -> None:
    """Put rotations into the channels of bones, on the side that continues what stands there."""
    bones = pose_bones(owner)
    for name, rotation in rotations.items():
        mode = bones[name].rotation_mode
        setattr(bones[name], channel_of(mode)[0], to_values(mode, rotation, read_values(bones[name])))


# Animated values brought from the evaluated armature to the original, as Blender does it in the viewport alone.
#
# While rendering, the originals keep what the viewport showed last. What is written to one there is copied to the
# evaluated armature with all its channels, so these have to be of the frame.


def flush_animation(original: Any, depsgraph: bpy.types.Depsgraph) -> None:
    """Give an armature object, or its armature, the values that a depsgraph evaluated, but for those that hide it."""
    evaluated = original.evaluated_get(depsgraph)
    paths = {*animated_paths(original, with_muted=True)}.difference(HIDDEN_BY)
    for path in sorted(paths, key=lambda path: (not path.endswith("rotation_mode"), path)):  # which changes angles
        is_custom = path.endswith('"]')
        holder, _, name = path.removesuffix('"]').rpartition('["' if is_custom else ".")
        name, read, put = (unescape_identifier(name), getitem, setitem) if is_custom else (name, getattr, setattr)
        try:
            source, target = (thing.path_resolve(holder) if holder else thing for thing in (evaluated, original))
            value = read(source, name)
            if plain(value) != plain(read(target, name)):
                put(target, name, value)
        except (AttributeError, KeyError, TypeError, ValueError):  # a curve of what is gone, or can't be set
            continue


def plain(value: Any) -> Any:
    """What a property has, to be compared or kept: an array as a tuple."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


ROUNDING = 5e-7  # by which channels of a bone that rests may be off its start pose, and be left alone
REFRESH: Any = {"OBJECT"}  # evaluates the pose anew, and all that hangs on it, at half the price of "DATA"


class Pose(NamedTuple):
    """A pose of a figure that is to be written; views of a solve's row stay up to date with it.

    Attributes:
        figure: The figure, of n bones.
        rotations: (n, 4), each in the rest frame of its bone.
        shift: Vector of chain space by which the root stands elsewhere than it starts.
        factors: By how much the bones on the way to each goal are longer; () where none is.
        rests: Whether nothing is asked of the chains, so that their channels are as keys play them, to the last bit.
    """

    figure: RigFigure
    rotations: Doubles
    shift: Sequence[float] | Doubles = (0.0, 0.0, 0.0)
    factors: Sequence[float] | Doubles = ()
    rests: bool = False


@dataclass(slots=True)
class _ModeGroup:
    """Bones of one rotation mode: their places in the armature and among the joints of all poses, what they continue.

    Bones with rotation locks have entries of their own in `locked`: place, joint and channels.
    """

    mode: str
    places: Places
    joints: Places
    near: Doubles
    locked: list[tuple[int, int, BoneChannels]]

    def put(self, rotations: Doubles, stored: Singles) -> None:
        """Put the values of the channels among those of all bones of the armature."""
        if len(self.places):
            picked = rotations[self.joints][None]
            stored[self.places] = run_on(self.mode, picked, np.empty((0, len(self.places))), self.near)[0]
        for place, joint, own in self.locked:
            stored[place] = own.values(rotations[joint].tolist(), stored[place].tolist())


class PoseWriter:
    """Writes poses of figures of one armature; good for as long as figures and bones are the same.

    Args:
        poses: What is to be written, each with its figure.
        places: Indices of all bones of the armature by their names.
    """

    def __init__(self, poses: Sequence[Pose], places: Mapping[str, int]) -> None:
        self.poses, self._rotations = [*poses], [pose.rotations for pose in poses]
        self.key = [(id(pose.figure), pose.rests) for pose in poses]
        self._count = len(places)
        self._turned: dict[str, list[_ModeGroup]] = {}
        self._plain: dict[str, list[int]] = {}
        self._owners: dict[str, Places] = {}  # of each property which pose has written a bone's row
        self._before: dict[str, Singles] = {}
        self._played: dict[str, list[tuple[int, Sequence[float]]]] = {}  # by property: places, and what keys play there
        self._has_rest = True in [rests for _, rests in self.key]
        by_mode: dict[str, list[tuple[int, int, int, BoneChannels]]] = {}
        joint = 0
        for k, pose in enumerate(self.poses):
            own = pose.figure.channels
            for i, one in enumerate(own):
                if one is not None:
                    by_mode.setdefault(one.mode, []).append((k, places[one.bone], joint + i, one))
            for i, played in pose.figure.start.played if pose.rests else ():
                kept = own[i]
                if kept is not None:
                    self._played.setdefault(kept.name, []).append((places[kept.bone], played))
            joint += len(own)
            for bone, name in pose.figure.plain_channels:
                self._plain.setdefault(name, []).append(places[bone])
                self._own(name)[places[bone]] = k
        for mode, rows in by_mode.items():
            free = [row for row in rows if row[3].locks is None]
            name, width = channel_of(mode)
            near = np.array([row[3].near for row in free], dtype=np.float64).reshape(-1, width)
            at, joints = (np.array([row[j] for row in free], dtype=np.intp) for j in (1, 2))
            locked = [row[1:] for row in rows if row[3].locks is not None]
            self._turned.setdefault(name, []).append(_ModeGroup(mode, at, joints, near, locked))
            for row in rows:
                self._own(name)[row[1]] = row[0]

    def _own(self, name: str) -> Places:
        return self._owners.setdefault(name, np.full(self._count, -1, dtype=np.intp))

    def write(self, owner: bpy.types.Object, left: Singles | None = None) -> list[int]:
        """Write what does not stand there yet; of each pose how many of its bones did not, once a property.

        Args:
            owner: The armature object.
            left: (count, 7), of all its bones rotation channels and the location, in which to note what was written.

        Raises:
            TypeError: It has other bones.
        """
        counts, bones = [0] * len(self.poses), pose_bones(owner)
        if self._turned:
            rotations = np.concatenate(self._rotations)
            for name, groups in self._turned.items():
                before = self._before[name] = read_property(bones, name, self._count)
                stored = before.copy()
                for group in groups:
                    group.put(rotations, stored)
                if self._has_rest:
                    self._rest(name, before, stored)
                self._put(bones, name, stored, counts)
                if left is not None:
                    own = self._owners[name] >= 0
                    left[own, : stored.shape[1]] = stored[own]
        if self._plain:
            values = self._plain_values()
            for name, places in self._plain.items():
                stored = read_property(bones, name, self._count)
                self._before[name] = stored.copy()
                stored[places] = values[name]
                self._put(bones, name, stored, counts)
                if left is not None and name == "location":
                    left[places, -3:] = stored[places]
        if any(counts):
            tell(owner)
        return counts

    def _rest(self, name: str, before: Singles, stored: Singles) -> None:
        """Let bones that rest be as keys play them, and those without keys as they are, but for more than rounding."""
        rests = np.array([*(rests for _, rests in self.key), False])[self._owners[name]]
        same = rests & (np.abs(stored - before).max(axis=1) <= ROUNDING)
        stored[same] = before[same]
        for place, played in self._played.get(name, ()):
            stored[place] = played

    def restore(self, owner: bpy.types.Object, k: int) -> None:
        """Put back what stood in the channels of a pose before it was written."""
        bones: Any = pose_bones(owner)
        for name, before in self._before.items():
            now, own = read_property(bones, name, self._count), self._owners[name] == k
            now[own] = before[own]
            bones.foreach_set(name, now.reshape(-1))
        tell(owner)

    def _plain_values(self) -> dict[str, list[Sequence[float]]]:
        """The values of the location and scale channels, by property, in the order of their places."""
        found: dict[str, list[Sequence[float]]] = {name: [] for name in self._plain}
        for pose in self.poses:
            values = pose.figure.plain_values(pose.shift, pose.factors)
            for (_, name), own in zip(pose.figure.plain_channels, values, strict=True):
                found[name].append(own)
        return found

    def _put(self, bones: Any, name: str, stored: Singles, counts: list[int]) -> None:
        """Write a property of all bones where a number differs at all, and count the bones of each pose."""
        owners = self._owners[name]
        fresh = owners[(stored != self._before[name]).any(axis=1) & (owners >= 0)]
        if len(fresh):
            bones.foreach_set(name, stored.reshape(-1))
            for k in fresh.tolist():
                counts[k] += 1


WIDTHS = {"rotation_quaternion": 4, "rotation_axis_angle": 4}  # how many numbers they have; all others have 3


def read_property(bones: Any, name: str, count: int) -> Singles:
    """A rotation, the location or the scale of all bones of an armature, (count, width)."""
    found: Singles = np.empty((count, WIDTHS.get(name, 3)), dtype=np.float32)
    bones.foreach_get(name, found.reshape(-1))
    return found


def write_left(owner: bpy.types.Object, left: Singles, places: Mapping[str, Places]) -> None:
    """Write what was noted in `PoseWriter.write`, of some bones by the name of a property.

    Raises:
        TypeError: The armature has other bones.
    """
    bones: Any = pose_bones(owner)
    for name, own in places.items():
        found = left[:, -3:] if name == "location" else left[:, : WIDTHS.get(name, 3)]
        if len(own) < len(left):
            ours, found = found, read_property(bones, name, len(left))
            found[own] = ours[own]
        bones.foreach_set(name, found.reshape(-1))
    tell(owner)


def write_pose(owner: bpy.types.Object, *poses: Pose) -> list[int]:
    """Write poses of figures of an armature object; see `PoseWriter.write`."""
    return PoseWriter(poses, places_of(owner)).write(owner)


def places_of(owner: bpy.types.Object) -> dict[str, int]:
    """The indices of an armature's bones by their names."""
    return {name: i for i, name in enumerate(pose_bones(owner).keys())}


def tell(owner: bpy.types.Object) -> None:
    """Let Blender evaluate what was written in bulk."""
    owner.update_tag(refresh=REFRESH)
