# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on bones, on targets and poles and on pins; which curves a chain has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil, floor, inf
from typing import Any, ClassVar

import bpy
import numpy as np

from ...errors import FabrikError, RigError
from ...maths import Q4, V3
from ...messages import Message
from ..bones import pose_bones
from ..goals import GoalRef
from ..schema import FabrikChain, rig_of
from .channels import channel_of, read_values, rotation_path, to_rotation
from .compat import (
    curves_in,
    curves_of_action,
    drivers_of,
    fcurves_of,
    played_by,
    remove_animation,
    remove_curves,
    shares_curves,
    slot_name,
    strip_curves,
    strips_of,
)
from .curves import SAME_FRAME, split_at, values_at

# The data paths of what is animated of an armature object, and of which chain they are.

CHAIN_PATH = re.compile(r'fabrik_chains\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]\.(.+)')


def animated_paths(owner: bpy.types.Object, with_muted: bool = False) -> list[str]:
    """The paths that an object's action, its drivers and the strips of its NLA tracks animate.

    A muted track plays all the same where it is the one that is solo.
    """
    data = owner.animation_data
    if data is None:
        return []
    curves = (*fcurves_of(owner), *data.drivers, *strip_curves(data, with_muted))
    return [curve.data_path for curve in curves]


def own_slots(owner: bpy.types.Object) -> list[tuple[bpy.types.Action, str]]:
    """What an object plays, or may play, of actions that can be changed, and no other does: each with its slot.

    One that nobody plays at present is its own where its slot is called as none of another armature with chains; up to
    4.3, without slots, where there is no other such armature.
    """
    others = [other for other in bpy.data.objects if other != owner]
    foreign, name = {one for other in others for one in played_by(other)}, slot_name(owner)
    found = dict.fromkeys(played_by(owner))
    if name not in {slot_name(other) for other in others if len(rig_of(other).chains)}:
        found |= dict.fromkeys((action, name) for action in bpy.data.actions)
    return [one for one in found if one[0].is_editable and one not in foreign]


