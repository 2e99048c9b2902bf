# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between Blender 4.2 and 5.2, all in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy


def fcurves_of(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves of the object's action: of its slot from 4.4 on, of the whole action before."""
    return [curve for home in _homes_of(owner) for curve in home.fcurves]


def find_curve(owner: bpy.types.Object, path: str, index: int) -> bpy.types.FCurve | None:
    """The curve of one channel in the object's action, with keys or without; None where there is none."""
    found = (home.fcurves.find(path, index=index) for home in _homes_of(owner))
    return next((curve for curve in found if curve is not None), None)


def drivers_of(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The drivers of the object's properties."""
    data = owner.animation_data
    return list(data.drivers) if data is not None else []


def _homes_of(owner: bpy.types.Object) -> list[Any]:
    """What holds the curves and groups of an object's action."""
    data: Any = owner.animation_data
    action = data.action if data else None
    if action is None:
        return []
    if not hasattr(action, "slots"):
        return [action]
    if data.action_slot is None:
        return []
    bags = [strip.channelbag(data.action_slot) for layer in action.layers for strip in layer.strips]
    return [bag for bag in bags if bag is not None]


def slot_of(owner: bpy.types.Object) -> Any:
    """The object's slot in its action; None where there is none, and before 4.4."""
    return getattr(owner.animation_data, "action_slot", None)


def slot_name(owner: bpy.types.Object) -> str:
    """The identifier of the slot that an object has in its action, or would have; "" before 4.4, without slots."""
    data, slot = owner.animation_data, slot_of(owner)
    if bpy.app.version < (4, 4):
        return ""
    return slot.identifier if slot is not None else getattr(data, "last_slot_identifier", "") or f"OB{owner.name}"


def played_by(owner: bpy.types.Object) -> list[tuple[bpy.types.Action, str]]:
    """The actions that an object plays, strips of muted tracks included, each with the identifier of its slot there."""
    data: Any = owner.animation_data
    users = [data, *strips_of(data, with_muted=True)] if data is not None else []
    slots = [(user.action, getattr(user, "action_slot", None)) for user in users if user.action is not None]
    return [(action, slot.identifier if slot else "") for action, slot in slots if slot or not hasattr(action, "slots")]


def lacks_slot(owner: bpy.types.Object) -> bool:
    """Whether the object plays nothing of its action, since it has no slot in it; never before 4.4."""
    return hasattr(owner.animation_data, "action_slot") and slot_of(owner) is None


def give_action(user: Any, action: bpy.types.Action | None, slot: Any = None) -> None:
    """Give animation data, or a strip, an action, and from 4.4 on a slot of it: the first if none is given."""
    if user.action != action:
        user.action = action
    slots: Any = getattr(action, "slots", ())
    wanted = slot if slot is not None or not len(slots) else slots[0]
    if hasattr(user, "action_slot") and user.action_slot != wanted:
        user.action_slot = wanted


def copy_action(owner: bpy.types.Object) -> None:
    """Give an object a copy of its action, with the same slot of it; nothing where it has none."""
    data: Any = owner.animation_data
    if data is None or data.action is None:
        return
    slot = slot_of(owner)
    identifier = slot.identifier if slot is not None else ""
    copy = data.action.copy()
    give_action(data, copy, copy.slots[identifier] if identifier else None)


@contextmanager
def playing(owner: bpy.types.Object, action: bpy.types.Action) -> Iterator[None]:
    """An object plays one action alone meanwhile."""
    data = owner.animation_data or owner.animation_data_create()
    assert data is not None, "an object can be animated"
    kept, slot, with_strips = data.action, slot_of(owner), data.use_nla
    data.use_nla = False
    slots: Any = getattr(action, "slots", None)
    give_action(data, action, slots.get(slot.identifier) if slot is not None and slots is not None else None)
    try:
        yield
    finally:
        give_action(data, kept, slot)
        data.use_nla = with_strips


def slot_names(action: bpy.types.Action | None) -> set[str]:
    """What the slots of an action are told apart by; none before 4.4."""
    return {slot.identifier for slot in getattr(action, "slots", ())}


def remove_slots(action: bpy.types.Action | None, names: set[str]) -> None:
    """Remove slots of an action, by their names."""
    slots: Any = getattr(action, "slots", ())
    for name in names:
        slots.remove(slots[name])


def strips_of(data: Any, with_muted: bool = False) -> list[Any]:
    """The strips of an object's NLA tracks that have actions, those inside meta strips included.

    Those of muted tracks or not; one that is solo plays all the same.
    """
    tracks = [track for track in data.nla_tracks if with_muted or not track.mute or track.is_solo]
    waiting = [strip for track in tracks for strip in track.strips]
    found = []
    while waiting:
        strip = waiting.pop()
        waiting += strip.strips
        found += [strip] if strip.action is not None else []
    return found


def strip_curves(data: Any, with_muted: bool = False) -> list[bpy.types.FCurve]:
    """The curves of the actions that the strips of an object's NLA tracks play, each action once; none without data."""
    actions = dict.fromkeys([strip.action for strip in strips_of(data, with_muted)]) if data is not None else ()
    return [curve for action in actions for curve in curves_of_action(action)]


def shares_curves(owner: bpy.types.Object) -> bpy.types.Object | None:
    """Another object that plays the curves of an object's action, as its own action or in a strip of a track.

    From 4.4 on only an object with the same slot does, before any that has the action.
    """
    data: Any = owner.animation_data
    slot = slot_of(owner)
    if lacks_slot(owner):
        return None  # it gets a slot of its own
    for other in bpy.data.objects:
        theirs: Any = other.animation_data
        if other == owner or theirs is None:
            continue
        for user in (theirs, *strips_of(theirs, with_muted=True)):
            if user.action == data.action and (slot is None or getattr(user, "action_slot", None) == slot):
                return other
    return None


def evaluated_now(depsgraph: bpy.types.Depsgraph) -> bpy.types.Depsgraph:
    """A depsgraph with all that was written so far.

    Where Blender before 5.2 is told so from within an update for which it built the depsgraph anew, as after an undo or
    with a new object, it loses the list of the scene's objects, and crashes with the next update; unless the scene is
    evaluated with it.
    """
    if bpy.app.version < (5, 2) and depsgraph.id_type_updated("SCENE") and depsgraph.scene is not None:
        depsgraph.scene.update_tag()
    depsgraph.update()
    return depsgraph


def is_hidden(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is hidden, by itself (from 5.0 on on the pose bone) or by all its bone collections."""
    shown: Any = bone if hasattr(bone, "hide") else bone.bone
    homes: Any = bone.bone.collections
    return bool(shown.hide) or (len(homes) > 0 and not any(home.is_visible_effectively for home in homes))


def is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether a pose bone is selected and seen: Blender keeps the mark on hidden ones, too, and heeds it on none."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone  # on the pose bone from 5.0 on, on the bone before
    return bool(owner.select) and not is_hidden(bone)


def set_selected(bone: bpy.types.PoseBone, on: bool) -> None:
    """Select a pose bone, or take it out of the selection."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone
    if bool(owner.select) != on:
        owner.select = on


def set_hidden(bone: bpy.types.PoseBone) -> None:
    """Hide a pose bone."""
    shown: Any = bone if hasattr(bone, "hide") else bone.bone
    shown.hide = True


def curves_of_action(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All curves of an action, of whatever slot."""
    return [curve for home in _homes_in(action) for curve in home.fcurves]


def curves_in(action: bpy.types.Action, slot: str) -> list[bpy.types.FCurve]:
    """The curves of one slot of an action, by the slot's identifier; before 4.4, without slots, all."""
    return [curve for home in _homes_in(action, slot) for curve in home.fcurves]


def _homes_in(action: Any, identifier: str = "") -> list[Any]:
    """What holds the curves and groups of an action; from 4.4 on of all its slots, or of one."""
    if not hasattr(action, "slots"):
        return [action]
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [bag for bag in bags if identifier in ("", bag.slot.identifier)]


def ensure_curve(owner: bpy.types.Object, path: str, index: int, group: str) -> bpy.types.FCurve:
    """The curve of a channel in the object's action, made where there is none; the object must have an action.

    Up to 4.3 curves belong to the action, from 4.4 on to the object's slot in it; 4.5 has a function for that.
    """
    data: Any = owner.animation_data
    action: Any = data.action
    if hasattr(action, "fcurve_ensure_for_datablock"):
        named = {"group_name": group} if bpy.app.version >= (5, 0) else {}
        ensured: bpy.types.FCurve = action.fcurve_ensure_for_datablock(owner, path, index=index, **named)
        return ensured
    has_slots = hasattr(action, "slots")
    curves, named = (_slot_curves(owner, action), {}) if has_slots else (action.fcurves, {"action_group": group})
    found: bpy.types.FCurve = curves.find(path, index=index) or curves.new(path, index=index, **named)
    return found


def _slot_curves(owner: bpy.types.Object, action: Any) -> Any:
    """The curves of an object's slot in 4.4, with layer and strip made where they are missing."""
    data: Any = owner.animation_data
    if data.action_slot is None:
        data.action_slot = action.slots.new(id_type="OBJECT", name=owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(data.action_slot, ensure=True).fcurves


def remove_curves(curves: Iterable[bpy.types.FCurve]) -> None:
    """Take curves out of their actions, and their groups where no other curve is in them."""
    left = {curve.as_pointer(): curve.id_data for curve in curves}
    for home in [home for action in set(left.values()) for home in _homes_in(action)]:
        own = [curve for curve in home.fcurves if curve.as_pointer() in left]
        names = {curve.group.name for curve in own if curve.group is not None}
        for curve in own:
            home.fcurves.remove(curve)
        for group in [home.groups.get(name) for name in names]:  # some versions remove empty ones by themselves
            if group is not None and not len(group.channels):
                home.groups.remove(group)


def remove_animation(owner: bpy.types.Object, paths: Iterable[str]) -> None:
    """Take away the curves of data paths in the object's action, and its drivers of them."""
    gone = set(paths)
    remove_curves([curve for curve in fcurves_of(owner) if curve.data_path in gone])
    for driver in [one for one in drivers_of(owner) if one.data_path in gone]:
        data: Any = owner.animation_data
        data.drivers.remove(driver)
