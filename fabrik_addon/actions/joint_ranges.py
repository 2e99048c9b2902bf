# SPDX-License-Identifier: GPL-3.0-or-later
"""Published ranges of joints, given to the bones of humans and dogs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, cos, degrees, radians, sin
from typing import Any

import bpy

from ..maths import ORIGIN, V3, dot, length, minus, perpendicular, plus, scaled, unit
from ..recognise.limbs import LEAST_BEND, PAW, Limbs, bend_of, direction_of, fold_of, own_axis, rest_bend, turn_towards
from ..texts import Text
from .bends import give_limits, hinge_settings

Range = tuple[float, float]  # degrees


@dataclass(frozen=True, slots=True)
class JointRange:
    """The range of a joint, in degrees.

    Attributes:
        label: Its name.
        flexion: Extension (negative) to flexion; of an ankle from toes up (negative) to toes down.
        part: The part that bends in it.
        description: The ranges in words, for a tooltip.
        from_straight: Whether flexion is counted from the straight limb, and not from the rest pose.
        side: Towards the body's middle (negative) to away from it; of a wrist little finger (negative) to thumb.
        twist: Outwards (negative) to inwards; of an ankle sole inwards (negative) to outwards.
    """

    label: str
    flexion: Range
    part: str
    description: str
    from_straight: bool = False
    side: Range | None = None
    twist: Range = (0.0, 0.0)


# American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965.
HUMAN_JOINTS = {
    "KNEE": JointRange("Knee", (0, 135), "SHIN", "From the straight limb: bends 0° to 135°", from_straight=True),
    "ELBOW": JointRange("Elbow", (0, 150), "FOREARM", "From the straight limb: bends 0° to 150°", from_straight=True),
    "SHOULDER": JointRange(
        "Shoulder",
        (-60, 180),
        "UPPER_ARM",
        "From the hanging arm: bends -60° to 180°, sideways -75° to 180°, twists -90° to 70°",
        side=(-75, 180),
        twist=(-90, 70),
    ),
    "HIP": JointRange(
        "Hip",
        (-30, 120),
        "THIGH",
        "From the rest pose: bends -30° to 120°, sideways -30° to 45°, twists -45° to 45°",
        side=(-30, 45),
        twist=(-45, 45),
    ),
    "WRIST": JointRange(
        "Wrist", (-70, 80), "HAND", "From the rest pose: bends -70° to 80°, sideways -30° to 20°", side=(-30, 20)
    ),
    "ANKLE": JointRange(
        "Ankle",
        (-20, 50),
        "FOOT",
        "From the rest pose: bends -20° to 50°, sideways -20° to 10°, twists -35° to 15°",
        side=(-20, 10),
        twist=(-35, 15),
    ),
    "FINGER": JointRange("Finger", (0, 90), "FINGER", "From the straight limb: bends 0° to 90°", from_straight=True),
    "SPINE": JointRange(
        "Spine",
        (-10, 25),
        "SPINE",
        "From the rest pose: bends -10° to 25°, sideways -12° to 12°, twists -15° to 15°",
        side=(-12, 12),
        twist=(-15, 15),
    ),
    "NECK": JointRange(
        "Neck",
        (-22.5, 22.5),
        "SPINE",
        "From the rest pose: bends -22.5° to 22.5°, sideways -22.5° to 22.5°, twists -30° to 30°",
        side=(-22.5, 22.5),
        twist=(-30, 30),
    ),  # half: neck or head
}

# Of the model dog_v2 of DeepMind's dm_control, 2021.
# Counted from the stance in which the dog of that model stands, so from the rest pose of a rig. Forwards is flexion of
# hip and shoulder. Shoulder and shoulder blade are added up, since the blade of a rig is no bone of its leg.
DOG_JOINTS = {
    "HIP": JointRange(
        "Hip",
        (-60, 130),
        "THIGH",
        "From the rest pose: bends -60° to 130°, sideways -30° to 90°, twists -20° to 20°",
        side=(-30, 90),
        twist=(-20, 20),
    ),
    "KNEE": JointRange("Knee", (-10, 120), "SHIN", "From the rest pose: bends -10° to 120°"),
    "HOCK": JointRange("Hock", (-20, 100), "HOCK", "From the rest pose: bends -20° to 100°"),
    "TOES": JointRange("Toes", (-15, 70), PAW, "From the rest pose: bends -15° to 70°"),
    "SHOULDER": JointRange(
        "Shoulder",
        (-90, 70),
        "FRONT_THIGH",
        "From the rest pose: bends -90° to 70°, sideways -15° to 20°, twists -15° to 30°",
        side=(-15, 20),
        twist=(-15, 30),
    ),
    "ELBOW": JointRange("Elbow", (-30, 100), "FOREARM", "From the rest pose: bends -30° to 100°"),
    "WRIST": JointRange("Wrist", (-10, 110), PAW, "From the rest pose: bends -10° to 110°"),
    "FRONT_TOES": JointRange("Front Toes", (-15, 100), PAW, "From the rest pose: bends -15° to 100°"),
}


# Ranges of the joints of humans and animals, turned into the axes that each bone has.

HANGING = 45.0  # degrees from straight down within which a hand hangs
ROLLED = 30.0  # degrees between a bone's axes and those of its joint that are told
SHOWS_ANKLE = radians(15.0)  # bend at rest between shin and foot
LEAST_RANGE, MOST_RANGE = -180.0, 180.0  # degrees
HORIZONTAL: Range = (-45.0, 135.0)  # of a shoulder in a T pose: extension and flexion


# The axes of a ball joint in armature space, about which a positive turn flexes, and goes away from the body's middle;
# and its ranges of flexion and to the side, from the rest pose, in degrees
Placed = tuple[V3, V3, Range, Range]


Notes = dict[str, list[str]]  # what there is to look at, with the bones of which it is said

GUESSED = Text("nothing tells to which side they flex, so +X was taken: look, and tick Flip if it is the other one")
NO_PALM = Text("no finger tells where the palm is: it was taken to look down")
OFF_AXIS = Text("their own axes, along which the ranges are set, stand off those of the joint: look at the overlay")


def apply_range(owner: bpy.types.Object, limbs: Limbs, names: Sequence[str], joint: JointRange, flip: bool) -> Notes:
    """Give bones the range of a joint, turned into their own axes.

    Args:
        owner: An armature object.
        limbs: Of its skeleton.
        names: Names of its bones.
        joint: One of the tables of joints above.
        flip: Whether the bones flex to the other side than was found.

    Returns:
        What there is to look at.
    """
    number, notes = {name: i for i, name in enumerate(limbs.skeleton.names)}, Notes()
    make = _hinge if joint.side is None else _ball
    give_limits(owner, [(name, make(limbs, number[name], joint, flip, notes)) for name in names])
    return notes


def _hinge(limbs: Limbs, bone: int, joint: JointRange, flip: bool, notes: Notes) -> dict[str, Any]:
    low, high = (radians(value) for value in joint.flexion)
    found = fold_of(limbs, bone) if joint.part == PAW else bend_of(limbs, bone, joint.part)
    if found is not None and joint.part != PAW and not joint.from_straight:
        low = max(low, -found.angle)  # knees never bend to the other side
    if found is None:
        notes.setdefault(GUESSED, []).append(limbs.skeleton.names[bone])
        axis, rest = (1.0, 0.0, 0.0), 0.0
    else:
        axis, rest = own_axis(limbs, bone, found[0]), found[1] if joint.from_straight else 0.0
    if flip:
        axis, rest = (-axis[0], -axis[1], -axis[2]), 0.0
    return hinge_settings(axis, (low, max(high, rest)), rest)


def _ankle(limbs: Limbs, bone: int, along: V3) -> Placed | None:
    """The toes go down away from the shin, where the foot stands off it; the other axis is at right angles to that."""
    joint, rest, left = HUMAN_JOINTS["ANKLE"], rest_bend(limbs, bone), limbs.axes.left
    is_shown = rest is not None and rest.angle >= SHOWS_ANKLE
    flexion = scaled(rest.axis, -1.0) if rest is not None and is_shown else left
    if flexion is None or joint.side is None:
        return None
    across = turn_towards(along, flexion if left is None else scaled(left, _side_sign(limbs, bone)))
    return None if across is None else (flexion, across, joint.flexion, joint.side)


def _ball(limbs: Limbs, bone: int, joint: JointRange, flip: bool, notes: Notes) -> dict[str, Any]:
    placed, name = _placed(limbs, bone, joint), limbs.skeleton.names[bone]
    if placed is not None and joint.part == "HAND" and _curl(limbs, bone) is None:
        notes.setdefault(NO_PALM, []).append(name)
    if placed is None:
        notes.setdefault(GUESSED, []).append(name)
        x, _, z = limbs.skeleton.axes[bone]
        placed = (x, z, joint.flexion, joint.side or (0.0, 0.0))
    flexion_axis, side_axis, flexion, side = placed
    flexion_axis = scaled(flexion_axis, -1.0) if flip else flexion_axis
    x, y, z = limbs.skeleton.axes[bone]
    along = dot(y, direction_of(limbs, bone))  # importers guess where bones point
    settings: dict[str, Any] = {"limit": "CONE", "use_ellipse": True, "use_twist": True}
    settings |= _ends("twist", _signed(joint.twist, _side_sign(limbs, bone) * along))
    on_x, on_z = dot(flexion_axis, x), dot(flexion_axis, z)
    across = abs(on_z) > abs(on_x)  # flexion is about the bone's Z axis
    settings |= _ends("cone_z" if across else "cone_x", _signed(flexion, on_z if across else on_x))
    side_on = dot(side_axis, x if across else z)
    settings |= _ends("cone_x" if across else "cone_z", _signed(side, side_on))
    rolled = atan2(min(abs(on_x), abs(on_z)), max(abs(on_x), abs(on_z)))
    off = degrees(max(rolled, acos(min(1.0, abs(along)))))
    if off > ROLLED:
        notes.setdefault(OFF_AXIS, []).append(Text("{bone} by {angle:.0f}°", bone=name, angle=off))
    return settings


def _placed(limbs: Limbs, bone: int, joint: JointRange) -> Placed | None:
    """The axes and ranges of a ball joint in the rest pose; None where the bones do not tell them."""
    forward, left, up = limbs.axes.forward, limbs.axes.left, limbs.axes.up
    along = direction_of(limbs, bone)
    if joint.part == "FOOT":
        return _ankle(limbs, bone, along)
    if forward is None or left is None or joint.side is None:
        return None
    out = scaled(left, _side_sign(limbs, bone))
    if joint.part == "UPPER_ARM":
        return _shoulder(along, forward, out, up)
    if joint.part == "HAND":
        flexion = _palm_axis(limbs, bone, along, out)
        thumb = None if flexion is None else scaled(flexion, -_side_sign(limbs, bone))
        across = None if thumb is None else turn_towards(along, thumb)
    elif joint.part == "SPINE":
        ahead = forward if abs(dot(along, up)) > abs(dot(along, forward)) else scaled(up, -1.0)
        flexion, across = turn_towards(along, ahead), turn_towards(along, left)
    else:
        flexion, across = turn_towards(along, forward), turn_towards(along, out)
    return None if flexion is None or across is None else (flexion, across, joint.flexion, joint.side)


def _shoulder(along: V3, forward: V3, out: V3, up: V3) -> Placed | None:
    """A shoulder's range is measured from the hanging arm; at rest the arm is raised, up to a T pose."""
    joint = HUMAN_JOINTS["SHOULDER"]
    raised = atan2(dot(along, out), -dot(along, up))
    higher = plus(scaled(out, cos(raised)), scaled(up, sin(raised)))
    flexion, side = turn_towards(along, forward), turn_towards(along, higher)
    if flexion is None or side is None or joint.side is None:
        return None
    share = max(0.0, min(1.0, sin(raised)))
    ends = tuple(a + (b - a) * share for a, b in zip(joint.flexion, HORIZONTAL, strict=True))
    return (flexion, side, (ends[0], ends[1]), _from(joint.side, degrees(raised)))


