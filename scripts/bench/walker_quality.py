# SPDX-License-Identifier: GPL-3.0-or-later
"""Group 9, quality: walks of five creatures over all kinds of ground, planned, and as a naive walker goes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from fabrik_addon.gait import BodyPath, Leg, Plain, Settings, Terrain, Walk, WalkPlan, plan_walk, settings_for
from fabrik_addon.gait.clock import size_of, usual_stride

from dev.walk_measures import Judged as Figures
from dev.walk_measures import Shown, farthest_foothold, judge_shown, shown
from dev.walkers import (
    CREATURES,
    GROUNDS,
    ROOM,
    SPIDER,
    Room,
    ground_of,
    height_of,
    pace_of,
    path_of,
    segments,
    up_the_wall,
    well_over,
)

from . import naive_walker
from .tables import Judged, Row, Table
from .timing import Scale

FPS, OTHER_RATES = 24.0, (30.0, 60.0)
SLIP, DRIFT, INSIDE, HOVER = 1e-4, 1e-3, 0.01, 0.005
TURN = 15.0  # degrees a frame
SUPPORTED = 95.0  # of a hundred frames, for walkers that always stand on three feet or more
RATES = 0.01
STEPS = 5.0  # per cent
FROUDES = (0.003, 0.01, 0.03, 0.1)
STRAIGHT, SKIPPED = 30.0, 4.0  # seconds, of which those at the beginning and half as many at the end do not count
LEAST_FEET = 3
QUICK = ("human", "spider")


@dataclass(frozen=True)
class Case:
    """A creature over some ground.

    Attributes:
        name: Of both.
        legs: The creature's.
        terrain: The ground.
        settings: Of its walk.
        way: The paths of its segments at a frame rate.
        reached: How many of a hundred standing feet are to be in reach.
    """

    name: str
    legs: Sequence[Leg]
    terrain: Terrain
    settings: Settings
    way: Callable[[float], tuple[BodyPath, ...]]
    reached: float = 100.0

    def planned(self, fps: float) -> Shown:
        """The walk as it is planned."""
        return shown(plan_walk(Walk(self.way(fps), tuple(self.legs), (self.settings,), self.terrain)))

    def naive(self, fps: float) -> Shown:
        """The walk as the naive walker goes it."""
        return naive_walker.walked(self.legs, self.way(fps), self.terrain)


@dataclass(frozen=True)
class Walked:
    """A walk that was judged.

    Attributes:
        figures: At 24 frames a second.
        rates: The farthest that a foothold is from the nearest of its leg at another frame rate.
        steps: How many there are.
    """

    figures: Figures
    rates: float
    steps: int

    @property
    def reached(self) -> float:
        """Standing feet in reach, of a hundred."""
        return 100.0 * self.figures.reached

    @property
    def supported(self) -> float:
        """Frames at which the middle of the hips is over the standing feet, of a hundred."""
        return 100.0 * self.figures.supported


def cases(scale: Scale) -> Iterable[Case]:
    """All creatures over all kinds of ground, and the spider up a wall."""
    for name in QUICK if scale.is_quick else CREATURES:
        for kind in GROUNDS:
            yield _case(name, kind)
    room = Room(*ROOM)
    settings = replace(settings_for(SPIDER), gravity="SURFACE")
    yield Case("spider: wall to ceiling", SPIDER, room, settings, lambda fps: (up_the_wall(room, SPIDER, fps),))


def _case(name: str, kind: str) -> Case:
    legs = CREATURES[name]
    reached = 99.0 if kind == "noise" else 100.0
    settings, terrain = settings_for(legs), ground_of(name, kind, legs[0].reach)

    def way(fps: float) -> tuple[BodyPath, ...]:
        return segments(legs, well_over(name, kind, fps))

    return Case(f"{name}: {kind}", legs, terrain, settings, way, reached)


def quality(scale: Scale) -> list[Table]:
    """The tables of all walks."""
    ground: list[Row] = []
    legs: list[Row] = []
    for case in cases(scale):
        planned, naive = _walked(case, case.planned), _walked(case, case.naive)
        ground.append(_ground_row(case, planned, naive))
        legs.append(_leg_row(case, planned, naive))
    return [
        Table("9a. Walks: feet on the ground", GROUND_NOTE, ground),
        Table("9b. Walks: legs and the body over them", LEG_NOTE, legs),
    ]


GROUND_NOTE = (
    "Walks at 24 frames a second that get all legs onto the ground; lengths are shares of a leg's reach. Slope: 25°; "
    "stairs: .3 high and .7 deep; noise: waves of .25; gap: .5 wide. *Slip*: what heel, ball or tip, whichever "
    "stands, moves in a frame and in a stance; *inside*: the deepest in the ground, swings included; *hovering*: the "
    "highest above it while planted. *Naive*: a walker as games have it, judged by the same functions along the same "
    f"path: a foot that has drifted {naive_walker.TRIGGER:g} from home steps along a sine arc of "
    f"{naive_walker.HEIGHT:g} in {naive_walker.SWING:g} s to where a ray straight down meets the ground as far ahead "
    "of home, while all feet of the other group stand; the body is as high above the mean of the feet as at rest, or "
    "so much lower that legs reach as far on level ground. It does not slip by its design."
)
LEG_NOTE = (
    "*In reach*: standing feet of a hundred, counted by frame. *Leg °*: the most that the way from hip to ankle turns "
    "in the body in a frame, and *foot °* the foot in the world. *Neighbours up*: how often legs beside or across "
    "from each other are in the air at the same time. *Supported*: frames of a hundred at which the middle of the "
    "hips is over the standing feet, of walkers that always have three of them. *Other rates*: the farthest that a "
    "foothold is from the nearest one of its leg where the same way is walked at 30 or 60 frames a second."
)


def _walked(case: Case, walk: Callable[[float], Shown]) -> Walked:
    first = walk(FPS)
    rates = max(farthest_foothold(first, walk(fps)) for fps in OTHER_RATES)
    return Walked(judge_shown(first, case.terrain), rates, sum(len(swings) for swings in first.swings))


def _ground_row(case: Case, planned: Walked, naive: Walked) -> Row:
    ours, theirs = planned.figures, naive.figures
    return {
        "creature and ground": case.name,
        "steps": planned.steps,
        "naive's": naive.steps,
        "slip a frame": Judged(ours.slip, at_most=SLIP),
        "slip a stance": Judged(ours.drift, at_most=DRIFT),
        "inside": Judged(ours.inside, at_most=INSIDE),
        "inside, naive": theirs.inside,
        "hovering": Judged(ours.hover, at_most=HOVER),
        "hovering, naive": theirs.hover,
    }


def _leg_row(case: Case, planned: Walked, naive: Walked) -> Row:
    ours, theirs = planned.figures, naive.figures
    has_support = len(case.legs) > LEAST_FEET
    return {
        "creature and ground": case.name,
        "in reach %": Judged(planned.reached, at_least=case.reached),
        "in reach, naive": naive.reached,
        "leg °": Judged(ours.turned, at_most=TURN),
        "leg °, naive": theirs.turned,
        "foot °": Judged(ours.foot_turned, at_most=TURN),
        "foot °, naive": theirs.foot_turned,
        "neighbours up": Judged(ours.together, at_most=0),
        "neighbours up, naive": theirs.together,
        "supported %": Judged(planned.supported, at_least=SUPPORTED) if has_support else None,
        "supported, naive": naive.supported if has_support else None,
        "other rates": Judged(planned.rates, at_most=RATES),
        "other rates, naive": naive.rates,
    }


def strides(scale: Scale) -> Table:
    """Steps a metre on level ground, beside those that belong to the speed."""
    names = QUICK if scale.is_quick else tuple(CREATURES)
    rows = [_stride_row(name, froude) for name in names for froude in FROUDES]
    note = (
        f"Straight ahead at one speed for {STRAIGHT:g} s. *Stride*: Alexander's 2.3 h (v²/gh)^0.3, of which each leg "
        "takes one step. *Off*: how far the steps a metre are from legs by stride; not judged where the plan says that "
        "the walk is too fast for its legs."
    )
    return Table("9c. Steps a metre", note, rows)


def _stride_row(name: str, froude: float) -> Row:
    legs = CREATURES[name]
    speed, height, settings = pace_of(legs, froude), height_of(legs), settings_for(legs)
    path = path_of(lambda time: (0.0, -speed * time, height), STRAIGHT)
    plan = plan_walk(Walk(segments(legs, path), legs, (settings,), Plain()))
    steps = _steps_a_metre(plan, speed)
    stride = usual_stride(speed, size_of(legs[0]), settings)
    is_hurried = any("too fast" in told for told in plan.told)
    off = 100.0 * abs(steps * stride / len(legs) - 1.0)
    return {
        "creature and v²/gh": f"{name}: {froude:g}",
        "m/s": speed,
        "stride, m": stride,
        "steps a metre": steps,
        "legs by stride": len(legs) / stride,
        "off %": Judged(off, at_most=None if is_hurried else STEPS),
    }


def _steps_a_metre(plan: WalkPlan, speed: float) -> float:
    until = STRAIGHT - 0.5 * SKIPPED
    count = sum(SKIPPED <= step.lift < until for steps in plan.steps for step in steps)
    return count / (speed * (until - SKIPPED))
