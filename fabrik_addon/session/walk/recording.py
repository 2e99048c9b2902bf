# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk that was led by hand becomes a planned one: keys of the body's way, and the steps as they were shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import bpy
import numpy as np

from ...errors import place_of
from ...gait import WalkPlan, path_at
from ...maths import multiplied
from ...rig.chain_bones import pose_bones
from ...rig.channels import channel_of, plain_path, read_values, stored
from ...rig.curves import PLAIN, Channels, CurveWriter, Keys
from ...rig.figures import ChainSet
from ...rig.goals import GoalPoints
from ...rig.preparing import FactsByRig, prepare
from ...rig.schema import FabrikChain, owner_of, rig_of
from ...rig.versions import bring_up_to_date
from ...rig.walk_goals import rest_turn, set_led_poses
from ..bake.checks import check_action
from ..bake.destination import Destination
from ..frames import check_range, frames_visited, go_to
from ..keep_pose import resume_live
from ..live.known import state as live_state
from ..posing import posed
from .leading import Led, settle
from .planning import keep_plan, stamp_of
from .sampling import body_chain

ROUNDING = 1e-6  # of a frame: so little more than a whole number of them is rounding
Values = Sequence[tuple[str, list[float]]]  # names of properties of a bone, with what they are to be


class Recorded(NamedTuple):
    """What `keep_recording` kept.

    Attributes:
        frames: First and last.
        steps: How many there are.
    """

    frames: tuple[int, int]
    steps: int


def check_recording(owner: bpy.types.Object) -> None:
    """Refuse a walker whose body's way can't be keyed so that the keys play.

    Raises:
        FabrikError: Its action is linked or shared, curves of its body are locked or muted, or NLA strips mix in.
    """
    body = body_chain(owner)
    check_action(owner, [ChainSet(owner, (body,), body.tip_bone)], "ACTION")


def keep_recording(context: bpy.types.Context, led: Led) -> Recorded:
    """End a walk by hand, and keep all of it from the scene's frame on: any frame shows what was shown then.

    The way of the body becomes keys of its bone, one a frame, in place of those that it had there; the steps become
    the planned walk. Live posing is switched on.

    Args:
        context: Its scene's frames are visited, and its frame is put back.
        led: From `leading.begin`.

    Raises:
        FabrikError: Armature or chains are gone, or the path can't be walked; no walk was kept.
    """
    scene, owner = context.scene, led.owner
    assert scene is not None
    check_recording(owner)
    settle(context, led)
    set_led_poses(owner.name_full, None)
    live_state.held = live_state.paused = False
    first, fps = scene.frame_current, scene.render.fps / scene.render.fps_base
    frames = first, first + ceil(led.recording.seconds * fps - ROUNDING)
    check_range(*frames, 1)
    plan = led.recording.plan(led.walk.feet, led.walk.ground.terrain, first, fps)
    body = body_chain(owner)
    with place_of(rig=owner.name, chain=body.name):
        with frames_visited(scene):
            values = list(_path_values(context, body, plan, frames))
        _key(owner, body.tip_bone, first, values)
    bring_up_to_date(owner)
    keep_plan(owner, plan, stamp_of(owner, scene, frames))
    rig_of(owner).live = True
    resume_live()
    return Recorded(frames, sum(len(steps) for steps in plan.steps))


def _path_values(
    context: bpy.types.Context, body: FabrikChain, plan: WalkPlan, frames: tuple[int, int]
) -> Iterator[Values]:
    """The channels of the body bone that bring it onto the path, frame by frame; the scene is taken to each frame."""
    owner, scene = owner_of(body), context.scene
    assert scene is not None
    turns: list[float] = []  # of the frame before: signs and whole turns run on from there
    for frame in range(frames[0], frames[1] + 1):
        go_to(scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        prepared = prepare(ChainSet(owner, (body,), body.tip_bone), depsgraph, FactsByRig(frame))
        channels = prepared.channels[0]
        place, rotation = path_at(plan, frame)
        goal = GoalPoints(place, turn=multiplied(rotation, rest_turn(owner, body.tip_bone)))
        item = posed(prepared, [goal], owner, depsgraph)
        plain = prepared.plain_values(item.shift, item.factors)
        found = [(name, stored(own)) for (_, name), own in zip(prepared.plain_channels, plain, strict=True)]
        if channels is not None:
            before = read_values(pose_bones(owner)[channels.bone])
            turns = stored(replace(channels, near=turns or channels.near).values(item.rotations[0], before))
            found.append((channels.name, turns))
        yield found


def _key(owner: bpy.types.Object, name: str, first: int, values: Sequence[Values]) -> None:
    """Key a bone in each frame, from the first on, in place of what it has there; if that fails, nothing is keyed."""
    bone = pose_bones(owner)[name]
    frames = np.arange(first, first + len(values), dtype=np.float64)
    span = float(frames[0]), float(frames[-1])
    destination, writer = Destination(owner, "ACTION"), CurveWriter(owner, can_restore=True)
    with ExitStack() as back:
        back.callback(destination.take_back)
        back.callback(writer.restore)
        for channel, stood in values[0]:
            is_rotation = channel == channel_of(bone.rotation_mode)[0]
            mode = bone.rotation_mode if is_rotation else PLAIN
            channels = Channels(plain_path(bone, channel), mode, name, range(len(stood)), [*getattr(bone, channel)])
            numbers = np.array([dict(here)[channel] for here in values], dtype=np.float64)
            writer.write(channels, Keys(frames, numbers, np.zeros(len(stood), dtype=np.bool_), "LINEAR", span))
        writer.flush()
        back.pop_all()
    writer.finish()
    destination.finish()
