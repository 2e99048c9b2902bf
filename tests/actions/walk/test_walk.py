# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk, on level ground and on meshes: all ways in show it alike, and feet stay where they stand."""

from __future__ import annotations

from math import radians, tan
from pathlib import Path
from random import Random

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.live.state import state as live_state
from fabrik_addon.actions.status import status_text
from fabrik_addon.actions.walk.bake import bake_bones, bake_goals, kept_frames
from fabrik_addon.actions.walk.plan import legs_now, plan_walk, refused_ahead, what_is_old
from fabrik_addon.actions.walk.setup import add_walker, remove_walker
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait.plan import body_pose_at, feet_at
from fabrik_addon.maths import distance
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import is_of_walker
from mathutils import Vector

from dev.humans import give_ranges
from dev.walk_measures import standing_points
from dev.walking_rigs import ahead, go_along, make_ground, make_profile, make_spider, stair_profile
from rigs import FOX, import_gltf
from support.judging import ULPS, channels, effector, feet, single_channels, ulps_apart, walk_plan, worst_foot
from support.scenes import Point, add_limb, each_frame, go_live, keyed, make_body, make_empty, press, reload, update
from support.skeletons import make_character, make_human, set_up
from support.walks import WALK, key_way, legs_of, planned, walking

STANDS = 1e-4  # of the leg's length: a planted foot stands within it

HELD = 1e-3  # the tolerance of the chains


@pytest.fixture(params=("spider", "human"))
def walker(request: pytest.FixtureRequest) -> bpy.types.Object:
    return walking(request.param)


class TestSetUp:
    @pytest.mark.parametrize("name", ["human_mixamo", "fox"])
    def test_a_character_that_was_set_up_becomes_one(self, name: str) -> None:
        if name == "fox":
            owner = import_gltf(FOX)
            bpy.context.view_layer.objects.active = owner
            press("character_setup")
        else:
            owner = set_up(name)
        found = [chain.name for chain in rig_of(owner).chains if "Leg" in chain.name]
        add_walker(bpy.context, owner)
        assert sorted(leg.name for leg in legs_of(owner)) == sorted(found)

    def test_legs_body_and_gait_are_found(self) -> None:
        owner = make_spider()
        add_walker(bpy.context, owner)
        assert len(legs_of(owner)) == 8
        assert rig_of(owner).body_bone == "b0"
        assert rig_of(owner).walker.gait == "TETRAPOD"
        human = make_body()
        add_walker(bpy.context, human)
        assert sorted(leg.tip_bone for leg in legs_of(human)) == ["foot.L", "foot.R"]
        assert rig_of(human).body_bone == "hips"
        assert rig_of(human).walker.gait == "HUMAN"
        assert {leg.effector for leg in legs_of(human)} == {"HEAD"}

    def test_nothing_moves_before_a_walk_is_planned(self) -> None:
        owner = make_spider()
        key_way(owner, "b0", ahead(1.0))
        go_live(owner)
        before = channels(owner)
        add_walker(bpy.context, owner)
        update()
        assert channels(owner) == before
        body = rig_of(owner).chains["Body"]
        assert "its walk is not planned yet" in body.message
        assert is_of_walker(body, rig_of(owner).walker), "which needs no target"
        body.status = "NONE"
        assert status_text(body) == "Not solved since the last change"

    def test_a_body_that_goes_nowhere_is_told(self) -> None:
        owner = make_spider()
        add_walker(bpy.context, owner)
        told = plan_walk(bpy.context, owner, WALK)
        assert told.done[0].startswith("0 steps")
        assert told.warnings[0] == "no foot steps: key the way of 'Body', or widen the frames"

    def test_chains_that_are_there_are_the_legs(self) -> None:
        owner = make_spider(legs=3)
        add_walker(bpy.context, owner)
        names = [chain.name for chain in rig_of(owner).chains]
        made, _ = add_walker(bpy.context, owner)
        assert made == []
        assert [chain.name for chain in rig_of(owner).chains] == names
        assert len(legs_of(owner)) == 6

    def test_targets_that_do_not_go_along_are_named(self) -> None:
        owner = make_body()
        add_limb(owner, "hand.L", 3, target=(0.7, 0, 1.4), name="Reaching")
        add_limb(owner, "hand.R", 3, name="Free")
        assert add_walker(bpy.context, owner)[1] == ["Reaching"]

    def test_removed_its_chains_of_legs_stay(self) -> None:
        owner = walking("spider")
        remove_walker(owner)
        assert len(rig_of(owner).chains) == 8
        assert not rig_of(owner).walker.on
        assert what_is_old(owner, bpy.context.scene) == ""


