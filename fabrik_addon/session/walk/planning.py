# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan a walk, keep it with the armature, and tell whether it is old."""

from __future__ import annotations

import re
from collections.abc import Generator
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeVar

import bpy

from ...errors import FabrikError, place_of
from ...gait import WalkPlan, planning, to_text
from ...rig.checks import check_rig
from ...rig.schema import rig_of, walker_of
from ...rig.staleness import ground_of, inputs_of
from ...rig.versions import bring_up_to_date
from ...rig.walk_goals import plan_of
from ...texts import Text, quoted, worded
from ..frames import check_range, frames_visited
from ..keep_pose import unposed
from .sampling import body_chain, sampled

T = TypeVar("T")
STAMP = re.compile(r"(?P<first>-?\d+) (?P<last>-?\d+) (?P<inputs>\S+)(?: (?P<ground>\S+))?")  # see `stamp_of`
SAMPLING = 0.5  # share of the work until all frames are read


class Planned(NamedTuple):
    """What a finished `Planning` tells.

    Attributes:
        steps: How many there are.
        told: What could not be as asked, as sentences.
    """

    steps: int
    told: tuple[str, ...]


def plan_walk(context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]) -> Planned:
    """Plan a walk at once; see `Planning`."""
    work = Planning(context, owner, frames)
    work.advance()
    assert work.planned is not None
    return work.planned


class Planning:
    """The walk of a walker over a range of frames, planned in slices; at the end it is kept, and goes as planned.

    Args:
        context: Its scene's frames are visited within a slice, and the frame is put back at its end.
        owner: The armature object.
        frames: First and last frame; before and after them it stands.

    Attributes:
        share: Of the work that is done, 0..1.
        planned: What came of it; None before the end.

    Raises:
        FabrikError: It can't be planned; what was planned before stays.
    """

    def __init__(self, context: bpy.types.Context, owner: bpy.types.Object, frames: tuple[int, int]) -> None:
        assert context.scene is not None
        check_range(*frames, 1)
        body_chain(owner)
        with unposed() as depsgraph:
            check_rig(owner, depsgraph)
        self.context, self.owner, self.frames, self.scene = context, owner, frames, context.scene
        self.share = 0.0
        self.planned: Planned | None = None
        self._is_reading = True
        self._work = self._steps()

    def advance(self, seconds: float = inf) -> bool:
        """Go on for so many seconds, or a little longer; tells whether all is done.

        Raises:
            FabrikError: It can't be planned; what was planned before stays.
        """
        until = perf_counter() + seconds
        if self._is_reading:
            with frames_visited(self.scene):
                while self._is_reading and self._goes_on(until):
                    pass
        while not self._is_reading and self._goes_on(until):
            pass
        return self.planned is not None

    def _goes_on(self, until: float) -> bool:
        """Do a step, if there is one left, and tell whether there is time for the next."""
        self.share = next(self._work, 1.0)
        return self.planned is None and perf_counter() < until

    def _steps(self) -> Generator[float, None, None]:
        """Read the frames, then plan; yields the share of the work that is done."""
        walk = yield from _shared(sampled(self.context, self.owner, self.frames), 0.0, SAMPLING)
        self._is_reading = False
        yield SAMPLING
        with place_of(rig=self.owner.name):
            plan = yield from _shared(planning(walk), SAMPLING, 1.0)
        bring_up_to_date(self.owner)
        keep_plan(self.owner, plan, stamp_of(self.owner, self.scene, self.frames))
        self.planned = Planned(
            sum(len(steps) for steps in plan.steps), (*map(worded, plan.told), *_switched_off(self.owner))
        )


def _switched_off(owner: bpy.types.Object) -> list[str]:
    """That chains of the walker are switched off, as a bake leaves them, so that these do not walk."""
    rig = rig_of(owner)
    chains = [rig.chains[name] for name in (rig.walker.body, *(leg.name for leg in rig.walker.legs))]
    off = [chain.name for chain in chains if not chain.enabled]
    return [Text("switched off, and so not walking: {chains}", chains=quoted(off))] if off else []


def keep_plan(owner: bpy.types.Object, plan: WalkPlan, stamp: str) -> None:
    """Keep a walk with its armature, which goes as planned from now on."""
    walker = walker_of(owner)
    walker.plan, walker.inputs = to_text(plan), stamp
    walker.digest = plan.digest
    walker.on = True


def _shared(work: Generator[float, None, T], low: float, high: float) -> Generator[float, None, T]:
    """Run a generator as part of a larger work: its progress from 0 to 1 is mapped to `low` to `high`."""
    while True:
        try:
            yield low + (high - low) * next(work)
        except StopIteration as end:
            found: T = end.value
            return found


def stamp_of(owner: bpy.types.Object, scene: bpy.types.Scene, frames: tuple[int, int]) -> str:
    """A text that is kept with a planned walk: its frames, and digests of what can be seen of inputs and ground.

    A walk is old where the text would be another one now.
    """
    first, last = frames
    layer = bpy.context.view_layer
    depsgraph = layer.depsgraph if layer is not None else None
    ground = ground_of(owner, depsgraph) if depsgraph is not None else ""
    return f"{first} {last} {inputs_of(owner, scene, frames)} {ground}".strip()


def planned_frames(owner: bpy.types.Object) -> tuple[int, int] | None:
    """First and last frame of the walk that was planned; None where there is none."""
    found = STAMP.fullmatch(walker_of(owner).inputs)
    return (int(found["first"]), int(found["last"])) if found is not None else None


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
        return worded(error.reason)
    return _difference(walker_of(owner).inputs, stamp_of(owner, scene, frames))


def _difference(before: str, after: str) -> str:
    """What changed from one stamp to another, as a sentence; "" where that can't be seen."""
    then, now = STAMP.fullmatch(before), STAMP.fullmatch(after)
    assert then is not None
    assert now is not None
    if then["inputs"] != now["inputs"]:
        return Text("path, legs or settings changed since the walk was planned")
    is_same = None in (then["ground"], now["ground"]) or then["ground"] == now["ground"]  # 1.0.0 kept none
    return "" if is_same else Text("the ground changed since the walk was planned")
