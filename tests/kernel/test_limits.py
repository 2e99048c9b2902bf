# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws that every limit in the registry holds to."""

from math import cos, hypot, inf, nan, pi, radians, sin, sqrt
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import FREE, LIMITS, Cone, Free, Hinge, Limit, Locked, Planar, Twist, Twisting

from limit_examples import (
    EXAMPLES,
    IDENTITY,
    TWIST,
    Triple,
    X,
    Y,
    Z,
    apart,
    between,
    cross,
    dot,
    drawn,
    edge_rotations,
    from_rotation_vector,
    hinge,
    multiplied,
    plus,
    random_vector,
    rotated,
    rotations,
    turn_about,
    unit,
)

PRECISION = 1e-8  # radians
ALL = [limit for examples in EXAMPLES.values() for limit in examples]
ELLIPSES = [limit for limit in EXAMPLES["CONE"] if isinstance(limit, Cone) and not limit.is_circular]


def has_one_measure(limit: Limit) -> bool:
    """False where nearest is meant in swing and in twist apart."""
    return getattr(limit, "twist", None) is None


def same(a: Any, b: Any) -> bool:
    return apart(a, b) < PRECISION


def of_map(x: float, z: float) -> Triple:
    """The direction of a point of the map of a cone."""
    up = 2.0 * sqrt(max(1.0 - x * x - z * z, 0.0))
    return unit((-z * up, 1.0 - 2.0 * (x * x + z * z), x * up))


def edge_point(cone: Cone, parameter: float) -> Triple:
    x, z = cos(parameter), sin(parameter)
    a, b = (cone.x_high if x >= 0.0 else cone.x_low), (cone.z_high if z >= 0.0 else cone.z_low)
    return of_map(x * sin(0.5 * a), z * sin(0.5 * b))


def test_every_registered_limit_has_an_example() -> None:
    assert set(EXAMPLES) == set(LIMITS)


