# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks, planned: body path, legs, settings and terrain in, steps and body offsets out. Free of Blender."""

from .feet import Cause, Foothold, FootPose, Refused, Step
from .gaits import GAITS
from .ground import Hit, Plain, Terrain
from .led import HandWalk, Steering
from .legs import Leg, Reaching, arranged
from .path import BodyPath
from .plan import WalkPlan, body_pose_at, feet_at, from_text, path_at, rhythm_at, steps_between, to_text
from .planning import Walk, plan_walk, planning
from .settings import RANGES, Gravity, Settings, Swing, settings_for

__all__ = (
    "GAITS",
    "RANGES",
    "BodyPath",
    "Cause",
    "FootPose",
    "Foothold",
    "Gravity",
    "HandWalk",
    "Hit",
    "Leg",
    "Plain",
    "Reaching",
    "Refused",
    "Settings",
    "Steering",
    "Step",
    "Swing",
    "Terrain",
    "Walk",
    "WalkPlan",
    "arranged",
    "body_pose_at",
    "feet_at",
    "from_text",
    "path_at",
    "plan_walk",
    "planning",
    "rhythm_at",
    "settings_for",
    "steps_between",
    "to_text",
)