class TestWalking:
    def test_feet_and_body_stand_as_planned(self, walker: bpy.types.Object) -> None:
        go_live(walker)
        plan = walk_plan(walker)
        body = rig_of(walker).chains[rig_of(walker).walker.body]
        for frame in each_frame(range(1, 61, 4)):
            assert worst_foot(walker, frame) <= HELD, frame
            place, _ = body_pose_at(plan, frame)
            assert (effector(walker, body) - Vector(place)).length <= HELD, frame
            assert {chain.status for chain in legs_of(walker)} == {"REACHED"}

    def test_planted_feet_do_not_slip(self, walker: bpy.types.Object) -> None:
        go_live(walker)
        plan = walk_plan(walker)
        size = plan.legs[0].reach
        before: dict[str, Vector] = {}
        stood = 0
        for frame in each_frame(range(1, 61)):
            now = {}
            for chain, foot in zip(legs_of(walker), feet(walker, frame), strict=True):
                if foot.is_planted and foot.pitch == 0.0:
                    now[chain.name] = effector(walker, chain)
                    if chain.name in before:
                        stood += 1
                        assert (now[chain.name] - before[chain.name]).length <= STANDS * size, (frame, chain.name)
            before = now
        assert stood > 15  # while they are flat

    def test_button_live_and_bake_pose_alike(self, walker: bpy.types.Object) -> None:
        frames = Random(3).sample(range(2, 60), 8)
        go_live(walker)
        live, matrices = {}, {}
        for frame in each_frame(frames):
            live[frame] = single_channels(walker)
            matrices[frame] = [bone.matrix.copy() for bone in walker.pose.bones]
        rig_of(walker).live = False
        for frame in each_frame(reversed(frames)):
            bpy.ops.fabrik.solve()
            assert ulps_apart(single_channels(walker), live[frame], least=1.0) <= ULPS, frame
        assert bpy.ops.fabrik.bake(span="SCENE") == {"FINISHED"}
        for frame in each_frame(frames):
            for bone, matrix in zip(walker.pose.bones, matrices[frame], strict=True):
                assert np.abs(np.array(bone.matrix) - np.array(matrix)).max() <= 1e-5, (frame, bone.name)

    def test_frames_in_any_order_are_the_same_and_read_nothing_anew(self, walker: bpy.types.Object) -> None:
        scene, frames = bpy.context.scene, list(range(2, 60, 3))
        go_live(walker)
        seen = {}
        for frame in each_frame(frames):
            seen[frame] = channels(walker)
        assert len({str(found) for found in seen.values()}) == len(frames)
        reads, solves = live_state.reads, live_state.solves
        Random(4).shuffle(frames)
        for frame in each_frame(frames):
            assert channels(walker) == seen[frame], frame
        assert (live_state.reads, live_state.solves) == (reads, solves + len(frames))
        for frame in frames:  # and as they are for one who comes there first
            scene.frame_set(frame)
            rig_of(walker).live = False
            update()
            go_live(walker)
            assert channels(walker) == seen[frame], frame

    def test_where_it_walks_in_some_frames_alone_it_has_its_own_goals_in_the_others(self) -> None:
        owner = walking("spider")
        for chain in legs_of(owner):
            chain.target = make_empty(effector(owner, chain) + Vector((0.0, 0.0, 0.05)))
        for frame, is_on in ((1, True), (20, False), (40, True)):
            rig_of(owner).walker.on = is_on
            owner.keyframe_insert("fabrik_walker_on", frame=frame)
        go_live(owner)
        for frame in each_frame((10, 25, 45, 30, 12)):
            walks = not 20 <= frame < 40
            assert (worst_foot(owner, frame) <= HELD) == walks, frame

    def test_frames_before_and_after_stand(self) -> None:
        owner = walking("spider")
        go_live(owner)
        for frame, end in ((-20, 1), (90, 60)):
            bpy.context.scene.frame_set(end)
            stood = [effector(owner, chain) for chain in legs_of(owner)]
            bpy.context.scene.frame_set(frame)
            moved = [(effector(owner, chain) - at).length for chain, at in zip(legs_of(owner), stood, strict=True)]
            assert max(moved) <= 1e-4


