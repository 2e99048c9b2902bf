# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of feet that are made of numbers: where they are is known, and so is what keeps them."""

from __future__ import annotations

import numpy as np
import pytest
from fabrik_addon.maths import (
    Doubles,
    Ints,
    conjugates,
    lengths,
    products,
    rotated_each,
    turns_about,
    turns_by,
    vectors_of,
)
from fabrik_addon.motion.contacts import (
    FLAT,
    HEEL,
    NONE,
    TOE,
    Foot,
    Stance,
    find_contacts,
    junk_ends,
    relative,
    rolling,
    runs,
    slope_of,
    standing_still,
    way_of_body,
)
from fabrik_addon.motion.smoothing import smoothed, smoothed_turns

RATE = 60.0
LEG = 0.8
HEEL_AT, BALL_AT, TIP_AT = (0.0, 0.05, -0.08), (0.0, -0.13, -0.08), (0.0, -0.2, -0.08)
X_AXIS = np.array((1.0, 0.0, 0.0))
LEVEL = np.zeros(2)


def stepping(noise: float = 0.0, drift: float = 0.0, rise: float = 0.0) -> tuple[Foot, Ints]:
    """Two steps of a foot: heel, flat, toes, swing; it rolls about its heel, then about its ball. And its kinds."""
    pitch, at, kinds = list[float](), list[Doubles](), list[int]()
    for step in range(3):
        ground = np.array((0.0, -0.7 * step, rise * step))
        heel, ball = ground + np.array((0.0, 0.05, 0.0)), ground + np.array((0.0, -0.13, 0.0))
        for k in range(60):
            if k < 8:
                kind, angle, pivot, own = HEEL, -0.3 * (1.0 - k / 8.0), heel, HEEL_AT
            elif k < 26:
                kind, angle, pivot, own = FLAT, 0.0, heel, HEEL_AT
            elif k < 38:
                kind, angle, pivot, own = TOE, 0.5 * (k - 25) / 12.0, ball, BALL_AT
            else:
                share = (k - 37) / 23.0
                kind, angle = NONE, 0.5 - 0.8 * share
                way = np.array((0.0, -0.7 * share, rise * share + 0.15 * np.sin(np.pi * share)))
                pivot, own = ball + way, BALL_AT
            turn = turns_about(X_AXIS, np.array(angle))
            at.append(pivot - rotated_each(turn, np.array(own)))
            pitch.append(angle)
            kinds.append(kind)
    turns = turns_about(np.broadcast_to(X_AXIS, (len(pitch), 3)), np.array(pitch))
    places = np.array(at) + noise * np.random.default_rng(7).standard_normal((len(at), 3))
    places[:, 1] += drift * np.linspace(0.0, 1.0, len(at))
    roots = places * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.08 + 0.9 * LEG)
    toe = np.tile(np.array(TIP_AT), (len(at), 1))
    return Foot(places, turns, np.array(HEEL_AT), np.array(BALL_AT), toe, roots, LEG), np.array(kinds, dtype=np.int32)


@pytest.mark.parametrize(("noise", "drift"), [(0.0, 0.0), (0.002, 0.0), (0.0, 0.02)])
def test_contacts_of_heel_and_toes_are_found(noise: float, drift: float) -> None:
    foot, kinds = stepping(noise, drift)
    found = find_contacts(foot, RATE, LEVEL)
    for kind, least in ((HEEL, 0.85), (TOE, 0.9)):
        own, wanted = (found & kind) > 0, (kinds & kind) > 0
        assert len(runs(own)) == 3
        assert 2.0 * (own & wanted).sum() / (own.sum() + wanted.sum()) >= least


@pytest.mark.parametrize("angle", [-25.0, -6.0, 1.5, 6.0, 12.0, 25.0])
def test_on_a_slope_a_foot_is_found_as_on_flat_ground(angle: float) -> None:
    foot, _ = stepping()
    tilt = np.broadcast_to(np.concatenate((np.zeros(3), turns_about(X_AXIS, np.radians(angle)))), (len(foot.places), 7))
    tilted = foot.seen_from(tilt)
    slope = slope_of([tilted], RATE)
    assert np.degrees(np.arctan(slope)).tolist() == pytest.approx((0.0, -angle), abs=0.2)
    assert (find_contacts(tilted, RATE, slope) != find_contacts(foot, RATE, LEVEL)).sum() <= 4


@pytest.mark.parametrize("rise", [-0.3, 0.15, 0.3])
def test_on_stairs_a_foot_is_found_as_on_flat_ground(rise: float) -> None:
    (foot, kinds), (level, _) = stepping(rise=rise), stepping()
    found, wanted = (find_contacts(one, RATE, slope_of([one], RATE)) for one in (foot, level))
    for kind in (HEEL, TOE):
        assert len(runs((found & kind) > 0)) == 3
        assert (((found & kind) > 0) != ((wanted & kind) > 0)).sum() <= 9
    assert ((found == FLAT) & (kinds == FLAT)).sum() >= 0.9 * (kinds == FLAT).sum()