def own_curves(owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The curves that an object plays, as its action or in strips, or may play, and no other does (`own_slots`)."""
    data = owner.animation_data
    current = (data.action, slot_name(owner)) if data is not None else None
    others = [one for one in own_slots(owner) if one != current]
    return [*fcurves_of(owner), *(curve for one in others for curve in curves_in(*one))]


def chain_of(path: re.Match[str], names: Sequence[str]) -> str:
    """The name of the chain that a match of `CHAIN_PATH` means, by those in the order of the list; "" for none."""
    if path[1] is None:
        return bpy.utils.unescape_identifier(path[2])
    return names[int(path[1])] if int(path[1]) < len(names) else ""


def chains_animated_in(owner: bpy.types.Object, name: str) -> set[str]:
    """The names of the chains of which a setting is animated."""
    names = [chain.name for chain in rig_of(owner).chains]
    found = [CHAIN_PATH.fullmatch(path) for path in animated_paths(owner) if path.endswith(f".{name}")]
    return {chain_of(path, names) for path in found if path is not None and path[3] == name}


def is_pinned_at_times(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether keys, strips or a driver pin and free a chain, so that it may be pinned in another frame."""
    return chain.name in chains_animated_in(owner, "pin")


# Keys and drivers of chains, which Blender finds by a chain's number: they go with it when the list changes.

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
    kept = {None, *places}
    remove_curves([curve for curve in own_curves(owner) if _number(curve) not in kept])
    remove_animation(owner, [driver.data_path for driver in drivers_of(owner) if _number(driver) not in kept])
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


def _holders(owner: bpy.types.Object) -> Iterator[Any]:
    """What holds a path to a chain: curves, drivers, and what drivers of any object read."""
    curves = {curve.as_pointer(): curve for curve in own_curves(owner)}
    data = owner.animation_data
    others = [curve for curve in strip_curves(data, with_muted=True) if data is None or curve.id_data != data.action]
    curves |= {curve.as_pointer(): curve for curve in others}
    for curve in (*curves.values(), *drivers_of(owner)):
        if OF_CHAIN.match(curve.data_path):
            yield curve
    for other in bpy.data.objects:
        for driver in drivers_of(other):
            variables = driver.driver.variables if driver.driver is not None else ()
            for target in (target for variable in variables for target in variable.targets):
                if target.id == owner and OF_CHAIN.match(target.data_path):
                    yield target


# Keys on the rotation of bones, and on the location of targets and poles.

HELD = ("held_location", "held_rotation")
PINNED = ("pin", *HELD)


class StripValues:
    """What NLA strips play in the channels of bones: no curve tells it, but what Blender evaluates before a solve.

    That is what stands in the channels when a frame was evaluated. It is kept until that happens again, or the strips
    are others.
    """

    noted: ClassVar[dict[str, tuple[tuple[object, ...], dict[str, tuple[float, ...]]]]] = {}

    @classmethod
    def note(cls, owner: bpy.types.Object, frame: float) -> dict[str, tuple[float, ...]]:
        """Keep what stands in the channels of an armature's bones, by their paths, as what is played at a frame."""
        paths, found = {*animated_paths(owner)}, dict[str, tuple[float, ...]]()
        for bone in pose_bones(owner) if paths else ():
            own = (rotation_path(bone), read_values(bone)), (bone.path_from_id("location"), bone.location)
            found |= {path: tuple(values) for path, values in own if path in paths}
        cls.noted[owner.name_full] = _stamp_of(owner, frame), found
        return found

    @classmethod
    def at(cls, owner: bpy.types.Object, frame: float) -> Mapping[str, tuple[float, ...]]:
        """What is played at the scene's frame, where strips play; what stands there, if that was not noted yet."""
        stamp, found = cls.noted.get(owner.name_full, ((), {}))
        return found if stamp == _stamp_of(owner, frame) else cls.note(owner, frame)

    @classmethod
    def evaluated(cls, frame: float, owners: Iterable[bpy.types.Object]) -> None:
        """Blender has evaluated a frame anew."""
        for owner in owners:
            if owner.name_full in cls.noted:
                cls.note(owner, frame)

    @classmethod
    def forget(cls) -> None:
        """Another file."""
        cls.noted.clear()


def has_strips(owner: bpy.types.Object) -> bool:
    """Whether strips of NLA tracks move an armature object."""
    data = owner.animation_data
    return bool(data and data.use_nla and strips_of(data))


def _stamp_of(owner: bpy.types.Object, frame: float) -> tuple[object, ...]:
    """What is the same as long as an armature plays the same at a frame."""
    data: Any = owner.animation_data
    own = [(one.action.name_full, one.mute, one.influence, one.blend_type) for one in strips_of(data, with_muted=True)]
    spans = [(one.frame_start, one.frame_end, one.scale) for one in strips_of(data, with_muted=True)]
    tracks = [(track.mute, track.is_solo) for track in data.nla_tracks]
    action = data.action.name_full if data.action is not None else ""
    return round(frame / SAME_FRAME), action, data.action_influence, data.action_blend_type, *own, *spans, *tracks


SAME_VALUE = 1e-4  # of a channel, up to which it stands where its keys have it


class KeyedChannels:
    """The curves of an armature's bones that play at one frame; good until the next evaluation.

    Attributes:
        frame: Sub-frame included.
    """

    def __init__(self, owner: bpy.types.Object, frame: float) -> None:
        self.frame = frame
        curves = fcurves_of(owner)
        self.curves = {(curve.data_path, curve.array_index): curve for curve in curves if not curve.mute}
        data = owner.animation_data
        self._owner, self._is_layered = owner, data is not None and len(data.nla_tracks) > 0 and has_strips(owner)
        self._paths = {*animated_paths(owner)} if self._is_layered else {path for path, _ in self.curves}

    def played(self, path: str, otherwise: Sequence[float]) -> list[float]:
        """The channels of a property as they are played at the frame, those without keys as said; none without any."""
        if self._is_layered:
            return [*StripValues.at(self._owner, self.frame).get(path, ())]
        curves = [self.curves.get((path, i)) for i in range(len(otherwise))]
        if not any(curves):
            return []
        pairs = zip(curves, otherwise, strict=True)
        return [curve.evaluate(self.frame) if curve is not None else value for curve, value in pairs]

    def curves_of(self, bone: bpy.types.PoseBone) -> list[bpy.types.FCurve | None]:
        """The curve of each rotation channel of a bone."""
        name, width = channel_of(bone.rotation_mode)
        path = bone.path_from_id(name)
        return [self.curves.get((path, i)) for i in range(width)]

    def previous(self, bone: bpy.types.PoseBone, otherwise: list[float]) -> list[float]:
        """Channel values at the last key up to the frame; `otherwise` for channels without one."""
        if self._is_layered or not self.has(bone):
            return otherwise
        values = list(otherwise)
        for i, curve in enumerate(self.curves_of(bone)):
            points: Any = curve.keyframe_points if curve else ()
            count = bisect_right(points, self.frame, key=lambda point: point.co[0])
            if curve and count:
                values[i] = curve.evaluate(points[count - 1].co[0])
        return values

    def count(self, bones: Iterable[bpy.types.PoseBone]) -> tuple[int, int]:
        """How many curves the rotations of bones have, and how many keys these have."""
        curves = [curve for bone in bones for curve in self.curves_of(bone) if curve is not None]
        return len(curves), sum(len(curve.keyframe_points) for curve in curves)

    def has(self, bone: bpy.types.PoseBone, channel: str = "") -> bool:
        """Whether a channel of the bone is keyed, by default its rotation."""
        return bool(self._paths) and bone.path_from_id(channel or channel_of(bone.rotation_mode)[0]) in self._paths

    def takes_back(self, bone: bpy.types.PoseBone, channel: str = "") -> bool:
        """Whether keys of such a channel have it elsewhere than it stands, where the next evaluation brings it."""
        name = channel or channel_of(bone.rotation_mode)[0]
        values = [*getattr(bone, name)]
        pairs = zip(self.played(bone.path_from_id(name), values), values, strict=False)
        return self._is_layered or any(abs(a - b) > SAME_VALUE for a, b in pairs)  # strips of no influence do, too


def key_at(curve: bpy.types.FCurve, frame: float) -> bpy.types.Keyframe | None:
    """The key of a curve at a frame; None where it has none."""
    return next((point for point in curve.keyframe_points if abs(point.co[0] - frame) < SAME_FRAME), None)


def insert_keys(
    context: bpy.types.Context, channels: Iterable[tuple[bpy.types.PoseBone, str]], keyed: KeyedChannels
) -> int:
    """Key channels of bones, each by its name, where automatic keying is on, as the user prefers it; how many were."""
    if not keys_by_itself(context):
        return 0
    return sum([_insert(context, bone, name, bone.name, keyed.has(bone, name)) for bone, name in channels])


def insert_posed_keys(
    context: bpy.types.Context,
    bones: list[bpy.types.PoseBone],
    plain: Sequence[tuple[bpy.types.PoseBone, str]],
    keyed: KeyedChannels,
) -> tuple[list[str], bool]:
    """Key bones that were posed where automatic keying is on: their rotation, and other, `plain` channels.

    Returns:
        Names of the bones that keys of these channels, as they were before, take back; whether a rotation was keyed.
    """
    had = [bone.name for bone in bones if keyed.has(bone) and keyed.takes_back(bone)]
    had += [bone.name for bone, name in plain if keyed.has(bone, name) and keyed.takes_back(bone, name)]
    is_keyed = insert_keys(context, [(bone, channel_of(bone.rotation_mode)[0]) for bone in bones], keyed) > 0
    insert_keys(context, plain, keyed)
    return had, is_keyed


def insert_property_keys(
    context: bpy.types.Context, properties: Sequence[tuple[bpy.types.PoseBone, str]], keyed: KeyedChannels
) -> list[bpy.types.PoseBone]:
    """Key custom properties of bones, each by its path from the bone, where automatic keying is on.

    Returns:
        The bones whose property has keys and was not keyed now, so that these take back what was set.
    """
    lost: list[bpy.types.PoseBone] = []
    for bone, path in properties:
        has_keys = (f"{bone.path_from_id()}{path}", 0) in keyed.curves
        if not _insert(context, bone, path, bone.name, has_keys) and has_keys:
            lost.append(bone)
    return lost


def insert_goal_keys(context: bpy.types.Context, goal: GoalRef, *, turns: bool = False) -> int:
    """Key the location of a target or pole, or its rotation, where automatic keying is on; see `insert_keys`."""
    name, is_keyed = goal.channel_names[turns], bool(goal.channel_curves(turns=turns))
    return _insert(context, goal.holder, name, goal.key_group, is_keyed)


def insert_goal_key(goal: GoalRef, frame: float, *, turns: bool = False) -> bool:
    """Key the location of a target or pole, or its rotation, at a frame; whether that could be done."""
    return goal.holder.keyframe_insert(goal.channel_names[turns], frame=frame, group=goal.key_group)


def key_from(
    owner: bpy.types.Object, channel: tuple[str, str], frame: int, before: Sequence[float], *, stays: bool = False
) -> None:
    """Key a property of an object as it stands from a frame on; up to that it is as it was.

    Args:
        owner: The object.
        channel: Path of the property from it, and the group of its curves.
        frame: From which on.
        before: What its channels without keys were.
        stays: Whether it holds until the next key; else the way there is as Blender's preferences say.
    """
    path, group = channel
    known = [curve for curve in fcurves_of(owner) if curve.data_path == path and len(curve.keyframe_points)]
    had = {curve.array_index for curve in known}
    for curve in known:
        split_at(curve, frame - 1.0)
    owner.keyframe_insert(path, frame=frame, group=group)
    for curve in fcurves_of(owner):
        if curve.data_path != path:
            continue
        points = curve.keyframe_points
        if curve.array_index not in had:
            points.insert(frame - 1.0, before[curve.array_index])
        for point in points:
            if abs(point.co[0] - frame + 1.0) < SAME_FRAME or (stays and abs(point.co[0] - frame) < SAME_FRAME):
                point.interpolation = "CONSTANT"
        curve.update()


def curves_of_chain(owner: bpy.types.Object, chain: FabrikChain, names: Collection[str] = ()) -> list[bpy.types.FCurve]:
    """The curves of settings of a chain, by its number or by its name; of those of some names, or of all."""
    quoted = f'fabrik_chains["{bpy.utils.escape_identifier(chain.name)}"]'
    own = chain.path_from_id(), quoted
    parted = [(curve, *curve.data_path.rpartition(".")) for curve in fcurves_of(owner)]
    return [curve for curve, path, _, name in parted if path in own and (name in names or not names)]


def insert_held_key(owner: bpy.types.Object, chain: FabrikChain, frame: float) -> bool:
    """Key the place and the rotation that a chain holds at a frame; whether that could be done."""
    paths = [chain.path_from_id(name) for name in HELD]
    keyed = [owner.keyframe_insert(path, frame=frame, group=chain.name) for path in paths]
    return all(keyed)


def is_pin_keyed(owner: bpy.types.Object, chain: FabrikChain) -> bool:
    """Whether a chain's pin, or the place or rotation that it holds, has keys."""
    return bool(curves_of_chain(owner, chain, PINNED))


def insert_pin_keys(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Key a chain's pin, with the place and rotation that it holds, where automatic keying is on.

    They hold until the next key, for between two pins there is nothing to be held on the way.
    """
    assert context.scene is not None
    keyed = {curve.data_path for curve in fcurves_of(owner)}
    paths = [chain.path_from_id(name) for name in PINNED]
    made = [_insert(context, owner, path, chain.name, path in keyed) for path in paths]
    if not any(made):
        return
    for curve in curves_of_chain(owner, chain, PINNED):
        key = key_at(curve, context.scene.frame_current_final)
        if key is not None:
            key.interpolation = "CONSTANT"


def key_before_pin(context: bpy.types.Context, owner: bpy.types.Object, chain: FabrikChain) -> None:
    """Before a pin gets a key with none before it, key on the frame before what it was until then."""
    assert context.scene is not None
    scene, path = context.scene, chain.path_from_id("pin")
    if not keys_by_itself(context) or keys_only_what_is_keyed(context):
        return
    frames = [point.co[0] for curve in fcurves_of(owner) if curve.data_path == path for point in curve.keyframe_points]
    if scene.frame_current > scene.frame_start and min(frames, default=inf) > scene.frame_current:
        owner.keyframe_insert(path, frame=scene.frame_current - 1, group=chain.name)


def keys_by_itself(context: bpy.types.Context) -> bool:
    """Whether automatic keying is on."""
    assert context.scene is not None
    return context.scene.tool_settings.use_keyframe_insert_auto


def keys_only_what_is_keyed(context: bpy.types.Context) -> bool:
    """Whether automatic keying passes over channels without keys: from 5.2 on that is how Blender comes."""
    assert context.preferences is not None
    return keys_by_itself(context) and context.preferences.edit.use_keyframe_insert_available


def makes_an_action(context: bpy.types.Context, owner: bpy.types.Object) -> bool:
    """Whether automatic keying would give an object its action, since it has none.

    After Blender kept a step of undo that must not be: undo leaves an object that is the same in two steps as it is,
    and takes away the action, which is in none. Blender crashes then.
    """
    has_one = owner.animation_data is not None and owner.animation_data.action is not None
    return not has_one and keys_by_itself(context) and not keys_only_what_is_keyed(context)


def _insert(
    context: bpy.types.Context, thing: bpy.types.Object | bpy.types.PoseBone, name: str, group: str, is_keyed: bool
) -> bool:
    """Key a property where automatic keying is on, by the user's own preferences for it; whether it was keyed."""
    assert context.scene is not None
    assert context.preferences is not None
    edit, tools = context.preferences.edit, context.scene.tool_settings
    if not tools.use_keyframe_insert_auto or (edit.use_keyframe_insert_available and not is_keyed):
        return False
    switches = {
        "INSERTKEY_AVAILABLE": edit.use_keyframe_insert_available,
        "INSERTKEY_NEEDED": edit.use_auto_keyframe_insert_needed,
        "INSERTKEY_REPLACE": tools.auto_keying_mode == "REPLACE_KEYS",
    }
    options: Any = {name for name, is_on in switches.items() if is_on}
    return bool(thing.keyframe_insert(name, group=group, options=options, keytype=tools.keyframe_type))


# Keys of goals that are objects: where they stand and how they are turned in the world.

CHANNELS = ("location", "rotation_quaternion")


def key_goal(goal: bpy.types.Object, poses: Sequence[tuple[int, tuple[V3, Q4]]]) -> None:
    """Key an object without keys at frames, each with place and rotation in the world, straight from key to key."""
    goal.rotation_mode = "QUATERNION"
    for frame, values in poses:
        for name, value in zip(CHANNELS, values, strict=True):
            setattr(goal, name, value)
            goal.keyframe_insert(name, frame=frame)
    for curve in fcurves_of(goal):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


# The motion that an armature has: whether keys move its bones, and how these turn through all its actions.


def has_motion(curve: bpy.types.FCurve) -> bool:
    """Whether a curve may have different values in different frames: a single key holds one."""
    return len(curve.keyframe_points) > 1 or len(curve.modifiers) > 0 or len(curve.sampled_points) > 0


def are_moved(owner: bpy.types.Object, names: Iterable[str]) -> bool:
    """Whether an action or strips move some bones of an armature object, so that they stand elsewhere in each frame."""
    paths, data = _paths_of(owner, names), owner.animation_data
    curves = [*fcurves_of(owner), *(strip_curves(data) if data is not None and data.use_nla else ())]
    return any(curve.data_path in paths and has_motion(curve) for curve in curves)


def curves_of_bones(owner: bpy.types.Object, names: Iterable[str]) -> list[bpy.types.FCurve]:
    """The curves with keys of rotation and location of those of some bones that are there."""
    paths = _paths_of(owner, names)
    return [curve for curve in fcurves_of(owner) if curve.data_path in paths and len(curve.keyframe_points)]


def _paths_of(owner: bpy.types.Object, names: Iterable[str]) -> set[str]:
    poses = pose_bones(owner)
    bones = [poses[name] for name in names if name in poses]
    return {path for bone in bones for path in (rotation_path(bone), bone.path_from_id("location"))}


def turns_through(owner: bpy.types.Object, names: Sequence[str]) -> Iterator[tuple[str, str, float, Q4]]:
    """How bones are turned in each whole frame of all actions that turn them, the one that is played first.

    Yields:
        The name of an action and of a bone, a frame, and the bone's rotation in its rest frame.
    """
    own = owner.animation_data.action if owner.animation_data is not None else None
    for action in sorted(bpy.data.actions, key=lambda one: (one != own, one.name)):
        yield from _turns_in(action, owner, names)


def _turns_in(
    action: bpy.types.Action, owner: bpy.types.Object, names: Sequence[str]
) -> Iterator[tuple[str, str, float, Q4]]:
    bones = {rotation_path(pose_bones(owner)[name]): pose_bones(owner)[name] for name in names}
    curves = [curve for curve in curves_of_action(action) if curve.data_path in bones]
    if not curves:
        return
    first, last = action.frame_range
    frames = np.arange(floor(first), ceil(last) + 1, dtype=np.float64)
    values = {path: np.tile(read_values(bone), (len(frames), 1)) for path, bone in bones.items()}
    for curve, found in zip(curves, values_at(curves, frames), strict=True):
        if curve.array_index < channel_of(bones[curve.data_path].rotation_mode)[1]:
            values[curve.data_path][:, curve.array_index] = found
    for path in dict.fromkeys(curve.data_path for curve in curves):
        bone = bones[path]
        for frame, channels in zip(frames.tolist(), values[path].tolist(), strict=True):
            try:
                yield action.name, bone.name, frame, to_rotation(bone.rotation_mode, channels, bone.name)
            except FabrikError:  # no rotation, which a solve in that frame tells
                continue
