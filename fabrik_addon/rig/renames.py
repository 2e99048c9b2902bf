# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains go with their bones where these are renamed: by the user in edit or pose mode, by a script, by an undo.

An armature object keeps what its bones were called, and how they stood at rest, when that was last looked at: where
Blender tells that it changed, and before an operator runs. A bone that was renamed since is known again by its rest and
its order. A library override keeps a record of its own, for in the library bones may be renamed while the override's
file is closed. What is equal to the library's would not be kept by Blender, so an override's ends with a line of its
own.
"""

from __future__ import annotations

import logging
import re
from base64 import b64decode, b64encode
from binascii import Error as EncodingError
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..maths import ULPS, Mask, Singles
from ..recognise.mapping import with_names
from .bones import armature_of, bones_if_any, numbers_of, pose_bones
from .figure.start_pose import fingerprint
from .schema import FabrikChain, RigRecord, rig_of
from .versions import newer_refusal

log = logging.getLogger(__name__)

NUMBERS = 9  # of a bone: its X axis, its Y axis at its length, and its head, in armature space
BETWEEN = "\n"  # separates the names where they are stored
SAME_REST = 1e-4  # share of a bone's length: leaving edit mode alters the last digits
SAME_AXES = 10.0 * SAME_REST  # by which the X axis, of length one, may differ

Names = Mapping[str, str]  # new ones by old ones
Look = tuple[tuple[str, ...], bytes]  # names and rest matrices

_looks: dict[int, Look] = {}  # of each armature by `session_uid`: one that looks the same is passed over


class BoneRecord(NamedTuple):
    """The bones of an armature in the order of its pose, which renaming a bone leaves as it is.

    Attributes:
        names: n names.
        rests: (n, 9): X axis, Y axis at the bone's length, and head, in armature space.
    """

    names: tuple[str, ...]
    rests: Singles


def follow_renames(objects: Iterable[bpy.types.Object]) -> None:
    """Let chains follow the bones of armatures that were renamed since these were last looked at.

    Args:
        objects: Those to look at; others than armatures with chains or with bones that are goals are passed over.
    """
    _looks.clear()  # an undo may have put back what is stored
    for owner in objects:
        names = _renamed_since(owner) if _is_followed(owner) else {}
        if names:
            _follow(owner, names)


def follow_renames_of(owner: bpy.types.Object | None) -> None:
    """`follow_renames` for an armature, and for those whose bones are goals of its chains."""
    if owner is None or owner.type != "ARMATURE":
        return
    goals = [
        found
        for chain in rig_of(owner).chains
        for found, bone in ((chain.target, chain.target_bone), (chain.pole, chain.pole_bone))
        if found is not None and bone
    ]
    changed = _changed_among([owner, *goals])
    for found in changed:
        if found in goals and not _is_followed(found) and _can_be_followed(found):
            _renamed_since(found)  # which keeps its first record
    _follow_changed(changed)


def follow_renames_after(depsgraph: bpy.types.Depsgraph) -> None:
    """`follow_renames` for the armatures that Blender evaluated anew."""
    if depsgraph.id_type_updated("ARMATURE"):
        found = [update.id.original for update in depsgraph.updates if update.id is not None]
        _follow_changed(
            _changed_among([one for one in found if isinstance(one, bpy.types.Object) and _is_followed(one)])
        )


def _changed_among(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those armatures that do not look as they did when `_follow_changed` had them."""
    found = [one for one in dict.fromkeys(objects) if one.type == "ARMATURE" and one.pose is not None]
    return [one for one in found if _looks.get(one.session_uid) != _look(one)]


def _follow_changed(changed: Sequence[bpy.types.Object]) -> None:
    """`follow_renames` for armatures of `_changed_among`; the looks of those that have a record are taken note of."""
    if changed:
        looks = _looks | {one.session_uid: _look(one) for one in changed if _is_followed(one)}
        follow_renames(changed)
        _looks.update(looks)


