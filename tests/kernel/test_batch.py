# SPDX-License-Identifier: GPL-3.0-or-later
"""Many chains at once are solved as each of them alone."""

from dataclasses import replace
from math import pi
from random import Random

import numpy as np
import pytest
from fabrik_addon.errors import ChainError, InvalidValueError
from fabrik_addon.kernel import Chain, Goal, Joint, Settings, Solution, solve
from fabrik_addon.kernel.batch import BatchSolution, ChainBatch, Goals, solve_batch
from fabrik_addon.kernel.limits import FREE, Cone, Hinge, Limit
from fabrik_addon.kernel.rotations import from_rotation_vector
from mathutils import Quaternion, Vector

from chains import LIMITED, random_chain, random_vector, reachable_target
from limit_examples import EXAMPLES

SAME = 2e-4  # largest distance of a joint, as a share of the length: twice the tolerance
# Some solves go by a saddle, where single precision chooses the way and both answers are good: a tail that starts
# straight, whose hinges cross, and joints that can move along a slit alone.
SADDLES = {"tail": 0.85, "stiff tail": 0.85, "arm": 0.95}
IN_A_SLIT = 0.7
ALL_LIMITS = [limit for examples in EXAMPLES.values() for limit in examples]


def goals_of(goals: list[Goal], chains: list[int]) -> Goals:
    """Goals for one chain each as arrays."""
    missing = (np.nan,) * 3
    return Goals(
        np.array(chains),
        np.array([goal.target for goal in goals]).T,
        np.array([goal.pole if goal.pole is not None else missing for goal in goals]).T,
        np.array([goal.pole_angle for goal in goals]),
    )


def joints_of(solution: BatchSolution, goal: int) -> np.ndarray:
    part = next(part for part in solution.parts if goal in part.goals)
    return part.joints[..., np.flatnonzero(part.goals == goal)[0]]


def rotations_of(solution: BatchSolution, goal: int) -> list[Quaternion]:
    part = next(part for part in solution.parts if goal in part.goals)
    return [Quaternion(q) for q in part.rotations[..., np.flatnonzero(part.goals == goal)[0]]]


def apart(chain: Chain, single: Solution, batch: BatchSolution, goal: int) -> float:
    """The largest distance between the same joint of the two answers, as a share of the length."""
    joints = joints_of(batch, goal)
    return float(np.linalg.norm(joints - np.array(single.joints), axis=1).max() / chain.length)


def assert_same(
    chains: list[Chain], goals: list[Goal], which: list[int], settings: Settings | None = None, share: float = 1.0
) -> None:
    """Status and pose are the same for a share of the goals, and the limits hold for all."""
    batch = solve_batch(ChainBatch(chains), goals_of(goals, which), settings)
    same = []
    for i, (goal, chain) in enumerate(zip(goals, (chains[k] for k in which), strict=True)):
        single = solve(chain, goal, settings)
        for joint, rotation in zip(chain.joints, rotations_of(batch, i), strict=True):
            assert joint.limit.violation(rotation) <= 1e-5
        is_same = batch.status_of(i) is single.status and apart(chain, single, batch, i) <= SAME
        assert not is_same or batch.pole_error[i] == pytest.approx(single.pole_error, abs=2e-3)
        same.append(is_same)
    assert np.mean(same) >= share, f"other answers for {[i for i, is_same in enumerate(same) if not is_same]}"


def some_goals(random: Random, chain: Chain, count: int) -> list[Goal]:
    goals = []
    for i in range(count):
        pole = random_vector(random) * chain.length if i % 2 else None
        goals.append(Goal(reachable_target(random, chain), pole, random.uniform(-pi, pi) if i % 3 == 0 else 0.0))
    return goals


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 50])
def test_free_chains(count: int) -> None:
    random = Random(count)
    chains = [random_chain(random, count) for _ in range(20)]
    goals = [some_goals(random, chain, 1)[0] for chain in chains]
    goals += [replace(goal, target=goal.target * 1.5) for goal in goals[:5]]
    assert_same(chains, goals, [*range(20), *range(5)])


@pytest.mark.parametrize("count", [3, 9])
def test_straight_chains(count: int) -> None:
    random = Random(count)
    chain = Chain.from_points([(0, i, 0) for i in range(count + 1)])
    goals = [Goal(random_vector(random).normalized() * chain.length * share) for share in (0.1, 0.4, 0.8, 0.99, 1.2)]
    assert_same([chain], [*goals, Goal(Vector((0, 0, 0)))], [0] * 6)


def test_near_full_stretch_and_the_inner_zone() -> None:
    random = Random(4)
    chains = [random_chain(random, 6) for _ in range(12)]
    chains += [Chain.from_points([(0, 0, 0), (0, 5, 0), (0, 5.5, 1), (0, 6, 0.5)])] * 4
    shares = [0.99, 0.999, 0.9995] * 4 + [0.3, 0.42, 0.5, 0.6]
    goals = [Goal(random_vector(random).normalized() * c.length * s) for c, s in zip(chains, shares, strict=True)]
    assert_same(chains, goals, list(range(16)))


@pytest.mark.parametrize("limit", ALL_LIMITS, ids=str)
def test_every_limit(limit: Limit) -> None:
    """Law: a chain with a limit of the registry on each of its joints, and one with a free hip before them."""
    random = Random(5)
    points = [(0, 0, 0), (0, 1, 0.1), (0, 1.8, 0), (0.1, 2.5, 0)]
    for limits in ([limit] * 3, [FREE, limit, limit]):
        chain = Chain.from_points(points, limits)
        slit = isinstance(limit, Cone) and 0.0 in (limit.x_low, limit.x_high, limit.z_low, limit.z_high)
        assert_same([chain], some_goals(random, chain, 24), [0] * 24, share=IN_A_SLIT if slit else 1.0)


