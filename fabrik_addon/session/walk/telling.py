# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to tell of a planned walk at a frame: why footholds of the steps to come were refused."""

from __future__ import annotations

from collections import Counter

import bpy

from ...errors import FabrikError
from ...gait import Refused, steps_between
from ...rig.schema import rig_of
from ...rig.walk_goals import plan_of
from ...texts import Text, enumerated

AHEAD = 1.0  # seconds of which the steps are told, as they are drawn
REASONS = {
    Refused.NO_GROUND: Text("no ground"),
    Refused.SLOPE: Text("too steep"),
    Refused.EDGE: Text("an edge"),
    Refused.REACH: Text("out of reach"),
    Refused.LIMITS: Text("beyond the limits of joints"),
    Refused.FOOT: Text("another foot in the way"),
}


def refused_ahead(owner: bpy.types.Object, frame: float) -> str:
    """Why footholds were refused for the steps under way and of the next second, the most frequent reason first.

    Args:
        owner: The armature object of a walker.
        frame: The frame.

    Returns:
        "" where none were, where no walk is shown, and where it can't be read, which is told elsewhere.
    """
    walker = rig_of(owner).walker
    try:
        parsed = plan_of(owner) if walker.on else None
    except FabrikError:
        return ""
    if parsed is None:
        return ""
    steps = steps_between(parsed.plan, frame, frame + AHEAD * parsed.plan.fps)
    counts = Counter(Refused(reason) for step in steps for _, reason in step.refused)
    told = [Text("{reason} ({count})", reason=REASONS[reason], count=count) for reason, count in counts.most_common()]
    return Text("Refused ahead: {reasons}", reasons=enumerated(told)) if told else ""
