# SPDX-License-Identifier: GPL-3.0-or-later
"""Trunk, head and arms of who walks: arms hang from any rest pose, the trunk turns evenly between hips and chest."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
import pytest
from fabrik_addon.maths import Doubles, products, rotated_each, turn_angles, turns_about, units
from fabrik_addon.motion.body import Body, Limb
from fabrik_addon.motion.posture import OUT, Bearing, held, turned_by

NAMES = ("hips", "spine", "chest", "head", "upper.L", "lower.L", "hand.L")
PARENTS = (-1, 0, 1, 2, 2, 4, 5)
COUNT = 5
STILL = np.broadcast_to(np.array((1.0, 0.0, 0.0, 0.0)), (COUNT, 4))


def body(up: float, roll: float) -> Body:
    """A trunk and a left arm that is so far above the level at rest; its bones are rolled by an angle."""
    way = np.array((cos(up), 0.0, sin(up)))
    shoulder = np.array((0.2, 0.0, 1.4))
    heads = np.array(
        ((0, 0, 1.0), (0, 0, 1.1), (0, 0, 1.25), (0, 0, 1.5), shoulder, shoulder + 0.3 * way, shoulder + 0.55 * way)
    )
    turns = np.stack([np.array((1.0, 0.0, 0.0, 0.0))] * 4 + [turns_about(units(way), np.array(roll))] * 3)
    limbs = {
        "Spine": Limb("SPINE", [1, 2], ("", ""), (), -1, np.zeros((3, 3))),
        "Head": Limb("HEAD", [3], ("",), (), -1, np.zeros((3, 3))),
        "Arm.L": Limb("ARM", [4, 5, 6], ("UPPER_ARM", "FOREARM", "HAND"), (), -1, np.zeros((3, 3))),
    }
    return Body(NAMES, PARENTS, turns, heads, heads, limbs, 0, True, {})


def whole(made: Body, found: dict[int, Doubles], bone: int) -> Doubles:
    """(F, 4), how a bone is turned from its rest pose, with all above it, on the stage."""
    turn: Doubles = STILL
    row = [bone]
    while made.parents[row[-1]] > 0:
        row.append(made.parents[row[-1]])
    for one in reversed(row):
        rest = np.broadcast_to(made.turns[one], (COUNT, 4))
        back = rest * np.array((1.0, -1.0, -1.0, -1.0))
        turn = products(turn, products(rest, products(found.get(one, STILL), back)))
    return turn


@pytest.mark.parametrize("up", [0.0, radians(-45.0), radians(-80.0), radians(20.0)])
@pytest.mark.parametrize("roll", [0.0, 1.0, -2.5])
def test_arms_hang_swing_forward_and_bend_from_any_rest_pose(up: float, roll: float) -> None:
    made = body(up, roll)
    shoulder, elbow = np.radians(np.linspace(-20.0, 20.0, COUNT)), np.radians(np.linspace(0.0, 40.0, COUNT))
    found = held(made, Bearing(STILL, STILL, {"L": (shoulder, elbow)}, np.zeros(COUNT), STILL), {})
    upper = rotated_each(whole(made, found, 4), np.broadcast_to(made.heads[5] - made.heads[4], (COUNT, 3))) / 0.3
    lower = rotated_each(whole(made, found, 5), np.broadcast_to(made.heads[6] - made.heads[5], (COUNT, 3))) / 0.25
    assert upper[:, 0] == pytest.approx(np.full(COUNT, sin(OUT)), abs=1e-9)
    assert np.arctan2(-upper[:, 1], -upper[:, 2]) == pytest.approx(shoulder, abs=1e-9)
    assert np.sum(upper * lower, axis=1) == pytest.approx(np.cos(elbow), abs=1e-9)
    assert np.arctan2(-lower[:, 1], -lower[:, 2]) == pytest.approx(shoulder + elbow, abs=0.01)  # the hinge leans, too


def test_an_elbow_bends_about_the_hinge_that_is_known() -> None:
    made, hinge = body(0.0, 1.0), units(np.array((0.9, 0.1, -0.4)))
    elbow = np.radians(np.linspace(0.0, 40.0, COUNT))
    found = held(made, Bearing(STILL, STILL, {"L": (np.zeros(COUNT), elbow)}, np.zeros(COUNT), STILL), {5: hinge})[5]
    assert found[:, 1:] == pytest.approx(np.outer(found[:, 1:] @ hinge, hinge), abs=1e-12)
    assert 2.0 * np.arctan2(np.abs(found[:, 1:] @ hinge), found[:, 0]) == pytest.approx(elbow, abs=1e-9)


def test_the_trunk_turns_evenly_and_the_head_looks_ahead() -> None:
    made, yaw = body(0.0, 0.0), np.radians(np.linspace(-8.0, 8.0, COUNT))
    pelvis, chest = turned_by(yaw, 0.5 * yaw), turned_by(-0.3 * yaw, 0.0 * yaw)
    found = held(made, Bearing(pelvis, chest, {}, np.zeros(COUNT), STILL), {})
    in_pelvis = products(pelvis, whole(made, found, 2))
    off = products(in_pelvis * np.array((1.0, -1.0, -1.0, -1.0)), chest)
    assert turn_angles(off) == pytest.approx(np.zeros(COUNT), abs=1e-6)
    assert turn_angles(found[1]) == pytest.approx(turn_angles(found[2]), abs=1e-3)
    assert turn_angles(products(pelvis, whole(made, found, 3))) == pytest.approx(np.zeros(COUNT), abs=1e-6)
    assert 4 not in found


def test_the_left_side_is_ahead_and_up() -> None:
    left = np.broadcast_to(np.array((1.0, 0.0, 0.0)), (1, 3))
    ahead = rotated_each(turned_by(np.array([0.1]), np.array([0.0])), left)[0]
    up = rotated_each(turned_by(np.array([0.0]), np.array([0.1])), left)[0]
    assert ahead[1] < -0.05
    assert up[2] > 0.05


def test_a_trunk_that_leans_goes_forward_and_the_head_stays_upright() -> None:
    made, lean = body(0.0, 0.0), np.full(COUNT, np.radians(20.0))
    found = held(made, Bearing(STILL, STILL, {}, lean, STILL), {})
    chest, head = (whole(made, found, bone) for bone in (2, 3))
    up = rotated_each(chest, np.broadcast_to(np.array((0.0, 0.0, 1.0)), (COUNT, 3)))
    assert up[:, 1] == pytest.approx(np.full(COUNT, -np.sin(np.radians(20.0))))
    assert turn_angles(head) == pytest.approx(np.zeros(COUNT), abs=1e-6)
