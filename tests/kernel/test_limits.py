# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws that every limit in the registry holds to."""

from math import atan2, pi, radians, sin
from random import Random
from types import SimpleNamespace

import pytest
from fabrik_addon.kernel.limits import FREE, LIMITS, Cone, Hinge, Limit, Locked, Planar, Twist
from fabrik_addon.kernel.limits.swing_twist import SwingTwist
from fabrik_addon.kernel.rotations import from_rotation_vector, turn_about, turn_angle
from mathutils import Quaternion, Vector

from chains import hinge, random_vector
from limit_examples import EXAMPLES, TWIST

PRECISION = 4e-6  # radians; single precision, through a swing and a twist and back
ALL = [limit for examples in EXAMPLES.values() for limit in examples]


def has_one_measure(limit: Limit) -> bool:
    """False where nearest is meant in swing and in twist apart."""
    return not (isinstance(limit, SwingTwist) and limit.twist is not None)


def rotations(seed: int, count: int = 60) -> list[Quaternion]:
    random = Random(seed)
    return [from_rotation_vector(random_vector(random)) for _ in range(count)]


def same(a: Quaternion, b: Quaternion) -> bool:
    return turn_angle(a.conjugated() @ b) < PRECISION


def test_every_registered_limit_has_an_example() -> None:
    assert set(EXAMPLES) == set(LIMITS)


@pytest.mark.parametrize("limit", ALL, ids=str)
class TestEveryLimit:
    def test_clamp_is_allowed_and_idempotent(self, limit: Limit) -> None:
        for rotation in rotations(1):
            clamped = limit.clamp(rotation)
            assert limit.violation(clamped) < PRECISION
            assert same(limit.clamp(clamped), clamped)

    def test_clamp_leaves_the_allowed_alone(self, limit: Limit) -> None:
        random = Random(2)
        for _ in range(60):
            allowed = limit.sample(random)
            assert limit.violation(allowed) < PRECISION
            assert same(limit.clamp(allowed), allowed)

    def test_clamp_is_the_nearest_of_many_allowed(self, limit: Limit) -> None:
        random = Random(3)
        samples = [limit.sample(random) for _ in range(200)]
        for rotation in rotations(4, 20):
            nearest = turn_angle(limit.clamp(rotation).conjugated() @ rotation)
            if has_one_measure(limit):
                assert nearest <= min(turn_angle(other.conjugated() @ rotation) for other in samples) + 1e-5
            assert nearest <= pi

    def test_aim_is_allowed_and_no_sample_aims_better(self, limit: Limit) -> None:
        random = Random(5)
        samples = [limit.sample(random) for _ in range(200)]
        for rotation in rotations(6, 20):
            segment = random_vector(random) if isinstance(limit, Hinge) else Vector((0, 1, 0))
            direction = random_vector(random)
            aimed = limit.aim(limit.clamp(rotation), segment, direction)
            assert limit.violation(aimed) < PRECISION
            best = (aimed @ segment).angle(direction)
            assert best <= min((other @ segment).angle(direction) for other in samples) + 2e-3

    def test_turned_stays_inside(self, limit: Limit) -> None:
        random = Random(7)
        for _ in range(60):
            turned = limit.turned(limit.sample(random), random_vector(random))
            assert limit.violation(turned) < PRECISION

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
            assert limit.violation(limit.blend(a, b, random.random())) < PRECISION


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


