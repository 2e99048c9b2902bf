# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning a chain about the line to its tip so that it bends towards its pole."""

from __future__ import annotations

from typing import NamedTuple

from . import cython
from .chain import Chain
from .figure import Figure, Pose
from .forms import Q4, V3
from .limb_path import Limb, carried_bend, carried_normal, reference_pose
from .limits.base import Limit
from .vectors import (
    ORIGIN,
    PI,
    UNDEFINED,
    angle_about,
    conjugated,
    dot,
    length,
    magnitude,
    minus,
    multiplied,
    normalized,
    perpendicular,
    plus,
    put4,
    q4,
    rotated,
    scaled,
    turn_about,
    unit,
    v3,
)

NEAR_AXIS = cython.declare(cython.double, 1e-3)  # distance of the pole from the line below which its influence fades
WITHIN_LIMIT = cython.declare(cython.double, 1e-9)  # radians that a turned joint may stand outside by rounding
POLE_BISECTIONS = cython.declare(cython.int, 30)
POLE_TURNS = cython.declare(cython.int, 36)


class BendSide(NamedTuple):
    """How a pose of a chain bends.

    Attributes:
        joint: Index of the joint at which it is turned to its pole.
        origin: Where that joint is, in solve space.
        along: Unit vector from there to the tip.
        side: Unit vector at right angles to it, the side of the bend.
        turns: Whether the joint can turn every way, so that the pole can be met.
    """

    joint: int
    origin: V3
    along: V3
    side: V3
    turns: bool


@cython.cclass
class PoleTurn:
    """The turn of a solved chain of size 1 towards its pole.

    The first free joint, or where there is none the first that can turn every way, carries all that follows about the
    line from it to the tip, as near to the pole as its limit lets it; the joints behind it keep their rotations.

    Attributes:
        joint: Index of that joint.
        turns: Whether there is one.
        normal: The normal of the bend in its frame.
    """

    chain: Chain
    joint: cython.int
    turns: cython.bint
    normal: V3
    along: V3

    def __init__(self, chain: Chain, limb: Limb | None, start: Pose) -> None:
        self.chain = chain
        found = turning_joint(chain)
        self.turns = found >= 0
        self.joint = found if found >= 0 else max(min(chain.first_moving, chain.count - 2), 0)
        reference: Pose = reference_pose(chain, None if chain.is_free else limb, start)
        self.normal = carried_normal(chain.figure, reference, self.joint, chain.first_moving)
        self.along = ORIGIN

    @cython.cfunc
    @cython.exceptval(check=False)
    def shows(self, pose: Pose) -> cython.bint:
        """Whether a pose tells where it bends: not one whose tip is where it would be turned, or of a single bone."""
        span: V3 = minus(v3(pose.heads, self.chain.count), v3(pose.heads, self.joint))
        self.along = unit(span)
        return self.chain.count >= 2 and length(span) >= NEAR_AXIS

    def side_of(self, pose: Pose) -> BendSide | None:
        """How a placed pose bends; None where it does not tell."""
        if not self.shows(pose):
            return None
        side = carried_bend(pose, self.chain.count, self.joint, self.normal)
        return BendSide(self.joint, v3(pose.heads, self.joint), self.along, side, bool(self.turns))

    @cython.cfunc
    def turn(self, pose: Pose, pole: V3, angle: cython.double) -> cython.double:
        """Turn a placed pose towards the pole, its tip staying where it is.

        Args:
            pose: n solved rotations.
            pole: Point relative to the root of the chain.
            angle: Radians by which the bend is turned away from the pole, right-handed about root to tip.

        Returns:
            The angle by which the bend is still off, in [0, pi].
        """
        if not self.shows(pose):
            return 0.0
        kept: V3 = carried_bend(pose, self.chain.count, self.joint, self.normal)
        side: V3 = self.pole_side(minus(pole, v3(pose.heads, self.joint)), angle, kept)
        wanted: cython.double = angle_about(self.along, kept, side)
        if wanted == UNDEFINED:
            wanted = 0.0
        if not self.turns:
            return magnitude(wanted)
        turn: cython.double = self.allowed_turn(pose, wanted)
        turning: Q4 = turn_about(self.along, turn)
        figure: Figure = self.chain.figure
        for i in range(self.joint, self.chain.count):
            if i == self.joint or not figure.inherits[i]:
                frame: Q4 = multiplied(turning, q4(pose.frames, i))
                put4(pose.rotations, i, normalized(multiplied(conjugated(q4(pose.rests, i)), frame)))
        figure.place(pose)
        return magnitude(wanted - turn)

    @cython.cfunc
    @cython.exceptval(check=False)
    def pole_side(self, pole: V3, angle: cython.double, kept: V3) -> V3:
        """The direction, at right angles to the line, in which the chain is to bend.

        Near the line the pole tells no direction: there its influence fades, and the bend is `kept`.
        """
        side: V3 = perpendicular(pole, self.along)
        distance: cython.double = length(side)
        if distance < NEAR_AXIS:
            side = plus(side, scaled(kept, NEAR_AXIS - distance))
        side = rotated(turn_about(self.along, angle), side)
        if dot(side, side) == 0.0:
            return kept
        return unit(perpendicular(unit(side), self.along))

    @cython.cfunc
    @cython.exceptval(check=False)
    def holds(self, pose: Pose, turn: cython.double) -> cython.bint:
        """Whether the limit of the turning joint lets a turn about the line through."""
        limit: Limit = self.chain.figure.limits[self.joint]
        frame: Q4 = multiplied(turn_about(self.along, turn), q4(pose.frames, self.joint))
        return limit.exceed(normalized(multiplied(conjugated(q4(pose.rests, self.joint)), frame))) <= WITHIN_LIMIT

    @cython.cfunc
    @cython.exceptval(check=False)
    def allowed_turn(self, pose: Pose, wanted: cython.double) -> cython.double:
        """The turn that the limit lets through and that is nearest to the wanted one, either way."""
        if self.holds(pose, wanted):
            return wanted
        sign: cython.double = -1.0 if wanted > 0.0 else 1.0
        for k in range(1, POLE_TURNS + 1):
            for s in range(2):
                towards: cython.double = sign if s == 0 else -sign
                held: cython.double = wanted + towards * PI * k / POLE_TURNS
                out: cython.double = wanted + towards * PI * (k - 1) / POLE_TURNS
                if not self.holds(pose, held):
                    if held * out > 0.0:
                        continue
                    held = 0.0  # between the two: as it stands it is allowed, however little room there is about it
                for step in range(POLE_BISECTIONS):
                    middle: cython.double = 0.5 * (held + out)
                    if self.holds(pose, middle):
                        held = middle
                    else:
                        out = middle
                return held
        return 0.0


@cython.cfunc
def turning_joint(chain: Chain) -> cython.int:
    """The first free joint with a bone behind it, else the first that can turn every way; -1 where there is none.

    Joints behind it that do not inherit rotation have to be free, to be turned along.
    """
    figure: Figure = chain.figure
    found = -1
    for i in range(chain.count - 1):
        limit: Limit = figure.limits[i]
        later = range(i + 1, chain.count)
        if limit.dofs < 3 or not all([figure.inherits[j] or figure.limits[j].is_free for j in later]):
            continue
        if limit.is_free:
            return i
        found = i if found < 0 else found
    return found