@pytest.mark.parametrize("name", LIMITED)
def test_limited_chains(name: str) -> None:
    random, chain = Random(6), LIMITED[name]
    assert_same([chain], some_goals(random, chain, 40), [0] * 40, share=SADDLES.get(name, 1.0))


@pytest.mark.parametrize("name", ["leg with ankle", "spider leg", "planar", "cone arm"])
def test_blocked_and_out_of_reach(name: str) -> None:
    random, chain = Random(8), LIMITED[name]
    goals = [Goal(random_vector(random).normalized() * chain.length * s) for s in (0.05, 0.15, 0.3, 0.6, 0.9, 1.3)]
    batch = solve_batch(ChainBatch([chain]), goals_of(goals, [0] * 6))
    for i, goal in enumerate(goals):
        single = solve(chain, goal)
        assert batch.status_of(i) is single.status
        assert batch.residual[i] == pytest.approx(single.residual, abs=2e-3 * chain.length)


def test_stiff_joints() -> None:
    random, chain = Random(9), LIMITED["planar"]
    joints = [replace(joint, stiffness=0.2 * (i % 5)) for i, joint in enumerate(chain.joints)]
    stiff = replace(chain, joints=tuple(joints))
    assert_same([stiff], some_goals(random, stiff, 20), [0] * 20, share=0.9)


def test_joints_that_do_not_inherit_rotation_and_other_starts() -> None:
    random = Random(10)
    for loose in (1, 2):
        chain = random_chain(random, 4)
        joints = [
            replace(joint, inherits=i != loose, start=from_rotation_vector(random_vector(random) * 0.3))
            for i, joint in enumerate(chain.joints)
        ]
        made = replace(chain, joints=tuple(joints), base=from_rotation_vector(random_vector(random)))
        assert_same([made], some_goals(random, made, 16), [0] * 16)


def test_plain_fabrik() -> None:
    random = Random(11)
    settings = Settings(plain=True, max_passes=40)
    for chain in (random_chain(random, 5), LIMITED["cone arm"]):
        assert_same([chain], some_goals(random, chain, 16), [0] * 16, settings)


def test_mixed_lengths_and_limits_in_one_call() -> None:
    random = Random(12)
    chains = [random_chain(random, count) for count in (3, 7, 3)] + [LIMITED[n] for n in ("leg", "finger", "leg")]
    which = [random.randrange(6) for _ in range(60)]
    assert_same(chains, [some_goals(random, chains[k], 1)[0] for k in which], which)


def test_limbs_alike_but_for_their_ranges() -> None:
    """Of such limbs some arrays are the same for all and have a single column, and others do not."""
    random = Random(12)
    points = [(0, 0, 0), (0, 0.1, 1), (0, -0.1, 2), (0, 0.1, 3)]
    chains = []
    for low, high in ((0.0, 2.0), (0.0, 1.2), (-1.5, 0.0), (0.0, 2.0)):
        hinge = Hinge(Vector((1, 0, 0)), low, high)
        chains.append(Chain.from_points(points, limits=[FREE, hinge, hinge]))
    for some in ([0, 1], [0, 3], [1, 2], [0, 1, 2, 3]):
        members = [chains[i] for i in some]
        goals = [goal for chain in members for goal in some_goals(random, chain, 6)]
        which = [i for i in range(len(members)) for _ in range(6)]
        assert_same(members, goals, which, share=0.85)


def test_the_answer_does_not_depend_on_the_company() -> None:
    random, chain = Random(13), LIMITED["spider leg"]
    goals = some_goals(random, chain, 30)
    batch = ChainBatch([chain])
    together = solve_batch(batch, goals_of(goals, [0] * 30))
    for i in (0, 13, 29):
        alone = solve_batch(batch, goals_of([goals[i]], [0]))
        assert np.allclose(joints_of(together, i), joints_of(alone, 0), atol=1e-5 * chain.length)


def test_no_goals() -> None:
    solution = solve_batch(ChainBatch([LIMITED["leg"]]), Goals(np.zeros(0, int), np.zeros((3, 0))))
    assert solution.status.size == 0
    assert not solution.parts


class TestBadInput:
    batch = ChainBatch([LIMITED["leg"]])

    def test_a_chain_without_bones_or_length(self) -> None:
        with pytest.raises(ChainError, match="chain 1 has no bones"):
            ChainBatch([LIMITED["leg"], Chain(())])
        with pytest.raises(ChainError, match="chain 0"):
            ChainBatch([Chain((Joint(Vector((0, 0, 0))),))])

    def test_a_target_that_is_not_finite(self) -> None:
        targets = np.ones((3, 4))
        targets[1, 2] = np.nan
        with pytest.raises(InvalidValueError, match="target 2"):
            solve_batch(self.batch, Goals(np.zeros(4, int), targets))

    def test_a_pole_that_is_not_finite(self) -> None:
        poles = np.ones((3, 2))
        poles[0, 1] = np.nan
        with pytest.raises(InvalidValueError, match="pole"):
            solve_batch(self.batch, Goals(np.zeros(2, int), np.ones((3, 2)), poles))

    def test_shapes_and_chains_that_do_not_fit(self) -> None:
        with pytest.raises(InvalidValueError, match="targets have shape"):
            solve_batch(self.batch, Goals(np.zeros(2, int), np.ones((2, 3))))
        with pytest.raises(InvalidValueError, match="not among the 1"):
            solve_batch(self.batch, Goals(np.array([1]), np.ones((3, 1))))
