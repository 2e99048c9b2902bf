# SPDX-License-Identifier: GPL-3.0-or-later
"""About which axis a joint bends, and to which side: from the bend that it has at rest, or else from what it is."""

from __future__ import annotations

from math import atan2, cos, radians
from typing import NamedTuple

from ..maths import ORIGIN, V3, cross, dot, length, minus, scaled, unit
from .limbs import Limbs
from .skeleton import LEGS_OF_FOUR, BodyAxes, Limb

LEAST_BEND = radians(1.0)  # at rest that tells an axis
MOST_GUESSED = radians(60.0)  # bend of a last bone whose tail an importer guessed, above which it tells nothing
NEAR_AXIS = cos(radians(20.0))  # of an axis of the bone, along which the hinge then lies
SHOWS_SIDE = 0.2  # sine of the angle between a bone and the way it bends, below which there is no axis
PAW = "PAW"  # what folds back under the leg of an animal: the front foot in its wrist, and toes
SEGMENTS = {"UPPER_ARM", "FOREARM", "THIGH", "SHIN"}  # parts that some rigs make of two bones, for their twist


class JointBend(NamedTuple):
    """How a joint bends.

    Attributes:
        axis: Unit vector in armature space; a positive turn about it bends the joint further.
        angle: By which it is bent at rest, in radians; 0 where the axis comes from what the joint is.
    """

    axis: V3
    angle: float


def direction_of(limbs: Limbs, bone: int) -> V3:
    """Where a bone points: to the head of the bone that goes on its limb, else to where it ends."""
    skeleton = limbs.skeleton
    after = next((child for child in skeleton.children[bone] if limbs.above[child] == bone), -1)
    end = skeleton.end(bone) if after < 0 else skeleton.heads[after]
    head = skeleton.heads[bone]
    return unit(minus(skeleton.tails[bone] if end == head else end, head))


def rest_bend(limbs: Limbs, bone: int) -> JointBend | None:
    """The bend between a bone and its parent at rest; None where it is straight, or the bone has no parent."""
    parent = limbs.skeleton.parents[bone]
    if parent < 0:
        return None
    heads = limbs.skeleton.heads
    before, after = unit(minus(heads[bone], heads[parent])), direction_of(limbs, bone)
    normal = cross(before, after)
    angle = atan2(length(normal), dot(before, after))
    is_guess = limbs.skeleton.end(bone) == heads[bone] and angle > MOST_GUESSED
    return JointBend(unit(normal), angle) if angle >= LEAST_BEND and length(normal) > 0.0 and not is_guess else None


def bend_of(limbs: Limbs, bone: int, part: str = "") -> JointBend | None:
    """How a joint bends, from its bend at rest, else from its part and the body; None where neither tells.

    The part may be known better than by name and place.
    """
    found = rest_bend(limbs, bone)
    if found is not None:
        return found
    axis = flexion_axis(limbs.axes, direction_of(limbs, bone), part or part_of(limbs, bone))
    return None if axis is None else JointBend(axis, 0.0)


def fold_of(limbs: Limbs, bone: int) -> JointBend | None:
    """How a paw folds: back, in the plane in which it is bent at rest; None where neither tells an axis.

    The bend at rest alone tells no side: under the weight of the body a paw stands bent forward, or straight. It is
    taken all the same where nothing tells what is back.
    """
    back = flexion_axis(limbs.axes, direction_of(limbs, bone), PAW)
    rest = rest_bend(limbs, bone)
    if rest is None or (back is not None and abs(dot(rest.axis, back)) < NEAR_AXIS):
        return None if back is None else JointBend(back, 0.0)
    is_back = back is None or dot(rest.axis, back) > 0.0
    return JointBend(rest.axis if is_back else scaled(rest.axis, -1.0), 0.0)


def flexion_axis(axes: BodyAxes, direction: V3, part: str) -> V3 | None:
    """About which axis a straight joint bends, by anatomy: knees forward, elbows back; None where that is not known."""
    if axes.forward is None or axes.left is None:
        return None
    if part == "FOOT":  # toes up
        return scaled(axes.left, -1.0)
    back = scaled(axes.forward, -1.0)
    sides = {"SHIN": back, "FOREARM": axes.forward, "HOCK": axes.forward, PAW: back}
    return turn_towards(direction, sides.get(part, ORIGIN))


def turn_towards(direction: V3, side: V3) -> V3 | None:
    """The axis that turns a unit direction to a side; None where it points there or away from it."""
    normal = cross(direction, side)
    return unit(normal) if length(normal) > SHOWS_SIDE else None


def begins_limb(limbs: Limbs, bone: int) -> bool:
    """Whether a bone is the first of its limb, so that it does not bend; fingers and toes bend at hand and foot."""
    return limbs.above[bone] < 0 and not (limbs.parts[bone] in {"FINGER", "TOE"} and limbs.skeleton.parents[bone] >= 0)


def is_second_half(limbs: Limbs, bone: int) -> bool:
    """Whether a bone goes on the thigh, shin, upper arm or forearm above it, so that there is no joint between."""
    above = limbs.above[bone]
    return above >= 0 and limbs.parts[bone] in SEGMENTS and limbs.parts[above] == limbs.parts[bone]


def part_of(limbs: Limbs, bone: int) -> str:
    """What a bone is: by its name, else by its place in a leg that stands, or in an arm."""
    if limbs.parts[bone]:
        return limbs.parts[bone]
    run = next(run for run in limbs.all() if bone in run)
    place, legs = run.index(bone), limbs.axes.legs
    if run in legs:
        names = ("UPPER_ARM", "FOREARM", "HAND") if _is_front(limbs, run) else ("THIGH", "SHIN", "FOOT")
    elif limbs.twins[run[-1]] >= 0 and legs:
        names = ("UPPER_ARM", "FOREARM", "HAND")
    else:
        return ""
    return names[place] if place < len(names) else ""


def _is_front(limbs: Limbs, leg: Limb) -> bool:
    """Whether a leg is one of the two in front, of four."""
    forward, legs = limbs.axes.forward, limbs.axes.legs
    if len(legs) != LEGS_OF_FOUR or forward is None:
        return False
    ahead = {one: dot(limbs.skeleton.heads[one[0]], forward) for one in legs}
    return sum(other > ahead[leg] for other in ahead.values()) < LEGS_OF_FOUR // 2


def own_axis(limbs: Limbs, bone: int, axis: V3) -> V3:
    """An axis in armature space as one of the bone, along the bone's own axis if that is near."""
    own = limbs.skeleton.axes[bone]
    x, y, z = (dot(axis, one) for one in own)
    for k, value in enumerate((x, y, z)):
        if abs(value) >= NEAR_AXIS:
            signs = [0.0, 0.0, 0.0]
            signs[k] = 1.0 if value > 0.0 else -1.0
            return signs[0], signs[1], signs[2]
    return unit((x, y, z))
