# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers led by hand, and in files and hands that mean no good: feet stay, and nothing is left held or led."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import atan2, inf, nan
from typing import Any

import bpy
import numpy as np
import pytest
from fabrik_addon.actions.live.state import state as live_state
from fabrik_addon.actions.walk.lead import LedWalker, begin, keep_recording, lead_to, leave_led, settle
from fabrik_addon.actions.walk.plan import plan_walk, planned_frames, what_is_old
from fabrik_addon.actions.walk.setup import add_walker
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait.plan import feet_at, sample
from fabrik_addon.rig import walk_goals
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.bones import resolve_bones
from fabrik_addon.rig.schema import rig_of
from mathutils import Quaternion, Vector

from dev.walking_rigs import ahead, make_spider
from support.judging import bone_heads, channels, effector, walk_plan, worst_foot
from support.scenes import armature, assert_refused, each_frame, make_body, press, put, update
from support.skeletons import set_up
from support.walks import key_way, legs_of, planned, walking

NOTHING = 1e-4  # of channels: what a solve that should change nothing may change


@pytest.fixture(params=("spider", "human"))
def walker(request: pytest.FixtureRequest) -> bpy.types.Object:
    owner = make_spider() if request.param == "spider" else make_body()
    update()
    add_walker(bpy.context, owner)
    scene: Any = bpy.context.scene
    scene.render.fps = 24
    scene.frame_set(1)
    return owner


def led_ahead(owner: bpy.types.Object, seconds: float = 1.5, pace: float = 0.5) -> LedWalker:
    """Lead it ahead at a pace in scene units a second."""
    led = begin(bpy.context, owner)
    place = led.steering.place
    for index in range(round(60 * seconds)):
        lead_to(bpy.context, led, (place[0], place[1] - pace * (index + 1) / 60.0, place[2]), 1.0 / 60.0)
        update()
    return led


def flat(owner: bpy.types.Object) -> list[float]:
    """All numbers of all channels."""
    return [float(value) for values in channels(owner) for value in values]


def moved(before: list[float], owner: bpy.types.Object) -> float:
    """The most by which a number of the channels has changed."""
    return max(abs(a - b) for a, b in zip(before, flat(owner), strict=True))


class TestLeading:
    def test_nothing_moves_when_it_is_taken(self, walker: bpy.types.Object) -> None:
        bone = legs_of(walker)[0].tip_bone
        walker.pose.bones[bone].rotation_quaternion = Quaternion((0.99, 0.1, 0.05, 0.02)).normalized()
        update()
        before = flat(walker)
        led = begin(bpy.context, walker)
        lead_to(bpy.context, led, led.steering.place, 0.0)
        assert moved(before, walker) <= NOTHING
        led.restore()
        assert flat(walker) == before

    def test_feet_that_stand_stay(self, walker: bpy.types.Object) -> None:
        led = begin(bpy.context, walker)
        place, size = led.steering.place, led.walk.legs[0].reach
        stood: dict[str, Vector] = {}
        count = 0
        for index in range(90):
            lead_to(bpy.context, led, (place[0], place[1] - 0.008 * index, place[2]), 1.0 / 60.0)
            update()
            now = {}
            for chain, foot in zip(legs_of(walker), led.walk.poses(), strict=True):
                if foot.is_planted:
                    assert (effector(walker, chain) - Vector(foot.ankle)).length <= 1e-4 * size, (index, chain.name)
                    now[chain.name] = Vector(foot.base)  # without its roll
                    if chain.name in stood:
                        count += 1
                        assert (now[chain.name] - stood[chain.name]).length <= 1e-4 * size, (index, chain.name)
            stood = now
        assert count > 90
        assert all(steps for _, steps in led.walk.feet)
        assert led.steering.place[1] < place[1] - 0.3
        led.restore()

    def test_let_go_the_next_solve_changes_nothing(self, walker: bpy.types.Object) -> None:
        led = led_ahead(walker, 1.0)
        leave_led(bpy.context, led)
        update()
        before = flat(walker)
        bpy.ops.fabrik.pin_toggle(which="ALL", action="PIN")
        bpy.ops.fabrik.solve_all()
        assert moved(before, walker) <= NOTHING
        assert not led.walk.is_stepping

    def test_a_planned_walk_is_switched_off_and_told(self, walker: bpy.types.Object) -> None:
        keep_recording(bpy.context, led_ahead(walker, 0.5))
        assert rig_of(walker).walker.on
        rig_of(walker).live = False
        found = leave_led(bpy.context, led_ahead(walker, 0.5))
        assert not rig_of(walker).walker.on
        assert "the planned walk is switched off" in found.done
        legs = legs_of(walker)
        legs[0].target, legs[0].pin = None, False
        assert_refused("its walk is switched off", "solve", chain=legs[0].name)

    @pytest.mark.parametrize("live", [False, True])
    def test_let_go_where_controls_edit_the_walk_nothing_moves(self, live: bool) -> None:
        owner = set_up("human_mixamo")
        key_way(owner, rig_of(owner).body_bone, ahead(2.0))
        planned(owner)
        rig_of(owner).live = live
        bpy.context.scene.frame_set(10)
        led = led_ahead(owner, 1.0, pace=1.0)
        settle(bpy.context, led, stays=False)
        update()
        stood = {name: bone_heads(owner)[name] for name in bone_heads(owner) if name.startswith("mixamorig")}
        leave_led(bpy.context, led)
        for _ in range(2):
            update()
            assert max((bone_heads(owner)[name] - place).length for name, place in stood.items()) < 1e-4
            press("solve_all")
        leave_led(bpy.context, led_ahead(owner, 0.5))  # once more, without a plan between
        planned(owner)
        leg, before = rig_of(owner).chains["Leg.L"], effector(owner, rig_of(owner).chains["Leg.L"])
        assert (leg.goal, rig_of(owner).chains["Body"].goal) == ("OFFSET", "OFFSET")
        owner.pose.bones[leg.target_bone].location.z += 0.1
        update()
        assert (effector(owner, leg) - before).length > 0.02

    def test_cancelled_all_is_as_it_was(self, walker: bpy.types.Object) -> None:
        before = flat(walker)
        led_ahead(walker, 0.5).restore()
        update()
        assert flat(walker) == before
        assert not live_state.held
        assert not live_state.paused

    def test_without_a_walker_it_is_refused(self) -> None:
        owner = make_spider()
        with pytest.raises(FabrikError, match="no legs"):
            begin(bpy.context, owner)


