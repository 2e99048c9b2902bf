# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk as keys: few on goals that lead feet and body as planned, or on the bones."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.maths import distance
from fabrik_addon.rig.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.baking import bake_bones, bake_goals, kept_frames
from fabrik_addon.session.walk.planning import plan_walk

from support.judging import effector, feet, worst_foot
from support.scenes import WALK, legs_of, make_empty, update, walking

TOLERANCE = 0.01
HELD = 1e-3


@pytest.fixture(params=("spider", "human"))
def walker(request: pytest.FixtureRequest) -> bpy.types.Object:
    return walking("spider") if request.param == "spider" else walking("human")


def test_goals_lead_the_feet_as_planned_with_few_keys(walker: bpy.types.Object) -> None:
    rig_of(walker).live = True
    told = bake_goals(bpy.context, walker, TOLERANCE)
    update()
    assert not rig_of(walker).walker.on
    assert len(told.made) == len(legs_of(walker)) + 1
    assert told.keys < 0.5 * 60 * len(told.made)
    for frame in range(WALK[0], WALK[1] + 1):
        bpy.context.scene.frame_set(frame)
        assert worst_foot(walker, frame) <= TOLERANCE + HELD, frame
    assert {chain.status for chain in legs_of(walker)} == {"REACHED"}


def test_a_foot_that_stands_has_keys_at_its_ends_alone() -> None:
    owner = walking("spider")
    bake_goals(bpy.context, owner, TOLERANCE)
    parsed = plan_of(owner)
    assert parsed is not None
    chain = legs_of(owner)[0]
    assert chain.target is not None
    keyed = {round(point.co[0]) for curve in fcurves_of(chain.target) for point in curve.keyframe_points}
    stands = [frame for frame in range(2, 60) if all(feet(owner, frame + k)[0].is_planted for k in (-2, 0, 2))]
    assert stands
    assert not keyed & set(stands)


def test_a_target_that_stands_freely_is_taken_and_another_is_left() -> None:
    owner = walking("spider")
    free, hung = legs_of(owner)[:2]
    free.target, hung.target = make_empty((0, 0, 0), "Free"), make_empty((0, 0, 0), "Hung")
    hung.target.parent = make_empty((0, 0, 0), "Holder")
    told = bake_goals(bpy.context, owner, TOLERANCE)
    free, hung = legs_of(owner)[:2]
    assert free.target is not None
    assert free.target.name == "Free"
    assert hung.target is not None
    assert hung.target.name != "Hung"
    assert any("'Hung' no more" in note for note in told.notes)


def test_bones_are_keyed_in_a_copy_of_the_action(walker: bpy.types.Object) -> None:
    before = walker.animation_data.action
    result = bake_bones(bpy.context, walker)
    assert result.all_reached
    assert walker.animation_data.action != before
    for frame in (1, 20, 41, 60):
        bpy.context.scene.frame_set(frame)
        parsed = plan_of(walker)
        assert parsed is not None
        for chain, foot in zip(legs_of(walker), feet(walker, frame), strict=True):
            assert distance(effector(walker, chain), foot.ankle) <= HELD


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
    told = plan_walk(bpy.context, owner, WALK).told
    assert any("switched off" in text and "'Body'" in text for text in told)
