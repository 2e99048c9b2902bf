# SPDX-License-Identifier: GPL-3.0-or-later
"""All that an armature object stores of ours, taken away with its keys and drivers."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from .chain_bones import pose_bones
from .compat import fcurves_of, remove_curves

PREFIX = "fabrik_"


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


def remove_animation(owner: bpy.types.Object, paths: Iterable[str]) -> None:
    """Take away the curves of data paths in the object's action, and its drivers of them."""
    gone = set(paths)
    remove_curves(owner, [curve for curve in fcurves_of(owner) if curve.data_path in gone])
    data = owner.animation_data
    if data is not None:
        for driver in [one for one in data.drivers if one.data_path in gone]:
            data.drivers.remove(driver)


def _animated(owner: bpy.types.Object) -> list[str]:
    data = owner.animation_data
    return [curve.data_path for curve in (*fcurves_of(owner), *(data.drivers if data is not None else ()))]
