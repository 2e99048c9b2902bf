# SPDX-License-Identifier: GPL-3.0-or-later
"""The walkers of the files that `make_old_files.py` makes: planned, with other settings, and baked."""

from __future__ import annotations

from math import radians

import bpy
from fabrik_addon.actions.walk.plan import plan_walk
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.gait.settings import Gravity, Swing
from fabrik_addon.rig.schema import rig_of
from old_rigs import FRAMES, beside

from dev.walking_rigs import ahead, make_ground, make_spider
from support.scenes import select, update
from support.walks import key_way

LEGS = 2  # on each side
WAY = 0.5
RANGE = (FRAMES[0], FRAMES[-1])
SETTINGS = {
    "gait": "CUSTOM",
    "duty": 0.7,
    "step_height": 0.2,
    "stride_scale": 0.8,
    "step_trigger": 0.3,
    "swing_curve": Swing.SINE.value,
    "body_height": 0.9,
    "body_carry": 0.8,
    "body_tilt": 0.4,
    "body_sway": 0.3,
    "foot_tilt": 0.6,
    "heel_toe": 0.5,
    "prediction": 0.7,
    "clearance": 0.03,
    "slope_max": radians(50.0),
    "gravity": Gravity.DOWN.value,
    "acceleration": 8.0,
    "ground_height": -0.05,
}


def spider(name: str) -> bpy.types.Object:
    """A walker beside the rigs that there are, whose body goes ahead."""
    place = beside()
    owner: bpy.types.Object = make_spider(LEGS, name)
    owner.location.x = place
    key_way(owner, "b0", ahead(WAY), RANGE)
    update()
    add_walker(bpy.context, owner)
    return owner


def walking(name: str) -> bpy.types.Object:
    """One whose walk is planned."""
    owner = spider(name)
    plan_walk(bpy.context, owner, RANGE)
    return owner


def add_walkers() -> None:
    """Walks that are planned: played live, with all settings, on ground of its own, and one that is off and old."""
    rig_of(walking("walker")).live = True
    owner = spider("walker with settings")
    walker = rig_of(owner).walker
    for name, value in SETTINGS.items():
        setattr(walker, name, value)
    for i, leg in enumerate(walker.legs):
        leg.offset, leg.group, leg.home = 0.25 * i, i % 2, (0.02 * i, 0.01, 0.0)
    plan_walk(bpy.context, owner, RANGE)
    rig_of(owner).live = True
    owner = spider("walker on its ground")
    x = owner.location.x
    ground = make_ground([(x - 2, -2, 0), (x + 2, -2, 0.3), (x + 2, 2, 0.3), (x - 2, 2, 0)], [(0, 1, 2, 3)])
    terrain = bpy.data.collections.new("Terrain")
    bpy.context.scene.collection.children.link(terrain)
    terrain.objects.link(ground)
    rig_of(owner).walker.terrain = terrain
    plan_walk(bpy.context, owner, RANGE)
    rig_of(owner).live = True
    owner = walking("old walk")
    rig_of(owner).walker.stride_scale = 1.5
    rig_of(owner).walker.on = False


def add_baked_walks() -> None:
    """Walks as keys of goals, and of bones."""
    for into in ("GOALS", "BONES"):
        owner = walking(f"walk as {into.lower()}")
        select(owner)
        bpy.ops.fabrik.walk_bake(into=into)
        rig_of(owner).live = into == "GOALS"
