# SPDX-License-Identifier: GPL-3.0-or-later
"""Many motions brought to an armature at once, of all actions of another one or of files, each as an action of its own.

All are read before one is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import bpy

from ...errors import InvalidValueError, RigError
from ...motion.transfer import TransferOptions
from ...rig.animation.compat import curves_of_action, give_action, playing, slot_names, slot_of
from ...rig.bones import pose_bones
from ...rig.dependencies import bone_in
from ...texts import Text
from ..frames import Steps, check_range, part_of, rate_of, scene_of, told_as
from ..setup.parts import find_parts, parts_to_read
from .clips import Clip, retimed, write_actions
from .marks import check_own_keys
from .transfer import MOST_RATE, StillError, TransferResult, read_steps

Take: TypeAlias = tuple[str, Clip, TransferResult]  # its name and how the armature's own bones move in it
IMPORTERS: dict[str, Callable[[str], Any]] = {
    ".bvh": lambda path: bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True),
    ".fbx": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
}
ENDINGS = tuple(IMPORTERS)
RANGE = ("frame_start", "frame_end", "frame_current")  # of a scene, which importers may set, ...
IN_TAKE = Text("'{name}': {reason}")  # and in which file
RATE = ("fps", "fps_base")  # ... and of how it is rendered


def actions_of(source: bpy.types.Object) -> list[bpy.types.Action]:
    """The actions that move bones of an armature; from 4.4 on those that have the slot that it plays."""
    slot, names, found = slot_of(source), {*pose_bones(source).keys()}, list[bpy.types.Action]()
    for action in bpy.data.actions:
        if slot is None or slot.identifier in slot_names(action):
            moved = {bone_in(curve.data_path) for curve in curves_of_action(action)} - {""}
            if moved & names:
                found.append(action)
    return found


def every_action_steps(
    context: bpy.types.Context, source: bpy.types.Object, owner: bpy.types.Object, options: TransferOptions
) -> Steps[TransferResult]:
    """Bring all actions of one armature to another, in steps, as actions of its own; it plays what the source plays.

    The scene's frame is moved and put back.

    Raises:
        FabrikError: There is no action, or one can't be read or keyed; nothing was changed.
    """
    check_own_keys(owner)
    plays, own = (one.animation_data.action if one.animation_data is not None else None for one in (source, owner))
    actions = [action for action in actions_of(source) if action != own]
    if not actions:
        raise RigError("it has no action that moves its bones", rig=source.name)
    takes, poses = yield from _takes(context, source, actions, owner, options)
    return _written(owner, takes, plays.name if plays is not None else "", poses)


def files_in(path: Path) -> list[Path]:
    """The files of a folder from which motion can be brought, by name; of what is no folder itself.

    Raises:
        InvalidValueError: There is none in it.
    """
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.iterdir() if one.suffix.lower() in ENDINGS)
    if not found:
        raise InvalidValueError(Text("there is no BVH, FBX or glTF file in '{path}'", path=path))
    return found


def buffers_of(path: Path) -> list[Path]:
    """The files beside one of motion that hold its numbers: the buffers of a glTF, as it names them."""
    if path.suffix.lower() != ".gltf":
        return []
    try:
        named = [buffer.get("uri", "data:") for buffer in json.loads(path.read_bytes()).get("buffers", ())]
        return [path.parent / unquote(name) for name in named if not name.startswith("data:")]
    except (OSError, ValueError, AttributeError, TypeError):  # it can't be imported, either
        return []


def files_steps(
    context: bpy.types.Context, paths: Sequence[Path], owner: bpy.types.Object, options: TransferOptions
) -> Steps[TransferResult]:
    """Bring the motions in files to an armature, in steps; what is imported for that is taken out again.

    Args:
        context: Its scene's frame is moved and put back.
        paths: BVH, FBX or glTF files; each may have one armature that moves, and several actions of it.
        owner: The armature object; it gets an action for each of them, and plays the first.
        options: How.

    Raises:
        FabrikError: A file can't be imported, read or keyed; nothing was changed.
    """
    check_own_keys(owner)
    found, left, scene = list[Take](), list[str](), scene_of(context)
    options = options._replace(rate=options.rate or rate_of(scene))  # importers may set the rate of the file
    for path in paths:
        if path.suffix.lower() not in IMPORTERS:
            raise InvalidValueError(Text("'{path}' is no BVH, FBX or glTF file", path=path))
        if not path.is_file():
            raise InvalidValueError(Text("there is no file '{path}'", path=path))
    for k, path in enumerate(paths):
        with _imported(context, path, owner) as (source, actions), told_as(IN_TAKE, name=path.name):
            steps = _takes(context, source, actions, owner, options)
            takes, poses = yield from part_of(steps, k / len(paths), (k + 1) / len(paths))
            left += poses
        for name, clip, result in takes:
            timed = retimed(clip, 1.0, scene.frame_start)
            with told_as(IN_TAKE, name=path.name):
                check_range(timed.first, timed.last, 1)
            told = result._replace(first=timed.first, last=timed.last)
            found.append((name if len(takes) > 1 else path.stem, timed, told))
    return _written(owner, found, found[0][0] if found else "", left)


def _takes(
    context: bpy.types.Context,
    source: bpy.types.Object,
    actions: Sequence[bpy.types.Action],
    owner: bpy.types.Object,
    options: TransferOptions,
) -> Steps[tuple[list[Take], list[str]]]:
    """Actions of an armature as motions of another one; and the names of those of several that are but a pose."""
    found, poses = list[Take](), list[str]()
    for k, action in enumerate(actions):
        with playing(source, action), told_as(IN_TAKE, name=action.name) if len(actions) > 1 else nullcontext():
            steps = read_steps(context, source, owner, None, options)
            try:
                found.append((action.name, *(yield from part_of(steps, k / len(actions), (k + 1) / len(actions)))))
            except StillError:
                if len(poses) == len(actions) - 1:
                    raise
                poses.append(action.name)
    return found, poses


@contextmanager
def _imported(
    context: bpy.types.Context, path: Path, owner: bpy.types.Object
) -> Iterator[tuple[bpy.types.Object, Sequence[bpy.types.Action]]]:
    """The armature that moves in a file and its actions, imported meanwhile; all else stays as it is.

    Of several that move it is the one that is such a body as the armature to which its motion comes. Refused where it
    can't be imported, or none moves in it.
    """
    scene, layer = scene_of(context), context.view_layer
    assert layer is not None
    before, active = everything(), layer.objects.active
    mode = active.mode if active is not None else "OBJECT"
    chosen = [one for one in layer.objects if one.select_get(view_layer=layer)]
    kept = [
        (thing, name, getattr(thing, name)) for thing, names in ((scene, RANGE), (scene.render, RATE)) for name in names
    ]
    try:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            IMPORTERS[path.suffix.lower()](str(path))
        except (RuntimeError, AttributeError) as error:
            told = [line for line in str(error).strip().splitlines() if not line.startswith("Location:")]
            reason = told[-1] if told else type(error).__name__
            raise InvalidValueError(Text("'{path}' can't be imported: {reason}", path=path, reason=reason)) from error
        if not 1.0 <= rate_of(scene) <= MOST_RATE:
            rate = Text("{rate:g} frames a second", rate=rate_of(scene))
            raise InvalidValueError(Text("'{path}' can't be imported: {reason}", path=path, reason=rate))
        actions = [action for action in bpy.data.actions if action not in before]
        found = [one for one in bpy.data.objects if one not in before and one.type == "ARMATURE"]
        moves = {one: [action for action in actions_of(one) if action in actions] for one in found}
        moves = {one: own for one, own in moves.items() if own}
        if len(moves) > 1:
            plan = find_parts(owner).plan
            moves = {one: own for one, own in moves.items() if parts_to_read(one).plan == plan} or moves
        if len(moves) != 1:
            count = len(moves)
            raise InvalidValueError(Text("'{path}' has {count} armatures that move, not one", path=path, count=count))
        yield next(iter(moves.items()))
    finally:
        bpy.data.batch_remove(everything() - before)
        for thing, name, value in kept:
            setattr(thing, name, value)
        for one in chosen:
            one.select_set(True, view_layer=layer)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


def everything() -> set[bpy.types.ID]:
    """All data-blocks of the file."""
    user_map: Callable[[], dict[bpy.types.ID, set[bpy.types.ID]]] = getattr(bpy.data, "user_map")  # stubs of 4.2 differ
    return set(user_map())


def _written(owner: bpy.types.Object, takes: Sequence[Take], plays: str, poses: Sequence[str]) -> TransferResult:
    """Key motions as actions of an armature, kept though it plays one of them: that of the name, else the first.

    That poses were left out is told.
    """
    made, told = write_actions(owner, [(name, clip) for name, clip, _ in takes])
    data, names = owner.animation_data, ", ".join(poses)
    notes: list[str] = [Text("left out, since they are poses: {names}", names=names)] if poses else []
    assert data is not None, "its actions were written"
    for (name, _, result), text in zip(takes, told, strict=True):
        notes += [Text("{name}: {text}", name=name, text=one) for one in (*result.notes, *text)]
    for action in (*made, *([data.action] if data.action is not None else ())):
        action.use_fake_user = True
    every = [name for name, _, _ in takes]
    give_action(data, made[every.index(plays) if plays in every else 0])
    results = [result for _, _, result in takes]
    return TransferResult(
        max(result.bones for result in results),
        min(result.first for result in results),
        max(result.last for result in results),
        sum(result.contacts for result in results),
        max(result.moved for result in results),
        notes,
        len(takes),
    )
