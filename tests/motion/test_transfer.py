# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one body to another, both made of numbers: what comes out is known."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest
from fabrik_addon.maths import Doubles, conjugates, crosses, dots, lengths, products, rotated_each, turns_about, units
from fabrik_addon.motion.body import Body, Limb, Motion, foot_of, hinges_in_motion
from fabrik_addon.motion.contacts import FLAT, NONE
from fabrik_addon.motion.transfer import between_contacts, transfer

RATE, COUNT = 30.0, 61
NAMES = ("hips", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")
PARENTS = (-1, 0, 1, 2, 0, 4, 5)
ROLES = ("THIGH", "SHIN", "FOOT")
ACROSS = np.array((1.0, 0.0, 0.0))
STILL = np.array((1.0, 0.0, 0.0, 0.0))


def biped(size: float = 1.0, shin: float = 1.0, roll: float = 0.0) -> Body:
    """A body of hips and legs; its shins are longer by a factor, its bones are rolled by an angle."""
    upper, lower, ankle = 0.45 * size, 0.42 * size * shin, 0.08 * size
    heads = [np.array((0.0, 0.0, upper + lower + ankle + 0.1 * size))]
    for side in (0.1, -0.1):
        hip = np.array((side * size, 0.0, upper + lower + ankle))
        heads += [hip, hip - (0.0, 0.0, upper), hip - (0.0, 0.0, upper + lower)]
    down = turns_about(ACROSS, np.array(-0.5 * np.pi))  # Y along the bone
    turns = np.stack([STILL, *[products(down, turns_about(np.array((0.0, 1.0, 0.0)), np.array(roll)))] * 6])
    sole = size * np.array(((0.0, 0.05, -0.08), (0.0, -0.13, -0.08), (0.0, -0.2, -0.08)))
    limbs = {f"Leg.{side}": Limb("LEG", [k, k + 1, k + 2], ROLES, (), -1, sole) for side, k in (("L", 1), ("R", 4))}
    places = np.array(heads)
    return Body(NAMES, PARENTS, turns, places, places, limbs, 0, True)


def stepping(body: Body, slide: float = 0.0) -> Motion:
    """It shifts from the left foot to the right one, and each slides to and fro while it stands; knees bend."""
    frames = np.arange(COUNT)
    phase = frames / (COUNT - 1.0)
    turns = np.broadcast_to(body.turns, (COUNT, *body.turns.shape)).copy()
    heads = np.zeros((COUNT, len(NAMES), 3))
    heads[:, 0] = body.heads[0] - np.array((0.0, 0.0, 0.02)) + 0.004 * np.sin(0.9 * frames)[:, None] * (0.0, slide, 0.0)
    for first, up in ((1, np.clip((phase - 0.5) * 6.0, 0.0, 1.0)), (4, np.clip((0.5 - phase) * 6.0, 0.0, 1.0))):
        bend = radians(25.0) + up * radians(40.0)
        for k, angle in ((first, -0.5 * bend), (first + 1, 0.5 * bend), (first + 2, 0.0 * bend)):
            turns[:, k] = products(turns_about(ACROSS, angle), turns[:, k])
    hang_all(body, Motion(turns, heads))
    low = np.min(
        [foot_of(body, Motion(turns, heads), limb).points(sole_of(body, limb))[:, 2] for limb in body.limbs.values()],
        axis=0,
    )
    heads[..., 2] -= low[:, None]
    return Motion(turns, heads)


def sole_of(body: Body, limb: Limb) -> Doubles:
    """From the ankle to the heel, in the axes of the foot."""
    found: Doubles = rotated_each(conjugates(body.turns[limb.bones[-1]]), limb.sole[0])
    return found


def hang_all(body: Body, motion: Motion) -> None:
    """Let each bone begin where its parent, as it is turned, has it."""
    for bone, parent in enumerate(body.parents):
        if parent >= 0:
            off = rotated_each(conjugates(body.turns[parent]), body.heads[bone] - body.heads[parent])
            moved = rotated_each(motion.turns[:, parent], np.broadcast_to(off, (COUNT, 3)))
            motion.heads[:, bone] = motion.heads[:, parent] + moved


def test_the_same_body_moves_the_same_whatever_its_roll() -> None:
    body = biped()
    motion = stepping(body)
    found = transfer(body, motion, biped(roll=0.8), RATE, keep_contacts=False).motion
    assert np.abs(found.heads - motion.heads).max() < 1e-9


def test_a_body_half_as_large_goes_half_as_far() -> None:
    body = biped()
    motion = stepping(body, slide=5.0)
    found = transfer(body, motion, biped(size=0.5), RATE, keep_contacts=False).motion
    assert np.abs(found.heads - 0.5 * motion.heads).max() < 1e-9


@pytest.mark.parametrize("shin", [0.7, 1.3])
def test_feet_stand_flat_and_still_on_legs_of_other_proportions(shin: float) -> None:
    body, other = biped(), biped(shin=shin)
    done = transfer(body, stepping(body, slide=1.0), other, RATE)
    for name, limb in other.limbs.items():
        flat = done.contacts[name] == FLAT
        assert flat.sum() > 10
        foot = foot_of(other, done.motion, limb)
        assert np.ptp(foot.places[flat], axis=0).max() < 1e-9
        assert np.abs(foot.points(foot.heel)[flat, 2]).max() < 1e-9
        assert np.abs(foot.points(foot.ball)[flat, 2]).max() < 1e-9
        a, b, c = (done.motion.heads[:, bone] for bone in limb.bones)
        assert np.abs(lengths(b - a) - 0.45).max() < 1e-9
        assert np.abs(lengths(c - b) - 0.42 * shin).max() < 1e-9
        assert (dots(crosses(b - a, c - b), np.broadcast_to(ACROSS, a.shape)) > 0.0).all()  # no knee bends backwards


def test_hinges_are_those_about_which_a_motion_bends() -> None:
    body = biped(roll=0.3)
    motion = stepping(body)
    limb = body.limbs["Leg.L"]
    stood = np.broadcast_to(units(np.array((0.3, 0.5, 0.7))), (2, 3))
    found = hinges_in_motion(body, motion, limb, stood)
    for hinge, bone in zip(found, limb.bones, strict=False):
        assert rotated_each(body.turns[bone], hinge) == pytest.approx(ACROSS, abs=1e-9)


def test_hardly_bent_limbs_tell_no_hinge() -> None:
    body = biped()
    motion = Motion(np.broadcast_to(body.turns, (COUNT, 7, 4)), np.broadcast_to(body.heads, (COUNT, 7, 3)))
    stood = np.broadcast_to(units(np.array((0.3, 0.5, 0.7))), (2, 3))
    assert (hinges_in_motion(body, motion, body.limbs["Leg.R"], stood) == stood).all()


def test_what_walks_in_place_does_so_on_other_legs() -> None:
    body, other = biped(), biped(shin=0.7)
    motion, belt = stepping(body), np.array((0.0, 1.2, 0.0))
    gone = np.arange(COUNT)[:, None, None] / RATE * belt
    done = transfer(body, Motion(motion.turns, motion.heads + gone), other, RATE)
    wanted = transfer(body, motion, other, RATE)
    assert done.belt == pytest.approx(1.2, rel=0.02)
    assert not done.contacts
    size = (0.45 + 0.42 * 0.7) / (0.45 + 0.42)
    assert np.abs(done.motion.heads - size * gone - wanted.motion.heads).max() < 0.02


def test_who_stands_or_walks_on_is_on_no_belt() -> None:
    body = biped()
    assert transfer(body, stepping(body, slide=1.0), body, RATE).belt == 0.0


def test_between_two_contacts_a_foot_may_go_down_to_the_lower_one() -> None:
    kinds = np.array((NONE, FLAT, NONE, NONE, FLAT, FLAT, NONE))
    high = np.array((0.0, 0.3, 0.0, 0.0, -0.2, -0.2, 0.0))
    assert between_contacts(high, kinds).tolist() == [0.3, 0.3, -0.2, -0.2, -0.2, -0.2, -0.2]
    assert not between_contacts(np.zeros(3), np.full(3, NONE)).any()
