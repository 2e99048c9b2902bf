# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of walkers: two presses from a keyed body to a walk, one step of undo each, and clear refusals."""

from __future__ import annotations

from math import radians
from typing import Any

import bpy
import pytest
from fabrik_addon.gait.settings import STYLES
from fabrik_addon.operators.base import NAMED
from fabrik_addon.rig.animation.compat import fcurves_of
from fabrik_addon.rig.schema import rig_of

from dev.walking_rigs import ahead, make_spider
from support.judging import worst_foot
from support.scenes import assert_refused, each_frame, press
from support.undoing import assert_one_step
from support.walks import key_way, walking


def test_two_presses_from_a_keyed_body_to_a_walk_that_plays() -> None:
    owner = make_spider()
    key_way(owner, "b0", ahead(1.2))
    assert press("walker_add") == {"FINISHED"}
    assert press("walk_plan", span="SCENE") == {"FINISHED"}
    assert rig_of(owner).live
    for frame in each_frame((10, 33, 51)):
        assert worst_foot(owner, frame) <= 1e-3


def stored() -> tuple[object, ...]:
    """What a press changes of a walker."""
    owner = bpy.data.objects["Spider"]
    walker = rig_of(owner).walker
    keyed = {curve.data_path for curve in fcurves_of(owner)}
    return len(rig_of(owner).chains), len(walker.legs), walker.on, walker.digest, len(bpy.data.objects), len(keyed)


PRESSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("walker_add", {}),
    ("walk_plan", {"span": "SCENE"}),
    ("walk_by_hand", {"way": (0.0, -0.5, 0.0), "seconds": 1.0, "record": True}),
    ("walk_mark", {"footprints": "EMPTIES"}),
    ("walk_bake", {"into": "GOALS"}),
    ("walker_remove", {}),
)


def test_a_style_sets_how_people_walk_and_others_have_none() -> None:
    owner = walking("human")
    walker = rig_of(owner).walker
    walker.gait = "HUMAN"
    assert press("walk_style", style="TIRED") == {"FINISHED"}
    assert walker.settings.stride_scale == pytest.approx(0.8)
    assert walker.settings.lean == pytest.approx(radians(10.0))
    assert press("walk_style", style="USUAL") == {"FINISHED"}
    assert all(getattr(walker.settings, name) == pytest.approx(value) for name, value in STYLES[0].fields.items())
    walker.gait = "BIPED_WALK"
    assert_refused("gait Human", "walk_style", style="CALM")


@pytest.mark.parametrize("kind", ["human", "spider"])
def test_a_bake_into_goals_says_which_it_made(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    owner = walking(kind)
    before = [thing.name for thing in bpy.data.objects]
    capfd.readouterr()
    assert press("walk_bake", into="GOALS") == {"FINISHED"}
    said = capfd.readouterr().out.strip()
    made = [thing.name for thing in bpy.data.objects if thing.name not in before]
    assert len(made) == len(rig_of(owner).walker.legs) + 1
    if len(made) > NAMED:
        assert said.endswith(f"; made {len(made)} goals")
    else:
        assert set(said.partition("; made ")[2].split(", ")) == {*made}


@pytest.mark.parametrize("count", range(1, len(PRESSES) + 1))
def test_each_press_is_one_step_of_undo(count: int) -> None:
    key_way(make_spider(), "b0", ahead(1.2))
    for name, options in PRESSES[: count - 1]:
        press(name, **options)
    name, options = PRESSES[count - 1]
    assert_one_step(stored, name, **options)


def test_buttons_without_a_walker_say_why_they_are_disabled() -> None:
    make_spider()
    assert not bpy.ops.fabrik.walk_plan.poll()
    assert not bpy.ops.fabrik.walker_remove.poll()
    press("walker_add")
    assert bpy.ops.fabrik.walk_plan.poll()
    assert press("walker_remove") == {"FINISHED"}
    assert not bpy.ops.fabrik.walk_plan.poll()


def test_a_path_that_can_not_be_walked_is_refused() -> None:
    owner = make_spider()
    key_way(owner, "b0", lambda share: (0.0, 0.0 if share < 0.5 else -9.0, 0.0))
    press("walker_add")
    assert_refused("leaps", "walk_plan", span="SCENE")
    assert_refused("before it starts", "walk_plan", span="RANGE", frame_start=9, frame_end=1)
    assert not rig_of(owner).walker.on
    assert bpy.context.scene.frame_current == 1


def test_a_body_without_keys_stands() -> None:
    owner = make_spider()
    press("walker_add")
    assert press("walk_plan", span="RANGE", frame_start=1, frame_end=20) == {"FINISHED"}
    assert worst_foot(owner, 1) <= 1e-3
