# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan of a body is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """A plan of a body.

    Attributes:
        name: By which scripts choose it.
        number: By which keymaps store it: never changed, and never given to another plan.
        label: How it is called.
        description: What it is.
        leg_pairs: How many pairs of legs it stands on.
        leg_labels: What its pairs of legs are called, from the front to the back; empty where they are numbered.
        expected: Names of the parts that such a body has.
    """

    name: str
    number: int
    label: str
    description: str
    leg_pairs: range
    leg_labels: Sequence[str]
    expected: Sequence[str]

    def leg_label(self, place: int, count: int) -> str:
        """What the legs of a pair are called, of so many pairs, the first of which stands foremost."""
        if len(self.leg_labels) == count:
            return self.leg_labels[place]
        return f"Leg {place + 1}" if count > 1 else "Leg"
