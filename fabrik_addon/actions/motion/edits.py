# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits over motion: controls that tell how far from it they are, in layers; switched, chosen, and made part of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...errors import ChainError, InvalidValueError, RigError
from ...maths import Doubles, Mask
from ...rig.animation.channels import channel_of
from ...rig.animation.compat import (
    curves_in,
    drivers_of,
    fcurves_of,
    played_by,
    remove_animation,
    remove_curves,
    strips_of,
)
from ...rig.animation.curves import values_at
from ...rig.animation.keys import animated_paths, chains_animated_in, own_curves, own_slots
from ...rig.bones import pose_bones
from ...rig.checks import check_offset
from ...rig.goals import GoalRef, goals_of, is_offset, swing_frame_of
from ...rig.layers import RESTS, Channels, kept_path, stack
from ...rig.schema import FabrikChain, RigView, rig_of, unique_name
from ...rig.schema.chain import OFFSET
from ...rig.schema.rig import ControlView, FabrikLayer
from ...texts import Text
from ..frames import frames_keyed
from ..keep_pose import ReleaseReport, let_go, standing
from ..solve import Item
from .marks import check_marks


def edited_chains(owner: bpy.types.Object) -> list[FabrikChain]:
    """The chains of an armature whose controls edit its motion."""
    return [chain for chain in rig_of(owner).chains if is_offset(chain)]


def set_goal(context: bpy.types.Context, item: Item, goal: str) -> ReleaseReport:
    """Choose what the target of a chain tells; it comes to where that leaves the pose, and nothing moves.

    Args:
        context: Its view layer has the armature.
        item: The armature object and the chain.
        goal: "PLACE" or "OFFSET".

    Returns:
        What there is to tell.

    Raises:
        FabrikError: Its controls can't tell that; nothing was changed.
    """
    owner, chain = item
    if chain.goal == goal:
        return ReleaseReport([], [])
    if not rig_of(owner).edits:
        raise ChainError("edits of its armature are switched off: switch them on first", rig=owner.name)
    if goal == OFFSET:
        if chain.aims:
            raise ChainError("it aims: only a chain that reaches has a place in its motion", rig=owner.name)
        check_offset(owner, chain, swing_frame_of(owner, chain))
    loosed = standing(owner, [chain])
    chain.goal = goal
    return let_go(context, owner, loosed)


def edited_frames(chains: Iterable[FabrikChain], span: tuple[int, int]) -> tuple[float, ...]:
    """The frames from the first in which a control of chains does not rest to the last.

    Args:
        chains: Chains that are edited.
        span: First and last frame of what is played.

    Returns:
        None of them where all controls rest.
    """
    keys = frames_keyed(curve for goal in _controls(chains) for curve in _curves(goal))
    frames = np.arange(floor(min([span[0], *keys])), ceil(max([span[1], *keys])) + 1, dtype=np.float64)
    places = np.flatnonzero(are_moved(chains, frames))
    return tuple(frames[places[0] : places[-1] + 1].tolist()) if len(places) else ()


def are_moved(chains: Iterable[FabrikChain], frames: Doubles, *, turned: bool = False) -> Mask:
    """In which of F frames a control of chains does not rest, or with `turned` is turned, (F,)."""
    moved: Mask = np.zeros(len(frames), dtype=bool)
    for goal in _controls(chains):
        moved |= _is_moved(goal, frames, turned=turned)
    return moved


def _controls(chains: Iterable[FabrikChain]) -> list[GoalRef]:
    return [goal for chain in chains for goal in goals_of(chain)]


_Edit: TypeAlias = tuple[Channels, dict[str, str]]  # a layer's channels, and the data paths of location and rotation


def _counting(owner: bpy.types.Object) -> set[str]:
    """The keys of layers whose edits count at the frame at hand, or by keys and drivers of the layer at others."""
    path, animated = RigView.fields["layers"].path, animated_paths(owner)
    found = {""}
    for k, layer in enumerate(rig_of(owner).layers):
        if (layer.enabled and layer.influence) or any(one.startswith(f"{path}[{k}].") for one in animated):
            found.add(layer.key)
    return found


