# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers of the demo on their ground, with a keyed way, set up and planned by the buttons that a user presses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import pi, radians, tan

import bpy
from demo_rigs import built, limit_hinges, spider, spider_limbs
from mathutils import Matrix
from walk_arms import let_arms_hang, swing_arms
from walk_grounds import FLOOR, STAIRS, make_rubble, make_slab, stairs
from walk_skins import dress_spider
from walk_ways import FPS, Corner, follow

from blender import OPS, armature_of, rig_of
from dev.humans import give_ranges, make_human

HUMAN = "human_game_engine"
BODY = (0.6, 0.66, 0.76, 1)
STANDING = (12, 36)  # frames before and after it goes
V3 = tuple[float, float, float]


@dataclass(frozen=True)
class WalkScene:
    """A walk.

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
        settings: Of the walker, where not as chosen by *Add Walker*.
        narrow: How far inwards each foot is at home from where it is in the rest pose.
        finish: What is done when the walk is planned, if anything.
    """

    name: str
    make: Callable[[], bpy.types.Object]
    way: Sequence[Corner]
    last: int
    shown: tuple[int, ...]
    view: V3
    size: tuple[int, int]
    extent: float
    above: float = 0.0
    settings: dict[str, float] = field(default_factory=dict)
    narrow: float = 0.0
    finish: Callable[[bpy.types.Object], None] | None = None


def walk(scene: WalkScene) -> bpy.types.Object:
    """The walker in a file made anew, in Pose mode, its walk planned; live posing is on."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    stage = bpy.context.scene
    layer = bpy.context.view_layer
    stage.render.fps, stage.frame_start, stage.frame_end = FPS, 1, scene.last + STANDING[1]
    owner = scene.make()
    follow(owner, scene.way, (1 + STANDING[0], scene.last))
    layer.objects.active = owner
    layer.update()
    bpy.ops.object.mode_set(mode="POSE")
    OPS.fabrik.walker_add()
    for name, value in scene.settings.items():
        setattr(rig_of(owner).walker, name, value)
    for leg in rig_of(owner).walker.legs:
        tip = armature_of(owner).bones[rig_of(owner).chains[leg.name].tip_bone]
        leg.home[0] = -scene.narrow if tip.head_local.x > 0.0 else scene.narrow
    OPS.fabrik.walk_plan(span="SCENE")
    armature_of(owner).display_type = "STICK"  # what walks is the skin
    if scene.finish is not None:
        scene.finish(owner)
    return owner


def make_spider() -> bpy.types.Object:
    """A spider before rubble, and stairs up and down."""
    make_slab("Floor", [(-10.0, 0.0), (20.0, 0.0)], (-10.0, 24.0), FLOOR)
    make_rubble(44, ((1.0, 5.4), (-2.6, 2.6)), (0.25, 0.6))
    up = list(stairs(0.2, 0.55, 4))
    down = [(5.5 - x, z) for x, z in reversed(up)]
    place = Matrix.Translation((8.0, 5.0, 0.0)) @ Matrix.Rotation(pi / 2, 4, "Z")
    make_slab("Stairs", [*up, *down], (-2.6, 2.6), STAIRS, place)
    owner = built("spider", spider)
    for limb in spider_limbs():
        limit_hinges(owner, limb)
    dress_spider(owner)
    return owner


def make_climber() -> bpy.types.Object:
    """A human before a slope, its arms at its sides."""
    top = 3.0 * tan(radians(15.0))
    make_slab("Slope", [(-1.6, 0.0), (1.0, 0.0), (4.0, top), (7.2, top)], (-0.9, 0.9), STAIRS)
    owner = make_human(HUMAN)
    give_ranges(owner)
    for skin in owner.children:
        setattr(skin, "color", BODY)
    let_arms_hang(owner)
    return owner


ROUND_A_CORNER = (
    Corner((-1.0, 0.0), (1.0, 0.0)),
    Corner((5.0, 0.0), (1.66, 0.0)),
    Corner((8.0, 3.0), (0.0, 1.66)),
    Corner((8.0, 12.5), (0.0, 1.0)),
)
WALKS = (
    WalkScene(
        "walk_spider",
        make_spider,
        ROUND_A_CORNER,
        420,
        (28, 80, 112, 150, 218, 270, 305, 345),
        view=(1.0, -0.5, 0.6),
        size=(212, 172),
        extent=4.3,
    ),
    WalkScene(
        "walk_human",
        make_climber,
        (Corner((0.0, 0.0), (1.0, 0.0)), Corner((5.6, 0.0), (1.0, 0.0))),
        222,
        (1, 33, 57, 81, 105, 129, 153, 193),
        view=(0.45, -1.0, 0.2),
        size=(212, 252),
        extent=2.05,
        above=-0.12,
        settings={"step_height": 0.05},
        narrow=0.1,
        finish=swing_arms,
    ),
)
