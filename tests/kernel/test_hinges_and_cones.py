# SPDX-License-Identifier: GPL-3.0-or-later
"""What hinges, cones and what is narrowed to them hold to, each by itself."""

from math import cos, hypot, pi, radians, sin, sqrt
from random import Random
from typing import Any

import pytest
from fabrik_addon.kernel import FREE, Cone, Hinge, Limit, Locked, Twist, Twisting, Universal
from fabrik_addon.maths import IDENTITY, V3, along, cross, dot, multiplied, rotated, scaled, turn_about, unit
from fabrik_addon.rig.limit_types import type_of

from dev.limbs import X, Y, Z, hinge
from support.chains import angle_between, random_vector, turn_between
from support.limit_examples import EXAMPLES, PRECISION, TWIST, from_rotation_vector, same

ELLIPSES = [limit for limit in EXAMPLES["CONE"] if isinstance(limit, Cone) and not limit.is_circular]


def of_map(x: float, z: float) -> V3:
    """The direction of a point of the map of a cone."""
    up = 2.0 * sqrt(max(1.0 - x * x - z * z, 0.0))
    return unit((-z * up, 1.0 - 2.0 * (x * x + z * z), x * up))


def edge_point(cone: Cone, parameter: float) -> V3:
    x, z = cos(parameter), sin(parameter)
    a, b = (cone.x_high if x >= 0.0 else cone.x_low), (cone.z_high if z >= 0.0 else cone.z_low)
    return of_map(x * sin(0.5 * a), z * sin(0.5 * b))


def test_a_limit_tells_the_angles_about_its_axes() -> None:
    assert hinge(Z, -200, 150).angles_of(turn_about(Z, 0.4)) == pytest.approx((0.4,), abs=PRECISION)
    both = multiplied(turn_about(Z, 0.4), turn_about(X, -0.7))
    assert Universal(Z, X).angles_of(both) == pytest.approx((0.4, -0.7), abs=PRECISION)
    assert FREE.angles_of(both) == Cone.circular(0.5).angles_of(both) == ()


class TestHinge:
    def test_reads_angles_over_half_a_turn(self) -> None:
        wide = hinge(Z, -200, 150)
        assert wide.angles_of(wide.rotation_at(radians(-190)))[0] == pytest.approx(radians(-190), abs=PRECISION)

    def test_at_its_end_gives_way_inwards_only(self) -> None:
        knee = hinge(X, 0, 150)
        assert hypot(*knee.allowed(knee.rotation_at(0.0), (-0.1, 0.0, 0.0))) == 0.0
        assert knee.allowed(knee.rotation_at(0.0), (0.1, 0.3, 0.0)) == (0.1, 0.0, 0.0)

    def test_aims_at_the_nearer_end_beyond_its_range(self) -> None:
        knee = hinge(X, 0, 90)
        aimed = knee.aimed(knee.rotation_at(0.5), Y, (0.0, -0.2, 1.0))
        assert knee.angles_of(aimed)[0] == pytest.approx(radians(90), abs=PRECISION)

    def test_of_two_angles_for_a_direction_takes_the_nearer(self) -> None:
        wide = hinge(Z, -300, 300)
        for current in (-250, 0, 120, 280):
            here = wide.rotation_at(radians(current))
            assert wide.angles_of(wide.clamped(here))[0] == pytest.approx(wide.angles_of(here)[0], abs=PRECISION)
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


def narrowed(limit: Limit, locks: Limit) -> Limit | None:
    """What both a limit and that of locked channels allow."""
    return type_of(limit).narrowed(limit, locks)