def test_a_foot_that_is_held_up_and_noise_make_no_slope() -> None:
    foot, _ = stepping(noise=0.002)
    held = foot._replace(places=np.tile(np.array((0.2, -0.7, 0.4)), (len(foot.places), 1)))
    assert slope_of([foot], RATE).tolist() == slope_of([foot, held], RATE).tolist() == [0.0, 0.0]


def test_what_flies_has_no_contact() -> None:
    foot, _ = stepping()
    flying = foot.places + np.linspace(0.0, 40.0, len(foot.places))[:, None] * (0.0, 1.0, 0.0)
    assert not find_contacts(foot._replace(places=flying), RATE, LEVEL).any()


@pytest.mark.parametrize(("noise", "drift"), [(0.004, 0.0), (0.0, 0.05), (0.004, 0.05)])
def test_points_in_contact_stand_still_and_all_goes_over_smoothly(noise: float, drift: float) -> None:
    foot, kinds = stepping(noise, drift)
    ways, turns = standing_still(foot, kinds, stances(kinds), np.ones(len(kinds)), RATE)
    turned = foot._replace(places=foot.places + ways, turns=products(turns, foot.turns))
    for kind, own in ((HEEL, foot.heel), (TOE, rolling(foot, kinds).toe)):
        points = turned.points(own)
        for first, last in runs((kinds & kind) > 0):
            assert lengths(np.diff(points[first:last], axis=0)).max() <= 1e-9
    if not noise:
        assert lengths(np.diff(ways, axis=0)).max() <= 1.6 * drift / 120.0 + 0.001
    assert lengths(ways).max() <= 5.0 * noise + drift


def stances(kinds: Ints) -> list[Stance]:
    """Each contact in the world, where the motion has it."""
    return [Stance(first, last) for first, last in runs(kinds != NONE)]


def going_along(count: int) -> Doubles:
    """(F, 7), place and rotation of a ground that goes along and turns."""
    times = np.arange(count, dtype=np.float64) / count
    places = np.stack((2.0 * times, -times, np.zeros(count)), axis=1)
    return np.concatenate((places, turns_about(np.array((0.0, 0.0, 1.0)), 1.5 * times)), axis=1)


def test_on_a_ground_that_moves_a_foot_is_found_and_stands_as_on_one_that_does_not() -> None:
    foot, kinds = stepping(0.004, 0.05)
    ground = going_along(len(kinds))
    inverse = conjugates(ground[:, 3:])
    carried = foot.seen_from(np.concatenate((-rotated_each(inverse, ground[:, :3]), inverse), axis=1))
    assert (find_contacts(carried.seen_from(relative(ground)), RATE, LEVEL) == find_contacts(foot, RATE, LEVEL)).all()
    ones, still = np.ones(len(kinds)), stances(kinds)
    moved = [one._replace(ground=ground) for one in still]
    (ways, turns), (own_ways, own_turns) = (
        standing_still(one, kinds, several, ones, RATE) for one, several in ((carried, moved), (foot, still))
    )
    stood = carried._replace(places=carried.places + ways, turns=products(turns, carried.turns)).seen_from(ground)
    inside = kinds != NONE
    assert np.abs(stood.places - foot.places - own_ways)[inside].max() <= 1e-9
    assert np.abs(stood.turns - products(own_turns, foot.turns))[inside].max() <= 1e-9


def test_a_foot_stands_where_it_is_wanted_and_comes_there_smoothly() -> None:
    foot, kinds = stepping()
    first, *others = stances(kinds)
    flat = np.flatnonzero(kinds[first.first : first.last] == FLAT)[0] + first.first
    (turn,) = turns_about(np.array((0.0, 0.0, 1.0)), np.array([0.2]))
    wanted = np.concatenate((foot.places[flat] + (0.03, -0.05, 0.0), products(turn, foot.turns[flat])))
    ways, turns = standing_still(foot, kinds, [first._replace(wanted=wanted), *others], np.ones(len(kinds)), RATE)
    stood = foot._replace(places=foot.places + ways, turns=products(turns, foot.turns))
    assert stood.places[flat] == pytest.approx(wanted[:3], abs=1e-9)
    assert stood.turns[flat] == pytest.approx(wanted[3:], abs=1e-9)
    for kind, own in ((HEEL, foot.heel), (TOE, rolling(foot, kinds).toe)):
        points = stood.points(own)
        for a, b in runs((kinds & kind) > 0):
            assert lengths(np.diff(points[a:b], axis=0)).max() <= 1e-9
    assert lengths(np.diff(ways, axis=0)).max() <= 0.03


