# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints and markers of a planned walk: where and when feet land, once, whatever was marked before."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from fabrik_addon.errors import FabrikError
from fabrik_addon.gait import WalkPlan
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from fabrik_addon.session.walk.marking import MARK, mark_steps
from mathutils import Vector

from dev.walking_rigs import make_spider
from support.scenes import walking

SCENE: Any = bpy.context


@pytest.fixture(params=("spider", "human"))
def walker(request: pytest.FixtureRequest) -> bpy.types.Object:
    return walking("spider") if request.param == "spider" else walking("human")


def plan_for(owner: bpy.types.Object) -> WalkPlan:
    parsed = plan_of(owner)
    assert parsed is not None
    return parsed.plan


def marks() -> list[tuple[str, int]]:
    return [(marker.name, marker.frame) for marker in SCENE.scene.timeline_markers]


def footprints(owner: bpy.types.Object) -> list[bpy.types.Object]:
    found = [one for one in bpy.data.collections if one.get(MARK) == owner.name_full]
    assert len(found) <= 1
    return list(found[0].objects) if found else []


def test_each_landing_has_a_marker(walker: bpy.types.Object) -> None:
    made = mark_steps(bpy.context, walker, "NONE", use_markers=True)
    plan = plan_for(walker)
    expected = [
        (f"{walker.name} {leg.name}", round(plan.first + step.land * plan.fps))
        for leg, steps in zip(plan.legs, plan.steps, strict=True)
        for step in steps
    ]
    assert sorted(marks()) == sorted(expected)
    assert made == (0, len(expected))
    assert not footprints(walker)


@pytest.mark.parametrize("kind", ["CURVE", "EMPTIES"])
def test_footprints_lie_where_feet_stand(walker: bpy.types.Object, kind: str) -> None:
    made = mark_steps(bpy.context, walker, kind, use_markers=False)
    plan = plan_for(walker)
    ends = [Vector(step.end.place) for steps in plan.steps for step in steps]
    places = [*(Vector(start.place) for start in plan.starts), *ends]
    assert made == (len(places), 0)
    things = footprints(walker)
    if kind == "EMPTIES":
        found = [thing.matrix_world.translation for thing in things]
    else:
        data: Any = things[0].data
        found = [sum((point.co.xyz for point in one.points), Vector()) / len(one.points) for one in data.splines]
    size = plan.legs[0].reach
    near = 0.01 * size if kind == "EMPTIES" or plan.legs[0].foot_length == 0.0 else 0.3 * size  # its middle is farther
    for place in places:
        assert min((place - other).length for other in found) <= near


def test_marked_again_it_is_marked_once(walker: bpy.types.Object) -> None:
    mark_steps(bpy.context, walker, "EMPTIES", use_markers=True)
    first, count = marks(), len(bpy.data.objects)
    SCENE.scene.timeline_markers.new("mine", frame=7)
    mark_steps(bpy.context, walker, "CURVE", use_markers=True)
    mark_steps(bpy.context, walker, "EMPTIES", use_markers=True)
    assert sorted(marks()) == sorted([*first, ("mine", 7)])
    assert len(bpy.data.objects) == count
    mark_steps(bpy.context, walker, "NONE", use_markers=False)
    assert marks() == [("mine", 7)]
    assert not [one for one in bpy.data.curves if "footprints" in one.name]


def test_without_a_plan_it_is_refused() -> None:
    owner = make_spider()
    with pytest.raises(FabrikError, match="no walk is planned"):
        mark_steps(bpy.context, owner, "CURVE", use_markers=True)
    assert not rig_of(owner).walker.digest
