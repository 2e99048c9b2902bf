# SPDX-License-Identifier: GPL-3.0-or-later
"""How far feet roll: from the heel at landing, over the ball at lifting, and where the ankle's limits ask for it."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, radians

from ..maths import Q4, V3, X_AXIS, clipped, conjugated, dot, eased, minus, multiplied, turned, unit_or
from .feet import pose_of
from .legs import Leg

TOE_OFF, HEEL_STRIKE = radians(35.0), radians(20.0)  # of a full roll: the heel up at lifting, the toes at landing
FULL_ROLL = 0.35  # seconds of a swing from which on feet roll in full
ROLLING_STRIDE = 1.0  # of a leg's reach: the way of a swing from which on they do
MET = radians(1.0)  # by which an ankle may miss the rotation of its foot
SPARE = radians(3.0)  # how much more than an ankle asks for heels come up: the body may stand a little elsewhere
MOST_UP = radians(45.0)  # to which heels come up for an ankle
TRIES = 6  # times that a heel is raised farther

# From an ankle's place and a foot's rotation in the body's frame: how far the leg's joints miss the rotation, radians
TurnMissed = Callable[[V3, Q4], float]


def rolls_of(leg: Leg, share: float, step: tuple[V3, Q4], axes: tuple[Q4, V3], span: float) -> tuple[float, float]:
    """How far a foot rolls at lifting and at landing: forwards alone, and less for quick or short steps.

    Ground that rises takes from the roll at landing: the toes are up no higher than on level ground.

    Args:
        leg: The foot's.
        share: Of the full roll, as it is set, 0 to 1.
        step: The way to where it lands, world space, and the foot's rotation there.
        axes: The body's heading, a rotation that keeps Z upright, and what is up.
        span: Seconds of its swing.

    Returns:
        How far the heel is up when it lifts, and the toes when it lands, radians.
    """
    if not share or leg.foot_length <= 0.0:
        return 0.0, 0.0
    along_foot, (way, landing), (upright, up) = unit_or(minus(leg.ball, leg.heel), X_AXIS), step, axes
    share *= eased(dot(way, turned(upright, along_foot)) / (ROLLING_STRIDE * leg.reach)) * min(1.0, span / FULL_ROLL)
    rising = asin(clipped(dot(turned(landing, along_foot), up), 0.0, 1.0))
    return share * TOE_OFF, max(share * HEEL_STRIKE - rising, 0.0)


def heel_up(
    turn_missed: TurnMissed, leg: Leg, flat: tuple[V3, Q4], body: tuple[V3, Q4], from_pitch: float = 0.0
) -> float:
    """How far the heel of a foot has to be up for the leg's joints to bring the foot to its rotation.

    Ankles bend no farther than they do: people climb steep ground on the balls of their feet. The heel is raised by
    what the joints miss, again and again, until they miss next to nothing.

    Args:
        turn_missed: How far the leg's joints miss rotations.
        leg: The leg.
        flat: Place of the sole and rotation of the foot, without rolling, world space.
        body: Place and rotation of the leg's segment of the body, world space.
        from_pitch: How far the heel is up in any case, radians.

    Returns:
        Radians; `from_pitch` where that will do, and where rolling farther would not help.
    """
    pitch, now = from_pitch, turned_off(turn_missed, leg, (flat, from_pitch), body)
    for _ in range(TRIES):
        if now <= MET:
            return min(pitch + SPARE, max(MOST_UP, pitch)) if pitch > from_pitch else from_pitch
        raised = pitch + now
        then = turned_off(turn_missed, leg, (flat, raised), body)
        if then >= now or raised > max(MOST_UP, from_pitch):
            break
        pitch, now = raised, then
    return pitch


def turned_off(turn_missed: TurnMissed, leg: Leg, foot: tuple[tuple[V3, Q4], float], body: tuple[V3, Q4]) -> float:
    """How far a leg's joints miss the rotation of a foot that has rolled, radians.

    Args:
        turn_missed: How far the leg's joints miss rotations.
        leg: The leg.
        foot: Place and rotation without rolling, world space; and how far the heel is up, or the toes where negative,
            radians.
        body: Place and rotation of the leg's segment of the body, world space.
    """
    back, rolled = conjugated(body[1]), pose_of(leg, foot[0], foot[1], base=foot[0][0])
    return turn_missed(turned(back, minus(rolled.ankle, body[0])), multiplied(back, rolled.rotation))