def _is_followed(owner: bpy.types.Object) -> bool:
    return _can_be_followed(owner) and bool(len(rig_of(owner).chains) or RigRecord(owner).bone_names)


def _can_be_followed(owner: bpy.types.Object) -> bool:
    return owner.type == "ARMATURE" and owner.pose is not None and owner.is_editable and not newer_refusal(owner)


def _look(owner: bpy.types.Object) -> Look:
    """All names and rest matrices of an armature, read in bulk: a quick way to see that none of them changed."""
    data: Any = owner.data
    return _names_now(owner), numbers_of(data.bones, "matrix_local", 16).tobytes()


def _names_now(owner: bpy.types.Object) -> tuple[str, ...]:
    """The names of an armature's bones as its pose has them: in edit mode, too, these are the present ones."""
    return tuple(pose_bones(owner).keys())


def _record_now(owner: bpy.types.Object) -> BoneRecord:
    """The bones of an armature that is not in edit mode."""
    data = armature_of(owner)
    names, rest_names = _names_now(owner), tuple(data.bones.keys())
    columns = numbers_of(data.bones, "matrix_local", 16).reshape(-1, 4, 4)  # as they lie in memory, column after column
    axes, heads = columns[:, :2, :3].copy(), columns[:, 3, :3]
    axes[:, 1] *= numbers_of(data.bones, "length")
    rests = np.concatenate((axes.reshape(-1, 6), heads), axis=1)
    if names != rest_names:
        places = {name: i for i, name in enumerate(rest_names)}
        names = tuple(name for name in names if name in places)
        rests = rests[[places[name] for name in names]]
    return BoneRecord(names, rests)


def _stored_record(owner: bpy.types.Object) -> BoneRecord | None:
    """What is kept with an armature object; None where there is nothing, or nothing that can be read."""
    stored = RigRecord(owner)
    names = tuple(stored.bone_names.removesuffix(BETWEEN).split(BETWEEN))
    try:
        rests = np.frombuffer(b64decode(stored.bone_rests), dtype=np.float32)
    except EncodingError:
        return None
    if not rests.size or rests.size != NUMBERS * len(names):
        return None
    return BoneRecord(names, rests.reshape(-1, NUMBERS))


def _store(owner: bpy.types.Object, names: tuple[str, ...], rests: Singles | None = None) -> None:
    """Keep names and, where given, rests with an armature object; what is the same is not written."""
    stored, end = RigRecord(owner), BETWEEN if owner.override_library is not None else ""
    text = BETWEEN.join(names) + end
    if stored.bone_names != text:
        stored.bone_names = text
    if rests is not None:
        text = b64encode(np.ascontiguousarray(rests).tobytes()).decode() + end
        if stored.bone_rests != text:
            stored.bone_rests = text


def _renamed_since(owner: bpy.types.Object) -> dict[str, str]:
    """New names by old ones since the armature's record was kept, which is brought up to date.

    A bone that can be told from no other is left out.
    """
    before = _stored_record(owner)
    if owner.data is not None and getattr(owner.data, "is_editmode"):  # where a pose has the present names, in order
        names = _names_now(owner)
        if before is None or len(names) != len(before.names):
            return {}
        _store(owner, names)
        return _changed(before.names, names)
    now = _record_now(owner)
    if not len(now.names):  # the armature is just made anew
        return {}
    found = renamed(before, now) if before is not None else {}
    _store(owner, *now)
    return found


