# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 9, cost: planning a walk and playing it, beside playing the same chains with goals of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from fabrik_addon.gait import Leg, Walk, plan_walk, settings_for
from fabrik_addon.rig import terrain
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.walk import planning
from fabrik_addon.session.walk.baking import bake_bones, bake_goals

from dev.quiet import quiet
from dev.walkers import CENTIPEDE, FROUDE, SPIDER, ahead, centipede, noise, pace_of, segments
from dev.walking_rigs import FPS, go_along, make_spider
from dev.walking_rigs import ahead as way_ahead

from .body_rigs import empty_file
from .tables import Judged, Row, Table
from .timing import Effort, Scale, Timing, interleaved
from .walker_rigs import PEAK, as_walker, make_noise

FRAMES = (1, 250)
CELLS = 224  # 100,352 triangles
TOLERANCE = 0.01  # of a leg's reach, of the goals' keys
NAME = "Spider"
PLANNING, PLAYING, GROWTH = 2.0, 1.3, 2.2
CONTENDERS = {
    "anew": "planning, the ground read anew",
    "again": "planning again on the same ground",
    "goals": "playing the chains live, goals keyed as the walk has them",
    "walk": "playing the planned walk live",
    "baked": "playing the walk baked into the bones",
}
CONTEXT: Any = bpy.context


def cost(scale: Scale, folder: Path) -> Table:
    """Planning and playing eight legs on many triangles."""
    frames = (FRAMES[0], scale.of(FRAMES[1], 50))
    files = _Files(folder, frames, scale.of(CELLS, 30))
    files.make()
    timing = Timing([files.seconds() for _ in range(scale.of(9, 1))])
    at_most = {"anew": PLANNING, "again": PLANNING, "walk": PLAYING}
    number = list(CONTENDERS).index("goals")
    rows: list[Row] = [
        {
            "what": text,
            "s": timing.seconds(i),
            "ms a frame": 1e3 * timing.seconds(i) / (frames[1] - frames[0] + 1),
            "over the chains alone": Judged(timing.ratio(i, number), at_most=at_most.get(name)),
        }
        for i, (name, text) in enumerate(CONTENDERS.items())
    ]
    note = (
        f"A spider of eight legs of three bones, {frames[1]} frames, on a mesh of {2 * files.cells**2:,} triangles "
        "(waves of a quarter of a leg's reach). Planning goes through the frames once for the body's path, and is all "
        "that the button does. Files are opened in turn and played once before; medians of the rounds."
    )
    return Table("9e. What planning and playing a walk cost", note, rows)


@dataclass(slots=True)
class _Files:
    """A file of each kind, opened again in each round.

    Attributes:
        folder: Where they are.
        frames: First and last.
        cells: Of the ground, to each side.
    """

    folder: Path
    frames: tuple[int, int]
    cells: int

    def make(self) -> None:
        """Make them one from another."""
        empty_file()
        owner = make_spider(name=NAME)
        legs = as_walker(owner)
        make_noise(legs[0].reach, self.cells)
        seconds = (self.frames[1] - self.frames[0]) / FPS
        go_along(owner, way_ahead(pace_of(tuple(legs), FROUDE["spider"]) * seconds / PEAK), self.frames)
        self._save("unplanned")
        planning.plan_walk(CONTEXT, owner, self.frames)
        rig_of(owner).live = True
        self._save("walk")
        bake_goals(CONTEXT, owner, TOLERANCE)
        self._save("goals")
        owner = self._opened("walk")
        rig_of(owner).live = False
        bake_bones(CONTEXT, owner)
        self._save("baked")

    def seconds(self) -> tuple[float, ...]:
        """Of each contender, in turn."""
        owner = self._opened("unplanned")
        terrain._trees.clear()
        anew = _timed(lambda: planning.plan_walk(CONTEXT, owner, self.frames))
        again = _timed(lambda: planning.plan_walk(CONTEXT, owner, self.frames))
        return anew, again, *(self._played(name) for name in ("goals", "walk", "baked"))

    def _played(self, name: str) -> float:
        self._opened(name)
        self._play()
        return _timed(self._play)

    def _play(self) -> None:
        for frame in range(self.frames[0], self.frames[1] + 1):
            CONTEXT.scene.frame_set(frame)

    def _opened(self, name: str) -> Any:
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=self._path(name), load_ui=False)
        return bpy.data.objects[NAME]

    def _save(self, name: str) -> None:
        CONTEXT.view_layer.update()
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=self._path(name), compress=False)

    def _path(self, name: str) -> str:
        return str(self.folder / f"walker_{name}.blend")


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def growth(scale: Scale) -> Table:
    """Planning with twice the frames, and with twice the legs."""
    effort = Effort(scale.of(9, 1), 60.0)
    pairs = (
        ("frames: 250 and 500, 8 legs", _planned(SPIDER, 250, "spider"), _planned(SPIDER, 500, "spider")),
        ("legs: 30 and 60, 125 frames", _planned(CENTIPEDE, 125), _planned(centipede(30), 125)),
    )
    rows: list[Row] = []
    for name, once, twice in pairs:
        timing = interleaved(effort, once, twice)
        rows.append(
            {
                "twice as many": name,
                "once, s": timing.seconds(0),
                "twice, s": timing.seconds(1),
                "ratio": Judged(timing.ratio(1, 0), at_most=GROWTH),
            }
        )
    note = "The planner alone, without Blender, on waves of a quarter of a leg's reach. 2 is linear growth."
    return Table("9f. Growth of planning with frames and legs", note, rows)


def _planned(legs: Sequence[Leg], frames: int, name: str = "centipede") -> Callable[[], object]:
    """Plan a walk of so many frames."""
    known, reach = tuple(legs), legs[0].reach
    path = ahead(known, frames / FPS, froude=FROUDE[name])
    walk = Walk(segments(known, path), known, (settings_for(known),), noise(0.25 * reach, 2.0 * reach))
    return lambda: plan_walk(walk)
