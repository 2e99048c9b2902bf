# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmark measures of posed bodies: figures are near nothing where nothing is wrong, and tell what is."""

from __future__ import annotations

from math import degrees

import numpy as np
import pytest
from mathutils import Matrix

from bench import posing
from bench.posing import Posed


@pytest.fixture
def human() -> Posed:
    return Posed("human_mixamo")


def test_angles_are_told_in_degrees() -> None:
    turns = [Matrix.Rotation(angle, 4, "Z") for angle in (0.0, 0.3, 3.1)]
    assert posing._angles(np.array(turns), np.eye(4)) == pytest.approx([0.0, degrees(0.3), degrees(3.1)])


def test_mirror_images_are_told_from_what_is_none() -> None:
    turn, image = (np.array(Matrix.Rotation(angle, 4, "Z")) for angle in (0.2, -0.2))
    assert posing._apart(turn, image) == pytest.approx(0.0, abs=1e-6)
    assert posing._apart(turn, turn) == pytest.approx(degrees(0.4))


def test_a_body_that_is_posed_as_expected_is_within_its_aims(human: Posed) -> None:
    assert posing._foot(human) < posing.FOLLOWS
    assert posing._turned(human, 1.0) < posing.STAYS


def test_hands_that_stay_behind_are_seen(human: Posed) -> None:
    _, hands, feet = posing._sunk(human)
    assert max(hands, feet) < posing.PINS
    again = Posed("human_mixamo")
    for arm in again.arms:
        again.hang(arm, "ARMATURE")
    _, hands, feet = posing._sunk(again)
    assert feet < posing.PINS
    assert hands > posing.CARRIED


def test_a_drag_leaves_all_as_it_was(human: Posed) -> None:
    before = human.stand()
    found = posing._dragged(human, posing._bone_of(human, "hips"), (0.0, 0.0, -1.0))
    assert (human.stand() == before).all()
    assert found.steps.shape == found.is_met.shape == (posing.FRAMES,)
    assert found.is_met.all()
    assert found.pins < posing.PINS
    assert found.turns[-1][human.index[human.body]][:3, :3] == pytest.approx(np.eye(3), abs=1e-4)
