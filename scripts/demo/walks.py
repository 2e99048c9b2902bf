# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers of the demo on their ground, with a keyed way, set up and planned by buttons; judged, saved and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pi, radians, tan
from pathlib import Path
from typing import TypeAlias

import bpy
from fabrik_addon.actions.walk.lead import begin, lead_to
from fabrik_addon.gait.plan import WalkPlan
from fabrik_addon.maths import V3
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Matrix, Vector
from picture import (
    BODY,
    FLOOR,
    STAIRS,
    Color,
    Drawing,
    add_camera,
    dress_spider,
    light,
    make_rubble,
    make_slab,
    rendered,
    save,
    save_file,
    save_rows,
)

from blender import OPS, armature_of, quiet, rig_of
from dev.humans import give_ranges, make_human
from dev.walk_judge import judge
from dev.walk_measures import Judged
from dev.walking_rigs import stair_profile
from environment import say
from rigs import FOX, FOX_CYCLE, empty_file, end_of, import_gltf, make_spider

HEADER = (
    f"{'walk':<12} {'legs':>4} {'frames':>6} {'steps':>5} {'reached':>8} {'slip/frame':>10} {'/stance':>8} {'sunk':>8}"
    f" {'hover':>8} {'turn/frame':>11} {'supported':>9}"
)
# By figure the most that it may be: shares of a leg's reach, and degrees
MOST = {"slip": 1e-4, "drift": 1e-3, "inside": 0.01, "hover": 0.005}
HUMAN, OTHER = "human_game_engine", "human_mixamo"
FUR: Color = (0.78, 0.5, 0.3, 1)
STANDING = (12, 36)  # frames before and after it goes
FPS = 24
EASED = 1.0  # seconds until a walker goes evenly, and in which it comes to stand
COLUMNS = 4
LED, EVERY = 3.5, 12  # metres by which a person is led at a meter a second; frames between two pictures of them
FAR = 40.0  # metres from which the camera looks
GAP = 3  # white pixels at the right of each picture, and below it
Spot: TypeAlias = tuple[float, float]  # on the floor, by X and Y
Corner: TypeAlias = tuple[Spot, Spot]  # place and forward handle


def follow(owner: bpy.types.Object, corners: Sequence[Corner], frames: tuple[int, int], eased: float) -> None:
    """Let an armature object that looks along -Y follow a curve, headed along it, from a frame to another."""
    way = _curve(corners)
    tie = owner.constraints.new("FOLLOW_PATH")
    assert isinstance(tie, bpy.types.FollowPathConstraint)
    tie.target, tie.use_fixed_location, tie.use_curve_follow = way, True, True
    tie.forward_axis, tie.up_axis = "TRACK_NEGATIVE_Y", "UP_Z"
    for share, frame in enumerate(frames):
        tie.offset_factor = float(share)
        tie.keyframe_insert("offset_factor", frame=frame)
    for curve in (one for one in fcurves_of(owner) if one.data_path.endswith("offset_factor")):
        first, last = curve.keyframe_points
        first.handle_right_type = last.handle_left_type = "FREE"
        first.handle_right = (first.co[0] + eased * FPS, first.co[1])
        last.handle_left = (last.co[0] - EASED * FPS, last.co[1])
        curve.update()


def _curve(corners: Sequence[Corner]) -> bpy.types.Object:
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions, line.resolution_u = "3D", 64
    spline = line.splines.new("BEZIER")
    spline.bezier_points.add(len(corners) - 1)
    for point, (here, forwards) in zip(spline.bezier_points, corners, strict=True):
        place, handle = Vector((*here, 0.0)), Vector((*forwards, 0.0))
        point.co, point.handle_left, point.handle_right = place, place - handle, place + handle
    way = bpy.data.objects.new("Way", line)
    bpy.context.scene.collection.objects.link(way)
    return way


