# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that stands on four legs."""

from __future__ import annotations

from .plan import BodyPlan

PLAN = BodyPlan(
    name="QUADRUPED",
    number=2,
    label="Quadruped",
    description="Stands on four legs",
    leg_pairs=range(2, 3),
    leg_labels=("Front Leg", "Hind Leg"),
    expected=("Front Leg.L", "Front Leg.R", "Hind Leg.L", "Hind Leg.R", "Spine", "Head"),
)
