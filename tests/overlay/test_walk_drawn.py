# SPDX-License-Identifier: GPL-3.0-or-later
"""A planned walk is drawn: path, steps, support; and nothing where it is off."""

from __future__ import annotations

import bpy
from fabrik_addon.overlay.shapes import Shapes, theme_colours
from fabrik_addon.overlay.view import draw_walk, walk_key
from fabrik_addon.rig.schema import rig_of
from fabrik_addon.rig.walk_goals import plan_of

from support.judging import feet
from support.scenes import walking


def drawn(owner: bpy.types.Object, frame: float) -> Shapes:
    shapes = Shapes()
    draw_walk(shapes, owner, frame)
    return shapes


def test_path_steps_and_support_are_drawn() -> None:
    owner = walking("spider")
    parsed = plan_of(owner)
    assert parsed is not None
    shapes = drawn(owner, 20)
    assert {*shapes.lines, *shapes.points} <= set(theme_colours(bpy.context.preferences))
    assert shapes.lines["before"][0] == parsed.plan.body[0][0][0]
    standing = {foot.base for foot in feet(owner, 20) if foot.is_planted}
    assert set(shapes.lines["pin"]) == standing
    ends = {step.end.place for steps in parsed.plan.steps for step in steps}
    assert shapes.points["target"]
    for place in shapes.points["target"]:
        assert min(max(abs(a - b) for a, b in zip(place, end, strict=True)) for end in ends) < 1e-6


def test_nothing_is_drawn_of_a_walk_that_is_off_or_can_not_be_read() -> None:
    owner = walking("spider")
    assert walk_key(owner, 20) is not None
    rig_of(owner).walker.on = False
    assert walk_key(owner, 20) is None
    assert not drawn(owner, 20).lines
    rig_of(owner).walker.on = True
    rig_of(owner).walker.plan, rig_of(owner).walker.digest = "{}", "other"
    assert not drawn(owner, 20).lines
