# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures and goals of every kind that the kernel tells apart, for laws that have to hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from random import Random
from typing import NamedTuple, TypeAlias

from fabrik_addon.kernel import (
    FREE,
    Aim,
    Balance,
    Bend,
    Cone,
    Facing,
    Figure,
    Goal,
    Help,
    Limit,
    Locked,
    Point,
    Settings,
    Twist,
    Twisting,
)
from fabrik_addon.maths import ORIGIN, V3, multiplied, plus, scaled

from dev.limbs import X, Y, Z, hinge
from support.bodies import ENDS, HUMAN, INDEX, WALKING_HUMAN, branching, pinned_feet, points_for, posed
from support.chains import (
    LIMITED,
    goals_for,
    joints_through,
    points_at_random,
    random_chain,
    random_direction,
    random_turn,
    random_vector,
    reachable_target,
)
from support.limit_examples import EXAMPLES

Asking: TypeAlias = Callable[[Random, Figure, int], list[Goal]]


class Family(NamedTuple):
    """A figure, what is asked of it, and how it is solved.

    Attributes:
        figure: The figure.
        ask: Makes goals, of the same kinds and weights each time, for the case of a number.
        settings: How to solve.
    """

    figure: Figure
    ask: Asking
    settings: Settings = Settings()


def target_of(random: Random, chain: Figure, case: int) -> V3:
    """A target within the limits, one in the reach, one too far, one near full stretch, or one too near."""
    shares = (0.0, random.uniform(0.2, 0.95), 1.4, 0.9995, random.uniform(0.0, 0.1))
    kind = case % len(shares)
    if kind == 0:
        return reachable_target(random, chain)
    return scaled(random_direction(random), chain.size * shares[kind])


def for_the_tip(random: Random, chain: Figure, case: int) -> list[Goal]:
    """A target for the tip of a chain."""
    return goals_for(chain, target_of(random, chain, case))


def with_a_pole(random: Random, chain: Figure, case: int) -> list[Goal]:
    """A target and a pole; the first of them lies along the line to the target."""
    target = target_of(random, chain, case)
    pole = scaled(target, 2.0) if case == 0 else scaled(random_vector(random), chain.size)
    return goals_for(chain, target, pole, 0.4)


def for_two_hands(random: Random, figure: Figure, case: int) -> list[Goal]:
    """Both hands of a body of two arms, and every other time much too far."""
    aim = figure.placed(posed(random, figure))
    far = 1.0 if case % 2 == 0 else 3.0
    return [Point(4, aim.ends[4]), Point(7, scaled(aim.ends[7], far), weight=0.5)]


def for_hands_that_face(random: Random, figure: Figure, case: int) -> list[Goal]:
    """Point, Facing, Aim and Bend at once, and a point beside a bone."""
    aim = figure.placed(posed(random, figure))
    return [
        Point(4, aim.ends[4]),
        Facing(4, aim.frames[4], weight=0.2),
        Aim(7, Y, scaled(random_direction(random), figure.size), weight=0.5),
        Bend(4, scaled(random_vector(random), figure.size), 0.3, 0.1, root=2),
        Point(1, aim.ends[1], 0.3, (0.1, 0.0, 0.05)),
    ]


def for_five_ends(random: Random, figure: Figure, case: int) -> list[Goal]:
    """Head, hands and feet of the human, where a random pose has them."""
    return points_for(figure, posed(random, figure, 1.0), ENDS)


def for_feet_and_head(random: Random, figure: Figure, case: int) -> list[Goal]:
    """Feet planted as they stand, knees towards poles, and the head looking about."""
    feet = points_for(figure, figure.starts, [INDEX["foot.L"], INDEX["foot.R"]])
    looks_at = scaled(random_direction(random), 2.0)
    bend = Bend(INDEX["shin.L"], (0.3, -2.0, 0.0), 0.0, 0.1, INDEX["thigh.L"])
    return [*feet, bend, Aim(INDEX["head"], Z, looks_at), Facing(INDEX["spine3"], random_turn(random, 0.5), 0.3)]


