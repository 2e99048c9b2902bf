# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws that every limit in the registry holds to, the shapes that are drawn for them, and what is read off these."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, hypot, inf, nan, pi, radians, sin, sqrt
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from fabrik_addon.errors import InvalidValueError
from fabrik_addon.kernel import (
    FREE,
    AxisLock,
    Cone,
    Free,
    Hinge,
    Limit,
    Locked,
    Planar,
    QuaternionLock,
    Twist,
)
from fabrik_addon.maths import (
    IDENTITY,
    V3,
    along,
    cross,
    distance,
    length,
    minus,
    plus,
    rotated,
    scaled,
    turn_about,
    turn_angle,
    unit,
)
from fabrik_addon.rig.limit_types import LIMITS, limit_outline, limit_settings, setting_at, type_of
from hypothesis import given
from hypothesis import strategies as st

from dev.limbs import X, Y, Z, hinge
from support.chains import angle_between, random_vector, turn_between
from support.limit_examples import EXAMPLES, OF_LOCKS, PRECISION, TWIST, drawn, edge_rotations, rotations, same

OF_BONES = [limit for examples in EXAMPLES.values() for limit in examples]  # by their settings
ALL = OF_BONES + OF_LOCKS


# Between the rest frames of bones that are mirror images: half turns about any axis beside the bone, by their roll.
MIRRORED_FRAMES = ((0.0, *X), (0.0, *Z), (0.0, sqrt(0.5), 0.0, sqrt(0.5)), (0.0, 0.6, 0.0, -0.8))


def with_one_replaced(parts: tuple[Any, ...], number: float) -> Iterator[tuple[Any, ...]]:
    """The arguments of a limit with another number in the place of one, in each place."""
    for i, part in enumerate(parts):
        inner = [tuple(one) for one in with_one_replaced(part, number)] if isinstance(part, tuple) else [number]
        for instead in inner if part is not None else []:
            yield (*parts[:i], instead, *parts[i + 1 :])


