# SPDX-License-Identifier: GPL-3.0-or-later
"""Walkers in files and hands that mean no good: refused before anything moves, and nothing is left held or led."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, nan
from typing import Any

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait import Step
from fabrik_addon.rig import walk_goals
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.session.live.known import state as live_state
from fabrik_addon.session.walk.leading import begin, lead_to
from fabrik_addon.session.walk.planning import plan_walk, planned_frames, what_is_old
from fabrik_addon.session.walk.setup import add_walker
from mathutils import Matrix

from dev.walking_rigs import make_spider
from support.judging import channels
from support.scenes import armature, update, walking

BODY = "b0"
SCENE: Any = bpy.context


@pytest.fixture
def walker() -> Iterator[bpy.types.Object]:
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
    def test_no_time_is_refused(self, walker: bpy.types.Object, seconds: float) -> None:
        with pytest.raises(RuntimeError, match="takes seconds"):
            bpy.ops.fabrik.walk_by_hand(way=(0.0, -0.5, 0.0), seconds=seconds)

    @pytest.mark.parametrize("number", [nan, inf])
    def test_a_way_to_nowhere_is_refused(self, walker: bpy.types.Object, number: float) -> None:
        before = channels(walker)
        with pytest.raises(RuntimeError, match="the body is nowhere"):
            bpy.ops.fabrik.walk_by_hand(way=(number, 0.0, 0.0), seconds=0.5)
        assert channels(walker) == before

    def test_ground_that_is_nowhere_is_refused(self, walker: bpy.types.Object) -> None:
        rig_of(walker).walker.ground_height = nan
        with pytest.raises(FabrikError, match="ground height"):
            plan_walk(bpy.context, walker, (1, 10))
        assert not rig_of(walker).walker.digest

    def test_inputs_that_make_no_sense_are_none(self, walker: bpy.types.Object) -> None:
        plan_walk(bpy.context, walker, (1, 5))
        assert planned_frames(walker) == (1, 5)
        rig_of(walker).walker.inputs = "x y z"
        assert planned_frames(walker) is None
        assert what_is_old(walker, SCENE.scene) == ""


class TestBodies:
    def test_a_mirrored_armature_is_refused(self, walker: bpy.types.Object) -> None:
        walker.matrix_world = Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0))
        update()
        with pytest.raises(FabrikError, match="mirrors"):
            add_walker(bpy.context, walker)
        with pytest.raises(FabrikError, match="mirrors"):
            begin(bpy.context, walker)

    def test_a_body_that_was_locked_since_is_refused(self, walker: bpy.types.Object) -> None:
        walker.pose.bones[BODY].lock_location = (False, True, False)
        with pytest.raises(FabrikError, match="its location is locked"):
            begin(bpy.context, walker)
        with pytest.raises(FabrikError, match="its location is locked"):
            plan_walk(bpy.context, walker, (1, 10))


def lock(owner: bpy.types.Object) -> None:
    for curve in fcurves_of(owner):
        curve.lock = True


def share(owner: bpy.types.Object) -> None:
    other = owner.copy()
    other.name = "Other"
    SCENE.collection.objects.link(other)


def mix(owner: bpy.types.Object) -> None:
    assert owner.animation_data is not None
    owner.animation_data.action_influence = 0.5


class TestRecording:
    @pytest.mark.parametrize(("spoil", "told"), [(lock, "is locked"), (share, "also moves"), (mix, "is mixed")])
    def test_keys_that_would_not_play_are_refused(
        self, walker: bpy.types.Object, spoil: Callable[[bpy.types.Object], None], told: str
    ) -> None:
        walker.pose.bones[BODY].keyframe_insert("location", frame=1)
        spoil(walker)
        before = channels(walker)
        with pytest.raises(RuntimeError, match=told):
            record()
        assert channels(walker) == before
        assert [len(curve.keyframe_points) for curve in fcurves_of(walker)] == [1, 1, 1]
        assert not rig_of(walker).walker.digest

    def test_refused_at_its_end_all_is_as_it_was(self, walker: bpy.types.Object) -> None:
        bpy.context.scene.frame_set(1048573)
        before = channels(walker)
        with pytest.raises(RuntimeError, match="there is no frame"):
            record()
        update()
        assert channels(walker) == before

    def test_automatic_keys_leave_the_path_alone(self, walker: bpy.types.Object) -> None:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        record()
        before = [tuple(point.co) for curve in fcurves_of(walker) for point in curve.keyframe_points]
        for frame in (1, 9):
            bpy.context.scene.frame_set(frame)
            walker.update_tag()
            update()
        assert [tuple(point.co) for curve in fcurves_of(walker) for point in curve.keyframe_points] == before
        assert what_is_old(walker, SCENE.scene) == ""


def delete(owner: bpy.types.Object) -> None:
    bpy.data.objects.remove(owner)


def rename(owner: bpy.types.Object) -> None:
    owner.name = "Other"


def rename_bone(owner: bpy.types.Object) -> None:
    armature(owner).bones["b5"].name = "other"


def remove_chain(owner: bpy.types.Object) -> None:
    rig_of(owner).chains.remove(0)


@pytest.mark.parametrize("spoil", [delete, rename, rename_bone, remove_chain])
def test_what_goes_while_it_is_led_is_told_and_let_go(
    walker: bpy.types.Object, spoil: Callable[[bpy.types.Object], None]
) -> None:
    led = begin(bpy.context, walker)
    lead_to(bpy.context, led, (0.0, -1.0, 0.0), 0.1)
    spoil(walker)
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
            names = [marker.name for marker in SCENE.scene.timeline_markers]
            assert len(names) == sum(map(len, plan_steps(owner)))
            assert {name.rsplit(" ", 1)[1] for name in names} <= {leg.name for leg in rig_of(owner).walker.legs}

    def test_what_was_put_among_them_stays(self) -> None:
        walking("spider")
        bpy.ops.fabrik.walk_mark(footprints="EMPTIES", use_markers=False)
        mine = bpy.data.objects.new("mine", None)
        next(one for one in bpy.data.collections if one.name.endswith("_footprints")).objects.link(mine)
        bpy.ops.fabrik.walk_mark(footprints="NONE", use_markers=False)
        assert [thing.name for thing in SCENE.scene.objects if thing.type == "EMPTY"] == ["mine"]


def plan_steps(owner: bpy.types.Object) -> list[tuple[Step, ...]]:
    parsed = walk_goals.plan_of(owner)
    assert parsed is not None
    return [*parsed.plan.steps]
