# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation channels of an armature's bones written: one by one where they are few among many bones, else in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from ..maths import Singles
from .chain_bones import pose_bones
from .writer import ChannelWrite

BULK = 12  # bones of the armature for each that is written, up to which all of them are read and written at once
REFRESH: Any = {"OBJECT"}  # evaluates the pose anew, and all that hangs on it, at half the price of "DATA"


def write(owner: bpy.types.Object, writes: Iterable[ChannelWrite], places: dict[str, int] | None = None) -> int:
    """Write the channels whose values differ at all from what stands there; how many bones these are.

    Args:
        owner: The armature object.
        writes: New values of its bones.
        places: Indices of all its bones by their names, where they are known.
    """
    fresh = [one for one in writes if one.is_new]
    _put(owner, [(one.bone, one.name, one.values) for one in fresh], places)
    return len(fresh)


def restore(owner: bpy.types.Object, writes: Iterable[ChannelWrite]) -> None:
    """Put back what stood in channels."""
    _put(owner, [(one.bone, one.name, one.before) for one in writes])


class KeptChannels:
    """Channels of bones as they stand, to be put back later; all goes by names, since an undo makes the data anew.

    Args:
        owner: The armature object.
        channels: Names of its bones, each with the name of a property.
    """

    def __init__(self, owner: bpy.types.Object, channels: Iterable[tuple[str, str]]) -> None:
        bones = pose_bones(owner)
        self._values = [(bone, name, tuple(getattr(bones[bone], name))) for bone, name in channels]

    def put_back(self, owner: bpy.types.Object) -> None:
        """Write what stood there, where it differs, into the bones that the armature object still has."""
        bones = pose_bones(owner)
        for bone, name, values in self._values:
            found = bones.get(bone)
            if found is not None and tuple(getattr(found, name)) != values:
                setattr(found, name, values)


def _put(
    owner: bpy.types.Object, values: Sequence[tuple[str, str, list[float]]], places: dict[str, int] | None = None
) -> None:
    bones = pose_bones(owner)
    if not values:
        return
    if len(values) * BULK < (len(places) if places else len(bones)):
        for bone, name, numbers in values:
            setattr(bones[bone], name, numbers)
        return
    places = places or {bone.name: i for i, bone in enumerate(bones)}
    for name in {name for _, name, _ in values}:
        own = [(places[bone], numbers) for bone, kind, numbers in values if kind == name]
        rows = np.array([numbers for _, numbers in own], dtype=np.float32)
        channels = AllChannels(owner, name, len(places), rows.shape[1])
        channels.rows[[i for i, _ in own]] = rows
        channels.write()
    tell(owner)


class AllChannels:
    """A property of all bones of an armature, read and written at once.

    Args:
        owner: The armature object.
        name: Of the property.
        count: How many bones the armature has.
        width: How many numbers the property has.

    Attributes:
        rows: (count, width), what stands in the channels; to be changed.

    Raises:
        TypeError: The armature has more or fewer bones.
    """

    def __init__(self, owner: bpy.types.Object, name: str, count: int, width: int) -> None:
        self.name = name
        self._bones: Any = pose_bones(owner)
        self.rows: Singles = np.empty((count, width), dtype=np.float32)
        self._bones.foreach_get(name, self.rows.reshape(-1))

    def write(self) -> None:
        """Write them; Blender does not evaluate these before `tell`."""
        self._bones.foreach_set(self.name, self.rows.reshape(-1))


def tell(owner: bpy.types.Object) -> None:
    """Let Blender evaluate what was written in bulk."""
    owner.update_tag(refresh=REFRESH)
