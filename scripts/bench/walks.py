# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of creatures over all kinds of ground: as they are planned, without Blender, and what chains make of them.

Those are walks on meshes in Blender, live and baked. Of both, what planning and playing costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import degrees, pi, radians, sqrt, tan, tau
from typing import Any

import bpy
import numpy as np
from fabrik_addon.actions.walk.bake import bake_bones, bake_goals
from fabrik_addon.actions.walk.plan import legs_now
from fabrik_addon.actions.walk.plan import plan_walk as plan_in_blender
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.gait.clock import size_of, usual_stride
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.gaits import gait_of
from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.human import running, stride_at
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.path import BodyPath
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import Settings, settings_for
from fabrik_addon.maths import Doubles, distance
from fabrik_addon.rig import terrain
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.schema.rig import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Quaternion, Vector

from blender import quiet
from dev.humans import HUMANS, give_ranges, make_human
from dev.walk_measures import Judged as Figures
from dev.walk_measures import beside_norms, farthest_foothold, from_the_side, judge_shown, shown
from dev.walkers import (
    CENTIPEDE,
    CREATURES,
    FROUDE,
    GROUNDS,
    ROOM,
    SLOW,
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
from dev.walking_rigs import ahead as way_ahead
from dev.walking_rigs import go_along, make_profile, make_rubble, make_spider, stair_profile
from rigs import empty_file, end_of, metarig

from .tables import Judged, Row, Scale, Table, Timing, at_most, play, timed

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


# ---- in Blender

OFF_PLAN = 1e-3  # of a leg's reach: what chains are solved to
OFF_BAKE = 1e-5  # of what a matrix of a bone has, for rigs that are about as large as we are
SLOPE = radians(25.0)
WAY = 4.0  # legs' reaches, that a walk goes ahead
PEAK = 0.5 * pi  # how much faster than on average the body goes midway
BEHIND = 3.0  # legs' reaches, from where ground begins to where the body does
CELLS, MANY_CELLS = 60, 224  # to each side of ground that is uneven; the many make 100,352 triangles
HUMAN = "human_mixamo"
TOLERANCE = 0.01  # of a leg's reach, of the goals' keys
PLANNING, PLAYING = 2.0, 1.3
LIMITED = "human with limits"
LIVE_GOALS = {  # by column the rigs of which it is a goal
    "REACHED %": (LIMITED,),
    "slip a frame": (LIMITED,),
    "off plan": (LIMITED, "human"),
    "°": (LIMITED, "human", "wolf"),
}
CONTENDERS = {
    "anew": "planning, the ground read anew",
    "again": "planning again on the same ground",
    "goals": "playing the chains live, goals keyed as the walk has them",
    "walk": "playing the planned walk live",
    "baked": "playing the walk baked into the bones",
}
CONTEXT: Any = bpy.context
Frames = tuple[int, int]


def _human(*, with_limits: bool) -> Any:
    with quiet():
        owner = make_human(HUMAN)
        if with_limits:
            give_ranges(owner)
    return owner


RIGS: dict[str, tuple[str, Callable[[], Any]]] = {  # by row whose pace it has, and what makes its armature
    "spider": ("spider", make_spider),
    "hexapod": ("hexapod", lambda: make_spider(3)),
    "human": ("human", lambda: _human(with_limits=False)),
    LIMITED: ("human", lambda: _human(with_limits=True)),
    "wolf": ("wolf", lambda: metarig("wolf")),
}


def _profile(kind: str, reach: float) -> None:
    """Ground that begins behind the body; slope and stairs begin a leg's reach ahead."""
    far, profile = 2.0 * WAY * reach, [(-BEHIND * reach, 0.0)]
    if kind == "flat":
        profile.append((far, 0.0))
    elif kind == "slope":
        profile += [(reach, 0.0), (far, (far - reach) * tan(SLOPE))]
    else:
        rise, tread = 0.3 * reach, 0.7 * reach
        profile += [
            *((reach + along, height) for along, height in stair_profile(rise, tread, 8)),
            (1.5 * far, 8 * rise),
        ]
    make_profile(profile)


def _waves(reach: float, cells: int) -> None:
    """Waves of a quarter of a leg's reach, in triangles, wide and long enough for a walk."""
    waves = noise(0.25 * reach, 2.0 * reach)
    make_rubble(lambda x, y: waves.height(x, y) or 0.0, cells, BEHIND * reach, (BEHIND + 2.0 * WAY) * reach)


def _made(name: str, ground: str) -> tuple[Any, Frames]:
    """An empty file with a walker on some ground, keyed along its way, and the frames of that."""
    empty_file()
    kind, make = RIGS[name]
    owner = make()
    legs = _as_walker(owner)
    reach = legs[0].reach
    if ground == "noise":
        _waves(reach, CELLS)
    else:
        _profile(ground, reach)
    way = WAY * reach
    seconds = PEAK * way / pace_of(tuple(legs), FROUDE[kind] * SLOW.get(ground, 1.0))
    frames = (1, 1 + 3 * round(seconds * FPS / 3.0))
    go_along(owner, way_ahead(way), frames)
    return owner, frames


def _as_walker(owner: Any) -> Sequence[Leg]:
    """Make a walker of an armature; its legs as they are measured."""
    for bone in owner.pose.bones:
        bone.rotation_mode = "QUATERNION"
    CONTEXT.view_layer.update()
    add_walker(CONTEXT, owner)
    return legs_now(owner)[0]


@dataclass(slots=True)
class Seen:
    """What is seen of walks that are played live.

    Attributes:
        frames: How many.
        stances: Feet that stand, by frame.
        reached: Of these, those whose chain is REACHED.
        slip: The most that a foot that stands flat has moved in a frame.
        off: The farthest that a foot is from where the plan has it.
        turned: The most that a bone of a leg has turned against its parent in a frame, degrees.
        whirling: Frames in which one turns more than it is to.
        off_bake: By how much a matrix of a bone differs where the walk is baked.
    """

    frames: int = 0
    stances: int = 0
    reached: int = 0
    slip: float = 0.0
    off: float = 0.0
    turned: float = 0.0
    whirling: int = 0
    off_bake: float = 0.0

    def play(self, owner: Any, frames: Frames) -> list[Doubles]:
        """Play a walk that was planned; the matrices of all bones by frame."""
        rig_of(owner).live = True
        CONTEXT.view_layer.update()
        plan = plan_of(owner)
        assert plan is not None
        chains = [rig_of(owner).chains[leg.name] for leg in plan.legs]
        bones = [bone.name for chain in chains for bone in resolve_bones(owner, chain)]
        stood, turns, poses = dict[str, Vector](), list[Quaternion](), []
        for number in range(frames[0], frames[1] + 1):
            CONTEXT.scene.frame_set(number)
            stands: dict[str, Vector] = {}
            for leg, foot, chain in zip(plan.legs, feet_at(plan, number), chains, strict=True):
                self._see_foot(leg, foot, chain, (stood, stands))
            now = [owner.pose.bones[name].matrix_basis.to_quaternion() for name in bones]
            angles = [a.rotation_difference(b).angle for a, b in zip(turns, now, strict=bool(turns))]
            most = degrees(max((min(angle, tau - angle) for angle in angles), default=0.0))
            self.turned, self.whirling = max(self.turned, most), self.whirling + (most > TURN)
            poses.append(np.array([bone.matrix for bone in owner.pose.bones]))
            stood, turns = stands, now
        self.frames += len(poses)
        return poses

    def _see_foot(
        self, leg: Leg, foot: FootPose, chain: FabrikChain, ends: tuple[dict[str, Vector], dict[str, Vector]]
    ) -> None:
        """Look at a foot; where those that stand flat had their ends a frame before, and have them now."""
        before, now = ends
        end = end_of(chain)
        self.off = max(self.off, (end - Vector(foot.ankle)).length / leg.reach)
        if not foot.is_planted:
            return
        self.stances += 1
        self.reached += chain.status == "REACHED"
        if foot.pitch == 0.0:
            now[leg.name] = end
            self.slip = max(self.slip, (end - before.get(leg.name, end)).length / leg.reach)

    def compare_bake(self, owner: Any, frames: Frames, poses: list[Doubles]) -> None:
        """Bake the walk, and look at how that differs from what was seen live."""
        rig_of(owner).live = False
        bake_bones(CONTEXT, owner)
        for number, matrices in zip(range(frames[0], frames[1] + 1), poses, strict=True):
            CONTEXT.scene.frame_set(number)
            off = np.abs(np.array([bone.matrix for bone in owner.pose.bones]) - matrices)
            self.off_bake = max(self.off_bake, float(off.max()))


def walked(scale: Scale) -> Table:
    """All rigs over all kinds of ground."""
    rows: list[Row] = []
    for name in list(RIGS)[: scale.of(len(RIGS), 1)]:
        seen = Seen()
        for ground in ("flat", "slope", "stairs", "noise")[: scale.of(4, 2)]:
            owner, frames = _made(name, ground)
            plan_in_blender(CONTEXT, owner, frames)
            seen.compare_bake(owner, frames, seen.play(owner, frames))
        rows.append(_walked_row(name, seen))
    note = (
        "Rigs on meshes, flat ground, a slope, stairs and waves as in table 8a, played live, every frame; lengths are "
        "shares of a leg's reach, and the worst of all. *REACHED*: feet that stand, of a hundred, whose chain says so. "
        "*Slip*: what the end of a chain moves in a frame while its foot stands flat, as Blender evaluates it; *off "
        "plan*: the farthest that it is from where the plan has it. *°*: the most that a bone of a leg turns against "
        "its parent in a frame, and in how many frames one turns by more than 15. *Bake*: by how much a bone's matrix "
        "differs where the walk is baked."
    )
    return Table("9a. Walks in Blender", note, rows)


def rigs_of_people(scale: Scale) -> Table:
    """Real rigs of people, with the proportions that they have, beside norms."""
    rows: list[Row] = []
    for name in HUMANS[: scale.of(len(HUMANS), 1)]:
        empty_file()
        with quiet():
            legs = tuple(_as_walker(make_human(name)))
        rows += [beside(legs, pace) | {"v*": f"{name} {pace:g}"} for pace in PACES if running(pace) == 0.0]
    note = (
        "As in table 8d, by legs that are measured from rigs: with the names of Mixamo and of a game engine (Unreal), "
        "whose feet are longer, and whose ankles are higher, than those of the human of that table."
    )
    return Table("9c. Rigs of people beside norms", note, rows)


def _walked_row(name: str, seen: Seen) -> Row:
    goals = {column: name in rigs for column, rigs in LIVE_GOALS.items()}
    share = 100.0 * seen.reached / max(seen.stances, 1)
    return {
        "rig": name,
        "frames": seen.frames,
        "standing": seen.stances,
        "REACHED %": Judged(share, at_least=100.0, is_goal=goals["REACHED %"]),
        "slip a frame": Judged(seen.slip, at_most=SLIP, is_goal=goals["slip a frame"]),
        "off plan": Judged(seen.off, at_most=OFF_PLAN, is_goal=goals["off plan"]),
        "°": Judged(seen.turned, at_most=TURN, is_goal=goals["°"]),
        "frames above": seen.whirling,
        "bake": Judged(seen.off_bake, at_most=OFF_BAKE),
    }


def cost(scale: Scale) -> Table:
    """Planning and playing eight legs on many triangles."""
    frames, cells = range(1, scale.of(250, 50) + 1), scale.of(MANY_CELLS, 30)
    _make_files(scale, frames, cells)
    timing = Timing([_seconds(scale, frames) for _ in range(scale.of(9, 1))])
    most = {"anew": PLANNING, "again": PLANNING, "walk": PLAYING}
    number = list(CONTENDERS).index("goals")
    rows: list[Row] = [
        {
            "what": text,
            "s": timing.seconds(i),
            "ms a frame": 1e3 * timing.seconds(i) / len(frames),
            "over the chains alone": Judged(timing.ratio(i, number), at_most=most.get(name)),
        }
        for i, (name, text) in enumerate(CONTENDERS.items())
    ]
    note = (
        f"A spider of eight legs of three bones, {len(frames)} frames, on a mesh of {2 * cells**2:,} "
        "triangles (waves of a quarter of a leg's reach). Planning goes through the frames once for the body's path, "
        "and is all that the button does. Files are opened in turn and played once before; medians of the rounds."
    )
    return Table("9b. What planning and playing a walk cost", note, rows)


def _make_files(scale: Scale, frames: range, cells: int) -> None:
    """Make files of all that is played, one from another."""
    empty_file()
    owner = make_spider()
    legs = _as_walker(owner)
    _waves(legs[0].reach, cells)
    seconds = (len(frames) - 1) / FPS
    span = (frames[0], frames[-1])
    go_along(owner, way_ahead(pace_of(tuple(legs), FROUDE["spider"]) * seconds / PEAK), span)
    scale.save("unplanned")
    plan_in_blender(CONTEXT, owner, span)
    rig_of(owner).live = True
    CONTEXT.view_layer.update()
    scale.save("walk")
    bake_goals(CONTEXT, owner, TOLERANCE)
    CONTEXT.view_layer.update()
    scale.save("goals")
    owner = scale.opened("walk")
    rig_of(owner).live = False
    bake_bones(CONTEXT, owner)
    CONTEXT.view_layer.update()
    scale.save("baked")


def _seconds(scale: Scale, frames: range) -> tuple[float, ...]:
    """Of each contender, in turn; files are opened again, and those that are played were played once before."""
    owner = scale.opened("unplanned")
    terrain._trees.clear()
    times = [timed(lambda: plan_in_blender(CONTEXT, owner, (frames[0], frames[-1]))) for _ in ("anew", "again")]
    for name in ("goals", "walk", "baked"):
        scale.opened(name)
        play(frames)
        times.append(timed(lambda: play(frames)))
    return tuple(times)