def a_person() -> bpy.types.Object:
    """A person who was set up, and walks."""
    owner = set_up("human_mixamo")
    press("walker_add")
    bpy.context.scene.frame_set(1)
    update()
    return owner


def bones_of(owner: bpy.types.Object, name: str) -> list[str]:
    """The bones of a chain."""
    return [bone.name for bone in resolve_bones(owner, rig_of(owner).chains[name])]


def arm_angles(owner: bpy.types.Object) -> tuple[float, float]:
    """How far the left upper arm and the left thigh are ahead of the vertical, radians."""
    bones = owner.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    ways = [bones[name].tail - bones[name].head for name in ("mixamorig:LeftArm", "mixamorig:LeftUpLeg")]
    return atan2(-ways[0].y, -ways[0].z), atan2(-ways[1].y, -ways[1].z)


def test_arms_swing_while_it_is_led_and_come_back() -> None:
    owner = a_person()
    led = begin(bpy.context, owner)
    arms = [*bones_of(owner, "Arm.L"), *bones_of(owner, "Arm.R")]
    stood = {name: owner.pose.bones[name].matrix_basis.to_quaternion() for name in arms}
    place, angles = led.steering.place, list[tuple[float, float]]()
    for index in range(96):
        lead_to(bpy.context, led, (place[0], place[1] - 0.9 * led.walk.fastest * index / 24.0, place[2]), 1.0 / 24.0)
        update()
        angles += [arm_angles(owner)] if index > 32 else []
    arm, leg = np.degrees(np.transpose(angles))
    assert 12.0 < arm.max() - arm.min() < 50.0
    assert np.corrcoef(arm, leg)[0, 1] < -0.6
    leave_led(bpy.context, led)
    update()
    for name, turn in stood.items():
        assert abs(owner.pose.bones[name].matrix_basis.to_quaternion().dot(turn)) > 1.0 - 1e-6, name


@pytest.mark.parametrize("how", ["pinned", "keyed"])
def test_an_arm_that_is_held_stays_while_it_is_led(how: str) -> None:
    owner = a_person()
    rig_of(owner).chains["Arm.L"].pin = how == "pinned"
    for name in bones_of(owner, "Arm.L") if how == "keyed" else ():
        owner.pose.bones[name].keyframe_insert("rotation_quaternion", frame=1)
    update()
    led = begin(bpy.context, owner)
    assert not set(led.free) & set(bones_of(owner, "Arm.L"))
    assert set(led.free) & set(bones_of(owner, "Arm.R"))
    led.restore()