def _edits(goal: GoalRef) -> list[_Edit]:
    """What moves the control of an offset, in each layer that counts."""
    bone, found, counts = goal.holder, list[_Edit](), _counting(goal.found)
    for key, channels, _ in stack(goal.found, bone):
        if key in counts:
            names = ("location", channel_of(channels.rotation_mode)[0])
            paths = {name: bone.path_from_id(name) for name in names}
            if channels != bone and isinstance(bone, bpy.types.PoseBone):
                paths = {name: kept_path(bone, key, name) for name in names}
            found.append((channels, paths))
    return found


def _curves(goal: GoalRef) -> list[bpy.types.FCurve]:
    """The curves of a control's place and rotation, in all layers that count."""
    paths = {path for _, own in _edits(goal) for path in own.values()}
    return [curve for curve in fcurves_of(goal.found) if curve.data_path in paths]


def is_led(goal: GoalRef) -> bool:
    """Whether strips or drivers move a control, so that it can't be put to rest."""
    start, own = goal.channel_path().removesuffix("location"), {curve.data_path for curve in fcurves_of(goal.found)}
    return any(path.startswith(start) and path not in own for path in animated_paths(goal.found))


def _is_moved(goal: GoalRef, frames: Any, *, turned: bool) -> Mask:
    """In which of F frames a control is not at rest, (F,); one that is turned by half a turn about nothing is."""
    curves, found = _curves(goal), np.zeros(len(frames), dtype=bool)
    played = dict(zip([(one.data_path, one.array_index) for one in curves], values_at(curves, frames), strict=True))
    if is_led(goal):
        return ~found
    for channels, paths in _edits(goal):
        for name, path in list(paths.items())[turned:]:
            for i, (value, still) in enumerate(zip(getattr(channels, name), RESTS[name], strict=True)):
                own = played.get((path, i))
                found |= (own != still) if own is not None else np.full(len(frames), value != still)
    return found


def span_of_motion(owner: bpy.types.Object, scene: bpy.types.Scene) -> tuple[int, int]:
    """First and last frame of what moves the bones of an armature, keys and strips; of the scene where nothing does."""
    controls = {goal.bone for chain in rig_of(owner).chains for goal in goals_of(chain) if goal.found == owner}
    bones = [bone.path_from_id() for bone in pose_bones(owner) if bone.name not in controls]
    starts = tuple(f"{bone}.{name}" for bone in bones for name in ("location", "rotation", "scale"))
    curves = [curve for curve in fcurves_of(owner) if curve.data_path.startswith(starts)]
    frames = frames_keyed(curves)
    loops: list[Any] = [one for curve in curves for one in curve.modifiers if one.type == "CYCLES" and not curve.mute]
    if any(
        not (one.mute or one.use_restricted_range or one.cycles_after) and one.mode_after != "NONE" for one in loops
    ):
        frames |= {scene.frame_start, scene.frame_end}
    data = owner.animation_data
    for strip in strips_of(data) if data is not None and data.use_nla else ():
        frames |= {strip.frame_start, strip.frame_end}
    return (floor(min(frames)), ceil(max(frames))) if frames else (scene.frame_start, scene.frame_end)


def edits_of(owner: bpy.types.Object, names: Iterable[str], scene: bpy.types.Scene) -> dict[str, tuple[float, ...]]:
    """The frames in which chains, by their names, edit their motion; without those that don't (`edited_frames`)."""
    edits = [name for name in names if is_offset(rig_of(owner).chains[name])]
    if not edits or not rig_of(owner).edits:
        return {}
    span = span_of_motion(owner, scene)
    found = {name: edited_frames([rig_of(owner).chains[name]], span) for name in edits}
    return {name: frames for name, frames in found.items() if frames}


def edits_beyond(owner: bpy.types.Object, edits: Mapping[str, tuple[float, ...]], frames: Sequence[float]) -> list[str]:
    """The names of chains whose controls edit other frames than some, rising, as well (`edits_of`), or are led."""
    chains = {name: rig_of(owner).chains[name] for name in edits}
    spans = [(name, edited[0] < frames[0] or edited[-1] > frames[-1]) for name, edited in edits.items()]
    return [name for name, is_beyond in spans if is_beyond or any(map(is_led, goals_of(chains[name])))]