def test_without_marks_nothing_is_changed() -> None:
    foot, kinds = stepping(0.004)
    ways, turns = standing_still(foot, np.zeros_like(kinds), [], np.ones(len(kinds)), RATE)
    assert not ways.any()
    assert (turns == (1.0, 0.0, 0.0, 0.0)).all()


def test_a_body_gives_way_no_more_than_its_legs_need_and_smoothly() -> None:
    foot, _ = stepping()
    ways, still = np.zeros_like(foot.places), np.zeros_like(foot.places)
    assert not way_of_body([foot], [ways], still, RATE).any()
    ways[80:90, 2] = -0.15 * LEG
    found = way_of_body([foot], [ways], still, RATE)
    assert (lengths(foot.places + ways - foot.roots - found) <= 0.9995 * LEG + 1e-4 * LEG).all()
    sizes = lengths(found)
    assert sizes.max() <= 0.07 * LEG
    assert lengths(np.diff(found, axis=0)).max() <= 0.15 * sizes.max()
    assert sizes[:40].max() <= 0.05 * sizes.max()


def test_a_foot_on_its_toes_rolls_so_that_its_ankle_stays() -> None:
    foot, kinds = stepping()
    runs_of_toes = kinds == TOE
    pulled = foot.places.copy()
    pulled[runs_of_toes, 1] -= np.linspace(0.0, 0.03, int(runs_of_toes.sum()))  # the toes slide while it is on them
    slid = foot._replace(places=pulled)
    ways, turns = standing_still(slid, kinds, stances(kinds), np.ones(len(kinds)), RATE)
    still = slid._replace(places=slid.places + ways, turns=products(turns, slid.turns))
    for first, last in runs(runs_of_toes):
        toes = still.points(rolling(slid, kinds).toe[0])[first:last]
        assert np.abs(toes - toes[0]).max() <= 1e-9
    assert lengths(ways[runs_of_toes]).max() <= 0.7 * 0.03  # what is along the foot stays


NOISE = 0.02


def test_noise_is_taken_out_and_parabolas_stay() -> None:
    times = np.arange(60.0)
    clean = np.stack((0.001 * times**2 - 0.03 * times, np.sin(times / 9.0)), axis=1)
    begins = np.zeros(60, dtype=bool)
    assert np.abs(smoothed(clean, 4, begins)[:, 0] - clean[:, 0]).max() <= 1e-9
    noisy = clean + NOISE * np.random.default_rng(3).standard_normal(clean.shape)
    off = np.sqrt(np.mean((smoothed(noisy, 4, begins) - clean) ** 2))
    assert off <= 0.65 * np.sqrt(np.mean((noisy - clean) ** 2))


def test_noise_is_not_mixed_over_the_edge_of_a_contact() -> None:
    values = np.concatenate((np.zeros((20, 1)), np.ones((20, 1))))
    begins = np.zeros(40, dtype=bool)
    assert np.abs(smoothed(values, 4, begins) - values).max() > 0.1
    begins[20] = True
    assert np.abs(smoothed(values, 4, begins) - values).max() <= 1e-12


def test_rotations_lose_their_noise_whatever_their_signs() -> None:
    times = np.arange(80.0)
    vectors = np.stack((0.4 * np.sin(times / 8.0), 0.02 * times, np.zeros(80)), axis=1)
    clean = turns_by(vectors)
    shaken = products(clean, turns_by(NOISE * np.random.default_rng(5).standard_normal((80, 3))))
    shaken[::3] *= -1.0
    found = smoothed_turns(shaken, 4, np.zeros(80, dtype=bool))
    before, after = (np.sqrt(np.mean(vectors_of(products(conjugates(clean), one)) ** 2)) for one in (shaken, found))
    assert after <= 0.65 * before


def test_a_rest_pose_at_the_end_of_a_clip_is_told_from_its_motion() -> None:
    times = np.arange(50.0)
    swing = np.stack((0.5 * np.sin(times / 6.0), np.zeros(50), np.zeros(50)), axis=1)
    bones = np.stack([turns_by(swing * size) for size in (1.0, 0.6, 0.8)], axis=1)
    assert junk_ends(bones) == (0, 0)
    bones[0] = turns_by(np.array([[0.0, 1.2, 0.0]]))
    assert junk_ends(bones) == (1, 0)
    bones[-2:] = bones[0]
    assert junk_ends(bones) == (1, 2)
    assert junk_ends(np.tile(bones[:1], (50, 1, 1))) == (0, 0)
    assert junk_ends(bones[:3]) == (0, 0)
