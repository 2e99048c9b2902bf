# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from one body to another, both made of numbers: what comes out is known."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest
from fabrik_addon.maths import Doubles, conjugates, crosses, dots, lengths, products, rotated_each, turns_about, units
from fabrik_addon.motion.body import UP, Body, Limb, Motion, foot_of, hinges_in_motion, on_ground, palm_at_rest
from fabrik_addon.motion.contacts import (
    FLAT,
    NONE,
    TOE,
    Foot,
    between_contacts,
    find_contacts,
    runs,
    standing_still,
)
from fabrik_addon.motion.contacts import Stance as Standing
from fabrik_addon.motion.ground import on_floor
from fabrik_addon.motion.touches import Touches, _lifted, _longest_near, keep, palm_of
from fabrik_addon.motion.transfer import TransferOptions, transfer

RATE, COUNT = 30.0, 61
PLAIN = TransferOptions(keep_contacts=False)
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
    return Body(NAMES, PARENTS, turns, places, places, limbs, 0, True, {})


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
    found = transfer(body, motion, biped(roll=0.8), RATE, PLAIN).motion
    assert np.abs(found.heads - motion.heads).max() < 1e-9


def test_a_body_half_as_large_goes_half_as_far() -> None:
    body = biped()
    motion = stepping(body, slide=5.0)
    found = transfer(body, motion, biped(size=0.5), RATE, PLAIN).motion
    assert np.abs(found.heads - 0.5 * motion.heads).max() < 1e-9


def striding(body: Body, speed: float) -> Motion:
    """It steps as `stepping` does, and goes ahead meanwhile; its feet glide along."""
    motion = stepping(body)
    gone = np.arange(COUNT)[:, None, None] / RATE * np.array((0.0, -speed, 0.0))
    return motion._replace(heads=motion.heads + gone)


@pytest.mark.parametrize(("way", "goes", "stride"), [("LEGS", 0.5, 1.0), ("SOURCE", 1.0, 2.0), ("PLACE", 0.0, 1.0)])
def test_it_goes_as_far_as_is_wanted(way: str, goes: float, stride: float) -> None:
    body = biped()
    motion = striding(body, 0.4)
    done = transfer(body, motion, biped(size=0.5), RATE, TransferOptions(keep_contacts=False, way=way))
    hips, own = done.motion.heads[:, 0, 1], motion.heads[:, 0, 1]
    assert hips[-1] - hips[0] == pytest.approx(goes * (own[-1] - own[0]), abs=0.01)
    assert done.stride == pytest.approx(stride)
    assert np.abs(done.motion.heads[:, 0, 2] - 0.5 * motion.heads[:, 0, 2]).max() < 1e-9


def test_in_place_who_goes_is_held_and_who_stands_stays_as_he_is() -> None:
    body, motion = biped(), stepping(biped())
    for speed in (0.0, 0.6):
        done = transfer(body, striding(body, speed), body, RATE, TransferOptions(keep_contacts=False, way="PLACE"))
        assert np.abs(done.motion.heads - motion.heads).max() < 0.01


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
    size = (0.45 + 0.42 * 0.7) / (0.45 + 0.42)
    assert done.belt == pytest.approx(size * 1.2, rel=0.02)
    assert not done.contacts
    assert np.abs(done.motion.heads - size * gone - wanted.motion.heads).max() < 0.02


def test_who_stands_or_walks_on_is_on_no_belt() -> None:
    body = biped()
    assert transfer(body, stepping(body, slide=1.0), body, RATE).belt == 0.0


def test_between_two_contacts_a_foot_may_go_down_to_the_lower_one() -> None:
    kinds = np.array((NONE, FLAT, NONE, NONE, FLAT, FLAT, NONE))
    high = np.array((0.0, 0.3, 0.0, 0.0, -0.2, -0.2, 0.0))
    assert between_contacts(high, kinds, 1.0).tolist() == [0.3, 0.3, -0.2, -0.2, -0.2, -0.2, -0.2]
    assert between_contacts(high, kinds, 2.0) == pytest.approx((0.3, 0.3, 0.05, -0.2, -0.2, -0.2, -0.2))
    assert not between_contacts(np.zeros(3), np.full(3, NONE), 2.0).any()