def for_a_hand_of_a_walker(random: Random, figure: Figure, case: int) -> list[Goal]:
    """Both feet pinned, a hand some way off, every third time far, and the trunk helping the arm at some distance."""
    hand = figure.placed(figure.starts).ends[INDEX["hand.L"]]
    far = scaled(random_direction(random), 1.5 if case % 3 == 2 else 0.3)
    share = (0.8, 0.0, -0.3)[case % 3]
    return [*pinned_feet(figure), Point(INDEX["hand.L"], plus(hand, far)), Help(INDEX["upper_arm.L"], share)]


def for_a_centre_of_mass(random: Random, figure: Figure, case: int) -> list[Goal]:
    """A body over supports that move from case to case, and a hand in the frame of the other arm's first joint."""
    along, beside = 0.05 * case, random.uniform(0.1, 0.3)
    support = [(along, 0.0, 0.1), (along + 0.1, 0.0, 0.1), (along, 0.0, beside)]
    offered = scaled(random_direction(random), random.uniform(0.5, 1.2))
    return [Balance([1.0] * figure.count, support, Y), Point(4, offered, offset=ORIGIN, frame=5)]


def for_a_stretched_tip(random: Random, figure: Figure, case: int) -> list[Goal]:
    """The last of some joints near and beyond its reach, softened, and stretched as far as that goes."""
    far = scaled(random_direction(random), figure.size * (0.8, 1.0, 1.4)[case % 3])
    return [Point(figure.count - 1, far, soft=0.02, stretch=1.1)]


def _changed_chains() -> dict[str, Figure]:
    """Chains with bones that do not inherit, other starts, a turned base, and stiff joints."""
    random = Random(31)
    points = points_at_random(random, 4)
    joints = joints_through(points)
    starts = [joint._replace(start=random_turn(random, 0.4)) for joint in joints]
    planar = LIMITED["planar"]
    line = planar.placed(planar.starts).joints
    knees = joints_through(line, [hinge(X, -40, 60) if i % 2 else FREE for i in range(planar.count)])
    loose = {
        f"bone {which} does not inherit": Figure(
            [
                joint._replace(inherits=i != which, rest=multiplied(random_turn(random, 0.5), joint.rest))
                for i, joint in enumerate(starts)
            ],
            base=random_turn(random, 2.0),
        )
        for which in (0, 1, 2)
    }
    return loose | {
        "start pose": Figure(starts),
        "start pose outside the limits": Figure(
            [joint._replace(start=random_turn(random, 1.0), limit=hinge(X, -20, 50)) for joint in joints]
        ),
        "stiff and limited": Figure([joint._replace(stiffness=0.2 * (i % 5)) for i, joint in enumerate(knees)]),
        "stiff and free": Figure([joint._replace(stiffness=0.9 if i == 1 else 0.0) for i, joint in enumerate(joints)]),
        "limited bone that does not inherit": Figure(
            [joint._replace(inherits=i != 2, limit=hinge(X, -50, 70)) for i, joint in enumerate(joints)]
        ),
        "a bone without length": Figure.from_points([*points[:3], points[2], *points[3:]]),
    }


def _chains_of_a_limit(limit: Limit) -> tuple[Figure, Figure]:
    """A chain with a limit on each of its joints, and one with a free hip before two of them."""
    points = [(0.0, 0.0, 0.0), (0.0, 1.0, 0.1), (0.0, 1.8, 0.0), (0.1, 2.5, 0.0)]
    return Figure.from_points(points, [limit] * 3), Figure.from_points(points, [FREE, limit, limit])


