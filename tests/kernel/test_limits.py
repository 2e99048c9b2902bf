# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws that every limit in the registry holds to."""

from math import radians
from random import Random

import pytest
from chains import hinge, random_vector
from mathutils import Quaternion, Vector

from fabrik_addon.kernel.limits import FREE, LIMITS, Hinge, Limit, Locked
from fabrik_addon.kernel.rotations import from_rotation_vector, turn_angle

EXAMPLES: list[Limit] = [
    FREE,
    hinge((1, 0, 0), 0, 150),
    hinge((1, 2, -1), -40, 30),
    hinge((0, 0, 1), -200, 150),
    hinge((0, 1, 0), 20, 20),
    Hinge(Vector((0, 0, 1)), -1.0, 2.0, Quaternion((1, 0, 0), 0.7)),
    Locked(Quaternion((0, 1, 0), 0.5)),
]


def rotations(seed: int, count: int = 60) -> list[Quaternion]:
    random = Random(seed)
    return [from_rotation_vector(random_vector(random)) for _ in range(count)]


def same(a: Quaternion, b: Quaternion) -> bool:
    return turn_angle(a.conjugated() @ b) < 2e-6


def test_every_registered_limit_has_an_example() -> None:
    assert {limit.kind for limit in EXAMPLES} == set(LIMITS)


@pytest.mark.parametrize("limit", EXAMPLES)
class TestEveryLimit:
    def test_clamp_is_allowed_and_idempotent(self, limit: Limit) -> None:
        for rotation in rotations(1):
            clamped = limit.clamp(rotation)
            assert limit.violation(clamped) < 1e-6
            assert same(limit.clamp(clamped), clamped)

    def test_clamp_leaves_the_allowed_alone(self, limit: Limit) -> None:
        random = Random(2)
        for _ in range(60):
            allowed = limit.sample(random)
            assert limit.violation(allowed) < 1e-6
            assert same(limit.clamp(allowed), allowed)

    def test_clamp_is_the_nearest_of_many_allowed(self, limit: Limit) -> None:
        random = Random(3)
        samples = [limit.sample(random) for _ in range(200)]
        for rotation in rotations(4, 20):
            nearest = turn_angle(limit.clamp(rotation).conjugated() @ rotation)
            assert nearest <= min(turn_angle(other.conjugated() @ rotation) for other in samples) + 1e-5

    def test_aim_is_allowed_and_no_sample_aims_better(self, limit: Limit) -> None:
        random = Random(5)
        samples = [limit.sample(random) for _ in range(200)]
        for rotation in rotations(6, 20):
            segment, direction = random_vector(random), random_vector(random)
            aimed = limit.aim(limit.clamp(rotation), segment, direction)
            assert limit.violation(aimed) < 1e-6
            best = (aimed @ segment).angle(direction)
            assert best <= min((other @ segment).angle(direction) for other in samples) + 2e-3

    def test_turned_stays_inside(self, limit: Limit) -> None:
        random = Random(7)
        for _ in range(60):
            turned = limit.turned(limit.sample(random), random_vector(random))
            assert limit.violation(turned) < 1e-6

    def test_allowed_is_a_projection(self, limit: Limit) -> None:
        random = Random(8)
        for _ in range(60):
            rotation, turn = limit.sample(random), random_vector(random)
            once = limit.allowed(rotation, turn)
            assert (limit.allowed(rotation, once) - once).length < 1e-5
            assert once.length <= turn.length + 1e-5

    def test_blend_goes_from_start_to_end_inside(self, limit: Limit) -> None:
        random = Random(9)
        for _ in range(30):
            a, b = limit.sample(random), limit.sample(random)
            assert same(limit.blend(a, b, 0.0), a)
            assert same(limit.blend(a, b, 1.0), b)
            assert limit.violation(limit.blend(a, b, random.random())) < 1e-6


def test_hinge_reads_angles_over_half_a_turn() -> None:
    wide = hinge((0, 0, 1), -200, 150)
    assert wide.angle(wide.at(radians(-190))) == pytest.approx(radians(-190), abs=1e-5)


def test_hinge_at_its_end_gives_way_inwards_only() -> None:
    knee = hinge((1, 0, 0), 0, 150)
    assert knee.allowed(knee.at(0.0), Vector((-0.1, 0, 0))).length == 0.0
    assert knee.allowed(knee.at(0.0), Vector((0.1, 0.3, 0))) == Vector((0.1, 0, 0))


def test_hinge_aims_at_the_nearer_end_beyond_its_range() -> None:
    knee = hinge((1, 0, 0), 0, 90)
    aimed = knee.aim(knee.at(0.5), Vector((0, 1, 0)), Vector((0, -0.2, 1)))
    assert knee.angle(aimed) == pytest.approx(radians(90), abs=1e-6)