ARM_NAMES = ("upper.L", "fore.L", "hand.L", "upper.R", "fore.R", "hand.R")
ARM_ROLES = ("UPPER_ARM", "FOREARM", "HAND")
ALONG = np.array((0.0, 1.0, 0.0))


def person(fore: float = 1.0) -> Body:
    """A biped with arms, held out to the sides, and hands; its forearms are longer by a factor."""
    legs, palm, limbs = biped(), 0.09, {}
    heads, turns = [*legs.heads], [*legs.turns]
    for k, side, name in ((7, 1.0, "L"), (10, -1.0, "R")):
        shoulder = legs.heads[0] + np.array((0.3 * side, 0.0, 0.45))
        joints = [shoulder + np.array((side * far, 0.0, 0.0)) for far in (0.0, 0.28, 0.28 + 0.26 * fore)]
        heads += joints
        turns += [turns_about(np.array((0.0, 0.0, 1.0)), np.array(-0.5 * np.pi * side))] * 3  # Y along the bone
        knuckle = joints[2] + np.array((side * palm, 0.0, 0.0))
        sole = palm_at_rest(joints[2], knuckle[None], knuckle + 0.08 * side * ACROSS, side, np.zeros((0, 3)))
        limbs[f"Arm.{name}"] = Limb("ARM", [k, k + 1, k + 2], ARM_ROLES, (), -1, sole)
    places = np.array(heads)
    parents, names = (*legs.parents, 0, 7, 8, 0, 10, 11), (*NAMES, *ARM_NAMES)
    return Body(names, parents, np.stack(turns), places, places, {**legs.limbs, **limbs}, 0, True, {})


def halved(body: Body) -> Body:
    """It with two bones in each half of its arms."""
    numbers = [*range(7), 7, 7, 8, 8, 9, 10, 10, 11, 11, 12]  # of the bones as which each is turned
    heads = [body.heads[bone] for bone in numbers]
    for k in (8, 10, 13, 15):
        heads[k] = 0.5 * (heads[k - 1] + heads[k + 1])
    names = [body.names[bone] + "'" * (k in (8, 10, 13, 15)) for k, bone in enumerate(numbers)]
    parents = (*body.parents[:7], 0, 7, 8, 9, 10, 0, 12, 13, 14, 15)
    limbs, roles = dict(body.limbs), ("UPPER_ARM", "UPPER_ARM", "FOREARM", "FOREARM", "HAND")
    for name, first in (("Arm.L", 7), ("Arm.R", 12)):
        limbs[name] = limbs[name]._replace(bones=[*range(first, first + 5)], roles=roles)
    places = np.array(heads)
    return Body(names, parents, body.turns[numbers], places, places, limbs, 0, True, {})


def twisted(body: Body, motion: Motion, bones: tuple[int, int]) -> Doubles:
    """(F,), degrees by which a bone is twisted about the row of its arm from another one, more than at rest."""
    first, second = bones
    rest = products(conjugates(body.turns[first]), body.turns[second])
    turn = products(conjugates(rest), products(conjugates(motion.turns[:, first]), motion.turns[:, second]))
    return np.degrees(2.0 * np.arctan2(turn[:, 2], turn[:, 0]))  # Y is along the bones


def test_twist_is_spread_over_bones_in_a_row() -> None:
    body = person()
    other, wanted = halved(body), np.linspace(0.0, 80.0, COUNT)
    turns = np.broadcast_to(body.turns, (COUNT, *body.turns.shape)).copy()
    for bone, share in ((7, 0.5), (8, 0.5), (9, 1.0)):  # the arm twists, and the hand as much again
        turns[:, bone] = products(
            turns[:, bone], turns_about(np.broadcast_to(ALONG, (COUNT, 3)), share * np.radians(wanted))
        )
    motion = Motion(turns, np.repeat(body.heads[None], COUNT, axis=0))
    hang_all(body, motion)
    found = transfer(body, motion, other, RATE, PLAIN).motion
    for bones, share in (((0, 7), 0.25), ((0, 8), 0.5), ((8, 9), 0.0), ((9, 10), 0.25), ((9, 11), 0.5)):
        assert twisted(other, found, bones) == pytest.approx(share * wanted, abs=1e-6)
    again = transfer(other, found, other, RATE, PLAIN).motion
    assert np.abs(again.turns - found.turns).max() < 1e-9
    back = transfer(other, found, body, RATE, PLAIN).motion
    assert np.abs(back.turns - motion.turns).max() < 1e-9


