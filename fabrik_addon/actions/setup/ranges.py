# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of parts and single bones: published ranges of a human or of a dog, else hinges by the bend at rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import acos, asin, atan2, cos, degrees, hypot, radians, sin, sqrt
from typing import Any

import bpy

from ...errors import FabrikError
from ...kernel import Limit
from ...maths import IDENTITY, ORIGIN, Q4, V3, Y_AXIS, dot, length, minus, perpendicular, plus, rotated, scaled, unit
from ...recognise.limbs import LEAST_BEND, PAW, Limbs, bend_of, direction_of, fold_of, own_axis, rest_bend, turn_towards
from ...recognise.part import ARM, FINGER, LEG, SPINE, Part
from ...rig.animation.channels import read_rotation
from ...rig.animation.keys import turns_through
from ...rig.bones import pose_bones
from ...rig.figure.joint_limits import read_channel_locks, read_limit
from ...rig.schema import limit_of
from ...texts import Text, joined
from ..bends import give_limits, hinge_settings, hinges_from_bend

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


def _joints(told: Mapping[str, tuple[str, str]]) -> dict[str, JointRange]:
    """Joints by the part that bends in each, and by their ranges in words, as a tooltip tells them."""
    found = dict[str, JointRange]()
    for name, (part, words) in told.items():
        pairs = re.findall(r"(\w+)\s(-?[\d.]+)°\sto\s(-?[\d.]+)°", words)
        ranges = {what: (float(low), float(high)) for what, low, high in pairs}
        side, twist = ranges.get("sideways"), ranges.get("twists", (0.0, 0.0))
        label, is_straight = name.replace("_", " ").title(), "straight" in words
        found[name] = JointRange(label, ranges["bends"], part, words, is_straight, side, twist)
    return found


# American Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965.
HUMAN_JOINTS = _joints(
    {
        "KNEE": ("SHIN", "From the straight limb: bends 0° to 135°"),
        "ELBOW": ("FOREARM", "From the straight limb: bends 0° to 150°"),
        "SHOULDER": (
            "UPPER_ARM",
            "From the hanging arm: bends -60° to 180°, sideways -75° to 180°, twists -90° to 70°",
        ),
        "HIP": ("THIGH", "From the rest pose: bends -30° to 120°, sideways -30° to 45°, twists -45° to 45°"),
        "WRIST": ("HAND", "From the rest pose: bends -70° to 80°, sideways -30° to 20°"),
        "ANKLE": ("FOOT", "From the rest pose: bends -20° to 50°, sideways -20° to 10°, twists -35° to 15°"),
        "FINGER": ("FINGER", "From the straight limb: bends 0° to 90°"),
        "SPINE": ("SPINE", "From the rest pose: bends -10° to 25°, sideways -12° to 12°, twists -15° to 15°"),
        "NECK": (  # half: neck or head
            "SPINE",
            "From the rest pose: bends -22.5° to 22.5°, sideways -22.5° to 22.5°, twists -30° to 30°",
        ),
    }
)

# Of the model dog_v2 of DeepMind's dm_control, 2021.
# Counted from the stance in which the dog of that model stands, so from the rest pose of a rig. Forwards is flexion of
# hip and shoulder. Shoulder and shoulder blade are added up, since the blade of a rig is no bone of its leg.
DOG_JOINTS = _joints(
    {
        "HIP": ("THIGH", "From the rest pose: bends -60° to 130°, sideways -30° to 90°, twists -20° to 20°"),
        "KNEE": ("SHIN", "From the rest pose: bends -10° to 120°"),
        "HOCK": ("HOCK", "From the rest pose: bends -20° to 100°"),
        "TOES": (PAW, "From the rest pose: bends -15° to 70°"),
        "SHOULDER": ("FRONT_THIGH", "From the rest pose: bends -90° to 70°, sideways -15° to 20°, twists -15° to 30°"),
        "ELBOW": ("FOREARM", "From the rest pose: bends -30° to 100°"),
        "WRIST": (PAW, "From the rest pose: bends -10° to 110°"),
        "FRONT_TOES": (PAW, "From the rest pose: bends -15° to 100°"),
    }
)


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


def apply_range(
    owner: bpy.types.Object, limbs: Limbs, names: Sequence[str], joint: JointRange, flip: bool = False
) -> Notes:
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
    low, high = (end - degrees(raised) for end in joint.side)  # counted from where it stands at rest, which is inside
    return flexion, side, (ends[0], ends[1]), (min(0.0, max(LEAST_RANGE, low)), max(0.0, min(MOST_RANGE, high)))


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


def _signed(ends: Range, sign: float) -> Range:
    return ends if sign >= 0.0 else (-ends[1], -ends[0])


def _ends(name: str, ends: Range) -> dict[str, float]:
    return {f"{name}_min": radians(ends[0]) + 0.0, f"{name}_max": radians(ends[1]) + 0.0}


