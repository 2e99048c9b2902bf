# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames are gone through, and going through them and coming back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from math import floor
from typing import TypeAlias, TypeVar

import bpy

from ..errors import FabrikError, InvalidValueError, RigError
from ..rig.animation.compat import fcurves_of
from ..rig.animation.curves import SAME_FRAME
from ..rig.animation.keys import curves_of_chain
from ..rig.bones import resolve_bones
from ..rig.figure.groups import ChainSet
from ..rig.figure.start_pose import end_hold
from ..rig.goals import edits_motion, goals_of
from ..rig.schema import FabrikChain
from ..rig.schema.rig import ControlView, RigView
from ..texts import Text
from .live.state import state

Result = TypeVar("Result")
Steps: TypeAlias = Generator[float, None, Result]  # work that yields how much of it is done, from 0 to 1
MOST_FRAMES = 1_000_000  # of a bake or a walk
LAST_FRAME = 1_048_574  # that a scene of Blender's can have, and the first one with a minus
KEYED_BY = ("location", "rotation", "scale", "delta_")  # properties whose keys move an object or a bone; prefixes


def scene_of(context: bpy.types.Context) -> bpy.types.Scene:
    """The scene of a context, which is without one only while Blender starts or quits."""
    assert context.scene is not None
    return context.scene


def rate_of(scene: bpy.types.Scene) -> float:
    """Frames a second."""
    return scene.render.fps / scene.render.fps_base


def check_time(scene: bpy.types.Scene) -> None:
    """Refuse a scene in which keys would not play at their frames.

    Raises:
        RigError: Its time is remapped.
    """
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise RigError("the scene's time is remapped, so keys would not play at their frames")


def go_to(scene: bpy.types.Scene, frame: float) -> None:
    """Let Blender evaluate a frame, sub-frame included."""
    scene.frame_set(floor(frame), subframe=frame - floor(frame))


def go_to_live(scene: bpy.types.Scene, frame: float) -> None:
    """`go_to` with live posing, though it rests while frames are visited."""
    was, state.paused = state.paused, False
    try:
        go_to(scene, frame)
    finally:
        state.paused = was


def go_to_whole(scene: bpy.types.Scene) -> int:
    """The frame at hand, gone to without a sub-frame."""
    if scene.frame_subframe:
        go_to(scene, scene.frame_current)
    return scene.frame_current


@contextmanager
def told_as(text: str, **fields: object) -> Iterator[None]:
    """Let errors of a block be told by a text in which their reason comes in, as `{reason}`, with other fields."""
    try:
        yield
    except FabrikError as error:
        error.reason = Text(text, reason=error.reason, **fields)
        raise


def in_frame(frame: float) -> AbstractContextManager[None]:
    """Let errors of a block say in which frame it is so."""
    return told_as(Text("in frame {frame:g}, {reason}"), frame=frame)


@contextmanager
def frames_visited(scene: bpy.types.Scene) -> Iterator[None]:
    """Live posing rests while frames of a scene are visited; then its frame, sub-frame included, is put back.

    A pose that was made by hand for its frame alone ends, as with every change of the frame.

    Raises:
        RigError: Frames are being visited already.
    """
    if state.paused:
        raise RigError("a bake is going on: let it end, or cancel it with Esc in its window")
    for owner in scene.objects:
        if owner.type == "ARMATURE":
            end_hold(owner)
    stood = scene.frame_current_final
    state.paused = True
    try:
        yield
    finally:
        state.paused = False
        go_to(scene, stood)


def part_of(steps: Steps[Result], low: float, high: float) -> Steps[Result]:
    """Work in steps that is a part of other such work: what it yields goes from `low` to `high`."""
    with closing(steps):  # before the other where both are left, for what that takes away this may put back
        while True:
            try:
                share = next(steps)
            except StopIteration as end:
                found: Result = end.value
                return found
            yield low + (high - low) * share


