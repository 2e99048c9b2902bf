# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers on meshes: slopes, stairs, holes, things that move; judged by rays onto what Blender evaluates."""

from __future__ import annotations

from math import radians, tan

import bpy
import pytest
from fabrik_addon.actions.walk.plan import legs_now, plan_walk, refused_ahead, what_is_old
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait.plan import feet_at
from fabrik_addon.rig.schema import rig_of
from mathutils import Vector

from dev.humans import give_ranges, make_human
from dev.walk_measures import standing_points
from dev.walking_rigs import ahead, make_ground, make_profile, make_spider
from support.judging import effector, feet, walk_plan, worst_foot
from support.scenes import each_frame, go_live, keyed, make_body, make_empty, update
from support.walks import WALK, key_way, legs_of, planned

INSIDE, HOVERS = 0.01, 0.005  # of a leg's reach
HELD = 1e-3


def make_slope(degrees: float) -> bpy.types.Object:
    return make_profile([(-3.0, 0.0), (0.9, 0.0), (6.0, 5.1 * tan(radians(degrees)))])


def make_stairs(rise: float, tread: float) -> bpy.types.Object:
    profile = [(-3.0, 0.0), (1.1, 0.0)]
    for step in range(1, 7):
        profile += [(1.1 + tread * (step - 1), rise * step), (1.1 + tread * step, rise * step)]
    return make_profile([*profile, (9.0, 6 * rise)])


def gaps(owner: bpy.types.Object, ground: bpy.types.Object, frame: int) -> list[float]:
    """How far above the ground the standing points of each planted foot are, as a share of its leg: heel, ball, tip."""
    plan = walk_plan(owner)
    found = []
    into = ground.matrix_world.inverted()
    for number, foot in enumerate(feet_at(plan, frame)):
        leg = plan.legs[number]
        for point in standing_points(leg, foot).values() if foot.is_planted else ():
            hit, place, _, _ = ground.ray_cast(into @ Vector((point[0], point[1], 9.0)), Vector((0.0, 0.0, -1.0)))
            assert hit, (frame, leg.name)
            found.append((point[2] - (ground.matrix_world @ place).z) / leg.reach)
    return found


GROUNDS = {
    "slope": lambda: make_slope(25.0),
    "stairs": lambda: make_stairs(0.15, 0.6),
}


@pytest.mark.parametrize("kind", GROUNDS)
@pytest.mark.parametrize("creature", ["spider", "human"])
def test_feet_stand_on_meshes_and_the_body_is_carried(kind: str, creature: str) -> None:
    frames = (1, 150)
    ground = GROUNDS[kind]()
    owner, bone = (make_spider(), "b0") if creature == "spider" else (make_body(), "hips")
    key_way(owner, bone, ahead(3.0), frames)
    planned(owner, frames)
    go_live(owner)
    statuses = []
    for frame in each_frame(range(1, 151, 4)):
        assert worst_foot(owner, frame) <= HELD, frame
        statuses += [chain.status for chain in legs_of(owner)]
        for gap in gaps(owner, ground, frame):
            assert -INSIDE <= gap <= HOVERS, frame
    assert set(statuses) == {"REACHED"}
    bpy.context.scene.frame_set(150)
    assert owner.pose.bones[bone].head.z - owner.pose.bones[bone].bone.head_local.z > 0.4


def test_a_foot_rides_on_what_moves() -> None:
    ground = make_ground([(-3, -6, 0), (3, -6, 0), (3, 3, 0), (-3, 3, 0)], [(0, 1, 2, 3)])
    keyed(ground, {1: (0, 0, 0), 60: (0.5, 0, 0.2)})
    owner = make_spider()
    key_way(owner, "b0", ahead(1e-3))
    planned(owner)
    plan = walk_plan(owner)
    for frame in each_frame((1, 20, 41, 60)):
        height = ground.matrix_world.translation.z
        for foot in feet_at(plan, frame):
            if foot.is_planted:
                assert abs(foot.sole[2] - height) <= 1e-3, frame


def test_its_own_skin_is_no_ground() -> None:
    skin = make_ground([(-3, -6, 0.2), (3, -6, 0.2), (3, 3, 0.2), (-3, 3, 0.2)], [(0, 1, 2, 3)])
    owner = make_spider()
    skin.modifiers.new("Armature", "ARMATURE").object = owner
    key_way(owner, "b0", ahead(1.0))
    planned(owner)
    plan = walk_plan(owner)
    assert all(abs(foot.sole[2]) < 1e-6 for foot in feet_at(plan, 1))


