# SPDX-License-Identifier: GPL-3.0-or-later
"""Trunk, head, arms and fingers of a person who walks: what the angles of their joints make of the bones of a body."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians
from typing import NamedTuple

import numpy as np

from ..maths import Doubles, conjugates, crosses, dots, products, rotated_each, towards_each, turns_about, units
from ..recognise.part import ARM, FINGER, HEAD, SPINE
from .body import FORWARD, UP, Body, Limb, frame_along, hinges_at_rest

OUT = radians(8.0)  # by which an arm that hangs is held off the trunk
# By how much each joint of a finger of a hand that hangs is bent, and of one in a loose fist; and how many there are
CURLED = {"Index": radians(14.0), "Middle": radians(18.0), "Ring": radians(21.0), "Pinky": radians(24.0)}
CLOSED, JOINTS = radians(52.0), 3
LEFTWARDS = crosses(UP, FORWARD)


ArmSwing = tuple[Doubles, Doubles]  # (F,) each, radians: the upper arm forward of the vertical, the elbow bent


class Bearing(NamedTuple):
    """How a person holds themselves in F frames: turns (F, 4) in the axes of the body's way, from how it is at rest.

    Attributes:
        pelvis: Of the hips.
        chest: Of the end of the spine.
        arms: By side, "L" or "R".
        lean: (F,), how far the trunk leans forward, radians; the head stays upright.
        head: Of the head.
    """

    pelvis: Doubles
    chest: Doubles
    arms: Mapping[str, ArmSwing]
    lean: Doubles
    head: Doubles


def turned_by(yaw: Doubles, tilt: Doubles) -> Doubles:
    """(F, 4), turns by which the left side is ahead by one angle (F,), and up by another."""
    return products(turns_about(UP, -yaw), turns_about(FORWARD, tilt))


def held(body: Body, bearing: Bearing, hinges: Mapping[int, Doubles]) -> dict[int, Doubles]:
    """The local rotations (F, 4) of bones of trunk, head and arms, from their rest pose.

    The trunk turns evenly along its bones from the hips' turn to the chest's, the neck from there to the head's. Arms
    hang on the chest, whatever they do at rest.

    Args:
        body: At rest.
        bearing: How it is held.
        hinges: By bone the axis (3,) about which it bends, in its own axes, where that is known; else by its rest pose.
    """
    count, turns = len(bearing.pelvis), dict[int, Doubles]()
    turns[body.hips] = bearing.pelvis
    chest = products(turns_about(LEFTWARDS, bearing.lean), bearing.chest)
    for kind, low, high in ((SPINE, bearing.pelvis, chest), (HEAD, chest, bearing.head)):
        for limb in (one for one in body.limbs.values() if one.kind == kind):
            row = [*limb.above[::-1], *limb.bones] if kind == HEAD else limb.bones
            row = [bone for bone in row if bone != body.hips]
            for place, bone in enumerate(row):
                turns[bone] = towards_each(low, high, np.full(count, (place + 1) / len(row)))
    for name, limb in body.limbs.items():
        swing = bearing.arms.get(name[-1])
        if limb.kind == ARM and swing is not None and body.is_jointed(limb):
            turns |= _hung(body, limb, swing, chest, hinges)
    found = dict[int, Doubles]()
    for bone, turn in turns.items():
        if bone == body.hips:
            continue
        above = body.parents[bone]
        while above >= 0 and above not in turns:
            above = body.parents[above]
        away = products(conjugates(turns[above]), turn) if above >= 0 else turn
        rest = body.turns[bone]
        found[bone] = products(conjugates(rest), products(away, rest))
    return found


def curled(body: Body, fist: Doubles) -> dict[int, Doubles]:
    """The local rotations (F, 4) of the fingers of hands that hang, from their rest pose; thumbs stay.

    Args:
        body: At rest.
        fist: (F,), how far they are closed: 0 as of someone who walks, 1 as of someone who runs.
    """
    found = dict[int, Doubles]()
    for name, limb in body.limbs.items():
        hand, kind = body.limbs.get(f"Arm{name[-2:]}"), name[:-2]
        if hand is None or limb.kind != FINGER or kind not in CURLED:
            continue
        row = [hand.bones[-1], *limb.bones[-JOINTS:]]
        ways = units(np.diff([*body.heads[row], body.tails[row[-1]]], axis=0))
        axis = units(crosses(ways[-1], hand.sole[0]))  # the palm is where the heel of the hand is, from the wrist
        for bone, before, way in zip(row[1:], ways[:-1], ways[1:], strict=True):
            at_rest = float(np.arctan2(dots(crosses(before, way), axis), dots(before, way)))
            bent = CURLED[kind] + fist * (CLOSED - CURLED[kind])
            turn = turns_about(axis, np.maximum(bent - at_rest, 0.0))
            rest = body.turns[bone]
            found[bone] = products(conjugates(rest), products(turn, rest))
    return found


def _hung(body: Body, limb: Limb, swing: ArmSwing, chest: Doubles, hinges: Mapping[int, Doubles]) -> dict[int, Doubles]:
    """The turns (F, 4) of the bones of an arm that hangs, swings about the shoulder and bends."""
    joints, (shoulder, elbow) = body.joints(limb), swing
    side = 1.0 if float(dots(body.points(limb)[0], LEFTWARDS)) > 0.0 else -1.0
    down = units(-np.cos(OUT) * UP + np.sin(OUT) * side * LEFTWARDS)
    a, b, c = body.points(limb)
    upper, lower = body.beside_hinge(limb)
    hinge = rotated_each(body.turns[upper], hinges_at_rest(body, limb)[0])
    if lower in hinges:
        known = rotated_each(body.turns[lower], hinges[lower])
        hinge = known if float(dots(known, hinge)) > 0.0 else -known
    hanging = products(frame_along(down, -LEFTWARDS), conjugates(frame_along(units(b - a), hinge)))
    first, second = (way - dots(way, hinge) * hinge for way in (b - a, c - b))
    at_rest = np.arctan2(dots(crosses(first, second), hinge), dots(first, second))
    # a positive turn about the right brings forward what hangs
    swung = products(chest, products(turns_about(-LEFTWARDS, shoulder), hanging))
    bent = products(swung, turns_about(hinge, elbow - at_rest))
    found = {limb.bones[place]: swung for place in range(joints[0], joints[1])}
    return found | {limb.bones[place]: bent for place in range(joints[1], joints[2])}
