# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of five creatures over all kinds of ground as they are planned, without Blender, and what planning costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import sqrt

from fabrik_addon.gait.clock import size_of, usual_stride
from fabrik_addon.gait.gaits import gait_of
from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.human import running, stride_at
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.path import BodyPath
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import Settings, settings_for
from fabrik_addon.maths import distance

from dev.walk_measures import Judged as Figures
from dev.walk_measures import beside_norms, farthest_foothold, from_the_side, judge_shown, shown
from dev.walkers import (
    CENTIPEDE,
    CREATURES,
    FROUDE,
    GROUNDS,
    ROOM,
    SPIDER,
    Room,
    ahead,
    centipede,
    ground_of,
    height_of,
    noise,
    pace_of,
    path_of,
    plan_walk,
    up_the_wall,
    well_over,
)

from .tables import Judged, Row, Scale, Table, at_most

FPS, OTHER_RATES = 24.0, (30.0, 60.0)
SLIP, DRIFT, INSIDE, HOVER = 1e-4, 1e-3, 0.01, 0.005
REACHED = 99.0  # of a hundred standing feet
TURN = 15.0  # degrees a frame
TURN_GOALS = {"wolf": TURN}
SUPPORTED = 95.0  # of a hundred frames, for walkers that always stand on three feet or more
RATES = 0.01
STEPS = 5.0  # per cent
FROUDES = (0.003, 0.01, 0.03, 0.1)
STRAIGHT, SKIPPED = 30.0, 4.0  # seconds, of which those at the beginning and half as many at the end do not count
WALKED = 16.0  # seconds, of people
LEAST_FEET = 3
GROWTH = 2.2
PACES = (0.15, 0.295, 0.43, 0.57, 0.8, 1.0, 1.2)  # v*, of which the last three are runs
NORMS = {"thigh": (3.0, 0.97), "knee": (5.0, 0.95), "foot": (5.0, 0.88), "ankle": (5.0, 0.88)}  # degrees, correlation
KNEE_GOALS = {"0.57": 18.0}  # degrees a frame, of people
QUICK = ("human", "spider")


def _judged(
    legs: Sequence[Leg], terrain: Terrain, settings: Settings, way: Callable[[float], BodyPath]
) -> tuple[Figures, float]:
    """Figures of a walk at 24 frames a second, and the farthest that a foothold is from its leg's nearest at others.

    Args:
        legs: The creature's.
        terrain: The ground.
        settings: Of its walk.
        way: Its path at a frame rate.
    """
    walks = [shown(plan_walk(Walk(way(fps), tuple(legs), (settings,), terrain))) for fps in (FPS, *OTHER_RATES)]
    return judge_shown(walks[0], terrain), max(farthest_foothold(walks[0], walk) for walk in walks[1:])


def _over(name: str, kind: str) -> tuple[Figures, float]:
    """The same of a creature over ground of a kind."""
    legs = CREATURES[name]
    ground = ground_of(name, kind, legs[0].reach)
    return _judged(legs, ground, settings_for(legs), lambda fps: well_over(name, kind, fps))


def quality(scale: Scale) -> Table:
    """All creatures over all kinds of ground, and the spider up a wall."""
    names = QUICK if scale.is_quick else tuple(CREATURES)
    rows = [_row(name, [_over(name, kind) for kind in GROUNDS], len(CREATURES[name]) > LEAST_FEET) for name in names]
    room = Room(*ROOM)
    settings = replace(settings_for(SPIDER), gravity="SURFACE")
    climbed = _judged(SPIDER, room, settings, lambda fps: up_the_wall(room, SPIDER, fps))
    rows.append(_row("spider, wall to ceiling", [climbed], has_support=False))
    note = (
        "Walks at 24 frames a second over flat ground, a slope of 25°, stairs .3 high and .7 deep, waves of .25, and a "
        "gap .5 wide; the worst of all. Lengths are shares of a leg's reach. *In reach*: standing feet of a hundred, "
        "counted by frame. *Slip*: what heel, ball or tip, whichever stands, moves in a frame and in a stance; "
        "*inside*: the deepest in the ground, swings included; *hovering*: the highest above it while planted. "
        "*Leg °*: the most that the way from hip to ankle turns in the body in a frame, and *foot °* the foot in the "
        "world. *Neighbours up*: how often legs beside or across from each other are in the air at the same time. "
        "*Supported*: frames of a hundred at which the middle of the hips is over the standing feet, of walkers that "
        "always have three of them. *Other rates*: the farthest that a foothold is from the nearest one of its leg "
        "where the same way is walked at 30 or 60 frames a second."
    )
    return Table("8a. Planned walks", note, rows)


def _row(name: str, found: Sequence[tuple[Figures, float]], has_support: bool) -> Row:
    figures = [each for each, _ in found]
    supported = min(100.0 * each.supported for each in figures)
    return {
        "creature": name,
        "in reach %": Judged(min(100.0 * each.reached for each in figures), at_least=REACHED),
        "slip a frame": Judged(max(each.slip for each in figures), at_most=SLIP),
        "slip a stance": Judged(max(each.drift for each in figures), at_most=DRIFT),
        "inside": Judged(max(each.inside for each in figures), at_most=INSIDE),
        "hovering": Judged(max(each.hover for each in figures), at_most=HOVER),
        "leg °": at_most(max(each.turned for each in figures), name, TURN, TURN_GOALS),
        "foot °": max(each.foot_turned for each in figures),
        "neighbours up": Judged(max(each.together for each in figures), at_most=0),
        "supported %": Judged(supported, at_least=SUPPORTED) if has_support else supported,
        "other rates": Judged(max(rates for _, rates in found), at_most=RATES),
    }