def _palm_axis(limbs: Limbs, bone: int, along: V3, out: V3) -> V3 | None:
    """About which a hand flexes: as its fingers curl at rest; else the palm looks down, or to the body if it hangs."""
    curl = _curl(limbs, bone)
    if curl is not None:
        return curl
    hangs = dot(along, limbs.axes.up) < -cos(radians(HANGING))
    return turn_towards(along, scaled(out if hangs else limbs.axes.up, -1.0))


def _curl(limbs: Limbs, hand: int) -> V3 | None:
    """The axis about which the fingers of a hand curl at rest, thumb left out; None where there are none that do."""
    curl = ORIGIN
    below = list(limbs.skeleton.children[hand])
    while below:
        bone = below.pop()
        if "thumb" in limbs.skeleton.names[bone].lower():
            continue
        below += limbs.skeleton.children[bone]
        rest = rest_bend(limbs, bone) if limbs.above[bone] >= 0 else None
        curl = curl if rest is None else plus(curl, scaled(rest.axis, rest.angle))
    across = perpendicular(curl, direction_of(limbs, hand))
    return unit(across) if length(across) > LEAST_BEND else None


def _side_sign(limbs: Limbs, bone: int) -> float:
    """1 for a bone of the left, and for one in the middle; -1 for one of the right."""
    left, twin = limbs.axes.left, limbs.twins[bone]
    if left is None or twin < 0:
        return 1.0
    skeleton = limbs.skeleton
    across = plus(minus(skeleton.heads[bone], skeleton.heads[twin]), minus(skeleton.end(bone), skeleton.end(twin)))
    return -1.0 if dot(across, left) < 0.0 else 1.0


def _from(ends: Range, rest: float) -> Range:
    """A range counted from where the joint stands at rest, so that the rest pose is inside."""
    return min(0.0, max(LEAST_RANGE, ends[0] - rest)), max(0.0, min(MOST_RANGE, ends[1] - rest))


def _signed(ends: Range, sign: float) -> Range:
    return ends if sign >= 0.0 else (-ends[1], -ends[0])


def _ends(name: str, ends: Range) -> dict[str, float]:
    return {f"{name}_min": radians(ends[0]) + 0.0, f"{name}_max": radians(ends[1]) + 0.0}
