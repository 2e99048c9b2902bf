# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks in Blender: what chains make of them over all kinds of ground, what they cost, and people beside norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import pi, radians, sqrt, tan
from typing import Any

import bpy
import numpy as np
from fabrik_addon.actions.walk.bake import bake_bones, bake_goals
from fabrik_addon.actions.walk.plan import legs_now
from fabrik_addon.actions.walk.plan import plan_walk as plan_in_blender
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.gait.ground import Plain
from fabrik_addon.gait.human import stride_at
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import settings_for
from fabrik_addon.maths import Doubles, distance
from fabrik_addon.rig import terrain
from fabrik_addon.rig.schema.rig import rig_of

from blender import quiet
from dev.humans import HUMANS, give_ranges, make_human
from dev.walk_judge import judge
from dev.walk_measures import Judged as Figures
from dev.walk_measures import beside_norms, from_the_side
from dev.walkers import FROUDE, SLOW, height_of, noise, pace_of, path_of, plan_walk
from dev.walking_rigs import ahead as way_ahead
from dev.walking_rigs import go_along, make_profile, make_rubble, make_spider, stair_profile
from rigs import empty_file, metarig

from .tables import Judged, Row, Scale, Table, Timing, at_most, play, timed

FPS = 24.0
SLIP = 1e-4
TURN = 15.0  # degrees a frame
WALKED, SKIPPED = 16.0, 4.0  # seconds, of people, of which so many at the beginning and the end do not count
STEPS = 5.0  # per cent
PACES = (0.15, 0.295, 0.43, 0.57)  # v*
NORMS = {"thigh": (3.0, 0.97), "knee": (5.0, 0.95), "foot": (5.0, 0.88), "ankle": (5.0, 0.88)}  # degrees, correlation
KNEE_GOALS = {"0.57": 18.0}  # degrees a frame
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
TURN_GOALS = (LIMITED, "human", "wolf")
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


def _poses(owner: Any, frames: Frames) -> Doubles:
    """The matrices of all bones in some frames, (F, B, 4, 4)."""
    found = []
    for number in range(frames[0], frames[1] + 1):
        CONTEXT.scene.frame_set(number)
        found.append([bone.matrix.copy() for bone in owner.pose.bones])
    return np.array(found)


def _off_bake(owner: Any, frames: Frames) -> float:
    """By how much a matrix of a bone differs where the walk is baked."""
    live = _poses(owner, frames)
    rig_of(owner).live = False
    bake_bones(CONTEXT, owner)
    return float(np.abs(_poses(owner, frames) - live).max())


def walked(scale: Scale) -> Table:
    """All rigs over all kinds of ground."""
    rows: list[Row] = []
    for name in list(RIGS)[: scale.of(len(RIGS), 1)]:
        seen, off_bake = list[Figures](), 0.0
        for ground in ("flat", "slope", "stairs", "noise")[: scale.of(4, 2)]:
            owner, frames = _made(name, ground)
            plan_in_blender(CONTEXT, owner, frames)
            rig_of(owner).live = True
            CONTEXT.view_layer.update()
            seen.append(judge(owner))
            off_bake = max(off_bake, _off_bake(owner, frames))
        rows.append(_walked_row(name, seen, off_bake))
    note = (
        "Rigs on meshes: flat ground, a slope of 25°, stairs .3 of a leg's reach high and .7 deep, waves of .25, "
        "played live, every frame, judged as the demo's walks; lengths are shares of a leg's reach, the worst of all. "
        "*REACHED*: feet that stand, of a hundred, whose chain says so. *Slip*: what a point of a sole that stands "
        "moves in a frame. *°*: the most that a bone of a leg turns in a frame. *Bake*: by how much a bone's matrix "
        "differs where the walk is baked."
    )
    return Table("9a. Walks in Blender", note, rows)


def _walked_row(name: str, seen: Sequence[Figures], off_bake: float) -> Row:
    stances = sum(each.stances for each in seen)
    share = 100.0 * (1.0 - sum(each.stretched for each in seen) / max(stances, 1))
    return {
        "rig": name,
        "frames": sum(each.frames for each in seen),
        "standing": stances,
        "REACHED %": Judged(share, at_least=100.0, is_goal=name == LIMITED),
        "slip a frame": Judged(max(each.slip for each in seen), at_most=SLIP, is_goal=name == LIMITED),
        "°": Judged(max(each.turned for each in seen), at_most=TURN, is_goal=name in TURN_GOALS),
        "bake": Judged(off_bake, at_most=OFF_BAKE),
    }


def rigs_of_people(scale: Scale) -> Table:
    """Real rigs of people, with the proportions that they have, beside norms."""
    rows: list[Row] = []
    for name in HUMANS[: scale.of(len(HUMANS), 1)]:
        empty_file()
        with quiet():
            legs = tuple(_as_walker(make_human(name)))
        rows += [beside(legs, pace) | {"v*": f"{name} {pace:g}"} for pace in PACES]
    note = (
        "A person straight ahead on level ground, planned, by v* (speed by the root of gravity times a leg's reach), "
        "style as measured; legs are measured from rigs with the names of Mixamo and of a game engine (Unreal). By "
        "joint the root of the mean square of what its curve differs over a cycle from the curve of the norms, but for "
        "their means, and how both correlate. *Stride*: how far it is off the norm's, in per cent. *Knee*: the most "
        "that it turns in a frame of 24 a second."
    )
    return Table("9c. Rigs of people beside norms", note, rows)


def beside(legs: tuple[Leg, ...], pace: float) -> Row:
    """A row of figures: a walk straight ahead at a speed v*, by the legs of a person, beside norms."""
    speed, settings = pace * sqrt(settings_for(legs).acceleration * legs[0].reach), settings_for(legs)
    path = path_of(lambda time: (0.0, -speed * time, height_of(legs)), WALKED, FPS)
    plan = plan_walk(Walk(path, legs, (replace(settings, energy=0.0),), Plain()))
    steps = [step for step in plan.steps[0] if step.lift > SKIPPED and step.land < WALKED - SKIPPED]
    span = steps[-2].land, steps[-1].land
    row: Row = {"v*": f"{pace:g}"}
    for joint, (off, together) in zip(NORMS, beside_norms(plan, pace, span), strict=True):
        most, least = NORMS[joint]
        row[f"{joint} °"] = Judged(off, at_most=most, is_goal=True)
        row[f"{joint} r"] = Judged(together, at_least=least, is_goal=True)
    stride = distance(steps[-2].end.place, steps[-1].end.place) / (stride_at(pace) * legs[0].reach)
    row["stride %"] = Judged(100.0 * abs(stride - 1.0), at_most=STEPS)
    frames = range(int(span[0] * FPS), int(span[1] * FPS) + 2)
    knees = [from_the_side(plan, plan.first + frame)[1] for frame in frames]
    fastest = max(abs(after - before) for before, after in pairwise(knees))
    row["knee ° a frame"] = at_most(fastest, f"{pace:g}", None, KNEE_GOALS)
    return row


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
