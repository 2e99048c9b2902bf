# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures, goals and settings of arbitrary numbers; run by itself, so that a crash ends this process and no other.

python tests/support/kernel_fuzz.py values 200     prints what comes of 200 figures, as JSON
python tests/support/kernel_fuzz.py hostile 200    lets hypothesis look for arguments that crash the process
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from math import inf, isfinite, nan
from random import Random
from typing import Any

from fabrik_addon.errors import FabrikError
from fabrik_addon.kernel import (
    FREE,
    Aim,
    Bend,
    Cone,
    Facing,
    Figure,
    Goal,
    Hinge,
    Joint,
    Limit,
    Locked,
    Planar,
    Point,
    Rows,
    Settings,
    Solver,
    Twist,
    Twisting,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.chains import violation
from support.limit_examples import EXAMPLES

ODD_NUMBERS = (0.0, -0.0, 1e-310, 1e-160, 1e-9, 1e9, 1e18, 1.1e18, 1e300, inf, -inf, nan, 3, -1)
ODD_THINGS: tuple[Any, ...] = (None, "x", b"", True, 10**30, -(10**30), (), [], {}, object, 1j, *ODD_NUMBERS)
LIKE = [limit for limits in EXAMPLES.values() for limit in limits]
ODD, HOSTILE = 0.006, 0.1  # shares of the numbers
SLACK = 1e-6


class Maker:
    """Makes arguments.

    Args:
        random: Decides.
        is_hostile: Whether they may be of any type.
    """

    def __init__(self, random: Random, is_hostile: bool) -> None:
        self.random = random
        self.is_hostile = is_hostile

    def number(self, low: float = -2.0, high: float = 2.0) -> Any:
        if self.random.random() < (HOSTILE if self.is_hostile else ODD):
            return self.random.choice(ODD_THINGS if self.is_hostile else ODD_NUMBERS)
        return self.random.uniform(low, high)

    def numbers(self, count: int) -> Any:
        """So many numbers, and now and then another count, or none."""
        if self.random.random() < 0.005:
            count = self.random.randrange(6)
        if self.is_hostile and self.random.random() < 0.05:
            return self.random.choice(ODD_THINGS)
        return tuple(self.number() for _ in range(count))

    def index(self, count: int) -> Any:
        if self.random.random() < 0.03:
            return self.random.choice((-1, count, 1 << 30, *(ODD_THINGS if self.is_hostile else ())))
        return self.random.randrange(max(count, 1))

    def thing(self, make: Callable[[], object]) -> Any:
        """Something, or where hostility is wanted now and then something else."""
        if self.is_hostile and self.random.random() < 0.03:
            return self.random.choice(ODD_THINGS)
        return make()

    def range(self) -> tuple[Any, Any]:
        return self.number(-1.5, 0.0), self.number(0.0, 1.5)

    def twist(self) -> Any:
        return self.thing(lambda: Twist(*self.range())) if self.random.random() < 0.5 else None

    def limit(self) -> Limit:
        a, b, c, d = (self.number(0.0, 1.5) for _ in range(4))
        kinds: list[Callable[[], Limit]] = [
            lambda: Hinge(self.numbers(3), *self.range(), self.numbers(4)),
            lambda: Cone(0.0, a, b, c, d, self.twist()),
            lambda: Cone.circular(self.number(0.5, 1.5), self.number(0.0, 0.5), self.twist()),
            lambda: Planar(self.numbers(3), *self.range(), self.twist()),
            lambda: Twisting(self.twist()),
            lambda: Locked(self.numbers(4)),
            lambda: FREE,
            self.limit_like_an_example,
        ]
        return self.random.choice(kinds)()

    def limit_like_an_example(self) -> Limit:
        """A limit of any type there is, with some of its numbers drawn anew."""
        example = self.random.choice(LIKE)
        return type(example)(*[self._like(part) for part in example.parts()])

    def _like(self, part: Any) -> Any:
        if isinstance(part, tuple):
            numbers = [self._like(number) for number in part]
            return Twist(*numbers) if isinstance(part, Twist) else tuple(numbers)
        return self.number() if isinstance(part, float) and self.random.random() < 0.2 else part

    def joint(self) -> Any:
        rest, start = self.numbers(4), self.numbers(4)
        limit = self.thing(self.limit if self.random.random() < 0.6 else lambda: FREE)
        return Joint(self.numbers(3), rest, start, limit, self.random.random() < 0.8, self.number(0.0, 1.0))

    def figure(self) -> Figure:
        count = self.random.randrange(1, 6)
        joints = [self.thing(self.joint) for _ in range(count)]
        if self.random.random() < 0.5:
            return Figure(self.thing(lambda: joints), base=self.numbers(4))
        parents = [self.index(i) - (self.random.random() < 0.1) if i else -1 for i in range(count)]
        heads = [self.numbers(3) if self.random.random() < 0.3 else None for _ in range(count)]
        return Figure(joints, self.thing(lambda: parents), self.thing(lambda: heads), self.numbers(4))

    def goal(self, count: int) -> Goal:
        kind, effector = self.random.randrange(4), self.index(count)
        weight = self.number(0.0, 2.0) if self.random.random() < 0.3 else 1.0
        if kind == 0:
            offset = self.numbers(3) if self.random.random() < 0.3 else None
            return Point(effector, self.numbers(3), weight, offset)
        if kind == 1:
            return Facing(effector, self.numbers(4), weight)
        if kind == 2:
            return Aim(effector, self.numbers(3), self.numbers(3), weight)
        return Bend(
            effector, self.numbers(3), self.number(), weight, self.index(effector + 1 if type(effector) is int else 1)
        )

    def goals(self, figure: Figure) -> list[Goal]:
        last = figure.count - 1
        if figure.is_chain and self.random.random() < 0.5:
            point = Point(last, self.numbers(3))
            return [point] if self.random.random() < 0.5 else [point, Bend(last, self.numbers(3), self.number())]
        return [self.thing(lambda: self.goal(figure.count)) for _ in range(self.random.randrange(1, 4))]

    def settings(self) -> Settings:
        passes = self.random.choice((0, 1, 5, 40, 40, 40, -1))
        restarts = self.random.choice((0, 1, 2, -1))
        tolerance = self.number(0.0, 1e-2) if self.random.random() < 0.2 else 1e-4
        return Settings(tolerance, self.thing(lambda: passes), self.random.random() < 0.2, self.thing(lambda: restarts))


def numbers_of(value: object) -> list[float]:
    """All numbers in nested sequences."""
    if isinstance(value, (int, float)):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [number for part in value for number in numbers_of(part)]
    return []


def solved(make: Maker) -> list[str]:
    """A solve for arguments at random: its digits, or the error; AssertionError where an answer breaks a law."""
    try:
        figure = make.figure()
        solver = Solver(figure)
        solution = solver.solve(make.goals(figure), make.settings(), [] if make.random.random() < 0.1 else None)
    except FabrikError as error:
        return [type(error).__name__, str(error)]
    assert all(isfinite(number) for number in numbers_of(solution)), solution
    assert violation(figure, solution.rotations) <= SLACK, solution
    return [repr(solution)]


def attempt(call: Callable[..., object], *arguments: object) -> None:
    """Call something, whatever comes of it but a crash."""
    with contextlib.suppress(Exception):
        call(*arguments)


def calls_of_a_limit(make: Maker) -> None:
    """Every method of a limit."""
    limit = make.limit()
    for call in (limit.clamped, limit.violation, limit.preferred_axis):
        attempt(call, make.numbers(4))
    attempt(limit.blended, make.numbers(4), make.numbers(4), make.number())
    attempt(limit.aimed, make.numbers(4), make.numbers(3), make.numbers(3))
    attempt(limit.allowed, make.numbers(4), make.numbers(3))
    attempt(limit.turned, make.numbers(4), make.numbers(3))
    attempt(limit.drawn, make.number(), make.number(), make.number())


def calls_of_a_solver(make: Maker) -> None:
    """Every method of a solver that takes rotations."""
    solver = Solver(make.thing(make.figure))
    rotations = make.thing(lambda: [make.numbers(4) for _ in range(solver.figure.count)])
    for call in (solver.bend, solver.figure.placed):
        attempt(call, rotations)
    attempt(solver.pulled, rotations, make.numbers(3))


def calls_with_rows(make: Maker) -> None:
    """Every method that takes rows, now and then those of another figure."""
    figure, other = make.figure(), make.figure()
    goals = make.goals(figure)
    rows = Rows(make.thing(lambda: figure), make.thing(lambda: goals), make.thing(lambda: 3))
    for k in range(len(rows.numbers)):
        attempt(rows.numbers.__setitem__, k, make.number())
    for solver in (Solver(figure), Solver(other)):
        attempt(solver.solve_many, make.thing(lambda: rows), make.thing(make.settings))
        attempt(solver.blend_rows, make.thing(lambda: rows), make.numbers(3))
        attempt(solver.worst_violation, make.thing(lambda: rows))


def every_call(make: Maker) -> None:
    """Everything that can be called, one thing after the other."""
    for calls in (solved, calls_of_a_limit, calls_of_a_solver, calls_with_rows):
        attempt(calls, make)


def outcomes(count: int) -> list[list[str]]:
    """What comes of so many figures."""
    return [solved(Maker(Random(seed), is_hostile=False)) for seed in range(count)]


def look_for_crashes(count: int) -> None:
    """Let hypothesis try so many times."""

    @settings(
        max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.integers(0, 1 << 60))
    def try_once(seed: int) -> None:
        every_call(Maker(Random(seed), is_hostile=True))

    try_once()


if __name__ == "__main__":
    if sys.argv[1] == "values":
        sys.stdout.write(json.dumps(outcomes(int(sys.argv[2]))))
    else:
        look_for_crashes(int(sys.argv[2]))
