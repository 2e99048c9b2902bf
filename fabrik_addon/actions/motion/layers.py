# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of edits over motion: made, chosen and removed; no pose changes by choosing one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy

from ...errors import InvalidValueError, RigError
from ...rig.animation.compat import curves_of_action, drivers_of, fcurves_of, remove_animation, remove_curves, strips_of
from ...rig.bones import pose_bones
from ...rig.goals import goals_of
from ...rig.layers import RESTS, kept_path
from ...rig.schema import RigView, rig_of, unique_name
from ...rig.schema.rig import ControlView, FabrikLayer
from ...texts import Text
from .edits import edited_chains
from .marks import check_marks

FIRST, NEXT = "Edits", "Layer"


def add_layer(owner: bpy.types.Object, name: str = "") -> FabrikLayer:
    """Make a layer of edits above the others, in which controls rest, and choose it.

    Args:
        owner: The armature object; edits that it has are a layer of their own from then on.
        name: Of the layer; "" for one of ours.

    Raises:
        FabrikError: Keys of its controls can't be put aside; nothing was changed.
    """
    rig = rig_of(owner)
    _check(owner)
    if not len(rig.layers):
        rig.layer = _made(owner, FIRST).key
    layer = _made(owner, name or NEXT)
    choose_layer(owner, layer.name)
    return layer


def _made(owner: bpy.types.Object, name: str) -> FabrikLayer:
    rig = rig_of(owner)
    name = unique_name(name, [one.name for one in rig.layers])
    rig.layers_made += 1
    layer = rig.layers.add()
    layer.name, layer.key = name, str(rig.layers_made)
    return layer


def layer_named(owner: bpy.types.Object, name: str) -> FabrikLayer:
    """The layer with a name.

    Raises:
        InvalidValueError: There is none.
    """
    found = next((layer for layer in rig_of(owner).layers if layer.name == name), None)
    if found is None:
        raise InvalidValueError(Text("it has no layer '{name}'", name=name), rig=owner.name)
    return found


def choose_layer(owner: bpy.types.Object, name: str) -> None:
    """Let the channels of controls, and their keys, be those of another layer; those that stood there are put aside.

    Raises:
        FabrikError: There is no such layer, or keys can't be put aside; nothing was changed.
    """
    rig, layer = rig_of(owner), layer_named(owner, name)
    if layer.key == rig.layer:
        return
    _check(owner)
    paths = dict[str, str]()
    for bone in _controls(owner):
        kept = ControlView(bone).layers
        aside = kept.get(rig.layer) or kept.add()
        aside.name, aside.rotation_mode = rig.layer, bone.rotation_mode
        for one in RESTS:
            setattr(aside, one, getattr(bone, one))
            paths[bone.path_from_id(one)] = kept_path(bone, rig.layer, one)
            paths[kept_path(bone, layer.key, one)] = bone.path_from_id(one)
        ours = kept.get(layer.key)
        if ours is not None:
            setattr(bone, "rotation_mode", ours.rotation_mode)
        for one, rest in RESTS.items():
            setattr(bone, one, getattr(ours, one) if ours is not None else rest)
        if ours is not None:
            kept.remove([channels.name for channels in kept].index(layer.key))
    for curve in _curves(owner):
        curve.data_path = paths.get(curve.data_path, curve.data_path)
    rig.layer = layer.key


def remove_layer(owner: bpy.types.Object, name: str) -> None:
    """Remove a layer with its edits.

    Raises:
        FabrikError: There is no such layer or no other, or keys can't be taken away; nothing was changed.
    """
    rig, layer = rig_of(owner), layer_named(owner, name)
    if len(rig.layers) == 1:
        raise InvalidValueError("it is the only layer", rig=owner.name)
    _check(owner)
    if layer.key == rig.layer:
        others = [one.name for one in rig.layers if one != layer]
        choose_layer(owner, others[-1])
    key = layer_named(owner, name).key
    gone = {kept_path(bone, key, one) for bone in pose_bones(owner) for one in RESTS}
    remove_curves(owner, [curve for curve in fcurves_of(owner) if curve.data_path in gone])
    for bone in pose_bones(owner):
        kept = ControlView(bone).layers
        for k in [k for k, channels in enumerate(kept) if channels.name == key]:
            kept.remove(k)
    place = [one.key for one in rig.layers].index(key)
    rig.layers.remove(place)
    _follow(owner, place)
    owner.update_tag()  # Blender 4.2 would animate the list as it was in the next frame


def _follow(owner: bpy.types.Object, gone: int) -> None:
    """Let keys and drivers of layers, which Blender finds by their numbers, follow where one is gone."""
    path = RigView.fields["layers"].path
    of_layer = re.compile(rf"^{path}\[(\d+)\]")
    held = [*_curves(owner), *drivers_of(owner)]
    own = [(one, int(found[1])) for one in held if (found := of_layer.match(one.data_path)) is not None]
    remove_animation(owner, [one.data_path for one, number in own if number == gone])
    for one, number in own:
        if number > gone:
            one.data_path = of_layer.sub(f"{path}[{number - 1}]", one.data_path)


def _controls(owner: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The bones by which motion is edited: targets and poles."""
    goals = [goal for chain in edited_chains(owner) for goal in goals_of(chain) if goal.found == owner and goal.bone]
    return [pose_bones(owner)[name] for name in dict.fromkeys(goal.bone for goal in goals)]


def _curves(owner: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The curves of an object's action, and of those actions that no other object plays."""
    yield from fcurves_of(owner)
    for action in bpy.data.actions:
        if action != _current(owner) and _is_own(owner, action):
            yield from curves_of_action(action)


def _is_own(owner: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Whether an action can be changed, and no other object plays it."""
    return action.is_editable and not any(action in _played(other) for other in bpy.data.objects if other != owner)


def _current(owner: bpy.types.Object) -> bpy.types.Action | None:
    return owner.animation_data.action if owner.animation_data is not None else None


def _played(owner: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions that an object plays, strips of muted tracks included."""
    data = owner.animation_data
    found = [_current(owner), *(strip.action for strip in strips_of(data, with_muted=True))] if data is not None else []
    return [action for action in found if action is not None]


def _check(owner: bpy.types.Object) -> None:
    """Refuse an armature whose controls' keys can't be put aside."""
    check_marks(owner)
    controls = _controls(owner)
    if not controls:
        raise RigError("no chain edits its motion: set its goal to Offset", rig=owner.name)
    starts = tuple(f"{bone.path_from_id()}." for bone in controls)
    for driver in drivers_of(owner):
        if driver.data_path.startswith(starts):
            raise RigError("a driver moves a control, which then has no layers", rig=owner.name)
    for action in _played(owner):
        is_foreign = action != _current(owner) and not _is_own(owner, action)
        if is_foreign and any(curve.data_path.startswith(starts) for curve in curves_of_action(action)):
            text = Text("a strip plays keys of controls in '{action}', which is not its alone", action=action.name)
            raise RigError(text, rig=owner.name)
