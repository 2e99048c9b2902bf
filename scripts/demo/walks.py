# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers of the demo on their ground, with a keyed way, set up and planned by buttons; judged, saved and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import degrees, pi, radians, tan
from pathlib import Path
from typing import NamedTuple, TypeAlias

import bpy
from fabrik_addon.actions.walk.lead import begin, lead_to
from fabrik_addon.gait.feet import FootPose
from fabrik_addon.gait.legs import Leg
from fabrik_addon.gait.plan import WalkPlan, feet_at
from fabrik_addon.maths import IDENTITY, V3, conjugated, multiplied, q4, turn_angle, v3
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema.chain import FabrikChain
from fabrik_addon.rig.terrain import MeshTerrain, grounds_of, read_piece
from fabrik_addon.rig.walk_goals import plan_of, rest_turn
from mathutils import Matrix, Quaternion, Vector
from picture import (
    BODY,
    FLOOR,
    STAIRS,
    Color,
    Drawing,
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
from dev.walk_measures import Judged, Moment, Shown, inside, judge_shown, standing_points, swings_of
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
    """A walk; where nothing else is said, of a person.

    Attributes:
        name: Of its files.
        make: Makes ground and walker in an empty file; returns the armature object.
        way: Corners of the curve that it follows.
        last: Frame in which it comes to stand.
        shown: Frames of which pictures are made.
        view: Direction from which it is looked at.
        size: Width and height of a picture.
        extent: How much is seen along the longer of these, in metres.
        above: Middle of the picture, from the head of the body bone.
        turned: Degrees that no bone turns more by in a frame; people roll off their toes at 500 a second, and more.
        eased: Seconds until it goes evenly.
        cycle: A file with the cycle by which it walks.
    """

    name: str
    make: Callable[[], bpy.types.Object]
    way: Sequence[Corner]
    last: int
    shown: tuple[int, ...]
    view: V3
    size: tuple[int, int] = (212, 252)
    extent: float = 2.05
    above: float = -0.12
    turned: float = 30.0
    eased: float = EASED
    cycle: Path | None = None


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
            add_camera(owner, scene.view, scene.extent, scene.above)
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


def add_camera(owner: bpy.types.Object, view: Sequence[float], extent: float, above: float) -> None:
    """A camera of the open file that looks at the walker's body against `view`, and goes along with it.

    Args:
        owner: The armature object.
        view: Direction from which it is looked at.
        extent: How much is seen along the longer side, in metres.
        above: How far the middle of the picture is above the head of the body bone.
    """
    scene = bpy.context.scene
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale, data.clip_end = "ORTHO", extent, 4.0 * FAR
    camera = bpy.data.objects.new("Camera", data)
    scene.collection.objects.link(camera)
    scene.camera = camera
    way = Vector(view).normalized()
    place = FAR * way + Vector((0.0, 0.0, above))
    camera.matrix_world = Matrix.LocRotScale(place, way.to_track_quat("Z", "Y"), None)
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


# ---- what a walk is worth


class Limb(NamedTuple):
    """A leg: its plan, its chain, its bones, and the rotation of its tip bone at rest."""

    leg: Leg
    chain: FabrikChain
    bones: list[str]
    rest: Quaternion


def judge(owner: bpy.types.Object) -> Judged:
    """Go through all frames of the scene.

    Returns:
        The figures of the soles as they are evaluated. `stretched` counts the standing feet whose chain does not say
        that it reaches, `turned` is of any bone of a leg, and `unsupported` by all points that stand.
    """
    scene, planned = bpy.context.scene, plan_of(owner)
    limbs = [_limb(owner, leg) for leg in planned.legs]
    moments, turns, judged = list[Moment](), dict[str, Quaternion](), Judged()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        poses = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
        feet = [_foot(poses, *pair) for pair in zip(limbs, feet_at(planned, frame), strict=True)]
        heads = [poses.matrix_world @ poses.pose.bones[limb.bones[0]].head for limb in limbs]
        moments.append(Moment(frame, planned.time_of(frame), feet, [v3(head) for head in heads], IDENTITY))
        standing = [(limb, foot) for limb, foot in zip(limbs, feet, strict=True) if foot.is_planted]
        judged.stretched += sum(limb.chain.status != "REACHED" for limb, _ in standing)
        soles = [point for limb, foot in standing for point in standing_points(limb.leg, foot).values()]
        centre = sum(heads, Vector()) / len(heads)
        judged.unsupported += not inside([(x - centre.x, y - centre.y) for x, y, _ in soles])
        _judge_turns(judged, poses, limbs, turns, frame)
    seen = judge_shown(Shown(planned.legs, moments, swings_of(planned), ()), _ground(owner))
    seen.stretched, seen.unsupported, seen.turned = judged.stretched, judged.unsupported, judged.turned
    seen.where |= judged.where
    return seen


def _ground(owner: bpy.types.Object) -> MeshTerrain:
    """All that is seen but the armature's own, as it stands now."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    pieces = [read_piece(thing, depsgraph, moves=False) for thing in grounds_of(owner, None, depsgraph)]
    return MeshTerrain([piece for piece in pieces if piece is not None], [])


def _limb(owner: bpy.types.Object, leg: Leg) -> Limb:
    chain = rig_of(owner).chains[leg.name]
    names = [bone.name for bone in resolve_bones(owner, chain)]
    return Limb(leg, chain, names, Quaternion(rest_turn(owner, chain.tip_bone)))


def _foot(poses: bpy.types.Object, limb: Limb, planned: FootPose) -> FootPose:
    """A foot as its bone carries it; the plan tells whether it stands, and on what."""
    leg = limb.leg
    turn = (poses.matrix_world @ poses.pose.bones[limb.chain.tip_bone].matrix).to_quaternion() @ limb.rest.conjugated()
    end = end_of(limb.chain)
    sole = end - turn @ Vector(leg.ankle if leg.foot_length > 0.0 else leg.heel)
    return replace(planned, sole=v3(sole), ankle=v3(end), rotation=q4(turn))


def _judge_turns(
    judged: Judged, poses: bpy.types.Object, limbs: list[Limb], turns: dict[str, Quaternion], frame: int
) -> None:
    for limb in limbs:
        for name in limb.bones:
            turn = (poses.matrix_world @ poses.pose.bones[name].matrix).to_quaternion()
            if name in turns:
                angle = degrees(turn_angle(multiplied(turn, conjugated(turns[name]))))
                judged.worst("turned", angle, f"{name} in frame {frame}")
            turns[name] = turn
