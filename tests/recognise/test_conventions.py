# SPDX-License-Identifier: GPL-3.0-or-later
"""Humans made from the lists of names of conventions: in T pose, A pose and posed, facing anywhere, of any size."""

from __future__ import annotations

from math import cos, radians

import pytest
from fabrik_addon.maths import V3, dot
from fabrik_addon.recognise.conventions import CONVENTIONS as KNOWN
from fabrik_addon.recognise.conventions import Convention
from fabrik_addon.recognise.find import recognise
from fabrik_addon.recognise.skeleton import Skeleton
from fabrik_addon.recognise.tree import Tree
from fabrik_addon.recognise.words import PARTS

from support.human_shapes import A_POSE, Made, human, moved, unnamed
from support.name_lists import CONVENTIONS

POSES = {"T pose": (0.0, 0), "A pose": (A_POSE, 0), "posed": (0.2, 7)}
# Facing in quarters from -Y, whether Y is up, size.
PLACES = [
    (0, False, 1.0),
    (1, False, 1.0),
    (2, False, 1.0),
    (3, False, 1.0),
    (0, True, 1.0),
    (1, False, 0.01),
    (2, False, 100.0),
]
ALL_PARTS = {"Arm.L", "Arm.R", "Leg.L", "Leg.R", "Spine", "Head"}
OTHER_SIDE = "it stands on the side"
BROKEN = {"Rigify DEF"}  # whose bones hang on no body, so that names alone tell what they are


@pytest.mark.parametrize("convention", KNOWN, ids=lambda convention: convention.label)
def test_a_convention_names_parts_that_there_are(convention: Convention) -> None:
    assert set(convention.part_of.values()) <= set(PARTS)


def made_of(convention: str, pose: str) -> Made:
    sides, told = CONVENTIONS[convention]
    arms, posed = POSES[pose]
    return human(told, sides, arms=arms, posed=posed)


def applied(made: Made, skeleton: Skeleton) -> dict[str, list[str]]:
    """The parts that are sure, by the names that the bones had first."""
    parts = [part for part in recognise(skeleton).parts if part.is_applied]
    return {part.name: [made.skeleton.names[bone] for bone in part.bones] for part in parts}


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_arms_and_legs_by_names(convention: str, pose: str) -> None:
    made = made_of(convention, pose)
    for seed, (facing, y_up, size) in enumerate(PLACES):
        found = applied(made, moved(made.skeleton, facing, y_up=y_up, size=size, seed=seed))
        assert found.keys() >= ALL_PARTS
        assert {name: found[name] for name in made.parts} == made.parts


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("convention", [name for name in CONVENTIONS if name not in BROKEN])
def test_arms_and_legs_without_names(convention: str, pose: str) -> None:
    made = made_of(convention, pose)
    for seed, (facing, y_up, size) in enumerate(PLACES):
        found = applied(made, unnamed(moved(made.skeleton, facing, y_up=y_up, size=size, seed=seed)))
        assert found.keys() >= ALL_PARTS
        assert {name: found[name] for name in made.parts} == made.parts


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_body_faces_ahead(convention: str) -> None:
    made = made_of(convention, "A pose")
    ways: list[V3] = [(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)]
    for facing, way in enumerate(ways):
        forward = Tree(moved(made.skeleton, facing)).axes.forward
        assert forward is not None
        assert dot(forward, way) > cos(radians(5.0))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_body_bone_carries_all_limbs(convention: str) -> None:
    made = made_of(convention, "T pose")
    found = recognise(made.skeleton)
    if convention in BROKEN:
        return
    for part in (part for part in found.parts if part.is_applied):
        above = [part.bones[0]]
        while above[-1] >= 0:
            above.append(made.skeleton.parents[above[-1]])
        assert found.body in above


def test_every_convention_that_is_known_is_told_by_its_names() -> None:
    told = {recognise(made_of(convention, "T pose").skeleton).convention for convention in CONVENTIONS}
    untested = {"Italian", "Portuguese", "Chinese"}
    assert told - {""} == {convention.label for convention in KNOWN} - untested


@pytest.mark.parametrize("convention", ["Mixamo", "Unreal", "Daz Genesis 8", "MMD"])
def test_names_that_tell_the_other_side_are_told(convention: str) -> None:
    """Sides come from where bones stand; where names disagree it is asked."""
    sides, told = CONVENTIONS[convention]
    made = human(told, sides[::-1])
    swapped = human(told, sides)
    found = recognise(made.skeleton)
    for part in found.parts:
        if part.kind in ("ARM", "LEG"):
            assert not part.is_applied
            assert OTHER_SIDE in " ".join(map(str, part.reasons))
    assert {part.name: part.side for part in found.parts if part.kind == "LEG"} == {"Leg.L": "L", "Leg.R": "R"}
    assert not any(OTHER_SIDE in str(reason) for part in recognise(swapped.skeleton).parts for reason in part.reasons)