def test_a_hand_that_is_twisted_right_round_jumps_nowhere() -> None:
    body = person()
    other, turns = halved(body), np.broadcast_to(body.turns, (COUNT, *body.turns.shape)).copy()
    whole = np.radians(360.0 / (COUNT - 1.0)) * np.arange(COUNT, dtype=np.float64)
    turn = turns_about(np.broadcast_to(ALONG, (COUNT, 3)), np.asarray(whole))
    turns[:, 9] = products(turns[:, 9], turn)
    motion = Motion(turns, np.repeat(body.heads[None], COUNT, axis=0))
    hang_all(body, motion)
    found = transfer(body, motion, other, RATE, PLAIN).motion
    local = products(conjugates(found.turns[:, 9]), found.turns[:, 10])
    steps = 2.0 * np.arccos(np.clip(np.abs((local[1:] * local[:-1]).sum(axis=1)), 0.0, 1.0))
    assert steps.max() < 1.1 * 2.0 * np.pi / (COUNT - 1.0)  # no more than the hand turns
    assert np.abs(local[0] - local[-1]).max() < 1e-9


def leaning(body: Body) -> Motion:
    """On all fours: its trunk is level, hands and feet are flat on the ground, and the body and they sway."""
    turns = np.broadcast_to(body.turns, (COUNT, *body.turns.shape)).copy()
    turns[:, 0] = products(turns_about(ACROSS, np.array(0.5 * np.pi)), body.turns[0])
    for name, side in (("Arm.L", 1.0), ("Arm.R", -1.0)):
        upper, fore, hand = body.limbs[name].bones
        hang = turns_about(ALONG, np.array(0.5 * np.pi * side))
        turns[:, upper], turns[:, fore] = products(hang, body.turns[upper]), products(hang, body.turns[fore])
        turns[:, hand], height = on_ground(body, body.limbs[name])
    high = body.reach(body.limbs["Arm.L"]) + height
    down = high - 0.08
    thigh = np.arccos((0.45**2 + down**2 - 0.42**2) / (2.0 * 0.45 * down))
    shin = np.arcsin(0.45 * np.sin(thigh) / 0.42)
    for first in (1, 4):
        for bone, angle in ((first, -thigh), (first + 1, shin)):
            turns[:, bone] = products(turns_about(ACROSS, np.array(angle)), body.turns[bone])
    heads = np.zeros((COUNT, len(body.names), 3))
    heads[:, 0, 1] = 0.003 * np.sin(0.9 * np.arange(COUNT))
    motion = Motion(turns, heads)
    hang_all(body, motion)
    motion.heads[..., 2] += height - motion.heads[0, body.limbs["Arm.L"].bones[2], 2]
    return motion


@pytest.mark.parametrize("fore", [0.8, 1.25])
def test_hands_that_lean_on_the_ground_do_so_on_arms_of_other_lengths(fore: float) -> None:
    body, other = person(), person(fore)
    motion = leaning(body)
    plain = transfer(body, motion, other, RATE, PLAIN).motion
    done = transfer(body, motion, other, RATE)
    for name in ("Leg.L", "Leg.R"):
        foot = foot_of(other, done.motion, other.limbs[name])
        assert (done.contacts[name] == FLAT).all()
        assert np.abs(foot.points(foot.heel)[:, 2]).max() < 1e-9
    for name in ("Arm.L", "Arm.R"):
        limb, own = other.limbs[name], body.limbs[name]
        assert (done.contacts[name] == FLAT).all()
        before, hand = foot_of(other, plain, limb), foot_of(other, done.motion, limb)
        assert abs(before.points(before.heel)[0, 2]) > 0.04  # over the ground, or in it
        for point in (hand.heel, hand.ball):
            assert np.abs(hand.points(point)[:, 2]).max() < 1e-9
            assert np.ptp(hand.points(point), axis=0).max() < 1e-9
        high, wanted = hand.roots[:, 2] / other.reach(limb), motion.heads[:, own.bones[0], 2] / body.reach(own)
        assert high == pytest.approx(wanted, abs=0.02)