ROUNDING = 1e-3  # radians by which a bone may stand outside a range and count as inside
NO_LIMIT = {"limit": "FREE", "use_twist": False}
HELD: Mapping[str, Any] = {"limit": "LOCKED"}  # of bones that never bend by themselves
# Of a clavicle: about as far as it goes forwards, backwards and up, and turns about itself (Neumann, Kinesiology of the
# Musculoskeletal System, 2010, chapter 5).
CLAVICLE = {"limit": "CONE", "cone_max": radians(30.0), "use_twist": True, **_ends("twist", (-30.0, 30.0))}
# Of a limit that is widened to what actions do:
DRAWN = 7  # numbers for each of the three by which rotations of it are drawn
ALMOST_ONE = 1.0 - 1e-9
BACKWARDS = -0.95  # cosine: a bone that turns so far round has no cone about its rest direction
LEAST_SWING = radians(2.0)
ROOM = 1.01  # by how much a cone is wider than need be about X, so that it has room about Z there
NARROW = 1e-3
MARGIN = 2e-3  # radians, since it is stored in single precision
MOST_SWING, MOST_TWIST = radians(175.0), radians(320.0)


Fitted = tuple[list[str], list[Text]]  # names of the bones that have a limit now, and what there is to look out for
Joints = Mapping[str, JointRange]  # by roles of bones
LIMB_JOINTS = ("HIP", "KNEE", "ANKLE", "SHOULDER", "ELBOW", "WRIST")
HUMAN_LIMB: Joints = {HUMAN_JOINTS[name].part: HUMAN_JOINTS[name] for name in LIMB_JOINTS}
OF_HIND_LEG = {"THIGH": "HIP", "SHIN": "KNEE", "FOOT": "HOCK", "TOE": "TOES"}
OF_FRONT_LEG = {"UPPER_ARM": "SHOULDER", "FOREARM": "ELBOW", "HAND": "WRIST", "TOE": "FRONT_TOES"}
DOG_LEGS: Sequence[Joints] = [
    {role: DOG_JOINTS[name] for role, name in joints.items()} for joints in (OF_HIND_LEG, OF_FRONT_LEG)
]
MOST_BEND = 150.0  # degrees by which a joint of a leg bends
MOST_BENDS = {"QUADRUPED": 120.0}  # the same where a body bends less: a dog's knee


def give_ranges(owner: bpy.types.Object, limbs: Limbs, parts: Sequence[Part[str]], plan: str) -> Fitted:
    """Give joint limits to the bones of parts that have none yet, fitted to how these are posed."""
    bones = pose_bones(owner)
    free = {bone for part in parts for bone in part.bones if not limit_of(bones[bone]).type.holds}
    for part in parts:
        joints = _joints_of(part, plan)
        if joints:
            _limb(owner, limbs, part, joints, free)
        elif part.kind in (ARM, LEG):
            inner = part.bones[1:-1] if part.holds_head else part.bones[1:]
            wanted = [bone for bone in inner if bone in free]
            hinges_from_bend(owner, limbs, wanted, radians(MOST_BENDS.get(plan, MOST_BEND)), are_inner=True)
        elif part.kind == FINGER:
            apply_range(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["FINGER"])
        elif part.kind == SPINE and plan == "HUMAN":
            apply_range(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["SPINE"])
    given = [bone for part in parts for bone in part.bones if bone in free and limit_of(bones[bone]).type.holds]
    return fitted(owner, given)


def give_to_free(owner: bpy.types.Object, names: Sequence[str], settings: Mapping[str, Any]) -> Fitted:
    """Give a limit to those of some bones that have none yet, as far as the pose at hand lets it."""
    bones = pose_bones(owner)
    free = [name for name in names if not limit_of(bones[name]).type.holds]
    give_limits(owner, [(name, settings) for name in free])
    return fitted(owner, free)


def fitted(owner: bpy.types.Object, names: Sequence[str]) -> Fitted:
    """Bring limits that bones were given to how they are posed, here and in all frames of all actions.

    One that an action exceeds becomes a cone with a twist that holds what it does, and what it allowed before. Bones
    that are posed beyond theirs here without any action, and those for which that is no limit any more, are free.

    Args:
        owner: The armature object.
        names: Of its bones that have limits now and had none.
    """
    bones, limits, free = pose_bones(owner), dict[str, Limit](), list[str]()
    for name in names:
        limit = _held_by(bones[name])
        if limit is None:
            free.append(name)
        else:
            limits[name] = limit
    turns, beyond = dict[str, list[Q4]](), dict[str, Text]()
    moving = [name for name in names if name in free or not limits[name].is_fixed]
    for action, name, frame, turn in turns_through(owner, moving):
        turns.setdefault(name, []).append(turn)
        if name not in beyond and (name in free or limits[name].violation(turn) > ROUNDING):
            beyond[name] = Text("'{bone}' (frame {frame:g} of '{action}')", bone=name, frame=frame, action=action)
    wide = {name: _widened(bones[name], turns[name]) for name in beyond}
    free = [name for name in names if (name in free and name not in wide) or (name in wide and wide[name] is None)]
    give_limits(owner, [(name, NO_LIMIT) for name in free])
    give_limits(owner, [(name, settings) for name, settings in wide.items() if settings is not None])
    widened, notes = [text for name, text in beyond.items() if name not in free], list[Text]()
    locked = [name for name in free if read_channel_locks(bones[name]) is not None]
    if locked:
        notes.append(Text("left free, as their locks leave nothing of their range: {names}", names=", ".join(locked)))
    posed = [name for name in free if name not in locked]
    if posed:
        told = Text("posed beyond the range of their joints, and left free: {names}", names=", ".join(posed))
        notes.append(told)
    if widened:
        notes.append(Text("limits widened to what actions do: {names}", names=joined(", ", widened)))
    return [name for name in names if name not in free], notes


