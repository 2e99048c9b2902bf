# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and drivers of chains, which Blender finds by a chain's number: they go with it when the list changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ..errors import RigError
from ..messages import Message
from .compat import curves_of_action, fcurves_of, remove_curves, shares_curves, strips_of

OF_CHAIN = re.compile(r"^fabrik_chains\[(\d+)\]")


def check_can_follow(owner: bpy.types.Object) -> None:
    """Refuse to change the list of chains where their keys can't follow.

    Raises:
        RigError: Another object plays the same curves, and its chains stay where they are.
    """
    is_keyed = any(_number(curve) is not None for curve in fcurves_of(owner))
    other = shares_curves(owner) if is_keyed else None
    if other is not None:
        reason = Message("ACTION_SHARED", other=other.name)
        raise RigError(reason, rig=owner.name)


def follow_order(owner: bpy.types.Object, names: Sequence[str], order: Sequence[int]) -> None:
    """Let keys and drivers of chains follow these to other places of the list; those of chains that are gone go, too.

    Args:
        owner: The armature object, whose list was changed.
        names: Names of the chains as they followed each other before.
        order: By their numbers there, the chains that are left, as they follow each other now.
    """
    places = {was: now for now, was in enumerate(order)}
    _remove(owner, places)
    for holder in _holders(owner):
        path = OF_CHAIN.sub(lambda found: _path(int(found[1]), places, names), holder.data_path)
        if path != holder.data_path:
            holder.data_path = path


def _path(was: int, places: dict[int, int], names: Sequence[str]) -> str:
    """The path to a chain at its new number; to one that is gone by its name, so that it leads to no other chain."""
    if was in places:
        return f"fabrik_chains[{places[was]}]"
    return f'fabrik_chains["{bpy.utils.escape_identifier(names[was] if was < len(names) else "")}"]'


def _number(curve: bpy.types.FCurve) -> int | None:
    """The number of the chain that a curve is of; None for one of something else."""
    found = OF_CHAIN.match(curve.data_path)
    return int(found[1]) if found else None


def _curves(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves of an object's action, and of the actions that its strips play alone."""
    data = owner.animation_data
    if data is None:
        return []
    found = list(fcurves_of(owner))
    for action in dict.fromkeys(strip.action for strip in strips_of(data, with_muted=True)):
        if action != data.action:
            found += curves_of_action(action)
    return found


def _drivers(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    data = owner.animation_data
    return list(data.drivers) if data is not None else []


def _remove(owner: bpy.types.Object, places: dict[int, int]) -> None:
    """Remove the curves and drivers of chains that are gone."""
    data: Any = owner.animation_data

    def goes(curve: bpy.types.FCurve) -> bool:
        number = _number(curve)
        return number is not None and number not in places

    remove_curves(owner, [curve for curve in fcurves_of(owner) if goes(curve)])
    for driver in [driver for driver in _drivers(owner) if goes(driver)]:
        data.drivers.remove(driver)


def _holders(owner: bpy.types.Object) -> Iterator[Any]:
    """What holds a path to a chain: curves, drivers, and what drivers of any object read."""
    for curve in [*_curves(owner), *_drivers(owner)]:
        if OF_CHAIN.match(curve.data_path):
            yield curve
    for other in bpy.data.objects:
        for driver in _drivers(other):
            variables = driver.driver.variables if driver.driver is not None else ()
            for target in (target for variable in variables for target in variable.targets):
                if target.id == owner and OF_CHAIN.match(target.data_path):
                    yield target