@dataclass(frozen=True)
class WalkScene:
    """A walk; where nothing else is said, of a person."""

    name: str  # of its files
    make: Callable[[], bpy.types.Object]  # makes ground and walker in an empty file; returns the armature object
    way: Sequence[Corner]  # corners of the curve that it follows
    last: int  # frame in which it comes to stand
    shown: tuple[int, ...]  # frames of which pictures are made
    view: V3  # direction from which it is looked at
    size: tuple[int, int] = (212, 252)  # width and height of a picture
    extent: float = 2.05  # how much is seen along the longer of these, in metres
    above: float = -0.12  # middle of the picture, from the head of the body bone
    # degrees that no bone turns more by in a frame; people roll off their toes at 500 a second, and more
    turned: float = 30.0
    eased: float = EASED  # seconds until it goes evenly
    cycle: Path | None = None  # a file with the cycle by which it walks


def walk(scene: WalkScene) -> bpy.types.Object:
    """The walker in a file made anew, in Pose mode, its walk planned; live posing is on."""
    empty_file()
    stage = bpy.context.scene
    layer = bpy.context.view_layer
    stage.render.fps, stage.frame_start, stage.frame_end = FPS, 1, scene.last + STANDING[1]
    owner = scene.make()
    clip = owner.animation_data.action if owner.animation_data is not None else None
    follow(owner, scene.way, (1 + STANDING[0], scene.last), scene.eased)
    layer.objects.active = owner
    layer.update()
    bpy.ops.object.mode_set(mode="POSE")
    OPS.fabrik.walker_add()
    if clip is not None:
        walker = rig_of(owner).walker
        walker.clip, walker.gait = clip, "CLIP"
    if scene.cycle is not None:
        OPS.fabrik.cycle_import(filepath=str(scene.cycle))
    OPS.fabrik.walk_plan(span="SCENE")
    armature_of(owner).display_type = "STICK"  # what walks is the skin
    return owner


def make_rubble_walker() -> bpy.types.Object:
    """A spider before rubble, and stairs up and down."""
    make_slab("Floor", [(-10.0, 0.0), (20.0, 0.0)], (-10.0, 24.0), FLOOR)
    make_rubble(44, ((1.0, 5.4), (-2.6, 2.6)), (0.25, 0.6))
    up = list(stair_profile(0.2, 0.55, 4))
    down = [(5.5 - x, z) for x, z in reversed(up)]
    place = Matrix.Translation((8.0, 5.0, 0.0)) @ Matrix.Rotation(pi / 2, 4, "Z")
    make_slab("Stairs", [*up, *down], (-2.6, 2.6), STAIRS, place)
    owner = make_spider()
    dress_spider(owner)
    return owner


def make_stroller() -> bpy.types.Object:
    """A human on level ground."""
    make_slab("Floor", [(-4.0, 0.0), (24.0, 0.0)], (-4.0, 4.0), FLOOR)
    return _coloured(make_human(OTHER))


def make_stair_climber() -> bpy.types.Object:
    """A human before stairs that lead up."""
    up = [(0.8 + x, z) for x, z in stair_profile(0.17, 0.3, 7)]
    make_slab("Stairs", [(-1.6, 0.0), *up, (6.0, up[-1][1])], (-0.9, 0.9), STAIRS)
    return _coloured(make_human(OTHER))


def _coloured(owner: bpy.types.Object, color: Color = BODY) -> bpy.types.Object:
    """An armature whose skins have a colour."""
    for skin in owner.children:
        setattr(skin, "color", color)
    return owner


def make_fox() -> bpy.types.Object:
    """A fox that plays its own walk, before rubble."""
    make_slab("Floor", [(-6.0, 0.0), (20.0, 0.0)], (-5.0, 5.0), FLOOR)
    make_rubble(44, ((2.5, 12.0), (-2.6, 2.6)), (0.3, 0.9))
    return _coloured(import_gltf(FOX), FUR)


def make_runner() -> bpy.types.Object:
    """A fox on level ground."""
    make_slab("Floor", [(-6.0, 0.0), (50.0, 0.0)], (-5.0, 5.0), FLOOR)
    owner = import_gltf(FOX)
    owner.animation_data_clear()
    return _coloured(owner, FUR)


