# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a falling function crosses zero: regula falsi with the rule of Anderson & Bjorck (1973)."""

from __future__ import annotations

from .. import cython
from ..vectors import magnitude

CROSSING_STEPS = cython.declare(cython.int, 40)
CROSSED = cython.declare(cython.double, 1e-8)  # value at which to stop; also the width of the bracket
BISECT_AFTER = cython.declare(cython.int, 3)  # steps in which the bracket has not come down to a half


@cython.cclass
class Falling:
    """A function of one number that comes down to zero."""

    @cython.cfunc
    @cython.exceptval(check=False)
    def excess(self, at: cython.double) -> cython.double:
        """Its value."""
        return -at

    @cython.cfunc
    @cython.exceptval(check=False)
    def crossing(
        self, low: cython.double, high: cython.double, over: cython.double, under: cython.double
    ) -> cython.double:
        """Where it comes down to zero, between `low`, where it is `over` > 0, and `high`, where it is `under` <= 0."""
        step: cython.int
        side: cython.int = 0
        slow: cython.int = 0
        width: cython.double = 2.0 * (high - low)
        for step in range(CROSSING_STEPS):
            span: cython.double = over - under
            slow = slow + 1 if high - low > 0.5 * width else 0
            width = high - low
            middle: cython.double = 0.5 * (low + high)
            if span > 0.0 and slow < BISECT_AFTER:
                middle = low + width * over / span
            value: cython.double = self.excess(middle)
            if magnitude(value) <= CROSSED or width <= CROSSED:
                return middle
            if value > 0.0:
                if side > 0:
                    under = under * (1.0 - value / over if value < over else 0.5)
                low = middle
                over = value
                side = 1
            else:
                if side < 0:
                    over = over * (1.0 - value / under if value > under else 0.5)
                high = middle
                under = value
                side = -1
        return 0.5 * (low + high)
