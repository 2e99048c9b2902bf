# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 3: a frame of playback with targets that move, posed live, beside Blender's own IK and beside writing alone."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import bpy
import numpy as np
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.live.known import state
from numpy.typing import NDArray

from dev.quiet import quiet

from . import before
from .rigs import (
    CONTEXT,
    SKIN_VERTICES,
    Rig,
    add_skin,
    animate_round,
    found_again,
    key_others,
    make_rig,
    names_of,
    with_blender_ik,
    with_chains,
    worst_error,
)
from .tables import Cell, Group, Judged, Row, Table
from .timing import Scale, Timing

FRAMES = 24
CONTENDERS = ("live", "blender", "writing", "none")
SECONDS = 0.15  # for which a contender plays in each round, at least
LEAST_PLAYS = 3
COUNTER = "fabrik_benchmark_evaluated"


@dataclass(frozen=True, slots=True)
class Case:
    """A rig that is played.

    Attributes:
        over_blender: What a frame is to cost at most, over Blender's IK.
        over_writing: The same over writing alone.
        others: Number of bones besides.
    """

    name: str
    chains: int
    bones: int
    over_blender: float | None
    over_writing: float | None = None
    is_skinned: bool = False
    others: int = 0
    others_are_keyed: bool = False


CASES = (
    Case("1 x 4", 1, 4, 0.9),
    Case("1 x 10", 1, 10, 0.65),
    Case("8 x 4", 8, 4, 0.55),
    Case("8 x 10", 8, 10, 0.45),
    Case("64 x 4", 64, 4, 0.55),
    Case("64 x 10", 64, 10, 0.55),
    Case(f"8 x 4, {SKIN_VERTICES} vertices", 8, 4, 1.0, is_skinned=True),
    Case("8 x 4 in 300 bones, others keyed", 8, 4, 1.1, others=268, others_are_keyed=True),
    Case("8 x 4 in 300 bones, others unkeyed", 8, 4, None, 1.1, others=268),
)
QUICK_CASES = ("1 x 4", "8 x 10", "8 x 4 in 300 bones, others keyed")


@dataclass(slots=True, eq=False)
class Writer:
    """Writes poses that were found before ahead of each frame by the quickest means, and solves nothing."""

    poses: list[NDArray[np.float32]]
    bones: bpy.types.bpy_prop_collection[bpy.types.PoseBone] | None = None
    owner: bpy.types.Object | None = None

    def __call__(self, scene: bpy.types.Scene, _: object = None) -> None:
        """Ahead of a frame."""
        self.bones.foreach_set("rotation_quaternion", self.poses[scene.frame_current - 1])
        self.owner.update_tag(refresh={"DATA"})

    def hold(self, rig: Rig) -> None:
        """Write into a rig from now on."""
        self.owner, self.bones = rig.owner, rig.owner.pose.bones
        bpy.app.handlers.frame_change_pre.append(self)

    def let_go(self) -> None:
        """Write no more."""
        bpy.app.handlers.frame_change_pre.remove(self)


@dataclass(slots=True)
class Counts:
    """What a frame costs besides time.

    Attributes:
        evaluations: Of the scene.
    """

    solves: float = 0.0
    writes: float = 0.0
    evaluations: float = 0.0


class Evaluations:
    """Counts how often Blender evaluates the pose of a rig, by a driver that looks at its first tip.

    Attributes:
        count: So far.
    """

    def __init__(self, rig: Rig) -> None:
        self.count = 0
        empty = bpy.data.objects.new("evaluations", None)
        CONTEXT.scene.collection.objects.link(empty)
        driver: Any = empty.driver_add("location", 0)
        variable = driver.driver.variables.new()
        variable.name, variable.type = "tip", "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].bone_target = rig.owner, rig.tips[0]
        driver.driver.expression = f"{COUNTER}(tip)"

    def __enter__(self) -> Evaluations:
        CONTEXT.preferences.filepaths.use_scripts_auto_execute = True
        bpy.app.driver_namespace[COUNTER] = self._counted
        return self

    def __exit__(self, *_: object) -> None:
        del bpy.app.driver_namespace[COUNTER]

    def _counted(self, value: float) -> float:
        self.count += 1
        return value


