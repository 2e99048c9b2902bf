# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a falling function crosses a value: regula falsi with the rule of Anderson & Bjorck (1973)."""

from __future__ import annotations

from collections.abc import Callable

STEPS = 24
SETTLED = 4e-7  # value at which to stop, near the end of single precision; also the width of the bracket
BISECT_AFTER = 3  # steps in which the bracket has not come down to a half


def crossing(excess: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float]) -> float:
    """The place between two ends where a function comes down to 0.

    Args:
        excess: The function; positive at the first end, not positive at the second.
        ends: The two ends.
        values: Its values there.

    Returns:
        The place, to single precision of the values or of the ends.
    """
    (low, high), (over, under) = ends, values
    side, width, slow = 0, 2.0 * (high - low), 0
    for _ in range(STEPS):
        span = over - under
        slow = slow + 1 if high - low > 0.5 * width else 0
        width = high - low
        middle = low + width * over / span if span > 0.0 and slow < BISECT_AFTER else 0.5 * (low + high)
        value = excess(middle)
        if abs(value) <= SETTLED or width <= SETTLED:
            return middle
        if value > 0.0:
            under = under * _weight(value / over) if side > 0 else under
            low, over, side = middle, value, 1
        else:
            over = over * _weight(value / under) if side < 0 else over
            high, under, side = middle, value, -1
    return 0.5 * (low + high)


def _weight(gained: float) -> float:
    """How much the value at an end that stays counts, from how much the last step gained at the other."""
    return 1.0 - gained if gained < 1.0 else 0.5
