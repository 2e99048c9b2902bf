# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones of an armature were renamed, found by their rest and their order, not by their names."""

from __future__ import annotations

import bpy
import numpy as np

from .array_types import Mask, Singles
from .bone_record import (
    BoneRecord,
    names_now,
    record_now,
    store_names,
    store_record,
    stored_record,
)
from .rotations import ULPS

SAME_REST = 1e-4  # share of a bone's length: leaving edit mode alters the last digits
SAME_AXES = 10.0 * SAME_REST  # by which the X axis, of length one, may differ


def follow_names(owner: bpy.types.Object) -> dict[str, str]:
    """The names that changed since the armature's record was kept, and bring the record up to date.

    Args:
        owner: An armature object that can be edited.

    Returns:
        New names by old ones. A bone that can be told from no other is left out.
    """
    before = stored_record(owner)
    if owner.data is not None and getattr(owner.data, "is_editmode"):
        return _in_edit_mode(owner, before)
    now = record_now(owner)
    if not len(now.names):  # the armature is just made anew
        return {}
    found = renamed(before, now) if before is not None else {}
    store_record(owner, now)
    return found


def _in_edit_mode(owner: bpy.types.Object, before: BoneRecord | None) -> dict[str, str]:
    """In edit mode a pose has the present names, and all bones that it had before, in their order."""
    names = names_now(owner)
    if before is None or len(names) != len(before.names):
        return {}
    store_names(owner, names)
    return _changed(before.names, names)


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
    kept = set(before.names) & set(now.names)
    gone = [i for i, name in enumerate(before.names) if name not in kept]
    new = [i for i, name in enumerate(now.names) if name not in kept]
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