def to_the_end(steps: Steps[Result], tell: Callable[[float], None] = lambda share: None) -> Result:
    """The result of work in steps; `tell` is told after each of them how much is done."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            found: Result = end.value
            return found


def frames_between(first: int, last: int, step: int) -> tuple[int, ...]:
    """The frames of a range by steps, its last one always among them, so that no old key stays inside it.

    Raises:
        InvalidValueError: See `check_range`.
    """
    check_range(first, last, step)
    frames = tuple(range(first, last + 1, step))
    return frames if frames[-1] == last else (*frames, last)


def check_range(first: int, last: int, step: int) -> None:
    """Refuse a range that Blender does not have.

    Raises:
        InvalidValueError: It ends before it starts, has too many frames, or one that Blender does not have.
    """
    if last < first:
        raise InvalidValueError(
            Text("the range ends at frame {last}, before it starts at {first}", last=last, first=first)
        )
    if (last - first) // step >= MOST_FRAMES:
        fields = {"first": first, "last": last, "most_frames": MOST_FRAMES}
        raise InvalidValueError(Text("the range {first}-{last} has more than {most_frames} frames", **fields))
    for frame in (first, last):
        check_frame(frame)


def check_frame(frame: float) -> None:
    """Refuse a frame that Blender does not have.

    Raises:
        InvalidValueError: It is out of range.
    """
    if abs(frame) > LAST_FRAME:
        fields = {"frame": frame, "last_frame": LAST_FRAME}
        raise InvalidValueError(
            Text("there is no frame {frame:.0f}: Blender's run from -{last_frame} to {last_frame}", **fields)
        )


def span_of(scene: bpy.types.Scene, span: str, first: int, last: int) -> tuple[int, int]:
    """First and last frame of "RANGE" (as given), "SCENE" or "PREVIEW"; of the scene where no preview range is set."""
    if span == "PREVIEW" and scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return (first, last) if span == "RANGE" else (scene.frame_start, scene.frame_end)


def keys_asking(one: ChainSet, first: float, last: float) -> list[float]:
    """Frames in a range at which chains that are solved together have keys: of targets, poles, pins or settings.

    Edits have them in all layers, and where these are switched.
    """
    curves = [curve for chain in one.chains for curve in curves_of_chain(one.owner, chain)]
    if any(map(edits_motion, one.chains)):
        switched = tuple(RigView.fields[name].path for name in ("edits", "layers"))
        curves += [curve for curve in fcurves_of(one.owner) if curve.data_path.startswith(switched)]
    for _, goal, bone in (goal for chain in one.chains for goal in goals_of(chain)):
        own = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].' if bone else ""
        starts = tuple(own + name for name in (*KEYED_BY, ControlView.fields["layers"].path))
        curves += [curve for curve in fcurves_of(goal) if curve.data_path.startswith(starts)]
    return _keys(curves, first, last)


def keys_of_bones(owner: bpy.types.Object, chain: FabrikChain, first: float, last: float) -> list[float]:
    """Frames in a range at which bones of a chain have keys."""
    starts = tuple(f"{bone.path_from_id()}.{name}" for bone in resolve_bones(owner, chain) for name in KEYED_BY)
    return _keys((curve for curve in fcurves_of(owner) if curve.data_path.startswith(starts)), first, last)


def frames_keyed(curves: Iterable[bpy.types.FCurve]) -> set[float]:
    """The frames at which curves have keys."""
    return {float(point.co[0]) for curve in curves for point in curve.keyframe_points}


def _keys(curves: Iterable[bpy.types.FCurve], first: float, last: float) -> list[float]:
    """Frames of keys, those that are the same but for rounding once."""
    found: list[float] = []
    for frame in sorted(frames_keyed(curves)):
        near = round(frame) if abs(frame - round(frame)) < SAME_FRAME else frame
        if first <= near <= last and not (found and near - found[-1] < SAME_FRAME):
            found.append(float(near))
    return found
