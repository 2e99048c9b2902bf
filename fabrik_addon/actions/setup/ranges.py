# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of the parts of a character: the ranges of a human or of a dog, else hinges by the bend at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import asin, atan2, hypot, radians, sin, sqrt
from typing import Any

import bpy

from ...errors import FabrikError
from ...kernel import Limit
from ...maths import IDENTITY, Q4, Y_AXIS, rotated
from ...recognise.limbs import Limbs
from ...recognise.part import ARM, FINGER, LEG, SPINE, Part
from ...rig.animation.channels import read_rotation
from ...rig.animation.keys import turns_through
from ...rig.bones import pose_bones
from ...rig.figure.joint_limits import read_limit
from ...rig.schema import limit_of
from ...texts import Text, joined
from ..bends import give_limits, hinges_from_bend
from ..joint_ranges import DOG_JOINTS, HUMAN_JOINTS, JointRange, apply_range

ROUNDING = 1e-3  # radians by which a bone may stand outside a range and count as inside
NO_LIMIT = {"limit": "FREE", "use_twist": False}
HELD: Mapping[str, Any] = {"limit": "LOCKED"}  # of bones that never bend by themselves
# Of a clavicle: about as far as it goes forwards, backwards and up, and turns about itself (Neumann, Kinesiology of the
# Musculoskeletal System, 2010, chapter 5).
CLAVICLE: Mapping[str, Any] = {
    "limit": "CONE",
    "cone_max": radians(30.0),
    "use_twist": True,
    "twist_min": radians(-30.0),
    "twist_max": radians(30.0),
}
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
HUMAN_LIMB: Joints = {
    "THIGH": HUMAN_JOINTS["HIP"],
    "SHIN": HUMAN_JOINTS["KNEE"],
    "FOOT": HUMAN_JOINTS["ANKLE"],
    "UPPER_ARM": HUMAN_JOINTS["SHOULDER"],
    "FOREARM": HUMAN_JOINTS["ELBOW"],
    "HAND": HUMAN_JOINTS["WRIST"],
}
HIND_LEG: Joints = {
    "THIGH": DOG_JOINTS["HIP"],
    "SHIN": DOG_JOINTS["KNEE"],
    "FOOT": DOG_JOINTS["HOCK"],
    "TOE": DOG_JOINTS["TOES"],
}
FRONT_LEG: Joints = {
    "UPPER_ARM": DOG_JOINTS["SHOULDER"],
    "FOREARM": DOG_JOINTS["ELBOW"],
    "HAND": DOG_JOINTS["WRIST"],
    "TOE": DOG_JOINTS["FRONT_TOES"],
}
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
            _give(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["FINGER"])
        elif part.kind == SPINE and plan == "HUMAN":
            _give(owner, limbs, [bone for bone in part.bones if bone in free], HUMAN_JOINTS["SPINE"])
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
    wide = {name: _widened(read_limit(bones[name], IDENTITY), turns[name]) for name in beyond}
    free = [name for name in names if (name in free and name not in wide) or (name in wide and wide[name] is None)]
    give_limits(owner, [(name, NO_LIMIT) for name in free])
    give_limits(owner, [(name, settings) for name, settings in wide.items() if settings is not None])
    widened, notes = [text for name, text in beyond.items() if name not in free], list[Text]()
    if free:
        told = Text("posed beyond the range of their joints, and left free: {names}", names=", ".join(free))
        notes.append(told)
    if widened:
        notes.append(Text("limits widened to what actions do: {names}", names=joined(", ", widened)))
    return [name for name in names if name not in free], notes


def _widened(limit: Limit, turns: Sequence[Q4]) -> Mapping[str, Any] | None:
    """The settings of a cone with a twist that holds rotations, and what a limit allows; None where that is nearly all.

    On the map on which a cone is an ellipse a direction stands as far out as the sine of half its angle.

    Args:
        limit: The limit.
        turns: n rotations in the rest frame of the bone.
    """
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
        return next((joints for joints in (HIND_LEG, FRONT_LEG) if set(list(joints)[:2]) <= set(part.roles)), {})
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
            _give(owner, limbs, [bone], joints[role])
        done.add(role)


def _give(owner: bpy.types.Object, limbs: Limbs, bones: Sequence[str], joint: JointRange) -> None:
    if bones:
        apply_range(owner, limbs, bones, joint, flip=False)
