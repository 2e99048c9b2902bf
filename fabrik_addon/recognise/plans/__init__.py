# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of bodies: one file each, and one line here."""

from __future__ import annotations

from . import chains, human, many_legs, quadruped
from .plan import BodyPlan

PLANS: dict[str, BodyPlan] = {found.PLAN.name: found.PLAN for found in (human, quadruped, many_legs, chains)}


def plan_for(legs: int, limbs: int) -> BodyPlan:
    """The plan of a body that stands on so many pairs of legs, and has so many pairs of limbs in all."""
    by_legs = next((plan for plan in PLANS.values() if legs in plan.leg_pairs), None)
    return by_legs or (human.PLAN if limbs else chains.PLAN)