class TestCone:
    def test_circle_about_z_of_godots_kusudama(self) -> None:
        """Godot's test_joint_limitation_kusudama_3d, with our Y for its Z: inside unchanged, outside to 30 degrees."""
        cone = Cone.circular(radians(30))
        inside = Vector((0.2, 1, 0.1)).normalized()
        assert cone.nearest(inside) == inside
        assert cone.nearest(Vector((1, 0, 0))).angle(Vector((0, 1, 0))) == pytest.approx(radians(30), abs=1e-6)
        assert Cone.circular(0.0).nearest(Vector((1, 0, 0))) == Vector((0, 1, 0))

    def test_least_angle_pushes_out(self) -> None:
        cone = Cone.circular(radians(60), radians(20))
        pushed = cone.nearest(Vector((0.05, 1, 0)).normalized())
        assert pushed.angle(Vector((0, 1, 0))) == pytest.approx(radians(20), abs=1e-5)
        assert pushed.x > 0

    @pytest.mark.parametrize(("sign", "angle"), [(1, 1.2), (-1, 0.3)])
    def test_quadrants_hold_turns_about_x(self, sign: int, angle: float) -> None:
        cone = Cone(0.0, 0.3, 1.2, 0.8, 0.5)
        turned = cone.clamp(from_rotation_vector(Vector((sign * 2.0, 0, 0))))
        assert turn_angle(turned) == pytest.approx(angle, abs=1e-4)
        assert turned.x * sign > 0

    def test_twist_is_held_apart_from_swing(self) -> None:
        cone = Cone.circular(radians(60), twist=Twist(-0.1, 0.2))
        rotation = from_rotation_vector(Vector((0.5, 0, 0.3))) @ from_rotation_vector(Vector((0, 1.0, 0)))
        clamped = cone.clamp(rotation)
        assert cone.twist_angle(clamped) == pytest.approx(0.2, abs=1e-5)
        assert ((clamped @ Vector((0, 1, 0))) - (rotation @ Vector((0, 1, 0)))).length < 1e-5


class Settings:
    """A bone's settings for Blender's IK."""

    def __init__(self, locks: str, **ranges: tuple[float, float]) -> None:
        self.ik_locks = ["X" in locks, "Y" in locks, "Z" in locks]
        self.ik_ranges = [ranges.get(axis) for axis in "xyz"]


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        (Settings(""), FREE),
        (Settings("XYZ"), Locked(Quaternion())),
        (Settings("YZ", x=(-1.0, 2.0)), Hinge(Vector((1, 0, 0)), -1.0, 2.0)),
        (Settings("XZ"), Hinge(Vector((0, 1, 0)), -pi, pi)),
        (Settings("Y", x=(-1.0, 2.0)), Cone(0.0, pi, pi, pi, pi, Twist(0.0, 0.0))),
        (Settings("Y", x=(-1.0, 2.0), z=(-0.5, 0.5)), Cone(0.0, 1.0, 2.0, 0.5, 0.5, Twist(0.0, 0.0))),
        (Settings("Z", y=(-0.5, 0.5)), Planar(Vector((1, 0, 0)), -pi, pi, Twist(-0.5, 0.5))),
        (Settings("", z=(-0.5, 0.5)), Cone(0.0, pi, pi, 0.5, 0.5)),
    ],
)
def test_bones_ik_settings_mean_what_their_free_axes_mean_to_blender(settings: Settings, limit: Limit) -> None:
    assert LIMITS["BONE_IK"].make(settings, Quaternion()) == limit


@pytest.mark.parametrize("limit", ALL, ids=str)
class TestEveryOutline:
    def test_the_bone_comes_to_every_point_of_its_curves(self, limit: Limit) -> None:
        start = limit.clamp(Quaternion())
        for curve in limit.outline().swing:
            for point in curve:
                if point.length:
                    assert (limit.aim(start, Vector((0, 1, 0)), point) @ Vector((0, 1, 0)) - point).length < 1e-3

    def test_the_twist_comes_to_every_point_of_its_curve(self, limit: Limit) -> None:
        for curve in limit.outline().twist:
            for point in curve:
                side = point.normalized()
                turned = Quaternion((0, 1, 0), -atan2(side.z, side.x))
                allowed = limit.twist_angle(turned) if isinstance(limit, SwingTwist) else limit.angle(turned)
                low, high = (
                    (limit.twist.low, limit.twist.high)
                    if isinstance(limit, SwingTwist)
                    else (limit.angle_min, limit.angle_max)
                )
                assert low - 1e-3 <= allowed <= high + 1e-3

    def test_its_ends_lie_on_its_curves(self, limit: Limit) -> None:
        outline = limit.outline()
        points = [point for curve in (*outline.swing, *outline.twist) for point in curve]
        for end in outline.ends.values():
            assert min((end - point).length for point in points) < 1e-6

    def test_all_but_a_free_joint_have_one(self, limit: Limit) -> None:
        outline = limit.outline()
        assert bool(outline.swing or outline.twist) == (limit is not FREE)