@pytest.mark.parametrize("limit", ALL, ids=str)
class TestEveryLimit:
    def test_clamp_is_allowed_and_idempotent(self, limit: Limit) -> None:
        for rotation in rotations(1):
            clamped = limit.clamped(rotation)
            assert limit.violation(clamped) < PRECISION
            assert same(limit.clamped(clamped), clamped)

    def test_clamp_leaves_the_allowed_alone(self, limit: Limit) -> None:
        random = Random(2)
        for _ in range(60):
            allowed = drawn(limit, random)
            assert limit.violation(allowed) < PRECISION
            assert same(limit.clamped(allowed), allowed)

    def test_clamp_is_the_nearest_of_many_allowed(self, limit: Limit) -> None:
        random = Random(3)
        samples = [drawn(limit, random) for _ in range(200)]
        for rotation in rotations(4, 20):
            nearest = apart(limit.clamped(rotation), rotation)
            if has_one_measure(limit):
                assert nearest <= min(apart(other, rotation) for other in samples) + PRECISION
            assert nearest <= pi

    def test_aim_is_allowed_and_no_sample_aims_better(self, limit: Limit) -> None:
        random = Random(5)
        samples = [drawn(limit, random) for _ in range(200)]
        for rotation in rotations(6, 20):
            segment = random_vector(random) if isinstance(limit, Hinge) else Y
            direction = random_vector(random)
            aimed = limit.aimed(limit.clamped(rotation), segment, direction)
            assert limit.violation(aimed) < PRECISION
            best = between(rotated(aimed, segment), direction)
            # a hinge takes either end for a direction that is as good as behind it
            slack = 1e-3 if isinstance(limit, Hinge) else PRECISION
            assert best <= min(between(rotated(other, segment), direction) for other in samples) + slack

    def test_turned_stays_inside(self, limit: Limit) -> None:
        random = Random(7)
        for _ in range(60):
            assert limit.violation(limit.turned(drawn(limit, random), random_vector(random))) < PRECISION

    def test_allowed_is_a_projection(self, limit: Limit) -> None:
        random = Random(8)
        for _ in range(60):
            for rotation in (drawn(limit, random), limit.clamped(rotations(random.randrange(1000), 1)[0])):
                turn = random_vector(random)
                once = limit.allowed(rotation, turn)
                assert hypot(*plus(limit.allowed(rotation, once), once, -1.0)) < PRECISION
                assert hypot(*once) <= hypot(*turn) + PRECISION

    def test_blend_goes_from_start_to_end_inside(self, limit: Limit) -> None:
        random = Random(9)
        for _ in range(30):
            a, b = drawn(limit, random), drawn(limit, random)
            assert same(limit.blended(a, b, 0.0), a)
            assert same(limit.blended(a, b, 1.0), b)
            assert limit.violation(limit.blended(a, b, random.random())) < PRECISION

    def test_nothing_breaks_where_a_formula_has_a_pole(self, limit: Limit) -> None:
        random = Random(10)
        for rotation in edge_rotations(random):
            # the swing to -Y is every one, and near it the twist is as good as lost
            slack = PRECISION if rotated(rotation, Y)[1] > -0.999 else 1e-3
            found = [limit.clamped(rotation), limit.aimed(rotation, Y, random_vector(random))]
            found += [limit.aimed(rotation, Y, Y), limit.aimed(rotation, Y, (0.0, -1.0, 0.0))]
            found += [limit.aimed(rotation, Y, (0.0, 0.0, 0.0)), limit.turned(rotation, (0.0, 0.0, 0.0))]
            found += [limit.turned(rotation, random_vector(random)), limit.drawn(0.0, 0.0, 0.0)]
            for other in found:
                assert hypot(*other) == pytest.approx(1.0, abs=1e-12)
                assert limit.violation(other) < slack
            assert hypot(*limit.allowed(rotation, X)) <= 1.0 + PRECISION
            assert limit.violation(rotation) <= pi + PRECISION

    def test_it_is_what_it_was_made_from(self, limit: Limit) -> None:
        again = type(limit)(*limit.parts())
        assert again == limit
        assert hash(again) == hash(limit)
        assert limit != LIMITS["LOCKED"].make(None, turn_about(X, 0.123))
        assert type(limit).__name__ in repr(limit)

    def test_its_settings_make_it(self, limit: Limit) -> None:
        if getattr(limit, "zero", IDENTITY) != IDENTITY:
            return  # made of locked channels
        settings = limit.settings()
        kind = LIMITS[settings.pop("limit")]
        assert set(settings) <= {*kind.fields, "use_twist", "twist_min", "twist_max"}
        assert kind.make(SimpleNamespace(**settings), limit.drawn(0.0, 0.0, 0.0)) == limit

    def test_what_it_tells_of_itself(self, limit: Limit) -> None:
        assert limit.is_free == isinstance(limit, Free)
        assert limit.is_fixed == isinstance(limit, Locked)
        assert limit.is_ball == (not isinstance(limit, Hinge | Locked))
        preferred = limit.preferred_axis(drawn(limit, Random(1)))
        assert preferred is None or hypot(*preferred) == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [nan, inf, -inf, 1e300, "x", None, (1.0,), 10**400], ids=str)
def test_a_wrong_number_is_refused(bad: Any) -> None:
    """Not taken, and no crash."""
    for make in (
        lambda: Hinge((bad, 0, 0)),
        lambda: Hinge(bad),
        lambda: Hinge(X, bad, 1.0),
        lambda: Hinge(X, 0.0, 1.0, (1.0, bad, 0.0, 0.0)),
        lambda: Locked((bad, 0.0, 0.0, 0.0)),
        lambda: Locked((1.0, 0.0)),
        lambda: Cone(bad),
        lambda: Cone(0.0, bad),
        lambda: Cone.circular(1.0, twist=Twist(0.0, bad)),
        lambda: Twisting(Twist(bad, 1.0)),
        lambda: Planar(X, 0.0, bad),
        lambda: Planar((0.0, bad, 1.0)),
    ):
        with pytest.raises(InvalidValueError):
            make()


