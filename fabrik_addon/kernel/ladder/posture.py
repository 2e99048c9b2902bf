# SPDX-License-Identifier: GPL-3.0-or-later
"""How readily the joints of a figure turn, and the posture term that pulls them back to the start pose."""

from __future__ import annotations

from .. import cython
from ..figure import Figure
from ..forms import V3, Ints
from ..pose import Pose
from ..vectors import ORIGIN, conjugated, dot, minus, multiplied, q4, rotation_vector, scaled, v3
from .jacobian import A_RADIAN_OF_SHIFT

STIFFEST = cython.declare(cython.double, 0.97)  # share of a joint's readiness to turn that full stiffness takes


@cython.cclass
class Posture:
    """The stiffness of each joint and its pull to the start pose; the shift of the figure counts as one joint more.

    Args:
        figure: n joints.
        movers: Those that count.

    Attributes:
        weight: mu, what a radian away from the start pose counts.
        is_relaxed: Whether stiffness does not count for how readily joints turn.
    """

    weight: cython.double
    is_relaxed: cython.bint
    figure: Figure
    movers: Ints
    count: cython.int

    def __init__(self, figure: Figure, movers: Ints) -> None:
        self.figure = figure
        self.movers, self.count = movers, len(movers)
        self.weight = 0.0
        self.is_relaxed = False

    @cython.cfunc
    @cython.exceptval(check=False)
    def strain_of(self, pose: Pose, first: cython.int) -> cython.double:
        """The posture term of a pose, from joint `first` on."""
        k: cython.int
        total: cython.double = 0.0
        if self.weight <= 0.0:
            return total
        for k in range(self.count):
            i: cython.int = self.movers[k]
            if i < first:
                continue
            away: V3 = self.to_start(pose, i)
            total += dot(away, away) * self.square_of(i)
        return total

    @cython.cfunc
    @cython.exceptval(check=False)
    def to_start(self, pose: Pose, i: cython.int) -> V3:
        """The turn of a joint, in its rest frame, back to the start pose."""
        if i == self.figure.count:
            away: V3 = minus(v3(self.figure.root, 0), v3(pose.shift, 0))
            return scaled(away, 1.0 / A_RADIAN_OF_SHIFT)
        return rotation_vector(multiplied(q4(self.figure.start, i), conjugated(q4(pose.rotations, i))))

    @cython.cfunc
    @cython.exceptval(check=False)
    def square_of(self, i: cython.int) -> cython.double:
        """The square of what a radian of a joint away from the start pose counts; many times that for a stiff one."""
        stiff: cython.double = self.weight / (1.0 - STIFFEST * self.stiffness_of(i))
        return stiff * stiff

    @cython.cfunc
    @cython.exceptval(check=False)
    def stiffness_of(self, i: cython.int) -> cython.double:
        """The stiffness of a joint; a figure is shifted as readily as its first joint turns."""
        return self.figure.stiffness[0 if i == self.figure.count else i]

    @cython.cfunc
    @cython.exceptval(check=False)
    def readiness_of(self, i: cython.int, damping: cython.double) -> cython.double:
        """How readily a joint turns in a step: 1 for one that nothing holds."""
        left: cython.double = 1.0 - (0.0 if self.is_relaxed else STIFFEST * self.stiffness_of(i))
        ready: cython.double = left * left
        if self.weight <= 0.0:
            return ready
        return 1.0 / (1.0 / ready + self.square_of(i) / damping)

    @cython.cfunc
    @cython.exceptval(check=False)
    def pull_on(self, pose: Pose, i: cython.int, share: cython.double) -> V3:
        """The turn that the posture term alone asks of a joint in a step, for its readiness over the damping."""
        if self.weight <= 0.0:
            return ORIGIN
        return scaled(self.to_start(pose, i), share * self.square_of(i))