class TestOld:
    def test_what_live_writes_does_not_make_it_old(self) -> None:
        owner = walking("spider")
        digest = rig_of(owner).walker.digest
        go_live(owner)
        bpy.context.scene.frame_set(30)
        assert what_is_old(owner, bpy.context.scene) == ""
        plan_walk(bpy.context, owner, WALK)
        assert rig_of(owner).walker.digest == digest
        assert bpy.context.scene.frame_current == 30


class TestBadInput:
    @pytest.mark.parametrize(
        ("legs", "scale", "body", "text"),
        [
            (0, (1, 1, 1), "", "no legs were found"),
            (4, (1, 1, 1), "b2", "does not carry the leg"),
            (4, (1, 1, 2), "", "scale differs"),
            (4, (-1, 1, 1), "", "mirrors"),
        ],
        ids=["no legs", "a body below its legs", "an uneven scale", "mirrored"],
    )
    def test_what_can_not_walk_is_refused(self, legs: int, scale: Point, body: str, text: str) -> None:
        owner = make_spider(legs)
        owner.scale = scale
        update()
        with pytest.raises(FabrikError, match=text):
            add_walker(bpy.context, owner, body)
        assert not len(rig_of(owner).chains)
        assert rig_of(owner).body_bone == ""

    def test_a_plan_that_can_not_be_read_is_told(self) -> None:
        owner = walking("spider")
        rig_of(owner).walker.plan, rig_of(owner).walker.digest = "{}", "other"
        assert "plan it anew" in what_is_old(owner, bpy.context.scene)
        go_live(owner)
        assert {chain.status for chain in legs_of(owner)} == {"REFUSED"}


class TestCharacters:
    @pytest.mark.parametrize(("name", "count", "gait"), [("wolf", 4, "WALK"), ("human_mixamo", 2, "HUMAN")])
    def test_real_skeletons_walk(self, name: str, count: int, gait: str) -> None:
        owner = make_character(name)
        for bone in owner.pose.bones:
            bone.rotation_mode = "QUATERNION"
        go_along(owner, ahead(1.5), WALK)
        planned(owner)
        walker = rig_of(owner).walker
        assert (len(walker.legs), walker.gait) == (count, gait)
        go_live(owner)
        for frame in each_frame((1, 15, 30, 44, 60)):
            assert worst_foot(owner, frame) <= HELD, frame

    def test_a_scaled_and_turned_armature_walks_where_it_goes(self) -> None:
        owner = make_spider()
        owner.scale = (0.25, 0.25, 0.25)
        owner.rotation_euler = (0.0, 0.0, 1.0)
        go_along(owner, ahead(0.5), WALK)
        planned(owner)
        go_live(owner)
        for frame in each_frame((1, 15, 30, 44, 60)):
            assert worst_foot(owner, frame) <= HELD, frame
            assert all(abs(foot.sole[2]) < 1e-6 for foot in feet(owner, frame) if foot.is_planted)

    def test_a_path_that_is_nowhere_is_refused(self) -> None:
        owner = make_spider()
        add_walker(bpy.context, owner)
        key_way(owner, "b0", ahead(1.0))
        for curve in fcurves_of(owner):
            curve.keyframe_points[3].co[1] = 1e38
            curve.update()
        with pytest.raises(FabrikError):
            plan_walk(bpy.context, owner, WALK)
        assert not rig_of(owner).walker.on