class TestRecording:
    def test_it_is_the_walk_that_is_planned_along_its_way(self, walker: bpy.types.Object) -> None:
        scene: Any = bpy.context.scene
        scene.frame_end = 10
        led = begin(bpy.context, walker)
        place = led.steering.place
        for index in range(72):
            lead_to(bpy.context, led, (place[0] + 0.002 * index, place[1] - 0.006 * index, place[2]), 1.0 / 48.0)
            update()
        shown = led.steering.place
        keep_recording(bpy.context, led)
        first, last = planned_frames(walker) or (0, 0)
        assert first == 1
        assert last >= 37
        assert scene.frame_end == last
        assert rig_of(walker).live
        plan = walk_plan(walker)
        assert sample(plan.body, plan.time_of(last))[0] == pytest.approx(shown, abs=1e-4)
        for frame in each_frame((30, 3, 17, 36, 9)):
            assert worst_foot(walker, frame) <= 1e-3
        assert what_is_old(walker, scene) == ""
        plan_walk(bpy.context, walker, (first, last))
        assert walk_plan(walker) == plan

    def test_the_action_that_was_there_is_not_touched(self, walker: bpy.types.Object) -> None:
        walker.pose.bones[rig_of(walker).body_bone].keyframe_insert("location", frame=1)
        action: Any = walker.animation_data.action
        keep_recording(bpy.context, led_ahead(walker, 0.5))
        assert walker.animation_data.action != action
        walker.animation_data.action = action
        assert {len(curve.keyframe_points) for curve in fcurves_of(walker)} == {1}

    def test_what_was_keyed_there_before_gives_way(self, walker: bpy.types.Object) -> None:
        bone = walker.pose.bones[rig_of(walker).body_bone]
        for frame in (-5.0, 3.5, 7.25, 400.0):
            bone.keyframe_insert("location", frame=frame)
        keep_recording(bpy.context, led_ahead(walker, 1.0))
        frames = planned_frames(walker) or (0, 0)
        for curve in fcurves_of(walker):
            if curve.data_path.endswith("location"):
                inside = [frame for frame, _ in (point.co for point in curve.keyframe_points)][1:-1]
                assert inside == [float(frame) for frame in range(frames[0], frames[1] + 1)]
                assert curve.keyframe_points[0].co.x == -5.0
                assert curve.keyframe_points[-1].co.x == 400.0

    def test_feet_have_landed_at_the_end(self, walker: bpy.types.Object) -> None:
        keep_recording(bpy.context, led_ahead(walker, 0.9))
        plan = walk_plan(walker)
        assert all(foot.is_planted for foot in feet_at(plan, plan.last))

    def test_by_the_operator(self, walker: bpy.types.Object) -> None:
        bpy.context.view_layer.objects.active = walker
        assert bpy.ops.fabrik.walk_by_hand(way=(0.0, -0.6, 0.0), seconds=1.5, record=True) == {"FINISHED"}
        plan = walk_plan(walker)
        assert sum(map(len, plan.steps)) >= len(plan.legs)
        assert_refused("takes seconds", "walk_by_hand", way=(0.0, -0.6, 0.0))


BODY = "b0"


@pytest.fixture
def spider() -> Iterator[bpy.types.Object]:
    owner = make_spider()
    update()
    add_walker(bpy.context, owner)
    bpy.context.view_layer.objects.active = owner
    bpy.context.scene.frame_set(1)
    yield owner
    assert not live_state.held
    assert not live_state.paused
    assert not walk_goals._led


def record() -> None:
    bpy.ops.fabrik.walk_by_hand(way=(0.0, -0.5, 0.0), seconds=0.5, record=True)


class TestNumbers:
    @pytest.mark.parametrize("seconds", [nan, -1.0, 0.0])
    def test_no_time_is_refused(self, spider: bpy.types.Object, seconds: float) -> None:
        assert_refused("takes seconds", "walk_by_hand", way=(0.0, -0.5, 0.0), seconds=seconds)

    @pytest.mark.parametrize("number", [nan, inf])
    def test_a_way_to_nowhere_is_refused(self, spider: bpy.types.Object, number: float) -> None:
        before = channels(spider)
        assert_refused("the body is nowhere", "walk_by_hand", way=(number, 0.0, 0.0), seconds=0.5)
        assert channels(spider) == before

    def test_ground_that_is_nowhere_is_refused(self, spider: bpy.types.Object) -> None:
        rig_of(spider).walker.ground_height = nan
        with pytest.raises(FabrikError, match="ground height"):
            plan_walk(bpy.context, spider, (1, 10))
        assert not rig_of(spider).walker.digest

    def test_inputs_that_make_no_sense_are_none(self, spider: bpy.types.Object) -> None:
        plan_walk(bpy.context, spider, (1, 5))
        assert planned_frames(spider) == (1, 5)
        rig_of(spider).walker.inputs = "x y z"
        assert planned_frames(spider) is None
        assert what_is_old(spider, bpy.context.scene) == ""