class TestNarrowed:
    def test_a_hinge_within_two_free_channels_is_what_both_allow(self) -> None:
        assert narrowed(hinge(X, 0, 10), Universal(Z, X)) == hinge(X, 0, 10)
        assert narrowed(hinge(X, 0, 10), Universal(Z, X, turn_about(Y, 0.1))) is None

    def test_by_a_hinge_about_the_same_axis(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        assert narrowed(hinge(X, -10, 90), locks) == hinge(X, -10, 90)
        assert narrowed(hinge((-1, 0, 0), -10, 90), locks) == hinge(X, -90, 10)

    def test_of_what_holds_all_or_nothing(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        assert narrowed(FREE, locks) is locks
        held = narrowed(Locked(from_rotation_vector((0.5, 0.2, 0.0))), locks)
        assert isinstance(held, Locked)
        assert same(held.rotation, locks.clamped(from_rotation_vector((0.5, 0.2, 0.0))))

    def test_that_cannot_be_told(self) -> None:
        locks = Hinge(X, -2.0 * pi, 2.0 * pi)
        turned = Hinge(X, -2.0 * pi, 2.0 * pi, turn_about(Y, 0.1))
        assert narrowed(hinge(Y, 0, 10), locks) is None
        assert narrowed(hinge(X, 0, 10), turned) is None
        assert narrowed(hinge(X, 0, 10), Universal(Z, Y)) is None
        assert narrowed(Twisting(TWIST), locks) is None
        assert narrowed(Cone.circular(1.0), locks) is None


class TestCone:
    def test_circle_about_z_of_godots_kusudama(self) -> None:
        """Godot's test_joint_limitation_kusudama_3d, with our Y for its Z: inside unchanged, outside to 30 degrees."""
        cone = Cone.circular(radians(30))
        inside = unit((0.2, 1.0, 0.1))
        assert cone.nearest(inside) == inside
        assert angle_between(cone.nearest(X), Y) == pytest.approx(radians(30), abs=1e-12)
        assert Cone.circular(0.0).nearest(X) == Y

    def test_least_angle_pushes_out(self) -> None:
        cone = Cone.circular(radians(60), radians(20))
        pushed = cone.nearest(unit((0.05, 1.0, 0.0)))
        assert angle_between(pushed, Y) == pytest.approx(radians(20), abs=1e-12)
        assert pushed[0] > 0

    @pytest.mark.parametrize(("sign", "angle"), [(1, 1.2), (-1, 0.3)])
    def test_quadrants_hold_turns_about_x(self, sign: int, angle: float) -> None:
        cone = Cone(0.0, 0.3, 1.2, 0.8, 0.5)
        turned = cone.clamped(from_rotation_vector((sign * 2.0, 0.0, 0.0)))
        assert turn_between(turned, IDENTITY) == pytest.approx(angle, abs=PRECISION)
        assert turned[1] * turned[0] * sign > 0

    def test_twist_is_held_apart_from_swing(self) -> None:
        cone = Cone.circular(radians(60), twist=Twist(-0.1, 0.2))
        rotation = multiplied(from_rotation_vector((0.5, 0.0, 0.3)), from_rotation_vector((0.0, 1.0, 0.0)))
        clamped = cone.clamped(rotation)
        assert cone.twist_angle(clamped) == pytest.approx(0.2, abs=PRECISION)
        assert angle_between(rotated(clamped, Y), rotated(rotation, Y)) < PRECISION

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
            assert angle_between(near, cone.nearest(near)) < 1e-9

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
                assert angle_between(rotated(start, Y), direction) < 1e-9
                let = cone.allowed(start, scaled(turn, step))
                there = rotated(from_rotation_vector(let), direction)
                assert angle_between(cone.nearest(there), there) < 1e-3 * step
                # and what leads inwards is let through
                freely = rotated(from_rotation_vector(scaled(turn, step)), direction)
                if angle_between(cone.nearest(freely), freely) == 0.0:
                    assert hypot(*let) == pytest.approx(step, rel=1e-3)

    def test_a_straight_side_lets_go_inwards(self) -> None:
        """Law: a quadrant without width holds back on its own side alone, at its corners with the curve beside it."""

        def moves(cone: Cone, bent: float, about_x: float, about_side: float) -> Any:
            """How much is let through of turns about X, by which the bone is bent, and about the axis beside it."""
            rotation = from_rotation_vector((bent, 0.0, 0.0))
            side = rotated(rotation, Z)
            let = cone.allowed(rotation, along((about_x, 0.0, 0.0), side, about_side))
            return pytest.approx((dot(let, X), dot(let, side)), abs=1e-12)

        half = Cone(0.0, 0.3, 1.2, 0.0, 2.0)
        assert moves(half, 0.5, 0.0, -0.1) == (0.0, 0.0)
        assert moves(half, 0.5, 0.1, 0.1) == (0.1, 0.1)
        assert moves(half, 1.2, 0.1, -0.1) == (0.0, 0.0)
        assert moves(half, 1.2, -0.1, -0.1) == (-0.1, 0.0)
        quarter = Cone(0.0, 0.0, 1.0, 0.0, 1.0)
        assert moves(quarter, 0.0, -0.1, -0.1) == (0.0, 0.0)
        assert moves(quarter, 0.0, 0.1, -0.1) == (0.1, 0.0)