def close(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that equal those that are off by no more than rounding."""
    words = (str, bool)
    return {
        name: value if isinstance(value, words) else pytest.approx(value, abs=1e-9) for name, value in settings.items()
    }


# The numbers under which files hold the types that were released: of another type they would mean another limit.
RELEASED = {"FREE": 0, "HINGE": 1, "CONE": 2, "PLANAR": 3, "LOCKED": 4, "BONE_IK": 5}


def test_every_registered_limit_has_an_example() -> None:
    assert set(EXAMPLES) == set(LIMITS)


def test_types_share_a_setting_of_one_name() -> None:
    settings = [setting for found in LIMITS.values() for setting in found.settings]
    assert len({setting.name for setting in settings}) == len(set(settings))


@pytest.mark.parametrize("is_ellipse", [False, True])
def test_a_cone_shows_the_angles_of_its_outline(is_ellipse: bool) -> None:
    shown = [setting.name for setting in LIMITS["CONE"].shown(SimpleNamespace(use_ellipse=is_ellipse))]
    angles = (
        [f"cone_{axis}_{end}" for axis in "xz" for end in ("min", "max")] if is_ellipse else ["cone_min", "cone_max"]
    )
    assert shown == ["use_ellipse", *angles]


def test_each_type_has_a_number_of_its_own_and_keeps_it() -> None:
    numbers = {kind: found.number for kind, found in LIMITS.items()}
    assert numbers.items() >= RELEASED.items()
    assert len(set(numbers.values())) == len(numbers)


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
            nearest = turn_between(limit.clamped(rotation), rotation)
            if getattr(limit, "twist", None) is None:  # else nearest is meant in swing and in twist apart
                assert nearest <= min(turn_between(other, rotation) for other in samples) + PRECISION
            assert nearest <= pi

    def test_aim_is_allowed_and_no_sample_aims_better(self, limit: Limit) -> None:
        random = Random(5)
        samples = [drawn(limit, random) for _ in range(200)]
        for rotation in rotations(6, 20):
            segment = random_vector(random) if isinstance(limit, Hinge) else Y
            direction = random_vector(random)
            aimed = limit.aimed(limit.clamped(rotation), segment, direction)
            assert limit.violation(aimed) < PRECISION
            best = angle_between(rotated(aimed, segment), direction)
            # a hinge takes either end for a direction that is as good as behind it
            slack = 1e-3 if isinstance(limit, Hinge) else PRECISION
            if isinstance(limit, QuaternionLock | AxisLock):  # which are aimed step by step
                freely = limit.clamped(FREE.aimed(limit.clamped(rotation), segment, direction))
                assert best <= angle_between(rotated(freely, segment), direction) + PRECISION
                continue
            assert best <= min(angle_between(rotated(other, segment), direction) for other in samples) + slack

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
                assert distance(limit.allowed(rotation, once), once) < PRECISION
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

    @pytest.mark.parametrize("bad", [nan, inf, -inf, 1e300, "x", None, (1.0,), 10**400], ids=str)
    def test_a_wrong_number_is_refused_in_every_place(self, limit: Limit, bad: Any) -> None:
        if bad is None and isinstance(limit, QuaternionLock):
            return  # a number that is free
        for parts in with_one_replaced(limit.parts(), bad):
            with pytest.raises(InvalidValueError):
                type(limit)(*parts)

    def test_it_is_what_it_was_made_from(self, limit: Limit) -> None:
        again = type(limit)(*limit.parts())
        assert again == limit
        assert hash(again) == hash(limit)
        assert limit != LIMITS["LOCKED"].make(None, turn_about(X, 0.123))
        assert type(limit).__name__ in repr(limit)

    def test_its_settings_make_it(self, limit: Limit) -> None:
        if limit in OF_LOCKS or getattr(limit, "zero", IDENTITY) != IDENTITY:
            return  # made of locked channels
        settings = limit_settings(limit)
        kind = LIMITS[settings.pop("limit")]
        assert set(settings) <= {*kind.fields, "use_twist", "twist_min", "twist_max"}
        assert kind.make(SimpleNamespace(**settings), limit.drawn(0.0, 0.0, 0.0)) == limit

    def test_its_mirror_image_allows_the_mirror_images(self, limit: Limit) -> None:
        if limit in OF_LOCKS:
            return  # settings alone are mirrored
        random = Random(11)
        for turn in MIRRORED_FRAMES:
            mirrored = type_of(limit).mirrored(limit, turn)
            if mirrored is None:
                assert turn == MIRRORED_FRAMES[-1]  # a cone's sides lie along the axes
                continue
            for one, other in ((limit, mirrored), (mirrored, limit)):
                for _ in range(20):
                    w, *axis = drawn(one, random)
                    image = (w, *rotated(turn, (axis[0], axis[1], axis[2])))
                    assert other.violation(image) < PRECISION
            again = type_of(mirrored).mirrored(mirrored, turn)
            assert again is not None
            assert limit_settings(again) == close(limit_settings(limit))

    def test_what_it_tells_of_itself(self, limit: Limit) -> None:
        assert limit.is_free == isinstance(limit, Free)
        assert limit.is_fixed == isinstance(limit, Locked)
        assert (limit.dofs == 3) == (not isinstance(limit, Hinge | Locked))
        preferred = limit.preferred_axis(drawn(limit, Random(1)))
        assert preferred is None or hypot(*preferred) == pytest.approx(1.0)


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
    free, ranges, lost = type_of(limit).ik_meaning(limit)
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


# The smallest turn from one direction to another, seen through a free joint that is aimed.


coordinate = st.floats(-10.0, 10.0)
vectors = st.tuples(coordinate, coordinate, coordinate).filter(lambda vector: length(vector) > 1e-3)


@given(vectors, vectors)
def test_the_first_is_turned_onto_the_second(a: V3, b: V3) -> None:
    assert distance(unit(rotated(FREE.aimed(IDENTITY, a, b), a)), unit(b)) < 1e-9


@given(vectors, vectors)
def test_the_turn_is_the_smallest(a: V3, b: V3) -> None:
    assert turn_angle(FREE.aimed(IDENTITY, a, b)) == pytest.approx(angle_between(a, b), abs=1e-6)


@given(vectors, st.floats(0.0, 1e-3))
def test_nearly_opposite_directions_are_met_exactly(a: V3, off: float) -> None:
    beside = cross(unit(a), Y if abs(unit(a)[1]) < 0.9 else X)
    b = plus(scaled(unit(a), -1.0), scaled(unit(beside), off))
    assert distance(unit(rotated(FREE.aimed(IDENTITY, a, b), a)), unit(b)) < 1e-9


def test_opposite_directions_turn_about_the_x_axis_of_the_bone() -> None:
    turn = FREE.aimed(IDENTITY, (0, 1, 0), (0, -1, 0))
    assert turn_angle(turn) == pytest.approx(pi)
    assert distance(rotated(turn, X), X) < 1e-12


def test_no_direction_turns_nothing() -> None:
    for segment, direction in (((0, 0, 0), X), (X, (0, 0, 0))):
        assert FREE.aimed(IDENTITY, segment, direction) == IDENTITY


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 1e-4, 0.1, 3.0])
def test_turns_keep_their_angle(angle: float) -> None:
    assert turn_angle(FREE.turned(IDENTITY, (0, 0, angle))) == pytest.approx(angle, rel=1e-9)


# The shapes that are drawn for limits, and the settings that are read off them.


@pytest.mark.parametrize("limit", OF_BONES, ids=str)
class TestEveryOutline:
    def test_the_bone_comes_to_every_point_of_its_curves(self, limit: Limit) -> None:
        start = limit.clamped(IDENTITY)
        for curve in limit_outline(limit).swing:
            for point in curve:
                if hypot(*point):
                    assert angle_between(rotated(limit.aimed(start, Y, point), Y), point) < PRECISION
                    assert hypot(*point) == pytest.approx(1.0)

    def test_the_twist_comes_to_every_point_of_its_curve(self, limit: Limit) -> None:
        for curve in limit_outline(limit).twist:
            for point in curve:
                turned = turn_about(Y, -atan2(point[2], point[0]))
                twisting: Any = limit
                if isinstance(limit, Hinge):
                    low, allowed, high = limit.angle_min, limit.angles_of(turned)[0], limit.angle_max
                else:
                    low, allowed, high = twisting.twist.low, twisting.twist_angle(turned), twisting.twist.high
                assert low - PRECISION <= allowed <= high + PRECISION

    def test_its_ends_lie_on_its_curves(self, limit: Limit) -> None:
        outline = limit_outline(limit)
        points = [point for curve in (*outline.swing, *outline.twist) for point in curve]
        for end in outline.ends.values():
            assert min(distance(end, point) for point in points) < PRECISION

    def test_all_but_a_free_joint_have_one(self, limit: Limit) -> None:
        outline = limit_outline(limit)
        assert bool(outline.swing or outline.twist) == (limit is not FREE)


def test_an_outline_names_the_settings_that_it_shows() -> None:
    assert set(limit_outline(Cone.circular(0.5, 0.2, TWIST)).ends) == {"cone_max", "cone_min", "twist_min", "twist_max"}
    ellipse = limit_outline(Cone(0.0, 0.3, 1.2, 0.8, 0.5))
    assert set(ellipse.ends) == {"cone_x_min", "cone_x_max", "cone_z_min", "cone_z_max"}
    assert ellipse.ends["cone_x_max"][2] == pytest.approx(sin(1.2), abs=PRECISION)
    assert ellipse.ends["cone_z_min"][0] == pytest.approx(sin(0.8), abs=PRECISION)
    assert limit_outline(hinge(X, 0, 90)).ends["angle_max"][2] == pytest.approx(1.0)
    for limit, name in ((FREE, "angle_min"), (hinge(X, 0, 90), "cone_max"), (Cone.circular(0.5), "cone_x_max")):
        with pytest.raises(KeyError):
            setting_at(limit, name, Y)


def test_nothing_beyond_the_edge_of_a_cone_is_allowed() -> None:
    for limit in (Cone.circular(radians(30)), Cone(0.0, 0.3, 1.2, 0.8, 0.5)):
        for point in limit_outline(limit).swing[0]:
            beyond = unit(along(point, minus(point, Y), 0.1))
            assert angle_between(limit.nearest(beyond), beyond) > 1e-3


@pytest.mark.parametrize("limit", OF_BONES, ids=str)
def test_an_end_of_the_outline_tells_its_own_setting(limit: Limit) -> None:
    """Law: what is read at the end of a range is that end, and it goes with a point that is turned away from there."""
    settings = {**circle(limit), **limit_settings(limit)}
    for name, end in limit_outline(limit).ends.items():
        angle = setting_at(limit, name, end)
        assert angle == pytest.approx(settings[name], abs=PRECISION), name
        steps = [rotated(turn_about(axis, step), end) for axis in (X, Y, Z, limit.axis) for step in (-0.01, 0.01)]
        further = [setting_at(limit, name, point) - angle for point in steps]
        assert any(abs(one) == pytest.approx(0.01, rel=1e-3) for one in further), name


def circle(limit: Limit) -> dict[str, float]:
    """The settings of a cone whose outline shows it as a circle; its settings may be those of an ellipse."""
    return {"cone_max": limit.x_high} if isinstance(limit, Cone) else {}


def test_an_end_does_not_pass_the_other() -> None:
    limit = hinge(X, 10, 60)
    at = rotated(hinge(X, -170, 170).rotation_at(radians(-30)), Y)
    assert setting_at(limit, "angle_max", at) == pytest.approx(radians(10))
    assert setting_at(limit, "angle_min", at) == pytest.approx(radians(-30))