class TestBodies:
    def test_a_body_that_was_locked_since_is_refused(self, spider: bpy.types.Object) -> None:
        spider.pose.bones[BODY].lock_location = (False, True, False)
        with pytest.raises(FabrikError, match="its location is locked"):
            begin(bpy.context, spider)
        with pytest.raises(FabrikError, match="its location is locked"):
            plan_walk(bpy.context, spider, (1, 10))


def lock(owner: bpy.types.Object) -> None:
    for curve in fcurves_of(owner):
        curve.lock = True


def mix(owner: bpy.types.Object) -> None:
    owner.animation_data.action_influence = 0.5


class TestRecordingIsRefused:
    @pytest.mark.parametrize(("spoil", "told"), [(lock, "is locked"), (mix, "is mixed")])
    def test_keys_that_would_not_play_are_refused(
        self, spider: bpy.types.Object, spoil: Callable[[bpy.types.Object], None], told: str
    ) -> None:
        spider.pose.bones[BODY].keyframe_insert("location", frame=1)
        spoil(spider)
        before = channels(spider)
        with pytest.raises(RuntimeError, match=told):
            record()
        assert channels(spider) == before
        assert [len(curve.keyframe_points) for curve in fcurves_of(spider)] == [1, 1, 1]
        assert not rig_of(spider).walker.digest

    def test_refused_at_its_end_all_is_as_it_was(self, spider: bpy.types.Object) -> None:
        bpy.context.scene.frame_set(1048573)
        before = channels(spider)
        with pytest.raises(RuntimeError, match="there is no frame"):
            record()
        update()
        assert channels(spider) == before

    def test_automatic_keys_leave_the_path_alone(self, spider: bpy.types.Object) -> None:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        record()
        before = [tuple(point.co) for curve in fcurves_of(spider) for point in curve.keyframe_points]
        for _ in each_frame((1, 9)):
            spider.update_tag()
            update()
        assert [tuple(point.co) for curve in fcurves_of(spider) for point in curve.keyframe_points] == before
        assert what_is_old(spider, bpy.context.scene) == ""


GONE: dict[str, Callable[[bpy.types.Object], object]] = {
    "deleted": lambda owner: bpy.data.batch_remove([owner]),
    "renamed": lambda owner: put(owner, name="Other"),
    "a bone renamed": lambda owner: put(armature(owner).bones["b5"], name="other"),
    "a chain removed": lambda owner: rig_of(owner).chains.remove(0),
}


@pytest.mark.parametrize("what", GONE)
def test_what_goes_while_it_is_led_is_told_and_let_go(spider: bpy.types.Object, what: str) -> None:
    led = begin(bpy.context, spider)
    lead_to(bpy.context, led, (0.0, -1.0, 0.0), 0.1)
    GONE[what](spider)
    update()
    with pytest.raises(FabrikError, match="it is gone"):
        lead_to(bpy.context, led, (0.0, -1.0, 0.0), 0.1)
    led.restore()


class TestMarks:
    def test_long_names_are_marked_once(self) -> None:
        owner = walking("spider")
        owner.name = "Ünïcödé" * 6
        for _ in range(2):
            bpy.ops.fabrik.walk_mark(footprints="NONE")
            names = [marker.name for marker in bpy.context.scene.timeline_markers]
            assert len(names) == sum(map(len, walk_plan(owner).steps))
            assert {name.rsplit(" ", 1)[1] for name in names} <= {leg.name for leg in rig_of(owner).walker.legs}

    def test_what_was_put_among_them_stays(self) -> None:
        walking("spider")
        bpy.ops.fabrik.walk_mark(footprints="EMPTIES", use_markers=False)
        mine = bpy.data.objects.new("mine", None)
        next(one for one in bpy.data.collections if one.name.endswith("_footprints")).objects.link(mine)
        bpy.ops.fabrik.walk_mark(footprints="NONE", use_markers=False)
        assert [thing.name for thing in bpy.context.scene.objects if thing.type == "EMPTY"] == ["mine"]