def _widened(bone: bpy.types.PoseBone, turns: Sequence[Q4]) -> Mapping[str, Any] | None:
    """The settings of a cone with a twist that holds what a bone's limit allows and n rotations in its rest frame.

    None where that is nearly all, or where its own locks leave nothing over of it. On the map on which a cone is an
    ellipse a direction stands as far out as the sine of half its angle.
    """
    try:
        limit = read_limit(bone, IDENTITY)
    except FabrikError:
        return None
    steps = [k / (DRAWN - 1) * ALMOST_ONE for k in range(DRAWN)]
    every = [*turns, *(limit.drawn(u, v, w) for u in steps for v in steps for w in steps)]
    places, twists = list[tuple[float, float]](), list[float]()
    for w, x, y, z in every:
        along = rotated((w, x, y, z), Y_AXIS)
        if along[1] < BACKWARDS:
            return None
        factor = 1.0 / sqrt(2.0 * (1.0 + along[1]))
        places.append((along[2] * factor, -along[0] * factor))
        twists.append(2.0 * atan2(y, w) if w >= 0.0 else 2.0 * atan2(-y, -w))
    least = sin(0.5 * LEAST_SWING)
    x_low, x_high = (max(least, ROOM * max(sign * x for x, _ in places)) for sign in (-1.0, 1.0))
    wide = [(z, abs(z) / sqrt(max(1.0 - (x / (x_high if x > 0.0 else x_low)) ** 2, NARROW))) for x, z in places]
    z_low, z_high = (max([least, *(far for z, far in wide if sign * z > 0.0)]) for sign in (-1.0, 1.0))
    angles = [2.0 * asin(min(end, 1.0)) + MARGIN for end in (x_low, x_high, z_low, z_high)]
    round_about = 2.0 * max(asin(min(hypot(*place), 1.0)) for place in places) + MARGIN
    if round_about > MOST_SWING or max(twists) - min(twists) > MOST_TWIST:
        return None
    twist = {"use_twist": True, "twist_min": min(twists) - MARGIN, "twist_max": max(twists) + MARGIN}
    if max(angles) > MOST_SWING:  # a hinge about neither axis: what holds it is no narrower than a circle
        return {"limit": "CONE", "use_ellipse": False, "cone_min": 0.0, "cone_max": round_about, **twist}
    names = ("cone_x_min", "cone_x_max", "cone_z_min", "cone_z_max")
    settings = {name: angle if name.endswith("max") else -angle for name, angle in zip(names, angles, strict=True)}
    return {"limit": "CONE", "use_ellipse": True, **settings, **twist}


def _held_by(bone: bpy.types.PoseBone) -> Limit | None:
    """The limit of a bone, where it is posed inside that; else None."""
    try:
        rotation = read_rotation(bone)
        found = read_limit(bone, rotation)
        return found if found.violation(rotation) <= ROUNDING else None
    except FabrikError:  # its own locks leave nothing over of it
        return None


def _joints_of(part: Part[str], plan: str) -> Joints:
    """The joints of an arm or leg by the roles of its bones; none where they are those of another animal."""
    if plan == "HUMAN" and part.kind in (ARM, LEG) and any(part.roles):
        return HUMAN_LIMB
    if plan == "QUADRUPED" and part.kind == LEG:
        return next((joints for joints in DOG_LEGS if set(list(joints)[:2]) <= set(part.roles)), {})
    return {}


def _limb(owner: bpy.types.Object, limbs: Limbs, part: Part[str], joints: Joints, free: set[str]) -> None:
    """An arm or leg: each role at its first bone; what goes on a long one is its second half, and holds still.

    A hand or foot at the end is left free: its rotation is asked for by the goal, and a foot that stays flat while the
    knee bends turns farther in its ankle than one that hangs.
    """
    done: set[str] = set()
    count = len(part.bones) - part.holds_head
    for bone, role in zip(part.bones[:count], part.roles[:count], strict=True):
        if role in done - {"TOE"} and bone in free:
            give_limits(owner, [(bone, {"limit": "LOCKED"})])
        elif role in joints and bone in free:
            apply_range(owner, limbs, [bone], joints[role])
        done.add(role)
