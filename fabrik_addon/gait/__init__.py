# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks, planned: body path, legs, settings and terrain in, steps and body offsets out. Free of Blender."""

from .by_hand import HandWalk
from .feet import FootPose
from .gaits import GAITS
from .legs import Leg, arranged
from .path import BodyPath
from .plan import WalkPlan, body_pose_at, feet_at, path_at, steps_between
from .planning import Walk, plan_walk, planning
from .reaching import Reaching
from .recording import Moment, RecordedWalk
from .settings import RANGES, Gravity, Settings, Swing, settings_for
from .steering import Steering
from .steps import Cause, Foothold, Refused, Step
from .storing import from_text, to_text
from .terrain import Hit, Plain, Terrain

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
    "Moment",
    "Plain",
    "Reaching",
    "RecordedWalk",
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
    "settings_for",
    "steps_between",
    "to_text",
)
