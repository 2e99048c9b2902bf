# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan a walk, keep it with the armature, and tell whether it is old."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import bpy

from ...errors import FabrikError, place_of
from ...gait import Plan, planning, to_text
from ...rig.checks import check_rig
from ...rig.versions import bring_up_to_date
from ...rig.walk_goals import plan_of
from ...rig.walk_inputs import inputs_of
from ...rig.walker_properties import walker_of
from ..anchoring import unposed
from ..frames import check_range, frames_visited
from .sampling import body_chain, sampled

SAMPLING = 0.5  # share of the work until all frames are read


class Planned(NamedTuple):
    """What came of a plan.

    Attributes:
        steps: How many there are.
        told: What could not be as asked, as sentences.
    """

    steps: int
    told: tuple[str, ...]


def plan_walk(context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]) -> Planned:
    """Plan a walk at once; see `plan_steps`."""
    steps = plan_steps(context, owner, frames)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Planned = end.value
            return found


def plan_steps(
    context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]
) -> Generator[float, None, Planned]:
    """Plan the walk of a walker over a range of frames, and let it go as planned.

    Args:
        context: Its scene's frame is moved and put back.
        owner: The armature object.
        frames: First and last frame; before and after them it stands.

    Yields:
        The share of the work that is done.

    Raises:
        FabrikError: It can't be planned; what was planned before stays.
    """
    scene = context.scene
    assert scene is not None
    check_range(*frames, 1)
    body_chain(owner)
    with unposed() as depsgraph:
        check_rig(owner, depsgraph)
    with frames_visited(scene):
        reading = sampled(context, owner, frames)
        while True:
            try:
                yield SAMPLING * next(reading)
            except StopIteration as end:
                walk = end.value
                break
    with place_of(rig=owner.name):
        plan = yield from _shared(planning(walk))
    bring_up_to_date(owner)
    walker = walker_of(owner)
    walker.plan, walker.inputs = to_text(plan), stamp_of(owner, scene, frames)
    walker.digest = plan.digest
    walker.on = True
    return Planned(sum(len(steps) for steps in plan.steps), plan.told)


def _shared(work: Generator[float, None, Plan]) -> Generator[float, None, Plan]:
    while True:
        try:
            yield SAMPLING + (1.0 - SAMPLING) * next(work)
        except StopIteration as end:
            plan: Plan = end.value
            return plan


def stamp_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """What is kept of the inputs of a walk over a range of frames, to tell whether it is old."""
    first, last = frames
    return f"{first} {last} {inputs_of(owner, scene, frames)}"


def planned_frames(owner: bpy.types.Object) -> tuple[int, int] | None:
    """First and last frame of the walk that was planned; None where there is none."""
    parts = walker_of(owner).inputs.split()
    return (int(parts[0]), int(parts[1])) if len(parts) == 3 else None


def what_is_old(owner: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Why the planned walk is not what would be planned now, as a sentence; "" where that can't be seen.

    Args:
        owner: The armature object.
        scene: In which it walks.
    """
    frames = planned_frames(owner)
    if not walker_of(owner).digest or frames is None:
        return ""
    try:
        plan_of(owner)
    except FabrikError as error:
        return error.reason
    is_same = stamp_of(owner, scene, frames) == walker_of(owner).inputs
    return "" if is_same else "path, legs or settings changed since the walk was planned"