def clawed(body: Body) -> Body:
    """A person with a finger on each hand whose second bone is bent down out of the palm."""
    heads, tails, parents, limbs = [*body.heads], [*body.tails], [*body.parents], dict(body.limbs)
    turns, names = [*body.turns], [*body.names]
    for side, way in (("L", ACROSS), ("R", -ACROSS)):
        hand, first = limbs[f"Arm.{side}"].bones[2], len(names)
        knuckle = body.heads[hand] + 0.09 * way
        joints = [knuckle, knuckle + 0.04 * way, knuckle + 0.04 * way - np.array((0.0, 0.0, 0.09))]
        heads, tails, parents = [*heads, *joints[:2]], [*tails, *joints[1:]], [*parents, hand, first]
        turns, names = [*turns, body.turns[hand], body.turns[hand]], [*names, f"a.{side}", f"b.{side}"]
        limbs[f"Index.{side}"] = Limb("FINGER", [first, first + 1], ("", ""), (), -1, np.zeros((3, 3)))
    return Body(names, parents, np.stack(turns), np.array(heads), np.array(tails), limbs, 0, True, {})


def test_fingers_lie_on_the_ground_on_which_their_hand_is() -> None:
    body, other = person(), clawed(person(1.25))
    motion = leaning(body)
    found = transfer(body, motion, other, RATE).motion
    for name in ("Index.L", "Index.R"):
        first, second = other.limbs[name].bones
        rest = rotated_each(conjugates(other.turns[second]), other.tails[second] - other.heads[second])
        way = rotated_each(found.turns[:, second], np.broadcast_to(rest, (COUNT, 3)))
        assert np.abs((found.heads[:, second] + way)[:, 2]).max() < 1e-9
        assert lengths(found.heads[:, second] - found.heads[:, first]) == pytest.approx(0.04)


def test_what_lifts_a_foot_or_a_finger_out_of_the_ground_comes_and_goes_smoothly() -> None:
    needed = np.zeros((COUNT, 3))
    needed[20:24, 0], needed[40, 1] = 1.0, -0.5
    found = _longest_near(needed, 5.0)
    assert np.abs(found - needed)[[20, 21, 22, 23, 40]].max() < 1e-12
    assert (lengths(found) >= lengths(needed)).all()
    assert lengths(np.diff(found, axis=0)).max() < 0.36
    assert not found[[15, 28, 35, 45]].any()


def clapping(body: Body) -> Motion:
    """Its palms come together before its chest, and part again."""
    turns = np.broadcast_to(body.turns, (COUNT, *body.turns.shape)).copy()
    open_by = radians(60.0) * (0.5 + 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, COUNT)))
    up = np.array((0.0, 0.0, 1.0))
    for name, side in (("Arm.L", -1.0), ("Arm.R", 1.0)):
        upper, fore, hand = body.limbs[name].bones
        ahead = turns_about(up, np.array(0.5 * np.pi * side))
        inward = turns_about(up, side * (np.pi - open_by))
        turns[:, upper] = products(ahead, body.turns[upper])
        turns[:, fore], turns[:, hand] = products(inward, body.turns[fore]), products(inward, body.turns[hand])
    heads = np.broadcast_to(body.heads, (COUNT, *body.heads.shape)).copy()
    motion = Motion(turns, heads)
    hang_all(body, motion)
    return motion


@pytest.mark.parametrize("fore", [0.9, 1.2])
def test_hands_that_touch_do_so_on_arms_of_other_lengths(fore: float) -> None:
    def apart(body: Body, motion: Motion) -> Doubles:
        a, b = (palm_of(foot_of(body, motion, body.limbs[name])) for name in ("Arm.L", "Arm.R"))
        found: Doubles = b - a
        return found

    body, other = person(), person(fore)
    motion = clapping(body)
    wanted, plain = apart(body, motion), transfer(body, motion, other, RATE, PLAIN).motion
    near = np.flatnonzero(lengths(wanted) < 0.05)
    assert 2 < len(near) < COUNT // 2
    assert lengths(apart(other, plain) - wanted)[near].min() > 0.04
    found = transfer(body, motion, other, RATE).motion
    assert lengths(apart(other, found) - wanted)[near].max() < 1e-9
    far = (apart(other, found) - apart(other, plain))[[0, -1]]
    assert np.abs(far).max() < 1e-9  # they go as they did
    steps = lengths(np.diff(apart(other, found), axis=0))
    assert steps.max() < 2.0 * lengths(np.diff(wanted, axis=0)).max()


