# SPDX-License-Identifier: GPL-3.0-or-later
"""Creatures, and humans with what games hang on them; and skeletons that are none."""

from __future__ import annotations

from cProfile import Profile
from zlib import crc32

import pytest
from fabrik_addon.recognise.find import TAKEN, recognise
from fabrik_addon.recognise.skeleton import Skeleton

from support.creature_shapes import CREATURES, Builder, snake
from support.human_shapes import A_POSE, human, moved, unnamed
from support.mutilated import mutilated
from support.name_lists import CONVENTIONS

PLANS = {"6 legs": "MANY_LEGS", "8 legs in a row": "MANY_LEGS", "14 legs": "MANY_LEGS", "spider": "MANY_LEGS"}
PLANS |= {"flat spider": "MANY_LEGS"}
PLANS |= {"snake": "CHAINS", "centaur": "QUADRUPED", "dressed": "HUMAN", "four arms": "HUMAN", "six arms": "HUMAN"}
MOST_CALLS = 400_000  # a third of a second
MANY_LEGS = [name for name, plan in PLANS.items() if plan == "MANY_LEGS"]


def applied(creature: Builder, skeleton: Skeleton) -> dict[str, list[str]]:
    names = creature.skeleton().names
    parts = [part for part in recognise(skeleton).parts if part.is_applied]
    return {part.name: [names[bone] for bone in part.bones] for part in parts}


@pytest.mark.parametrize("facing", range(4))
@pytest.mark.parametrize("creature", CREATURES)
def test_the_parts_of_a_creature(creature: str, facing: int) -> None:
    made = CREATURES[creature]
    skeleton = moved(made.skeleton(), facing, seed=facing)
    found = applied(made, skeleton)
    assert {name: found.get(name) for name in made.parts} == made.parts
    assert recognise(skeleton).plan == PLANS[creature]


@pytest.mark.parametrize("creature", ["centaur", "dressed", "four arms", "snake"])
def test_the_parts_of_a_creature_without_names(creature: str) -> None:
    made = CREATURES[creature]
    found = applied(made, unnamed(made.skeleton()))
    assert {name: found.get(name) for name in made.parts} == made.parts


@pytest.mark.parametrize("creature", MANY_LEGS)
def test_many_legs_without_names_have_the_sides_of_the_x_axis(creature: str) -> None:
    """Nothing tells where an insect faces: its left is at +X, which is told, and its first leg at -Y."""
    made = CREATURES[creature]
    legs = {name: bones for name, bones in made.parts.items() if name.startswith("Leg")}
    found = applied(made, unnamed(made.skeleton()))
    assert {name: found.get(name) for name in legs} == legs
    assert recognise(unnamed(made.skeleton())).notes == (TAKEN,)
    assert recognise(made.skeleton()).notes == ()
    turned = applied(made, unnamed(moved(made.skeleton(), 2)))
    assert sorted(turned[name] for name in legs) == sorted(legs.values())
    assert turned["Leg 1.L"] == legs[f"Leg {len(legs) // 2}.R"]


@pytest.mark.parametrize(("creature", "facing"), [*((name, 1) for name in MANY_LEGS), ("six arms", 0)])
def test_what_nothing_tells_is_asked(creature: str, facing: int) -> None:
    """Along the X axis an insect may face either way, and six arms may be a face: nothing of it is applied."""
    made = CREATURES[creature]
    found = recognise(unnamed(moved(made.skeleton(), facing)))
    limbs = [part for part in found.parts if part.kind in ("ARM", "LEG")]
    assert not {part.name for part in limbs if part.is_applied} - {"Leg.L", "Leg.R"}
    asked = [part for part in limbs if not part.is_applied]
    assert asked
    assert all(part.reasons for part in asked)


def test_sword_hair_and_skirt_are_of_no_limb() -> None:
    made = CREATURES["dressed"]
    names = made.skeleton().names
    found = {names[bone] for part in recognise(made.skeleton()).parts for bone in part.bones}
    assert not [name for name in found if name.startswith(("sword", "blade", "skirt", "pony", "hair"))]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_bones(count: int) -> None:
    points = [(0.0, 0.0, float(i)) for i in range(count + 1)]
    made = Builder()
    made.run([f"b{i}" for i in range(count)], "", points)
    found = recognise(made.skeleton())
    assert found.plan == "CHAINS"
    assert [len(part.bones) for part in found.parts] == ([2] if count == 2 else [])


def test_bones_without_length() -> None:
    made = CREATURES["dressed"].skeleton()
    flat = Skeleton(made.names, made.parents, made.heads, made.heads, made.flagged, made.axes)
    assert {"Arm.L", "Leg.R"} <= {part.name for part in recognise(flat).parts}
    nowhere = Skeleton(
        made.names, made.parents, [(0.0, 0.0, 0.0)] * len(made.names), [(0.0, 0.0, 0.0)] * len(made.names)
    )
    assert not any(part.is_applied for part in recognise(nowhere).parts)


def branches(count: int) -> Skeleton:
    made = Builder()
    made.run([f"x{i}" for i in range(5)], "", [(0.0, 0.0, float(i)) for i in range(6)])
    for k in range(count):
        made.run([f"b{k}_{i}" for i in range(5)], f"x{k % 5}", [(0.1 * k, 0.1 * i + k, float(k)) for i in range(6)])
    return made.skeleton()


@pytest.mark.parametrize("skeleton", [snake(500).skeleton(), branches(99)], ids=["row", "branches"])
def test_five_hundred_bones_are_recognised_at_once(skeleton: Skeleton) -> None:
    """By how many calls of functions it takes, which is what it costs, whatever else the machine does."""
    profile = Profile()
    profile.runcall(recognise, skeleton)
    assert sum(entry.callcount for entry in profile.getstats()) < MOST_CALLS


# Skeletons with bones missing, doubled and renamed: no limb is applied that has a bone of another limb or side.


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
