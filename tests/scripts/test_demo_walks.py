# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of the demo's walks finds nothing wrong where nothing is, and what is wrong where something is."""

from __future__ import annotations

import bpy
import pytest
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of
from mathutils import Vector

from dev.walk_judge import judge
from dev.walking_rigs import ahead, make_ground, make_spider
from support.walks import WALK, key_way, planned

OFF = 0.1  # scene units


@pytest.fixture
def floor() -> bpy.types.Object:
    """Level ground."""
    return make_ground([(-4, -6, 0), (4, -6, 0), (4, 3, 0), (-4, 3, 0)], [(0, 1, 2, 3)])


@pytest.fixture
def spider(floor: bpy.types.Object) -> bpy.types.Object:
    """Walks over it as planned."""
    owner: bpy.types.Object = make_spider()
    key_way(owner, "b0", ahead(1.6))
    planned(owner)
    rig_of(owner).live = True
    return owner


def test_a_good_walk_is_good(spider: bpy.types.Object) -> None:
    judged = judge(spider)
    assert judged.frames == WALK[1]
    assert judged.stances > 0
    assert judged.reached == 1.0
    assert max(judged.slip, judged.drift, judged.inside, judged.hover) < 1e-4
    assert 1.0 < judged.turned < 30.0
    assert judged.supported == 1.0


@pytest.mark.parametrize(("height", "figure"), [(OFF, "inside"), (-OFF, "hover")])
def test_ground_that_is_elsewhere_is_seen(
    spider: bpy.types.Object, floor: bpy.types.Object, height: float, figure: str
) -> None:
    floor.location = Vector((0.0, 0.0, height))
    judged = judge(spider)
    plan = plan_of(spider)
    assert plan is not None
    assert getattr(judged, figure) == pytest.approx(OFF / plan.legs[0].reach, rel=1e-3)
    assert "in frame" in judged.where[figure]


def test_feet_that_slip_are_seen(spider: bpy.types.Object) -> None:
    rig_of(spider).live = False  # the body goes along its keys, and the legs with it
    judged = judge(spider)
    assert judged.slip > 0.01
    assert judged.drift > 5.0 * judged.slip