def make_climber() -> bpy.types.Object:
    """A human before a slope."""
    top = 3.0 * tan(radians(15.0))
    make_slab("Slope", [(-1.6, 0.0), (1.0, 0.0), (4.0, top), (7.2, top)], (-0.9, 0.9), STAIRS)
    owner = make_human(HUMAN)
    give_ranges(owner)
    return _coloured(owner)


ROUND_A_CORNER = (
    ((-1.0, 0.0), (1.0, 0.0)),
    ((5.0, 0.0), (1.66, 0.0)),
    ((8.0, 3.0), (0.0, 1.66)),
    ((8.0, 12.5), (0.0, 1.0)),
)
WALKS = (
    WalkScene(
        "walk_spider",
        make_rubble_walker,
        ROUND_A_CORNER,
        420,
        (28, 80, 112, 150, 218, 270, 305, 345),
        view=(1.0, -0.5, 0.6),
        size=(212, 172),
        extent=4.3,
        above=0.0,
        turned=15.0,
    ),
    WalkScene(
        "walk_level",
        make_stroller,
        (((0.0, 0.0), (2.0, 0.0)), ((7.0, 0.0), (2.0, 0.0))),
        150,
        tuple(range(72, 96, 3)),
        view=(0.35, -1.0, 0.1),
    ),
    WalkScene(
        "walk_curve",
        make_stroller,
        (((0.0, 0.0), (1.0, 0.0)), ((2.5, 0.0), (0.85, 0.0)), ((4.0, 1.5), (0.0, 0.85)), ((4.0, 4.0), (0.0, 1.0))),
        150,
        tuple(range(54, 102, 6)),
        view=(1.0, 0.0, 0.15),
    ),
    WalkScene(
        "walk_stairs",
        make_stair_climber,
        (((-0.6, 0.0), (1.0, 0.0)), ((4.6, 0.0), (1.0, 0.0))),
        260,
        tuple(range(88, 152, 8)),
        view=(0.25, -1.0, 0.12),
        extent=2.2,
    ),
    WalkScene(
        "walk_jog",
        make_stroller,
        (((0.0, 0.0), (4.0, 0.0)), ((16.0, 0.0), (4.0, 0.0))),
        140,
        tuple(range(70, 86, 2)),
        view=(0.35, -1.0, 0.1),
        extent=2.3,
        above=-0.05,
        turned=60.0,
    ),
    WalkScene(
        "walk_fox",
        make_fox,
        (((0.0, 0.0), (2.0, 0.0)), ((10.0, 0.0), (2.0, 0.0))),
        172,
        tuple(range(88, 112, 3)),
        view=(0.35, -1.0, 0.25),
        size=(260, 180),
        extent=4.6,
        above=0.0,
        turned=35.0,
    ),
    WalkScene(
        "walk_run",
        make_runner,
        (((0.0, 0.0), (14.0, 0.0)), ((42.0, 0.0), (14.0, 0.0))),
        200,
        tuple(range(60, 124, 4)),
        view=(0.1, -1.0, 0.15),
        size=(212, 130),
        extent=4.6,
        above=0.0,
        turned=100.0,
        eased=5.0,
        cycle=FOX_CYCLE,
    ),
    WalkScene(
        "walk_human",
        make_climber,
        (((0.0, 0.0), (1.0, 0.0)), ((5.6, 0.0), (1.0, 0.0))),
        222,
        (1, 33, 57, 81, 105, 129, 153, 193),
        view=(0.45, -1.0, 0.2),
    ),
)


def walk_rigs(out: Path) -> int:
    """Let all walkers walk; returns how many figures miss what they are to be."""
    failed = 0
    print(f"\n{HEADER}")
    for scene in WALKS:
        say(f"walk: {scene.name}")
        with quiet():
            owner = walk(scene)
            _follow_with_camera(owner, scene)
            save_walk(scene.shown, scene.size, out / f"{scene.name}.png")
            save_file(out / scene.name)
            judged = judge(owner)
        _print_row(scene.name, judged, plan_of(owner))
        for miss in _misses(judged, scene.turned):
            say(f"      {miss}")
            failed += 1
    print(
        "\nreached: standing feet; slip: of the points of a sole that stand; sunk, hover: a sole below and above its"
        " ground, at its worst;\nlengths are shares of the leg's reach; supported: frames in which the middle of the"
        " hips is above the standing soles"
    )
    return failed