def renamed(before: BoneRecord, now: BoneRecord) -> dict[str, str]:
    """New names by old ones, of the bones that one record has by another name than the record before.

    Where the same bones follow each other in the same order, nothing but names changed, and that tells all, also of
    names that were swapped and of bones that lie in one place. Where bones were made, removed or reshaped besides, a
    name that is still there stays with its bone; and a name that is gone goes over to the one new bone that lies at
    rest as the old one did.
    """
    if before.names == now.names:
        return {}
    if len(before.names) == len(now.names) and bool(_are_same(before.rests, now.rests).all()):
        return _changed(before.names, now.names)
    common = set(before.names) & set(now.names)
    gone = [i for i, name in enumerate(before.names) if name not in common]
    new = [i for i, name in enumerate(now.names) if name not in common]
    if not gone or not new:
        return {}
    same = _are_same(before.rests[gone][:, None], now.rests[new][None])
    only = same & (same.sum(axis=0, keepdims=True) == 1) & (same.sum(axis=1, keepdims=True) == 1)
    return {before.names[gone[i]]: now.names[new[j]] for i, j in np.argwhere(only).tolist()}


def _changed(before: tuple[str, ...], now: tuple[str, ...]) -> dict[str, str]:
    return {old: new for old, new in zip(before, now, strict=True) if old != new}


def _are_same(before: Singles, now: Singles) -> Mask:
    """Whether bones lie at rest as others did."""
    lengths: Singles = np.sqrt((before[..., 3:6] ** 2).sum(axis=-1))
    allowed = SAME_REST * lengths + ULPS * np.abs(before[..., 6:]).max(axis=-1)
    off = np.abs(before - now)
    places: Singles = off[..., 3:].max(axis=-1)
    axes: Singles = off[..., :3].max(axis=-1)
    return np.asarray((places <= allowed) & (axes <= SAME_AXES), dtype=np.bool_)


def _follow(owner: bpy.types.Object, names: Names) -> None:
    """Give the body of an armature, and all chains that name bones of it, the new names."""
    for other in bpy.data.objects:
        if other.type == "ARMATURE" and other.is_editable and not newer_refusal(other):
            for chain in rig_of(other).chains:
                _follow_in(other, chain, owner, names)
    rig = rig_of(owner)
    _rename_items(rig.body_captured, names)
    if rig.mapping:
        rig.mapping = with_names(rig.mapping, names)
    if rig.body_bone in names:
        statuses = [chain.status for chain in rig.chains]
        rig.body_bone = names[rig.body_bone]
        for chain, status in zip(rig.chains, statuses, strict=True):  # what was found of its chains holds
            chain.status = status


def _follow_in(other: bpy.types.Object, chain: FabrikChain, owner: bpy.types.Object, names: Names) -> None:
    """Give one chain of an object the new names of the bones of an armature, the same one or another."""
    status, message = chain.status, chain.message
    was = _named(chain)
    for thing, name in ((other, "tip_bone"), (chain.target, "target_bone"), (chain.pole, "pole_bone")):
        if thing == owner and getattr(chain, name) in names:
            setattr(chain, name, names[getattr(chain, name)])
    if other == owner:
        _rename_items([*chain.captured, *chain.blocking_bones], names)
        _follow_fingerprint(other, chain, names)
    if _named(chain) != was:  # the same bones as before: what was found holds
        chain.status = status
        log.info("chain '%s' of '%s' follows renamed bones: %s", chain.name, other.name, _named(chain))
    if other == owner and message:
        found = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        chain.message = re.sub(rf"(?<![\w.])(?:{found})(?![\w.])", lambda match: names[match.group()], message)


def _rename_items(items: Iterable[bpy.types.PropertyGroup], names: Names) -> None:
    for item in items:
        if item.name in names:
            item.name = names[item.name]


def _named(chain: FabrikChain) -> tuple[str, str, str]:
    return chain.tip_bone, chain.target_bone, chain.pole_bone


def _follow_fingerprint(owner: bpy.types.Object, chain: FabrikChain, names: Names) -> None:
    """Keep what tells whether the rest pose changed since the capture true; it has names in it."""
    bones = bones_if_any(owner, chain)
    old = {new: name for name, new in names.items()}
    before = [old.get(bone.name, bone.name) for bone in bones]
    if bones and chain.fingerprint and chain.fingerprint == fingerprint(bones, before):
        chain.fingerprint = fingerprint(bones)