def test_no_ground_below_is_told_and_the_feet_hang() -> None:
    make_ground([(-3, 0, 0), (3, 0, 0), (3, 3, 0), (-3, 3, 0)], [(0, 1, 2, 3)])
    owner = make_spider()
    key_way(owner, "b0", ahead(3.0))
    add_walker(bpy.context, owner)
    told = plan_walk(bpy.context, owner, WALK).warnings
    assert any("finds no ground" in text for text in told)


def test_a_terrain_without_faces_is_refused() -> None:
    owner = make_spider()
    key_way(owner, "b0", ahead(1.0))
    add_walker(bpy.context, owner)
    rig_of(owner).walker.terrain = bpy.data.collections.new("Nothing")
    with pytest.raises(FabrikError, match="no faces to walk on"):
        plan_walk(bpy.context, owner, WALK)
    assert not rig_of(owner).walker.on


def test_modifiers_count() -> None:
    ground = make_ground([(-4, -6, 0), (4, -6, 0), (4, 3, 0), (-4, 3, 0)], [(0, 1, 2, 3)])
    up = ground.modifiers.new("Up", "SOLIDIFY")
    up.thickness, up.offset = 0.1, 1.0
    owner = make_spider()
    key_way(owner, "b0", ahead(1.0))
    planned(owner)
    plan = walk_plan(owner)
    assert all(abs(foot.sole[2] - 0.1) < 1e-5 for foot in feet_at(plan, 1))
    assert what_is_old(owner, bpy.context.scene) == ""


@pytest.mark.parametrize("turn", [radians(90.0), radians(180.0)], ids=["wall", "ceiling"])
def test_a_spider_walks_on_a_wall_and_a_ceiling(turn: float) -> None:
    """Down is the body's own: what carries spider and ground is turned."""
    owner, room = make_spider(), make_empty((0.0, 0.0, 3.0), "Room")
    key_way(owner, "b0", ahead(1.5))
    ground = make_ground([(-4, -6, 0), (4, -6, 0), (4, 3, 0), (-4, 3, 0)], [(0, 1, 2, 3)])
    owner.parent = ground.parent = room
    update()
    add_walker(bpy.context, owner)
    rig_of(owner).walker.gravity = "SURFACE"
    room.rotation_euler.x = turn
    update()
    assert not plan_walk(bpy.context, owner, WALK).warnings
    go_live(owner)
    reach, statuses = legs_now(owner)[0][0].reach, []
    for frame in each_frame(range(WALK[0], WALK[1] + 1, 6)):
        for chain, foot in zip(legs_of(owner), feet(owner, frame), strict=True):
            if foot.is_planted:
                statuses.append(chain.status)
                height = (room.matrix_world.inverted() @ effector(owner, chain)).z
                assert abs(height) <= HOVERS * reach, (frame, chain.name)
    assert set(statuses) == {"REACHED"}


def test_it_is_told_why_footholds_are_refused() -> None:
    make_slope(25.0)
    owner = make_spider()
    key_way(owner, "b0", ahead(3.0), (1, 150))
    update()
    add_walker(bpy.context, owner)
    rig_of(owner).walker.slope_max = radians(10.0)
    plan_walk(bpy.context, owner, (1, 150))
    told = {refused_ahead(owner, frame) for frame in range(1, 150, 10)}
    assert any("too steep" in text for text in told)
    rig_of(owner).walker.on = False
    assert refused_ahead(owner, 60) == ""


@pytest.mark.parametrize("last", [90, 125, 180])
def test_legs_with_the_joints_of_people_reach_all_stances_of_a_slope(last: int) -> None:
    """Heels come up no higher than ankles allow, on which a foot that is about to lift would else be blocked."""
    make_slope(15.0)
    owner = make_human("human_game_engine")
    give_ranges(owner)
    key_way(owner, "pelvis", ahead(3.2 / owner.matrix_world.to_scale()[0]), (1, last))
    planned(owner, (1, last))
    go_live(owner)
    for frame in each_frame(range(1, last + 1)):
        standing = [foot.is_planted for foot in feet_at(walk_plan(owner), frame)]
        missed = [
            leg.name for leg, stands in zip(legs_of(owner), standing, strict=True) if stands and leg.residual > 1e-4
        ]
        assert not missed, (frame, missed)
