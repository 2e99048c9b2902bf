# SPDX-License-Identifier: GPL-3.0-or-later
"""What chains make of planned walks on meshes in Blender, live and baked; what planning and playing cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import degrees, pi, radians, tan, tau
from typing import Any

import bpy
from fabrik_addon.actions.walk.bake import bake_bones, bake_goals
from fabrik_addon.actions.walk.plan import legs_now, plan_walk
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.human import running
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.rig import terrain
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.schema.rig import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Matrix, Quaternion, Vector

from blender import quiet
from dev.humans import HUMANS, give_ranges, make_human
from dev.walkers import FROUDE, SLOW, noise, pace_of
from dev.walking_rigs import FPS, ahead, go_along, make_profile, make_rubble, make_spider
from rigs import empty_file, end_of, metarig

from .tables import Judged, Row, Scale, Table, Timing, at_most, play, timed
from .walks import PACES, SLIP, TURN, beside

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
REACHED_GOALS = {LIMITED: 100.0}
SLIP_GOALS = {LIMITED: SLIP}
OFF_PLAN_GOALS = {LIMITED: OFF_PLAN, "human": OFF_PLAN}
TURN_GOALS = {LIMITED: TURN, "human": TURN, "wolf": TURN}
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


CREATURES: dict[str, tuple[str, Callable[[], Any]]] = {  # by row whose pace it has, and what makes its armature
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
        profile.append((reach, 0.0))
        for step in range(1, 9):
            profile += [(reach + tread * (step - 1), rise * step), (reach + tread * step, rise * step)]
        profile.append((1.5 * far, 8 * rise))
    make_profile(profile)


def _waves(reach: float, cells: int) -> None:
    """Waves of a quarter of a leg's reach, in triangles, wide and long enough for a walk."""
    waves = noise(0.25 * reach, 2.0 * reach)
    make_rubble(lambda x, y: waves.height(x, y) or 0.0, cells, BEHIND * reach, (BEHIND + 2.0 * WAY) * reach)


def _made(name: str, ground: str) -> tuple[Any, Frames]:
    """An empty file with a walker on some ground, keyed along its way, and the frames of that."""
    empty_file()
    kind, make = CREATURES[name]
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
    go_along(owner, ahead(way), frames)
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

    def play(self, owner: Any, frames: Frames) -> list[list[Matrix]]:
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
            poses.append([bone.matrix.copy() for bone in owner.pose.bones])
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

    def compare_bake(self, owner: Any, frames: Frames, poses: list[list[Matrix]]) -> None:
        """Bake the walk, and look at how that differs from what was seen live."""
        rig_of(owner).live = False
        bake_bones(CONTEXT, owner)
        for number, matrices in zip(range(frames[0], frames[1] + 1), poses, strict=True):
            CONTEXT.scene.frame_set(number)
            for bone, matrix in zip(owner.pose.bones, matrices, strict=True):
                pairs = zip(bone.matrix, matrix, strict=True)
                self.off_bake = max(self.off_bake, *(abs(a - b) for p, q in pairs for a, b in zip(p, q, strict=True)))


def quality(scale: Scale) -> Table:
    """All rigs over all kinds of ground."""
    rows: list[Row] = []
    for name in list(CREATURES)[: scale.of(len(CREATURES), 1)]:
        seen = Seen()
        for ground in ("flat", "slope", "stairs", "noise")[: scale.of(4, 2)]:
            owner, frames = _made(name, ground)
            plan_walk(CONTEXT, owner, frames)
            seen.compare_bake(owner, frames, seen.play(owner, frames))
        rows.append(_row(name, seen))
    note = (
        "Rigs on meshes, flat ground, a slope, stairs and waves as in table 8a, played live, every frame; lengths are "
        "shares of a leg's reach, and the worst of all. *REACHED*: feet that stand, of a hundred, whose chain says so. "
        "*Slip*: what the end of a chain moves in a frame while its foot stands flat, as Blender evaluates it; *off "
        "plan*: the farthest that it is from where the plan has it. *°*: the most that a bone of a leg turns against "
        "its parent in a frame, and in how many frames one turns by more than 15. *Bake*: by how much a bone's matrix "
        "differs where the walk is baked."
    )
    return Table("9a. Walks in Blender", note, rows)


def people(scale: Scale) -> Table:
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


def _row(name: str, seen: Seen) -> Row:
    share = 100.0 * seen.reached / max(seen.stances, 1)
    return {
        "rig": name,
        "frames": seen.frames,
        "standing": seen.stances,
        "REACHED %": Judged(share, at_least=100.0, is_goal=name in REACHED_GOALS),
        "slip a frame": at_most(seen.slip, name, SLIP, SLIP_GOALS),
        "off plan": at_most(seen.off, name, OFF_PLAN, OFF_PLAN_GOALS),
        "°": at_most(seen.turned, name, TURN, TURN_GOALS),
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
    go_along(owner, ahead(pace_of(tuple(legs), FROUDE["spider"]) * seconds / PEAK), span)
    scale.save("unplanned")
    plan_walk(CONTEXT, owner, span)
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
    times = [timed(lambda: plan_walk(CONTEXT, owner, (frames[0], frames[-1]))) for _ in ("anew", "again")]
    for name in ("goals", "walk", "baked"):
        scale.opened(name)
        play(frames)
        times.append(timed(lambda: play(frames)))
    return tuple(times)
