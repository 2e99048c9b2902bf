# SPDX-License-Identifier: GPL-3.0-or-later
"""A body without legs: each great run of bones is a chain."""

from __future__ import annotations

from .plan import BodyPlan

PLAN = BodyPlan(
    name="CHAINS",
    number=4,
    label="Chains",
    description="No body: a chain for each long row of bones",
    leg_pairs=range(0),
    leg_labels=(),
    expected=(),
)