def test_a_palm_is_where_its_skin_is() -> None:
    wrist, knuckles = np.zeros(3), np.array(((0.1, -0.03, 0.0), (0.1, 0.03, 0.0)))  # of a left hand held out
    grid = np.stack(np.meshgrid(np.linspace(-0.02, 0.12, 15), (0.0,), (0.03, -0.02)), axis=-1).reshape(-1, 3)
    heel, ball, tip = palm_at_rest(wrist, knuckles, np.array((0.18, 0.0, 0.0)), 1.0, grid)
    assert heel == pytest.approx((0.0, 0.0, -0.02), abs=1e-6)
    assert ball == pytest.approx((0.1, 0.0, -0.02), abs=1e-6)
    assert tip == pytest.approx((0.18, 0.0, -0.02), abs=1e-6)
    assert palm_at_rest(wrist, knuckles[:1], np.array((0.18, 0.0, 0.0)), 1.0, np.zeros((0, 3)))[0, 2] < 0.0


def steady(foot_turn: Doubles, count: int = 30) -> Foot:
    """A foot that stays where it is, turned like this."""
    heel, ball, toe = np.array((0.0, 0.05, -0.08)), np.array((0.0, -0.13, -0.08)), np.array((0.0, -0.2, -0.08))
    places = np.zeros((count, 3))
    turns = np.broadcast_to(foot_turn, (count, 4))
    return Foot(places, turns, heel, ball, np.broadcast_to(toe, (count, 3)), places + 0.8, 0.8)


def test_a_foot_on_its_toes_is_not_flat_and_one_on_its_side_or_its_back_is_on_nothing() -> None:
    for pitch, roll, wanted in ((0.0, 0.0, FLAT), (75.0, 0.0, TOE), (0.0, 80.0, NONE), (150.0, 0.0, NONE)):
        turn = products(turns_about(ACROSS, np.array(radians(pitch))), turns_about(ALONG, np.array(radians(roll))))
        assert (find_contacts(steady(turn), RATE, np.zeros(2)) == wanted).all(), (pitch, roll)


def test_a_foot_that_rises_on_its_toes_and_comes_down_again_stands_where_it_stood() -> None:
    angles = radians(40.0) * np.clip(np.sin(np.linspace(-0.5 * np.pi, 1.5 * np.pi, 30)), 0.0, 1.0)
    foot = steady(STILL)
    foot = foot._replace(turns=turns_about(ACROSS, angles))
    foot = foot._replace(places=foot.toe[0] - rotated_each(foot.turns, foot.toe))
    kinds = np.where(angles > 0.0, TOE, FLAT).astype(np.int32)
    way, turn = standing_still(foot, kinds, [Standing(0, 30)], np.ones(30), RATE)
    found = foot._replace(places=foot.places + way, turns=products(turn, foot.turns))
    flat = kinds == FLAT
    assert np.ptp(found.points(found.heel)[flat], axis=0).max() < 1e-9
    assert np.ptp(found.points(found.toe[0]), axis=0).max() < 1e-9


@pytest.mark.parametrize("ends_as_it_begins", [True, False])
def test_a_foot_stands_still_over_the_end_of_what_repeats_itself(ends_as_it_begins: bool) -> None:
    body = biped()
    frames = np.roll([*range(COUNT), *range(COUNT - 2, 0, -1)], -10)  # from the middle of a stance on
    motion = stepping(body).during(np.append(frames, frames[:1]) if ends_as_it_begins else frames)
    motion.heads[..., 1] += 0.01 * np.sin(2.0 * np.pi * np.arange(len(motion.heads)) / len(frames))[:, None]
    found = transfer(body, motion, biped(shin=1.2), RATE)
    assert FLAT in found.contacts["Leg.L"][[0, -1]]
    foot = NAMES.index("foot.L")
    assert np.abs(found.motion.heads[-1, foot] - found.motion.heads[0, foot]).max() < 1e-4
    if ends_as_it_begins:
        assert np.abs(found.motion.heads[-1] - found.motion.heads[0]).max() < 1e-4


