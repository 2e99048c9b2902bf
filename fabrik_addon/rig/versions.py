# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the data that an armature stores, the steps from each version to the next, and how to take all away.

Whatever changes what is stored, or what it means, adds one to `DATA_VERSION` and a step from the version before to
`STEPS`; new settings whose defaults leave older chains as they are need none. Steps are run when a file is opened, when
data come from another file, before a chain is added and before a file is saved.

A library override mixes what its library stores with edits of its own, and its number may be of either. So all steps
are run on overrides, each time, and a step has to leave alone what is new already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import bpy

from ..errors import RigError
from ..messages import Message
from .animation.compat import drivers_of, fcurves_of, remove_animation
from .bones import pose_bones
from .control_bones import mark_controls
from .schema import BONE_SETTINGS, RigRecord, note_names, rig_of

log = logging.getLogger(__name__)

FIRST = 1  # that of the extension 0.1.0, which stored no number
DATA_VERSION = 3
PREFIX = "fabrik_"  # of all that is stored

Step = Callable[[bpy.types.Object], None]


def _to_3(owner: bpy.types.Object) -> None:
    """Goals of other kinds, pins and bodies: as they are where nothing was set, all is what it was.

    The number keeps an extension that knows nothing of them from posing rigs otherwise than they are meant. Of chains
    that share bones the last had its way; the status of the others, that they were moved away, is none any more.
    """
    for chain in rig_of(owner).chains:
        if not chain.status:
            chain.status = "NONE"


STEPS: dict[int, Step] = {1: lambda owner: None, 2: _to_3}  # by the version from which they lead


def stored_version(owner: bpy.types.Object) -> int:
    """The version of an armature's data; that of the first one where it has no number."""
    return RigRecord(owner).version or FIRST


def newer_refusal(owner: bpy.types.Object | None) -> Message | None:
    """Why an object's data is left alone, where a newer version of the extension wrote it, or its library; or None."""
    newest, place = FIRST, owner
    while place is not None:
        newest, library = max(newest, stored_version(place)), place.override_library
        above = library.reference if library is not None else None  # what it overrides
        place = above if isinstance(above, bpy.types.Object) else None
    return None if newest <= DATA_VERSION else Message("DATA_NEWER", newest=newest, known=DATA_VERSION)


def check_not_newer(owner: bpy.types.Object) -> None:
    """Refuse data of a newer version of the extension.

    Raises:
        RigError: It is newer.
    """
    refusal = newer_refusal(owner)
    if refusal:
        raise RigError(refusal, rig=owner.name)


def bring_up_to_date(owner: bpy.types.Object) -> None:
    """Run the steps from an armature's version, which is not newer, to this one, and write the number."""
    first = FIRST if owner.override_library is not None else stored_version(owner)
    for version in range(first, DATA_VERSION):
        STEPS[version](owner)
    note_names(owner)
    record = RigRecord(owner)
    if record.version != DATA_VERSION:
        record.version = DATA_VERSION


def bring_all_up_to_date(objects: Iterable[bpy.types.Object]) -> None:
    """`bring_up_to_date` for all armatures that hold data of ours; the log tells of those that are newer.

    What is linked is not written to: it is of the version of its library, which is brought up to date as a file.
    """
    for owner in objects:
        if owner.type != "ARMATURE" or not holds_data(owner):
            continue
        try:
            check_not_newer(owner)
            if owner.is_editable:
                bring_up_to_date(owner)
                mark_controls(owner)
        except RigError as error:
            log.warning("%s", error)
        except Exception:  # the file stays of use without this armature, which keeps its number
            log.exception("the data of '%s' could not be brought up to date", owner.name)


def holds_data(owner: bpy.types.Object) -> bool:
    """Whether an armature has a number, chains, or bones with a setting."""
    if RigRecord(owner).version or len(rig_of(owner).chains):
        return True
    names = [f"{PREFIX}{name}" for name in BONE_SETTINGS]
    return any(bone.is_property_set(name) for bone in (owner.pose.bones if owner.pose else ()) for name in names)


def clear_stored(owner: bpy.types.Object) -> None:
    """Give an armature object and its bones the defaults of all our properties, none of them keyed or driven."""
    remove_animation(owner, [path for path in _animated(owner) if path.startswith(PREFIX) or f"].{PREFIX}" in path])
    for thing in (owner, *pose_bones(owner)):
        for prop in thing.bl_rna.properties:
            if prop.identifier.startswith(PREFIX) and thing.is_property_set(prop.identifier):
                if prop.type == "COLLECTION":
                    getattr(thing, prop.identifier).clear()
                thing.property_unset(prop.identifier)


def clear_bones(owner: bpy.types.Object, names: Iterable[str]) -> None:
    """Take away the keys and drivers of bones that are gone."""
    starts = tuple(f'pose.bones["{bpy.utils.escape_identifier(name)}"]' for name in names)
    remove_animation(owner, [path for path in _animated(owner) if path.startswith(starts)] if starts else [])


def _animated(owner: bpy.types.Object) -> list[str]:
    return [curve.data_path for curve in (*fcurves_of(owner), *drivers_of(owner))]