def test_an_outline_names_the_settings_that_it_shows() -> None:
    assert set(Cone.circular(0.5, 0.2, TWIST).outline().ends) == {"cone_max", "cone_min", "twist_min", "twist_max"}
    ellipse = Cone(0.0, 0.3, 1.2, 0.8, 0.5).outline()
    assert ellipse.ends["cone_x_max"].z == pytest.approx(sin(1.2), abs=1e-5)
    assert ellipse.ends["cone_z_min"].x == pytest.approx(sin(0.8), abs=1e-5)
    assert hinge((1, 0, 0), 0, 90).outline().ends["angle_max"].z == pytest.approx(1.0)


def test_nothing_beyond_the_edge_of_a_cone_is_allowed() -> None:
    for limit in (Cone.circular(radians(30)), Cone(0.0, 0.3, 1.2, 0.8, 0.5)):
        for point in limit.outline().swing[0]:
            beyond = (point + (point - Vector((0, 1, 0))) * 0.1).normalized()
            assert (limit.nearest(beyond) - beyond).length > 1e-3


@pytest.mark.parametrize("limit", ALL, ids=str)
def test_an_end_of_the_outline_tells_its_own_setting(limit: Limit) -> None:
    """Law: what is read at the end of a range is that end, and a little further is a little more."""
    for name, end in limit.outline().ends.items():
        angle = limit.setting_at(name, end)
        axis = limit.axis if hasattr(limit, "axis") and not name.startswith("twist") else Vector((0, 1, 0))
        if name.startswith("cone"):
            continue
        turned = limit.setting_at(name, turn_about(axis, 0.01 if name.endswith("max") else -0.01) @ end)
        assert turned - angle == pytest.approx(0.01 if name.endswith("max") else -0.01, abs=1e-4)


def test_the_ends_of_a_cone_tell_its_angles() -> None:
    circular = Cone.circular(0.9, 0.3, TWIST)
    found = {name: circular.setting_at(name, end) for name, end in circular.outline().ends.items()}
    wanted = {"cone_min": 0.3, "cone_max": 0.9, "twist_min": TWIST.low, "twist_max": TWIST.high}
    assert found == pytest.approx(wanted, abs=1e-5)
    ellipse = Cone(0.0, 0.3, 1.2, 0.8, 0.5)
    found = {name: ellipse.setting_at(name, end) for name, end in ellipse.outline().ends.items()}
    assert found == pytest.approx(
        {"cone_x_min": -0.3, "cone_x_max": 1.2, "cone_z_min": -0.8, "cone_z_max": 0.5}, abs=1e-5
    )


def test_an_end_does_not_pass_the_other() -> None:
    limit = hinge((1, 0, 0), 10, 60)
    at = hinge((1, 0, 0), -170, 170).at(radians(-30)) @ Vector((0, 1, 0))
    assert limit.setting_at("angle_max", at) == pytest.approx(radians(10))
    assert limit.setting_at("angle_min", at) == pytest.approx(radians(-30))


@pytest.mark.parametrize("limit", ALL, ids=repr)
def test_what_is_told_to_blenders_ik_means_the_same(limit: Limit) -> None:
    """Read back as a limit for Blender's own IK it allows what it allowed, unless something is said to be lost."""
    free, ranges, lost = limit.ik_meaning()
    settings = SimpleNamespace(ik_locks=[i not in free for i in range(3)], ik_ranges=[ranges.get(i) for i in range(3)])
    within = all(-pi <= low <= high <= pi for low, high in ranges.values())
    if lost or not within:
        return
    again, random = LIMITS["BONE_IK"].make(settings, Quaternion()), Random(3)
    for one, other in ((limit, again), (again, limit)):
        for _ in range(20):
            rotation = one.sample(random)
            if isinstance(one, Locked):
                rotation = other.sample(random)
            assert other.violation(rotation) < 2e-3