@dataclass(slots=True)
class Files:
    """One file for each contender, opened again in each round.

    Attributes:
        errors: Worst tip error of each contender.
        counts: Of live posing.
    """

    folder: Path
    names: tuple[str, list[str], list[str], int] = ("", [], [], 0)
    writer: Writer = field(default_factory=lambda: Writer([]))
    errors: dict[str, float] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)

    def path(self, contender: str) -> str:
        """Where the file of a contender is."""
        return str(self.folder / f"{contender}.blend")

    def make(self, case: Case) -> None:
        """Make the files; live posing comes first, since writing writes its poses."""
        for contender in CONTENDERS:
            rig = _rig_of(case)
            if contender == "live":
                with_chains(rig, [])
                rig_of(rig.owner).live = True
                CONTEXT.view_layer.update()
                self._take_poses(rig)
            elif contender == "blender":
                with_blender_ik(rig, [])
            self.names = names_of(rig)
            self.errors[contender] = self._error(contender, rig)
            with quiet():
                bpy.ops.wm.save_as_mainfile(filepath=self.path(contender), compress=False)
            if contender == "live":
                self._count(rig)  # with a driver that the file is not to have

    def _take_poses(self, rig: Rig) -> None:
        self.writer.poses.clear()
        for frame in range(1, FRAMES + 1):
            CONTEXT.scene.frame_set(frame)
            bones = rig.owner.pose.bones
            found = np.empty(4 * len(bones), dtype=np.float32)
            bones.foreach_get("rotation_quaternion", found)
            self.writer.poses.append(found)

    def _error(self, contender: str, rig: Rig) -> float:
        if contender != "writing":
            return worst_error(rig, range(1, FRAMES + 1))
        self.writer.hold(rig)
        error = worst_error(rig, range(1, FRAMES + 1))
        self.writer.let_go()
        return error

    def _count(self, rig: Rig) -> None:
        """Solves, bones written and evaluations of a frame."""
        with Evaluations(rig) as seen:
            _play()
            solves, writes, before_these = state.counts.solves, state.counts.writes, seen.count
            _play()
            counts = state.counts.solves - solves, state.counts.writes - writes, seen.count - before_these
        self.counts = Counts(*(count / FRAMES for count in counts))

    def seconds(self, contender: str) -> float:
        """Seconds of a frame: the file opened, played once, and then played again and again."""
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=self.path(contender), load_ui=False)
        rig = found_again(self.names)
        if contender == "writing":
            self.writer.hold(rig)
        _play()
        times: list[float] = []
        while len(times) < LEAST_PLAYS or sum(times) < SECONDS:
            started = time.perf_counter()
            _play()
            times.append(time.perf_counter() - started)
        if contender == "writing":
            self.writer.let_go()
        return median(times) / FRAMES


def _play() -> None:
    scene = CONTEXT.scene
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)


def _rig_of(case: Case) -> Rig:
    rig = make_rig(case.chains, case.bones, case.others)
    animate_round(rig, FRAMES)
    if case.is_skinned:
        add_skin(rig)
    if case.others_are_keyed:
        key_others(rig, FRAMES)
    return rig


def measured(scale: Scale, folder: Path) -> Group:
    """The tables of the group."""
    cases = [case for case in CASES if not scale.is_quick or case.name in QUICK_CASES]
    rows = [_row(case, scale.of(9, 1), folder) for case in cases]
    note = (
        "Milliseconds of a frame of playback, targets keyed at each frame. *Writing*: the poses that live posing found "
        "are written ahead of each frame in one call and evaluated, nothing is solved. *None*: the same file without "
        "any IK. Files are opened in turn; *over* is the median of the rounds. Evaluations are those of the scene."
    )
    return Group("3", "Live posing", [Table("3. A frame of playback beside Blender's IK", note, rows)])


def _row(case: Case, rounds: int, folder: Path) -> Row:
    files = Files(folder)
    files.make(case)
    timing = Timing([tuple(files.seconds(contender) for contender in CONTENDERS) for _ in range(rounds)])
    milliseconds = {name: 1e3 * timing.seconds(i) for i, name in enumerate(CONTENDERS)}
    earlier: Cell = before.LIVE.get(case.name)
    return {
        "chains x bones": case.name,
        "live": milliseconds["live"],
        "Blender": milliseconds["blender"],
        "writing": milliseconds["writing"],
        "none": milliseconds["none"],
        "over Blender": Judged(timing.ratio(0, 1), at_most=case.over_blender),
        "before": earlier,
        "over writing": Judged(timing.ratio(0, 2), at_most=case.over_writing),
        "writing over Blender": timing.ratio(2, 1),
        "tip error": files.errors["live"],
        "Blender's": files.errors["blender"],
        "solves": files.counts.solves,
        "bones written": files.counts.writes,
        "evaluations": files.counts.evaluations,
    }