TOLERANCE = 0.01


def test_goals_lead_the_feet_as_planned_with_few_keys(walker: bpy.types.Object) -> None:
    rig_of(walker).live = True
    keys, made, _ = bake_goals(bpy.context, walker, TOLERANCE)
    update()
    assert not rig_of(walker).walker.on
    assert len(made) == len(legs_of(walker)) + 1
    assert keys < 0.5 * 60 * len(made)
    for frame in each_frame(range(WALK[0], WALK[1] + 1)):
        assert worst_foot(walker, frame) <= TOLERANCE + HELD, frame
    assert {chain.status for chain in legs_of(walker)} == {"REACHED"}


def test_a_foot_that_stands_has_keys_at_its_ends_alone() -> None:
    owner = walking("spider")
    bake_goals(bpy.context, owner, TOLERANCE)
    chain = legs_of(owner)[0]
    keyed = {round(point.co[0]) for curve in fcurves_of(chain.target) for point in curve.keyframe_points}
    stands = [frame for frame in range(2, 60) if all(feet(owner, frame + k)[0].is_planted for k in (-2, 0, 2))]
    assert stands
    assert not keyed & set(stands)


def test_a_target_that_stands_freely_is_taken_and_another_is_left() -> None:
    owner = walking("spider")
    free, hung = legs_of(owner)[:2]
    free.target, hung.target = make_empty(name="Free"), make_empty(name="Hung")
    hung.target.parent = make_empty(name="Holder")
    _, _, notes = bake_goals(bpy.context, owner, TOLERANCE)
    free, hung = legs_of(owner)[:2]
    assert free.target.name == "Free"
    assert hung.target.name != "Hung"
    assert any("'Hung' no more" in note for note in notes)


def test_bones_are_keyed_in_a_copy_of_the_action(walker: bpy.types.Object) -> None:
    before = walker.animation_data.action
    assert bake_bones(bpy.context, walker).all_reached
    assert walker.animation_data.action != before
    assert what_is_old(walker, bpy.context.scene) == ""
    for frame in each_frame((1, 20, 41, 60)):
        for chain, foot in zip(legs_of(walker), feet(walker, frame), strict=True):
            assert distance(effector(walker, chain), foot.ankle) <= HELD
    rig_of(walker).chains.clear()
    assert "changed since the walk was planned" in what_is_old(walker, bpy.context.scene), "no key plays for it now"


def test_what_can_not_be_baked_is_refused() -> None:
    owner = walking("spider")
    for tolerance in (0.0, -1.0, float("nan"), 2.0):
        with pytest.raises(FabrikError, match="tolerance"):
            bake_goals(bpy.context, owner, tolerance)
    rig_of(owner).walker.on = False
    with pytest.raises(FabrikError, match="no walk is planned"):
        bake_goals(bpy.context, owner, TOLERANCE)
    assert all(chain.target is None for chain in rig_of(owner).chains)


