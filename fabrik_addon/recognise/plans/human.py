# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that stands on two legs."""

from __future__ import annotations

from .plan import BodyPlan

PLAN = BodyPlan(
    name="HUMAN",
    number=1,
    label="Human",
    description="Stands on two legs; birds, too",
    leg_pairs=range(1, 2),
    leg_labels=("Leg",),
    expected=("Arm.L", "Arm.R", "Leg.L", "Leg.R", "Spine", "Head"),
)