def lead_by_hand(out: Path) -> int:
    """Lead a person ahead by hand, and let them come to stand; returns how many figures miss what they are to be."""
    say("walk: walk_led")
    empty_file()
    owner = _coloured(make_human(OTHER))
    bpy.context.view_layer.objects.active = owner
    with quiet():
        OPS.fabrik.character_setup()
        OPS.fabrik.walker_add()
    led = begin(bpy.context, owner)
    walk, (x, y, z), off = led.walk, led.steering.place, 0.0
    strip = Drawing(floor=Vector((0.0, -2.0, 0.0)), floor_radius=2.0, extent=4.2, pixels=(1290, 400))
    for frame in range(4 * FPS):
        lead_to(bpy.context, led, (x, y - min(frame / FPS, LED), z), 1.0 / FPS)
        bpy.context.view_layer.update()
        for leg, foot in zip(walk.legs, walk.poses(), strict=True):
            if foot.is_planted:
                end = end_of(rig_of(owner).chains[leg.name])
                off = max(off, (end - Vector(foot.ankle)).length / leg.reach)
        if frame % EVERY == 0:
            strip.add_skins(BODY)
    save(out / "walk_led", [strip], (1.0, -0.12, 0.08))
    order = [step.leg for step in sorted((one for _, own in walk.feet for one in own), key=lambda one: one.lift)]
    print(f"led by hand: {len(order)} steps, feet that stand off by {off:.1e} of a leg", flush=True)
    return int(off > MOST["slip"]) + int(any(a == b for a, b in pairwise(order)))


def _print_row(name: str, judged: Judged, plan: WalkPlan) -> None:
    steps = sum(len(each) for each in plan.steps)
    print(
        f"{name:<12} {len(plan.legs):>4} {judged.frames:>6} {steps:>5} {judged.reached:>8.1%}"
        f" {judged.slip:>10.1e} {judged.drift:>8.1e} {judged.inside:>8.1e} {judged.hover:>8.1e}"
        f" {judged.turned:>7.1f} deg {judged.supported:>9.1%}",
        flush=True,
    )


def _misses(judged: Judged, turned: float) -> list[str]:
    """Which figures miss what they are to be, and where they are worst."""
    found = [
        f"{name} is {getattr(judged, name):.1e}, and was to be at most {most:g}: {judged.where[name]}"
        for name, most in (MOST | {"turned": turned}).items()
        if getattr(judged, name) > most
    ]
    if judged.stretched:
        found.append(f"{judged.stretched} of {judged.stances} standing feet are not reached")
    return found


def _follow_with_camera(owner: bpy.types.Object, walk: WalkScene) -> None:
    """A camera of the open file that looks at the walker's body, and goes along with it."""
    way = Vector(walk.view).normalized()
    camera = add_camera(bpy.context.scene, FAR * way + Vector((0.0, 0.0, walk.above)), way, walk.extent, 4.0 * FAR)
    along = camera.constraints.new("COPY_LOCATION")
    assert isinstance(along, bpy.types.CopyLocationConstraint)
    along.target, along.subtarget, along.use_offset = owner, rig_of(owner).body_bone, True


def save_walk(frames: Sequence[int], size: tuple[int, int], path: Path) -> None:
    """Render frames of the open file's scene, and save them in rows as a PNG."""
    scene = bpy.context.scene
    light(scene, has_floor=True)
    scene.display.shading.show_cavity = False  # on wide ground it is noise, which makes files large
    pictures = []
    for frame in frames:
        scene.frame_set(frame)
        pixels = rendered(scene, size, path.with_suffix(f".{frame}.png"))
        pixels[:, -GAP:], pixels[:GAP] = 1.0, 1.0
        pictures.append(pixels)
    save_rows([pictures[i : i + COLUMNS] for i in range(0, len(pictures), COLUMNS)], path)
    scene.frame_set(scene.frame_start)