def test_a_straight_way_keeps_its_ends_and_what_must_be_kept() -> None:
    way = [((float(i), 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)) for i in range(11)]
    assert kept_frames(way, [4], (0.01, 0.01)) == [0, 4, 10]
    way[7] = ((7.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    assert kept_frames(way, [], (0.01, 0.01)) == [0, 6, 7, 8, 10]


def test_planned_after_a_bake_it_tells_that_chains_are_off() -> None:
    owner = walking("spider")
    assert bake_bones(bpy.context, owner).all_reached
    told = plan_walk(bpy.context, owner, WALK).warnings
    assert any("switched off" in text and "'Body'" in text for text in told)


@pytest.fixture
def live_spider() -> bpy.types.Object:
    owner = walking("spider")
    rig_of(owner).live = True
    update()
    return owner


def rename(owner: bpy.types.Object) -> None:
    """A leg, two legs that change their names, and the body."""
    rig = rig_of(owner)
    legs = legs_of(owner)
    legs[0].name = "First"
    a, b = legs[1].name, legs[2].name
    legs[1].name = "Meanwhile"
    legs[2].name = a
    legs[1].name = b
    rig.chains[rig.walker.body].name = "Trunk"


def steps_of(owner: bpy.types.Object) -> object:
    return walk_plan(owner).steps


def check_walks(owner: bpy.types.Object) -> None:
    assert [leg.name for leg in walk_plan(owner).legs] == [leg.name for leg in rig_of(owner).walker.legs]
    for frame in each_frame((40, 7, 23)):
        assert worst_foot(owner, frame) <= HELD
    assert {chain.status for chain in legs_of(owner)} == {"REACHED"}


def test_it_walks_on_as_planned(live_spider: bpy.types.Object) -> None:
    steps = steps_of(live_spider)
    rename(live_spider)
    assert rig_of(live_spider).walker.legs[0].name == "First"
    assert rig_of(live_spider).walker.body == "Trunk"
    assert steps_of(live_spider) == steps
    check_walks(live_spider)
    plan_walk(bpy.context, live_spider, WALK)
    check_walks(live_spider)


def test_undone_it_has_its_names_again(live_spider: bpy.types.Object) -> None:
    names = [leg.name for leg in rig_of(live_spider).walker.legs]
    name = live_spider.name
    bpy.ops.ed.undo_push(message="before")
    rename(live_spider)
    bpy.ops.ed.undo_push(message="renamed")
    bpy.ops.ed.undo()
    live_spider = bpy.data.objects[name]
    assert [leg.name for leg in rig_of(live_spider).walker.legs] == names
    check_walks(live_spider)
    bpy.ops.ed.redo()
    check_walks(bpy.data.objects[name])


def test_a_name_that_is_taken_or_none_is_made_another_and_followed(live_spider: bpy.types.Object) -> None:
    legs = legs_of(live_spider)
    legs[0].name = legs[1].name
    legs[2].name = ""
    assert len({chain.name for chain in rig_of(live_spider).chains}) == len(rig_of(live_spider).chains)
    check_walks(live_spider)


def test_of_a_file_that_kept_no_names(live_spider: bpy.types.Object, tmp_path: Path) -> None:
    for chain in rig_of(live_spider).chains:
        chain.known_as = ""
    reload(tmp_path)
    live_spider = bpy.data.objects["Spider"]
    rename(live_spider)
    check_walks(live_spider)


def test_a_chain_that_is_no_leg_is_renamed_alone(live_spider: bpy.types.Object) -> None:
    digest = rig_of(live_spider).walker.digest
    chain = rig_of(live_spider).chains.add()
    chain.name = "Other"
    chain.name = "Another"
    assert rig_of(live_spider).walker.digest == digest


INSIDE, HOVERS = 0.01, 0.005  # of a leg's reach


def make_slope(degrees: float) -> bpy.types.Object:
    return make_profile([(-3.0, 0.0), (0.9, 0.0), (6.0, 5.1 * tan(radians(degrees)))])


def make_stairs(rise: float, tread: float) -> bpy.types.Object:
    steps = [(1.1 + along, height) for along, height in stair_profile(rise, tread, 6)]
    return make_profile([(-3.0, 0.0), *steps, (9.0, 6 * rise)])


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