def test_a_limit_that_is_none_is_refused() -> None:
    for make in (
        lambda: Hinge((0, 0, 0)),
        lambda: Hinge(X, 1.0, 0.0),
        lambda: Hinge(X, 0.0, 1.0, (0, 0, 0, 0)),
        lambda: Locked((0, 0, 0, 0)),
        lambda: Cone(0.0, -1.0),
        lambda: Cone(0.1, 1.0, 1.0, 1.0, 0.5),
        lambda: Cone.circular(0.5, 0.6),
        lambda: Twisting(Twist(1.0, 0.0)),
        lambda: Planar(Y),
    ):
        with pytest.raises(InvalidValueError):
            make()


class TestHinge:
    def test_reads_angles_over_half_a_turn(self) -> None:
        wide = hinge(Z, -200, 150)
        assert wide.angle_of(wide.rotation_at(radians(-190))) == pytest.approx(radians(-190), abs=PRECISION)

    def test_at_its_end_gives_way_inwards_only(self) -> None:
        knee = hinge(X, 0, 150)
        assert hypot(*knee.allowed(knee.rotation_at(0.0), (-0.1, 0.0, 0.0))) == 0.0
        assert knee.allowed(knee.rotation_at(0.0), (0.1, 0.3, 0.0)) == (0.1, 0.0, 0.0)

    def test_aims_at_the_nearer_end_beyond_its_range(self) -> None:
        knee = hinge(X, 0, 90)
        aimed = knee.aimed(knee.rotation_at(0.5), Y, (0.0, -0.2, 1.0))
        assert knee.angle_of(aimed) == pytest.approx(radians(90), abs=PRECISION)

    def test_of_two_angles_for_a_direction_takes_the_nearer(self) -> None:
        wide = hinge(Z, -300, 300)
        for current in (-250, 0, 120, 280):
            here = wide.rotation_at(radians(current))
            assert wide.angle_of(wide.clamped(here)) == pytest.approx(wide.angle_of(here), abs=PRECISION)
            for step in (-40, 15, 90):
                wanted = radians(current + step)
                if abs(wanted) <= radians(300):
                    aimed = wide.aimed(here, Y, rotated(turn_about(Z, wanted), Y))
                    assert same(aimed, turn_about(Z, wanted))

    def test_prefers_to_bend_to_where_it_has_room(self) -> None:
        knee = hinge(X, -10, 150)
        assert knee.preferred_axis(IDENTITY) == X
        assert knee.preferred_axis(knee.rotation_at(2.0)) == (-1.0, 0.0, 0.0)
        assert hinge(X, 20, 20).preferred_axis(IDENTITY) is None


