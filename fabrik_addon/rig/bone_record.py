# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bones of an armature were called, and how they stood at rest, when that was last looked at.

It is kept with the armature object, so that a bone that was renamed since is known again by its rest: see `renames`.

A library override keeps a record of its own, for in the library bones may be renamed while the override's file is
closed. What is equal to the library's would not be kept by Blender, so an override's ends with a line of its own.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as EncodingError
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.props import StringProperty

from .array_types import Singles
from .chain_bones import armature_of, pose_bones
from .stored import OVERRIDE

NUMBERS = 9  # of a bone: its X axis, its Y axis at its length, and its head, in armature space
BETWEEN = "\n"  # separates the names where they are stored


class BoneRecord(NamedTuple):
    """The bones of an armature in the order of its pose, which renaming a bone leaves as it is.

    Attributes:
        names: n names.
        rests: (n, 9): X axis, Y axis at the bone's length, and head, in armature space.
    """

    names: tuple[str, ...]
    rests: Singles


def stored_record(owner: bpy.types.Object) -> BoneRecord | None:
    """What is kept with an armature object; None where there is nothing, or nothing that can be read."""
    names = tuple(str(getattr(owner, "fabrik_bone_names")).removesuffix(BETWEEN).split(BETWEEN))
    try:
        rests = np.frombuffer(b64decode(getattr(owner, "fabrik_bone_rests")), dtype=np.float32)
    except EncodingError:
        return None
    if not rests.size or rests.size != NUMBERS * len(names):
        return None
    return BoneRecord(names, rests.reshape(-1, NUMBERS))


def has_record(owner: bpy.types.Object) -> bool:
    """Whether anything is kept with an armature object."""
    return bool(getattr(owner, "fabrik_bone_names"))


def names_now(owner: bpy.types.Object) -> tuple[str, ...]:
    """The names of an armature's bones as its pose has them: in edit mode, too, these are the present ones."""
    return tuple(pose_bones(owner).keys())


def glance(owner: bpy.types.Object) -> tuple[tuple[str, ...], bytes]:
    """All names and rest matrices of an armature, read in bulk: a quick way to see that none of them changed."""
    data = armature_of(owner)
    matrices = np.empty(16 * len(data.bones), np.float32)
    data.bones.foreach_get("matrix_local", matrices)
    return names_now(owner), matrices.tobytes()


def record_now(owner: bpy.types.Object) -> BoneRecord:
    """The bones of an armature that is not in edit mode."""
    data = armature_of(owner)
    names, rest_names = names_now(owner), tuple(data.bones.keys())
    count = len(rest_names)
    matrices, lengths = np.empty(16 * count, np.float32), np.empty(count, np.float32)
    data.bones.foreach_get("matrix_local", matrices)
    data.bones.foreach_get("length", lengths)
    columns = matrices.reshape(-1, 4, 4).transpose(0, 2, 1)
    axes, heads = columns[:, :2, :3].copy(), columns[:, 3, :3]
    axes[:, 1] *= lengths[:, None]
    rests = np.concatenate((axes.reshape(-1, 6), heads), axis=1)
    if names != rest_names:
        places = {name: i for i, name in enumerate(rest_names)}
        names = tuple(name for name in names if name in places)
        rests = rests[[places[name] for name in names]]
    return BoneRecord(names, rests)


def store_names(owner: bpy.types.Object, names: tuple[str, ...]) -> None:
    """Keep other names for the bones of a record, in their order."""
    _store(owner, "fabrik_bone_names", BETWEEN.join(names))


def store_record(owner: bpy.types.Object, record: BoneRecord) -> None:
    """Keep a record with its armature object; what is the same is not written."""
    store_names(owner, record.names)
    _store(owner, "fabrik_bone_rests", b64encode(np.ascontiguousarray(record.rests).tobytes()).decode())


def _store(owner: bpy.types.Object, name: str, text: str) -> None:
    if owner.override_library is not None:
        text += BETWEEN
    if getattr(owner, name) != text:
        setattr(owner, name, text)


def register() -> None:
    """Register what is stored."""
    stored: Any = bpy.types.Object
    text: Any = StringProperty
    stored.fabrik_bone_names = text(name="Names of Bones", options={"HIDDEN"}, override=OVERRIDE)
    stored.fabrik_bone_rests = text(name="Rests of Bones", options={"HIDDEN"}, override=OVERRIDE)


def unregister() -> None:
    """Take it away again; what is stored in files stays in them."""
    stored: Any = bpy.types.Object
    del stored.fabrik_bone_rests, stored.fabrik_bone_names
