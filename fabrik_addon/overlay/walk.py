# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn of a planned walk: the body's path, the steps of the next second, refused footholds, the support."""

from __future__ import annotations

from math import atan2

import bpy

from ..errors import FabrikError
from ..gait import WalkPlan, feet_at, steps_between
from ..maths import V3, plus, scaled
from ..rig.schema import rig_of
from ..rig.walk_goals import plan_of
from .shapes import Shapes

EVERY = 6  # samples of the body's path between two points that are drawn
AHEAD = 1.0  # seconds of which the steps are drawn
ARC = 8  # pieces in which the way of a foot through the air is drawn
CROSS = 0.03  # of a leg's reach: half the size of a refused foothold's mark


def walk_key(owner: bpy.types.Object, frame: float) -> object:
    """What the picture of a walk depends on."""
    walker = rig_of(owner).walker
    return (walker.digest, frame) if walker.on and walker.digest else None


def draw_walk(shapes: Shapes, owner: bpy.types.Object, frame: float) -> None:
    """Add the primitives of an armature's walk at a frame; none where there is none, or where it can't be read."""
    walker = rig_of(owner).walker
    try:
        parsed = plan_of(owner) if walker.on else None
    except FabrikError:  # the panel tells
        return
    if parsed is None:
        return
    plan = parsed.plan
    _path(shapes, plan)
    _steps(shapes, plan, frame)
    _support(shapes, plan, frame)


def _path(shapes: Shapes, plan: WalkPlan) -> None:
    for segment in plan.body:
        places = [place for place, _ in segment]
        shapes.line("before", [*places[::EVERY], places[-1]])


def _steps(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The steps under way and those of the next second: their ways, their ends, and what was refused for them."""
    for step in steps_between(plan, frame, frame + AHEAD * plan.fps):
        leg = plan.legs[step.leg]
        lift, land = (plan.first + time * plan.fps for time in (step.lift, step.land))
        way = [feet_at(plan, lift + (land - lift) * k / ARC)[step.leg].sole for k in range(ARC + 1)]
        shapes.line("target", way)
        shapes.dots("target", [way[-1]])
        arm = CROSS * leg.reach
        for place, _ in step.refused:
            _mark(shapes, place, arm)


def _mark(shapes: Shapes, place: V3, arm: float) -> None:
    """A cross that lies flat."""
    for axis in ((1.0, 1.0, 0.0), (1.0, -1.0, 0.0)):
        shapes.line("blocked", (plus(place, scaled(axis, -arm)), plus(place, scaled(axis, arm))))


def _support(shapes: Shapes, plan: WalkPlan, frame: float) -> None:
    """The polygon of the standing feet, in the order round their middle as seen from above."""
    feet = [foot.base for foot in feet_at(plan, frame) if foot.is_planted and not foot.is_hanging]
    if len(feet) < 2:
        return
    middle = scaled((sum(p[0] for p in feet), sum(p[1] for p in feet), sum(p[2] for p in feet)), 1.0 / len(feet))
    feet.sort(key=lambda place: atan2(place[1] - middle[1], place[0] - middle[0]))
    shapes.line("pin", [*feet, feet[0]])