def _chains() -> dict[str, Figure]:
    free = {f"free chain of {count}": random_chain(Random(count), count) for count in (1, 2, 3, 4, 10, 50)}
    straight = {
        f"straight chain of {count}": Figure.from_points([(0, i, 0) for i in range(count + 1)]) for count in (2, 3, 9)
    }
    curled = {"tightly curled chain": random_chain(Random(7), 6, curl=2.0)}
    long_bone = {"one long bone": Figure.from_points([(0, 0, 0), (0, 5, 0), (0, 5.5, 1), (0, 6, 0.5)])}
    limbs = {
        "twisting hip and knee": Figure.from_points(
            [(0, 0, 0), (0, 0.05, -0.5), (0, 0, -1)], [Twisting(Twist(-0.5, 0.5)), hinge(X, 0, 150)]
        ),
        "clavicle": Figure.from_points(
            [(0, 0, 0), (0.3, 0, 0.05), (1, 0.04, 0), (1.7, 0, 0)], [Cone.circular(0.35), FREE, hinge(Z, 0, 150)]
        ),
        "hinge before a free joint": Figure.from_points(
            [(0, 0, 0), (0.3, 0, 0), (0.3, -0.05, -1), (0.3, 0, -2)], [hinge(X, -20, 20), FREE, FREE]
        ),
        "locked": Figure.from_points([(0, 0, 0), (0, 0, 1), (0, 0, 2)], [Locked(), Locked()]),
        "50 cones": Figure.from_points([(0, i, 0) for i in range(51)], [Cone.circular(radians(20))] * 50),
    }
    return free | straight | curled | long_bone | _changed_chains() | LIMITED | limbs


def families() -> dict[str, Family]:
    """Every family by its name."""
    chains = _chains()
    every = {name: Family(chain, for_the_tip) for name, chain in chains.items()}
    every |= {f"{name}, pole": Family(chain, with_a_pole) for name, chain in chains.items()}
    for kind, limits in EXAMPLES.items():
        for i, limit in enumerate(limits):
            for chain, name in zip(_chains_of_a_limit(limit), ("thrice", "behind a free hip"), strict=True):
                every[f"{kind} {i} {name}"] = Family(chain, for_the_tip)
                every[f"{kind} {i} {name}, pole"] = Family(chain, with_a_pole)
    plain = Settings(plain=True, max_passes=40)
    for name in ("free chain of 4", "straight chain of 3", "cone arm", "leg with ankle", "spider leg"):
        every[f"{name}, plain"] = Family(chains[name], for_the_tip, plain)
    for name in ("free chain of 4", "spider leg"):
        every[f"{name}, without FABRIK's passes"] = Family(chains[name], for_the_tip, Settings(fabrik=False))
    for name in ("spider leg", "tail", "leg with ankle"):
        every[f"{name}, no restarts"] = Family(chains[name], for_the_tip, Settings(restarts=0))
        every[f"{name}, few passes"] = Family(chains[name], for_the_tip, Settings(max_passes=3))
        every[f"{name}, coarse"] = Family(chains[name], with_a_pole, Settings(tolerance=1e-2, restarts=20))
    return every | _trees()


def _trees() -> dict[str, Family]:
    """Figures with branches, and chains with other goals than a chain's."""
    limited = branching({0: Cone.circular(0.4), 1: Cone.circular(0.4), 3: hinge(X, 0, 150), 6: hinge(X, 0, 120)})
    arm, few = LIMITED["cone arm"], Settings(restarts=1)  # goals that can't all be met use up every restart

    def for_the_frame_of_the_tip(random: Random, chain: Figure, case: int) -> list[Goal]:
        placed = chain.placed(posed(random, chain))
        return [Point(2, placed.ends[2]), Facing(2, placed.frames[2], weight=0.3)]

    return {
        "two hands": Family(branching(), for_two_hands),
        "two hands, limits": Family(limited, for_two_hands),
        "two hands, plain": Family(limited, for_two_hands, Settings(plain=True, max_passes=20)),
        "two hands, no restarts": Family(limited, for_two_hands, Settings(restarts=0)),
        "hands that face": Family(branching(), for_hands_that_face),
        "hands that face, limits": Family(limited, for_hands_that_face, few),
        "chain with the frame of its tip": Family(arm, for_the_frame_of_the_tip),
        "human, five ends": Family(HUMAN, for_five_ends),
        "human that walks, a hand": Family(WALKING_HUMAN, for_a_hand_of_a_walker),
        "balanced, a hand in the frame of an arm": Family(branching(), for_a_centre_of_mass),
        "leg, soft and stretched": Family(LIMITED["leg"], for_a_stretched_tip),
        "two hands, soft and stretched": Family(branching(), for_a_stretched_tip),
        "human, feet and head": Family(HUMAN, for_feet_and_head, few),
    }
