# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that stands on six legs or more."""

from __future__ import annotations

from .plan import BodyPlan

PLAN = BodyPlan(
    name="MANY_LEGS",
    number=3,
    label="Many Legs",
    description="Stands on six legs or more",
    leg_pairs=range(3, 1000),
    leg_labels=(),
    expected=("Leg 1.L", "Leg 1.R", "Leg 2.L", "Leg 2.R", "Leg 3.L", "Leg 3.R"),
)