def test_what_walks_in_place_begins_where_it_stands() -> None:
    body = biped()
    frames = np.array([*range(COUNT), *range(COUNT - 2, 0, -1)])
    motion = stepping(body).during(frames)
    at = np.arange(len(frames)) / RATE
    plain = transfer(body, motion, body, RATE, PLAIN).motion
    for way in ("LEGS", "PLACE"):
        belted = Motion(motion.turns, motion.heads.copy())
        belted.heads[..., 1] -= (1.2 * at)[:, None] if way == "PLACE" else 0.0
        found = transfer(body, belted, body, RATE, TransferOptions(keep_contacts=False, way=way)).motion
        assert np.abs(found.heads[0] - plain.heads[0]).max() < 0.05


def test_contacts_without_ground_are_counted_once_in_what_repeats_itself() -> None:
    body = biped()
    frames = np.roll([*range(COUNT), *range(COUNT - 2, 0, -1)], -10)
    found = transfer(body, stepping(body).during(frames), body, RATE, floor=lambda place: None)
    assert found.missed == sum(len(runs(kinds != NONE)) for kinds in found.contacts.values()) > 0


def test_all_joints_of_an_animals_leg_bend_for_a_paw_that_stands() -> None:
    names = ("hips", *(f"{bone}.L" for bone in "abcd"), "paw.L")
    row = np.array(((0.0, 0.0, 0.8), (0.0, -0.1, 0.6), (0.0, 0.1, 0.4), (0.0, -0.05, 0.2), (0.0, 0.0, 0.08)))
    heads = np.concatenate(([(0.0, 0.0, 0.9)], row))
    sole = 0.1 * np.array(((0.0, 0.3, -0.8), (0.0, -0.5, -0.8), (0.0, -0.9, -0.8)))
    limb = Limb("LEG", [1, 2, 3, 4, 5], ("",) * 5, (), -1, sole)
    turns = np.broadcast_to(STILL, (6, 4))
    body = Body(names, (-1, 0, 1, 2, 3, 4), turns, heads, heads, {"Leg.L": limb}, 0, False, {})
    lower = np.linspace(0.0, 0.08, COUNT)
    motion = Motion(np.broadcast_to(turns, (COUNT, 6, 4)).copy(), np.repeat(heads[None], COUNT, axis=0))
    motion.heads[..., 2] -= lower[:, None]  # as it goes down, its paw would go into the ground
    contacts, level = {"Leg.L": np.full(COUNT, FLAT, dtype=np.int32)}, {"Leg.L": np.zeros(COUNT)}
    keep(body, motion, Touches(contacts, level, {}, {}), RATE)
    hang_all(body, motion)
    assert np.abs(motion.heads[:, 5] - motion.heads[0, 5]).max() < 1e-9
    local = products(conjugates(motion.turns[-1, 1:4]), motion.turns[-1, 2:5])
    bends = np.degrees(2.0 * np.arccos(np.minimum(np.abs(local[:, 0]), 1.0)))
    assert bends.min() > 3.0  # each of the three
    assert bends.max() < 2.5 * np.median(bends)


def test_a_palm_on_the_body_lies_on_the_skin_of_a_thicker_one() -> None:
    def girded(body: Body, thick: float) -> Body:
        angles, heights = np.meshgrid(np.linspace(0.0, 6.2, 24), np.linspace(-0.15, 0.15, 9))
        round_it = thick * np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=-1)
        skin = (middle + round_it + heights[..., None] * np.array((0.0, 0.0, 1.0))).reshape(-1, 3)
        one_arm = {name: limb for name, limb in body.limbs.items() if name != "Arm.R"}
        return body._replace(limbs=one_arm, skin={0: skin})

    def palm(body: Body, motion: Motion) -> Doubles:
        return palm_of(foot_of(body, motion, body.limbs["Arm.L"]))

    plain = person()
    motion = clapping(plain)
    way = palm(plain, motion)
    k = int(np.argmin(way[:, 0]))
    middle = way[k] + np.array((0.0, 0.12, 0.0))
    thin, thick = girded(plain, 0.12), girded(plain, 0.17)
    still = motion.heads[:, 0] - motion.heads[k, 0]
    assert np.abs(still).max() < 1e-9  # the trunk stands
    bare = palm(thick, transfer(thin, motion, thick._replace(skin={}), RATE).motion)
    assert np.abs(bare - way).max() < 1e-3
    found = palm(thick, transfer(thin, motion, thick, RATE).motion)
    assert lengths(found[k] - way[k]) == pytest.approx(0.05, abs=0.004)
    assert lengths((found - middle)[k] * (1.0, 1.0, 0.0)) == pytest.approx(0.17, abs=0.004)
    assert np.abs(found - bare)[[0, -1]].max() < 1e-9
    assert np.abs(palm(thin, transfer(thin, motion, thin, RATE).motion) - bare).max() < 1e-3


