# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons with bones missing, doubled and renamed: no limb is applied that has a bone of another limb or side."""

from __future__ import annotations

from zlib import crc32

import pytest
from fabrik_addon.recognise.find import recognise

from support.creature_shapes import CREATURES
from support.human_shapes import A_POSE, human, moved, unnamed
from support.mutilated import mutilated
from support.name_lists import CONVENTIONS

COUNT = 50  # of each convention
OF_THE_LIMB = {"collar", "knuckle", "half_pelvis"}  # clavicle, palm, half a pelvis
FOUND = (("Biped", 1088),)  # a finger that is called forearm, on a forearm without a hand


def wrong_limbs(convention: str, seed: int) -> list[str]:
    """The limbs that are applied and have bones of others, by the skeleton that was spoilt."""
    sides, told = CONVENTIONS[convention]
    made = human(told, sides, arms=A_POSE if seed % 2 else 0.0, posed=seed % 3)
    skeleton = moved(made.skeleton, seed % 4, seed=seed)
    spoilt, limbs = mutilated(unnamed(skeleton) if seed % 5 == 0 else skeleton, made.limb_of, seed)
    wrong = []
    for part in recognise(spoilt).parts:
        if part.is_applied and part.kind in ("ARM", "LEG"):
            own = f"{part.kind.title()}.{part.side}"
            beside = {f"{limb}.{part.side}" for limb in OF_THE_LIMB}
            if not all(limbs[bone] == own or limbs[bone] in beside for bone in part.bones):
                wrong.append(f"{convention}, seed {seed}: {part.name}")
    return wrong


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_no_wrong_limb_is_applied(convention: str) -> None:
    """Each convention has seeds of its own, so that one more deals none of the others anew."""
    first = crc32(convention.encode())
    assert [name for seed in range(first, first + COUNT) for name in wrong_limbs(convention, seed)] == []


@pytest.mark.parametrize(("convention", "seed"), FOUND)
def test_what_was_applied_wrongly_once_is_not_any_more(convention: str, seed: int) -> None:
    assert wrong_limbs(convention, seed) == []


@pytest.mark.parametrize("creature", ["6 legs", "8 legs in a row", "14 legs", "spider", "centaur"])
def test_no_leg_of_a_creature_without_names_has_bones_of_others(creature: str) -> None:
    """Where it faces along -Y the side is right, too."""
    made = CREATURES[creature]
    whole = made.skeleton()
    limb_of = {bone: part for part, bones in made.parts.items() for bone in bones}
    own = [limb_of.get(name, "") for name in whole.names]
    found = 0
    for seed in range(200):
        facing = seed % 4
        spoilt, limbs = mutilated(unnamed(moved(whole, facing, seed=seed)), own, seed)
        for part in recognise(spoilt).parts:
            if part.is_applied and part.kind in ("ARM", "LEG"):
                found += 1
                (limb,) = {limbs[bone] for bone in part.bones}
                assert limb
                assert facing != 0 or limb[-1] == part.side
    assert found > 100


def test_most_limbs_of_spoilt_skeletons_are_found_all_the_same() -> None:
    """So that refusing everything is no way to be never wrong."""
    found = 0
    for seed in range(100):
        sides, told = CONVENTIONS["Unreal"]
        made = human(told, sides)
        spoilt, _ = mutilated(made.skeleton, made.limb_of, seed)
        found += sum(part.is_applied and part.kind in ("ARM", "LEG") for part in recognise(spoilt).parts)
    assert found > 300