def strides(scale: Scale) -> Table:
    """Steps a metre on level ground, beside those that belong to the speed."""
    rows: list[Row] = []
    for name in QUICK if scale.is_quick else tuple(CREATURES):
        row: Row = {"creature": name}
        for froude in FROUDES:
            off, is_hurried = _off_stride(name, froude)
            row[f"off % at {froude:g}"] = off if is_hurried else Judged(off, at_most=STEPS)
        rows.append(row)
    note = (
        f"Straight ahead at one speed, by v²/gh, for {STRAIGHT:g} s. *Off*: how far the steps a metre are from legs by "
        "stride, Alexander's 2.3 h (v²/gh)^0.3, and people's 2.45 v*^0.5 legs, see table 8d; not judged where the plan "
        "says that the walk is too fast for its legs."
    )
    return Table("8b. Steps a metre", note, rows)


def _off_stride(name: str, froude: float) -> tuple[float, bool]:
    """How far the steps a metre are off, in per cent, and whether the plan says that the legs are too slow."""
    legs = CREATURES[name]
    speed, height, settings = pace_of(legs, froude), height_of(legs), settings_for(legs)
    path = path_of(lambda time: (0.0, -speed * time, height), STRAIGHT)
    plan = plan_walk(Walk(path, legs, (settings,), Plain()))
    until = STRAIGHT - 0.5 * SKIPPED
    count = sum(SKIPPED <= step.lift < until for steps in plan.steps for step in steps)
    steps_a_metre = count / (speed * (until - SKIPPED))
    stride = usual_stride(speed, size_of(legs[0]), settings)
    if gait_of(settings).cycle is not None:
        stride = stride_at(speed / sqrt(settings.acceleration * legs[0].reach)) * legs[0].reach
    return 100.0 * abs(steps_a_metre * stride / len(legs) - 1.0), any("too fast" in str(told) for told in plan.told)


def growth(scale: Scale) -> Table:
    """Planning with twice the frames, and with twice the legs."""
    pairs = {
        "frames: 250 and 500, 8 legs": (_planned(SPIDER, 250, "spider"), _planned(SPIDER, 500, "spider")),
        "legs: 30 and 60, 125 frames": (_planned(CENTIPEDE, 125), _planned(centipede(30), 125)),
    }
    rows: list[Row] = []
    for name, pair in pairs.items():
        timing = scale.interleaved(*pair, rounds=scale.of(9, 1), seconds=60.0)
        row: Row = {"twice as many": name, "once, s": timing.seconds(0), "twice, s": timing.seconds(1)}
        rows.append(row | {"ratio": Judged(timing.ratio(1, 0), at_most=GROWTH)})
    note = "The planner alone on waves of a quarter of a leg's reach. 2 is linear growth."
    return Table("8c. Growth of planning with frames and legs", note, rows)


def _planned(legs: Sequence[Leg], frames: int, name: str = "centipede") -> Callable[[], object]:
    """Plan a walk of so many frames."""
    known, reach = tuple(legs), legs[0].reach
    path = ahead(known, frames / FPS, froude=FROUDE[name])
    walk = Walk(path, known, (settings_for(known),), noise(0.25 * reach, 2.0 * reach))
    return lambda: plan_walk(walk)


def people(scale: Scale) -> Table:
    """The human on level ground, beside the people whose joints its cycle is made of."""
    rows = [beside(CREATURES["human"], pace) for pace in (PACES[1:4:2] if scale.is_quick else PACES)]
    note = (
        "The human straight ahead on level ground, by v* (speed by the root of gravity times a leg's reach), style as "
        "measured. By joint the root of the mean square of what its curve differs over a cycle from the curve of the "
        "norms, but for their means, and how both correlate; norms of runs are those of textbooks, and not judged. "
        "*Stride*: how far it is off the norm's, in per cent. *Knee*: the most that it turns in a frame of 24 a second."
    )
    return Table("8d. People beside norms", note, rows)


def beside(legs: tuple[Leg, ...], pace: float) -> Row:
    """A row of figures: a walk straight ahead at a speed v*, by the legs of a person, beside norms."""
    speed, settings = pace * sqrt(settings_for(legs).acceleration * legs[0].reach), settings_for(legs)
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), WALKED, FPS)
    plan = plan_walk(Walk(path, legs, (replace(settings, energy=0.0),), Plain()))
    steps = [step for step in plan.steps[0] if step.lift > SKIPPED and step.land < WALKED - SKIPPED]
    span = steps[-2].land, steps[-1].land
    row: Row = {"v*": f"{pace:g}"}
    walks = running(pace) == 0.0
    for joint, (off, together) in zip(NORMS, beside_norms(plan, pace, span), strict=True):
        most, least = NORMS[joint]
        row[f"{joint} °"] = Judged(off, at_most=most, is_goal=True) if walks else off
        row[f"{joint} r"] = Judged(together, at_least=least, is_goal=True) if walks else together
    stride = distance(steps[-2].end.place, steps[-1].end.place) / (stride_at(pace) * legs[0].reach)
    row["stride %"] = Judged(100.0 * abs(stride - 1.0), at_most=STEPS)
    frames = range(int(span[0] * FPS), int(span[1] * FPS) + 2)
    knees = [from_the_side(plan, plan.first + frame)[1] for frame in frames]
    fastest = max(abs(after - before) for before, after in pairwise(knees))
    row["knee ° a frame"] = at_most(fastest, f"{pace:g}", None, KNEE_GOALS)
    return row