def test_a_step_may_be_so_much_higher_than_the_last_one_of_either_foot() -> None:
    body, contacts = biped(), {name: np.zeros(COUNT, dtype=np.int32) for name in ("Leg.L", "Leg.R")}
    spans = (0, 10), (12, 22), (24, 34), (36, 46)
    for k, (first, last) in enumerate(spans):
        contacts["Leg.R" if k % 2 else "Leg.L"][first:last] = FLAT
    motion = stepping(body)
    motion.heads[..., 1] = -0.1 * np.arange(COUNT)[:, None]
    rise = 0.4 * body.reach(body.limbs["Leg.L"]) / 1.2  # a frame's 0.1 m along the ground

    def hill(place: Doubles) -> tuple[float, Doubles] | None:
        high = -rise * float(place[1])
        return (high, UP) if high < place[2] else None

    touches, missed = on_floor(body, motion, Touches(contacts, {}, {}, {}), hill, slice(0, COUNT), RATE)
    assert missed == 0
    tops = [touches.heights["Leg.R" if k % 2 else "Leg.L"][first] for k, (first, _) in enumerate(spans)]
    assert (np.diff(tops) > 0.3).all()
    assert np.isfinite((touches.above["Leg.R"][5], touches.above["Leg.L"][40])).all()  # before and after all contacts


def test_a_foot_that_points_straight_down_turns_up_without_a_jump() -> None:
    pitch = np.linspace(np.radians(-20.0), np.radians(-175.0), 156)
    heads, none = np.zeros((156, 3)), np.zeros(156)
    level = np.broadcast_to(UP, (156, 3))
    turns = turns_about(np.broadcast_to(ACROSS, (156, 3)), -pitch)
    for high in (-0.9, -0.7, -0.3):
        ground = none + high, level, heads
        found = _lifted(heads, turns, STILL, np.array((0.0, -1.0, 0.0)), ground)
        steps = 2.0 * np.arccos(np.clip(np.abs((found[1:] * found[:-1]).sum(axis=1)), 0.0, 1.0))
        assert np.degrees(steps).max() < 3.0  # a degree of the foot's own a frame
        tips = rotated_each(found, np.broadcast_to(np.array((0.0, -1.0, 0.0)), heads.shape))
        assert tips[pitch > -0.5 * np.pi, 2].min() > high - 1e-9


def test_a_foot_in_the_air_clears_what_is_below_it() -> None:
    body = biped()
    limb, high = body.limbs["Leg.L"], 0.2
    kinds = find_contacts(foot_of(body, stepping(body), limb), RATE, np.zeros(2))
    air = kinds == 0
    far = np.array([air[max(k - 6, 0) : k + 7].all() for k in range(COUNT)])
    assert far.any()
    found = dict[str, Doubles]()
    for name, above in (("level", {}), ("over", {"Leg.L": np.full(COUNT, high)})):
        motion = stepping(body)
        keep(body, motion, Touches({"Leg.L": kinds}, {"Leg.L": np.zeros(COUNT)}, {}, above), RATE)
        foot = foot_of(body, motion, limb)
        found[name] = np.min([foot.points(one)[:, 2] for one in (foot.heel, foot.ball, foot.toe)], axis=0)
    assert found["level"][far].min() < high - 0.02
    assert found["over"][far].min() > high
    assert np.abs(found["over"] - found["level"])[~air].max() < 1e-6
