# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks of creatures that are made of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fabrik_addon.gait.ground import Plain, Terrain
from fabrik_addon.gait.legs import Leg, Reaching
from fabrik_addon.gait.path import BodyPath
from fabrik_addon.gait.plan import WalkPlan
from fabrik_addon.gait.planning import Walk
from fabrik_addon.gait.settings import settings_for

from dev.walkers import plan_walk


def planned(
    path: BodyPath,
    legs: tuple[Leg, ...],
    terrain: Terrain | None = None,
    reaching: Reaching | None = None,
    **changes: Any,
) -> WalkPlan:
    """A walk along a path, on a level plain unless told otherwise, with the legs' own settings but for changes."""
    return plan_walk(Walk(path, legs, (replace(settings_for(legs), **changes),), terrain or Plain(), reaching))