def rest_within(owner: bpy.types.Object, edits: Mapping[str, tuple[float, ...]], frames: Sequence[float]) -> list[str]:
    """Let controls rest, in all layers that count, that edited the motion in some frames only: part of it now.

    Their keys are taken away.

    Args:
        owner: The armature object.
        edits: As they were before (`edits_of`).
        frames: Rising, those that are part of it.

    Returns:
        The names of the chains that edit other frames as well, and were left alone.
    """
    left = edits_beyond(owner, edits, frames)
    goals = _controls([rig_of(owner).chains[name] for name in edits if name not in left])
    remove_curves([curve for goal in goals for curve in _curves(goal)])
    for channels, paths in (edit for goal in goals for edit in _edits(goal)):
        for name in paths:
            setattr(channels, name, RESTS[name])
    return left


# Layers of edits: made, chosen and removed; no pose changes by choosing one.

FIRST, NEXT = "Edits", "Layer"


def add_layer(owner: bpy.types.Object, name: str) -> FabrikLayer:
    """Make a layer of edits above the others, in which controls rest, and choose it.

    Args:
        owner: The armature object; edits that it has are a layer of their own from then on.
        name: Of the layer; "" for one of ours.

    Raises:
        FabrikError: Keys of its controls can't be put aside; nothing was changed.
    """
    rig = rig_of(owner)
    _check_keys(owner)
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
    _check_keys(owner)
    paths = dict[str, str]()
    for bone in _control_bones(owner):
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
    for curve in own_curves(owner):
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
    _check_keys(owner)
    if layer.key == rig.layer:
        others = [one.name for one in rig.layers if one != layer]
        choose_layer(owner, others[-1])
    key = layer_named(owner, name).key
    gone = {kept_path(bone, key, one) for bone in pose_bones(owner) for one in RESTS}
    remove_curves([curve for curve in own_curves(owner) if curve.data_path in gone])
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
    removed = f"{path}[{gone}]"
    remove_curves([one for one in own_curves(owner) if one.data_path.startswith(removed)])
    remove_animation(owner, [one.data_path for one in drivers_of(owner) if one.data_path.startswith(removed)])
    for one in (*own_curves(owner), *drivers_of(owner)):
        found = of_layer.match(one.data_path)
        if found is not None and int(found[1]) > gone:
            one.data_path = of_layer.sub(f"{path}[{int(found[1]) - 1}]", one.data_path)


def _control_bones(owner: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The bones by which motion is edited: targets and poles."""
    goals = [goal for chain in edited_chains(owner) for goal in goals_of(chain) if goal.found == owner and goal.bone]
    return [pose_bones(owner)[name] for name in dict.fromkeys(goal.bone for goal in goals)]


def check_goals_stay(owner: bpy.types.Object) -> None:
    """Refuse an armature of which a control edits the motion in some frames, and tells a place in others.

    Raises:
        ChainError: The Goal of one of its enabled chains is keyed.
    """
    keyed = chains_animated_in(owner, "goal") & {chain.name for chain in rig_of(owner).chains if chain.enabled}
    if keyed:
        raise ChainError("its Goal is keyed, so that it edits at times: bake it", rig=owner.name, chain=min(keyed))


def _check_keys(owner: bpy.types.Object) -> None:
    """Refuse an armature whose controls' keys can't be put aside."""
    check_marks(owner)
    check_goals_stay(owner)
    controls = _control_bones(owner)
    if not controls:
        raise RigError("no chain edits its motion: set its goal to Offset", rig=owner.name)
    starts = tuple(f"{bone.path_from_id()}." for bone in controls)
    for driver in drivers_of(owner):
        if driver.data_path.startswith(starts):
            raise RigError("a driver moves a control, which then has no layers", rig=owner.name)
    data, own = owner.animation_data, own_slots(owner)
    for action, slot in played_by(owner):
        is_foreign = data is not None and action != data.action and (action, slot) not in own
        if is_foreign and any(curve.data_path.startswith(starts) for curve in curves_in(action, slot)):
            text = Text("a strip plays keys of controls in '{action}', which is not its alone", action=action.name)
            raise RigError(text, rig=owner.name)