class TestNarrowed:
    def test_by_a_hinge_about_the_same_axis(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        assert hinge(X, -10, 90).narrowed(locks) == hinge(X, -10, 90)
        assert hinge((-1, 0, 0), -10, 90).narrowed(locks) == hinge(X, -90, 10)

    def test_of_what_holds_all_or_nothing(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        assert FREE.narrowed(locks) is locks
        held = Locked(from_rotation_vector((0.5, 0.2, 0.0))).narrowed(locks)
        assert isinstance(held, Locked)
        assert same(held.rotation, locks.clamped(from_rotation_vector((0.5, 0.2, 0.0))))

    def test_that_cannot_be_told(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        turned = Hinge(X, -2.0 * pi, 2.0 * pi, turn_about(Y, 0.1))
        assert hinge(Y, 0, 10).narrowed(locks) is None
        assert hinge(X, 0, 10).narrowed(turned) is None
        assert hinge(X, 0, 10).narrowed(FREE) is None
        assert Twisting(TWIST).narrowed(locks) is None
        assert Cone.circular(1.0).narrowed(locks) is None


class TestCone:
    def test_circle_about_z_of_godots_kusudama(self) -> None:
        """Godot's test_joint_limitation_kusudama_3d, with our Y for its Z: inside unchanged, outside to 30 degrees."""
        cone = Cone.circular(radians(30))
        inside = unit((0.2, 1.0, 0.1))
        assert cone.nearest(inside) == inside
        assert between(cone.nearest(X), Y) == pytest.approx(radians(30), abs=1e-12)
        assert Cone.circular(0.0).nearest(X) == Y

    def test_least_angle_pushes_out(self) -> None:
        cone = Cone.circular(radians(60), radians(20))
        pushed = cone.nearest(unit((0.05, 1.0, 0.0)))
        assert between(pushed, Y) == pytest.approx(radians(20), abs=1e-12)
        assert pushed[0] > 0

    @pytest.mark.parametrize(("sign", "angle"), [(1, 1.2), (-1, 0.3)])
    def test_quadrants_hold_turns_about_x(self, sign: int, angle: float) -> None:
        cone = Cone(0.0, 0.3, 1.2, 0.8, 0.5)
        turned = cone.clamped(from_rotation_vector((sign * 2.0, 0.0, 0.0)))
        assert apart(turned, IDENTITY) == pytest.approx(angle, abs=PRECISION)
        assert turned[1] * turned[0] * sign > 0

    def test_twist_is_held_apart_from_swing(self) -> None:
        cone = Cone.circular(radians(60), twist=Twist(-0.1, 0.2))
        rotation = multiplied(from_rotation_vector((0.5, 0.0, 0.3)), from_rotation_vector((0.0, 1.0, 0.0)))
        clamped = cone.clamped(rotation)
        assert cone.twist_angle(clamped) == pytest.approx(0.2, abs=PRECISION)
        assert between(rotated(clamped, Y), rotated(rotation, Y)) < PRECISION

    def test_twist_is_read_at_every_swing(self) -> None:
        """Law: a swing and a twist are read as that twist, to the swing by half a turn."""
        cone = Cone.circular(pi, twist=Twist(-3.0, 3.0))
        for angle in (0.0, 1.0, 3.0, pi - 1e-3, pi):
            for twist in (-2.9, -0.5, 0.0, 1.7):
                swing = turn_about(X if angle == pi else unit((0.3, 0.0, -0.8)), angle)
                rotation = multiplied(swing, turn_about(Y, twist))
                assert cone.twist_angle(rotation) == pytest.approx(twist, abs=1e-9)

    @pytest.mark.parametrize("cone", ELLIPSES, ids=str)
    def test_no_point_of_the_edge_is_nearer_than_the_nearest(self, cone: Cone) -> None:
        random = Random(11)
        edge = [edge_point(cone, 2.0 * pi * k / 4000) for k in range(4000)]
        for _ in range(60):
            direction = unit(random_vector(random))
            near = cone.nearest(direction)
            if near == direction:
                continue
            assert dot(near, direction) >= max(dot(point, direction) for point in edge) - 1e-12
            assert between(near, cone.nearest(near)) < 1e-9

    @pytest.mark.parametrize("cone", ELLIPSES, ids=str)
    def test_what_is_allowed_at_the_edge_goes_along_it(self, cone: Cone) -> None:
        """Law: no step that is let through leaves the limit by more than the edge curves away from it."""
        step = 1e-5
        for k in range(64):
            parameter = 2.0 * pi * (k + 0.5) / 64
            direction = edge_point(cone, parameter)
            for i in range(12):
                aside = unit(cross(direction, unit((0.3, 0.2, -1.0))))
                turn = rotated(turn_about(direction, 2.0 * pi * i / 12), aside)
                start = cone.aimed(IDENTITY, Y, direction)
                assert between(rotated(start, Y), direction) < 1e-9
                let = cone.allowed(start, plus((0.0, 0.0, 0.0), turn, step))
                there = rotated(from_rotation_vector(let), direction)
                assert between(cone.nearest(there), there) < 1e-3 * step
                # and what leads inwards is let through
                freely = rotated(from_rotation_vector(plus((0.0, 0.0, 0.0), turn, step)), direction)
                if between(cone.nearest(freely), freely) == 0.0:
                    assert hypot(*let) == pytest.approx(step, rel=1e-3)

    def test_a_straight_side_lets_go_inwards(self) -> None:
        """Law: a quadrant without width holds back on its own side alone, at its corners with the curve beside it."""

        def moves(cone: Cone, bent: float, about_x: float, about_side: float) -> Any:
            """How much is let through of turns about X, by which the bone is bent, and about the axis beside it."""
            rotation = from_rotation_vector((bent, 0.0, 0.0))
            side = rotated(rotation, Z)
            let = cone.allowed(rotation, plus((about_x, 0.0, 0.0), side, about_side))
            return pytest.approx((dot(let, X), dot(let, side)), abs=1e-12)

        half = Cone(0.0, 0.3, 1.2, 0.0, 2.0)
        assert moves(half, 0.5, 0.0, -0.1) == (0.0, 0.0)
        assert moves(half, 0.5, 0.1, 0.1) == (0.1, 0.1)
        assert moves(half, 1.2, 0.1, -0.1) == (0.0, 0.0)
        assert moves(half, 1.2, -0.1, -0.1) == (-0.1, 0.0)
        quarter = Cone(0.0, 0.0, 1.0, 0.0, 1.0)
        assert moves(quarter, 0.0, -0.1, -0.1) == (0.0, 0.0)
        assert moves(quarter, 0.0, 0.1, -0.1) == (0.1, 0.0)


class Settings:
    """A bone's settings for Blender's IK."""

    def __init__(self, locks: str, **ranges: tuple[float, float]) -> None:
        self.ik_locks = ["X" in locks, "Y" in locks, "Z" in locks]
        self.ik_ranges = [ranges.get(axis) for axis in "xyz"]


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        (Settings(""), FREE),
        (Settings("XYZ"), Locked()),
        (Settings("YZ", x=(-1.0, 2.0)), Hinge(X, -1.0, 2.0)),
        (Settings("XZ"), Hinge(Y, -pi, pi)),
        (Settings("Y", x=(-1.0, 2.0)), Cone(0.0, pi, pi, pi, pi, Twist(0.0, 0.0))),
        (Settings("Y", x=(-1.0, 2.0), z=(-0.5, 0.5)), Cone(0.0, 1.0, 2.0, 0.5, 0.5, Twist(0.0, 0.0))),
        (Settings("Z", y=(-0.5, 0.5)), Planar(X, -pi, pi, Twist(-0.5, 0.5))),
        (Settings("", z=(-0.5, 0.5)), Cone(0.0, pi, pi, 0.5, 0.5)),
    ],
)
def test_bones_ik_settings_mean_what_their_free_axes_mean_to_blender(settings: Settings, limit: Limit) -> None:
    assert LIMITS["BONE_IK"].make(settings, IDENTITY) == limit


@pytest.mark.parametrize("limit", ALL, ids=repr)
def test_what_is_told_to_blenders_ik_means_the_same(limit: Limit) -> None:
    """Read back as a limit for Blender's own IK it allows what it allowed, unless something is said to be lost."""
    free, ranges, lost = limit.ik_meaning()
    settings = SimpleNamespace(ik_locks=[i not in free for i in range(3)], ik_ranges=[ranges.get(i) for i in range(3)])
    within = all(-pi <= low <= high <= pi for low, high in ranges.values())
    if lost or not within:
        return
    again, random = LIMITS["BONE_IK"].make(settings, IDENTITY), Random(3)
    for one, other in ((limit, again), (again, limit)):
        for _ in range(20):
            rotation = drawn(one, random)
            if isinstance(one, Locked):
                rotation = drawn(other, random)
            assert other.violation(rotation) < PRECISION
